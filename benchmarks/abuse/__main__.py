"""Attack started servers and ingests: python -m benchmarks.abuse [PART...] [--only TEXT] [--write].

Exit 1 if a limit is broken. --only runs attacks whose names contain the text; --write needs all parts.
"""

import argparse
import os
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import httpx

from benchmarks.abuse import questions
from benchmarks.abuse.answers import attack_with_answers
from benchmarks.abuse.case import GRAPH, HEADER, AttackResult, busy_factor
from benchmarks.abuse.databases import attack_with_databases
from benchmarks.abuse.files import attack_with_files
from benchmarks.abuse.lifecycle import attack_lifecycle
from benchmarks.abuse.models import attack_with_models
from benchmarks.abuse.occupying import attack_with_slow_queries
from benchmarks.abuse.requests import Target, attack_with_requests, trap
from benchmarks.abuse.stores import attack_with_stores
from benchmarks.performance_page import write_section
from benchmarks.server import ROOT, run_nacre, started_server

PARTS = ("questions", "requests", "models", "lifecycle", "answers", "files", "databases", "stores")


def attacks(parts: Sequence[str], only: str, folder: Path) -> Iterator[tuple[str, AttackResult]]:
    """The results of all parts but `questions`, each with its part."""
    data = folder / "served" / "data"
    data.mkdir(parents=True)
    source = str(ROOT / "examples/bmw/kg.ttl")
    run_nacre(data, "ingest", source, "--graph", GRAPH, "--sparql", "--no-vectors")
    (folder / "files").mkdir()
    (folder / "databases").mkdir()
    (folder / "stores").mkdir()
    by_part: dict[str, Callable[[], Iterator[AttackResult]]] = {
        "requests": lambda: _with_keys(data, only),
        "models": lambda: attack_with_models(data, GRAPH, only),
        "lifecycle": lambda: attack_lifecycle(data, GRAPH, only),
        "answers": lambda: attack_with_answers(folder, only),
        "files": lambda: attack_with_files(folder / "files", only),
        "databases": lambda: attack_with_databases(folder / "databases", only),
        "stores": lambda: attack_with_stores(folder / "stores", only),
    }
    for part, attack in by_part.items():
        if part in parts:
            yield from ((part, result) for result in attack())


def _with_keys(data: Path, only: str) -> Iterator[AttackResult]:
    """Attacks on a server with two keys."""
    tokens = [run_nacre(data, "keys", "add", name, "--may", "share").strip() for name in ("ann", "bo")]
    with trap() as (address, reached), started_server(data, NACRE_SHARING="true") as server:
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


def print_attacks(results: Iterable[tuple[str, AttackResult]]) -> dict[str, list[AttackResult]]:
    """Print each result as it comes: all of them by part."""
    by_part: dict[str, list[AttackResult]] = {}
    print("\n".join(HEADER))
    for part, measured in results:
        result = measured.on_busy_machine(busy_factor())
        by_part.setdefault(part, []).append(result)
        print(result.row, flush=True)
    return by_part


def summary(by_part: Mapping[str, Sequence[AttackResult]]) -> str:
    """A table with the attack of each part that is nearest to its limit of seconds, and the most memory."""
    rows = [
        "| part | attacks | nearest to its limit | seconds | at most | most MB | |",
        "|---|---:|---|---:|---:|---:|---|",
    ]
    for part, results in by_part.items():
        slow = max(results, key=lambda result: result.seconds / result.limit)
        most = max(result.megabytes for result in results)
        memory = f"{most:.0f}" if most else ""
        broken = sum(bool(result.broken) for result in results)
        mark = f"{broken} BROKEN" if broken else ""
        what = slow.what.replace("|", "\\|")
        rows.append(f"| {part} | {len(results)} | {what} | {slow.seconds:.2f} | {slow.limit:g} | {memory} | {mark} |")
    return "\n".join(rows)


def main() -> int:
    command = argparse.ArgumentParser("python -m benchmarks.abuse")
    command.add_argument("parts", nargs="*", choices=[*PARTS, []], default=[], help="what to attack; all by default")
    command.add_argument("--only", default="", help="only attacks whose names contain this text")
    command.add_argument("--write", action="store_true", help="write the result to docs/performance.md")
    options = command.parse_args()
    parts, start = options.parts or PARTS, time.perf_counter()
    tables: list[str] = []
    if busy_factor() > 1:
        tables.append(f"Others used the machine (load {os.getloadavg()[0]:.1f}), so limits in seconds are higher.")
        print(*tables)
    if options.write and (options.only or set(parts) != set(PARTS)):
        command.error("--write needs all parts")
    broken: list[str] = []
    if "questions" in parts and not options.only:
        table, exceeded = questions.attack_with_questions()
        print(table)
        tables.append(table)
        broken += exceeded
    with tempfile.TemporaryDirectory(prefix="nacre-abuse-") as folder:
        by_part = print_attacks(attacks(parts, options.only, Path(folder)))
    tables.append(summary(by_part))
    print(tables[-1])
    broken += [f"{each.what}: {each.broken}" for results in by_part.values() for each in results if each.broken]
    print(f"{time.perf_counter() - start:.0f} seconds. {len(broken)} limits broken.", *broken, sep="\n")
    if options.write:
        write_section("abuse", "python -m benchmarks.abuse", "\n\n".join(tables))
    return 1 if broken else 0


if __name__ == "__main__":
    raise SystemExit(main())
