"""Prose that names what not all of its readers may see."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from fastmcp_authz.callers.predicates import Predicate
from fastmcp_authz.contracts.shapes import ListOf, MapOf, Record, Ref, Shape, Tree, TupleOf, Union, Words
from fastmcp_authz.survey.checks.finding import Found, Spot
from fastmcp_authz.survey.checks.looked import Located, Looked, Side, Subject
from fastmcp_authz.survey.checks.words import conjoined, implied, quoted, written
from fastmcp_authz.survey.places import Place

_LONG: Final = 8
"""From so many letters on a word of prose that is the name of something guarded is hardly there by chance."""
_WORD: Final = re.compile(r"\w(?:[\w-]*\w)?")
_SHORT: Final = 4
"""Names that are shorter stand in prose for something else too, `a1`, unless they are written as code."""
_JOINED: Final = re.compile(r"[^\W\d_][a-z]*[A-Z]|[\d_.:/-]")
"""What no word of a sentence has inside: capitals, digits, `_`."""


class _Prose(NamedTuple):
    """A text that callers are told."""

    text: str
    what: str
    readers: frozenset[Predicate]
    """What they have been answered with yes to, surely."""
    at: Located | None = None
    """The part that it is about; `None` for the tool."""
    only: str | None = None
    """The one persona who is told it, where each is told another."""


class _Secret(NamedTuple):
    """A name that not everybody sees."""

    name: str
    what: str
    guards: tuple[Predicate, ...]


def names_guarded(looked: Looked) -> Iterator[Found]:
    """Descriptions and titles that name a guarded field, member or word to more than see it."""
    for subject in looked.guarded:
        secrets, visible = _secrets(subject), _visible(subject)
        for prose in _proses(subject):
            open_names = {name for name, ways in visible.items() if any(way <= prose.readers for way in ways)}
            common = {word for name in (*open_names, subject.name) for word in _words(name)}
            said: set[str] = set()
            for secret in secrets:
                missing = [guard for guard in secret.guards if guard not in prose.readers]
                if not missing or secret.name in open_names | said or not _names(prose.text, secret.name, common):
                    continue
                said.add(secret.name)
                yield subject.found(
                    f"The {prose.what} names `{secret.name}`, {secret.what} that {quoted(map(written, missing))} "
                    f"{'guards' if len(missing) == 1 else 'guard'}, to callers who may not know of it.",
                    _way_out(prose),
                    at=prose.at,
                    spot=_spot(subject, prose, secret.name),
                    part="" if prose.at is not None else prose.what,
                )


def names_tool(looked: Looked) -> Iterator[Found]:
    """Descriptions and titles that name a tool which a persona among their readers does not have."""
    named = {each.name: each for each in looked.subjects if _is_joined(each.name)}
    for subject in looked.guarded:
        for prose in _proses(subject):
            for other in [named[word] for word in dict.fromkeys(_WORD.findall(prose.text)) if word in named]:
                people = [prose.only] if prose.only else list(subject.seen)
                readers = [p for p in people if prose.at is None or prose.at.part in subject.shown[p]]
                without = [p for p in readers if p in other.personas and p not in other.seen]
                if without:
                    yield subject.found(
                        f"The {prose.what} names the tool `{other.name}`, which {conjoined(without)} "
                        f"{'does' if len(without) == 1 else 'do'} not have.",
                        _way_out(prose),
                        at=prose.at,
                        spot=_spot(subject, prose, other.name),
                        part="" if prose.at is not None else prose.what,
                    )


def _way_out(prose: _Prose) -> str:
    if prose.at is None:
        return "Say it in the `@desc` of what is guarded, or make it description=, a function of the context."
    return "Say it in the `@desc` of what is guarded, or in other words."


# -- what is told -------------------------------------------------------------------------------------------------


def _proses(subject: Subject) -> Iterator[_Prose]:
    held = implied(subject.surveyed.gates)
    declaration = subject.declaration
    assert declaration is not None
    if subject.surveyed.least.description and not callable(declaration.description):
        yield _Prose(subject.surveyed.least.description, "description", held)
    if callable(declaration.description):
        for persona, tool in subject.seen.items():
            yield _Prose(
                tool.description or "", f"description for {persona}", held | subject.granted[persona], None, persona
            )
    title = subject.surveyed.least.title
    if title:
        yield _Prose(title, "title", held)
    for side in _SIDES:
        for text, what in _notes(subject.tree(side).root, subject.tree(side)):
            yield _Prose(text, f"{what} of the {'inputs' if side == 'in' else 'output'}", held)
    for located in subject.parts():
        readers = held | implied(located.part.all_guards)
        for text, what in _notes(located.part.shape, subject.tree(located.side)):
            yield _Prose(text, what, readers, located)


_SIDES: Final[tuple[Side, Side]] = ("in", "out")


def _notes(root: Shape, tree: Tree) -> Iterator[tuple[str, str]]:
    """The prose on a type, down to the next fields and members."""
    waiting, entered = [root], set[str]()
    while waiting:
        shape = waiting.pop()
        for keyword, text in shape.notes.keywords:
            if keyword in ("description", "title") and isinstance(text, str):
                yield text, keyword
        match shape:
            case Ref(key=key) if key not in entered:
                entered.add(key)
                waiting.append(tree.definitions[key])
            case ListOf(items=items):
                waiting.append(items)
            case TupleOf(items=places):
                waiting += places
            case MapOf(values=values):
                waiting.append(values)
            case _:
                pass


# -- what is guarded ----------------------------------------------------------------------------------------------


def _secrets(subject: Subject) -> list[_Secret]:
    """What guards hide of a tool, by every name that it has."""
    return [
        _Secret(name, "a field" if located.part.is_field else what, located.part.all_guards)
        for located in subject.parts()
        if located.part.all_guards
        for name, what in _called(located, subject.tree(located.side))
    ]


def _visible(subject: Subject) -> Mapping[str, list[frozenset[Predicate]]]:
    """Every name in a tool, with what it takes to see it, once for each place that shows it."""
    found: dict[str, list[frozenset[Predicate]]] = {}
    for located in subject.parts():
        for name, _ in _called(located, subject.tree(located.side)):
            found.setdefault(name, []).append(frozenset(located.part.all_guards))
    return found


def _called(located: Located, tree: Tree) -> Iterator[tuple[str, str]]:
    """The names of a field or a member, constants among them."""
    part = located.part
    behind = tree.behind(part.shape)
    if isinstance(behind, Words) and (part.guards or not part.is_field):
        yield from ((value, "a word") for value in behind.values if isinstance(value, str))
    if part.is_field:
        yield part.name, "a field"
    elif isinstance(part.shape, Ref) and isinstance(behind, Record | Union):
        yield part.name, "a member"


# -- whether a text says a name -----------------------------------------------------------------------------------


def _names(text: str, name: str, common: Iterable[str]) -> bool:
    """Whether a text names something: as code, by a name that no sentence has, or by a long word that is no other's."""
    if not _mentions(text, name):
        return False
    if (len(name) >= _SHORT and _is_joined(name)) or re.search(rf"[`\"']{re.escape(name)}[`\"']", text):
        return True
    return len(name) >= _LONG and name.casefold() not in common


def _mentions(text: str, name: str) -> bool:
    return name in text and bool(re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text))


def _is_joined(name: str) -> bool:
    return _JOINED.search(name) is not None


def _words(name: str) -> Iterator[str]:
    return (word.casefold() for word in re.split(r"[\W_]+", name) if word)


def _spot(subject: Subject, prose: _Prose, name: str) -> Spot | None:
    """Where a docstring says a name in its prose; for a part, `None`: where that is declared."""
    if prose.at is not None:
        return None
    annotation = subject.syntax().annotation
    lines = {line.strip() for line in annotation.prose.splitlines()}
    start = 0
    for line in annotation.source.text.split("\n"):
        if line.strip() in lines and _mentions(line, name):
            column = line.index(name)
            return Spot(
                Place(annotation.source.name, annotation.source.line_at(start)),
                line,
                column,
                len(name),
            )
        start += len(line) + 1
    return None
