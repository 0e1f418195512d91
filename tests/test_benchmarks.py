"""The benchmarks run. What they measure is for people to read: a test that looked at a clock would fail by chance."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]

ROWS = (
    r"`tools/list`, \d+ tools, warm",
    r"`tools/call`, small result",
    r"`tools/call`, \d+ rows of 10 fields, 2 of them pruned",
    r"first `tools/list` of a new answer vector, \d+ tools",
    r"declaring a tool",
    r"importing",
    r"predicate calls in `tools/list` of \d+ tools, and in `tools/call`",
    r"memory of a view that was listed",
    r"memory after \d+ callers, \d+ vectors, \d+ tools",
    r"`tools/list`, time a tool: \d+ tools to \d+",
    r"`tools/list` after \d+ callers, to 1",
    r"`tools/call` after \d+ callers, to 1",
    r"`tools/list` after \d+ vectors, to 1",
    r"`tools/call` after \d+ vectors, to 1",
)
PEERS = (
    r"plain FastMCP",
    r"`AuthMiddleware` with scopes: allows or denies",
    r"fastmcp_authz",
    r"ours, compiled for each request",
)


def test_the_benchmarks_print_their_whole_table() -> None:
    command = [sys.executable, "-m", "benchmarks", "--quick"]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    for row in ROWS:
        # What, plain FastMCP, ours, ratio or difference, bar, met.
        assert re.search(rf"^\| {row} \|( [^|]* \|){{4}} (yes|no)? \|$", ran.stdout, re.MULTILINE), (row, ran.stdout)
    for peer in PEERS:
        assert re.search(rf"^\| {peer} \|( \d+\.\d+ \|){{4}}$", ran.stdout, re.MULTILINE), (peer, ran.stdout)
