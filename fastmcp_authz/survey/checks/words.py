"""How rules name predicates and people in what they say."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from fastmcp_authz.callers.predicates import Predicate, authorization
from fastmcp_authz.errors import listed


def written(predicate: Predicate) -> str:
    """A predicate as its author wrote it at a part."""
    value = predicate.value
    is_word = isinstance(value, str) and value.isidentifier()
    return f"@{predicate.name}({f':{value}' if is_word else '' if value is None else json.dumps(value)})"


def written_gate(gate: Predicate) -> str:
    """A gate of a whole tool as its author wrote it."""
    if gate.on == "current_user":
        return f"authorization={json.dumps(gate.value)}"
    return f"gates=[({json.dumps(gate.name)}, {json.dumps(gate.value)})]"


def conjoined(names: Iterable[object], word: str = "and") -> str:
    """Names in a sentence: `a, b and c`; the first of them where there are very many."""
    texts = list(map(str, names))
    if len(texts) > 12:
        return listed(texts)
    return f" {word} ".join([*([", ".join(texts[:-1])] if texts[1:] else []), *texts[-1:]])


def quoted(names: Iterable[object], word: str = "and") -> str:
    """The same with each name as code."""
    return conjoined((f"`{name}`" for name in names), word)


def implied(gates: Sequence[Predicate]) -> frozenset[Predicate]:
    """What is surely a yes for everybody who has a tool with these gates.

    `authorization="x"` and `@requires(:x)` are the same question to a context that has only one method for both, and
    whoever wrote both meant one.
    """
    held = set(gates)
    for gate in gates:
        if gate.on == "current_user":
            held.add(Predicate("requires", gate.value))
        elif gate.name == "requires" and isinstance(gate.value, str):
            held.add(authorization(gate.value))
    return frozenset(held)
