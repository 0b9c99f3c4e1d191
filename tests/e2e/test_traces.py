"""Traces go where a setting says, and nowhere without it."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx
import pytest

pytest.importorskip("opentelemetry.exporter.otlp.proto.http")


def test_a_turn_is_a_trace_with_its_steps(data, serve):
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    spans = []

    class Collector(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["content-length"]))
            if self.headers.get("content-encoding") == "gzip":
                import gzip

                body = gzip.decompress(body)
            for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
                for scope in resource.scope_spans:
                    spans.extend(scope.spans)
            self.send_response(200)
            self.end_headers()

        def log_message(self, *args):
            pass

    collector = ThreadingHTTPServer(("127.0.0.1", 0), Collector)
    threading.Thread(target=collector.serve_forever, args=(0.01,), daemon=True).start()
    endpoint = f"http://127.0.0.1:{collector.server_address[1]}"
    parent = "0af7651916cd43dd8448eb211c80319c"
    with serve(data, OTEL_EXPORTER_OTLP_ENDPOINT=endpoint) as (address, _):
        headers = {"traceparent": f"00-{parent}-b7ad6b7169203331-01", "Accept": "application/json"}
        asked = {"question": "How many authors are there?"}
        assert httpx.post(f"{address}/api/ask", json=asked, headers=headers, timeout=60).json()["values"] == [3]
    collector.shutdown()
    collector.server_close()
    names = [span.name for span in spans]
    assert sorted(names) == ["answer", "retrieve", "rewriter", "turn", "understand"]
    assert {span.trace_id.hex() for span in spans} == {parent}
    turn = next(span for span in spans if span.name == "turn")
    assert {span.parent_span_id for span in spans if span is not turn} == {turn.span_id}
    told = {attribute.key: attribute.value for attribute in turn.attributes}
    assert told["nacre.status"].string_value == "answered"
    assert "authors" not in str(spans)
