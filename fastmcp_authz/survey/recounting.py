"""Changes in words, for reviewers, and in JSON, for programs."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple, get_args

from fastmcp_authz.survey.changes import Change, Changes, Kind
from fastmcp_authz.survey.feelings import Felt
from fastmcp_authz.survey.lines import Guards, authz_label, listed, word

_INDENT: Final = " " * 12
_UNFELT: Final = Felt()


class Sentence(NamedTuple):
    """A line of what is told."""

    text: str
    kind: Kind | None = None
    """Set on the first line of a change."""
    warning: bool = False


def sentences(changes: Changes, felt: Mapping[Change, Felt] | None = None, width: int = 0) -> Iterator[Sentence]:
    """Each change over a few lines, and a last one that counts them.

    Args:
        changes: The changes.
        felt: Which personas gain or lose by each of them, where there are personas.
        width: Where lines are broken; 0 is nowhere.
    """
    for change in changes.told:
        label = _label(change)
        yield Sentence(f"{'⚠' if change.warning else ' '} {change.kind:<9} {label}", change.kind, change.warning)
        for detail in _details(change, changes, (felt or {}).get(change, _UNFELT)):
            if not width:
                yield Sentence(_INDENT + detail)
                continue
            broken = textwrap.wrap(
                detail,
                width,
                initial_indent=_INDENT,
                subsequent_indent=f"{_INDENT}  ",
                break_long_words=False,
                break_on_hyphens=False,
            )
            yield from map(Sentence, broken)
    yield Sentence(counted(changes))


def _label(change: Change) -> str:
    if change.authz:
        return authz_label(change.key.tool)
    return f"{change.key} domains" if change.domains else str(change.key)


def counted(changes: Changes) -> str:
    """How many changes there are of each kind: `1 opened, 1 gone: through 1 of them (⚠) somebody may see more.`"""
    if not changes.told:
        return "Nothing has changed."
    counts = ", ".join(f"{changes.counts[kind]} {kind}" for kind in get_args(Kind) if kind in changes.counts)
    if not changes.warnings:
        return f"{counts}. Nobody sees more of what was there."
    return f"{counts}. Somebody may see more by {len(changes.warnings)} of them (⚠)."


def in_json(changes: Changes, felt: Mapping[Change, Felt] | None = None) -> dict[str, Any]:
    """All changes, those that follow from others too."""
    return {
        "changes": [_change_as_json(change, felt) for change in changes.all],
        "counts": {kind: changes.counts.get(kind, 0) for kind in get_args(Kind)},
        "warnings": len(changes.warnings),
    }


def _change_as_json(change: Change, felt: Mapping[Change, Felt] | None) -> dict[str, Any]:
    about = {
        "kind": change.kind,
        "warning": change.warning,
        "tool": None if change.authz else change.key.tool,
        "side": "authz" if change.authz else "domains" if change.domains else change.key.side or None,
        "path": (change.key.tool if change.authz else change.key.path) or None,
        "before": None if change.before is None else sorted(change.before),
        "after": None if change.after is None else sorted(change.after),
        "was": None if change.was is None else str(change.was),
        "follows": None if change.follows is None else str(change.follows),
    }
    if felt is not None and change in felt:
        told = felt[change]
        about |= {"gained": list(told.gained), "lost": list(told.lost)}
        about |= {"unanswered": list(told.unanswered)} if change.authz else {}
    return about


def _details(change: Change, changes: Changes, felt: Felt) -> Iterator[str]:
    if change.authz:
        yield from _of_authz(change, felt)
        return
    before, after = _side(change.before, change), _side(change.after, change)
    if change.domains:
        yield f"{_domains(change.before)} → {_domains(change.after)}"
    elif change.before is None:
        yield after
    else:
        yield f"{before} → {after}"
    if change.was is not None:
        yield f"it was {change.was}" if change.was != change.key else f"it is, or may be, part of {change.outer} now"
    count = changes.following(change)
    if count:
        yield f"and so {'1 part' if count == 1 else f'{count} parts'} of it"
    gained, lost = ", ".join(felt.gained), ", ".join(felt.lost)
    if gained:
        yield f"seen by: {gained}" if change.before is None else f"now also seen by: {gained}"
    if lost:
        yield f"was seen by: {lost}" if change.after is None else f"no longer seen by: {lost}"


def _of_authz(change: Change, felt: Felt) -> Iterator[str]:
    """Who decides, and what becomes of a question that no context answers."""
    now = ", ".join(change.after or ())
    if change.after is None:
        yield "no Authz of its own decides here any more"
    elif change.before is None:
        yield f"{now}; it decides here now, by contexts of its own"
    else:
        yield f"{', '.join(change.before)} → {now}"
    if felt.unanswered:
        yield f"no persona's context answers, so that it keeps out nobody now: {', '.join(felt.unanswered)}"
    elif change.after == frozenset({"allow"}):
        yield "a question that a context has no method for keeps out nobody now"


def _side(guards: Guards | None, change: Change) -> str:
    """What it takes to see a part, without what it takes to see what it is in."""
    if guards is None:
        return "gone"
    own = listed(guards - change.outside)
    if own or change.outer is None:
        return own or "everyone"
    return f"everyone who sees {change.outer}" if guards else "everyone"


def _domains(names: frozenset[str] | None) -> str:
    return ", ".join(map(word, sorted(names or ()))) or "the default one"
