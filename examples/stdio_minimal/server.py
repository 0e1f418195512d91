"""The smallest gated server over stdio: the one who starts it says in the environment who they are.

NOTES_USER=ann fastmcp run examples/stdio_minimal/server.py
"""

from __future__ import annotations

import os
from functools import partial
from typing import Any

from fastmcp import FastMCP

from fastmcp_authz import Authz, Request


class User:
    def __init__(self, *flags: str) -> None:
        self.flags = flags

    def requires(self, flag: str) -> bool:
        """Answers `authorization="flag"` and `@requires(:flag)`."""
        return flag in self.flags


USERS = {"ann": User("read", "write"), "bob": User("read")}
NOTES = [{"title": "Plan", "text": "Ship on Friday.", "author": "carol@example.org"}]


def user_of(request: Request) -> User | None:
    """Who is asking; None is nobody. Whoever comes over a network did not start this server, and is nobody too."""
    return USERS.get(os.environ.get("NOTES_USER", "")) if request.transport == "stdio" else None


mcp = FastMCP("notes")
authz = Authz(
    mcp,
    context=user_of,
    missing_predicate="deny",
    personas={name: partial(USERS.__getitem__, name) for name in USERS},
)


@authz.tool(authorization="read")
def find_notes(word: str = "") -> dict[str, Any]:
    """Find notes.

    @rbs type note = { title: String, text: String, ?author: String @requires(:write) }
    @rbs type output = { notes: Array[note] }
    #: (?word: String @desc(Part of the title)) -> output
    """
    return {"notes": [note for note in NOTES if word.lower() in note["title"].lower()]}


@authz.tool(authorization="write")
def add_note(title: str, text: str) -> dict[str, Any]:
    """Add a note.

    @rbs type output = { notes: Integer }
    #: (title: String @min(1), text: String) -> output
    """
    NOTES.append({"title": title, "text": text, "author": "you"})
    return {"notes": len(NOTES)}


if __name__ == "__main__":
    mcp.run()
