"""A docstring in, an `Annotation` and all its problems out: the door of this floor."""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Iterable
from types import FrameType
from typing import Any

from fastmcp_authz.annotations import docstring as docstrings
from fastmcp_authz.annotations.docstring import Opening
from fastmcp_authz.annotations.parser import parse
from fastmcp_authz.annotations.syntax import Alias, Annotation, Import, Signature, Source, Span
from fastmcp_authz.annotations.tokens import word
from fastmcp_authz.errors import Problem, shortened

_LIBRARY = __name__.partition(".")[0]
_ALIAS_NAME = re.compile(r"\s*type\s+(?=\w)([^\s=\[]+)")
_NOT_TEXT = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


def read_annotation(
    docstring: str, *, name: str, first_line: int = 1, opening: Opening | None = None
) -> tuple[Annotation, tuple[Problem, ...]]:
    """Read what a docstring declares. Never raises: whatever is wrong with it is among the problems, in text order.

    Args:
        docstring: The raw docstring, as `fn.__doc__` has it.
        name: What to call it in problems: a file's path, or the name of a tool.
        first_line: The line of that file on which the docstring begins.
        opening: Tells where the docstring stands in the file, in place of `first_line`; asked if something is wrong.
    """
    source = docstrings.dedented(docstring, name=name, first_line=first_line, opening=opening)
    prose, blocks = docstrings.split(source)
    problems = list(control_characters(source, 'begin the docstring with r""", so that backslashes stay as they are.'))
    aliases: dict[str, Alias] = {}
    imports: dict[str, Import] = {}
    signature: Signature | None = None
    unread: list[str] = []
    for block in blocks:
        problems += block.problems
        declaration = None
        if block.readable:
            parsed = parse(block.kind, block.text, block.start, source)
            problems += parsed.problems
            warn_of(parsed.deprecations)
            declaration = parsed.declaration
        if declaration is None:
            unread += unread_name(block.kind, block.text.written)
        elif isinstance(declaration, Alias):
            problems += add_alias(aliases, declaration)
        elif isinstance(declaration, Import):
            imports.setdefault(declaration.name, declaration)
        elif signature is None:
            signature = declaration
        else:
            line = source.line_at(signature.at.start)
            problems.append(
                declaration.at.problem(
                    f"a second signature: the one on line {line} is read. Keep one, or give the inputs that can be "
                    "left out a `?` in front."
                )
            )
    annotation = Annotation(source, prose, tuple(aliases.values()), tuple(imports.values()), signature, tuple(unread))
    return annotation, tuple(sorted(problems, key=lambda problem: (problem.line, problem.column)))


def declares_input(docstring: str) -> bool:
    """Whether a docstring declares a tool's inputs, with `#:` or `@rbs type input`, well or badly."""
    _, blocks = docstrings.split(docstrings.dedented(docstring, name="", first_line=1))
    return any(block.kind == "signature" or "input" in unread_name(block.kind, block.text.written) for block in blocks)


def add_alias(aliases: dict[str, Alias], alias: Alias) -> Iterable[Problem]:
    """Put an alias under its name; the problem, if that name was there, is what comes back."""
    first = aliases.setdefault(alias.name, alias)
    if first is not alias:
        line = alias.at.source.line_at(first.at.start)
        yield alias.at.problem(
            f"the type `{shortened(alias.name)}` is declared twice, first on line {line}: rename or remove one."
        )


def unread_name(kind: str, text: str) -> list[str]:
    """Return the name that a block with a syntax error was to declare, in a list; an empty one if it has none."""
    if kind == "signature":
        return ["#:"]
    named = _ALIAS_NAME.match(text) if kind == "alias" else None
    return [word(named[1])] if named else []


def control_characters(source: Source, advice: str) -> Iterable[Problem]:
    r"""Find the first character that no text holds: what Python made of `\b` in a docstring that is not raw."""
    found = _NOT_TEXT.search(source.text)
    if found:
        code = ord(found[0])
        what = "half of a character (a surrogate)" if code >= 0xD800 else "a control character"
        span = Span(found.start(), found.end(), source)
        yield span.problem(f"{what}, U+{code:04X}, stands here, most likely written as a backslash escape: {advice}")


def warn_of(deprecations: Iterable[Problem]) -> None:
    """Warn of old spellings where they stand, in the name of the module that asked this library to read them.

    Python shows a `DeprecationWarning` to who runs the module that it is for, and to no one else.
    """
    for old in deprecations:
        asking = _asking_module()
        warnings.warn_explicit(
            f"{old.where}:{old.line}: {old.message}",
            DeprecationWarning,
            filename=old.where,
            lineno=old.line,
            module=asking.get("__name__"),
            registry=asking.setdefault("__warningregistry__", {}),
        )


def _asking_module() -> dict[str, Any]:
    """Return the globals of the nearest caller outside this library."""
    frame: FrameType | None = sys._getframe(1)
    names: dict[str, Any] = {}
    while frame is not None:
        names = frame.f_globals
        if str(names.get("__name__", "")).partition(".")[0] != _LIBRARY:
            break
        frame = frame.f_back
    return names
