"""The command `fastmcp-authz`: one file a command, put together here."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence

import cyclopts

import fastmcp_authz
from fastmcp_authz.commands.check import check
from fastmcp_authz.commands.config import config
from fastmcp_authz.commands.diff import diff
from fastmcp_authz.commands.explain import explain
from fastmcp_authz.commands.inspect import inspect
from fastmcp_authz.commands.page import page
from fastmcp_authz.commands.scaffold import scaffold
from fastmcp_authz.commands.show import show
from fastmcp_authz.commands.snapshot import snapshot
from fastmcp_authz.commands.terminal import CUT_OFF, FINE, UNABLE, complain
from fastmcp_authz.errors import AuthzError

app = cyclopts.App(
    name="fastmcp-authz",
    help="Shows, checks and records who sees what of a FastMCP server.",
    help_epilogue="Exit status: 0 fine, 1 something was found, 2 it could not run.",
    version=fastmcp_authz.__version__,
    default_parameter=cyclopts.Parameter(negative=()),
    exit_on_error=False,
    result_action="return_value",
)
for each in (show, explain, check, snapshot, diff, page, scaffold, config, inspect):
    app.command(each)


def main(tokens: Sequence[str] | None = None) -> None:
    """Runs one command and ends the process with its exit status."""
    try:
        status = run(tokens)
        sys.stdout.flush()
    except BrokenPipeError:  # `| head` has read enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # Python flushes once more as it ends
        status = CUT_OFF
    sys.exit(status)


def run(tokens: Sequence[str] | None = None) -> int:
    """Runs one command; its exit status is what the command returns: 0 fine, 1 found something, 2 could not run.

    Args:
        tokens: The command line, without the name of the program; that of the process where `None`.
    """
    try:
        found = app(tokens, print_error=False)
    except cyclopts.CycloptsError as error:
        complain(_worded(str(error)))
        return UNABLE
    except AuthzError as error:
        complain(str(error))
        return UNABLE
    return found if isinstance(found, int) else FINE  # `--help` returns nothing


def _worded(said: str) -> str:
    """What is wrong with a command line; of an option that nothing is spelled like, what may be meant by it."""
    found = re.match(r"Unknown option: \"?(--personas?|--user)\b", said)
    return said if found is None else f"Unknown option: {found[1]}. Did you mean --as?"


if __name__ == "__main__":
    main()
