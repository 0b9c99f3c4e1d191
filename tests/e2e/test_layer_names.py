"""Other names for classes and properties over HTTP: who may write, what is saved, and that questions then use them."""

import time
from pathlib import Path

import httpx
import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "workshop" / "collection.ttl"
CLASS = "https://workshop.example/vocabulary#InventoryObject"
WAIT_SECONDS = 90


@pytest.fixture(scope="module")
def clients(tmp_path_factory):
    """A server with two keys: ann may write, bo may not."""
    from tests.e2e.conftest import command, serving

    folder = tmp_path_factory.mktemp("names")
    run = command(folder / "data", folder)
    assert run("ingest", EXAMPLE, "--graph", "workshop", "--no-vectors").returncode == 0
    tokens = {
        "ann": run("keys", "add", "ann", "--may", "write").stdout.strip(),
        "bo": run("keys", "add", "bo").stdout.strip(),
    }
    assert "may write" in run("keys", "list").stdout
    assert run("keys", "add", "cy", "--may", "fly").returncode == 2
    with serving(folder / "data", folder) as (address, _):
        opened = {
            name: httpx.Client(base_url=address, timeout=60, headers={"Authorization": f"Bearer {token}"})
            for name, token in tokens.items()
        }
        yield opened
        for client in opened.values():
            client.close()


def values(client, question):
    reply = client.post(
        "/api/ask", json={"question": question, "graph": "workshop"}, headers={"Accept": "application/json"}
    )
    return reply.json()["values"]


def test_a_name_that_somebody_gives_is_understood_afterwards(clients):
    ann = clients["ann"]
    before = ann.get("/api/graphs/workshop/layer").json()
    assert before["may_write"]
    assert {term["iri"] for term in before["terms"]} >= {CLASS}
    assert values(ann, "How many gizmos are there?") != [5]
    reply = ann.post("/api/graphs/workshop/layer", json={"iri": CLASS, "also": ["gizmo"]})
    assert reply.status_code == 202
    end = time.monotonic() + WAIT_SECONDS
    while (state := ann.get("/api/graphs/workshop/layer").json())["busy"] and time.monotonic() < end:
        time.sleep(0.5)
    assert state["problem"] == ""
    assert state["version"] != before["version"]
    assert state["files"] == ["people.yaml"]
    term = next(term for term in state["terms"] if term["iri"] == CLASS)
    assert "gizmo" in term["also"]
    assert term["given"] == ["gizmo"]
    assert values(ann, "How many gizmos are there?") == [5]


def test_a_key_without_the_right_may_look_and_not_write(clients):
    bo = clients["bo"]
    assert not bo.get("/api/graphs/workshop/layer").json()["may_write"]
    reply = bo.post("/api/graphs/workshop/layer", json={"iri": CLASS, "also": ["gadget"]})
    assert reply.status_code == 403
    assert "--may write" in reply.json()["detail"]


def test_an_unknown_class_and_too_long_names_are_refused(clients):
    ann = clients["ann"]
    assert ann.post("/api/graphs/workshop/layer", json={"iri": "http://e/x", "also": []}).status_code == 404
    assert ann.post("/api/graphs/workshop/layer", json={"iri": CLASS, "also": ["x" * 500]}).status_code == 422
