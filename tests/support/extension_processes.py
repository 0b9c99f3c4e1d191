"""Processes of Nacre that know nothing of this one, without some of its extensions: a report of what they have."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import nacre

ROOT = Path(__file__).parents[2]
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


def left_out_of(errors: str) -> list[str]:
    return [line for line in errors.splitlines() if "left out" in line]


def without(gone: tuple[str, ...], folder: Path) -> Path:
    """A folder of packages with Nacre, but without some of its extensions."""
    package, home = Path(nacre.__path__[0]), folder / "site/nacre"
    (home / "extensions").mkdir(parents=True)
    for source, target, left in ((package, home, ("extensions",)), (package / "extensions", home / "extensions", gone)):
        for each in source.iterdir():
            if each.name not in ("__pycache__", *left):
                (target / each.name).symlink_to(each)
    return folder / "site"


def report_without(gone: tuple[str, ...], folder: Path) -> Run:
    """A report of Nacre without these extensions, to be run in a new folder."""
    (folder / "harbour.ttl").write_text(HARBOUR)
    return Run(folder, gone, REPORT, [str(folder), "Which ship does Ann Reed sail?"])


def check_report(run: Run) -> None:
    """It answers, and has the routes, branches and commands of all extensions but those that are gone."""
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
    off = {*run.gone, *(("verified",) if "evaluation" in run.gone else ())}
    assert {name for name, path in routes.items() if path not in paths} == off & {*routes}
    assert ("triples" in report["choices"]["branches"]) == ("pyramid" not in run.gone)
    commands = {"pyramid": "complete", "sharing": "shares", "verified": "examples"}
    assert {name for name, command in commands.items() if command not in report["commands"]} == off & {*commands}
