"""AuthorizedTool: one caller's view of a registered tool, and the one place that enforces."""

from __future__ import annotations

import functools
import logging
from dataclasses import dataclass
from typing import Annotated, Any, cast

import mcp_types
from fastmcp import Context
from fastmcp.exceptions import ValidationError
from fastmcp.tools import FunctionTool, Tool, ToolResult
from pydantic import Field
from pydantic import ValidationError as HintError
from pydantic.json_schema import SkipJsonSchema

from fastmcp_authz.callers.scope import CallerUnavailableError
from fastmcp_authz.contracts import refusals
from fastmcp_authz.contracts.view import CallerView
from fastmcp_authz.errors import InvalidInputError, UnknownInputKeysError
from fastmcp_authz.serving.audit import CallRecord, note_called
from fastmcp_authz.serving.declaration import Declaration, owner_of
from fastmcp_authz.serving.jurisdiction import Jurisdiction
from fastmcp_authz.serving.permitting import permission, with_own_defaults
from fastmcp_authz.serving.requests import current_context, key_of, lenient_by_server
from fastmcp_authz.serving.results import cannot_answer, refusal, unknown_tool
from fastmcp_authz.serving.running import Run, running

logger = logging.getLogger("fastmcp_authz")


@dataclass(frozen=True, eq=False)
class Binding:
    """What an `AuthorizedTool` stands for."""

    declaration: Declaration
    jurisdiction: Jurisdiction
    registered: FunctionTool
    """What the author registered; FastMCP's own object, never changed."""

    @functools.cached_property
    def runner(self) -> FunctionTool:
        """The same with the adapter in place of the guard, so that hints, injection, timeout and threads are FastMCP's.

        Made at the first call: most tools are only ever listed.
        """
        adapter = self.declaration.adapter(owner_of(self.registered.fn))
        return self.registered.model_copy(update={"fn": adapter})

    def __deepcopy__(self, memo: dict[int, Any]) -> Binding:
        return self  # a copy of a tool stands for what the tool stands for


# Not a FunctionTool: a task worker registers the bare function of those, and the `run` of any other Tool.
class AuthorizedTool(Tool):
    """A tool as one caller sees it. Its fields are what is shown; whoever runs it is decided for afresh."""

    __slots__ = ("_ready",)
    """What FastMCP wanted said otherwise in a list, and what came of it. No field, so that no copy takes it along."""

    binding: Annotated[SkipJsonSchema[Any], Field(exclude=True, repr=False)]

    def to_mcp_tool(self, **overrides: Any) -> mcp_types.Tool:
        """What goes out in lists, made once for all callers who see the same."""
        made: mcp_types.Tool | None
        try:
            said, made = cast("Any", self)._ready
        except AttributeError:
            said = made = None
        if made is None or said != overrides:
            made = super().to_mcp_tool(**overrides)
            object.__setattr__(self, "_ready", (overrides, made))
        return made

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        object.__setattr__(self, "_ready", (None, None))

    async def run(self, arguments: dict[str, Any]) -> ToolResult:
        """Decides, checks, runs and prunes (SPEC section 5). Refusals are returned; the function's errors are raised.

        Nothing here trusts the fields of this object: it may have been listed for another caller, or for none.
        """
        bound: Binding = self.binding
        context = current_context()
        async with bound.jurisdiction.scope(key_of(context)) as scope:
            if scope is None:
                return unknown_tool(self.name)
            try:
                caller = await scope.caller()
            except CallerUnavailableError:
                return cannot_answer()
            note_called()
            record = CallRecord(caller, self.name, bound.declaration.paths_told)
            try:
                kept, denied = await permission(bound.declaration, caller)
                if kept is None:
                    record.outcome, record.denied = "unknown_tool", denied
                    return unknown_tool(self.name)
                view = await with_own_defaults(kept.view, caller)
                return await self._run_permitted(arguments, bound, view, record, context)
            finally:
                record.tell()

    async def _run_permitted(
        self,
        arguments: dict[str, Any],
        bound: Binding,
        view: CallerView,
        record: CallRecord,
        context: Context | None,
    ) -> ToolResult:
        caller = record.caller
        lenient = caller.settings.lenient_inputs
        try:
            accepted = view.filter_input(
                arguments, lenient=lenient_by_server() if lenient is None else lenient, tool=self.name
            )
        except (UnknownInputKeysError, InvalidInputError) as error:
            record.outcome = "unknown_keys" if isinstance(error, UnknownInputKeysError) else "invalid_arguments"
            record.keys = error.keys
            return refusal(str(error))
        if caller.settings.nullable_inputs == "opt-in":
            accepted = {**dict.fromkeys(bound.declaration.null_where_left_out), **accepted}
        run = Run(view, record, bound.declaration.content == "passthrough", bound.runner.fn, context)
        with running(run):
            try:
                return await bound.runner.run(accepted)
            except ValidationError as error:
                if run.entered or not isinstance(error.__cause__, HintError):
                    raise  # the function's own
                record.outcome, record.keys = "invalid_arguments", _refused_by_hints(error.__cause__)
                return refusal(_hints_refuse(self.name, record.keys, view))


def _refused_by_hints(error: HintError) -> tuple[str, ...]:
    """Parameters by name and nothing else: pydantic's texts quote the value, and name what hidden members accept."""
    found = (each["loc"] for each in error.errors(include_url=False, include_input=False))
    return tuple(sorted({str(place[0]) for place in found if place}))


def _hints_refuse(tool: str, names: tuple[str, ...], view: CallerView) -> str:
    """The refusal where the function's own hints refuse what the contract accepts."""
    shown = view.input_schema.get("properties", {})
    logger.warning(
        "%s: the hints of the function refused what its annotation accepts, in %s. Make the two agree.",
        tool,
        ", ".join(names) or "its arguments",
    )
    problems = [f"{name}: is not accepted by the tool." for name in names if name in shown]
    return refusals.invalid_values(tool, problems)
