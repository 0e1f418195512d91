"""What `authorized_tool` makes of a function, and what it says about a wrong one."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Literal, assert_type

import pytest
from fastmcp import Context, FastMCP
from fastmcp.dependencies import Depends
from fastmcp.tools import FunctionTool
from pydantic import AliasChoices, AliasPath, BaseModel, BeforeValidator, Field

from fastmcp_authz.errors import ContractError
from fastmcp_authz.serving.authz import Authz
from fastmcp_authz.serving.declaration import declaration_of
from fastmcp_authz.serving.decorator import authorized_tool
from fastmcp_authz.serving.signatures import read_signature


@authorized_tool(authorization="comms", gates=[("feature", "sms")])
def greet(name: str, loud: bool = False) -> dict[str, Any]:
    """Greet somebody.

    @rbs type output = { text: String, ?cost: Integer @requires(:billing) }

    #: (name: String, ?loud: bool @requires(:admin)) -> output
    """
    return {"text": name.upper() if loud else name, "cost": 1}


def test_called_as_plain_python_it_is_the_plain_function() -> None:
    assert greet("ada", loud=True) == {"text": "ADA", "cost": 1}
    assert greet.__wrapped__("ada") == {"text": "ada", "cost": 1}  # type: ignore[attr-defined]


def test_a_type_checker_sees_the_functions_own_type() -> None:
    assert_type(greet("ada"), dict[str, Any])
    checked: Callable[[str, bool], dict[str, Any]] = greet
    assert checked is greet


def test_what_it_publishes_is_what_everyone_may_see() -> None:
    assert str(inspect.signature(greet)) == "(name: str)"
    assert greet.__annotations__ == {"name": str}
    assert greet.__doc__ is None, "not everyone may see that the tool exists"


def test_each_kind_of_function_keeps_its_kind() -> None:
    output = "@rbs type output = { n: Integer }"

    def plain() -> dict[str, int]:
        return {"n": 1}

    async def coroutine() -> dict[str, int]:
        return {"n": 1}

    def generator() -> Iterator[int]:
        yield 1

    async def stream() -> AsyncIterator[int]:
        yield 1

    for fn, kind in (
        (coroutine, inspect.iscoroutinefunction),
        (generator, inspect.isgeneratorfunction),
        (stream, inspect.isasyncgenfunction),
    ):
        fn.__doc__ = output
        assert kind(authorized_tool(fn))
    plain.__doc__ = output
    assert authorized_tool(plain)() == {"n": 1}
    assert list(authorized_tool(generator)()) == [1]


async def test_async_kinds_are_plain_outside_a_server() -> None:
    @authorized_tool
    async def coroutine() -> dict[str, int]:
        """@rbs type output = { n: Integer }"""
        return {"n": 1}

    @authorized_tool
    async def stream() -> AsyncIterator[int]:
        """@rbs type output = { n: Integer }"""
        yield 1

    assert await coroutine() == {"n": 1}
    assert [item async for item in stream()] == [1]


def test_methods_of_every_kind_can_be_decorated() -> None:
    class Desk:
        name = "desk"

        @authorized_tool
        def of_object(self) -> dict[str, str]:
            """@rbs type output = { name: String }"""
            return {"name": self.name}

        @classmethod
        @authorized_tool
        def of_class(cls) -> dict[str, str]:
            """@rbs type output = { name: String }"""
            return {"name": cls.name}

        @staticmethod
        @authorized_tool
        def of_nobody() -> dict[str, str]:
            """@rbs type output = { name: String }"""
            return {"name": "static"}

    desk = Desk()
    assert desk.of_object() == Desk.of_class() == {"name": "desk"}
    assert Desk.of_nobody() == {"name": "static"}
    assert declaration_of(desk.of_object) is declaration_of(Desk.of_object) is not None


def problems_of(fn: Callable[..., Any], **options: Any) -> str:
    with pytest.raises(ContractError) as caught:
        authorized_tool(**options)(fn)
    return " ".join(str(caught.value).split())


def test_every_disagreement_with_the_signature_is_listed_at_once() -> None:
    def rate(score: int, limit: str, reason: str, note: str, ctx: Context) -> None:
        """Rate it.

        @rbs type output = { ok: bool }
        #: (score: Float, limitt: String, reason: String @requires(:admin), ?note: String, ctx: String) -> output
        """

    found = problems_of(rate)
    assert "rate (tests/serving/test_decorator.py:" in found
    assert "declares a contract with 6 problems" in found
    assert "`limitt` is in the annotation and no parameter of the function. Did you mean `limit`?" in found
    assert "`ctx` is put in by FastMCP" in found
    assert "`limit` has no default in Python and is not in the annotation" in found
    assert "A parameter that some callers cannot see needs a default in Python too: `reason` has none." in found
    assert "`note` may be left out by the annotation and has no default in Python" in found
    assert "write `score: float`" in found


def test_a_function_that_takes_anything_cannot_be_declared() -> None:
    def anything(*args: Any, **kwargs: Any) -> None:
        """@rbs type output = { ok: bool }"""

    def positional(a: int, /) -> None:
        """
        @rbs type output = { ok: bool }
        #: (a: Integer) -> output
        """

    assert "`*args: Any` takes any argument" in problems_of(anything)
    assert "`a` is positional-only" in problems_of(positional)


class Colour(Enum):
    RED = "red"


@dataclass
class Row:
    a: str


@pytest.mark.parametrize(
    ("annotation", "hint"),
    [
        ("Float", int),
        ("Integer", str),
        ("String", int),
        ("bool", int),
        ("Array[String]", str),
        ("{ a: String }", str),
        ("String", list[str]),
        ("Integer | String", int),
        ("Hash[String, Integer]", list[int]),
        ("Array[String]", list[int]),
        ("Array[String]?", list[int] | None),
        ("Array[Array[String]]", list[tuple[int, ...]]),
        ("Hash[String, Array[bool]]", dict[str, list[str]]),
        ('"a" | "c"', Literal["a", "b"]),
        ('Array["green"]', list[Colour]),
        ("Integer", Colour),
        ("Array[String]", Decimal),
        ("String", Row),
    ],
)
def test_a_hint_that_plainly_contradicts_its_annotation_is_an_error(annotation: str, hint: Any) -> None:
    def fn(a: Any) -> None: ...

    fn.__doc__ = f"@rbs type output = {{ ok: bool }}\n#: (a: {annotation}) -> output"
    fn.__annotations__["a"] = hint
    assert "and its hint" in problems_of(fn)


@pytest.mark.parametrize(
    ("annotation", "hint"),
    [
        ("Integer", int),
        ("Integer", float),
        ("Float", float),
        ("String", str | None),
        ("String?", str),
        ("Integer | String", int | str),
        ("Array[String]", list[str]),
        ("Array[String]", tuple[str, ...]),
        ("Set[String]", set[str]),
        ("{ a: String }", dict[str, Any]),
        ("untyped", int),
        ("Date", "datetime.date"),
        ("String", Any),
        ("String", Annotated[int, BeforeValidator(len)]),
        ("String", "Unresolvable"),
        ("Array[Integer]", list[float]),
        ("Array[Integer | String]", list[int | str]),
        ("Array[untyped]", list[int]),
        ("Hash[String, Integer?]", dict[str, int | None]),
        ("[String, Integer]", tuple[str, int]),
        ('"a" | "b"', Literal["a", "b", "c"]),
        ('"red"', Colour),
        ('Array["red"]', list[Colour]),
        ("String", Decimal),
        ("{ a: String }", Row),
    ],
)
def test_a_hint_that_can_take_the_value_is_fine(annotation: str, hint: Any) -> None:
    def fn(a: Any) -> None: ...

    fn.__doc__ = f"@rbs type output = {{ ok: bool }}\n#: (a: {annotation}) -> output"
    fn.__annotations__["a"] = hint
    authorized_tool(fn)


def test_injected_parameters_are_in_neither() -> None:
    def clock() -> int:
        return 3

    @authorized_tool
    def now(ctx: Context, hour: int = Depends(clock), zone: str = "utc") -> dict[str, Any]:
        """Tell the time.

        @rbs type output = { hour: Integer }
        #: (?zone: String) -> output
        """
        return {"hour": hour}

    assert set(inspect.signature(now).parameters) == {"ctx", "hour", "zone"}


@pytest.mark.parametrize(
    "hint",
    ["Context", "Context | None", "Annotated[str, Depends(clock)]", "CurrentContext", "str = Depends(clock)"],
)
def test_whatever_fastmcp_puts_in_is_seen_however_it_is_written(hint: str) -> None:
    scope: dict[str, Any] = {"Context": Context, "Depends": Depends, "Annotated": Annotated, "clock": lambda: "now"}
    scope["CurrentContext"] = Annotated[Context, "whatever", [1]]
    exec(f"def fn(a: str, b: list[int], put_in: {hint}, c: dict[str, int | None] = {{}}) -> dict: ...", scope)
    fn = scope["fn"]
    registered = FunctionTool.from_function(fn)
    assert set(read_signature(fn).given) == set(registered.parameters["properties"])


def test_a_problem_in_the_docstring_is_shown_where_it_stands_in_the_file() -> None:
    def wrong(a: str) -> None:
        """Be wrong.

        @rbs type output = { ok: bool }
        #: (a: Strng) -> output
        """

    line = wrong.__code__.co_firstlineno + 4
    assert f"{line} │ #: (a: Strng) -> output" in problems_of(wrong)


@pytest.mark.parametrize(
    ("docstring", "line", "excerpt"),
    [
        ('"""\\\n    Words.\n\n    @rbs type output = { ok: Strng }\n    """', 5, "@rbs type output = { ok: Strng }"),
        (
            '"""Words.\\\n    More.\n    @rbs type output = { ok: Strng }\n    """',
            4,
            "@rbs type output = { ok: Strng }",
        ),
        ('("Words.\\n\\n"\n     "@rbs type output = { ok: Strng }")', 3, "@rbs type output = { ok: Strng }"),
        ('"Words.\\n\\n@rbs type output = { ok: Strng }"', 2, "@rbs type output = { ok: Strng }"),
    ],
)
def test_lines_are_those_of_the_file_however_the_docstring_is_written(
    docstring: str, line: int, excerpt: str, tmp_path: Path
) -> None:
    file = tmp_path / "tools.py"
    file.write_text(f"def fn() -> None:\n    {docstring}\n")
    made: dict[str, Any] = {}
    exec(compile(file.read_text(), str(file), "exec"), made)
    assert f" {line} │ {excerpt}" in problems_of(made["fn"])


def test_a_missing_docstring_is_explained() -> None:
    def silent() -> None: ...

    assert "-OO" in problems_of(silent)


@pytest.mark.parametrize("gate", [("_private", 1), ("decide", 1), ("current_user", 1), ("not a name", 1), ("feature",)])
def test_a_gate_that_cannot_be_asked_is_an_error(gate: Any) -> None:
    def fn() -> None:
        """@rbs type output = { ok: bool }"""

    assert "cannot be asked" in problems_of(fn, gates=[gate])


@pytest.mark.parametrize("gates", [("feature", "sms"), ["feature"], "feature", {"feature": "sms"}, 5])
def test_gates_that_are_no_list_of_pairs_are_one_problem(gates: Any) -> None:
    def fn() -> None:
        """
        @rbs type output = { ok: bool }
        #: () -> output
        """

    problems = problems_of(fn, gates=gates)
    assert f'gates={gates!r} is no list of pairs: write gates=[("feature", "sms")].' in problems
    assert "with 1 problem" in problems


@pytest.mark.parametrize("option", ["known_predicates", "shared_type_paths", "domains"])
def test_one_text_in_the_place_of_several_is_an_error(option: str) -> None:
    def fn() -> None:
        """@rbs type output = { ok: bool }"""

    assert f"{option}='sms' is one text: write {option}=['sms']." in problems_of(fn, **{option: "sms"})


def test_wrong_options_are_errors() -> None:
    def fn() -> None:
        """@rbs type output = { ok: bool }"""

    assert "authorization=''" in problems_of(fn, authorization="")
    assert "content='all'" in problems_of(fn, content="all")


def test_a_decorator_in_the_wrong_place_says_where_it_belongs() -> None:
    mcp = FastMCP("x")

    def fn() -> dict[str, bool]:
        """@rbs type output = { ok: bool }"""
        return {"ok": True}

    assert "It is there twice" in problems_of(authorized_tool(fn))
    assert "Swap the lines" in problems_of(mcp.tool(fn))
    assert "Swap the lines: `@classmethod` above" in problems_of(classmethod(fn))  # type: ignore[arg-type]
    assert "decorates functions" in problems_of(print)


def test_a_function_without_a_file_is_declared_all_the_same() -> None:
    made: dict[str, Any] = {"authorized_tool": authorized_tool}
    source = "@authorized_tool\ndef fn() -> dict:\n    '@rbs type output = { n: %s }'\n    return {}"
    exec(source % "Integer", made)
    assert made["fn"]() == {}
    with pytest.raises(ContractError, match="did you mean `Integer`"):
        exec(source % "Integre", made)


def test_shared_types_come_from_folders_beside_or_above_the_module_or_from_those_given(tmp_path: Path) -> None:
    (tmp_path / "oops.rbs").write_text("type oops = { error: String }")

    def fn() -> dict[str, Any]:
        """
        @rbs import oops
        @rbs type output = oops
        """
        return {}

    authorized_tool(shared_types=tmp_path)(fn)
    authorized_tool(shared_types=[str(tmp_path)])(fn)
    authorized_tool(shared_type_paths=[tmp_path])(fn)


def test_shared_types_may_be_texts() -> None:
    def fn() -> dict[str, Any]:
        """
        @rbs import oops
        @rbs type output = oops
        """
        return {}

    assert "oops" in problems_of(fn)
    authorized_tool(shared_types={"oops.rbs": "type oops = { error: String }"})(fn)


def test_shared_types_are_searched_in_the_tools_own_place_then_the_settings_then_beside_the_module(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = tmp_path / "settings"
    files = [(tmp_path / "own", "a"), (settings, "a"), (settings, "b"), *((tmp_path / "sig/shared", n) for n in "abc")]
    for folder, file in files:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{file}.rbs").write_text(f"type {file} = {{ {folder.name}: String }}")
    imports = "".join(f"    @rbs import {name}\n" for name in "abc")
    source = f'def fn() -> dict:\n    """\n{imports}    @rbs type output = {{ x: a, y: b, z: c }}\n    """\n'
    module = tmp_path / "tools.py"
    module.write_text(source)
    made: dict[str, Any] = {}
    exec(compile(source, str(module), "exec"), made)

    def found(**options: Any) -> list[str]:
        declared = declaration_of(authorized_tool(**options)(made["fn"]))
        assert declared is not None
        schema = declared.contract.view(None).output_schema
        assert schema is not None
        return [next(iter(part["properties"])) for part in schema["properties"].values()]

    assert found() == ["shared", "shared", "shared"]
    assert found(shared_type_paths=[settings]) == ["settings", "settings", "shared"]
    assert found(shared_types=tmp_path / "own", shared_type_paths=[settings]) == ["own", "settings", "shared"]
    monkeypatch.setenv("FASTMCP_AUTHZ_SHARED_TYPE_PATHS", json.dumps([str(settings)]))
    assert found() == ["settings", "settings", "shared"]
    assert found(shared_types={"a.rbs": "type a = { text: String }"}) == ["text", "settings", "shared"]


def test_every_problem_is_told_at_once() -> None:
    def fn(a: str, reason: str) -> None:
        """
        @rbs type output = Array[Strng]
        @rbs type unused = { y: Foo }
        #: (a: Strng, ?zz: Integer, ?b: Integer @default(x), reason: String @requires(:x)) -> output
        """

    problems = problems_of(fn)
    for part in (
        "with 8 problems",
        "values of `output` must be objects",
        "unknown type `Strng`",
        "unknown type `Foo`",
        "`zz` is in the annotation and no parameter",
        "`b` is in the annotation and no parameter",
        "`@default(x)` does not satisfy",
        "`reason` has none",
    ):
        assert part in problems


def test_inputs_that_are_declared_twice_are_an_error() -> None:
    def fn(a: str) -> None:
        """
        @rbs type output = { ok: bool }
        @rbs type input = { a: String }
        #: (a: String @requires(:x)) -> output
        """

    assert "the inputs are declared twice" in problems_of(fn)


def test_options_reach_the_declaration() -> None:
    @authorized_tool(
        domains=["operator"],
        category="orders",
        category_summary="Orders.",
        known_predicates=["requries"],
        shared_type_paths=["/nowhere"],
    )
    def fn(a: str = "") -> dict[str, Any]:
        """
        @rbs type output = { ok: bool }
        #: (?a: String @requries(:x)) -> output
        """
        return {}

    found = declaration_of(fn)
    assert found is not None
    assert (found.domains, found.category, found.category_summary) == (("operator",), "orders", "Orders.")
    assert [predicate.text for predicate in found.contract.predicates] == ['requries("x")']


async def test_authz_tool_takes_the_options_of_both() -> None:
    mcp = FastMCP("x")
    authz = Authz(mcp, known_predicates={"requries"}, missing_predicate="deny", context=lambda _: None)

    @authz.tool("renamed", tags={"a"}, title="A title", description="Said here.", version="2")
    def fn(a: str = "") -> dict[str, Any]:
        """
        @rbs type output = { ok: bool }
        #: (?a: String @requries(:x)) -> output
        """
        return {"ok": True}

    @authz.tool
    def bare() -> dict[str, Any]:
        """@rbs type output = { ok: bool }"""
        return {"ok": True}

    tools = {tool.name: tool for tool in await mcp.list_tools()}
    assert set(tools) == {"renamed", "bare"}
    renamed = tools["renamed"]
    assert (renamed.tags, renamed.title, renamed.version) == ({"a"}, "A title", "2")
    assert renamed.description == "Said here."
    assert_type(fn("x"), dict[str, Any])
    assert bare() == {"ok": True}


def test_a_misspelt_option_does_not_open_the_tool() -> None:
    with pytest.raises(
        ContractError, match=r"`authorisation=` is no option of authorized_tool: did you mean `authorization=`\?"
    ):
        authorized_tool(authorisation="comms")(greet.__wrapped__)  # type: ignore[call-overload, attr-defined]
    authz = Authz(FastMCP("options"), context=lambda _: None)
    with pytest.raises(ContractError, match=r"`gate=` is no option of authz.tool: did you mean `gates=`\?"):
        authz.tool(gate=[("feature", "sms")])  # type: ignore[call-overload]


@pytest.mark.parametrize("option", ["xyz", "output_schema"])
def test_an_option_that_is_near_none_is_refused_with_all_there_are(option: str) -> None:
    with pytest.raises(ContractError, match=r"it takes (.|\n)*authorization,(.|\n)*gates"):
        Authz(FastMCP("options"), context=lambda _: None).tool(**{option: 1})  # type: ignore[call-overload]


def test_a_function_without_an_annotation_is_told_its_own() -> None:
    def find(customer: str, tags: list[str], limit: int = 10, note: str | None = None, more: Any = None) -> None:
        """@rbs type output = { ok: bool }"""

    assert (
        "Write `#: (customer: String, tags: Array, ?limit: Integer, ?note: String?, ?more: untyped) -> output`."
        in " ".join(problems_of(find).split())
    )


def test_what_the_function_cannot_take_is_shown_where_it_is_written() -> None:
    def find(customer: str, secret: bool) -> None:
        """Find.

        @rbs type output = { ok: bool }
        #: (customer: String, limmit: Integer,
        #:  ?secret: bool @requires(:admin)) -> output
        """

    report = problems_of(find)
    line = find.__code__.co_firstlineno
    assert f"{line + 4} │ #: (customer: String, limmit: Integer, │" in report
    assert "`limmit` is in the annotation and no parameter of the function." in report
    assert f"{line + 5} │ #: ?secret: bool @requires(:admin)) -> output │" in report
    assert "Write `secret=...` in the signature of the function." in report


class Inner(BaseModel):
    seen: str = ""
    hidden: str = Field("", validation_alias=AliasChoices("hidden", AliasPath("seen", 0)))


def test_what_a_hint_says_past_the_annotation_is_refused() -> None:
    def header(a: Annotated[str, Field(json_schema_extra={"x-mcp-header": "A"})] = "") -> dict[str, Any]:
        """
        @rbs type output = {}
        #: (?a: String) -> output
        """
        return {}

    def aliased(a: str = Field("", alias="b")) -> dict[str, Any]:
        """
        @rbs type output = {}
        #: (?a: String) -> output
        """
        return {}

    def borrowed(a: list[Inner] | None = None) -> dict[str, Any]:
        """
        @rbs type output = {}
        #: (?a: Array[{ ?seen: String, ?hidden: String @requires(:x) }]) -> output
        """
        return {}

    for fn, message in (
        (header, "`a` has `x-mcp-header`"),
        (aliased, "`a` has the alias `b`"),
        (borrowed, "`Inner.hidden` is also read from `seen`"),
    ):
        with pytest.raises(ContractError, match=re.escape(message)):
            authorized_tool(fn)

    @authorized_tool
    def fine(a: Annotated[str, Field(alias="a", json_schema_extra={"examples": ["x"]})] = "") -> dict[str, Any]:
        """
        @rbs type output = {}
        #: (?a: String) -> output
        """
        return {}
