"""A `tools/call` with 10,000 rows of ten fields: `python -m benchmarks.many_rows [--quick]`.

The protected function returns all ten fields, and this caller sees eight of them; the plain one returns those eight.
The client's own check of the result, which takes many times as long as the call, is left out.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from fastmcp import Client, FastMCP

from benchmarks.catalogue import Door, as_listed, listed_by
from benchmarks.measuring import turn_by_turn
from benchmarks.table import Report, compared, run
from benchmarks.wire import unchecked_call
from fastmcp_authz import Authz

BAR = 1.20


async def many_rows(quick: bool) -> Report:
    """One tool each, whose rows are made beforehand."""
    count, rounds = (100, 3) if quick else (10_000, 40)
    rows = [_row(number) for number in range(count)]
    seen = [{name: value for name, value in row.items() if name not in ("notes", "salary")} for row in rows]
    protected = _protected(rows)

    def list_people() -> dict[str, Any]:
        return {"people": seen}

    plain = FastMCP("plain")
    plain.add_tool(as_listed(list_people, *await listed_by(protected)))
    async with Client(plain) as theirs, Client(protected) as ours:
        works = [partial(unchecked_call, client, "list_people", {}) for client in (theirs, ours)]
        expected, found = [await work() for work in works]
        assert found.structured_content == expected.structured_content == {"people": seen}
        assert found.content == expected.content
        turns = await turn_by_turn(works, rounds)
    return Report([compared(f"`tools/call`, {count:,} rows of 10 fields, 2 of them pruned", turns, BAR)])


def _protected(rows: list[dict[str, Any]]) -> FastMCP:
    server = FastMCP("protected")
    authz = Authz(server, context=Door().context)

    @authz.tool
    def list_people() -> dict[str, Any]:
        """List everybody.

        @rbs type person = {
          id: Integer, name: String, email: String, city: String, age: Integer, score: Float, active: bool,
          manager: String?, ?notes: String @requires(:support), ?salary: Integer @requires(:admin)
        }
        @rbs type output = { people: Array[person] }
        """
        return {"people": rows}

    return server


def _row(number: int) -> dict[str, Any]:
    return {
        "id": number,
        "name": f"Person {number}",
        "email": f"person.{number}@example.org",
        "city": "Lisbon",
        "age": 20 + number % 50,
        "score": number / 7,
        "active": number % 3 == 0,
        "manager": None if number % 10 == 0 else f"Person {number // 10}",
        "notes": "Rang twice",
        "salary": 30_000 + number,
    }


if __name__ == "__main__":
    run(many_rows)
