"""Bearer tokens. Whoever signs people in holds the private key; this server only needs the public one."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable

from fastmcp.server.auth.providers.jwt import JWTVerifier, RSAKeyPair

ISSUER = "https://sign-in.recruiting.example"
AUDIENCE = "recruiting"


def token_for(person: str, keys: RSAKeyPair) -> str:
    """A token that says who somebody is. What they may do is for the server to say, at each request."""
    return keys.create_token(subject=person, issuer=ISSUER, audience=AUDIENCE, expires_in_seconds=3600)


def verifier(people: Iterable[str]) -> JWTVerifier:
    """Checks tokens against `RECRUITING_PUBLIC_KEY` (PEM). Without one, signs a token for each person at start."""
    public_key = os.environ.get("RECRUITING_PUBLIC_KEY")
    if public_key is None:
        keys = RSAKeyPair.generate()
        public_key = keys.public_key
        if "RECRUITING_PERSON" not in os.environ:
            for person in people:
                print(f"bearer token of the {person}: {token_for(person, keys)}", file=sys.stderr)
    return JWTVerifier(public_key=public_key, issuer=ISSUER, audience=AUDIENCE)
