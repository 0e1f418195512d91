"""What declaring a tool costs above plain FastMCP: `python benchmarks/declaring.py [--quick]`.

The reference docstring has eight inputs, five aliases and an output of three members. The decorator and FastMCP's own
registration are timed in turn in one run; then docstrings of one, ten and a hundred times as many aliases, whose cost
should grow with their length and no faster.
"""

from __future__ import annotations

import argparse
import gc
import statistics
import time
from collections.abc import Callable
from functools import partial, update_wrapper
from types import FunctionType
from typing import Any, TypeVar, cast

from fastmcp.tools import FunctionTool

from fastmcp_authz import ToolContract, authorized_tool

Function = TypeVar("Function", bound=Callable[..., Any])


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


def median(work: Callable[[], object], runs: int) -> float:
    """Milliseconds."""
    taken: list[float] = []
    for _ in range(runs):
        started = time.perf_counter()
        work()
        taken.append((time.perf_counter() - started) * 1_000)
    return statistics.median(taken)


def interleaved(first: Callable[[], object], second: Callable[[], object], runs: int) -> tuple[float, float]:
    """Medians in milliseconds of two pieces of work that are done in turn."""
    pairs = [(median(first, 1), median(second, 1)) for _ in range(runs)]
    return statistics.median(a for a, _ in pairs), statistics.median(b for _, b in pairs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a few runs, to see that it works")
    quick = parser.parse_args().quick
    runs = 5 if quick else 300
    gc.collect()
    gc.freeze()

    def decorated() -> object:
        return FunctionTool.from_function(authorized_tool(fresh(search_applicants)))

    def plain() -> object:
        return FunctionTool.from_function(fresh(undecorated))

    ours, theirs = interleaved(decorated, plain, runs)
    print("| declaring a tool | ms |")
    print("|---|---|")
    print(f"| plain FastMCP | {theirs:.2f} |")
    print(f"| decorated | {ours:.2f} |")
    print(f"| above plain | {ours - theirs:.2f} |")
    print()
    print("| docstring | kB | ms | ms a kB |")
    print("|---|---|---|---|")
    for times in (1, 10, 100):
        docstring = of_length(times)
        size = len(docstring) / 1_000
        took = median(partial(ToolContract.parse, docstring), max(1, runs // (10 * times)))
        print(f"| {times}x | {size:.1f} | {took:.2f} | {took / size:.2f} |")


if __name__ == "__main__":
    main()
