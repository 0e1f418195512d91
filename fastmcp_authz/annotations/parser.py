"""Blocks to declarations: one function a rule of `rbs.peg`, in the order of that file.

The grammar takes a little more than the language has. What it should not have taken is noted as a problem, with what to
write instead, and read as it was probably meant.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fastmcp_authz.annotations import grammar
from fastmcp_authz.annotations.fields import FieldReader
from fastmcp_authz.annotations.scanner import BlockText
from fastmcp_authz.annotations.syntax import Alias, Import, Signature, Source, Span
from fastmcp_authz.annotations.tokens import word
from fastmcp_authz.errors import Problem, shortened

if TYPE_CHECKING:
    from parsimonious.nodes import Node

Declaration = Alias | Import | Signature
_PARAMETER = re.compile(r"(?:unchecked\s+(?!,))?(?:(?:in|out)\s+(?!,))?(?P<name>[^\s,]+)\s*(?P<comma>,)?")


@dataclass(slots=True)
class Parsed:
    """What one block says."""

    declaration: Declaration | None
    """None where a syntax error kept it from being read."""
    problems: list[Problem] = field(default_factory=list)
    deprecations: list[Problem] = field(default_factory=list)
    """Old spellings that are read, but should be replaced."""


def parse(rule: str, block: BlockText, start: int, source: Source) -> Parsed:
    """Read one block.

    It is one `rule` (`alias`, `import`, `signature`), and begins at offset `start` of the source's text.
    """
    parsed = Parsed(None)
    try:
        tree = grammar.parse(rule, block.outline)
    except grammar.GrammarMismatch as mismatch:
        from fastmcp_authz.annotations import messages  # late: only what is wrong needs it

        begin, end, message = messages.explain(rule, block.written, mismatch.position, is_file=source.is_file)
        parsed.problems.append(Span(start + begin, start + end, source).problem(message))
    else:
        reader = _DeclarationReader(block, start, source, parsed.problems, parsed.deprecations)
        parsed.declaration = reader.declaration(rule, tree)
    return parsed


class _DeclarationReader(FieldReader):
    """Reads the tree of one block."""

    def declaration(self, rule: str, tree: Node) -> Declaration:
        if rule == "alias":
            return self._alias(tree)
        if rule == "import":
            found = tree.children[0].match
            return Import(found[1], at=self._span(found, 1))
        return self._signature(tree.children[0])

    def _alias(self, node: Node) -> Alias:
        head, written, _ = node.children
        name = head.match[1]
        parameters: dict[str, None] = {}
        if head.match[2] is not None:
            self._read_parameters(head.match[2], head.match.start(2), parameters)
        return Alias(word(name), self._type(written), tuple(parameters), at=self._span(head.match, 1))

    def _read_parameters(self, text: str, start: int, parameters: dict[str, None]) -> None:
        """Read the names between the brackets behind an alias's name; RBS's marks of variance mean nothing here."""
        joined = True
        for found in _PARAMETER.finditer(text):
            at = self._at(start + found.start("name"), start + found.end("name"))
            name, short = word(found["name"]), shortened(found["name"])
            if not name.isidentifier():
                self._note(at, f"`{short}` is no name for a type parameter: write `[T]`.")
            elif name in parameters:
                self._note(at, f"the type parameter `{short}` is declared twice.")
            else:
                if not joined:
                    self._note(at, f"a comma is missing before `{short}`.")
                parameters[name] = None
            joined = found["comma"] is not None or not name.isidentifier()

    def _signature(self, node: Node) -> Signature:
        if node.expr_name == "whole_input":
            opening, arrow = node.children
            at = self._at(opening.start + len(opening.text) - len(opening.text.lstrip()), opening.end)
            self._require_arrow(arrow, at)
            return Signature((), whole_input=True, at=at)
        opening, fields, closing, arrow = node.children
        at = self._at(opening.match.start(1), closing.end)
        self._require_arrow(arrow, self._at(closing.end - 1, closing.end))
        return Signature(self._fields(fields, closing), at=at)

    def _require_arrow(self, arrow: Node, at: Span) -> None:
        if arrow.match[1] is None:
            self._note(at, "after the parameters of a signature comes what it gives: `-> output`.")
