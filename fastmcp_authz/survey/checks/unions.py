"""Unions whose members cannot be told apart: for somebody, or at all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Final, TypeAlias

from fastmcp_authz.callers.predicates import Decisions, Predicate
from fastmcp_authz.contracts.outline import Outline, Part
from fastmcp_authz.contracts.relations import Comparison
from fastmcp_authz.contracts.reveal import Revealer
from fastmcp_authz.contracts.shapes import NULL, Scalar, Shape, Tree, Words, is_null, predicates_of
from fastmcp_authz.survey.checks.covering import Covering
from fastmcp_authz.survey.checks.finding import Found
from fastmcp_authz.survey.checks.looked import Located, Looked, Side, Subject
from fastmcp_authz.survey.checks.words import conjoined, implied, quoted, written

_MOST_MEMBERS: Final = 24
"""Of a union; the others are not compared."""
_MOST_ASKED: Final = 6
"""Up to so many predicates all answers are tried; of more, each alone and all but each."""

Members: TypeAlias = Sequence[Located]


def ambiguous(looked: Looked) -> Iterator[Found]:
    """Members that are told apart by what is hidden from somebody, who sees both."""
    for subject in looked.guarded:
        for members in _unions(subject):
            tree = subject.tree(members[0].side)
            asked = _asked_within(members, tree)
            for_everybody = Comparison(tree, cut=members[0].side == "out")
            doubtful = [
                (a, b) for a, b in combinations(members, 2) if not for_everybody.exclusive(a.part.shape, b.part.shape)
            ]
            if not asked or not doubtful:
                continue
            everything = _View(tree, frozenset(predicates_of(tree.root, tree.definitions)), members[0].side)
            views = [_View(tree, held, members[0].side) for held in _answers(subject, asked)]
            for a, b in doubtful:
                if not everything.tells_apart(a.part, b.part):
                    continue
                confused = next((view for view in views if not view.tells_apart(a.part, b.part)), None)
                if confused is not None:
                    yield subject.found(
                        f"`{b.part.name}` and `{a.part.name}` are told apart by what is hidden from "
                        f"{_whom(subject, confused.granted, asked)}: a value of the one may be taken for one of the "
                        "other.",
                        "Leave the field that tells them apart unguarded, or guard one of the members as a whole.",
                        at=b,
                    )


def overlapping(looked: Looked) -> Iterator[Found]:
    """Output members whose every value another member takes, and shows as much of."""
    for subject in looked.guarded:
        for members in _unions(subject):
            if members[0].side == "in":
                continue
            covering = Covering(subject.tree("out"))
            said: set[Part] = set()
            for a, b in ((x, y) for x in members for y in members if x is not y):
                if b.part in said or a.part in said or is_null(a.part.shape):
                    continue
                passed = frozenset(b.part.all_guards)
                if not passed.issuperset(a.part.guards) or not covering.covers(a.part.shape, b.part.shape, passed):
                    continue
                defeated = _defeated(a.part, b.part, subject.tree("out"))
                if defeated:
                    said.add(b.part)
                    yield subject.found(
                        f"{quoted(map(written, defeated))} cannot hold: `{a.part.name}` takes every value of it, and "
                        "shows as much of it to those for whom the answer is no.",
                        f"Guard what `{a.part.name}` shows of it, or pin a field of each to a constant of its own, "
                        "`kind: :a`.",
                        at=b,
                    )
                elif not isinstance(subject.tree("out").behind(b.part.shape), Scalar | Words):
                    said.add(b.part)
                    yield subject.found(
                        f"`{a.part.name}` takes every value of it and shows as much, so that nothing is ever sent as "
                        f"`{b.part.name}`.",
                        "Leave one of the two out, or pin a field of each to a constant of its own, `kind: :a`.",
                        at=b,
                    )


def _defeated(a: Part, b: Part, tree: Tree) -> list[Predicate]:
    """The guards of a member, and in it, that another has not."""
    mine, theirs = ((*each.guards, *predicates_of(each.shape, tree.definitions)) for each in (a, b))
    return [guard for guard in dict.fromkeys(theirs) if guard not in mine]


def _unions(subject: Subject) -> Iterator[Members]:
    """The unions of a tool that have two members or more."""
    sides: tuple[tuple[Side, Outline], ...] = (("in", subject.surveyed.input), ("out", subject.surveyed.output))
    for side, outline in sides:
        for members in outline.unions():
            if len(members) > 1:
                yield [Located(side, part) for part in members[:_MOST_MEMBERS]]


def _asked_within(members: Members, tree: Tree) -> list[Predicate]:
    """What is asked inside the members; what stands before one of them takes it away whole."""
    inside = (predicates_of(each.part.shape, tree.definitions) for each in members)
    return list(dict.fromkeys(predicate for found in inside for predicate in found))


def _answers(subject: Subject, asked: Sequence[Predicate]) -> list[Decisions]:
    """The answers to try: those of the personas, then of others, with few noes first."""
    assert subject.declaration is not None
    certain = implied(subject.surveyed.gates)
    others = frozenset(subject.declaration.contract.predicates) - set(asked)
    free = [each for each in asked if each not in certain]
    if len(free) <= _MOST_ASKED:
        denied = [set(each) for size in range(1, len(free) + 1) for each in combinations(free, size)]
    else:
        denied = [*({each} for each in free), *(set(free) - {each} for each in free), set(free)]
    tried = [*subject.granted.values(), *(frozenset(asked) - each | others for each in denied)]
    return list(dict.fromkeys(tried))


def _whom(subject: Subject, granted: Decisions, asked: Sequence[Predicate]) -> str:
    people = [
        who for who, theirs in subject.granted.items() if theirs.intersection(asked) == granted.intersection(asked)
    ]
    if people:
        return conjoined(people)
    return f"callers without {quoted((written(each) for each in asked if each not in granted), 'or')}"


class _View:
    """What callers with some answers see of the members of a side."""

    def __init__(self, tree: Tree, granted: Decisions, side: Side) -> None:
        self.granted = granted
        self._revealer = Revealer(tree, granted, True)
        seen = ((key, self._revealer.see(shape)) for key, shape in tree.definitions.items())
        self._tree = Tree(NULL, {key: shape for key, shape in seen if shape is not None})
        self._compared = Comparison(self._tree, cut=side == "out")

    def tells_apart(self, a: Part, b: Part) -> bool:
        """Whether no value can be taken for either: one of them is hidden, they are the same, or exclude each other."""
        mine, other = self._see(a), self._see(b)
        if mine is None or other is None or self._compared.exclusive(mine, other):
            return True
        covering = Covering(self._tree)
        return covering.covers(mine, other) and covering.covers(other, mine)

    def _see(self, part: Part) -> Shape | None:
        return self._revealer.see(part.shape) if self._revealer.holds(part.guards) else None
