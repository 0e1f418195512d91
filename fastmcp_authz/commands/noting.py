"""What is to be known beside the answer of a command, on standard error."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from fastmcp_authz.commands.terminal import warn
from fastmcp_authz.errors import listed
from fastmcp_authz.serving.installing import Server
from fastmcp_authz.survey.survey import Survey, SurveyedTool, UnmadeError, survey


async def looked_through(server: Server, *, domain: str | None = None) -> Survey:
    """A server, looked through; says whose tools are not known."""
    surveyed = await survey(server, domain=domain)
    if surveyed.unknown:
        warn(
            f"not all tools are known: {'; '.join(surveyed.unknown)}. What it lists, or is given to list, may be "
            "missing here: callers may have more tools than this."
        )
    return surveyed


def note_unmade(unmade: Sequence[UnmadeError], made: Collection[object]) -> None:
    """Says which personas are left out, since their contexts cannot be made, and why.

    Raises:
        UnmadeError: There is no other.
    """
    if unmade and not made:
        raise unmade[0]
    for each in unmade:
        warn(each.left_out)


def note_strangers(surveyed: Survey, tools: Sequence[SurveyedTool], personas: Collection[str]) -> None:
    """Says of which tools a persona is nobody, since the `Authz` that decides for them does not know it."""
    of: dict[tuple[str, ...], list[str]] = {}
    for persona in personas:
        strange = set(surveyed.strange_to(persona))
        names = tuple(dict.fromkeys(each.name for each in tools if each in strange))
        if names:
            of.setdefault(names, []).append(persona)
    if of:
        said = "; ".join(f"{listed(people)} for {listed(names)}" for names, people in of.items())
        warn(f"not among the personas of the Authz that decides, and so nobody there: {said}.")
