"""A docstring as Python code that says just that, and the code around it."""

from __future__ import annotations

from typing import Final

_INDENT: Final = "    "
_QUOTES: Final = ('"""', "'''")


def docstring_code(text: str, indent: str = _INDENT) -> list[str]:
    r"""The lines of a string literal whose dedented value is `text`, indented for the body of a function.

    Raw where there are backslashes in it, and escaped only where no quotes can hold it as it is.
    """
    quotes = next((each for each in _QUOTES if each not in text), None)
    if quotes is None:
        quotes, prefix = '"""', ""
        text = text.replace("\\", r"\\").replace('"""', r"\"\"\"")
    else:
        prefix = "r" if "\\" in text else ""
    first, *rest = text.split("\n")
    if not rest and not first.endswith(('"', "'", "\\")):
        return [f"{indent}{prefix}{quotes}{first}{quotes}"]
    return [f"{indent}{prefix}{quotes}{first}", *(indent + line if line else "" for line in rest), indent + quotes]


def function_code(decorator: str, header: list[str], docstring: str, body: list[str]) -> list[str]:
    """A function with its decorator and its docstring."""
    return [decorator, *header, *docstring_code(docstring), *(_INDENT + line for line in body)]
