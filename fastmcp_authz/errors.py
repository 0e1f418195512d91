"""What can go wrong, in one small hierarchy. Every message says what to do."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final
from unicodedata import category, east_asian_width

_WIDTH: Final = 110
"""Columns of an error report."""

_EXCERPT: Final = 150
"""The most characters of a line that a report shows."""

_MOST_TOLD: Final = 20
"""The most problems that a report tells in full."""

_LONGEST_MESSAGE: Final = 2_000
"""The most characters of a message."""

_CONTROLS: Final = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""What moves the cursor, ends a line, turns the direction of the text, or cannot be encoded."""


class AuthzError(Exception):
    """The root of every error that this library raises."""


class ConfigurationError(AuthzError):
    """A server is given something that cannot be safe or cannot be meant."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with a declaration.

    `line` counts in the file or docstring that `where` names; `column` and `width` mark the text at fault in `excerpt`,
    the whole line as the author wrote it. A problem that belongs to no line has an empty excerpt.
    """

    message: str
    """What is wrong and what to write instead. It quotes the author, so what is longer than any advice is cut."""
    where: str = ""
    line: int = 0
    column: int = 0
    width: int = 0
    text: str = field(default="", repr=False)
    """The text that the line stands in. It is held, never copied: thousands of problems may be found in one line."""
    begin: int = field(default=0, repr=False)
    """Where in `text` the line begins."""

    def __post_init__(self) -> None:
        if len(self.message) > _LONGEST_MESSAGE:
            half = _LONGEST_MESSAGE // 2
            object.__setattr__(self, "message", f"{self.message[:half]} … {self.message[-half:]}")

    @property
    def excerpt(self) -> str:
        return self.text[self.begin : self._end]

    @property
    def _end(self) -> int:
        end = self.text.find("\n", self.begin)
        return len(self.text) if end < 0 else end

    def shown(self) -> tuple[str, str]:
        """Return what a report shows of the line, and the blanks and bars that mark the text at fault below it."""
        end = self._end
        first, last = self.begin, end
        if end - first > _EXCERPT:
            first = max(first, min(first + self.column - _EXCERPT // 3, end - _EXCERPT))
            last = first + _EXCERPT
        start = self.begin + self.column
        lead = ("…" if first > self.begin else "") + _printable(self.text[first:start])
        marked = _printable(self.text[start : min(start + self.width, last)])
        rest = _printable(self.text[start + len(marked) : last]) + ("…" if last < end else "")
        return lead + marked + rest, " " * _columns(lead) + "\N{OVERLINE}" * max(_columns(marked), 1)


class ContractError(AuthzError):
    """A declaration is wrong. `problems` lists everything that was found, in the order of the text."""

    def __init__(self, headline: str, problems: Sequence[Problem]) -> None:
        self.headline = headline
        self.problems = tuple(problems)
        super().__init__(_report(headline, self.problems))


class _RefusedInputError(AuthzError):
    def __init__(self, message: str, keys: Sequence[str] = ()) -> None:
        self.keys = tuple(keys)
        """The names of the arguments that were refused."""
        super().__init__(message)


class UnknownInputKeysError(_RefusedInputError):
    """Arguments hold top-level keys outside the caller's input schema; the message is the refusal text."""


class InvalidInputError(_RefusedInputError):
    """Arguments break the caller's input schema; the message is the refusal text."""


class OutputWithheldError(AuthzError):
    """A return value fits nothing that the caller may see; the message is what the caller is told.

    `report` is for the operator alone: paths and keywords where the value departs from the schema, never a value.
    """

    def __init__(self, message: str, report: Sequence[str] = ()) -> None:
        self.report = tuple(report)
        super().__init__(message)


def shortened(text: str, limit: int = 60) -> str:
    """Return a text, or the beginning of one that is too long to be quoted in a message."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def listed(names: Sequence[str], limit: int = 12) -> str:
    """Return names as a list for a message, the first of them where there are too many."""
    return ", ".join([*names[:limit], *(["…"] if len(names) > limit else [])])


def near_names(name: str, known: Iterable[str], most: int = 1) -> list[str]:
    """Names that somebody may have meant by one that is not known, the nearest first."""
    from difflib import get_close_matches  # late: only mistakes need it

    return get_close_matches(name, list(known), n=most)


def _report(headline: str, problems: Sequence[Problem]) -> str:
    shown = problems[:_MOST_TOLD]
    told = [_told(p) if not p.where or p.where in headline else f"{p.where}:\n{_told(p)}" for p in shown]
    more = len(problems) - len(shown)
    return "\n\n".join([headline, *told, *([f"… and {more} more."] if more else [])])


def _told(problem: Problem) -> str:
    """One problem as its reader sees it: the line, the text at fault under a bar, what to write instead."""
    message = _printable(problem.message)
    excerpt, bar = problem.shown()
    if not excerpt:
        return textwrap.fill(message, _WIDTH, break_long_words=False, break_on_hyphens=False)
    number = f"{problem.line:>4}"
    blank = " " * len(number)
    message = textwrap.fill(
        message,
        _WIDTH,
        initial_indent=f"{blank} ",
        subsequent_indent=f"{blank} ",
        break_long_words=False,
        break_on_hyphens=False,
    )
    return f"{number} │ {excerpt}\n{blank} │ {bar}\n{message}"


def _printable(text: str) -> str:
    """Return a text of as many characters that neither a terminal nor a log takes for anything but text."""
    return _CONTROLS.sub(lambda found: " " if found[0].isspace() else "\N{REPLACEMENT CHARACTER}", text)


def _columns(text: str) -> int:
    """How many columns of a terminal a text takes: Chinese and emoji two a character, accents that combine none."""
    if text.isascii():
        return len(text)
    return sum(0 if category(c) in ("Mn", "Me", "Cf") else 2 if east_asian_width(c) in ("W", "F") else 1 for c in text)
