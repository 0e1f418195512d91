"""What of a guarded tree is the same for all callers, found once for each contract: it makes the views of it cheap."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .merging import alias_name
from .shapes import Definitions, Field, Ref, Shape, Union, parts, reachable_once


@dataclass(frozen=True, slots=True, eq=False)
class Still:
    """The parts of a tree that no caller sees another way than the next. Shapes are known by their identity.

    What is remembered of them follows from the shape alone: whoever is first works it out for all.
    """

    shapes: Mapping[int, Shape]
    """The shapes without a guard, a name or a caller's own default inside. Held, so that an identity stays theirs."""
    merges: bool
    """Whether two definitions, or two members of a union, could look alike to somebody."""
    hoists: bool
    """Whether somebody's schema could have `$defs`."""
    seen: tuple[dict[int, Shape], dict[int, Shape]] = field(default_factory=lambda: ({}, {}), repr=False)
    """What everybody sees of such a shape: without the nulls that were not asked for, and with them."""
    fields: tuple[dict[int, Field], dict[int, Field]] = field(default_factory=lambda: ({}, {}), repr=False)
    """What those see who see it of a field of such a shape, whatever they see of the fields that it depends on."""
    results: dict[int, Shape] = field(default_factory=dict[int, Shape], repr=False)
    """All that is in `seen`, by its own identity."""
    written: dict[int, dict[str, Any]] = field(default_factory=dict[int, dict[str, Any]], repr=False)
    """The schemas of `results`, without any option. No one may change them: they are part of many."""

    def remember(self, shape: Shape, result: Shape, *, keep_null: bool) -> None:
        """Everybody sees `result` of a still shape."""
        self.results[id(result)] = result
        self.seen[keep_null][id(shape)] = result


def still(root: Shape, definitions: Definitions) -> Still:
    """What is the same for all callers in a guarded tree."""
    shapes: dict[int, Shape] = {}
    for shape in (root, *definitions.values()):
        _find_still(shape, shapes)
    return Still(shapes, _merges(root, definitions), _hoists(root, definitions))


def _find_still(shape: Shape, shapes: dict[int, Shape]) -> bool:
    inside = [(_find_still(part, shapes), guards) for part, guards in parts(shape)]  # all are looked at
    is_still = (
        not isinstance(shape, Ref)
        and shape.notes.default_key is None
        and all(part_is_still and not guards for part_is_still, guards in inside)
    )
    if is_still:
        shapes[id(shape)] = shape
    return is_still


def _merges(root: Shape, definitions: Definitions) -> bool:
    if len({alias_name(key) for key in definitions}) < len(definitions):
        return True
    return any(
        isinstance(shape, Union) and any(isinstance(member.shape, Ref) for member in shape.members)
        for start in (root, *definitions.values())
        for shape, _ in reachable_once(start)
    )


def _hoists(root: Shape, definitions: Definitions) -> bool:
    """Whether a definition is used twice, or leads back to itself, which would be a second use."""
    uses = Counter(
        shape.key
        for start in (root, *definitions.values())
        for shape, _ in reachable_once(start)
        if isinstance(shape, Ref)
    )
    return any(count > 1 for count in uses.values()) or _merges(root, definitions)
