"""What a server is looked through for before it serves anybody, at its start and when it has changed since."""

from __future__ import annotations

from fastmcp_authz.callers.scope import Authority
from fastmcp_authz.errors import ConfigurationError
from fastmcp_authz.serving.declaration import Declaration
from fastmcp_authz.serving.facets import UNCATEGORIZED, Facets
from fastmcp_authz.serving.installing import Server, refuse_renderers, refuse_undecidable
from fastmcp_authz.serving.rehearsal import refuse_impossible_transforms, rehearsed
from fastmcp_authz.serving.tool import AuthorizedTool, Binding


async def refuse_unfit(server: Server, authority: Authority, facets: Facets) -> None:
    """Checks what could keep a server's tools from being served to each caller as they should be.

    Raises:
        ConfigurationError: Something would.
    """
    await refuse_undecidable(server, authority)
    await refuse_renderers(server)
    await refuse_impossible_transforms(server)
    await refuse_impossible_facets(server, authority, facets)


async def refuse_impossible_facets(server: Server, authority: Authority, facets: Facets) -> None:
    """Checks that every tool of a faceted domain has a facade to stand behind, under a name of its own.

    Raises:
        ConfigurationError: One has not.
    """
    if not facets.by_domain:
        return
    tools = await rehearsed(server)
    names = {tool.name for tool in tools}
    ours: list[tuple[str, Declaration]] = []
    for tool in tools:
        if isinstance(tool, AuthorizedTool):
            bound: Binding = tool.binding
            if bound.jurisdiction.is_decided_by(authority):
                ours.append((tool.name, bound.declaration))
    for domain, facet in facets.by_domain.items():
        served = [(name, d) for name, d in ours if domain in (d.domains or (authority.settings.default_domain,))]
        missing = sorted(name for name, declaration in served if declaration.category is None)
        if missing and facet.uncategorized == "error":
            raise ConfigurationError(
                f"the domain {domain!r} is faceted, and {', '.join(missing)} of it have no category: write "
                'category="...", or "uncategorized": "fallback" in facets=.'
            )
        for group in dict.fromkeys(declaration.category or UNCATEGORIZED for _, declaration in served):
            if facet.facade(group) in names:
                raise ConfigurationError(
                    f"{facet.facade(group)!r} is a tool, and the name of the facade for {group!r} in the domain "
                    f'{domain!r}: rename one, with "facade_suffix" in facets= or category=.'
                )
