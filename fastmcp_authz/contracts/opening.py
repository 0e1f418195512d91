"""A return value, opened one level at a time and only where the caller may look.

Whatever is hidden is never touched: it may be cyclic, endless, or raise when it is written as JSON, and what is sent
stays the same to the byte. What comes out at each level is what pydantic would have made of the whole.
"""

from __future__ import annotations

import dataclasses
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import Enum
from functools import lru_cache
from typing import Any, Final

from pydantic import BaseModel, PlainSerializer, RootModel, WrapSerializer
from pydantic_core import to_jsonable_python

PLAIN: Final = frozenset({str, int, float, bool, type(None)})
"""The types whose values are JSON without parts."""
_SEQUENCES: Final = (list, tuple, set, frozenset, deque, Iterator)
_MOST_LEVELS: Final = 100
"""How deep a recursive type is followed into a value: well within Python's own limit, wherever the call stands."""


class MisfitError(Exception):
    """A value is not even of the outline that the tree has, so that nothing of it may be shown."""


class _ASKS:
    """Stands for a type whose values are containers or not, as they please."""


class _Formless:
    """Stands for a part that has no JSON form: it is refused where it would be sent, and nowhere else."""


def jsonable(value: Any) -> Any:
    """A value as JSON data, all of it.

    Raises:
        Exception: A part has no JSON form; of whatever kind, since a value's own code runs here.
    """
    return to_jsonable_python(value, by_alias=True)


def json_leaf(value: Any) -> Any:
    """A value that is to be compared with constants; `_Formless` where it has no JSON form."""
    if type(value) in PLAIN:
        return value
    try:
        return jsonable(value)
    except Exception:
        return _Formless


class Opening:
    """One value on its way through a contract.

    Each part is opened once, however many members of a union ask for it, since a generator can be read only once.
    """

    __slots__ = ("_levels", "_opened", "_under_way", "_written", "chosen", "trials")

    def __init__(self) -> None:
        self._opened: dict[int, tuple[Any, Any]] = {}  # with the part itself, so that its `id` is not used again
        self._written: dict[int, tuple[Any, Any]] = {}
        self._under_way: set[tuple[str, int]] = set()
        self._levels = 0
        self.trials = 0
        """How many members of unions are being tried, each within the one before."""
        self.chosen: dict[tuple[int, int], tuple[Any, Any]] = {}
        """What a union has made of a part, by both: without it a union within itself is tried in 2**depth ways."""

    def object(self, value: Any) -> Mapping[Any, Any]:
        """The keys of a value, with what is behind them unopened."""
        opened = value if type(value) is dict else self._open(value)
        if not isinstance(opened, dict):
            raise MisfitError
        return opened

    def array(self, value: Any) -> list[Any]:
        """The elements of a value, unopened."""
        opened = value if type(value) is list else self._open(value)
        if not isinstance(opened, list):
            raise MisfitError
        return opened

    def known(self, value: Any) -> Any:
        """A value as it was opened before; `None` where it never was."""
        found = self._opened.get(id(value))
        return None if found is None else found[1]

    def container(self, value: Any) -> type | None:
        """`dict`, `list`, or `None` for what has no parts."""
        kind: type = type(value)
        if kind in PLAIN:
            return None
        container = _container(kind)
        if container is _ASKS:
            opened = type(self._open(value))
            return opened if opened in (dict, list) else None
        return container

    def whole(self, value: Any) -> Any:
        """All of a value as JSON data.

        Raises:
            Exception: A part has no JSON form.
        """
        if type(value) in PLAIN:
            return value
        written = self._written.get(id(value))
        if written is None:
            written = self._written[id(value)] = (value, jsonable(value))
        return written[1]

    def on_trial(self, prune: Callable[[Any, Opening], Any], value: Any) -> Any:
        """What a member of a union makes of a value, which others may be asked for too."""
        self.trials += 1
        try:
            return prune(value, self)
        finally:
            self.trials -= 1

    def enter(self, name: str, value: Any) -> tuple[str, int]:
        """Begin with a recursive type at a part; a part inside itself, or one too deep, has no JSON form."""
        key = (name, id(value))
        if (key in self._under_way and type(value) not in PLAIN) or self._levels >= _MOST_LEVELS:
            raise MisfitError
        self._under_way.add(key)
        self._levels += 1
        return key

    def leave(self, key: tuple[str, int]) -> None:
        """Be done with it."""
        self._under_way.discard(key)
        self._levels -= 1

    def _open(self, value: Any) -> Any:
        if type(value) in PLAIN:
            return value
        known = self._opened.get(id(value))
        if known is None:
            known = self._opened[id(value)] = (value, _opened(value))
        return known[1]


def keyed(value: Mapping[Any, Any]) -> dict[str, Any]:
    """The same under the keys that JSON gives them: `1` is `"1"`. A key without a JSON form is `_Formless`'s own."""
    named: dict[str, Any] = {}
    for key, part in value.items():
        name = json_key(key)
        if name is not None and (isinstance(key, str) or name not in value):
            named[name] = part
    return named


def json_key(key: Any) -> str | None:
    """A key as JSON writes it, or `None` where it cannot."""
    if type(key) is str:
        return key
    try:
        (name,) = to_jsonable_python({key: None})
    except Exception:
        return None
    return str(name)


@lru_cache(maxsize=1024)
def _container(kind: Any) -> type | None:
    """What values of one type are opened as, or `_ASKS` where that is to be seen by opening them."""
    if issubclass(kind, Enum | RootModel) or _shapes_itself(kind):
        return _ASKS
    opener: Any = _opener(kind)
    return list if opener is list else None if opener is _closed else dict


def _opened(value: Any) -> Any:
    """One level of a value as a `dict` or a `list`; what has no parts as it is."""
    kind: type = type(value)
    return _opener(kind)(value)


@lru_cache(maxsize=1024)
def _opener(kind: type) -> Callable[[Any], Any]:
    """How values of one type are opened; looked up by type, since the questions cost more than the opening."""
    if issubclass(kind, type):
        return _closed
    if issubclass(kind, Enum):
        return _behind_enum
    if issubclass(kind, dict):
        return dict
    if issubclass(kind, RootModel):
        return _root
    if hasattr(kind, "__pydantic_serializer__"):
        return _model
    if dataclasses.is_dataclass(kind):
        names = [field.name for field in dataclasses.fields(kind)]
        return lambda value: {name: _attribute(value, name) for name in names}
    return list if issubclass(kind, _SEQUENCES) else _closed


def _closed(value: Any) -> Any:
    return value


def _behind_enum(value: Enum) -> Any:
    return _opened(value.value)


def _root(value: RootModel[Any]) -> Any:
    try:
        return jsonable(value)
    except Exception:
        return _Formless if _shapes_itself(type(value)) else _opened(value.root)


def _model(value: Any) -> Any:
    """A pydantic model or dataclass as pydantic writes it; where that fails, each field by itself."""
    try:
        return jsonable(value)
    except Exception:
        return _Formless if _shapes_itself(type(value)) else _fields(value)


def _fields(value: Any) -> dict[str, Any]:
    kind = type(value)
    declared: Mapping[str, Any] = getattr(kind, "__pydantic_fields__", {})
    computed: Mapping[str, Any] = getattr(kind, "__pydantic_computed_fields__", {})
    more: Mapping[str, Any] = (value.__pydantic_extra__ or {}) if isinstance(value, BaseModel) else {}
    parts: dict[str, Any] = {}
    for name in (*declared, *computed, *more):
        try:
            parts |= kind.__pydantic_serializer__.to_python(value, mode="json", by_alias=True, include={name})
        except Exception:
            field = declared.get(name)
            key = getattr(field, "serialization_alias", None) or getattr(computed.get(name), "alias", None) or name
            open_ = name in more or (field is not None and not _is_written_by_code(kind, name, field.metadata))
            parts[key] = _attribute(value, name) if open_ else _Formless
    return parts


def _shapes_itself(kind: Any) -> bool:
    """Whether a model is written by code of its own, so that its fields are not what is sent."""
    decorators: Any = getattr(kind, "__pydantic_decorators__", None)
    return bool(decorators and decorators.model_serializers)


def _is_written_by_code(kind: Any, name: str, metadata: Iterable[Any]) -> bool:
    serializers = kind.__pydantic_decorators__.field_serializers.values()
    by_name = any(name in each.info.fields or "*" in each.info.fields for each in serializers)
    return by_name or any(isinstance(each, PlainSerializer | WrapSerializer) for each in metadata)


def _attribute(value: Any, name: str) -> Any:
    try:
        return getattr(value, name)
    except Exception:
        return _Formless
