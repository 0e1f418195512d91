"""What is more than the provider takes that the schemas are written for (docs/dialects.md)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from fastmcp_authz.serving.reporting import Report, reported
from fastmcp_authz.survey.checks.finding import Found
from fastmcp_authz.survey.checks.looked import EVERYBODY, Looked, Subject
from fastmcp_authz.survey.checks.words import conjoined


def schema_beyond(looked: Looked) -> Iterator[Found]:
    """Input schemas that are more than the provider takes."""
    beyond: dict[tuple[Subject, str], list[str]] = {}
    for persona, tools in looked.listed.items():
        for subject, tool in tools:
            authority = subject.surveyed.authority
            in_use = () if authority is None else (authority.settings.advertised,)
            for line in _of(in_use, reported(tool).beyond):
                beyond.setdefault((subject, line), []).append(persona)
    for (subject, line), people in beyond.items():
        yield subject.found(
            f"Its input schema is more than the provider takes: {line}{_for(people)}.",
            "Flatten it, split the tool, or leave some of it out.",
        )


def request_beyond(looked: Looked) -> Iterator[Found]:
    """Tools that together are more than the provider takes in one request."""
    in_use = {each.settings.advertised for each in looked.survey.authorities}
    beyond: dict[str, list[str]] = {}
    for persona, tools in looked.listed.items():
        for line in _of(in_use, Report(tuple(reported(tool) for _, tool in tools)).beyond):
            beyond.setdefault(line, []).append(persona)
    for line, people in beyond.items():
        yield Found(
            None,
            "all tools",
            None,
            f"The tools together are more than the provider takes in one request: {line}{_for(people)}.",
            "Serve fewer at a time: in domains, or by facades (docs/domains.md).",
        )


def _of(providers: Collection[str], lines: Iterable[str]) -> Iterator[str]:
    """What is said of some providers."""
    return (line for line in lines if line.partition(": ")[0] in providers)


def _for(people: Sequence[str]) -> str:
    return "" if people == [EVERYBODY] else f" (for {conjoined(people)})"
