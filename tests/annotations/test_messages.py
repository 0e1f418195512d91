"""What the author of a wrong declaration reads, and where the mark stands."""

from __future__ import annotations

import pytest

from fastmcp_authz.annotations import Import, Library, read_annotation
from fastmcp_authz.errors import ContractError, Problem
from tests.annotations.trees import AT, messages

ALIAS = "An alias is `@rbs type name = Type`."
SIGNATURE = "A signature is `#: (name: Type, ?optional: Type) -> output`."
ANNOTATIONS = "Annotations are `@rbs type NAME = ...`, `@rbs import NAME` and `#: (name: Type, ...) -> output`."
AS_ITS_LINES = "begin this line with `#:`, as each of the signature's lines."
TABLE = "(A row of a table ends with `|`.)"
NEVER_CLOSED = "A blank line, or the next annotation, ends a block, complete or not."


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("#: (a: [b) -> o", "1:9+1 `)` cannot close the `[` that was opened on this line: write `]` first."),
        ("#: (\n#: a: {b: c) -> o", "2:11+1 `)` cannot close the `{` that was opened on this line: write `}` first."),
        ("@rbs type a = {\n b: c ]", "2:5+1 `]` cannot close the `{` that was opened on line 1: write `}` first."),
        ("@rbs type a = b }", "1:16+1 `}` closes nothing: no bracket is open here."),
        ("#: (a: b", f"1:3+1 `(` is opened here and never closed: write `)` where it ends. {NEVER_CLOSED}"),
        (
            "#: (a: b @t(never closed -> o",
            "1:9+3 the parenthesis of `@t(` is not closed where it should be: its value runs to the `)` that matches. "
            r"Write `\(` or `\)` for a single parenthesis in a text.",
        ),
        (
            "#: (\n#: a: b @t(c,\n#: d: e @u(1)\n#: ) -> o",
            "2:8+3 the parenthesis of `@t(` is not closed where it should be: its value runs to the `)` that matches. "
            r"Write `\(` or `\)` for a single parenthesis in a text.",
        ),
        (
            '@rbs type a = "b',
            '1:14+2 the text that this " opens is not closed on its line: write " behind it. Inside it, a quote is '
            "written with a backslash before it.",
        ),
        (r'@rbs type a = "\ud800"', r"1:14+8 an escape in this text names no character: `\u` takes a code point."),
        ("@rbs type a = b |\n\nc", None),
        (
            "@rbs type a = b &\n\nc",
            "1:16+1 after `&` a type is missing.",
        ),
        (
            "@rbs type a =",
            f"1:12+1 after `=` something is missing: a blank line, or the next annotation, ended the block. {ALIAS}",
        ),
        ("@rbs type", f"1:5+4 a name is missing. {ALIAS}"),
        ("@rbs type = b", f"1:5+8 a name is missing. {ALIAS}"),
        ("@rbs type 5a = b", f"1:10+2 `5a` is no name for a type. {ALIAS}"),
        ("@rbs type a b", f"1:12+1 after the name `a` comes `=`. {ALIAS}"),
        ("@rbs import", "1:5+6 a name is missing. An import is `@rbs import NAME`, one file to a line."),
        ("@rbs import a b", "1:14+1 one import names one file. An import is `@rbs import NAME`, one file to a line."),
        ("@rbs type a[T, T] = b", "1:15+1 the type parameter `T` is declared twice."),
        ("@rbs type a[T U] = b", "1:14+1 a comma is missing before `U`."),
        ("@rbs type a[T, out U V] = b", "1:21+1 a comma is missing before `V`."),
        ("@rbs type a[T < b] = b", "1:14+1 `<` is no name for a type parameter: write `[T]`."),
        ("@rbs type a[5] = b", "1:12+1 `5` is no name for a type parameter: write `[T]`."),
        (
            "@rbs type a = b\n@rbs type a = c",
            "2:10+1 the type `a` is declared twice, first on line 1: rename or remove one.",
        ),
        (
            "@rbs type a = b c",
            "1:16+1 nothing joins `b` and `c`: write `|` (either of them), `&` (a record that is both), or a comma if "
            "it is the next one in a list.",
        ),
        ("@rbs type a = b, c", f"1:17+1 `c` does not belong to the type before it. {ALIAS}"),
        ("@rbs type a = & b", "1:14+1 `&` joins two types: nothing is before it."),
        (
            "@rbs type a = b | & c",
            "1:18+1 two operators in a row, `|` and `&`: leave one out, or write a type between them.",
        ),
        ("@rbs type a = {\n b: c,\n b: d }", "3:0+1 `b` is declared twice, first on line 2: keep one of them."),
        ("@rbs type a = { b: c d: e }", "1:21+2 a comma is missing before `d:`."),
        (
            "@rbs type a = [b, , c]",
            "1:18+1 between `,` and `,` something is missing: leave out one of them, or write it.",
        ),
        ("@rbs type a = { , b: c }", "1:16+1 nothing stands before this comma: leave it out."),
        ("@rbs type a = { : b }", "1:16+1 a field needs a name before its `:`: write `name: Type`."),
        (
            "@rbs type a = { b }",
            "1:16+1 fields and parameters have a name: write `name: b`, or `b: Type` if this is the name.",
        ),
        ("@rbs type a = { b: }", "1:19+1 a type is missing before `}`."),
        ("@rbs type a = { b-c: d }", '1:16+1 a name that is no single word stands in quotes: `"b-c": Type`.'),
        (
            '@rbs type a = { "b" => c }',
            '1:16+3 `=>` is not read: a field is written `name: Type`, or `"any key": Type`.',
        ),
        (
            "@rbs type a = { b: c, ... }",
            "1:22+3 `...` is not read: every field has a name and a type. A value of any kind is `untyped`.",
        ),
        ("@rbs type a = b: c", "1:14+1 `b:` is a field, and fields stand in a record: `{ b: Type }`."),
        ("@rbs type a = B::C", "1:14+1 a type is named by one word, without `::`."),
        (
            "@rbs type a = ?b",
            "1:14+1 `?` goes before the name of a field that may be left out, or behind a type that may be nil.",
        ),
        (
            "@rbs type a = 1.5",
            "1:14+3 `1.5` is no constant: constants are whole numbers, texts, `true`, `false` and `nil`.",
        ),
        ("@rbs type a = " + "9" * 5000, "1:14+5000 this number has too many digits."),
        ("@rbs type a = ()", "1:15+1 `()` holds no type: write one between the brackets."),
        ("@rbs type a = Array[]", "1:14+7 write a type between the brackets of `Array[]`, or no brackets."),
        (
            "@rbs type a = (b) -> c",
            "1:18+2 a function is no type here: `->` stands once, behind the parameters of `#:`.",
        ),
        ("#: (?a?: b) -> o", "1:5+1 `a` is marked optional on both sides: write `?a:`, with one `?` in front."),
        ("#: (a: @t(1) b) -> o", "1:7+5 a tag comes after its type: write `b @t(1)`."),
        ("#: (a: @t(1) (b | c)) -> o", "1:7+5 a tag comes after its type: write `(b | c) @t(1)`."),
        (
            "#: (a: b @t(1) & (c | d)) -> o",
            "1:9+5 a tag goes behind the whole of `A & B`: write `... & (c | d) @t(1)`.",
        ),
        ("#: (a: @t(1)) -> o", "1:12+1 a type is missing before `)`."),
        ("#: (a: b @t) -> o", "1:9+2 a tag has parentheses: write `@t(...)`, or `@t()` for one without a value."),
        ("#: (a: b @t (c)) -> o", "1:9+6 the parenthesis of a tag touches its name: write `@t(c)`."),
        ("#: (a: b @) -> o", "1:9+1 a tag has a name: `@name(value)`."),
        ("#: (a: b @t(1) & c) -> o", "1:9+5 a tag goes behind the whole of `A & B`: write `... & c @t(1)`."),
        (
            '#: (a: str = "x") -> o',
            "1:11+1 a default is a tag behind the type, and its field is marked with `?`: `?name: Type @default(5)`.",
        ),
        ("#: (a: Optional[str]) -> o", "1:7+13 `Optional[str]` is Python's spelling: write `String?`."),
        ("#: (a: Union[str, int]) -> o", "1:7+15 `Union[str, int]` is Python's spelling: write `String | Integer`."),
        (
            "#: (a: Optional[dict[str, List[int]]]) -> o",
            "1:7+30 `Optional[dict[str, List[int]]]` is Python's spelling: write `Hash[String, Array[Integer]]?`.",
        ),
        (
            "#: (a: Union[tuple[str], b, None]) -> o",
            "1:7+26 `Union[tuple[str], b, None]` is Python's spelling: write `[String] | b | nil`.",
        ),
        ("#: (a: Optional[b, c]) -> o", None),
        ("#: (a: Literal['b', 1]) -> o", '1:7+15 `Literal["b", 1]` is Python\'s spelling: write `"b" | 1`.'),
        ("#: (a: b)", "1:8+1 after the parameters of a signature comes what it gives: `-> output`."),
        (
            "#: (a: b) => o",
            "1:10+2 behind the parameters of a signature comes an arrow, then what it gives: `-> output`.",
        ),
        (
            "#: (String) -> o",
            "1:4+6 fields and parameters have a name: write `name: String`, or `String: Type` if this is the name.",
        ),
        ("#: a: b -> o", f"1:3+1 a signature begins with `(`, on the line of its first `#:`. {SIGNATURE}"),
        ("#: [T] (a: T) -> o", f"1:3+1 a signature has no type parameters: begin it with `(`. {SIGNATURE}"),
        (
            "#: (a: b, **untyped) -> o",
            "1:10+1 a signature names each parameter. `(**untyped)` stands alone, beside `@rbs type input = { ... }`.",
        ),
        (
            "#: (\na: b\n#: ) -> o",
            "2:0+4 this line stands inside the signature above it: begin it with `#:`, as each of its lines.",
        ),
        ("@rbs", f"1:0+4 `@rbs` alone is no annotation. {ANNOTATIONS}"),
        ("@rbstype a = b", "1:0+14 `@rbstype` is no annotation: write `@rbs type`."),
        ("# @rbs:import a", "1:2+13 `@rbs:import` is no annotation: write `@rbs import`."),
        ("@rbs! a", f"1:0+7 `@rbs!` is no annotation. {ANNOTATIONS}"),
        ("@rbs typ a = b", f"1:0+14 `@rbs typ` is no annotation. {ANNOTATIONS}"),
        (
            "  @rbs a: b",
            f"1:0+9 `@rbs a:` is no annotation. {ANNOTATIONS} A parameter is declared in the signature, `#:`.",
        ),
        (
            "# @rbs return: b",
            f"1:2+14 `@rbs return:` is no annotation. {ANNOTATIONS} What a tool gives back is declared with "
            "`@rbs type output = ...`.",
        ),
        ("@rsb type a = { b: c }", "1:0+22 `@rsb type` is no annotation: write `@rbs type`."),
        ("# @rsb type a[T] = {\n#  b: c }", "1:2+18 `@rsb type` is no annotation: write `@rbs type`."),
        ("@ import errors", "1:0+15 `@ import` is no annotation: write `@rbs import`."),
        ("# : (a: b) -> o", "1:2+13 a signature begins with `#:`, without a blank in it."),
        ("@see type a, which is = to b; @import it", None),
        ("(a: b): (c)\n: (d)\n# note: (e)", None),
        (
            "#: (\n#: a: b, -- c\n#: ) -> o",
            "2:9+2 a comment begins with `#` and a blank; what the caller should read is a tag, `@desc(...)`.",
        ),
        (
            "@rbs type a = b\n\n  | c @t(1)",
            f"3:0+9 a blank line ended the type above, so this is no part of it: remove the blank line. {TABLE}",
        ),
        (
            "@rbs type a = b\n\n& c",
            "3:0+3 a blank line ended the type above, so this is no part of it: remove the blank line.",
        ),
        (
            "# @rbs type a = b\n#\n#  | c\n#  | d\n\nWords.",
            f"3:3+3 a bare `#` ended the type above, so this is no part of it: remove the bare `#`. {TABLE}",
        ),
        (
            "@rbs type a = b |\n\n{ c: d }",
            "3:0+8 a blank line ended the type above, so this is no part of it: remove the blank line.",
        ),
        (
            "@rbs type a = b |\n\nc @t(1)",
            "3:0+7 a blank line ended the type above, so this is no part of it: remove the blank line.",
        ),
        ("#: (a: b) -> c\n| d", f"2:0+3 this line is of the signature above: {AS_ITS_LINES}"),
        (
            "#: (a: b) -> c\n\n| d",
            f"3:0+3 a blank line ended the signature above: remove it, and {AS_ITS_LINES}",
        ),
        (
            "@rbs type a = b\n  @t(1)",
            "2:0+5 a tag stands behind its type: write it on the line on which the type ends.",
        ),
        (
            "#: (a: b) -> c\n\n@t(1)",
            "3:0+5 a tag stands behind its type: write it on the line on which the type ends.",
        ),
        ("@rbs type a = b\n\n| c | d |\n|---|---|\n| e | f |", None),
        ("@rbs type a = b\n\nWords.\n\n| c", None),
        ("#: (a: b) -> c\n\n@someone said so, @t.u(1)", None),
        ("@rbs import a\n\n| c", None),
        ("@rbs type a = b |\n\n- c", None),
        (
            "Words \b",
            "1:6+1 a control character, U+0008, stands here, most likely written as a backslash escape: begin the "
            'docstring with r""", so that backslashes stay as they are.',
        ),
        (
            "Words \ud800",
            "1:6+1 half of a character (a surrogate), U+D800, stands here, most likely written as a backslash escape: "
            'begin the docstring with r""", so that backslashes stay as they are.',
        ),
    ],
)
def test_message(written: str, message: str | None) -> None:
    assert messages(written) == ([message] if message else [])


@pytest.mark.parametrize(
    ("written", "message"),
    [
        (
            "type a = {\n\n  b: c\n\ntype d = e",
            "1:9+1 `{` is opened here and never closed: write `}` where it ends. The next `type`, or the end of the "
            "file, ends a declaration, complete or not.",
        ),
        (
            "type a =\n\ntype b = c",
            "1:7+1 after `=` something is missing: the declaration ends here. A type is declared with "
            "`type name = Type`.",
        ),
        ("type a b", "1:7+1 after the name `a` comes `=`. A type is declared with `type name = Type`."),
        (
            "type a = b\nclass A\n  type c = d\n",
            "2:0+7 nothing ends what is opened here, so all that follows is its own: write `end`.",
        ),
    ],
)
def test_message_in_a_file(written: str, message: str) -> None:
    _, problems = Library(texts={"x.rbs": written}).load(Import("x", at=AT))
    assert [f"{p.line}:{p.column}+{p.width} {p.message}" for p in problems] == [message]


def test_all_problems_of_a_docstring_are_found_in_the_order_of_the_text() -> None:
    found = messages("@rbs typ x\n#: (a: b @t, a: d e) -> o\n@rbs type f = {\n@rbs type g = h @i (1)")
    assert [message.split(" ")[0] for message in found] == ["1:0+10", "2:9+2", "2:13+1", "2:18+1", "3:14+1", "4:16+6"]


def test_the_mark_stands_below_the_text_at_fault() -> None:
    _, problems = read_annotation("Prose.\n\n    @rbs type a = { b: c d: e }", name="x")
    assert str(ContractError("x declares a contract with 1 problem.", problems)) == (
        "x declares a contract with 1 problem.\n"
        "\n"
        "   3 │ @rbs type a = { b: c d: e }\n"
        "     │                      ‾‾\n"
        "     a comma is missing before `d:`."
    )


def marked(line: str, at_fault: str) -> list[str]:
    """Show a line as a report does."""
    (problem,) = ContractError("x", [_problem(line, at_fault)]).problems
    return list(problem.shown())


def _problem(line: str, at_fault: str) -> Problem:
    return Problem("m", "x", 1, line.index(at_fault), len(at_fault), f"{line}\nmore")


def test_the_mark_stands_right_behind_wide_characters_and_accents() -> None:
    assert marked("名前: 文字 b", "文字") == ["名前: 文字 b", "      ‾‾‾‾"]
    assert marked("e\u0301: b", "b") == ["e\u0301: b", "   ‾"]


def test_what_would_move_the_cursor_or_turn_the_text_is_not_shown_as_it_is() -> None:
    line = "a\x1b[2J\tb\u202e\x9bc\ud800"
    assert marked(line, "c") == ["a\ufffd[2J b\ufffd\ufffdc\ufffd", "         ‾"]
    report = str(ContractError("x", [Problem("a \x1b[2J b\nc")]))
    assert report == "x\n\na \ufffd[2J b c"


@pytest.mark.parametrize("at", [0, 60, 149, 150, 151, 5_000, 9_949, 9_999])
def test_of_a_long_line_is_shown_what_is_around_the_fault(at: int) -> None:
    line = "a" * at + "X" + "b" * (9_999 - at)
    excerpt, bar = marked(line, "X")
    assert len(excerpt) <= 152
    assert excerpt.index("X") == bar.index("‾")
    assert excerpt.startswith("…") == (at > 50)
    assert excerpt.endswith("…") == (at < 9_900)


def test_a_report_tells_twenty_problems_and_how_many_more_there_are() -> None:
    error = ContractError("x", [Problem(f"p{i}.") for i in range(50)])
    assert len(error.problems) == 50
    assert str(error).endswith("p19.\n\n… and 30 more.")
    assert str(ContractError("x", [Problem("p.")] * 20)).endswith("p.")


@pytest.mark.parametrize(
    "hostile",
    [
        "@rbs type " + "a" * 100_000,
        "@rbs" + "a" * 100_000,
        "@rbs type a = " + "9." * 50_000,
        "@rbs type a = " + "{} " * 10_000,
        "@rbs type a[" + "a" * 100_000 + " b] = c",
        "@rbs type a = Optional[" + "b" * 100_000 + "]",
        "@rbs type a = b @" + "t" * 100_000,
        "@rbs type a = b @t (" + "t" * 100_000 + ")",
        "@rbs type a = { " + "b-" * 50_000 + ": c }",
        "@rbs type a = { " + "b" * 100_000 + "?: c, ?" + "b" * 100_000 + "?: d }",
        "#: (a: b) -> o\n" * 10_000,
        "@rbs a\n" * 20_000,
        "\n".join(f"@rbs import {'a' * 1000}/../{i}" for i in range(100)),
    ],
    ids=lambda text: text[:30],
)
@pytest.mark.filterwarnings("ignore:.*old spelling:DeprecationWarning")
def test_an_error_is_small_whatever_is_wrong(hostile: str) -> None:
    annotation, problems = read_annotation(hostile, name="x")
    found = [*problems, *(p for one in annotation.imports for p in Library().load(one)[1])]
    assert found
    assert len(str(ContractError("x", found))) < 20_000
    assert sum(len(problem.message) for problem in found) < 400 * len(found) + 500
