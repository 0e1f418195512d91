"""What the declarations of a server amount to, as the lines of a snapshot."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from fastmcp.tools import Tool
from fastmcp.utilities.versions import version_sort_key

from fastmcp_authz.callers.predicates import Predicate
from fastmcp_authz.contracts.outline import Outline, Part, Step
from fastmcp_authz.contracts.shapes import Anything, ListOf, MapOf, Ref, Shape, Tree, TupleOf, is_null
from fastmcp_authz.survey.lines import ANYTHING, AUTH, NOBODY, Guards, Key, Side, path_of, visible
from fastmcp_authz.survey.renaming import listed_as
from fastmcp_authz.survey.survey import SurveyedTool


def named(tools: Sequence[SurveyedTool]) -> Iterator[tuple[str, SurveyedTool]]:
    """Each tool with a name of its own: where one has several versions, the older ones as `name@version`."""
    versions: defaultdict[str, dict[str | None, SurveyedTool]] = defaultdict(dict)
    for tool in tools:
        versions[tool.name].setdefault(tool.least.version, tool)  # of two alike, FastMCP calls the first
    for name, named in versions.items():
        newest = max(named, key=lambda version: version_sort_key(named[version].least))
        for version, tool in named.items():
            yield (name if version == newest else f"{name}@{version or 'unversioned'}"), tool


def lines_of(name: str, tool: SurveyedTool) -> dict[Key, Guards]:
    """The lines of one tool."""
    lines = {Key(name): guards_of(tool)}
    if tool.declaration is None:
        anything = dict.fromkeys((Key(name, "in", ANYTHING), Key(name, "out", ANYTHING)), frozenset[str]())
        return lines | anything
    if tool.declaration.content == "passthrough":
        lines[Key(name, "content", ANYTHING)] = frozenset()
    sides: tuple[tuple[Side, Outline], ...] = (("in", tool.input), ("out", tool.output))
    for side, laid_out in sides:
        for path, guards in parts_of(laid_out):
            lines[Key(name, side, path)] = guards
    for part in tool.input.parts:
        if listed_as(tool.least, part) is None:
            lines[Key(name, "in", path_of(map(str, part.steps)))] |= {NOBODY}
    return lines


def guards_of(tool: SurveyedTool) -> Guards:
    """What guards the whole of a tool."""
    unprotected = tool.declaration is not None and tool.authority is None
    nobodys = frozenset({NOBODY}) if unprotected or not tool.enabled else frozenset[str]()
    return _texts(tool.gates) | _auth(tool.least) | nobodys


def _auth(tool: Tool) -> Guards:
    """FastMCP's `auth=`: a `gate_check` as the predicate that it asks, any other check by its name and scopes."""
    checks = tool.auth if isinstance(tool.auth, list) else [] if tool.auth is None else [tool.auth]
    return _texts(predicate for each in checks for predicate in _asked_by(each))


def _asked_by(check: object) -> list[Predicate]:
    asked = getattr(check, "predicate", None)
    if isinstance(asked, Predicate):
        return [asked]
    name = str(getattr(check, "__qualname__", type(check).__qualname__)).partition(".<locals>")[0].lstrip("_")
    scopes = getattr(check, "required_scopes", None)
    told = sorted(f"{name} {each}" for each in scopes) if isinstance(scopes, frozenset) else []
    return [Predicate(AUTH, each) for each in told or [name]]


def parts_of(outline: Outline) -> Iterator[tuple[str, Guards]]:
    """What a tree has lines for, by path: its parts, and where it takes what nobody declared.

    `T?` is written as `T`: whether something may be null says nothing of who sees it, unless a guard stands there.
    """
    nilable = _plainly_nilable(outline)
    for opening in openings(outline.tree.root, outline.tree):
        yield path_of(opening), frozenset()
    for part in outline.parts:
        steps = [str(step) for number, step in enumerate(part.steps) if part.steps[: number + 1] not in nilable]
        if part.steps not in nilable and not (_is_nil(part) and not part.guards):
            yield path_of(steps), _texts(part.guards)
        for opening in openings(part.shape, outline.tree):
            yield path_of([*steps, *opening]), frozenset()


def _plainly_nilable(outline: Outline) -> frozenset[tuple[Step, ...]]:
    """The members that are all of a union but for its `nil`, where no guard stands at either."""
    unions: defaultdict[tuple[Step, ...], list[Part]] = defaultdict(list)
    for part in outline.parts:
        if not part.is_field:
            unions[part.steps[:-1]].append(part)
    found = (members for members in unions.values() if not any(member.guards for member in members))
    return frozenset(
        member.steps for members in found if len(members) == 2 and any(map(_is_nil, members)) for member in members
    )


def _is_nil(part: Part) -> bool:
    return not part.is_field and is_null(part.shape)


def openings(shape: Shape, tree: Tree, seen: frozenset[str] = frozenset()) -> Iterator[tuple[str, ...]]:
    """Where, right inside a shape, keys or values may stand that nobody declared: a hash, `untyped`."""
    match shape:
        case Ref(key=key) if key not in seen:
            yield from openings(tree.definitions[key], tree, seen | {key})
        case Anything():
            yield (f".{ANYTHING}",)
        case ListOf(items=items):
            yield from (("[]", *inner) for inner in openings(items, tree, seen))
        case TupleOf(items=places):
            for number, place in enumerate(places):
                yield from ((f"[{number}]", *inner) for inner in openings(place, tree, seen))
        case MapOf(values=values):
            yield ("{}",)
            yield from (("{}", *inner) for inner in openings(values, tree, seen))
        case _:
            return


def _texts(predicates: Iterable[Predicate]) -> Guards:
    return frozenset(visible(each.text) for each in predicates)
