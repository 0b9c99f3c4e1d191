"""Attack started servers and ingests: python -m benchmarks.abuse [PART...] [--only TEXT] [--write].

Exit 1 if a limit is broken. --only runs attacks whose names contain the text; --write needs all parts.
"""

import argparse
import os
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import httpx

from benchmarks.abuse import questions
from benchmarks.abuse.answers import attack_with_answers
from benchmarks.abuse.case import HEADER, AttackResult, busy_factor
from benchmarks.abuse.files import attack_with_files
from benchmarks.abuse.lifecycle import attack_lifecycle
from benchmarks.abuse.models import attack_with_models
from benchmarks.abuse.occupying import attack_with_slow_queries
from benchmarks.abuse.requests import GRAPH, Target, attack_with_requests, trap
from benchmarks.performance_page import write_section
from benchmarks.server import ROOT, run_nacre, started_server

PARTS = ("questions", "requests", "models", "lifecycle", "answers", "files")


def attacks(parts: Sequence[str], only: str, folder: Path) -> Iterator[AttackResult]:
    """The results of all parts but `questions`."""
    data = folder / "served" / "data"
    data.mkdir(parents=True)
    source = str(ROOT / "examples/bmw/kg.ttl")
    run_nacre(data, "ingest", source, "--graph", GRAPH, "--sparql", "--no-vectors")
    if "requests" in parts:
        yield from _with_keys(data, only)
    if "models" in parts:
        yield from attack_with_models(data, GRAPH, only)
    if "lifecycle" in parts:
        yield from attack_lifecycle(data, GRAPH, only)
    if "answers" in parts:
        yield from attack_with_answers(folder, only)
    if "files" in parts:
        (folder / "files").mkdir()
        yield from attack_with_files(folder / "files", only)


def _with_keys(data: Path, only: str) -> Iterator[AttackResult]:
    """Attacks on a server with two keys."""
    tokens = [run_nacre(data, "keys", "add", name).strip() for name in ("ann", "bo")]
    with trap() as (address, reached), started_server(data) as server:
        ann, bo = (
            httpx.Client(base_url=server.address, timeout=60, headers={"Authorization": f"Bearer {token}"})
            for token in tokens
        )
        with ann, bo:
            target = Target(server.address, ann, bo, address)
            yield from attack_with_requests(target, only)
            yield from attack_with_slow_queries(target, only)
        problem = f"{len(reached)} reached it" if reached else ""
        yield AttackResult("queries that reached another server", 0.0, problem=problem)
    (data / "keys.json").unlink()


def print_attacks(results: Iterable[AttackResult]) -> tuple[list[str], list[AttackResult]]:
    """Print each result as it comes: all rows, and the results that break a limit."""
    rows, broken = list(HEADER), []
    print("\n".join(rows))
    for measured in results:
        result = measured.on_busy_machine(busy_factor())
        rows.append(result.row)
        print(result.row, flush=True)
        if result.broken:
            broken.append(result)
    return rows, broken


def main() -> int:
    command = argparse.ArgumentParser("python -m benchmarks.abuse")
    command.add_argument("parts", nargs="*", choices=[*PARTS, []], default=[], help="what to attack; all by default")
    command.add_argument("--only", default="", help="only attacks whose names contain this text")
    command.add_argument("--write", action="store_true", help="write the result to docs/performance.md")
    options = command.parse_args()
    parts, start = options.parts or PARTS, time.perf_counter()
    if busy_factor() > 1:
        print(f"Others use this machine (load {os.getloadavg()[0]:.1f}): limits in seconds grow with the load.")
    if options.write and (options.only or set(parts) != set(PARTS)):
        command.error("--write needs all parts")
    broken: list[str] = []
    tables = []
    if "questions" in parts and not options.only:
        table, exceeded = questions.attack_with_questions()
        print(table)
        tables.append(table)
        broken += exceeded
    with tempfile.TemporaryDirectory(prefix="nacre-abuse-") as folder:
        rows, results = print_attacks(attacks(parts, options.only, Path(folder)))
    tables.append("\n".join(rows))
    broken += [f"{result.what}: {result.broken}" for result in results]
    print(f"{time.perf_counter() - start:.0f} seconds. {len(broken)} limits broken.", *broken, sep="\n")
    if options.write:
        write_section("abuse", "python -m benchmarks.abuse", "\n\n".join(tables))
    return 1 if broken else 0


if __name__ == "__main__":
    raise SystemExit(main())
