"""What a rule finds: where, in which tool, what is wrong, and a way out."""

from __future__ import annotations

import inspect
import linecache
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, NamedTuple

from fastmcp_authz.annotations import Span
from fastmcp_authz.survey.places import Place

_MOST_LINES: Final = 60
"""How many lines of decorators are looked through for a `def`."""
_DEF: Final = re.compile(r"\s*(?:async\s+)?def\s+(\w+)")


class Spot(NamedTuple):
    """A text at fault: its line as written, dedented where it is one of a docstring, and where in that it stands."""

    place: Place
    excerpt: str
    column: int = 0
    width: int = 0

    @property
    def text(self) -> str:
        """The text at fault alone."""
        return self.excerpt[self.column : self.column + self.width]

    @classmethod
    def of(cls, span: Span) -> Spot:
        """A span of a docstring or of a shared file."""
        found = span.problem("")
        return cls(Place(found.where, found.line), found.excerpt, found.column, found.width)

    def marking(self, tag: str) -> Spot:
        """The same with the next such tag marked, if one follows on the line before the next field or member does."""
        found = re.compile(rf"[^,|{{}}]*?({re.escape(tag)}[^()]*\)?)").match(self.excerpt, self.column)
        return self if found is None else self._replace(column=found.start(1), width=len(found[1]))


class Found(NamedTuple):
    """One thing that a rule has found."""

    tool: str | None
    """The tool by its listed name; `None` where it is about no single one."""
    part: str
    """`in stage_id`, `out <rerouted>.reason`; empty for the whole."""
    spot: Spot | None
    """`None` where it stands in no file."""
    wrong: str
    """What is wrong, in whole sentences."""
    way_out: str
    """What to write instead."""
    also: tuple[str, ...] = ()
    """Other tools of which the same is to be said, for the same reason."""


def function_spot(fn: Callable[..., Any], *words: str) -> Spot | None:
    """A function where it is defined: the first of some words in its decorators, else its name after `def`.

    `None` for what has no source file of its own: a callable object, or what was built at run time.
    """
    fn = inspect.unwrap(fn)
    code = getattr(getattr(fn, "__func__", fn), "__code__", None)
    if code is None:
        return None
    linecache.checkcache(code.co_filename)
    shown, first = _shown(Path(code.co_filename)), code.co_firstlineno
    for number in range(first, first + _MOST_LINES):
        line = linecache.getline(code.co_filename, number).rstrip("\n")
        named = _DEF.match(line)
        word = None if named else next((each for each in words if each in line), None)
        if word is not None:
            return Spot(Place(shown, number), line, line.index(word), len(word))
        if named:
            return Spot(Place(shown, number), line, named.start(1), len(named[1]))
    return None


def callable_spot(fn: Callable[..., Any]) -> Spot | None:
    """A function where it is defined, or the whole first line of a lambda; `None` as for `function_spot`."""
    code = getattr(getattr(fn, "__func__", fn), "__code__", None)
    if code is None or code.co_name != "<lambda>":
        return function_spot(fn)
    linecache.checkcache(code.co_filename)
    line = linecache.getline(code.co_filename, code.co_firstlineno).rstrip("\n")
    return Spot(Place(_shown(Path(code.co_filename)), code.co_firstlineno), line)


def _shown(file: Path) -> str:
    """The file as an editor finds it, relative to where the program runs if it lies there."""
    try:
        return str(file.relative_to(Path.cwd()))
    except (ValueError, OSError):
        return str(file)
