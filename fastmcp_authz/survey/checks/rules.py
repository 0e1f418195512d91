"""The table of rules, and what all of them together find on a server."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Final, NamedTuple, TypeAlias

from fastmcp_authz.survey.checks.asking import unanswered_by_all, unanswered_by_some, unmade
from fastmcp_authz.survey.checks.defaults import default_differs
from fastmcp_authz.survey.checks.finding import Found
from fastmcp_authz.survey.checks.gating import plain, unprotected, without_gate
from fastmcp_authz.survey.checks.looked import Looked
from fastmcp_authz.survey.checks.names import unused_alias, unused_import, unused_shared_alias
from fastmcp_authz.survey.checks.prose import names_guarded, names_tool
from fastmcp_authz.survey.checks.providers import request_beyond, schema_beyond
from fastmcp_authz.survey.checks.reach import seen_by_all, seen_by_none
from fastmcp_authz.survey.checks.unions import ambiguous, overlapping


class Rule(NamedTuple):
    """One thing that is looked for."""

    code: str
    title: str
    find: Callable[[Looked], Iterable[Found]]


RULES: Final[Sequence[Rule]] = (
    # 1: what contexts are asked
    Rule("AZ101", "a predicate that no context answers", unanswered_by_all),
    Rule("AZ102", "a predicate that only some contexts answer", unanswered_by_some),
    Rule("AZ103", "a persona that cannot be made", unmade),
    # 2: who has what
    Rule("AZ201", "a tool without any gate", without_gate),
    Rule("AZ202", "a plain tool beside Authz", plain),
    Rule("AZ203", "a decorated tool that nobody protects", unprotected),
    Rule("AZ204", "a guard that keeps out no persona", seen_by_all),
    Rule("AZ205", "a guard that keeps out every persona", seen_by_none),
    # 3: unions
    Rule("AZ301", "members that somebody's view cannot tell apart", ambiguous),
    Rule("AZ302", "an output member that another one takes the values of", overlapping),
    # 4: declarations
    Rule("AZ401", "an unused type", unused_alias),
    Rule("AZ402", "an unused shared type", unused_shared_alias),
    Rule("AZ403", "an unused import", unused_import),
    Rule("AZ404", "a default that differs from Python's", default_differs),
    # 5: prose
    Rule("AZ501", "prose that names something guarded", names_guarded),
    Rule("AZ502", "prose that names a tool which its reader lacks", names_tool),
    # 6: providers of models
    Rule("AZ601", "a schema that is more than the provider takes", schema_beyond),
    Rule("AZ602", "tools that together are more than the provider takes", request_beyond),
)
NEED_PERSONAS: Final = ("AZ101", "AZ102", "AZ204", "AZ205", "AZ502")
"""The rules that find nothing where there is no persona."""

_COMMENT: Final = re.compile(r"#\s*authz:\s*ignore\[([\w,\s]*)\]")

Finding: TypeAlias = tuple[Rule, Found]


class Findings(NamedTuple):
    """What was found."""

    findings: Sequence[Finding]
    """In the order of the tools, then of the rules."""
    silenced: int
    """How many more there are that a comment says to leave."""


def find_all(looked: Looked, codes: Collection[str]) -> Findings:
    """What the rules of some codes find.

    One that says the same of one spot in several tools is one finding. What an `# authz: ignore[CODE]` names on its
    line, or behind the `def` of its tool, is left out.
    """
    found: dict[object, Finding] = {}
    for rule in RULES:
        for each in rule.find(looked) if rule.code in codes else ():
            key = (rule.code, each.spot or each.tool, each.wrong)
            if key in found:
                each = _joined(found[key][1], each)
            found[key] = (rule, each)
    defs = {each.name: spot.excerpt for each in looked.subjects if (spot := each.function()) is not None}
    kept = [pair for pair in found.values() if not _is_silenced(*pair, defs.get(pair[1].tool or "", ""))]
    order = {each.name: index for index, each in enumerate(looked.subjects)}
    kept.sort(key=lambda pair: order.get(pair[1].tool or "", len(order)))
    return Findings(kept, len(found) - len(kept))


def codes_meant(select: Sequence[str], ignore: Sequence[str]) -> tuple[frozenset[str], tuple[str, ...]]:
    """The codes that are selected and not ignored, and what was written that begins no code.

    `AZ2` and `AZ20` mean all that begin so. Nothing selected means all.
    """
    known = [rule.code for rule in RULES]
    unknown = tuple(each for each in (*select, *ignore) if not list(_beginning(known, each)))
    selected = {code for each in select for code in _beginning(known, each)} if select else set(known)
    return frozenset(selected.difference(*(_beginning(known, each) for each in ignore))), unknown


def _beginning(codes: Iterable[str], start: str) -> Iterator[str]:
    return (code for code in codes if len(start) >= len("AZ1") and code.startswith(start.upper()))


def _joined(one: Found, other: Found) -> Found:
    tools = dict.fromkeys((*one.also, *([other.tool] if other.tool else []), *other.also))
    return one._replace(also=tuple(name for name in tools if name != one.tool))


def _is_silenced(rule: Rule, found: Found, definition: str) -> bool:
    lines = ("" if found.spot is None else found.spot.excerpt, definition)
    named = (code.strip() for line in lines for match in _COMMENT.finditer(line) for code in match[1].split(","))
    return rule.code in named
