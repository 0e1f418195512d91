"""The README does what it says: its quick start is run as a reader would run it, its output compared to the letter."""

from __future__ import annotations

import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fastmcp_authz import ToolContract

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")


def block(name: str) -> str:
    """The fenced block that is marked `<!-- name -->`."""
    [text] = re.findall(rf"<!-- {re.escape(name)} -->\n```\w+\n(.*?)```", README, re.DOTALL)
    return str(text)


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@contextmanager
def running(script: Path, port: int) -> Iterator[None]:
    command = [sys.executable, "-m", "fastmcp.cli", "run", str(script), "--transport", "http", "--port", str(port)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as server:
        try:
            while server.poll() is None:
                try:
                    socket.create_connection(("127.0.0.1", port), timeout=1).close()
                except OSError:
                    time.sleep(0.05)
                else:
                    break
            assert server.returncode is None, "the server ended before it listened"
            yield
        finally:
            server.terminate()


def test_the_quick_start_shows_two_callers_two_worlds(tmp_path: Path) -> None:
    port = free_port()
    server, client = tmp_path / "server.py", tmp_path / "client.py"
    server.write_text(block("server.py"), encoding="utf-8")
    client.write_text(block("client.py").replace(":8000/", f":{port}/"), encoding="utf-8")

    with running(server, port):
        ran = subprocess.run([sys.executable, client], capture_output=True, text=True, check=False)

    assert ran.returncode == 0, ran.stderr
    assert ran.stdout == block("output")
    assert "carol" not in "".join(line for line in ran.stdout.splitlines() if line.startswith("bob"))


def test_the_quick_start_is_short() -> None:
    assert "`fastmcp run server.py --transport http`" in README
    assert len([line for line in (block("server.py") + block("client.py")).splitlines() if line.strip()]) <= 40


def test_every_block_of_code_is_run_by_something() -> None:
    marked = re.findall(r"<!-- ([\w.-]+) -->\n```", README)
    assert marked == ["set-up", "server.py", "client.py", "output"]
    assert README.count("```") == 2 * len(marked)


def test_the_set_up_commands_are_two_single_lines() -> None:
    commands = block("set-up").splitlines()
    assert len(commands) == 2
    assert commands[0].endswith("examples/recruiting/demo.py")
    assert "pytest" in commands[1]


def test_every_type_tag_and_file_that_it_names_is_there() -> None:
    """What "In an annotation" says, as one contract."""
    section = README.split("## In an annotation")[1].split("## ")[0]
    types = re.findall(r"\*\*Types\*\*: `([^`]+)`", section)[0].split()
    tags = re.findall(r"\*\*Tags\*\* stand behind a type: `([^`]+)`", section)[0]
    tagged = re.findall(r"@\w+\(.*?\)(?= |$)", tags)
    fields = [f"?t{i}: {name}" for i, name in enumerate(types)]
    fields += [f"?g{i}: {'Integer' if '@default(' in tag else 'String'} {tag}" for i, tag in enumerate(tagged)]
    view = ToolContract.parse(
        f"@rbs import order\n#: ({', '.join(fields)}, ?o: order) -> output\n@rbs type output = {{ a: Array[order] }}",
        shared_types={"order.rbs": "type order = { id: Integer, ?next: String? }"},
    ).view(None)
    assert len(view.input_schema["properties"]) == len(types) + len(tagged) + 1 == 8 + 7 + 1
    for path in re.findall(r"\]\(([^)]+)\)", README):
        assert path.startswith("https://") or (Path(__file__).parents[1] / path).exists(), path
