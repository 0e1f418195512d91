"""What the tool schemas of each provider may hold. docs/dialects.md has the facts with their sources."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple


class Provider(NamedTuple):
    """What the tool schemas of a provider may hold."""

    keywords: frozenset[str]
    """Those that narrow a type; the others are said in words."""
    one_item: bool
    """Whether `minItems` is taken where it is 1."""
    formats: frozenset[str]
    default: bool
    """Whether `default` is taken."""
    references: bool
    """Whether `$ref` is, alone in its schema; otherwise types are written out where they are used."""
    closed: bool
    """Whether each object says `additionalProperties: false`; otherwise none says anything."""
    optional: bool
    """Whether a property may be left out of `required`; otherwise the optional ones are nullable."""
    text_only: bool
    """Whether only texts may have an `enum`, and only objects with properties are objects."""
    described_nulls: bool
    """Whether what is said of a type that may be null reaches the model; otherwise it is said of the type inside."""


_COMMON_FORMATS: Final = frozenset(
    {"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"}
)
_COMMON_KEYWORDS: Final = frozenset({"pattern", "minimum", "maximum"})

PROVIDERS: Final[Mapping[str, Provider]] = {
    "anthropic": Provider(
        keywords=frozenset(),
        one_item=True,
        formats=_COMMON_FORMATS | {"uri"},
        default=True,
        references=False,
        closed=True,
        optional=True,
        text_only=False,
        described_nulls=True,
    ),
    "openai": Provider(
        keywords=_COMMON_KEYWORDS | {"exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minItems", "maxItems"},
        one_item=True,
        formats=_COMMON_FORMATS,
        default=False,
        references=True,
        closed=True,
        optional=False,
        text_only=False,
        described_nulls=True,
    ),
    "gemini": Provider(
        # Google's converter of MCP tools loses every keyword of two words.
        keywords=_COMMON_KEYWORDS,
        one_item=False,
        formats=frozenset({"date-time"}),
        default=True,
        references=False,
        closed=False,
        optional=True,
        text_only=True,
        described_nulls=False,
    ),
}
"""By the name of the dialect."""
