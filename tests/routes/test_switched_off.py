"""The matrix fails, door by door, where what holds the doors is taken out."""

from __future__ import annotations

import pytest

from tests.routes import rows
from tests.routes.doors import DOORS, SHUT, Door, ways
from tests.routes.office import NOBODY, ran
from tests.routes.switch import switch_off, unguard


@pytest.mark.parametrize(("door", "era"), ways(DOORS))
async def test_a_row_fails_without_enforcement(door: Door, era: str, monkeypatch: pytest.MonkeyPatch) -> None:
    switch_off(monkeypatch)
    async with door.open(era) as enter, enter(NOBODY) as session:
        await session.tools()
        session.received.clear()
        with pytest.raises(AssertionError):
            await rows.gets_no_hidden_output(session)
        assert "covert_note" in "".join(session.received)


@pytest.mark.parametrize(("door", "era"), ways(SHUT))
async def test_a_shut_door_opens_without_the_guard(door: Door, era: str, monkeypatch: pytest.MonkeyPatch) -> None:
    unguard(monkeypatch)
    async with door.open(era) as enter, enter(NOBODY) as session:
        ran.clear()
        await session.call("find", query="x")
        assert ran == ["find"]
