"""From a function's return value to what is sent: pruned once, serialised once (SPEC section 5)."""

from __future__ import annotations

import json
import logging
import math
from collections.abc import Iterator
from typing import Any

import mcp_types
from fastmcp.tools import ToolResult
from pydantic_core import to_json

from fastmcp_authz.contracts import refusals
from fastmcp_authz.contracts.opening import Opening, json_key, json_leaf
from fastmcp_authz.contracts.view import CallerView
from fastmcp_authz.errors import OutputWithheldError
from fastmcp_authz.serving.audit import CallRecord

logger = logging.getLogger("fastmcp_authz")

Blocks = list[mcp_types.ContentBlock]


def refusal(text: str) -> ToolResult:
    """An in-band error. Returned and never raised: ErrorHandlingMiddleware makes a JSON-RPC error of what is raised."""
    return ToolResult(content=[mcp_types.TextContent(type="text", text=text)], is_error=True)


def unknown_tool(name: str) -> ToolResult:
    """What FastMCP answers to a name that it does not know, to the letter."""
    return refusal(f"Unknown tool: {name!r}")


def cannot_answer() -> ToolResult:
    """What a call gets where nobody can be asked. Says nothing of why."""
    return refusal("The server cannot answer at the moment. Nothing was executed.")


def sent(value: Any, view: CallerView, record: CallRecord, *, passthrough: bool) -> ToolResult:
    """What is sent for `value`: its visible part, as structured content and as text.

    Args:
        value: What the function returned: data, or a result of its own making.
        view: What the caller may see.
        record: What the operator is told of the call.
        passthrough: Whether content blocks of the function's own making are sent as they are.
    """
    try:
        return _sent(value, view, record, passthrough)
    except OutputWithheldError as error:
        report = tuple(line.rstrip(".") for line in error.report)
        logger.error("%s: a result was withheld: %s.", record.tool, "; ".join(report))
    except Exception as error:
        # Not the exception itself: its text may quote the value.
        report = (f"pruning it failed with {type(error).__name__}",)
        logger.error("%s: a result was withheld, %s.", record.tool, *report)
    record.outcome, record.report = "withheld", report
    return refusal(refusals.withheld(record.tool))


def _sent(value: Any, view: CallerView, record: CallRecord, passthrough: bool) -> ToolResult:
    tool = record.tool
    data, blocks, is_error = _taken_apart(value)
    if is_error:
        return _error(data, blocks, view, tool)
    if data is None and blocks:
        raise OutputWithheldError(
            "", ("content without data: return `structured_content` too, which is what is checked",)
        )
    pruned = view.prune(data, tool=tool)
    content: Blocks = [mcp_types.TextContent(type="text", text=pruned.text.decode())]
    if passthrough and blocks:
        content = [content[0] if _repeats(block, data) else block for block in blocks]
    else:
        _only_text(blocks, tool)
    record.sent(pruned.left_out)
    # The constructor would serialise the data again and parse it back. What is pruned is JSON data already: its text
    # proves it.
    return ToolResult.model_construct(content=content, structured_content=pruned.sent, meta=None, is_error=False)


def _error(data: Any, blocks: Blocks, view: CallerView, tool: str) -> ToolResult:
    """An error of the function's own: its words as they are, as an exception's would be, its data pruned.

    Raises:
        OutputWithheldError: It has no words, and its data fits nothing that the caller may see.
    """
    texts = _only_text(blocks, tool, "An error is sent as text.")
    written = [found for block in texts if (found := _as_data(block)) is not None]
    if data is None and written:
        data = written[0]
    words = [block for block in texts if _as_data(block) is None]
    try:
        pruned = None if data is None else view.filter_output(data, tool=tool)
    except OutputWithheldError:
        if not words:
            raise
        pruned = None
    content = words if pruned is None or words else [mcp_types.TextContent(type="text", text=to_json(pruned).decode())]
    content = content or [mcp_types.TextContent(type="text", text=f"{tool}: The call failed.")]
    return ToolResult.model_construct(content=content, structured_content=pruned, meta=None, is_error=True)


def _taken_apart(value: Any) -> tuple[Any, Blocks, bool]:
    """Data, content blocks, and whether it is an error. `meta` is left behind: nothing prunes it."""
    if isinstance(value, ToolResult | mcp_types.CallToolResult):
        return value.structured_content, list(value.content), bool(value.is_error)
    if isinstance(value, tuple) and len(value) == 2 and _are_blocks(value[0]):
        return value[1], list(value[0]), False
    return value, [], False


def _are_blocks(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, mcp_types.ContentBlock) for item in value)


def _as_data(block: mcp_types.ContentBlock) -> Any:
    """The data that a text is, an object or a list; `None` where it is words."""
    if not isinstance(block, mcp_types.TextContent) or block.text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        return json.loads(block.text)
    except (ValueError, RecursionError):
        return None


def _repeats(block: mcp_types.ContentBlock, data: Any) -> bool:
    """Whether a block is the data as text, which FastMCP writes where a result has no content of its own.

    Those words are not the function's, and hold everything.
    """
    told = _as_data(block)
    return told is not None and _is_same(told, data)


def _is_same(told: Any, data: Any) -> bool:
    """Whether JSON data is that of a value, of which no iterator is read and no code is run that need not be."""
    opening = Opening()
    container = list if isinstance(data, Iterator) else opening.container(data)
    if isinstance(told, dict) and container is dict:
        names = {json_key(key): part for key, part in opening.object(data).items()}
        return told.keys() == names.keys() and all(_is_same(part, names[key]) for key, part in told.items())
    if isinstance(told, list) and container is list and not isinstance(data, Iterator):
        parts = opening.array(data)
        return len(told) == len(parts) and all(map(_is_same, told, parts))
    if container is not None or isinstance(told, dict | list):
        return False
    leaf = json_leaf(data)
    if isinstance(leaf, float) and not math.isfinite(leaf):
        return told is None or isinstance(told, float)  # written as `null`, or in words that JSON has not
    return bool(told == leaf)


def _only_text(blocks: Blocks, tool: str, advice: str = 'Say content="passthrough" to send it.') -> Blocks:
    """The text blocks; the kinds of the others are logged, since they are not sent."""
    others = sorted({block.type for block in blocks if not isinstance(block, mcp_types.TextContent)})
    if others:
        logger.warning(
            "%s returned content that nothing prunes, so it was dropped: %s. %s", tool, ", ".join(others), advice
        )
    return [block for block in blocks if isinstance(block, mcp_types.TextContent)]
