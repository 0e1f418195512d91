"""How a line of a snapshot is written and read: what it is about, and which predicates stand there."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final, Literal, NamedTuple, TypeAlias

from fastmcp_authz.callers.predicates import RESERVED, Predicate

Side: TypeAlias = Literal["", "in", "out", "content"]
Missing: TypeAlias = Literal["allow", "deny", "error"]
"""What becomes of a question that no context answers: `Authz(missing_predicate=...)`."""
Guards: TypeAlias = frozenset[str]
"""Predicates, as they are written."""

OPEN: Final = "open"
NOBODY: Final = "nobody"
"""What guards that which nobody has: a decorated tool that no `Authz` protects, a disabled one, a hidden argument."""
AUTH: Final = "fastmcp_auth"
"""What stands for FastMCP's `auth=` on a tool, as the predicate of the check's name."""
ANYTHING: Final = "*"
"""The last step of a path: whatever is there, declared or not."""

_TEXT: Final = r'"(?:[^"\\]|\\.)*"'
_WORD: Final = rf"(?:{_TEXT}|[\w./@-]+)"
# A step takes all the letters there are: else a long line that is none would be tried in endless ways.
_STEP: Final = rf'\.?(?:[\w-]++|{_TEXT}|\*)|<(?:{_TEXT}|[^"<>])*>|\[\d*\]|\{{\}}|\{{key\}}'
_GUARD: Final = rf'(?:current_user\.)?\w+\((?:{_TEXT}|[^"()]*)\)|{NOBODY}'
_LINE: Final = re.compile(
    rf"(?P<tool>{_WORD})(?: (?P<side>in|out|content) (?P<path>(?:{_STEP})+))?"
    rf": (?P<guards>{OPEN}|(?:{_GUARD})(?:, (?:{_GUARD}))*)"
)
_DOMAINS: Final = re.compile(rf"(?P<tool>{_WORD}) domains: (?P<domains>{_WORD}(?:, {_WORD})*)")

_AUTHZ: Final = re.compile(rf"Authz(?: of (?P<name>{_WORD}))? missing_predicate: (?P<missing>allow|deny|error)")


class Key(NamedTuple):
    """What a line is about: a tool, or a part of it."""

    tool: str
    side: Side = ""
    path: str = ""

    def __str__(self) -> str:
        return " ".join(filter(None, (word(self.tool), self.side, self.path)))

    @property
    def steps(self) -> tuple[str, ...]:
        """The steps of its path: `.rows`, `[]`, `.ssn`."""
        return _steps(self.path)


@lru_cache(maxsize=16_384)
def _steps(path: str) -> tuple[str, ...]:
    return tuple(step if step[0] in ".<[{" else f".{step}" for step in re.findall(_STEP, path))


def path_of(steps: Iterable[str]) -> str:
    """The path that is made of steps."""
    return visible("".join(steps).removeprefix("."))


def line_of(key: Key, guards: Guards) -> str:
    """A part, and what stands at it."""
    return f"{key}: {listed(guards) or OPEN}"


def domains_line(tool: str, domains: Iterable[str]) -> str:
    """A tool, and the domains that it is in."""
    return f"{word(tool)} domains: {', '.join(map(word, sorted(domains)))}"


def authz_label(name: str) -> str:
    """Who decides: the server's own `Authz`, which has no name, or that of a mounted server."""
    return f"Authz of {word(name)} missing_predicate" if name else "Authz missing_predicate"


def authz_line(name: str, missing: Missing) -> str:
    """Who decides, and what becomes of a question that no context answers."""
    return f"{authz_label(name)}: {missing}"


def read_line(line: str) -> tuple[Key, Guards] | None:
    """What `line_of` wrote, if it did."""
    found = _LINE.fullmatch(line) if line.isprintable() else None  # no escape sequences in what is printed of it
    if found is None:
        return None
    sides: dict[str | None, Side] = {"in": "in", "out": "out", "content": "content"}
    tool = _said(found["tool"])
    if tool is None:
        return None
    key = Key(tool, sides.get(found["side"], ""), found["path"] or "")
    return key, frozenset() if found["guards"] == OPEN else frozenset(re.findall(_GUARD, found["guards"]))


def read_domains(line: str) -> tuple[str, frozenset[str]] | None:
    """What `domains_line` wrote, if it did."""
    found = _DOMAINS.fullmatch(line) if line.isprintable() else None
    if found is None:
        return None
    tool, *domains = map(_said, (found["tool"], *re.findall(_WORD, found["domains"])))
    named = frozenset(each for each in domains if each is not None)
    return None if tool is None or None in domains else (tool, named)


def read_authz(line: str) -> tuple[str, Missing] | None:
    """What `authz_line` wrote, if it did."""
    found = _AUTHZ.fullmatch(line) if line.isprintable() else None
    known: dict[str, Missing] = {"allow": "allow", "deny": "deny", "error": "error"}
    name = None if found is None else "" if found["name"] is None else _said(found["name"])
    return None if found is None or name is None else (name, known[found["missing"]])


def predicate(guard: str) -> Predicate | None:
    """The predicate that a guard is the text of; `None` for `nobody`, for FastMCP's `auth=`, and for what no
    declaration can ask."""
    found = re.fullmatch(r"(current_user\.)?(\w+)\((.*)\)", guard)
    if found is None or found[2].startswith("_") or found[2] in {*RESERVED, AUTH} or (found[1] and found[2] != "can"):
        return None
    try:
        return Predicate(found[2], json.loads(found[3]), on="current_user" if found[1] else "context")
    except ValueError:
        return None


def is_askable(guards: Guards | None) -> bool:
    """Whether a server context can answer for all of them; FastMCP's `auth=` is answered for a request alone."""
    return not any(each.startswith(f"{AUTH}(") for each in guards or ())


def listed(guards: Guards) -> str:
    """Guards in one line, in an order that does not depend on that of the tags."""
    return ", ".join(sorted(guards))


def word(name: str) -> str:
    """The name of a tool or a domain."""
    return name if re.fullmatch(r"[\w./@-]+", name) else json.dumps(name)


def visible(text: str) -> str:
    """A text in which each character can be seen: one that cannot stands in a JSON string, and is escaped there."""
    return "".join(each if each.isprintable() else json.dumps(each)[1:-1] for each in text)


def _said(written: str) -> str | None:
    """What a word says; `None` for a text with an escape that JSON has not."""
    try:
        return str(json.loads(written)) if written.startswith('"') else written
    except ValueError:
        return None
