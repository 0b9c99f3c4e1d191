"""Metrics and traces: requests and turns -> the text of /metrics; events of a turn -> an OpenTelemetry span."""

import os
import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

from nacre.config.settings import Settings
from nacre.errors import ConfigError
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

    async def count_events(self, events: AsyncGenerator[tuple[str, Any]]) -> AsyncGenerator[tuple[str, Any]]:
        """The same events of a turn; counted as active until its end and then as finished."""
        with self.active_turns.track_inprogress():
            async with aclosing(events):
                async for kind, payload in events:
                    if kind == "answer":
                        self.count_turn(payload)
                    yield kind, payload

    def text(self) -> bytes:
        """All metrics in Prometheus' text format."""
        registry = self.registry
        if os.environ.get(SHARED_FOLDER_VARIABLE):
            registry = CollectorRegistry()
            MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
        return generate_latest(registry)


RETRIEVAL_EVENTS = ("route", "query", "evidence")
SPAN_BY_EVENT = {"rewriter": "rewriter", "understand": "understand", **dict.fromkeys(RETRIEVAL_EVENTS, "retrieve")}

SPAN_ATTRIBUTES = ("graph", "version", "status", "rounds", "llm_calls", "input_tokens", "output_tokens")

_tracer: Any = None


def configure_tracing(settings: Settings) -> None:
    """Export traces to the configured endpoint; without one no tracing package is imported. Raises ConfigError."""
    global _tracer
    # LangChain reads only the environment, which does not include .env
    os.environ["LANGSMITH_TRACING"] = "true" if settings.langsmith_tracing else "false"
    if settings.langsmith_api_key is not None:
        os.environ["LANGSMITH_API_KEY"] = settings.langsmith_api_key.get_secret_value()
    if settings.otel_endpoint is None or _tracer is not None:
        return
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError as error:
        raise ConfigError("OTEL_EXPORTER_OTLP_ENDPOINT is set. Run: pip install 'nacre[otel]'") from error
    provider = TracerProvider(resource=Resource.create({"service.name": "nacre"}))
    exporter = OTLPSpanExporter(endpoint=settings.otel_endpoint.rstrip("/") + "/v1/traces")
    provider.add_span_processor(BatchSpanProcessor(exporter))
    _tracer = provider.get_tracer("nacre")


async def trace_turn(
    events: AsyncGenerator[tuple[str, Any]], headers: Mapping[str, str]
) -> AsyncGenerator[tuple[str, Any]]:
    """The same events. With tracing, the turn becomes a child of the span that the request's headers name."""
    steps = _TurnSpans(headers) if _tracer is not None else None
    try:
        async for kind, payload in events:
            if steps is not None:
                steps.record(kind, payload)
            yield kind, payload
    finally:
        if steps is not None:
            steps.end()
        await events.aclose()


class _TurnSpans:
    """The spans of one turn. A step ends with the first event of the next step."""

    def __init__(self, headers: Mapping[str, str]) -> None:
        from opentelemetry.propagate import extract
        from opentelemetry.trace import set_span_in_context

        self._turn = _tracer.start_span("turn", context=extract(headers))
        self._inside = set_span_in_context(self._turn)
        self._since = time.time_ns()
        self._last: dict[str, Any] = {}

    def record(self, kind: str, payload: Any) -> None:
        """Extend the step of an event to the present."""
        now, name = time.time_ns(), SPAN_BY_EVENT.get(kind, "answer")
        if name not in self._last:
            self._finish()
            self._last[name] = _tracer.start_span(name, context=self._inside, start_time=self._since)
        self._since = now
        if kind == "answer":
            self._turn.set_attributes({f"nacre.{key}": payload[key] for key in SPAN_ATTRIBUTES})

    def end(self) -> None:
        self._finish()
        self._turn.end()

    def _finish(self) -> None:
        for span in self._last.values():
            if span.is_recording():
                span.end(self._since)
