"""How fast the page is in chromium: python -m benchmarks.browser. First words, a table of 1,000 rows, 200 turns."""

import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import httpx
from playwright.sync_api import Page, sync_playwright

from tests.e2e.conftest import command, serving
from tests.e2e.line import line_to

CHROMIUM = "/usr/bin/chromium"
QUIET = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
ROWS, TURNS, ASKED = 1000, 200, 10
TABLE = "What are the height and the opened of each tower?"
ONE = "What is the height of Tower {n}?"
# when the first words of the last answer are drawn
WATCH = """() => { new MutationObserver(() => {
  const last = document.querySelector('#turns article:last-child');
  if (last && !last.dataset.seen && last.querySelector('.answer').firstChild) {
    last.dataset.seen = 1;
    requestAnimationFrame(() => { last.dataset.drawn = Date.now(); });
  }
}).observe(document.querySelector('#turns'), { childList: true, subtree: true }); }"""
# scrolls from end to end in 60 steps: how long each picture took, in milliseconds
SCROLL = """(what) => new Promise((done) => {
  const area = document.querySelector(what), times = [];
  let step = 0, last = performance.now();
  const move = (now) => {
    times.push(now - last);
    last = now;
    area.scrollTop = (area.scrollHeight - area.clientHeight) * (step += 1) / 60;
    if (step <= 60) requestAnimationFrame(move); else done(times.slice(1));
  };
  requestAnimationFrame(move);
})"""


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source = folder / "towers.ttl"
        source.write_text(_towers())
        made = command(folder / "data", folder)("ingest", source, "--graph", "towers", "--no-vectors")
        assert made.returncode == 0, made.stderr
        with serving(folder / "data", folder) as (address, _):
            _measure(address)


def _measure(address: str) -> None:
    told: list[float] = []

    def seen(data: bytes) -> None:
        if b"event: token" in data:
            told.append(time.time() * 1000)

    with line_to(int(address.rpartition(":")[2]), seen) as line, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.set_default_timeout(120_000)
        page.goto(f"http://127.0.0.1:{line.port}/?graph=towers")
        page.wait_for_selector("#examples button")
        page.evaluate(WATCH)
        delays = []
        for n in range(ASKED):
            told.clear()
            _ask(page, ONE.format(n=n))
            page.wait_for_selector("#turns article:last-child[data-drawn]")
            delays.append(float(page.get_attribute("#turns article:last-child", "data-drawn") or 0) - told[0])
        print(f"first words after the server sent them: {statistics.median(delays):.0f} ms, at most {max(delays):.0f}")
        begun = time.perf_counter()
        _ask(page, TABLE)
        page.click("#turns article:last-child >> text=Show all")
        page.wait_for_selector(f"#turns article:last-child .answer tbody tr:nth-child({ROWS})")
        print(f"{ROWS} rows asked, answered and shown: {time.perf_counter() - begun:.2f} s")
        _smooth("scrolling them", page.evaluate(SCROLL, "#turns article:last-child .scroll"))
        sorting = "() => { const begun = performance.now(); document.querySelector('article:last-child .sort').click();"
        sorting += " document.body.offsetHeight; return performance.now() - begun; }"
        print(f"sorting them: {page.evaluate(sorting):.0f} ms")
        thread = _long_thread(address)
        begun = time.perf_counter()
        page.goto(f"http://127.0.0.1:{line.port}/?thread={thread}")
        page.wait_for_selector("#turns article .tools")
        print(f"a conversation of {TURNS} turns, its end shown after {time.perf_counter() - begun:.2f} s")
        page.wait_for_selector(f"#turns article:nth-child({TURNS})", state="attached")
        print(f"and whole after {time.perf_counter() - begun:.2f} s")
        _smooth("scrolling it", page.evaluate(SCROLL, "#talk"))
        browser.close()


def _ask(page: Page, question: str) -> None:
    number = page.locator("#turns article").count() + 1
    page.fill("#question", question)
    page.keyboard.press("Enter")
    page.wait_for_selector(f"#turns article:nth-child({number}) .tools")


def _smooth(what: str, times: list[float]) -> None:
    late = sum(each > 50 for each in times)
    print(f"{what}: a frame every {statistics.median(times):.0f} ms, most {max(times):.0f}, {late} over 50")


def _long_thread(address: str) -> str:
    thread: dict[str, Any] = httpx.post(f"{address}/api/threads", json={"graph": "towers"}).json()
    with httpx.Client(timeout=60, headers={"Accept": "application/json"}) as client:
        for n in range(TURNS):
            asked = {"question": ONE.format(n=n), "thread": thread["thread"]}
            client.post(f"{address}/api/ask", json=asked).raise_for_status()
    return str(thread["thread"])


def _towers() -> str:
    head = "@prefix : <http://example.org/r/> . @prefix r: <http://www.w3.org/2000/01/rdf-schema#> .\n"
    each = ':t{n} a :Tower ; r:label "Tower {n}" ; :height {h} ; :opened {y} .\n'
    return head + "".join(each.format(n=n, h=20 + n * 37 % 600, y=1900 + n % 120) for n in range(ROWS))


if __name__ == "__main__":
    main()
