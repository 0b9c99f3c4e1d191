"""Clean environments: an interpreter -> a venv of its own, and the command line installed in it."""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]
GRAPH = """@prefix : <http://example.org/harbour/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:a a :Crane ; rdfs:label "Long Tom" ; :lifts 40 . :b a :Crane ; rdfs:label "Blue Anna" ; :lifts 65 .
"""
QUESTION, ANSWER = "Which crane lifts the most?", "Blue Anna"


def clean_environment(**settings: str) -> dict[str, str]:
    """The environment of a person who has set nothing, outside of any environment of Python."""
    hidden = ("NACRE_", "OPENAI_", "OLLAMA_", "PYTHON", "VIRTUAL_ENV")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(hidden)}
    return {**kept, "LANGSMITH_TRACING": "false", **settings}


def run(words: Sequence[object], folder: Path, environment: Mapping[str, str] | None = None, seconds: int = 900) -> str:
    """What a program prints; it must end with 0."""
    done = subprocess.run(
        list(map(str, words)),
        capture_output=True,
        text=True,
        cwd=folder,
        env=clean_environment() if environment is None else dict(environment),
        timeout=seconds,
    )
    assert done.returncode == 0, (words, done.stdout[-3000:], done.stderr[-3000:])
    return done.stdout


def new_venv(python: Path | str, place: Path) -> Path:
    """The folder of the programs of a new environment."""
    run([python, "-m", "venv", place], place.parent)
    return place / "bin"


def base_python() -> str:
    """The interpreter that the environment of the tests was made from."""
    return getattr(sys, "_base_executable", sys.executable)


def ask_new_graph(nacre: Path, folder: Path) -> str:
    """What the installed command answers about a graph that it ingested itself."""
    (folder / "harbour.ttl").write_text(GRAPH)
    run([nacre, "ingest", "harbour.ttl", "--graph", "harbour"], folder)
    return run([nacre, "ask", QUESTION], folder)
