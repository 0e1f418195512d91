"""The doors: every way to a tool. To add one, write one line.

`DOORS` serve: each caller gets what it may have and no more. `SHUT` ones lead past whoever decides: nothing runs there,
for anybody.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field, replace

import fastmcp
import pytest
from _pytest.mark.structures import ParameterSet
from fastmcp.server.transforms.search import BM25SearchTransform, RegexSearchTransform
from packaging.version import Version

from tests.routes import dressed, nested, reaches, servers
from tests.routes.dressed import transformed
from tests.routes.nested import elsewhere, in_python, nesting, nesting_in_a_child
from tests.routes.office import BARE, Shown, bare, everyone_is_manager, nobody_is
from tests.routes.reaches import Reach, Serve, in_memory, not_at_all
from tests.routes.servers import both_protected, mounted
from tests.routes.sessions import (
    BehindANamespacedFacade,
    BehindFacades,
    Bulk,
    BulkBehindFacades,
    Coding,
    FoundAndCalled,
    Names,
    Nested,
    NestedBehindFacades,
    Numbered,
    PastFacades,
    Ranking,
    Searching,
    Session,
    Speak,
    SwitchingOn,
    prefixed,
)

ERAS = ("auto", "legacy")
NO_ERA = ("python",)

SESSIONS_EVERYWHERE = Version(fastmcp.__version__) >= Version("4.2")
"""Before, FastMCP keeps nothing between the requests of the newer era."""

Connect = Callable[[str], AbstractAsyncContextManager[Session]]


@dataclass(frozen=True)
class Door:
    """One way to the tools."""

    name: str
    serve: Serve
    """Makes the server."""
    reach: Reach = in_memory
    """Between the server and its callers."""
    speak: Speak = Session
    """How a caller lists and calls there."""
    names: Names = field(default_factory=Names)
    """What things are called there."""
    beside: frozenset[str] = frozenset()
    """Tools that the door itself needs."""
    eras: tuple[str, ...] = ERAS
    at_once: bool = True
    """Whether callers may come at the same time. Not so through FastMCP's proxies: for five minutes, those know the
    tools of whoever listed last, and no others."""
    shown: Shown | None = None
    """Of a shut door: what it lists all the same, to anybody."""

    @asynccontextmanager
    async def open(self, era: str) -> AsyncIterator[Connect]:
        """One server, to which callers connect by name."""
        async with self.reach(self.serve, era) as connect:

            @asynccontextmanager
            async def enter(caller: str) -> AsyncIterator[Session]:
                async with connect(caller) as client:
                    yield self.speak(client, self.names, self.beside)

            yield enter


NS = prefixed("ns_")
ABOVE = servers.on_a_bare_parent(servers.direct)
REGEX, RANKED = RegexSearchTransform, BM25SearchTransform

DOORS = [
    # transports
    Door("in memory", servers.direct),
    Door("HTTP", servers.direct, reaches.over_http),
    Door("HTTP with tokens", servers.direct, reaches.over_http_with_tokens),
    Door("HTTP without sessions", servers.direct, reaches.over_stateless_http),
    Door("HTTP in another's session", servers.direct, reaches.in_anothers_session("http")),
    Door("SSE in another's session", servers.direct, reaches.in_anothers_session("sse"), eras=("legacy",)),
    Door("SSE", servers.direct, reaches.over_sse, eras=("legacy",)),
    Door("stdio", servers.direct, reaches.over_stdio),
    # registration
    Door("tools before Authz", servers.decorated_before_authz),
    Door("middleware alone", servers.middleware_alone),
    Door("middleware in the constructor", servers.middleware_in_the_constructor),
    Door("tool objects", servers.tool_objects),
    Door("tools transformed when registered", servers.registered_transformed, names=servers.RENAMED),
    Door("providers", servers.from_a_provider),
    Door("a provider that comes later", servers.empty, reaches.after_the_first_request(servers.add_provider)),
    Door("files", servers.from_files),
    Door("files, read again", servers.from_files_again_and_again),
    Door("app tools", servers.app_tools),
    Door("hashed names", servers.app_tools, names=servers.HASHED),
    Door("versions by number", servers.numbered, speak=Numbered),
    # mounts
    Door("child alone protected", servers.on_a_bare_parent(servers.direct)),
    Door("child alone protected, namespaced", servers.on_a_bare_parent(servers.direct, namespace="ns"), names=NS),
    Door("parent alone protected, before", mounted(before=True)),
    Door("parent alone protected, after", mounted(before=False)),
    Door("namespaced before", mounted(before=True, namespace="ns"), names=NS),
    Door("namespaced after", mounted(before=False, namespace="ns"), names=NS),
    Door("renamed before", mounted(before=True, tool_names=servers.NEW_NAMES), names=servers.RENAMED),
    Door("renamed after", mounted(before=False, tool_names=servers.NEW_NAMES), names=servers.RENAMED),
    Door("a mount that comes later", servers.empty, reaches.after_the_first_request(servers.mount), names=NS),
    Door("both protected", both_protected()),
    Door("the parent would give everything", both_protected(parent=everyone_is_manager)),
    Door("the parent would give nothing", both_protected(parent=nobody_is)),
    Door("three deep", servers.three_deep, names=prefixed("a_b_")),
    # proxies
    Door("proxy that keeps nothing", servers.proxied_afresh),
    Door("proxy", servers.proxied(servers.direct), at_once=False),
    Door("proxy over HTTP", servers.direct, reaches.through_a_proxy_over_http, at_once=False),
    Door("proxy of a proxy", servers.proxied(servers.proxied(servers.direct)), at_once=False),
    Door("proxy mounted", servers.proxy_mounted(servers.direct), names=NS, at_once=False),
    Door("proxy protected too", servers.protected_proxy(servers.direct), at_once=False),
    # transforms
    Door("names transformed before", transformed(dressed.renaming(), before=True), names=dressed.RENAMED_INSIDE),
    Door("names transformed after", transformed(dressed.renaming(), before=False), names=dressed.RENAMED_INSIDE),
    Door("namespace transform before", transformed(dressed.NAMESPACE, before=True), names=NS),
    Door("namespace transform after", transformed(dressed.NAMESPACE, before=False), names=NS),
    Door("regex search before", transformed(REGEX(), before=True), speak=Searching),
    Door("regex search after", transformed(REGEX(), before=False), speak=Searching),
    Door("regex search, names all the same", transformed(REGEX(), before=False), speak=FoundAndCalled),
    Door("BM25 search before", transformed(RANKED(), before=True), speak=Ranking),
    Door("BM25 search after", transformed(RANKED(), before=False), speak=Ranking),
    Door("code mode before", dressed.code_mode(before=True), speak=Coding),
    Door("code mode after", dressed.code_mode(before=False), speak=Coding),
    # middleware and switches
    Door("edited on the way", dressed.edited_on_the_way, names=dressed.ALIASED),
    Door("pages", dressed.paginated),
    Door("switched on for all", dressed.switched_on_for_all),
    Door(
        "switched on in the session",
        dressed.switched_in_the_session,
        reaches.over_http_with_tokens,
        speak=SwitchingOn,
        eras=ERAS if SESSIONS_EVERYWHERE else ("legacy",),
    ),
    Door("prompts and resources as tools", dressed.prompts_and_resources_as_tools, beside=dressed.BESIDE),
    # domains and facades
    Door("the default domain", servers.empty, reaches.in_domain("", servers.in_domains)),
    Door("a domain's own path", servers.empty, reaches.in_domain("/office", servers.in_domains)),
    Door("past the facade", servers.faceted, speak=PastFacades),
    Door(
        "facade, names transformed before",
        transformed(dressed.renaming(), before=True, facets=servers.FACETS),
        speak=BehindFacades,
        names=dressed.RENAMED_INSIDE,
    ),
    Door(
        "facade, names transformed after",
        transformed(dressed.renaming(), before=False, facets=servers.FACETS),
        speak=BehindFacades,
        names=dressed.RENAMED_INSIDE,
    ),
    Door("bulk calls of a facade", dressed.bulk_of_a_facade, speak=BulkBehindFacades),
    Door("call_tool of a facade", nesting(nested.CALL_TOOL, servers.faceted), speak=NestedBehindFacades),
    Door("get_tool and run of a facade", nesting(nested.GET_TOOL_AND_RUN, servers.faceted), speak=NestedBehindFacades),
    Door("a client in memory of a facade", nesting(nested.CLIENT, servers.faceted), speak=NestedBehindFacades),
    Door("facade of a child", servers.on_a_bare_parent(servers.faceted), speak=BehindFacades),
    Door(
        "facade of a child, namespaced",
        servers.on_a_bare_parent(servers.faceted, namespace="ns"),
        speak=BehindANamespacedFacade,
    ),
    Door("facade over a child, before", servers.faceted_parent(before=True), speak=BehindFacades),
    Door("facade over a child, after", servers.faceted_parent(before=False), speak=BehindFacades),
    Door(
        "facade over a child, namespaced",
        servers.faceted_parent(before=False, namespace="ns"),
        speak=BehindFacades,
        names=NS,
    ),
    Door(
        "facade over a child, renamed",
        servers.faceted_parent(before=True, tool_names=servers.NEW_NAMES),
        speak=BehindFacades,
        names=servers.RENAMED,
    ),
    Door("facade behind a proxy", servers.proxied(servers.faceted), speak=BehindFacades, at_once=False),
    # tools that reach tools
    Door("bulk calls", dressed.bulk, speak=Bulk),
    Door("call_tool", nesting(nested.CALL_TOOL), speak=Nested),
    Door("call_tool without middleware", nesting(nested.CALL_TOOL_WITHOUT_MIDDLEWARE), speak=Nested),
    Door("get_tool and run", nesting(nested.GET_TOOL_AND_RUN), speak=Nested),
    Door("list and run", nesting(nested.LIST_AND_RUN), speak=Nested),
    Door("a client in memory", nesting(nested.CLIENT), speak=Nested),
    Door("tools that another caller left", nesting(nested.KEPT), speak=Nested),
    Door("call_tool by an admitted one", nesting(nested.CALL_TOOL, admitted=True), speak=Nested),
    Door("get_tool and run by an admitted one", nesting(nested.GET_TOOL_AND_RUN, admitted=True), speak=Nested),
    Door("a client in memory of an admitted one", nesting(nested.CLIENT, admitted=True), speak=Nested),
    Door("call_tool, child protected", nesting(nested.CALL_TOOL_WITHOUT_MIDDLEWARE, ABOVE), speak=Nested),
    Door("get_tool and run, child protected", nesting(nested.GET_TOOL_AND_RUN, ABOVE), speak=Nested),
    Door("tools that another caller left, child protected", nesting(nested.KEPT, ABOVE), speak=Nested),
    Door("call_tool in Python", servers.direct, not_at_all, in_python(nested.CALL_TOOL), eras=NO_ERA),
    Door("list and run in Python", servers.direct, not_at_all, in_python(nested.LIST_AND_RUN), eras=NO_ERA),
    Door("tools that another left in Python", servers.direct, not_at_all, in_python(nested.KEPT), eras=NO_ERA),
    Door("call_tool in Python, mounted", mounted(before=True), not_at_all, in_python(nested.CALL_TOOL), eras=NO_ERA),
    Door("call_tool in a child", nesting_in_a_child(nested.CALL_TOOL), speak=Nested),
    Door("get_tool and run in a child", nesting_in_a_child(nested.GET_TOOL_AND_RUN), speak=Nested),
]

# Every way to a server is a way to its facades. What holds those doors is what holds the others.
FACADES = [
    replace(door, name=f"{door.name}, facade", serve=servers.faceted, speak=BehindFacades)
    for door in DOORS
    if door.serve is servers.direct and door.speak is Session
]

SHUT = [
    Door("nothing protected", bare, shown=BARE),
    Door("nothing protected, HTTP", bare, reaches.over_http, shown=BARE),
    Door("neither parent nor child protected", servers.on_a_bare_parent(bare), shown=BARE),
    Door("a child that is covered elsewhere", servers.on_a_bare_parent(servers.covered), shown={}),
    Door("a child that is covered, by itself", servers.covered, shown={}),
    Door("proxy of what nothing protects", servers.proxied(bare), shown=BARE),
    Door("protected proxy of what nothing protects", servers.protected_proxy(bare), shown=BARE),
    Door("injected", dressed.injected, shown={}),
    Door("the provider's own", nesting(nested.LOCAL_PROVIDER), speak=Nested, shown=BARE),
    Door("an admitted call_tool elsewhere", elsewhere(nested.CALL_TOOL), speak=Nested, shown=BARE),
    Door("an admitted get_tool and run elsewhere", elsewhere(nested.GET_TOOL_AND_RUN), speak=Nested, shown=BARE),
    Door("an admitted list and run elsewhere", elsewhere(nested.LIST_AND_RUN), speak=Nested, shown=BARE),
    Door("the provider's own, admitted", nesting(nested.LOCAL_PROVIDER, admitted=True), speak=Nested, shown=BARE),
    Door("an admitted client elsewhere", elsewhere(nested.CLIENT), speak=Nested, shown=BARE),
]


def ways(doors: list[Door]) -> list[ParameterSet]:
    """Each door in each era, for `parametrize`."""
    return [pytest.param(door, era, id=f"{door.name}, {era}") for door in doors for era in door.eras]
