"""What happens to a call of an admitted caller (SPEC section 5)."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import mcp_types
import pytest
from fastmcp import Context, FastMCP
from fastmcp.dependencies import Depends
from fastmcp.exceptions import ToolError, ValidationError
from fastmcp.tools import ToolResult
from pydantic import BaseModel
from pydantic import ValidationError as HintError

from fastmcp_authz.serving.authz import Authz
from fastmcp_authz.serving.decorator import authorized_tool
from tests.serving.people import ERAS, People, call, text_of


def protected(**options: Any) -> tuple[FastMCP[Any], Authz]:
    mcp: FastMCP[Any] = FastMCP("x", **options)
    return mcp, Authz(mcp, context=People())


async def test_unknown_parameters_are_refused_to_the_letter_and_nothing_runs() -> None:
    mcp, authz = protected()
    ran: list[str] = []

    @authz.tool
    def list_applicants(
        query: str = "", funnel_id: int = 0, page: int = 1, per_page: int = 9, stage_id: int = 0
    ) -> dict[str, Any]:
        """
        @rbs type output = { ok: bool }
        #: (?query: String, ?funnel_id: Integer, ?page: Integer, ?per_page: Integer, ?stage_id: Integer) -> output
        """
        ran.append(query)
        return {"ok": True}

    result = await call(mcp, "list_applicants", {"limit": 5, "data": 1, "query": "x"})
    assert result.is_error
    assert text_of(result) == (
        "list_applicants: Unknown parameters: data, limit. Nothing was executed. Accepted parameters: funnel_id, page, "
        "per_page, query, stage_id. If your task depends on a rejected parameter (for example filtering by it), do not "
        "re-run this call without it: the result would be unfiltered. Do not substitute another parameter to "
        "approximate it. Use a tool that supports it, or tell the user it is not possible."
    )
    assert not ran


async def test_leniency_follows_the_server_unless_the_settings_say() -> None:
    for strict, lenient, accepted in (
        (None, None, True),
        (True, None, False),
        (False, None, True),
        (None, False, False),
    ):
        mcp: FastMCP[Any] = FastMCP("x", strict_input_validation=strict)

        @Authz(mcp, context=People(), lenient_inputs=lenient).tool
        def fn(n: int) -> dict[str, Any]:
            """
            @rbs type output = { n: Integer }
            #: (n: Integer) -> output
            """
            return {"n": n}

        result = await call(mcp, "fn", {"n": "10"})
        assert result.is_error != accepted
        if accepted:
            assert result.structured_content == {"n": 10}
        else:
            assert text_of(result).startswith("fn: Invalid arguments. Nothing was executed.")


async def test_a_value_that_only_the_hints_refuse_is_refused_in_our_form_without_the_value() -> None:
    mcp, authz = protected()
    ran: list[str] = []

    @authz.tool
    def fn(kind: Literal["a", "hidden"], n: int = 0) -> dict[str, Any]:
        """
        @rbs type output = { ok: bool }
        #: (kind: String, ?n: Integer) -> output
        """
        ran.append(kind)
        return {"ok": True}

    result = await call(mcp, "fn", {"kind": "s3cret", "n": 1})
    assert result.is_error
    assert text_of(result) == (
        "fn: Invalid arguments. Nothing was executed.\n- kind: is not accepted by the tool.\n"
        "Correct these and call again."
    )
    assert not ran


@pytest.mark.parametrize("mode", ERAS)
async def test_what_the_function_raises_is_fastmcps_business(mode: str) -> None:
    for masked in (True, False):
        mcp, authz = protected(mask_error_details=masked)

        @authz.tool
        def fails(how: str) -> dict[str, Any]:
            """
            @rbs type output = { ok: bool }
            #: (how: String) -> output
            """
            if how == "tool":
                raise ToolError("for the client")
            if how == "validation":
                try:
                    Model.model_validate({"n": "not a number"})
                except HintError as error:
                    raise ValidationError("mine") from error
            if how == "model":
                Model.model_validate({"n": "not a number"})
            raise ValueError("secret")

        assert text_of(await call(mcp, "fails", {"how": "tool"}, mode=mode)) == "for the client"
        assert text_of(await call(mcp, "fails", {"how": "validation"}, mode=mode)) == "mine"
        expected = "Error calling tool 'fails'" + ("" if masked else ": secret")
        assert text_of(await call(mcp, "fails", {"how": "value"}, mode=mode)) == expected
        assert text_of(await call(mcp, "fails", {"how": "model"}, mode=mode)).startswith("Error calling tool 'fails'")


class Model(BaseModel):
    n: int


@dataclass
class Record:
    n: int
    secret: str = "x"


async def test_context_and_dependencies_are_injected_and_never_shown() -> None:
    mcp, authz = protected()

    async def clock() -> int:
        return 3

    @authz.tool
    async def coroutine(zone: str, ctx: Context, hour: int = Depends(clock), *, note: str = "n") -> dict[str, Any]:
        """
        @rbs type output = { said: String }
        #: (zone: String, ?note: String) -> output
        """
        return {"said": f"{zone} {hour} {note} {ctx.fastmcp.name}"}

    @authz.tool
    def sync(zone: str, ctx: Context | None = None, hour: int = Depends(clock)) -> dict[str, Any]:
        """
        @rbs type output = { said: String }
        #: (zone: String) -> output
        """
        assert ctx is not None
        return {"said": f"{zone} {hour} {ctx.fastmcp.name}"}

    assert (await call(mcp, "coroutine", {"zone": "u"})).structured_content == {"said": "u 3 n x"}
    assert (await call(mcp, "sync", {"zone": "u"})).structured_content == {"said": "u 3 x"}
    for name in ("ctx", "hour"):
        result = await call(mcp, "sync", {"zone": "u", name: 1})
        assert f"Unknown parameters: {name}." in text_of(result)


async def test_sync_functions_run_in_a_thread_and_timeouts_hold() -> None:
    mcp, authz = protected()
    threads: list[bool] = []

    @authz.tool
    def fn() -> dict[str, Any]:
        """@rbs type output = { ok: bool }"""
        threads.append(threading.current_thread() is threading.main_thread())
        return {"ok": True}

    @authz.tool(run_in_thread=False)
    def inline() -> dict[str, Any]:
        """@rbs type output = { ok: bool }"""
        threads.append(threading.current_thread() is threading.main_thread())
        return {"ok": True}

    @authz.tool(timeout=0.01)
    async def slow() -> dict[str, Any]:
        """@rbs type output = { ok: bool }"""
        await asyncio.Event().wait()
        return {"ok": True}

    await call(mcp, "fn")
    await call(mcp, "inline")
    assert threads == [False, True]
    assert "timed out" in text_of(await call(mcp, "slow"))


async def test_methods_of_an_object_can_be_registered_each_with_its_own_object() -> None:
    class Desk:
        def __init__(self, name: str) -> None:
            self.name = name

        @authorized_tool
        def ask(self, question: str, ctx: Context) -> dict[str, Any]:
            """Ask the desk.

            @rbs type output = { answer: String }
            #: (question: String) -> output
            """
            return {"answer": f"{self.name} {question} {ctx.fastmcp.name}"}

        @classmethod
        @authorized_tool
        def count(cls) -> dict[str, Any]:
            """@rbs type output = { n: Integer }"""
            return {"n": 1}

    mcp, _ = protected()
    mcp.add_tool(Desk("one").ask)
    mcp.tool(name="other")(Desk("two").ask)
    mcp.tool(Desk.count)
    assert (await call(mcp, "ask", {"question": "?"})).structured_content == {"answer": "one ? x"}
    assert (await call(mcp, "other", {"question": "?"})).structured_content == {"answer": "two ? x"}
    assert (await call(mcp, "count")).structured_content == {"n": 1}


@pytest.mark.parametrize(
    "value",
    [
        {"n": 1, "secret": "x"},
        Record(1),
        ToolResult(structured_content={"n": 1, "secret": "x"}),
        ToolResult(content="secret", structured_content={"n": 1}, meta={"secret": 1}),
        mcp_types.CallToolResult(content=[], structured_content={"n": 1, "secret": "x"}),
        ([mcp_types.TextContent(type="text", text="secret")], {"n": 1, "secret": "x"}),
    ],
)
async def test_whatever_is_returned_is_pruned_in_content_and_text(value: Any) -> None:
    mcp, authz = protected()

    @authz.tool
    def fn() -> Any:
        """@rbs type output = { n: Integer }"""
        return value

    result = await call(mcp, "fn")
    assert result.structured_content == {"n": 1}
    assert text_of(result) == '{"n":1}'
    assert "secret" not in result.model_dump_json()


async def test_a_pydantic_model_is_pruned_and_generators_are_complete() -> None:
    mcp, authz = protected()

    @authz.tool
    def model() -> Any:
        """@rbs type output = { n: Integer }"""
        return Model(n=1)

    @authz.tool
    def lazy() -> Any:
        """@rbs type output = { n: Integer }"""

        async def later() -> dict[str, Any]:
            return {"n": 2}

        return later()

    @authz.tool
    async def lazy_generator() -> Any:
        """@rbs type output = { n: Integer }"""
        return (n for n in range(3))

    @authz.tool
    def generator() -> Iterator[int]:
        """@rbs type output = { n: Integer }"""
        yield 1

    @authz.tool
    async def stream() -> AsyncIterator[int]:
        """@rbs type output = { n: Integer }"""
        yield 1

    assert (await call(mcp, "model")).structured_content == {"n": 1}
    assert (await call(mcp, "lazy")).structured_content == {"n": 2}
    for name in ("generator", "lazy_generator", "stream"):  # lists, and a list is no record
        assert text_of(await call(mcp, name)).endswith("cannot be shown to you. Do not repeat it.")


@pytest.mark.parametrize("value", [None, 3, "text", {"m": 1}, {"n": "wrong"}, [1], ToolResult(content="only text")])
async def test_a_result_that_does_not_fit_is_withheld_and_logged(value: Any, caplog: pytest.LogCaptureFixture) -> None:
    mcp, authz = protected()

    @authz.tool
    def fn() -> Any:
        """@rbs type output = { n: Integer }"""
        return value

    result = await call(mcp, "fn")
    assert result.is_error
    assert text_of(result) == "fn: The call was carried out, but its result cannot be shown to you. Do not repeat it."
    assert result.structured_content is None
    (record,) = [record for record in caplog.records if record.name == "fastmcp_authz"]
    assert record.levelname == "ERROR"
    assert "wrong" not in record.getMessage()


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "\ud800", object()])
async def test_what_json_cannot_hold_is_withheld(value: Any) -> None:
    mcp, authz = protected()

    @authz.tool
    def fn() -> Any:
        """@rbs type output = { n: untyped }"""
        return {"n": value}

    assert text_of(await call(mcp, "fn")).endswith("cannot be shown to you. Do not repeat it.")


async def test_text_that_only_looks_like_nan_is_sent() -> None:
    mcp, authz = protected()

    @authz.tool
    def fn() -> Any:
        """@rbs type output = { n: String }"""
        return {"n": "NaN and Infinity"}

    assert (await call(mcp, "fn")).structured_content == {"n": "NaN and Infinity"}


async def test_content_of_the_functions_own_is_dropped_with_a_log_record_or_passed(
    caplog: pytest.LogCaptureFixture,
) -> None:
    mcp, authz = protected()
    image = mcp_types.ImageContent(type="image", data="AAAA", mime_type="image/png")
    text = mcp_types.TextContent(type="text", text="own words")

    @authz.tool
    def pruned() -> Any:
        """@rbs type output = { n: Integer }"""
        return ToolResult(content=[text, image], structured_content={"n": 1, "secret": "x"})

    @authz.tool(content="passthrough")
    def passed() -> Any:
        """@rbs type output = { n: Integer }"""
        return ToolResult(content=[text, image], structured_content={"n": 1, "secret": "x"})

    result = await call(mcp, "pruned")
    assert text_of(result) == '{"n":1}'
    assert "image" in caplog.text
    result = await call(mcp, "passed")
    assert result.content == [text, image]
    assert result.structured_content == {"n": 1}


async def test_an_error_of_the_functions_own_keeps_its_text_alone() -> None:
    mcp, authz = protected()
    image = mcp_types.ImageContent(type="image", data="AAAA", mime_type="image/png")
    text = mcp_types.TextContent(type="text", text="own words")

    @authz.tool
    def fn() -> Any:
        """@rbs type output = { n: Integer }"""
        return ToolResult(content=[text, image], structured_content={"secret": 1}, meta={"a": 1}, is_error=True)

    result = await call(mcp, "fn")
    assert result.is_error
    assert text_of(result) == "own words"
    assert result.structured_content is None


async def test_a_question_to_the_client_passes() -> None:
    mcp, authz = protected()

    @authz.tool
    def fn() -> Any:
        """@rbs type output = { n: Integer }"""
        return mcp_types.InputRequiredResult(
            input_requests={
                "name": mcp_types.ElicitRequest(
                    params=mcp_types.ElicitRequestFormParams(
                        message="Who?", requested_schema={"type": "object", "properties": {}}
                    )
                )
            }
        )

    result = await mcp.call_tool("fn", {})
    assert type(result).__name__ == "InputRequiredToolResult"


async def test_a_hidden_parameter_never_reaches_the_function_and_gets_its_python_default() -> None:
    mcp, authz = protected()

    @authz.tool
    def fn(a: int, hidden: str = "python default") -> dict[str, Any]:
        """
        @rbs type output = { got: String }
        #: (a: Integer, ?hidden: String @requires(:admin) @default(declared)) -> output
        """
        return {"got": hidden}

    assert (await call(mcp, "fn", {"a": 1})).structured_content == {"got": "python default"}
    assert (await call(mcp, "fn", {"a": 1}, "admin")).structured_content == {"got": "declared"}
    assert (await call(mcp, "fn", {"a": 1, "hidden": "x"}, "admin")).structured_content == {"got": "x"}


SECRETIVE = """
@rbs type output = { id: Integer, ?ssn: String @requires(:admin) }
"""


@pytest.mark.parametrize("mode", ERAS)
@pytest.mark.parametrize("content", ["pruned", "passthrough"])
@pytest.mark.parametrize("is_error", [False, True])
async def test_text_that_only_repeats_the_data_is_pruned_with_it(mode: str, content: Any, is_error: bool) -> None:
    server, _ = protected()

    def made_by_fastmcp() -> ToolResult:
        return ToolResult(structured_content={"id": 1, "ssn": "SECRET", "path": "SECRET"}, is_error=is_error)

    def made_by_hand() -> Any:
        text = mcp_types.TextContent(type="text", text='{"ssn": "SECRET", "id": 1}')
        return mcp_types.CallToolResult(
            content=[text], structured_content={"id": 1, "ssn": "SECRET"}, is_error=is_error
        )

    for function in (made_by_fastmcp, made_by_hand):
        function.__doc__ = SECRETIVE
        server.tool(authorized_tool(content=content)(function))
        result = await call(server, function.__name__, mode=mode)
        assert result.is_error == is_error
        assert result.structured_content == {"id": 1}
        assert text_of(result) == '{"id":1}'


@pytest.mark.parametrize("mode", ERAS)
async def test_an_error_that_is_data_as_text_is_pruned_like_data(mode: str) -> None:
    server, authz = protected()

    @authz.tool
    def fits() -> ToolResult:
        """@rbs type output = { id: Integer, ?ssn: String @requires(:admin) }"""
        return ToolResult(content={"id": 1, "ssn": "SECRET"}, is_error=True)

    result = await call(server, "fits", mode=mode)
    assert result.is_error
    assert (text_of(result), result.structured_content) == ('{"id":1}', {"id": 1})
