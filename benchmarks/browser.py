"""Speed of the page in chromium: python -m benchmarks.browser. First words, a table of 1,000 rows, 200 turns."""

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
CHROMIUM_OPTIONS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
ROWS, TURNS, REPEATS = 1000, 200, 10
TABLE_QUESTION = "What are the height and the opened of each tower?"
TOWER_QUESTION = "What is the height of Tower {n}?"
# records when the first words of the last answer are drawn
WATCH_SCRIPT = """() => { new MutationObserver(() => {
  const last = document.querySelector('#turns article:last-child');
  if (last && !last.dataset.seen && last.querySelector('.answer').firstChild) {
    last.dataset.seen = 1;
    requestAnimationFrame(() => { last.dataset.drawn = Date.now(); });
  }
}).observe(document.querySelector('#turns'), { childList: true, subtree: true }); }"""
# scrolls from end to end in 60 steps: the milliseconds of each frame
SCROLL_SCRIPT = """(what) => new Promise((done) => {
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
        ingest = command(folder / "data", folder)("ingest", source, "--graph", "towers", "--no-vectors")
        assert ingest.returncode == 0, ingest.stderr
        with serving(folder / "data", folder) as (address, _):
            _measure(address)


def _measure(address: str) -> None:
    sent: list[float] = []

    def note_token(data: bytes) -> None:
        if b"event: token" in data:
            sent.append(time.time() * 1000)

    with line_to(int(address.rpartition(":")[2]), note_token) as line, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=CHROMIUM_OPTIONS)
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.set_default_timeout(120_000)
        page.goto(f"http://127.0.0.1:{line.port}/?graph=towers")
        page.wait_for_selector("#examples button")
        page.evaluate(WATCH_SCRIPT)
        delays = []
        for n in range(REPEATS):
            sent.clear()
            _ask(page, TOWER_QUESTION.format(n=n))
            page.wait_for_selector("#turns article:last-child[data-drawn]")
            delays.append(float(page.get_attribute("#turns article:last-child", "data-drawn") or 0) - sent[0])
        print(f"first words after the server sent them: {statistics.median(delays):.0f} ms, at most {max(delays):.0f}")
        start = time.perf_counter()
        _ask(page, TABLE_QUESTION)
        page.click("#turns article:last-child >> text=Show all")
        page.wait_for_selector(f"#turns article:last-child .answer tbody tr:nth-child({ROWS})")
        print(f"{ROWS} rows asked, answered and shown: {time.perf_counter() - start:.2f} s")
        _print_frames("scrolling them", page.evaluate(SCROLL_SCRIPT, "#turns article:last-child .scroll"))
        sorting = "() => { const start = performance.now(); document.querySelector('article:last-child .sort').click();"
        sorting += " document.body.offsetHeight; return performance.now() - start; }"
        print(f"sorting them: {page.evaluate(sorting):.0f} ms")
        thread = _long_thread(address)
        start = time.perf_counter()
        page.goto(f"http://127.0.0.1:{line.port}/?thread={thread}")
        page.wait_for_selector("#turns article .tools")
        print(f"a conversation of {TURNS} turns, its end shown after {time.perf_counter() - start:.2f} s")
        page.wait_for_selector(f"#turns article:nth-child({TURNS})", state="attached")
        print(f"and whole after {time.perf_counter() - start:.2f} s")
        _print_frames("scrolling it", page.evaluate(SCROLL_SCRIPT, "#talk"))
        browser.close()


def _ask(page: Page, question: str) -> None:
    number = page.locator("#turns article").count() + 1
    page.fill("#question", question)
    page.keyboard.press("Enter")
    page.wait_for_selector(f"#turns article:nth-child({number}) .tools")


def _print_frames(what: str, times: list[float]) -> None:
    late = sum(each > 50 for each in times)
    print(f"{what}: a frame every {statistics.median(times):.0f} ms, most {max(times):.0f}, {late} over 50")


def _long_thread(address: str) -> str:
    thread: dict[str, Any] = httpx.post(f"{address}/api/threads", json={"graph": "towers"}).json()
    with httpx.Client(timeout=60, headers={"Accept": "application/json"}) as client:
        for n in range(TURNS):
            body = {"question": TOWER_QUESTION.format(n=n), "thread": thread["thread"]}
            client.post(f"{address}/api/ask", json=body).raise_for_status()
    return str(thread["thread"])


def _towers() -> str:
    head = "@prefix : <http://example.org/r/> . @prefix r: <http://www.w3.org/2000/01/rdf-schema#> .\n"
    each = ':t{n} a :Tower ; r:label "Tower {n}" ; :height {h} ; :opened {y} .\n'
    return head + "".join(each.format(n=n, h=20 + n * 37 % 600, y=1900 + n % 120) for n in range(ROWS))


if __name__ == "__main__":
    main()
