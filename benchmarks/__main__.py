"""Run the benchmarks: python -m benchmarks [--large] [--write]; exit 1 where a limit is broken."""

import os
import platform
import sys
from itertools import chain
from pathlib import Path
from time import perf_counter

from benchmarks import ingest, latency
from benchmarks.ingest import Result

PAGE = Path(__file__).parents[1] / "docs" / "performance.md"
START, END = "<!-- measured -->", "<!-- end -->"


def main(arguments: list[str]) -> int:
    known = {"--large", "--write"}
    if set(arguments) - known:
        print(f"Unknown: {' '.join(sorted(set(arguments) - known))}. Run: python -m benchmarks [--large] [--write]")
        return 2
    start = perf_counter()
    lines = ["| what | measured | limit | |", "|---|---:|---:|---|"]
    print(machine())
    broken = []
    for result in chain(ingest.run("--large" in arguments), latency.run()):
        line = row(result)
        lines.append(line)
        print(line, flush=True)
        if not result.holds:
            broken.append(result.what)
    print(
        f"{perf_counter() - start:.0f} seconds. {len(broken)} limits broken{': ' if broken else '.'}{'; '.join(broken)}"
    )
    if "--write" in arguments:
        command = "python -m benchmarks" + (" --large" if "--large" in arguments else "")
        write("\n".join([f"`{command}` on {machine()}:", "", *lines]))
    return 1 if broken else 0


def row(result: Result) -> str:
    limit = "" if result.limit is None else f"{'at least' if result.at_least else 'at most'} {number(result.limit)}"
    return f"| {result.what} | {number(result.value)} {result.unit} | {limit} | {'' if result.holds else 'BROKEN'} |"


def number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def machine() -> str:
    memory = ""
    if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        memory = f", {os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GB of memory"
    return f"{os.cpu_count()} cores{memory}, {platform.system()}, Python {platform.python_version()}"


def write(table: str) -> None:
    """Put the table between the marks of the page."""
    text = PAGE.read_text(encoding="utf-8")
    head, _, rest = text.partition(START)
    _, _, tail = rest.partition(END)
    PAGE.write_text(f"{head}{START}\n{table}\n{END}{tail}", encoding="utf-8")


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
