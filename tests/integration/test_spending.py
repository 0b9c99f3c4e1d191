"""Limits of spending: what models take for a key or person in a day, refused beyond it, shown, shared and deleted."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from pydantic import ValidationError
from starlette.testclient import TestClient
from typer.testing import CliRunner

from ingestion.pipeline import ingest
from nacre.config.settings import Settings
from nacre.errors import ConfigError
from nacre.extensions.spending.limits import DAY, KEPT_DAYS, DayLimits, Spending, SpentDay
from nacre.serving.app import create_app
from nacre.serving.cli.main import app as commands
from nacre.serving.errors import StorageUnavailable, TooManyRequests
from nacre.serving.keys import Caller, KeyStore
from nacre.stores.state.database import StateDatabase, StorageError, open_file
from tests.support.ask_graph import KILNS, KILNS_QUESTION
from tests.support.model_servers import USAGE, Reply, openai_server

CALL = int(USAGE["total_tokens"])  # type: ignore[call-overload]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    (tmp_path / "kilns.ttl").write_text(KILNS)
    ingest([str(tmp_path / "kilns.ttl")], "kilns", data=tmp_path / "data", no_vectors=True)
    (tmp_path / "prices.yaml").write_text("openai:small: [1000, 1000, 1000]\n")
    return tmp_path / "data"


@contextmanager
def started(data: Path, reply: str = "", **limits: Any) -> Iterator[TestClient]:
    """A server with a model."""
    reply = reply or json.dumps({"sql": "SELECT height FROM kiln WHERE name = 'Old Kiln'"})
    with openai_server(*[Reply(reply)] * 100) as server:
        settings = Settings(
            data=data, embedder="none", audit=True, model="openai:small", lead="model", forbid_models=False,
            openai_base_url=server.url, prices=data.parent / "prices.yaml", _env_file=None, **limits,
        )  # fmt: skip
        with TestClient(create_app(settings), base_url="http://127.0.0.1:8200", client=("127.0.0.1", 5000)) as client:
            yield client


def key(data: Path, name: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {KeyStore(data).add(name, None)}", "Accept": "application/json"}


def asked(client: TestClient, headers: dict[str, str], **more: Any) -> httpx2.Response:
    return client.post("/api/ask", json={"question": KILNS_QUESTION, "graph": "kilns", **more}, headers=headers)


def run(data: Path, monkeypatch: pytest.MonkeyPatch, *words: str, **limits: str) -> list[Any]:
    for name, value in {"DATA": str(data), **limits}.items():
        monkeypatch.setenv(f"NACRE_{name}", value)
    result = CliRunner().invoke(commands, list(words))
    assert result.exception is None, result.exception
    return result.output.splitlines()


def test_a_key_that_used_its_tokens_is_refused_until_the_next_day(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ann, site, free = key(data, "ann"), key(data, "site"), key(data, "free")
    given = {"*": 100, "site": 0, "free": 10**9}
    with started(data, day_tokens=given) as client:
        record = asked(client, ann).json()
        assert (record["values"], record["input_tokens"] >= 100) == ([12], True)
        refused = asked(client, ann)
        assert refused.status_code == 429
        assert "of its 100 tokens for chat models today" in refused.json()["detail"]
        assert 0 < int(refused.headers["retry-after"]) <= DAY
        body = {"model": "kilns", "messages": [{"role": "user", "content": KILNS_QUESTION}]}
        assert client.post("/v1/chat/completions", json=body, headers=ann).status_code == 429
        translated = {"question": KILNS_QUESTION, "dataset": "kilns"}
        assert client.get("/api/text2sparql", params=translated, headers=ann).status_code == 429
        # the rules take nothing
        assert asked(client, ann, mind="rules").json()["values"] == [12]
        assert asked(client, site).status_code == 429
        for _ in range(2):
            assert asked(client, free).json()["values"] == [12]
        before = json.loads(run(data, monkeypatch, "spending", "--who", "free", "--json")[0])["tokens"]
        # a question as one query asks the model too
        client.get("/api/text2sparql", params=translated, headers=free)
        shown = json.loads(run(data, monkeypatch, "spending", "--who", "free", "--json")[0])
        assert shown["tokens"] > before
        lines = run(data, monkeypatch, "spending", DAY_TOKENS=json.dumps(given))
        assert [line.split()[1] for line in lines] == ["ann", "free"]
        assert f"{record['input_tokens'] + record['output_tokens']:,} of 100 tokens" in lines[0]
    entries = [json.loads(line) for line in run(data, monkeypatch, "audit", "--who", "ann", "--json")]
    assert entries[0]["tokens"] == record["input_tokens"] + record["output_tokens"]
    assert entries[0]["price"] == round(record["price"], 6)
    # it belongs to the data of the key
    shown = [json.loads(line) for line in run(data, monkeypatch, "person", "show", "ann")]
    assert "spending" in {each["what"] for each in shown}
    run(data, monkeypatch, "person", "delete", "ann", "--yes")
    assert [line.split()[1] for line in run(data, monkeypatch, "spending")] == ["free"]


def test_money_is_limited_by_the_prices_of_models(data: Path) -> None:
    ann = key(data, "ann")
    with started(data, day_cost={"ann": 0.05}) as client:
        # a call has 128 tokens of a thousandth of a dollar each
        assert asked(client, ann).json()["price"] >= 0.128
        assert "of its 0.05 US dollars" in asked(client, ann).json()["detail"]
    (data.parent / "prices.yaml").write_text("openai:other: [1, 1, 1]\n")
    with pytest.raises(ConfigError, match="needs the price of 'openai:small'"), started(data, day_cost={"ann": 1}):
        pass


def test_of_a_call_that_fails_the_prompt_counts(data: Path) -> None:
    ann = key(data, "ann")
    with started(data, "no json", day_tokens={"*": 100}) as client:
        # the client does not say what a reply took that it can't read
        assert asked(client, ann).json()["input_tokens"] == 0
        assert asked(client, ann).status_code == 429


def test_without_a_limit_nothing_is_counted(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with started(data) as client:
        for _ in range(2):
            assert asked(client, {"Accept": "application/json"}).json()["input_tokens"] >= 100
    assert run(data, monkeypatch, "spending") == ["Nothing is counted. Set NACRE_DAY_TOKENS."]


def test_processes_and_servers_share_the_limit(tmp_path: Path) -> None:
    settings = Settings(day_tokens={"*": 100}, _env_file=None)
    one, other = (DayLimits(settings, Spending(open_file(tmp_path / "state"))) for _ in range(2))
    one.add(Caller("ann"), 60, 0.0)
    other.check(Caller("ann"))
    other.add(Caller("ann"), 40, 0.0)
    for each in (one, other):
        with pytest.raises(TooManyRequests, match="100 of its 100 tokens"):
            each.check(Caller("ann"))
        each.check(Caller("bo"))


def test_a_day_ends_at_midnight_and_old_days_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [DAY * 20_000 + DAY - 90.0]
    monkeypatch.setattr(StateDatabase, "now", lambda self: now[0])
    spending = Spending(open_file(tmp_path / "state"))
    limits = DayLimits(Settings(day_tokens={"*": 5}, _env_file=None), spending)
    limits.add(Caller("ann", name="Ann Reed"), 5, 0.5)
    with pytest.raises(TooManyRequests, match=r"This account .* in 0 h 2 min") as refused:
        limits.check(Caller("ann", name="Ann Reed"))
    assert refused.value.retry_after == 90
    now[0] += 91
    limits.check(Caller("ann"))
    now[0] += KEPT_DAYS * DAY
    limits.add(Caller("bo"), 1, 0.0)
    assert spending.days(0) == [SpentDay(20_001 + KEPT_DAYS, "bo", 1, 0.0)]


def test_what_can_not_be_stored_still_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spending = Spending(open_file(tmp_path / "state"))
    limits = DayLimits(Settings(day_tokens={"*": 5}, _env_file=None), spending)

    def fail(*_: Any) -> None:
        raise StorageError("the disk is full")

    with monkeypatch.context() as broken:
        broken.setattr(Spending, "add", fail)
        limits.add(Caller("ann"), 3, 0.0)
        limits.add(Caller("ann"), 3, 0.0)
    with pytest.raises(TooManyRequests, match="6 of its 5"):
        limits.check(Caller("ann"))
    limits.add(Caller("ann"), 1, 0.0)
    assert spending.days(0)[0].tokens == 7
    monkeypatch.setattr(Spending, "days", fail)
    with pytest.raises(StorageUnavailable):
        limits.check(Caller("ann"))


def test_limits_are_numbers_that_are_not_negative() -> None:
    for wrong in ({"day_tokens": {"*": -1}}, {"day_cost": {"*": "much"}}, {"day_tokens": 5}):
        with pytest.raises(ValidationError):
            Settings(_env_file=None, **wrong)
