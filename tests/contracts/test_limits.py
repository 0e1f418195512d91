"""How large a schema is, and what is beyond a provider's limits."""

from __future__ import annotations

from fastmcp_authz import Settings, ToolContract
from fastmcp_authz.contracts.limits import LIMITS, Limits, Measures, measured
from fastmcp_authz.contracts.providers import PROVIDERS
from fastmcp_authz.settings import Dialect

DOCSTRING = """
@rbs type node = { name: String, ?kids: Array[node], ?properties: "a" | "b" | "c" }
#: (first: node, ?second: node, ?when: Date?, ?u: { k: 1 | 2 } | { k: 3 }) -> output
@rbs type output = {}
"""


def measures(dialect: Dialect) -> Measures:
    return measured(ToolContract.parse(DOCSTRING).view_of(frozenset(), Settings(dialect=dialect)).input_schema)


def test_each_thing_is_counted() -> None:
    # 4 parameters, 3 fields of `node`, `k` of two records; what is shared counts once.
    assert measures("full") == Measures(properties=9, optional=5, unions=2, depth=2, enum_values=5)


def test_optional_properties_are_unions_for_openai_and_types_within_themselves_are_written_out_for_anthropic() -> None:
    assert measures("openai") == Measures(properties=9, optional=0, unions=5, depth=2, enum_values=6)
    # Each of the two parameters has a `node` in a `node`.
    assert measures("anthropic") == Measures(properties=18, optional=11, unions=2, depth=3, enum_values=15)


def test_what_is_shared_many_times_is_counted_at_once() -> None:
    next_level = [{"$ref": f"#/$defs/t{i + 1}"} for i in range(60)]
    levels = {f"t{i}": {"properties": {"a": each, "b": each}} for i, each in enumerate(next_level)}
    schema = {"properties": {"a": {"$ref": "#/$defs/t0"}}, "$defs": {**levels, "t60": {"type": "string"}}}
    assert measured(schema) == Measures(properties=121, optional=121, unions=0, depth=61, enum_values=0)


def test_what_is_beyond_a_limit_is_named_with_both_numbers() -> None:
    limits = Limits(properties=9, optional=4, depth=1)
    assert measures("full").beyond(limits) == {"optional": (5, 4), "depth": (2, 1)}
    assert measures("full").beyond(LIMITS["gemini"]) == {}


def test_every_provider_has_its_limits() -> None:
    assert LIMITS.keys() == PROVIDERS.keys()
    assert LIMITS["openai"] == Limits(properties=5000, depth=10, enum_values=1000)
    assert LIMITS["anthropic"] == Limits(optional=24, unions=16, tools=20, per_request=True)
