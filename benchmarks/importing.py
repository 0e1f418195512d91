"""Importing the library: `python -m benchmarks.importing [--quick]`.

What `from fastmcp_authz import Authz, authorized_tool` takes in a fresh interpreter that has just run `from fastmcp
import FastMCP`: the difference of the two, without the noise that taking it between two interpreters would add.
(`import fastmcp_authz` by itself imports next to nothing.)
"""

from __future__ import annotations

import os
import subprocess
import sys
from tempfile import TemporaryDirectory

from benchmarks.measuring import Middle
from benchmarks.table import Report, Row, run

BAR = 60

_PROGRAM = """
from time import perf_counter
start = perf_counter()
from fastmcp import FastMCP
middle = perf_counter()
from fastmcp_authz import Authz, authorized_tool
print(middle - start, perf_counter() - middle)
"""


async def importing(quick: bool) -> Report:
    """Several interpreters, one after the other; the first writes bytecode and does not count."""
    with TemporaryDirectory() as bytecode:
        pairs = [_imported(bytecode) for _ in range(1 if quick else 13)]
    counted = pairs[1:] or pairs
    plain = Middle.of([fastmcp for fastmcp, _ in counted], scale=1_000)
    more = Middle.of([ours for _, ours in counted], scale=1_000)
    row = Row(
        "importing",
        f"{plain.value:.0f} ms",
        f"{plain.value + more.value:.0f} ms",
        f"{more} ms more",
        f"<= {BAR} ms more",
        more.value <= BAR,
    )
    return Report([row])


def _imported(bytecode: str) -> tuple[float, float]:
    """Seconds that FastMCP takes, and that the library then takes, with bytecode kept in that directory."""
    kept = {**os.environ, "PYTHONPYCACHEPREFIX": bytecode, "PYTHONDONTWRITEBYTECODE": ""}
    command = [sys.executable, "-c", _PROGRAM]
    printed = subprocess.run(command, capture_output=True, text=True, check=True, env=kept).stdout
    fastmcp, ours = map(float, printed.split())
    return fastmcp, ours


if __name__ == "__main__":
    run(importing)
