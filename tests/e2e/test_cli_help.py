"""What help and completion print, and that they import little: in new processes. Options: test_cli_commands.py."""

import json
import os
import subprocess
import sys
from functools import cache
from importlib.metadata import version

import pytest

HEAVY = (
    "fastapi",
    "fastembed",
    "httpx",
    "langchain_core",
    "langgraph",
    "langserve",
    "numpy",
    "onnxruntime",
    "pint",
    "pyoxigraph",
    "qdrant_client",
    "qdrant_edge",
    "rdflib",
    "sqlalchemy",
    "sqlglot",
    "tantivy",
    "uvicorn",
)
COMMANDS = (
    "ingest",
    "attach",
    "graphs",
    "report",
    "export",
    "remove",
    "index",
    "doctor",
    "ask",
    "chat",
    "serve",
    "eval",
    "compare",
    "calibrate",
)
PROGRAM = """
import json, sys
from nacre.serving.cli.main import main
code = main(sys.argv[1:])
json.dump({"code": code, "modules": sorted({name.split(".")[0] for name in sys.modules})}, sys.stderr)
"""


@cache
def run(*arguments: str) -> tuple[str, int, set[str]]:
    """What a new process prints, its exit code, and the packages that it imported."""
    done = subprocess.run([sys.executable, "-c", PROGRAM, *arguments], capture_output=True, text=True, check=True)
    told = json.loads(done.stderr.splitlines()[-1])
    return done.stdout, told["code"], set(told["modules"])


@pytest.mark.parametrize("arguments", [["--help"], ["ask", "--help"], ["ingest", "--help"], ["serve", "--help"]])
def test_help_imports_nothing_heavy(arguments):
    stdout, code, modules = run(*arguments)
    assert code == 0
    assert "Usage: nacre" in stdout
    assert modules.isdisjoint(HEAVY)


def test_help_lists_every_command():
    stdout, _, _ = run("--help")
    listed = {line.split()[0] for line in stdout.splitlines() if line.startswith("  ") and line.split()}
    assert listed >= set(COMMANDS)


def test_the_version_is_that_of_the_package():
    stdout, code, modules = run("--version")
    assert (stdout, code) == (f"nacre {version('nacre')}\n", 0)
    assert modules.isdisjoint(HEAVY)


@pytest.mark.parametrize(("words", "expected"), [("nacre ca", {"calibrate"}), ("nacre eval --sc", {"--score"})])
def test_a_shell_completes_commands_and_options(words, expected):
    asked = {"_NACRE_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
    done = subprocess.run(
        [sys.executable, "-m", "nacre"], capture_output=True, text=True, env={**os.environ, **asked}, check=True
    )
    assert set(done.stdout.split()) == expected
