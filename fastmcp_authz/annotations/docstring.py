"""A docstring in, prose and annotation blocks out: SPEC section 2, "Blocks".

A block's text is the docstring's own lines with the marks at their front (`#:`, `@rbs`, Ruby's `#`) replaced by as many
blanks. So an offset in the block's text, plus where the block begins, *is* the offset in the docstring.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple, TypeAlias

from fastmcp_authz.annotations.scanner import BlockText, Scanner
from fastmcp_authz.annotations.syntax import Source, Span
from fastmcp_authz.errors import Problem, shortened

Opening: TypeAlias = Callable[[], tuple[int, Sequence[str]]]
"""Tells where a docstring stands in its file: the number of the line on which its quotes open, and all lines from it.

It is asked once something is wrong, so that a right declaration does not cost the reading of a file.
"""

_HEAD = re.compile(
    r"""\s*(?P<ruby>\#[ \t]*(?=@)|\#[ \t]+)?
    (?: (?P<signature>\#:)
      | @rbs(?P<rest>.*)
      | (?P<slip> @\w*[ \t]+type[ \t]+\w+[ \t]*(?:\[[^\]]*\][ \t]*)?= | @\w*[ \t]+import[ \t]+\w+[ \t]*\Z
                | (?(ruby):[ \t]*\(|(?!)) ) )""",
    re.DOTALL | re.VERBOSE,
)
"""The first line of a block; a `slip` all but is one, and no prose reads like it."""
_KIND = re.compile(r"\s+(type|import)(?:\s|$)")
_RUBY_MARK = re.compile(r"\s*#(?![:])")
_COMMENT = re.compile(r"\s*#(?:\s|$)")
_CARRIAGE_RETURN = re.compile(r"\r+(?=\n|\Z)")
_BARE_MARK = re.compile(r"\s*#\s*$")
_LOOSE_TAG = re.compile(r"@\w+[ \t]*\(")
_LIKE_A_TYPE = re.compile(r"""[{\["':]|.*[ \t]@\w+\(""")


class Block(NamedTuple):
    """The lines of one annotation."""

    kind: Literal["alias", "import", "signature", "unknown", "orphan"]
    text: BlockText
    start: int
    """Where it begins in the docstring."""
    problems: tuple[Problem, ...] = ()
    readable: bool = True
    """Whether its brackets, strings and tags are in order, so that the grammar can have it."""
    ruby: bool = False
    """Whether it stands in a Ruby comment block, with a `#` before each line."""


def dedented(docstring: str, *, name: str, first_line: int, opening: Opening | None = None) -> Source:
    r"""Return the docstring as `inspect.cleandoc` gives it, and still know on which line of the file each line begins.

    `first_line` is the line of the docstring's opening quotes, if `opening` does not tell it. A carriage return before
    a line end is a blank.
    """
    lines = _CARRIAGE_RETURN.sub("", docstring).expandtabs().split("\n")
    margin = min((len(line) - len(line.lstrip()) for line in lines[1:] if line.strip()), default=0)
    lines = [lines[0].lstrip(), *(line[margin:] for line in lines[1:])]
    while lines and not lines[-1]:
        lines.pop()
    skipped = 0
    while skipped < len(lines) and not lines[skipped]:
        skipped += 1

    def locate() -> Sequence[int]:
        from fastmcp_authz.annotations.lines import file_lines  # late: only what is wrong needs it

        assert opening is not None
        return file_lines(docstring, opening)[skipped:]

    return Source(name, "\n".join(lines[skipped:]), first_line + skipped, None if opening is None else locate)


def split(source: Source) -> tuple[str, tuple[Block, ...]]:
    """Return the prose of a dedented docstring, tidied, and its blocks in order."""
    reader = _Reader(source)
    blocks: list[Block] = []
    prose: list[str] = []
    closing_gap = False
    above: Block | None = None
    while not reader.done:
        if _HEAD.match(reader.line):
            # `# ` lines that touch a block are comments of it, above as well as below.
            while prose and _COMMENT.match(prose[-1]):
                bare = _BARE_MARK.match(prose.pop())
                if bare:
                    break
            above = reader.block()
        elif above is not None:
            above = reader.orphan(above)
        else:
            line = reader.next()
            if closing_gap and not line.strip() and (not prose or not prose[-1].strip()):
                continue
            closing_gap = False
            prose.append(line)
        if above is not None:
            blocks.append(above)
            closing_gap = True
    return "\n".join(prose).strip(), tuple(blocks)


class _Reader:
    """Walks over the lines of a docstring."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._lines = source.text.split("\n")
        self._index = 0
        self._offset = 0

    @property
    def done(self) -> bool:
        return self._index >= len(self._lines)

    @property
    def line(self) -> str:
        return self._lines[self._index]

    def next(self) -> str:
        line = self._lines[self._index]
        self._index += 1
        self._offset += len(line) + 1
        return line

    def block(self) -> Block:
        """Take all lines of the block that begins with the next one."""
        head = _HEAD.match(self.line)
        assert head is not None
        start, first = self._offset, self.line
        kind: Literal["alias", "import", "signature", "unknown"] = "signature"
        mark = head.end("signature")
        if not head["signature"]:
            named = _KIND.match(head["rest"] or "")
            kind = "unknown" if named is None else "alias" if named[1] == "type" else "import"
            mark = head.end("slip") if head["slip"] else head.start("rest")
        scanner, ruby = Scanner(self._source, signature=kind == "signature"), head["ruby"] is not None
        problems: list[Problem] = []
        self._take(scanner, _blanked(first, mark))
        if kind == "signature":
            self._follow_signature(scanner, problems, ruby=ruby)
        else:
            self._follow_declaration(scanner, ruby=ruby, joins=kind != "import")
        text = scanner.finish()
        if kind == "unknown":
            end = start + len(first.rstrip())
            if head["slip"]:
                begin, message = start + head.start("slip"), _slip(head["slip"])
            else:
                begin, message = start + mark - len("@rbs"), _unknown(first[mark:])
            problems = [Span(begin, end, self._source).problem(message)]
        elif scanner.fault is not None:
            problems.append(scanner.fault)
        return Block(kind, text, start, tuple(problems), kind != "unknown" and scanner.fault is None, ruby)

    def orphan(self, above: Block) -> Block | None:
        """Take the lines that were to continue a type or signature, but do not: as prose they would show its gates."""
        index, bare = self._index, above.ruby and _BARE_MARK.match(self._lines[self._index - 1]) is not None
        while index < len(self._lines) and _is_gap(self._lines[index], ruby=above.ruby):
            index += 1
        if index == len(self._lines):
            return None
        line = self._lines[index]
        mark = _RUBY_MARK.match(line) if above.ruby else None
        written = line[mark.end() :].strip() if mark else line.strip()
        gap = "a bare `#`" if bare else "a blank line" if index > self._index else ""
        message = _orphan(above, written, gap)
        if message is None or _HEAD.match(line):
            return None
        while self._index < index:
            self.next()
        start, scanner = self._offset, Scanner(self._source)
        self._take(scanner, line)
        self._follow_declaration(scanner, ruby=above.ruby, joins=True)
        begin = start + line.index(written)
        problem = Span(begin, begin + len(written), self._source).problem(message)
        return Block("orphan", scanner.finish(), start, (problem,), readable=False, ruby=above.ruby)

    def _take(self, scanner: Scanner, blanked: str) -> None:
        scanner.feed(blanked, self._offset)
        self.next()

    def _follow_signature(self, scanner: Scanner, problems: list[Problem], *, ruby: bool) -> None:
        while not self.done and (line := self.line) and not line.isspace():
            head = _HEAD.match(line)
            if head is not None:
                if not head["signature"]:
                    return
                if scanner.closed and line[head.end() :].lstrip().startswith("("):
                    return  # a second signature
                self._take(scanner, _blanked(line, head.end()))
            elif ruby and _BARE_MARK.match(line):
                self.next()
                return
            elif _COMMENT.match(line) and not scanner.inside_tag:
                self._take(scanner, " " * len(line))
            elif scanner.inside:
                if not problems and not scanner.after_arrow:
                    problems.append(
                        Span(self._offset, self._offset + len(line), self._source).problem(
                            "this line stands inside the signature above it: begin it with `#:`, as each of its lines."
                        )
                    )
                self._take(scanner, line)
            else:
                return

    def _follow_declaration(self, scanner: Scanner, *, ruby: bool, joins: bool) -> None:
        while not self.done and (line := self.line) and not line.isspace() and not _HEAD.match(line):
            if ruby and _BARE_MARK.match(line):
                self.next()
                return
            mark = _RUBY_MARK.match(line) if ruby else None
            blanked = _blanked(line, mark.end()) if mark else line
            if (joins and scanner.unfinished) or scanner.inside or (joins and blanked.lstrip()[:1] in ("|", "&")):
                self._take(scanner, blanked)
            elif _COMMENT.match(line):
                self._take(scanner, " " * len(line))
            else:
                return


def _blanked(line: str, end: int) -> str:
    return " " * end + line[end:]


def _slip(written: str) -> str:
    if written.startswith("@"):
        mark, kind = written.split()[:2]
        return f"`{mark} {kind}` is no annotation: write `@rbs {kind}`."
    return "a signature begins with `#:`, without a blank in it."


def _is_gap(line: str, *, ruby: bool) -> bool:
    """Whether a line says nothing: it is blank or a comment, which in a Ruby comment block only a bare `#` is."""
    return not line.strip() or (_BARE_MARK if ruby else _COMMENT).match(line) is not None


def _orphan(above: Block, written: str, gap: str) -> str | None:
    """What is wrong with a line that looks as if it went on with the block above it, from which a gap parts it."""
    if above.kind not in ("alias", "signature", "orphan"):
        return None
    if _LOOSE_TAG.match(written):
        return "a tag stands behind its type: write it on the line on which the type ends."
    if written[:1] not in ("|", "&"):
        bar_trails = above.kind != "signature" and above.text.written.rstrip().endswith("|")
        if not (gap and bar_trails and _LIKE_A_TYPE.match(written)):
            return None
    elif len(written) > 1 and written.endswith("|"):
        return None  # a row of a table
    if above.kind == "signature":
        parted = f"{gap} ended the signature above: remove it, and" if gap else "this line is of the signature above:"
        return f"{parted} begin this line with `#:`, as each of the signature's lines."
    table = " (A row of a table ends with `|`.)" if written.startswith("|") else ""
    return f"{gap} ended the type above, so this is no part of it: remove {gap.replace('a ', 'the ')}.{table}"


def _unknown(rest: str) -> str:
    words = rest.split()
    if rest and not rest[0].isspace():
        written = f"`@rbs{shortened(words.pop(0))}`"
        kind = re.fullmatch(r"`@rbs\W?(type|import)`", written)
        if kind:
            return f"{written} is no annotation: write `@rbs {kind[1]}`."
    else:
        written = f"`@rbs {shortened(words[0])}`" if words else "`@rbs` alone"
    advice = "Annotations are `@rbs type NAME = ...`, `@rbs import NAME` and `#: (name: Type, ...) -> output`."
    if words and words[0].rstrip(":") in ("return", "returns", "output"):
        advice += " What a tool gives back is declared with `@rbs type output = ...`."
    elif words and (words[0].endswith(":") or words[1:2] == [":"]):
        advice += " A parameter is declared in the signature, `#:`."
    return f"{written} is no annotation. {advice}"
