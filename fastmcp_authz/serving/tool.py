"""AuthorizedTool: one caller's view of a registered tool, and the one place that enforces."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple, cast

from fastmcp.exceptions import ValidationError
from fastmcp.tools import FunctionTool, Tool, ToolResult
from pydantic import Field
from pydantic import ValidationError as HintError
from pydantic.json_schema import SkipJsonSchema

from fastmcp_authz.callers.deciding import Caller
from fastmcp_authz.callers.scope import CallerUnavailableError
from fastmcp_authz.contracts import refusals
from fastmcp_authz.contracts.view import CallerView
from fastmcp_authz.errors import InvalidInputError, UnknownInputKeysError
from fastmcp_authz.serving.audit import CallRecord, note_called
from fastmcp_authz.serving.declaration import Declaration, owner_of
from fastmcp_authz.serving.jurisdiction import Jurisdiction
from fastmcp_authz.serving.requests import lenient_by_server
from fastmcp_authz.serving.results import cannot_answer, refusal, unknown_tool
from fastmcp_authz.serving.running import Run, running

logger = logging.getLogger("fastmcp_authz")

DEFAULT_DOMAIN = "default"


@dataclass(frozen=True, eq=False)
class Binding:
    """What an `AuthorizedTool` stands for."""

    declaration: Declaration
    jurisdiction: Jurisdiction
    registered: FunctionTool
    """What the author registered; FastMCP's own object, never changed."""
    runner: FunctionTool
    """The same with the adapter in place of the guard, so that hints, injection, timeout and threads are FastMCP's."""


def bind(declaration: Declaration, jurisdiction: Jurisdiction, registered: FunctionTool) -> Binding:
    """The binding of a registered tool whose function carries `declaration`."""
    adapter = declaration.adapter(owner_of(registered.fn))
    return Binding(declaration, jurisdiction, registered, registered.model_copy(update={"fn": adapter}))


# Not a FunctionTool: a task worker registers the bare function of those, and the `run` of any other Tool.
class AuthorizedTool(Tool):
    """A tool as one caller sees it. Its fields are what is shown; whoever runs it is decided for afresh."""

    binding: Annotated[SkipJsonSchema[Any], Field(exclude=True, repr=False)]

    async def run(self, arguments: dict[str, Any]) -> ToolResult:
        """Decides, checks, runs and prunes (SPEC section 5). Refusals are returned; the function's errors are raised.

        Nothing here trusts the fields of this object: it may have been listed for another caller, or for none.
        """
        bound: Binding = self.binding
        async with bound.jurisdiction.scope() as scope:
            if scope is None:
                return unknown_tool(self.name)
            try:
                caller = await scope.caller()
            except CallerUnavailableError:
                return cannot_answer()
            note_called()
            record = CallRecord(caller, self.name, bound.declaration.paths_told)
            try:
                permission = await permitted_view(bound.declaration, caller)
                view = permission.view
                if view is None:
                    record.outcome, record.denied = "unknown_tool", permission.denied
                    return unknown_tool(self.name)
                if view.default_keys:
                    view = await with_own_defaults(view, caller)
                return await self._run_permitted(arguments, bound, view, record)
            finally:
                record.tell()

    async def _run_permitted(
        self, arguments: dict[str, Any], bound: Binding, view: CallerView, record: CallRecord
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
        run = Run(view, record, bound.declaration.content == "passthrough", bound.runner.fn)
        with running(run):
            try:
                return await bound.runner.run(accepted)
            except ValidationError as error:
                if run.entered or not isinstance(error.__cause__, HintError):
                    raise  # the function's own
                record.outcome, record.keys = "invalid_arguments", _refused_by_hints(error.__cause__)
                return refusal(_hints_refuse(self.name, record.keys, view))


class Permission(NamedTuple):
    """Whether a tool exists for a caller."""

    view: CallerView | None
    denied: tuple[str, ...] = ()
    """The predicates that said no, where there is no view."""


async def permitted_view(declaration: Declaration, caller: Caller) -> Permission:
    """What the caller has of a tool.

    Gates first: what is inside a tool that they refuse is not asked.
    """
    if not in_domain(declaration, caller):
        return Permission(None)
    gates = declaration.gates
    granted = await caller.decide(gates) if gates else gates
    if len(granted) < len(gates):
        return Permission(None, tuple(gate.text for gate in gates if gate not in granted))
    contract = declaration.contract
    view = contract.view_of(await caller.decide(contract.predicates), caller.settings)
    if not view.visible:
        logger.info("%s is not shown: guards have taken the whole output that this caller would get.", declaration)
        return Permission(None)
    return Permission(view)


def in_domain(declaration: Declaration, caller: Caller) -> bool:
    """Whether the caller's domain serves the tool."""
    return caller.domain in (declaration.domains or (DEFAULT_DOMAIN,))


async def with_own_defaults(view: CallerView, caller: Caller) -> CallerView:
    """The view with this caller's answers to `@default_for`, on a copy."""
    if view in caller.made:
        return cast("CallerView", caller.made[view])
    answers = await caller.defaults(view.default_keys)
    rejected = view.rejected_defaults(answers)
    if rejected:
        logger.warning("%s: default_for answered what its field does not take: %s.", view.name, ", ".join(rejected))
    made = caller.made[view] = view.with_defaults(answers)
    return made


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
