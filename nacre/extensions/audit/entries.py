"""The audit: what callers do -> lines of JSON in files of the data folder, or rows of NACRE_DATABASE_URL.

An entry has the time, the owner and name of the caller, the deed, and what it was about: graph, version, thread, the
hash of the queries that ran. Texts of questions, queries and answers are not in it. A file that is full, or a day old,
is closed; the oldest ones are deleted when all together are too large, or older than NACRE_AUDIT_DAYS.
"""

import asyncio
import fcntl
import json
import logging
import os
import queue
import time
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from logging.handlers import QueueHandler, QueueListener
from pathlib import Path
from typing import Any, cast

from nacre.config.settings import Settings
from nacre.records.threads import run_in_thread
from nacre.serving.http.auth import client_network
from nacre.serving.keys import NOBODY, Caller, audit_log
from nacre.stores.state.database import StateDatabase, StorageError, install_tables, json_text, open_state

log = logging.getLogger(__name__)

FOLDER, CURRENT, LOCK, PART = "_audit", "current.jsonl", "lock", "audit"

VERSIONS = (
    (
        """CREATE TABLE IF NOT EXISTS audit (
        number {number}, at {real} NOT NULL, who TEXT NOT NULL, graph TEXT NOT NULL, entry TEXT NOT NULL)""",
        "CREATE INDEX IF NOT EXISTS audit_at ON audit (at)",
        "CREATE INDEX IF NOT EXISTS audit_who ON audit (who)",
    ),
)

DAY, MEGABYTE = 86_400.0, 1_000_000

# files among which the size is divided; entries that wait to be written; characters of a text in an entry; bytes of a
# row in a database, for its size; seconds between the deletions of old rows (set by hand)
FILES, MAX_WAITING, MAX_TEXT, ROW_BYTES, PRUNE_SECONDS = 10, 10_000, 300, 500, 3600.0

# in a minute: refusals of unknown callers, and deeds of all visitors of a site; of a visitor's address (set by hand)
MAX_UNKNOWN, MAX_OF_VISITOR = 20, 5

Entry = dict[str, Any]


@dataclass(frozen=True)
class EntryFilter:
    """Which entries to show. `since` is in seconds since 1970; `who` is an owner, or the name of a person."""

    since: float = 0.0
    who: str | None = None
    graph: str | None = None

    def passes(self, entry: Entry) -> bool:
        """Whether an entry is one of these.

        >>> EntryFilter(who="ann").passes({"time": 5.0, "who": "bo"})
        False
        """
        is_whose = self.who is None or self.who in (entry.get("who"), entry.get("name"))
        return entry.get("time", 0.0) >= self.since and is_whose and self.graph in (None, entry.get("graph"))


def make_entry(record: logging.LogRecord) -> Entry:
    """The entry of a deed."""
    caller: Caller = record.__dict__["caller"]
    about = {name: value for name, value in record.__dict__["about"].items() if value not in (None, "")}
    about |= {"visitor": caller.visitor} if caller.visitor else {}
    entry = {"time": round(record.created, 3), "who": caller.owner, "name": caller.name, "did": record.getMessage()}
    whole = {name: value for name, value in {**entry, **about}.items() if value != ""}
    return {name: value[:MAX_TEXT] if isinstance(value, str) else value for name, value in whole.items()}


class AuditFiles:
    """Files of lines, which several processes may write. Methods raise OSError."""

    def __init__(self, data: Path, megabytes: int, days: float) -> None:
        self._folder = data / FOLDER
        self._bytes, self._seconds = megabytes * MEGABYTE, days * DAY

    def write(self, entries: Iterable[Entry]) -> None:
        """Append entries; close the file if it is full or a day old. Without entries, only delete old ones."""
        lines = "".join(f"{json.dumps(entry, ensure_ascii=False)}\n" for entry in entries)
        with self._locked():
            current = self._folder / CURRENT
            fd = os.open(current, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600)
            with open(fd, "a", encoding="utf-8", errors="replace") as out:
                out.write(lines)
            began = _first_time(current)
            is_full = current.stat().st_size >= self._bytes // FILES or time.time() - began > DAY
            if is_full:
                current.rename(self._folder / f"{time.time_ns():020}.jsonl")
            if is_full or not lines:
                self._prune()

    def read(self, wanted: EntryFilter) -> Iterator[Entry]:
        """The entries, the oldest first. Lines that a full disk cut are left out."""
        for file in self._files():
            with file.open(encoding="utf-8", errors="replace") as lines:
                for line in lines:
                    if (entry := _parse(line)) is not None and wanted.passes(entry):
                        yield entry

    def delete(self, who: str, *, name_only: bool = False) -> int:
        """Delete the entries of an owner and its mention in those of others, or only its name; the number of entries
        that changed."""
        changed = 0
        if not self._folder.exists():
            return changed
        with self._locked():
            for file in self._files():
                # `splitlines` would part a line where a text has a line separator of Unicode
                with file.open(encoding="utf-8", errors="replace") as read:
                    lines = list(read)
                kept = [_forget(line, who, name_only=name_only) for line in lines]
                if kept != lines:
                    new = file.with_suffix(".new")
                    fd = os.open(new, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600)
                    with open(fd, "w", encoding="utf-8", errors="replace") as out:
                        out.writelines(kept)
                    # the time of a file decides when it goes
                    os.utime(new, (file.stat().st_atime, file.stat().st_mtime))
                    new.replace(file)
                    changed += sum(one != two for one, two in zip(lines, kept, strict=True))
        return changed

    def close(self) -> None:
        """Nothing is open between calls."""

    def _prune(self) -> None:
        size, files = 0, self._files()[::-1]
        for file in files:
            size += file.stat().st_size
            is_old = self._seconds and time.time() - file.stat().st_mtime > self._seconds
            if file.name != CURRENT and (size > self._bytes - self._bytes // FILES or is_old):
                if not is_old:
                    # whoever asks without a pause pushes out what others did
                    log.warning("the audit is full: its entries before %s go", iso_time(file.stat().st_mtime))
                file.unlink()

    def _files(self) -> list[Path]:
        closed = sorted(each for each in self._folder.glob("*.jsonl") if each.name != CURRENT)
        return [*closed, *self._folder.glob(CURRENT)]

    @contextmanager
    def _locked(self) -> Iterator[None]:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = os.open(self._folder / LOCK, os.O_CREAT | os.O_WRONLY, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
        finally:
            os.close(lock)


class AuditTable:
    """Rows of a database. Methods raise StorageError."""

    def __init__(self, database: StateDatabase, megabytes: int, days: float) -> None:
        self._database = database
        self._rows, self._seconds = megabytes * MEGABYTE // ROW_BYTES, days * DAY
        self._pruned_at = -PRUNE_SECONDS
        install_tables(database, PART, VERSIONS)

    def write(self, entries: Iterable[Entry]) -> None:
        """Add entries; delete old ones now and then, and if there are none to add."""
        rows = [(each["time"], each["who"], each.get("graph", ""), json_text(each)) for each in entries]
        with self._database.writing() as run:
            run.many("INSERT INTO audit (at, who, graph, entry) VALUES (?, ?, ?, ?)", rows)
            if not rows or time.monotonic() - self._pruned_at > PRUNE_SECONDS:
                self._pruned_at = time.monotonic()
                if self._seconds:
                    run("DELETE FROM audit WHERE at < ?", time.time() - self._seconds)
                run("DELETE FROM audit WHERE number <= (SELECT max(number) FROM audit) - ?", self._rows)

    def read(self, wanted: EntryFilter) -> Iterator[Entry]:
        """The entries, the oldest first."""
        last = -1
        while rows := self._database.read(
            "SELECT number, entry FROM audit WHERE number > ? AND at >= ? ORDER BY number LIMIT 1000",
            *(last, wanted.since),
        ):
            last = rows[-1][0]
            yield from (entry for _, text in rows if (entry := _parse(text)) is not None and wanted.passes(entry))

    def delete(self, who: str, *, name_only: bool = False) -> int:
        """Delete the entries of an owner and its mention in those of others, or only its name; the number of entries
        that changed."""
        with self._database.writing(deletes=True) as run:
            rows = run("SELECT number, entry FROM audit WHERE who = ? OR entry LIKE ?", who, f'%"{who}"%').fetchall()
            texts = [(_forget(text, who, name_only=name_only), number) for number, text in rows]
            run.many("UPDATE audit SET entry = ? WHERE number = ?", texts)
            run("DELETE FROM audit WHERE entry = ''")
        return sum(new != text for (new, _), (_, text) in zip(texts, rows, strict=True))

    def close(self) -> None:
        self._database.close()


Audit = AuditFiles | AuditTable


def open_audit(settings: Settings) -> Audit:
    """The audit of the settings. Raises ConfigError, or StorageError."""
    if settings.database_url is None:
        return AuditFiles(settings.data, settings.audit_size, settings.audit_days)
    return AuditTable(open_state(settings, PART), settings.audit_size, settings.audit_days)


class _Writer(logging.Handler):
    """Writes the deeds that wait, together; a failure is reported in the log and costs their entries."""

    def __init__(self, write: Callable[[Iterable[Entry]], None]) -> None:
        super().__init__()
        self._write = write

    def emit(self, record: logging.LogRecord) -> None:
        try:
            self._write([make_entry(record)])
        except (OSError, StorageError) as error:
            log.error("the audit can't be written, so %r is not in it: %s", record.getMessage(), error)


class _Waiting(QueueHandler):
    """Passes deeds to the thread that writes them, so that no request waits for a disk. Of refused requests that nobody
    known sent, each address has one a minute, and all have a few, and so do visitors of a site: nobody without a key
    pushes out what others did."""

    def __init__(self, waiting: "queue.Queue[Any]", clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(waiting)
        self._clock, self._minute = clock, 0
        # by the owner, "-" for refusals, and then by the address
        self._counts: defaultdict[str, Counter[str]] = defaultdict(Counter)

    def emit(self, record: logging.LogRecord) -> None:
        caller: Caller = record.__dict__["caller"]
        address = str(caller.visitor or record.__dict__["about"].get("address"))
        if (caller == NOBODY or caller.visitor) and not self._may_note(caller, client_network(address)):
            return
        super().emit(record)

    def _may_note(self, caller: Caller, network: str) -> bool:
        if (minute := int(self._clock() // 60)) != self._minute:
            self._minute = minute
            self._counts.clear()
        counts = self._counts[caller.owner]
        if counts[network] >= (MAX_OF_VISITOR if caller.visitor else 1) or counts.total() >= MAX_UNKNOWN:
            return False
        counts[network] += 1
        return True

    def prepare(self, record: logging.LogRecord) -> logging.LogRecord:
        return record

    def handleError(self, record: logging.LogRecord) -> None:
        log.error("the audit is written too slowly, so %r is not in it", record.getMessage())


class _Listener(QueueListener):
    def enqueue_sentinel(self) -> None:
        # the end waits for room in the queue
        cast("queue.Queue[Any]", self.queue).put(None)


async def _prune_again_and_again(audit: Audit) -> None:
    while True:
        try:
            await run_in_thread(audit.write, ())
        except (OSError, StorageError) as error:
            log.error("old entries of the audit can't be deleted: %s", error)
        await asyncio.sleep(PRUNE_SECONDS)


@asynccontextmanager
async def follow_deeds(app: Any) -> AsyncIterator[None]:
    """While a server runs, write what its callers do, if NACRE_AUDIT is set."""
    settings: Settings = app.state.settings
    if not settings.audit:
        yield
        return
    audit = await run_in_thread(open_audit, settings)
    waiting: queue.Queue[Any] = queue.Queue(MAX_WAITING)
    handler, listener = _Waiting(waiting), _Listener(waiting, _Writer(audit.write))
    audit_log.setLevel(logging.INFO)
    audit_log.propagate = False
    audit_log.addHandler(handler)
    listener.start()
    pruning = asyncio.create_task(_prune_again_and_again(audit))
    try:
        yield
    finally:
        pruning.cancel()
        audit_log.removeHandler(handler)
        # it writes what waits first
        await run_in_thread(listener.stop)
        await run_in_thread(audit.close)


def iso_time(seconds: float) -> str:
    """A time in UTC.

    >>> iso_time(0.25)
    '1970-01-01T00:00:00Z'
    """
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _first_time(file: Path) -> float:
    with file.open(encoding="utf-8", errors="replace") as lines:
        return float((_parse(lines.readline()) or {}).get("time", time.time()))


def _parse(line: str) -> Entry | None:
    try:
        entry = json.loads(line)
    except ValueError:
        return None
    return entry if isinstance(entry, dict) and isinstance(entry.get("time"), float | int) else None


def _forget(line: str, who: str, *, name_only: bool) -> str:
    """A line without an owner, "" if it is one of its entries; or only without its name.

    >>> _forget('{"time": 1, "who": "bo", "by": "@7"}', "@7", name_only=False)
    '{"time": 1, "who": "bo"}'
    """
    entry = _parse(line) or {}
    is_own = entry.get("who") == who
    if is_own and not name_only:
        return ""
    field = "name" if is_own else "by"
    if field not in entry or not (is_own or (entry["by"] == who and not name_only)):
        return line
    del entry[field]
    return json.dumps(entry) + ("\n" if line.endswith("\n") else "")
