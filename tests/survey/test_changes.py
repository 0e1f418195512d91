"""What is told of two snapshots: whoever may see more than before is told with a warning."""

from __future__ import annotations

import itertools
import re
import time
from random import Random

import pytest

from fastmcp_authz import ContractError, ToolContract
from fastmcp_authz.contracts.outline import outline
from fastmcp_authz.survey.changes import Changes, compare
from fastmcp_authz.survey.declared import parts_of
from fastmcp_authz.survey.lines import Guards, Key, predicate
from fastmcp_authz.survey.snapshot import Snapshot, SnapshotError
from tests.soundness.drawing import GATES, draw_contract
from tests.soundness.world import decisions

GATE = re.compile(r" @(?:requires|feature|plan)\(:?\w+\)")


def snapshot(contract: ToolContract, *gates: str) -> Snapshot:
    lines: dict[Key, Guards] = {Key("t"): frozenset(gates)}
    lines |= {Key("t", "in", path): guards for path, guards in parts_of(outline(contract.input))}
    lines |= {Key("t", "out", path): guards for path, guards in parts_of(outline(contract.output))}
    return Snapshot(lines)


def output(text: str, *gates: str) -> Snapshot:
    return snapshot(ToolContract.parse(f"#: () -> output\n@rbs type output = {text}"), *gates)


def told(changes: Changes) -> list[str]:
    return [f"{'⚠ ' if each.warning else ''}{each.kind} {each.key.path or each.key}" for each in changes.told]


def seen(contract: ToolContract, answers: frozenset[tuple[str, str]]) -> set[tuple[str, ...]]:
    """The fields and constants that are shown, by the names that lead to them."""
    return {
        (side, *(str(step) for step in part.steps[:-1] if step.kind == "field"), part.name)
        for side, tree in (("in", contract.input), ("out", contract.output))
        for part in outline(tree).shown(decisions(answers))
    }


@pytest.mark.parametrize("number", range(16))
def test_where_somebody_sees_more_for_a_guard_that_is_gone_there_is_a_warning(number: int) -> None:
    random = Random(f"opened/{number}")
    docstring, old = draw_contract(random, 2 + number % 3)
    gates = list(GATE.finditer(docstring))
    for gate in random.sample(gates, min(len(gates), 3)):
        try:
            new = ToolContract.parse(docstring[: gate.start()] + docstring[gate.end() :])
        except ContractError:
            continue
        changes = compare(snapshot(old), snapshot(new))
        everybody = (frozenset(each) for n in range(len(GATES) + 1) for each in itertools.combinations(GATES, n))
        if any(seen(new, answers) - seen(old, answers) for answers in everybody):
            assert changes.warnings, docstring
        back = compare(snapshot(new), snapshot(old))
        assert not back.warnings, docstring


@pytest.mark.parametrize("number", range(16))
def test_what_is_written_is_read_again(number: int) -> None:
    _, contract = draw_contract(Random(f"written/{number}"), 2 + number % 3)
    written = snapshot(contract)
    again = Snapshot.read(written.text())
    assert again.lines == written.lines
    assert again.text() == written.text()
    assert compare(written, again).all == ()


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        # A union that is none any more may be what was guarded.
        ("{ x: (String @requires(:a)) | nil }", "{ x: String? }", ["⚠ opened x<string>"]),
        ("{ x: (String @requires(:a)) | nil }", "{ x: String }", ["⚠ opened x<string>"]),
        (
            "{ x: Array[(String @requires(:a)) | Integer] }",
            "{ x: Array[String] }",
            ["gone x[]<integer>", "⚠ opened x[]<string>"],
        ),
        ("{ x: (String @requires(:a)) | Integer }", "{ y: String }", ["gone x", "⚠ new y"]),
        ("{ x: Array[(String @requires(:a))] }", "{ x: Array[String] }", ["⚠ opened x[]<string>"]),
        ("{ x: Array[String] }", "{ x: Array[(String @requires(:a))] }", ["narrowed x[]<string>"]),
        ("{ x: { a: String } | { b: String @requires(:a) } }", "{ x: { a: String } }", ["gone x<{a}>", "gone x<{b}>"]),
        # Fields are followed into and out of members, lists and hashes.
        ("{ x: { a: String @requires(:a) } }", "{ x: Array[{ a: String }] }", ["⚠ opened x[].a"]),
        ("{ x: { a: String @requires(:a) } }", "{ x: Array[{ a: String @requires(:a) }] }", []),
        ("{ x: { a: String } }", "{ x: Array[{ a: String @requires(:a) }] }", ["narrowed x[].a"]),
        (
            "{ a: String @requires(:a) } | { b: String }",
            "{ a: String, b: String }",
            ["gone <{a}>", "gone <{b}>", "⚠ opened a"],
        ),
        # What takes anything takes what was guarded.
        ("{ x: { a: String @requires(:a), b: String } }", "{ x: untyped }", ["⚠ new x.*", "⚠ opened x.a"]),
        ("{ x: { a: String @requires(:a), b: String } }", "{ x: Hash[String, String] }", ["⚠ opened x.a", "⚠ new x{}"]),
        ("{ x: { a: { b: String @requires(:a) } } }", "{ x: Hash[String, String] }", ["⚠ new x{}", "gone x.a.b"]),
        ("{ x: untyped }", "{ x: { a: String @requires(:a), b: String } }", ["gone x.*", "narrowed x.a"]),
        ("Hash[String, untyped]", "{ a: String @requires(:a) }", ["narrowed a", "gone {}"]),
        # A new part is as open as what it is in.
        (
            "{ a: String }",
            "{ a: String, ?x: { b: String, c: String @requires(:b) } @requires(:a) }",
            ["new x", "new x.c"],
        ),
        ("{ a: String }", "{ a: String, x: { b: String } }", ["⚠ new x"]),
        ("{ ?x: { b: String } @requires(:a) }", "{ ?x: { b: String, c: String } @requires(:a) }", ["⚠ new x.c"]),
        ("{ a: String, x: { b: String } }", "{ a: String }", ["gone x"]),
        # Guards that move, and others.
        ("{ ?x: { b: String @requires(:a) } }", "{ ?x: { b: String } @requires(:a) }", ["narrowed x"]),
        ("{ ?x: { b: String } @requires(:a) }", "{ ?x: { b: String @requires(:a) } }", ["⚠ opened x"]),
        ("{ ?x: { b: String } @requires(:a) }", "{ ?x: { b: String } @requires(:b) }", ["⚠ changed x"]),
        ("{ ?x: Integer @plan(1) }", "{ ?x: Integer @plan(1.0) }", ["⚠ changed x"]),
        (
            '{ x: Hash["a" | ("b" @requires(:a)), Integer] }',
            '{ x: Hash["a" | "b", Integer] }',
            ['⚠ opened x{key}<"b">'],
        ),
    ],
)
def test_changes_of_an_output(old: str, new: str, expected: list[str]) -> None:
    assert sorted(told(compare(output(old), output(new)))) == sorted(expected)


def test_what_follows_from_a_gate_of_the_tool_is_counted_with_it() -> None:
    text = "{ ?x: { b: String } @requires(:a), y: String }"
    changes = compare(output(text, 'requires("a")'), output(text))
    assert told(changes) == ["⚠ opened t"]
    assert [change.key.path for change in changes.all if change.follows] == ["y"]
    assert changes.following(changes.told[0]) == 1


def test_of_a_snapshot_only_what_a_declaration_can_ask_is_asked() -> None:
    asked = predicate('feature("sms")'), predicate('current_user.can("x")'), predicate("plan(1.0)")
    assert [str(each) for each in asked] == ['feature("sms")', 'current_user.can("x")', "plan(1.0)"]
    for guard in ("nobody", '__init__("x")', 'default_for("x")', 'current_user.delete("x")', "plan(x)"):
        assert predicate(guard) is None


@pytest.mark.parametrize(
    "line",
    [
        "tool in " + "a" * 5000 + "!",
        "tool in " + ".a" * 5000 + "!",
        "tool in <" + '""' * 5000,
        'tool: feature("' + '\\"' * 5000,
        "tool domains: " + "a, " * 5000,
        '"\\x": open',
        '"\\x" domains: a',
        'tool domains: a, "\\x"',
        "Authz missing_predicate: sometimes",
        'Authz of "\\x" missing_predicate: deny',
    ],
)
def test_a_line_that_is_none_is_refused_at_once(line: str) -> None:
    began = time.process_time()
    with pytest.raises(SnapshotError, match="is no line of a snapshot"):
        Snapshot.read(f"# fastmcp-authz snapshot, format 1\ntool: open\n{line}\n")
    assert time.process_time() - began < 5
