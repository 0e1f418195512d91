"""What `check` prints: findings by tool, each with its line and the text at fault under a bar, as errors have it."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Final

from rich.console import Console
from rich.text import Text

from fastmcp_authz.commands.terminal import console
from fastmcp_authz.errors import Problem, listed
from fastmcp_authz.survey.checks.finding import Spot
from fastmcp_authz.survey.checks.rules import Finding

_WIDEST: Final = 110
"""Columns; where nobody looks at a terminal, those of an error report."""
_MOST_NAMED: Final = 5
"""Of the other tools that have the same fault; JSON names them all."""


def print_findings(
    findings: Sequence[Finding],
    silenced: int,
    notes: Sequence[str],
    counts: Mapping[str, int],
    personas: Sequence[str],
) -> None:
    """Prints everything, what was looked at last."""
    out = console()
    width = min(out.width, _WIDEST) if sys.stdout.isatty() else _WIDEST
    for tool, group in groupby(findings, lambda finding: finding[1].tool):
        out.print(Text(tool or "the server", "bold"))
        for finding in group:
            out.print()
            _print_one(out, finding, width)
        out.print()
    for note in notes:
        _print_filled(out, note, width, "note: ", "dim")
    _print_filled(out, _summary(findings, silenced, counts, personas), width, "", "bold red" if findings else "green")


def _print_one(out: Console, finding: Finding, width: int) -> None:
    rule, found = finding
    spot = found.spot
    head = [str(spot.place)] if spot is not None else []
    head += [found.part] if found.part else []
    title = Text.assemble("  ", (rule.code, "bold yellow"), f" {rule.title}")
    place = Text(": ".join(head), "cyan")
    if len(title) + 2 + len(place) <= width:
        out.print(Text.assemble(title, "  ", place) if place else title)
    else:
        out.print(title)
        out.print(Text.assemble("  ", place), soft_wrap=True)
    if spot is not None and spot.excerpt.strip():
        _print_excerpt(out, spot, width)
    _print_filled(out, found.wrong, width, " " * 7)
    _print_filled(out, found.way_out, width, " " * 7)
    if found.also:
        _print_filled(out, f"Also in {listed(found.also, _MOST_NAMED)}.", width, " " * 7, "dim")


def _print_excerpt(out: Console, spot: Spot, width: int) -> None:
    line = spot.excerpt.lstrip()
    column = spot.column - (len(spot.excerpt) - len(line))
    room = width - 10
    if sys.stdout.isatty() and len(line) > room:
        first = max(0, min(column - room // 3, len(line) - room))
        end = "…" if first + room < len(line) else ""
        line, column = line[first : first + room - len(end)] + end, column - first
        line = f"…{line[1:]}" if first else line
    shown, bar = Problem("", column=column, width=min(spot.width, len(line) - column), text=line).shown()
    out.print(Text.assemble((f"{spot.place.line:>6} │ ", "dim"), shown))
    if spot.width:
        out.print(Text.assemble((f"{'':6} │ ", "dim"), (bar, "red")))


def _print_filled(out: Console, text: str, width: int, lead: str, style: str = "") -> None:
    filled = textwrap.fill(
        text,
        width,
        initial_indent=lead,
        subsequent_indent=" " * len(lead),
        break_long_words=False,
        break_on_hyphens=False,
    )
    out.print(Text(filled, style), soft_wrap=True)


def _summary(findings: Sequence[Finding], silenced: int, counts: Mapping[str, int], personas: Sequence[str]) -> str:
    number = len(findings)
    said = "No findings" if not number else "1 finding" if number == 1 else f"{number} findings"
    things = [_counted(counts[name], name.removesuffix("s")) for name in ("tools", "inputs", "outputs", "predicates")]
    people = f", as {listed(personas)}" if personas else ""
    left = f" {silenced} more {'is' if silenced == 1 else 'are'} left out, as comments say." if silenced else ""
    return f"{said} in {', '.join(things)}{people}.{left}"


def _counted(number: int, of: str) -> str:
    return f"{number} {of}" if number == 1 else f"{number} {of}s"
