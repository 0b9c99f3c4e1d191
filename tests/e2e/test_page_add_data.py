"""Bring your own data on the page, in a real browser: files, progress, a graph, its deletion; and who may not."""

import httpx
from playwright.sync_api import expect

from tests.e2e import test_page
from tests.e2e.conftest import GRAPHS, serving
from tests.e2e.test_page import ask, serious

browser, context, page, pytestmark = test_page.browser, test_page.context, test_page.page, test_page.pytestmark

READ_SECONDS = 120_000


def test_a_file_becomes_a_graph_that_answers_and_is_deleted(page, tmp_path):
    (tmp_path / "data").mkdir()
    with serving(tmp_path / "data", tmp_path) as (address, _):
        page.goto(address)
        page.click("#lead a:has-text('Add data')")
        page.set_input_files("#look input[type=file]", [GRAPHS / "reading_room.ttl"])
        assert page.input_value("#look label:has-text('Name of the graph') input") == "reading-room"
        assert serious(page) == []
        page.click("#look >> text=Read these files")
        page.click("#look .upload-status a:has-text('Ask reading-room')", timeout=READ_SECONDS)
        page.wait_for_selector("#examples button")
        assert "540" in ask(page, "How many pages does Granite have?")
        page.goto(f"{address}/?add=")
        page.click("[aria-label='Delete the graph reading-room']")
        page.click("#look >> text=Keep")
        page.click("[aria-label='Delete the graph reading-room']")
        page.click("#look button.bad")
        expect(page.locator("#lead")).to_contain_text("no graph yet")
        assert httpx.get(f"{address}/api/graphs").json() == []


def test_who_may_not_write_sees_no_way_to_and_is_refused(page, fresh, tmp_path):
    assert fresh("ingest", GRAPHS / "reading_room.ttl", "--graph", "reading-room", "--no-vectors").returncode == 0
    reader = fresh("keys", "add", "ann").stdout.strip()
    writer = fresh("keys", "add", "bo", "--may", "write").stdout.strip()
    headers = [{"Authorization": f"Bearer {token}"} for token in (reader, writer)]
    with (
        serving(tmp_path / "data", tmp_path, NACRE_MAX_UPLOAD="1") as (address, _),
        httpx.Client(base_url=address, headers=headers[0]) as ann,
        httpx.Client(base_url=address, headers=headers[1]) as bo,
    ):
        assert ann.get("/api/choices").json()["may_write"] is False
        assert ann.post("/api/uploads").status_code == 403
        assert ann.delete("/api/graphs/reading-room", params={"confirm": "reading-room"}).status_code == 403
        upload = bo.post("/api/uploads").json()["upload"]
        files = f"/api/uploads/{upload}/files"
        assert httpx.put(f"{address}{files}", params={"name": "a.ttl"}, content=b"x").status_code == 401
        assert ann.put(files, params={"name": "a.ttl"}, content=b"x").status_code == 403
        assert bo.put(files, params={"name": "a.ttl"}, content=b"x" * 2_000_000).status_code == 422
        assert bo.put(files, params={"name": "a.ttl"}, content=b"x" * (9 << 20)).status_code == 422
        assert bo.put(files, params={"name": "../a.ttl"}, content=b"<urn:a> <urn:b> 1 .").json() == {"bytes": 19}
        assert bo.delete("/api/graphs/reading-room", params={"confirm": "reading"}).status_code == 422
        assert bo.delete("/api/graphs/reading-room", params={"confirm": "reading-room"}).status_code == 204
