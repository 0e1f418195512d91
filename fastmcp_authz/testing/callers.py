"""Somebody who calls a real server through a real client: what they are listed, answered and refused."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import mcp_types
from fastmcp import Client
from mcp_types import CallToolResult

from fastmcp_authz.errors import AuthzError
from fastmcp_authz.events import Event, ToolCalled, ToolsListed
from fastmcp_authz.survey.survey import Survey, authorities_over, survey
from fastmcp_authz.testing.names import Names, UnknownNameError, named, near
from fastmcp_authz.testing.seen import Tools, ToolView
from fastmcp_authz.testing.standing_in import Role, Stage, playing

_REFUSED = ("unknown_tool", "unknown_keys", "invalid_arguments", "unavailable")


class CallError(AuthzError, AssertionError):
    """A call of a test's came to something else than the test expected."""


class RefusedError(CallError):
    """A call was refused, and nothing was executed."""

    def __init__(self, message: str, text: str) -> None:
        super().__init__(message)
        self.text = text
        """The refusal, as the caller reads it."""


class AuthzCaller:
    """Somebody who is connected to a server. Made by `caller_of`."""

    def __init__(self, server: Survey, role: Role, stage: Stage, client: Client[Any]) -> None:
        self.client = client
        """FastMCP's own client, for everything else that a client does; its requests are this caller's too."""
        self.tools: Tools
        """The tools by name, as they were listed last: on connecting, or by `list_tools`."""
        self._server = server
        self._role = role
        self._stage = stage
        self._hidden: dict[str, tuple[str, ...]] = {}

    async def list_tools(self) -> Tools:
        """Has the tools listed once more; `tools` are these then."""
        await self._look_again()
        with playing(self._role) as told:
            listed = await self.client.list_tools()
        for event in told:
            if isinstance(event, ToolsListed):
                self._hidden.update(event.hidden)
        self.tools = Tools({tool.name: self._view(tool) for tool in listed}, self._why_not, self._is_known)
        return self.tools

    async def _look_again(self) -> None:
        """Something may have been registered or mounted since."""
        self._server = await survey(self._server.server)
        self._stage.enter(self._server.authorities)

    async def call(self, tool: str, /, **arguments: Any) -> Any:
        """The structured content that a call is answered with.

        Raises:
            RefusedError: It was refused; the message is the refusal.
            CallError: It was carried out, and failed, or its result was withheld.
        """
        __tracebackhide__ = True
        result, told = await self._send(tool, arguments)
        if not result.is_error:
            return result.structured_content
        if _was_refused(result, told):
            raise RefusedError(f"{self} was refused: {_text(result)}", _text(result))
        raise self._unexpected(tool, result, told, "and should have been answered")

    async def refused(self, tool: str, /, **arguments: Any) -> str:
        """The text that a call is refused with, where it is refused and nothing was executed.

        Raises:
            CallError: It was carried out, whatever came of it; or it was refused only since parameters were not sent
                that the tool is listed to require. Send it with `caller.client` where that is meant.
            UnknownNameError: No tool of the server is called so, or has such a parameter, for anybody: the call would
                be refused for that alone. Send it with `caller.client` where that is meant.
        """
        __tracebackhide__ = True
        if self._server.tool(tool) is None:
            await self._look_again()
        self._must_be_there(tool, arguments)
        result, told = await self._send(tool, arguments)
        if not _was_refused(result, told):
            raise self._unexpected(tool, result, told, "and should have been refused")
        lacking = self._only_lacking(tool, arguments, told)
        if lacking:
            names = f"{', '.join(sorted(lacking))} {'is' if len(lacking) == 1 else 'are'} required"
            raise CallError(
                f"{tool} was refused to {self} only since {names}: send what is otherwise right, or use caller.client "
                f"where that is meant. The refusal: {_text(result)}"
            )
        return _text(result)

    async def withheld(self, tool: str, /, **arguments: Any) -> tuple[str, ...]:
        """What the operator is told of a result that was withheld, where the call was carried out and it was.

        Raises:
            RefusedError: The call was refused.
            CallError: Its result was sent, or it failed.
        """
        __tracebackhide__ = True
        result, told = await self._send(tool, arguments)
        if _was_refused(result, told):
            raise RefusedError(f"{self} was refused: {_text(result)}", _text(result))
        called = _called(told)
        if called is not None and called.outcome == "withheld":
            return called.report
        raise self._unexpected(tool, result, told, "and its result should have been withheld")

    async def _send(self, tool: str, arguments: dict[str, Any]) -> tuple[CallToolResult, Sequence[Event]]:
        self._stage.enter(await authorities_over(self._server.server))  # something may have been mounted since
        with playing(self._role) as told:
            return await self.client.call_tool_mcp(tool, arguments), told

    def _unexpected(self, tool: str, result: CallToolResult, told: Sequence[Event], otherwise: str) -> CallError:
        called = _called(told)
        if called is not None and called.outcome == "withheld":
            came = f"Its result was withheld: {'; '.join(called.report)}"
        elif result.is_error:
            came = f"It failed: {_text(result)}"
        else:
            sent = _text(result) if result.structured_content is None else result.structured_content
            came = f"It was sent: {sent}"
        return CallError(f"{tool} was carried out for {self}, {otherwise}. {came}")

    def _must_be_there(self, tool: str, arguments: dict[str, Any]) -> None:
        __tracebackhide__ = True
        surveyed = self._server.tool(tool)
        if surveyed is None:
            if tool not in self.tools:
                raise UnknownNameError(self._why_not(tool))
            known = self.tools[tool].inputs
        elif surveyed.declaration is None:
            known = ToolView.of(surveyed.least.to_mcp_tool()).inputs
        else:
            known = frozenset(surveyed.declaration.contract.parameters)
        for name in sorted(arguments.keys() - known):
            raise UnknownNameError(f"{tool} has no parameter {name!r}, for anybody. {near(name, known)}")

    def _only_lacking(self, tool: str, arguments: dict[str, Any], told: Sequence[Event]) -> frozenset[str]:
        """The parameters that this caller is listed as required and that were not sent, if a call lacked only these."""
        listed = (view.required for name, view in self.tools.items() if name == tool)
        lacking = frozenset(next(listed, frozenset())) - arguments.keys()
        called = _called(told)
        if called is None:
            return lacking  # the tool is not ours, and FastMCP tells no more
        return lacking if called.outcome == "invalid_arguments" and lacking >= {*called.keys} > set() else frozenset()

    def _view(self, tool: mcp_types.Tool) -> ToolView:
        """A tool as it was listed, with the names that others have of it."""
        view, surveyed = ToolView.of(tool), self._server.tool(tool.name)
        if surveyed is None:
            return view
        inputs: set[str] = set()
        outputs: set[str] = set()
        if surveyed.declaration is not None:
            inputs.update(surveyed.declaration.contract.parameters)
            outputs.update(
                ".".join(step.name for step in part.steps if step.kind == "field")
                for part in surveyed.output.parts
                if part.is_field
            )
        return replace(view, inputs=Names(view.inputs, inputs), outputs=Names(view.outputs, outputs))

    def _is_known(self, tool: str) -> bool:
        return self._server.tool(tool) is not None

    def _why_not(self, tool: str) -> str:
        if self._server.tool(tool) is None:
            known = {*self.tools, *(each.name for each in self._server.tools)}
            return f"{self._server.server.name!r} has no tool {tool!r}. {near(tool, known)}"
        denied = self._hidden.get(tool, ())
        why = f": {' and '.join(denied)} said no" if denied else ""
        return f"{tool} is hidden from {self}{why}."

    def __repr__(self) -> str:
        return named(self._role.who)


def _called(told: Sequence[Event]) -> ToolCalled | None:
    """What came of a call: what was called within it was told of before."""
    return next((event for event in reversed(told) if isinstance(event, ToolCalled)), None)


def _was_refused(result: CallToolResult, told: Sequence[Event]) -> bool:
    called = _called(told)  # nothing where the tool is not ours, or is nobody's: FastMCP tells errors not apart then
    return result.is_error and (called is None or called.outcome in _REFUSED)


def _text(result: CallToolResult) -> str:
    return "\n".join(block.text for block in result.content if block.type == "text")
