"""A server whose tools are plain functions, of every kind: test_scaffold_end_to_end.py annotates a copy of it."""

import datetime
import decimal
import enum
import pathlib
import uuid
from dataclasses import dataclass
from typing import Annotated, Any, Generic, Literal, TypeVar

from fastmcp import Context, FastMCP
from fastmcp.dependencies import Depends
from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import NamedTuple, TypedDict

mcp: FastMCP[Any] = FastMCP("plain")
Row = TypeVar("Row")


class Stage(enum.Enum):
    OPEN = "open"
    PAID = "paid"


class Address(BaseModel):
    """Where something is sent."""

    street: str = Field(description='The "street", and its number (if any)', min_length=1)
    zip: str | None = Field(default=None, pattern=r"^\d{5}$")


class Billing:
    class Address(BaseModel):
        iban: str


class Customer(BaseModel):
    model_config = ConfigDict(extra="forbid")
    name: str
    home: Address
    pays: Billing.Address | None = None
    stage: Stage = Stage.OPEN


class Node(BaseModel):
    name: str
    children: list["Node"] = []


class Page(BaseModel, Generic[Row]):
    rows: list[Row]
    next: int | None = None


class Cat(BaseModel):
    kind: Literal["cat"] = "cat"
    lives: int = 9


class Dog(BaseModel):
    kind: Literal["dog"] = "dog"
    name: str


@dataclass
class Point:
    x: int
    y: int = 0


class Size(TypedDict, total=False):
    width: int


class Span(NamedTuple):
    start: int
    end: int = 10


def clerk() -> str:
    return "ann"


@mcp.tool
def find_orders(query: str, page: int = 1, tags: list[str] | None = None) -> Page[Address]:
    """Find orders.

    By words, "page" by page.

    Args:
        query: What to look for, e.g. `sku:(1 or 2)`:
            it may be several words.
        page: Which page.

    Returns:
        One page.
    """
    return Page[Address](rows=[Address(street=query)] * page, next=len(tags or ()))


@mcp.tool
async def create_customer(
    customer: Customer,  # as the form has it
    ctx: Context,
    notify: bool = False,
    by: str = Depends(clerk),
) -> dict[str, Any]:
    """Create a customer.

    Parameters
    ----------
    customer : Customer
        Who it is.
    notify
        Whether to write to them.

    Notes
    -----
    Slow.
    """
    return {"name": customer.name, "stage": customer.stage.value, "by": by, "notify": notify, "any": {"more": [1]}}


@mcp.tool(name="set-limits")
def set_limits(
    least: Annotated[int, Field(ge=1, le=50, description="The least", examples=[2, 3])] = 5,
    most: Annotated[float, Field(gt=0, lt=100, title="At most")] = 9.5,
    code: Annotated[str | None, Field(max_length=4, pattern=r"^[(\"']?\w+\\?$")] = None,
    many: Annotated[list[Stage], Field(min_length=1, max_length=2)] = [Stage.PAID],  # noqa: B006
) -> Point:
    """Set the limits.

    :param least: not this one
    :param most: The most.
    """
    return Point(least, int(most) + len(many) + len(code or ""))


@mcp.tool
def move(kind: Literal["fast", "slow"], how: Literal[1, "two", True] | None, to: Point, size: Size, span: Span) -> Size:
    r"""Move it: C:\new\table, \d+ and '''quotes'''."""
    return {"width": to.x + size.get("width", 0) + span.end + len(kind) + len(str(how))}


@mcp.tool
def count(words: set[str], weights: dict[str, float], pair: tuple[int, str], rest: tuple[int, ...] = ()) -> list[int]:
    '''Count "them": """all""".'''
    return [len(words), len(weights), pair[0], *rest]  # no object


@mcp.tool
def oldest(names: list[str]) -> str | None:
    return min(names, default=None)  # no object


@mcp.tool
def pet(animal: Annotated[Cat | Dog, Field(discriminator="kind")], other: Cat | Dog) -> Cat | Dog:
    """Pet one."""
    return animal


@mcp.tool
def forget(name: Any, why=None) -> None:  # type: ignore[no-untyped-def]
    """Forget it."""
    return  # nothing


@mcp.tool
def book(
    day: datetime.date,
    at: datetime.time,
    ticket: uuid.UUID,
    price: decimal.Decimal = decimal.Decimal("1.50"),
    folder: pathlib.Path = pathlib.Path("/tmp"),
    data: bytes = b"x",
    since: datetime.datetime | None = None,
    lasts: datetime.timedelta = datetime.timedelta(minutes=90),
) -> dict[str, str]:
    """Book it."""
    return {"day": str(day), "at": str(at), "ticket": str(ticket), "price": str(price), "for": str(lasts)}


@mcp.tool
def grow(tree: Node) -> Node:
    """Grow a tree."""
    return Node(name=tree.name, children=[tree])


@mcp.tool
def about() -> Customer:
    """Tell about somebody."""
    return Customer(name="Ann", home=Address(street="Elm 1"), pays=Billing.Address(iban="DE1"))


class Shop:
    def __init__(self, name: str) -> None:
        self.name = name

    async def open(self, hour: int, who: str = "ann\\bob") -> dict[str, Any]:
        """Open the shop.

        Args:
            hour: From 0 to 24.
        """
        return {"name": self.name, "hour": hour, "who": who}


mcp.tool(Shop("corner").open)
