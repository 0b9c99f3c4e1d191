"""A model that writes statements which would run for minutes: each is ended, the turn is answered, the server lives."""

import json
import time
from pathlib import Path

import httpx
import pytest

from tests.support.model_servers import Reply, openai_server
from tests.support.scripted_model import step

QUESTION = "Which of the books are the heaviest reading on a cold night?"
GROWN = "replace(" * 6 + "'aaaaaaaaa'" + ",'a','aaaaaaaaaa')" * 6
BURNING = {
    "one call of a function": f"SELECT instr({GROWN} || 'b', {GROWN} || 'c')",
    "a recursion without end": "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT max(x) FROM n",
    "a product": "SELECT count(*) FROM entity a, entity b, entity c, entity d, entity e, entity f, entity g, entity h",
    "joins without conditions": "SELECT 1 FROM entity a" + " JOIN entity" * 64,
    "levels": "SELECT " + "(" * 2000 + "1" + ")" * 2000,
}
LIMIT = 2.0


@pytest.fixture(params=list(BURNING.values()), ids=list(BURNING))
def served(request, data, serve):
    """A server whose model knows one statement only: its address and process."""
    with openai_server(*[Reply(json.dumps(step(request.param, wants="number")))] * 30) as model:
        environment = {
            "NACRE_MODEL": "openai:coder-70b",
            "OPENAI_API_KEY": "none",
            "OPENAI_BASE_URL": model.url,
            "NACRE_BRANCH_SECONDS": str(LIMIT),
        }
        with serve(data, **environment) as (address, process):
            yield address, process


def working(pid):
    """Seconds of processor time that a process and its children have used."""
    ticks = 0
    for place in Path("/proc").glob("[0-9]*/stat"):
        try:
            told = place.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if pid in (int(told[1]), int(place.parent.name)):
            ticks += int(told[11]) + int(told[12])
    return ticks / 100


def is_idle(pid):
    """Whether nothing works on, neither the statement nor what read it, once an ended process has been replaced."""
    for _ in range(10):
        before = working(pid)
        time.sleep(1)
        if working(pid) - before < 0.5:
            return True
    return False


def test_a_statement_that_burns_is_ended(served):
    address, process = served
    record = httpx.post(
        f"{address}/api/ask", json={"question": QUESTION}, headers={"Accept": "application/json"}, timeout=120
    ).json()
    written = [query for query in record["queries"] if query["by"] == "model"]
    assert written
    kinds = {query["error"]["kind"] if query["error"] else "" for query in written}
    # what some machine ends within the limit has rows
    assert kinds <= {"", "timeout", "too_large", "refused", "syntax"}
    assert all(query["seconds"] < LIMIT + 1 for query in written if not query["error"])
    assert record["answer"]
    assert record["status"] != "failed"
    assert is_idle(process.pid)
    assert httpx.get(f"{address}/healthz", timeout=10).status_code == 200
