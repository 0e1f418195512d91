"""The rows of the matrix: four things that a caller tries, and what comes of each."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable

from tests.routes import office
from tests.routes.office import MARKS, Shown
from tests.routes.sessions import Answer, Session


async def lists_what_is_for_everyone(session: Session) -> None:
    """First: listing shows the caller's own world, whoever listed before."""
    assert await session.tools() == session.shows(office.TO_NOBODY)
    assert_clean(session.received)


async def gets_nothing_for_a_hidden_input(session: Session) -> None:
    """Second: a hidden input is refused as one that never was, and nothing runs."""
    before = list(office.ran)
    hidden = await session.call("find", query="x", covert_key="k")
    absent = await session.call("find", query="x", absent_key="k")
    assert hidden.is_error
    assert_alike(session, hidden, absent)
    assert office.ran == before


async def gets_no_hidden_output(session: Session) -> None:
    """Third: what comes out holds nothing hidden: no field, no member of the union, no newer version."""
    session.received.clear()
    found = await session.call("find", query="x")
    assert (found.is_error, found.data) == (False, {"kind": "page", "echo": "x"})
    assert (await session.call("find", query="file")).is_error
    report = await session.call("report")
    assert (report.is_error, report.data) == (False, {"edition": 1})
    assert_clean(session.received)


async def does_not_reach_a_hidden_tool(session: Session) -> None:
    """Fourth: a hidden tool, called by its name, answers as one that never was, and does not run."""
    before = list(office.ran)
    hidden = await session.call("covert_vault", item="x")
    absent = await session.call("absent_vault", item="x")
    assert hidden.is_error
    assert_alike(session, hidden, absent)
    assert office.ran == before


INSIDE = ("secret", "covert_key", "covert_note", "covert_path", "covert_item", "covert_total")
"""What a tool holds that is not for everyone, in lower case."""

Row = Callable[[Session], Awaitable[None]]

SHOWN_AND_SENT = (lists_what_is_for_everyone, gets_no_hidden_output)

LACKS = (
    lists_what_is_for_everyone,
    gets_nothing_for_a_hidden_input,
    gets_no_hidden_output,
    does_not_reach_a_hidden_tool,
)


async def has_it_all(session: Session) -> None:
    """The same four things of a caller who has the right."""
    assert await session.tools() == session.shows(office.TO_MANAGER)
    for arguments, data in (
        ({"query": "x", "covert_key": "k"}, {"kind": "page", "echo": "x", "covert_note": "SECRET k"}),
        ({"query": "file"}, {"kind": "covert_file", "covert_path": "/SECRET"}),
    ):
        assert data_of(await session.call("find", **arguments)) == data
    assert data_of(await session.call("report")) == {"edition": 2, "covert_total": 3}
    assert data_of(await session.call("covert_vault", item="x")) == {"covert_item": "SECRET x"}


async def has_nothing(session: Session, shown: Shown) -> None:
    """All of it through a door that is shut: nothing runs, and nothing inside a tool shows that is not for everyone."""
    assert await session.tools() == shown
    before = list(office.ran)
    hidden = await session.call("find", query="x", covert_key="k")
    absent = await session.call("find", query="x", absent_key="k")
    assert hidden.is_error
    assert_alike(session, hidden, absent)
    session.received = [*session.received[:-2], absent.received]
    for tool, arguments in (("find", {"query": "x"}), ("report", {}), ("covert_vault", {"item": "x"})):
        answer = await session.call(tool, **arguments)
        assert answer.is_error, answer.received
    assert office.ran == before
    assert_clean(session.received, INSIDE)


def data_of(answer: Answer) -> object:
    assert not answer.is_error, answer.received
    return answer.data


def assert_alike(session: Session, hidden: Answer, absent: Answer) -> None:
    """They differ by the name that the caller sent, and by nothing else."""
    received = hidden.received
    for called in (session.names.tool, session.names.input, str):
        for name in ("vault", "key"):
            received = received.replace(called(f"covert_{name}"), called(f"absent_{name}"))
    assert received == absent.received
    assert_clean([absent.received])


def assert_clean(received: Iterable[str], marks: Iterable[str] = MARKS) -> None:
    for text in received:
        assert not [mark for mark in marks if mark in text.lower()], text
