"""What is advertised in each dialect, and that it changes nothing of what is enforced."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, get_args

import pytest
from jsonschema import Draft202012Validator

from fastmcp_authz import CallerView, ConfigurationError, ContractError, InvalidInputError, Settings, ToolContract
from fastmcp_authz.contracts.projection import canonical, leaves
from fastmcp_authz.contracts.providers import PROVIDERS
from fastmcp_authz.serving.installing import settings_from
from fastmcp_authz.settings import Dialect, preset_settings
from tests.soundness.budget import UnsuitedError, event, property_of_worlds
from tests.soundness.hiding import other_hidden_contract
from tests.soundness.test_shown_is_checked import STANDARD
from tests.soundness.world import REFUSED, World, decisions, received, sent

from .callers import Context

DIALECTS: tuple[Dialect, ...] = get_args(Dialect)


def view(docstring: str, dialect: Dialect, *can: str, **defaults: Any) -> CallerView:
    settings = Settings(dialect=dialect)
    return ToolContract.parse(docstring, settings=settings).view(Context(*can, defaults=defaults), settings=settings)


def field(written: str, dialect: Dialect, *can: str, **defaults: Any) -> Any:
    """The advertised schema of one parameter."""
    name = written.lstrip("?").split(":")[0]
    shown = view(f"#: ({written}) -> output\n@rbs type output = {{}}", dialect, *can, **defaults)
    return shown.input_schema["properties"][name]


def nullable(schema: dict[str, Any]) -> dict[str, Any]:
    said = {key: schema[key] for key in schema if key == "description"}
    return {"anyOf": [{key: schema[key] for key in schema if key not in said}, {"type": "null"}], **said}


# -- settings ----------------------------------------------------------------------------------------------------------


def test_strict_is_strict_schema() -> None:
    docstring = (
        "#: (n: Integer @min(1) @title(N), ?s: String @pattern(^a)) -> output\n@rbs type output = { ?l: [true] }"
    )
    tool = ToolContract.parse(docstring)
    one = tool.view_of(frozenset(), Settings(strict_schema=True))
    other = tool.view_of(frozenset(), Settings(dialect="strict"))
    assert json.dumps([one.input_schema, one.output_schema]) == json.dumps([other.input_schema, other.output_schema])
    assert other.input_schema["properties"] == {"n": {"type": "integer"}, "s": {"type": "string", "pattern": "^a"}}
    assert Settings(strict_schema=True, dialect="strict").advertised == "strict"


def test_full_is_the_default_and_leaves_nothing_out() -> None:
    assert Settings().dialect == "full"
    assert field("n: Integer @min(1) @title(N)", "full") == {"type": "integer", "minimum": 1, "title": "N"}


WRONG = '`strict_schema=True` is `dialect="strict"`, which contradicts `dialect="openai"`: leave one of the two out'


def test_strict_schema_and_another_dialect_contradict_one_another(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigurationError, match="dialect: ") as told:
        settings_from(Settings(dialect="openai"), {"strict_schema": True})
    assert WRONG in str(told.value)
    monkeypatch.setenv("FASTMCP_AUTHZ_STRICT_SCHEMA", "true")
    monkeypatch.setenv("FASTMCP_AUTHZ_DIALECT", "openai")
    with pytest.raises(ConfigurationError, match="FASTMCP_AUTHZ_DIALECT: ") as told:
        preset_settings()
    assert WRONG in str(told.value)


def test_the_environment_presets_the_dialect(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FASTMCP_AUTHZ_DIALECT", "gemini")
    assert preset_settings().dialect == "gemini"


# -- what each provider is shown ---------------------------------------------------------------------------------------

TEXT = {"type": "string", "description": "a JSON object written as text"}
PAIR = {"type": "array", "items": {"anyOf": [{"type": "string"}, {"type": "integer"}]}}

SHOWN: list[tuple[Any, ...]] = [
    (
        "n: Integer @min(1) @max(50) @desc(How many)",
        {"type": "integer", "description": "How many (between 1 and 50)"},
        {"type": "integer", "minimum": 1, "maximum": 50, "description": "How many"},
        {"type": "integer", "minimum": 1, "maximum": 50, "description": "How many"},
    ),
    (
        "s: String @max(80) @pattern(^a)",
        {"type": "string", "description": "at most 80 characters; matches ^a"},
        {"type": "string", "pattern": "^a", "description": "at most 80 characters"},
        {"type": "string", "pattern": "^a", "description": "at most 80 characters"},
    ),
    (
        "l: Array[String] @min(1) @max(3) @unique()",
        {"type": "array", "items": {"type": "string"}, "minItems": 1, "description": "at most 3 elements; unique"},
        {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 3, "description": "unique"},
        {"type": "array", "items": {"type": "string"}, "description": "between 1 and 3 elements; unique"},
    ),
    (
        "n: Float @exclusive_min(0) @exclusive_max(9) @multiple_of(0.5)",
        {"type": "number", "description": "above 0; below 9; a multiple of 0.5"},
        {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 9, "multipleOf": 0.5},
        {"type": "number", "description": "above 0; below 9; a multiple of 0.5"},
    ),
    (
        "s: String @format(uri) @title(Where) @deprecated() @example(a:b)",
        {"type": "string", "format": "uri", "description": 'for example "a:b"; deprecated'},
        {"type": "string", "description": 'format uri; for example "a:b"; deprecated'},
        {"type": "string", "description": 'format uri; for example "a:b"; deprecated'},
    ),
    (
        's: "a" @desc(Only one)',
        {"type": "string", "enum": ["a"], "description": "Only one"},
        {"type": "string", "enum": ["a"], "description": "Only one"},
        {"type": "string", "enum": ["a"], "description": "Only one"},
    ),
    (
        "n: 5",
        {"type": "integer", "enum": [5]},
        {"type": "integer", "enum": [5]},
        {"type": "integer", "minimum": 5, "maximum": 5},
    ),
    (
        "n: 5 | 7 | 9",
        {"type": "integer", "enum": [5, 7, 9]},
        {"type": "integer", "enum": [5, 7, 9]},
        {"type": "integer", "minimum": 5, "maximum": 9, "description": "one of 5, 7, 9"},
    ),
    (
        "b: true",
        {"type": "boolean", "enum": [True]},
        {"type": "boolean", "enum": [True]},
        {"type": "boolean", "description": "always true"},
    ),
    (
        's: "" | "a"',
        {"type": "string", "enum": ["", "a"]},
        {"type": "string", "enum": ["", "a"]},
        {"type": "string", "description": '"" or "a"'},
    ),
    ("d: Time", *[{"type": "string", "format": "date-time"}] * 3),
    ("s: String?", *[{"anyOf": [{"type": "string"}, {"type": "null"}]}] * 3),
    (
        "s: String? @max(3) @desc(Name)",
        {"anyOf": [{"type": "string", "description": "at most 3 characters"}, {"type": "null"}], "description": "Name"},
        {"anyOf": [{"type": "string", "description": "at most 3 characters"}, {"type": "null"}], "description": "Name"},
        {"anyOf": [{"type": "string", "description": "Name (at most 3 characters)"}, {"type": "null"}]},
    ),
    ("u: String | Integer", *[{"anyOf": [{"type": "string"}, {"type": "integer"}]}] * 3),
    (
        "h: Hash[String, Integer] @max(2) @desc(Counts)",
        *[{**TEXT, "description": "Counts (a JSON object written as text; each value: a whole number; at most 2 keys)"}]
        * 3,
    ),
    ("h: Hash[String, untyped] | String", *[{"type": "string"}] * 3),
    ("h: Hash[String, untyped] | Integer", *[{"anyOf": [TEXT, {"type": "integer"}]}] * 3),
    (
        "x: untyped",
        *[{"anyOf": [{"type": "string"}, {"type": "number"}, {"type": "boolean"}, {"type": "null"}]}] * 3,
    ),
    (
        "t: [String, Integer]",
        {**PAIR, "description": "exactly 2 elements; in this order: text, a whole number"},
        {**PAIR, "minItems": 2, "maxItems": 2, "description": "in this order: text, a whole number"},
        {**PAIR, "description": "exactly 2 elements; in this order: text, a whole number"},
    ),
    (
        "r: {}",
        {"type": "object", "properties": {}, "additionalProperties": False},
        {"type": "object", "properties": {}, "additionalProperties": False},
        TEXT,
    ),
    (
        "?n: Integer @default(3)",
        {"type": "integer", "default": 3},
        nullable({"type": "integer", "description": "3 by default"}),
        {"type": "integer", "default": 3},
    ),
    ("?s: String?", *[{"anyOf": [{"type": "string"}, {"type": "null"}]}] * 3),
]


@pytest.mark.parametrize(("written", "anthropic", "openai", "gemini"), SHOWN, ids=[each[0] for each in SHOWN])
def test_a_parameter_is_shown_as_each_provider_takes_it(written: str, anthropic: Any, openai: Any, gemini: Any) -> None:
    assert field(written, "anthropic") == anthropic
    assert field(written, "openai") == openai
    assert field(written, "gemini") == gemini


RECORDS = """
@rbs type money = { amount: Float, ?currency: String }
#: (a: money, ?b: money @desc(The second), ?when: Date @depends_on(:b)) -> output
@rbs type output = { ?total: money, ?rates: Hash[String, Float], ok: true }
"""


def test_records_for_anthropic() -> None:
    money = {
        "type": "object",
        "properties": {"amount": {"type": "number"}, "currency": {"type": "string"}},
        "required": ["amount"],
        "additionalProperties": False,
    }
    shown = view(RECORDS, "anthropic")
    assert shown.input_schema == {
        "type": "object",
        "properties": {
            "a": money,
            "b": {**money, "description": "The second"},
            "when": {"type": "string", "format": "date", "description": "required where b is given"},
        },
        "required": ["a"],
        "additionalProperties": False,
    }
    assert shown.output_schema == {
        "type": "object",
        "properties": {
            "total": money,
            "rates": {"type": "object", "additionalProperties": {"type": "number"}},
            "ok": {"type": "boolean", "enum": [True]},
        },
        "required": ["ok"],
        "additionalProperties": False,
    }


def test_records_for_openai() -> None:
    shown = view(RECORDS, "openai")
    assert shown.input_schema == {
        "type": "object",
        "properties": {
            "a": {"$ref": "#/$defs/money"},
            "b": nullable({"$ref": "#/$defs/money", "description": "The second"}),
            "when": nullable({"type": "string", "format": "date", "description": "required where b is given"}),
        },
        "required": ["a", "b", "when"],
        "additionalProperties": False,
        "$defs": {
            "money": {
                "type": "object",
                "properties": {"amount": {"type": "number"}, "currency": nullable({"type": "string"})},
                "required": ["amount", "currency"],
                "additionalProperties": False,
            }
        },
    }
    assert shown.output_schema is not None
    assert shown.output_schema["required"] == ["ok"], "results are as they are: no null is put into them"


def test_nothing_stands_beside_a_reference_for_openai() -> None:
    docstring = RECORDS.replace("a: money,", "a: money @desc(The first),")
    assert view(docstring, "openai").input_schema["properties"]["a"] == {
        "anyOf": [{"$ref": "#/$defs/money"}],
        "description": "The first",
    }


def test_records_for_gemini() -> None:
    money = {
        "type": "object",
        "properties": {"amount": {"type": "number"}, "currency": {"type": "string"}},
        "required": ["amount"],
    }
    shown = view(RECORDS, "gemini")
    assert shown.input_schema == {
        "type": "object",
        "properties": {
            "a": money,
            "b": {**money, "description": "The second"},
            "when": {"type": "string", "description": "format date; required where b is given"},
        },
        "required": ["a"],
    }
    assert shown.output_schema == {
        "type": "object",
        "properties": {
            "total": money,
            "rates": {"type": "object", "description": "each value: a number"},
            "ok": {"type": "boolean", "description": "always true"},
        },
        "required": ["ok"],
    }


RECURSIVE = """
@rbs type node = { name: String, ?kids: Array[node] }
#: (tree: node) -> output
@rbs type output = { tree: node }
"""


@pytest.mark.parametrize("dialect", ["anthropic", "gemini"])
def test_a_type_within_itself_is_written_out_twice_and_then_a_text(dialect: Dialect) -> None:
    shown = view(RECURSIVE, dialect)
    tree = shown.input_schema["properties"]["tree"]
    assert tree["properties"]["kids"]["items"]["properties"]["kids"]["items"] == {
        "type": "string",
        "description": "nested further than is written out here; a JSON object written as text",
    }
    third = json.dumps({"name": "c", "kids": [{"name": "d"}]})
    sent = {"tree": {"name": "a", "kids": [{"name": "b", "kids": [third]}]}}
    assert Draft202012Validator(shown.input_schema).is_valid(sent)
    received = {"name": "a", "kids": [{"name": "b", "kids": [{"name": "c", "kids": [{"name": "d"}]}]}]}
    assert shown.filter_input(sent) == {"tree": received}
    assert shown.filter_input({"tree": received}) == {"tree": received}, "and a client that knows better may nest it"
    assert Draft202012Validator(shown.output_schema or False).is_valid(shown.filter_output({"tree": received}))


def test_a_type_within_itself_is_a_reference_for_openai() -> None:
    shown = view(RECURSIVE, "openai").input_schema
    assert shown["properties"]["tree"] == {"$ref": "#/$defs/node"}
    assert shown["$defs"]["node"]["properties"]["kids"] == nullable(
        {"type": "array", "items": {"$ref": "#/$defs/node"}}
    )


def test_types_that_use_one_another_many_times_stay_small() -> None:
    levels = "\n".join(f"@rbs type t{i} = {{ a: t{i + 1}, b: t{i + 1} }}" for i in range(16))
    docstring = f"{levels}\n@rbs type t16 = {{ s: String }}\n#: (x: t0) -> output\n@rbs type output = {{}}"
    assert len(json.dumps(view(docstring, "gemini").input_schema)) < 60_000


# -- what a caller's own answers do ------------------------------------------------------------------------------------


def test_a_callers_own_default_is_shown_where_defaults_are() -> None:
    written = "?zone: String @default(UTC) @default_for(:zone)"
    shown = {dialect: field(written, dialect, zone="CET") for dialect in DIALECTS}
    for dialect in ("full", "strict", "anthropic", "gemini"):
        assert shown[dialect] == {"type": "string", "default": "CET"}
    assert shown["openai"] == nullable({"type": "string"}), "which of the two holds is nothing for a shared text"
    received = view(f"#: ({written}) -> output\n@rbs type output = {{}}", "openai", zone="CET")
    assert received.filter_input({"zone": None}) == {"zone": "CET"}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_words_say_nothing_of_what_is_hidden(dialect: Dialect) -> None:
    docstring = """
        #: (
        #:   ?kind: ("open" | "sealed" @requires(:clerk)) @default(sealed) @example(sealed),
        #:   ?row: { a: Integer @min(3), ?secret: Integer @max(9) @requires(:clerk), ?b: Integer @depends_on(:secret) },
        #:   ?rates: Hash[("x" | "sealed" @requires(:clerk)), { v: Float, ?secret: String @requires(:clerk) }]
        #: ) -> output
        @rbs type output = { ?secret: [Integer, Integer] @requires(:clerk), ?t: ["open" | "sealed" @requires(:clerk)] }
    """
    seen = view(docstring, dialect, "clerk")
    assert "sealed" in json.dumps([seen.input_schema, seen.output_schema])
    hidden = view(docstring, dialect)
    text = json.dumps([hidden.input_schema, hidden.output_schema])
    assert "sealed" not in text
    assert "secret" not in text


# -- what is meant by what is sent -------------------------------------------------------------------------------------

NULLS = """
@rbs type row = { id: Integer, ?note: String, ?mark: String?, ?any: untyped }
#: (?page: Integer @default(1), ?q: String?, row: row, ?rows: Array[row], ?u: { k: "a", ?x: String } | { k: "b" })
#:   -> output
@rbs type output = {}
"""


def test_null_reads_as_left_out_for_openai_at_any_depth() -> None:
    arguments = {
        "page": None,
        "q": None,
        "row": {"id": 1, "note": None, "mark": None, "any": None},
        "rows": [{"id": 2, "note": None, "mark": "m", "any": 3}],
        "u": {"k": "a", "x": None},
    }
    shown = view(NULLS, "openai")
    assert Draft202012Validator(shown.input_schema).is_valid(arguments)
    assert shown.filter_input(arguments) == {
        "page": 1,
        "q": None,
        "row": {"id": 1, "mark": None, "any": None},
        "rows": [{"id": 2, "mark": "m", "any": 3}],
        "u": {"k": "a"},
    }
    assert shown.filter_input({"row": {"id": 1}}) == {"row": {"id": 1}, "page": 1}, "leaving out is still allowed"


@pytest.mark.parametrize("dialect", [dialect for dialect in DIALECTS if dialect != "openai"])
def test_null_is_a_null_for_all_others(dialect: Dialect) -> None:
    with pytest.raises(InvalidInputError, match=r"row\.note: must be text, null was sent"):
        view(NULLS, dialect).filter_input({"row": {"id": 1, "note": None}})


def test_a_required_value_is_not_left_out_by_a_null() -> None:
    with pytest.raises(InvalidInputError, match=r"row\.id: must be a whole number, null was sent"):
        view(NULLS, "openai").filter_input({"row": {"id": None}})


@pytest.mark.parametrize("union", ["{ y: Integer, ?x: String, ?w: String } | { y: Integer }", "{ y: Integer } | more"])
def test_the_member_that_was_meant_is_found_before_its_nulls_are_left_out(union: str) -> None:
    docstring = f"""
        @rbs type more = {{ y: Integer, ?x: String, ?w: String }}
        #: (u: {union}) -> output
        @rbs type output = {{}}
    """
    assert view(docstring, "openai").filter_input({"u": {"y": 1, "x": None, "w": "s"}}) == {"u": {"y": 1, "w": "s"}}


@pytest.mark.parametrize("dialect", PROVIDERS)
def test_objects_with_free_keys_are_sent_as_text_or_as_they_are(dialect: Dialect) -> None:
    docstring = """
        #: (rates: Hash[String, Float], ?more: { h: Hash[String, Array[Hash[String, Integer]]] | Integer }) -> output
        @rbs type output = {}
    """
    shown = view(docstring, dialect)
    inner = json.dumps({"l": [{"n": 1}]})
    meant = {"rates": {"a": 1.5}, "more": {"h": {"l": [{"n": 1}]}}}
    assert shown.filter_input({"rates": '{"a": 1.5}', "more": {"h": inner}}) == meant
    assert shown.filter_input(meant) == meant
    for wrong in ('{"a": "x"}', "[1]", "rates", "1", "[" * 100_000):
        with pytest.raises(InvalidInputError):
            shown.filter_input({"rates": wrong})


def test_no_text_is_read_as_anything_else_in_the_full_dialect() -> None:
    with pytest.raises(InvalidInputError, match="rates: must be an object, text was sent"):
        view("#: (rates: Hash[String, Float]) -> output\n@rbs type output = {}", "full").filter_input({"rates": "{}"})


@pytest.mark.parametrize("dialect", PROVIDERS)
def test_the_whole_contract_is_still_enforced(dialect: Dialect) -> None:
    shown = view("#: (s: String @max(3), ?l: Set[Integer]) -> output\n@rbs type output = { ok: true }", dialect)
    for wrong in ({"s": "four"}, {"s": "a", "l": [1, 1]}, {"s": 1}, {"s": "1", "l": "x"}):
        with pytest.raises(InvalidInputError):
            shown.filter_input(wrong)


# -- whatever the contract ---------------------------------------------------------------------------------------------

NEVER = {
    "anthropic": {
        "$ref", "$defs", "oneOf", "const", "prefixItems", "propertyNames", "minimum", "maximum", "exclusiveMinimum",
        "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "maxItems", "uniqueItems", "minProperties",
        "maxProperties", "pattern", "dependentRequired", "title", "examples", "deprecated",
    },
    "openai": {
        "oneOf", "const", "prefixItems", "propertyNames", "minLength", "maxLength", "uniqueItems", "minProperties",
        "maxProperties", "dependentRequired", "title", "examples", "deprecated", "default",
    },
    "gemini": {
        "$ref", "$defs", "oneOf", "const", "prefixItems", "propertyNames", "additionalProperties", "exclusiveMinimum",
        "exclusiveMaximum", "multipleOf", "uniqueItems", "dependentRequired", "title", "examples", "deprecated",
        "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties",
    },
}  # fmt: skip
"""Keywords that no schema of a dialect holds."""


def nodes(schema: Any) -> Iterator[dict[str, Any]]:
    """Every schema in a schema; a property that is called like a keyword is none."""
    yield schema
    inner = [*schema.get("properties", {}).values(), *schema.get("$defs", {}).values(), *schema.get("anyOf", [])]
    inner += [schema[key] for key in ("items", "additionalProperties") if isinstance(schema.get(key), dict)]
    for each in inner:
        yield from nodes(each)


def as_asked(value: Any, schema: Any, root: Any, said: str = "") -> Any:
    """A value as a schema asks for it: null for what is left out, a JSON text for what it has no other form for.

    Raises:
        UnsuitedError: It is an object or a list that the schema has no form for, since texts there are texts.
    """
    said += schema.get("description", "")
    if "$ref" in schema:
        return as_asked(value, root["$defs"][schema["$ref"].removeprefix("#/$defs/")], root, said)
    if "anyOf" in schema:
        forms = [
            (as_asked(value, each, root, said), {**each, "$defs": root.get("$defs", {})}) for each in schema["anyOf"]
        ]
        fitting = [form for form, member in forms if STANDARD(member).is_valid(form)]
        if not fitting and isinstance(value, dict | list) and {"type": "string"} in schema["anyOf"]:
            raise UnsuitedError
        return min(fitting, key=lambda form: _rank(value, form), default=value)
    if schema.get("type") == "object" and isinstance(value, dict):
        properties = schema["properties"]
        given = {name: as_asked(value[name], properties[name], root) for name in value if name in properties}
        return {**dict.fromkeys(name for name in schema.get("required", []) if name not in given), **given}
    if schema.get("type") == "array" and isinstance(value, list):
        return [as_asked(each, schema["items"], root) for each in value]
    spelled = isinstance(value, dict | list) and schema.get("type") == "string" and "written as text" in said
    return json.dumps(value) if spelled else value


def _rank(value: Any, form: Any) -> Any:
    """Not as a text where there is another form; then the member that keeps most, as the contract chooses."""
    kept = without_nulls(form)
    return isinstance(form, str) and form != value, -leaves(kept), canonical(kept)


def without_nulls(value: Any) -> Any:
    """A value without the keys that are null: an optional field that may be null gets one where it is left out."""
    if isinstance(value, dict):
        return {key: without_nulls(part) for key, part in value.items() if part is not None}
    return [without_nulls(part) for part in value] if isinstance(value, list) else value


@pytest.mark.parametrize("dialect", PROVIDERS)
def test_every_schema_holds_only_what_its_provider_takes(dialect: Dialect) -> None:
    @property_of_worlds
    def holds(world: World) -> None:
        shown = world.view(dialect=dialect)
        for schema in (shown.input_schema, shown.output_schema or {}):
            Draft202012Validator.check_schema(schema)
            for node in nodes(schema):
                assert not NEVER[dialect] & set(node), node
                assert "$ref" not in node or len(node) == 1
        for node in nodes(shown.input_schema):
            assert set(node) & {"type", "anyOf", "$ref"}, node
            if node.get("type") == "object":
                assert dialect != "openai" or node.get("required", []) == list(node["properties"]), node
                assert dialect == "gemini" or node["additionalProperties"] is False

    holds()


@pytest.mark.parametrize("dialect", PROVIDERS)
def test_what_the_contract_accepts_can_be_said_in_each_dialect_and_is_received_alike(dialect: Dialect) -> None:
    @property_of_worlds
    def said(world: World) -> None:
        if "untyped" in world.docstring or "top" in world.docstring:
            raise UnsuitedError  # an object in an `untyped` place is what no provider has a form for
        whole, shown = world.view(), world.view(dialect=dialect)
        standard = STANDARD(shown.input_schema)
        for arguments in world.arguments(4):
            accepted = received(whole, arguments)
            event("refused" if accepted == REFUSED else "accepted")
            if accepted == REFUSED:
                continue
            assert received(shown, arguments) == accepted, arguments
            given = {name: value for name, value in accepted.items() if name in arguments}  # the rest are defaults
            asked = as_asked(given, shown.input_schema, shown.input_schema)
            assert standard.is_valid(asked), asked
            assert without_nulls(received(shown, asked)) == without_nulls(accepted), asked

    said()


@pytest.mark.parametrize("dialect", PROVIDERS)
def test_what_is_sent_validates_against_what_was_advertised_in_each_dialect(dialect: Dialect) -> None:
    @property_of_worlds
    def validates(world: World) -> None:
        whole, shown = world.view(), world.view(dialect=dialect)
        standard = STANDARD(shown.output_schema or False)
        for value in world.results(3):
            kept = sent(shown, value)
            assert kept == sent(whole, value)
            assert kept == REFUSED or standard.is_valid(kept), kept

    validates()


VOCABULARY = set(
    re.findall(
        r"\w+",
        """
        type object array string integer number boolean null properties items required anyOf enum format description
        additionalProperties false true minimum maximum minItems maxItems default
        a an at least most exactly between and above below of multiple matches one or unique encoded as media by for
        example deprecated read only write where is given always character characters element elements key keys each
        value whole text list in this order JSON written nested further than out here anything
        """,
    )
)
"""All that a dialect may say of itself."""


@pytest.mark.parametrize("dialect", PROVIDERS)
def test_no_dialect_says_anything_that_the_callers_own_schema_does_not(dialect: Dialect) -> None:
    def words_of(view: CallerView) -> set[str]:
        return set(re.findall(r"[^\W\d]\w*", json.dumps([view.input_schema, view.output_schema], ensure_ascii=False)))

    @property_of_worlds
    def silent(world: World) -> None:
        more = words_of(world.view(dialect=dialect)) - words_of(world.view())
        assert more <= VOCABULARY, more - VOCABULARY

    silent()


@pytest.mark.parametrize("dialect", PROVIDERS)
def test_a_hidden_part_of_a_contract_makes_no_difference_in_any_dialect(dialect: Dialect) -> None:
    @property_of_worlds
    def same(world: World) -> None:
        docstring = other_hidden_contract(world.docstring, world.model, world.random)
        try:
            other = ToolContract.parse(docstring).view_of(decisions(world.answers), Settings(dialect=dialect))
        except ContractError:
            raise UnsuitedError from None
        shown = world.view(dialect=dialect)
        assert json.dumps([shown.input_schema, shown.output_schema]) == json.dumps(
            [other.input_schema, other.output_schema]
        )
        for arguments in world.arguments(2):
            assert received(shown, arguments) == received(other, arguments)

    same()
