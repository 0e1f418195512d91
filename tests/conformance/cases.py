"""The conformance cases, and those of them that still wait for a part of the library."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.conformance import run

# Case id -> what it waits for. `python -m tests.conformance.waiting` prints what belongs here.
WAITING: dict[str, str] = {
    "cache-decision-vector/facades-split-too": "issue 7: facades",
    "facades/one-per-group": "issue 7: facades",
    "facades/only-permitted-tools": "issue 7: facades",
    "facades/nothing-permitted": "issue 7: facades",
    "facades/schema-shape": "issue 7: facades",
    "facades/schemas-ride-in-meta": "issue 7: facades",
    "facades/lazy": "issue 7: facades",
    "facades/one-line-per-tool": "issue 7: facades",
    "facades/central-summary-wins": "issue 7: facades",
    "facades/suffix": "issue 7: facades",
    "facades/without-group": "issue 7: facades",
    "facades/call-reaches-the-tool": "issue 7: facades",
    "facades/call-by-own-name": "issue 7: facades",
    "facades/name-not-advertised": "issue 7: facades",
    "facades/key-beside-arguments": "issue 7: facades",
    "facades/key-inside-arguments": "issue 7: facades",
    "facades/gated-argument": "issue 7: facades",
    "facades/gated-argument-granted": "issue 7: facades",
    "facades/envelope-key": "issue 7: facades",
    "facades/envelope-key-inside": "issue 7: facades",
    "facades/arguments-as-text": "issue 7: facades",
    "facades/object-argument-as-text": "issue 7: facades",
    "facades/string-argument-stays-text": "issue 7: facades",
    "facades/arguments-list": "issue 7: facades",
    "facades/context-in-arguments": "issue 7: facades",
    "facades/permission-lost-since-the-listing": "issue 7: facades",
}


def load() -> list[dict[str, Any]]:
    """Every case that expects something which can be seen from outside, in the order of the files."""
    files = sorted((Path(__file__).parent / "cases").glob("*.json"))
    cases = [case for file in files for case in json.loads(file.read_text(encoding="utf-8"))]
    return [case for case in cases if set(case["expect"]) - run.SKIPPED]
