"""Contracts drawn at random over the whole language, gates at every depth; one that the library refuses is drawn anew.

A contract is made as text, so that parser, builder and model all start from what an author writes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

from fastmcp_authz import ContractError, ToolContract

LONGEST = 6_000
"""Characters of a contract: a few in a thousand would be ever so much longer, and slow, without being any different."""
GATES = [("requires", "a"), ("requires", "b"), ("feature", "x"), ("plan", "gold")]
NAMES = ("a", "b", "c", "d", "kind", "next")
STRINGS = (
    "String",
    "String @min(2)",
    "String @max(3)",
    "String @pattern(^[a-m]+$)",
    "Symbol",
    "Date",
    "String @format(uuid)",
    "String @format(ipv4) @max(9)",
)
NUMBERS = (
    "Integer",
    "Float",
    "Integer @min(2)",
    "Integer @max(3)",
    "Numeric @exclusive_min(1) @exclusive_max(4)",
    "Integer @multiple_of(2)",
    "Float @multiple_of(0.5)",
)
CONSTANTS = ('"a"', '"b"', '"abc"', ":ab", "1", "2", "true", "false")
UNIONS_OF_CONSTANTS = ('"a" | "b"', '"a" | "b" @GATE', "1 | 2 @GATE", '"a" | 1 | true', "true | false @GATE")
KEYS = ("String", "Symbol", "Integer", '"a" | "b"', '"a" | "b" @GATE', "String @min(2)", "String @pattern(^[a-c])")
PAGE = "page[T] = { items: Array[T], ?next: page[T], ?total: Integer @requires(:a) }"
DEFAULTS = (
    ("Integer", "1"),
    ("String", "12"),
    ('"a" | "b" @GATE', "b"),
    ('"a" | 1 @GATE', "1"),
    ("Array[Integer]", "[1, 2]"),
    ("{ a: Integer, ?b: String @GATE }", '{"a": 1, "b": "x"}'),
    ("{ a: Integer } | { a: Integer, b: String @GATE } @GATE", '{"a": 1, "b": "x"}'),
    ("String?", "nil"),
    ("Hash[String, Integer]", '{"k": 1}'),
)

OWN = (":one", "two")
"""What `@default_for` asks for."""


@dataclass
class Drawn:
    """A contract in the making: names may be used before they are written out."""

    random: Random
    aliases: dict[str, str] = field(default_factory=dict)
    open: list[str] = field(default_factory=list)

    def gate(self, often: float = 0.25) -> str:
        if self.random.random() > often:
            return ""
        gates = self.random.sample(GATES, self.random.choice((1, 1, 1, 2)))
        return "".join(f" @{name}({self.random.choice((':', ''))}{value})" for name, value in gates)

    def gated(self, text: str) -> str:
        name, value = self.random.choice(GATES)
        return text.replace("@GATE", f"@{name}(:{value})")

    def scalar(self) -> str:
        pool = self.random.choice((STRINGS, NUMBERS, CONSTANTS, UNIONS_OF_CONSTANTS, ("bool", "nil", "String")))
        text = self.gated(self.random.choice(pool))
        return f"({text})" if " " in text else text

    def record(self, depth: int, *, pinned: str | None = None) -> str:
        names = self.random.sample(NAMES, self.random.randint(0 if depth < 3 else 1, 4))
        fields = [f"kind: {pinned}"] if pinned else []
        fields += [self.field(name, depth, names) for name in names if not (pinned and name == "kind")]
        return f"{{ {', '.join(fields)} }}" if fields else "{}"

    def both(self, depth: int) -> str:
        """Two records that share at most one field, of one type."""
        names = self.random.sample(NAMES, 4)
        common = f"both: String{self.gate()}"
        sides = [[self.field(name, depth, half) for name in half] for half in (names[:2], names[2:])]
        for side in sides:
            if self.random.random() < 0.5:
                side.append(common)
        return " & ".join(f"{{ {', '.join(side)} }}" for side in sides)

    def field(self, name: str, depth: int, names: list[str], *, default: bool = False) -> str:
        written = self.type(depth - 1)
        tags = self.gate()
        others = [each for each in names if each != name]
        if others and self.random.random() < 0.1:
            tags += f" @depends_on(:{self.random.choice(others)})"
        optional = "?" if self.random.random() < 0.5 or (default and tags) else ""
        if default and optional and self.random.random() < 0.4:
            written, value = self.random.choice(DEFAULTS)
            written, tags = self.gated(written), f"{tags} @default({value})"
        if default and optional and self.random.random() < 0.3:
            tags += f" @default_for({self.random.choice(OWN)})"
        if written.endswith("?") and self.random.random() < 0.3:
            tags += " @nullable()"
        if self.random.random() < 0.1:
            tags += f" @desc(What {name} says)"
        return f"{optional}{name}: ({written}){tags}"

    def name(self, depth: int) -> str:
        """The use of an alias, new or under way: so they come to be used twice, within themselves and each other."""
        if self.random.random() < 0.15:
            self.aliases.setdefault("page", PAGE)
            return f"page[{self.type(min(depth, 1))}]"
        known = [n for n in self.aliases if n != "page"]
        if known and self.random.random() < 0.6:
            return self.random.choice(known)
        if len(known) > 3:
            return self.random.choice(known)
        name = f"t{len(known)}"
        self.aliases[name] = ""
        kind = self.random.random()
        if kind < 0.5:
            body = self.record(depth)
        elif kind < 0.8:
            body = self.union(depth, top=True)
        else:
            body = self.random.choice((*STRINGS, *NUMBERS, "Array[String] @min(1)", "bool"))
        self.aliases[name] = f"{name} = {body}"
        return name

    def union(self, depth: int, *, top: bool = False, objects: bool = False) -> str:
        """Members that exclude each other, that overlap, that are pinned apart; gates on some of them."""
        way = self.random.random()
        count = self.random.randint(2, 3)
        if way < 0.3:
            members = [self.record(depth - 1, pinned=p) for p in self.random.sample(['"a"', '"b"', "1", "true"], count)]
        elif way < 0.8 or objects:
            members = [self.record(depth - 1) for _ in range(count)]
        else:
            members = [self.type(depth - 1) for _ in range(count)]
        members = [m if m.isidentifier() or m[0] == "{" else f"({m})" for m in members]
        members = [f"({m} @closed())" if m[0] == "{" and self.random.random() < 0.3 else m for m in members]
        return " | ".join(m + self.gate(0.3) for m in members)

    def type(self, depth: int) -> str:
        way = self.random.random()
        if depth <= 0 or way < 0.2:
            return self.scalar()
        if way < 0.42:
            text = self.record(depth) + self.random.choice(("", "", "", " @closed()"))
        elif way < 0.55:
            text = self.union(depth)
        elif way < 0.68:
            inner = self.type(depth - 1)
            tags = self.random.choice(("", "", " @min(1)", " @max(2)", " @unique()"))
            text = f"{self.random.choice(('Array', 'Array', 'Set'))}[({inner}){self.gate(0.1)}]{tags}"
        elif way < 0.74:
            keys = self.gated(self.random.choice(KEYS))
            text = f"Hash[{keys}, {self.type(depth - 1)}]" + self.random.choice(("", "", " @max(2)", " @min(1)"))
        elif way < 0.8:
            text = f"[{', '.join(self.type(depth - 1) for _ in range(self.random.randint(1, 2)))}]"
        elif way < 0.84:
            text = self.random.choice(("untyped", "Hash", "Array", "top"))
        elif way < 0.88:
            text = f"({self.both(depth)})"
        else:
            text = self.name(depth - 1)
        return f"({text})?" if self.random.random() < 0.12 else text

    def docstring(self, depth: int) -> str:
        names = self.random.sample(NAMES, self.random.randint(1, 4))
        fields = ", ".join(self.field(name, depth, names, default=True) for name in names)
        output = self.record(depth) if self.random.random() < 0.5 else self.union(depth, objects=True)
        written = [f"@rbs type {text}" for text in self.aliases.values()]
        if self.random.random() < 0.3:
            signature = [f"@rbs type input = {{ {fields} }}"]
        else:
            signature = [f"#: ({fields}) -> output"]
        lines = [*signature, *written, f"@rbs type output = {output}"]
        return "\n\n".join(self.random.sample(lines, len(lines)))


def draw_contract(random: Random, depth: int) -> tuple[str, ToolContract]:
    """A docstring that the library takes; of what it refuses, a gate that cannot hold is the most frequent reason."""
    while True:
        docstring = Drawn(random).docstring(depth)
        if len(docstring) > LONGEST:
            continue
        try:
            return docstring, ToolContract.parse(docstring)
        except ContractError:
            continue


def draw_answers(random: Random) -> frozenset[tuple[str, str]]:
    """The gates that are open to one caller."""
    return frozenset(gate for gate in GATES if random.random() < 0.5)
