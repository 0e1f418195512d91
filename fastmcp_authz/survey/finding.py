"""Where in a server something is that a word names: for whoever asks who can see an e-mail address anywhere."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from fastmcp_authz.contracts.outline import Outline, Part
from fastmcp_authz.contracts.shapes import ListOf, MapOf, Ref, Shape, Tree, TupleOf, Union
from fastmcp_authz.survey.declared import guards_of, named, openings
from fastmcp_authz.survey.lines import ANYTHING, Key, path_of, visible
from fastmcp_authz.survey.reasons import Side, is_seen
from fastmcp_authz.survey.survey import Sighting, SurveyedTool


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """Something of a tool that is named so, or that may hold what nobody declared, and so that too."""

    key: Key
    """As a snapshot writes it."""
    tool: SurveyedTool
    side: Side | None
    part: Part | None
    """`None` where whoever sees the tool sees it."""
    anything: bool = False
    """Whether it takes whatever a function returns, under any name."""

    @property
    def guards(self) -> tuple[str, ...]:
        """All that guards it, that of the tool first."""
        inner = () if self.part is None else self.part.all_guards
        return tuple(dict.fromkeys((*sorted(guards_of(self.tool)), *(visible(each.text) for each in inner))))

    def is_seen(self, sighting: Sighting) -> bool:
        """Whether it is seen by somebody who sees that much of its tool."""
        return sighting.tool is not None and (self.part is None or is_seen(sighting, self.side, self.part))


def find(tools: Sequence[SurveyedTool], name: str) -> Iterator[Found]:
    """Everything that a name means, or is in the words of: in any case, with or without `-` and `_`.

    The words of a part are its own name, that of its type, its format and its description; constants have none. What
    takes anything comes last of each tool.
    """
    for called, tool in named(tools):
        if tool.declaration is None:
            yield from _in_plain(called, tool, name)
            continue
        sides: Sequence[tuple[Literal["in", "out"], Side, Outline]] = (
            ("in", "input", tool.input),
            ("out", "output", tool.output),
        )
        for short, side, outline in sides:
            for part in outline.parts:
                if part.is_called(name) or _is_in_words(name, _words(part, outline.tree)):
                    yield Found(Key(called, short, path_of(map(str, part.steps))), tool, side, part)
        if tool.declaration.content == "passthrough":
            yield Found(Key(called, "content", ANYTHING), tool, None, None, anything=True)
        for owner, path in _wild(tool.output):
            yield Found(Key(called, "out", path), tool, "output", owner, anything=True)


def _in_plain(called: str, tool: SurveyedTool, name: str) -> Iterator[Found]:
    for each in tool.least.parameters.get("properties", {}):
        if _is_in_words(name, [each]):
            yield Found(Key(called, "in", each), tool, "input", None)
    yield Found(Key(called, "out", ANYTHING), tool, "output", None, anything=True)


def _is_in_words(name: str, words: Sequence[str]) -> bool:
    sought = _plain(name)
    return bool(sought) and any(sought in _plain(word) for word in words)


def _plain(text: str) -> str:
    return re.sub(r"[-_]", "", text).casefold()


def _words(part: Part, tree: Tree) -> list[str]:
    return [part.name, *_of_type(part.shape, tree, frozenset())] if part.is_field or isinstance(part.shape, Ref) else []


def _of_type(shape: Shape, tree: Tree, seen: frozenset[str]) -> Iterator[str]:
    """The words of a type, of what lists, hashes and unions are made of too; those of fields are their own."""
    told = {**dict(shape.keywords), **dict(shape.notes.keywords)}
    yield from (str(told[key]) for key in ("format", "description", "title") if key in told)
    match shape:
        case Ref(key=key) if key not in seen:
            yield key.split(" @")[0]
            yield from _of_type(tree.definitions[key], tree, seen | {key})
        case ListOf(items=items):
            yield from _of_type(items, tree, seen)
        case TupleOf(items=places):
            for each in places:
                yield from _of_type(each, tree, seen)
        case MapOf(values=values, keys=keys):
            for each in (values, *(() if keys is None else (keys,))):
                yield from _of_type(each, tree, seen)
        case Union(members=members):
            for member in members:
                if not isinstance(member.shape, Ref):  # that is a part of its own, by its name
                    yield from _of_type(member.shape, tree, seen)
        case _:
            pass


def _wild(outline: Outline) -> Iterator[tuple[Part | None, str]]:
    """Where a tree takes anything, each with the part that it is right in."""
    for owner in (None, *outline.parts):
        shape = outline.tree.root if owner is None else owner.shape
        steps = () if owner is None else tuple(map(str, owner.steps))
        for opening in openings(shape, outline.tree):
            if opening[-1] == f".{ANYTHING}":
                yield owner, path_of((*steps, *opening))
