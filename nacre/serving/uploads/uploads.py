"""Files that callers send and their ingest in a process of its own: chunks -> a folder -> a graph, with its progress.

A folder of the data folder holds one upload: its files, whose it is, what the ingest printed. So every server process
can tell its state. The process of an ingest, and the server that started it, hold a lock: an upload is running while
somebody has that lock, whatever was stored about it.
"""

import fcntl
import json
import logging
import os
import re
import secrets
import shutil
import signal
import subprocess
import threading
import time
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Literal

from nacre.errors import ConfigError
from nacre.serving.errors import Forbidden, NotFound
from nacre.serving.keys import Caller
from nacre.serving.terminal.error_messages import EXIT_INTERRUPTED
from nacre.serving.uploads.file_kinds import check_file_kind, command_of_files, safe_name
from nacre.stores.addresses import check_address, named_hosts
from nacre.stores.databases.address import is_database_url, public_address
from nacre.stores.processes.parent_watch import child_command
from nacre.stores.versions import GRAPH_NAME

log = logging.getLogger(__name__)

FOLDER, FILES, STATE, OUTPUT = "_uploads", "files", "state.json", "output.txt"
# what named the graph's version before an ingest; to stop it, the file is renamed, which no full disk prevents
BEFORE, CANCELLED = "before", "cancelled"
# bytes of one request; a whole file comes in as many as it takes
CHUNK = 8 << 20
MAX_FILES, MAX_UPLOADS = 200, 4
MAX_LINES, MAX_LINE = 200, 300
# uploads that nobody continued are removed; an ingest that takes longer is ended
STALE_SECONDS, INGEST_SECONDS = 86_400.0, 3600
POLL_SECONDS, STOP_SECONDS, LOCK_SECONDS = 0.3, 10.0, 2.0
# what the command line suggests to run next
COMMAND, EXAMPLES = " -m nacre ", "It answers, for example:"
UPLOAD_ID = re.compile(r"[0-9a-f]{32}")
INTERRUPTED = "The server stopped before this was complete. Send it again."
# why a process ended that reported nothing, by its exit code; None if its server ended too
REASONS: dict[int | None, str] = {
    None: INTERRUPTED,
    -signal.SIGINT: INTERRUPTED,
    EXIT_INTERRUPTED: INTERRUPTED,
    -signal.SIGALRM: f"It was stopped after {INGEST_SECONDS // 60} minutes. Use the command line for larger data.",
    -signal.SIGKILL: "The system ended its process; there may be too little memory. Send less, or try again.",
}

Phase = Literal["receiving", "running", "done", "failed", "cancelled"]


@dataclass(frozen=True)
class UploadState:
    """One upload: the sizes of its files in bytes, or the `address` that is attached, as people see it; and the lines
    that reading them into `graph` printed. `reason`: why it failed, unless the lines say so."""

    upload: str
    owner: str
    phase: Phase = "receiving"
    graph: str = ""
    files: tuple[tuple[str, int], ...] = ()
    lines: tuple[str, ...] = ()
    address: str = ""
    reason: str = ""


class Uploads:
    """The uploads of a data folder. One ingest runs at a time, whichever server process started it. All methods raise
    OSError if the disk is full or fails, and leave an upload as it was."""

    def __init__(self, data: Path, max_megabytes: int, attach_hosts: str = "") -> None:
        self._data = data
        self._home = data / FOLDER
        self._max_bytes = max_megabytes * 1_000_000
        self.hosts = named_hosts(attach_hosts)
        self._running: subprocess.Popen[bytes] | None = None

    def begin(self, caller: Caller) -> UploadState:
        """A new upload. Raises Forbidden, or ConfigError if the caller has too many."""
        check_may_write(caller)
        self._home.mkdir(mode=0o700, exist_ok=True)
        own = [state for state in self.tidy() if state.owner == caller.owner and state.phase == "receiving"]
        if len(own) >= MAX_UPLOADS:
            raise ConfigError("Too many uploads are not complete. Delete one, or try again tomorrow.")
        state = UploadState(secrets.token_hex(16), caller.owner)
        try:
            (self._home / state.upload / FILES).mkdir(mode=0o700, parents=True)
            self._write(state)
        except OSError:
            shutil.rmtree(self._home / state.upload, ignore_errors=True)
            raise
        return state

    def state(self, caller: Caller, upload: str) -> UploadState:
        """The state of the caller's upload. Raises Forbidden, or NotFound, for those of others too."""
        check_may_write(caller)
        folder = self._home / upload
        state = self._read(folder) if UPLOAD_ID.fullmatch(upload) else None
        if state is None or state.owner != caller.owner:
            raise NotFound("There is no such upload.")
        try:
            sizes = tuple((path.name, path.stat().st_size) for path in sorted((folder / FILES).iterdir()))
        except FileNotFoundError:
            # they are removed at the end of the ingest
            sizes = ()
        return replace(state, files=sizes, lines=self._lines(folder))

    def append(self, caller: Caller, upload: str, name: str, offset: int, chunk: bytes) -> int:
        """Write a part of a file at its end; the size of the file. Raises ConfigError if `offset` is not its size, or
        if a limit is exceeded."""
        state = self.state(caller, upload)
        if state.phase != "receiving":
            raise ConfigError("This upload is complete. Begin a new one.")
        name = safe_name(name)
        check_file_kind(name)
        sizes = dict(state.files)
        if name not in sizes and len(sizes) >= MAX_FILES:
            raise ConfigError(f"An upload has at most {MAX_FILES} files.")
        if offset != sizes.get(name, 0):
            raise ConfigError(f"{name} has {sizes.get(name, 0)} bytes so far. Continue there.")
        if sum(sizes.values()) + len(chunk) > self._max_bytes:
            raise ConfigError(f"An upload has at most {self._max_bytes // 1_000_000} MB. Use the command line instead.")
        with (self._home / upload / FILES / name).open("ab", buffering=0) as out:
            try:
                written = 0
                while written < len(chunk):
                    written += out.write(chunk[written:])
            except OSError:
                # so that the same part can be sent again
                out.truncate(offset)
                raise
        return offset + len(chunk)

    def start(self, caller: Caller, upload: str, graph: str, *, replace_graph: bool) -> UploadState:
        """Ingest the files into a graph, in the background. Raises ConfigError: name, no files, graph exists, busy."""
        state = self.state(caller, upload)
        self._check_graph(caller, graph, replace_graph=replace_graph)
        if state.phase != "receiving" or not state.files:
            raise ConfigError("Send files first.")
        return self._run(replace(state, graph=graph), command_of_files(self._home / upload / FILES, graph))

    def attach(self, caller: Caller, address: str, graph: str, *, replace_graph: bool) -> UploadState:
        """Attach a graph to the address of an endpoint or database, in the background. Raises Forbidden, or ConfigError
        as `start`; neither repeats the address."""
        check_may_write(caller)
        address = check_address(address, self.hosts)
        self._check_graph(caller, graph, replace_graph=replace_graph)
        state = self.begin(caller)
        shown = public_address(address) if is_database_url(address) else address
        try:
            return self._run(replace(state, graph=graph, address=shown), ["attach", address, "--graph", graph])
        except (ConfigError, OSError):
            self.cancel(caller, state.upload)
            raise

    def _check_graph(self, caller: Caller, graph: str, *, replace_graph: bool) -> None:
        if not GRAPH_NAME.fullmatch(graph):
            raise ConfigError("The name of a graph has a to z, 0 to 9 and -, at most 64 characters.")
        if not caller.may_read(graph):
            raise Forbidden("This key may not write this graph.")
        if (self._data / graph / "current").exists() and not replace_graph:
            raise ConfigError(f"There is a graph {graph!r} already. Confirm that it is replaced, or name another.")

    def _run(self, state: UploadState, arguments: list[str]) -> UploadState:
        """Run a command of `nacre` for an upload in a process of its own, which has the lock until it ends."""
        until = time.monotonic() + LOCK_SECONDS
        while (lock := self._lock()) is None:
            # the end of the ingest before is stored a moment before its lock is released
            if time.monotonic() > until or any(each.phase == "running" for each in self._stored()):
                raise ConfigError("Other data is being read. Try again when that is done.")
            time.sleep(LOCK_SECONDS / 100)
        folder, started = self._home / state.upload, replace(state, phase="running")
        with ExitStack() as undo:
            undo.callback(os.close, lock)
            for each in self._stored():
                self._end_interrupted(each)
            if (present := _read(folder)) is None or present.phase != "receiving":
                raise ConfigError("This upload is complete. Begin a new one.")
            undo.callback(self._restore, state)
            (folder / BEFORE).write_bytes(self._version(state.graph))
            self._write(started)
            with (folder / OUTPUT).open("wb") as output:
                self._running = subprocess.Popen(
                    child_command(INGEST_SECONDS, "nacre", *arguments),
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    env=os.environ | {"NACRE_DATA": str(self._data)},
                    start_new_session=True,
                    pass_fds=(lock,),
                )
            threading.Thread(target=self._wait, args=(self._running, started, lock), daemon=True).start()
            undo.pop_all()
        return started

    def _restore(self, state: UploadState) -> None:
        """Take back an ingest that could not be started."""
        self.close()
        self._running = None
        with suppress(OSError):
            self._write(state)

    def cancel(self, caller: Caller, upload: str) -> None:
        """Stop the ingest of an upload, or remove it with its files. Neither needs space on the disk."""
        state = self.state(caller, upload)
        folder, removed = self._home / upload, self._home / f".{upload}"
        # another request may have been faster
        with suppress(FileNotFoundError):
            if state.phase == "running":
                os.rename(folder / BEFORE, folder / CANCELLED)
            else:
                os.rename(folder, removed)
                shutil.rmtree(removed, ignore_errors=True)

    def tidy(self) -> list[UploadState]:
        """Remove uploads that nobody continued or whose removal was interrupted, and end interrupted ones: the rest."""
        for folder in self._home.iterdir():
            with suppress(FileNotFoundError):
                if folder.name.startswith(".") or time.time() - folder.stat().st_mtime > STALE_SECONDS:
                    shutil.rmtree(folder, ignore_errors=True)
        return [state for folder in self._home.iterdir() if (state := self._read(folder)) is not None]

    def close(self) -> None:
        """End a running ingest; the graph keeps its earlier version."""
        if (running := self._running) is not None:
            _end(running)

    def _lock(self) -> int | None:
        """The lock of the one ingest, until it and its copies in other processes are closed; None if it is taken."""
        # of the folder: no file has to be created, which a full disk prevents
        lock = os.open(self._home, os.O_RDONLY)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(lock)
            return None
        return lock

    def _wait(self, process: "subprocess.Popen[bytes]", state: UploadState, lock: int) -> None:
        """Wait for the end of an ingest, or end it if its upload was cancelled."""
        try:
            while process.poll() is None:
                if not (self._home / state.upload / BEFORE).exists():
                    _end(process)
                    break
                time.sleep(POLL_SECONDS)
            self._finish(state, process.returncode)
        finally:
            self._running = None
            os.close(lock)

    def _end_interrupted(self, state: UploadState) -> UploadState:
        """The state of an upload while nothing runs, as whoever has the lock knows."""
        return self._finish(state, None) if state.phase == "running" else state

    def _finish(self, state: UploadState, code: int | None) -> UploadState:
        """The state after the ingest ended with an exit code (None: with its server). Needs the lock."""
        folder = self._home / state.upload
        cancelled, published = (folder / CANCELLED).exists(), False
        # what was published before it was stopped is the graph's version
        if cancelled or code in REASONS:
            with suppress(FileNotFoundError):
                before = (folder / (CANCELLED if cancelled else BEFORE)).read_bytes()
                published = self._version(state.graph) != before
        phase: Phase = "done" if code == 0 or published else "cancelled" if cancelled else "failed"
        log.info("%s into %s: %s", "attachment" if state.address else "upload", state.graph, phase)
        shutil.rmtree(folder / FILES, ignore_errors=True)
        ended = replace(state, phase=phase, reason=REASONS.get(code, "") if phase == "failed" else "")
        try:
            self._write(ended)
        except OSError as error:
            # then whoever reads it finds out again
            log.warning("the end of an upload could not be stored: %s", error)
        return ended

    def _version(self, graph: str) -> bytes:
        """What names the current version of a graph; empty without one."""
        try:
            return (self._data / graph / "current").read_bytes()
        except FileNotFoundError:
            return b""

    def _lines(self, folder: Path) -> tuple[str, ...]:
        """What the ingest printed, without the folders of this machine."""
        try:
            text = (folder / OUTPUT).read_bytes()[-MAX_LINES * MAX_LINE :].decode("utf-8", "replace")
        except FileNotFoundError:
            return ()
        for path in ((folder / FILES).resolve(), folder / FILES, self._data.resolve(), self._data):
            text = text.replace(f"{path}/", "").replace(str(path), "")
        # a reason stays without the command that it ends in
        lines = [
            line[: line.rfind(". ", 0, line.index(COMMAND)) + 1] if COMMAND in line else line
            for line in text.splitlines()
        ]
        return tuple([line[:MAX_LINE] for line in lines if line.strip() and line != EXAMPLES][-MAX_LINES:])

    def _read(self, folder: Path) -> UploadState | None:
        """The state of the upload in a folder, which failed if it was running and its process is gone."""
        state = _read(folder)
        if state is None or state.phase != "running" or (lock := self._lock()) is None:
            return state
        try:
            # it may have ended just now
            state = _read(folder)
            return self._end_interrupted(state) if state is not None else None
        finally:
            os.close(lock)

    def _stored(self) -> list[UploadState]:
        return [state for folder in self._home.iterdir() if (state := _read(folder)) is not None]

    def _write(self, state: UploadState) -> None:
        folder = self._home / state.upload
        stored = asdict(replace(state, files=(), lines=()))
        (folder / f"{STATE}.new").write_text(json.dumps(stored), encoding="utf-8")
        os.replace(folder / f"{STATE}.new", folder / STATE)


def check_may_write(caller: Caller) -> None:
    """Raise Forbidden unless a caller may change graphs."""
    if "write" not in caller.may:
        raise Forbidden("This key may not add or delete graphs. Run: nacre keys add NAME --may write")


def _read(folder: Path) -> UploadState | None:
    try:
        return UploadState(**json.loads((folder / STATE).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def _end(process: "subprocess.Popen[bytes]") -> None:
    """End a process and those that it started: as Ctrl-C does, then by force."""
    for number in (signal.SIGINT, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
            process.wait(STOP_SECONDS)
            return
        except ProcessLookupError:
            return
        except subprocess.TimeoutExpired:
            continue
