"""Prometheus metrics: requests and turns -> the text of /metrics."""

import os
from collections.abc import AsyncIterator
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

from nacre.records.answer import Answer

SHARED_FOLDER_VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
DURATION_BUCKETS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)


class Metrics:
    """The metrics of one app. Workers share them through the folder in the variable `SHARED_FOLDER_VARIABLE`."""

    def __init__(self) -> None:
        self.registry = registry = CollectorRegistry()
        self.requests = Counter("nacre_requests", "HTTP requests", ["method", "route", "status"], registry=registry)
        self.request_seconds = Histogram(
            "nacre_request_seconds", "How long requests took", ["route"], buckets=DURATION_BUCKETS, registry=registry
        )
        self.turns = Counter("nacre_turns", "Turns by how they ended", ["status"], registry=registry)
        self.turn_seconds = Histogram(
            "nacre_turn_seconds", "How long turns took", buckets=DURATION_BUCKETS, registry=registry
        )
        self.first_token_seconds = Histogram(
            "nacre_first_token_seconds", "How long the first words took", buckets=DURATION_BUCKETS, registry=registry
        )
        self.tokens = Counter("nacre_model_tokens", "Tokens of chat models", ["direction"], registry=registry)
        self.model_calls = Counter("nacre_model_calls", "Calls of chat models", registry=registry)
        self.active_turns = Gauge("nacre_turns_under_way", "Turns now", registry=registry, multiprocess_mode="livesum")

    def count_turn(self, record: Answer) -> None:
        """Count a finished turn."""
        self.turns.labels(record["status"]).inc()
        self.turn_seconds.observe(record["seconds"])
        if record["first_token_seconds"] is not None:
            self.first_token_seconds.observe(record["first_token_seconds"])
        self.tokens.labels("in").inc(record["input_tokens"])
        self.tokens.labels("out").inc(record["output_tokens"])
        self.model_calls.inc(record["llm_calls"])

    async def count_events(self, events: AsyncIterator[tuple[str, Any]]) -> AsyncIterator[tuple[str, Any]]:
        """The same events of a turn; counted as active until its end and then as finished."""
        with self.active_turns.track_inprogress():
            try:
                async for kind, payload in events:
                    if kind == "answer":
                        self.count_turn(payload)
                    yield kind, payload
            finally:
                await events.aclose()  # type: ignore[attr-defined]

    def text(self) -> bytes:
        """All metrics in Prometheus' text format."""
        registry = self.registry
        if os.environ.get(SHARED_FOLDER_VARIABLE):
            registry = CollectorRegistry()
            MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
        return generate_latest(registry)
