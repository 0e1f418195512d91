"""What of a result did not get sent, as paths: news for whoever wrote the function, looked for within bounds."""

from __future__ import annotations

import re
from itertools import islice
from typing import Any, Final

from .opening import Opening, keyed

_MOST_ELEMENTS: Final = 20
"""How many elements of one list are looked at: they mostly have the same keys."""
_MOST_PATHS: Final = 20
_MOST_PARTS: Final = 1_000
_CONTAINERS: Final = frozenset({dict, list})
"""What is sent is JSON data: all else has no parts."""
_SEQUENCES: Final = (list, tuple)
_UNORDERED: Final = (set, frozenset)
_TEXT: Final = frozenset({str})
_NAME: Final = re.compile(r"\w{1,64}")
"""What looks like the name of a field; any other key is data, more likely than not."""


def left_out(value: Any, sent: Any, opening: Opening, fields: frozenset[str]) -> tuple[str, ...]:
    """Paths of keys that a value had and that were not sent, without indices: `rows[].ssn`, `people.*.ssn`.

    Only keys are looked at, and nothing is opened that the pruning has not opened before.

    Args:
        value: What the function returned.
        sent: What was sent of it.
        opening: The value as it was opened when it was pruned.
        fields: The names of all fields in the type. Other keys on the way to what was left out are data.
    """
    walk = _Walk(opening, fields)
    walk.over(value, sent, "")
    return tuple(walk.found)


class _Walk:
    def __init__(self, opening: Opening, fields: frozenset[str]) -> None:
        self.found: dict[str, None] = {}
        self._opening = opening
        self._fields = fields
        self._parts_left = _MOST_PARTS
        self._before: object = None
        """Where something was left out last, and of what: the elements of a list mostly have the same keys."""

    def over(self, value: Any, sent: Any, path: str) -> None:
        kind = type(value)
        if type(sent) is dict:
            parts = value if kind is dict else self._opening.known(value)
            if isinstance(parts, dict):
                self._keys(parts, sent, path + "." if path else "")
        elif not _CONTAINERS.isdisjoint(map(type, sent[:_MOST_ELEMENTS])) and not issubclass(kind, _UNORDERED):
            parts = value if kind is list or kind is tuple else self._opening.known(value)
            if isinstance(parts, _SEQUENCES) and len(parts) == len(sent):
                path += "[]"
                for part, kept in zip(parts[:_MOST_ELEMENTS], sent, strict=False):
                    if type(kept) in _CONTAINERS:
                        self.over(part, kept, path)

    def _keys(self, parts: dict[Any, Any], sent: dict[str, Any], path: str) -> None:
        named = parts if _TEXT.issuperset(map(type, parts)) else keyed(parts)
        alike = (path, named.keys(), sent.keys())
        if alike != self._before and not named.keys() <= sent.keys():
            self._before = alike
            for name in [each for each in islice(named, self._parts_left) if each not in sent]:
                if len(self.found) >= _MOST_PATHS:
                    return
                self.found[path + (name if _NAME.fullmatch(name) else "*")] = None
        self._parts_left = max(0, self._parts_left - len(named))
        if _CONTAINERS.isdisjoint(map(type, sent.values())):
            return
        for name, kept in sent.items():
            if type(kept) in _CONTAINERS and name in named and self._parts_left:
                self.over(named[name], kept, path + (name if name in self._fields else "*"))
