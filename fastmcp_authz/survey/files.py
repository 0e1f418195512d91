"""Snapshots as files: where they lie, and how they are read and written."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Final

from fastmcp_authz.survey.snapshot import Snapshot, SnapshotError

FILE_NAME: Final = "authz.snapshot"
"""Beside the file of the server."""


def read_file(path: Path) -> Snapshot:
    """The snapshot in a file.

    Raises:
        FileNotFoundError: There is none.
        SnapshotError: It cannot be read.
    """
    try:
        return Snapshot.read(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise
    except UnicodeDecodeError:
        raise SnapshotError("it is no text in UTF-8") from None
    except OSError as error:
        raise SnapshotError(error.strerror or type(error).__name__) from None


def write_file(path: Path, snapshot: Snapshot) -> None:
    """Puts a snapshot into a file, whole or not at all; where a link is, into what that leads to.

    Raises:
        SnapshotError: It cannot be written.
    """
    path = path.resolve()
    try:
        mode = path.stat().st_mode & 0o777 if path.exists() else 0o666 & ~_umask()
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
                file.write(snapshot.text())
            os.chmod(name, mode)
            os.replace(name, path)
        except BaseException:
            os.unlink(name)
            raise
    except OSError as error:
        raise SnapshotError(f"{path.name} cannot be written: {error.strerror or error}") from None


def _umask() -> int:
    mask = os.umask(0o077)  # it can only be read by setting it
    os.umask(mask)
    return mask
