"""A graph that is deleted while people ask it: each gets its answer or is told, and nothing of it comes back."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient

from ingestion.pipeline import ingest
from nacre.config.settings import Settings
from nacre.serving.app import create_app

TURTLE = """@prefix : <http://example.org/q/> . @prefix r: <http://www.w3.org/2000/01/rdf-schema#> .
:a a :Quern ; r:label "Old Quern" ; :width {width} .
:b a :Quern ; r:label "New Quern" ; :width 30 .
"""
BODY = {"question": "What is the width of Old Quern?", "graph": "querns"}
AT_ONCE, BEFORE, QUESTIONS = 4, 3, 24


def ingest_querns(folder: Path, width: int) -> None:
    (folder / "querns.ttl").write_text(TURTLE.format(width=width))
    ingest([str(folder / "querns.ttl")], "querns", data=folder / "data", no_vectors=True)


def test_questions_under_way_are_answered_and_later_ones_are_refused(tmp_path: Path) -> None:
    ingest_querns(tmp_path, 12)
    settings = Settings(data=tmp_path / "data", embedder="none", _env_file=None)
    client = TestClient(create_app(settings), base_url="http://127.0.0.1:8200", client=("127.0.0.1", 5000))

    def asked() -> Any:
        return client.post("/api/ask", json=BODY, headers={"Accept": "application/json"})

    with client, ThreadPoolExecutor(AT_ONCE) as pool:
        assert asked().json()["values"] == [12]
        waiting = [pool.submit(asked) for _ in range(QUESTIONS)]
        for first in waiting[:BEFORE]:
            first.result()
        deleted = client.delete("/api/graphs/querns", params={"confirm": "querns"})
        assert deleted.status_code == 204
        after = [each.result() for each in waiting]
        assert {each.status_code for each in after} <= {200, 422}
        for each in after:
            if each.status_code == 200:
                assert each.json()["status"] == "answered"
                assert each.json()["values"] == [12]
            else:
                assert "No graph" in each.json()["detail"]
        refused = asked()
        assert refused.status_code == 422
        assert str(tmp_path) not in refused.text
        for path in ("overview", "thing?iri=http://example.org/q/a", "class/table?iri=http://example.org/q/Quern"):
            assert client.get(f"/api/graphs/querns/{path}").status_code == 404
        # a new graph of this name answers for itself
        ingest_querns(tmp_path, 99)
        assert asked().json()["values"] == [99]
