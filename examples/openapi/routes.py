"""Routes of an application as functions, for `@authz.tool` to decorate. Copy it: it is no part of the library."""

from __future__ import annotations

import difflib
import functools
import inspect
from collections.abc import Awaitable, Callable
from typing import Any

import httpx2
from fastapi import FastAPI
from fastmcp.utilities.openapi import parse_openapi_to_http_routes
from fastmcp.utilities.openapi.director import RequestDirector
from jsonschema_path import SchemaPath

BASE = "http://in-process"


class Routes:
    """The routes of an application, by `operationId`. None of them is a tool until one is declared for it.

    ```python
    @authz.tool(authorization="sell")
    @routes.function
    def list_orders() -> None:
        \"\"\"List orders.

        @rbs type output = { result: Array[order] }
        #: (?status: String) -> output
        \"\"\"
    ```
    """

    def __init__(self, app: FastAPI) -> None:
        spec = app.openapi()
        self._routes = {route.operation_id: route for route in parse_openapi_to_http_routes(spec)}
        self._director = RequestDirector(SchemaPath.from_dict(spec))
        # The application answers here, without a network. Its errors are answers as well: the text of an exception is
        # not for callers.
        transport = httpx2.ASGITransport(app=app, raise_app_exceptions=False)
        self._client = httpx2.AsyncClient(transport=transport, base_url=BASE)

    def function(self, stub: Callable[[], None]) -> Callable[..., Awaitable[dict[str, Any]]]:
        """The function of the route that a stub is named after: its parameters, and the stub's name and docstring.

        What is left out, or null, is not sent, so that the application's own defaults hold. A JSON object is returned
        as it is, anything else as `{"result": ...}`, and a failure as `{"error": {"status": 404, "detail": ...}}`.

        Raises:
            LookupError: There is no such route.
        """
        name = stub.__name__
        if name not in self._routes:
            near = difflib.get_close_matches(name, filter(None, self._routes), n=1)
            raise LookupError(f"There is no route {name}" + (f": did you mean {near[0]}?" if near else "."))
        route = self._routes[name]

        @functools.wraps(stub)
        async def function(**arguments: Any) -> dict[str, Any]:
            # Made of the arguments alone. FastMCP's own tool for a route would hand on the caller's HTTP headers, and
            # with them whatever parameter of the route is a header.
            given = {key: value for key, value in arguments.items() if value is not None}
            return answer(await self._client.send(self._director.build(route, given, BASE)))

        needed = route.flat_param_schema.get("required", ())
        # A header such as `x-trace` has no name in Python. Where it is needed, the route cannot be a tool so.
        names = [
            each for each in route.flat_param_schema.get("properties", ()) if each in needed or each.isidentifier()
        ]
        named = inspect.Parameter.KEYWORD_ONLY
        function.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
            [inspect.Parameter(each, named, default=missing(each in needed), annotation=Any) for each in names]
        )
        function.__annotations__ = dict.fromkeys(names, Any)
        return function


def missing(needed: bool) -> Any:
    """The default of a parameter."""
    return inspect.Parameter.empty if needed else None


def answer(response: httpx2.Response) -> dict[str, Any]:
    """What a response holds, as an object that a contract can describe."""
    try:
        body = response.json() if response.content else {}
    except ValueError:
        body = response.text
    if not response.is_success:
        detail = body.get("detail") if isinstance(body, dict) else None
        told = {"detail": detail} if isinstance(detail, str) else {}
        return {"error": {"status": response.status_code, **told}}
    return body if isinstance(body, dict) else {"result": body}
