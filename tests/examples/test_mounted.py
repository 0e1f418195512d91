"""Several servers under one: who is decided for by whom, through real clients over HTTP."""

from __future__ import annotations

import re
from typing import Any

import pytest
from fastmcp import Client, FastMCP
from fastmcp.utilities.mcp_server_config.v1.sources.filesystem import FileSystemSource

from tests.examples.readmes import MODES, ROOT, asked, called, commands, inputs, serving, shown
from tests.recruiting import listening

EXAMPLE = ROOT / "examples" / "mounted"

EVERYBODY: dict[str, list[str]] = {
    "find_colleague": ["name"],
    "helpdesk_list_tickets": [],
    "canteen_todays_menu": [],
}
WORLDS = {
    "ann": {**EVERYBODY, "helpdesk_list_tickets": ["reporter"], "helpdesk_close_ticket": ["id"]},
    "bob": EVERYBODY,
    "kim": {**EVERYBODY, "payroll_look_up_pay": ["employee"]},
    "pat": {**EVERYBODY, "payroll_look_up_pay": ["employee"]},
}
TICKET = {"id": 1, "title": "No light in 1.04"}
DISH = {"name": "Lentil soup", "price_cents": 420}


async def load(file: str, monkeypatch: pytest.MonkeyPatch) -> FastMCP[Any]:
    monkeypatch.syspath_prepend(EXAMPLE)
    server: FastMCP[Any] = await FileSystemSource(path=str(EXAMPLE / file)).load_server()
    return server


@pytest.mark.parametrize("mode", MODES)
async def test_each_server_is_decided_for_by_the_nearest(mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async with listening(await load("server.py", monkeypatch)) as url:
        for name, world in WORLDS.items():
            async with Client(url, auth=f"token-of-{name}", mode=mode) as client:
                assert await inputs(client) == world

        async with Client(url, auth="token-of-ann", mode=mode) as ann:
            ticket = {**TICKET, "reporter": "bob", "cost": 40}
            assert await called(ann, "helpdesk_list_tickets", reporter="bob") == {"tickets": [ticket]}
            assert await called(ann, "canteen_todays_menu") == {"dishes": [{**DISH, "margin_cents": 35}]}
            assert await called(ann, "helpdesk_close_ticket", id=1) == {"open": 0}
            # A lead of the company is nobody to payroll.
            assert await called(ann, "payroll_look_up_pay", employee="bob") == "Unknown tool: 'payroll_look_up_pay'"

        async with Client(url, auth="token-of-kim", mode=mode) as kim:
            pay = {"employee": "bob", "salary": 41000}
            assert await called(kim, "payroll_look_up_pay", employee="bob") == pay
        async with Client(url, auth="token-of-pat", mode=mode) as pat:
            account = {"account": "GB33 BUKB 2020 1555 5555 55"}
            assert await called(pat, "payroll_look_up_pay", employee="bob") == pay | account
            assert await called(pat, "helpdesk_list_tickets") == {"tickets": [TICKET]}
            assert await called(pat, "canteen_todays_menu") == {"dishes": [DISH]}
            assert await called(pat, "find_colleague", name="ann") == {
                "found": [{"name": "Ann Archer", "room": "2.11"}]
            }
            refused = await called(pat, "helpdesk_list_tickets", reporter="bob")
            assert refused.startswith("list_tickets: Unknown parameters: reporter. Nothing was executed.")


async def test_what_has_no_authz_serves_nobody_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    for file, tool in ("helpdesk.py", "list_tickets"), ("canteen.py", "todays_menu"):
        async with Client(await load(file, monkeypatch)) as client:
            assert await called(client, tool) == "This is not available here."


def test_what_its_readme_shows(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    show, *_ = commands("mounted")
    table = shown(show, monkeypatch, capsys)
    assert all(word in table for word in ("ann", "bob", "kim", "pat", "payroll_look_up_pay"))


async def test_the_commands_of_its_readme(capsys: pytest.CaptureFixture[str]) -> None:
    _, run, as_ann = commands("mounted")
    async with serving(run) as url:
        listed = await asked(as_ann, url, capsys)
    assert set(re.findall(r"^  (\w+)\(", listed, re.MULTILINE)) == set(WORLDS["ann"])


def test_the_table_of_its_readme_is_what_they_see() -> None:
    readme = (EXAMPLE / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \|(.*?)\|(.*?)\|(.*?)\|(.*?)\|$", readme, re.MULTILINE)
    assert {name: [bool(cell.strip()) for cell in cells] for name, *cells in rows} == {
        name: [name in world for world in WORLDS.values()] for name in {**WORLDS["ann"], **WORLDS["pat"]}
    }
