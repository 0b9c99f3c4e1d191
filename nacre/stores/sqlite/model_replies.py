"""A cache of chat-model answers in a SQLite file, with LangChain's cache interface."""

import hashlib
import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from langchain_core.caches import BaseCache
from langchain_core.outputs import Generation

MAX_REPLIES = 20_000

BUSY_SECONDS = 1.0

LAYOUT = "CREATE TABLE IF NOT EXISTS reply (key BLOB PRIMARY KEY, text TEXT NOT NULL)"


class ModelReplies(BaseCache):
    """At most `most` answers, the oldest are removed first; prompts are stored as hashes. Methods raise
    sqlite3.Error."""

    def __init__(self, path: Path, most: int = MAX_REPLIES) -> None:
        self._path = path
        self._most = most

    def lookup(self, prompt: str, llm_string: str) -> Sequence[Generation] | None:
        with self._connect() as db:
            found = db.execute("SELECT text FROM reply WHERE key = ?", [_key(prompt, llm_string)]).fetchone()
        return [Generation(text=found[0])] if found else None

    def update(self, prompt: str, llm_string: str, return_val: Sequence[Generation]) -> None:
        with self._connect() as db, db:
            db.execute("INSERT OR REPLACE INTO reply VALUES (?, ?)", [_key(prompt, llm_string), return_val[0].text])
            db.execute(
                "DELETE FROM reply WHERE rowid <= (SELECT max(rowid) FROM reply) - ?",
                [self._most],
            )

    def clear(self, **kwargs: Any) -> None:
        with self._connect() as db, db:
            db.execute("DELETE FROM reply")

    @contextmanager
    def _connect(self) -> Iterator[sqlite3.Connection]:
        # a new connection each time: threads share the cache, and a model call takes a thousand times longer
        with suppress(OSError):
            # if the folder can't be created, SQLite reports it
            self._path.parent.mkdir(parents=True, exist_ok=True)
            # prompts and replies quote the graph: only the owner reads them; SQLite would create the file for all
            os.close(os.open(self._path, os.O_CREAT, 0o600))
            self._path.chmod(0o600)
        with closing(sqlite3.connect(self._path, timeout=BUSY_SECONDS)) as db:
            db.execute(LAYOUT)
            yield db


def _key(prompt: str, llm_string: str) -> bytes:
    return hashlib.sha256(f"{llm_string}\0{prompt}".encode(errors="replace")).digest()
