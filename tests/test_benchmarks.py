"""The benchmarks run. What they measure is for people to read: a test that looked at a clock would fail by chance."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


def test_the_overhead_is_printed_as_a_table() -> None:
    command = [sys.executable, str(BENCHMARKS / "overhead.py"), "--quick"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    for request in ("tools/list", "tools/call"):
        assert re.search(rf"^{request}( +\d+\.\d+){{3}}$", ran.stdout, re.MULTILINE), ran.stdout


def test_the_cost_of_a_declaration_is_printed_as_a_table() -> None:
    command = [sys.executable, str(BENCHMARKS / "declaring.py"), "--quick"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    for row in ("plain FastMCP", "decorated", "above plain"):
        assert re.search(rf"^\| {row} \| -?\d+\.\d\d \|$", ran.stdout, re.MULTILINE), ran.stdout
    for times in ("1x", "10x", "100x"):
        assert re.search(rf"^\| {times}( \| \d+\.\d+){{3}} \|$", ran.stdout, re.MULTILINE), ran.stdout
