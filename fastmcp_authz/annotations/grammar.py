"""The grammar in `rbs.peg`, loaded once: block text in, parse tree out.

It is loaded with the first block that is read, and parsimonious with it: both together take longer to import than all
else that the library needs of others.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from parsimonious.expressions import Expression, Regex
    from parsimonious.grammar import Grammar
    from parsimonious.nodes import Node

_DEFINITION = re.compile(r"^# where (\{\w+\}) +is (\S+)", re.MULTILINE)


class GrammarMismatch(Exception):
    """The text is not of the language. `position` is the offset of the first thing that does not fit."""

    def __init__(self, position: int) -> None:
        self.position = position
        super().__init__(position)


def parse(rule: str, text: str) -> Node:
    """Return the parse tree of `text`, all of which is one `rule` (`alias`, `import` or `signature`).

    Raises:
        GrammarMismatch: it is not.
    """
    from parsimonious.exceptions import ParseError

    try:
        return _grammar(text.isascii())[rule].parse(text)
    except ParseError as error:
        raise GrammarMismatch(error.pos) from None


def token(rule: str, text: str) -> re.Pattern[str]:
    """Return the regular expression of a rule that is one token, to look into a larger token of `text` with."""
    found: re.Pattern[str] = _grammar(text.isascii())[rule].re
    return found


@cache
def _grammar(ascii_only: bool) -> Grammar:
    """Return the grammar for all texts, or one that reads texts of ASCII characters in the same way, but far faster.

    parsimonious has the `regex` module match its tokens, which knows all Unicode identifiers. For ASCII there is no
    need of it, and a token costs `re` a fifth.
    """
    from parsimonious.grammar import Grammar

    rules = resources.files(__package__).joinpath("rbs.peg").read_text(encoding="utf-8")
    if ascii_only:
        rules = rules.replace(r"[\p{XID_Start}_]\p{XID_Continue}", "[A-Za-z_][0-9A-Za-z_]")
    parts: dict[str, str] = {}
    for part, pattern in _DEFINITION.findall(rules):
        parts[part] = _filled(pattern, parts)
    # A quote in a pattern must not end the grammar's own string around it; to a regular expression, `\"` is `"`.
    grammar = Grammar(_filled(rules, {part: pattern.replace('"', r"\"") for part, pattern in parts.items()}))
    if ascii_only:
        for expression in _tokens(grammar.values()):
            expression.re = re.compile(expression.re.pattern, re.ASCII)
    return grammar


def _tokens(expressions: Iterable[Expression]) -> Iterator[Regex]:
    """Find the regular expressions among some rules and what they are made of; a rule stands for itself alone."""
    from parsimonious.expressions import Compound, Regex

    for expression in expressions:
        if isinstance(expression, Regex):
            yield expression
        elif isinstance(expression, Compound):
            yield from _tokens(member for member in expression.members if not member.name)


def _filled(text: str, parts: dict[str, str]) -> str:
    for part, pattern in parts.items():
        text = text.replace(part, pattern)
    return text
