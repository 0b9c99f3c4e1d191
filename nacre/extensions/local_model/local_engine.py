"""Run a model file in this process: EngineOptions -> a llama.cpp server at a private socket, started at first use."""

import atexit
import hashlib
import importlib.util
import logging
import os
import secrets
import shutil
import socket
import tempfile
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Protocol

import httpx

log = logging.getLogger(__name__)

BINDING = "xllamacpp"

# shorter prefixes are processed within about three seconds (measured: 90 tokens a second on two cores)
MIN_PREFIX_LENGTH = 1000

# the states of about fifteen prefixes of a model with 1.5 billion parameters (28 KB a token)
MAX_STATES_BYTES = 1_000_000_000

# memory for earlier prompts besides the last one
MEMORY_MIB = 512

SLOT = "/slots/0"

# a cancelled call ends within this number of prompt tokens; this takes 6 % more processor time than 256 (measured)
BATCH = 64


@dataclass(frozen=True)
class EngineOptions:
    """The model file and its options. `context` in tokens; `threads` None: one for each processor; `states` is a
    folder."""

    file: Path
    context: int
    threads: int | None
    states: Path


# all engines of this process, in the order of their first request
ENGINES: "list[LocalEngine]" = []


class RunningServer(Protocol):
    """A running server; it stops when it is dropped."""

    @property
    def listening_address(self) -> str: ...


# options, socket, and key -> a running server
Start = Callable[[EngineOptions, str, str], RunningServer]


class LocalEngine:
    """One model in this process. `url` and `uds` are its address after `ready` has returned."""

    def __init__(self, load: EngineOptions, start: Start) -> None:
        self.load = load
        self.key = secrets.token_hex(16)
        self.url, self.uds = "http://local", ""
        self._start = start
        self._guard = threading.Lock()
        self._running: RunningServer | None = None
        self._home = ""
        self._present = ""

    def ready(self) -> None:
        """Load the model once, which takes seconds. Raises RuntimeError if it can't be loaded."""
        with self._guard:
            if self._running is not None:
                return
            self.load.states.mkdir(parents=True, exist_ok=True)
            # its threads must end before the interpreter, even while the model loads
            atexit.register(self.stop)
            # only this user has access
            self._home = tempfile.mkdtemp(prefix="nacre-")
            try:
                self._running = self._start(self.load, self._home, self.key)
            except BaseException:
                shutil.rmtree(self._home, ignore_errors=True)
                raise
            address = self._running.listening_address
            if address.startswith("unix://"):
                self.uds = address.removeprefix("unix://")
            else:
                self.url = address
            log.info("%s is loaded, %d tokens of context", self.load.file.name, self.load.context)

    def stop(self) -> None:
        """Unload the model; the next request loads it again."""
        with self._guard:
            self._running = None
            self._present = ""
            shutil.rmtree(self._home, ignore_errors=True)
        atexit.unregister(self.stop)

    def restore_state(self, head: str) -> None:
        """Restore the state of a prompt prefix from disk, if it exists and is not the current one."""
        key = self._key(head)
        if not key or key == self._present:
            return
        file = self._file(key)
        # only restore existing states: a server that fails to restore drops its current state
        if file.exists():
            if self._slot("restore", file.name):
                os.utime(file)
            else:
                file.unlink(missing_ok=True)
        self._present = ""

    def save_state(self, head: str) -> None:
        """Save the state of a prompt prefix that was just processed, if it is not on disk yet."""
        key = self._key(head)
        if not key:
            self._present = ""
            return
        self._present = key
        file = self._file(key)
        half = f"{key}.{os.getpid()}.half"
        if not file.exists() and self._slot("save", half):
            try:
                (self.load.states / half).replace(file)
            except OSError as error:
                log.warning("the state of a prompt can't be kept: %s", error)
            self._clear()

    def _slot(self, action: str, filename: str) -> bool:
        transport = httpx.HTTPTransport(uds=self.uds or None)
        try:
            with httpx.Client(transport=transport, base_url=self.url, headers=self.headers, timeout=30.0) as client:
                answer = client.post(SLOT, params={"action": action}, json={"filename": filename})
        except httpx.HTTPError as error:
            log.warning("can't %s the state of a prompt: %s", action, error)
            return False
        if answer.status_code != httpx.codes.OK:
            log.warning("can't %s the state of a prompt: %s", action, answer.text[:200])
        return answer.status_code == httpx.codes.OK

    @property
    def headers(self) -> dict[str, str]:
        """The headers that each request needs."""
        return {"authorization": f"Bearer {self.key}"}

    def _key(self, head: str) -> str:
        """The name of a prefix's state, the same in every process; "" if it is too short to be saved."""
        if len(head) < MIN_PREFIX_LENGTH:
            return ""
        stat = self.load.file.stat()
        of = (self.load.file.name, stat.st_size, stat.st_mtime_ns, self.load.context, head)
        return hashlib.sha256(repr(of).encode()).hexdigest()[:32]

    def _file(self, key: str) -> Path:
        return self.load.states / f"{key}.state"

    def _clear(self) -> None:
        """Delete the least recently used states beyond the space limit."""
        files = sorted(self.load.states.glob("*.state"), key=lambda file: -file.stat().st_mtime)
        taken = 0
        for file in files:
            taken += file.stat().st_size
            if taken > MAX_STATES_BYTES and file != files[0]:
                file.unlink(missing_ok=True)


@cache
def shared_engine(load: EngineOptions) -> LocalEngine:
    """The engine of this process with these options; all turns share it."""
    made = LocalEngine(load, llama_server)
    ENGINES.append(made)
    return made


def stop_engines() -> None:
    """Unload all models of this process; the next request loads them again."""
    for each in ENGINES:
        each.stop()


def is_installed() -> bool:
    """Whether the binding is installed."""
    return importlib.util.find_spec(BINDING) is not None


def llama_server(load: EngineOptions, home: str, key: str) -> RunningServer:
    """llama.cpp's own server, in this process."""
    import xllamacpp

    params: Any = xllamacpp.CommonParams()
    params.model.path, params.model_alias = str(load.file), {load.file.stem}
    params.n_ctx, params.n_parallel = load.context, 1
    params.n_batch = params.n_ubatch = BATCH
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    params.cpuparams.n_threads = load.threads or processors
    params.slot_save_path = f"{load.states}{os.sep}"
    params.cache_ram_mib = MEMORY_MIB
    params.api_keys = [key]
    params.ui, params.warmup, params.verbosity = False, False, 0
    if hasattr(socket, "AF_UNIX") and os.name == "posix":
        params.hostnames = [os.path.join(home, "model.sock")]
    else:
        # without socket files: a free port on localhost, protected by the key
        params.hostnames, params.port = ["127.0.0.1"], 0
    server: RunningServer = xllamacpp.Server(params)
    return server
