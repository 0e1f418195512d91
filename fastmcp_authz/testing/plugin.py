"""The pytest plugin. pytest imports it at each of its starts, so nothing of it imports FastMCP before it is used."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fastmcp_authz.testing.updating import add_option, configure

if TYPE_CHECKING:
    from fastmcp_authz.testing import caller_of


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--update-authz-snapshots`."""
    add_option(parser)


def pytest_configure(config: pytest.Config) -> None:
    """Takes note of it."""
    configure(config)


@pytest.fixture
def authz_caller() -> type[caller_of]:
    """Somebody who calls a server: `async with authz_caller(server, FakeContext(can=["read"])) as caller:`.

    In a test that is not async: `with`. It is `fastmcp_authz.testing.caller_of`.
    """
    from fastmcp_authz.testing import caller_of

    return caller_of
