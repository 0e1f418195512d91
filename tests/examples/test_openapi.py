"""Routes of a FastAPI application as gated tools, through real clients over HTTP."""

from __future__ import annotations

import importlib
import json
import sys
from types import ModuleType
from typing import Any

import pytest
from fastapi import FastAPI, Header, Request, Response
from fastmcp import Client, FastMCP
from fastmcp.client.transports import StreamableHttpTransport
from fastmcp.utilities.mcp_server_config.v1.sources.filesystem import FileSystemSource

from fastmcp_authz import Authz, ContractError
from tests.examples.readmes import MODES, ROOT, asked, called, commands, inputs, serving, shown
from tests.recruiting import listening

EXAMPLE = ROOT / "examples" / "openapi"

WORLDS = {
    "seller": {"list_orders": ["status", "limit"], "get_order": ["order_id"]},
    "support": {
        "list_orders": ["status", "customer", "limit"],
        "get_order": ["order_id"],
        "refund_order": ["order_id", "cents", "reason"],
    },
    "manager": {
        "list_orders": ["status", "customer", "limit"],
        "get_order": ["order_id"],
        "refund_order": ["order_id", "cents", "reason", "without_return"],
    },
}
ORDER = {"id": 1, "status": "open", "total_cents": 4200}
WHOLE = {**ORDER, "customer": "Ada Brook", "email": "ada@example.org", "margin_cents": 900}


@pytest.fixture
async def server(monkeypatch: pytest.MonkeyPatch) -> FastMCP[Any]:
    monkeypatch.syspath_prepend(EXAMPLE)
    for name in "shop", "routes":  # orders as they were, whatever another test has done to them
        monkeypatch.delitem(sys.modules, name, raising=False)
    loaded: FastMCP[Any] = await FileSystemSource(path=str(EXAMPLE / "server.py")).load_server()
    return loaded


@pytest.fixture
def routes(server: FastMCP[Any]) -> ModuleType:
    return importlib.import_module("routes")


@pytest.mark.parametrize("mode", MODES)
async def test_each_caller_has_the_routes_that_are_theirs(mode: str, server: FastMCP[Any]) -> None:
    async with listening(server) as url:
        for who, world in WORLDS.items():
            async with Client(url, auth=f"token-of-{who}", mode=mode) as client:
                assert await inputs(client) == world

        async with Client(url, auth="token-of-seller", mode=mode) as seller:
            assert await called(seller, "get_order", order_id=1) == ORDER
            listed = await called(seller, "list_orders", status="open")
            assert listed == {"result": [ORDER]}
            refused = await called(seller, "list_orders", customer="Ada Brook")
            assert refused.startswith("list_orders: Unknown parameters: customer. Nothing was executed.")
            missing = {"error": {"status": 404, "detail": "There is no order 7."}}
            assert await called(seller, "get_order", order_id=7) == missing

        async with Client(url, auth="token-of-support", mode=mode) as support:
            refund = {"order_id": 1, "cents": 5000, "reason": "Broken"}
            too_much = {"error": {"status": 409, "detail": "That is more than was paid."}}
            assert await called(support, "refund_order", **refund) == too_much
            refunded = {**WHOLE, "status": "refunded"}
            del refunded["margin_cents"]
            assert await called(support, "refund_order", **{**refund, "cents": 4200}) == refunded

        async with Client(url, auth="token-of-manager", mode=mode) as manager:
            assert await called(manager, "get_order", order_id=1) == {**WHOLE, "status": "refunded"}
            assert len((await called(manager, "list_orders", customer="Ben Castle"))["result"]) == 1


@pytest.mark.parametrize("mode", MODES)
async def test_no_route_is_a_tool_that_was_not_declared_as_one(mode: str, server: FastMCP[Any]) -> None:
    async with listening(server) as url, Client(url, auth="token-of-manager", mode=mode) as manager:
        assert await called(manager, "delete_all_orders") == "Unknown tool: 'delete_all_orders'"
        assert len((await called(manager, "list_orders"))["result"]) == 2
        assert await manager.list_resources() == []
        assert await manager.list_resource_templates() == []


@pytest.mark.parametrize("mode", MODES)
async def test_nothing_of_the_callers_request_but_its_arguments_reaches_the_route(
    mode: str, routes: ModuleType
) -> None:
    app = FastAPI(generate_unique_id_function=lambda route: route.name)

    @app.get("/told", operation_id="told")
    def tell(request: Request, x_rate: str = Header("full")) -> dict[str, Any]:
        return {"rate": x_rate, "headers": sorted(request.headers)}

    mcp: FastMCP[Any] = FastMCP("x")
    function = routes.Routes(app).function

    @Authz(mcp, context=lambda _: None).tool
    @function  # type: ignore[untyped-decorator]
    def told() -> None:
        """@rbs type output = { rate: String, headers: Array[String] }
        #: () -> output
        """

    async with listening(mcp) as url:
        transport = StreamableHttpTransport(url, headers={"X-Rate": "none", "X-Trace": "1"})
        async with Client(transport, mode=mode) as client:
            answer = await called(client, "told")
    assert answer["rate"] == "full"
    assert "x-trace" not in answer["headers"]


async def test_what_a_route_answers_otherwise_is_made_an_object_too(routes: ModuleType) -> None:
    app = FastAPI(generate_unique_id_function=lambda route: route.name)

    @app.get("/nothing", status_code=204)
    def nothing() -> None: ...

    @app.get("/words")
    def words() -> Response:
        return Response("Plain words.")

    @app.get("/fails")
    def fails(secret: str = "7946") -> None:
        raise RuntimeError(secret)

    made = routes.Routes(app)

    async def answer(name: str, **arguments: Any) -> Any:
        def stub() -> None: ...

        stub.__name__ = name
        return await made.function(stub)(**arguments)

    assert await answer("nothing") == {}
    assert await answer("words") == {"result": "Plain words."}
    assert await answer("fails", secret=None) == {"error": {"status": 500}}
    with pytest.raises(LookupError, match="There is no route word: did you mean words"):
        await answer("word")


def test_a_contract_that_does_not_fit_its_route_fails_where_it_is_written(routes: ModuleType) -> None:
    shop = importlib.import_module("shop").app

    with pytest.raises(ContractError) as failed:

        @Authz(FastMCP("x"), context=lambda _: None).tool
        @routes.Routes(shop).function  # type: ignore[untyped-decorator]
        def get_order() -> None:
            """@rbs type output = { id: Integer }
            #: (order: Integer) -> output
            """

    message = str(failed.value)
    assert "tests/examples/test_openapi.py:" in message
    assert "routes.py" not in message
    assert "order" in message


def test_what_its_readme_shows(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    show, *_ = commands("openapi")
    table = shown(show, monkeypatch, capsys)
    assert all(word in table for word in ("seller", "support", "manager", "without_return"))


async def test_the_commands_of_its_readme(capsys: pytest.CaptureFixture[str]) -> None:
    _, run, as_seller, as_manager = commands("openapi")
    async with serving(run) as url:
        answers = [json.loads(await asked(command, url, capsys)) for command in (as_seller, as_manager)]
    assert answers == [ORDER, WHOLE]
