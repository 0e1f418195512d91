"""Per-caller contracts for FastMCP tools: what a caller may not see does not exist for that caller."""

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
