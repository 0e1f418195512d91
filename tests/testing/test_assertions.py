"""Assertions about who sees what: they hold, they fail with the reason, and a slip of a name is never a pass."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from fastmcp import FastMCP
from fastmcp.server.providers import Provider
from fastmcp.tools import Tool

from fastmcp_authz import Authz, ConfigurationError, Request, authorized_tool
from fastmcp_authz.testing import (
    FakeContext,
    UnknownNameError,
    assert_hidden,
    assert_snapshot,
    assert_tools,
    assert_visible,
)
from tests.testing.notes import PERSONAS, from_nowhere, notes

LINE = r"tests/testing/notes\.py:\d+"


def failure(check: Any, *arguments: Any, **options: Any) -> str:
    """The message of an assertion that fails."""
    with pytest.raises(AssertionError) as failed:
        check(*arguments, **options)
    return re.sub(LINE, "HERE", str(failed.value))


@pytest.mark.parametrize(
    ("who", "hidden", "visible"),
    [
        (None, ["find_notes", "find_notes.word", "find_notes -> notes.title", "empty_bin"], ["ping", "ping.times"]),
        ("reader", ["find_notes.deleted", "find_notes.notes.author", "empty_bin"], ["find_notes", "find_notes.word"]),
        (FakeContext(can=["read"]), ["find_notes(deleted)", "find_notes -> notes[].author"], ["find_notes -> notes"]),
        ("admin", [], ["find_notes.deleted", "find_notes → notes.author", "empty_bin", "empty_bin.deleted"]),
    ],
)
def test_what_is_hidden_is_not_visible_and_what_is_visible_is_not_hidden(
    who: Any, hidden: list[str], visible: list[str]
) -> None:
    server = notes()
    for what in hidden:
        assert_hidden(server, who, what)
        assert what in failure(assert_visible, server, who, what)
    for what in visible:
        assert_visible(server, who, what)
        assert what in failure(assert_hidden, server, who, what)
    assert_visible(server, who, *visible)


async def test_they_hold_in_a_test_that_is_async_too() -> None:
    assert_hidden(notes(), "reader", "find_notes.deleted")
    assert_visible(notes(), "admin", "find_notes.deleted")
    assert_tools(notes(), "reader", ["find_notes", "ping"])


def test_the_message_says_which_predicate_answered_what_and_where_it_stands() -> None:
    assert failure(assert_hidden, notes(), "admin", "find_notes.deleted") == (
        "find_notes.deleted should be hidden from admin, and is visible:\n"
        '  find_notes     current_user.can("read")  yes  HERE\n'
        '  input deleted  requires("admin")         yes  HERE'
    )
    assert failure(assert_visible, notes(), FakeContext(can=["read"]), "find_notes.notes.author") == (
        "find_notes.notes.author should be visible to FakeContext(can=['read']), and is hidden:\n"
        '  find_notes             current_user.can("read")  yes  HERE\n'
        '  output notes[].author  requires("admin")         no   HERE'
    )
    assert failure(assert_visible, notes(), "reader", "empty_bin.deleted", "find_notes.word", "empty_bin") == (
        "empty_bin.deleted should be visible to reader, and is hidden:\n"
        '  empty_bin  current_user.can("read")  yes  HERE\n'
        '  empty_bin  feature("bin")            no   HERE\n'
        "empty_bin should be visible to reader, and is hidden:\n"
        '  empty_bin  current_user.can("read")  yes  HERE\n'
        '  empty_bin  feature("bin")            no   HERE'
    )
    assert failure(assert_hidden, notes(), "reader", "find_notes.word") == (
        "find_notes.word should be hidden from reader, and is visible:\n"
        '  find_notes  current_user.can("read")  yes  HERE\n'
        "  input word  nothing guards it              HERE"
    )


def test_the_place_is_the_line_of_the_declaration() -> None:
    with pytest.raises(AssertionError) as failed:
        assert_hidden(notes(), "admin", "find_notes(deleted)")
    (line,) = re.findall(r'requires\("admin"\) +yes +tests/testing/notes\.py:(\d+)', str(failed.value))
    with open("tests/testing/notes.py", encoding="utf-8") as file:
        assert "?deleted: bool @requires(:admin)" in file.read().splitlines()[int(line) - 1]


def test_tools_that_are_missing_or_too_many_are_told_with_the_reason() -> None:
    assert_tools(notes(), None, {"ping"})
    assert_tools(notes(), "admin", {"ping", "find_notes", "empty_bin"})
    assert failure(assert_tools, notes(), "reader", {"ping", "empty_bin"}) == (
        "reader does not see these tools: - is missing, + is too many.\n"
        "+ find_notes\n"
        '  find_notes  current_user.can("read")  yes  HERE\n'
        "- empty_bin\n"
        '  empty_bin  current_user.can("read")  yes  HERE\n'
        '  empty_bin  feature("bin")            no   HERE'
    )
    with pytest.raises(TypeError, match=r"write \{'ping'\}"):
        assert_tools(notes(), None, "ping")


@pytest.mark.parametrize(
    ("what", "told"),
    [
        ("find_note", "'notes' has no tool 'find_note'. Did you mean find_notes?"),
        ("find_note.word", "'notes' has no tool 'find_note'. Did you mean find_notes?"),
        ("find_notesword", "'notes' has no tool 'find_notesword'. Did you mean find_notes?"),
        ("find_notes.delete", "find_notes has no input or output 'delete', for anybody. Did you mean deleted?"),
        ("find_notes(author)", "find_notes has no input 'author', for anybody. There are: deleted, limit, word."),
        ("find_notes -> word", "find_notes has no output 'word', for anybody."),
        ("find_notes -> autor", "find_notes has no output 'autor', for anybody. Did you mean notes.author?"),
        ("ping.time", "ping has no input or output 'time', for anybody. Did you mean times?"),
        ("ping -> times", "ping has no output 'times', for anybody."),
        ("ping()", "'notes' has no tool 'ping'"),
        ("", "has no tool ''. There are: empty_bin, find_notes, ping."),
    ],
)
def test_a_name_that_nobody_has_is_an_error_and_never_a_pass(what: str, told: str) -> None:
    for check in assert_hidden, assert_visible:
        with pytest.raises(UnknownNameError) as unknown:
            check(notes(), "reader", what)
        assert told in str(unknown.value)
        assert not isinstance(unknown.value, AssertionError)


def test_a_tool_that_nobody_has_is_an_error_in_a_set_of_tools() -> None:
    with pytest.raises(UnknownNameError, match=r"'notes' has no tool 'pong'\. Did you mean ping\?"):
        assert_tools(notes(), "reader", {"ping", "find_notes", "pong"})


def test_somebody_whom_nobody_knows_is_an_error() -> None:
    checks: list[tuple[Any, Any]] = [(assert_hidden, "ping"), (assert_visible, "ping"), (assert_tools, {"ping"})]
    for check, what in checks:
        with pytest.raises(ConfigurationError, match="Did you mean reader"):
            check(notes(), "reeder", what)
        with pytest.raises(ConfigurationError, match="Did you mean feature"):
            check(notes(), FakeContext(featur=True), what)


class Silent:
    """Nobody's context: it answers nothing."""


@pytest.mark.parametrize(
    "who",
    [FakeContext, PERSONAS["admin"], partial(FakeContext, can=["read"]), FakeContext().requires],
)
def test_what_makes_a_context_is_none(who: Any) -> None:
    with pytest.raises(ConfigurationError, match="makes a context, and is none: call it"):
        assert_hidden(notes(), who, "empty_bin")
    with pytest.raises(ConfigurationError, match="call it"):
        assert_tools(notes(), who, {"ping"})


@pytest.mark.parametrize("who", [["admin"], {"can": ["read"]}, True, 3, Silent(), Request()])
def test_what_answers_no_question_is_no_context(who: Any) -> None:
    with pytest.raises(
        ConfigurationError, match=f"A {type(who).__name__} is no context of this server: it answers none"
    ):
        assert_hidden(notes(), who, "empty_bin")


class Failing:
    """A context that cannot even be looked at."""

    @property
    def requires(self) -> Any:
        raise KeyError("no")


def test_a_context_that_fails_is_one_and_says_no() -> None:
    assert_hidden(notes(), Failing(), "find_notes", "empty_bin")


def test_a_domain_that_no_tool_is_in_is_an_error() -> None:
    assert_visible(notes(), "admin", "empty_bin", domain="default")
    with pytest.raises(ConfigurationError, match=r"is in the domain 'defalt'\. Did you mean default\?"):
        assert_hidden(notes(), "admin", "empty_bin", domain="defalt")
    with pytest.raises(ConfigurationError, match="is in the domain 'defalt'"):
        assert_tools(notes(), "admin", {"ping"}, domain="defalt")


def test_of_a_name_on_both_sides_each_must_be_hidden_and_one_be_visible() -> None:
    server: FastMCP[Any] = FastMCP("x")
    authz = Authz(server, context=from_nowhere)

    @authz.tool
    def move(reason: str = "") -> dict[str, Any]:
        """
        @rbs type done = { ok: true }
        @rbs type told = { ok: true, reason: String, why: { reason: String } }
        @rbs type output = done | told @requires(:told)
        #: (?reason: String @requires(:give)) -> output
        """
        return {}

    assert_hidden(server, None, "move.reason", "move.told", "move.<told>.reason", "move.why.reason")
    for can, side in ("give", "move(reason)"), ("told", "move -> reason"):
        who = FakeContext(can=[can])
        assert_visible(server, who, "move.reason", side)
        message = failure(assert_hidden, server, who, "move.reason")
        assert f'requires("{can}")' in message
        assert message.count("requires") == 1
    assert_hidden(server, FakeContext(can=["give"]), "move -> reason", "move -> why.reason", "move.told")


def test_what_is_gone_for_another_reason_than_a_predicate_says_so() -> None:
    server: FastMCP[Any] = FastMCP("x")
    authz = Authz(server, context=from_nowhere)

    @authz.tool(domains=["ops"])
    def restart() -> dict[str, Any]:
        """@rbs type output = {}"""
        return {}

    @authz.tool
    def look() -> dict[str, Any]:
        """
        @rbs type a = { a: Integer }
        @rbs type output = a @requires(:a)
        """
        return {}

    @authz.tool
    def show() -> dict[str, Any]:
        """
        @rbs type part = "x" @requires(:x) | "y" @requires(:y)
        @rbs type output = { id: Integer, ?part: part }
        """
        return {}

    assert_hidden(server, None, "look", "show.part")
    assert "nothing is left of its output" in failure(assert_visible, server, None, "look")
    assert "nothing is left of its type" in failure(assert_visible, server, None, "show.part")
    assert_visible(server, None, "restart")
    assert_visible(server, None, "restart", domain="ops")
    assert_tools(server, None, {"show"}, domain="default")
    assert "is in another domain: ops" in failure(assert_visible, server, None, "restart", domain="default")

    @server.tool
    def plain() -> int:
        return 1

    server.disable(names={"plain", "restart"})
    assert_hidden(server, None, "plain", "restart")
    assert "plain  is disabled: nobody has it" in failure(assert_visible, server, None, "plain")


def test_an_undecorated_tool_is_everybodys_and_so_is_one_with_a_check_of_fastmcps_here() -> None:
    server = notes()

    @server.tool(auth=lambda _: False)
    def checked() -> int:
        return 1

    assert failure(assert_hidden, server, None, "ping.times", "ping") == (
        "ping.times should be hidden from nobody, and is visible:\n"
        "  ping  is no authorized_tool: everybody has all of it\n"
        "ping should be hidden from nobody, and is visible:\n"
        "  ping  is no authorized_tool: everybody has all of it"
    )
    assert "its auth= is FastMCP's" in failure(assert_hidden, server, None, "checked")


def test_a_decorated_tool_that_nobody_protects_is_hidden_from_all() -> None:
    server: FastMCP[Any] = FastMCP("x")

    @server.tool
    @authorized_tool
    def alone() -> dict[str, Any]:
        """@rbs type output = {}"""
        return {}

    assert_hidden(server, None, "alone")
    assert "no Authz protects it" in failure(assert_visible, server, None, "alone")


def test_any_context_will_do() -> None:
    class Own:
        def requires(self, flag: str) -> bool:
            return flag == "read"

    assert_visible(notes(), Own(), "find_notes")
    assert "hidden from a Own" in failure(assert_hidden, notes(), Own(), "find_notes")


def test_a_last_name_that_only_one_field_has_will_do() -> None:
    mcp: FastMCP[Any] = FastMCP("bills")
    authz = Authz(mcp, context=from_nowhere)

    @authz.tool
    def bill(net: int = 0) -> dict[str, Any]:
        """@rbs type error = { success: false, ?cause: String @requires(:admin) }
        @rbs type price = { eur: Float, ?nok: Float @requires(:admin) }
        @rbs type output = { success: true, price: price, cost: price, lines: Array[{ tax: { net: Float } }] } | error
        #: (?net: Integer) -> output
        """
        return {}

    for what in "bill.cause", "bill -> cause":
        assert_hidden(mcp, FakeContext(), what)
        assert_visible(mcp, FakeContext(can=["admin"]), what)
    assert_visible(mcp, FakeContext(), "bill.net", "bill -> net", "bill(net)")
    with pytest.raises(UnknownNameError, match=r"'bill\.nok': bill has several\. Write one of cost\.nok, price\.nok\."):
        assert_hidden(mcp, FakeContext(), "bill.nok")
    with pytest.raises(UnknownNameError, match="bill has no input 'cause'"):
        assert_hidden(mcp, FakeContext(), "bill(cause)")


def test_a_word_of_a_set_is_named_with_its_quotes() -> None:
    mcp: FastMCP[Any] = FastMCP("words")
    authz = Authz(mcp, context=from_nowhere)

    @authz.tool(authorization="read")
    def find(kind: str = "open") -> dict[str, Any]:
        """
        @rbs type output = { n: Integer }
        #: (?kind: "open" | ("secret" @requires(:admin))) -> output
        """
        return {}

    for written in 'find(kind<"secret">)', 'find.kind<"secret">', 'find."secret"':
        assert_hidden(mcp, FakeContext(can=["read"]), written)
        assert_visible(mcp, FakeContext(can=["read", "admin"]), written)
    for slip in "find.secret", 'find.kind<"secrt">', "find(kind.secret)":
        with pytest.raises(UnknownNameError, match='Did you mean kind<"secret">'):
            assert_hidden(mcp, FakeContext(can=["read"]), slip)


def test_a_persona_that_who_decides_for_the_tool_does_not_know_is_a_slip() -> None:
    parent: FastMCP[Any] = FastMCP("parent")
    Authz(parent, context=from_nowhere, personas={"amin": FakeContext, "reader": FakeContext})
    parent.mount(notes(), "known")
    parent.mount(notes(personas={}), "none")
    for check in assert_hidden, assert_visible:
        with pytest.raises(UnknownNameError, match=r"'known_empty_bin': .* no persona 'amin', .* Did you mean admin\?"):
            check(parent, "amin", "known_ping", "known_empty_bin")
        with pytest.raises(UnknownNameError, match=r"'none_find_notes': .* no personas at all. Ask with a context"):
            check(parent, "reader", "none_find_notes.word")
    assert_hidden(parent, "reader", "known_empty_bin")
    assert_hidden(parent, None, "none_empty_bin")
    assert_visible(parent, "amin", "none_ping")


def test_nothing_is_asserted_of_tools_that_nobody_knows_without_a_request(tmp_path: Path) -> None:
    class Catalog(Provider):
        async def _list_tools(self) -> Sequence[Tool]:
            raise LookupError("no request")

    server = notes()
    server.add_provider(Catalog())
    assert failure(assert_tools, server, "reader", {"find_notes", "ping"}) == (
        "It cannot be told which tools reader sees: Catalog raised LookupError. Ask a caller_of(...) for its tools."
    )
    with pytest.raises(UnknownNameError, match=r"no tool 'other'\. .* Not all tools are known: Catalog raised LookupE"):
        assert_hidden(server, "reader", "other")
    with pytest.raises(UnknownNameError, match="Not all tools are known: Catalog"):
        assert_tools(server, "reader", {"other"})
    assert "Catalog raised LookupError" in failure(assert_snapshot, server, tmp_path / "authz.snapshot")
    assert_hidden(server, "reader", "empty_bin")
