"""`assert_snapshot`: a test that fails where a server guards something else than its snapshot says."""

from __future__ import annotations

import asyncio
import contextvars
import sys
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar

from fastmcp import FastMCP

from fastmcp_authz.survey.changes import Changes, compare
from fastmcp_authz.survey.feelings import Feelings, feelings
from fastmcp_authz.survey.files import FILE_NAME, read_file, write_file
from fastmcp_authz.survey.recounting import sentences
from fastmcp_authz.survey.snapshot import Snapshot, SnapshotError
from fastmcp_authz.survey.survey import survey
from fastmcp_authz.testing.names import not_known
from fastmcp_authz.testing.updating import COMMAND, is_updating

T = TypeVar("T")


def assert_snapshot(server: FastMCP[Any], path: str | PathLike[str] | None = None) -> None:
    """Fails where the tools of a server are not guarded as a committed file says, and tells who gained or lost what.

    For sync and async tests alike: it is not awaited. What of the server is asynchronous, its producers and the
    contexts of its personas, runs in an event loop of its own. `pytest --update-authz-snapshots` writes the file.

    Args:
        server: The server.
        path: The file; where `None`, `authz.snapshot` beside the module that holds the server.

    Raises:
        AssertionError: Something has changed, or there is no file that can be read.
    """
    __tracebackhide__ = True
    file = _beside(server) if path is None else Path(path)
    new, old, problem = run(_snapshot_of(server)), None, ""
    try:
        old = read_file(file)
    except FileNotFoundError:
        problem = f"There is no {file}"
    except SnapshotError as error:
        problem = f"{file} cannot be read: {error}"
    changes = None if old is None else compare(old, new)
    if changes is not None and not changes.told:
        return
    if is_updating():
        command = COMMAND if old is None else old.command
        write_file(file, replace(new, command=command))
        return
    if changes is None:
        raise AssertionError(f"{problem}. Write it with `{COMMAND}`, and commit it.")
    felt, unmade = run(_feelings_of(server, changes))
    lines = [each.text for each in sentences(changes, felt)]
    raise AssertionError(
        "\n".join([f"{file} is not current.", *lines, *unmade, f"If that is meant, run `{COMMAND}` and commit."])
    )


async def _snapshot_of(server: FastMCP[Any]) -> Snapshot:
    surveyed = await survey(server)
    if surveyed.unknown:
        raise AssertionError(f"It cannot be told what guards the tools of {server.name!r}:{not_known(surveyed)}")
    return Snapshot.of(surveyed, command=COMMAND)


async def _feelings_of(server: FastMCP[Any], changes: Changes) -> Feelings:
    return await feelings(changes, await survey(server))


def run(coroutine: Coroutine[Any, Any, T]) -> T:
    """What a coroutine returns, run in a loop of its own, also where one is running already."""
    here = contextvars.copy_context()
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(here.run, asyncio.run, coroutine).result()


def _beside(server: FastMCP[Any]) -> Path:
    """The file beside the module that holds a server; modules of tests import it from there."""
    holding = {
        Path(file).resolve()
        for module in list(sys.modules.values())
        if (file := getattr(module, "__file__", None)) and any(each is server for each in vars(module).values())
    }
    folders = {file.parent for file in holding if not _is_test(file)}
    if len(folders) != 1:
        where = "no module but those of tests holds" if not folders else "modules in several folders hold"
        raise AssertionError(f"Say where the snapshot is, assert_snapshot(server, path): {where} this server.")
    return folders.pop() / FILE_NAME


def _is_test(file: Path) -> bool:
    return file.stem.startswith("test_") or file.stem.endswith("_test") or file.stem == "conftest"
