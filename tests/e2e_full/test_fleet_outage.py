"""A server whose database and store of graphs go away in the middle of turns, and come back."""

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import httpx
import pytest

from tests.e2e.conftest import environment, serving
from tests.e2e.forked import run_forked
from tests.e2e_full.test_fleet import LIGHT, LIGHTS, QUESTION, ask, until
from tests.support.databases import Postgres, missing_server, postgres_server

if reason := missing_server("postgres"):
    pytest.skip(reason, allow_module_level=True)


class Served(NamedTuple):
    address: str
    key: dict[str, str]
    database: Postgres
    model: socket.socket
    log: Path


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    tmp_path = tmp_path_factory.mktemp("outage")
    data = tmp_path / "data"
    data.mkdir()
    with ExitStack() as stack:
        database = stack.enter_context(postgres_server())
        # it takes connections and never answers, so that a turn of the model lasts until it is closed
        model = stack.enter_context(socket.create_server(("127.0.0.1", 0), backlog=64))
        settings = {
            "NACRE_DATABASE_URL": database.url.set(drivername="postgresql").render_as_string(hide_password=False),
            "NACRE_EMBEDDER": "none",
            "NACRE_MODEL": "openai:endless",
            "NACRE_LEAD": "model",
            "OPENAI_BASE_URL": f"http://127.0.0.1:{model.getsockname()[1]}/v1",
            "OPENAI_API_KEY": "none",
        }
        source = tmp_path / "lights.ttl"
        source.write_text(LIGHTS.format(LIGHT.format("Fastnet", 54)))

        def nacre(*words: str) -> str:
            done = run_forked(list(words), {**environment(data), **settings}, tmp_path, "", timeout=120)
            assert done.returncode == 0, done.stderr
            return done.stdout

        nacre("ingest", str(source), "--graph", "lights", "--no-vectors")
        key = {"Authorization": f"Bearer {nacre('keys', 'add', 'ann').strip()}"}
        address, _ = stack.enter_context(serving(data, tmp_path, **settings))
        yield Served(address, key, database, model, max(tmp_path.glob("serve-*.log")))


def ready(served: Served) -> dict[str, object]:
    found: dict[str, object] = httpx.get(f"{served.address}/readyz", headers=served.key, timeout=30).json()
    return found


def turns(served: Served) -> list[int]:
    found = httpx.get(f"{served.address}/api/threads/t", headers=served.key, timeout=30).json()
    return [turn["record"]["turn"] for turn in found["turns"]]


def follow(served: Served, seen: list[str]) -> None:
    body = {"question": "Which lighthouse is the highest?", "mind": "model", "thread": "t"}
    with httpx.stream("POST", f"{served.address}/api/ask", json=body, headers=served.key, timeout=120) as stream:
        seen.extend(line for line in stream.iter_lines() if line)


def test_a_restart_between_two_questions_is_not_noticed(served: Served) -> None:
    assert ask(served.address, served.key, thread="t")["turn"] == 1
    served.database.stop()
    served.database.start()
    record = ask(served.address, served.key, thread="t")
    assert (record["turn"], record["values"], record["caveats"]) == (2, [1], [])
    assert ready(served)["status"] in ("ok", "degraded")


def test_an_outage_in_the_middle_of_a_turn(served: Served) -> None:
    seen: list[str] = []
    following = threading.Thread(target=follow, args=(served, seen))
    following.start()
    until(lambda: "event: route" in seen or "event: understand" in seen)
    served.database.stop()
    until(lambda: ready(served)["status"] == "no database")
    assert "graphs" not in ready(served)
    body = {"question": QUESTION, "thread": "t"}
    refused = httpx.post(f"{served.address}/api/ask", json=body, headers=served.key, timeout=60)
    assert refused.status_code == 503
    assert "Ask again in a moment" in refused.json()["detail"]
    # the model is gone, so the rules answer, and the turn ends while there is no database
    served.model.close()
    following.join(60)
    data = [json.loads(line.removeprefix("data: ")) for line in seen if line.startswith("data: ")]
    kinds = [line.removeprefix("event: ") for line in seen if line.startswith("event: ")]
    assert kinds[-2:] == ["answer", "done"]
    # whoever asked reads that the turn is not stored
    assert any("could not be kept" in caveat for caveat in data[-2]["caveats"])
    served.database.start()
    until(lambda: ready(served)["status"] != "no database")
    record = ask(served.address, served.key, thread="t")
    assert (record["turn"], record["values"], record["caveats"]) == (3, [1], [])
    assert turns(served) == [1, 2, 3]
    log = served.log.read_text()
    assert "Traceback" not in log
