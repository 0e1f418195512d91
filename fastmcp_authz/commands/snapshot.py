"""`fastmcp-authz snapshot`: a committed file that says which predicates guard what, and what has changed of it."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from fastmcp_authz.commands.loading import AsJson, CannotRunError, ServerSpec, load_server
from fastmcp_authz.commands.noting import looked_through
from fastmcp_authz.commands.telling import tell
from fastmcp_authz.commands.terminal import FINE, FOUND, console, print_json, warn
from fastmcp_authz.errors import listed
from fastmcp_authz.survey.changes import Change, Changes, compare
from fastmcp_authz.survey.feelings import Felt, feelings
from fastmcp_authz.survey.files import FILE_NAME, read_file, write_file
from fastmcp_authz.survey.recounting import in_json
from fastmcp_authz.survey.snapshot import Snapshot, SnapshotError
from fastmcp_authz.survey.survey import Survey


async def snapshot(
    server: ServerSpec,
    /,
    *,
    check: Annotated[bool, Parameter(help="Compare with the file, and write nothing")] = False,
    output: Annotated[Path | None, Parameter(help=f"The file; {FILE_NAME} beside the server where not given")] = None,
    as_json: AsJson = False,
) -> int:
    """Record which predicates guard what in a file for review, or check that the file is still true.

    Exit status of --check: 0 it is, 1 something has changed, 2 it cannot be told: there is no file, none that can
    be read, or a provider or transform whose tools nobody knows without a request.
    """
    file = _file_of(server)
    path = file.parent / FILE_NAME if output is None else output
    again = shlex.join(["fastmcp-authz", "snapshot", server, *([] if output is None else ["--output", str(output)])])
    surveyed = await looked_through(await load_server(server))
    if check and surveyed.unknown:
        raise CannotRunError(f"{path} cannot be checked while not all tools are known.")
    new = Snapshot.of(surveyed, command=_command(server, file, path))
    old = _read(path, again) if check else _read_if_any(path)
    changes = None if old is None else compare(old, new)
    if not check and output is None and old is not None:
        _refuse_to_replace(path, old, new)
    if not check:
        _write(path, new)
    await _tell(changes, surveyed, path, again, check=check, as_json=as_json)
    return FOUND if check and changes is not None and changes.told else FINE


def _file_of(server: str) -> Path:
    """The file that a server is given by: `server.py` of `server.py:mcp`."""
    whole = Path(server)
    return whole if whole.exists() else Path(server.rpartition(":")[0] or server)


def _command(server: str, file: Path, path: Path) -> str:
    """What writes the file anew, from its own folder: so it is the same for everybody and from everywhere."""
    folder = path.resolve().parent
    spec = Path(os.path.relpath(file.resolve(), folder)).as_posix() + server[len(str(file)) :]
    named = [] if path.name == FILE_NAME and file.resolve().parent == folder else ["--output", path.name]
    return shlex.join(["fastmcp-authz", "snapshot", spec, *named])


def _read(path: Path, again: str) -> Snapshot:
    try:
        return read_file(path)
    except FileNotFoundError:
        raise CannotRunError(f"There is no {path}. Write it with `{again}`, and commit it.") from None
    except SnapshotError as error:
        raise CannotRunError(f"{path} cannot be read: {error}.\nWrite it anew with `{again}`.") from None


def _read_if_any(path: Path) -> Snapshot | None:
    try:
        return read_file(path)
    except FileNotFoundError:
        return None
    except SnapshotError as error:
        warn(f"what was in {path} cannot be read, and so not compared: {error}.")
        return None


def _refuse_to_replace(path: Path, old: Snapshot, new: Snapshot) -> None:
    """Two servers in one folder need two files.

    Raises:
        CannotRunError: What lies there is that of another server, as far as its tools and what wrote it tell.
    """
    if old.tools and not old.tools & new.tools and old.command != new.command:
        raise CannotRunError(
            f"{path} has no tool of this server, but {listed(sorted(old.tools))}: it is that of another one, written "
            f"by `{old.command}`. Say where this one goes: --output FILE. Or remove what is there."
        )


def _write(path: Path, new: Snapshot) -> None:
    try:
        write_file(path, new)
    except SnapshotError as error:
        raise CannotRunError(f"{error}.") from None


async def _tell(
    changes: Changes | None, surveyed: Survey, path: Path, again: str, *, check: bool, as_json: bool
) -> None:
    felt: Mapping[Change, Felt] = {}
    if changes is not None:
        felt, unmade = await feelings(changes, surveyed)
        for why in unmade:
            warn(why)
    if as_json:
        about: dict[str, Any] = {"file": path.as_posix(), "written": not check}
        print_json(about | ({"changes": None} if changes is None else in_json(changes, felt)))
        return
    out = console()
    if changes is None:
        out.print(f"Wrote {path}. Commit it, and let CI run `{again} --check`.", markup=False)
        return
    if changes.told:
        tell(changes, felt)
        out.print(f"If that is meant, run `{again}` and commit." if check else f"Wrote {path}.", markup=False)
    else:
        out.print(f"Nothing has changed: {path} is current.", markup=False)
