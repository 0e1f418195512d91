"""The table of the benchmarks, and what makes each of them a program."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from benchmarks.measuring import Turns


@dataclass(frozen=True, slots=True)
class Row:
    """One thing that was measured."""

    what: str
    plain: str
    """What it costs in plain FastMCP."""
    ours: str
    compared: str
    """The ratio of the two, or their difference."""
    bar: str = ""
    met: bool | None = None
    """`None` where there is no bar."""


@dataclass(frozen=True, slots=True)
class Table:
    """Figures of another kind, below the one table of all rows."""

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True)
class Report:
    """What a benchmark found."""

    rows: Sequence[Row] = ()
    tables: Sequence[Table] = ()


Benchmark: TypeAlias = Callable[[bool], Awaitable[Report]]
"""Measures; `True` asks for a few runs only, which say that it works and nothing else."""

_NAMES = ("what", "plain FastMCP", "ours", "ratio or difference", "bar", "met")
_HEAD = (_NAMES, ("---",) * len(_NAMES))


def run(*benchmarks: Benchmark) -> None:
    """Runs benchmarks as the command line says, and prints their table as Markdown, each row when it is known."""
    parser = argparse.ArgumentParser(description=sys.modules["__main__"].__doc__)
    parser.add_argument("--quick", action="store_true", help="a few runs, to see that it works")
    quick = parser.parse_args().quick
    head: Sequence[Sequence[str]] = _HEAD
    tables: list[Table] = []
    for benchmark in benchmarks:
        report = asyncio.run(_measured(benchmark, quick))
        if report.rows:
            _print([*head, *map(_cells, report.rows)])
            head = ()
        tables += report.tables
    for table in tables:
        print(f"\n{table.title}\n")
        _print([table.head, ["---"] * len(table.head), *table.rows])


def compared(what: str, turns: Turns, bar: float | None = None) -> Row:
    """The row of two works that took turns, plain FastMCP's first."""
    ratio = turns.ratio(1, to=0)
    plain, ours = (f"{turns.seconds(which) * 1_000:.2f} ms" for which in (0, 1))
    if bar is None:
        return Row(what, plain, ours, str(ratio))
    return Row(what, plain, ours, str(ratio), f"<= {bar:.2f}", ratio.value <= bar)


async def _measured(benchmark: Benchmark, quick: bool) -> Report:
    return await benchmark(quick)


def _print(lines: Iterable[Sequence[str]]) -> None:
    for cells in lines:
        print(f"| {' | '.join(cells)} |", flush=True)


def _cells(row: Row) -> tuple[str, ...]:
    met = {True: "yes", False: "no", None: ""}[row.met]
    return row.what, row.plain, row.ours, row.compared, row.bar, met
