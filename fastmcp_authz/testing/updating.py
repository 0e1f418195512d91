"""`pytest --update-authz-snapshots`. Light, since pytest imports it at each of its starts."""

from __future__ import annotations

from typing import Final

import pytest

OPTION: Final = "--update-authz-snapshots"
COMMAND: Final = f"pytest {OPTION}"
_updating: list[bool] = []
"""What each pytest that runs in this process was told, the innermost last."""


def add_option(parser: pytest.Parser) -> None:
    """Gives pytest the option."""
    group = parser.getgroup("fastmcp-authz")
    group.addoption(OPTION, action="store_true", help="write what assert_snapshot compares with, instead of failing")


def configure(config: pytest.Config) -> None:
    """Takes note of what the option says."""
    _updating.append(bool(config.getoption(OPTION)))
    config.add_cleanup(_forget)


def is_updating() -> bool:
    """Whether snapshots are to be written."""
    return bool(_updating) and _updating[-1]


def _forget() -> None:
    _updating.pop()
