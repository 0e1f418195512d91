"""What commands print, and how they end."""

from __future__ import annotations

import json
import re
import sys
from typing import Any, Final

from rich.console import Console
from rich.markup import escape
from rich.text import Text

FINE: Final = 0
FOUND: Final = 1
"""The command ran, and found something."""
UNABLE: Final = 2
"""The command could not run."""
CUT_OFF: Final = 141
"""Nobody read the answer to its end: what a shell says of a program that SIGPIPE ended."""


_CONTROL: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")


class _Console(Console):
    """Prints no control codes but its own: what names and descriptions hold of them would move the cursor."""

    def print(self, *objects: Any, **options: Any) -> None:
        super().print(*map(_tame, objects), **options)

    def on_broken_pipe(self) -> None:
        """Leaves it to whoever runs the command: rich would end the process as if something had been found."""
        raise BrokenPipeError


def _tame(each: Any) -> Any:
    """A text with a sign for each control code, so that it is as long as it was."""
    if isinstance(each, str):
        return _CONTROL.sub("\ufffd", each)
    if isinstance(each, Text) and _CONTROL.search(each.plain):
        each = each.copy()
        each.plain = _CONTROL.sub("\ufffd", each.plain)
    return each


def console() -> Console:
    """Where answers go. Made when it is asked for: tests and shells exchange `sys.stdout`."""
    return _Console(highlight=False, soft_wrap=not sys.stdout.isatty())


def print_json(value: Any) -> None:
    """Prints an answer for programs: one JSON document, in UTF-8."""
    print(json.dumps(value, ensure_ascii=False, indent=2))  # noqa: T201


def complain(message: str) -> None:
    """Says, on standard error, why a command cannot run."""
    _Console(stderr=True, highlight=False, soft_wrap=True).print(f"[red]error:[/red] {escape(message)}")


def warn(message: str) -> None:
    """Says, on standard error, what is to be known beside the answer."""
    _Console(stderr=True, highlight=False, soft_wrap=True).print(f"[yellow]note:[/yellow] {escape(message)}")
