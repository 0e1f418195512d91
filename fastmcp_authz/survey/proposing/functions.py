"""The function behind a tool: where it stands, what its header is, and whether it could be decorated."""

from __future__ import annotations

import ast
import functools
import inspect
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import FunctionType, MethodType
from typing import Any

from fastmcp_authz.errors import ContractError
from fastmcp_authz.serving.declaring import read_contract, shown_path
from fastmcp_authz.serving.signatures import read_signature
from fastmcp_authz.settings import preset_settings
from fastmcp_authz.survey.places import Place


@dataclass(frozen=True)
class Behind:
    """The function that an author has written for a tool."""

    function: FunctionType
    place: Place
    """The line of its `def`, above which `@authorized_tool()` goes."""
    header: tuple[str, ...]
    """Its lines from `def` to the colon, dedented."""

    @property
    def name(self) -> str:
        """As it is found in its file: `Orders.find`."""
        return self.function.__qualname__.rpartition("<locals>.")[2]


def behind(fn: Callable[..., Any]) -> Behind | None:
    """The function that was written for a tool; `None` where there is none that could be decorated."""
    inner: Any = fn
    while isinstance(inner, functools.partial | MethodType):
        if isinstance(inner, functools.partial):
            return None
        inner = inner.__func__
    inner = inspect.unwrap(inner)
    if not isinstance(inner, FunctionType) or inner.__code__.co_name == "<lambda>":
        return None
    line, header = _header(inner)
    return Behind(inner, Place(shown_path(Path(inner.__code__.co_filename)), line), tuple(header))


def troubles(function: FunctionType, docstring: str) -> list[str]:
    """What `authorized_tool` would say of a function with another docstring."""
    twin = FunctionType(
        function.__code__, function.__globals__, function.__name__, function.__defaults__, function.__closure__
    )
    twin.__doc__, twin.__kwdefaults__ = docstring, function.__kwdefaults__
    twin.__annotations__, twin.__module__ = function.__annotations__, function.__module__
    try:
        signature = read_signature(twin)
        read_contract(twin, signature, shared_types=(), settings=preset_settings(), also=[])
    except ContractError as error:
        return [problem.message for problem in error.problems]
    return []


def _header(function: FunctionType) -> tuple[int, list[str]]:
    """The line of a function's `def`, and what is written up to its body."""
    first, unread = function.__code__.co_firstlineno, [f"def {function.__name__}(...):"]
    try:
        lines, first = inspect.getsourcelines(function)
        written = textwrap.dedent("".join(lines))
        kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
        definition = next(each for each in ast.parse(written).body if isinstance(each, kinds))
    except (OSError, SyntaxError, TypeError, StopIteration):
        return first, unread
    body = definition.body[0]
    begun = written.splitlines()[definition.lineno - 1 : body.lineno]
    begun[-1] = begun[-1].encode()[: body.col_offset].decode()
    while len(begun) > 1 and not begun[-1].partition("#")[0].strip():
        begun.pop()  # what stands between the header and the body: comments
    return first + definition.lineno - 1, [line.rstrip() for line in begun]
