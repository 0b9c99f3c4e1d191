"""AG-UI's official client from npm: it checks the order of events itself and fails where it is wrong."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.e2e.conftest import command, serving

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "examples/clients/agui_client.mjs"
PAINTERS = ROOT / "tests/fixtures/graphs/painters.ttl"


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Runs the script against a server with a key."""
    folder = tmp_path_factory.mktemp("agui")
    nacre = command(folder / "data", folder)
    assert nacre("ingest", PAINTERS, "--graph", "painters", "--no-vectors").returncode == 0
    key = nacre("keys", "add", "ann").stdout.strip()
    install = ["npm", "install", "--no-audit", "--no-fund", "--silent", "@ag-ui/client@1"]
    subprocess.run(install, cwd=folder, check=True, timeout=300)
    shutil.copy(SCRIPT, folder)
    with serving(folder / "data", folder) as (address, _):

        def run(question, **settings):
            return subprocess.run(
                ["node", SCRIPT.name, address, "painters", question],
                capture_output=True,
                text=True,
                cwd=folder,
                env={**os.environ, "NACRE_KEY": key, **settings},
                timeout=120,
            )

        yield run


def test_it_streams_an_answer(run):
    ran = run("How many painters are there?")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "[ 3 ] answered" in ran.stdout


def test_it_resumes_an_interrupt(run):
    ran = run("Where did Mira Holt live?")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "Which did you mean? towns that Mira Holt died in" in ran.stdout
    assert "[ 'Visby' ] answered 1" in ran.stdout


def test_it_is_told_what_is_wrong(run):
    for question, settings, told in (("x" * 5000, {}, "4000"), ("Who?", {"NACRE_KEY": "none"}, "HTTP 401")):
        ran = run(question, **settings)
        assert ran.returncode != 0
        assert told in ran.stderr
