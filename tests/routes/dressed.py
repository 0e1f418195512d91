"""The same servers with FastMCP's transforms, middleware and switches on them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import mcp_types
from fastmcp import Context, FastMCP
from fastmcp.contrib.bulk_tool_caller import BulkToolCaller
from fastmcp.experimental.transforms.code_mode import CodeMode
from fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext
from fastmcp.server.transforms import Namespace, PromptsAsTools, ResourcesAsTools, ToolTransform, Transform
from fastmcp.tools import Tool
from fastmcp.tools.tool_transform import ArgTransformConfig, ToolTransformConfig

from fastmcp_authz.serving.authz import Authz
from tests.routes import office
from tests.routes.office import protected, register, rights
from tests.routes.servers import NEW_NAMES, Serve, Server, direct, faceted
from tests.routes.sessions import prefixed, renamed
from tests.serving.people import PutsIn


def transformed(*transforms: Transform, before: bool, **options: Any) -> Serve:
    """With transforms of the server's own, added before `Authz`, which has some options, or after it."""

    def serve() -> Server:
        server: Server = FastMCP("x", transforms=list(transforms) if before else [])
        Authz(server, context=rights, **options)
        for transform in () if before else transforms:
            server.add_transform(transform)
        register(server)
        return server

    return serve


class Sandbox:
    """Runs `return await call_tool(name, arguments)`, as Python: the code is that of this folder alone.

    The real one, which wants a package more, has its turn in `tests/routes/extras.py`.
    """

    async def run(self, code: str, *, inputs: Any = None, external_functions: Any = None) -> Any:
        scope: dict[str, Any] = {}
        exec(f"async def block(call_tool):\n    {code}", scope)
        return await scope["block"](**external_functions)


def code_mode(*, before: bool, sandbox: Callable[[], Any] = Sandbox) -> Serve:
    return lambda: transformed(CodeMode(sandbox_provider=sandbox()), before=before)()


RENAMED_INSIDE = renamed(NEW_NAMES, {"query": "words"})
ALIASED = prefixed("alias_", {name: f"alias_{name}" for name in ("query", "item", "covert_key", "absent_key")})


def renaming() -> ToolTransform:
    """Names, and the inputs that everyone has."""
    return ToolTransform(
        {
            "find": ToolTransformConfig(name="seek", arguments={"query": ArgTransformConfig(name="words")}),
            "covert_vault": ToolTransformConfig(name="covert_safe"),
            "report": ToolTransformConfig(name="account"),
        }
    )


NAMESPACE = Namespace("ns")


class Editing(Middleware):
    """Takes `alias_` from the names of tools and inputs that are called, and puts it on those that are listed."""

    async def on_call_tool(
        self, context: MiddlewareContext[mcp_types.CallToolRequestParams], call_next: CallNext[Any, Any]
    ) -> Any:
        sent = context.message
        arguments = {name.removeprefix("alias_"): value for name, value in (sent.arguments or {}).items()}
        edited = sent.model_copy(update={"name": sent.name.removeprefix("alias_"), "arguments": arguments})
        return await call_next(context.copy(message=edited))

    async def on_list_tools(self, context: MiddlewareContext[Any], call_next: CallNext[Any, Any]) -> Sequence[Tool]:
        listed: Sequence[Tool] = await call_next(context)
        return [
            tool.model_copy(
                update={
                    "name": f"alias_{tool.name}",
                    "parameters": {
                        **tool.parameters,
                        "properties": {f"alias_{k}": v for k, v in tool.parameters.get("properties", {}).items()},
                    },
                }
            )
            for tool in listed
        ]


def edited_on_the_way() -> Server:
    server = direct()
    server.add_middleware(Editing())
    return server


def injected() -> Server:
    server: Server = FastMCP("x", middleware=[PutsIn(*office.tool_objects())])
    Authz(server, context=rights)
    return server


BESIDE = frozenset({"list_prompts", "get_prompt", "list_resources", "read_resource"})


def prompts_and_resources_as_tools() -> Server:
    server = direct()
    server.prompt(lambda: "Hello.", name="greeting")
    server.resource("data://greeting")(lambda: "Hello.")
    server.add_transform(PromptsAsTools(server))
    server.add_transform(ResourcesAsTools(server))
    return server


def paginated() -> Server:
    server = protected(list_page_size=1)
    register(server)
    return server


def switched_on_for_all() -> Server:
    """FastMCP's own visibility shows the vault, which says nothing of who may see it."""
    server = direct()
    server.disable(names={"covert_vault"})
    server.enable(names={"covert_vault"})
    return server


def switched_in_the_session() -> Server:
    """The vault is off, and a tool switches it on for the session."""
    server = direct()
    server.disable(names={"covert_vault"})

    @server.tool(description="Switches on.")
    async def switch_on(ctx: Context) -> None:
        await ctx.enable_components(names={"covert_vault"})

    return server


def bulk() -> Server:
    return _with_bulk(direct())


def bulk_of_a_facade() -> Server:
    return _with_bulk(faceted())


def _with_bulk(server: Server) -> Server:
    BulkToolCaller().register_tools(server)
    return server
