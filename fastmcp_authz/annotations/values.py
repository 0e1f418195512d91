"""Text between quotes and between a tag's parentheses: how it is read, and how it is written so that it reads the same.

Every function here takes and gives plain text; nothing knows of positions or nodes.
"""

from __future__ import annotations

import json
import re

VALUE_TOKEN = re.compile(
    r"""
      \\.                                                # an escape: what follows is text
    | (?<![^\s(\[{,:=|])                                 # a quote protects where it opens a word ...
      (?:"[^"\\\n]*(?:\\.[^"\\\n]*)*"|'[^'\\\n]*(?:\\.[^'\\\n]*)*')
      (?!\w)                                             # ... and its partner on the same line ends one
    | [()]
    """,
    re.VERBOSE,
)
"""What matters when the end of a tag's value is looked for: escapes, protected quotes, parentheses."""

_WHOLE_QUOTED = re.compile(r""""[^"\\]*(?:\\.[^"\\]*)*"|'[^'\\]*(?:\\.[^'\\]*)*'""")
_LOOSE_QUOTE = re.compile(VALUE_TOKEN.pattern + r"""| (?P<loose>(?<![^\s(\[{,:=|])["'])""", re.VERBOSE)
_LONE_BLANK = re.compile(r"(?<=[^ \t]) (?=[^ \t])")
_MOST_LINES = 50
_LINE_BREAK = re.compile(r"[ \t]*\n\s*")
_TAG_ESCAPE = re.compile(r"""\\([()\\"'])""")
_TO_ESCAPE = re.compile(r"""[()\\"']""")
_STRING_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|u\{([0-9a-fA-F]{1,6})\}|(.))", re.DOTALL)
_NAMED_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "a": "\a", "e": "\x1b", "0": "\0"}
_UNPRINTED = re.compile("[\x7f-\x9f\ud800-\udfff]")


def value_end(text: str, start: int) -> int:
    """Return the offset of the `)` that ends the tag value beginning at `start`, or -1 if there is none."""
    depth = 0
    for token in VALUE_TOKEN.finditer(text, start):
        if token[0] == "(":
            depth += 1
        elif token[0] == ")":
            if not depth:
                return token.start()
            depth -= 1
    return -1


def read_value(raw: str, *, verbatim: bool) -> tuple[str, bool]:
    r"""Return what the text between a tag's parentheses says, and whether it was one quoted string.

    `verbatim` is for `@pattern`, whose backslashes and quotes are the regular expression's own. SPEC, section 3.
    """
    value = raw.strip(" \t\n")
    if "\n" in value:
        value = _LINE_BREAK.sub(" ", value)
    if verbatim:
        return value, False
    quoted = value[:1] in ('"', "'") and _WHOLE_QUOTED.fullmatch(value) is not None
    if quoted:
        value = value[1:-1]
    return _TAG_ESCAPE.sub(r"\1", value) if "\\" in value else value, quoted


def write_value(value: str, *, quoted: bool, verbatim: bool) -> str:
    """Return the text between the parentheses that `read_value` reads as `value`; with as few escapes as will do.

    In verbatim text there are no escapes. Where it cannot stand on one line with what comes behind it, line breaks take
    the place of blanks in it, and one ends it.
    """
    if quoted:
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if verbatim:
        return value if _reads_as_itself(value, verbatim=True) else _in_lines(value) + "\n"
    return value if _reads_as_itself(value, verbatim=False) else _TO_ESCAPE.sub(r"\\\g<0>", value)


def _reads_as_itself(value: str, *, verbatim: bool) -> bool:
    """Whether a value can be written as it is, whatever stands behind it on its line."""
    if value_end(value + ")", 0) != len(value) or read_value(value, verbatim=verbatim) != (value, False):
        return False
    # A quote that is open at the end could find its partner in the next tag.
    return not any(found["loose"] for found in _LOOSE_QUOTE.finditer(value))


def _in_lines(value: str) -> str:
    """Return a value with as many of its lone blanks made line breaks as it takes for its parentheses to match.

    Quotes protect parentheses on their own line only. Any value that was read can be written so, since it was.
    """
    words = _LONE_BLANK.split(value, _MOST_LINES)
    # For each number of words and depth of parentheses that lines can end with: the number and depth they began with.
    reached: dict[tuple[int, int], tuple[int, int]] = {(0, 0): (0, 0)}
    for first in range(len(words)):
        for depth in [depth for count, depth in reached if count == first]:
            for last in range(len(words), first, -1):
                behind = _depth_behind(" ".join(words[first:last]), depth)
                if behind is not None:
                    reached.setdefault((last, behind), (first, depth))
    end, lines = (len(words), 0), list[str]()
    while end[0] and end in reached:
        begin = reached[end]
        lines.append(" ".join(words[begin[0] : end[0]]))
        end = begin
    return "\n".join(reversed(lines)) or value


def _depth_behind(line: str, depth: int) -> int | None:
    """Return how deep parentheses are behind a line that begins `depth` deep; None where it closes one too many."""
    for token in VALUE_TOKEN.finditer(line):
        depth += {"(": 1, ")": -1}.get(token[0], 0)
        if depth < 0:
            return None
    return depth


def read_string(literal: str) -> str:
    r"""Return the text that a string literal, quotes included, stands for.

    As in Ruby: `\\` and `\'` are the only escapes between single quotes; between double quotes `\n`, `\t`, `\u00e9`,
    `\u{1f600}` and their like count too, and a backslash before any other character is dropped.

    Raises:
        ValueError: an escape names no character (half of a surrogate pair, or beyond U+10FFFF).
    """
    inner = literal[1:-1]
    if "\\" not in inner:
        return inner
    if literal[0] == "'":
        return re.sub(r"\\([\\'])", r"\1", inner)
    text = _STRING_ESCAPE.sub(_escaped_character, inner)
    # JSON writes characters beyond U+FFFF as two escapes, which only together are a character.
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le")


def write_string(text: str) -> str:
    """Return the double-quoted literal that `read_string` reads as `text`, without control characters in it."""
    return _UNPRINTED.sub(lambda found: f"\\u{ord(found[0]):04x}", json.dumps(text, ensure_ascii=False))


def _escaped_character(escape: re.Match[str]) -> str:
    if code := escape[1] or escape[2]:
        return chr(int(code, 16))
    return _NAMED_ESCAPES.get(escape[3], escape[3])
