"""Contract and decisions to one view. Schemas are made at once, checks and pruning functions at their first use."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

from ..callers.predicates import Decisions
from ..settings import Settings
from .dialects import strict
from .explaining import alternatives
from .lenient import Reader
from .projection import pruner
from .reveal import reveal
from .satisfaction import satisfier, settled
from .schema import Document, compile_validator, document
from .shapes import NO_NOTES, Record, Tree, reachable
from .view import CallerView, InputCheck, InputSide, Options, OutputCheck, OutputSide, PersonalDefault
from .writing import may_be_deep

if TYPE_CHECKING:
    from .contract import ToolContract


def compile_view(contract: ToolContract, decisions: Decisions, settings: Settings) -> CallerView:
    """The view of a contract that all callers with these decisions share."""
    options = Options(
        reject_unknown_input_keys=settings.reject_unknown_input_keys,
        ignored_input_keys=settings.ignored_input_keys,
        lenient_inputs=bool(settings.lenient_inputs),
        reports_mistyped=settings.mistyped_output == "report",
    )
    given = _input_side(contract, decisions, settings)
    result = _output_side(contract, decisions, settings)
    return CallerView(contract.name, contract.description, given, result, options)


def _input_side(contract: ToolContract, decisions: Decisions, settings: Settings) -> InputSide:
    tree, root = _input_tree(contract, decisions, opt_in=settings.nullable_inputs == "opt-in")
    enforced = document(
        tree,
        close_root=settings.reject_unknown_input_keys,
        close_all=settings.nested_unknown_keys == "reject",
    )
    shown = document(strict(tree), close_root=True, strict=True) if settings.strict_schema else enforced
    notes = {f.name: tree.resolve(f.shape).notes for f in root.fields}
    return InputSide(
        schema=shown.schema,
        names=frozenset(notes),
        defaults={name: note.default[0] for name, note in notes.items() if note.default},
        keys=_personal_keys(tree, root),
        personal=_personal(shown, enforced, tree),
        check=cache(
            lambda: InputCheck(
                schema=enforced.schema,
                validator=compile_validator(enforced.schema),
                prune=pruner(tree, judge_whole=True),
                reader=Reader(tree),
                names=frozenset(notes),
                ways=alternatives(tree),
            )
        ),
    )


def _input_tree(contract: ToolContract, decisions: Decisions, *, opt_in: bool) -> tuple[Tree, Record]:
    tree = reveal(contract.input, decisions, keep_null=not opt_in)
    assert tree is not None
    tree = settled(tree) if contract.guarded_values or opt_in else tree
    root = tree.root
    assert isinstance(root, Record), "the root of an input is a record"
    if opt_in:
        nilable = contract.nilable_parameters
        root = replace(
            root, fields=tuple(replace(f, required=f.required and f.name not in nilable) for f in root.fields)
        )
    return Tree(root, tree.definitions), root


def _output_side(contract: ToolContract, decisions: Decisions, settings: Settings) -> OutputSide | None:
    seen = reveal(contract.output, decisions)
    if seen is None:
        return None
    tree = settled(seen) if contract.guarded_values else seen
    enforced = document(tree)
    shown = document(strict(tree), strict=True) if settings.strict_schema else enforced
    return OutputSide(
        schema=shown.schema,
        personal=_personal(shown, enforced, tree),
        check=cache(
            lambda: OutputCheck(
                schema=enforced.schema,
                validator=compile_validator(enforced.schema),
                prune=pruner(tree),
                ways=alternatives(tree),
                deep=may_be_deep(tree),
                fields=_fields(tree),
                reporting=pruner(tree, judge_leaves=True) if settings.mistyped_output == "report" else None,
            )
        ),
    )


def _fields(tree: Tree) -> frozenset[str]:
    shapes = [shape for shape, _ in reachable(tree.root, tree.definitions)]
    return frozenset(each.name for shape in shapes if isinstance(shape, Record) for each in shape.fields)


def _personal_keys(tree: Tree, root: Record) -> dict[str, tuple[str, Callable[[Any], bool]]]:
    """What the caller is asked for, by parameter, and whether an answer fits it and holds nothing hidden."""
    shapes = ((f.name, tree.resolve(f.shape)) for f in root.fields)
    return {
        name: (shape.notes.default_key, satisfier(Tree(replace(shape, notes=NO_NOTES), tree.definitions)))
        for name, shape in shapes
        if shape.notes.default_key is not None
    }


def _personal(shown: Document, enforced: Document, tree: Tree) -> tuple[PersonalDefault, ...]:
    """The places for a caller's own defaults. An answer may stand there if it fits what is enforced, all of it."""
    fits: dict[str, list[Callable[[Any], bool]]] = {}
    for slot in enforced.slots:
        fits.setdefault(slot.key, []).append(satisfier(Tree(slot.shape, tree.definitions)))
    if shown is enforced:
        ordered = {key: iter(checks) for key, checks in fits.items()}
        return tuple(PersonalDefault(slot, next(ordered[slot.key])) for slot in shown.slots)
    # A reduced schema may have its places elsewhere; there an answer has to fit wherever it is asked for.
    return tuple(PersonalDefault(slot, _all(fits[slot.key])) for slot in shown.slots)


def _all(checks: list[Callable[[Any], bool]]) -> Callable[[Any], bool]:
    return lambda value: all(fits(value) for fits in checks)
