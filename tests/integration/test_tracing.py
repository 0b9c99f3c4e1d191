"""Traces of turns: the spans that an exporter in memory gets, and none without the setting."""

from pathlib import Path

import pytest
from starlette.testclient import TestClient

from ingestion.pipeline import ingest
from nacre.config.settings import Settings
from nacre.serving import telemetry
from nacre.serving.app import create_app
from tests.support.ask_graph import KILNS, KILNS_QUESTION

pytest.importorskip("opentelemetry.sdk")

PARENT = "0af7651916cd43dd8448eb211c80319c"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    (tmp_path / "kilns.ttl").write_text(KILNS)
    ingest([str(tmp_path / "kilns.ttl")], "kilns", data=tmp_path / "data", no_vectors=True)
    return tmp_path / "data"


def test_a_turn_has_a_span_with_its_steps_and_without_texts(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    provider, exporter = TracerProvider(), InMemorySpanExporter()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(telemetry, "_tracer", provider.get_tracer("nacre"))
    settings = Settings(data=data, embedder="none", _env_file=None)
    with TestClient(create_app(settings), base_url="http://127.0.0.1:8200", client=("127.0.0.1", 5000)) as client:
        headers = {"traceparent": f"00-{PARENT}-b7ad6b7169203331-01", "Accept": "application/json"}
        asked = {"question": KILNS_QUESTION, "graph": "kilns"}
        assert client.post("/api/ask", json=asked, headers=headers).json()["values"] == [12]
        body = {"model": "kilns", "messages": [{"role": "user", "content": KILNS_QUESTION}]}
        assert client.post("/v1/chat/completions", json=body).status_code == 200
    spans = exporter.get_finished_spans()
    turns = [span for span in spans if span.name == "turn"]
    assert [f"{span.context.trace_id:032x}" == PARENT for span in turns] == [True, False]
    steps = [span for span in spans if span.parent and span.parent.span_id == turns[0].context.span_id]
    assert [span.name for span in steps] == ["rewriter", "understand", "retrieve", "answer"]
    assert all(span.start_time <= span.end_time for span in spans if span.start_time and span.end_time)
    attributes = dict(turns[0].attributes or {})
    assert (attributes["nacre.graph"], attributes["nacre.status"]) == ("kilns", "answered")
    assert "Kiln" not in "".join(span.to_json() for span in spans)


def test_without_the_setting_there_is_no_tracer(data: Path) -> None:
    settings = Settings(data=data, embedder="none", _env_file=None)
    with TestClient(create_app(settings), base_url="http://127.0.0.1:8200", client=("127.0.0.1", 5000)) as client:
        asked = {"question": KILNS_QUESTION, "graph": "kilns"}
        assert client.post("/api/ask", json=asked, headers={"Accept": "application/json"}).json()["values"] == [12]
    assert telemetry._tracer is None
