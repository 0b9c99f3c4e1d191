"""Figures of loading the page in chromium, as Lighthouse has them: python -m benchmarks.page_load."""

import statistics
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from playwright.sync_api import Browser, sync_playwright

from benchmarks.browser import CHROMIUM, CHROMIUM_OPTIONS
from benchmarks.server import ROOT
from tests.e2e.conftest import command, serving

REPEATS = 5
GRAPH = "example"
# a phone on a mobile network as Lighthouse simulates it: bits per second, milliseconds, slower processor
BYTES_PER_SECOND, LATENCY_MS, SLOWER = 1_600_000 / 8, 150, 4
NO_LIMIT = -1
# the question field can be used when the first answer to the page's own requests is drawn
USABLE = "() => document.querySelector('#lead').textContent && performance.now()"
COMPLETE = (
    "() => document.querySelector('#examples button') && document.querySelector('.schema svg') && performance.now()"
)
FIGURES = """() => {
  const files = [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')];
  const shifts = window.shifts || [];
  return { requests: files.length, bytes: files.reduce((sum, each) => sum + each.transferSize, 0),
    unpacked: files.reduce((sum, each) => sum + each.decodedBodySize, 0),
    paint: performance.getEntriesByName('first-contentful-paint')[0].startTime,
    shift: shifts.reduce((sum, each) => sum + each, 0) }; }"""
WATCH_SHIFTS = """() => { window.shifts = []; new PerformanceObserver((list) => {
  for (const each of list.getEntries()) if (!each.hadRecentInput) window.shifts.push(each.value);
}).observe({ type: 'layout-shift', buffered: true }); }"""


class PageLoad(NamedTuple):
    """One loading of the page: bytes over the network and unpacked, milliseconds, and the share of the screen that
    moved (cumulative layout shift)."""

    requests: int
    bytes: int
    unpacked: int
    paint: float
    usable: float
    complete: float
    shift: float


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        made = command(folder / "data", folder)(
            "ingest", ROOT / "examples/bmw/kg.ttl", "--graph", GRAPH, "--no-vectors"
        )
        assert made.returncode == 0, made.stderr
        with serving(folder / "data", folder) as (address, _), sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=CHROMIUM_OPTIONS)
            # the first questions of a graph are computed once
            _load(browser, address, (1280, 800), is_phone=False)
            print("| loading | requests | sent | unpacked | first paint | usable | complete | moved |")
            print("|---|---:|---:|---:|---:|---:|---:|---:|")
            for what, size, is_phone in (
                ("a desktop", (1280, 800), False),
                ("a phone, slow network", (390, 800), True),
            ):
                loads = [_load(browser, address, size, is_phone=is_phone) for _ in range(REPEATS)]
                for when, each in zip(("first visit", "again"), zip(*loads, strict=True), strict=True):
                    print(_row(f"{what}, {when}", each), flush=True)
            browser.close()


def _load(browser: Browser, address: str, size: tuple[int, int], *, is_phone: bool) -> tuple[PageLoad, PageLoad]:
    """The page with an empty cache, and once more."""
    context = browser.new_context(viewport={"width": size[0], "height": size[1]})
    page = context.new_page()
    page.set_default_timeout(120_000)
    page.add_init_script(f"({WATCH_SHIFTS})()")
    if is_phone:
        line = context.new_cdp_session(page)
        limits: dict[str, Any] = {"offline": False, "latency": LATENCY_MS, "uploadThroughput": NO_LIMIT}
        line.send("Network.enable")
        line.send("Network.emulateNetworkConditions", {**limits, "downloadThroughput": BYTES_PER_SECOND})
        line.send("Emulation.setCPUThrottlingRate", {"rate": SLOWER})
    loads = []
    for _ in range(2):
        page.goto(f"{address}/?graph={GRAPH}", wait_until="commit")
        usable, complete = (float(page.wait_for_function(each).json_value()) for each in (USABLE, COMPLETE))
        page.wait_for_load_state("networkidle")
        loads.append(PageLoad(**page.evaluate(FIGURES), usable=usable, complete=complete))
    context.close()
    return loads[0], loads[1]


def _row(what: str, loads: Sequence[PageLoad]) -> str:
    """The medians of some loads as a row of a Markdown table."""
    figures = PageLoad(*(statistics.median(each) for each in zip(*loads, strict=True)))
    sizes = f"{figures.bytes / 1000:.0f} kB | {figures.unpacked / 1000:.0f} kB"
    times = f"{figures.paint:.0f} ms | {figures.usable:.0f} ms | {figures.complete:.0f} ms"
    return f"| {what} | {figures.requests:.0f} | {sizes} | {times} | {figures.shift:.2f} |"


if __name__ == "__main__":
    main()
