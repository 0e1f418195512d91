"""What `fastmcp-authz check` says nothing of: what looks like a fault, and is meant."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.commands.checking import OUTPUT, Checking, tool


@pytest.fixture
def checking(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Checking:
    return Checking(tmp_path, capsys)


GUARDED = "?plan: String @requires(:admin)"
QUIET = {
    "a Python default of None": tool(
        f"#: (?limit: Integer @default(20)) -> output\n{OUTPUT}", parameters="limit: Any = None"
    ),
    "a Python default without a JSON form": "import warnings\nwarnings.simplefilter('ignore')\n"
    + tool(f"#: (?limit: Integer @default(20)) -> output\n{OUTPUT}", parameters="limit: Any = object()"),
    "a default that is the same number": tool(
        f"#: (?limit: Float @default(20)) -> output\n{OUTPUT}", parameters="limit: float = 20.0"
    ),
    "a Field without a default": tool(
        f"#: (limit: Integer @default(20)) -> output\n{OUTPUT}", parameters="limit: int = Field(gt=0)"
    ),
    "a variant that shows more than another": tool(
        """
        @rbs type found = { ok: true, id: Integer }
        @rbs type more = { ok: true, id: Integer, plan: String }
        @rbs type output = found | more @requires(:admin)
        """
    ),
    "members that are the same once something is hidden": tool(
        """
        @rbs type found = { kind: "a" @requires(:admin), id: Integer }
        @rbs type more = { kind: "b" @requires(:admin), id: Integer }
        @rbs type output = found | more
        """
    ),
    "a known word beside any text": tool('@rbs type output = { state: "open" | String, ?n: Integer | Float | nil }'),
    "a member that is gated beside one gated alike": tool(
        """
        @rbs type found = { id: Integer } & { name: String }
        @rbs type output = found @requires(:admin) | { number: Integer }
        """
    ),
    "lists, tuples and hashes that differ": tool(
        """
        @rbs type a = { of: Array[Integer] | [String, Integer] | [String] }
        @rbs type b = { by: Hash[String, Integer], at: Array[String @min(1)] }
        @rbs type c = { by: Hash["x" | "y", String] }
        @rbs type output = a | b | c
        """
    ),
    "inputs by a type of their own": tool(
        f"""
        @rbs type name = String
        @rbs type input = {{ name: name }}
        {OUTPUT}
        """,
        parameters="name: str",
    ),
    "two unions in one tuple": tool(
        """
        @rbs type a = { kind: "a" @requires(:admin), id: Integer }
        @rbs type b = { kind: "b" @requires(:admin), number: Integer }
        @rbs type c = { id: Integer }
        @rbs type pair = c | { name: String }
        @rbs type output = { of: [a | { no: bool }, b | { no: bool }, c | { no: bool }, pair, pair] }
        """
    ),
    "a name that is seen elsewhere": tool(
        "The internal_score.\n\n"
        "@rbs type output = { internal_score: Integer, a: { x: bool, ?internal_score: Integer @requires(:admin) } }"
    ),
    "a name that stands in the tool's own": tool(
        "Of applicants.\n\n@rbs type output = { id: Integer, ?applicants: Integer @requires(:admin) }",
        name="list_applicants",
    ),
    "a short word, or part of a longer one": tool(
        "By name, pre-sales_price, sales_prices.\n\n"
        "@rbs type output = { id: Integer, ?name: String @requires(:admin), ?sales_price: Integer @requires(:admin) }"
    ),
    "what a guarded part says of itself": tool(
        "@rbs type output = { id: Integer, ?internal_score: Integer @requires(:admin) @desc(The internal_score) }"
    ),
    "what the whole tool is guarded by": tool(
        "The internal_score.\n\n@rbs type output = { id: Integer, ?internal_score: Integer @requires(:admin) }",
        options='(authorization="admin")',
    ),
    "a tool that its readers have": tool(f"What is in seen_rows.\n\n{OUTPUT}") + tool(OUTPUT, name="seen_rows"),
    "a tool that FastMCP guards": "def check(context: Any) -> bool:\n    return True\n"
    + tool(OUTPUT, options="(auth=check)")
    + "\n@mcp.tool(auth=check)\ndef ping() -> str:\n    return ''\n",
    "a shared type that somebody sees elsewhere": tool(
        "@rbs import row\n@rbs type output = { rows: Array[row] }", options='(gates=[("feature", "only_bob")])'
    )
    + tool("@rbs import row\n@rbs type output = { rows: Array[row] }", name="all_rows"),
}


@pytest.mark.parametrize("name", QUIET)
def test_nothing_is_said_of(name: str, checking: Checking) -> None:
    personas = 'PERSONAS["bob"] = lambda: Person("read", "only_bob")'
    checking.write(QUIET[name], before=personas, shared={"row.rbs": f"type row = {{ id: Integer, {GUARDED} }}\n"})
    assert checking.findings() == []


CONTEXTS = {
    "a context that decides all at once": "class Mute:\n"
    "    def decide(self, asked): return {p: 'admin' in p.text for p in asked}",
    "a context that makes methods up": "class Mute:\n"
    "    def __getattr__(self, name): return lambda value: value == 'admin'",
    "a context whose decide fails": "class Mute:\n    @property\n    def decide(self): raise ValueError",
    "a context whose user cannot be asked": "class Mute:\n    tier = staticmethod(lambda value: False)\n"
    "    @property\n    def current_user(self): raise ValueError",
    "a context without a user": "class Mute:\n    tier = staticmethod(lambda value: False)\n    current_user = None",
    "a context of a user": "class Mute:\n    tier = staticmethod(lambda value: False)\n"
    "    class current_user:\n        can = staticmethod(lambda flag: False)",
}


@pytest.mark.parametrize("name", CONTEXTS)
def test_everything_is_answered_by(name: str, checking: Checking) -> None:
    before = f"{CONTEXTS[name]}\nPERSONAS = {{'ann': Mute, 'nobody': lambda: None}}"
    docstring = "@rbs type output = { id: Integer, ?plan: String @tier(:gold), ?name: String @requires(:admin) }"
    checking.write(tool(docstring), before=before)
    assert checking.codes("--select", "AZ1") == []
    checking.write(tool(docstring.replace("@tier", "@tire")), before=before)
    assert checking.codes("--select", "AZ1") == ([] if "__getattr__" in before or "decide" in before else ["AZ101"])
