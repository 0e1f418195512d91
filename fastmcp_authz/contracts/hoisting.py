"""Which definitions stand once under `$defs`, and what they are called there (SPEC section 2, "`$defs`")."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from .merging import alias_name
from .shapes import NO_NOTES, Anything, Ref, Scalar, Shape, Tree, reachable_once


def hoisted(tree: Tree) -> Mapping[str, str]:
    """The definitions that stand under `$defs`, with their names there, in the order of their first use.

    Those are the recursive ones and those used more than once; a bare scalar is too small to gain from it.
    """
    if tree.still is not None and not tree.still.hoists:
        return {}
    uses: dict[str, int] = {}
    order: list[str] = []
    inside: dict[str, list[str]] = {}
    waiting: list[Shape] = [tree.resolve(tree.root)]
    while waiting:
        for shape, _ in reachable_once(waiting.pop()):
            if isinstance(shape, Ref):
                uses[shape.key] = uses.get(shape.key, 0) + 1
                if uses[shape.key] == 1:
                    order.append(shape.key)
                    target = tree.definitions[shape.key]
                    inside[shape.key] = [s.key for s, _ in reachable_once(target) if isinstance(s, Ref)]
                    waiting.append(target)
    recursive = _recursive(inside)
    names: dict[str, str] = {}
    counts: dict[str, int] = {}
    for key in order:
        if key in recursive or (uses[key] > 1 and not _is_bare(tree.definitions[key])):
            names[key] = _unique(alias_name(key), counts)
    return names


def _is_bare(shape: Shape) -> bool:
    return isinstance(shape, Anything) or (isinstance(shape, Scalar) and not shape.keywords and shape.notes == NO_NOTES)


def _recursive(inside: Mapping[str, list[str]]) -> set[str]:
    """The names that lead back to themselves: in a component with others, or directly."""
    entered: set[str] = set()
    order = [key for start in inside for key in _left(start, inside, entered)]
    places = {key: place for place, key in enumerate(order)}
    if all(places[name] < places[key] for key, names in inside.items() for name in names):
        return set()
    users: dict[str, list[str]] = {key: [] for key in inside}
    for key, names in inside.items():
        for name in names:
            users[name].append(key)
    entered.clear()
    found = {key for key, names in inside.items() if key in names}
    for start in reversed(order):
        component = list(_left(start, users, entered))
        if len(component) > 1:
            found.update(component)
    return found


def _left(start: str, ways: Mapping[str, list[str]], entered: set[str]) -> Iterator[str]:
    """The names that lead on from one, each when all behind it are done, without those that were entered before."""
    if start in entered:
        return
    entered.add(start)
    under_way = [(start, iter(ways[start]))]
    while under_way:
        key, unseen = under_way[-1]
        fresh = next((name for name in unseen if name not in entered), None)
        if fresh is None:
            under_way.pop()
            yield key
        else:
            entered.add(fresh)
            under_way.append((fresh, iter(ways[fresh])))


def _unique(name: str, counts: dict[str, int]) -> str:
    """A name, or the next one like it. `counts` holds those that are taken, each with the last number tried."""
    candidate = name
    while candidate in counts:
        counts[name] += 1
        candidate = f"{name}_{counts[name]}"
    counts[candidate] = 1
    return candidate
