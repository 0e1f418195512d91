"""What a caller can do on the other side of a door: list and call, in whatever way the door has for that."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import mcp_types
from fastmcp import Client

from tests.routes.office import TO_MANAGER, Shown

Json = Any


@dataclass(frozen=True)
class Names:
    """What the tools and their inputs are called on the other side of a door."""

    tool: Callable[[str], str] = str
    inputs: Mapping[str, str] = field(default_factory=dict)

    def input(self, name: str) -> str:
        return self.inputs.get(name, name)


def renamed(tools: Mapping[str, str], inputs: Mapping[str, str] | None = None) -> Names:
    return Names(lambda name: tools.get(name, name), inputs or {})


def prefixed(prefix: str, inputs: Mapping[str, str] | None = None) -> Names:
    return Names(lambda name: prefix + name, inputs or {})


@dataclass(frozen=True)
class Answer:
    """What a call comes back with."""

    is_error: bool
    data: Json
    """The tool's result; of an error nothing."""
    received: str
    """Every byte of it."""


class Session:
    """A connected caller. As it is, for a door behind which tools are listed and called as on any server."""

    needs: frozenset[str] = frozenset()
    """Tools that the way itself needs."""

    def __init__(self, client: Client[Any], names: Names, beside: frozenset[str] = frozenset()) -> None:
        self.client = client
        self.names = names
        self.beside = beside | self.needs
        self.received: list[str] = []
        """All that came from the other side."""

    async def tools(self) -> Shown:
        """The tools that are shown, under their own names. What the door's server has beside them is left out."""
        own = {self.names.tool(name): name for name in TO_MANAGER}
        inputs = {self.names.input(name): name for shown, _ in TO_MANAGER.values() for name in shown}
        listed = {tool["name"]: tool for tool in await self.listing() if tool["name"] not in self.beside}
        return {
            own.get(name, name): (
                {inputs.get(each, each) for each in properties(tool["inputSchema"])},
                properties(tool.get("outputSchema")),
            )
            for name, tool in listed.items()
        }

    def shows(self, expected: Shown) -> Shown:
        """What of some tools `tools` gives, which is all of it on most ways."""
        return expected

    async def call(self, tool: str, **arguments: Any) -> Answer:
        """Calls the tool of that own name."""
        sent = {self.names.input(name): value for name, value in arguments.items()}
        return await self.reach(self.names.tool(tool), sent)

    async def listing(self) -> list[dict[str, Any]]:
        """The tools as JSON, names and all as they come."""
        return await self.wire_listing()

    async def reach(self, tool: str, arguments: dict[str, Any]) -> Answer:
        """Calls what bears that name on the other side."""
        return await self.wire_call(tool, arguments)

    async def wire_listing(self) -> list[dict[str, Any]]:
        """`tools/list`, page after page."""
        tools: list[dict[str, Any]] = []
        cursor: str | None = None
        while True:
            page = await self.client.list_tools_mcp(cursor=cursor)
            self.received.append(page.model_dump_json(by_alias=True))
            tools += [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in page.tools]
            cursor = page.next_cursor
            if cursor is None:
                return tools

    async def wire_call(self, tool: str, arguments: dict[str, Any], meta: dict[str, Any] | None = None) -> Answer:
        """`tools/call`."""
        answer = answered(await self.client.call_tool_mcp(tool, arguments, meta=meta))
        self.received.append(answer.received)
        return answer


Speak = Callable[[Client[Any], Names, frozenset[str]], Session]


def answered(result: mcp_types.CallToolResult) -> Answer:
    data = result.structured_content
    if data is None and not result.is_error:
        data = _text(result)
    return Answer(result.is_error, data, result.model_dump_json(by_alias=True))


class Searching(Session):
    """A server that shows a search tool and a call tool in place of its tools."""

    searches = ("find", "covert", "SECRET", ".*")
    asks_with = "pattern"

    async def listing(self) -> list[dict[str, Any]]:
        assert {tool["name"] for tool in await self.wire_listing()} == {"search_tools", "call_tool"}
        found: dict[str, dict[str, Any]] = {}
        for words in self.searches:
            answer = await self.wire_call("search_tools", {self.asks_with: words})
            assert not answer.is_error
            found.update({tool["name"]: tool for tool in answer.data["result"]})
        return list(found.values())

    async def reach(self, tool: str, arguments: dict[str, Any]) -> Answer:
        return await self.wire_call("call_tool", {"name": tool, "arguments": arguments})


class FoundAndCalled(Searching):
    """The same, but what was found is called by its name."""

    async def reach(self, tool: str, arguments: dict[str, Any]) -> Answer:
        return await self.wire_call(tool, arguments)


class Ranking(Searching):
    """The same, asked in words."""

    asks_with = "query"


class Coding(Session):
    """Code mode: a search tool, and one that runs code which calls tools."""

    async def listing(self) -> list[dict[str, Any]]:
        assert {tool["name"] for tool in await self.wire_listing()} == {"search", "get_schema", "execute"}
        names: set[str] = set()
        for words in ("find", "covert", "SECRET"):
            answer = await self.wire_call("search", {"query": words, "detail": "full"})
            names |= {tool["name"] for tool in _found(answer)}
        for detail in ("brief", "detailed"):
            await self.wire_call("get_schema", {"tools": sorted(names), "detail": detail})
        return _found(await self.wire_call("get_schema", {"tools": sorted(names), "detail": "full"}))

    async def reach(self, tool: str, arguments: dict[str, Any]) -> Answer:
        answer = await self.wire_call("execute", {"code": f"return await call_tool({tool!r}, {arguments!r})"})
        return answer if answer.is_error else Answer(False, _unwrapped(answer.data), answer.received)


class Bulk(Session):
    """The bulk tool caller that FastMCP contributes: many calls in one."""

    needs = frozenset({"call_tools_bulk", "call_tool_bulk"})

    async def reach(self, tool: str, arguments: dict[str, Any]) -> Answer:
        calls = [{"tool": tool, "arguments": arguments}]
        answer = await self.wire_call("call_tools_bulk", {"tool_calls": calls})
        (result,) = answer.data["result"]
        data = None if result["is_error"] else json.loads(result["content"][0]["text"])
        return Answer(result["is_error"], data, answer.received)


class Nested(Session):
    """A tool of the server lists and calls the others, by its own way; see `tests.routes.nested`."""

    needs = frozenset({"listed", "through"})

    async def listing(self) -> list[dict[str, Any]]:
        answer = await self.wire_call("listed", {})
        assert not answer.is_error, answer.received
        tools: list[dict[str, Any]] = answer.data["tools"]
        return tools

    async def reach(self, tool: str, arguments: dict[str, Any]) -> Answer:
        answer = await self.wire_call("through", {"tool": tool, "arguments": arguments})
        if answer.is_error:
            return answer
        return Answer(answer.data["is_error"], answer.data.get("data"), answer.received)


class BehindFacades(Session):
    """A server that shows one tool for all of a category, which tells their inputs and not their outputs."""

    facade = "uncategorized_tools"

    def shows(self, expected: Shown) -> Shown:
        return {name: (inputs, set()) for name, (inputs, _) in expected.items()}

    async def listing(self) -> list[dict[str, Any]]:
        facades = {tool["name"]: tool for tool in await self.wire_listing() if tool["name"] not in self.beside}
        (facade,) = facades.values()
        assert facade["name"] == self.facade
        schemas: dict[str, Any] = facade["_meta"]["tool-input-schemas"]
        assert facade["inputSchema"]["properties"]["tool_name"]["enum"] == list(schemas)
        return [{"name": name, "inputSchema": schema} for name, schema in schemas.items()]

    async def reach(self, tool: str, arguments: dict[str, Any]) -> Answer:
        return await self.wire_call(self.facade, {"tool_name": tool, "arguments": arguments})


class BehindANamespacedFacade(BehindFacades):
    """The same on a mounted server, whose names its parent does not change behind the facade."""

    facade = "ns_uncategorized_tools"


class PastFacades(BehindFacades):
    """The same, but tools are called by their names."""

    async def reach(self, tool: str, arguments: dict[str, Any]) -> Answer:
        return await self.wire_call(tool, arguments)


class BulkBehindFacades(BehindFacades):
    """A facade, called by the bulk tool caller."""

    needs = Bulk.needs

    async def reach(self, tool: str, arguments: dict[str, Any]) -> Answer:
        return await Bulk.reach(self, self.facade, {"tool_name": tool, "arguments": arguments})  # type: ignore[arg-type]


class NestedBehindFacades(BehindFacades):
    """A facade, called by a tool of the server."""

    needs = Nested.needs

    async def reach(self, tool: str, arguments: dict[str, Any]) -> Answer:
        return await Nested.reach(self, self.facade, {"tool_name": tool, "arguments": arguments})  # type: ignore[arg-type]


class SwitchingOn(Session):
    """What is off is switched on first, with every listing."""

    needs = frozenset({"switch_on"})

    async def listing(self) -> list[dict[str, Any]]:
        assert not (await self.wire_call("switch_on", {})).is_error
        return await self.wire_listing()


class Numbered(Session):
    """A server with versions, each called by its number."""

    versions: Mapping[str, str] = {"find": "1", "covert_vault": "7", "absent_vault": "7"}

    async def reach(self, tool: str, arguments: dict[str, Any]) -> Answer:
        shown = next((each for each in await self.listing() if each["name"] == tool), None)
        newest = shown["_meta"]["fastmcp"]["version"] if shown is not None else None
        version = self.versions.get(tool, newest)
        return await self.wire_call(tool, arguments, meta={"fastmcp": {"version": version}})


def properties(schema: Json) -> set[str]:
    """The property names in a schema, at any depth."""
    if isinstance(schema, list):
        return {name for each in schema for name in properties(each)}
    if not isinstance(schema, dict):
        return set()
    names = set(schema.get("properties", ()))
    return names.union(*(properties(each) for each in schema.values()))


def _text(result: mcp_types.CallToolResult) -> str:
    return "".join(block.text for block in result.content if block.type == "text")


def _unwrapped(data: Json) -> Json:
    return data["result"] if isinstance(data, dict) and set(data) == {"result"} else data


def _found(answer: Answer) -> list[dict[str, Any]]:
    text = _unwrapped(answer.data)
    found: list[dict[str, Any]] = json.loads(text) if text.startswith("[") else []
    return found
