"""Every snippet of docs/testing.md runs, as a test where it is one, and what the page says of failures is so."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from fastmcp_authz.testing import caller_of

PAGE = (Path(__file__).parents[2] / "docs" / "testing.md").read_text(encoding="utf-8")
SERVER, *SNIPPETS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
TESTS = re.findall(r"^(?:async )?def (test_\w+)", "\n".join(SNIPPETS), re.MULTILINE)


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """All that the page defines, its server in a module of its own."""
    path = tmp_path_factory.mktemp("page") / "server.py"
    path.write_text(SERVER, encoding="utf-8")
    server = ModuleType("server")
    with pytest.MonkeyPatch.context() as patched:
        patched.setitem(sys.modules, "server", server)
        patched.chdir(path.parent)
        exec(compile(SERVER, str(path), "exec", dont_inherit=True), vars(server))
        scope: dict[str, Any] = {"__name__": "test_server"}
        exec(compile("\n".join(SNIPPETS), "test_server.py", "exec", dont_inherit=True), scope)
        yield scope


def cases(test: Callable[..., Any]) -> Iterator[dict[str, Any]]:
    """What a test is called with, beside the fixture."""
    for mark in getattr(test, "pytestmark", ()):
        name, values = mark.args
        yield from ({name: value} for value in values)


@pytest.mark.parametrize("name", TESTS)
async def test_of_the_page(name: str, page: dict[str, Any]) -> None:
    test = page[name]
    wanted = inspect.signature(test).parameters
    for given in list(cases(test)) or [{}]:
        if "authz_caller" in wanted:
            given["authz_caller"] = caller_of
        if "reader" in wanted:
            with caller_of(page["mcp"], "reader") as given["reader"]:
                test(**given)
        elif inspect.iscoroutinefunction(test):
            await test(**given)
        else:
            test(**given)


def test_the_page_has_the_tests_that_are_run() -> None:
    assert len(TESTS) == 12
    assert len(SNIPPETS) > 10


def test_a_failure_reads_as_the_page_says(page: dict[str, Any]) -> None:
    ((check, text),) = re.findall(r"<!-- (assert_.*?) -->\n```text\n(.*?)```", PAGE, re.DOTALL)
    with pytest.raises(AssertionError) as failed:
        eval(check, page)
    assert str(failed.value) + "\n" == text
