"""The contract of a function or of a registered tool, for tests that need no server."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from typing import Any, overload

from fastmcp import FastMCP
from fastmcp.tools import Tool

from fastmcp_authz.contracts.contract import ToolContract
from fastmcp_authz.serving.declaration import carried
from fastmcp_authz.serving.declaring import read_contract
from fastmcp_authz.serving.installing import Server
from fastmcp_authz.serving.signatures import read_signature
from fastmcp_authz.settings import preset_settings
from fastmcp_authz.survey.survey import survey
from fastmcp_authz.testing.blocking import finished
from fastmcp_authz.testing.names import UnknownNameError, near


@overload
def contract_of(of: Callable[..., Any] | Tool, /) -> ToolContract: ...
@overload
def contract_of(of: Server, name: str, /) -> ToolContract: ...
def contract_of(of: Callable[..., Any] | Tool | Server, name: str | None = None, /) -> ToolContract:
    """The contract of a tool: `contract_of(find_notes).view(FakeContext(can=["read"])).filter_output({...})`.

    Args:
        of: A decorated function or method, or FastMCP's tool of one; a plain function whose docstring has annotations;
            or a server.
        name: The tool, by the name that the server lists it by.

    Raises:
        UnknownNameError: The server has no such tool.
        TypeError: There is no contract in what was given.
        ContractError: The annotations of a plain function are wrong.
    """
    if isinstance(of, FastMCP):
        if name is None:
            raise TypeError('contract_of(server) needs the name of a tool too: contract_of(server, "find_notes").')
        return finished(partial(_registered, of, name))
    function = getattr(of, "fn", None) if isinstance(of, Tool) else of
    declaration = carried(function)
    if declaration is not None:
        return declaration.contract
    plain = getattr(function, "__func__", function)
    if not inspect.isfunction(plain):
        raise TypeError(f"contract_of takes a function or a server, and this is a {type(of).__name__}.")
    return read_contract(plain, read_signature(plain), shared_types=(), settings=preset_settings(), also=[])


async def _registered(server: Server, name: str) -> ToolContract:
    looked_through = await survey(server)
    tool = looked_through.tool(name)
    if tool is None:
        known = [each.name for each in looked_through.tools]
        raise UnknownNameError(f"{server.name!r} has no tool {name!r}. {near(name, known)}")
    if tool.declaration is None:
        raise TypeError(f"{name!r} is no authorized_tool, and so it has no contract: everybody has all of it.")
    return tool.declaration.contract
