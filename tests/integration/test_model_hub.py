"""Fetching a model from a hub on this machine that breaks off, and one that gives something else than it names."""

import hashlib
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from nacre.extensions.local_model.local_engine import RecommendedModel, download_model, recommended_models

CONTENT = b"GGUF" + bytes(range(256)) * 400
MODEL = RecommendedModel("small", "maker/small", "small.gguf", 0.1, 1, "Apache-2.0")


@dataclass
class Hub:
    """It names `etag` and `size`; `cut` breaks the next download off after so many bytes; `ranges` were asked for."""

    url: str = ""
    content: bytes = CONTENT
    etag: str = hashlib.sha256(CONTENT).hexdigest()
    size: int = len(CONTENT)
    cut: int | None = None
    ranges: list[str | None] = field(default_factory=list)


@contextmanager
def hub() -> Iterator[Hub]:
    class Handler(BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            self.send_response(200)
            self.send_header("etag", f'"{state.etag}"')
            self.send_header("x-repo-commit", "a" * 40)
            self.send_header("content-length", str(state.size))
            self.end_headers()

        def do_GET(self) -> None:
            wanted = self.headers["range"]
            state.ranges.append(wanted)
            begin = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted else 0
            rest = state.content[begin:]
            self.send_response(206 if wanted else 200)
            self.send_header("content-length", str(len(rest)))
            self.end_headers()
            self.wfile.write(rest[: state.cut] if state.cut is not None else rest)

        def log_message(self, *args: object) -> None:
            pass

    state = Hub()
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        state.url = f"http://127.0.0.1:{http.server_address[1]}"
        thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield state
        finally:
            http.shutdown()
            thread.join()


def quiet(done: int, size: int) -> None:
    pass


def test_a_model_is_fetched_once(tmp_path):
    told = []
    with hub() as there:
        file = download_model(MODEL, tmp_path, lambda done, size: told.append((done, size)), there.url)
        assert download_model(MODEL, tmp_path, quiet, there.url) == file
    assert file.read_bytes() == CONTENT
    assert told[-1] == (len(CONTENT), len(CONTENT))
    assert there.ranges == [None]
    assert [each.name for each in tmp_path.iterdir()] == ["small.gguf"]


def test_a_fetch_that_broke_off_goes_on(tmp_path):
    with hub() as there:
        there.cut = 1000
        with pytest.raises(ValueError, match="goes on where it broke off"):
            download_model(MODEL, tmp_path, quiet, there.url)
        there.cut = None
        assert download_model(MODEL, tmp_path, quiet, there.url).read_bytes() == CONTENT
    assert there.ranges == [None, "bytes=1000-"]


@pytest.mark.parametrize(
    ("content", "why"), [(CONTENT[:-1] + b"?", "the checksum"), (CONTENT + b"?", "102,405 bytes, not 102,404")]
)
def test_what_is_not_as_the_hub_names_it_leaves_nothing(tmp_path, content, why):
    with hub() as there:
        there.content = content
        with pytest.raises(ValueError, match=why):
            download_model(MODEL, tmp_path, quiet, there.url)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("lacks", "named"), [("checksum", {"etag": "abc"}), ("size", {"size": 0})])
def test_a_hub_that_does_not_name_what_to_check_is_not_trusted(tmp_path, lacks, named):
    with hub() as there:
        vars(there).update(named)
        with pytest.raises(ValueError, match=f"no {lacks}"):
            download_model(MODEL, tmp_path, quiet, there.url)
    assert there.ranges == []


def test_the_command_fetches_and_chooses(tmp_path):
    with hub() as there:
        environment = {**os.environ, "HF_ENDPOINT": there.url, "NACRE_DATA": str(tmp_path)}
        run = [sys.executable, "-m", "nacre.serving.cli.main", "model"]
        root = Path(__file__).parents[2]
        got = subprocess.run([*run, "get"], capture_output=True, text=True, env=environment, cwd=root, check=False)
        assert got.returncode == 0, got.stderr
        listed = subprocess.run([*run, "list"], capture_output=True, text=True, env=environment, cwd=root, check=True)
    assert "licence Apache-2.0" in got.stdout
    assert "NACRE_MODEL=local" in got.stdout
    assert listed.stdout.startswith("chosen ")
    assert (tmp_path / "_models" / recommended_models()[0].file).read_bytes() == CONTENT
