"""Which lines of a `.rbs` file stand in a class, module or interface, whose declarations are its own."""

from __future__ import annotations

import re

_TOKEN = re.compile(
    r"""
      "[^"\\]*(?:\\.[^"\\]*)*" | '[^'\\]*(?:\\.[^'\\]*)*' | \#.*          # text and comments, in which no word counts
    | (?<![\w.:@$])(?P<opening>class|module|interface)[ \t]+(?:::)?_?[A-Z][\w:]*+(?![ \t]*=)
    | (?<![\w.:@$])end(?![\w?!])(?P<closing>(?!\s*[:(,)\]}|?=&]))          # `end:` and `(Integer end)` are names
    """,
    re.VERBOSE,
)
_NAMES = re.compile(r"\s*(?:alias|undef)\s")
"""What two words behind it mean are methods."""
_DEFINED = re.compile(r"\bdef\s+(?:self\??\.)?end\b")


class Nesting:
    """Follows the lines of a file."""

    def __init__(self) -> None:
        self.opened: list[int] = []
        """Where the words stand that open what is open, the innermost last."""

    def feed(self, line: str, offset: int) -> None:
        """Read one line, which begins at `offset`."""
        if _NAMES.match(line):
            return
        for found in _TOKEN.finditer(_DEFINED.sub(lambda name: " " * len(name[0]), line)):
            if found["opening"]:
                self.opened.append(offset + found.start("opening"))
            elif found["closing"] is not None and self.opened:
                self.opened.pop()
