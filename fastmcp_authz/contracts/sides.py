"""The two roots of a contract, input and output, and the names that they are made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final, TypeAlias

from ..annotations import Alias, Annotation, Library, Name, Span, shared_folders
from ..annotations import Record as RecordSyntax
from ..errors import Problem
from ..settings import Settings
from .build import Builder
from .satisfaction import unsatisfied
from .shapes import NULL, Anything, Field, MapOf, Record, Ref, Shape, Tree, Union

SharedTypes: TypeAlias = str | Path | Sequence[str | Path] | Mapping[str, str]
"""A folder of `.rbs` files, several, or texts by file name."""


_MOST_PROBLEMS: Final = 50


class Sides:
    """The two roots of a contract, and the rules on what they may be (SPEC section 2, "Signatures")."""

    def __init__(
        self, annotation: Annotation, aliases: Mapping[str, Alias], builder: Builder, start: Span, sketch: str | None
    ) -> None:
        self._annotation = annotation
        self._aliases = aliases
        self._builder = builder
        self._start = start
        self._sketch = f"Write `{sketch}`." if sketch else "Write `#: () -> output` for none."

    def input(self, prose: Mapping[str, str]) -> Record | None:
        """The input record: `@rbs type input` before `#:`."""
        signature = self._annotation.signature
        shape: Shape
        if "input" in self._aliases:
            alias = self._aliases["input"]
            if signature is not None and not signature.whole_input:
                self._builder.problem(
                    signature.at,
                    "the inputs are declared twice, here and by `@rbs type input`: remove one, or write "
                    "`#: (input) -> output`.",
                )
            known = self._builder.table.resolved(self._builder.type(Name("input", at=alias.at)))
            if not isinstance(known, Record):
                self._builder.problem(
                    alias.at, "`input` must be a record, `{ name: String }`: a tool takes named parameters."
                )
                return None
            shape = known
        elif signature is None and {"#:", "input"} & set(self._annotation.unread):
            return None  # what is there could not be read, and that is said already
        elif signature is None:
            self._builder.problem(self._start, f"there is no `#:` signature and no `@rbs type input`. {self._sketch}")
            return None
        elif signature.whole_input:
            self._builder.problem(
                signature.at, f"`{signature}` points at `@rbs type input = {{ ... }}`, which is not declared."
            )
            return None
        else:
            shape = self._builder.record(signature.fields)
        return replace(shape, closed=False, fields=tuple(_with_prose(f, prose.get(f.name)) for f in shape.fields))

    def output(self) -> Shape | None:
        """The output type, which every contract declares."""
        if "output" in self._annotation.unread:
            return None
        if "output" not in self._aliases:
            arrow = " What follows `->` is not read." if self._annotation.signature is not None else ""
            message = "there is no `@rbs type output = { ... }`: every tool declares what it gives back."
            self._builder.problem(self._start, message + arrow)
            return None
        return self._builder.type(Name("output", at=self._aliases["output"].at))

    def build_others(self) -> None:
        """Build what is declared here and used nowhere, so that what is wrong in it is told too."""
        for alias in self._annotation.aliases:
            if not alias.parameters:
                self._builder.type(Name(alias.name, at=alias.at))

    def check(self, result: Shape | None, *, whole: bool) -> list[Problem]:
        """What can only be asked once everything is built. Unless all of it is right, `whole`, some is `untyped`."""
        found: list[Problem] = []
        tree = Tree(result or NULL, self._builder.table.shapes)
        if result is not None and not _gives_objects(result, tree, whole, frozenset()):
            at = self._aliases["output"].at
            found.append(
                at.problem("the values of `output` must be objects: put a record around it, `{ result: ... }`.")
            )
        for site in self._builder.tagger.sites:
            message = unsatisfied(site, self._builder.table.shapes)
            if message is not None:
                found.append(site.tag.at.problem(message))
            if len(found) >= _MOST_PROBLEMS:
                break  # each holds its line, and a hostile line may be long
        return found


def _with_prose(each: Field, text: str | None) -> Field:
    if not text or any(k == "description" for k, _ in each.shape.notes.keywords):
        return each
    notes = replace(each.shape.notes, keywords=(("description", text), *each.shape.notes.keywords))
    return replace(each, shape=replace(each.shape, notes=notes))


def _gives_objects(shape: Shape, tree: Tree, whole: bool, seen: frozenset[str]) -> bool:
    if isinstance(shape, Ref):
        return shape.key in seen or _gives_objects(tree.definitions[shape.key], tree, whole, seen | {shape.key})
    if isinstance(shape, Union):
        return all(_gives_objects(m.shape, tree, whole, seen) for m in shape.members)
    return isinstance(shape, Record | MapOf) or (isinstance(shape, Anything) and not whole)


def library(shared: SharedTypes, settings: Settings, module_file: Path | None = None) -> Library:
    """Where imports are looked for: what the tool says, what the settings say, `sig/shared` beside its module."""
    texts = shared if isinstance(shared, Mapping) else {}
    folders = () if isinstance(shared, Mapping) else [shared] if isinstance(shared, str | Path) else shared
    return Library(shared_folders(module_file, [*map(Path, folders), *settings.shared_type_paths]), texts)


def visible_aliases(annotation: Annotation, library: Library) -> tuple[dict[str, Alias], list[Problem]]:
    """Every alias by name: local ones over imported ones; two imports that differ on one are a problem."""
    problems: list[Problem] = []
    aliases: dict[str, Alias] = {}
    local = {alias.name: alias for alias in annotation.aliases}
    for imported in annotation.imports:
        found, troubles = library.load(imported)
        problems += troubles
        for alias in found:
            earlier = aliases.setdefault(alias.name, alias)
            if earlier != alias and alias.name not in local:
                problems.append(
                    imported.at.problem(
                        f"`{alias.name}` is declared differently in {earlier.at.source.name} and in "
                        f"{alias.at.source.name}: rename one, or declare it here."
                    )
                )
    return {**aliases, **local}, problems


def places(annotation: Annotation) -> dict[str, Span]:
    """Where each input stands, as far as it is written in the docstring itself."""
    for alias in annotation.aliases:
        if alias.name == "input":
            return {f.name: f.at for f in alias.type.fields} if isinstance(alias.type, RecordSyntax) else {}
    return {f.name: f.at for f in annotation.signature.fields} if annotation.signature is not None else {}
