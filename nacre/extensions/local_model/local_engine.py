"""Run a model file in this process: EngineOptions -> a llama.cpp server at a private socket, started at first use.

Then the model files on this machine: recommended, downloaded and chosen ones. A recommended model is downloaded from
its address on the hub -> a complete file with the right checksum. Without one, `model_advice` explains
how to get one."""

import atexit
import hashlib
import importlib.util
import logging
import os
import re
import secrets
import shutil
import socket
import tempfile
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import httpx
import yaml

from nacre.config.settings import Settings

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


RECOMMENDED = Path(__file__).parent / "local_models.yaml"

CHOSEN = "chosen"

STATES = "states"

# the first bytes of a GGUF file
MAGIC = b"GGUF"


class RecommendedModel(NamedTuple):
    """A model of `nacre model get`: `gigabytes` on disk, and `memory` in gigabytes at run time, both rounded."""

    name: str
    repo: str
    file: str
    gigabytes: float
    memory: float
    licence: str


@cache
def recommended_models() -> tuple[RecommendedModel, ...]:
    """All models that can be downloaded by name; the first is the default."""
    return tuple(RecommendedModel(**each) for each in yaml.safe_load(RECOMMENDED.read_text("utf-8")))


def recommended_model(name: str | None) -> RecommendedModel:
    """The recommended model with this name. Raises ValueError with the known names."""
    for each in recommended_models():
        if name in (None, each.name, each.file):
            return each
    raise ValueError(
        f"No model named {name!r} to fetch. There are {', '.join(each.name for each in recommended_models())}."
    )


def models_folder(settings: Settings) -> Path:
    """The folder of model files; graph names can't begin with an underscore."""
    return settings.models or settings.data / "_models"


def downloaded_models(folder: Path) -> list[Path]:
    """The model files in the folder, sorted."""
    return sorted(folder.glob("*.gguf"))


def chosen_model(folder: Path) -> Path | None:
    """The file that was chosen last, whether it still exists or not; None if none was chosen."""
    try:
        # relative, so that the folder can be moved
        return folder / (folder / CHOSEN).read_text("utf-8").strip()
    except FileNotFoundError:
        return None


def choose_model(folder: Path, file: Path) -> None:
    """Make `file` the model of `NACRE_MODEL=local`, without moving it. Raises ValueError if it is not a model file."""
    check_gguf(file)
    folder.mkdir(parents=True, exist_ok=True)
    inside = file.resolve().parent == folder.resolve()
    half = folder / f"{CHOSEN}.{os.getpid()}"
    half.write_text(file.name if inside else str(file.resolve()), "utf-8")
    half.replace(folder / CHOSEN)


def remove_model(folder: Path, name: str) -> Path:
    """Delete a file of the folder, by its name or that of the recommended model, and the choice of it. Of a file
    elsewhere only the choice is deleted. Returns the file. Raises ValueError for an unknown name."""
    present = chosen_model(folder)
    file = _by_name(folder, name) or (present if present is not None and name in (present.name, str(present)) else None)
    if file is None:
        here = ", ".join(each.name for each in downloaded_models(folder)) or "none"
        raise ValueError(f"No model named {name!r} in {folder}/ (there: {here}). Run: nacre model list")
    if file.parent == folder:
        file.unlink()
    if present == file:
        (folder / CHOSEN).unlink()
    return file


def model_file(settings: Settings, name: str) -> Path:
    """The file of `local` or `local:NAME_OR_PATH`. Raises ValueError with the next command."""
    folder = models_folder(settings)
    _, _, wanted = name.partition(":")
    file = (_by_name(folder, wanted) or Path(wanted).expanduser()) if wanted else chosen_model(folder)
    if file is None:
        raise ValueError("NACRE_MODEL is 'local', and no model is chosen. Run: nacre model get, or use FILE.gguf")
    if not file.is_file():
        raise ValueError(f"NACRE_MODEL is {name!r}, and there is no file {file}. Run: nacre model list")
    return file


def check_gguf(file: Path) -> None:
    """Raise ValueError if a file is not in GGUF format."""
    try:
        with file.open("rb") as opened:
            begins = opened.read(len(MAGIC))
    except OSError as error:
        raise ValueError(f"Can't read {file}: {error.strerror}. Give a GGUF file.") from error
    if begins != MAGIC:
        raise ValueError(f"{file} is no GGUF file. Run: nacre model list, to see what can be fetched.")


def _by_name(folder: Path, name: str) -> Path | None:
    """A file of the folder, by its name with or without .gguf, or by the name of a recommended model."""
    known = {each.name: each.file for each in recommended_models()}
    names = {name, f"{name}.gguf", known.get(name, name)}
    return next((file for file in downloaded_models(folder) if file.name in names), None)


SECONDS = 60.0

SHA256 = re.compile(r"[0-9a-f]{64}")

AGAIN = "Run the command again: it goes on where it broke off."

# downloaded bytes, all bytes
OnProgress = Callable[[int, int], None]


def download_model(model: RecommendedModel, folder: Path, on_progress: OnProgress, endpoint: str | None = None) -> Path:
    """The file of a model, downloaded if it does not exist yet; an interrupted download is resumed.

    `endpoint` is another hub (default: HF_ENDPOINT). Raises ValueError if the hub can't be reached, interrupts the
    download, or sends other content than declared, and ImportError if the extra is missing.
    """
    file = folder / model.file
    if file.exists():
        return file
    # huggingface_hub itself restarts interrupted downloads, so this code requests the bytes
    try:
        from huggingface_hub import get_hf_file_metadata, get_token, hf_hub_url
    except ImportError as error:
        raise ImportError("What fetches models is missing. Run: pip install 'nacre[local]'") from error
    url = hf_hub_url(model.repo, model.file, endpoint=endpoint)
    try:
        about = get_hf_file_metadata(url, endpoint=endpoint)
        # the hub's tag of a large file is its checksum
        sha256 = (about.etag or "").lower()
        if not SHA256.fullmatch(sha256) or not about.size:
            lacks = "size" if SHA256.fullmatch(sha256) else "checksum"
            raise ValueError(
                f"The hub names no {lacks} for {model.file}. Fetch it yourself, then: nacre model use FILE"
            )
        folder.mkdir(parents=True, exist_ok=True)
        half = folder / f"{model.file}.{sha256[:12]}.half"
        token = get_token()
        headers = {"authorization": f"Bearer {token}"} if token else {}
        _download(url, headers, half, about.size, on_progress)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise ValueError(f"Can't fetch {url} ({' '.join(str(error).split())[:200]}). {AGAIN}") from error
    size = half.stat().st_size
    if size < about.size:
        raise ValueError(f"{url} broke off after {size:,} of {about.size:,} bytes. {AGAIN}")
    present = _sha256(half) if size == about.size else ""
    if present != sha256:
        half.unlink()
        wrong = f"the checksum {present}, not {sha256}" if present else f"{size:,} bytes, not {about.size:,}"
        raise ValueError(f"{model.file} has {wrong}: it was deleted. Fetch it again.")
    half.replace(file)
    return file


def _download(url: str, headers: dict[str, str], half: Path, size: int, on_progress: OnProgress) -> None:
    """Append the missing bytes to `half`."""
    there = half.stat().st_size if half.exists() else 0
    if there >= size:
        return
    # compressed bytes can't be counted
    wanted = {**headers, "accept-encoding": "identity", **({"range": f"bytes={there}-"} if there else {})}
    with httpx.stream("GET", url, headers=wanted, follow_redirects=True, timeout=SECONDS) as answer:
        answer.raise_for_status()
        goes_on = answer.status_code == httpx.codes.PARTIAL_CONTENT
        there = there if goes_on else 0
        with half.open("ab" if goes_on else "wb") as out:
            for piece in answer.iter_raw():
                out.write(piece)
                there += len(piece)
                if there > size:
                    # what is longer than declared has the wrong checksum
                    break
                on_progress(there, size)


def _sha256(file: Path) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def model_advice(settings: "Settings") -> str:
    """How a user without a model gets one: the end of a line."""
    file = chosen_model(models_folder(settings))
    if file is not None and file.is_file():
        return f": {file.name} is installed, set NACRE_MODEL=local"
    return ". For a local one run nacre model get and set NACRE_MODEL=local (or openai:NAME, ollama:NAME)"
