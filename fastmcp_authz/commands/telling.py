"""How changes of a snapshot are printed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from rich.text import Text

from fastmcp_authz.commands.terminal import console
from fastmcp_authz.survey.changes import Change, Changes, Kind
from fastmcp_authz.survey.feelings import Felt
from fastmcp_authz.survey.recounting import sentences

_STYLES: Final[Mapping[Kind, str]] = {"opened": "bold", "changed": "bold", "new": "bold"}


def tell(changes: Changes, felt: Mapping[Change, Felt] | None = None) -> None:
    """Prints changes, broken where the terminal ends; whole lines where there is no terminal."""
    out = console()
    for text, kind, warning in sentences(changes, felt, 0 if out.soft_wrap else out.width):
        style = "bold red" if warning else "bold" if kind is not None else ""
        out.print(Text(text, style))
