"""Declaring a tool: `python -m benchmarks.declaring [--quick]`.

The reference docstring has eight inputs, five aliases and an output of three members. Then docstrings of one, ten and a
hundred times as many aliases, whose cost should grow with their length and no faster.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from functools import update_wrapper
from types import FunctionType
from typing import Any, TypeVar, cast

from fastmcp.tools import FunctionTool

from benchmarks.measuring import seconds, turn_by_turn
from benchmarks.table import Report, Row, Table, run
from fastmcp_authz import ToolContract, authorized_tool

BAR = 1.5

Function = TypeVar("Function", bound=Callable[..., Any])


async def declaring(quick: bool) -> Report:
    """Decorator and registration against registration alone."""
    rounds = 3 if quick else 300

    async def plain() -> object:
        return FunctionTool.from_function(fresh(undecorated))

    async def ours() -> object:
        return FunctionTool.from_function(authorized_tool(fresh(search_applicants)))

    turns = await turn_by_turn([plain, ours], rounds)
    above = turns.difference(1, above=0)
    row = Row(
        "declaring a tool",
        f"{turns.seconds(0) * 1_000:.2f} ms",
        f"{turns.seconds(1) * 1_000:.2f} ms",
        f"{above} ms more",
        f"<= {BAR} ms more",
        above.value <= BAR,
    )
    lengths = [await _reading(times, max(1, rounds // (10 * times))) for times in ((1, 10) if quick else (1, 10, 100))]
    return Report([row], [Table("Reading a docstring:", ("docstring", "kB", "ms", "ms a kB"), lengths)])


async def _reading(times: int, runs: int) -> tuple[str, ...]:
    docstring = of_length(times)
    size = len(docstring) / 1_000

    async def parse() -> object:
        return ToolContract.parse(docstring)

    took = statistics.median([await seconds(parse) for _ in range(runs)]) * 1_000
    return f"{times}x", f"{size:.1f}", f"{took:.2f}", f"{took / size:.2f}"


def search_applicants(
    query: str,
    stage_id: str | None = None,
    status: str = "active",
    page: int = 1,
    per_page: int = 20,
    tags: list[str] | None = None,
    since: str | None = None,
    include_archived: bool = False,
) -> dict[str, Any]:
    """Find applicants by what is known of them.

    @rbs type stage = { id: String, name: String @min(1) @max(80), ?order: Integer @min(0) }
    @rbs type contact = { email: String @format(email), ?phone: String }
    @rbs type row = {
      id: String,
      name: String,
      stage: stage,
      ?contact: contact     @requires(:view_pii),
      ?score: Float         @feature(:scoring)
    }
    @rbs type success = { success: true, rows: Array[row], next: stage? }
    @rbs type rerouted = { success: true, rows: Array[row], next: stage?, audit: Array[String] }
    @rbs type error = { success: false, code: "not_found" | "invalid", message: String }
    @rbs type output = success | rerouted @requires(:backward_routing) | error

    #: (
    #:   query: String                @min(1) @max(200) @desc(Words to look for),
    #:   ?stage_id: String?           @requires(:backward_routing) @depends_on(:query),
    #:   ?status: "active" | "closed" | "all"   @desc(Which ones),
    #:   ?page: Integer               @min(1) @default(1),
    #:   ?per_page: Integer           @min(1) @max(100) @default(20),
    #:   ?tags: Array[String]         @max(10) @unique(),
    #:   ?since: Date                 @desc(Only those after this day),
    #:   ?include_archived: bool      @requires(:admin) @default(false)
    #: ) -> output
    """
    return {}


def undecorated(
    query: str,
    stage_id: str | None = None,
    status: str = "active",
    page: int = 1,
    per_page: int = 20,
    tags: list[str] | None = None,
    since: str | None = None,
    include_archived: bool = False,
) -> dict[str, Any]:
    """Find applicants by what is known of them."""
    return {}


def fresh(function: Function) -> Function:
    """The same function as another object: FastMCP keeps what it derives from a function by the function."""
    copy = FunctionType(function.__code__, function.__globals__, function.__name__, function.__defaults__)
    return cast("Function", update_wrapper(copy, function, updated=()))


def of_length(times: int) -> str:
    """A docstring with `times` times five aliases, all of them used."""
    row = "{ id: String @min(1), name: String, ?score: Float @feature(:scoring), tags: Array[String] }"
    aliases = [f"@rbs type row{i} = {row}" for i in range(5 * times)]
    fields = ", ".join(f"?f{i}: row{i}" for i in range(5 * times))
    return "\n".join([*aliases, f"@rbs type output = {{ {fields} }}", "#: () -> output"])


if __name__ == "__main__":
    run(declaring)
