"""Extensions: two packages of others are installed and used, faulty ones are left out, ours can be deleted."""

import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

import nacre
import nacre.extensions
from ingestion.pipeline import ingest
from ingestion.read.sources import ReadOptions, Sources, fingerprint
from nacre.extension import Extension, extensions, resolve
from nacre.stores import versions
from nacre.stores.versions import Manifest, Pointer

ROOT = Path(__file__).parents[2]
PACKAGES = ROOT / "tests/fixtures/extensions"
OURS = tuple(file.parent.name for file in sorted((ROOT / "nacre/extensions").glob("*/extension.py")))

HARBOUR = """
@prefix : <http://harbour.example/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:ann a :Captain ; rdfs:label "Ann Reed" ; :sails :gull .
:bo a :Captain ; rdfs:label "Bo Lind" ; :sails :tern .
:gull a :Ship ; rdfs:label "Gull" ; :callsAt :elm .
:tern a :Ship ; rdfs:label "Tern" ; :callsAt :elm .
:elm a :Port ; rdfs:label "Elmhaven" .
"""

# what a process of Nacre sees of its extensions, as JSON: drawing, API, commands and answers
REPORT = """
import asyncio, contextlib, io, json, sys
from pathlib import Path
from fastapi.testclient import TestClient
from graph.builder import compose
from graph.stream import stream_turn
from ingestion.pipeline import ingest
from ingestion.read.sources import fingerprint
from ingestion.read.sources import ReadOptions, Sources
from nacre.config.settings import Settings
from nacre.serving.app import create_app
from nacre.serving.cli.main import main

folder, questions = Path(sys.argv[1]), sys.argv[2:]
data = folder / "data"
if not data.exists():
    ingest([str(folder / "harbour.ttl")], "harbour", data=data, embedder=None)
settings = Settings(data=data, embedder="none", branch_seconds=2, _env_file=None)
app = compose(settings).build()

async def ask(question):
    return [data async for kind, data in stream_turn(app, question, graph="harbour") if kind == "answer"][-1]

report = {"drawn": app.get_graph().draw_mermaid(), "answers": [asyncio.run(ask(each)) for each in questions]}
with TestClient(create_app(settings), base_url="http://127.0.0.1:8200", client=("127.0.0.1", 5000)) as client:
    report["choices"] = client.get("/api/choices").json()
    report["schemas"] = client.get("/api/openapi.json").json()
    report["health"] = client.get("/healthz").status_code
    report["free"] = client.get("/free").status_code
with contextlib.redirect_stdout(io.StringIO()) as out:
    report["help"] = main(["--help"])
report["commands"] = out.getvalue()
print(json.dumps(report))
"""


# runs in processes that are forked from one that has imported what Nacre imports, but nothing of Nacre, so that each
# takes what there is of Nacre from its own folder of packages
FORKS = """
import json, os, sys
import a2a.server, ag_ui.core, fastapi.testclient, langchain_core.runnables, langgraph.graph, langserve, langsmith
import mcp.server, numpy, opentelemetry, prometheus_client, pydantic_settings, requests, rich.console, simplemma
import sqlalchemy, sqlglot, tantivy, typer

codes = []
for run in json.load(sys.stdin):
    child = os.fork()
    if not child:
        for number, name in ((1, "out"), (2, "errors")):
            os.dup2(os.open(f"{run['folder']}/{name}", os.O_CREAT | os.O_WRONLY), number)
        sys.path.insert(0, run["path"])
        os.environ.update(run["environment"])
        os.chdir(run["folder"])
        sys.argv = ["-c", *run["arguments"]]
        exec(run["script"], {"__name__": "__main__"})
        sys.exit()
    codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
print(json.dumps(codes))
"""
PLAIN = {"NACRE_EXTENSIONS": "", "PYTHONSAFEPATH": "1", "COLUMNS": "900"}


@dataclass
class Run:
    """A script, run in a folder without some of our extensions."""

    folder: Path
    gone: tuple[str, ...]
    script: str
    arguments: list[str]
    environment: dict[str, str] = field(default_factory=dict)
    code: int = 0

    @property
    def out(self) -> str:
        return (self.folder / "out").read_text()

    @property
    def errors(self) -> str:
        return (self.folder / "errors").read_text()


def run_all(runs: Sequence[Run]) -> None:
    """Run each in a process that knows nothing of the others."""
    told = [{**asdict(run), "folder": str(run.folder), "path": str(without(run.gone, run.folder))} for run in runs]
    surroundings = os.environ | PLAIN
    process = [sys.executable, "-c", FORKS]
    done = subprocess.run(
        process, input=json.dumps(told), env=surroundings, capture_output=True, text=True, timeout=500
    )
    assert done.returncode == 0, done.stderr
    for run, code in zip(runs, json.loads(done.stdout), strict=True):
        run.code = code


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the processes keep their graph, which the first one ingests."""
    folder = tmp_path_factory.mktemp("harbour")
    (folder / "harbour.ttl").write_text(HARBOUR)
    return folder


def run_nacre(folder: Path, *questions: str, names: str = "", path: Path | None = None) -> tuple[Any, list[str]]:
    """The report of a fresh process, and the lines about extensions that are left out."""
    environment = PLAIN | {"NACRE_EXTENSIONS": names, "PYTHONPATH": str(path or "")}
    command = [sys.executable, "-c", REPORT, str(folder), *questions]
    done = subprocess.run(
        command, cwd=folder, env=os.environ | environment, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), left_out_of(done.stderr)


def left_out_of(errors: str) -> list[str]:
    return [line for line in errors.splitlines() if "left out" in line]


def install(site: Path, distribution: str, modules: dict[str, str], entry_points: dict[str, str]) -> None:
    """What pip writes into a folder of packages, for packages without anything to build or download."""
    for module, text in modules.items():
        (site / module).parent.mkdir(parents=True, exist_ok=True)
        (site / module).write_text(text)
    info = site / f"{distribution.replace('-', '_')}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.0\n")
    lines = "".join(f"{name} = {place}\n" for name, place in entry_points.items())
    (info / "entry_points.txt").write_text(f"[nacre.extensions]\n{lines}")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the two packages of `tests/fixtures/extensions` installed."""
    site = tmp_path_factory.mktemp("site")
    for folder in sorted(PACKAGES.iterdir()):
        project = tomllib.loads((folder / "pyproject.toml").read_text())
        [package] = project["tool"]["setuptools"]["packages"]
        modules = {f"{package}/{file.name}": file.read_text() for file in (folder / package).glob("*.py")}
        install(site, project["project"]["name"], modules, project["project"]["entry-points"]["nacre.extensions"])
    return site


def test_installed_packages_are_drawn_offered_chosen_and_cited(site: Path, folder: Path) -> None:
    questions = "How is Ann Reed connected to Bo Lind?", "Who runs the harbour office?"
    report, left_out = run_nacre(folder, *questions, names="walk,directory", path=site)
    assert left_out == []
    for name in ("walk", "directory"):
        assert f"tool_selector -.-> {name};" in report["drawn"]
        assert f"{name} --> check;" in report["drawn"]
        assert name in report["choices"]["branches"]
        assert name in report["choices"]["by_default"]
        assert f'"{name}"' in json.dumps(report["schemas"])
    connected, run = report["answers"]
    assert {"walk", "directory"} <= set(connected["visited"])
    assert connected["values"][:3] == ["Ann Reed", "sails", "Gull"]
    [citation] = connected["citations"]
    assert (citation["tool"], len(citation["triples"])) == ("walk", 4)
    assert run["values"] == ["Mara Quill"]
    [citation] = run["citations"]
    assert (citation["tool"], citation["source"]) == ("directory", "staff directory, page 3")
    assert (citation["place"], citation["basis"]) == (None, "what directory returned")


def test_installed_packages_are_off_unless_they_are_named(site: Path, folder: Path) -> None:
    report, left_out = run_nacre(folder, "Who runs the harbour office?", path=site)
    assert left_out == []
    assert "walk" not in report["drawn"]
    assert "Mara" not in report["answers"][0]["answer"]


DECLARED = "from nacre.extension import Extension\nEXTENSION = Extension({})\n"
FAULTY = {
    "raises": ("raise RuntimeError('no luck\\nat all')", "RuntimeError: no luck at all"),
    "quits": ("raise SystemExit(3)", "SystemExit: 3"),
    "lacks": (DECLARED.format("'lacks', requires=('no_such_module',)"), "no_such_module is not installed"),
    "old": (DECLARED.format("'old', nacre='>=0.1,<0.2'"), "it is for Nacre >=0.1,<0.2, and this is"),
    "odd": (DECLARED.format("'odd', nacre='latest'"), "'latest' are no versions"),
    "other": (DECLARED.format("'another'"), "no Extension named 'other'"),
    "a2a": (DECLARED.format("'a2a'"), "another extension has this name"),
    "twice": (DECLARED.format("'twice'"), "another extension has this name"),
    "route": (DECLARED.format("'route', routes='route:taken'"), "the route GET /api/graphs/{} is taken"),
    "sql": (DECLARED.format("'sql', tools={'sql': 'sql:find'}"), "the name is taken"),
    "state": (DECLARED.format("'state', tools={'question': 'state:find'}"), "the name is taken"),
    "gone": (DECLARED.format("'gone', branches={'lost': 'gone:lost'}"), "AttributeError"),
    "typed": (DECLARED.format("'typed', branches={'typed': 'typed:EXTENSION'}"), "is of another type: Extension"),
    "cli": (DECLARED.format("'cli', commands={'ask': 'cli:ask'}"), "the name is taken"),
    "signs": (DECLARED.format("'signs', commands={'sign': 'signs:sign'}"), "support Union types"),
    "drawn": (DECLARED.format("'drawn', routes='drawn:add'"), "PydanticInvalidForJsonSchema"),
    "serves": (DECLARED.format("'serves', serve='serves:serve'"), "RuntimeError: no port"),
}
MORE = {
    "route": "def taken(app, *, alone):\n    app.get('/api/graphs/{name}')(lambda name: name)\n",
    "serves": "def serve(app):\n    raise RuntimeError('no port')\n",
    "signs": "def sign(graph: int | str):\n    pass\n",
    "drawn": (
        "from typing import Callable\nfrom pydantic import BaseModel\n"
        "class Sent(BaseModel):\n    call: Callable[[], int]\n"
        "def add(app, *, alone):\n    app.post('/drawn')(take)\ndef take(sent: Sent):\n    pass\n"
    ),
    "cli": "def ask():\n    pass\n",
    "sql": "def find(question, graph):\n    return []\n",
}
# it works, but for its two tools
WORKING = """
import time
from nacre.extension import Extension
EXTENSION = Extension(
    "working", tools={"broken": "working:broken", "slow": "working:slow"}, routes="working:add",
    commands={"greet": "working:greet"}, on_request=("nobody",),
)
def broken(question, graph):
    raise RuntimeError("secret")
def slow(question, graph):
    time.sleep(5)
    yield "Too late.", "clock"
def add(app, *, alone):
    app.get("/free")(lambda: "ok")
def greet():
    "Greet."
"""


def test_faulty_extensions_are_named_in_one_line_and_left_out(folder: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    for name, (text, _) in FAULTY.items():
        module = name if name != "a2a" else "second_a2a"
        place = f"{module}:EXTENSION"
        install(site, f"x-{name}", {f"{module}.py": text + MORE.get(name, "")}, {name: place})
    install(site, "x-twice-more", {}, {"twice": "twice:EXTENSION"})
    install(site, "x-working", {"working.py": WORKING}, {"working": "working:EXTENSION"})
    question = "Which ship does Ann Reed sail?"
    report, left_out = run_nacre(folder, question, names=f"{', '.join(FAULTY)},missing,working", path=site)
    reasons = {name: why for name, (_, why) in FAULTY.items()} | {"missing": "no installed package has it"}
    named = {name: [line for line in left_out if f"extension '{name}'" in line] for name in reasons}
    assert {name: lines for name, lines in named.items() if len(lines) != 1 or reasons[name] not in lines[0]} == {}
    assert len(left_out) == len(reasons)
    # the rest works
    assert (report["health"], report["free"], report["help"]) == (200, 200, 0)
    assert "greet" in report["commands"]
    [answer] = report["answers"]
    assert answer["values"] == ["Gull"]
    failed = {name: why for name, why in answer["unavailable"].items() if name in ("broken", "slow")}
    assert failed == {"broken": "internal error: RuntimeError", "slow": "slow gave nothing within 2 s"}


def without(gone: tuple[str, ...], folder: Path) -> Path:
    """A folder of packages with Nacre, but without some of its extensions."""
    package, home = Path(nacre.__path__[0]), folder / "site/nacre"
    (home / "extensions").mkdir(parents=True)
    for source, target, left in ((package, home, ("extensions",)), (package / "extensions", home / "extensions", gone)):
        for each in source.iterdir():
            if each.name not in ("__pycache__", *left):
                (target / each.name).symlink_to(each)
    return folder / "site"


# an extension, the line about it, and a command that needs it
NEEDED = {
    "attach": ("databases", "This needs the extension 'databases', which", ["attach", "sqlite:///x", "--graph", "x"]),
    "endpoint": (
        "endpoints",
        "This needs the extension 'endpoints', which",
        ["attach", "http://x/sparql", "--graph", "x"],
    ),
    "draft": ("drafting", "This needs the extension 'drafting', which", ["layer", "draft", "--graph", "moved"]),
    "ask": ("databases", "The graph needs the extension 'databases', which", ["ask", "How many?", "--graph", "shop"]),
    "tables": (
        "databases",
        "This needs the extension 'server_tables', which",
        ["ingest", "harbour.ttl", "--graph", "x", "--tables", "postgresql://me@127.0.0.1/x"],
    ),
    "open": ("server_tables", "The graph needs the extension 'server_tables', which", ["export", "--graph", "moved"]),
    "keys": ("fleet", "NACRE_DATABASE_URL needs the extension 'fleet', which", ["keys", "list"]),
    "graphs": ("fleet", "NACRE_GRAPHS needs the extension 'fleet', which", ["graphs"]),
    "format": ("downloads", "--format needs the extension 'downloads', which", ["ask", "How many?", "--format", "csv"]),
    "remove": ("server_tables", "", ["remove", "--graph", "moved"]),
    "loader": (
        "documents",
        "--loader needs the extension 'documents', which",
        ["ingest", "--loader", "a:B", "--graph", "x"],
    ),
    "model": ("model_agents", "NACRE_MODEL needs the extension 'model_agents', which", ["ask", "How many?"]),
    "page": (
        "documents",
        "--texts needs the extension 'documents', which",
        ["ingest", "--texts", "a.html", "--graph", "x"],
    ),
}


# environments in which a command needs an extension
SET = {
    "keys": {"NACRE_DATABASE_URL": "sqlite:///state.sqlite"},
    "graphs": {"NACRE_GRAPHS": "file:///nowhere"},
    "model": {"NACRE_MODEL": "openai:x", "OPENAI_API_KEY": "x", "NACRE_FORBID_MODELS": "false"},
}
MAIN = "import sys; from nacre.serving.cli.main import main; sys.exit(main())"


@pytest.fixture(scope="module")
def needing(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Run]:
    """The runs of all commands that need an extension which is not there."""
    runs = {}
    for case, (gone, _, command) in NEEDED.items():
        folder = tmp_path_factory.mktemp(case)
        home = folder / "data/shop/versions/v1"
        home.mkdir(parents=True)
        (folder / "harbour.ttl").write_text(HARBOUR)
        (folder / "a.html").write_text("<p>Ann Reed sails.</p>")
        versions.write_manifest(home, Manifest("v1", database="sqlite:///shop.sqlite"))
        (home / versions.DATABASE).write_text("{}")
        (home / versions.LOCK).touch()
        versions.switch_version(home.parents[1], Pointer("v1"))
        if "moved" in command:
            ingest([str(folder / "harbour.ttl")], "moved", data=folder / "data", embedder=None)
            (version,) = (folder / "data/moved/versions").iterdir()
            (version / versions.SERVER).write_text("{}")
        runs[case] = Run(folder, (gone,), MAIN, command, SET.get(case, {}))
    run_all(list(runs.values()))
    return runs


@pytest.mark.parametrize("case", NEEDED)
def test_a_command_names_the_extension_that_it_lacks(case: str, needing: dict[str, Run]) -> None:
    done, message = needing[case], NEEDED[case][1]
    if message:
        assert (done.code, done.errors.count("\n")) == (2, 1), done.errors
        assert message in done.errors
    else:
        # what is on the server is named by the folder, which stays
        (version,) = (done.folder / "data/moved/versions").iterdir()
        assert (done.code, version.is_dir()) == (0, True), done.errors


def deletions(names: Sequence[str]) -> list[tuple[str, ...]]:
    """Sets of names, by the digits of their places: of any two names, one set has the first and not the second."""
    digits = range((len(names) - 1).bit_length())
    chosen = [
        tuple(n for at, n in enumerate(names) if at >> digit & 1 == value) for digit in digits for value in (0, 1)
    ]
    return [*chosen, tuple(names)]


@pytest.fixture(scope="module")
def deleted(tmp_path_factory: pytest.TempPathFactory) -> list[Run]:
    """Reports of Nacre without some of its extensions: whatever of the rest needs one of them breaks one report."""
    runs = []
    for gone in deletions(OURS):
        folder = tmp_path_factory.mktemp("without")
        (folder / "harbour.ttl").write_text(HARBOUR)
        runs.append(Run(folder, gone, REPORT, [str(folder), "Which ship does Ann Reed sail?"]))
    run_all(runs)
    return runs


def test_some_of_two_extensions_are_deleted_without_the_other() -> None:
    sets = deletions(OURS)
    lacking = [(a, b) for a in OURS for b in OURS if a != b and not any(a in each and b not in each for each in sets)]
    assert lacking == []


@pytest.mark.parametrize("number", range(len(deletions(OURS))))
def test_ours_can_be_deleted(number: int, deleted: list[Run]) -> None:
    run, gone = deleted[number], deleted[number].gone
    assert (run.code, left_out_of(run.errors)) == (0, []), run.errors
    report = json.loads(run.out)
    assert report["answers"][0]["values"] == ["Gull"]
    assert (report["health"], report["help"]) == (200, 0)
    paths = " ".join(report["schemas"]["paths"])
    routes = {
        "agui": "/agui",
        "langgraph_api": "/langgraph",
        "sharing": "/api/shares",
        "uploads": "/api/uploads",
        "verified": "/verified/",
    }
    # verified questions are scored
    off = {*gone, *(("verified",) if "evaluation" in gone else ())}
    assert {name for name, path in routes.items() if path not in paths} == off & {*routes}
    assert ("triples" in report["choices"]["branches"]) == ("pyramid" not in gone)
    commands = {"pyramid": "complete", "sharing": "shares", "verified": "examples"}
    assert {name for name, command in commands.items() if command not in report["commands"]} == off & {*commands}


def test_input_is_ingested_again_with_other_extensions_that_read_it(monkeypatch: pytest.MonkeyPatch) -> None:
    nothing = Sources((), (), ReadOptions())
    before = fingerprint(nothing, ())
    assert fingerprint(nothing, ()) == before
    for name in ("vocabularies", "spreadsheets", "documents"):
        rest = tuple(each for each in extensions() if each.name != name)
        monkeypatch.setattr("ingestion.read.sources.extensions", lambda rest=rest: rest)
        assert fingerprint(nothing, ()) != before


def test_declarations_of_ours_name_what_exists() -> None:
    assert {each.name for each in extensions()} >= set(OURS)
    for each in extensions():
        assert isinstance(each, Extension)
        kinds = each.branches, each.commands, each.models, each.tables, each.documents, each.services
        for place in (*chain(*(kind.values() for kind in kinds)), each.routes, each.serve):
            assert not place or resolve(place) is not None


# a reader of a format, and one of a format that is taken
LOGS = """
from ingestion.documents import DocumentReader, read_plain
from nacre.extension import Extension
EXTENSION = Extension("logs", documents={"log": "logs:LOG", "md": "logs:LOG"})
LOG = DocumentReader(lambda content: read_plain(content.hex()), takes_bytes=True)
"""
READ = """
from nacre.extensions.documents.read_document import find_documents, load_documents
if __name__ == "__main__":
    print([(each.document.name, each.text.text) for each in load_documents(find_documents(["a.log", "b.md"]))])
"""


def test_a_package_reads_a_format_of_documents(tmp_path: Path) -> None:
    install(tmp_path / "site", "x-logs", {"logs.py": LOGS}, {"logs": "logs:EXTENSION"})
    for name, text in (("a.log", "log"), ("b.md", "text"), ("read.py", READ)):
        (tmp_path / name).write_text(text)
    environment = os.environ | {"NACRE_EXTENSIONS": "logs", "PYTHONPATH": str(tmp_path / "site")}
    command = [sys.executable, "read.py"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120)
    assert done.stdout.strip() == "[('a.log', '6c6f67'), ('b.md', 'text')]", done.stderr
    assert "'md' of the extension 'logs' is left out: the name is taken" in done.stderr


def test_extending_shows_both_packages_in_full() -> None:
    text = (ROOT / "docs/extending.md").read_text(encoding="utf-8")
    shown = {block.strip() for block in re.findall(r"```(?:python|toml)\n(.*?)```", text, re.DOTALL)}
    files = [*PACKAGES.glob("*/nacre_*/*.py"), PACKAGES / "walk/pyproject.toml"]
    assert [str(file.relative_to(PACKAGES)) for file in files if file.read_text().strip() not in shown] == []
    # the other one differs in its name alone
    toml = (PACKAGES / "walk/pyproject.toml").read_text()
    assert (PACKAGES / "directory/pyproject.toml").read_text() == toml.replace("walk", "directory")
