"""Contract and decisions to one view. Schemas are made at once, checks and pruning functions at their first use."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from ..callers.predicates import Decisions
from ..settings import Settings
from .dialects import strict
from .projection import pruner
from .reading import Reader
from .reveal import reveal
from .satisfaction import satisfier, settled
from .schema import Document, compile_validator, document
from .shapes import Record, Tree
from .view import CallerView, InputCheck, InputSide, Options, OutputCheck, OutputSide, PersonalDefault

if TYPE_CHECKING:
    from .contract import ToolContract


def compile_view(contract: ToolContract, decisions: Decisions, settings: Settings) -> CallerView:
    """The view of a contract that all callers with these decisions share."""
    options = Options(
        reject_unknown_input_keys=settings.reject_unknown_input_keys,
        ignored_input_keys=settings.ignored_input_keys,
        lenient_inputs=bool(settings.lenient_inputs),
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
        keys={name: note.default_key for name, note in notes.items() if note.default_key is not None},
        personal=_personal(shown, tree),
        check=cache(
            lambda: InputCheck(
                schema=enforced.schema,
                validator=compile_validator(enforced.schema),
                prune=pruner(tree),
                reader=Reader(tree),
            )
        ),
    )


def _input_tree(contract: ToolContract, decisions: Decisions, *, opt_in: bool) -> tuple[Tree, Record]:
    tree = reveal(contract.input, decisions, keep_null=not opt_in)
    assert tree is not None
    tree = settled(tree) if contract.guarded_values else tree
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
        personal=_personal(shown, tree),
        check=cache(
            lambda: OutputCheck(
                validator=compile_validator(enforced.schema),
                prune=pruner(tree),
                reporting=pruner(tree, judge_leaves=True) if settings.mistyped_output == "report" else None,
            )
        ),
    )


def _personal(shown: Document, tree: Tree) -> tuple[PersonalDefault, ...]:
    """The places for a caller's own defaults. An answer may stand there if it fits, and holds nothing hidden."""
    return tuple(PersonalDefault(slot, satisfier(Tree(slot.shape, tree.definitions))) for slot in shown.slots)
