"""Who decides for the tools of a server and of what is mounted on it, by names that are the same at each start."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import Final

from fastmcp_authz.callers.scope import Authority
from fastmcp_authz.survey.survey import Survey

UNNAMED: Final = re.compile(r"(?:FastMCP-[0-9a-f]+)?")
"""What FastMCP calls a server that was given no name: another one at each start."""


def names_of_authorities(survey: Survey) -> Mapping[str, Authority]:
    """Everybody who decides, by name: the server's own is `""`, that of a mounted server has its name.

    Where a server has no name, or several are called so, the first of the tools that are decided for stands for it.
    """
    named: dict[str, Authority] = {}
    often = Counter(each.name for each in survey.servers)
    for authority, server in zip(survey.authorities, survey.servers, strict=True):
        tools = sorted(each.name for each in survey.tools if each.authority is authority)
        own = [] if UNNAMED.fullmatch(server.name) or often[server.name] > 1 else [server.name]
        names = [""] if server is survey.server else [*own, *tools]
        name = next((each for each in names if each not in named), None)
        if name is not None:  # else it decides for nothing
            named[name] = authority
    return named
