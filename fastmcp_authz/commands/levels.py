"""What of a tool is worth a row of its own when it is shown: each record and each union in its contract."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from fastmcp_authz.contracts.outline import Outline, Part, Step
from fastmcp_authz.contracts.shapes import Scalar, Words, is_null


@dataclass(frozen=True, slots=True)
class Level:
    """One record, by its fields, or one union, by its members."""

    path: str
    """Where it is: empty for the whole, `applicants[]` for the records of a list."""
    parts: tuple[Part, ...]

    def told(self, name: Callable[[Part], str | None], seen: frozenset[Part]) -> str:
        """What is seen of it, on one line; without what has no name."""
        names = dict.fromkeys(name(part) for part in self.parts if part in seen)
        return (", " if self.parts[0].is_field else " | ").join(each for each in names if each is not None)


def levels(outline: Outline, *, whole: bool) -> list[Level]:
    """The levels of an outline, in the order of the text.

    Args:
        outline: That of an input or an output.
        whole: Every one of them. Otherwise those are left out that say the same to everybody and are no records of
            their own: the members of a union one by one, constants, and what may be null.
    """
    by_place: dict[tuple[Step, ...], list[Part]] = {}
    for part in outline.parts:
        by_place.setdefault(part.steps[:-1], []).append(part)
    found: list[Level] = []
    for steps, parts in by_place.items():
        if not steps or _is_told(steps, parts, whole):
            found.append(Level("".join(map(str, _without_null(steps, by_place))).removeprefix("."), tuple(parts)))
    return found


def _is_told(steps: tuple[Step, ...], parts: Sequence[Part], whole: bool) -> bool:
    if any(part.guards for part in parts):
        return True
    if not parts[0].is_field and (_is_nilable(parts) or all(isinstance(p.shape, Scalar | Words) for p in parts)):
        return False
    return whole or steps[0].kind == "field"


def _is_nilable(parts: Sequence[Part]) -> bool:
    """Whether members are those of `T?`, of which nobody need be told."""
    return len(parts) == 2 and any(is_null(part.shape) for part in parts)


def _without_null(steps: tuple[Step, ...], by_place: dict[tuple[Step, ...], list[Part]]) -> Iterator[Step]:
    for index, step in enumerate(steps):
        if step.kind != "member" or not _is_nilable(by_place[steps[:index]]):
            yield step
