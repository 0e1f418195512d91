"""A text file that says which predicates guard which part of which tool, made to be reviewed and merged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import groupby
from typing import Final

from fastmcp_authz.errors import AuthzError
from fastmcp_authz.survey.deciding import names_of_authorities
from fastmcp_authz.survey.declared import lines_of, named
from fastmcp_authz.survey.lines import (
    Guards,
    Key,
    Missing,
    authz_line,
    domains_line,
    line_of,
    path_of,
    read_authz,
    read_domains,
    read_line,
    visible,
)
from fastmcp_authz.survey.survey import Survey

FORMAT: Final = 1
GENERIC_COMMAND: Final = "fastmcp-authz snapshot SERVER"

_TITLE: Final = "# fastmcp-authz snapshot, format "
_COMMAND: Final = "# Written, from this folder, by: "
_HEADER: Final = f"""\
{_TITLE}{FORMAT}
# The predicates that guard each tool, and each part of its input and output: review its changes as you review code.
# What guards a part also guards all that is in it. `open` is a part at which nothing stands.
# What an Authz makes of a question that no context answers is its missing_predicate: `allow` skips the question.
{_COMMAND}"""
_MERGING: Final = ("<<<<<<<", "=======", ">>>>>>>", "|||||||")


class SnapshotError(AuthzError):
    """A text is no snapshot that can be read; the message says why."""


@dataclass(frozen=True, eq=False)
class Snapshot:
    """What guards what, as declared."""

    lines: Mapping[Key, Guards]
    """What stands right at each part."""
    domains: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Of the tools that name any; the others are in the default one."""
    command: str = GENERIC_COMMAND
    """What writes it anew."""
    authz: Mapping[str, Missing] = field(default_factory=dict)
    """Who decides, by name, and what becomes of a question that no context answers."""
    _effective: dict[Key, Guards] = field(default_factory=dict, init=False, repr=False)

    @classmethod
    def of(cls, survey: Survey, *, command: str = GENERIC_COMMAND) -> Snapshot:
        """That of a server.

        Args:
            survey: The server, looked through.
            command: What writes it anew, for whoever reads the file.
        """
        lines: dict[Key, Guards] = {}
        domains: dict[str, frozenset[str]] = {}
        for name, tool in named(survey.tools):
            lines |= lines_of(name, tool)
            if tool.declaration is not None and tool.declaration.domains:
                domains[name] = frozenset(tool.declaration.domains)
        authz = {name: each.settings.missing_predicate for name, each in names_of_authorities(survey).items()}
        return cls(lines, domains, command, authz)

    @classmethod
    def read(cls, text: str) -> Snapshot:
        """That of a text which `text()` made. Its lines may stand in any order, as merges leave them.

        Raises:
            SnapshotError: It cannot be read.
        """
        title, *rest = (line.rstrip("\r") for line in text.removeprefix("\ufeff").split("\n"))
        if not title.startswith(_TITLE):
            raise SnapshotError(f"its first line is not `{_TITLE}{FORMAT}`")
        if title != f"{_TITLE}{FORMAT}":
            raise SnapshotError(f"another version of fastmcp-authz wrote it: this one reads format {FORMAT}")
        lines: dict[Key, Guards] = {}
        domains: dict[str, frozenset[str]] = {}
        authz: dict[str, Missing] = {}
        command = GENERIC_COMMAND
        for number, line in enumerate(rest, 2):
            if line.startswith("#"):
                command = line.removeprefix(_COMMAND) if line.startswith(_COMMAND) else command
            elif (found := read_line(line)) is not None:
                key, guards = found
                if lines.setdefault(key, guards) != guards:
                    raise SnapshotError(f"line {number} contradicts an earlier one: {visible(line)}")
            elif (said := read_domains(line)) is not None:
                tool, names = said
                if domains.setdefault(tool, names) != names:
                    raise SnapshotError(f"line {number} contradicts an earlier one: {visible(line)}")
            elif (decided := read_authz(line)) is not None:
                name, missing = decided
                if authz.setdefault(name, missing) != missing:
                    raise SnapshotError(f"line {number} contradicts an earlier one: {visible(line)}")
            elif line.strip():
                why = "is left over from a merge" if line.startswith(_MERGING) else "is no line of a snapshot"
                raise SnapshotError(f"line {number} {why}: {visible(line)}")
        snapshot = cls(lines, domains, command, authz)
        snapshot._refuse_orphans()
        return snapshot

    @property
    def tools(self) -> frozenset[str]:
        """The names of the tools that it has lines for."""
        return frozenset(key.tool for key in self.lines)

    def _refuse_orphans(self) -> None:
        """Without the line of what a part is in, nobody knows what guards it."""
        for key in (*self.lines, *map(Key, self.domains)):
            steps = key.steps
            outer = [path_of(steps[:end]) for end in range(1, len(steps)) if steps[end - 1][0] in ".<"]
            for each in (Key(key.tool), *(Key(key.tool, key.side, path) for path in outer)):
                if each not in self.lines:
                    raise SnapshotError(f"it has a line for {key}, and none for {each}, which that is in")

    def text(self) -> str:
        """It as a file: the same for the same declarations, on every machine."""
        blocks = [f"{_HEADER}{self.command}"]
        if self.authz:
            blocks.append("\n".join(authz_line(name, self.authz[name]) for name in sorted(self.authz)))
        keys = sorted(self.lines, key=lambda key: (key.tool, key.side, key.steps))
        for tool, parts in groupby(keys, key=lambda key: key.tool):
            block = [line_of(key, self.lines[key]) for key in parts]
            if tool in self.domains:
                block.insert(1, domains_line(tool, self.domains[tool]))
            blocks.append("\n".join(block))
        return "\n\n".join(blocks) + "\n"

    def above(self, key: Key) -> Key | None:
        """What a part is in: the nearest that has a line. `None` for a tool."""
        if not key.side:
            return None
        steps = key.steps
        outer = (Key(key.tool, key.side, path_of(steps[:end])) for end in range(len(steps) - 1, 0, -1))
        return next((each for each in outer if each in self.lines), Key(key.tool))

    def effective(self, key: Key) -> Guards:
        """All that guards a part: what stands at it, and at everything that it is in."""
        if key not in self._effective:
            above = self.above(key)
            outer: Guards = frozenset() if above is None else self.effective(above)
            self._effective[key] = outer | self.lines[key]
        return self._effective[key]
