"""Every door is the same door (SPEC section 6)."""

from __future__ import annotations

import asyncio

import pytest

from tests.routes import rows
from tests.routes.doors import DOORS, FACADES, SHUT, Door, ways
from tests.routes.office import MANAGER, NOBODY


@pytest.mark.parametrize(("door", "era"), ways([*DOORS, *FACADES]))
async def test_each_caller_gets_its_own_and_no_more(door: Door, era: str) -> None:
    """Through one server, at the same time and by turns: what it keeps of one caller is nobody else's."""
    async with door.open(era) as enter:

        async def comes(caller: str, *tries: rows.Row) -> None:
            async with enter(caller) as session:
                for row in tries:
                    await row(session)

        await comes(NOBODY, *rows.SHOWN_AND_SENT)
        if door.at_once:
            await asyncio.gather(comes(MANAGER, rows.has_it_all), comes(NOBODY, *rows.SHOWN_AND_SENT))
        else:
            await comes(MANAGER, rows.has_it_all)
        await comes(NOBODY, *rows.LACKS)


@pytest.mark.parametrize(("door", "era"), ways(SHUT))
async def test_nothing_runs_past_whoever_decides(door: Door, era: str) -> None:
    assert door.shown is not None
    async with door.open(era) as enter:
        for caller in (MANAGER, NOBODY):
            async with enter(caller) as session:
                await rows.has_nothing(session, door.shown)


def test_doors_have_names_of_their_own() -> None:
    names = [door.name for door in [*DOORS, *FACADES, *SHUT]]
    assert len(set(names)) == len(names)
