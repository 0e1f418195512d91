"""The docstring that a tool's schemas and prose amount to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from fastmcp_authz.annotations import Alias, Field, Record, Tag, Tagged, Type
from fastmcp_authz.contracts.contract import ToolContract
from fastmcp_authz.errors import Problem
from fastmcp_authz.survey.proposing.layout import alias_lines, note_lines, signature_lines
from fastmcp_authz.survey.proposing.naming import alias_names
from fastmcp_authz.survey.proposing.said import AT, JsonSchema, Note, Said, name
from fastmcp_authz.survey.proposing.schemas import Walker
from fastmcp_authz.survey.proposing.trees import is_value, without_values

_WRAPPED: Final = "x-fastmcp-wrap-result"
_IGNORED: Final = ("$defs", "title", "x-fastmcp-top-level-schema")


@dataclass(frozen=True)
class Proposal:
    """What one tool declares once it is annotated."""

    prose: str
    aliases: tuple[Alias, ...]
    parameters: tuple[Field, ...]
    output: Type
    notes: tuple[Note, ...]
    """On inputs and on what they share with results."""
    output_notes: tuple[Note, ...]

    @property
    def docstring(self) -> str:
        """The docstring, dedented."""
        blocks = [alias_lines(alias) for alias in self.aliases]
        blocks.append([*note_lines(self.notes), *signature_lines(self.parameters)])
        output = Alias("output", self.output, at=AT)
        blocks.append([*note_lines(self.output_notes), *alias_lines(output)])
        annotation = "\n\n".join("\n".join(block) for block in blocks)
        return f"{self.prose}\n\n{annotation}" if self.prose else f"\n{annotation}"


def propose(
    prose: str, given: JsonSchema, result: JsonSchema | None, returned: str | None = None, *, hands_on: bool = False
) -> Proposal:
    """What a tool's schemas amount to.

    Args:
        prose: What its docstring is to say beside annotations.
        given: The schema of its inputs.
        result: The schema of its results, if FastMCP has one.
        returned: How the results are hinted at in Python, for a note, if FastMCP has no schema of them.
        hands_on: Whether the function is to return what a tool of FastMCP's gave, no object of its own.
    """
    inputs = Walker(given.get("$defs", {}), alias_names(given.get("$defs", {})))
    parameters = inputs.record(given, "")
    outputs, output = _output(inputs, _unwrapped(result) if hands_on else result, returned)
    mine = [alias for alias in inputs.aliases.values() if alias is not None]
    theirs = [alias for alias in outputs.aliases.values() if alias is not None and alias not in mine]
    notes = tuple(inputs.notes)
    more = tuple(note for note in outputs.notes if note not in notes)
    return _settled(Proposal(prose, (*mine, *theirs), parameters, output.inside(), notes, more))


def _settled(proposal: Proposal) -> Proposal:
    """A proposal without the defaults and examples that do not fit their types, though they fit their schemas."""
    if not _problems(proposal.docstring):
        return proposal
    bare = [replace(each, type=without_values(each.type)) for each in proposal.aliases]
    lost: list[Tag] = []

    def keeps(node: Field | Tagged, value: Tag) -> bool:
        other = tuple(each for each in node.tags if not is_value(each) and each.name != "depends_on")
        field = Field("x", without_values(node.type), True, (*other, value), at=AT)
        lines = [*(f"@rbs {each}\n" for each in bare), f"#: ({field}) -> output\n", "@rbs type output = {}"]
        if not _problems("\n".join(lines)):
            return True
        lost.append(value)
        return False

    settled = replace(
        proposal,
        aliases=tuple(replace(each, type=without_values(each.type, keeps)) for each in proposal.aliases),
        parameters=tuple(without_values(each, keeps) for each in proposal.parameters),
        output=without_values(proposal.output, keeps),
    )
    notes = [Note("", f"`{value}` is left out: its type does not take it.") for value in dict.fromkeys(lost)]
    return replace(settled, notes=(*settled.notes, *notes))


def _problems(docstring: str) -> Sequence[Problem]:
    return ToolContract.examine(docstring)[1]


def _unwrapped(result: JsonSchema | None) -> JsonSchema | None:
    """The schema of results that are handed on as FastMCP has wrapped them."""
    return None if result is None else {keyword: value for keyword, value in result.items() if keyword != _WRAPPED}


def _output(inputs: Walker, result: JsonSchema | None, returned: str | None) -> tuple[Walker, Said]:
    """What the results are, and the walk that found it. What is not the same as an input has a name of its own."""
    definitions: Mapping[str, Any] = (result or {}).get("$defs", {})
    shared = {key: alias for key, alias in inputs.aliases.items() if alias is not None}
    taken = [alias.name for alias in shared.values()]
    other: set[str] = {key for key in definitions if key not in shared}
    while True:
        own = alias_names((key if key not in shared else f"{key}_result" for key in definitions if key in other), taken)
        names = {key: own[key] if key not in shared else own[f"{key}_result"] for key in definitions if key in other}
        names |= {key: shared[key].name for key in definitions if key not in other}
        walker = Walker(definitions, names)
        said = _result(walker, result, returned)
        differing = {key for key, alias in walker.aliases.items() if key not in other and alias != shared[key]}
        if not differing:
            return walker, said
        other |= differing


def _result(walker: Walker, result: JsonSchema | None, returned: str | None) -> Said:
    if result is None:
        return _unknown(walker, returned)
    if not result.get(_WRAPPED):
        return _of_object(walker, result)
    inner = result.get("properties", {}).get("result", True)
    if _gives_objects(walker, inner):
        walker.notes.append(
            Note("", 'It gives objects, which FastMCP had put under {"result": ...}: clients get them as they are now.')
        )
        return walker.said(inner, "output")
    inner = {k: v for k, v in inner.items() if k != "title"} if isinstance(inner, dict) else inner
    walker.notes.append(
        Note("", 'It returns no object, and results are objects: `return {"result": ...}`, as clients have had it.')
    )
    return Said(Record(walker.record({"properties": {"result": inner}, "required": ["result"]}, ""), at=AT))


def _of_object(walker: Walker, result: JsonSchema) -> Said:
    body = {keyword: value for keyword, value in result.items() if keyword not in _IGNORED}
    for key in walker.resolvable:
        if {k: v for k, v in walker.resolved({"$ref": f"#/$defs/{key}"}).items() if k not in _IGNORED} == body:
            return walker.said({"$ref": f"#/$defs/{key}"}, "output")
    said = walker.said(body, "output")
    if not isinstance(said.type, Record):
        walker.notes.append(Note("", "All that it returns is sent: name its fields, so that some can be guarded."))
    return said


def _unknown(walker: Walker, returned: str | None) -> Said:
    if returned == "None":
        walker.notes.append(Note("", 'It returns nothing, and results are objects: `return {"done": True}`.'))
        return Said(Record((Said(name("bool")).field("done", optional=False),), at=AT))
    what = f"It returns `{returned}`, of which FastMCP knows no fields" if returned else "Nothing says what it returns"
    walker.notes.append(
        Note("", f"{what}: return a dict, whose fields stand here, so that some can be guarded. Now all of it is sent.")
    )
    return Said(name("Hash", name("String"), name("untyped")))


def _gives_objects(walker: Walker, schema: Any) -> bool:
    """Whether all values of a schema are objects."""
    target = walker.resolved(schema)
    members = target.get("anyOf") or target.get("oneOf")
    if members:
        return all(_gives_objects(walker, each) for each in members)
    return target.get("type") == "object"
