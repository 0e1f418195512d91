"""What one caller's tools weigh, and what of them goes beyond what providers of models take."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from fastmcp.server.transforms.visibility import is_enabled
from fastmcp.tools import Tool

from fastmcp_authz.callers.deciding import Caller
from fastmcp_authz.callers.scope import Authority
from fastmcp_authz.contracts.limits import LIMITS, Measures, measured
from fastmcp_authz.serving.cards import card, is_personal, personal
from fastmcp_authz.serving.ours import Ours, ours_of
from fastmcp_authz.serving.permitting import permission

_BYTES_A_TOKEN = 4
"""Of JSON, roughly, for every provider: an estimate, to compare tools by."""


class ToolReport(NamedTuple):
    """One tool, as it stands in `tools/list`."""

    name: str
    size: int
    """Bytes of JSON."""
    tokens: int
    """An estimate: four bytes are one."""
    input: Measures
    """What is counted in its input schema."""
    beyond: tuple[str, ...] = ()
    """What of it is more than a provider takes: `openai: 12 levels of objects, at most 10`."""


@dataclass(frozen=True, slots=True)
class Report:
    """A caller's tools. `str()` is a table for the eye."""

    tools: tuple[ToolReport, ...]

    @property
    def size(self) -> int:
        """Bytes of JSON, of all tools together."""
        return sum(tool.size for tool in self.tools)

    @property
    def tokens(self) -> int:
        """Estimated tokens, of all tools together."""
        return sum(tool.tokens for tool in self.tools)

    @property
    def beyond(self) -> tuple[str, ...]:
        """What all tools together have more of than a provider takes in one request."""
        totals = {each: sum(getattr(tool.input, each) for tool in self.tools) for each in Measures._fields}
        lines = list(_beyond(Measures(**totals), per_request=True))
        lines += [
            f"{provider}: {len(self.tools)} strict tools, at most {limits.tools}"
            for provider, limits in LIMITS.items()
            if limits.tools is not None and len(self.tools) > limits.tools
        ]
        return tuple(lines)

    def __str__(self) -> str:
        width = max([len("tool"), *(len(tool.name) for tool in self.tools)])
        rows = [f"{'tool':{width}}  {'bytes':>7}  {'tokens':>6}  {'optional':>8}  {'unions':>6}"]
        for tool in self.tools:
            counts = f"{tool.input.optional:8}  {tool.input.unions:6}"
            rows.append(f"{tool.name:{width}}  {tool.size:7,}  {tool.tokens:6,}  {counts}")
            rows += [f"  {line}" for line in tool.beyond]
        rows.append(f"{'all':{width}}  {self.size:7,}  {self.tokens:6,}")
        return "\n".join([*rows, *(f"  {line}" for line in self.beyond)])


async def seen_by(caller: Caller, authority: Authority, tools: Sequence[Tool]) -> list[Tool]:
    """The tools as a caller is listed them, one by one; those that are not ours as they are.

    Args:
        caller: Whoever asks; no request is needed.
        authority: Who decides for the caller. Tools that others decide for are left out.
        tools: The tools of a server as somebody is listed them who may see nothing that is guarded.
    """
    seen: list[Tool] = []
    for tool in filter(is_enabled, tools):
        ours = ours_of(tool)
        if isinstance(ours, Ours):
            if ours.elsewhere is not None and ours.elsewhere.is_decided_by(authority):
                shown = await shown_to(caller, ours)
                seen += [] if shown is None else [shown]
        elif ours is not None:
            seen.append(ours)
    return seen


async def shown_to(caller: Caller, ours: Ours) -> Tool | None:
    """A tool of a jurisdiction, as a caller is listed it; `None` where it does not exist for the caller."""
    assert ours.elsewhere is not None
    kept, _ = await permission(ours.declaration, caller)
    if kept is None:
        return None
    shared = card(kept, ours.declaration, ours.elsewhere, ours.registered)
    own = await personal(shared, kept.view, caller) if is_personal(kept.view, ours.declaration) else shared
    return ours.swapped(own.tool)


def reported(tool: Tool) -> ToolReport:
    """What there is to say of a listed tool."""
    listed = tool.to_mcp_tool()
    size = len(listed.model_dump_json(by_alias=True, exclude_none=True).encode())
    measures = measured(listed.input_schema)
    return ToolReport(
        tool.name, size, -(-size // _BYTES_A_TOKEN), measures, tuple(_beyond(measures, per_request=False))
    )


_CALLED = {"depth": "levels of objects", "enum_values": "values of enums", "optional": "optional parameters"}


def _beyond(measures: Measures, *, per_request: bool) -> Iterator[str]:
    for provider, limits in LIMITS.items():
        if limits.per_request == per_request:
            for what, (found, most) in measures.beyond(limits).items():
                yield f"{provider}: {found} {_CALLED.get(what, what)}, at most {most}"
