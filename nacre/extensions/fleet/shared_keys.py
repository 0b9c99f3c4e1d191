"""API keys in the database that several servers share; see `serving/keys`."""

import json
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from nacre.errors import ConfigError
from nacre.serving.keys import KEY_FILE, KeyStore, KeysUnavailable, StoredKey
from nacre.stores.state.database import Execute, StateDatabase, StorageError, install_tables

# a key that is revoked on one server is refused on all after this time (given: 1 s at most)
RECENT_SECONDS = 0.3

PART = "keys"

VERSIONS = (
    (
        """CREATE TABLE IF NOT EXISTS api_key (
        name TEXT PRIMARY KEY, hash TEXT NOT NULL, graphs TEXT NOT NULL, created {real} NOT NULL, revoked {real},
        may TEXT NOT NULL)""",
    ),
)


class SharedKeyStore(KeyStore):
    """The keys of a database. A change takes effect within RECENT_SECONDS, on every server."""

    database: StateDatabase

    def __init__(self, database: StateDatabase) -> None:
        super().__init__(Path())
        self.database = database
        self._read_at = -RECENT_SECONDS
        self._run: Execute | None = None
        install_tables(database, PART, VERSIONS)

    @property
    def place(self) -> str:
        return "The database"

    def all(self) -> tuple[StoredKey, ...]:
        now = time.monotonic()
        if now - self._read_at < RECENT_SECONDS:
            return self._keys
        try:
            rows = self.database.read("SELECT name, hash, graphs, created, revoked, may FROM api_key ORDER BY created")
        except StorageError as error:
            raise KeysUnavailable(f"The keys can't be read ({error}), so no key is accepted.") from error
        self._keys = self._checked(tuple(map(_parse_row, rows)))
        self._read_at = now
        return self._keys

    def add_stored(self, keys: Sequence[StoredKey]) -> None:
        """Store keys as they are; a name that is in use keeps its key. Raises ConfigError."""
        with self._locked() as present:
            names = {key.name for key in present}
            self._write([key for key in keys if key.name not in names])

    def _now(self) -> float:
        return self.database.now()

    @contextmanager
    def _locked(self) -> Iterator[tuple[StoredKey, ...]]:
        try:
            with self.database.writing(KEY_FILE) as run:
                self._run = run
                rows = run("SELECT name, hash, graphs, created, revoked, may FROM api_key ORDER BY created").fetchall()
                yield tuple(_parse_row(tuple(row)) for row in rows)
        except StorageError as error:
            raise ConfigError(f"The keys can't be written: {error}.") from error
        finally:
            self._run, self._read_at, self._had_keys = None, -RECENT_SECONDS, False

    def _write(self, keys: Sequence[StoredKey]) -> None:
        assert self._run is not None
        for key in keys:
            self._run(
                "INSERT INTO api_key VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (name) DO UPDATE SET hash = excluded.hash,"
                " graphs = excluded.graphs, created = excluded.created, revoked = excluded.revoked, may = excluded.may",
                *(key.name, key.hash, json.dumps(key.graphs), key.created, key.revoked, json.dumps(key.may)),
            )


def _parse_row(row: Sequence[object]) -> StoredKey:
    name, hash, graphs, created, revoked, may = row
    readable = json.loads(str(graphs))
    return StoredKey(
        str(name),
        str(hash),
        None if readable is None else tuple(readable),
        float(str(created)),
        None if revoked is None else float(str(revoked)),
        tuple(json.loads(str(may))),
    )
