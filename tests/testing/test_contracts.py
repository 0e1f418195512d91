"""`contract_of`: the contract of a function, or of a registered tool."""

from __future__ import annotations

from typing import Any

import pytest
from fastmcp import FastMCP
from fastmcp.tools import Tool

from fastmcp_authz import Authz, ContractError, authorized_tool
from fastmcp_authz.testing import FakeContext, UnknownNameError, contract_of
from tests.testing.notes import from_nowhere, notes


@authorized_tool(authorization="staff")
def advance(applicant_id: str, stage: str = "") -> dict[str, Any]:
    """Advance.

    @rbs type output = { success: true, ?audit_trail: Array[String] @requires(:backward_routing) }
    #: (applicant_id: String, ?stage: String @requires(:backward_routing)) -> output
    """
    return {}


def test_the_contract_of_a_decorated_function_filters_as_the_server_would() -> None:
    sent = {"success": True, "audit_trail": ["x"], "ssn": "1"}
    contract = contract_of(advance)
    view = contract.view(FakeContext(can=["backward_routing"]))
    assert view.filter_output(sent) == {"success": True, "audit_trail": ["x"]}
    assert contract.view(FakeContext()).filter_output(sent) == {"success": True}
    assert contract.name == "advance"


def test_of_methods_tools_and_what_authz_registers_too() -> None:
    class Office:
        @authorized_tool
        def close(self) -> dict[str, Any]:
            """@rbs type output = { closed: bool }"""
            return {}

    server: FastMCP[Any] = FastMCP("x")
    authz = Authz(server, context=from_nowhere)

    @authz.tool(name="renamed")
    def named(a: int) -> dict[str, Any]:
        """
        @rbs type output = {}
        #: (a: Integer) -> output
        """
        return {}

    assert contract_of(Office.close) is contract_of(Office().close)
    assert contract_of(Tool.from_function(advance)) is contract_of(advance)
    assert contract_of(named).parameters == ("a",)
    assert contract_of(server, "renamed") is contract_of(named)


async def test_of_a_registered_tool_by_the_name_that_it_is_listed_by() -> None:
    parent: FastMCP[Any] = FastMCP("parent")
    parent.mount(notes(), "ns")
    assert contract_of(parent, "ns_find_notes").parameters == ("word", "deleted", "limit")
    with pytest.raises(UnknownNameError, match=r"'parent' has no tool 'find_notes'\. Did you mean ns_find_notes"):
        contract_of(parent, "find_notes")
    with pytest.raises(TypeError, match="'ns_ping' is no authorized_tool"):
        contract_of(parent, "ns_ping")
    with pytest.raises(TypeError, match="needs the name of a tool"):
        contract_of(parent)  # type: ignore[call-overload]


def test_of_a_plain_function_whose_docstring_has_annotations() -> None:
    def plain(word: str) -> dict[str, Any]:
        """
        @rbs type output = { title: String, ?author: String @requires(:admin) }
        #: (word: String @min(2)) -> output
        """
        return {}

    view = contract_of(plain).view(FakeContext())
    assert view.filter_output({"title": "a", "author": "b"}) == {"title": "a"}
    assert view.input_schema["properties"] == {"word": {"type": "string", "minLength": 2}}

    def wrong(word: str) -> dict[str, Any]:
        """
        @rbs type output = {}
        #: (wrd: String) -> output
        """
        return {}

    with pytest.raises(ContractError, match="wrd"):
        contract_of(wrong)
    with pytest.raises(TypeError, match="takes a function or a server, and this is a int"):
        contract_of(3)  # type: ignore[call-overload]
