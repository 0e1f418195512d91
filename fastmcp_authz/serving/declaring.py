"""From a function to its contract: docstring, shared folders, signature, and one error that lists every problem."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from fastmcp.utilities.docstring_parsing import parse_docstring

from fastmcp_authz.annotations import declares_input
from fastmcp_authz.contracts.contract import ToolContract, declaration_error
from fastmcp_authz.contracts.sides import SharedTypes
from fastmcp_authz.errors import ContractError, Problem
from fastmcp_authz.serving.agreement import disagreements, hint_problems, signature_problems, sketch
from fastmcp_authz.serving.signatures import Signature
from fastmcp_authz.settings import Settings


def read_contract(
    fn: Callable[..., Any], signature: Signature, *, shared_types: SharedTypes, settings: Settings, also: list[Problem]
) -> ToolContract:
    """The contract that the docstring of `fn` declares, checked against its signature.

    Args:
        fn: The author's function.
        signature: Its signature.
        shared_types: Where `@rbs import` looks first, before `sig/shared` beside the function's file or above it.
        settings: What the declaration is read with.
        also: Problems that were found before, to be reported with the others.

    Raises:
        ContractError: Something is wrong; everything that is, is listed.
    """
    file, line = _place(fn)
    docstring = _docstring(fn, signature)

    place = f"({fn.__name__}, line {line})"

    contract, found = ToolContract.examine(
        docstring,
        name=fn.__name__,
        shared_types=shared_types,
        settings=settings,
        prose_reader=read_prose,
        where=shown_path(file),
        opening=lambda: _opening(fn),
        module_file=file if file.exists() else None,
        sketch=sketch(signature),
    )
    agreed = disagreements(signature, contract, place) if contract is not None else ()
    problems = [*found, *agreed, *also, *signature_problems(signature, place), *hint_problems(signature, place)]
    if contract is None or problems:
        raise declaration_error(fn.__name__, f"{shown_path(file)}:{line}", problems)
    return contract


def _docstring(fn: Callable[..., Any], signature: Signature) -> str:
    docstring = fn.__doc__
    if docstring is None:
        file, line = _place(fn)
        raise ContractError(
            f"{fn.__name__} ({shown_path(file)}:{line}) has no docstring.",
            [
                Problem(
                    "Its contract stands there, so it cannot be served. Write one, with `#:` for the inputs and "
                    "`@rbs type output`. If it has one: Python strips docstrings under `-OO` and PYTHONOPTIMIZE=2; "
                    "run it without."
                )
            ],
        )
    if signature.given or declares_input(docstring):
        return docstring
    # A function without parameters needs no `#:`. Indented as the rest is, or the rest would keep its indentation.
    lines = docstring.expandtabs().split("\n")[1:]
    margin = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    return f"{docstring}\n\n{' ' * margin}#: () -> output\n"


def read_prose(prose: str) -> tuple[str, Mapping[str, str]]:
    """FastMCP's own reading of Google, NumPy and Sphinx parameter sections."""

    def bearer() -> None: ...

    bearer.__doc__ = prose
    parsed = parse_docstring(bearer)
    return parsed.description or "", parsed.parameters


def _opening(fn: Callable[..., Any]) -> tuple[int, list[str]]:
    """The line of the file on which the docstring's quotes open, or one near it, and the file's lines from there."""
    _, first = _place(fn)
    try:
        lines, first = inspect.getsourcelines(fn)
        # In a block, since lines of a docstring may stand further left than the function that has it.
        inside = lines[0][:1].isspace()
        (outer,) = ast.parse("".join(["if True:\n", *lines] if inside else lines)).body
    except (OSError, SyntaxError, TypeError, ValueError):
        return first + 1, []
    definition = outer.body[0] if isinstance(outer, ast.If) else outer
    body = getattr(definition, "body", ())
    if not body:
        return first + 1, []
    index = body[0].lineno - 1 - inside
    return first + index, lines[index:]


def _place(fn: Callable[..., Any]) -> tuple[Path, int]:
    """The file and the line where the author wrote it: under a decorator below ours, which has a file of its own."""
    written = inspect.unwrap(fn)
    code = written.__code__ if inspect.isfunction(written) else fn.__code__
    return Path(code.co_filename), code.co_firstlineno


def shown_path(file: Path) -> str:
    """The file as an editor finds it: relative to where the program runs, if it lies there."""
    try:
        return str(file.relative_to(Path.cwd()))
    except (ValueError, OSError):
        return str(file)
