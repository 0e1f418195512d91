"""Assertions about who sees what, by the decisions that serving makes, without a request. Not async: for every test."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

from fastmcp_authz.serving.installing import Server
from fastmcp_authz.survey.survey import Sight, survey
from fastmcp_authz.testing.blocking import finished
from fastmcp_authz.testing.names import UnknownNameError, check_domain, check_known, check_who, named, near, not_known
from fastmcp_authz.testing.reasons import reasons
from fastmcp_authz.testing.targets import Target, target


def assert_hidden(server: Server, who: Any, what: str, *more: str, domain: str | None = None) -> None:
    """Asserts that something does not exist for somebody.

    Args:
        server: The server.
        who: The name of a persona, or a server context: `FakeContext(can=["read"])`. `None` is nobody.
        what: A tool, or a field of it: `"tool"`, `"tool.field"`, `"tool(input)"`, `"tool -> output"`. Of a name that
            several parts have, each must be hidden.
        more: More of the same.
        domain: The domain that is looked at; all of them where `None`.

    Raises:
        AssertionError: It does exist; the message says why.
        UnknownNameError: There is no such tool or field, for anybody; or `who` is the name of a persona that the
            `Authz` which decides for the tool does not know.
        ConfigurationError: There is no such persona or domain, `who` is no context, or the server cannot be made safe.
    """
    __tracebackhide__ = True
    _fail_with(finished(partial(_complaints, server, who, (what, *more), domain, hidden=True)))


def assert_visible(server: Server, who: Any, what: str, *more: str, domain: str | None = None) -> None:
    """Asserts that something exists for somebody; of a name that several parts have, one is enough.

    Arguments and exceptions are those of `assert_hidden`.
    """
    __tracebackhide__ = True
    _fail_with(finished(partial(_complaints, server, who, (what, *more), domain, hidden=False)))


def assert_tools(server: Server, who: Any, names: Iterable[str], *, domain: str | None = None) -> None:
    """Asserts that these are the tools that exist for somebody, no more and no fewer.

    Args:
        server: The server.
        who: As for `assert_hidden`.
        names: The names of the tools.
        domain: The domain that is looked at; all of them where `None`.

    Raises:
        AssertionError: They are not; the message says why, of each that is missing or too many.
        UnknownNameError: A name is that of no tool.
        ConfigurationError: As for `assert_hidden`.
    """
    __tracebackhide__ = True
    if isinstance(names, str):
        raise TypeError(f"assert_tools takes the names of all tools: write {{{names!r}}}.")
    _fail_with(finished(partial(_difference, server, who, frozenset(names), domain)))


def _fail_with(complaints: list[str]) -> None:
    __tracebackhide__ = True
    if complaints:
        raise AssertionError("\n".join(complaints))


async def _complaints(
    server: Server, who: Any, what: tuple[str, ...], domain: str | None, *, hidden: bool
) -> list[str]:
    looked_through = await survey(server, domain=domain)
    check_domain(looked_through)
    check_who(looked_through, who)
    targets = [target(each, looked_through) for each in what]
    for each in targets:
        check_known(each.tool, who)
    async with looked_through.looked_at_by(who) as sight:
        found = [await _complaint(sight, each, who, hidden=hidden) for each in targets]
    return [each for each in found if each is not None]


async def _complaint(sight: Sight, meant: Target, who: Any, *, hidden: bool) -> str | None:
    seen = await sight.see(meant.tool)
    visible = [(side, part) for side, part in meant.parts if part in (seen.input if side == "input" else seen.output)]
    is_visible = bool(visible) or (seen.tool is not None and (meant.is_tool or meant.tool.ours is None))
    if is_visible is not hidden:
        return None
    why = await reasons(sight, seen, visible if hidden else meant.parts)
    if hidden:
        return f"{meant.text} should be hidden from {named(who)}, and is visible:\n{why}"
    return f"{meant.text} should be visible to {named(who)}, and is hidden:\n{why}"


async def _difference(server: Server, who: Any, names: frozenset[str], domain: str | None) -> list[str]:
    looked_through = await survey(server, domain=domain)
    check_domain(looked_through)
    check_who(looked_through, who)
    for name in sorted(names):
        if looked_through.tool(name) is None:
            known = [each.name for each in looked_through.tools]
            raise UnknownNameError(
                f"{server.name!r} has no tool {name!r}. {near(name, known)}{not_known(looked_through)}"
            )
    if looked_through.unknown:
        unknown = "; ".join(looked_through.unknown)
        return [f"It cannot be told which tools {named(who)} sees: {unknown}. Ask a caller_of(...) for its tools."]
    lines: list[str] = []
    async with looked_through.looked_at_by(who) as sight:
        for seen in await sight.see_all():
            expected, there = seen.surveyed.name in names, seen.tool is not None
            if expected != there:
                lines.append(f"{'-' if expected else '+'} {seen.surveyed.name}")
                lines.append(await reasons(sight, seen))
    return [f"{named(who)} does not see these tools: - is missing, + is too many.", *lines] if lines else []
