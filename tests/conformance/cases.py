"""The conformance cases."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.conformance import run


def load() -> list[dict[str, Any]]:
    """Every case that expects something which can be seen from outside, in the order of the files."""
    files = sorted((Path(__file__).parent / "cases").glob("*.json"))
    cases = [case for file in files for case in json.loads(file.read_text(encoding="utf-8"))]
    return [case for case in cases if set(case["expect"]) - run.SKIPPED]
