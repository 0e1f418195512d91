"""The doors that want a package more than `dev` has: background tasks, and code mode in its real sandbox.

By hand or as a step of its own in CI, in an environment made for it; without the packages it fails:

    pip install -e . 'fastmcp[tasks,code-mode]==4.1.4' pytest pytest-asyncio hypothesis 'jsonschema[format-nongpl]'
    pytest -W error tests/routes/extras.py

The newest `fastmcp-tasks` is 4.1.4, and each pins FastMCP to its own version.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from typing import Any, Literal

import pytest
from fastmcp import FastMCP
from fastmcp.experimental.transforms.code_mode import MontySandboxProvider
from fastmcp.utilities.tasks import TaskConfig

from fastmcp_authz.serving.authz import Authz
from fastmcp_authz.serving.decorator import authorized_tool
from tests.routes import dressed, office, reaches, servers, test_matrix, test_switched_off
from tests.routes.doors import Door, ways
from tests.routes.office import BARE, rights
from tests.routes.servers import Serve, Server
from tests.routes.sessions import Coding, prefixed

TASKS: Any = importlib.import_module("fastmcp_tasks")
"""Importing it also turns FastMCP's `Client` into one that waits for tasks."""


def later(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same as a coroutine function: FastMCP makes tasks of no other kind."""

    @functools.wraps(function)
    async def run_later(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return run_later


def working(name: str, mode: Literal["optional", "required"]) -> Server:
    """A server whose tools are tasks, with a worker, that nothing protects."""
    server: Server = FastMCP(name)
    server.add_extension(TASKS.TasksExtension(name=f"{name}-{id(server)}"))
    hidden = authorized_tool(gates=[("requires", "manager")])
    registrations: list[tuple[Callable[..., Any], dict[str, Any]]] = [
        (authorized_tool(later(office.find)), {}),
        (hidden(later(office.covert_vault)), {}),
        (authorized_tool(later(office.report)), {"name": "report", "version": "1"}),
        (hidden(later(office.covert_report)), {"name": "report", "version": "2"}),
    ]
    for guard, options in registrations:
        server.tool(guard, **options, task=TaskConfig(mode=mode))
    return server


def tasks(mode: Literal["optional", "required"]) -> Serve:
    def serve() -> Server:
        server = working("tasks", mode)
        Authz(server, context=rights)
        return server

    return serve


def tasks_of_a_child(*, before: bool) -> Serve:
    def serve() -> Server:
        server: Server = FastMCP("parent")
        server.add_extension(TASKS.TasksExtension(name=f"parent-{id(server)}"))
        if before:
            server.mount(working("child", "required"), "ns")
        Authz(server, context=rights)
        if not before:
            server.mount(working("child", "required"), "ns")
        return server

    return serve


def tasks_in_a_domain() -> Authz:
    """Without a path, as in a worker, another domain is served."""
    return Authz(working("tasks", "required"), context=rights, default_domain="office", domain="other")


NS = prefixed("ns_")
HTTP = reaches.over_http
"""In a worker, who called is what FastMCP keeps of the request: its token and headers."""

DOORS = [
    Door("a task", tasks("required"), HTTP, eras=("auto",)),
    Door("a task, with tokens", tasks("required"), reaches.over_http_with_tokens, eras=("auto",)),
    Door("a task where the client wants one", tasks("optional"), HTTP),
    Door("a task in a domain", servers.empty, reaches.in_domain("/office", tasks_in_a_domain), eras=("auto",)),
    Door("a task of a child, before", tasks_of_a_child(before=True), HTTP, names=NS, eras=("auto",)),
    Door("a task of a child, after", tasks_of_a_child(before=False), HTTP, names=NS, eras=("auto",)),
    Door("code mode before", dressed.code_mode(before=True, sandbox=MontySandboxProvider), speak=Coding),
    Door("code mode after", dressed.code_mode(before=False, sandbox=MontySandboxProvider), speak=Coding),
]

SHUT = [Door("a task that nothing protects", lambda: working("bare", "required"), HTTP, eras=("auto",), shown=BARE)]


@pytest.mark.parametrize(("door", "era"), ways(DOORS))
async def test_each_caller_gets_its_own_and_no_more(door: Door, era: str) -> None:
    await test_matrix.test_each_caller_gets_its_own_and_no_more(door, era)


@pytest.mark.parametrize(("door", "era"), ways(SHUT))
async def test_nothing_runs_past_whoever_decides(door: Door, era: str) -> None:
    await test_matrix.test_nothing_runs_past_whoever_decides(door, era)


@pytest.mark.parametrize(("door", "era"), ways(DOORS))
async def test_a_row_fails_without_enforcement(door: Door, era: str, monkeypatch: pytest.MonkeyPatch) -> None:
    await test_switched_off.test_a_row_fails_without_enforcement(door, era, monkeypatch)


@pytest.mark.parametrize(("door", "era"), ways(SHUT))
async def test_a_shut_door_opens_without_the_guard(door: Door, era: str, monkeypatch: pytest.MonkeyPatch) -> None:
    await test_switched_off.test_a_shut_door_opens_without_the_guard(door, era, monkeypatch)
