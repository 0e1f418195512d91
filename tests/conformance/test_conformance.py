"""The behaviour that the specification pins, one test per case.

A case on the waiting list has to fail: when it starts to pass, the run fails until it is taken off the list.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.conformance import run
from tests.conformance.cases import WAITING, load

CASES = load()


def waiting(case: dict[str, Any]) -> tuple[pytest.MarkDecorator, ...]:
    reason = WAITING.get(case["id"])
    return () if reason is None else (pytest.mark.xfail(reason=reason, strict=True),)


@pytest.mark.filterwarnings("ignore:.*is the old spelling of an optional field:DeprecationWarning")
@pytest.mark.parametrize("case", [pytest.param(case, id=case["id"], marks=waiting(case)) for case in CASES])
def test_case(case: dict[str, Any]) -> None:
    assert run.run(case)


def test_every_case_has_an_id_of_its_own() -> None:
    assert len({case["id"] for case in CASES}) == len(CASES)


def test_whatever_waits_is_a_case() -> None:
    assert set(WAITING) <= {case["id"] for case in CASES}
