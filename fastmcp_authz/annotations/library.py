"""Shared `.rbs` files: which folders hold them, and what `@rbs import NAME` brings in."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from fastmcp_authz.annotations.nesting import Nesting
from fastmcp_authz.annotations.parser import parse
from fastmcp_authz.annotations.reader import add_alias, control_characters, warn_of
from fastmcp_authz.annotations.scanner import BlockText, Scanner
from fastmcp_authz.annotations.syntax import Alias, Import, Source, Span
from fastmcp_authz.errors import Problem, listed, near_names, shortened

_TYPE = re.compile(r"[ \t]*type\s+(?![=:?])")
_TYPE_SURELY = re.compile(r"type[ \t]+\w+[ \t]*(?:\[[^\]]*\][ \t]*)?=")


def shared_folders(module_file: Path | None, extra: Sequence[Path]) -> tuple[Path, ...]:
    """Return the folders to search for shared types, first hit first.

    `extra` come first, then each `sig/shared` beside `module_file` or in a folder above it, the nearest first.
    """
    folders = dict.fromkeys(extra)
    if module_file is not None:
        for parent in Path(module_file).absolute().parents:
            folder = parent / "sig" / "shared"
            if folder.is_dir():
                folders[folder] = None
    return tuple(folders)


class Library:
    """The shared types of some folders, or of texts by file name (`{"error.rbs": "type error = ..."}`), texts first."""

    def __init__(self, folders: Sequence[Path] = (), texts: Mapping[str, str] = {}) -> None:
        self._folders = tuple(Path(folder) for folder in folders)
        self._texts = dict(texts)

    def load(self, imported: Import) -> tuple[tuple[Alias, ...], tuple[Problem, ...]]:
        """Return the types that an import brings in. Whatever stands in the way is a problem, never an exception."""
        found = self._find(imported)
        if isinstance(found, Problem):
            return (), (found,)
        return _parse_file(*found)

    def _find(self, imported: Import) -> tuple[str, str] | Problem:
        """Return the file's display name and text."""
        name = imported.name
        if not _is_inside(name):
            return imported.at.problem(
                f"`@rbs import {shortened(name, 200)}` leaves the shared folders: an import is the name of a file in "
                "one of them, without `..`, a leading `/` or backslashes."
            )
        file = f"{name}.rbs"
        if file in self._texts:
            return file, self._texts[file]
        for folder in self._folders:
            path = folder / file
            try:
                if not path.is_file():
                    continue
                if not path.resolve().is_relative_to(folder.resolve()):
                    return imported.at.problem(
                        f"`{path}` is a link that leaves the shared folder: only files inside it can be imported."
                    )
                return str(path), path.read_text(encoding="utf-8-sig")
            except (OSError, ValueError, RuntimeError) as error:
                # Unreadable, no UTF-8, or (RuntimeError, before Python 3.13) links that go round in a circle.
                return imported.at.problem(f"`{path}` cannot be read: {error}")
        return imported.at.problem(self._missing(name))

    def _missing(self, name: str) -> str:
        searched = [*(["the shared texts"] if self._texts else []), *(str(folder) for folder in self._folders)]
        places = listed(searched) or "no folder: there is no `sig/shared` beside the module or above it"
        known = self._names()
        if name.endswith(".rbs") and name.removesuffix(".rbs") in known:
            return f"an import is written without `.rbs`: `@rbs import {name.removesuffix('.rbs')}`."
        short = shortened(name, 200)
        if "," in name:
            return f"`{short}` is no file: one import names one file, and each stands on a line of its own."
        near = near_names(name, known, most=3)
        hint = f" Did you mean {' or '.join(f'`{other}`' for other in near)}?" if near else ""
        return f"there is no `{short}.rbs`.{hint} Searched: {places}."

    def _names(self) -> list[str]:
        names = {file.removesuffix(".rbs") for file in self._texts}
        for folder in self._folders:
            try:
                names.update(path.stem for path in folder.glob("*.rbs"))
            except (OSError, ValueError):
                continue
        return sorted(names)


def _is_inside(name: str) -> bool:
    """Whether a name stays below the folder that it is looked up in, as far as its text can tell."""
    if "\\" in name or ":" in name or "\0" in name:
        return False
    return all(part not in ("", ".", "..") for part in name.split("/"))


@lru_cache(maxsize=256)
def _parse_file(name: str, text: str) -> tuple[tuple[Alias, ...], tuple[Problem, ...]]:
    """Read all `type` declarations of a file; its classes, modules and methods are skipped.

    Kept by content, so that a thousand tools that import one file parse it once.
    """
    source = Source(name, text.replace("\r\n", "\n"), is_file=True)
    nesting = Nesting()
    aliases: dict[str, Alias] = {}
    problems = list(control_characters(source, "remove it."))
    lines = source.text.split("\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    index = 0
    while index < len(lines):
        if nesting.opened or not _TYPE.match(lines[index]):
            nesting.feed(lines[index], starts[index])
            index += 1
            continue
        start = starts[index]
        declared, index, fault = _follow(source, lines, starts, index)
        if fault is not None:
            problems.append(fault)
            continue
        parsed = parse("alias", declared, start, source)
        problems += parsed.problems
        warn_of(parsed.deprecations)
        if isinstance(parsed.declaration, Alias):
            problems += add_alias(aliases, parsed.declaration)
    if nesting.opened:
        word = Span(nesting.opened[-1], starts[-1], source)
        problems.append(word.problem("nothing ends what is opened here, so all that follows is its own: write `end`."))
    return tuple(aliases.values()), tuple(problems)


def _follow(source: Source, lines: list[str], starts: list[int], index: int) -> tuple[BlockText, int, Problem | None]:
    """Read the declaration that begins at line `index`: its text, the line behind it, what is wrong with its brackets.

    Unlike in a docstring a blank line does not end it: only a line that cannot belong to it does, and, so that one
    forgotten bracket does not cost the rest of the file, one that is surely the next declaration.
    """
    scanner = Scanner(source)
    scanner.feed(lines[index], starts[index])
    behind = index + 1
    while behind < len(lines):
        line = lines[behind]
        first = line.lstrip()[:1]
        says_something = first not in ("", "#") or scanner.inside_tag
        goes_on = scanner.unfinished or first in ("|", "&")
        if says_something and (_TYPE_SURELY.match(line) or not goes_on):
            break
        scanner.feed(line, starts[behind])
        behind += 1
    text = scanner.finish()
    return text, behind, scanner.fault
