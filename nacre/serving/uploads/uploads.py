"""Files that callers send and their ingest in a process of its own: chunks -> a folder -> a graph, with its progress.

A folder of the data folder holds one upload: its files, whose it is, what the ingest printed. So every server process
can tell its state.
"""

import json
import logging
import os
import re
import secrets
import shutil
import signal
import subprocess
import sys
import threading
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Literal

from nacre.errors import ConfigError
from nacre.serving.errors import Forbidden, NotFound
from nacre.serving.keys import Caller
from nacre.serving.uploads.addresses import check_address, named_hosts
from nacre.serving.uploads.file_kinds import check_file_kind, command_of_files, safe_name
from nacre.stores.databases.address import is_database_url, public_address
from nacre.stores.versions import GRAPH_NAME

log = logging.getLogger(__name__)

FOLDER, FILES, STATE, OUTPUT, CANCEL = "_uploads", "files", "state.json", "output.txt", "cancel"
# bytes of one request; a whole file comes in as many as it takes
CHUNK = 8 << 20
MAX_FILES, MAX_UPLOADS = 200, 4
MAX_LINES, MAX_LINE = 200, 300
# uploads that nobody continued are removed; an ingest that takes longer is ended
STALE_SECONDS, INGEST_SECONDS = 86_400.0, 3600.0
POLL_SECONDS, STOP_SECONDS = 0.3, 10.0
# what the command line suggests to run next
COMMAND, EXAMPLES = " -m nacre ", "It answers, for example:"
UPLOAD_ID = re.compile(r"[0-9a-f]{32}")

Phase = Literal["receiving", "running", "done", "failed", "cancelled"]


@dataclass(frozen=True)
class UploadState:
    """One upload: the sizes of its files in bytes, or the `address` that is attached, as people see it; and the lines
    that reading them into `graph` printed."""

    upload: str
    owner: str
    phase: Phase = "receiving"
    graph: str = ""
    files: tuple[tuple[str, int], ...] = ()
    lines: tuple[str, ...] = ()
    address: str = ""


class Uploads:
    """The uploads of a data folder. One ingest runs at a time in each server process."""

    def __init__(self, data: Path, max_megabytes: int, attach_hosts: str = "") -> None:
        self._data = data
        self._home = data / FOLDER
        self._max_bytes = max_megabytes * 1_000_000
        self.hosts = named_hosts(attach_hosts)
        self._lock = threading.Lock()
        self._running: subprocess.Popen[bytes] | None = None

    def begin(self, caller: Caller) -> UploadState:
        """A new upload. Raises Forbidden, or ConfigError if the caller has too many."""
        check_may_write(caller)
        self._home.mkdir(mode=0o700, exist_ok=True)
        self._remove_stale()
        own = [state for state in self._all() if state.owner == caller.owner and state.phase == "receiving"]
        if len(own) >= MAX_UPLOADS:
            raise ConfigError("Too many uploads are not complete. Delete one, or try again tomorrow.")
        state = UploadState(secrets.token_hex(16), caller.owner)
        (self._home / state.upload / FILES).mkdir(mode=0o700, parents=True)
        self._write(state)
        return state

    def state(self, caller: Caller, upload: str) -> UploadState:
        """The state of the caller's upload. Raises Forbidden, or NotFound, for those of others too."""
        check_may_write(caller)
        folder = self._home / upload
        state = _read(folder) if UPLOAD_ID.fullmatch(upload) else None
        if state is None or state.owner != caller.owner:
            raise NotFound("There is no such upload.")
        files = sorted((folder / FILES).iterdir()) if (folder / FILES).is_dir() else []
        sizes = tuple((path.name, path.stat().st_size) for path in files)
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
        with (self._home / upload / FILES / name).open("ab") as out:
            out.write(chunk)
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
        except ConfigError:
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
        """Run a command of `nacre` for an upload in a process of its own."""
        with self._lock:
            if self._running is not None:
                raise ConfigError("Other data is being read. Try again when that is done.")
            with (self._home / state.upload / OUTPUT).open("wb") as output:
                self._running = subprocess.Popen(
                    [sys.executable, "-m", "nacre", *arguments],
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    env=os.environ | {"NACRE_DATA": str(self._data)},
                    start_new_session=True,
                )
            started = replace(state, phase="running")
            self._write(started)
        threading.Thread(target=self._wait, args=(self._running, started), daemon=True).start()
        return started

    def cancel(self, caller: Caller, upload: str) -> None:
        """Stop the ingest of an upload, and remove its files."""
        state = self.state(caller, upload)
        if state.phase == "running":
            (self._home / upload / CANCEL).touch()
        else:
            shutil.rmtree(self._home / upload, ignore_errors=True)

    def close(self) -> None:
        """End a running ingest; the graph keeps its earlier version."""
        if (running := self._running) is not None:
            _end(running)

    def _wait(self, process: "subprocess.Popen[bytes]", state: UploadState) -> None:
        folder, deadline = self._home / state.upload, time.monotonic() + INGEST_SECONDS
        cancelled, before, reason = False, self._version(state.graph), ""
        while process.poll() is None:
            cancelled = (folder / CANCEL).exists()
            if cancelled or time.monotonic() > deadline:
                reason = "" if cancelled else f"This took more than {INGEST_SECONDS / 60:g} minutes."
                _end(process)
                break
            time.sleep(POLL_SECONDS)
        with self._lock:
            self._running = None
        # what was published before it was stopped is the graph's version
        is_done = process.returncode == 0 or (cancelled and self._version(state.graph) != before)
        if process.returncode < 0 and not cancelled:
            reason = reason or "The process that reads the data was killed. It may have needed too much memory."
            with (folder / OUTPUT).open("a", encoding="utf-8") as output:
                output.write(f"\n{reason}\n")
        phase: Phase = "done" if is_done else "cancelled" if cancelled else "failed"
        log.info("%s into %s: %s", "attachment" if state.address else "upload", state.graph, phase)
        shutil.rmtree(folder / FILES, ignore_errors=True)
        self._write(replace(state, phase=phase))

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

    def _all(self) -> list[UploadState]:
        return [state for folder in self._home.iterdir() if (state := _read(folder)) is not None]

    def _write(self, state: UploadState) -> None:
        folder = self._home / state.upload
        if folder.is_dir():
            stored = asdict(replace(state, files=(), lines=()))
            (folder / f"{STATE}.new").write_text(json.dumps(stored), encoding="utf-8")
            os.replace(folder / f"{STATE}.new", folder / STATE)

    def _remove_stale(self) -> None:
        for folder in self._home.iterdir():
            if time.time() - folder.stat().st_mtime > STALE_SECONDS:
                shutil.rmtree(folder, ignore_errors=True)


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
