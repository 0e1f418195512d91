"""Settings: every option, with its default, preset by `FASTMCP_AUTHZ_...` in the environment."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path
from typing import Literal

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict


class Settings(BaseSettings):
    """Every option of the library. Immutable; an argument wins over the environment (SPEC section 7).

    Lists in the environment are JSON: `FASTMCP_AUTHZ_IGNORED_INPUT_KEYS='["_client"]'`.
    """

    model_config = SettingsConfigDict(env_prefix="FASTMCP_AUTHZ_", frozen=True, extra="forbid")

    reject_unknown_input_keys: bool = True
    """Refuse top-level keys outside the caller's input schema; `False` drops them silently."""
    ignored_input_keys: frozenset[str] = frozenset()
    """Envelope keys that are dropped silently instead. A declared parameter of that name is a parameter."""
    nested_unknown_keys: Literal["drop", "reject"] = "drop"
    """What becomes of undeclared keys inside a declared object."""
    lenient_inputs: bool | None = None
    """Whether `"10"` may stand for `10`. `None`: strict without a server; on one, as FastMCP's own setting says."""
    nullable_inputs: Literal["declared", "opt-in"] = "declared"
    """`"opt-in"`: in inputs a nilable type takes null only with `@nullable()`."""
    missing_predicate: Literal["allow", "deny", "error"] = "allow"
    """What a predicate answers that the context does not define (`requires` apart, which is a no)."""
    mistyped_output: Literal["withhold", "report"] = "withhold"
    """`"report"`: send and log a result that only breaks a visible type."""
    refs: Literal["defs", "inline"] = "defs"
    """`"inline"`: leave `$ref`s to FastMCP's dereferencing, for clients that cannot follow them."""
    strict_schema: bool = False
    """Advertise only what strict tool-use modes take; the full contract is still what is enforced."""
    predicate_timeout: float = Field(default=5.0, gt=0)
    """Seconds that an awaited answer may take; later is a no."""
    cached_views: int = Field(default=256, gt=0)
    """How many views of one contract are kept."""
    shared_type_paths: tuple[Path, ...] = ()
    """Folders of shared `.rbs` files, before `sig/shared` beside the declaring module."""
    known_predicates: frozenset[str] = frozenset()
    """Predicate names that look like a slip of a tag and are none."""


def preset_settings() -> Settings:
    """The settings that the environment presets, read again only when it has changed."""
    prefix = "FASTMCP_AUTHZ_"
    return _preset(tuple(sorted((k, v) for k, v in os.environ.items() if k.upper().startswith(prefix))))


@lru_cache(maxsize=8)
def _preset(_environment: tuple[tuple[str, str], ...]) -> Settings:
    return Settings()
