"""The page in a frame of another site, in a real browser: who may show it, and what visitors may ask for."""

import threading
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import expect

from tests.e2e import test_page
from tests.e2e.conftest import GRAPHS, command, free_port, serving
from tests.e2e.test_page import QUESTION

# fixtures and marks of the other tests of the page
browser, context, page, pytestmark = test_page.browser, test_page.context, test_page.page, test_page.pytestmark

SITE = """<!doctype html><html lang="de"><link rel="icon" href="data:,"><style>
main {{ --nacre-accent: rgb(120, 0, 60); --nacre-ink: url(https://evil.example); }}</style>
<main><script src="{server}/embed/script.js" data-key="site" data-graph="reading-room"></script></main></html>"""


class QuietFiles(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@contextmanager
def site(folder, port):
    """A site of its own: another origin on this machine."""
    server = ThreadingHTTPServer(("127.0.0.1", port), partial(QuietFiles, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture(scope="module")
def embedding(tmp_path_factory):
    """The address of a server, of the site that may show its page, and of one that may not."""
    folder = tmp_path_factory.mktemp("embedding")
    nacre = command(folder / "data", folder)
    for name in ("reading-room", "private"):
        made = nacre("ingest", GRAPHS / "reading_room.ttl", "--graph", name, "--no-vectors")
        assert made.returncode == 0, made.stderr
    assert nacre("keys", "add", "site", "--graphs", "reading-room", "--may", "write,share").returncode == 0
    assert nacre("keys", "add", "ann").returncode == 0
    friend, stranger = free_port(), free_port()
    allowed = f"site=http://127.0.0.1:{friend}"
    with serving(folder / "data", folder, NACRE_EMBED=allowed, NACRE_SHARING="true") as (address, _):
        (folder / "pages").mkdir()
        (folder / "pages/index.html").write_text(SITE.format(server=address))
        with site(folder / "pages", friend) as one, site(folder / "pages", stranger) as other:
            yield address, one, other


def test_a_site_shows_the_page_in_its_language_and_colours(page, embedding):
    _, friend, _ = embedding
    page.goto(friend)
    frame = page.frame_locator("iframe")
    frame.locator("#examples button").first.wait_for()
    expect(frame.locator("html")).to_have_attribute("lang", "de")
    expect(frame.locator("#side")).to_be_hidden()
    # the lists that visitors may not read
    expect(frame.locator("#lead a")).to_have_count(0)
    style = "each => [getComputedStyle(each).getPropertyValue('--accent'), each.style.getPropertyValue('--ink')]"
    assert frame.locator("html").evaluate(style) == ["rgb(120, 0, 60)", ""]
    frame.locator("#question").fill(QUESTION)
    frame.locator("#question").press("Enter")
    expect(frame.locator("#turns .answer")).to_contain_text("540")
    frame.locator("#turns .tools").wait_for()
    # a follow-up is about the same conversation
    frame.locator("#question").fill("Who wrote it?")
    frame.locator("#question").press("Enter")
    expect(frame.locator("#turns article")).to_have_count(2)
    frame.locator("#turns article:nth-child(2) .tools").wait_for()
    # visitors have no rights of the key, and see no control that would fail
    expect(frame.locator("[data-share]")).to_have_count(0)
    tools = frame.locator("#turns article:nth-child(2) .tools")
    expect(tools.locator(".confirm")).to_have_count(0)
    expect(tools.locator("[title='Von hier in einem neuen Gespräch weitermachen']")).to_be_hidden()
    tools.locator("[data-thumb='1']").click()
    expect(tools.locator("[data-thumb='1']")).to_have_attribute("aria-pressed", "true")
    tools.locator("[title='Diese Antwort herunterladen']").click()
    with page.expect_download() as download:
        frame.locator("#choices button").first.click()
    assert Path(download.value.path()).read_bytes()[:2] == b"PK"
    assert frame.locator("#turns .failure").all_inner_texts() == []
    frame.locator("#turns .answer a").first.click()
    frame.locator("#look .pairs").wait_for()
    assert page.url == f"{friend}/"


def test_another_site_shows_nothing(page, embedding):
    _, _, stranger = embedding
    page.goto(stranger)
    page.wait_for_function("() => document.querySelector('iframe')")
    page.wait_for_load_state("networkidle")
    assert page.frame_locator("iframe").locator("#question").count() == 0
    assert any("frame-ancestors" in text or "Framing" in text for text in page.complaints), page.complaints
    page.complaints.clear()


def test_visitors_reach_what_the_page_needs_alone(embedding):
    address, friend, stranger = embedding
    url = f"{address}/embed/site"
    first = httpx.get(f"{address}/embed?graph=reading-room", follow_redirects=True)
    assert first.url == f"{url}/?graph=reading-room"
    assert f"frame-ancestors {friend};" in first.headers["content-security-policy"]
    assert httpx.get(f"{address}/embed?graph=private").status_code == 404
    with httpx.Client(base_url=url) as visitor:
        assert [each["name"] for each in visitor.get("/api/graphs").json()] == ["reading-room"]
        assert visitor.get("/api/graphs/private").status_code == 404
        thread = visitor.post("/api/threads", json={"graph": "reading-room"}).json()["thread"]
        asked = {"question": QUESTION, "thread": thread}
        assert visitor.post("/api/ask", json=asked, headers={"Accept": "application/json"}).json()["values"] == [540]
        assert len(visitor.get(f"/api/threads/{thread}").json()["turns"]) == 1
        assert "540" in visitor.get(f"/api/threads/{thread}/turns/1/answer.csv").text
        # the page itself, which links would open, needs a key
        assert f"{address}/?" not in visitor.get(f"/api/threads/{thread}/turns/1/answer.md").text
        # conversations of others are not listed, and the key's rights are not the visitors'
        assert visitor.get("/api/threads").json() == []
        for name in ("notes", "1" * 32):
            asked = {"question": QUESTION, "graph": "reading-room", "thread": name, "instead_of": 1}
            assert visitor.post("/api/ask", json=asked).status_code == 422
        assert visitor.get("/api/choices").json()["may_write"] is False
        for method, path in (
            ("GET", "/api/threads/notes"),
            # a program of the key may have chosen this name
            ("GET", f"/api/threads/{'1' * 32}"),
            ("GET", "/api/threads/notes/turns/1/answer.csv"),
            ("DELETE", f"/api/threads/{thread}"),
            ("DELETE", "/api/threads"),
            ("GET", "/api/graphs/reading-room/verified"),
            ("POST", "/api/graphs/reading-room/layer"),
            ("POST", f"/api/threads/{thread}/turns/1/share"),
            ("GET", "/api/shares"),
            ("POST", "/api/uploads"),
            ("GET", "/api/runs/x/calls"),
        ):
            assert visitor.request(method, path).status_code == 403, path
        # the bounds of requests are those of other clients
        assert visitor.post("/api/ask", content=b"[" * 200).status_code == 400
        assert visitor.post("/api/ask", json={"question": "x" * 2_000_000}).status_code == 413
        # other pages may not ask, not even the site
        for headers in ({"Origin": friend}, {"Origin": stranger}, {"Sec-Fetch-Site": "cross-site"}):
            assert visitor.get("/api/graphs", headers=headers).status_code == 403
    for path in ("/embed/ann/", "/embed/nobody/", "/embed/ann/api/graphs"):
        assert httpx.get(address + path).status_code == 404
    # the API itself still needs a key
    assert httpx.get(f"{address}/api/graphs").status_code == 401


def test_without_the_setting_there_is_nothing(server):
    assert httpx.get(f"{server}/embed?graph=reading-room").status_code == 404
    assert httpx.get(f"{server}/embed/script.js").status_code == 404
