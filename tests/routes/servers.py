"""The servers behind the doors: the office's tools, put on a server, or on one below it, in one of FastMCP's ways."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from fastmcp import FastMCP, FastMCPApp
from fastmcp.server import create_proxy
from fastmcp.server.providers import AggregateProvider, FileSystemProvider, LocalProvider
from fastmcp.server.providers.addressing import hashed_backend_name
from fastmcp.server.providers.proxy import ProxyClient, ProxyProvider
from fastmcp.tools import Tool

from fastmcp_authz.callers.context import ContextBuilder
from fastmcp_authz.serving.authz import Authz
from fastmcp_authz.serving.middleware import AuthzMiddleware
from tests.routes import office
from tests.routes.office import bare, protected, register, rights
from tests.routes.sessions import Names, renamed

Server = FastMCP[Any]
Serve = Callable[[], Server]


def direct() -> Server:
    server = protected()
    register(server)
    return server


def empty() -> Server:
    return protected()


NEW_NAMES = {"find": "seek", "covert_vault": "covert_safe", "report": "account"}
RENAMED = renamed(NEW_NAMES)


FACETS: Any = {"default": {"group_by": "category"}}


def faceted() -> Server:
    """The default domain has a facade, for tools without a category."""
    server: Server = FastMCP("faceted")
    Authz(server, context=rights, facets=FACETS)
    register(server)
    return server


def faceted_parent(*, before: bool, **options: Any) -> Serve:
    """The parent is faceted, and the tools are on a child that has no `Authz`."""

    def serve() -> Server:
        server: Server = FastMCP("faceted")
        if before:
            server.mount(bare(), **options)
        Authz(server, context=rights, facets=FACETS)
        if not before:
            server.mount(bare(), **options)
        return server

    return serve


def in_domains() -> Authz:
    """The tools in the default domain, which only its path serves, and another one beside it."""
    server: Server = FastMCP("domains")
    authz = Authz(server, context=rights, default_domain="office", domain="other")
    register(server)
    authz.tool("elsewhere", domains=["other"])(office.report)
    return authz


# --- ways to register ---


def decorated_before_authz() -> Server:
    server = bare()
    Authz(server, context=rights)
    return server


def middleware_alone() -> Server:
    server = bare()
    server.add_middleware(AuthzMiddleware(context=rights))
    return server


def middleware_in_the_constructor() -> Server:
    server: Server = FastMCP("x", middleware=[AuthzMiddleware(context=rights)])
    register(server)
    return server


def tool_objects() -> Server:
    server: Server = FastMCP("x", tools=office.tool_objects())
    Authz(server, context=rights)
    return server


def from_a_provider() -> Server:
    """Nothing of the server's own: a provider in a provider."""
    inner = LocalProvider()
    for tool in office.tool_objects():
        inner.add_tool(tool)
    outer = AggregateProvider()
    outer.add_provider(inner)
    server = protected()
    server.add_provider(outer)
    return server


def add_provider(server: Server) -> None:
    provider = LocalProvider()
    for tool in office.tool_objects():
        provider.add_tool(tool)
    server.add_provider(provider)


def from_files() -> Server:
    server = protected()
    server.add_provider(FileSystemProvider(Path(__file__).with_name("files")))
    return server


def from_files_again_and_again() -> Server:
    server = protected()
    server.add_provider(FileSystemProvider(Path(__file__).with_name("files"), reload=True))
    return server


def registered_transformed() -> Server:
    """Transformed as tools, before any server has them."""
    server = protected()
    for tool in office.tool_objects():
        server.add_tool(Tool.from_tool(tool, name=NEW_NAMES[tool.name]))
    return server


APP = "office"
HASHED = Names(lambda name: name if name == "report" else hashed_backend_name(APP, name))


def app_tools() -> Server:
    """Those of an app are listed under their names, and called by hashed ones as well."""
    app = FastMCPApp(APP)
    for tool in office.tool_objects():
        app.add_tool(tool)
    server = protected()
    server.add_provider(app)
    return server


def numbered() -> Server:
    """Every tool has a version."""
    server = protected()
    versions = {"find": "1", "covert_vault": "7"}
    for guard, options in office.tools():
        server.tool(guard, **{"version": versions.get(guard.__name__), **options})
    return server


# --- mounts and proxies ---


def mounted(*, before: bool, child: Serve = bare, parent: Serve | None = None, **options: Any) -> Serve:
    """On a protected parent, mounted before `Authz` or after it."""

    def serve() -> Server:
        server: Server = FastMCP("parent")
        if before:
            server.mount(child(), **options)
        Authz(server, context=rights)
        if not before:
            server.mount(child(), **options)
        return server

    return serve


def mount(server: Server) -> None:
    server.mount(bare("child"), "ns")


def on_a_bare_parent(child: Serve, **options: Any) -> Serve:
    def serve() -> Server:
        server: Server = FastMCP("parent")
        server.mount(child(), **options)
        return server

    return serve


def both_protected(parent: ContextBuilder = rights, child: ContextBuilder = rights) -> Serve:
    def serve() -> Server:
        below = bare("child")
        Authz(below, context=child)
        above: Server = FastMCP("parent")
        above.mount(below)
        Authz(above, context=parent)
        return above

    return serve


def three_deep() -> Server:
    middle: Server = FastMCP("middle")
    middle.mount(bare("child"), "b")
    server = protected()
    server.mount(middle, "a")
    return server


def covered() -> Server:
    """A child of a protected parent, to be reached without it."""
    child = bare("child")
    parent: Server = FastMCP("parent")
    parent.mount(child)
    Authz(parent, context=rights)
    return child


def proxied(backend: Serve) -> Serve:
    return lambda: create_proxy(backend(), name="proxy")


def proxied_afresh() -> Server:
    """With what FastMCP recommends where a backend's list is not always the same."""
    backend = direct()
    return FastMCP("proxy", providers=[ProxyProvider(lambda: ProxyClient(backend), cache_ttl=0)])


def proxy_mounted(backend: Serve) -> Serve:
    def serve() -> Server:
        server = protected("front")
        server.mount(create_proxy(backend(), name="proxy"), "ns")
        return server

    return serve


def protected_proxy(backend: Serve) -> Serve:
    def serve() -> Server:
        server = create_proxy(backend(), name="proxy")
        Authz(server, context=rights)
        return server

    return serve
