"""What arguments mean that were written by the schema of one provider's dialect (SPEC section 7).

Where a schema asked for a JSON text in place of an object or a list, the text is read; where it asked for a null in
place of leaving something out, the null is left out. What results is checked by the whole contract.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from .lenient import members_of, parsed
from .opening import Opening
from .projection import canonical, leaves, pruner
from .schema import compile_validator, document
from .shapes import Anything, ListOf, MapOf, Record, Scalar, Shape, Tree, TupleOf, Union, is_null


class Speller:
    """Reads arguments by a tree without guards. With `nulls`, null stands for what is left out and cannot be null."""

    def __init__(self, tree: Tree, *, nulls: bool) -> None:
        self.tree = tree
        self.nulls = nulls
        self._ranks: dict[int, Callable[[Any], tuple[int, str] | None]] = {}
        self._absent: dict[int, frozenset[str]] = {}

    def arguments(self, sent: dict[str, Any]) -> dict[str, Any]:
        """The arguments as they were meant; what cannot be read stays as it was sent."""
        meant: dict[str, Any] = _Spelled(self).read(sent, self.tree.resolve(self.tree.root))
        return meant

    def absent(self, record: Record) -> frozenset[str]:
        """The fields of a record whose null says that they are left out."""
        if not self.nulls:
            return frozenset()
        if id(record) not in self._absent:  # the tree holds every shape that is asked about
            optional = [field for field in record.fields if not field.required]
            self._absent[id(record)] = frozenset(f.name for f in optional if not self._takes_null(f.shape))
        return self._absent[id(record)]

    def rank(self, member: Shape, value: Any) -> tuple[int, str] | None:
        """How a member of a union ranks by what it keeps of a value, the least first; `None` where it refuses it."""
        if id(member) not in self._ranks:
            self._ranks[id(member)] = _rank(Tree(member, self.tree.definitions))
        return self._ranks[id(member)](value)

    def _takes_null(self, shape: Shape) -> bool:
        return any(is_null(each) or isinstance(each, Anything) for each in members_of(shape, self.tree))


def _takes_text(member: Shape) -> bool:
    return isinstance(member, Anything) or (isinstance(member, Scalar) and member.type == "string")


def _rank(tree: Tree) -> Callable[[Any], tuple[int, str] | None]:
    accepts = compile_validator(document(tree, object_root=False).schema).is_valid
    prune = pruner(tree, judge_whole=True)

    def rank(value: Any) -> tuple[int, str] | None:
        if not accepts(value):
            return None
        kept = prune(value, Opening())
        return -leaves(kept), canonical(kept)

    return rank


class _Spelled:
    """One reading. Each part is read once for each type, or unions within unions would be read in 2**depth ways."""

    def __init__(self, speller: Speller) -> None:
        self._speller = speller
        self._found: dict[tuple[int, int], tuple[Any, Any]] = {}  # with the part, so that its `id` is not used again
        self._texts: dict[str, Any] = {}

    def read(self, value: Any, shape: Shape) -> Any:
        shape = self._speller.tree.behind(shape)
        if not isinstance(value, str | list | dict):
            return value
        question = (id(shape), id(value))
        if question not in self._found:
            self._found[question] = (value, self._read(value, shape))
        return self._found[question][1]

    def _read(self, value: Any, shape: Shape) -> Any:
        match shape:
            case Union():
                return self._union(value, members_of(shape, self._speller.tree))
            case ListOf(items=items):
                found = self._opened(value, list)
                return value if found is None else [self.read(each, items) for each in found]
            case TupleOf(items=places):
                found = self._opened(value, list)
                if found is None or len(found) != len(places):
                    return value
                return [self.read(each, place) for each, place in zip(found, places, strict=True)]
            case MapOf(values=values):
                found = self._opened(value, dict)
                return value if found is None else {k: self.read(v, values) for k, v in found.items()}
            case Record():
                found = self._opened(value, dict)
                return value if found is None else self._record(found, shape)
            case _:
                return value

    def _opened(self, value: Any, kind: type) -> Any:
        """A list or an object, as it was sent or from its text; `None` where it is no such thing."""
        if isinstance(value, str):
            if value not in self._texts:
                self._texts[value] = parsed(value)
            value = self._texts[value]
        return value if isinstance(value, kind) else None

    def _record(self, found: dict[str, Any], shape: Record) -> dict[str, Any]:
        known = {field.name: field.shape for field in shape.fields}
        absent = self._speller.absent(shape)
        given = {name: part for name, part in found.items() if part is not None or name not in absent}
        return {name: self.read(part, known[name]) if name in known else part for name, part in given.items()}

    def _union(self, value: Any, members: Iterable[Shape]) -> Any:
        """The reading of the member that keeps most of it, the one that pruning takes (SPEC section 5).

        A string where any member is a string is never read as anything else.
        """
        if isinstance(value, str) and any(map(_takes_text, members)):
            return value
        best: tuple[int, str] | None = None
        chosen = value
        for member in members:
            read = self.read(value, member)
            rank = self._speller.rank(member, read)
            if rank is not None and (best is None or rank < best):
                best, chosen = rank, read
        return chosen
