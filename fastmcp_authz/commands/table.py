"""What personas see of tools, as a table: personas side by side, or below one another where there are many."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

from rich.cells import cell_len
from rich.text import Text

from fastmcp_authz.callers.predicates import Predicate
from fastmcp_authz.commands.columns import in_columns, widths
from fastmcp_authz.commands.levels import Level, levels
from fastmcp_authz.contracts.outline import Part
from fastmcp_authz.survey.renaming import listed_as
from fastmcp_authz.survey.survey import Sighting, SurveyedTool

Seen: TypeAlias = Mapping[str, Sequence[Sighting]]
"""By persona, what is seen of each of some tools."""

PLAIN: Final = "✓ everybody's"
"""What is said of a tool that is no `authorized_tool`."""


def written(tools: Sequence[SurveyedTool], seen: Seen, *, whole: bool, most: int | None) -> Iterator[Text]:
    """The lines of the table.

    Args:
        tools: The tools.
        seen: What is seen of them, in their order.
        whole: Whether to show each level of each contract, and not only what may differ.
        most: How long a line may be; `None` where it may have any length.
    """
    blocks = [_block(tool, [each[index] for each in seen.values()], whole) for index, tool in enumerate(tools)]
    if not blocks:
        yield Text("The server has no tools.")
        return
    head = [Text(), *(Text(name, "bold") for name in seen)]
    columns = widths([head, *(row for block in blocks for row in block)], most)
    if columns is not None:
        yield from in_columns([head, *(row for block in blocks for row in block)], columns)
        return
    assert most is not None, "without an end there is room for all"
    for block in blocks:
        yield from _stacked(list(seen), block, most)


Row: TypeAlias = list[Text]
"""What it is about, and a cell for each persona."""


def _block(tool: SurveyedTool, sightings: Sequence[Sighting], whole: bool) -> list[Row]:
    rows = [[Text(tool.name, "bold"), *map(_verdict, sightings)]]
    if tool.ours is None:
        rows[0][1:] = [Text(PLAIN, "green") for _ in sightings]
        for side, schema in (("in", tool.least.parameters), ("out", tool.least.output_schema)):
            rows.append([Text(f"  {side}"), *(_properties(side, schema) for _ in sightings)])
        return _told(rows)
    for side, outline in (("in", tool.input), ("out", tool.output)):
        for level in levels(outline, whole=whole):
            cells = [_cell(level, side, sighting) for sighting in sightings]
            rows.append([Text(f"    {level.path}" if level.path else f"  {side}"), *cells])
    return _told(rows)


def _told(rows: Sequence[Row]) -> list[Row]:
    """The rows that say something."""
    return [row for row in rows if any(cell.plain for cell in row[1:])]


def _cell(level: Level, side: str, sighting: Sighting) -> Text:
    seen = sighting.input if side == "in" else sighting.output
    return Text(level.told(lambda part: _called(part, side, sighting), seen))


def _called(part: Part, side: str, sighting: Sighting) -> str | None:
    if side == "out" or not part.is_field:
        return part.name
    name = listed_as(sighting.tool, part)
    return f"{name}?" if name is not None and _is_optional(name, part, sighting) else name


def _is_optional(name: str, part: Part, sighting: Sighting) -> bool:
    """Whether an input may be left out, as the schema says that is listed: settings may have made it so."""
    schema = {} if sighting.tool is None else sighting.tool.parameters
    if len(part.steps) == 1 and name in schema.get("properties", {}):
        return name not in schema.get("required", ())
    return not part.required


def _properties(side: str, schema: Mapping[str, Any] | None) -> Text:
    schema = schema or {}
    required = schema.get("required", ())
    return Text(
        ", ".join(name if side == "out" or name in required else f"{name}?" for name in schema.get("properties", {}))
    )


def _verdict(sighting: Sighting) -> Text:
    if sighting.tool is not None:
        return Text("✓", "green")
    return Text(f"· ({why_hidden(sighting)})", "dim")


def why_hidden(sighting: Sighting) -> str:
    """Why a tool is hidden, briefly: the gates that said no, or what else it is."""
    tool = sighting.surveyed
    if sighting.denied:
        return ", ".join(map(_brief, sighting.denied))
    return "nobody decides for it" if tool.authority is None else "no output is left"


def _brief(gate: Predicate) -> str:
    """A predicate in the fewest words: `feature sms`, `can comms`."""
    if gate.value is None:
        return gate.name
    value = gate.value if isinstance(gate.value, str) else json.dumps(gate.value)
    return f"{gate.name} {value}"


def _stacked(personas: Sequence[str], block: Sequence[Row], most: int) -> Iterator[Text]:
    """A tool with its personas below one another, those that see the same together."""
    yield block[0][0]
    alike: dict[tuple[str, ...], list[int]] = {}
    for column in range(1, len(personas) + 1):
        alike.setdefault(tuple(row[column].plain for row in block), []).append(column)
    for columns in alike.values():
        names = ", ".join(personas[column - 1] for column in columns)
        verdict = block[0][columns[0]]  # the mark goes first: names may take several lines
        line = Text.assemble(verdict[:1], " ", (names, "bold"), verdict[1:])
        yield from in_columns([[Text(), line]], [0, max(20, most - 2)])
        rows = [[Text.assemble("  ", row[0]), row[columns[0]]] for row in block[1:] if row[columns[0]].plain]
        if rows:
            first = max(cell_len(row[0].plain) for row in rows)
            yield from in_columns(rows, [first, max(20, most - first - 2)])
