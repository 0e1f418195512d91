"""What a `FileSystemProvider` finds."""

from __future__ import annotations

from fastmcp.tools import tool

from tests.routes import office

for _number, (_guard, _options) in enumerate(office.tools()):
    globals()[f"tool_{_number}"] = tool(**_options)(_guard) if _options else tool(_guard)
