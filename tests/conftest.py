"""Settings of the whole suite."""

from __future__ import annotations

from hypothesis import settings

# A wall clock is never asserted on: examples take what they take on a busy machine.
settings.register_profile("suite", deadline=None)
settings.load_profile("suite")

pytest_plugins = ["fastmcp_authz.testing.plugin"]
