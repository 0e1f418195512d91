"""The server that a command is about, given as FastMCP's own commands take it."""

from __future__ import annotations

import contextlib
import logging
import sys
from collections.abc import Iterator
from typing import Annotated, Any, TypeAlias

from cyclopts import Parameter
from fastmcp import FastMCP
from fastmcp.utilities.cli import load_and_merge_config

from fastmcp_authz.errors import AuthzError

ServerSpec: TypeAlias = Annotated[str, Parameter(help="server.py, server.py:object, or a fastmcp.json")]
Persona: TypeAlias = Annotated[str | None, Parameter(name="--as", help="A persona of Authz(personas=...)")]
ToolName: TypeAlias = Annotated[str | None, Parameter(name="--tool", help="A tool, by the name that it is listed by")]
Domain: TypeAlias = Annotated[str | None, Parameter(name="--domain", help="The domain to look at; all by default")]
AsJson: TypeAlias = Annotated[bool, Parameter(name="--json", help="Print JSON, for programs")]


class CannotRunError(AuthzError):
    """A command cannot do what it was asked to; the message says why and what to do."""


async def load_server(spec: str) -> FastMCP[Any]:
    """The server of a file, loaded as `fastmcp run` loads it; what it prints meanwhile goes to standard error.

    Raises:
        CannotRunError: There is none, or its module fails.
        AuthzError: A declaration in it is wrong, or its set-up is.
    """
    with _said() as said, contextlib.redirect_stdout(sys.stderr):
        try:
            config, _ = load_and_merge_config(spec)
            server = await config.source.load_server()
        except AuthzError:
            raise
        except SystemExit:
            raise CannotRunError("\n".join(said) or f"{spec} cannot be loaded.") from None
        except Exception as error:
            raise CannotRunError(f"{spec} cannot be loaded: {type(error).__name__}: {error}") from error
    if not isinstance(server, FastMCP):
        raise CannotRunError(f"{spec} holds a {type(server).__name__}, no FastMCP server.")
    return server


@contextlib.contextmanager
def _said() -> Iterator[list[str]]:
    """Catches what FastMCP logs before it ends the process."""
    said: list[str] = []

    class Catching(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            said.append(record.getMessage())

    logger, handler = logging.getLogger("fastmcp"), Catching(logging.ERROR)
    before, logger.handlers = logger.handlers, [handler]
    try:
        yield said
    finally:
        logger.handlers = before
