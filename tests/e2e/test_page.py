"""The page in a real browser (chromium): ask, watch, open what an answer rests on, go on, come back, with a key too."""

import re
import shutil

import httpx
import pytest
from playwright.sync_api import sync_playwright

from tests.e2e.conftest import GRAPHS, serving

CHROMIUM = "/usr/bin/chromium"
QUIET = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
QUESTION = "How many pages does Granite have?"

pytestmark = [
    pytest.mark.skipif(shutil.which("chromium") is None, reason="chromium is not installed"),
    # the driver's own pipes are closed by the garbage collector
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture(scope="module")
def browser():
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        yield browser
        browser.close()


@pytest.fixture
def page(browser):
    """A page that may reach this machine alone, and whose complaints fail the test."""
    context = browser.new_context()
    page = context.new_page()
    complaints, outside = [], []
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda request: outside.append(request.url) if "//127.0.0.1" not in request.url else None)
    page.complaints = complaints
    yield page
    context.close()
    assert complaints == []
    assert [url for url in outside if not url.startswith(("data:", "blob:"))] == []


def ask(page, question, number):
    page.fill("#question", question)
    page.keyboard.press("Enter")
    page.wait_for_selector(f"#turns article:nth-child({number}) .tools")
    return page.inner_text(f"#turns article:nth-child({number}) .answer")


def test_a_conversation(page, server):
    page.goto(server)
    page.wait_for_selector("#examples button")
    first = page.inner_text("#examples button >> nth=0")
    page.click("#examples button >> nth=0")
    page.wait_for_selector("#turns article .tools")
    assert page.inner_text("article .question") == first
    assert page.is_hidden("#welcome")
    assert "312" in ask(page, "How many pages does The Salt Road have?", 2)
    assert "540" in ask(page, "And Granite?", 3)
    assert page.inner_text("article:nth-child(3) .understood").startswith("Understood as: ")
    page.click("article:nth-child(3) .cite")
    source = page.inner_text("article:nth-child(3) .panel")
    for shown in ("Granite", "540", "Triples", "http://example.org/reading-room/pages", "SELECT"):
        assert shown in source
    page.click("article:nth-child(3) .cite")
    assert page.query_selector(".panel") is None
    page.click("article:nth-child(3) >> text=How it was found")
    for shown in ("Understood as", "Plan", "Queries", "SELECT", "lexical", "vector"):
        assert shown in page.inner_text("article:nth-child(3) .panel")
    assert page.inner_text("#said") == page.inner_text("article:nth-child(3) .answer").replace(" 1.", " [1].").replace(
        "\n", ""
    ) or "540" in page.inner_text("#said")


def test_threads_come_back_and_go(page, server):
    page.goto(server)
    page.wait_for_selector("#examples button")
    ask(page, QUESTION, 1)
    page.click("#new")
    page.wait_for_selector("#examples button")
    assert page.query_selector("article") is None
    page.fill("#search", "granite")
    page.click(f"#threads .open >> text={QUESTION} >> nth=0")
    page.wait_for_selector("article .tools")
    assert "540" in page.inner_text("article .answer")
    assert "312" in ask(page, "And The Salt Road?", 2)
    page.click("article:nth-child(2) >> text=Edit")
    page.fill("article:nth-child(2) textarea", "And Signal Box?")
    page.keyboard.press("Enter")
    page.wait_for_selector("article:nth-child(2) >> text=Signal Box >> nth=0")
    page.wait_for_selector("article:nth-child(2) .tools")
    assert "420" in page.inner_text("article:nth-child(2) .answer")
    page.click("article:nth-child(1) >> text=Fork")
    page.wait_for_selector("article:nth-child(2)", state="detached")
    page.click("article >> text=Right")
    page.wait_for_selector("article [aria-pressed=true]")
    page.on("dialog", lambda dialog: dialog.accept())
    page.click("#threads [aria-label^=Delete] >> nth=0")
    page.wait_for_selector("article", state="detached")


def test_what_the_graph_holds_is_shown_and_never_run(page, nacre, data, server):
    hostile = data.parent / "hostile.ttl"
    bad = '<img src=x onerror=\\"document.title=1\\"><script>document.title=2</script>'
    hostile.write_text(
        "@prefix : <http://example.org/h/> . @prefix r: <http://www.w3.org/2000/01/rdf-schema#> .\n"
        f':a a :Crate ; r:label "Big {bad}" ; :weight 12 .\n:b a :Crate ; r:label "Small" ; :weight 3 .\n'
    )
    assert nacre("ingest", hostile, "--graph", "hostile").returncode == 0
    try:
        page.goto(server)
        page.wait_for_selector("#graph option >> nth=1", state="attached")
        page.select_option("#graph", "hostile")
        page.wait_for_selector("#head >> text=Ask hostile")
        ask(page, "Which crate has the highest weight?", 1)
        page.click(".cite")
        assert "<img" in page.inner_text("#turns")
        assert page.title() == "Nacre"
        assert page.query_selector("#turns img") is None
    finally:
        assert nacre("remove", "--graph", "hostile").returncode == 0


def test_what_else_may_be_meant_is_a_click_away(page, nacre, data, server):
    arts = data.parent / "arts.ttl"
    arts.write_text(
        "@prefix : <http://example.org/arts/> . @prefix r: <http://www.w3.org/2000/01/rdf-schema#> .\n"
        ':tide_book a :Book ; r:label "Tide" ; :released 1951 . :reef a :Book ; r:label "Reef" ; :released 1960 .\n'
        ':tide_film a :Film ; r:label "Tide" ; :released 1984 . :dusk a :Film ; r:label "Dusk" ; :released 1979 .\n'
    )
    assert nacre("ingest", arts, "--graph", "arts", "--no-vectors").returncode == 0
    try:
        page.goto(server)
        page.wait_for_selector("#graph option >> nth=1", state="attached")
        page.select_option("#graph", "arts")
        page.wait_for_selector("#head >> text=Ask arts")
        answer = ask(page, "When was Tide released?", 1).partition("Or did you mean")[0]
        other = {"1951": "1984", "1984": "1951"}[re.search(r"19\d\d", answer)[0]]
        page.click("article:nth-child(1) >> text=/^the “released” of Tide \\((book|film)\\)$/")
        page.wait_for_selector("article:nth-child(2) .tools")
        assert other in page.inner_text("article:nth-child(2) .answer")
        assert other in ask(page, "1", 3)
    finally:
        assert nacre("remove", "--graph", "arts").returncode == 0


def test_the_policy_is_strict(server):
    policy = httpx.get(server).headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "http" not in policy
    assert "frame-ancestors 'none'" in policy


def test_on_a_phone_nothing_runs_over(browser, server):
    context = browser.new_context(viewport={"width": 360, "height": 640})
    page = context.new_page()
    page.goto(server)
    page.wait_for_selector("#examples button")
    ask(page, QUESTION, 1)
    page.click(".cite")
    wide = page.evaluate("() => document.documentElement.scrollWidth")
    assert wide <= 360
    page.click("#menu")
    page.wait_for_selector("#side.open")
    page.keyboard.press("Escape")
    page.wait_for_selector("#side.open", state="detached")
    context.close()


def test_with_a_key(page, fresh, tmp_path):
    assert fresh("ingest", GRAPHS / "reading_room.ttl", "--graph", "reading-room").returncode == 0
    token = fresh("keys", "add", "ann").stdout.strip()
    with serving(tmp_path / "data", tmp_path) as (address, _):
        page.goto(address)
        page.fill("#token", token)
        page.keyboard.press("Enter")
        page.wait_for_selector("#examples button")
        assert "540" in ask(page, QUESTION, 1)
        page.complaints[:] = [text for text in page.complaints if "401" not in text]


def test_the_documentation_and_the_playground_work(page, server):
    page.goto(f"{server}/api/docs/")
    page.wait_for_selector(".opblock-summary-path[data-path='/api/ask']")
    page.goto(f"{server}/ask/playground/")
    page.wait_for_selector("text=Inputs")
    page.locator("textarea").first.fill(QUESTION)
    page.click("text=Start")
    page.wait_for_selector("text=540")
