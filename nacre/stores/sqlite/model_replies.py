"""Answers of chat models, kept on disk: a file of SQLite <-> LangChain's cache interface."""

import hashlib
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from langchain_core.caches import BaseCache
from langchain_core.outputs import Generation

MOST = 20_000
BUSY_SECONDS = 1.0
LAYOUT = "CREATE TABLE IF NOT EXISTS reply (key BLOB PRIMARY KEY, text TEXT NOT NULL)"


class ModelReplies(BaseCache):
    """At most `most` answers, the oldest go first; of a prompt only its hash. All methods raise sqlite3.Error."""

    def __init__(self, path: Path, most: int = MOST) -> None:
        self._path = path
        self._most = most

    def lookup(self, prompt: str, llm_string: str) -> Sequence[Generation] | None:
        with self._opened() as db:
            found = db.execute("SELECT text FROM reply WHERE key = ?", [_key(prompt, llm_string)]).fetchone()
        return [Generation(text=found[0])] if found else None

    def update(self, prompt: str, llm_string: str, return_val: Sequence[Generation]) -> None:
        with self._opened() as db, db:
            db.execute("INSERT OR REPLACE INTO reply VALUES (?, ?)", [_key(prompt, llm_string), return_val[0].text])
            db.execute(
                "DELETE FROM reply WHERE rowid <= (SELECT max(rowid) FROM reply) - ?",
                [self._most],
            )

    def clear(self, **kwargs: Any) -> None:
        with self._opened() as db, db:
            db.execute("DELETE FROM reply")

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        # a connection each: threads share the store, and a call of a model takes a thousand times longer
        with suppress(OSError):
            # where it can't be made, SQLite says so
            self._path.parent.mkdir(parents=True, exist_ok=True)
        with closing(sqlite3.connect(self._path, timeout=BUSY_SECONDS)) as db:
            db.execute(LAYOUT)
            yield db


def _key(prompt: str, llm_string: str) -> bytes:
    return hashlib.sha256(f"{llm_string}\0{prompt}".encode(errors="replace")).digest()
