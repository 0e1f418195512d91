"""The example over real connections: three people, three worlds, whatever client and protocol era they come with."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, closing
from pathlib import Path
from typing import Any

import httpx2
import pytest
from fastmcp.server.auth.providers.jwt import RSAKeyPair
from jsonschema import Draft202012Validator, FormatChecker
from mcp_types import Tool
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS

from tests.recruiting import CLIENTS, LEGACY, MODERN, ClientKind, Connection, served_over_http, text, token_of

MODERN_CLIENT = ClientKind("fastmcp", MODERN)

PEOPLE = ("viewer", "operator", "manager")

PAGE = {"type": "integer", "minimum": 1, "default": 1}
QUERY = {"type": "string", "minLength": 1, "description": "Part of a name"}
NAME = {"type": "string", "minLength": 2, "description": "At least two letters of it"}
STAGE = {"type": "string", "enum": ["applied", "screening", "interview", "offer"]}


def per_page(default: int) -> dict[str, Any]:
    return {"type": "integer", "minimum": 1, "maximum": 50, "default": default}


SEARCH = {"type": "object", "properties": {"name": NAME}, "required": ["name"], "additionalProperties": False}

ADVANCE = {
    "type": "object",
    "properties": {
        "applicant_id": {"type": "string", "description": "As list_applicants gives it"},
        "workflow_id": {"type": "string", "description": "`hiring` is the only one"},
    },
    "required": ["applicant_id", "workflow_id"],
    "additionalProperties": False,
}

ADVANCE_AND_REROUTE = {
    "type": "object",
    "properties": {
        "applicant_id": {"type": "string", "description": "As list_applicants gives it"},
        "workflow_id": {"type": "string", "description": "`hiring` is the only one"},
        "stage_id": {**STAGE, "description": "Move here instead, also backwards"},
        "reason": {"type": "string", "minLength": 1, "description": "Why there"},
    },
    "required": ["applicant_id", "workflow_id"],
    "dependentRequired": {"stage_id": ["reason"]},
    "additionalProperties": False,
}

SMS = {
    "type": "object",
    "properties": {
        "applicant_ids": {
            "type": "array",
            "items": {"type": "string"},
            "minItems": 1,
            "maxItems": 500,
            "uniqueItems": True,
        },
        "body": {"type": "string", "minLength": 1, "maxLength": 160},
    },
    "required": ["applicant_ids", "body"],
    "additionalProperties": False,
}

INPUTS: dict[str, dict[str, dict[str, Any]]] = {
    "viewer": {
        "list_applicants": {
            "type": "object",
            "properties": {"page": PAGE, "per_page": per_page(2)},
            "additionalProperties": False,
        },
        "search_applicants": SEARCH,
    },
    "operator": {
        "list_applicants": {
            "type": "object",
            "properties": {"query": QUERY, "page": PAGE, "per_page": per_page(3)},
            "additionalProperties": False,
        },
        "search_applicants": SEARCH,
        "advance_step": ADVANCE,
    },
    "manager": {
        "list_applicants": {
            "type": "object",
            "properties": {
                "query": QUERY,
                "page": PAGE,
                "per_page": per_page(5),
                "include_archived": {"type": "boolean", "default": False},
            },
            "additionalProperties": False,
        },
        "search_applicants": SEARCH,
        "advance_step": ADVANCE_AND_REROUTE,
        "bulk_send_sms": SMS,
    },
}

SUCCESS = {"success", "applicant_id", "stage"}
ERROR = {"success", "message"}

OUTPUTS: dict[str, dict[str, list[set[str]]]] = {
    "viewer": {},
    "operator": {"advance_step": [SUCCESS, ERROR]},
    "manager": {"advance_step": [SUCCESS, SUCCESS | {"rerouted_from", "reason"}, ERROR]},
}

ROWS: dict[str, set[str]] = {
    "viewer": {"id", "name"},
    "operator": {"id", "name", "stage"},
    "manager": {"id", "name", "stage", "score", "email", "phone"},
}

CHLOE = {
    "id": "a3",
    "name": "Chloe Dunn",
    "stage": "interview",
    "score": 88,
    "email": "chloe@example.org",
    "phone": "020 7946 0103",
}

REFUSAL = (
    "advance_step: Unknown parameters: reason, stage_id. Nothing was executed. Accepted parameters: applicant_id, "
    "workflow_id. If your task depends on a rejected parameter (for example filtering by it), do not re-run this call "
    "without it: the result would be unfiltered. Do not substitute another parameter to approximate it. Use a tool "
    "that supports it, or tell the user it is not possible."
)


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return tmp_path / "recruiting.db"


@pytest.fixture
async def url(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[str]:
    async with served_over_http(tmp_path, monkeypatch) as url:
        yield url


def resolved(schema: dict[str, Any], root: dict[str, Any]) -> dict[str, Any]:
    if "$ref" not in schema:
        return schema
    rest = {keyword: value for keyword, value in schema.items() if keyword != "$ref"}
    return {**root["$defs"][schema["$ref"].removeprefix("#/$defs/")], **rest}


def inlined(tool: Tool) -> dict[str, Any]:
    """The input schema with the references of its properties followed."""
    schema = tool.input_schema
    properties = {name: resolved(value, schema) for name, value in schema["properties"].items()}
    return {key: value for key, value in schema.items() if key != "$defs"} | {"properties": properties}


def members(tool: Tool) -> list[set[str]]:
    """The fields of each variant of a union at the root of an output."""
    schema = tool.output_schema
    assert schema is not None
    variants = schema.get("oneOf") or schema.get("anyOf")
    assert variants is not None, schema
    return [set(resolved(variant, schema)["properties"]) for variant in variants]


def row(tool: Tool, field: str) -> set[str]:
    """The fields of each item of the list `field` of an output."""
    schema = tool.output_schema
    assert schema is not None
    return set(resolved(schema["properties"][field]["items"], schema)["properties"])


def only(person: str, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{name: value for name, value in row.items() if name in ROWS[person]} for row in rows]


async def assert_world(connection: Connection, person: str) -> None:
    """What is listed for this person, by value, and that what they then receive is that and no more."""
    tools = await connection.tools()
    assert {name: inlined(tool) for name, tool in tools.items()} == INPUTS[person]
    assert {name: members(tools[name]) for name in OUTPUTS[person]} == OUTPUTS[person]
    assert row(tools["list_applicants"], "applicants") == ROWS[person]
    assert row(tools["search_applicants"], "matches") == ROWS[person]
    for tool in tools.values():
        assert "@rbs" not in (tool.description or "")
        assert "#:" not in (tool.description or "")

    found = await connection.call("search_applicants", {"name": "Dunn"})
    assert found.structured_content == {"matches": only(person, [CHLOE])}
    assert json.loads(text(found)) == found.structured_content

    listed = await connection.call("list_applicants", {})
    assert listed.structured_content is not None
    assert len(listed.structured_content["applicants"]) == {"viewer": 2, "operator": 3, "manager": 5}[person]

    for name, result in (("search_applicants", found), ("list_applicants", listed)):
        schema = tools[name].output_schema
        assert schema is not None
        Draft202012Validator(schema, format_checker=FormatChecker()).validate(result.structured_content)
        if person != "manager":
            sent = result.model_dump_json()
            assert not [secret for secret in ("@example.org", "7946", "score", "88") if secret in sent]


@pytest.mark.parametrize("client", CLIENTS, ids=str)
async def test_three_people_see_three_worlds_over_http(client: ClientKind, url: str) -> None:
    for person in PEOPLE:
        async with client.over_http(url, token_of(person)) as connection:
            versions = HANDSHAKE_PROTOCOL_VERSIONS if client.mode == LEGACY else MODERN_PROTOCOL_VERSIONS
            assert connection.protocol_version in versions
            await assert_world(connection, person)


@pytest.mark.parametrize("client", [ClientKind("fastmcp", MODERN), ClientKind("mcp", LEGACY)], ids=str)
@pytest.mark.parametrize("person", ["viewer", "manager"])
async def test_over_stdio_the_one_who_starts_the_server_says_who_they_are(
    client: ClientKind, person: str, tmp_path: Path, database: Path
) -> None:
    environment = {"RECRUITING_PERSON": person, "RECRUITING_DATABASE": str(database)}
    async with client.over_stdio(environment, tmp_path / "log") as connection:
        await assert_world(connection, person)


async def test_over_stdio_nobody_sees_nothing(tmp_path: Path, database: Path) -> None:
    async with MODERN_CLIENT.over_stdio({"RECRUITING_DATABASE": str(database)}, tmp_path / "log") as connection:
        assert await connection.tools() == {}
        refused = await connection.call("list_applicants", {})
        assert (refused.is_error, text(refused)) == (True, "Unknown tool: 'list_applicants'")


@pytest.mark.parametrize("client", CLIENTS, ids=str)
async def test_a_hidden_parameter_is_refused_to_the_letter_and_nothing_happens(
    client: ClientKind, url: str, database: Path
) -> None:
    arguments = {"applicant_id": "a1", "workflow_id": "hiring", "stage_id": "offer", "reason": "A friend"}
    async with client.over_http(url, token_of("operator")) as operator:
        refused = await operator.call("advance_step", arguments)
        assert (refused.is_error, text(refused)) == (True, REFUSAL)

        never_was = {"applicant_id": "a1", "workflow_id": "hiring", "stage_of": "offer", "because": "A friend"}
        unknown = await operator.call("advance_step", never_was)
        assert text(unknown) == REFUSAL.replace("reason, stage_id", "because, stage_of")

        # It is the schema that is the contract, not the function: the same keys are as unknown to the viewer's list.
        moved = await operator.call("advance_step", {"applicant_id": "a1", "workflow_id": "hiring"})
        assert moved.structured_content == {"success": True, "applicant_id": "a1", "stage": "screening"}
    with closing(sqlite3.connect(database)) as connection:
        assert connection.execute("SELECT * FROM moves").fetchall() == [("a1", "screening", None)]


@pytest.mark.parametrize("client", CLIENTS, ids=str)
async def test_a_richer_variant_for_the_manager(client: ClientKind, url: str) -> None:
    arguments = {"applicant_id": "a2", "workflow_id": "hiring", "stage_id": "applied"}
    async with client.over_http(url, token_of("manager")) as manager:
        refused = await manager.call("advance_step", arguments)
        assert refused.is_error
        assert text(refused).startswith("advance_step: Invalid arguments. Nothing was executed.\n- reason: ")

        moved = await manager.call("advance_step", {**arguments, "reason": "Wrong pile"})
        assert moved.structured_content == {
            "success": True,
            "applicant_id": "a2",
            "stage": "applied",
            "rerouted_from": "screening",
            "reason": "Wrong pile",
        }
        failed = await manager.call("advance_step", {"applicant_id": "a2", "workflow_id": "firing"})
        assert failed.structured_content == {
            "success": False,
            "message": "There is no workflow 'firing'; the only one is 'hiring'.",
        }


@pytest.mark.parametrize("client", CLIENTS, ids=str)
async def test_hidden_and_unknown_tools_answer_alike(client: ClientKind, url: str) -> None:
    async with client.over_http(url, token_of("operator")) as operator:
        unknown = await operator.call("no_such_tool", {"applicant_ids": ["a1"], "body": "Hello"})
        hidden = await operator.call("bulk_send_sms", {"applicant_ids": ["a1"], "body": "Hello"})
        nonsense = await operator.call("bulk_send_sms", {"nonsense": True})
        assert unknown.is_error
        assert hidden.model_dump_json() == unknown.model_dump_json().replace("no_such_tool", "bulk_send_sms")
        assert nonsense.model_dump_json() == hidden.model_dump_json()


async def test_the_manager_sends_messages(url: str, database: Path) -> None:
    async with MODERN_CLIENT.over_http(url, token_of("manager")) as manager:
        sent = await manager.call("bulk_send_sms", {"applicant_ids": ["a1", "a2", "zz"], "body": "See you at ten."})
        assert sent.structured_content == {"success": True, "queued": 2}
    with closing(sqlite3.connect(database)) as connection:
        assert [body for (body,) in connection.execute("SELECT body FROM messages")] == ["See you at ten."] * 2


async def test_the_archive_is_for_the_manager(url: str) -> None:
    everything = {"include_archived": True, "per_page": 50}
    async with MODERN_CLIENT.over_http(url, token_of("manager")) as manager:
        listed = await manager.call("list_applicants", everything)
        assert listed.structured_content is not None
        assert [applicant["id"] for applicant in listed.structured_content["applicants"]][-1] == "a6"
    async with MODERN_CLIENT.over_http(url, token_of("viewer")) as viewer:
        refused = await viewer.call("list_applicants", everything)
        assert "Unknown parameters: include_archived." in text(refused)
        assert "Accepted parameters: page, per_page." in text(refused)


async def test_a_stranger_with_a_good_token_sees_nothing(url: str) -> None:
    async with MODERN_CLIENT.over_http(url, token_of("stranger")) as stranger:
        assert await stranger.tools() == {}
        refused = await stranger.call("list_applicants", {})
        assert (refused.is_error, text(refused)) == (True, "Unknown tool: 'list_applicants'")


async def test_without_a_good_token_there_is_no_way_in(url: str) -> None:
    forged = RSAKeyPair.generate().create_token(
        subject="manager", issuer="https://sign-in.recruiting.example", audience="recruiting"
    )
    request = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    async with httpx2.AsyncClient() as http:
        for headers in ({}, {"Authorization": f"Bearer {forged}"}):
            assert (await http.post(url, json=request, headers=headers)).status_code == 401


async def test_people_who_come_at_once_keep_their_own_worlds(url: str) -> None:
    async with AsyncExitStack() as stack:
        connections = {
            person: await stack.enter_async_context(MODERN_CLIENT.over_http(url, token_of(person))) for person in PEOPLE
        }
        order = [person for _ in range(10) for person in PEOPLE]
        found = await asyncio.gather(
            *(connections[person].call("search_applicants", {"name": "Dunn"}) for person in order)
        )
        listed = await asyncio.gather(*(connections[person].tools() for person in order))
    for person, result, tools in zip(order, found, listed, strict=True):
        assert result.structured_content == {"matches": only(person, [CHLOE])}
        assert set(tools) == set(INPUTS[person])
