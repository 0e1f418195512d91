"""The plugin as pytest finds it in an environment: light, and good for every way of writing async tests."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import fastmcp_authz
from fastmcp_authz import testing

ROOT = Path(__file__).parents[2]

# Without a plugin of ours in it: pytest has it from the entry point alone, and has imported nothing for it.
CONFTEST = """
import sys

import pytest

assert "fastmcp_authz.testing.plugin" in sys.modules, "no entry point: install the project once more"
assert not {"fastmcp", "mcp", "pydantic", "fastmcp_authz.errors"} & sys.modules.keys()

@pytest.fixture
def server():
    from tests.testing.notes import notes
    return notes()

@pytest.fixture
def anyio_backend():
    return "asyncio"
"""

ASYNCIO = """
import pytest
import pytest_asyncio
from fastmcp_authz.testing import FakeContext

@pytest_asyncio.fixture
async def reader(authz_caller, server):
    async with authz_caller(server, FakeContext(can=["read"])) as caller:
        yield caller

@pytest.mark.asyncio
async def test_a_fixture(reader):
    assert await reader.refused("empty_bin") == "Unknown tool: 'empty_bin'"

@pytest.mark.asyncio
@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_test(authz_caller, server, mode):
    async with authz_caller(server, "admin", mode=mode) as admin:
        assert admin.tools["empty_bin"].outputs == {"deleted"}
"""

ANYIO = """
import pytest
from fastmcp_authz.testing import FakeContext, assert_hidden

@pytest.fixture
async def reader(anyio_backend, authz_caller, server):
    async with authz_caller(server, FakeContext(can=["read"])) as caller:
        yield caller

@pytest.mark.anyio
async def test_a_fixture(reader):
    assert await reader.refused("empty_bin") == "Unknown tool: 'empty_bin'"

@pytest.mark.anyio
@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_test(authz_caller, server, mode):
    assert_hidden(server, "reader", "empty_bin")
    async with authz_caller(server, "admin", mode=mode) as admin:
        assert admin.tools["empty_bin"].outputs == {"deleted"}
"""

SYNC = """
import pytest
from fastmcp_authz.testing import assert_hidden

@pytest.fixture
def admin(authz_caller, server):
    with authz_caller(server, "admin") as caller:
        yield caller

def test_a_fixture(admin):
    assert "Nothing was executed" in admin.refused("find_notes", word=3)

def test_an_assertion(server):
    assert_hidden(server, "reader", "empty_bin")

def test_that_fails(server):
    assert_hidden(server, "admin", "empty_bin")
"""


def test_pytest_finds_it_and_all_kinds_of_tests_may_use_it(tmp_path: Path) -> None:
    files = {"conftest": CONFTEST, "test_asyncio": ASYNCIO, "test_anyio": ANYIO, "test_sync": SYNC}
    for name, text in files.items():
        (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
    (tmp_path / "pytest.ini").write_text(
        "[pytest]\nfilterwarnings = error\nasyncio_mode = strict\nasyncio_default_fixture_loop_scope = function\n",
        encoding="utf-8",
    )
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--no-header", "-q", "."],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert "1 failed, 8 passed" in ran.stdout, ran.stdout + ran.stderr
    assert "warning" not in ran.stdout
    # The failure is shown where the test stands, not within the assertion, and says why.
    assert "> " in ran.stdout
    assert 'assert_hidden(server, "admin", "empty_bin")' in ran.stdout
    assert "E       AssertionError: empty_bin should be hidden from admin, and is visible:" in ran.stdout
    assert "_fail_with" not in ran.stdout


@pytest.mark.parametrize("package", [fastmcp_authz, testing], ids=lambda package: package.__name__)
def test_every_public_name_is_there_though_it_comes_late(package: object) -> None:
    names: list[str] = vars(package)["__all__"]
    assert names == sorted(names, key=lambda name: (name[0].islower(), name))
    for name in names:
        assert getattr(package, name).__name__ == name
        assert name in vars(package)  # once
    with pytest.raises(AttributeError, match="has no attribute 'Nothing'"):
        _ = package.Nothing  # type: ignore[attr-defined]
