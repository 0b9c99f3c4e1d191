"""Speed of the pages of a large graph over HTTP: python -m benchmarks.browsing [options].

A server with one worker over a graph of 450,000 things, `inputs.herbarium`, gets each kind of request once and then 20
times, each time with other values, so that no reply is one that was given before. Before the first request of each kind
the files of the graph are dropped from the cache of the system, and the server has only listed its graphs. CPU time is
that of the server. Exit 1 if it passes the limit for a kind; elapsed times depend on what else the machine does.

--things N is the size of the graph. --data FOLDER keeps the graph there, or takes the one that is there. --only TEXT
runs the kinds whose names contain the text. --write writes the table to docs/performance.md.
"""

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import httpx

from benchmarks.inputs.herbarium import BASE, GROUNDS, PLANTS, STORES, write_graph
from benchmarks.performance_page import write_section
from benchmarks.server import StartedServer, run_nacre, started_server
from nacre.extensions.evaluation.score import quantile

GRAPH, THINGS, RUNS = "herbarium", 450_000, 20
LIMIT_MS = 300.0
MCP_HEADERS = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-06-18"}

Parameters = dict[str, Any]


class Sent(NamedTuple):
    """A request: a path below the graph and its parameters, or the body of a call of a tool."""

    path: str
    parameters: Parameters
    body: dict[str, Any] | None = None


class Timed(NamedTuple):
    """One kind of request: milliseconds of the first, of the others, and CPU milliseconds of each."""

    kind: str
    first: float
    others: list[float]
    cpu: float

    @property
    def is_slow(self) -> bool:
        return self.cpu > LIMIT_MS

    def row(self) -> str:
        cells = (self.first, quantile(self.others, 0.5), quantile(self.others, 0.95), self.cpu)
        broken = "BROKEN" if self.is_slow else ""
        return f"| {self.kind} | {' | '.join(f'{each:,.0f}' for each in cells)} | {broken} |"


def requests(things: int) -> dict[str, Callable[[int], Sent]]:
    """The kinds of requests; a kind gives the request of a number."""
    deep = things // 2 // 100 * 100

    def table(**parameters: Any) -> Sent:
        return Sent("class/table", {"iri": f"{BASE}Sheet"} | parameters)

    def facet(name: str, **parameters: Any) -> Sent:
        return Sent("class/facet", {"iri": f"{BASE}Sheet", "property": f"{BASE}{name}"} | parameters)

    def filters(n: int) -> list[str]:
        return [f"{BASE}store = {STORES[n % 4]}", f"{BASE}weight >= {n}"]

    return {
        "class table, pages from the first": lambda n: table(skip=100 * n),
        "class table, deep pages": lambda n: table(skip=deep + 1000 * n),
        "sorted by a number": lambda n: table(sort=f"{BASE}weight", skip=100 * n),
        "sorted by a number, downwards, deep": lambda n: table(
            sort=f"{BASE}weight", descending=True, skip=deep + 1000 * n
        ),
        "sorted by a text": lambda n: table(sort=f"{BASE}barcode", skip=100 * n),
        "sorted by a date": lambda n: table(sort=f"{BASE}collectedOn", skip=100 * n),
        "sorted by a link": lambda n: table(sort=f"{BASE}taxon", skip=100 * n),
        "two filters, sorted by a date": lambda n: table(filter=filters(n), sort=f"{BASE}collectedOn"),
        "one link as a filter": lambda n: table(filter=f"{BASE}taxon = {BASE}taxon/{n}"),
        "one of several values as a filter": lambda n: table(filter=f"{BASE}treatment = frozen", skip=100 * n),
        "search in the class, many found": lambda n: table(search=PLANTS[n % len(PLANTS)], skip=100 * n),
        "search in the class, few found": lambda n: table(search=f"mint red {n + 10}"),
        "search in the class, none found": lambda n: table(search=f"zz{n}"),
        "class of two tables, deep pages": lambda n: table(iri=f"{BASE}Record", skip=deep + 1000 * n),
        "class of two tables, sorted by a date": lambda n: table(
            iri=f"{BASE}Record", sort=f"{BASE}collectedOn", skip=100 * n
        ),
        "values: four different": lambda n: facet("store", skip=n),
        "values: 2,800 different": lambda n: facet("ground", skip=n),
        "values: all different": lambda n: facet("barcode", skip=n),
        "values: numbers and their range": lambda n: facet("weight", skip=n),
        "values: dates and their range": lambda n: facet("collectedOn", skip=n),
        "values: things": lambda n: facet("taxon", skip=n),
        "values: several of a thing": lambda n: facet("treatment", skip=n),
        "values, with a filter": lambda n: facet("ground", filter=filters(n)),
        "values, with a search": lambda n: facet("store", search=PLANTS[n % len(PLANTS)]),
        "class: properties and members": lambda n: Sent("class", {"iri": f"{BASE}Sheet", "skip": n}),
        "thing": lambda n: Sent("thing", {"iri": f"{BASE}sheet/{n * 1009}"}),
        "thing that thousands refer to": lambda n: Sent("thing", {"iri": f"{BASE}site/{n}"}),
        "overview in words": lambda n: Sent("overview", {"classes": 16 + n}),
        "picture of classes": lambda n: Sent("overview", {"classes": 380 + n}),
        "search in everything": lambda n: _tool("search", text=f"{GROUNDS[n % len(GROUNDS)]} {n}", limit=20),
        "thing by its name": lambda n: _tool("describe_thing", name=f"Letter {n} to the curator"),
    }


def _tool(tool: str, **arguments: Any) -> Sent:
    call = {"name": tool, "arguments": {"graph": GRAPH} | arguments}
    return Sent("", {}, {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call})


def measure(server: StartedServer, data: Path, things: int, only: str) -> Iterator[Timed]:
    """Each kind of request in turn. Ends the program if a request fails for another reason than its limit of time."""
    with httpx.Client(base_url=server.address, timeout=60) as client:
        client.get("/api/graphs").raise_for_status()
        for kind, request in requests(things).items():
            if only not in kind:
                continue
            drop_from_cache(data)
            first = _seconds(client, request(RUNS))
            before = cpu_seconds(server.process.pid)
            others = [1000 * _seconds(client, request(n)) for n in range(RUNS)]
            yield Timed(kind, 1000 * first, others, 1000 * (cpu_seconds(server.process.pid) - before) / RUNS)


def _seconds(client: httpx.Client, sent: Sent) -> float:
    start = time.perf_counter()
    if sent.body is None:
        reply = client.get(f"/api/graphs/{GRAPH}/{sent.path}", params=sent.parameters)
        is_right = reply.is_success
    else:
        reply = client.post("/mcp", json=sent.body, headers=MCP_HEADERS)
        text = reply.text.partition("data: ")[2] or reply.text
        is_right = reply.is_success and not json.loads(text)["result"]["isError"]
    seconds = time.perf_counter() - start
    if not is_right and "was stopped" not in reply.text:
        raise SystemExit(f"{sent}: {reply.status_code} {reply.text[:500]}")
    return seconds


def drop_from_cache(data: Path) -> None:
    """Ask the system to forget the content of the files of a folder."""
    for path in filter(Path.is_file, data.rglob("*")):
        with path.open("rb") as file:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def cpu_seconds(pid: int) -> float:
    """CPU seconds that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.browsing", description=__doc__)
    parser.add_argument("--things", type=int, default=THINGS)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="nacre-browsing-") as name:
        data = (options.data or Path(name) / "data").resolve()
        if not (data / GRAPH).exists():
            data.mkdir(parents=True, exist_ok=True)
            source = Path(name) / "herbarium.nt"
            write_graph(options.things, source)
            run_nacre(data, "ingest", str(source), "--graph", GRAPH, "--no-vectors")
        rows = ["| request | first, ms | median | 95 of 100 | CPU | |", "|---|---:|---:|---:|---:|---|"]
        print("\n".join(rows), flush=True)
        is_slow = False
        with started_server(data, "--workers", "1") as server:
            for timed in measure(server, data, options.things, options.only):
                rows.append(timed.row())
                is_slow = is_slow or timed.is_slow
                print(rows[-1], flush=True)
    if options.write:
        write_section("browsing", "python -m benchmarks.browsing", "\n".join(rows))
    return is_slow


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
