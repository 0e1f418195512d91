"""What a server says of its faceted domains: how their tools are grouped, and what each group is about."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, NamedTuple, TypedDict

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from fastmcp_authz.errors import ConfigurationError
from fastmcp_authz.settings import DOMAIN

UNCATEGORIZED = "uncategorized"
"""The group of tools without a category."""


class FacetOptions(TypedDict, total=False):
    """How one domain is faceted (SPEC section 7, "Facades")."""

    group_by: Literal["category"]
    """What puts tools together."""
    schema_strategy: Literal["vendor_extension", "lazy"]
    """Where the tools' input schemas are: in the facade's `_meta`, or nowhere."""
    uncategorized: Literal["fallback", "error"]
    """What becomes of tools without a category: a group of their own, or a server that does not start."""
    facade_suffix: str
    """What is behind the category in a facade's name: `orders_tools`."""


class Facet(BaseModel):
    """The same, read, with what is not said."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    group_by: Literal["category"] = "category"
    schema_strategy: Literal["vendor_extension", "lazy"] = "vendor_extension"
    uncategorized: Literal["fallback", "error"] = "fallback"
    facade_suffix: str = Field(default="tools", pattern=f"^{DOMAIN}$")

    def facade(self, group: str) -> str:
        """The name of the tool that stands for a group."""
        return f"{group}_{self.facade_suffix}"

    def group(self, facade: str) -> str | None:
        """The group that a tool of that name stands for, if it could stand for one."""
        group = facade.removesuffix(f"_{self.facade_suffix}")
        return group if group and group != facade else None


class Facets(NamedTuple):
    """The faceted domains of a server."""

    by_domain: Mapping[str, Facet]
    categories: Mapping[str, str]
    """What a category is about."""

    def of(self, domain: str | None) -> Facet | None:
        """How a domain is faceted; `None` where its tools are listed one by one."""
        return None if domain is None else self.by_domain.get(domain)

    def summary(self, group: str, told: Iterable[str | None]) -> str:
        """What a group is about: by the server, else by the first of its tools that tells."""
        own = next((each for each in told if each), None)
        known = self.categories.get(group) or own
        return known or ("Other tools." if group == UNCATEGORIZED else f"Tools for {group}.")


NO_FACETS = Facets({}, {})
_DOMAINS = TypeAdapter(dict[str, Facet])
_CATEGORIES = TypeAdapter(dict[str, str])


def facets_from(facets: Any, categories: Any) -> Facets:
    """The faceted domains, as `Authz(facets=..., categories=...)` is given them.

    Raises:
        ConfigurationError: An option is unknown, or has a value that it cannot have.
    """
    return Facets(_read(_DOMAINS, facets, "facets"), _read(_CATEGORIES, categories, "categories"))


def _read(adapter: TypeAdapter[Any], given: Any, option: str) -> Any:
    try:
        return adapter.validate_python({} if given is None else given, strict=True)
    except ValidationError as error:
        wrong = "; ".join(
            f"{option}{''.join(f'[{step!r}]' for step in each['loc'])}: {each['msg']}"
            for each in error.errors(include_url=False)
        )
        example = (
            'facets={"admin": {"group_by": "category", "schema_strategy": "lazy"}}'
            if option == "facets"
            else 'categories={"orders": "Look at orders."}'
        )
        raise ConfigurationError(f"{wrong}. Write {example}.") from None
