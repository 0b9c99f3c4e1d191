"""Read one answer of a SPARQL endpoint: python -m benchmarks.abuse.read_answer ADDRESS QUERY SECONDS -> JSON."""

import json
import sys
import time

from nacre.errors import ToolError
from nacre.extensions.endpoints.endpoint import EndpointSource


def main(address: str, query: str, seconds: str) -> None:
    source = EndpointSource(address)
    ask = source.construct if query.startswith("CONSTRUCT") else source.select
    start, kind, message = time.perf_counter(), "", ""
    try:
        ask(query, limit=10, seconds=float(seconds))
    except ToolError as error:
        kind, message = error.kind, str(error)
    finally:
        source.close()
    print(json.dumps({"seconds": time.perf_counter() - start, "kind": kind, "message": message}))


if __name__ == "__main__":
    main(*sys.argv[1:])
