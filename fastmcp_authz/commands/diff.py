"""`fastmcp-authz diff`: who gained or lost what from one snapshot to another."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, TypeAlias

from cyclopts import Parameter

from fastmcp_authz.commands.loading import AsJson, CannotRunError
from fastmcp_authz.commands.telling import tell
from fastmcp_authz.commands.terminal import FINE, FOUND, print_json
from fastmcp_authz.survey.changes import compare
from fastmcp_authz.survey.files import read_file
from fastmcp_authz.survey.recounting import in_json
from fastmcp_authz.survey.snapshot import Snapshot, SnapshotError

SnapshotFile: TypeAlias = Annotated[str, Parameter(help="A snapshot; - is standard input", allow_leading_hyphen=True)]


async def diff(old: SnapshotFile, new: SnapshotFile, /, *, as_json: AsJson = False) -> int:
    """Show who gained or lost what from one snapshot to another.

    Between commits: git show HEAD:authz.snapshot | fastmcp-authz diff - authz.snapshot
    """
    if old == new == "-":
        raise CannotRunError("Standard input can be one of the two snapshots, not both.")
    changes = compare(_snapshot(old), _snapshot(new))
    if as_json:
        print_json(in_json(changes))
    else:
        tell(changes)
    return FOUND if changes.told else FINE


def _snapshot(name: str) -> Snapshot:
    where = "standard input" if name == "-" else name
    try:
        return Snapshot.read(sys.stdin.read()) if name == "-" else read_file(Path(name))
    except FileNotFoundError:
        raise CannotRunError(f"There is no {name}.") from None
    except SnapshotError as error:
        raise CannotRunError(f"{where} is no snapshot that can be read: {error}.") from None
