"""The shop's own application, as it was before any model used it. It knows nothing of who may see what of an order."""

from __future__ import annotations

from typing import Literal

from fastapi import FastAPI, HTTPException
from pydantic import BaseModel

Status = Literal["open", "shipped", "refunded"]


class Order(BaseModel):
    id: int
    status: Status
    total_cents: int
    customer: str
    email: str
    margin_cents: int


class Refund(BaseModel):
    cents: int
    reason: str
    without_return: bool = False


# The name of a function is the `operationId` of its route.
app = FastAPI(title="shop", generate_unique_id_function=lambda route: route.name)

ORDERS = {
    order.id: order
    for order in (
        Order(id=1, status="open", total_cents=4200, customer="Ada Brook", email="ada@example.org", margin_cents=900),
        Order(id=2, status="shipped", total_cents=999, customer="Ben Castle", email="ben@example.org", margin_cents=80),
    )
}


@app.get("/orders")
def list_orders(status: Status | None = None, customer: str | None = None, limit: int = 20) -> list[Order]:
    """All orders, newest first."""
    found = [each for each in ORDERS.values() if status in (None, each.status) and customer in (None, each.customer)]
    return found[:limit]


@app.get("/orders/{order_id}")
def get_order(order_id: int) -> Order:
    """One order."""
    if order_id not in ORDERS:
        raise HTTPException(404, f"There is no order {order_id}.")
    return ORDERS[order_id]


@app.post("/orders/{order_id}/refunds", status_code=201)
def refund_order(order_id: int, refund: Refund) -> Order:
    """Gives money back."""
    order = get_order(order_id)
    if refund.cents > order.total_cents:
        raise HTTPException(409, "That is more than was paid.")
    ORDERS[order_id] = order.model_copy(update={"status": "refunded"})
    return ORDERS[order_id]


@app.delete("/orders", status_code=204)
def delete_all_orders() -> None:
    """Empties the shop. No tool is declared for this, so there is none."""
    ORDERS.clear()
