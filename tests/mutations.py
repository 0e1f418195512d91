"""Deliberate faults in the library, and which soundness property each is caught by: `python tests/mutations.py [WORD]`.

The repository is copied, one text is replaced at a time, and the properties run on the copy, with the
conformance cases that came of them. A property that no fault
makes fail would be no property; a fault that no property finds shows where they are blind. Exit status 0 only if
neither is the case.
"""

from __future__ import annotations

import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

_MOST_MEMORY = 4 << 30
_MOST_SECONDS = 600
"""Of processor time: a fault may read an endless generator to its end, and a property that hangs has failed."""
EXAMPLES = os.environ.get("SOUNDNESS_EXAMPLES", "100")
ROOT = Path(__file__).resolve().parent.parent

MUTATIONS: list[tuple[str, str, str, str]] = [
    (
        "a guard that fails hides nothing on records",
        "reveal.py",
        "if each.guards and not self.holds(each.guards):",
        "if False:",
    ),
    ("any one guard is enough", "reveal.py", "return all(guard in", "return not guards or any(guard in"),
    (
        "guards read the wrong way round",
        "reveal.py",
        "all(guard in self._decisions",
        "all(guard not in self._decisions",
    ),
    (
        "a gated member stays",
        "reveal.py",
        "return self.keeps_null(member.shape, union) and self.holds(member.guards)",
        "return self.keeps_null(member.shape, union)",
    ),
    (
        "null is left where it was not asked for",
        "reveal.py",
        "return self.keeps_null(member.shape, union) and self.holds(member.guards)",
        "return self.holds(member.guards)",
    ),
    (
        "undeclared keys are sent",
        "projection.py",
        "            return kept\n\n        return prune_record",
        "            return {**found, **kept}\n\n        return prune_record",
    ),
    (
        "a container for a scalar is sent on",
        "projection.py",
        "return value if container is None else container()",
        "return value",
    ),
    (
        "an own default is taken unjudged",
        "view.py",
        "if key in answers and fits(answers[key])}",
        "if key in answers}",
    ),
    ("the first member that fits is taken", "projection.py", "if best is None or rank < best:", "if best is None:"),
    ("the member that keeps least is taken", "projection.py", "rank = (-leaves(kept)", "rank = (leaves(kept)"),
    (
        "members of arguments are judged by what is left",
        "compile.py",
        "prune=pruner(tree, judge_whole=True)",
        "prune=pruner(tree)",
    ),
    ("members are taken unjudged", "projection.py", "if not whole and not fits(kept):", "if False:"),
    (
        "results are converted whole before they are cut",
        "view.py",
        "written(check.prune(value, opening)",
        "written(check.prune(__import__('json').loads(to_json(value)), opening)",
    ),
    ("results are not checked", "view.py", "if check.validator.is_valid(sent.data):", "if True:"),
    ("unions are all oneOf", "schema.py", 'keyword = "anyOf" if overlapping else "oneOf"', 'keyword = "oneOf"'),
    ("required fields are not advertised", "schema.py", "if required:", "if False:"),
    (
        "strict records forget a field",
        "dialects.py",
        "fields=tuple(map(_strict_field, fields))",
        "fields=tuple(map(_strict_field, fields[:1]))",
    ),
    ("closed is forgotten", "schema.py", "if shape.closed or self._close_all:", "if self._close_all:"),
    (
        "nested_unknown_keys is forgotten",
        "compile.py",
        'close_all=settings.nested_unknown_keys == "reject"',
        "close_all=False",
    ),
    (
        "a default that does not fit is shown",
        "compile.py",
        "settled(tree) if of.contract.guarded_values or opt_in else tree",
        "tree",
    ),
    (
        "lenient reading takes strings for numbers anywhere",
        "lenient.py",
        'if not isinstance(value, str) or name == "string":',
        "if not isinstance(value, str):",
    ),
    (
        "lenient reading depends on the order of members",
        "lenient.py",
        "return min(readings, key=canonical, default=value)",
        "return next(iter(readings), value)",
    ),
    (
        "lenient reading is not checked again",
        "view.py",
        "if lenient and to_json(read) and check.validator.is_valid(read):",
        "if lenient:",
    ),
    (
        "cutting changes the value that was returned",
        "projection.py",
        "            return kept\n\n        return prune_record",
        "            found.clear()\n            return kept\n\n        return prune_record",
    ),
    (
        "results are wrapped at each sending",
        "view.py",
        "is_valid(sent.data):\n                return sent,",
        "is_valid(sent.data):\n                return Written({k: v for k, v in sent.data.items() if v != {}}, b''),",
    ),
    (
        "what some callers see another way is taken for the same",
        "still.py",
        "all(part_is_still and not guards for",
        "all(part_is_still for",
    ),
    (
        "sides are shared whatever their callers answered",
        "compile.py",
        "key = (make, decisions & asked, settings)",
        "key = (make, settings)",
    ),
    (
        "the description tells how much is hidden",
        "schema.py",
        '            "type": "object",\n            "properties"',
        '            "type": "object",\n            "title": str(shape.narrowed),\n            "properties"',
    ),
]
"""What is wrong then, the file in `contracts/`, the text, and what is put in its place."""


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        for name in ("fastmcp_authz", "tests", "pyproject.toml"):
            source = ROOT / name
            shutil.copytree(source, copy / name) if source.is_dir() else shutil.copy(source, copy / name)
        every, failed = _failing(copy)
        if failed:
            print("fails without a mutation:", ", ".join(sorted(failed)))
            return 1
        killed: dict[str, list[str]] = {name: [] for name in every}
        survived: list[str] = []
        for what, file, text, other in MUTATIONS:
            if not all(word in what for word in sys.argv[1:]):
                continue
            path = copy / "fastmcp_authz/contracts" / file
            whole = path.read_text()
            if text not in whole:
                print(f"STALE: {what}: the text is no longer in {file}")
                survived.append(what)
                continue
            path.write_text(whole.replace(text, other))
            _, failed = _failing(copy)
            path.write_text(whole)
            print(f"{what:60} {len(failed):2} fail", flush=True)
            survived += [] if failed else [what]
            for name in failed:
                killed.setdefault(name, []).append(what)
    print("\nproperty -> mutations under which it fails")
    for name, by in sorted(killed.items()):
        print(f"{name:82} {len(by):2}  {by[0] if by else 'NONE'}")
    print(f"\nsurvived: {', '.join(survived) or 'none'}")
    return 1 if survived or not all(killed.values()) else 0


def _within_bounds() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (_MOST_MEMORY, _MOST_MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (_MOST_SECONDS, _MOST_SECONDS))


def _failing(copy: Path) -> tuple[set[str], set[str]]:
    """All properties by name, and those that fail on a copy as it stands."""
    files = ["test_agreement.py", "test_shown_is_checked.py", "test_secrecy.py", "test_use.py"]
    command = [sys.executable, "-m", "pytest", "-q", "-rA", "-p", "no:cacheprovider", "--tb=no"]
    run = subprocess.run(
        [
            *command,
            *(f"tests/soundness/{file}" for file in files),
            "tests/conformance",
            "-k",
            "soundness and not canonical_text",
        ],
        cwd=copy,
        env={"PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1", "SOUNDNESS_EXAMPLES": EXAMPLES},
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=_within_bounds,
    )
    found = re.findall(r"^(PASSED|FAILED|ERROR) \S+?::(\w+)", run.stdout, re.MULTILINE)
    if not found:  # killed at a bound
        return set(), {"(stopped at a bound)"}
    return {name for _, name in found}, {name for outcome, name in found if outcome != "PASSED"}


if __name__ == "__main__":
    raise SystemExit(main())
