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

from ingestion.read.documents.read_document import READABLE_FORMATS
from ingestion.read.formats import format_from_name
from nacre.errors import ConfigError
from nacre.serving.errors import Forbidden, NotFound
from nacre.serving.keys import Caller
from nacre.stores.versions import GRAPH_NAME

log = logging.getLogger(__name__)

FOLDER, FILES, STATE, OUTPUT, CANCEL = "_uploads", "files", "state.json", "output.txt", "cancel"
# bytes of one request; a whole file comes in as many as it takes
CHUNK = 8 << 20
MAX_FILES, MAX_NAME, MAX_UPLOADS = 200, 100, 4
MAX_LINES, MAX_LINE = 200, 300
# uploads that nobody continued are removed; an ingest that takes longer is ended
STALE_SECONDS, INGEST_SECONDS = 86_400.0, 3600.0
POLL_SECONDS, STOP_SECONDS = 0.3, 10.0
LAYERS = (".yaml", ".yml")
UPLOAD_ID = re.compile(r"[0-9a-f]{32}")

Phase = Literal["receiving", "running", "done", "failed", "cancelled"]


@dataclass(frozen=True)
class UploadState:
    """One upload: the sizes of its files in bytes, and the lines that the ingest into `graph` printed."""

    upload: str
    owner: str
    phase: Phase = "receiving"
    graph: str = ""
    files: tuple[tuple[str, int], ...] = ()
    lines: tuple[str, ...] = ()


def safe_name(name: str) -> str:
    """A name for a file on this machine: its last part, without characters that a shell or a path would obey.

    >>> safe_name("../../etc/pass wd.ttl"), safe_name("-rf *.nt"), safe_name("..")
    ('pass_wd.ttl', 'rf_.nt', 'file')
    """
    last = re.split(r"[/\\]", name)[-1]
    clean = re.sub(r"[^\w.-]+", "_", last).lstrip(".-_")
    stem, dot, ending = clean.rpartition(".")
    return (f"{stem[: MAX_NAME - 12]}.{ending[:10]}" if dot and stem else clean[:MAX_NAME]) or "file"


class Uploads:
    """The uploads of a data folder. One ingest runs at a time in each server process."""

    def __init__(self, data: Path, max_megabytes: int) -> None:
        self._data = data
        self._home = data / FOLDER
        self._max_bytes = max_megabytes * 1_000_000
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
        if not (format_from_name(name) or Path(name).suffix.lower() in (*READABLE_FORMATS, *LAYERS)):
            raise ConfigError(f"{name} is no RDF file, document or layer. Send .ttl, .nt, .rdf, .md, .pdf or .yaml.")
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
        if not GRAPH_NAME.fullmatch(graph):
            raise ConfigError("The name of a graph has a to z, 0 to 9 and -, at most 64 characters.")
        if not caller.may_read(graph):
            raise Forbidden("This key may not write this graph.")
        if state.phase != "receiving" or not state.files:
            raise ConfigError("Send files first.")
        if (self._data / graph / "current").exists() and not replace_graph:
            raise ConfigError(f"There is a graph {graph!r} already. Confirm that it is replaced, or name another.")
        with self._lock:
            if self._running is not None:
                raise ConfigError("Another upload is being read. Try again when it is done.")
            folder = self._home / upload
            with (folder / OUTPUT).open("wb") as output:
                self._running = subprocess.Popen(
                    _command(folder / FILES, graph),
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    env=os.environ | {"NACRE_DATA": str(self._data)},
                    start_new_session=True,
                )
            started = replace(state, phase="running", graph=graph)
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
        cancelled, before = False, self._version(state.graph)
        while process.poll() is None:
            cancelled = (folder / CANCEL).exists()
            if cancelled or time.monotonic() > deadline:
                _end(process)
                break
            time.sleep(POLL_SECONDS)
        with self._lock:
            self._running = None
        # what was published before it was stopped is the graph's version
        is_done = process.returncode == 0 or (cancelled and self._version(state.graph) != before)
        phase: Phase = "done" if is_done else "cancelled" if cancelled else "failed"
        log.info("upload into %s: %s", state.graph, phase)
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
        for path in (folder / FILES, self._data):
            text = text.replace(f"{path}/", "").replace(str(path), "")
        shown = [line[:MAX_LINE] for line in text.splitlines() if line.strip() and " -m nacre " not in line]
        return tuple(shown[-MAX_LINES:])

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


def _command(folder: Path, graph: str) -> list[str]:
    """The ingest of the files of a folder: RDF, documents, layers."""
    files = sorted(folder.iterdir())
    documents = [str(path) for path in files if path.suffix.lower() in READABLE_FORMATS]
    layers = [str(path) for path in files if path.suffix.lower() in LAYERS]
    graphs = [str(path) for path in files if str(path) not in (*documents, *layers)]
    named = [*(("--texts", path) for path in documents), *(("--layer", path) for path in layers)]
    options = [part for pair in named for part in pair]
    return [sys.executable, "-m", "nacre", "ingest", *graphs, *options, "--graph", graph]


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
