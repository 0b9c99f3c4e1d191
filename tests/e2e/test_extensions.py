"""Extensions: two packages of others are installed and used, faulty ones are left out, all of ours can be deleted.

What they declare: tests/integration/test_extensions.py.
"""

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from ingestion.pipeline import ingest
from nacre.stores import versions
from nacre.stores.versions import Manifest, Pointer
from tests.support.extension_processes import (
    HARBOUR,
    OURS,
    PLAIN,
    REPORT,
    Run,
    check_report,
    left_out_of,
    report_without,
    run_all,
)

PACKAGES = Path(__file__).parents[1] / "fixtures/extensions"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the processes keep their graph, which the first one ingests."""
    folder = tmp_path_factory.mktemp("harbour")
    (folder / "harbour.ttl").write_text(HARBOUR)
    return folder


def run_nacre(folder: Path, *questions: str, names: str, path: Path | str) -> tuple[Any, list[str]]:
    """The report of a fresh process, and the lines about extensions that are left out."""
    environment = PLAIN | {"NACRE_EXTENSIONS": names, "PYTHONPATH": str(path)}
    command = [sys.executable, "-c", REPORT, str(folder), *questions]
    done = subprocess.run(
        command, cwd=folder, env=os.environ | environment, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), left_out_of(done.stderr)


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


def test_faulty_extensions_are_named_in_one_line_and_left_out_and_others_that_are_not_named_are_off(
    folder: Path, site: Path, tmp_path: Path
) -> None:
    installed, site = site, tmp_path / "site"
    for name, (text, _) in FAULTY.items():
        module = name if name != "a2a" else "second_a2a"
        place = f"{module}:EXTENSION"
        install(site, f"x-{name}", {f"{module}.py": text + MORE.get(name, "")}, {name: place})
    install(site, "x-twice-more", {}, {"twice": "twice:EXTENSION"})
    install(site, "x-working", {"working.py": WORKING}, {"working": "working:EXTENSION"})
    questions = "Which ship does Ann Reed sail?", "Who runs the harbour office?"
    names = f"{', '.join(FAULTY)},missing,working"
    report, left_out = run_nacre(folder, *questions, names=names, path=f"{site}{os.pathsep}{installed}")
    reasons = {name: why for name, (_, why) in FAULTY.items()} | {"missing": "no installed package has it"}
    named = {name: [line for line in left_out if f"extension '{name}'" in line] for name in reasons}
    assert {name: lines for name, lines in named.items() if len(lines) != 1 or reasons[name] not in lines[0]} == {}
    assert len(left_out) == len(reasons)
    # the rest works
    assert (report["health"], report["free"], report["help"]) == (200, 200, 0)
    assert "greet" in report["commands"]
    answer, other = report["answers"]
    assert answer["values"] == ["Gull"]
    failed = {name: why for name, why in answer["unavailable"].items() if name in ("broken", "slow")}
    assert failed == {"broken": "internal error: RuntimeError", "slow": "slow gave nothing within 2 s"}
    # an extension that is installed and not named is not used
    assert "walk" not in report["drawn"]
    assert "Mara" not in other["answer"]


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
    """The runs of all commands that need an extension which is not there, and of the core alone."""
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
    runs["core"] = report_without(OURS, tmp_path_factory.mktemp("core"))
    run_all(list(runs.values()))
    return runs


def test_all_of_ours_can_be_deleted(needing: dict[str, Run]) -> None:
    """Some of them: tests/e2e/test_deleted_extensions.py."""
    check_report(needing["core"])


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
