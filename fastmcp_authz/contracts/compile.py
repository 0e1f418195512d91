"""Contract and decisions to one view. Schemas are made at once, checks and pruning functions at their first use."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakValueDictionary

from ..callers.predicates import Decisions, Predicate
from ..settings import Settings
from .dialects import advertised
from .explaining import alternatives
from .lenient import Reader
from .projection import pruner
from .providers import PROVIDERS
from .reveal import reveal
from .satisfaction import satisfier, settled
from .schema import Document, compile_validator, document
from .shapes import NO_NOTES, Record, Tree, predicates_of, reachable
from .spelling import Speller
from .still import still
from .view import CallerView, InputCheck, InputSide, Options, OutputCheck, OutputSide, PersonalDefault, SchemaText
from .writing import may_be_deep

if TYPE_CHECKING:
    from .contract import ToolContract


class Prepared(NamedTuple):
    """A contract with what is the same for all its callers, ready for views to be made of it."""

    contract: ToolContract
    input: Tree
    output: Tree
    asked: tuple[frozenset[Predicate], frozenset[Predicate]]
    """The predicates of each side: others make no difference to it."""
    sides: WeakValueDictionary[tuple[Any, ...], InputSide | OutputSide]
    """The sides of the views that are about: many views share one."""


def prepared(contract: ToolContract) -> Prepared:
    """A contract, looked through."""
    given, result = map(_with_still, (contract.input, contract.output))
    asked = _asked(given), _asked(result)
    return Prepared(contract, given, result, asked, WeakValueDictionary())


def _with_still(tree: Tree) -> Tree:
    return Tree(tree.root, tree.definitions, still(tree.root, tree.definitions))


def _asked(tree: Tree) -> frozenset[Predicate]:
    return frozenset(predicates_of(tree.root, tree.definitions))


def compile_view(of: Prepared, decisions: Decisions, settings: Settings) -> CallerView:
    """The view of a contract that all callers with these decisions share."""
    options = Options(
        reject_unknown_input_keys=settings.reject_unknown_input_keys,
        ignored_input_keys=settings.ignored_input_keys,
        lenient_inputs=bool(settings.lenient_inputs),
        reports_mistyped=settings.mistyped_output == "report",
    )
    sides: list[Any] = []
    for make, asked in zip((_input_side, _output_side), of.asked, strict=True):
        key = (make, decisions & asked, settings)
        side = of.sides.get(key)
        if side is None:
            side = make(of, decisions & asked, settings)
            if side is not None:
                of.sides[key] = side
        sides.append(side)
    given, result = sides
    keys = dict.fromkeys(each.slot.key for side in sides if side is not None for each in side.personal)
    keys |= dict.fromkeys(key for key, _ in given.keys.values())  # a dialect may show no default, and it still fills
    return CallerView(of.contract.name, of.contract.description, tuple(keys), given, result, options)


def _input_side(of: Prepared, decisions: Decisions, settings: Settings) -> InputSide:
    tree, root = _input_tree(of, decisions, settings)
    enforced = _enforced_input(tree, settings)
    shown = advertised(settings.advertised, tree, enforced, sent=False)
    text = SchemaText.of(enforced.schema)
    notes = {f.name: tree.resolve(f.shape).notes for f in root.fields}
    return InputSide(
        schema=text if shown is enforced else SchemaText.of(shown.schema),
        names=frozenset(notes),
        defaults={name: note.default[0] for name, note in notes.items() if note.default},
        keys=_personal_keys(tree, root),
        personal=_personal(shown, enforced, tree),
        check=cache(partial(_input_check, of, decisions, settings, text)),
    )


def _input_check(of: Prepared, decisions: Decisions, settings: Settings, schema: SchemaText) -> InputCheck:
    """What arguments go through. Reveals once more: a view that is only listed keeps no tree."""
    tree, root = _input_tree(of, decisions, settings)
    provider = PROVIDERS.get(settings.advertised)
    return InputCheck(
        schema=schema,
        validator=compile_validator(schema.read()),
        prune=pruner(tree, judge_whole=True),
        reader=Reader(tree),
        speller=Speller(tree, nulls=not provider.optional) if provider else None,
        names=frozenset(f.name for f in root.fields),
        ways=alternatives(tree),
    )


def _enforced_input(tree: Tree, settings: Settings) -> Document:
    return document(
        tree,
        close_root=settings.reject_unknown_input_keys,
        close_all=settings.nested_unknown_keys == "reject",
    )


def _input_tree(of: Prepared, decisions: Decisions, settings: Settings) -> tuple[Tree, Record]:
    opt_in = settings.nullable_inputs == "opt-in"
    tree = reveal(of.input, decisions, keep_null=not opt_in)
    assert tree is not None
    tree = settled(tree) if of.contract.guarded_values or opt_in else tree
    root = tree.root
    assert isinstance(root, Record), "the root of an input is a record"
    if opt_in:
        nilable = of.contract.nilable_parameters
        root = replace(
            root, fields=tuple(replace(f, required=f.required and f.name not in nilable) for f in root.fields)
        )
    return Tree(root, tree.definitions, tree.still), root


def _output_side(of: Prepared, decisions: Decisions, settings: Settings) -> OutputSide | None:
    tree = _output_tree(of, decisions)
    if tree is None:
        return None
    enforced = document(tree)
    shown = advertised(settings.advertised, tree, enforced, sent=True)
    text = SchemaText.of(enforced.schema)
    return OutputSide(
        schema=text if shown is enforced else SchemaText.of(shown.schema),
        personal=_personal(shown, enforced, tree),
        check=cache(partial(_output_check, of, decisions, settings, text)),
    )


def _output_check(of: Prepared, decisions: Decisions, settings: Settings, schema: SchemaText) -> OutputCheck:
    """What return values go through. Reveals once more, as for arguments."""
    tree = _output_tree(of, decisions)
    assert tree is not None, "a side that is not there is not asked"
    return OutputCheck(
        schema=schema,
        validator=compile_validator(schema.read()),
        prune=pruner(tree),
        ways=alternatives(tree),
        deep=may_be_deep(tree),
        fields=_fields(tree),
        reporting=pruner(tree, judge_leaves=True) if settings.mistyped_output == "report" else None,
    )


def _output_tree(of: Prepared, decisions: Decisions) -> Tree | None:
    tree = reveal(of.output, decisions)
    return settled(tree) if tree is not None and of.contract.guarded_values else tree


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
