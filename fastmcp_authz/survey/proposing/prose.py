"""What of a docstring stays once its parameters are told in annotations."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from fastmcp_authz.serving.declaring import read_prose
from fastmcp_authz.survey.proposing.constants import without_controls

_GOOGLE: Final = re.compile(
    r"^(?:args|arguments|params|parameters|other parameters|keyword args|keyword arguments):[ \t]*$", re.IGNORECASE
)
_NUMPY: Final = re.compile(r"^(?:Parameters|Other Parameters)[ \t]*$")
_UNDERLINE: Final = re.compile(r"^-{3,}[ \t]*$")
_SPHINX: Final = re.compile(r"^:(?:param|parameter|arg|argument|key|keyword|type)\b[^:]*:")
_GAPS: Final = re.compile(r"\n{3,}")


def prose_without_parameters(docstring: str) -> str:
    """The prose of a dedented docstring without its section on parameters, in whichever of the usual styles.

    What is left reads as before, but for them. Where that cannot be done it is the description alone, all that a
    client was ever told.
    """
    docstring = without_controls(docstring.expandtabs()).strip()
    description, parameters = read_prose(docstring)
    if not parameters:
        return docstring
    for leave_out in (_without_google, _without_numpy, _without_sphinx):
        prose = _GAPS.sub("\n\n", "\n".join(leave_out(docstring.split("\n")))).strip()
        if prose != docstring and _reads_as(prose, description):
            return prose
    return description.strip()


def _reads_as(prose: str, description: str) -> bool:
    if not prose:
        return not description.strip()
    found, parameters = read_prose(prose)
    return not parameters and found.strip() == description.strip()


def _without_google(lines: list[str]) -> list[str]:
    return _without(lines, lambda at: bool(_GOOGLE.match(lines[at])), lambda at: not lines[at][:1].isspace())


def _without_sphinx(lines: list[str]) -> list[str]:
    return _without(lines, lambda at: bool(_SPHINX.match(lines[at])), lambda at: not lines[at][:1].isspace())


def _without_numpy(lines: list[str]) -> list[str]:
    def is_heading(at: int) -> bool:
        return at + 1 < len(lines) and bool(lines[at].strip()) and bool(_UNDERLINE.match(lines[at + 1]))

    return _without(lines, lambda at: is_heading(at) and bool(_NUMPY.match(lines[at])), is_heading)


def _without(lines: list[str], begins: Callable[[int], bool], ends: Callable[[int], bool]) -> list[str]:
    """The lines without those from one that begins a section up to the next one, not blank, that ends it."""
    kept: list[str] = []
    inside = False
    for at, line in enumerate(lines):
        if begins(at):
            inside = True
        elif inside and line.strip() and ends(at):
            inside = False
        if not inside:
            kept.append(line)
    return kept
