"""The applicants, in SQLite. No function here knows who is asking: each returns all there is to know."""

from __future__ import annotations

import atexit
import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp

# Where the database lies unless RECRUITING_DATABASE says otherwise. It goes when the server does.
FOLDER = Path(mkdtemp(prefix="recruiting-"))
atexit.register(shutil.rmtree, FOLDER, ignore_errors=True)

STAGES = ("applied", "screening", "interview", "offer")

SCHEMA = """
CREATE TABLE applicants (
    id TEXT PRIMARY KEY, name TEXT NOT NULL, stage TEXT NOT NULL, score INTEGER NOT NULL,
    email TEXT NOT NULL, phone TEXT NOT NULL, archived INTEGER NOT NULL
);
CREATE TABLE messages (applicant_id TEXT NOT NULL REFERENCES applicants, body TEXT NOT NULL);
CREATE TABLE moves (applicant_id TEXT NOT NULL REFERENCES applicants, stage TEXT NOT NULL, reason TEXT);
"""

SELECT = "SELECT id, name, stage, score, email, phone FROM applicants"

SEED = [
    ("a1", "Ada Brook", "applied", 71, "ada@example.org", "020 7946 0101", 0),
    ("a2", "Ben Castle", "screening", 64, "ben@example.org", "020 7946 0102", 0),
    ("a3", "Chloe Dunn", "interview", 88, "chloe@example.org", "020 7946 0103", 0),
    ("a4", "Dev Anand", "applied", 59, "dev@example.org", "020 7946 0104", 0),
    ("a5", "Eve Adair", "offer", 93, "eve@example.org", "020 7946 0105", 0),
    ("a6", "Finn Gray", "applied", 35, "finn@example.org", "020 7946 0106", 1),
]


@dataclass(frozen=True)
class Applicant:
    """All there is to know of one."""

    id: str
    name: str
    stage: str
    score: int
    email: str
    phone: str


@contextmanager
def connect() -> Iterator[sqlite3.Connection]:
    """One transaction on the database, which is made and filled when it is first asked for."""
    connection = sqlite3.connect(os.environ.get("RECRUITING_DATABASE") or FOLDER / "recruiting.db")
    try:
        with connection:
            connection.execute("BEGIN IMMEDIATE")  # two first requests at once must not both fill it
            if not connection.execute("SELECT 1 FROM sqlite_master").fetchone():
                for statement in SCHEMA.strip().split(";\n"):
                    connection.execute(statement)
                connection.executemany("INSERT INTO applicants VALUES (?, ?, ?, ?, ?, ?, ?)", SEED)
            yield connection
    finally:
        connection.close()


def find(query: str | None = None, *, archived: bool = False) -> list[Applicant]:
    """The applicants whose name holds `query`, by id; those in the archive only if asked for."""
    with connect() as connection:
        rows = connection.execute(
            f"{SELECT} WHERE instr(lower(name), lower(?)) AND archived <= ? ORDER BY id",
            (query or "", archived),
        ).fetchall()
    return [Applicant(*row) for row in rows]


def get(applicant_id: str) -> Applicant | None:
    with connect() as connection:
        row = connection.execute(f"{SELECT} WHERE id = ?", (applicant_id,)).fetchone()
    return None if row is None else Applicant(*row)


def move(applicant_id: str, stage: str, reason: str | None) -> None:
    with connect() as connection:
        connection.execute("UPDATE applicants SET stage = ? WHERE id = ?", (stage, applicant_id))
        connection.execute("INSERT INTO moves VALUES (?, ?, ?)", (applicant_id, stage, reason))


def queue_messages(applicant_ids: list[str], body: str) -> int:
    """Queue one message to each applicant that there is; how many that were."""
    known = [applicant_id for applicant_id in applicant_ids if get(applicant_id) is not None]
    with connect() as connection:
        connection.executemany("INSERT INTO messages VALUES (?, ?)", [(applicant_id, body) for applicant_id in known])
    return len(known)
