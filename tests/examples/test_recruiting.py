"""The recruiting example as its README has it. What its callers get is in tests/test_recruiting.py."""

from __future__ import annotations

import pytest
from fastmcp import Client
from fastmcp.utilities.mcp_server_config.v1.sources.filesystem import FileSystemSource

from tests.examples.readmes import ROOT, commands, shown
from tests.recruiting import SERVER


def test_what_its_readme_shows_and_that_looking_prints_no_tokens(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("RECRUITING_PUBLIC_KEY", raising=False)
    show, demo, run = commands("recruiting")
    monkeypatch.chdir(ROOT)
    table = shown(show, monkeypatch, capsys)
    assert all(word in table for word in ("viewer", "operator", "manager", "bulk_send_sms"))
    assert [demo.split()[1], run.split()[2]] == ["examples/recruiting/demo.py", "examples/recruiting/server.py"]
    assert (ROOT / "examples/recruiting/demo.py").exists()


async def test_tokens_are_printed_when_the_server_starts_and_not_before(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("RECRUITING_PUBLIC_KEY", raising=False)
    monkeypatch.syspath_prepend(SERVER.parent)
    server = await FileSystemSource(path=str(SERVER)).load_server()
    assert capsys.readouterr() == ("", "")
    async with Client(server):
        lines = capsys.readouterr().err.splitlines()
    assert [line.rsplit(maxsplit=1)[0] for line in lines] == [
        f"bearer token of the {person}:" for person in ("viewer", "operator", "manager")
    ]


async def test_no_token_is_printed_where_stdio_is_meant(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.syspath_prepend(SERVER.parent)
    monkeypatch.setenv("RECRUITING_PERSON", "viewer")
    async with Client(await FileSystemSource(path=str(SERVER)).load_server()):
        assert "token" not in capsys.readouterr().err
