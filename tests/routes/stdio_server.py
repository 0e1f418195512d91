"""The server that the stdio door, `fastmcp inspect` and `fastmcp list` start."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))  # FastMCP passes on no PYTHONPATH

from tests.routes import servers
from tests.routes.switch import SWITCHED_OFF, switch_off

if SWITCHED_OFF in os.environ:
    switch_off(pytest.MonkeyPatch())

mcp = getattr(servers, os.environ.get("ROUTES_SERVE", "direct"))()

if __name__ == "__main__":
    mcp.run(show_banner=False)
