"""Tracing, if configured: the events of a turn -> an OpenTelemetry span with a child span for each step."""

import os
import time
from collections.abc import AsyncIterator, Mapping
from typing import Any

from nacre.config.settings import Settings
from nacre.errors import ConfigError

SPAN_BY_EVENT = {
    "rewriter": "rewriter",
    "understand": "understand",
    "route": "retrieve",
    "query": "retrieve",
    "evidence": "retrieve",
}
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
    events: AsyncIterator[tuple[str, Any]], headers: Mapping[str, str]
) -> AsyncIterator[tuple[str, Any]]:
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
        await events.aclose()  # type: ignore[attr-defined]


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
        """End the spans of the turn."""
        self._finish()
        self._turn.end()

    def _finish(self) -> None:
        for span in self._last.values():
            if span.is_recording():
                span.end(self._since)
