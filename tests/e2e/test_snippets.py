"""Every snippet of README and docs is run as it stands, in the order of its document, by a reader with an empty folder.

A shown output is compared with what is printed. `NOT_RUN` lists what is not run here, with the reason.
"""

import gc
import glob
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, redirect_stdout
from pathlib import Path

import pytest

from nacre.serving.cli.main import main
from tests.e2e.conftest import ROOT, in_studio, serving
from tests.support.model_servers import Reply, openai_server
from tests.support.snippets import (
    DOCUMENTS,
    Command,
    Snippet,
    output_differences,
    read_commands,
    read_snippets,
)

# a reader's snippet need not close its client
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")

# commands that are not run here: the reason, and what they look like
FINDS_EXAMPLES = True

NOT_RUN = {
    "other tests or CI run this target of the Makefile": r"make(?: (?:test|demo|e2e|e2e-full|fmt|dev))?$",
    "measurements take hours": r"make (?:soak|eval|bench)\b|python -m (?:evaluation|benchmarks)\b|nacre compare ",
    "it installs packages: tests/e2e_full/test_installed.py": r"pip |pipx |uvx |uv |.* && make ",
    "it needs packages of npm: tests/e2e/test_chat_ui.py": r"npx |npm |mv ",
    "it needs Docker: tests/e2e_full/test_container.py replays its steps": r"docker ",
    "it needs a chat model, or downloads one": r"nacre model |NACRE_MODEL=|nacre layer draft",
    "it needs this endpoint": r".*https://(?:store\.example|query\.wikidata|dbpedia|graph\.corp)|nacre .* --graph far",
    "it needs the extra bundled, with search by meaning": r"nacre complete ",
    "it needs this database: tests/integration/test_databases.py attaches others": (
        r"(?:export )?NACRE_(?:DATABASE_KEYS|DATABASE_URL|GRAPHS|GRAPHS_HOSTS)=|nacre migrate |nacre .* --tables "
        r"|nacre attach (?:sqlite|duckdb|postgresql|mysql)|nacre .* --graph (?:shop|sales)\b"
    ),
    "it needs this package and its site: tests/integration/test_loaders.py has a loader": r"nacre ingest --loader ",
    "it needs these packages: tests/e2e/test_extensions.py installs them": r"NACRE_EXTENSIONS=",
    "it is a pattern with words to fill in": r".*\b(?:NAME|GRAPH|QUESTION|FILE\.ttl)\b",
    "the tests have an empty folder of their own": r"(?:mkdir|cd) ",
    "a site of others frames the page: tests/e2e/test_embed.py has one": r"NACRE_EMBED=",
    "it changes the shell of a person": r"nacre --install-completion",
}
RUN_LANGUAGES = {"shell", "python", "chat"}
# blocks that are no code, and files that readers save
OTHER_LANGUAGES = {"text", "html", "turtle", "markdown", "json", "ini", "yaml", "toml", "mermaid", "javascript"}
SERVER, STUDIO = "http://127.0.0.1:8200", "http://127.0.0.1:2124"
# files that a reader has: their own name, and what stands for it here
OWN_FILES = {
    "my.ttl": "examples/workshop/collection.ttl",
    "data.ttl": "tests/fixtures/graphs/reading_room.ttl",
    "reports/press.pdf": "tests/fixtures/documents/press.pdf",
    "notes/own.md": "The boilers are checked by Mara Quill every Monday.",
    "handbook/boilers.md": "# Boilers\n\nThe boilers are checked by Mara Quill every Monday.",
    "members.csv": "No,Name,Town\n1,Ann Lee,Lund\n2,Bo Berg,Ystad\n",
    "loans.csv": "Object,Borrower,Lent\nOak chest,Ann Lee,2025-03-14\nClay pipe,Bo Berg,2024-11-02\n",
    "docs/college.md": "# Calder College\n\nIda Brandt graduated from Calder College in 1998.",
}


def reason_not_to_run(command: str) -> str | None:
    return next((reason for reason, pattern in NOT_RUN.items() if re.match(pattern, command)), None)


class Reader:
    """Runs snippets in a folder of its own, with servers that it starts when a snippet needs one."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch, stack: ExitStack) -> None:
        self.folder, self.data = folder, folder / "data"
        self._patch, self._stack = monkeypatch, stack
        self._addresses: dict[str, str] = {}
        self._key = ""

    def run(self, snippet: Snippet) -> None:
        if snippet.saved:
            self.save(snippet.saved, snippet.text + "\n")
        elif snippet.language == "python":
            printed = self._run_program([sys.executable, "-c", self._with_addresses(snippet.text)], snippet.place)
            assert snippet.output is None or output_differences(snippet.output, printed) == "", snippet.place
        elif snippet.language == "shell":
            for command in read_commands(snippet):
                if reason_not_to_run(command.text.removeprefix(".venv/bin/")) is None:
                    self._run_command(command, snippet.place)
        elif snippet.language == "chat":
            typed = tuple(line.removeprefix("> ") for line in snippet.text.splitlines() if line.startswith("> "))
            self._run_command(Command("nacre chat --graph bmw", typed, snippet.text), snippet.place)

    def save(self, name: str, content: str) -> None:
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content)

    def _run_command(self, command: Command, place: str) -> None:
        text = command.text.removeprefix(".venv/bin/")
        if text.startswith("nacre serve"):
            self._start_server(*shlex.split(text)[2:])
        elif text.startswith("curl "):
            printed = self._run_program(["bash", "-c", self._with_addresses(text)], place)
            assert '"answered"' in printed, (place, printed)
        else:
            self._run_nacre(command, text, place)

    def _run_program(self, words: list[str], place: str) -> str:
        environment = {**os.environ, "KEY": self._key, "PYTHONPATH": str(ROOT), "LANGSMITH_TRACING": "false"}
        ran = subprocess.run(words, capture_output=True, text=True, timeout=120, cwd=self.folder, env=environment)
        assert ran.returncode == 0, (place, ran.stderr)
        return ran.stdout

    def _run_nacre(self, command: Command, text: str, place: str) -> None:
        text, _, target = text.partition(" > ")
        words = shlex.split(text)
        while "=" in words[0]:
            name, _, value = words.pop(0).partition("=")
            self._patch.setenv(name, value)
        # a server would never end here
        assert (words[0], words[1] == "serve") == ("nacre", False), (
            place,
            f"a command of no kind that runs: {command.text}",
        )
        words = [each for word in words[1:] for each in (sorted(glob.glob(word)) or [word])]
        self._patch.setattr("sys.stdin", io.StringIO("".join(f"{line}\n" for line in command.typed)))
        with redirect_stdout(io.TextIOWrapper(io.BytesIO(), encoding="utf-8")) as output:
            code = main(words)
            output.flush()
            printed = output.buffer.getvalue().decode()
        assert code == 0, (place, command.text, printed)
        if target:
            (self.folder / target.strip()).write_text(printed)
        if command.shown is not None:
            assert output_differences(command.shown, printed) == "", (place, command.text)
        if words[:2] == ["keys", "add"]:
            self._key = next(line.split()[-1] for line in printed.splitlines() if line.split())

    def _start_server(self, *arguments: str) -> None:
        """Start `nacre serve` on another port, unless a server of this reader runs."""
        left = [word for word in arguments if word not in ("--port", "8200", "--host", "0.0.0.0")]
        if SERVER not in self._addresses:
            folder = self.folder / "server"
            folder.mkdir()
            self._addresses[SERVER], _ = self._stack.enter_context(
                serving(self.data, folder, *left, NACRE_EMBEDDER="none")
            )

    def _with_addresses(self, text: str) -> str:
        """The text with the addresses of servers of this reader."""
        if SERVER in text:
            self._start_server()
        if STUDIO in text and STUDIO not in self._addresses:
            folder = self.folder / "studio"
            folder.mkdir()
            self._addresses[STUDIO] = self._stack.enter_context(in_studio(self.data, folder, NACRE_EMBEDDER="none"))
        for shown, started in self._addresses.items():
            text = text.replace(shown, started)
        return text


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with the example graph, as `make demo` leaves it, without vectors."""
    from ingestion.pipeline import ingest

    data = tmp_path_factory.mktemp("example") / "data"
    ingest([str(ROOT / "examples/bmw/kg.ttl")], "bmw", data=data, no_vectors=True)
    return data


@pytest.fixture
def reader(
    tmp_path: Path, example: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> Iterator[Reader]:
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith(("NACRE_", "OPENAI_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("NACRE_EMBEDDER", "none")
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    if "bmw" in request.node.callspec.params["document"].read_text().lower():
        shutil.copytree(example, tmp_path / "data")
    with ExitStack() as stack:
        if request.node.callspec.params["document"].name == "clients.md":
            # an agent asks a model of OpenAI, which answers at once
            model = stack.enter_context(openai_server(Reply("Four variants."), takes=(), ignores=("tools",)))
            monkeypatch.setenv("OPENAI_BASE_URL", model.url)
        reader = Reader(tmp_path, monkeypatch, stack)
        for name, content in OWN_FILES.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            if (ROOT / content).is_file():
                shutil.copyfile(ROOT / content, tmp_path / name)
            else:
                reader.save(name, content)
        yield reader
    # what snippets leave open is collected here, and not in a later test
    gc.collect()


def completed(snippets: list[Snippet]) -> list[Snippet]:
    """The snippets of docs/layer.md, whose file is written in four steps, with the whole file in the first."""
    first = next(i for i, snippet in enumerate(snippets) if snippet.saved)
    made_by, weight, codes = (snippet.text for snippet in snippets[first + 1 : first + 4])
    properties = "\n".join(
        f"  {line}" for part in (made_by, weight, "v:st: {name: state}") for line in part.splitlines()
    )
    whole = f"{snippets[first].text}\n{properties}\n{codes}"
    return [*snippets[:first], snippets[first]._replace(text=whole), *snippets[first + 4 :]]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_snippets_do_what_the_document_says(document: Path, reader: Reader) -> None:
    snippets = read_snippets(document)
    if document.name == "layer.md":
        snippets = completed(snippets)
    for snippet in snippets:
        reader.run(snippet)


def test_every_block_has_a_kind_and_every_reason_is_needed() -> None:
    snippets = [snippet for document in DOCUMENTS for snippet in read_snippets(document)]
    assert {snippet.language for snippet in snippets} - RUN_LANGUAGES - OTHER_LANGUAGES == set()
    commands = [
        command.text.removeprefix(".venv/bin/")
        for snippet in snippets
        if snippet.language == "shell"
        for command in read_commands(snippet)
    ]
    reasons = [reason_not_to_run(command) for command in commands]
    assert set(NOT_RUN) - set(reasons) == set()
    assert reasons.count(None) > 30
