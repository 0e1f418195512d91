"""The demo shows three worlds, and fails when they are not what they should be."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

EXAMPLE = Path(__file__).parents[1] / "examples" / "recruiting"


def run(folder: Path) -> tuple[int, str]:
    """The demo's exit status, and what it prints, without frames and line breaks."""
    # Wide enough for each cell of the table to be one line.
    environment = {**os.environ, "COLUMNS": "300", "PYTHONIOENCODING": "utf-8"}
    ran = subprocess.run(
        [sys.executable, folder / "demo.py"], env=environment, capture_output=True, encoding="utf-8", check=False
    )
    printed = ran.stdout.translate(dict.fromkeys(map(ord, "│╭╮╰╯─┃┏┓┗┛━├┤┼┬┴┡┩╇")))
    return ran.returncode, " ".join(printed.split()) or ran.stderr


def test_the_demo_shows_three_worlds() -> None:
    status, printed = run(EXAMPLE)
    assert status == 0, printed
    assert "✗" not in printed
    assert "Everything came out as it should." in printed
    for what in (
        "viewer operator manager",
        "applicant_id, workflow_id, stage_id?, reason?",
        "advance_step: Unknown parameters: reason, stage_id. Nothing was executed.",
        "tell the user it is not possible.",
        "chloe@example.org",
        "Unknown tool: 'bulk_send_sms'",
        "Unknown tool: 'no_such_tool'",
    ):
        assert what in printed


def test_the_demo_fails_when_a_world_is_wider_than_it_should_be(tmp_path: Path) -> None:
    folder = tmp_path / "recruiting"
    shutil.copytree(EXAMPLE, folder)
    shared = folder / "sig" / "shared" / "applicant.rbs"
    shared.write_text(shared.read_text(encoding="utf-8").replace("@requires(:view_pii)", ""), encoding="utf-8")

    status, printed = run(folder)

    assert status == 1, printed
    assert "✗ the viewer gets this much of it" in printed
    assert "✗ no e-mail address or phone number is in the others' text" in printed
