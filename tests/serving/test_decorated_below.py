"""A function that another decorator has wrapped, below ours: it is looked for where it was written."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from fastmcp_authz import ContractError
from fastmcp_authz.serving.declaration import declaration_of
from fastmcp_authz.survey.places import Places

TIMING = """
import functools

def timed(fn):
    @functools.wraps(fn)
    def wrapper(*args, **kwargs):
        return fn(*args, **kwargs)
    return wrapper
"""
TOOLS = """
from fastmcp_authz import authorized_tool
from timing_of_others import timed

@authorized_tool
@timed
def find(id: int) -> dict:
    '''Find one.

    @rbs import thing
    @rbs type output = { found: thing }
    #: (id: Integer) -> output
    '''
    return {"found": {"id": id}}
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of modules whose decorators come from another, as an installed package's do."""
    others, ours = tmp_path / "others", tmp_path / "ours"
    (ours / "sig" / "shared").mkdir(parents=True)
    (ours / "sig" / "shared" / "thing.rbs").write_text("type thing = { id: Integer }", encoding="utf-8")
    others.mkdir()
    (others / "timing_of_others.py").write_text(TIMING, encoding="utf-8")
    monkeypatch.syspath_prepend(others)
    monkeypatch.syspath_prepend(ours)
    yield ours
    for name in "timing_of_others", "tools_of_ours":
        sys.modules.pop(name, None)


def load(project: Path, source: str) -> ModuleType:
    (project / "tools_of_ours.py").write_text(source, encoding="utf-8")
    return import_module("tools_of_ours")


def test_its_shared_types_lie_beside_its_own_file(project: Path) -> None:
    declaration = declaration_of(load(project, TOOLS).find)
    assert declaration is not None
    assert declaration.contract.view(None).filter_output({"found": {"id": 1, "no": 2}}) == {"found": {"id": 1}}
    place = Places(declaration.contract).alias("output")
    assert place is not None
    assert place.file.endswith("tools_of_ours.py")


def test_what_is_wrong_is_told_with_its_own_file_and_line(project: Path) -> None:
    wrong = TOOLS.replace("(id: Integer)", "(id: Intger)")
    line = wrong[: wrong.index("Intger")].count("\n") + 1
    with pytest.raises(ContractError) as failed:
        load(project, wrong)
    message = str(failed.value)
    assert "tools_of_ours.py:5" in message
    assert f"{line} │" in message
    assert "timing_of_others" not in message


def test_without_a_docstring_too(project: Path) -> None:
    start, end = TOOLS.index("    '''Find"), TOOLS.index('    return {"found')
    with pytest.raises(ContractError, match=r"find \(.*tools_of_ours\.py:5\) has no docstring"):
        load(project, TOOLS[:start] + TOOLS[end:])
