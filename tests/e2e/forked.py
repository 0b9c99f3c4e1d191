"""Commands of Nacre in processes that are forked from one that has imported it, so that a start takes no seconds.

A command gets what a process of its own would get: arguments, environment, folder, standard streams. What depends on
how a process begins or on its rights starts Python itself.
"""

import atexit
import faulthandler
import importlib
import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

WATCH = Path(__file__).with_name("watch")
_fork = multiprocessing.get_context("forkserver")
_OURS = ("nacre.serving.cli.main", "nacre.serving.app", "graph.builder", "ingestion.pipeline")
_IMPORTED_WHEN_NEEDED = ("onnxruntime", "pint", "qdrant_edge", "sqlglot.dialects.sqlite", "tantivy")
_fork.set_forkserver_preload([*_OURS, *_IMPORTED_WHEN_NEEDED, "tests.e2e.warm"])


class Streams(NamedTuple):
    """Files that are standard input, output and error."""

    stdin: Path
    stdout: Path
    stderr: Path


class Forked:
    """A command in a forked process, with the part of `subprocess.Popen` that tests use."""

    def __init__(
        self, arguments: Sequence[str], environment: Mapping[str, str], folder: Path, streams: Streams
    ) -> None:
        self._process = _fork.Process(target=_run, args=(list(arguments), dict(environment), folder, streams))
        self._process.start()
        assert self._process.pid is not None
        self.pid: int = self._process.pid

    def poll(self) -> int | None:
        return self._process.exitcode

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def wait(self, timeout: float = 60) -> int:
        """The exit code; raises subprocess.TimeoutExpired after `timeout` seconds."""
        self._process.join(timeout)
        code = self._process.exitcode
        if code is None:
            raise subprocess.TimeoutExpired("nacre", timeout)
        return code


def run_forked(
    arguments: Sequence[str], environment: Mapping[str, str], folder: Path, stdin: str, timeout: float
) -> subprocess.CompletedProcess[str]:
    """Run a command to its end, which `timeout` seconds may not precede."""
    with tempfile.TemporaryDirectory() as place:
        streams = Streams(*(Path(place) / name for name in Streams._fields))
        streams.stdin.write_text(stdin)
        process = Forked(arguments, environment, folder, streams)
        try:
            code = process.wait(timeout)
        finally:
            process.kill()
        told = (file.read_text() if file.exists() else "" for file in streams[1:])
        return subprocess.CompletedProcess(list(arguments), code, *told)


def _run(arguments: list[str], environment: dict[str, str], folder: Path, streams: Streams) -> None:
    os.dup2(os.open(streams.stdin, os.O_RDONLY), 0)
    for number, file in enumerate(streams[1:], 1):
        os.dup2(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644), number)
    sys.stdin, sys.stdout, sys.stderr = open(0, encoding="utf-8"), open(1, "w"), open(2, "w")  # noqa: SIM115
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    # a crash of native code leaves the stacks of all threads in the log
    faulthandler.enable(file=2)
    # a server ends with the process that supervises it; this one has none
    multiprocessing.process._parent_process = None  # type: ignore[attr-defined]
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if "LOOP_TOLD" in environment:
        # what Python imports by itself in a process that it starts
        sys.modules.pop("sitecustomize", None)
        sys.path.insert(0, str(WATCH))
        importlib.import_module("sitecustomize")
    from nacre.serving.cli.main import main

    sys.argv = ["nacre", *arguments]
    try:
        code = main()
    finally:
        # as at the end of a process of its own; multiprocessing would leave without it
        threading._shutdown()  # type: ignore[attr-defined]
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code)
