"""The behaviour that the specification pins, one test per case."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conformance import run
from tests.conformance.cases import load

CASES = load()


@pytest.mark.filterwarnings("ignore:.*is the old spelling of an optional field:DeprecationWarning")
@pytest.mark.parametrize("case", [pytest.param(case, id=case["id"]) for case in CASES])
def test_case(case: dict[str, Any]) -> None:
    assert run.run(case)


def test_every_case_has_an_id_of_its_own() -> None:
    assert len({case["id"] for case in CASES}) == len(CASES)
