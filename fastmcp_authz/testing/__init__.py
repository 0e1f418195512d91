"""For tests of servers: fake callers, what they see, and assertions about it. See docs/testing.md."""

from typing import TYPE_CHECKING

from fastmcp_authz.late import late

if TYPE_CHECKING:
    from .assertions import assert_hidden, assert_tools, assert_visible
    from .callers import AuthzCaller, CallError, RefusedError
    from .connecting import BlockingCaller, caller_of
    from .contracts import contract_of
    from .fake import Asked, FakeContext
    from .names import UnknownNameError
    from .seen import ToolView
    from .snapshots import assert_snapshot

__all__ = [
    "Asked",
    "AuthzCaller",
    "BlockingCaller",
    "CallError",
    "FakeContext",
    "RefusedError",
    "ToolView",
    "UnknownNameError",
    "assert_hidden",
    "assert_snapshot",
    "assert_tools",
    "assert_visible",
    "caller_of",
    "contract_of",
]

# Late, since pytest imports the plugin at each of its starts, and most of this imports FastMCP.
__getattr__ = late(
    __name__,
    {
        "Asked": ".fake",
        "AuthzCaller": ".callers",
        "BlockingCaller": ".connecting",
        "CallError": ".callers",
        "FakeContext": ".fake",
        "RefusedError": ".callers",
        "ToolView": ".seen",
        "UnknownNameError": ".names",
        "assert_hidden": ".assertions",
        "assert_snapshot": ".snapshots",
        "assert_tools": ".assertions",
        "assert_visible": ".assertions",
        "caller_of": ".connecting",
        "contract_of": ".contracts",
    },
)
