"""Measurements in processes of their own, and results with their limits: module and arguments -> numbers -> a row."""

import json
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

Measurement = dict[str, float]


class BenchmarkResult(NamedTuple):
    """One row of the table; `limit` is None for a value that is only reported."""

    what: str
    value: float
    unit: str
    limit: float | None = None
    at_least: bool = False

    @property
    def holds(self) -> bool:
        if self.limit is None:
            return True
        return self.value >= self.limit if self.at_least else self.value <= self.limit


def measure(module: str, what: str, *arguments: Path | str | int, checkout: Path | None = None) -> Measurement:
    """The numbers that a module of the benchmarks, here or of another checkout, prints as JSON; it runs in a process of
    its own."""
    command = [sys.executable, "-m", f"benchmarks.{module}", what, *map(str, arguments)]
    process = subprocess.run(command, capture_output=True, text=True, check=False, cwd=checkout)
    if process.returncode:
        raise SystemExit(f"measuring {what} failed:\n{process.stderr[-2000:]}")
    numbers: Measurement = json.loads(process.stdout.splitlines()[-1])
    return numbers


def format_row(result: BenchmarkResult) -> str:
    """A result as a row of a Markdown table."""
    limit = ""
    if result.limit is not None:
        limit = f"{'at least' if result.at_least else 'at most'} {format_number(result.limit)}"
    broken = "" if result.holds else "BROKEN"
    return f"| {result.what} | {format_number(result.value)} {result.unit} | {limit} | {broken} |"


def format_number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
