"""Bearer tokens. Whoever signs people in holds the private key; this server only needs the public one."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

from fastmcp import FastMCP
from fastmcp.server.auth.providers.jwt import JWTVerifier, RSAKeyPair

ISSUER = "https://sign-in.recruiting.example"
AUDIENCE = "recruiting"


def token_for(person: str, keys: RSAKeyPair) -> str:
    """A token that says who somebody is. What they may do is for the server to say, at each request."""
    return keys.create_token(subject=person, issuer=ISSUER, audience=AUDIENCE, expires_in_seconds=3600)


def signing_in(
    people: Iterable[str],
) -> tuple[JWTVerifier, Callable[[FastMCP[Any]], AbstractAsyncContextManager[None]]]:
    """Checks tokens against `RECRUITING_PUBLIC_KEY` (PEM). Without one, signs a token for each person.

    Returns:
        What `FastMCP(auth=...)` takes; and what `lifespan=` takes, which prints those tokens when the server starts.
        They are of no use over stdio, which is what somebody means who sets `RECRUITING_PERSON`.
    """
    public_key = os.environ.get("RECRUITING_PUBLIC_KEY")
    tokens: dict[str, str] = {}
    if public_key is None:
        keys = RSAKeyPair.generate()
        public_key = keys.public_key
        if "RECRUITING_PERSON" not in os.environ:
            tokens = {person: token_for(person, keys) for person in people}

    @asynccontextmanager
    async def printing(_: FastMCP[Any]) -> AsyncIterator[None]:
        for person, token in tokens.items():
            print(f"bearer token of the {person}: {token}", file=sys.stderr)
        yield

    return JWTVerifier(public_key=public_key, issuer=ISSUER, audience=AUDIENCE), printing
