"""Follows brackets, strings, tags and comments through the lines of a block: where it ends, and if it can be read."""

from __future__ import annotations

import re
from typing import NamedTuple

from fastmcp_authz.annotations.syntax import Source, Span
from fastmcp_authz.annotations.values import VALUE_TOKEN
from fastmcp_authz.errors import Problem, shortened

MAX_DEPTH = 32
"""How deep brackets may nest (SPEC section 2, "Limits"): a bound for every recursive walk over the tree."""

_PAIRS = {"(": ")", "[": "]", "{": "}"}
_CLOSERS = frozenset(_PAIRS.values())
_BLOCK_END = "A blank line, or the next annotation, ends a block, complete or not."
_FILE_END = "The next `type`, or the end of the file, ends a declaration, complete or not."
_TOKEN = re.compile(
    r"""
      "[^"\\]*(?:\\.[^"\\]*)*" | '[^'\\]*(?:\\.[^'\\]*)*'      # a string, complete
    | " | '                                                     # one that is not closed on this line
    | \#                                                        # a comment, to the end of the line
    | @[^\s@()\[\]{}"'\#,:|&?]*\s*\((?:[^()\\"']*\))?         # a tag: with its value if that is plain, or it follows
    | \( | \) | \[ | \] | \{ | \} | ->
    """,
    re.VERBOSE,
)
"""Each alternative begins with one character, not a set: only then does `re` skip fast to where one may match."""


class BlockText(NamedTuple):
    """The text of a block, twice; an offset means the same in both."""

    written: str
    """Its lines, with the marks at their fronts and all comments blanked."""
    outline: str
    """The same with the values of tags blanked as well, so that the grammar need not know what can stand in them."""


class Scanner:
    """Takes a block line by line. `fault` is the first thing that keeps it from being read, if there is one.

    Strings end with their line; brackets and tag values may go on.
    """

    def __init__(self, source: Source, *, signature: bool = False) -> None:
        self.fault: Problem | None = None
        self.after_arrow = False
        """Whether `->` was seen outside all brackets. What follows it is not read, so nothing in it is wrong."""
        self._source = source
        self._signature = signature
        self._open: list[tuple[str, int]] = []
        self._tag: tuple[int, int] | None = None
        """Where `@name(` stands, of the tag whose value is being read."""
        self._tag_depth = 0
        self._long_tag: tuple[int, int] | None = None
        """The last tag whose value goes over lines: a suspect, if the block turns out not to be closed."""
        self._last = ""
        self._opened = False
        self._written: list[str] = []
        self._outline: list[str] = []

    @property
    def inside(self) -> bool:
        """Whether a bracket or a tag is open."""
        return bool(self._open) or self._tag is not None

    @property
    def inside_tag(self) -> bool:
        """Whether the value of a tag goes on in the next line, where even `# ` is text."""
        return self._tag is not None

    @property
    def unfinished(self) -> bool:
        """Whether the next line must belong to the block too."""
        return self.inside or self._last in ("=", "|", "&", ",")

    @property
    def closed(self) -> bool:
        """Whether a first bracket was opened, and all are closed."""
        return self._opened and not self.inside

    def feed(self, line: str, offset: int) -> None:
        """Read one line, marks at its front blanked, that begins at `offset` of the source's text."""
        if self._tag is not None:
            self._long_tag = self._tag
        values: list[tuple[int, int]] = []
        position, end = 0, len(line)
        while position < end:
            if self._tag is not None:
                position = self._feed_value(line, position, offset, values)
            else:
                position, end = self._feed_code(line, position, offset, values)
        if end < len(line):
            line = line[:end] + " " * (len(line) - end)
        code = line.rstrip()
        if code:
            self._last = code[-1]
        self._written.append(line)
        self._outline.append(_blanked(line, values) if values else line)

    def finish(self) -> BlockText:
        """Return the block, which is over: what is still open now is a fault."""
        if self._tag is not None:
            self._unclosed_tag(self._tag)
        elif self._open and self._long_tag is not None:
            self._unclosed_tag(self._long_tag)
        elif self._open:
            bracket, start = self._open[-1]
            self._wrong(
                start,
                start + 1,
                f"`{bracket}` is opened here and never closed: write `{_PAIRS[bracket]}` where it ends. "
                + (_FILE_END if self._source.is_file else _BLOCK_END),
            )
        return BlockText("\n".join(self._written), "\n".join(self._outline))

    def _feed_code(self, line: str, position: int, offset: int, values: list[tuple[int, int]]) -> tuple[int, int]:
        """Read on, at most to the value of a tag; return where it begins, or the line ends, and where the line ends."""
        for found in _TOKEN.finditer(line, position):
            token, start = found[0], found.start()
            if token in _PAIRS:
                self._enter(token, offset + start)
            elif token in _CLOSERS:
                self._leave(token, offset + start)
            elif token[0] == "@":
                # A tag may touch the one before it, and a bracket its name: all up to its parenthesis is its own.
                begin = start + token.index("(") + 1
                if token[-1] == "(":
                    self._tag, self._tag_depth = (offset + start, offset + begin), 0
                    return begin, len(line)
                values.append((begin, found.end() - 1))
            elif token == "#":
                return start, start
            elif token == "->":
                self.after_arrow = self.after_arrow or (self._signature and not self._open)
            elif len(token) == 1:
                self._wrong(
                    offset + start,
                    offset + len(line),
                    f"the text that this {token} opens is not closed on its line: write {token} behind it. "
                    "Inside it, a quote is written with a backslash before it.",
                )
                break
        return len(line), len(line)

    def _feed_value(self, line: str, position: int, offset: int, values: list[tuple[int, int]]) -> int:
        """Read on in the value of a tag, at most to its end."""
        for token in VALUE_TOKEN.finditer(line, position):
            if token[0] == "(":
                self._tag_depth += 1
                if self._tag_depth > MAX_DEPTH:
                    start = offset + token.start()
                    self._wrong(start, start + 1, f"parentheses nest at most {MAX_DEPTH} deep in the value of a tag.")
            elif token[0] == ")":
                if not self._tag_depth:
                    self._tag = None
                    values.append((position, token.start()))
                    return token.end()
                self._tag_depth -= 1
        values.append((position, len(line)))
        return len(line)

    def _enter(self, bracket: str, start: int) -> None:
        self._opened = True
        self._open.append((bracket, start))
        if len(self._open) > MAX_DEPTH:
            self._wrong(
                start,
                start + 1,
                f"brackets nest at most {MAX_DEPTH} deep, and this one is deeper. "
                "Give what is inside a name with `@rbs type`, and write the name here.",
            )

    def _leave(self, bracket: str, start: int) -> None:
        if not self._open:
            self._wrong(start, start + 1, f"`{bracket}` closes nothing: no bracket is open here.")
            return
        opener, opened = self._open[-1]
        if _PAIRS[opener] == bracket:
            self._open.pop()
            return
        if self.fault is None:
            line, here = self._source.line_at(opened), self._source.line_at(start)
            where = "on this line" if line == here else f"on line {line}"
            self._wrong(
                start,
                start + 1,
                f"`{bracket}` cannot close the `{opener}` that was opened {where}: write `{_PAIRS[opener]}` first.",
            )
        # Closing what was left open inside, or ignoring a stray one, keeps the end of the block where it was meant.
        # What is far too deep is searched no further than that: its end cannot be known, and thousands would cost time.
        for index in reversed(range(max(0, len(self._open) - 2 * MAX_DEPTH), len(self._open))):
            if _PAIRS[self._open[index][0]] == bracket:
                del self._open[index:]
                break

    def _unclosed_tag(self, tag: tuple[int, int]) -> None:
        start, end = tag
        written = shortened(self._source.text[start:end])
        self._wrong(
            start,
            end,
            f"the parenthesis of `{written}` is not closed where it should be: its value runs to the `)` that matches. "
            r"Write `\(` or `\)` for a single parenthesis in a text.",
        )

    def _wrong(self, start: int, end: int, message: str) -> None:
        if self.fault is None and not self.after_arrow:
            self.fault = Span(start, end, self._source).problem(message)


def _blanked(line: str, values: list[tuple[int, int]]) -> str:
    pieces: list[str] = []
    copied = 0
    for begin, end in values:
        pieces += line[copied:begin], " " * (end - begin)
        copied = end
    return "".join(pieces) + line[copied:]
