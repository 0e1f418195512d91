"""What an operator learns of each decision: frozen records of names and paths, never of a value."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

Outcome: TypeAlias = Literal[
    "sent", "asked", "error", "withheld", "unknown_tool", "unknown_keys", "invalid_arguments", "unavailable"
]


@dataclass(frozen=True, slots=True)
class ToolsListed:
    """A caller was told which tools there are."""

    caller: str | None
    """The server context's `audit_id`, else the subject of the access token, else its client; `None` for nobody."""
    tools: tuple[str, ...]
    """What was shown, of tools that are authorized ones."""
    hidden: Mapping[str, tuple[str, ...]]
    """What was not, each with the predicates that said no."""
    seconds: float

    def __str__(self) -> str:
        hidden = "; ".join(f"{name} ({_no(predicates)})" for name, predicates in self.hidden.items())
        return (
            f"listed {', '.join(self.tools) or 'no tools'} to {_who(self.caller)}{f', not {hidden}' if hidden else ''}"
        )


@dataclass(frozen=True, slots=True)
class ToolCalled:
    """A caller called a tool that is an authorized one, or would be for somebody else."""

    caller: str | None
    tool: str
    outcome: Outcome
    """`sent`: a result; `asked`: a question to the client; `error`: the function raised, or returned an error;
    `withheld`: the function ran and nothing of its result was sent; `unknown_tool`: there is none of that name for
    this caller; `unknown_keys`, `invalid_arguments`: refused before anything ran; `unavailable`: nobody could be
    asked."""
    denied: tuple[str, ...] = ()
    """The predicates that said no, where the tool does not exist for this caller."""
    keys: tuple[str, ...] = ()
    """The names of arguments that were refused."""
    pruned: tuple[str, ...] = ()
    """Paths of what the function returned and this caller did not get: `rows[].ssn`."""
    report: tuple[str, ...] = ()
    """Where a withheld result departs from its declaration."""
    seconds: float = 0.0

    def __str__(self) -> str:
        said = [f"called {self.tool} by {_who(self.caller)}: {self.outcome}"]
        said += [_no(self.denied)] if self.denied else []
        said += [f"keys {', '.join(self.keys)}"] if self.keys else []
        said += [f"without {', '.join(self.pruned)}"] if self.pruned else []
        said += list(self.report)
        return f"{', '.join(said)} ({self.seconds * 1_000:.1f} ms)"


@dataclass(frozen=True, slots=True)
class PredicateFailed:
    """A predicate raised, took too long, or answered what is no bool; it counted as a no."""

    caller: str | None
    predicate: str
    reason: str
    """The kind of exception, or what it was instead of an answer."""

    def __str__(self) -> str:
        return f"{self.predicate} failed for {_who(self.caller)}: {self.reason}"


Event: TypeAlias = ToolsListed | ToolCalled | PredicateFailed
Observer: TypeAlias = Callable[[Event], None]
"""Is told every event, in the task of the request. What it raises is logged and stops nothing."""


def _who(caller: str | None) -> str:
    return caller if caller is not None else "nobody known"


def _no(predicates: tuple[str, ...]) -> str:
    return f"{' and '.join(predicates)} said no" if predicates else "nothing of it is left"
