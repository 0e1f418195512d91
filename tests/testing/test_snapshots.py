"""`assert_snapshot`: a test of one line that fails where somebody gained or lost something, and says who."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, cast

import pytest
from fastmcp import Client, FastMCP

from fastmcp_authz import Authz, Request
from fastmcp_authz.testing import assert_snapshot
from fastmcp_authz.testing.updating import add_option, configure


class Caller:
    async def requires(self, flag: str) -> bool:
        await asyncio.sleep(0)
        return flag == "see"


async def make_caller() -> Caller:
    return Caller()


def served(guard: str) -> FastMCP[Any]:
    def find() -> dict[str, Any]:
        return {}

    find.__doc__ = f"@rbs type output = {{ ?ssn: String {guard} }}"
    server: FastMCP[Any] = FastMCP("x")
    authz = Authz(server, context=lambda _: Caller(), personas={"clerk": make_caller})
    authz.tool(authorization="see")(find)
    return server


@contextmanager
def updating(chosen: bool = True) -> Iterator[None]:
    """As pytest is with `--update-authz-snapshots`, or without."""
    undo: list[Any] = []
    config = SimpleNamespace(getoption=lambda _: chosen, add_cleanup=undo.append)
    configure(cast("pytest.Config", config))
    try:
        yield
    finally:
        undo.pop()()


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    with updating():
        assert_snapshot(served("@requires(:hr)"), tmp_path / "x.snapshot")
    return tmp_path / "x.snapshot"


def test_nothing_is_said_where_nothing_has_changed(recorded: Path) -> None:
    text = recorded.read_text(encoding="utf-8")
    assert 'find out ssn: requires("hr")' in text
    assert "by: pytest --update-authz-snapshots\n" in text
    assert_snapshot(served("@requires(:hr)"), recorded)


CHANGED = """\
{file} is not current.
⚠ opened    find out ssn
            requires("hr") → everyone who sees find
            now also seen by: clerk
1 opened. Somebody may see more by 1 of them (⚠).
If that is meant, run `pytest --update-authz-snapshots` and commit."""


def test_a_sync_test_fails_with_what_has_changed(recorded: Path) -> None:
    before = recorded.read_text(encoding="utf-8")
    with updating(False), pytest.raises(AssertionError) as failed:
        assert_snapshot(served(""), recorded)
    assert str(failed.value) == CHANGED.format(file=recorded)
    assert recorded.read_text(encoding="utf-8") == before


async def test_an_async_test_calls_it_just_so_also_while_the_server_runs(recorded: Path) -> None:
    server = served("")
    async with Client(server) as client:
        assert [tool.name for tool in await client.list_tools()] == ["find"]
        with pytest.raises(AssertionError) as failed:
            assert_snapshot(server, str(recorded))
        assert str(failed.value) == CHANGED.format(file=recorded)
        assert [tool.name for tool in await client.list_tools()] == ["find"]


def test_a_file_that_is_missing_or_broken_is_a_failure_that_says_what_to_do(recorded: Path) -> None:
    with pytest.raises(AssertionError, match=r"There is no .*y\. Write it with `pytest --update-authz-snapshots`"):
        assert_snapshot(served(""), recorded.parent / "y")
    recorded.write_text("?", encoding="utf-8")
    with pytest.raises(AssertionError, match="cannot be read: its first line is not"):
        assert_snapshot(served(""), recorded)


def test_with_the_option_the_file_is_written_and_keeps_saying_how_it_was(recorded: Path) -> None:
    text = recorded.read_text(encoding="utf-8").replace("by: pytest --update-authz-snapshots", "by: make snapshots")
    recorded.write_text(text, encoding="utf-8")
    with updating():
        assert_snapshot(served(""), recorded)
    assert recorded.read_text(encoding="utf-8") == text.replace('ssn: requires("hr")', "ssn: open")


def test_the_file_is_beside_the_module_that_holds_the_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server = served("")
    with pytest.raises(AssertionError, match="no module but those of tests holds this server"):
        assert_snapshot(server)
    for folder, name in (("app", "server"), ("tests", "test_server"), ("tests", "conftest")):
        module = ModuleType(f"held_{name}")
        monkeypatch.setattr(module, "__file__", str(tmp_path / folder / f"{name}.py"), raising=False)
        monkeypatch.setattr(module, "server", server, raising=False)
        monkeypatch.setitem(sys.modules, module.__name__, module)
    (tmp_path / "app").mkdir()
    with updating():
        assert_snapshot(server)
    assert (tmp_path / "app" / "authz.snapshot").exists()
    assert_snapshot(server)
    monkeypatch.setattr(sys.modules["held_conftest"], "__file__", str(tmp_path / "other" / "server.py"))
    with pytest.raises(AssertionError, match="modules in several folders hold this server"):
        assert_snapshot(server)


def test_pytest_is_given_the_option() -> None:
    parser = pytest.Parser(_ispytest=True)
    add_option(parser)
    assert parser.parse_known_args(["--update-authz-snapshots"]).update_authz_snapshots is True
    assert parser.parse_known_args([]).update_authz_snapshots is False


def test_the_request_of_a_test_is_no_matter_to_it(recorded: Path) -> None:
    def refuse(request: Request) -> Caller:
        raise RuntimeError(request)

    server = served("@requires(:hr)")
    other: FastMCP[Any] = FastMCP("y")
    Authz(other, context=refuse)
    other.mount(server)
    with updating():
        assert_snapshot(other, recorded)
    assert_snapshot(other, recorded)
