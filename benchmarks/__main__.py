"""Run the benchmarks: python -m benchmarks [--large] [--write]; exit 1 if a limit is broken."""

import sys
from itertools import chain
from time import perf_counter

from benchmarks import ingest, latency, questions, wide_graphs
from benchmarks.performance_page import describe_machine, write_section
from benchmarks.results import format_row


def main(arguments: list[str]) -> int:
    known = {"--large", "--write"}
    if set(arguments) - known:
        print(f"Unknown: {' '.join(sorted(set(arguments) - known))}. Run: python -m benchmarks [--large] [--write]")
        return 2
    start, large = perf_counter(), "--large" in arguments
    rows = ["| what | measured | limit | |", "|---|---:|---:|---|"]
    print(describe_machine())
    broken = []
    for result in chain(ingest.run(large), wide_graphs.run(), latency.run(), questions.run(large)):
        row = format_row(result)
        rows.append(row)
        print(row, flush=True)
        if not result.holds:
            broken.append(result.what)
    print(
        f"{perf_counter() - start:.0f} seconds. {len(broken)} limits broken{': ' if broken else '.'}{'; '.join(broken)}"
    )
    if "--write" in arguments:
        command = "python -m benchmarks" + (" --large" if "--large" in arguments else "")
        write_section("measured", command, "\n".join(rows))
    return 1 if broken else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
