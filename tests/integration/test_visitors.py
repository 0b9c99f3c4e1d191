"""Visitors of a site that shows the page in a frame: what they store, and what of the key they do not get."""

import json
import queue
import time
from collections.abc import Iterator
from logging.handlers import QueueHandler
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from ingestion.pipeline import ingest
from nacre.config.settings import Settings
from nacre.serving import threads
from nacre.serving.app import create_app
from nacre.serving.errors import QuotaExceeded
from nacre.serving.keys import Caller, KeyStore, audit_log
from nacre.serving.threads import DAY, MEGABYTE, VISITOR_DAYS, VISITOR_LIKE, VISITOR_SHARE
from nacre.stores.state.conversations import Conversations
from tests.support.ask_graph import KILNS, KILNS_QUESTION

API = "/embed/site/api"
JSON = {"Accept": "application/json"}


@pytest.fixture
def key(tmp_path: Path) -> str:
    (tmp_path / "kilns.ttl").write_text(KILNS)
    ingest([str(tmp_path / "kilns.ttl")], "kilns", data=tmp_path / "data", no_vectors=True)
    return KeyStore(tmp_path / "data").add("site", ("kilns",))


@pytest.fixture
def client(key: str, tmp_path: Path) -> Iterator[TestClient]:
    settings = Settings(
        data=tmp_path / "data", embedder="none", embed="site=https://a.example", max_stored=1, _env_file=None
    )
    with TestClient(create_app(settings), base_url="http://127.0.0.1:8200", client=("127.0.0.1", 5000)) as made:
        yield made


def ask(client: TestClient, place: str = API, question: str = KILNS_QUESTION, **more: Any) -> Any:
    headers = {**JSON, **more.pop("headers", {})}
    return client.post(f"{place}/ask", json={"question": question, "graph": "kilns", **more}, headers=headers)


def begin(client: TestClient) -> str:
    return str(client.post(f"{API}/threads", json={"graph": "kilns"}).json()["thread"])


def test_visitors_copy_no_thread_and_use_only_those_that_the_server_made(client: TestClient) -> None:
    thread = begin(client)
    assert ask(client, thread=thread).json()["values"] == [12]
    assert client.post(f"{API}/threads/{thread}/fork", json={"turn": 1}).status_code == 403
    invented = f"visitor-{'1' * 32}"
    assert ask(client, thread=invented).status_code == 422
    assert client.get(f"{API}/threads/{invented}").status_code == 404


def test_a_thread_of_a_visitor_has_an_end(client: TestClient, key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "MAX_VISITOR_TURNS", 2)
    thread = begin(client)
    assert [ask(client, thread=thread).status_code for _ in range(3)] == [200, 200, 422]
    assert ask(client, thread=begin(client)).status_code == 200
    own = {"Authorization": f"Bearer {key}"}
    assert [ask(client, "/api", thread="own", headers=own).status_code for _ in range(3)] == [200] * 3


def test_visitors_leave_the_key_room_for_its_own(client: TestClient, key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    thread, own = begin(client), {"Authorization": f"Bearer {key}"}
    monkeypatch.setattr(Conversations, "stored_bytes", lambda *_: round(VISITOR_SHARE * MEGABYTE))
    refused = ask(client, thread=thread)
    assert refused.status_code == 422
    assert "no room" in refused.json()["detail"]
    assert client.post(f"{API}/threads", json={"graph": "kilns"}).status_code == 422
    # without a conversation everyone goes on
    assert ask(client).status_code == 200
    assert ask(client, "/api", thread="own", headers=own).status_code == 200
    monkeypatch.setattr(Conversations, "stored_bytes", lambda *_: MEGABYTE)
    assert ask(client, "/api", thread="own", headers=own).status_code == 422


def test_without_keys_visitors_have_a_quota_too(monkeypatch: pytest.MonkeyPatch, client: TestClient) -> None:
    quota = client.app.state.turn_service.threads.quota  # type: ignore[attr-defined]
    monkeypatch.setattr(Conversations, "stored_bytes", lambda *_: MEGABYTE)
    assert client.portal is not None
    with pytest.raises(QuotaExceeded):
        client.portal.call(quota.check, Caller("local", visitor="192.0.2.7"))
    client.portal.call(quota.check, Caller("local"))


def test_unused_threads_of_visitors_are_deleted_by_default(client: TestClient) -> None:
    stored = client.app.state.turn_service.threads.conversations  # type: ignore[attr-defined]
    mine, theirs = "visitor-notes", begin(client)
    stored.begin("site", mine, "kilns")
    assert stored.untouched(time.time() + 60, VISITOR_LIKE) == [("site", theirs)]
    assert client.portal is not None
    kept = client.app.state.turn_service.threads  # type: ignore[attr-defined]
    assert client.portal.call(kept.delete_untouched, time.time() - VISITOR_DAYS * DAY, VISITOR_LIKE) == 0
    assert client.portal.call(kept.delete_untouched, time.time() + 60, VISITOR_LIKE) == 1
    assert [each.thread for each in stored.listed("site", "", None, 9, 0)] == [mine]


def test_visitors_get_approved_questions_alone(client: TestClient, key: str) -> None:
    own = {"Authorization": f"Bearer {key}"}
    query = {"tool": "sql", "text": "SELECT height FROM kiln ORDER BY height LIMIT 1"}
    question = "Which figure does the guide like best?"
    body = {"question": question, "query": query}
    made = client.post("/api/graphs/kilns/verified", json=body, headers=own)
    assert made.status_code == 201, made.text
    mine = ask(client, "/api", question, headers=own).json()
    assert mine["status"] == "answered"
    theirs = ask(client, question=question).json()
    assert theirs["values"] != mine["values"] or theirs["status"] != "answered"
    assert made.json()["id"] not in json.dumps(theirs)
    assert client.app.state.turn_service.library.verified.approve("kilns", made.json()["id"], "site")  # type: ignore[attr-defined]
    assert ask(client, question=question).json()["values"] == mine["values"]


def test_requests_of_a_frame_are_logged_once_and_refusals_are_noted(
    client: TestClient, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "nacre.access")
    deeds: queue.Queue[Any] = queue.Queue()
    handler = QueueHandler(deeds)
    audit_log.addHandler(handler)
    audit_log.setLevel("INFO")
    try:
        answered = ask(client, headers={"X-Request-ID": "one"})
        refused = client.get(f"{API}/graphs/kilns/verified", headers={"X-Request-ID": "two"})
        page = client.get("/embed/site/", headers={"X-Request-ID": "three"})
    finally:
        audit_log.removeHandler(handler)
    replies = (answered, refused, page)
    assert [each.headers["X-Request-ID"] for each in replies] == ["one", "two", "three"]
    assert [each.status_code for each in replies] == [200, 403, 200]
    # what one visitor gets is for no cache, and the sites of the key may show the page
    assert answered.headers["Cache-Control"] == "no-store"
    assert page.headers["X-Frame-Options"] == "ALLOWALL"
    assert "frame-ancestors https://a.example" in page.headers["Content-Security-Policy"]
    fields = [each.__dict__["fields"] for each in caplog.records if each.name == "nacre.access"]
    assert [(each["path"], each["status"], each["who"]) for each in fields] == [
        (f"{API}/ask", 200, "site"),
        (f"{API}/graphs/kilns/verified", 403, "site"),
        ("/embed/site/", 200, "-"),
    ]
    noted = [deeds.get() for _ in range(deeds.qsize())]
    assert [each.getMessage() for each in noted] == ["asked", "was refused"]
    assert {each.caller.visitor for each in noted} == {"127.0.0.1"}
    key = {"Authorization": f"Bearer {KeyStore(client.app.state.settings.data).add('ann', None)}"}  # type: ignore[attr-defined]
    assert 'route="/api/ask"' in client.get("/metrics", headers=key).text
