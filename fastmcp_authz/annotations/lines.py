r"""Which line of a file each line of a docstring stands on, where a backslash, `\n` or two literals part the two."""

from __future__ import annotations

import re
import tokenize
from collections.abc import Iterator, Sequence

from fastmcp_authz.annotations.docstring import Opening

_LITERAL = re.compile(r"""(?P<prefix>[A-Za-z]*)(?P<quote>"{3}|'{3}|["'])(?P<body>.*)(?P=quote)""", re.DOTALL)
_RAW_PIECE = re.compile(r"\n|[^\n]+")
_PIECE = re.compile(
    r"\n|[^\\\n]+|\\(?:\r?\n|[0-7]{1,3}|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|N\{[^}]*\}|.)", re.DOTALL
)
_CONTINUATION = re.compile(r"\\\r?\n")
_LINE_BREAK = re.compile(r"\n|\\(?:n|0?12|x0a|u000a|U0000000a|N\{(?:LINE FEED|NEW LINE|END OF LINE|LF|NL|EOL)\})", re.I)


def file_lines(docstring: str, opening: Opening) -> list[int]:
    """Return the file's line for each line of a docstring.

    Where the docstring is not what stands in the file, which another docstring or a generated one is not, and for lines
    behind those that do, they are counted.
    """
    first, code = opening()
    written = docstring.split("\n")
    try:
        found = list(_lines(code))
    except (tokenize.TokenError, SyntaxError):
        found = []
    if not _agree(found, written):
        found = []
    numbers = [first + row for row, _ in found] or [first]
    return [*numbers, *range(numbers[-1] + 1, numbers[-1] + 1 + len(written) - len(numbers))]


def _agree(found: list[tuple[int, str]], written: list[str]) -> bool:
    """Whether lines of code say the first lines of a docstring; of lines with escapes in them that is not looked at."""
    return len(found) <= len(written) and all(
        "\\" in code or code.split() == line.split() for (_, code), line in zip(found, written, strict=False)
    )


def _lines(code: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Cut the literals at the beginning of some code into the lines of their text: row, counted from 0, and code."""
    begun: int | None = None
    written = ""
    for row, literal in _literals(code):
        parts = _LITERAL.fullmatch(literal)
        if parts is None:
            return
        for piece in (_RAW_PIECE if "r" in parts["prefix"].lower() else _PIECE).findall(parts["body"]):
            if _CONTINUATION.fullmatch(piece):
                row += 1
                continue
            if begun is None:
                begun = row
            if _LINE_BREAK.fullmatch(piece):
                yield begun, written
                begun, written = None, ""
                row += piece == "\n"
            else:
                written += piece
    if begun is not None:
        yield begun, written


def _literals(code: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Find the string literals with which some code begins, and the rows on which they do."""
    rest = iter(code)
    for token in tokenize.generate_tokens(lambda: next(rest, "")):
        if token.type == tokenize.STRING:
            yield token.start[0] - 1, token.string
        elif token.type not in (tokenize.INDENT, tokenize.NL, tokenize.COMMENT) and token.string not in ("(", ")"):
            return
