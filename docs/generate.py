"""Writes docs/annotations.md: the types, forms and tags that the library has, each with an example and what it emits.

    python docs/generate.py

What there is comes from the grammar (`annotations/rbs.peg`) and the tables (`contracts/names.py`, `contracts/tags.py`),
and each JSON Schema from the library itself. Only sentences and examples are here; one that lacks is a `KeyError`.
"""

from __future__ import annotations

import json
import re
from importlib import resources
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

from fastmcp_authz import ToolContract
from fastmcp_authz.contracts.names import BASES, GENERICS
from fastmcp_authz.contracts.tags import FORMATS, RULES, Rule

PAGE: Final = Path(__file__).with_name("annotations.md")
GRAMMAR: Final = resources.files("fastmcp_authz.annotations").joinpath("rbs.peg").read_text(encoding="utf-8")
CALLER: Final = SimpleNamespace(
    current_user=SimpleNamespace(
        can=lambda flag: False, default_for={"time_zone": "Europe/Oslo", "per_page": 50}.__getitem__
    )
)
"""Somebody without a permission, and with defaults of their own."""

TYPES: Final = {
    "String": "text",
    "Symbol": "text",
    "Integer": "a whole number",
    "Float": "a number",
    "Numeric": "a number",
    "bool": "true or false",
    "true": "true alone",
    "false": "false alone",
    "nil": "null alone",
    "Date": "a day, `2026-01-31`",
    "Time": "a moment with its time zone, `2026-01-31T12:00:00Z`",
    "DateTime": "the same",
    "untyped": "anything",
    "top": "anything",
    "void": "anything",
    "Array": "a list; a bare `Array` is one of anything",
    "Set": "a list without repetitions",
    "Hash": "an object with any keys; keys that are a union of texts are checked",
}
"""What each base type and each generic one is."""

GENERIC_EXAMPLES: Final = {
    "Array": "Array[String]",
    "Set": "Set[Integer]",
    "Hash": 'Hash["nb" | "en", String]',
}

FORMS: Final = {
    "scalar": (
        "Names and literals",
        "A base type, a name of yours, or a literal. A trailing `?` lets it be null. A union of literals is an enum.",
        'size: Integer, unit: "cm" | "in", ?colour: String?, kind: :plain',
    ),
    "generic": (
        "Types with arguments",
        "`Array`, `Set`, `Hash`, and types of your own that take arguments.",
        "ids: Array[Integer], prices: Hash[String, Float]",
    ),
    "record": (
        "Records",
        "An object with these fields. `?` before a name lets it be left out, `?` behind a type lets it be null: the "
        "two are apart.",
        'address: { street: String, ?zip: String, "care of": String? }',
    ),
    "tuple": ("Tuples", "A list of fixed length, each place with a type of its own.", "point: [Float, Float]"),
    "group": ("Groups", "Parentheses put together what `|`, `?` and tags belong to.", "id: (Integer | String)?"),
}
"""The alternatives of the grammar's rule `form`: a title, what to say, an example as parameters."""

OPERATORS: Final = {
    "|": (
        "Unions",
        "One of these. Members that no value can both fit become `oneOf`, others `anyOf`. Of what a "
        "function returns, the member is taken that keeps most of it.",
        "to: { kind: :mail, address: String } | { kind: :sms, number: String }",
    ),
    "&": ("Merged records", "One record with the fields of both.", "who: { name: String } & { ?age: Integer }"),
}
"""The operators of the grammar: likewise."""

BLOCKS: Final = {
    "alias": (
        "Types of your own",
        "Over as many lines as a bracket is open, or a `|` begins the next. They may take arguments, and refer to "
        "themselves.",
        "@rbs type page[T] = { items: Array[T], next: Integer? }\n"
        "@rbs type note = { title: String, ?parent: note }\n"
        "@rbs type output = page[note]\n",
        "output",
    ),
    "import": (
        "Imports",
        "`@rbs import NAME` takes in `NAME.rbs` from `sig/shared`, beside the module or in a folder above. In such a "
        'file types stand without `@rbs`; here it is `type money = { amount: Float, currency: "EUR" | "NOK" }`.',
        "@rbs import money\n@rbs type output = { total: money }\n",
        "output",
    ),
    "signature": (
        "Signatures",
        "The inputs, each line with `#:` before it. What follows `->` is for readers. A function without parameters "
        "needs none.",
        "#: (\n#:   word: String @min(1),   # a comment\n#:   ?limit: Integer @default(20)\n#: ) -> output\n",
        "input",
    ),
}
"""The rules that a block may be: a title, what to say, an example, and which side of it is shown."""

READS: Final = {
    "_number": "a number",
    "_positive": "a number above zero",
    "_nothing": "nothing",
    "_text": "text",
    "_symbol": "a name, `:name`",
    "_pattern": "a regular expression, as it stands: no escapes, no quotes",
    "_format": "one of " + ", ".join(f"`{name}`" for name in sorted(FORMATS)),
    "plain_value": "a value of the type: a number, `true`, `false`, `nil`, text, a list or an object as JSON",
}
"""How a tag's value reads, by the function that reads it."""

KINDS: Final = {
    "string": "text",
    "number": "numbers",
    "array": "lists",
    "hash": "hashes",
    "record": "records",
}

TAGS: Final = {
    "min": (
        "The least value, or the least length.",
        "name: String @min(1), age: Integer @min(0), ids: Array[Integer] @min(1), by_day: Hash[String, Float] @min(1)",
    ),
    "max": (
        "The greatest value, or the greatest length.",
        "name: String @max(80), age: Integer @max(99), ids: Array[Integer] @max(9), rates: Hash[String, Float] @max(7)",
    ),
    "exclusive_min": ("Above this.", "share: Float @exclusive_min(0)"),
    "exclusive_max": ("Below this.", "share: Float @exclusive_max(1.0)"),
    "multiple_of": ("A multiple of this.", "minutes: Integer @multiple_of(15)"),
    "pattern": (
        'Text in which the expression is found; anchor it with `^` and `$`. The docstring has to be raw (`r"""`) for a '
        "backslash.",
        r"month: String @pattern(^\d{4}-\d{2}$)",
    ),
    "format": ("Text of a known format. It is enforced.", "to: String @format(email)"),
    "media_type": ("What the text holds, for clients.", "page: String @media_type(text/html)"),
    "encoding": ("How bytes were made text, for clients.", "photo: String @encoding(base64) @media_type(image/png)"),
    "unique": ("No two alike.", "ids: Array[Integer] @unique()"),
    "closed": (
        "Other keys are refused, where they would be dropped.",
        "where: { city: String } @closed()",
    ),
    "strict": ("The same as `@closed()`.", "where: { city: String } @strict()"),
    "desc": (
        "What a model reads about it. Everybody who sees the field reads it: name nothing hidden.",
        "id: Integer @desc(As `list_orders` gives it)",
    ),
    "title": ("A title, for clients that show forms.", "id: Integer @title(Order number)"),
    "deprecated": ("A mark. Nothing is refused.", "?page: Integer @deprecated()"),
    "read_only": ("A mark. Nothing is refused.", "?id: Integer @read_only()"),
    "write_only": ("A mark. Nothing is refused.", "password: String @write_only()"),
    "default": (
        "What the function gets where the caller leaves it out, in place of Python's default.",
        '?limit: Integer @default(20), ?units: Array[String] @default(["cm", "kg"])',
    ),
    "example": ("An example, for models. Repeat it for more.", "word: String @example(plan) @example(budget)"),
    "default_for": (
        'The caller\'s own default: `current_user.default_for("time_zone")`; here that is `Europe/Oslo`. None, or one '
        "that does not fit, leaves `@default`.",
        "?time_zone: String @default(UTC) @default_for(:time_zone)",
    ),
    "depends_on": (
        "Required as soon as the named field is given. Left out where the caller does not have both.",
        "?step: String, ?reason: String @depends_on(:step)",
    ),
    "nullable": (
        'With `nullable_inputs="opt-in"`, what lets an input be null; else a mark. The type must be nilable.',
        "?colour: String? @nullable()",
    ),
}
"""What each tag is for, and an example, as parameters."""


def page() -> str:
    """The page, whole."""
    return "\n".join(
        [
            _HEAD,
            "## Types\n",
            *_types(),
            "## Forms\n",
            *(_form(rule) for rule in reversed(alternatives("form")) if rule != "misplaced"),
            *(_operator(sign) for sign in operators()),
            "## Blocks\n",
            *(_block(rule) for rule in ("alias", "import", "signature")),
            "## Tags\n",
            _TAGS_HEAD,
            *(_tag(rule) for rule in RULES.values()),
            _PREDICATES,
            "## Grammar\n",
            "The parser reads this very file, `fastmcp_authz/annotations/rbs.peg`.\n",
            f"```text\n{GRAMMAR}```\n",
        ]
    )


_HEAD = """\
<!-- Made by docs/generate.py from the grammar and the tables of the code: change it there. -->

# Annotations

What may stand in the docstring of a tool, and the JSON Schema that comes of it. Each schema on this page was made by
the library. [The specification](specification.md) has the rules; a mistake fails at import, with the line and what to
write instead.
"""

_TAGS_HEAD = """\
Tags stand behind a type, `@name(value)`, always with parentheses. A line break in a value reads as a blank;
`\\(`, `\\)` and `\\\\` are escapes. Constraints hold for what callers send and for what functions return. A use may
only narrow what the named type says.
"""

_PREDICATES = """\
## Predicates

Every other `@name(value)` is a question to the context of the caller: `context.name(value)`. The field, input or member
of a union is there for those alone for whom the answer is `True`. Several on one thing must all hold.

| written | asked |
|---|---|
| `@requires(:admin)` | `context.requires("admin")`; without it, `context.current_user.can("admin")` |
| `@feature(:sms)` | `context.feature("sms")` |
| `@plan(gold)`, `@level(3)` | `context.plan("gold")`, `context.level(3)` |

A name that is one slip away from a tag, from `requires` or from `feature` is an error, unless
`known_predicates={"..."}` declares it.
"""


def alternatives(rule: str) -> list[str]:
    """The names between the slashes of a rule of the grammar."""
    found = re.search(rf"^{rule} *= (.+)$", GRAMMAR, re.MULTILINE)
    assert found is not None, rule
    return [name.strip() for name in found[1].split("/")]


def operators() -> list[str]:
    """What may stand between two types, by the grammar."""
    found = re.search(r"^operator .*?\[(\S+?)\]", GRAMMAR, re.MULTILINE)
    assert found is not None
    return [*found[1]]


def compiled(docstring: str) -> ToolContract:
    """A contract; what it lacks is added."""
    if "type output" not in docstring:
        docstring += "\n@rbs type output = {}\n"
    if "#:" not in docstring:
        docstring += "\n#: () -> output\n"
    return ToolContract.parse(
        docstring, shared_types={"money.rbs": 'type money = { amount: Float, currency: "EUR" | "NOK" }'}
    )


def schema(parameters: str) -> dict[str, Any]:
    """The input schema of some parameters."""
    return dict(compiled(f"#: ({parameters}) -> output").view(CALLER).input_schema)


def _types() -> list[str]:
    lines = ["| written | is | JSON Schema |", "|---|---|---|"]
    for name in (*BASES, *GENERICS):
        written = GENERIC_EXAMPLES[name] if name in GENERICS else name
        emitted = json.dumps(schema(f"x: {written}")["properties"]["x"])
        lines.append(f"| `{written.replace('|', chr(92) + '|')}` | {TYPES[name]} | `{emitted}` |")
    return ["\n".join(lines) + "\n"]


def _form(rule: str) -> str:
    title, said, example = FORMS[rule]
    return f"### {title}\n\n{said}\n\n{_example(example)}"


def _operator(sign: str) -> str:
    title, said, example = OPERATORS[sign]
    return f"### {title}\n\n{said}\n\n{_example(example)}"


def _block(rule: str) -> str:
    title, said, example, side = BLOCKS[rule]
    view = compiled(example).view(CALLER)
    emitted = view.input_schema if side == "input" else view.output_schema
    return f"### {title}\n\n{said}\n\n```rbs\n{example}```\n\n```json\n{_written(emitted)}\n```\n"


def _tag(rule: Rule) -> str:
    said, example = TAGS[rule.name]
    facts = (("On", _applies(rule)), ("Value", READS[rule.reads.__name__]), ("Emits", _emits(rule)))
    listed = "\n".join(f"- **{head}**: {fact}" for head, fact in facts)
    value = "()" if rule.reads.__name__ == "_nothing" else ""
    return f"### @{rule.name}{value}\n\n{said}\n\n{listed}\n\n{_example(example)}"


def _applies(rule: Rule) -> str:
    if rule.limits:
        return ", ".join(KINDS[kind] for kind in rule.limits)
    return "fields and inputs" if rule.place == "field" or rule.name == "default_for" else "any type"


def _emits(rule: Rule) -> str:
    if rule.limits:
        return ", ".join(f"`{keyword}`" for keyword in dict.fromkeys(rule.limits.values()))
    if rule.note is not None:
        return f"`{rule.note}`"
    emitted = {"depends_on": "`dependentRequired` of the record", "example": "`examples`", "nullable": "nothing"}
    return emitted.get(rule.name, "`default`")


def _example(parameters: str) -> str:
    """Parameters, and what is emitted for each; around them is what `_block` shows of a signature."""
    emitted = {key: value for key, value in schema(parameters).items() if key in ("properties", "dependentRequired")}
    return f"```rbs\n#: ({parameters}) -> output\n```\n\n```json\n{_written(emitted)}\n```\n"


def _written(emitted: Any) -> str:
    """A schema, a line for each property."""
    if emitted.keys() == {"properties"}:
        return "{\n" + _lines(emitted["properties"], "  ") + "\n}"
    inner = dict(emitted)
    members = ['  "properties": {\n' + _lines(inner.pop("properties"), "    ") + "\n  }"]
    return "{\n" + ",\n".join([*members, _lines(inner, "  ")]) + "\n}"


def _lines(members: dict[str, Any], indented: str) -> str:
    return ",\n".join(f"{indented}{json.dumps(name)}: {json.dumps(value)}" for name, value in members.items())


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
