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
_OPENING_QUOTE = re.compile(r"""(?<![^\s(\[{,:=|])["']""")
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
    """Return the text between the parentheses that `read_value` reads as `value`; with as few escapes as will do."""
    if verbatim:
        return value
    if quoted:
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    reads_back = value_end(value + ")", 0) == len(value) and read_value(value, verbatim=False) == (value, False)
    # A quote that is open at the end could find its partner in the next tag.
    return (
        value
        if reads_back and not _OPENING_QUOTE.search(VALUE_TOKEN.sub("x", value))
        else _TO_ESCAPE.sub(r"\\\g<0>", value)
    )


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
