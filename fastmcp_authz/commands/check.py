"""`fastmcp-authz check`: what is declared on a server and cannot be meant."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, TypeAlias

from cyclopts import Parameter

from fastmcp_authz.callers.predicates import Predicate
from fastmcp_authz.commands.findings import print_findings
from fastmcp_authz.commands.loading import AsJson, CannotRunError, Domain, ServerSpec, load_server
from fastmcp_authz.commands.noting import looked_through, note_strangers
from fastmcp_authz.commands.terminal import FINE, FOUND, print_json
from fastmcp_authz.errors import listed
from fastmcp_authz.survey.checks.looked import Looked, Subject, domains_of, look
from fastmcp_authz.survey.checks.rules import NEED_PERSONAS, RULES, Finding, codes_meant, find_all

Codes: TypeAlias = list[str] | None


async def check(
    server: ServerSpec,
    /,
    *,
    select: Annotated[Codes, Parameter(help="Only these: AZ301, or AZ3 for all that begin so; commas between")] = None,
    ignore: Annotated[Codes, Parameter(help="Not these")] = None,
    domain: Domain = None,
    as_json: AsJson = False,
) -> int:
    """Look for what is declared and cannot be meant. docs/commands/check.md says what each code is about."""
    codes, unknown = codes_meant(_split(select), _split(ignore))
    if unknown:
        known = "\n".join(f"  {rule.code}  {rule.title}" for rule in RULES)
        raise CannotRunError(f"There is no code {', '.join(unknown)}. Known are:\n{known}")
    surveyed = await looked_through(await load_server(server), domain=domain)
    if domain is not None and domain not in (known_domains := domains_of(surveyed)):
        raise CannotRunError(f"There is no domain {domain!r}. Known are: {', '.join(known_domains)}.")
    looked = await look(surveyed)
    findings, silenced = find_all(looked, codes)
    notes = list(_notes(looked, codes))
    counts = _counts(looked)
    note_strangers(surveyed, [each.surveyed for each in looked.subjects], surveyed.personas)
    if as_json:
        print_json(
            {
                "findings": [_plain(each) for each in findings],
                "silenced": silenced,
                "notes": notes,
                "looked_at": counts,
            }
        )
    else:
        print_findings(findings, silenced, notes, counts, looked.personas)
    return FOUND if findings else FINE


def _split(given: Sequence[str] | None) -> list[str]:
    return [code for each in given or () for code in re.split(r"[,\s]+", each) if code]


def _notes(looked: Looked, codes: frozenset[str]) -> Iterator[str]:
    """What could not be asked, and why."""
    needing = [code for code in NEED_PERSONAS if code in codes]
    if not looked.survey.authorities:
        yield "There is no Authz on this server: nothing is guarded."
    elif needing and not looked.survey.personas:
        yield (
            "There are no personas, so that nobody can be asked who answers and who sees what "
            f"({', '.join(needing)}): write Authz(mcp, ..., personas={{...}})."
        )
    elif needing and (without := [each for each in looked.survey.authorities if not each.personas]):
        tools = [each.name for each in looked.guarded if each.surveyed.authority in without]
        if tools:
            yield f"Nobody can be asked about {listed(tools)}: the Authz that decides for them has no personas."
    elif len(looked.personas) == 1 and {"AZ204", "AZ205"} & codes:
        yield "There is one persona: what everybody or nobody sees takes two (AZ204, AZ205)."


def _counts(looked: Looked) -> dict[str, int]:
    parts = [located for each in looked.subjects for located in each.parts()]
    asked = {p.text for each in looked.guarded for p in _predicates(each)}
    return {
        "tools": len(looked.subjects),
        "inputs": sum(located.side == "in" for located in parts),
        "outputs": sum(located.side == "out" for located in parts),
        "predicates": len(asked),
        "personas": len(looked.personas),
    }


def _predicates(subject: Subject) -> Iterator[Predicate]:
    assert subject.declaration is not None
    yield from subject.surveyed.gates
    yield from subject.declaration.contract.predicates


def _plain(finding: Finding) -> dict[str, Any]:
    rule, found = finding
    spot = found.spot
    return {
        "code": rule.code,
        "title": rule.title,
        "tool": found.tool,
        "part": found.part,
        "file": None if spot is None else spot.place.file,
        "line": None if spot is None else spot.place.line,
        "text": None if spot is None else spot.text,
        "message": found.wrong,
        "way_out": found.way_out,
        "also": list(found.also),
    }
