"""ToolContract: one docstring, parsed once; `CallerView`: what a caller has of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from ..annotations import Alias, Annotation, Opening, Span, read_annotation
from ..caches import LeastRecent
from ..callers.deciding import Caller
from ..callers.predicates import Decisions, Predicate
from ..errors import ContractError, Problem
from ..settings import Settings, preset_settings
from .build import Builder
from .compile import Prepared, compile_view, prepared
from .definitions import is_nilable
from .relations import guarded
from .reveal import reveal
from .shapes import NULL, Definitions, Record, Ref, Shape, Tree, reachable
from .sides import SharedTypes, Sides, library, places, visible_aliases
from .view import CallerView

Reached: TypeAlias = Sequence[tuple[Shape, tuple[Predicate, ...]]]
"""Everything that a tree is made of, as `reachable` finds it: one walk for all who ask."""
ProseReader: TypeAlias = Callable[[str], tuple[str, Mapping[str, str]]]
"""Splits a docstring's prose into the description and what it says of each parameter."""


class Syntax(NamedTuple):
    """What a contract was read from."""

    annotation: Annotation
    aliases: Mapping[str, Alias]
    """Every alias that may be used in it, imported ones too."""


@dataclass(frozen=True, slots=True)
class ToolContract:
    """What one tool takes and gives, with each part that only some callers see behind predicates.

    Made once, by `parse`. `view` and `view_async` give what one caller has of it.
    """

    name: str
    """The tool's name in refusals and errors."""
    description: str
    """The docstring's prose, without any annotation."""
    input: Tree
    output: Tree
    parameters: tuple[str, ...]
    """The names of all inputs, hidden ones too, in the order of the text."""
    open_parameters: frozenset[str]
    """Those of them that everybody sees."""
    predicates: tuple[Predicate, ...]
    """Everything that it may ask of a context, each once, in the order of the text."""
    nilable_parameters: frozenset[str]
    """`#:` parameters of a nilable type, which `nullable_inputs="opt-in"` makes optional."""
    guarded_values: bool
    """Whether some default or example stands on a type that not everybody sees whole."""
    places: Mapping[str, Span] = field(repr=False, compare=False)
    """Where each input stands in the docstring, for those who have problems of their own to report."""
    settings: Settings
    syntax: Callable[[], Syntax] = field(repr=False, compare=False)
    """Reads the docstring once more, for tools that show where something stands: serving needs none of it."""
    _prepared: Callable[[], Prepared] = field(repr=False, compare=False)
    _views: LeastRecent[CallerView] = field(repr=False, compare=False)

    @classmethod
    def parse(
        cls,
        docstring: str,
        *,
        name: str = "tool",
        shared_types: SharedTypes = (),
        settings: Settings | None = None,
        prose_reader: ProseReader | None = None,
        where: str | None = None,
        first_line: int = 1,
    ) -> ToolContract:
        """The contract that a docstring declares (SPEC sections 2 and 3).

        Args:
            docstring: The docstring, dedented or not. It declares `#:` or `@rbs type input`, and `@rbs type output`.
            name: The tool's name.
            shared_types: Where `@rbs import` finds `.rbs` files: a folder, several, or texts by file name.
            settings: Options; those of the environment where `None`.
            prose_reader: Splits the prose into description and parameter descriptions; without it all is description.
            where: What errors call the place: a file. The tool's name where `None`.
            first_line: The line of that file on which the docstring begins.

        Raises:
            ContractError: The declaration is wrong; every problem is listed.
        """
        contract, problems = cls.examine(
            docstring,
            name=name,
            shared_types=shared_types,
            settings=settings,
            prose_reader=prose_reader,
            where=where,
            first_line=first_line,
        )
        if contract is None or problems:
            raise declaration_error(name, where, problems)
        return contract

    @classmethod
    def examine(
        cls,
        docstring: str,
        *,
        name: str = "tool",
        shared_types: SharedTypes = (),
        settings: Settings | None = None,
        prose_reader: ProseReader | None = None,
        where: str | None = None,
        first_line: int = 1,
        opening: Opening | None = None,
        module_file: Path | None = None,
        sketch: str | None = None,
    ) -> tuple[ToolContract | None, tuple[Problem, ...]]:
        """`parse` for those who have problems of their own to add: the contract and the problems.

        Where there are any, the contract is good for nothing but to look for more in it, if there is one at all.
        `opening` says where in a file the docstring stands, and is asked only where something is wrong.
        `module_file` is the file beside which, or above which, `sig/shared` is searched too.
        `sketch` is the signature that is proposed where there is none.
        """
        settings = settings or preset_settings()

        def read() -> tuple[Syntax, Sequence[Problem]]:
            annotation, problems = read_annotation(
                docstring, name=where or name, first_line=first_line, opening=opening
            )
            aliases, more = visible_aliases(annotation, library(shared_types, settings, module_file))
            return Syntax(annotation, aliases), [*problems, *more]

        (annotation, aliases), problems = read()
        description, parameter_prose = annotation.prose, dict[str, str]()
        if prose_reader is not None and annotation.prose:
            description, prose = prose_reader(annotation.prose)
            parameter_prose.update(prose)
        start = Span(0, 0, annotation.source)
        builder = Builder(aliases, unread=annotation.unread, known_predicates=settings.known_predicates, start=start)
        sides = Sides(annotation, aliases, builder, start, sketch)
        found = [*problems]
        contract: ToolContract | None = None
        try:
            given, result = sides.input(parameter_prose), sides.output()
            sides.build_others()
            builder.finish(*(side for side in (given, result) if side is not None))
            found += [at.problem(message) for at, message in builder.problems]
            if not builder.table.overfull:
                found += sides.check(result, whole=not found)
                if given is not None:
                    result = result or NULL
                    contract = cls._of(
                        name, description, given, result, annotation, builder, settings, lambda: read()[0]
                    )
        except RecursionError:
            found.append(start.problem("names refer to one another too deeply: flatten these types."))
        return contract, tuple(found)

    @classmethod
    def _of(
        cls,
        name: str,
        description: str,
        given: Record,
        result: Shape,
        annotation: Annotation,
        builder: Builder,
        settings: Settings,
        syntax: Callable[[], Syntax],
    ) -> ToolContract:
        definitions = builder.table.shapes
        inputs, outputs = list(reachable(given, definitions)), list(reachable(result, definitions))
        input_tree, output_tree = _pruned(given, definitions, inputs), _pruned(result, definitions, outputs)
        predicates = tuple(dict.fromkeys(p for _, guards in (*inputs, *outputs) for p in guards))
        signed = annotation.signature is not None and not annotation.signature.whole_input
        nilable = frozenset(f.name for f in given.fields if signed and is_nilable(f.shape, input_tree))

        contract = cls(
            name=name,
            description=description,
            input=input_tree,
            output=output_tree,
            parameters=tuple(f.name for f in given.fields),
            open_parameters=_seen_by_everybody(input_tree),
            predicates=predicates,
            nilable_parameters=nilable,
            guarded_values=_has_guarded_values(inputs, input_tree) or _has_guarded_values(outputs, output_tree),
            places=places(annotation),
            settings=settings,
            syntax=syntax,
            _prepared=cache(lambda: prepared(contract)),
            _views=LeastRecent(settings.cached_views),
        )
        return contract

    def view_of(self, decisions: Decisions, settings: Settings | None = None) -> CallerView:
        """The view of all callers with these decisions: made once for each set of answers, then kept.

        Answers to predicates that this contract does not ask make no difference. `@default_for` is not filled in:
        see `CallerView.with_defaults`.
        """
        chosen = settings or self.settings
        granted = decisions.intersection(self.predicates)
        return self._views.get((granted, chosen), lambda: self.new_view(granted, chosen))

    def new_view(self, decisions: Decisions, settings: Settings) -> CallerView:
        """The same for those who keep views themselves."""
        return compile_view(self._prepared(), decisions, settings)

    def view(self, context: Any, *, settings: Settings | None = None) -> CallerView:
        """What a caller with this server context has of the contract. Asynchronous predicates are a no here.

        Args:
            context: Any object with the predicates that the contract asks; `None` gets no to everything.
            settings: Options of this use; those that the contract was parsed with where `None`.
        """
        chosen = settings or self.settings
        caller = Caller(context, chosen)
        view = self.view_of(caller.decide_now(self.predicates), chosen)
        return view.with_defaults(caller.defaults_now(view.default_keys))

    async def view_async(self, context: Any, *, settings: Settings | None = None) -> CallerView:
        """`view`, for contexts whose predicates may be asynchronous."""
        chosen = settings or self.settings
        caller = Caller(context, chosen)
        view = self.view_of(await caller.decide(self.predicates), chosen)
        return view.with_defaults(await caller.defaults(view.default_keys))


def _seen_by_everybody(tree: Tree) -> frozenset[str]:
    least = reveal(tree, frozenset())
    seen = least.root.fields if least is not None and isinstance(least.root, Record) else ()
    return frozenset(f.name for f in seen)


def _has_guarded_values(reached: Reached, tree: Tree) -> bool:
    return any((shape.notes.default or shape.notes.examples) and guarded(shape, tree) for shape, _ in reached)


def _pruned(root: Shape, definitions: Definitions, reached: Reached) -> Tree:
    """A tree with only the definitions that it reaches."""
    keys = [shape.key for shape, _ in reached if isinstance(shape, Ref)]
    return Tree(root, {key: definitions[key] for key in dict.fromkeys(keys)})


def declaration_error(name: str, where: str | None, problems: Sequence[Problem]) -> ContractError:
    """The one error of a wrong declaration, its problems in the order of the text, those without a line last."""
    problems = sorted(problems, key=lambda p: (not p.where, p.where, p.line, p.column))
    count = "1 problem" if len(problems) == 1 else f"{len(problems)} problems"
    place = f" ({where})" if where else ""
    return ContractError(f"{name}{place} declares a contract with {count}.", problems)
