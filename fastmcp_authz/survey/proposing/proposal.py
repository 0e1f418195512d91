"""The docstring that a tool's schemas and prose amount to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from fastmcp_authz.annotations import Alias, Field, Name, Record, Tag, Type
from fastmcp_authz.survey.proposing.layout import alias_lines, note_lines, signature_lines
from fastmcp_authz.survey.proposing.naming import alias_names
from fastmcp_authz.survey.proposing.said import AT, JsonSchema, Note, Said, name
from fastmcp_authz.survey.proposing.schemas import Walker

_WRAPPED: Final = "x-fastmcp-wrap-result"
_INNER: Final = ("type", "items", "members", "arguments", "fields")
"""The parts of nodes that hold nodes."""
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

    def without_values(self) -> Proposal:
        """The same without defaults and examples, which a type may refuse though its schema does not."""
        return replace(
            self,
            aliases=tuple(replace(each, type=_without_values(each.type)) for each in self.aliases),
            parameters=tuple(map(_field_without_values, self.parameters)),
            output=_without_values(self.output),
            notes=(*self.notes, Note("", "Its defaults and examples are left out: they do not fit their types.")),
        )


def propose(prose: str, given: JsonSchema, result: JsonSchema | None, returned: str | None = None) -> Proposal:
    """What a tool's schemas amount to.

    Args:
        prose: What its docstring is to say beside annotations.
        given: The schema of its inputs.
        result: The schema of its results, if FastMCP has one.
        returned: How the results are hinted at in Python, for a note, if FastMCP has no schema of them.
    """
    inputs = Walker(given.get("$defs", {}), alias_names(given.get("$defs", {})))
    parameters = inputs.record(given, "")
    outputs, output = _output(inputs, result, returned)
    mine = [alias for alias in inputs.aliases.values() if alias is not None]
    theirs = [alias for alias in outputs.aliases.values() if alias is not None and alias not in mine]
    notes = tuple(inputs.notes)
    more = tuple(note for note in outputs.notes if note not in notes)
    return Proposal(prose, (*mine, *theirs), parameters, output.inside(), notes, more)


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
    walker.notes.append(
        Note("", 'It returns no object, and results are objects: `return {"result": ...}`, as clients have had it.')
    )
    return Said(Record(walker.record(result, ""), at=AT))


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
    what = f"It returns `{returned}`, of which FastMCP knows no fields" if returned else "Its results have no type hint"
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


def _is_value(tag: Tag) -> bool:
    return tag.name in ("default", "example")


def _without_values(node: Any) -> Any:
    """A node of a syntax tree, and all in it, without those tags."""
    changed: dict[str, Any] = {}
    for each in (*_INNER, "tags"):
        inner = getattr(node, each, None)
        if each == "tags" and inner:
            changed[each] = tuple(tag for tag in inner if not _is_value(tag))
        elif isinstance(inner, tuple):
            changed[each] = tuple(map(_without_values, inner))
        elif inner is not None:
            changed[each] = _without_values(inner)
    return replace(node, **changed) if changed else node


def _field_without_values(field: Field) -> Field:
    made: Field = _without_values(field)
    return made


def names_in(node: Any) -> Iterator[str]:
    """The names that a type is made of, each as often as it stands there."""
    if isinstance(node, Name):
        yield node.name
    for each in _INNER:
        inner = getattr(node, each, None)
        for part in inner if isinstance(inner, tuple) else () if inner is None else (inner,):
            yield from names_in(part)
