"""Single tokens of `rbs.peg` to what they say: scalars, names of fields, tags; and where they stand."""

from __future__ import annotations

from typing import TYPE_CHECKING
from unicodedata import normalize

from fastmcp_authz.annotations import grammar
from fastmcp_authz.annotations.scanner import BlockText
from fastmcp_authz.annotations.syntax import VERBATIM_TAGS, Literal, Name, Nilable, Source, Span, Tag, Type
from fastmcp_authz.annotations.values import read_string, read_value
from fastmcp_authz.errors import Problem, shortened

if TYPE_CHECKING:
    from re import Match

MAX_PROBLEMS = 20
"""How many problems of one block are told: who has read twenty has enough to mend."""

_KINDS = {'"': "string", "'": "string", ":": "symbol"} | dict.fromkeys("+-0123456789", "integer")
"""The kind of a scalar by its first character; all else are names."""

_new = tuple.__new__
"""Makes a `Span`, one of which every node has, in half the time."""


def word(written: str) -> str:
    """Return a bare word as Python reads the names in its own code, so that one name in two encodings is one."""
    return written if written.isascii() else normalize("NFKC", written)


class TokenReader:
    """Reads the tokens of one block, which begins at offset `start` of the source's text.

    What is wrong goes into `problems`, an old spelling into `deprecations`.
    """

    def __init__(
        self, block: BlockText, start: int, source: Source, problems: list[Problem], deprecations: list[Problem]
    ) -> None:
        self._text = block.written
        self._outline = block.outline
        self._start = start
        self._source = source
        self._problems = problems
        self._deprecations = deprecations
        self._ascii = block.outline.isascii()
        self._tag_token = grammar.token("tag", block.outline)

    # ---- Scalars

    def _scalar(self, found: Match[str], group: str = "scalar", nil: str = "nil") -> Type:
        """Read a scalar and the `?` behind it, each from a group of a token."""
        written, marks = found.group(group, nil)
        at = self._span(found, group)
        kind = _KINDS.get(written[0])
        if kind is None and not self._ascii:
            written = word(written)
        scalar = Name(written, at=at) if kind is None else self._constant(kind, written, at)
        return Nilable(scalar, at=at) if marks else scalar

    def _constant(self, kind: str, written: str, at: Span) -> Literal:
        if kind == "integer":
            return Literal(self._integer(written, at), at=at)
        if kind == "symbol":
            written = written[1:]
            if written[0] not in "\"'":
                return Literal(written, at=at)
        return Literal(self._string(written, at), at=at)

    def _integer(self, written: str, at: Span) -> int:
        try:
            return int(written.replace("_", ""))
        except ValueError:  # Python's own bound on the digits of a number in text
            self._note(at, "this number has too many digits.")
            return 0

    def _string(self, written: str, at: Span) -> str:
        try:
            return read_string(written)
        except ValueError:
            self._note(at, r"an escape in this text names no character: `\u` takes a code point.")
            return ""

    # ---- Names of fields

    def _key(self, found: Match[str]) -> tuple[str, bool, Span]:
        """Return a field's name, whether it may be left out, and where the name stands."""
        name, mark, old = found.group("key", "optional", "old")
        if name is None:
            at = self._span(found, "quoted")
            name = self._string(found["quoted"], at)
        else:
            at = self._span(found, "key")
            if not self._ascii:
                name = word(name)
        if old is not None:
            self._old_mark(name, at, twice=mark is not None)
        return name, mark is not None or old is not None, at

    def _old_mark(self, name: str, at: Span, *, twice: bool) -> None:
        if twice:
            name = shortened(name)
            self._note(at, f"`{name}` is marked optional on both sides: write `?{name}:`, with one `?` in front.")
        elif len(self._deprecations) < MAX_PROBLEMS:
            name = shortened(name)
            self._deprecations.append(
                at.problem(f"`{name}?:` is the old spelling of an optional field: write `?{name}:`.")
            )

    # ---- Tags

    def _tags(self, start: int, end: int) -> tuple[Tag, ...]:
        """Read all tags of a part of the block that holds nothing else."""
        return tuple([self._tag(found) for found in self._tag_token.finditer(self._outline, start, end)])

    def _tag(self, found: Match[str]) -> Tag:
        name, blanks, value = found.group("tag", "blanks", "value")
        if not self._ascii:
            name = word(name)
        if value is None:
            at, short = self._at(found.start("tag") - 1, found.end("tag")), shortened(name)
            self._note(at, f"a tag has parentheses: write `@{short}(...)`, or `@{short}()` for one without a value.")
            return Tag(name, "", at=at)
        begin, end = found.span("value")
        at = self._at(found.start("tag") - 1, end)
        written = self._text[begin + 1 : end - 1]
        if blanks:
            meant = f"@{shortened(name)}({shortened(written)})"
            self._note(at, f"the parenthesis of a tag touches its name: write `{meant}`.")
        value, quoted = read_value(written, verbatim=name in VERBATIM_TAGS)
        return Tag(name, value, quoted, at=at)

    # ---- Positions and problems

    def _note(self, at: Span, message: str) -> None:
        if len(self._problems) < MAX_PROBLEMS:
            self._problems.append(at.problem(message))

    def _at(self, start: int, end: int) -> Span:
        return _new(Span, (self._start + start, self._start + end, self._source))

    def _span(self, found: Match[str], group: int | str) -> Span:
        start, end = found.span(group)
        return _new(Span, (self._start + start, self._start + end, self._source))
