"""Sharing an answer on the page, and reading it without scripts on a phone, in a real browser."""

import httpx
import pytest
from playwright.sync_api import expect

from tests.e2e import test_page
from tests.e2e.conftest import serving
from tests.e2e.test_page import LAST, QUESTION, ask, begin, serious

# fixtures and marks of the other tests of the page
browser, context, page, pytestmark = test_page.browser, test_page.context, test_page.page, test_page.pytestmark


@pytest.fixture
def sharing(data, tmp_path):
    with serving(data, tmp_path, NACRE_SHARING="true") as (address, _):
        yield address


def test_an_answer_is_shared_read_on_a_phone_without_scripts_and_withdrawn(page, browser, server, sharing):
    begin(page, server, "reading-room")
    ask(page, QUESTION)
    # this server does not share, and the menu of the files says how that is switched on
    expect(page.locator(f"{LAST} [data-share]")).to_have_count(0)
    page.locator(f"{LAST} .tools").get_by_role("button", name="Download this answer").click()
    expect(page.locator("#choices p")).to_contain_text("the server needs NACRE_SHARING=true")
    assert serious(page) == []
    begin(page, sharing, "reading-room")
    ask(page, QUESTION)
    page.locator(f"{LAST} [data-share]").focus()
    page.keyboard.press("Enter")
    expect(page.locator(f"{LAST} .shared")).to_contain_text("Copied. Until ")
    address = page.evaluate("() => navigator.clipboard.readText()")
    assert address == page.input_value(f"{LAST} .shared input")
    assert address.startswith(f"{sharing}/share/")
    assert serious(page) == []
    # the same link again
    page.click(f"{LAST} [data-share]")
    expect(page.locator(f"{LAST} .shared input")).to_have_value(address)
    reader = browser.new_context(
        viewport={"width": 390, "height": 800}, java_script_enabled=False, color_scheme="dark", locale="de-DE"
    )
    try:
        phone = reader.new_page()
        phone.goto(address)
        expect(phone.locator("h1")).to_have_text(QUESTION)
        expect(phone.locator(".answer")).to_contain_text("540")
        expect(phone.locator("html")).to_have_attribute("lang", "de")
        phone.click(".answer a >> nth=0")
        assert phone.url == f"{address}#source-1"
        phone.click("summary")
        expect(phone.locator("details pre >> nth=0")).to_be_visible()
        assert phone.evaluate("() => document.documentElement.scrollWidth") <= 390
        assert phone.evaluate("() => getComputedStyle(document.body).backgroundColor") == "rgb(18, 23, 26)"
    finally:
        reader.close()
    # one's own links: this tab made the first, so that it knows its address
    other = httpx.post(f"{sharing}/api/threads/{page.url.partition('thread=')[2]}/turns/1/share", json={}).json()
    page.click(f"{LAST} .shared a")
    links = page.locator("#look .terms > li")
    expect(links).to_have_count(2)
    assert serious(page) == []
    known = links.filter(has=page.get_by_role("button", name="Copy link"))
    expect(known).to_have_count(1)
    known.get_by_role("button", name="Copy link").click()
    assert page.evaluate("() => navigator.clipboard.readText()") == address
    assert known.get_by_role("link", name="Open").get_attribute("href") == address
    expect(links.filter(has_text="is not stored").get_by_role("link")).to_have_count(1)
    links.filter(has_text="is not stored").get_by_role("button").focus()
    page.keyboard.press("Enter")
    expect(links).to_have_count(1)
    assert page.evaluate("() => document.activeElement.textContent") == "1 entry"
    assert httpx.get(sharing + other["path"]).status_code == 404
    assert httpx.get(address).status_code == 200
    known.get_by_role("link", name=QUESTION, exact=True).click()
    page.wait_for_selector(f"{LAST} .tools")
    page.click(f"{LAST} [data-share]")
    expect(page.locator(f"{LAST} .shared input")).to_be_visible()
    address = page.input_value(f"{LAST} .shared input")
    page.get_by_role("button", name="Withdraw the link").click()
    expect(page.locator(f"{LAST} .shared")).to_have_count(0)
    assert httpx.get(address).status_code == 404


def test_a_shared_answer_keeps_its_chart(page, sharing):
    begin(page, sharing, "reading-room")
    ask(page, "What are the pages of each book?")
    ask(page, "as a pie")
    expect(page.locator(f"{LAST} figure[data-kind=pie]")).to_be_visible()
    page.click(f"{LAST} [data-share]")
    expect(page.locator(f"{LAST} .shared input")).to_be_visible()
    page.goto(page.input_value(f"{LAST} .shared input"))
    expect(page.locator("figure .part").nth(2)).to_be_visible()
    expect(page.locator("figcaption")).to_contain_text("pages")
    # its sandbox blocks the timers of axe-core, so that a copy without one is looked at
    copy = page.context.new_page()
    copy.set_content(page.content())
    assert serious(copy) == []
