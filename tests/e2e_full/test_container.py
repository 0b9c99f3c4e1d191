"""The Dockerfile replayed step by step in a clean environment, then run as compose.yaml runs it.

Docker itself is not needed: a stage copies what .dockerignore lets through, its RUN steps run with the paths of a
folder, and the server runs without capabilities over files that it may not change.
"""

import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
import yaml

from tests.e2e.conftest import WITHOUT_CAPABILITY, free_port
from tests.e2e_full.conftest import ANSWER, GRAPH, QUESTION, ROOT, base_python, clean_environment, run
from tests.support.dockerfile import Instruction, read_stages, sent_files, stage_chain

STAGES = read_stages((ROOT / "Dockerfile").read_text())
COMPOSE = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]["nacre"]
# steps that are not replayed, with the reason
NOT_REPLAYED = {"useradd": "the tests make no users: the server runs without capabilities instead"}


class Replay:
    """A folder that stands for the root of a container."""

    def __init__(self, root: Path, context: Path) -> None:
        self.root, self.context = root, context
        self.environment: dict[str, str] = {}
        self.entrypoint: list[str] = []
        self.command: list[str] = []
        self.check: list[str] = []

    def build(self, target: str) -> None:
        """Replay a target, and first the stages that it copies from."""
        # a stage goes on in the folder of the one that it starts from
        self._folder = self.root
        for stage in stage_chain(STAGES, target):
            for instruction in STAGES[stage].instructions:
                self._step(instruction)

    def inside(self, text: str) -> str:
        """The text with paths of the container below the folder."""
        return re.sub(r"(?<![\w.])/(?=(?:opt|src|data|home)\b)", f"{self.root}/", text)

    def _step(self, step: Instruction) -> None:
        if step.name == "WORKDIR":
            self._folder = Path(self.inside(step.arguments))
            self._folder.mkdir(parents=True, exist_ok=True)
        elif step.name == "COPY":
            self._copy(step.words)
        elif step.name == "RUN":
            if step.words[0] not in NOT_REPLAYED:
                path = f"{Path(base_python()).parent}:{os.environ['PATH']}"
                run(["bash", "-c", self.inside(step.arguments)], self._folder, clean_environment(PATH=path), 1800)
        elif step.name == "ENV":
            self.environment |= dict(re.findall(r"(\w+)=(\S+)", self.inside(step.arguments)))
        elif step.name == "HEALTHCHECK":
            self.check = Instruction("CMD", step.arguments.partition("CMD ")[2]).words
        elif step.name == "ENTRYPOINT":
            self.entrypoint = step.words
        elif step.name == "CMD":
            self.command = step.words
        else:
            assert step.name in ("USER", "VOLUME", "EXPOSE"), step

    def _copy(self, words: list[str]) -> None:
        *sources, target = words
        if sources[0].startswith("--from="):
            self.build(sources.pop(0).removeprefix("--from="))
            assert sources == [target]  # one folder stands for all stages
            return
        for source in sources:
            if (self.context / source).is_dir():
                shutil.copytree(self.context / source, self._folder / target, dirs_exist_ok=True)
            else:
                shutil.copyfile(self.context / source, self._folder / source)

    def words(self, *arguments: str) -> list[str]:
        """A command of the image without capabilities."""
        prefix = WITHOUT_CAPABILITY if os.geteuid() == 0 else []
        return [*prefix, str(self.root / "opt/nacre/bin" / self.entrypoint[0]), *arguments]

    def settings(self, port: int) -> dict[str, str]:
        path = self.environment["PATH"].replace("$PATH", os.environ["PATH"])
        home = str(self.root / "home/nacre")
        return clean_environment(**{**self.environment, "PATH": path, "HOME": home, "NACRE_PORT": str(port)})


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Replay]:
    folder = tmp_path_factory.mktemp("container")
    context = folder / "context"
    for name in sent_files(ROOT, (ROOT / ".dockerignore").read_text()):
        (context / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, context / name)
    replay = Replay(folder / "root", context)
    replay.root.mkdir()
    replay.build("default")
    (replay.root / "data").mkdir()
    # the file system of the container is read-only
    run(["chmod", "-R", "a-w", replay.root / "opt", replay.root / "home"], folder)
    yield replay
    run(["chmod", "-R", "u+w", replay.root], folder)


@contextmanager
def started(image: Replay, port: int) -> "Iterator[subprocess.Popen[str]]":
    process = subprocess.Popen(
        image.words(*image.command),
        env=image.settings(port),
        cwd=image.root / "home/nacre",
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        for _ in range(300):
            try:
                if httpx.get(f"http://127.0.0.1:{port}/healthz", timeout=2).status_code == 200:
                    break
            except httpx.TransportError:
                assert process.poll() is None, process.stderr.read()  # type: ignore[union-attr]
                time.sleep(0.2)
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=40)


def test_without_a_key_it_runs_for_itself_and_says_what_to_do(image: Replay) -> None:
    port = free_port()
    with started(image, port) as process:
        assert process.poll() is None
        check = [word.replace(":8200", f":{port}") for word in image.check]
        run([image.root / "opt/nacre/bin" / check[0], *check[1:]], image.root, image.settings(port))
        with pytest.raises(httpx.TransportError):
            httpx.get(f"http://127.0.0.2:{port}/healthz", timeout=2)
        first = process.stderr.readline()  # type: ignore[union-attr]
        assert "nacre keys add NAME" in first


def test_with_a_key_it_answers_others_and_writes_to_its_data_alone(image: Replay, tmp_path: Path) -> None:
    port = free_port()
    (tmp_path / "harbour.ttl").write_text(GRAPH)
    made = run(
        image.words("ingest", str(tmp_path / "harbour.ttl"), "--graph", "harbour"), tmp_path, image.settings(port)
    )
    assert "crane" in made
    key = run(image.words("keys", "add", "ann"), tmp_path, image.settings(port)).strip()
    before = files_outside_data(image)
    with started(image, port):
        address = f"http://127.0.0.2:{port}"
        assert httpx.get(f"{address}/api/graphs", timeout=20).status_code == 401
        reply = httpx.post(
            f"{address}/api/ask",
            json={"question": QUESTION},
            headers={"Authorization": f"Bearer {key}", "Accept": "application/json"},
            timeout=60,
        )
        assert reply.json()["values"] == [ANSWER]
    assert files_outside_data(image) == before


def files_outside_data(image: Replay) -> set[tuple[str, float]]:
    inside = (path for top in ("opt", "home") for path in (image.root / top).rglob("*"))
    return {(str(path), path.lstat().st_mtime) for path in inside}


def test_a_change_of_code_installs_no_package(image: Replay) -> None:
    steps = [each for name in stage_chain(STAGES, "build") for each in STAGES[name].instructions]
    last = steps[-1].arguments
    run(["chmod", "-R", "u+w", image.root / "opt"], image.root)
    packages = image.root / "opt/nacre/bin/python"
    listed = run([packages, "-m", "pip", "freeze"], image.root)
    said = run(["bash", "-c", image.inside(last)], image.root / "src", clean_environment(PIP_NO_INDEX="1"))
    assert "Successfully installed nacre" in said
    # the checkout is installed as a file of its folder
    assert run([packages, "-m", "pip", "freeze"], image.root).splitlines()[1:] == listed.splitlines()[1:]


def test_the_documented_size_is_that_of_the_environment(image: Replay) -> None:
    size = int(run(["du", "-sm", "--apparent-size", image.root / "opt/nacre"], image.root).split()[0])
    page = (ROOT / "docs/operating.md").read_text()
    said = re.search(r"about (\d+) MB of packages", page)
    assert said is not None
    print(f"/opt/nacre: {size} MB")
    assert abs(size - int(said[1])) < 0.1 * size
