"""Run the benchmarks: python -m benchmarks [--large] [--write]; exit 1 where a limit is broken."""

import sys
from itertools import chain
from time import perf_counter

from benchmarks import ingest, latency, questions
from benchmarks import wide_graphs as wide
from benchmarks.ingest import BenchmarkResult
from benchmarks.performance_page import describe_machine, write_section


def main(arguments: list[str]) -> int:
    known = {"--large", "--write"}
    if set(arguments) - known:
        print(f"Unknown: {' '.join(sorted(set(arguments) - known))}. Run: python -m benchmarks [--large] [--write]")
        return 2
    start, large = perf_counter(), "--large" in arguments
    lines = ["| what | measured | limit | |", "|---|---:|---:|---|"]
    print(describe_machine())
    broken = []
    for result in chain(ingest.run(large), wide.run(), latency.run(), questions.run(large)):
        line = format_row(result)
        lines.append(line)
        print(line, flush=True)
        if not result.holds:
            broken.append(result.what)
    print(
        f"{perf_counter() - start:.0f} seconds. {len(broken)} limits broken{': ' if broken else '.'}{'; '.join(broken)}"
    )
    if "--write" in arguments:
        command = "python -m benchmarks" + (" --large" if "--large" in arguments else "")
        write_section("measured", command, "\n".join(lines))
    return 1 if broken else 0


def format_row(result: BenchmarkResult) -> str:
    limit = (
        "" if result.limit is None else f"{'at least' if result.at_least else 'at most'} {format_number(result.limit)}"
    )
    return f"| {result.what} | {format_number(result.value)} {result.unit} | {limit} | {'' if result.holds else 'BROKEN'} |"


def format_number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
