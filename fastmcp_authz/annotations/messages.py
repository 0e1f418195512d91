"""What to say where a block stops being of the language: text and position in, place and advice out.

Brackets, strings and tags are in balance here (scanner.py sees to that first), so what is wrong is near the position.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from fastmcp_authz.errors import shortened

_BLANKS = re.compile(r"\s*")
_TOKEN = re.compile(
    r""""(?:[^"\\\n]|\\.)*" | '(?:[^'\\\n]|\\.)*' | -> | => | :: | \.\.\. | -- | // | /\*
    | [-+]?\d[\w.]* | @\w* | \w+ | \S""",
    re.VERBOSE,
)
_BEFORE = re.compile(r""""(?:[^"\\\n]|\\.)*" | '(?:[^'\\\n]|\\.)*' | [^\s"']""", re.VERBOSE)
_HEAD = {"alias": re.compile(r"\s*type\b[ \t]*([^\s=\[]*)\s*(\S*)"), "import": re.compile(r"\s*import\b[ \t]*(\S*)")}
_KEY = re.compile(r"[^\s:,(){}\[\]|&\"'][^:,(){}\[\]|&\"'\n]*(?=:)")
_CLOSERS = (")", "]", "}")

_FILE_SHAPES = {"alias": "A type is declared with `type name = Type`."}
_SHAPES = {
    "alias": "An alias is `@rbs type name = Type`.",
    "import": "An import is `@rbs import NAME`, one file to a line.",
    "signature": "A signature is `#: (name: Type, ?optional: Type) -> output`.",
}


class _Place(NamedTuple):
    """Where a block stops being of the language."""

    rule: str
    begin: int
    end: int
    token: str
    """What stands there; empty at the end of the block."""
    before: str
    """The last character before it that is no blank."""
    after: str
    """What comes next: the token after it."""
    rest: str
    """The block from `token` on."""
    opened: tuple[str, ...]
    """The brackets that are open here, the innermost last."""
    shape: str
    """What a block of this rule looks like."""

    @property
    def names_fields(self) -> bool:
        """Whether what stands here should be a field: in a record or in a signature's own parentheses."""
        return self.opened[-1:] == ("{",) or (self.rule == "signature" and self.opened == ("(",))


def explain(rule: str, text: str, position: int, *, is_file: bool) -> tuple[int, int, str]:
    """Return begin, end and message for what does not fit at `position` of a block that should be one `rule`.

    The block is from a `.rbs` file or from a docstring.
    """
    shape = (_FILE_SHAPES if is_file else _SHAPES)[rule]
    place = _place(rule, text, position, shape)
    if not place.token:
        ended = "the declaration ends here" if is_file else "a blank line, or the next annotation, ended the block"
        return place.begin, place.end, f"after `{place.before or 'this'}` something is missing: {ended}. {shape}"
    if rule in _HEAD and "=" not in text[: place.begin]:
        return _explain_head(rule, text, shape)
    return place.begin, place.end, _advice(place)


def _place(rule: str, text: str, position: int, shape: str) -> _Place:
    before, opened = _read_before(text[:position])
    begin = _skip_blanks(text, position)
    # A comma is read together with what follows it, so where that does not fit, the comma is where reading stopped.
    if text[begin : begin + 1] == "," and before not in ("", ",", ":", "|", "&", "(", "[", "{"):
        begin, before = _skip_blanks(text, begin + 1), ","
    found = _TOKEN.match(text, begin)
    if found is None:
        end = len(text.rstrip())
        return _Place(rule, max(end - 1, 0), end, "", before, "", "", opened, shape)
    following = _TOKEN.match(text, _skip_blanks(text, found.end()))
    token, after = shortened(found[0]), following[0] if following else ""
    return _Place(rule, begin, found.end(), token, before, after, text[begin:], opened, shape)


def _skip_blanks(text: str, position: int) -> int:
    blanks = _BLANKS.match(text, position)
    return blanks.end() if blanks else position


def _read_before(text: str) -> tuple[str, tuple[str, ...]]:
    """Return the last significant character of a text and the brackets that are open at its end."""
    last, opened = "", list[str]()
    for token in _BEFORE.finditer(text):
        last = token[0][-1]
        if token[0] in ("(", "[", "{"):
            opened.append(token[0])
        elif token[0] in _CLOSERS and opened:
            opened.pop()
    return last, tuple(opened)


def _explain_head(rule: str, text: str, shape: str) -> tuple[int, int, str]:
    """Explain a block that fails before its `=`, or an import."""
    head = _HEAD[rule].match(text)
    if head is None or not head[1] or (rule == "alias" and not head[1].isidentifier()):
        begin, end = head.span(1) if head and head[1] else (_skip_blanks(text, 0), len(text.split("\n")[0].rstrip()))
        what = f"`{shortened(head[1])}` is no name for a type" if head and head[1] else "a name is missing"
        return begin, end, f"{what}. {shape}"
    if rule == "alias":
        begin, end = head.span(2) if head[2] else head.span(1)
        return begin, end, f"after the name `{shortened(head[1])}` comes `=`. {shape}"
    begin = _skip_blanks(text, head.end())
    return begin, len(text.rstrip()), f"one import names one file. {shape}"


def _advice(place: _Place) -> str:
    if place.rule == "signature" and not place.opened:
        return _around_signature(place)
    return _of_token(place) or _of_position(place)


def _around_signature(place: _Place) -> str:
    """Advise on what stands before or behind the parentheses of a signature."""
    if place.before == ")":
        return "behind the parameters of a signature comes an arrow, then what it gives: `-> output`."
    if place.token == "[":
        return f"a signature has no type parameters: begin it with `(`. {place.shape}"
    return f"a signature begins with `(`, on the line of its first `#:`. {place.shape}"


def _of_token(place: _Place) -> str:
    """Advise on tokens that are wrong wherever they stand; nothing if there is nothing special about this one."""
    token, after = place.token, place.after
    if token == "=":
        return "a default is a tag behind the type, and its field is marked with `?`: `?name: Type @default(5)`."
    if "=>" in (token, after):
        return '`=>` is not read: a field is written `name: Type`, or `"any key": Type`.'
    if token == "->":
        return "a function is no type here: `->` stands once, behind the parameters of `#:`."
    if "::" in (token, after):
        return "a type is named by one word, without `::`."
    if token in ("*", "**"):
        return "a signature names each parameter. `(**untyped)` stands alone, beside `@rbs type input = { ... }`."
    if token == "...":
        return "`...` is not read: every field has a name and a type. A value of any kind is `untyped`."
    if token == "?":
        return "`?` goes before the name of a field that may be left out, or behind a type that may be nil."
    if token in ("--", "//", "/*"):
        return "a comment begins with `#` and a blank; what the caller should read is a tag, `@desc(...)`."
    if token == "@":
        return "a tag has a name: `@name(value)`."
    if token[0] == "@":
        return f"no type stands before the tag `{token}`: write `Type {token}(...)`."
    return ""


def _of_position(place: _Place) -> str:
    """Advise on a token that would be right elsewhere."""
    token, before = place.token, place.before
    if token in ("|", "&"):
        if before in ("|", "&"):
            return f"two operators in a row, `{before}` and `{token}`: leave one out, or write a type between them."
        return f"after `{token}` a type is missing."
    if token == ":" and before not in ("", ",", "{", "("):
        return "a `:` stands only behind the name of a field, in a record or a signature: `{ name: Type }`."
    if token == ":":
        return "a field needs a name before its `:`: write `name: Type`."
    if token in _CLOSERS or token == ",":
        if before in ("(", "[", "{") and token != ",":
            return f"`{before}{token}` holds no type: write one between the brackets."
        if before == ",":
            return f"between `,` and `{token}` something is missing: leave out one of them, or write it."
        return f"a type is missing before `{token}`."
    if place.names_fields and before in ("{", "(", ","):
        key = _KEY.match(place.rest)
        if key and not key[0].rstrip("? ").isidentifier():
            return f'a name that is no single word stands in quotes: `"{shortened(key[0].rstrip())}": Type`.'
        return f"fields and parameters have a name: write `name: {token}`, or `{token}: Type` if this is the name."
    if re.match(r"[-+]?\d", token):
        return f"`{token}` is no constant: constants are whole numbers, texts, `true`, `false` and `nil`."
    if place.after == ":" and place.opened[-1:] != ("{",):
        return f"`{token}:` is a field, and fields stand in a record: `{{ {token}: Type }}`."
    if not place.opened:
        return f"`{token}` does not belong to the type before it. {place.shape}"
    return f"`{token}` cannot stand here: a type is a name, a constant, or one of `{{ }}` `[ ]` `( )`."
