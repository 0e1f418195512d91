"""Which personas a change gives something to, or takes something from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from fastmcp_authz.callers.predicates import Predicate
from fastmcp_authz.callers.scope import Authority
from fastmcp_authz.errors import AuthzError
from fastmcp_authz.survey.changes import Change, Changes
from fastmcp_authz.survey.checks.contexts import answering
from fastmcp_authz.survey.deciding import names_of_authorities
from fastmcp_authz.survey.declared import named
from fastmcp_authz.survey.lines import Guards, is_askable, predicate
from fastmcp_authz.survey.survey import Sight, Survey, SurveyedTool


class Felt(NamedTuple):
    """The personas that see a part now and did not before, and those that saw it and do not now."""

    gained: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    unanswered: tuple[str, ...] = ()
    """What no persona's context answers, where that is skipped now."""


class Feelings(NamedTuple):
    """What each change that is told is to the personas of a server."""

    felt: Mapping[Change, Felt]
    unmade: tuple[str, ...] = ()
    """Why some personas could not be asked."""


async def feelings(changes: Changes, survey: Survey) -> Feelings:
    """Asks the personas of a server, as they answer now, by what guarded each part and by what guards it.

    Args:
        changes: What has changed; nobody is asked where nothing has.
        survey: The server as it is.
    """
    tools = dict(named(survey.tools))
    askable = (change for change in changes.told if is_askable(change.before) and is_askable(change.after))
    told = [change for change in askable if not change.domains and not change.authz]
    skipping = dict(_skipping(changes, survey))
    unanswered: dict[Authority, list[frozenset[str]]] = {each: [] for each in skipping}
    gained: dict[Change, list[str]] = {change: [] for change in told}
    lost: dict[Change, list[str]] = {change: [] for change in told}
    unmade: list[str] = []
    for persona in survey.personas if told or skipping else ():
        try:
            async with survey.looked_at_by(persona) as sight:
                for authority, found in unanswered.items():
                    asked = answering(sight.callers[authority].context, _asked_of(authority, survey))
                    if asked is not None:
                        found.append(asked.unanswered)
                for change in told:
                    tool = tools.get(change.key.tool)
                    before, after = [await _sees(sight, tool, each) for each in (change.before, change.after)]
                    if after and not before:
                        gained[change].append(persona)
                    if before and not after:
                        lost[change].append(persona)
        except AuthzError as error:
            unmade.append(str(error))
    felt = {each: Felt(tuple(gained[each]), tuple(lost[each])) for each in told}
    for authority, change in skipping.items():
        nobodys = frozenset.intersection(*unanswered[authority]) if unanswered[authority] else frozenset[str]()
        felt[change] = Felt(unanswered=tuple(sorted(nobodys)))
    return Feelings(felt, tuple(unmade))


def _skipping(changes: Changes, survey: Survey) -> Iterator[tuple[Authority, Change]]:
    """Who skips questions now that no context answers."""
    known = names_of_authorities(survey)
    for change in changes.told:
        if change.authz and change.after == frozenset({"allow"}) and change.key.tool in known:
            yield known[change.key.tool], change


def _asked_of(authority: Authority, survey: Survey) -> set[Predicate]:
    declared = ((each, each.declaration) for each in survey.tools if each.authority is authority)
    return {asked for tool, found in declared if found for asked in (*tool.gates, *found.contract.predicates)}


async def _sees(sight: Sight, tool: SurveyedTool | None, guards: Guards | None) -> bool:
    """Whether somebody passes all guards. Of a tool that is gone, the server's own authority is asked."""
    if guards is None:
        return False
    asked = [each for each in map(predicate, guards) if each is not None]
    servers_own = next(iter(sight.callers.values()), None)
    caller = servers_own if tool is None or tool.authority is None else sight.caller(tool)
    if len(asked) < len(guards) or (asked and caller is None):
        return False
    return caller is None or len(await caller.decide(asked)) == len(asked)
