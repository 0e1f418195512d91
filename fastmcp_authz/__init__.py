"""Per-caller contracts for FastMCP tools: what a caller may not see does not exist for that caller."""

from typing import TYPE_CHECKING

from .late import late

if TYPE_CHECKING:
    from .callers.context import Request
    from .callers.predicates import Predicate
    from .contracts import CallerView, ToolContract
    from .errors import (
        AuthzError,
        ConfigurationError,
        ContractError,
        InvalidInputError,
        OutputWithheldError,
        Problem,
        UnknownInputKeysError,
    )
    from .serving.authz import Authz
    from .serving.current import Caller, current_caller, gate_check
    from .serving.decorator import authorized_tool
    from .serving.middleware import AuthzMiddleware
    from .serving.notifying import notify_changed
    from .settings import Settings

__version__ = "0.1.0"

__all__ = [
    "Authz",
    "AuthzError",
    "AuthzMiddleware",
    "Caller",
    "CallerView",
    "ConfigurationError",
    "ContractError",
    "InvalidInputError",
    "OutputWithheldError",
    "Predicate",
    "Problem",
    "Request",
    "Settings",
    "ToolContract",
    "UnknownInputKeysError",
    "authorized_tool",
    "current_caller",
    "gate_check",
    "notify_changed",
]

# Late, since pytest imports the plugin of this package in every project of an environment, and FastMCP takes a second.
__getattr__ = late(
    __name__,
    {
        "Authz": ".serving.authz",
        "AuthzError": ".errors",
        "AuthzMiddleware": ".serving.middleware",
        "Caller": ".serving.current",
        "CallerView": ".contracts",
        "ConfigurationError": ".errors",
        "ContractError": ".errors",
        "InvalidInputError": ".errors",
        "OutputWithheldError": ".errors",
        "Predicate": ".callers.predicates",
        "Problem": ".errors",
        "Request": ".callers.context",
        "Settings": ".settings",
        "ToolContract": ".contracts",
        "UnknownInputKeysError": ".errors",
        "authorized_tool": ".serving.decorator",
        "current_caller": ".serving.current",
        "gate_check": ".serving.current",
        "notify_changed": ".serving.notifying",
    },
)
