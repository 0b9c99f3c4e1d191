import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, TypeVar

import httpx
import pytest

from tests.e2e.forked import WATCH, Forked, Streams, run_forked

ROOT = Path(__file__).parents[2]
GRAPHS = ROOT / "tests/fixtures/graphs"
# what the event loops of all servers under test took too long for; see watch/sitecustomize.py
LOOP_TOLD = Path(tempfile.gettempdir()) / f"nacre-loops-{os.getpid()}.txt"
Nacre = Callable[..., "subprocess.CompletedProcess[str]"]
MOST_FILES = 2000

# how a server ends that a test ended: by itself, or by a signal that tests send
ENDED_BY_TESTS = (None, 0, -signal.SIGHUP, -signal.SIGINT, -signal.SIGKILL, -signal.SIGTERM)


def environment(data: Path) -> dict[str, str]:
    """The environment of a person who has set nothing but where the data lies."""
    inherited = {
        key: value for key, value in os.environ.items() if not key.startswith(("NACRE_", "OPENAI_", "OLLAMA_"))
    }
    path = f"{WATCH}{os.pathsep}{ROOT}"
    ours = {"NACRE_DATA": str(data), "LANGSMITH_TRACING": "false", "PYTHONPATH": path}
    return {**inherited, **ours}


# root may write anywhere, unless it gives up the capability to do so
WITHOUT_CAPABILITY = [
    "setpriv",
    "--bounding-set=-dac_override,-dac_read_search",
    "--inh-caps=-dac_override,-dac_read_search",
]


def command(data: Path, folder: Path, before: Sequence[str] = ()) -> Nacre:
    """Runs the command line to its end, by the command `before` if there is one."""

    def run(*arguments: object, stdin: str = "", **settings: str) -> "subprocess.CompletedProcess[str]":
        words, surroundings = list(map(str, arguments)), {**environment(data), **settings}
        if not before:
            return run_forked(words, surroundings, folder, stdin, timeout=120)
        return subprocess.run(
            [*before, sys.executable, "-m", "nacre.serving.cli.main", *words],
            input=stdin,
            capture_output=True,
            text=True,
            cwd=folder,
            env=surroundings,
            timeout=120,
        )

    return run


@contextmanager
def ingested(data: Path, folder: Path, name: str) -> Iterator[None]:
    """The file NAME.ttl of a folder as the graph NAME, which is removed at the end."""
    nacre = command(data, folder)
    assert nacre("ingest", folder / f"{name}.ttl", "--graph", name, "--no-vectors").returncode == 0
    yield
    assert nacre("remove", "--graph", name).returncode == 0


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


AServer = TypeVar("AServer", Forked, "subprocess.Popen[bytes]")


@contextmanager
def answering(process: AServer, alive: str, log: Path) -> Iterator[AServer]:
    """A server of our own, up when `alive` answers 200; ended by its own process id."""
    try:
        for _ in range(600):
            assert process.poll() is None, log.read_text()[-3000:]
            try:
                if httpx.get(alive, timeout=2).status_code == 200:
                    break
            except httpx.TransportError:
                pass
            time.sleep(0.1)
        else:
            raise AssertionError(f"{alive} did not answer in a minute:\n{log.read_text()[-3000:]}")
        yield process
        ended = process.poll()
        assert ended in ENDED_BY_TESTS, f"the server ended with {ended}:\n{log.read_text()[-6000:]}"
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(20)


@contextmanager
def started(
    arguments: list[str], data: Path, folder: Path, alive: str, **settings: str
) -> "Iterator[subprocess.Popen[bytes]]":
    """A server of any program, up when `alive` answers 200."""
    log = folder / f"{Path(arguments[0]).name}-{free_port()}.log"
    surroundings = {**environment(data), **settings}
    with log.open("w") as output:
        process = subprocess.Popen(arguments, cwd=folder, env=surroundings, stdout=output, stderr=output)
        with answering(process, alive, log):
            yield process


@contextmanager
def serving(data: Path, folder: Path, *arguments: str, **settings: str) -> Iterator[tuple[str, Forked]]:
    """A `nacre serve` of one's own: its address, its process."""
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    log = folder / f"serve-{port}.log"
    surroundings = {**environment(data), "LOOP_TOLD": str(LOOP_TOLD), **settings}
    streams = Streams(Path(os.devnull), log, log)
    process = Forked(["serve", "--port", str(port), *arguments], surroundings, folder, streams)
    with answering(process, f"{address}/healthz", log):
        yield address, process


class Disk:
    """A disk of one's own that can be filled: a tmpfs at `place`."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self._filler = place / "filler"

    def fill(self, left: int = 0, *, files: bool = False) -> None:
        """Leave so many bytes free; with `files` no further file can be made either."""
        self.free()
        self._filler.mkdir()
        with (self._filler / "bytes").open("wb") as out:
            os.posix_fallocate(out.fileno(), 0, shutil.disk_usage(self.place).free - left)
        try:
            for number in range(MOST_FILES if files else 0):
                (self._filler / str(number)).touch()
        except OSError:
            assert files

    def free(self) -> None:
        """Remove what `fill` made."""
        shutil.rmtree(self._filler, ignore_errors=True)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    """A small disk at tmp_path/data, so that `fresh` works on it; skips where nothing may be mounted."""
    place = tmp_path / "data"
    place.mkdir()
    if shutil.which("mount") is None:
        pytest.skip("no small disk can be made: there is no mount command")
    size = f"size=128m,nr_inodes={MOST_FILES}"
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", size, "tmpfs", place], capture_output=True, text=True)
    if mounted.returncode:
        pytest.skip(f"no small disk can be made: {mounted.stderr.strip()}")
    try:
        yield Disk(place)
    finally:
        # lazily: what a failed test left open must not keep it
        subprocess.run(["umount", "-l", place], check=True)


@pytest.fixture
def serve(tmp_path: Path) -> Callable[..., AbstractContextManager[tuple[str, Forked]]]:
    """Starts a server over a data folder, with settings of its own."""
    return lambda data, *arguments, **settings: serving(data, tmp_path, *arguments, **settings)


@pytest.fixture(scope="session", autouse=True)
def loops() -> Iterator[None]:
    """Fails the session where the event loop of a server stood still for more than 50 ms of work at once."""
    LOOP_TOLD.unlink(missing_ok=True)
    yield
    told = LOOP_TOLD.read_text() if LOOP_TOLD.exists() else ""
    LOOP_TOLD.unlink(missing_ok=True)
    assert not told, f"the event loop stood still:\n{told}"


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with one graph, `reading-room`, made by the real command."""
    folder = tmp_path_factory.mktemp("nacre")
    made = command(folder / "data", folder)("ingest", GRAPHS / "reading_room.ttl", "--graph", "reading-room")
    assert made.returncode == 0, made.stderr
    return folder / "data"


@pytest.fixture
def nacre(data: Path, tmp_path: Path) -> Nacre:
    """Runs the real command line on the shared data folder."""
    return command(data, tmp_path)


@pytest.fixture
def fresh(tmp_path: Path) -> Nacre:
    """Runs the real command line on an empty data folder, tmp_path/data."""
    return command(tmp_path / "data", tmp_path)


@pytest.fixture
def bound(tmp_path: Path) -> Nacre:
    """As `fresh`, bound by the rights of files even where the tests run as root."""
    return command(tmp_path / "data", tmp_path, WITHOUT_CAPABILITY if os.geteuid() == 0 else ())


@pytest.fixture
def begin(tmp_path: Path) -> Iterator[Callable[..., "subprocess.Popen[str]"]]:
    """Starts the real command line and does not wait; what still runs at the end is ended by its process id."""
    running: list[subprocess.Popen[str]] = []

    def start(data: Path, *arguments: object, **settings: str) -> "subprocess.Popen[str]":
        process = subprocess.Popen(
            [sys.executable, "-m", "nacre.serving.cli.main", *map(str, arguments)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=tmp_path,
            env={**environment(data), **settings},
            # whoever starts the tests in the background of a shell has it ignored, and children inherit that
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        running.append(process)
        return process

    yield start
    for process in running:
        if process.poll() is None:
            process.kill()
        process.communicate()


@pytest.fixture(scope="session")
def server(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a running `nacre serve`."""
    with serving(data, tmp_path_factory.mktemp("serve")) as (address, _):
        yield address


@pytest.fixture(scope="module")
def arts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, dict[str, dict[str, str]]]]:
    """The address of a server with two graphs, "arts" and "other", and the headers of two keys: "bo" may read only
    "other"."""
    folder = tmp_path_factory.mktemp("arts")
    nacre = command(folder / "data", folder)
    for name in ("arts", "other"):
        assert nacre("ingest", GRAPHS / "painters.ttl", "--graph", name, "--no-vectors").returncode == 0
    rights = {"ann": (), "bo": ("--graphs", "other")}
    keys = {name: nacre("keys", "add", name, *more).stdout.strip() for name, more in rights.items()}
    with serving(folder / "data", folder) as (address, _):
        yield address, {name: {"Authorization": f"Bearer {key}"} for name, key in keys.items()}


@contextmanager
def in_studio(data: Path, folder: Path, **settings: str) -> Iterator[str]:
    """The address of a running `langgraph dev`, which refuses calls that block its event loop."""
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    # the server keeps threads and looks for .env where it runs; here it must do neither in the checkout
    for name in ("langgraph.json", *(package.parent.name for package in ROOT.glob("*/__init__.py"))):
        (folder / name).symlink_to(ROOT / name)
    program = str(Path(sys.executable).parent / "langgraph")
    arguments = [program, "dev", "--no-browser", "--no-reload", "--port", str(port)]
    with started(arguments, data, folder, f"{address}/ok", **settings):
        yield address


@pytest.fixture(scope="session")
def studio(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a running `langgraph dev` without a model."""
    with in_studio(data, tmp_path_factory.mktemp("studio")) as address:
        yield address


def ask_in_playground(page: Any, address: str, question: str, answer: str) -> None:
    """Ask the reading room in LangServe's playground, in a browser, and wait for the answer."""
    page.goto(f"{address}/ask/playground/")
    page.wait_for_selector("text=Inputs")
    # the form is filled from the schema by a later task of the page, which takes away what was typed before;
    # and what is typed reaches the request only after a pause: both are over when the text outlives a second
    page.wait_for_load_state("networkidle")
    typed = {0: question, 1: "reading-room"}
    for _ in range(20):
        if all(page.locator("textarea").nth(at).input_value() == text for at, text in typed.items()):
            break
        for at, text in typed.items():
            page.locator("textarea").nth(at).fill(text)
        page.wait_for_timeout(1000)
    page.click("text=Start")
    page.wait_for_selector(f"text={answer}")
