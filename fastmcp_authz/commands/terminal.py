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


def console() -> Console:
    """Where answers go. Made when it is asked for: tests and shells exchange `sys.stdout`."""
    return Console(highlight=False, soft_wrap=not sys.stdout.isatty())


def print_json(value: Any) -> None:
    """Prints an answer for programs: one JSON document, in UTF-8."""
    print(json.dumps(value, ensure_ascii=False, indent=2))  # noqa: T201


def complain(message: str) -> None:
    """Says, on standard error, why a command cannot run."""
    Console(stderr=True, highlight=False, soft_wrap=True).print(f"[red]error:[/red] {escape(message)}")


def warn(message: str) -> None:
    """Says, on standard error, what is to be known beside the answer."""
    Console(stderr=True, highlight=False, soft_wrap=True).print(f"[yellow]note:[/yellow] {escape(message)}")
