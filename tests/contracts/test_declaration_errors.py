"""Wrong declarations: every problem at once, each with its line and what to write instead (SPEC sections 3 and 7)."""

from __future__ import annotations

import pytest

from fastmcp_authz import ContractError, Settings, ToolContract


def problems(docstring: str, **options: object) -> list[tuple[int, str]]:
    with pytest.raises(ContractError) as caught:
        ToolContract.parse(docstring, settings=Settings(**options))  # type: ignore[arg-type]
    return [(p.line, p.message) for p in caught.value.problems]


def of_field(type_: str) -> str:
    found = problems(f"#: (v: {type_}, other: String) -> output\n@rbs type output = {{}}")
    assert len(found) == 1, found
    return found[0][1]


def test_the_whole_report() -> None:
    docstring = """
    Move an applicant.

    #: (
    #:   applicant_id: Strng      @desc(Use fetch_latest_applicant),
    #:   ?stage_id: String?       @requries(:backward_routing) @depends_on(:workflow)
    #: ) -> output
    @rbs type output = { ok: bool @min(3) }
    """
    with pytest.raises(ContractError) as caught:
        ToolContract.parse(docstring, name="advance_step", where="tools.py", first_line=41)
    assert (
        str(caught.value)
        == """\
advance_step (tools.py) declares a contract with 4 problems.

  45 │ #:   applicant_id: Strng      @desc(Use fetch_latest_applicant),
     │                    ‾‾‾‾‾
     unknown type `Strng`: did you mean `String`?

  46 │ #:   ?stage_id: String?       @requries(:backward_routing) @depends_on(:workflow)
     │                               ‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾
     `@requries` is one slip away from `@requires`, and as a predicate of its own it would be asked of the
     context as `context.requries("backward_routing")`. Write `@requires(...)`, or declare it:
     known_predicates={"requries"}.

  46 │ #:   ?stage_id: String?       @requries(:backward_routing) @depends_on(:workflow)
     │                                                            ‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾
     `@depends_on(:workflow)` names no other field of this record: applicant_id, stage_id.

  48 │ @rbs type output = { ok: bool @min(3) }
     │                               ‾‾‾‾‾‾‾
     `@min` cannot stand on this type: it applies to strings, numbers, arrays and hashes."""
    )


@pytest.mark.parametrize(
    ("type_", "message"),
    [
        ("str", "unknown type `str`: did you mean `String`?"),
        ("int", "unknown type `int`: did you mean `Integer`?"),
        ("dict", "unknown type `dict`: did you mean `Hash`?"),
        ("None", "unknown type `None`: did you mean `nil`?"),
        (
            "Decimal",
            "unknown type `Decimal`. A `Decimal` is sent as text: write `String`, or `Float` and return `float(...)`.",
        ),
        (
            "draft",
            "unknown type `draft`: declare it with `@rbs type draft = ...`, or import the file that does, with "
            '`@rbs import FILE`. If it is a text, quote it: `"draft"`.',
        ),
        ("UUID", "unknown type `UUID`. A UUID is written `String @format(uuid)`."),
        ("String[Integer]", "`String` takes no type arguments."),
        ("Hash[String]", "`Hash` takes two types in its brackets, and this has 1: write `Hash[String, Integer]`."),
        ("Array[String, Integer]", "`Array` takes one type in its brackets, and this has 2: write `Array[String]`."),
        ("Hash[bool, String]", "the keys of a `Hash` are `String`, `Symbol`, or a union of string literals."),
        ("String & Integer", "`&` joins records, and aliases of records, only."),
        ("{ a: String } & { a: Integer }", "both sides of `&` have a field `a`, of types that do not go together."),
        ("Integer @min(abc)", "`@min` takes a number, not `abc`: write `@min(5)`."),
        ("Integer @multiple_of(0)", "`@multiple_of` takes a number above zero, not `0`."),
        ("String @max(1.5)", "`@max` counts here, so it takes a whole number from 0, not `1.5`."),
        ("[Integer] @min(1)", "`@min` cannot stand on a tuple: it always has as many elements as it has types."),
        ("String @unique()", "`@unique` cannot stand on this type: it applies to arrays."),
        ("Array[String] @unique(yes)", "`@unique()` takes no value: write `@unique()`."),
        ("Integer @closed()", "`@closed` cannot stand on this type: it applies to records."),
        (
            "(String | bool) @min(1)",
            "`@min` cannot stand on this type: it applies to strings, numbers, arrays and hashes.",
        ),
        ("String @pattern([)", "`@pattern` holds no regular expression that compiles: `[`."),
        ("String @min(1) @min(2)", "`@min` stands twice here: keep one."),
        ("String @nullable()", "`@nullable()` needs a type that can be nil: write `T?`."),
        ("Array[String @nullable()]", "`@nullable` belongs to a field: write it after the field's type."),
        ("Integer @default(x)", "`@default(x)` does not satisfy the type that it stands on: write a value that does."),
        (
            "String @min(3) @default(ab)",
            "`@default(ab)` does not satisfy the type that it stands on: write a value that does.",
        ),
        (
            "Integer @example(1.5)",
            "`@example(1.5)` does not satisfy the type that it stands on: write a value that does.",
        ),
        (
            "String @requires()",
            "`@requires` takes exactly one flag: write `@requires(:flag)`, once for each flag.",
        ),
        (
            "String @requires(:a, :b)",
            "`@requires` takes exactly one flag, not `:a, :b`: write `@requires(:flag)`, once for each flag.",
        ),
        ("String @_x(1)", "`@_x` cannot be a predicate: `context._x` is kept for other uses. Choose another name."),
        (
            "String @decide(1)",
            "`@decide` cannot be a predicate: `context.decide` is kept for other uses. Choose another name.",
        ),
        ("String @depends_on(:v)", "`@depends_on(:v)` names no other field of this record: v, other."),
        ("String @desc()", "`@desc` needs a text: write `@desc(...)`."),
    ],
)
def test_what_is_wrong_with_a_field(type_: str, message: str) -> None:
    assert of_field(type_) == message


@pytest.mark.parametrize(
    ("slip", "near"),
    [
        ("feture", "feature"),
        ("reqires", "requires"),
        ("defualt", "default"),
        ("patern", "pattern"),
        ("exclusivemin", "exclusive_min"),
        ("dsec", "desc"),
        ("closd", "closed"),
        ("dependson", "depends_on"),
    ],
)
def test_a_slip_of_a_known_tag_is_no_predicate(slip: str, near: str) -> None:
    assert f"`@{slip}` is one slip away from `@{near}`" in of_field(f"String @{slip}(:x)")
    ToolContract.parse(
        f"#: (?v: String @{slip}(:x)) -> output\n@rbs type output = {{}}",
        settings=Settings(known_predicates=frozenset({slip})),
    )


@pytest.mark.parametrize(
    ("word", "tag"), [("minimum", "min"), ("maxLength", "max"), ("description", "desc"), ("gt", "exclusive_min")]
)
def test_words_of_other_languages_are_no_predicates(word: str, tag: str) -> None:
    declared = f'known_predicates={{"{word}"}}.'
    assert of_field(f"Integer @{word}(1)") == (
        f"`@{word}` is no tag: write `@{tag}(...)`. If it is a predicate of yours, declare it: {declared}"
    )


def test_names_near_min_and_max_are_slips_only_with_a_number() -> None:
    assert "`@mix` is one slip away from `@min`" in of_field("Integer @mix(5)")
    ToolContract.parse("#: (?v: Integer @mix(:a), ?w: Integer @tier(:gold)) -> output\n@rbs type output = {}")


@pytest.mark.parametrize(
    ("docstring", "message"),
    [
        (
            "@rbs type output = {}",
            "there is no `#:` signature and no `@rbs type input`. Write `#: () -> output` for none.",
        ),
        (
            "#: () -> { id: Integer }",
            "there is no `@rbs type output = { ... }`: every tool declares what it gives back. "
            "What follows `->` is not read.",
        ),
        (
            "#: () -> output\n@rbs type output = Array[String]",
            "the values of `output` must be objects: put a record around it, `{ result: ... }`.",
        ),
        (
            "#: () -> output\n@rbs type output = { a: String }?",
            "the values of `output` must be objects: put a record around it, `{ result: ... }`.",
        ),
        (
            "@rbs type input = String\n@rbs type output = {}",
            "`input` must be a record, `{ name: String }`: a tool takes named parameters.",
        ),
        (
            "#: (**untyped) -> output\n@rbs type output = {}",
            "`(input) -> output` points at `@rbs type input = { ... }`, which is not declared.",
        ),
        (
            "#: (a: t) -> output\n@rbs type t = { next: t }\n@rbs type output = {}",
            "`t` contains itself and never reaches a value: make a field on the way optional.",
        ),
        ("#: (a: p) -> output\n@rbs type p[T] = { a: T }\n@rbs type output = {}", "`p` takes [T]."),
        (
            "#: (a: p[String]) -> output\n@rbs type p[T] = { n: p[Array[T]]? }\n@rbs type output = {}",
            "`p` grows with every use and never ends: use it with fixed arguments.",
        ),
        (
            "#: (a: p[String]) -> output\n@rbs type p[T] = { n: p[[T, T, T]]? }\n@rbs type output = {}",
            "`p` grows with every use and never ends: use it with fixed arguments.",
        ),
    ],
)
def test_what_is_wrong_with_a_whole(docstring: str, message: str) -> None:
    assert message in [m for _, m in problems(docstring)]


def test_two_imports_that_differ_on_a_name_are_an_error_unless_it_is_declared_here() -> None:
    shared = {"a.rbs": "type t = String", "b.rbs": "type t = Integer"}
    docstring = "@rbs import a\n@rbs import b\n#: (v: t) -> output\n@rbs type output = {}"
    with pytest.raises(ContractError, match=r"`t` is declared differently in .*a\.rbs and in .*b\.rbs"):
        ToolContract.parse(docstring, shared_types=shared)
    contract = ToolContract.parse(docstring + "\n@rbs type t = bool", shared_types=shared)
    assert contract.view(None).input_schema["properties"]["v"] == {"type": "boolean"}


def test_a_problem_in_a_shared_file_names_that_file() -> None:
    with pytest.raises(ContractError) as caught:
        ToolContract.parse(
            "@rbs import a\n#: (v: t) -> output\n@rbs type output = {}",
            shared_types={"a.rbs": "type other = String\ntype t = { x: Strng }"},
        )
    (problem,) = caught.value.problems
    assert (problem.where, problem.line, problem.excerpt) == ("a.rbs", 2, "type t = { x: Strng }")
    assert "\n\na.rbs:\n   2 │ type t = { x: Strng }\n" in str(caught.value)


def test_what_follows_from_a_syntax_error_is_not_reported_again() -> None:
    found = problems("#: (a: row, b: Strng -> output\n@rbs type row = { id: String\n@rbs type output = { ok: bool }")
    assert [line for line, _ in found] == [1, 2]
    found = problems("#: (a: row, b: Strng) -> output\n@rbs type row = { id: String\n@rbs type output = { ok: bool")
    assert [line for line, _ in found] == [1, 2, 3]
    assert "Strng" in found[0][1]
