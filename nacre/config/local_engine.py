"""A model file that runs in this process: EngineOptions -> a llama.cpp server behind a private socket, started at first
use."""

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
# below it, a head is read again within about three seconds (measured: 90 tokens a second on two cores)
SHORTEST_HEAD = 1000
# the states of about fifteen heads of a model with 1.5 billion parameters (28 KB a token)
MOST_STATES = 1_000_000_000
# earlier prompts that stay in memory beside the one that was read last
MEMORY_MIB = 512
SLOT = "/slots/0"
# a cancelled call ends after so many tokens were read; reading takes 6 % more processor time than by 256 (measured)
BATCH = 64


@dataclass(frozen=True)
class EngineOptions:
    """What is loaded and how. `context` in tokens; `threads` None is one a processor; `states` is a folder."""

    file: Path
    context: int
    threads: int | None
    states: Path


# all of this process, in the order they were first asked for
ENGINES: "list[LocalEngine]" = []


class RunningServer(Protocol):
    """A server that was started; it stops when it is given up."""

    @property
    def listening_address(self) -> str: ...


# what is loaded, the socket it listens at, and the key that it asks for -> the server, ready to answer
Start = Callable[[EngineOptions, str, str], RunningServer]


class LocalEngine:
    """One model in this process. `url` and `uds` say where it answers, once `ready` has returned."""

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
        """Load the model, once; it takes seconds. Raises RuntimeError where it can't be loaded."""
        with self._guard:
            if self._running is not None:
                return
            self.load.states.mkdir(parents=True, exist_ok=True)
            # its threads must end before the interpreter does, even where that happens while it loads
            atexit.register(self.stop)
            # only this user can enter it
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
        """Give the model up; the next request loads it again."""
        with self._guard:
            self._running = None
            self._present = ""
            shutil.rmtree(self._home, ignore_errors=True)
        atexit.unregister(self.stop)

    def recall(self, head: str) -> None:
        """Take the state of a prompt's head from disk, where it is there and not the present one."""
        key = self._key(head)
        if not key or key == self._present:
            return
        file = self._file(key)
        # what is not there must not be asked for: a server that fails to restore forgets what it has read
        if file.exists():
            if self._slot("restore", file.name):
                os.utime(file)
            else:
                file.unlink(missing_ok=True)
        self._present = ""

    def keep(self, head: str) -> None:
        """Write the state of a head that was just read to disk, where it is not there."""
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
        """What each request must bring."""
        return {"authorization": f"Bearer {self.key}"}

    def _key(self, head: str) -> str:
        """The name of a head's state, the same in every process; "" where keeping it is not worth the while."""
        if len(head) < SHORTEST_HEAD:
            return ""
        stat = self.load.file.stat()
        of = (self.load.file.name, stat.st_size, stat.st_mtime_ns, self.load.context, head)
        return hashlib.sha256(repr(of).encode()).hexdigest()[:32]

    def _file(self, key: str) -> Path:
        return self.load.states / f"{key}.state"

    def _clear(self) -> None:
        """Delete the states that were not used for longest, beyond the space they may take."""
        files = sorted(self.load.states.glob("*.state"), key=lambda file: -file.stat().st_mtime)
        taken = 0
        for file in files:
            taken += file.stat().st_size
            if taken > MOST_STATES and file != files[0]:
                file.unlink(missing_ok=True)


@cache
def shared_engine(load: EngineOptions) -> LocalEngine:
    """The engine of this process for what is loaded so: all turns share it."""
    made = LocalEngine(load, llama_server)
    ENGINES.append(made)
    return made


def stop_engines() -> None:
    """Give up all models of this process; who asks again loads again."""
    for each in ENGINES:
        each.stop()


def is_installed() -> bool:
    """Whether the binding is there."""
    return importlib.util.find_spec(BINDING) is not None


def llama_server(load: EngineOptions, home: str, key: str) -> RunningServer:
    """llama.cpp's own server, in this process."""
    import xllamacpp

    params: Any = xllamacpp.CommonParams()
    params.model.path, params.model_alias = str(load.file), {load.file.stem}
    params.n_ctx, params.n_parallel = load.context, 1
    params.n_batch = params.n_ubatch = BATCH
    params.cpuparams.n_threads = load.threads or _processors()
    params.slot_save_path = f"{load.states}{os.sep}"
    params.cache_ram_mib = MEMORY_MIB
    params.api_keys = [key]
    params.ui, params.warmup, params.verbosity = False, False, 0
    if hasattr(socket, "AF_UNIX") and os.name == "posix":
        params.hostnames = [os.path.join(home, "model.sock")]
    else:
        # no socket files there: a free port of this machine alone, which the key protects
        params.hostnames, params.port = ["127.0.0.1"], 0
    server: RunningServer = xllamacpp.Server(params)
    return server


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
