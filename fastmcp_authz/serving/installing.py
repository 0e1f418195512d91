"""What a server is given so that its tools are served to admitted callers, and what makes that unsafe."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from typing import Any
from weakref import WeakKeyDictionary

from fastmcp import FastMCP
from fastmcp.server.middleware import Middleware
from fastmcp.server.providers import AggregateProvider, FastMCPProvider, LocalProvider, Provider
from fastmcp.tools import FunctionTool
from pydantic import ValidationError

from fastmcp_authz.callers.scope import Authority
from fastmcp_authz.errors import ConfigurationError, near_names
from fastmcp_authz.serving._fastmcp import caches_are_public, caches_responses, is_proxy, wrapped_provider
from fastmcp_authz.serving.declaration import Declaration, carried
from fastmcp_authz.serving.facades import Faceted
from fastmcp_authz.serving.facets import NO_FACETS, Facets
from fastmcp_authz.serving.jurisdiction import Jurisdiction
from fastmcp_authz.serving.strays import HidesStrays, is_ours
from fastmcp_authz.serving.transform import AuthzTransform
from fastmcp_authz.settings import Settings, preset_settings

Server = FastMCP[Any]

_authorities: WeakKeyDictionary[Server, Authority] = WeakKeyDictionary()
"""Servers with an authority of their own."""
_inherited: WeakKeyDictionary[Server, AuthzTransform] = WeakKeyDictionary()
"""Servers without one, mounted on servers that have one."""


class Protecting(Middleware):
    """Middleware that brings an authority to the server it is on. The server may not have seen a message yet."""

    authority: Authority
    facets: Facets


def authority_of(server: Server) -> Authority | None:
    """The authority that is installed on the server itself."""
    return _authorities.get(server)


def faceted_of(server: Server) -> Faceted:
    """The faceted domains of a server that has an authority of its own."""
    return next(each.faceted for each in server.transforms if isinstance(each, AuthzTransform) and not each.retired)


def install(server: Server, authority: Authority, facets: Facets = NO_FACETS) -> None:
    """Makes `authority` decide for the server's tools, and for those of what is mounted on it and has no own.

    Raises:
        ConfigurationError: The server has an authority already, or is set up so that no authority could hold.
    """
    if server in _authorities:
        raise ConfigurationError(f"{server.name!r} has two Authz (or AuthzMiddleware): remove one.")
    refuse_unsafe(server)
    inherited = _inherited.pop(server, None)
    if inherited is not None:
        inherited.retired = True
    _authorities[server] = authority
    server.add_transform(AuthzTransform(server, Jurisdiction(authority), facets))
    cover_mounted(server, authority)


def cover_mounted(server: Server, authority: Authority) -> None:
    """Extends `authority` over every server that is mounted on `server` by now and has none of its own, recursively.

    Called again at each request: a mount may come later, and FastMCP says nothing of it.
    """
    for child in mounted_on(server):
        cover(child, authority)


def cover(server: Server, authority: Authority, *, seen: set[Server] | None = None) -> None:
    """Extends `authority` over a mounted server and what is mounted on it, where there is no authority of its own."""
    seen = set() if seen is None else seen
    if server in seen or server in _authorities:
        return  # the nearest decides: a server with an authority of its own covers what is mounted on it
    seen.add(server)
    own = next((each for each in server.middleware if isinstance(each, Protecting)), None)
    if own is not None:
        install(server, own.authority, own.facets)
        return
    transform = _inherited.get(server)
    if transform is None:
        transform = _inherited[server] = AuthzTransform(server, Jurisdiction())
        server.add_transform(transform)
        server.middleware.insert(0, HidesStrays())
    transform.jurisdiction.extend(authority)
    for child in mounted_on(server):
        cover(child, authority, seen=seen)


def mounted_on(server: Server) -> Iterator[Server]:
    """The servers that are mounted on `server`, with or without a namespace or renames."""
    for provider in _leaves(server.providers):
        if isinstance(provider, FastMCPProvider):
            yield provider.server


def proxies_on(server: Server) -> Iterator[Provider]:
    """What would have to call another server for its tools."""
    return (provider for provider in _leaves(server.providers) if is_proxy(provider))


def stands_alone(server: Server) -> bool:
    """Whether nothing is mounted on the server, and nothing could be without a change of its providers."""
    return not any(
        isinstance(provider, FastMCPProvider | AggregateProvider) or wrapped_provider(provider) is not None
        for provider in server.providers
    )


def refuse_unsafe(server: Server, *, outer: Iterable[Server] = ()) -> None:
    """Checks what could hand one caller's answers to another.

    Args:
        server: What is protected, with all that is mounted on it.
        outer: The servers that a request came through on its way to it.

    Raises:
        ConfigurationError: Something would.
    """
    above = list(outer)
    for each in [*_tree(server), *above]:
        if any(caches_responses(middleware) for middleware in each.middleware):
            raise ConfigurationError(
                f"{each.name!r} has ResponseCachingMiddleware, which would serve one caller's tools and results to "
                "another: remove it."
            )
        for middleware in each.middleware:
            for tool in getattr(middleware, "injected_tools", ()):
                if is_ours(tool):
                    raise ConfigurationError(
                        f"{each.name!r} has {type(middleware).__name__}, which injects {tool.name!r} past Authz: "
                        "register it on the server instead, with @mcp.tool above @authorized_tool."
                    )
    for each in [server, *above]:
        if caches_are_public(each):
            raise ConfigurationError(
                f'{each.name!r} has cache_scope="public", which lets caches hand one caller\'s tools to another: '
                'write cache_scope="private".'
            )


async def refuse_undecidable(server: Server, authority: Authority) -> None:
    """Checks that there is somebody to ask where tools ask: without a context nobody ever gets a yes.

    Raises:
        ConfigurationError: A tool of the server, or of one mounted on it, has gates or predicates, and there is no
            `context=`.
    """
    if authority.context is not None:
        return
    for each in _tree(server, without=_authorities):
        asking = [name for name, found in await _declared(each) if found.gates or found.contract.predicates]
        if asking:
            raise ConfigurationError(
                f"{server.name!r} has tools that ask who is calling ({', '.join(sorted(asking))}), and nobody to ask: "
                "write Authz(mcp, context=build_context)."
            )


async def refuse_renderers(server: Server) -> None:
    """Checks that no tool which only some callers have comes with a page of FastMCP's making: everybody could list it.

    Raises:
        ConfigurationError: One has.
    """
    for each in _tree(server, without=_authorities):
        for tool, found in await _registered(each):
            shown = ((tool.meta or {}).get("ui") or {}).get("resourceUri")
            if not isinstance(shown, str) or not shown.startswith("ui://prefab/"):
                continue
            if found.gates or not found.contract.view_of(frozenset()).visible:
                raise ConfigurationError(
                    f"{tool.name!r} has app=, and not everybody has the tool: FastMCP lists the page to everybody, by "
                    "the tool's name. Leave out its gates, or give it a resource of your own, "
                    "app=AppConfig(resource_uri=...)."
                )


async def declared_under(server: Server) -> list[Declaration]:
    """What the authority of a server decides for: its tools, and those of what is mounted on it and has no own.

    Of what lies in memory: a proxy would have to call another server.
    """
    tree = _tree(server, without=_authorities)
    return [found for each in tree for _, found in await _declared(each)]


async def domains_of(server: Server, authority: Authority) -> set[str]:
    """The domains that a server has tools in, mounted ones included, and the default one."""
    declared = [found for each in _tree(server) for _, found in await _declared(each)]
    return {authority.settings.default_domain}.union(*(found.domains for found in declared))


async def _declared(server: Server) -> list[tuple[str, Declaration]]:
    return [(tool.name, declaration) for tool, declaration in await _registered(server)]


async def _registered(server: Server) -> list[tuple[FunctionTool, Declaration]]:
    providers = [each for each in _leaves(server.providers) if isinstance(each, LocalProvider)]
    tools = [tool for provider in providers for tool in await provider.list_tools()]
    found = [(tool, carried(tool.fn)) for tool in tools if isinstance(tool, FunctionTool)]
    return [(tool, declaration) for tool, declaration in found if declaration is not None]


def _tree(server: Server, *, without: Container[Server] = ()) -> list[Server]:
    """The server and everything that is mounted on it, down to the servers `without`."""
    tree = [server]
    for each in tree:  # grows as it goes
        tree += [child for child in mounted_on(each) if child not in tree and child not in without]
    return tree


def _leaves(providers: Iterable[Provider]) -> Iterator[Provider]:
    for provider in providers:
        inner = wrapped_provider(provider)
        if inner is not None:
            yield from _leaves([inner])
        elif isinstance(provider, AggregateProvider) and not isinstance(provider, FastMCP):
            yield from _leaves(provider.providers)
        else:
            yield provider


def settings_from(settings: Settings | None, options: dict[str, Any]) -> Settings:
    """`settings`, or those of the environment, with `options` over them.

    Raises:
        ConfigurationError: An option is unknown or has a value that it cannot have.
    """
    base = settings if settings is not None else preset_settings()
    if not options:
        return base
    try:
        return Settings(**{**{name: getattr(base, name) for name in Settings.model_fields}, **options})
    except ValidationError as error:
        wrong = " ".join(_wrong(".".join(map(str, each["loc"])), each["type"], each["msg"]) for each in error.errors())
        raise ConfigurationError(f"Settings are wrong. {wrong}") from None


_OTHER_OPTIONS = ("context", "settings", "facets", "categories", "personas", "on_event")
"""What `Authz` and its middleware take beside the settings."""


def _wrong(name: str, kind: str, message: str) -> str:
    if kind != "extra_forbidden":
        return f"{name}: {message}."
    known = [*_OTHER_OPTIONS, *Settings.model_fields]
    near = near_names(name, known)
    meant = f"did you mean {near[0]}=?" if near else f"there are {', '.join(known)}."
    return f"{name}= is no option: {meant}"
