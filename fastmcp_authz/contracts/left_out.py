"""What of a result did not get sent, as paths: news for whoever wrote the function, looked for within bounds."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from .opening import Opening, keyed

_MOST_ELEMENTS: Final = 20
"""How many elements of one list are looked at: they mostly have the same keys."""
_MOST_PATHS: Final = 20
_MOST_PARTS: Final = 1_000
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
    found: dict[str, None] = {}
    for count, path in enumerate(_Walk(opening, fields).over(value, sent, "")):
        if path is not None:
            found[path] = None
        if len(found) >= _MOST_PATHS or count >= _MOST_PARTS:
            break
    return tuple(found)


class _Walk:
    def __init__(self, opening: Opening, fields: frozenset[str]) -> None:
        self._opening = opening
        self._fields = fields

    def over(self, value: Any, sent: Any, path: str) -> Iterator[str | None]:
        """The paths, and a `None` for each part that is looked at."""
        yield None
        if isinstance(sent, dict):
            parts = value if type(value) is dict else self._opening.known(value)
            if isinstance(parts, dict):
                yield from self._keys(parts, sent, f"{path}." if path else "")
        elif isinstance(sent, list):
            parts = value if type(value) in (list, tuple) else self._opening.known(value)
            if isinstance(parts, list | tuple) and len(parts) == len(sent) and not isinstance(value, set | frozenset):
                for part, kept in zip(parts[:_MOST_ELEMENTS], sent[:_MOST_ELEMENTS], strict=True):
                    yield from self.over(part, kept, f"{path}[]")

    def _keys(self, parts: dict[Any, Any], sent: dict[str, Any], path: str) -> Iterator[str | None]:
        named = parts if all(type(key) is str for key in parts) else keyed(parts)
        for name, part in named.items():
            if name in sent:
                yield from self.over(part, sent[name], path + (name if name in self._fields else "*"))
            else:
                yield path + (name if _NAME.fullmatch(name) else "*")
