"""Does a wheel and an sdist give a newcomer what the README promises? Outside the checkout, in a fresh environment.

Run as `python .ci/distributions.py FOLDER`, from the root of the project; FOLDER holds one of each.
"""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import tarfile
import time
import venv
from pathlib import Path
from tempfile import TemporaryDirectory

README = Path("README.md").read_text(encoding="utf-8")
VERSION = re.search(r'__version__ = "(.+)"', Path("fastmcp_authz/__init__.py").read_text(encoding="utf-8"))
IN_SDIST = [
    "README.md",
    "CHANGELOG.md",
    "LICENSE",
    "pyproject.toml",
    ".ci/run",
    "tests/conftest.py",
    "docs/security.md",
]
IN_SDIST += ["benchmarks/__main__.py", "examples/recruiting/sig/shared/error.rbs"]
IN_SDIST += ["mkdocs.yml"] if Path("mkdocs.yml").exists() else []
CONSUMER = """from fastmcp_authz import ToolContract
contract: ToolContract = ToolContract.parse("#: () -> output")
contract.name = 1
"""
# What the package itself needs is not looked at: that takes long, and is its own business.
QUICK = """[mypy]
follow_imports = skip
[mypy-fastmcp_authz.*]
follow_imports = silent
"""


def main(folder: Path) -> None:
    (wheel,) = folder.glob("*.whl")
    (sdist,) = folder.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        held = {name.partition("/")[2] for name in archive.getnames()}
    assert not (lacking := [name for name in IN_SDIST if name not in held]), f"{sdist.name} lacks {lacking}"

    with TemporaryDirectory() as made:
        home = Path(made).resolve()
        bin = fresh(home / "venv")
        for name in "server.py", "client.py":
            (home / name).write_text(block(name), encoding="utf-8")
        (home / "consumer.py").write_text(CONSUMER, encoding="utf-8")

        install(bin, wheel)
        at = run(bin / "python", "-c", "import fastmcp_authz.testing; print(fastmcp_authz.__file__)", cwd=home)
        assert Path(at.strip()).is_relative_to(home / "venv"), at
        assert VERSION is not None
        assert run(bin / "fastmcp-authz", "--version", cwd=home).strip() == VERSION[1]
        quick_start(bin, home)
        run(bin / "fastmcp-authz", "page", "server.py", "--output", "page.html", cwd=home)
        typed(bin, home)

        # Only the package itself is exchanged: what it needs is there.
        install(bin, "--force-reinstall", "--no-deps", sdist)
        quick_start(bin, home)
    print(f"{wheel.name} and {sdist.name} give what the README promises.")


def quick_start(bin: Path, home: Path) -> None:
    """The README's server and client, as a reader runs them, but on a port of their own."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command: list[str | Path] = [bin / "fastmcp", "run", "server.py", "--transport", "http", "--port", str(port)]
    with (
        (home / "log").open("w+") as log,
        subprocess.Popen(command, cwd=home, env=CLEAN, stdout=log, stderr=log) as server,
    ):
        try:
            while server.poll() is None and socket.socket().connect_ex(("127.0.0.1", port)):
                time.sleep(0.1)
            (home / "here.py").write_text((home / "client.py").read_text().replace(":8000/", f":{port}/"))
            said = run(bin / "python", "here.py", cwd=home) if server.poll() is None else ""
        finally:
            server.terminate()
        log.seek(0)
        assert said == block("output"), f"The quick start printed\n{said}\n{log.read()}"


def typed(bin: Path, home: Path) -> None:
    """A type checker of the checkout believes the types of the installed package."""
    (home / "mypy.ini").write_text(QUICK, encoding="utf-8")
    checker: list[str | Path] = [
        Path(sys.executable).with_name("mypy"),
        "--strict",
        "--python-executable",
        bin / "python",
        "consumer.py",
    ]
    checked = subprocess.run(checker, cwd=home, env=CLEAN, capture_output=True, text=True)
    assert checked.stdout.startswith('consumer.py:3: error: Property "name"'), checked.stdout + checked.stderr


def fresh(folder: Path) -> Path:
    venv.create(folder)
    return folder / "bin"


def install(bin: Path, *what: str | Path) -> None:
    """By the pip that runs this: one in each environment would take longer than all the rest."""
    pip: list[str | Path] = [sys.executable, "-m", "pip", "--python", bin / "python", "install", "-q", "--no-compile"]
    run(*pip, *what, cwd=bin)


CLEAN = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "FASTMCP", "VIRTUAL"))}


def run(*command: str | Path, cwd: Path) -> str:
    ran = subprocess.run([*command], cwd=cwd, env=CLEAN, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


def block(name: str) -> str:
    """The fenced block of the README that is marked `<!-- name -->`."""
    (text,) = re.findall(rf"<!-- {re.escape(name)} -->\n```\w+\n(.*?)```", README, re.DOTALL)
    return str(text)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
