"""Snippets of README and docs in JavaScript: each runs in node as it stands, with the packages that it imports."""

import re
import subprocess
from pathlib import Path

import pytest

from tests.e2e.conftest import ROOT, command, serving
from tests.support.snippets import DOCUMENTS, Snippet, output_differences, read_snippets

SERVER = "http://127.0.0.1:8200"
SNIPPETS = [each for document in DOCUMENTS for each in read_snippets(document) if each.language == "javascript"]
# what snippets import, in the version that they are written for
PACKAGES = {"@ag-ui/client": "@ag-ui/client@1", "@langchain/langgraph-sdk": "@langchain/langgraph-sdk@1"}


def imported(snippet: Snippet) -> list[str]:
    return re.findall(r'^import .* from "([^"]+)";$', snippet.text, re.MULTILINE)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the example graph as `bmw`, and the packages of all snippets."""
    folder = tmp_path_factory.mktemp("javascript")
    done = command(folder / "data", folder)("ingest", ROOT / "examples/bmw/kg.ttl", "--graph", "bmw", "--no-vectors")
    assert done.returncode == 0, done.stderr
    names = sorted({PACKAGES[name] for snippet in SNIPPETS for name in imported(snippet)})
    install = ["npm", "install", "--no-audit", "--no-fund", "--silent", *names]
    subprocess.run(install, cwd=folder, check=True, timeout=300)
    return folder


def test_there_are_snippets() -> None:
    assert SNIPPETS


@pytest.mark.parametrize("snippet", SNIPPETS, ids=lambda snippet: snippet.place)
def test_a_snippet_prints_what_the_document_says(snippet: Snippet, folder: Path) -> None:
    with serving(folder / "data", folder, NACRE_EMBEDDER="none") as (address, _):
        # the packages lie in the folder above the script
        script = folder / "scripts/snippet.mjs"
        script.parent.mkdir(exist_ok=True)
        script.write_text(snippet.text.replace(SERVER, address))
        ran = subprocess.run(["node", script], capture_output=True, text=True, cwd=ROOT, timeout=120)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert snippet.output is not None, "say below the snippet what it prints"
    assert output_differences(snippet.output, ran.stdout) == ""
