"""The scripts of examples/clients, each against a running server: what they print is what the documents promise."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.conftest import environment

CLIENTS = Path(__file__).parents[2] / "examples/clients"
QUESTION = "How many pages does Granite have?"


def printed(script, where, data, folder, **settings):
    ran = subprocess.run(
        [sys.executable, CLIENTS / script, where, "reading-room", QUESTION],
        capture_output=True,
        text=True,
        cwd=folder,
        env={**environment(data), **settings},
        timeout=120,
    )
    assert ran.returncode == 0, ran.stderr[-2000:]
    return ran.stdout


@pytest.mark.parametrize(
    "script",
    [
        "python_client.py",
        "openai_client.py",
        "mcp_client.py",
        "agui_client.py",
        "a2a_client.py",
        "langchain_tool.py",
        "langserve_client.py",
        "events.py",
    ],
)
def test_a_script_gets_its_answer_from_a_server(script, server, data, tmp_path):
    told = printed(script, server, data, tmp_path)
    # the values, with or without how sure they are
    assert "[540]" in told
    assert "Granite" in told


def test_the_script_with_langgraphs_sdk(server, data, tmp_path):
    assert "[540] answered" in printed("langgraph_client.py", f"{server}/langgraph", data, tmp_path)


def test_a_script_asks_a_folder_without_a_server(data, tmp_path):
    told = printed("python_client.py", data, data, tmp_path)
    assert "[540] answered 0." in told
    assert "Refused: No graph named 'no-such-graph'." in told


def test_every_script_is_run_and_documented():
    scripts = {path.name for path in CLIENTS.glob("*.py")}
    page = (CLIENTS.parents[1] / "docs/clients.md").read_text()
    assert {name for name in scripts if f"examples/clients/{name}" not in page} == set()
    tests = "".join(path.read_text() for path in Path(__file__).parent.glob("test_*.py"))
    assert {name for name in scripts if name not in tests} == set()
