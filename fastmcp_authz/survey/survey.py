"""What a server has, and what of it each persona sees: by the decisions that serving makes, without a request."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from fastmcp.server.transforms.visibility import is_enabled
from fastmcp.tools import Tool

from fastmcp_authz.callers.deciding import Caller
from fastmcp_authz.callers.predicates import Predicate
from fastmcp_authz.callers.scope import Authority
from fastmcp_authz.contracts.outline import Outline, Part, outline
from fastmcp_authz.errors import ConfigurationError
from fastmcp_authz.serving.declaration import Declaration
from fastmcp_authz.serving.installing import (
    Protecting,
    Server,
    authority_of,
    cover_mounted,
    install,
    mounted_on,
)
from fastmcp_authz.serving.middleware import AuthzMiddleware
from fastmcp_authz.serving.ours import Ours, ours_of
from fastmcp_authz.serving.personas import caller_as
from fastmcp_authz.serving.rehearsal import rehearsed
from fastmcp_authz.serving.reporting import shown_to


class UnmadeError(ConfigurationError):
    """Making the context of a persona failed; the message says of which, and how."""

    @property
    def left_out(self) -> str:
        """What is said where the others are looked at without it, in one line."""
        return f"{' '.join(str(self).split())}. It is left out."


@dataclass(frozen=True, eq=False)
class SurveyedTool:
    """One tool of a server, under the name that it is listed by."""

    least: Tool
    """As somebody sees it who may see nothing that is guarded; where it is not ours, as everybody does."""
    ours: Ours | None
    """`None` where it is no `authorized_tool`, and so everybody's."""
    authority: Authority | None
    """Who decides for it."""

    @property
    def name(self) -> str:
        """As it is listed."""
        return self.least.name

    @property
    def enabled(self) -> bool:
        """Whether the server has it at all: nobody has what `mcp.disable(...)` has taken out."""
        return is_enabled(self.least)

    @property
    def declaration(self) -> Declaration | None:
        """What its author declared, if it is ours."""
        return None if self.ours is None else self.ours.declaration

    @property
    def gates(self) -> tuple[Predicate, ...]:
        """What guards the whole of it."""
        return () if self.declaration is None else self.declaration.gates

    @cached_property
    def input(self) -> Outline:
        """Its inputs, those of everybody. Only for a tool of ours."""
        assert self.declaration is not None
        return outline(self.declaration.contract.input)

    @cached_property
    def output(self) -> Outline:
        """Its outputs, those of everybody. Only for a tool of ours."""
        assert self.declaration is not None
        return outline(self.declaration.contract.output)


@dataclass(frozen=True, eq=False)
class Sighting:
    """What one caller sees of one tool."""

    surveyed: SurveyedTool
    tool: Tool | None
    """As it is listed; `None` where it does not exist for the caller."""
    denied: tuple[Predicate, ...] = ()
    """The gates that said no."""
    input: frozenset[Part] = frozenset()
    """What is visible of `surveyed.input`."""
    output: frozenset[Part] = frozenset()
    """What is visible of `surveyed.output`."""

    @property
    def inputs(self) -> list[Part]:
        """The visible parameters, in the order of the text."""
        return [part for part in _parts(self.surveyed, "input") if part in self.input and len(part.steps) == 1]


@dataclass(frozen=True, eq=False)
class Sight:
    """Somebody who looks at a server. Good while the context is open that it was made in."""

    survey: Survey
    callers: Mapping[Authority, Caller]

    def caller(self, tool: SurveyedTool) -> Caller | None:
        """The one whom the tool's authority decides for; `None` where nobody decides."""
        return None if tool.authority is None else self.callers[tool.authority]

    async def see(self, tool: SurveyedTool) -> Sighting:
        """What is seen of a tool."""
        if not tool.enabled:
            return Sighting(tool, None)
        if tool.ours is None:
            return Sighting(tool, tool.least)
        caller = self.caller(tool)
        if caller is None or tool.ours.elsewhere is None:
            return Sighting(tool, None)  # decorated, and nobody protects it: every call is refused
        shown = await shown_to(caller, tool.ours)
        if shown is None:
            if not caller.comes_for(tool.ours.declaration.domains):
                return Sighting(tool, None)
            granted = await caller.decide(tool.gates)
            return Sighting(tool, None, tuple(gate for gate in tool.gates if gate not in granted))
        granted = await caller.decide(tool.ours.declaration.contract.predicates)
        keep_null = caller.settings.nullable_inputs != "opt-in"
        return Sighting(tool, shown, (), tool.input.shown(granted, keep_null=keep_null), tool.output.shown(granted))

    async def see_all(self) -> list[Sighting]:
        """What is seen of each tool, in the order of the survey."""
        return [await self.see(tool) for tool in self.survey.tools]


@dataclass(frozen=True, eq=False)
class Survey:
    """A server, looked through."""

    server: Server
    tools: Sequence[SurveyedTool]
    authorities: Sequence[Authority]
    """Who decides for some tool, the server's own first."""
    servers: Sequence[Server]
    """The server that each of these is installed on."""
    domain: str | None = None
    """The domain that is looked at; all of them where `None`."""
    unknown: tuple[str, ...] = ()
    """Whose tools are not among these, since they cannot be listed without a request: `Catalog raised LookupError`."""

    @property
    def personas(self) -> tuple[str, ...]:
        """The names of everybody's personas, each once."""
        return tuple(dict.fromkeys(name for each in self.authorities for name in each.personas))

    def strange_to(self, persona: str) -> list[SurveyedTool]:
        """The tools whose authority does not know a persona, which is nobody to it."""
        return [each for each in self.tools if each.authority is not None and persona not in each.authority.personas]

    def tool(self, name: str) -> SurveyedTool | None:
        """The tool that is listed by that name."""
        return next((each for each in self.tools if each.name == name), None)

    @asynccontextmanager
    async def looked_at_by(self, who: Any) -> AsyncIterator[Sight]:
        """Yields somebody who looks at the server.

        Args:
            who: The name of a persona: each authority decides for its own of that name, and where it has none, for
                nobody. Anything else is a server context, for all of them.

        Raises:
            ConfigurationError: Nobody has a persona of that name.
            UnmadeError: Making its context failed.
        """
        if isinstance(who, str) and who not in self.personas:
            known = f"Known are: {', '.join(self.personas)}." if self.personas else "There are none: write "
            how = "" if self.personas else 'Authz(mcp, ..., personas={"manager": make_manager}).'
            raise ConfigurationError(f"There is no persona {who!r}. {known}{how}")
        async with AsyncExitStack() as opened:
            callers: dict[Authority, Caller] = {}
            for each in self.authorities:
                if isinstance(who, str):
                    try:
                        callers[each] = await opened.enter_async_context(caller_as(each, who, self.domain))
                    except Exception as error:
                        raise UnmadeError(
                            f"Making the persona {who!r} failed with {type(error).__name__}: {error}"
                        ) from error
                else:
                    callers[each] = Caller(who, each.settings, self.domain, views=each.views)
            yield Sight(self, callers)


async def survey(server: Server, *, domain: str | None = None) -> Survey:
    """Looks a server through, with all that is mounted on it, as its start does.

    Tools that producers make are made. Lifespans are not run, and other servers are not called: what a proxy would
    list is not there. What a provider or a transform of the author's own does not tell without a request is `unknown`.

    Args:
        server: The server.
        domain: The domain to look at; all of them where `None`.

    Raises:
        ConfigurationError: The server cannot be made safe as it is set up.
        Exception: Whatever a producer raises.
    """
    over = await _installed_over(server)
    authorities = [authority for _, authority in over]
    unknown: list[str] = []
    tools = [_surveyed(tool, authorities) for tool in await rehearsed(server, unknown)]
    servers = [each for each, _ in over]
    found = [each for each in tools if each is not None]
    return Survey(server, found, authorities, servers, domain, tuple(dict.fromkeys(unknown)))


async def authorities_over(server: Server) -> list[Authority]:
    """Who decides for some tool of a server, or of what is mounted on it by now; the server's own first."""
    return [authority for _, authority in await _installed_over(server)]


async def _installed_over(server: Server) -> list[tuple[Server, Authority]]:
    tree = [server]
    for each in tree:  # grows as it goes
        own = next((found for found in each.middleware if isinstance(found, Protecting)), None)
        if own is not None and authority_of(each) is None:
            install(each, own.authority, own.facets)
        if isinstance(own, AuthzMiddleware):
            await own.produce()
        authority = authority_of(each)
        if authority is not None:
            cover_mounted(each, authority)
        tree += [child for child in mounted_on(each) if child not in tree]
    return [(each, found) for each in tree if (found := authority_of(each)) is not None]


def _surveyed(tool: Tool, authorities: Sequence[Authority]) -> SurveyedTool | None:
    ours = ours_of(tool)
    if not isinstance(ours, Ours):
        return None if ours is None else SurveyedTool(ours, None, None)
    jurisdiction = ours.elsewhere
    deciding = (each for each in authorities if jurisdiction is not None and jurisdiction.is_decided_by(each))
    return SurveyedTool(tool, ours, next(deciding, None))


def _parts(tool: SurveyedTool, side: str) -> Sequence[Part]:
    if tool.declaration is None:
        return ()
    return tool.input.parts if side == "input" else tool.output.parts
