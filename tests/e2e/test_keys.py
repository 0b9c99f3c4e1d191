"""Who may come in: without keys this machine alone; with keys each caller sees its own threads and its graphs."""

import json
import socket
import sqlite3
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import httpx
import pytest

from benchmarks.inputs.hostile_sql import ENDLESS_SQL

GRAPHS = Path(__file__).parents[1] / "fixtures/graphs"
QUESTION = "How many pages does Granite have?"
FOLLOW = "How many pages does it have?"


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    """A server over two graphs; ann may read all, bo the kitchen alone."""
    from tests.e2e.conftest import command, serving

    folder = tmp_path_factory.mktemp("keys")
    run = command(folder / "data", folder)
    for name in ("reading-room", "kitchen"):
        assert run("ingest", GRAPHS / f"{name.replace('-', '_')}.ttl", "--graph", name).returncode == 0
    tokens = {"ann": run("keys", "add", "ann").stdout.strip()}
    tokens["bo"] = run("keys", "add", "bo", "--graphs", "kitchen").stdout.strip()
    tokens["cy"] = run("keys", "add", "cy").stdout.strip()
    with serving(folder / "data", folder, "--host", "0.0.0.0") as (address, _):
        clients = {
            name: httpx.Client(base_url=address, timeout=60, headers={"Authorization": f"Bearer {token}"})
            for name, token in tokens.items()
        }
        clients[""] = httpx.Client(base_url=address, timeout=60)
        yield clients, run, folder / "data"
        for client in clients.values():
            client.close()


def asked(client, **body):
    return client.post("/api/ask", json=body, headers={"Accept": "application/json"})


def test_nothing_is_served_to_others_without_keys(fresh):
    refused = fresh("serve", "--host", "0.0.0.0", "--port", "0")
    assert refused.returncode == 2
    assert len(refused.stderr.strip().splitlines()) == 1
    assert "nacre keys add" in refused.stderr


def test_an_address_in_the_settings_is_not_served_without_keys_and_does_not_end_the_server(tmp_path):
    from tests.e2e.conftest import serving

    with serving(tmp_path / "data", tmp_path, NACRE_HOST="0.0.0.0") as (address, process):
        assert process.poll() is None
        with pytest.raises(httpx.TransportError):
            httpx.get(address.replace("127.0.0.1", "127.0.0.2"), timeout=5)
        assert "nacre keys add NAME" in next(tmp_path.glob("*.log")).read_text()


def test_only_hashes_are_kept(house):
    clients, run, data = house
    kept = (data / "keys.json").read_text()
    token = clients["ann"].headers["Authorization"].removeprefix("Bearer ")
    assert token.startswith("nacre_")
    assert token not in kept
    assert (data / "keys.json").stat().st_mode & 0o077 == 0
    assert token not in run("keys", "list").stdout


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/api/graphs"),
        ("GET", "/api/threads"),
        ("POST", "/api/ask"),
        ("GET", "/api/choices"),
        ("GET", "/api/graphs/kitchen/overview"),
        ("GET", "/api/runs/any/calls"),
        ("POST", "/api/graphs/kitchen/query"),
        ("POST", "/ask/invoke"),
        ("POST", "/ask/stream"),
        ("GET", "/ask/input_schema"),
        ("GET", "/v1/models"),
        ("POST", "/v1/chat/completions"),
        ("POST", "/v1/responses"),
        ("GET", "/v1/no/such"),
        ("POST", "/mcp"),
        ("POST", "/agui"),
        ("POST", "/a2a"),
        ("GET", "/api/graphs/kitchen/query?question=x"),
    ],
)
@pytest.mark.parametrize("header", [None, "Bearer wrong", "Basic YTpi", "Bearer"])
def test_without_a_key_nothing_is_told(house, method, path, header):
    headers = {"Authorization": header} if header else {}
    reply = house[0][""].request(method, path, json={"question": "x"}, headers=headers)
    assert reply.status_code == 401
    assert reply.headers["www-authenticate"] == "Bearer"


def test_health_needs_no_key_and_tells_no_names(house):
    clients = house[0]
    assert clients[""].get("/healthz").status_code == 200
    assert "kitchen" not in clients[""].get("/readyz").text
    assert set(clients["ann"].get("/readyz").json()["graphs"]) == {"kitchen", "reading-room"}
    assert set(clients["bo"].get("/readyz").json()["graphs"]) == {"kitchen"}


def test_a_key_reads_its_graphs_alone(house):
    ann, bo = house[0]["ann"], house[0]["bo"]
    assert [graph["name"] for graph in ann.get("/api/graphs").json()] == ["kitchen", "reading-room"]
    assert [graph["name"] for graph in bo.get("/api/graphs").json()] == ["kitchen"]
    things = ("/overview", "/thing?iri=urn:x", "/class?iri=urn:x", "/follow-ups?thing=urn:x")
    tables = ("/class/table?iri=urn:x", "/class/facet?iri=urn:x&property=urn:y", "/class/file?iri=urn:x")
    for path in ("", "/report", "/examples", *things, *tables):
        hidden, none = (bo.get(f"/api/graphs/{name}{path}") for name in ("reading-room", "nowhere"))
        assert (hidden.status_code, none.status_code) == (404, 404)
        assert hidden.text.replace("reading-room", "X") == none.text.replace("nowhere", "X")
    for path, body in (("labels", {"iris": []}), ("query", {"language": "sql", "text": "SELECT 1"})):
        assert bo.post(f"/api/graphs/reading-room/{path}", json=body).status_code == 404
        assert ann.post(f"/api/graphs/reading-room/{path}", json=body).status_code == 200
    for graph in ("reading-room", "nowhere", "reading-rom"):
        refused = asked(bo, question=QUESTION, graph=graph)
        assert refused.status_code == 422
        assert "reading-room" not in refused.text.replace(repr(graph), "")
        body = {"input": {"question": QUESTION, "graph": graph}}  # type: ignore[assignment]
        assert bo.post("/ask/invoke", json=body).status_code == 422
    assert asked(bo, question="How many are there?").json()["graph"] == "kitchen"


def test_a_thread_is_its_owners(house):
    ann, cy = house[0]["ann"], house[0]["cy"]
    first = asked(ann, question=QUESTION, graph="reading-room", thread="mine").json()
    assert (first["turn"], first["thread"]) == (1, "mine")
    assert [thread["thread"] for thread in ann.get("/api/threads").json()] == ["mine"]
    assert cy.get("/api/threads").json() == []
    for method, path, body in [
        ("GET", "/api/threads/mine", None),
        ("GET", "/api/threads/ann:mine", None),
        ("PATCH", "/api/threads/mine", {"title": "x"}),
        ("DELETE", "/api/threads/mine", None),
        ("POST", "/api/threads/mine/fork", {"turn": 1}),
        ("POST", "/api/threads/ann:mine/fork", {"turn": 1}),
        ("GET", "/api/threads/mine/export", None),
        ("GET", "/api/threads/mine/turns/1/rows.csv", None),
        ("PUT", "/api/threads/mine/turns/1/feedback", {"thumb": 1}),
        ("GET", f"/api/runs/{first['id']}", None),
        ("DELETE", f"/api/runs/{first['id']}", None),
        ("GET", f"/api/runs/{first['id']}/calls", None),
    ]:
        assert cy.request(method, path, json=body).status_code == 404, path
    replayed = cy.post("/api/ask", json={"question": "x"}, headers={"Last-Event-ID": f"{first['id']}.0"})
    assert replayed.status_code == 404
    assert asked(cy, question=QUESTION, thread="mine", graph="reading-room", instead_of=1).status_code == 404
    # the same name is another thread, on every interface
    for thread in ("mine", "ann:mine"):
        body = {  # type: ignore[assignment]
            "input": {"question": FOLLOW, "graph": "reading-room", "thread": thread},
            "config": {"configurable": {"thread_id": "ann:mine", "asked_from": None}},
        }
        record = cy.post("/ask/invoke", json=body).json()["output"]
        assert record["turn"] == 1
        assert record["standalone"] == FOLLOW
    assert asked(ann, question="And The Salt Road?", thread="mine").json()["values"] == [312]


def test_a_key_with_fewer_graphs_reads_no_turn_of_those_it_lost(house):
    _, run, _ = house
    address = house[0]["ann"].base_url
    read = []
    for number, arguments in enumerate(([], ["--replace", "--graphs", "kitchen"])):
        token = run("keys", "add", "eli", *arguments).stdout.strip()
        with httpx.Client(base_url=address, timeout=60, headers={"Authorization": f"Bearer {token}"}) as eli:
            if not number:
                record = asked(eli, question=QUESTION, graph="reading-room", thread="lost").json()
            paths = [f"/api/runs/{record['id']}", f"/api/runs/{record['id']}/calls", "/api/threads/lost"]
            read.append([eli.get(path).status_code for path in paths])
            if number:
                body = {"question": "x", "graph": "kitchen"}
                replayed = eli.post("/api/ask", json=body, headers={"Last-Event-ID": f"{record['id']}.0"})
                assert replayed.status_code == 404
                assert eli.delete(paths[0]).status_code == 404
    assert read == [[200, 200, 200], [404, 404, 404]]


def test_a_thread_of_another_graph_is_a_conflict(house):
    ann = house[0]["ann"]
    asked(ann, question=QUESTION, graph="reading-room", thread="elsewhere")
    assert asked(ann, question=QUESTION, graph="kitchen", thread="elsewhere").status_code == 409
    body = {"input": {"question": QUESTION, "graph": "kitchen", "thread": "elsewhere"}}
    assert ann.post("/ask/invoke", json=body).status_code == 409


def test_options_of_a_key_add_up(house):
    _, run, _ = house
    options = ("--may", "write", "--may", "share", "--graphs", "kitchen", "--graphs", "reading-room")
    assert run("keys", "add", "dex", *options).returncode == 0
    (line,) = [line for line in run("keys", "list").stdout.splitlines() if line.startswith("dex")]
    assert all(word in line for word in ("write", "share", "kitchen", "reading-room"))


def test_a_revoked_key_opens_nothing_from_the_next_request_on(house):
    clients, run, _ = house
    token = run("keys", "add", "dee").stdout.strip()
    headers = {"Authorization": f"Bearer {token}"}
    assert clients[""].get("/api/graphs", headers=headers).status_code == 200
    assert run("keys", "add", "dee").returncode == 2
    revoked = run("keys", "revoke", "dee")
    # others are left
    assert (revoked.returncode, "keys add" in revoked.stderr) == (0, False)
    assert clients[""].get("/api/graphs", headers=headers).status_code == 401
    again = run("keys", "add", "dee", "--replace").stdout.strip()
    assert clients[""].get("/api/graphs", headers={"Authorization": f"Bearer {again}"}).status_code == 200
    assert clients[""].get("/api/graphs", headers=headers).status_code == 401


def test_without_keys_foreign_pages_and_hosts_are_refused(server):
    port = httpx.URL(server).port
    with httpx.Client(base_url=server) as client:
        assert client.get("/api/graphs", headers={"Origin": f"http://127.0.0.1:{port}"}).status_code == 200
        foreign = client.get("/api/graphs", headers={"Origin": "http://evil.example"})
        assert foreign.status_code == 403
        assert "access-control-allow-origin" not in foreign.headers
        for site in ("cross-site", "same-site"):
            asked_by_page = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": "no-cors"}
            assert client.get("/api/graphs", headers=asked_by_page).status_code == 403
            # a link leads to the page, and to nothing that tells something
            followed = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
            assert client.get("/", headers=followed).status_code == 200
            assert client.get("/api/graphs", headers=followed).status_code == 403
        assert client.get("/api/graphs", headers={"Host": "evil.example"}).status_code == 403
        sent = client.post(
            "/ask/invoke",
            content=json.dumps({"input": {"question": QUESTION}}),
            headers={"Origin": "http://evil.example", "Content-Type": "text/plain"},
        )
        assert sent.status_code == 403


def test_limits_of_size_rate_and_number(data, serve):
    limits = {
        "NACRE_MAX_BODY": "2000",
        "NACRE_MAX_RATE": "60",
        "NACRE_MAX_TURNS": "1",
        "NACRE_CORS_ORIGINS": "http://friend.example",
    }
    with serve(data, **limits) as (address, _), httpx.Client(base_url=address, timeout=60) as client:
        allowed = client.options(
            "/api/ask", headers={"Origin": "http://friend.example", "Access-Control-Request-Method": "POST"}
        )
        assert allowed.headers["access-control-allow-origin"] == "http://friend.example"
        long = {"question": "x" * 3000}
        assert asked(client, **long).status_code == 413
        chunks = (part.encode() for part in ['{"question": "', *["x" * 100] * 40, '"}'])
        sent = client.post("/api/ask", content=chunks, headers={"Content-Type": "application/json"})
        assert sent.status_code == 413
        replies = [client.get("/api/graphs") for _ in range(12)]
        refused = [reply for reply in replies if reply.status_code == 429]
        assert refused
        assert int(refused[0].headers["retry-after"]) >= 1
        assert client.get("/healthz").status_code == 200


def test_a_length_that_is_none_is_refused(server):
    url = httpx.URL(server)
    with socket.create_connection((url.host, url.port), timeout=10) as line:
        line.sendall(b"POST /api/ask HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: -5\r\n\r\n")
        assert line.recv(1000).split()[1] in (b"400", b"413")


def test_openai_and_mcp_tell_of_a_callers_graphs_alone(house):
    clients = house[0]
    mine = clients["bo"].get("/v1/models").json()["data"]
    assert [model["id"] for model in mine] == ["kitchen"]
    refused = []
    for name in ("reading-room", "no-such"):
        body = {"model": name, "messages": [{"role": "user", "content": QUESTION}]}
        reply = clients["bo"].post("/v1/chat/completions", json=body)
        refused.append((reply.status_code, reply.json()["error"]["message"].replace(name, "it")))
    assert refused[0] == refused[1]
    assert refused[0][0] == 404

    def told(method, **parameters):
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": parameters}
        headers = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-11-25"}
        text = clients["bo"].post("/mcp", json=body, headers=headers).text
        return json.loads(text.partition("data: ")[2])

    listed = told("tools/call", name="list_graphs", arguments={})["result"]["structuredContent"]["graphs"]
    assert [graph["name"] for graph in listed] == ["kitchen"]
    resources = told("resources/list")["result"]["resources"]
    assert {resource["uri"].rpartition("/")[0] for resource in resources} == {"nacre://graphs/kitchen"}
    for name, arguments in (
        ("ask", {"question": QUESTION}),
        ("query_sql", {"sql": "SELECT label FROM book"}),
        ("search", {"text": "salt"}),
        ("describe_graph", {}),
        ("describe_thing", {"name": "Granite"}),
    ):
        result = told("tools/call", name=name, arguments={**arguments, "graph": "reading-room"})["result"]
        assert result["isError"]
        assert "No graph named 'reading-room'" in result["content"][0]["text"]
    assert "error" in told("resources/read", uri="nacre://graphs/reading-room/schema")


def test_slow_queries_of_one_key_keep_nobody_else_waiting(house):
    clients, _, _ = house
    query = {"language": "sql", "text": "SELECT 1 FROM dish"}
    # the processes for queries are started
    assert clients["bo"].post("/api/graphs/kitchen/query", json=query).status_code == 200
    with ThreadPoolExecutor(16) as pool:
        slow = [
            pool.submit(
                clients["ann"].post,
                "/api/graphs/kitchen/query",
                json={"language": "sql", "text": ENDLESS_SQL},
                timeout=5,
            )
            for _ in range(16)
        ]
        time.sleep(1)
        waited = []
        for _ in range(3):
            begun = time.monotonic()
            assert asked(clients["bo"], question="How many dishes are there?", graph="kitchen").status_code == 200
            waited.append(time.monotonic() - begun)
        begun = time.monotonic()
        own = clients["bo"].post("/api/graphs/kitchen/query", json=query)
        waited.append(time.monotonic() - begun)
        assert own.status_code == 200, own.text
        # less than one slow query takes; all sixteen in turn take eighty seconds
        assert max(waited) < 4, waited
    # those who had no turn have left, and their queries are not run
    left = [each for each in slow if isinstance(each.exception(), httpx.ReadTimeout)]
    assert len(left) >= 14
    begun = time.monotonic()
    assert clients["ann"].post("/api/graphs/kitchen/query", json=query).status_code == 200
    assert time.monotonic() - begun < 7


def test_a_key_stores_no_more_than_its_quota(tmp_path, fresh, serve):
    assert fresh("ingest", GRAPHS / "reading_room.ttl", "--graph", "reading-room").returncode == 0
    keys = [fresh("keys", "add", name).stdout.strip() for name in ("ann", "bo")]
    headers = [{"Authorization": f"Bearer {key}"} for key in keys]
    data = tmp_path / "data"
    with (
        serve(data, NACRE_MAX_STORED="1") as (address, _),
        httpx.Client(base_url=address, headers=headers[0], timeout=60) as ann,
        httpx.Client(base_url=address, headers=headers[1], timeout=60) as bo,
    ):
        for _ in range(3):
            assert asked(ann, question=QUESTION, thread="first").status_code == 200
        with ThreadPoolExecutor(16) as pool:
            forks = list(pool.map(lambda _: ann.post("/api/threads/first/fork", json={"turn": 3}), range(150)))
        made = [reply for reply in forks if reply.status_code == 201]
        refused = [reply for reply in forks if reply.status_code == 422]
        assert len(made) + len(refused) == 150
        assert made
        assert "1 MB are allowed" in refused[0].json()["detail"]
        with closing(sqlite3.connect(data / "threads.sqlite")) as stored:
            turns = stored.execute("SELECT sum(length(record)) FROM turn WHERE owner = 'ann'").fetchone()[0]
            checkpoints = stored.execute("SELECT sum(length(checkpoint)) FROM checkpoints").fetchone()[0]
            plans = stored.execute(
                "EXPLAIN QUERY PLAN SELECT count(*), sum(length(checkpoint)) FROM checkpoints"
                " WHERE thread_id >= 'ann:' AND thread_id < 'ann;'"
            ).fetchall()
        # at most one fork too much
        assert 0.6e6 < turns + checkpoints < 1.1e6 + turns / len(made)
        assert "INDEX checkpoint_size" in plans[0][3]
        assert asked(ann, question=QUESTION, thread="first").status_code == 422
        assert ann.post("/api/threads", json={"graph": "reading-room"}).status_code == 422
        message = {"model": "reading-room", "messages": [{"role": "user", "content": QUESTION}]}
        refused_too = ann.post("/v1/chat/completions", json=message, headers={"X-Nacre-Thread": "first"})
        assert refused_too.status_code == 400
        assert asked(ann, question=QUESTION).status_code == 200
        assert asked(bo, question=QUESTION, thread="first").status_code == 200
        for reply in made:
            assert ann.delete(f"/api/threads/{reply.json()['thread']}").status_code == 204
        assert asked(ann, question=QUESTION, thread="first").json()["turn"] == 4
