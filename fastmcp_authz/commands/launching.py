"""How a server is started over stdio for a persona, and whether it would then serve what that persona sees."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, TypeAlias

from cyclopts import Parameter
from fastmcp import FastMCP
from fastmcp.utilities.mcp_server_config.v1.sources.filesystem import FileSystemSource

from fastmcp_authz.callers.context import Request, opened_context
from fastmcp_authz.callers.deciding import Caller
from fastmcp_authz.callers.scope import Authority
from fastmcp_authz.commands.loading import CannotRunError, load_server
from fastmcp_authz.errors import listed
from fastmcp_authz.settings import PERSONA_VARIABLE
from fastmcp_authz.survey.deciding import UNNAMED
from fastmcp_authz.survey.survey import Sight, Sighting, Survey, survey

Environment: TypeAlias = Annotated[
    list[str] | None, Parameter(name="--env", help="NAME=VALUE for the server's environment; may be repeated")
]


@dataclass(frozen=True, slots=True)
class Launch:
    """A command that serves over stdio, and what it needs."""

    name: str
    """What clients may call it: letters, digits, `-` and `_`."""
    command: str
    arguments: tuple[str, ...]
    environment: Mapping[str, str]
    doubt: str | None
    """Why the server would not, in that environment, serve what the persona sees; `None` where it would."""


async def launch(spec: str, persona: str, given: Sequence[str] | None) -> Launch:
    """How a server is started for a persona. It is loaded and its context built, both in the environment in question.

    Args:
        spec: The server, as commands take it.
        persona: A persona of it.
        given: `NAME=VALUE`, for the environment.

    Raises:
        CannotRunError: It cannot be loaded, or `given` is no such thing.
        ConfigurationError: There is no such persona.
    """
    environment = {PERSONA_VARIABLE: persona, **_read(given or ())}
    with _set(environment):
        server = await load_server(spec)
        with contextlib.redirect_stdout(sys.stderr):  # a context may print
            doubt = await _doubt(server, persona)
    unnamed = UNNAMED.fullmatch(server.name) is not None
    return Launch(
        name=re.sub(r"[^A-Za-z0-9_-]+", "-", f"{Path(spec).stem if unnamed else server.name}-{persona}").strip("-"),
        command=sys.executable,
        arguments=("-m", "fastmcp.cli", "run", _absolute(spec), "--transport", "stdio", "--no-banner"),
        environment=environment,
        doubt=doubt,
    )


def _read(given: Sequence[str]) -> dict[str, str]:
    environment: dict[str, str] = {}
    for each in given:
        name, equals, value = each.partition("=")
        if not equals or not name.strip():
            raise CannotRunError(f"--env {each} is no NAME=VALUE.")
        environment[name] = value
    return environment


@contextlib.contextmanager
def _set(environment: Mapping[str, str]) -> Iterator[None]:
    before = dict(os.environ)
    os.environ.update(environment)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def _absolute(spec: str) -> str:
    """The same server, as it is found from anywhere."""
    if spec.endswith(".json"):
        return os.path.abspath(spec)
    source = FileSystemSource(path=spec)
    path = os.path.abspath(Path(source.path).expanduser())
    return path if source.entrypoint is None else f"{path}:{source.entrypoint}"


async def _doubt(server: FastMCP[Any], persona: str) -> str | None:
    surveyed = await survey(server)
    if surveyed.authorities:
        surveyed = replace(surveyed, domain=surveyed.authorities[0].domain)  # the one that is served over stdio
    async with surveyed.looked_at_by(persona) as sight:
        wanted = await sight.see_all()
    try:
        served = await _served(surveyed)
    except Exception as error:
        return f"The context of a request over stdio cannot be made here: {type(error).__name__}: {error}"
    names = [each.surveyed.name for each, other in zip(wanted, served, strict=True) if not _is_same(each, other)]
    return f"These tools would not be what {persona} sees of them: {listed(names)}." if names else None


async def _served(surveyed: Survey) -> list[Sighting]:
    """What is seen by whoever calls over stdio in this environment."""
    async with AsyncExitStack() as opened:
        callers: dict[Authority, Caller] = {}
        for each in surveyed.authorities:
            made = None if each.context is None else each.context(Request(transport="stdio", domain=each.domain))
            async with asyncio.timeout(each.settings.predicate_timeout):
                context = await opened.enter_async_context(opened_context(made, "context"))
            callers[each] = Caller(context, each.settings, surveyed.domain, views=each.views)
        return await Sight(surveyed, callers).see_all()


def _is_same(one: Sighting, other: Sighting) -> bool:
    return (one.tool is None, one.input, one.output) == (other.tool is None, other.input, other.output)


def advice(launched: Launch, persona: str) -> str:
    """What to say where the server would not serve as the persona."""
    return (
        f"Started like this, the server does not serve what {persona} sees. {launched.doubt}\n"
        "Personas are never used for serving: over stdio your context= decides, by the environment. Let it read "
        f"{PERSONA_VARIABLE}, or give the variable that it reads with --env NAME=VALUE."
    )
