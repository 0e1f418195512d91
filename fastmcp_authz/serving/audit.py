"""The operator's eye: each decision as a log record, an event on the request's span, and a call of a hook."""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Iterable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from time import perf_counter

from opentelemetry.trace import get_current_span

from fastmcp_authz.callers.asking import is_own
from fastmcp_authz.callers.deciding import Caller
from fastmcp_authz.events import Event, Observer, Outcome, ToolCalled, ToolsListed

_MOST_PATHS = 200
"""Of one tool: a map's keys may be anything."""
logger = logging.getLogger("fastmcp_authz")
audit = logging.getLogger("fastmcp_authz.audit")


def emit(event: Event, hook: Observer | None = None) -> None:
    """Tells everybody who listens of an event. What a hook raises is logged, and stops nothing."""
    audit.info("%s", event, extra={"event": event})
    span = get_current_span()
    if span.is_recording():
        span.add_event(f"authz.{type(event).__name__}", _attributes(event))
    if hook is not None:
        try:
            hook(event)
        except BaseException as failure:
            if not is_own(failure):
                raise
            logger.error("on_event failed.", exc_info=True)


def _attributes(event: Event) -> dict[str, str | float | list[str]]:
    """The fields of an event as attributes of a span, which know no nesting."""
    found: dict[str, str | float | list[str]] = {}
    for each in dataclasses.fields(event):
        value = getattr(event, each.name)
        if isinstance(value, str | float):
            found[f"authz.{each.name}"] = value
        elif isinstance(value, tuple) and value:
            found[f"authz.{each.name}"] = list(value)
        elif isinstance(value, Mapping) and value:
            found[f"authz.{each.name}"] = [f"{key}: {', '.join(words)}" for key, words in value.items()]
    return found


@dataclass(slots=True)
class Denials:
    """What was found not to exist for the caller, in one list or call of a client."""

    by_tool: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """The predicates that said no, by tool."""
    asked_for: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """The same, of tools that were asked for by name."""
    caller: Caller | None = None
    shown: list[str] = field(default_factory=list)
    called: bool = False
    """Whether a tool of ours was reached: it tells of itself."""
    handed_out: dict[int, object] = field(default_factory=dict)
    """What the tools stand for that were listed in this request, by identity."""
    declared: dict[tuple[object, str], object] = field(default_factory=dict)
    """What the tools of mounted servers were declared as, by server and name."""


_denials: ContextVar[Denials | None] = ContextVar("fastmcp_authz_denials", default=None)


class noting:
    """Notes what transforms decide, on behalf of a client who lists or calls."""

    def __enter__(self) -> Denials:
        denials = Denials()
        self._token = _denials.set(denials)
        return denials

    def __exit__(self, *_: object) -> None:
        _denials.reset(self._token)


def noted_so_far() -> Denials | None:
    """What was noted in this list or call up to here."""
    return _denials.get()


def note_seen(tool: str, caller: Caller, denied: tuple[str, ...] | None, *, by_name: bool) -> None:
    """A tool was looked up for a caller, `by_name` or in a list; `denied` is `None` where it exists."""
    denials = _denials.get()
    if denials is not None:
        denials.caller = caller
        if denied is None:
            denials.shown.append(tool)
        else:
            (denials.asked_for if by_name else denials.by_tool)[tool] = denied


def note_listed(
    caller: Caller,
    shown: Iterable[str],
    hidden: Mapping[str, tuple[str, ...]],
    handed_out: Mapping[int, object],
) -> None:
    """A list was made for a caller: what is there by name, what is not, and what the former stands for."""
    denials = _denials.get()
    if denials is not None and (shown or hidden):
        denials.caller = caller
        denials.shown.extend(shown)
        denials.by_tool.update(hidden)
        denials.handed_out.update(handed_out)


def note_handed_out(binding: object) -> None:
    """A tool was made that stands for `binding`."""
    denials = _denials.get()
    if denials is not None:
        denials.handed_out[id(binding)] = binding


def note_declared(server: object, tool: str, declaration: object) -> None:
    """A mounted server listed a tool of ours by this name."""
    denials = _denials.get()
    if denials is not None:
        denials.declared[server, tool] = declaration


def note_called() -> None:
    """A tool of ours was reached."""
    denials = _denials.get()
    if denials is not None:
        denials.called = True


def tell_listed(denials: Denials, seconds: float) -> None:
    """The event of a list, if any tool of ours was in question."""
    caller = denials.caller
    if caller is not None:
        shown = dict.fromkeys(denials.shown)
        hidden = {name: denied for name, denied in denials.by_tool.items() if name not in shown}
        caller.observe(ToolsListed(caller.name, tuple(shown), hidden, seconds))


def tell_refused(denials: Denials, tool: str, seconds: float) -> None:
    """The event of a call that found no tool, though there is one for somebody else.

    A mounted server knows it by another name, where the mount has a namespace.
    """
    caller = denials.caller
    if caller is not None and not denials.called and denials.asked_for:
        denied = tuple(dict.fromkeys(predicate for each in denials.asked_for.values() for predicate in each))
        caller.observe(ToolCalled(caller.name, tool, "unknown_tool", denied, seconds=seconds))


@dataclass(slots=True)
class CallRecord:
    """One call while it lasts."""

    caller: Caller
    tool: str
    paths_told: set[str]
    """What the operator was warned of before."""
    outcome: Outcome = "error"
    denied: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    pruned: tuple[str, ...] = ()
    report: tuple[str, ...] = ()
    started: float = field(default_factory=perf_counter)

    def sent(self, pruned: tuple[str, ...]) -> None:
        """A result was sent, without these paths."""
        self.outcome, self.pruned = "sent", pruned
        news = [path for path in pruned if path not in self.paths_told]
        if news and len(self.paths_told) < _MOST_PATHS:
            self.paths_told.update(news)
            audit.warning(
                "%s returned what its caller may not see or nobody declared, and it was left out: %s.",
                self.tool,
                ", ".join(news),
            )

    def tell(self) -> None:
        """The event of it."""
        seconds = perf_counter() - self.started
        self.caller.observe(
            ToolCalled(
                self.caller.name, self.tool, self.outcome, self.denied, self.keys, self.pruned, self.report, seconds
            )
        )
