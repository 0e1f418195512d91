"""Predicates and decisions: the only vocabulary of guards."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

Value: TypeAlias = str | int | float | bool | None
"""What a predicate is asked with."""
RESERVED: Final = frozenset({"decide", "current_user", "default_for"})
"""What a server context has for other uses, and so no names of predicates."""


@dataclass(frozen=True, slots=True)
class Predicate:
    """A question that a server context answers with yes or no: `context.name(value)`.

    Two predicates are the same question when `text` is the same, so that `1`, `1.0` and `True` stay apart.
    """

    name: str = field(compare=False)
    value: Value = field(compare=False)
    on: Literal["context", "current_user"] = field(default="context", compare=False)
    """Whom it is asked of: `current_user` is for a tool's `authorization`."""
    text: str = field(init=False)
    """The question as an operator reads it: `feature("sms")`, `current_user.can("comms")`."""

    def __post_init__(self) -> None:
        prefix = "current_user." if self.on == "current_user" else ""
        object.__setattr__(self, "text", f"{prefix}{self.name}({json.dumps(self.value, ensure_ascii=False)})")

    def __hash__(self) -> int:
        return hash(self.text)

    def __str__(self) -> str:
        return self.text


Decisions: TypeAlias = frozenset[Predicate]
"""The predicates that were answered with yes. Whatever is not in it is a no."""


Questions: TypeAlias = Mapping[str, Predicate]
"""Predicates that are asked together, by their `text`."""


def questions(predicates: Iterable[Predicate]) -> Questions:
    """Predicates, ready to be asked."""
    return {predicate.text: predicate for predicate in predicates}


def authorization(flag: str) -> Predicate:
    """The predicate behind a tool's `authorization="flag"`: `context.current_user.can(flag)` (SPEC section 4)."""
    return Predicate("can", flag, on="current_user")
