"""Regular expressions as `@pattern(...)`, which is verbatim: what its parentheses cannot hold is written otherwise."""

from __future__ import annotations

import re
from typing import Final

import jsonschema_rs

from fastmcp_authz.annotations import Tag, read_annotation
from fastmcp_authz.survey.proposing.said import tag

_PIECE: Final = re.compile(r"\\.|.", re.DOTALL)
_QUOTES: Final = {'"': r"\x22", "'": r"\x27"}
_BLANKS: Final = {"\n": r"\n", "\t": r"\t", "\r": r"\r", "\f": r"\f", "\v": r"\v"}


def pattern_tag(pattern: str) -> Tag | None:
    """The tag that narrows to a pattern; `None` where that is no regular expression here, or cannot be written."""
    for written in (pattern, _escaped(pattern)):
        made = tag("pattern", written)
        if _compiles(written) and _reads_back(made):
            return made
    return None


def _reads_back(made: Tag) -> bool:
    if "\n" in str(made):
        return False
    annotation, problems = read_annotation(f"#: (x: String {made}, y: String @desc('\")) -> output", name="pattern")
    signature = annotation.signature
    return not problems and signature is not None and signature.fields[0].tags == (made,)


def _compiles(pattern: str) -> bool:
    try:
        jsonschema_rs.Draft202012Validator({"pattern": pattern})
    except (ValueError, jsonschema_rs.ValidationError):
        return False
    return bool(pattern)


def _escaped(pattern: str) -> str:
    """The same expression without quotes, parentheses in classes, and blanks that a docstring would lose."""
    pieces: list[str] = []
    inside = False
    for found in _PIECE.finditer(pattern):
        piece = found[0]
        if inside and piece in "()":
            piece = "\\" + piece
        elif piece[-1] in _QUOTES:
            piece = _QUOTES[piece[-1]]
        elif piece in _BLANKS:
            piece = _BLANKS[piece]
        elif not inside and piece == "[":
            inside = True
        elif inside and piece == "]" and pieces[-1] not in ("[", "[^"):
            inside = False
        pieces.append(piece)
    written = "".join(pieces)
    written = re.sub(r"\A ", r"\\x20", written)
    return re.sub(r"(?<!\\) \Z", r"\\x20", written)
