"""What names stand for: a table that builds each definition once, when it is first needed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from .shapes import NO_NOTES, Anything, Ref, Shape, Tree, Union, is_null

_MOST: Final = 1_000
"""Names, and narrowed variants of names, of one contract; with more than these it is refused."""


class DefinitionTable:
    """Definitions by key, built on demand, since names may refer to one another in any order."""

    def __init__(self) -> None:
        self.shapes: dict[str, Shape] = {}
        self._waiting: dict[str, Callable[[], Shape]] = {}
        self._under_way: set[str] = set()
        self.overfull = False
        """Whether there are more names, or deeper ones, than anything can be made of."""

    def refer(self, key: str, make: Callable[[], Shape]) -> Ref:
        """The use of a name; `make` builds what it stands for, if nobody has said so before."""
        if key not in self.shapes and key not in self._waiting:
            self._waiting[key] = make
        return Ref(key)

    def get(self, key: str) -> Shape | None:
        """The shape that a key stands for, built now if need be; `None` while it is being built."""
        if key in self._waiting:
            make = self._waiting.pop(key)
            self._under_way.add(key)
            self.shapes[key] = Anything()
            self.shapes[key] = make()
            self._under_way.discard(key)
        return None if key in self._under_way else self.shapes[key]

    def known(self, shape: Shape) -> Shape | None:
        """The shape behind names; `None` where one of them is still being built, or stands for itself."""
        entered: set[str] = set()
        while isinstance(shape, Ref):
            behind = None if shape.key in entered else self.get(shape.key)
            if behind is None:
                return None
            entered.add(shape.key)
            shape = behind
        return shape

    def resolved(self, shape: Shape) -> Shape:
        """The shape behind names as far as it is known by now."""
        known = self.known(shape)
        return Anything() if known is None else known

    def seen_through(self, shape: Shape) -> Shape | None:
        """What is `known` behind a name, with the notes of each name on the way over it."""
        known = self.known(shape)
        if known is None:
            return None
        notes = NO_NOTES
        while isinstance(shape, Ref):
            notes = notes.over(shape.notes)
            shape = self.shapes[shape.key]
        return known if notes == NO_NOTES else replace(known, notes=notes.over(known.notes))

    def finish(self) -> str | None:
        """Build every definition that was referred to. If there is no end to them, the first of those left out."""
        while self._waiting and len(self.shapes) <= _MOST:
            self.get(next(iter(self._waiting)))
        first = next(iter(self._waiting), None)
        self.overfull = first is not None
        return first


def is_nilable(shape: Shape, tree: Tree) -> bool:
    """Whether `nil` is one of the members of a type. A union may lead back to itself by name, which adds nothing."""
    entered: set[str] = set()
    waiting = [shape]
    while waiting:
        shape = waiting.pop()
        if isinstance(shape, Ref):
            if shape.key not in entered:
                entered.add(shape.key)
                waiting.append(tree.definitions[shape.key])
        elif isinstance(shape, Union):
            waiting.extend(m.shape for m in shape.members)
        elif is_null(shape):
            return True
    return False
