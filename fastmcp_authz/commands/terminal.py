"""What commands print, and how they end."""

from __future__ import annotations

import json
import sys
from typing import Any, Final

from rich.console import Console
from rich.markup import escape

FINE: Final = 0
FOUND: Final = 1
"""The command ran, and found something."""
UNABLE: Final = 2
"""The command could not run."""
CUT_OFF: Final = 141
"""Nobody read the answer to its end: what a shell says of a program that SIGPIPE ended."""


class _Answers(Console):
    def on_broken_pipe(self) -> None:
        """Leaves it to whoever runs the command: rich would end the process as if something had been found."""
        raise BrokenPipeError


def console() -> Console:
    """Where answers go. Made when it is asked for: tests and shells exchange `sys.stdout`."""
    return _Answers(highlight=False, soft_wrap=not sys.stdout.isatty())


def print_json(value: Any) -> None:
    """Prints an answer for programs: one JSON document, in UTF-8."""
    print(json.dumps(value, ensure_ascii=False, indent=2))  # noqa: T201


def complain(message: str) -> None:
    """Says, on standard error, why a command cannot run."""
    _Answers(stderr=True, highlight=False, soft_wrap=True).print(f"[red]error:[/red] {escape(message)}")


def warn(message: str) -> None:
    """Says, on standard error, what is to be known beside the answer."""
    _Answers(stderr=True, highlight=False, soft_wrap=True).print(f"[yellow]note:[/yellow] {escape(message)}")
