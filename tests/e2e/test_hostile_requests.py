"""What a stranger may send: each is refused with a reason, within a time, and the server answers on."""

import json
import os
import socket
import sqlite3
import stat
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from urllib.parse import urlsplit

import httpx
import pytest

from nacre.serving.keys import KeyStore

ASKED = {"question": "How many books are there?", "graph": "reading-room"}
NESTED = "[" * 100_000
JSON = {"Content-Type": "application/json"}


def raw(server: str, head: bytes, seconds: float = 10) -> bytes:
    """What the server says to bytes that no client library would send."""
    address = urlsplit(server)
    with socket.create_connection((address.hostname, address.port), timeout=seconds) as line:
        line.sendall(head)
        told = b""
        line.shutdown(socket.SHUT_WR)
        while piece := line.recv(65536):
            told += piece
    return told


@pytest.mark.parametrize(
    ("header", "value", "status"),
    [
        ("Host", "[::1", 403),
        ("Host", "]", 403),
        ("Host", "evil.example", 403),
        ("Origin", "http://[", 403),
        ("Origin", "null", 403),
        ("X-Forwarded-For", "127.0.0.1", 401),
        ("Forwarded", "for=127.0.0.1", 401),
    ],
)
def test_headers_that_are_no_addresses(server, header, value, status):
    told = httpx.get(f"{server}/api/graphs", headers={header: value})
    assert told.status_code == status
    assert told.json()["detail"]


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/ask/batch", {"inputs": ASKED}, 422),
        ("/ask/batch", {"inputs": [[[ASKED]]]}, 422),
        ("/ask/batch", {"inputs": [1, None]}, 422),
        ("/ask/batch", [ASKED], 422),
        ("/ask/batch", {}, 422),
        ("/ask/invoke", {"input": ASKED, "config": None}, 422),
        ("/ask/batch", {"inputs": [ASKED], "config": [None]}, 422),
        ("/ask/stream", {"input": ASKED, "config": None}, 422),
        ("/api/ask", {**ASKED, "thread": "a/b"}, 422),
        ("/api/ask", {**ASKED, "thread": "a\0b"}, 422),
        ("/ask/invoke", {"input": [[]]}, 422),
        ("/ask/invoke", {"input": {**ASKED, "graph": "a" * 3000}}, 422),
        ("/ask/invoke", {"input": {**ASKED, "thread": "t" * 3000}}, 422),
        ("/api/ask", {**ASKED, "graph": "a" * 3000}, 422),
        ("/api/ask", {**ASKED, "thread": "t" * 3000}, 422),
        ("/api/ask", {**ASKED, "question": {"a": 1}}, 422),
        ("/api/threads", {"graph": "../" * 1000}, 422),
    ],
)
def test_bodies_of_the_wrong_form(server, path, body, status):
    told = httpx.post(f"{server}{path}", json=body, timeout=30)
    assert told.status_code == status, told.text[:300]
    assert told.json()["detail"]


@pytest.mark.parametrize("path", ["/ask/invoke", "/ask/batch", "/ask/stream", "/api/ask", "/api/threads"])
@pytest.mark.parametrize(
    "body",
    [
        NESTED,
        '{"question": ' + "[" * 960 + "]" * 960 + "}",
        '{"question": ' + '{"a":' * 50_000,
        '{"question": ' + "9" * 900_000 + "}",
        "{",
        "\0",
        "\ud800",
    ],
    ids=["brackets", "960 brackets", "braces", "digits", "cut", "nul", "half"],
)
def test_bodies_that_are_no_json(server, path, body):
    told = httpx.post(f"{server}{path}", content=body.encode(errors="surrogatepass"), headers=JSON, timeout=30)
    assert told.status_code == 400, told.text[:300]
    assert "JSON" in told.json()["detail"]


def test_the_number_of_an_event_may_have_any_length(server):
    told = httpx.get(f"{server}/api/runs/none", headers={"Last-Event-ID": "RUN." + "9" * 5000})
    assert told.status_code == 404
    begun = httpx.post(f"{server}/api/ask", json=ASKED, timeout=30)
    run = begun.headers["X-Run-ID"]
    told = httpx.get(f"{server}/api/runs/{run}", headers={"Last-Event-ID": f"{run}." + "9" * 5000}, timeout=30)
    assert told.status_code == 200


@pytest.mark.parametrize(
    "path",
    [
        "/%00",
        "/api/graphs/%00",
        "/api/docs/%00",
        "/api/docs/" + "a" * 3000,
        "/api/graphs/" + "a" * 3000,
        "/api/threads/" + "a" * 3000,
        "/ask/playground/assets",
        "/ask/playground/" + "a" * 3000,
        "/ask/playground/%00",
        "/ask/playground/../../x",
        "/ask/c/x/playground/assets",
        "/ask/c/x/invoke%00",
    ],
)
def test_paths_that_lead_nowhere(server, path):
    assert httpx.get(f"{server}{path}").status_code in (404, 422)


def test_the_playground_still_plays(server):
    page = httpx.get(f"{server}/ask/playground/")
    assert page.status_code == 200
    assert "<html" in page.text


@pytest.mark.parametrize("path", ["/api/graphs", "/ask/playground/", "/healthz", "/", "/api/docs/"])
def test_no_page_of_others_frames_ours_nor_guesses_its_type(server, path):
    told = httpx.get(f"{server}{path}").headers
    assert told["x-content-type-options"] == "nosniff"
    assert "frame-ancestors 'none'" in told["content-security-policy"]


def test_a_head_without_end_is_cut_off(server):
    begun = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nX-A: "
    assert raw(server, begun + b"a" * 60_000) == b""
    try:
        told = raw(server, begun + b"a" * 2_000_000)
    except OSError:
        # cut off before all was sent
        told = b"HTTP/1.1 400 "
    assert told.startswith(b"HTTP/1.1 400 ")
    assert httpx.get(f"{server}/healthz").status_code == 200


def test_what_is_not_finished_is_cut_off(serve, data, monkeypatch):
    with serve(data, NACRE_UNFINISHED_SECONDS="1") as (address, _):
        parts = urlsplit(address)
        begun = [
            b"",
            b"GET /heal",
            b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n",
            b"POST /api/ask HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100\r\n\r\n{",
        ]
        for head in begun:
            with socket.create_connection((parts.hostname, parts.port), timeout=10) as line:
                line.sendall(head)
                started = time.monotonic()
                try:
                    while line.recv(4096):
                        pass
                except ConnectionResetError:
                    pass
                assert time.monotonic() - started < 8, head
        # what takes its time to answer is no unfinished request
        assert httpx.post(f"{address}/ask/invoke", json={"input": ASKED}, timeout=30).status_code == 200


def test_a_revoked_key_stays_revoked_while_others_are_made(tmp_path):
    keys = KeyStore(tmp_path)
    for number in range(15):
        token = keys.add(f"gone-{number}", None)
        with ThreadPoolExecutor(4) as pool:
            made = [pool.submit(KeyStore(tmp_path).add, f"new-{number}-{i}", None) for i in range(3)]
            gone = pool.submit(KeyStore(tmp_path).revoke, f"gone-{number}")
            tokens = [each.result() for each in made]
            gone.result()
        assert KeyStore(tmp_path).find_caller(token) is None
        assert all(KeyStore(tmp_path).find_caller(each) for each in tokens)


def test_whoever_asks_for_readiness_slows_nobody_down(serve, fresh, tmp_path):
    graph = "tests/fixtures/graphs/kitchen.ttl"
    assert fresh("ingest", f"{os.getcwd()}/{graph}", "--graph", "kitchen").returncode == 0
    room = tmp_path / "data"
    with serve(room) as (address, _):
        threads = room / "threads.sqlite"
        held = sqlite3.connect(threads, isolation_level=None)
        held.execute("BEGIN IMMEDIATE")
        asking = [
            threading.Thread(target=httpx.get, args=[f"{address}/readyz"], kwargs={"timeout": 60}) for _ in range(30)
        ]
        for each in asking:
            each.start()
        started = time.monotonic()
        assert httpx.get(f"{address}/api/threads", timeout=30).status_code == 200
        took = time.monotonic() - started
        for each in asking:
            each.join()
        held.execute("ROLLBACK")
        held.close()
        assert took < 3
        assert stat.S_IMODE(threads.stat().st_mode) == 0o600
        assert all(stat.S_IMODE(each.stat().st_mode) == 0o600 for each in room.glob("threads.sqlite-*"))


def test_an_unknown_graph_names_no_folder(server, data):
    told = httpx.post(f"{server}/api/ask", json={**ASKED, "graph": "reading-rom"})
    assert told.status_code == 422
    assert "Did you mean 'reading-room'?" in told.text
    assert str(data) not in told.text


def test_unreadable_keys_name_no_folder(serve, fresh, tmp_path):
    graph = "tests/fixtures/graphs/kitchen.ttl"
    assert fresh("ingest", f"{os.getcwd()}/{graph}", "--graph", "kitchen").returncode == 0
    room = tmp_path / "data"
    with serve(room) as (address, _):
        (room / "keys.json").write_text("{")
        told = httpx.get(f"{address}/api/graphs")
        assert told.status_code == 503
        assert str(tmp_path) not in told.text
        assert str(tmp_path) not in json.dumps(httpx.get(f"{address}/readyz").json())


@pytest.mark.parametrize("content", [None, "[]", "{", ""])
def test_a_server_whose_keys_are_gone_is_not_ready(serve, fresh, tmp_path, content):
    graph = "tests/fixtures/graphs/kitchen.ttl"
    assert fresh("ingest", f"{os.getcwd()}/{graph}", "--graph", "kitchen").returncode == 0
    keys = tmp_path / "data" / "keys.json"
    assert fresh("keys", "add", "ann").returncode == 0
    with serve(tmp_path / "data") as (address, _):
        assert httpx.get(f"{address}/readyz").status_code == 200
        before = keys.read_text()
        if content is None:
            keys.unlink()
        else:
            keys.write_text(content)
        told = readiness(address, 503)
        assert told["status"] == "no keys"
        assert "all requests are refused" in " ".join(told["problems"])
        assert "graphs" not in told
        keys.write_text(before)
        assert readiness(address, 200)["status"] == "ok"


def readiness(address, status):
    """What /readyz says when it has this status at last: it looks at the keys once a second."""
    for _ in range(50):
        told = httpx.get(f"{address}/readyz", timeout=30)
        if told.status_code == status:
            return told.json()
        time.sleep(0.1)
    pytest.fail(f"/readyz still says {told.status_code} {told.text}")


def test_methods_and_paths_of_strangers_leave_no_trace_of_their_size(server, tmp_path):
    """Labels of metrics come from a fixed set, and what is logged is cut and escaped."""
    for number in range(20):
        told = raw(server, f"X{number}{'A' * 30_000} /api/graphs HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        assert told.startswith(b"HTTP/1.1 4")
    metrics = httpx.get(f"{server}/metrics").text
    assert "AAAA" not in metrics
    assert len(metrics) < 200_000
    assert 'method="other"' in metrics


def test_a_thread_with_a_name_no_path_can_contain_is_deleted_by_a_query(server, data):
    old = "a/\0b"
    begun = "name-before"
    assert httpx.post(f"{server}/api/ask", json={**ASKED, "thread": begun}, timeout=30).status_code == 200
    with closing(sqlite3.connect(data / "threads.sqlite", timeout=20)) as db, db:
        db.execute("UPDATE conversation SET thread = ? WHERE thread = ?", [old, begun])
    listed = f"{server}/api/threads"
    assert old in {each["thread"] for each in httpx.get(listed).json()}
    gone = httpx.delete(listed, params={"name": old})
    assert gone.status_code == 204, gone.text
    assert old not in {each["thread"] for each in httpx.get(listed).json()}
