"""/api/uploads and /api/attachments: files or an address become a graph; follow and stop that; and delete a graph.

Files are ingested in a process of their own: chunks -> a folder -> a graph, with its progress. A folder of the data
folder holds one upload: its files, whose it is, what the ingest printed. So every server process can tell its state.
File names decide what is taken, whether a database is one, and the command that reads the files.
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
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import ExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal, ParamSpec, TypeVar

from fastapi import APIRouter, FastAPI, Query, Request
from fastapi import Path as PathParameter
from pydantic import BaseModel, Field
from starlette.requests import ClientDisconnect

from ingestion.read.sources import format_from_name
from nacre.config.settings import Settings
from nacre.errors import ConfigError, GraphNotFound
from nacre.extensions.uploads.files import DATABASES, LAYERS, command_of_files, readable_formats
from nacre.language.sanitize import safe_name
from nacre.records.threads import run_in_thread
from nacre.serving.cli.main import EXIT_INTERRUPTED
from nacre.serving.errors import Forbidden, NotFound, StorageUnavailable
from nacre.serving.http.auth import CallerDep
from nacre.serving.http.dependencies import ERROR_RESPONSES, TurnServiceDep
from nacre.serving.keys import RIGHTS, Caller, report_deed
from nacre.serving.turn_service import TurnService
from nacre.stores.addresses import MAX_ADDRESS, check_address, is_database_url, named_hosts, public_address
from nacre.stores.killable_pool import child_command
from nacre.stores.state.conversations import ConversationStoreError
from nacre.stores.versions import GRAPH_NAME, try_lock

log = logging.getLogger(__name__)
router = APIRouter(prefix="/api", tags=["graphs"], responses=ERROR_RESPONSES)

P = ParamSpec("P")
T = TypeVar("T")

UploadId = Annotated[str, PathParameter(pattern="^[0-9a-f]{32}$")]


class IngestRequest(BaseModel):
    """The graph that the files become; `replace` confirms that an earlier graph of this name goes, and `add` adds them
    to it."""

    graph: str = Field(min_length=1, max_length=64)
    replace: bool = False
    add: bool = False


class AttachRequest(BaseModel):
    """The address of a SPARQL endpoint or database, without a password, and the graph that it becomes. `replace`
    confirms that an earlier graph of this name goes."""

    address: str = Field(min_length=1, max_length=MAX_ADDRESS)
    graph: str = Field(min_length=1, max_length=64)
    replace: bool = False


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


@router.post("/attachments", summary="Attach an endpoint or a database", status_code=202)
async def attach_address(request: Request, caller: CallerDep, body: AttachRequest) -> UploadState:
    """Attach a graph to an address on a host that `NACRE_ATTACH_HOSTS` names, in a process of its own. The reply is
    followed and stopped like an upload. Needs a key with the right `write`."""
    state = await _on_disk(_uploads(request).attach, caller, body.address, body.graph, replace_graph=body.replace)
    report_deed(caller, "attached", graph=body.graph, id=state.upload)
    return state


@router.post("/uploads", summary="Begin an upload", status_code=201)
async def begin_upload(request: Request, caller: CallerDep) -> UploadState:
    """An upload without files. Needs a key with the right `write`, as everything here."""
    return await _on_disk(_uploads(request).begin, caller)


@router.put("/uploads/{upload}/files", summary="Send a part of a file")
async def send_file(
    request: Request,
    service: TurnServiceDep,
    caller: CallerDep,
    upload: UploadId,
    name: Annotated[str, Query(min_length=1, max_length=500)],
    offset: Annotated[int, Query(ge=0, le=10**15)] = 0,
) -> dict[str, int]:
    """Append the body, at most 8 MiB, to a file at `offset`, its size so far. The reply has its new size.

    A file is RDF or a table (also with .gz), a document, a layer or a database of SQLite or DuckDB, as its name says.
    """
    uploads = _uploads(request)
    # refused before anything is read
    await _on_disk(uploads.state, caller, upload)
    length = request.headers.get("content-length", "0")
    too_large = ConfigError(f"A part of a file has at most {CHUNK} bytes. Send more parts.")
    if not length.isdecimal() or len(length) > 18 or int(length) > CHUNK:
        raise too_large
    chunk = bytearray()
    async with service.part_slot(caller):
        with suppress(ClientDisconnect):
            async for part in request.stream():
                chunk += part
                if len(chunk) > CHUNK:
                    raise too_large
            return {"bytes": await _on_disk(uploads.append, caller, upload, name, offset, bytes(chunk))}
    # nobody is there to read this
    return {"bytes": offset}


@router.post("/uploads/{upload}", summary="Ingest an upload", status_code=202)
async def start_upload(request: Request, caller: CallerDep, upload: UploadId, body: IngestRequest) -> UploadState:
    """Ingest the files in a process of its own. The graph answers as before until that is complete."""
    terms = {"replace_graph": body.replace, "add": body.add}
    state = await _on_disk(_uploads(request).start, caller, upload, body.graph, **terms)
    report_deed(caller, "uploaded", graph=body.graph, id=upload, files=len(state.files))
    return state


@router.get("/uploads/{upload}", summary="Follow an upload")
async def upload_state(request: Request, caller: CallerDep, upload: UploadId) -> UploadState:
    """Its phase, its files, and what the ingest printed: stages, what was found, what was left out and why."""
    return await _on_disk(_uploads(request).state, caller, upload)


@router.delete("/uploads/{upload}", summary="Stop an upload", status_code=204)
async def cancel_upload(request: Request, caller: CallerDep, upload: UploadId) -> None:
    """Stop its ingest, or remove its files."""
    await _on_disk(_uploads(request).cancel, caller, upload)


@router.delete("/graphs/{graph}", summary="Delete a graph", status_code=204)
async def delete_graph(
    service: TurnServiceDep, caller: CallerDep, graph: str, confirm: Annotated[str, Query(max_length=64)]
) -> None:
    """Delete a graph, all its versions, shared answers and verified questions about it; `confirm` repeats its name.
    Turns that read it now end as usual."""
    check_may_write(caller)
    if confirm != graph:
        raise ConfigError("To delete a graph, repeat its name as `confirm`.")
    missing = NotFound(f"No graph named {graph!r}. List them at /api/graphs.")
    if not caller.may_read(graph):
        raise missing
    try:
        # a later graph of this name must not bring them back, even if the server is killed in between
        await _revoke_answers(service, graph)
    except ConversationStoreError as error:
        log.warning("shared answers of %s are revoked after it: %s", graph, error)
    try:
        await _on_disk(service.library.remove, graph)
    except GraphNotFound:
        raise missing from None
    report_deed(caller, "deleted a graph", graph=graph)
    await _revoke_answers(service, graph)


async def _revoke_answers(service: TurnService, graph: str) -> None:
    if service.threads is not None:
        await run_in_thread(service.threads.conversations.delete_shares, graph)


async def _on_disk(work: Callable[P, T], *arguments: P.args, **named: P.kwargs) -> T:
    """Run it in a thread; raises StorageUnavailable if the disk is full or fails."""
    try:
        return await run_in_thread(work, *arguments, **named)
    except OSError as error:
        log.error("an upload could not be read or written: %s", error)
        why = error.strerror or type(error).__name__
        raise StorageUnavailable(f"The files of the server can't be read or written now ({why}). Try again.") from error


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
        """A new upload, in place of the oldest of too many if nobody goes on with it. Raises Forbidden, ConfigError."""
        check_may_write(caller)
        self._home.mkdir(mode=0o700, exist_ok=True)
        own = [state for state in self.tidy() if state.owner == caller.owner and state.phase == "receiving"]
        if len(own) >= MAX_UPLOADS:
            idle, oldest = max((self._idle_seconds(each.upload), each.upload) for each in own)
            if idle < IDLE_SECONDS:
                raise ConfigError("Too many uploads are not complete. Delete one, or try again later.")
            shutil.rmtree(self._home / oldest, ignore_errors=True)
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
        name = safe_name(name)
        ending = Path(name).suffix.lower()
        if not (format_from_name(name) or ending in (*readable_formats(), *LAYERS, *DATABASES)):
            raise ConfigError(
                f"{name} is no RDF file, table, document, layer or database. "
                "Send .ttl, .nt, .rdf, .csv, .xlsx, .md, .pdf, .yaml or .sqlite."
            )
        with self._receiving(caller, upload) as state:
            sizes = dict(state.files)
            if name not in sizes and len(sizes) >= MAX_FILES:
                raise ConfigError(f"An upload has at most {MAX_FILES} files.")
            if offset != sizes.get(name, 0):
                raise ConfigError(f"{name} has {sizes.get(name, 0)} bytes so far. Continue there.")
            if sum(sizes.values()) + len(chunk) > self._max_bytes:
                raise ConfigError(f"An upload has at most {self._max_bytes / 1e6:g} MB. Use the command line instead.")
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

    def received_file(self, caller: Caller, upload: str, name: str) -> Path:
        """A file of the caller's upload. Raises NotFound."""
        if name not in dict(self.state(caller, upload).files):
            raise NotFound("There is no such file.")
        return self._home / upload / FILES / name

    @contextmanager
    def _receiving(self, caller: Caller, upload: str) -> Iterator[UploadState]:
        """The state of an upload that is not complete, which no other request changes meanwhile."""
        complete = ConfigError("This upload is complete. Begin a new one.")
        if self.state(caller, upload).phase != "receiving":
            raise complete
        folder = os.open(self._home / upload / FILES, os.O_RDONLY)
        try:
            fcntl.flock(folder, fcntl.LOCK_EX)
            if (state := self.state(caller, upload)).phase != "receiving":
                raise complete
            yield state
        finally:
            os.close(folder)

    def start(self, caller: Caller, upload: str, graph: str, *, replace_graph: bool, add: bool = False) -> UploadState:
        """Ingest the files into a graph, in the background. Raises ConfigError: name, no files, graph exists, busy."""
        self.state(caller, upload)
        self._check_graph(caller, graph, replace_graph=replace_graph or add)
        with self._receiving(caller, upload) as state:
            if not state.files:
                raise ConfigError("Send files first.")
            return self._run(replace(state, graph=graph), command_of_files(self._home / upload / FILES, graph, add=add))

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
            raise Forbidden("You may not write this graph.")
        if (self._data / graph / "current").exists() and not replace_graph:
            raise ConfigError(
                f"There is a graph {graph!r} already. Confirm that it is replaced or added to, or name another."
            )

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
                    env=ingest_environment(os.environ) | {"NACRE_DATA": str(self._data)},
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

    def _idle_seconds(self, upload: str) -> float:
        """The seconds since a part of its files arrived."""
        folder = self._home / upload
        return time.time() - max(path.stat().st_mtime for path in (folder, *(folder / FILES).glob("*")))

    def close(self) -> None:
        """End a running ingest; the graph keeps its earlier version."""
        if (running := self._running) is not None:
            _end(running)

    def _lock(self) -> int | None:
        """The lock of the one ingest, until it and its copies in other processes are closed; None if it is taken."""
        # of the folder: no file has to be created, which a full disk prevents
        lock = os.open(self._home, os.O_RDONLY)
        if try_lock(lock):
            return lock
        os.close(lock)
        return None

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
        if code != 0:
            with suppress(FileNotFoundError):
                before = (folder / (CANCELLED if cancelled else BEFORE)).read_bytes()
                published = self._version(state.graph) != before
        phase: Phase = "done" if code == 0 or published else "cancelled" if cancelled else "failed"
        log.info("%s into %s: %s", "attachment" if state.address else "upload", state.graph, phase)
        shutil.rmtree(folder / FILES, ignore_errors=True)
        silent = "" if self._lines(folder) else f"Its process ended with the exit code {code} and printed nothing."
        ended = replace(state, phase=phase, reason=REASONS.get(code, silent) if phase == "failed" else "")
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
        # a relative path may be a word, or the end of one
        for path in ((folder / FILES).resolve(), folder / FILES, self._data.resolve(), self._data):
            before, after = (r"(?<![\w.-])", r"(?:/|(?![\w-]))") if path.is_absolute() else (r"(?<![\w/.-])", "/")
            text = re.sub(f"{before}{re.escape(str(path))}{after}", "", text)
        # a reason stays without the command that it ends in
        last = (line.rstrip("\r").rpartition("\r")[2] for line in text.split("\n"))
        commands = ((line, COMMAND.search(line)) for line in last)
        lines = [line[: line.rfind(". ", 0, at.start()) + 1] if at is not None else line for line, at in commands]
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


def _uploads(request: Request) -> Uploads:
    uploads: Uploads = request.app.state.uploads
    return uploads


def add_uploads(app: FastAPI, *, alone: bool) -> None:
    """Add the routes."""
    app.state.uploads = _open(app.state.settings)
    app.include_router(router)


@asynccontextmanager
async def end_uploads(app: FastAPI) -> AsyncIterator[None]:
    """End what a server that was killed left in the middle, and at the end the ingest of this one."""
    with suppress(OSError):
        await run_in_thread(app.state.uploads.tidy)
    try:
        yield
    finally:
        await run_in_thread(app.state.uploads.close)


def stored_uploads(settings: Settings, owner: str) -> Iterator[dict[str, Any]]:
    """The uploads of an owner on this machine, as `nacre person` shows them."""
    states = _open(settings).tidy() if (settings.data / FOLDER).exists() else []
    yield from ({"what": "upload", **vars(each)} for each in states if each.owner == owner)


def forget_uploads(settings: Settings, owner: str) -> None:
    """Stop or remove the uploads of an owner."""
    for each in stored_uploads(settings, owner):
        _open(settings).cancel(Caller(owner, may=RIGHTS), each["upload"])


def _open(settings: Settings) -> Uploads:
    return Uploads(settings.data, settings.max_upload, settings.attach_hosts)


FOLDER, FILES, STATE, OUTPUT = "_uploads", "files", "state.json", "output.txt"

# what named the graph's version before an ingest; to stop it, the file is renamed, which no full disk prevents
BEFORE, CANCELLED = "before", "cancelled"

CHUNK = 8 << 20  # bytes of one request; a whole file comes in as many as it takes

MAX_FILES, MAX_UPLOADS = 200, 4

# a part of a file takes less on a slow line (given)
IDLE_SECONDS = 300

MAX_LINES, MAX_LINE = 200, 300

# uploads that nobody continued are removed; an ingest that takes longer is ended
STALE_SECONDS, INGEST_SECONDS = 86_400.0, 3600

POLL_SECONDS, STOP_SECONDS, LOCK_SECONDS = 0.3, 10.0, 2.0

# what the command line suggests to run next, with the folder of Python, or to add
COMMAND, EXAMPLES = re.compile(" -m (?:nacre|pip) | with --[a-z]"), "It answers, for example:"

# what an ingest gets of the environment: where things are, the settings, and the logins of stores it writes to
ENVIRONMENT = re.compile(
    r"NACRE_\w+|PATH|HOME|USER|LOGNAME|TZ|TMPDIR|LANG|LANGUAGE|LC_\w+|PYTHON\w+|VIRTUAL_ENV|LD_LIBRARY_PATH|\w+_NUM_THREADS"
    r"|SSL_CERT_\w+|\w+_CA_BUNDLE|(?:HTTPS?|ALL|NO)_PROXY|XDG_\w+|HF_(?:HOME|ENDPOINT|HUB_\w+)|AWS_\w+",
    re.IGNORECASE,
)
# settings that reading data needs none of
WITHHELD = frozenset(f"NACRE_{name}" for name in ("LOGIN_SECRET", "OPENAI_API_KEY", "LANGSMITH_API_KEY", "MODEL_PROXY"))

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


def ingest_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """What a process that reads the files of others may know of the environment.

    >>> ingest_environment({"PATH": "/bin", "NACRE_PORT": "1", "NACRE_LOGIN_SECRET": "s", "OPENAI_API_KEY": "s"})
    {'PATH': '/bin', 'NACRE_PORT': '1'}
    """
    names = [name for name in environment if ENVIRONMENT.fullmatch(name) and name.upper() not in WITHHELD]
    return {name: environment[name] for name in names}


def check_may_write(caller: Caller) -> None:
    """Raise Forbidden unless a caller may change graphs."""
    caller.require("write", "add or delete graphs")


def _read(folder: Path) -> UploadState | None:
    try:
        return UploadState(**json.loads((folder / STATE).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def _end(process: "subprocess.Popen[bytes]") -> None:
    """End a process and those that it started: as Ctrl-C does, then by force."""
    for number in (signal.SIGINT, signal.SIGKILL):
        with suppress(ProcessLookupError, subprocess.TimeoutExpired):
            os.killpg(process.pid, number)
            process.wait(STOP_SECONDS)
            return
