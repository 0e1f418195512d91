"""How often a request asks a context: `python -m benchmarks.asking [--quick]`.

Tools share areas and flags, and some areas are closed to the caller. What is needed is the gate of each tool that is
looked at, and each flag inside the tools whose gates let the caller pass: each pair of name and value once. What is
asked is counted in the context, with repetitions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final, TypeAlias, TypeVar

from fastmcp import Client, FastMCP

from benchmarks.table import Report, Row, run
from fastmcp_authz import Authz, Predicate, authorized_tool

AREAS: Final = 7
CLOSED: Final = frozenset({"area_1", "area_4"})
FLAGS: Final = 40
ROUNDS: Final = 2
"""How often a `decide` may be asked: for the gates, then for what is inside."""

Question: TypeAlias = tuple[str, object]
Kind = TypeVar("Kind", bound="Counting")


class Counting:
    """A context that writes down what it is asked."""

    def __init__(self) -> None:
        self.asked: list[Question] = []

    def feature(self, area: str) -> bool:
        self.asked.append(("feature", area))
        return area not in CLOSED

    def requires(self, flag: str) -> bool:
        self.asked.append(("requires", flag))
        return flag.endswith("0")


class Deciding(Counting):
    """One that answers all at once."""

    def __init__(self) -> None:
        super().__init__()
        self.times = 0

    def decide(self, predicates: tuple[Predicate, ...]) -> dict[Predicate, bool]:
        self.times += 1
        return {
            p: self.feature(str(p.value)) if p.name == "feature" else self.requires(str(p.value)) for p in predicates
        }


async def asking(quick: bool) -> Report:
    """Lists all the tools once, and calls one, with both kinds of context."""
    return Report([await _row(tools) for tools in ((10, 20) if quick else (10, 140, 1_000))])


async def _row(tools: int) -> Row:
    one_by_one: list[Counting] = []
    at_once: list[Deciding] = []
    await _list_and_call(_server(tools, Counting, one_by_one))
    await _list_and_call(_server(tools, Deciding, at_once))
    needed = [_needed(range(tools)), _needed([0])]
    asked = [context.asked for context in one_by_one if context.asked]
    batches = [context for context in at_once if context.times]
    exact = all(sorted(a) == sorted(n) for a, n in zip(asked, needed, strict=True)) and all(
        sorted(b.asked) == sorted(n) and b.times <= ROUNDS for b, n in zip(batches, needed, strict=True)
    )
    return Row(
        f"predicate calls in `tools/list` of {tools:,} tools, and in `tools/call`",
        f"needed: {len(needed[0])}, and {len(needed[1])}",
        f"{len(asked[0])}, and {len(asked[1])}",
        f"`decide`: {batches[0].times} times, and {batches[1].times}",
        f"what is needed; `decide` {ROUNDS} times",
        exact,
    )


async def _list_and_call(server: FastMCP) -> None:
    async with Client(server) as client:
        await client.list_tools()
        await client.call_tool("look_0", {})


def _needed(numbers: Iterable[int]) -> list[Question]:
    gates = dict.fromkeys(("feature", _area(number)) for number in numbers)
    inside = dict.fromkeys(
        ("requires", flag) for number in numbers if _area(number) not in CLOSED for flag in _flags(number)
    )
    return [*gates, *inside]


def _area(number: int) -> str:
    return f"area_{number % AREAS}"


def _flags(number: int) -> tuple[str, str]:
    return f"flag_{number % FLAGS}", f"flag_{(number * 3 + 1) % FLAGS}"


def _server(tools: int, kind: type[Kind], made: list[Kind]) -> FastMCP:
    server = FastMCP("protected")

    def context(_request: object) -> Kind:
        made.append(kind())
        return made[-1]

    Authz(server, context=context)
    for number in range(tools):
        server.tool(name=f"look_{number}")(authorized_tool(gates=[("feature", _area(number))])(_tool(number)))
    return server


def _tool(number: int) -> Callable[..., dict[str, int]]:
    def look(word: str = "") -> dict[str, int]:
        return {"found": len(word)}

    first, second = _flags(number)
    look.__doc__ = f"""Look for a word.

    @rbs type output = {{ found: Integer, ?more: String @requires(:{first}) }}

    #: (?word: String @requires(:{second})) -> output
    """
    return look


if __name__ == "__main__":
    run(asking)
