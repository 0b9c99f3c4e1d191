"""Uploads in any order, with a server that is killed, also within a request, and a disk that is full in between.

The server is a process, its files and locks are real; what it starts is a program that publishes files as an ingest
does, when it is ordered to.
"""

import os
import resource
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from multiprocessing.connection import Client, Connection, Listener
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from nacre.errors import ConfigError
from nacre.extensions.uploads.routes import FOLDER, MAX_UPLOADS, Uploads, UploadState
from nacre.serving.errors import NotFound
from nacre.serving.keys import Caller

OWNERS, GRAPHS = ("ann", "bo"), ("kites", "boats")
ADDRESS, HOST = "http://store.example/sparql", "store.example"
# which upload: the latest more often
PICKS = st.sampled_from([0, 0, 0, 1, 1, 2, 3, 4, 5])
# seconds from a request to a kill
WAITS = st.sampled_from([0, 0.0003, 0.001, 0.002, 0.004, 0.01])
# bytes that a file may have on a full disk: a part of a file is written in part
FULL, WAIT_SECONDS = 5, 20
PROGRAM = """
import os, sys, time
from pathlib import Path
data, graph, (kind, *arguments) = Path(os.environ["NACRE_DATA"]), sys.argv[-1], sys.argv[1:-2]
def read_order():
    if os.getppid() != int(os.environ["SERVER"]):
        # at once, not when it is looked for the next time
        sys.exit(1)
    time.sleep(0.01)
    return (data / "order").read_text() if (data / "order").exists() else ""
while not (order := read_order()):
    pass
if order == "fail":
    sys.exit("it can't be read")
(data / graph).mkdir(exist_ok=True)
texts = [Path(each).read_text() for each in arguments] if kind == "ingest" else arguments
(data / graph / "new").write_text("".join(texts))
os.replace(data / graph / "new", data / graph / "current")
while read_order() == "publish":
    pass
"""
# Python, but what would run `nacre` runs the program
PYTHON = """#!/bin/sh
export SERVER=$3 PYTHONPATH="$PYTHONPATH:${{0%/*}}"
start="$1 $2 $3 $4" && shift 5 && exec {python} $start program "$@"
"""


def fork_servers(socket: str, python: str) -> None:
    """For each connection, fork a server of a data folder: its process, then results or errors of calls."""
    sys.executable = python
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    with Listener(socket) as listener:
        print(flush=True)
        while True:
            requests = listener.accept()
            if not os.fork():
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                serve(requests)
            requests.close()


def serve(requests: "Connection[Any, Any]") -> None:
    uploads = Uploads(requests.recv(), 1, HOST)
    uploads.tidy()
    requests.send(os.getpid())
    while True:
        name, arguments, named = requests.recv()
        try:
            if name == "limit":
                resource.setrlimit(resource.RLIMIT_FSIZE, (arguments[0], resource.RLIM_INFINITY))
                requests.send(None)
            else:
                requests.send(getattr(uploads, name)(*arguments, **named))
        except (ConfigError, NotFound, OSError) as error:
            requests.send(error)


class Expected(NamedTuple):
    """What an upload should be."""

    owner: str
    phase: str = "receiving"
    graph: str = ""
    files: tuple[tuple[str, bytes], ...] = ()


def caller(owner: str) -> Caller:
    return Caller(owner, may=("write",))


class UploadMachine(RuleBasedStateMachine):
    """Requests, orders for the ingest, kills and a full disk; `expected` has what should be there.

    What a request in which the server is killed has done is not known before, so which rules may follow, and what they
    may choose, does not depend on it.
    """

    # of the socket and the programs
    place: ClassVar[Path]

    @initialize()
    def begin_server(self) -> None:
        self.data = Path(tempfile.mkdtemp())
        (self.data / FOLDER).mkdir()
        self.expected: dict[str, Expected] = {}
        self.graphs: dict[str, bytes] = {}
        self.is_full, self.running, self.is_published = False, "", False
        # folders of uploads that were killed before their beginning was complete
        self.unbegun: set[str] = set()
        self.start_server()

    def start_server(self) -> None:
        self.requests = Client(str(self.place / "socket"))
        self.requests.send(self.data)
        self.server = self.requests.recv()
        if self.is_full:
            self.call("limit", FULL)

    def send(self, name: str, *arguments: Any, **named: Any) -> None:
        self.requests.send((name, arguments, named))

    def call(self, name: str, *arguments: Any, **named: Any) -> Any:
        self.send(name, *arguments, **named)
        assert self.requests.poll(WAIT_SECONDS), f"no reply to {name}"
        return self.requests.recv()

    def state(self, upload: str) -> UploadState | Exception:
        state: UploadState | Exception = self.call("state", caller(self.expected[upload].owner), upload)
        return state

    def settled(self, upload: str) -> UploadState:
        """The state of an upload that is not running any more."""
        until = time.monotonic() + WAIT_SECONDS
        while time.monotonic() < until:
            state = self.state(upload)
            assert isinstance(state, UploadState), state
            if state.phase != "running":
                return state
            time.sleep(0.01)
        raise AssertionError("it runs for ever")

    def kill(self) -> None:
        os.kill(self.server, signal.SIGKILL)
        with suppress(EOFError, ConnectionError):
            while True:
                self.requests.recv()
        self.requests.close()
        self.start_server()

    @rule(owner=st.sampled_from(OWNERS))
    def begin(self, owner: str) -> None:
        reply = self.call("begin", caller(owner))
        receiving = [each for each in self.expected.values() if (each.owner, each.phase) == (owner, "receiving")]
        if len(receiving) >= MAX_UPLOADS:
            assert isinstance(reply, ConfigError)
        elif self.is_full:
            assert isinstance(reply, OSError)
        else:
            self.expected[reply.upload] = Expected(owner)

    @rule(
        pick=PICKS,
        name=st.sampled_from(["a.ttl", "b.ttl"]),
        size=st.integers(0, 20),
        early=st.sampled_from([False, False, False, True]),
    )
    def write(self, pick: int, name: str, size: int, early: bool) -> None:
        upload, known = self.picked(pick)
        files = dict(known.files)
        content, chunk = files.get(name, b""), bytes(97 + at % 26 for at in range(size))
        reply = self.call("append", caller(known.owner), upload, name, len(content) + early, chunk)
        if known.phase != "receiving" or early:
            assert isinstance(reply, ConfigError)
            return
        if self.is_full and size and len(content) + size > FULL:
            assert isinstance(reply, OSError)
            # without the part that was written of it
            files.setdefault(name, b"")
        else:
            assert reply == len(content) + size
            files[name] = content + chunk
        self.expected[upload] = known._replace(files=tuple(sorted(files.items())))

    @rule(pick=PICKS, graph=st.sampled_from(GRAPHS), replace=st.booleans())
    def start(self, pick: int, graph: str, replace: bool) -> None:
        upload, known = self.picked(pick)
        (self.data / "order").unlink(missing_ok=True) if not self.running else None
        reply = self.call("start", caller(known.owner), upload, graph, replace_graph=replace)
        if known.phase != "receiving" or not known.files or self.running or (graph in self.graphs and not replace):
            assert isinstance(reply, ConfigError)
        elif self.is_full:
            assert isinstance(reply, OSError)
        else:
            assert reply.phase == "running"
            self.has_started(upload, known._replace(phase="running", graph=graph))

    @rule(owner=st.sampled_from(OWNERS), graph=st.sampled_from(GRAPHS))
    def attach(self, owner: str, graph: str) -> None:
        (self.data / "order").unlink(missing_ok=True) if not self.running else None
        reply = self.call("attach", caller(owner), ADDRESS, graph, replace_graph=True)
        if isinstance(reply, UploadState):
            assert not self.running
            assert not self.is_full
            self.has_started(reply.upload, Expected(owner, "running", graph))
            return
        receiving = [each for each in self.expected.values() if (each.owner, each.phase) == (owner, "receiving")]
        assert self.running or self.is_full or len(receiving) >= MAX_UPLOADS, reply

    def picked(self, pick: int) -> tuple[str, Expected]:
        """One of the uploads that there are, the latest ones first; begins one if there is none."""
        if not self.expected:
            self.fill_or_free_the_disk(False)
            self.begin(OWNERS[0])
        uploads = list(self.expected)
        upload = uploads[-1 - pick % len(uploads)]
        return upload, self.expected[upload]

    @rule(pick=PICKS, graph=st.sampled_from(GRAPHS), full=st.booleans())
    def send_and_start(self, pick: int, graph: str, full: bool) -> None:
        self.fill_or_free_the_disk(False)
        self.write(pick, "a.ttl", 10, early=False)
        self.fill_or_free_the_disk(full)
        self.begin(OWNERS[1])
        self.start(pick + (not full), graph, replace=True)

    def has_started(self, upload: str, known: Expected) -> None:
        self.expected[upload] = known
        self.running, self.is_published = upload, False

    def published(self) -> bytes:
        known = self.expected[self.running]
        return b"".join(content for _, content in known.files) or ADDRESS.encode()

    def has_ended(self, phase: str) -> None:
        """What ran is in a phase now, with a reason if it failed, and its files are gone."""
        state = self.settled(self.running)
        assert state.phase == phase, state
        assert phase != "failed" or state.lines or state.reason
        self.expected[self.running] = self.expected[self.running]._replace(phase=phase, files=())
        self.running = ""

    @rule(order=st.sampled_from(["done", "fail", "publish"]))
    def ingest(self, order: str) -> None:
        """The ingest publishes and ends, fails, or publishes and goes on, as with vectors."""
        if not self.running or (self.is_published and order != "done"):
            return
        known, content = self.expected[self.running], self.published()
        (self.data / "new-order").write_text(order)
        os.replace(self.data / "new-order", self.data / "order")
        if order == "publish":
            pointer = self.data / known.graph / "current"
            until = time.monotonic() + WAIT_SECONDS
            before, self.is_published = self.graphs.get(known.graph), True
            while before != content and (not pointer.exists() or pointer.read_bytes() == before):
                assert time.monotonic() < until, "it is not published"
                time.sleep(0.01)
            self.is_published = before != content
            self.graphs[known.graph] = content
            return
        if order == "done":
            self.graphs[known.graph] = content
        self.has_ended("failed" if order == "fail" else "done")

    @rule(pick=PICKS)
    def cancel(self, pick: int) -> None:
        upload, known = self.picked(pick)
        assert self.call("cancel", caller(known.owner), upload) is None
        if known.phase == "running":
            self.has_ended("done" if self.is_published else "cancelled")
        else:
            del self.expected[upload]

    @rule()
    def kill_between_requests(self) -> None:
        self.kill()
        if self.running:
            self.has_ended("done" if self.is_published else "failed")

    def kill_within(self, wait: float, name: str, *arguments: Any, **named: Any) -> None:
        self.send(name, *arguments, **named)
        time.sleep(wait)
        self.kill()

    @rule(what=st.sampled_from(["begin", "attach"]), wait=WAITS)
    def kill_within_a_beginning(self, what: str, wait: float) -> None:
        if self.running:
            return
        (self.data / "order").unlink(missing_ok=True)
        arguments = [ADDRESS, GRAPHS[0]] if what == "attach" else []
        named = {"replace_graph": True} if what == "attach" else {}
        self.kill_within(wait, what, caller(OWNERS[0]), *arguments, **named)
        for upload in self.folders() - set(self.expected) - self.unbegun:
            self.expected[upload] = Expected(OWNERS[0])
            if isinstance(self.state(upload), NotFound):
                del self.expected[upload]
                self.unbegun.add(upload)
                continue
            self.expected[upload] = Expected(OWNERS[0], self.settled(upload).phase)
            assert self.expected[upload].phase in ("receiving", "failed")

    @rule(pick=PICKS, what=st.sampled_from(["append", "start", "cancel"]), wait=WAITS)
    def kill_within_a_request(self, pick: int, what: str, wait: float) -> None:
        """What was asked for has happened or has not; nothing lies between."""
        upload, known = self.picked(pick)
        if self.running:
            return
        (self.data / "order").unlink(missing_ok=True)
        content = dict(known.files).get("a.ttl", b"")
        part: list[Any] = ["a.ttl", len(content), b"x" * 100_000]
        arguments = {"append": part, "start": ["kites"]}.get(what, [])
        named = {"replace_graph": True} if what == "start" else {}
        self.kill_within(wait, what, caller(known.owner), upload, *arguments, **named)
        if isinstance(self.state(upload), NotFound):
            assert what == "cancel"
            del self.expected[upload]
            return
        state = self.settled(upload)
        if state.phase != known.phase:
            assert (what, state.phase, bool(state.reason)) == ("start", "failed", True)
            self.expected[upload] = known._replace(phase="failed", files=())
        elif what == "append" and state.files:
            # a part of it may be there: the size says where to continue
            files = dict(known.files) | {name: self.file(upload, name) for name, _ in state.files}
            assert files.get("a.ttl", b"").rstrip(b"x") == content.rstrip(b"x")
            self.expected[upload] = known._replace(files=tuple(sorted(files.items())))

    @rule(wait=WAITS)
    def kill_while_an_ingest_is_stopped(self, wait: float) -> None:
        if not self.running:
            return
        upload, phases = self.running, {"done"} if self.is_published else {"cancelled", "failed"}
        self.kill_within(wait, "cancel", caller(self.expected[upload].owner), upload)
        phase = self.settled(upload).phase
        assert phase in phases
        self.has_ended(phase)

    @rule(full=st.booleans())
    def fill_or_free_the_disk(self, full: bool) -> None:
        self.is_full = full
        self.call("limit", FULL if full else resource.RLIM_INFINITY)

    def folders(self) -> set[str]:
        return {path.name for path in (self.data / FOLDER).iterdir()}

    def file(self, upload: str, name: str) -> bytes:
        return (self.data / FOLDER / upload / "files" / name).read_bytes()

    @invariant()
    def all_is_as_expected(self) -> None:
        if not hasattr(self, "expected"):
            return
        for upload, known in self.expected.items():
            state = self.state(upload)
            assert isinstance(state, UploadState), (state, known)
            assert state.phase == known.phase, (state, known)
            assert [(name, self.file(upload, name)) for name, _ in state.files] == list(known.files)
            other = next(owner for owner in OWNERS if owner != known.owner)
            assert isinstance(self.call("state", caller(other), upload), NotFound)
        for graph in GRAPHS:
            with suppress(FileNotFoundError):
                assert (self.data / graph / "current").read_bytes() == self.graphs.get(graph), graph
        assert self.folders() == set(self.expected) | self.unbegun

    def teardown(self) -> None:
        if hasattr(self, "server"):
            os.kill(self.server, signal.SIGKILL)
            self.requests.close()
            shutil.rmtree(self.data, ignore_errors=True)


class TestUploads(UploadMachine.TestCase):  # type: ignore[misc,valid-type]
    # the moment of a kill is another one each time, so a sequence that fails can't be made shorter
    settings = settings(
        max_examples=20, stateful_step_count=25, phases=[Phase.generate], suppress_health_check=[HealthCheck.too_slow]
    )

    @classmethod
    def setUpClass(cls) -> None:
        place = UploadMachine.place = Path(tempfile.mkdtemp())
        (place / "program.py").write_text(PROGRAM)
        python = place / "python"
        python.write_text(PYTHON.format(python=sys.executable))
        python.chmod(stat.S_IRWXU)
        command = [sys.executable, __file__, str(place / "socket"), str(python)]
        environment = os.environ | {"PYTHONPATH": os.getcwd()}
        cls.forking = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE)
        cls.forking.stdout.readline()

    @classmethod
    def tearDownClass(cls) -> None:
        with cls.forking:
            cls.forking.kill()
        shutil.rmtree(UploadMachine.place)


if __name__ == "__main__":
    fork_servers(*sys.argv[1:])
