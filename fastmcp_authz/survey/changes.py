"""What two snapshots differ in, by what it takes to see each part: who may see more is what a reviewer has to know."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias

from fastmcp_authz.survey.lines import ANYTHING, Guards, Key, path_of
from fastmcp_authz.survey.snapshot import Snapshot

_ANYTHING: Final = f".{ANYTHING}"
_ANY_KEY: Final = "{}"

Kind: TypeAlias = Literal["opened", "changed", "new", "narrowed", "gone"]


@dataclass(frozen=True, slots=True)
class Change:
    """A part that other callers see than before. Guards are all that guard it, not only those right at it."""

    kind: Kind
    key: Key
    """As it is now; where it is gone, as it was."""
    before: Guards | None
    """`None` where it is new."""
    after: Guards | None
    """`None` where it is gone."""
    warning: bool
    """Whether somebody may see more."""
    outside: Guards = frozenset()
    """Those of the guards that stand at what it is in, before and after."""
    outer: Key | None = None
    """What it is in."""
    was: Key | None = None
    """Where it was, if that was elsewhere."""
    follows: Key | None = None
    """The part that it is in, whose change accounts for this one."""
    domains: bool = False
    """Whether it is the domains of a tool that are other ones; `before` and `after` are their names then."""
    authz: bool = False
    """Whether it is who decides, by name in place of a tool, or what becomes of a question that no context answers;
    `before` and `after` are that then."""


@dataclass(frozen=True, slots=True)
class Changes:
    """All that two snapshots differ in, in the order of their lines."""

    all: tuple[Change, ...]

    @property
    def told(self) -> tuple[Change, ...]:
        """Without those that follow from others."""
        return tuple(change for change in self.all if change.follows is None)

    @property
    def warnings(self) -> tuple[Change, ...]:
        """Those by which somebody may see more."""
        return tuple(change for change in self.told if change.warning)

    @property
    def counts(self) -> Mapping[Kind, int]:
        """How many are told, of each kind."""
        return Counter(change.kind for change in self.told)

    def following(self, change: Change) -> int:
        """How many parts one change accounts for, beside its own."""
        return 0 if change.domains or change.authz else sum(each.follows == change.key for each in self.all)


def compare(old: Snapshot, new: Snapshot) -> Changes:
    """What has changed from one snapshot to another. Moving a guard to where it guards as much is no change."""
    comparison = _Comparison(old, new)
    found = sorted(
        (*comparison.parts(), *comparison.domains()), key=lambda each: (each.key.tool, each.key.side, each.key.steps)
    )
    return Changes((*_deciding(old, new), *_following(found, old, new)))


def _deciding(old: Snapshot, new: Snapshot) -> Iterator[Change]:
    """Whoever decides for mounted tools in place of another may let others see them."""
    for name in sorted({*old.authz, *new.authz}):
        before, after = old.authz.get(name), new.authz.get(name)
        if before == after:
            continue
        if before is None or after is None:
            kind: Kind = "gone" if after is None else "new"
            warning = bool(name)  # where the server's own is new or gone, the lines of its tools say it
        else:
            kind = "opened" if after == "allow" else "narrowed" if before == "allow" else "changed"
            warning = after == "allow"
        was, now = (None if each is None else frozenset[str]({each}) for each in (before, after))
        yield Change(kind, Key(name), was, now, warning, authz=True)


class _Comparison:
    def __init__(self, old: Snapshot, new: Snapshot) -> None:
        self._old = old
        self._new = new
        self._moved = dict(_moved(old, new))

    def parts(self) -> Iterator[Change]:
        for key in self._new.lines:
            if key in self._old.lines or key in self._moved:
                yield from self._other(self._moved.get(key, key), key)
            elif (before := _covering(key, self._old) or self._around(key)) is not None:
                yield from self._other(before, key)
            else:
                yield self._fresh(key)
        moved = set(self._moved.values())
        for key in self._old.lines:
            if key not in self._new.lines and key not in moved:
                yield from self._lost(key)

    def domains(self) -> Iterator[Change]:
        """Whoever comes by a domain that a tool was not in may see it now."""
        for key in self._new.lines:
            before, after = (each.domains.get(key.tool, frozenset()) for each in (self._old, self._new))
            if not key.side and key in self._old.lines and before != after:
                narrowed = bool(after) and after < before
                opened = bool(before) and before < after
                kind: Kind = "narrowed" if narrowed else "opened" if opened else "changed"
                yield Change(kind, key, before, after, not narrowed, domains=True)

    def _other(self, was: Key, key: Key) -> Iterator[Change]:
        before, after = self._old.effective(was), self._new.effective(key)
        if before != after:
            kind: Kind = "opened" if after < before else "narrowed" if before < after else "changed"
            outside = _outside(was, self._old) & _outside(key, self._new)
            elsewhere = None if was == key else was
            yield Change(kind, key, before, after, kind != "narrowed", outside, self._new.above(key), elsewhere)

    def _around(self, key: Key) -> Key | None:
        """What has become its only member by the guard that stands there now."""
        return _joined(key, self._new, self._old) if _is_alone(key, self._new) else None

    def _fresh(self, key: Key) -> Change:
        after, outside = self._new.effective(key), _outside(key, self._new)
        return Change("new", key, None, after, after == outside, outside, self._new.above(key))

    def _lost(self, key: Key) -> Iterator[Change]:
        """A part that has no line any more: gone, or become a part of something that has less to guard it."""
        before = self._old.effective(key)
        wild, union = _covering(key, self._new), _joined(key, self._old, self._new)
        into = wild or union
        after = None if into is None else self._new.effective(into)
        if after is not None and not before <= after:
            kind: Kind = "opened" if after < before else "changed"
            yield Change(kind, key, before, after, True, before & after, into, key)
        elif wild is None:
            yield Change("gone", key, before, None, False, _outside(key, self._old), self._old.above(key))


def _outside(key: Key, snapshot: Snapshot) -> Guards:
    outer = snapshot.above(key)
    return frozenset() if outer is None else snapshot.effective(outer)


def _moved(old: Snapshot, new: Snapshot) -> Iterator[tuple[Key, Key]]:
    """What has come to be in another member, list or hash: where each part is, and where it was.

    Those with equal guards go together, then the others in the order of the text.
    """
    gone: defaultdict[tuple[str, ...], list[Key]] = defaultdict(list)
    for key in old.lines:
        if key not in new.lines:
            gone[_called(key)].append(key)
    unequal: list[Key] = []
    for key in new.lines:
        if key not in old.lines and gone[_called(key)]:
            left = gone[_called(key)]
            equal = next((was for was in left if old.effective(was) == new.effective(key)), None)
            if equal is None:
                unequal.append(key)
            else:
                left.remove(equal)
                yield key, equal
    for key in unequal:
        if gone[_called(key)]:
            yield key, gone[_called(key)].pop(0)


def _called(key: Key) -> tuple[str, ...]:
    """What a part is called, whichever members, lists and hashes it is in."""
    steps = key.steps
    return (key.tool, key.side, *(step for step in steps[:-1] if step.startswith(".")), *steps[-1:])


def _joined(key: Key, old: Snapshot, new: Snapshot) -> Key | None:
    """What a member was a member of, where that is no union any more: it may be all of it now.

    Of several members those that have fields are told by these.
    """
    steps = key.steps
    if not steps or not steps[-1].startswith("<"):
        return None
    if any(_is_in(each, key, steps) for each in old.lines) and not _is_alone(key, old):
        return None
    outer = steps[:-1]
    if _members(key, outer, new):
        return None
    while outer and outer[-1][0] in "[{":
        outer = outer[:-1]
    found = Key(key.tool, key.side, path_of(outer))
    return found if found in new.lines else None


def _is_alone(key: Key, snapshot: Snapshot) -> bool:
    steps = key.steps
    return bool(steps) and steps[-1].startswith("<") and _members(key, steps[:-1], snapshot) == {steps[-1]}


def _members(key: Key, union: tuple[str, ...], snapshot: Snapshot) -> set[str]:
    """The members of what those steps lead to, in the same tool."""
    found = (each.steps[len(union)] for each in snapshot.lines if _is_in(each, key, union))
    return {step for step in found if step.startswith("<")}


def _is_in(key: Key, other: Key, outer: tuple[str, ...]) -> bool:
    """Whether a part is in what those steps lead to, in the same tool."""
    return key[:2] == other[:2] and len(key.steps) > len(outer) and key.steps[: len(outer)] == outer


def _covering(key: Key, snapshot: Snapshot) -> Key | None:
    """What takes a part as something that nobody declared; of several, that with the fewest guards."""
    steps = _without_members(key)
    if not steps or steps[-1] in (_ANYTHING, _ANY_KEY):
        return None
    found = [
        each
        for each in snapshot.lines
        if each[:2] == key[:2]
        and (_ANY_KEY in each.path or ANYTHING in each.path)
        and _takes(_without_members(each), steps)
    ]
    return min(found, key=lambda each: (len(snapshot.effective(each)), each), default=None)


def _without_members(key: Key) -> Sequence[str]:
    return [step for step in key.steps if not step.startswith("<")]


def _takes(wild: Sequence[str], steps: Sequence[str]) -> bool:
    for number, step in enumerate(wild):
        if step == _ANYTHING:
            return number < len(steps)
        if number == len(steps) or (step != steps[number] and not (step == _ANY_KEY and steps[number][0] == ".")):
            return False
    return _ANY_KEY in wild and len(wild) == len(steps)


def _following(found: Sequence[Change], old: Snapshot, new: Snapshot) -> Iterator[Change]:
    """The changes, each with the one that accounts for it; what a part is in comes before it."""
    told: dict[Key, Change] = {}
    for change in found:
        if not change.domains:
            outer = [(new if change.key in new.lines else old).above(change.key)]
            if change.was is not None:
                outer.append(old.above(change.was))
            causes = (told[each] for each in outer if each in told)
            cause = next((each for each in causes if _accounts(each, change)), None)
            if cause is not None:
                change = replace(change, follows=cause.follows or cause.key)
            told[change.key] = change
        yield change


def _accounts(cause: Change, change: Change) -> bool:
    """Whether a part changes only as what it is in does."""
    if cause.before is None or change.before is None:
        return cause.before is change.before and cause.after == change.after
    if cause.after is None or change.after is None:
        return cause.after is change.after
    opened, narrowed = change.before - change.after, change.after - change.before
    return opened <= cause.before - cause.after and narrowed <= cause.after - cause.before
