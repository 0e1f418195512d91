"""The function behind a tool: where it stands, what its header is, and whether it could be decorated."""

from __future__ import annotations

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
    if not isinstance(inner, FunctionType) or inner.__name__ == "<lambda>":
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
    first = function.__code__.co_firstlineno
    try:
        lines, first = inspect.getsourcelines(function)
    except (OSError, TypeError):
        return first, [f"def {function.__name__}(...):"]
    start = next((at for at, line in enumerate(lines) if line.lstrip().startswith(("def ", "async def "))), 0)
    written = textwrap.dedent("".join(lines[start:])).splitlines()
    depth, end = 0, 0
    for end, line in enumerate(written):
        code = line.partition("#")[0]
        depth += sum(code.count(each) for each in "([{") - sum(code.count(each) for each in ")]}")
        if depth <= 0 and code.rstrip().endswith(":"):
            break
    return first + start, [line.rstrip() for line in written[: end + 1]]
