"""Settings: every option, with its default, preset by `FASTMCP_AUTHZ_...` in the environment."""

from __future__ import annotations

import json
import os
from functools import lru_cache
from pathlib import Path
from typing import Literal, TypeAlias

from pydantic import Field, ValidationError, ValidationInfo, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict, SettingsError

from fastmcp_authz.errors import ConfigurationError, near_names

DOMAIN = r"[A-Za-z0-9][A-Za-z0-9._-]*"
"""What names a domain of tools: a segment of a path."""

Dialect: TypeAlias = Literal["full", "strict", "anthropic", "openai", "gemini"]
"""For whom a schema is written down: for readers of JSON Schema, for any strict mode, for one provider's tools."""


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
    dialect: Dialect = "full"
    """What the advertised schemas are written for; `"strict"` is `strict_schema=True`. See docs/dialects.md."""
    predicate_timeout: float = Field(default=5.0, gt=0)
    """Seconds that an awaited answer may take, and the building of a server context; later is a no."""
    cached_views: int = Field(default=6_144, gt=0)
    """How many views an `Authz` keeps, of all its tools; a contract used by itself keeps as many."""
    default_domain: str = Field(default="default", pattern=f"^{DOMAIN}$")
    """The domain of tools that name none, which HTTP serves without a segment of its own."""
    domain: str | None = Field(default=None, pattern=f"^{DOMAIN}$")
    """The domain that is served where no path says so, over stdio and in memory; `None`: the default one."""
    shared_type_paths: tuple[Path, ...] = ()
    """Folders of shared `.rbs` files, before `sig/shared` beside the declaring module."""
    known_predicates: frozenset[str] = frozenset()
    """Predicate names that look like a slip of a tag and are none."""

    @field_validator("dialect")
    @classmethod
    def _is_the_only_one(cls, dialect: Dialect, info: ValidationInfo) -> Dialect:
        if info.data.get("strict_schema") and dialect not in ("full", "strict"):
            raise ValueError(
                f'`strict_schema=True` is `dialect="strict"`, which contradicts `dialect="{dialect}"`: '
                "leave one of the two out"
            )
        return dialect

    @property
    def advertised(self) -> Dialect:
        """The dialect of what is advertised, `strict_schema` considered."""
        return "strict" if self.strict_schema else self.dialect


_PREFIX = "FASTMCP_AUTHZ_"
PERSONA_VARIABLE = f"{_PREFIX}PERSONA"
"""What `fastmcp-authz config` and `inspect` tell a server that they start. No setting, and nothing here reads it: a
context builder may, over stdio."""


def preset_settings() -> Settings:
    """The settings that the environment presets, read again only when it has changed.

    Raises:
        ConfigurationError: A variable names no setting, or its value cannot be read.
    """
    return _preset(tuple(sorted((k, v) for k, v in os.environ.items() if k.upper().startswith(_PREFIX))))


@lru_cache(maxsize=8)
def _preset(environment: tuple[tuple[str, str], ...]) -> Settings:
    for variable, _ in environment:
        # Left alone, a misspelt one would be a rule that nobody follows.
        name = variable.upper()
        if name != PERSONA_VARIABLE and name.removeprefix(_PREFIX).lower() not in Settings.model_fields:
            raise ConfigurationError(f"{variable} in the environment names no setting. {_meant(variable)}")
    try:
        return Settings()
    except ValidationError as error:
        wrong = "; ".join(f"{_PREFIX}{str(e['loc'][0]).upper()}: {e['msg']}" for e in error.errors(include_url=False))
        raise ConfigurationError(f"The environment presets what is no setting. {wrong}.") from None
    except SettingsError as error:
        names = [k for k, v in environment if not _is_json(v)]
        raise ConfigurationError(
            f"{' or '.join(names) or 'The environment'} cannot be read: lists are written as JSON, "
            f"{_PREFIX}KNOWN_PREDICATES='[\"audited\"]'. ({error})"
        ) from None


def _meant(variable: str) -> str:
    names = [f"{_PREFIX}{name.upper()}" for name in Settings.model_fields]
    near = near_names(variable.upper(), names)
    return f"Did you mean {near[0]}?" if near else f"There are {', '.join(names)}."


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True
