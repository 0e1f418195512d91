"""Who is calling, for code that runs on behalf of a caller: handlers, and FastMCP's own checks."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterator
from functools import cached_property
from typing import Any
from urllib.parse import unquote

from fastmcp.server.auth import AuthContext

from fastmcp_authz.callers import deciding
from fastmcp_authz.callers.predicates import Predicate, Value, authorization, questions
from fastmcp_authz.callers.scope import CallerUnavailableError, here
from fastmcp_authz.contracts.view import CallerView
from fastmcp_authz.errors import AuthzError
from fastmcp_authz.serving.requests import current_context, request_key
from fastmcp_authz.serving.running import current_run

logger = logging.getLogger("fastmcp_authz")


class Caller:
    """Whose call is running, and what of the tool is theirs (SPEC section 7).

    For behaviour that depends on who calls: what is sent is cut to what they may see all the same.

    ```python
    @authz.tool
    def find_orders(caller: Caller = Depends(current_caller)) -> dict[str, Any]: ...
    ```
    """

    def __init__(self, asked: deciding.Caller, view: CallerView) -> None:
        self._asked = asked
        self._view = view

    @property
    def context(self) -> Any:
        """The server context that was built for this request."""
        return self._asked.context

    @property
    def name(self) -> str | None:
        """What the operator knows the caller by: the context's `audit_id`, or the subject of the access token."""
        return self._asked.name

    @property
    def domain(self) -> str | None:
        """The domain of tools that is served; `None` in a background task."""
        return self._asked.domain

    def can(self, flag: str) -> bool:
        """Whether the caller holds a permission, as `authorization=flag` asks. Asynchronous answers are a no here."""
        return self._now(authorization(flag))

    async def can_async(self, flag: str) -> bool:
        """The same, for contexts whose answers may be asynchronous."""
        return await self._later(authorization(flag))

    def has(self, predicate: str, value: Value) -> bool:
        """Whether `context.predicate(value)` says yes, as `@predicate(value)` asks: `caller.has("feature", "sms")`."""
        return self._now(Predicate(predicate, value))

    async def has_async(self, predicate: str, value: Value) -> bool:
        """The same, for contexts whose answers may be asynchronous."""
        return await self._later(Predicate(predicate, value))

    @cached_property
    def inputs(self) -> frozenset[str]:
        """The parameters that the caller has."""
        return frozenset(self._view.input_schema.get("properties", ()))

    def shows(self, path: str) -> bool:
        """Whether a field of the output is sent to the caller: `caller.shows("orders.margin")`.

        Lists are passed through, and of a union it is enough that one member has the field. A function that need not
        compute what nobody is sent can ask before.
        """
        schema = self._output
        nodes = [] if schema is None else [schema]
        for name in path.split("."):
            nodes = [inner for node in nodes for inner in _fields(node, name, schema or {})]
        return bool(nodes)

    @cached_property
    def _output(self) -> dict[str, Any] | None:
        return self._view.output_schema

    def _now(self, predicate: Predicate) -> bool:
        return bool(self._asked.decide_now((predicate,)))

    async def _later(self, predicate: Predicate) -> bool:
        return bool(await self._asked.decide((predicate,)))


def current_caller() -> Caller:
    """Who called the decorated tool that is running, in the function itself and in what it calls.

    As a dependency too: `caller: Caller = Depends(current_caller)`.

    Raises:
        AuthzError: No decorated tool is running here.
    """
    run = current_run()
    if run is None or run.context is not current_context():  # a tool that it calls is not decorated
        raise AuthzError("current_caller() is asked where no decorated tool is running: call it inside of one.")
    return Caller(run.record.caller, run.view)


def gate_check(predicate: str, value: Value) -> Callable[[AuthContext], Awaitable[bool]]:
    """A check for FastMCP's `auth=` and `AuthMiddleware` that asks as `@predicate(value)` does.

    For what `authorized_tool` is not made for: prompts, resources, tools without an annotation. The server needs an
    `Authz`. FastMCP asks no check over stdio, where everything that is guarded in this way is open.

    ```python
    @mcp.prompt(auth=gate_check("feature", "sms"))
    def draft() -> str: ...
    ```

    Args:
        predicate: The method of the server context.
        value: What it is asked with.
    """
    asks = Predicate(predicate, value)
    asked = questions([asks])

    async def check(_: AuthContext) -> bool:
        scope = here(request_key())
        if scope is None:
            logger.error("%s is a no: there is no Authz on the way to what it guards.", next(iter(asked)))
            return False
        try:
            caller = await scope.caller()
        except CallerUnavailableError:
            return False
        await caller.ask(asked)
        return all(caller.answers(asked))

    check.predicate = asks  # type: ignore[attr-defined] # for the snapshot of a server
    return check


_SAYS_WHAT = frozenset({"type", "anyOf", "oneOf", "enum", "const"})


def _fields(node: dict[str, Any], name: str, root: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The schemas that a field of that name has in a schema."""
    seen: set[int] = set()
    waiting = [node]
    while waiting:
        each = waiting.pop()
        if id(each) in seen:
            continue
        seen.add(id(each))
        if "$ref" in each:
            pointer = unquote(each["$ref"]).removeprefix("#/$defs/")
            waiting.append(root["$defs"][pointer.replace("~1", "/").replace("~0", "~")])
        elif not each.keys() & _SAYS_WHAT:
            yield each  # `untyped`: all of it is sent
        waiting += [*each.get("anyOf", ()), *each.get("oneOf", ()), *each.get("prefixItems", ())]
        if isinstance(each.get("items"), dict):
            waiting.append(each["items"])
        if name in each.get("properties", {}):
            yield each["properties"][name]
        elif isinstance(each.get("additionalProperties"), dict):
            yield each["additionalProperties"]
