"""What can go wrong, in one small hierarchy. Every message says what to do."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

_WIDTH: Final = 110
"""Columns of an error report."""


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
    """What is wrong and what to write instead."""
    where: str = ""
    line: int = 0
    column: int = 0
    width: int = 0
    excerpt: str = ""


class ContractError(AuthzError):
    """A declaration is wrong. `problems` lists everything that was found, in the order of the text."""

    def __init__(self, headline: str, problems: Sequence[Problem]) -> None:
        self.headline = headline
        self.problems = tuple(problems)
        super().__init__(_report(headline, self.problems))


class UnknownInputKeysError(AuthzError):
    """Arguments hold top-level keys outside the caller's input schema; the message is the refusal text."""


class InvalidInputError(AuthzError):
    """Arguments break the caller's input schema; the message is the refusal text."""


class OutputWithheldError(AuthzError):
    """A return value fits nothing that the caller may see; the message is what the caller is told.

    `report` is for the operator alone: paths and keywords where the value departs from the schema, never a value.
    """

    def __init__(self, message: str, report: Sequence[str] = ()) -> None:
        self.report = tuple(report)
        super().__init__(message)


def _report(headline: str, problems: Sequence[Problem]) -> str:
    told = [_told(p) if not p.where or p.where in headline else f"{p.where}:\n{_told(p)}" for p in problems]
    return "\n\n".join([headline, *told])


def _told(problem: Problem) -> str:
    """One problem as its reader sees it: the line, the text at fault under a bar, what to write instead."""
    if not problem.excerpt:
        return textwrap.fill(problem.message, _WIDTH, break_long_words=False, break_on_hyphens=False)
    number = f"{problem.line:>4}"
    blank = " " * len(number)
    bar = " " * problem.column + "\N{OVERLINE}" * max(problem.width, 1)
    message = textwrap.fill(
        problem.message,
        _WIDTH,
        initial_indent=f"{blank} ",
        subsequent_indent=f"{blank} ",
        break_long_words=False,
        break_on_hyphens=False,
    )
    return f"{number} │ {problem.excerpt}\n{blank} │ {bar}\n{message}"
