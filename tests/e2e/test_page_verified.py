"""Verified questions on the page, in a real browser: confirming, what was meant, queries, the list, approval."""

import httpx
import pytest
from playwright.sync_api import expect

from tests.e2e import test_page
from tests.e2e.conftest import GRAPHS, command, serving
from tests.e2e.test_page import LAST, PATIENCE, QUESTION, ask, begin, kept, serious

# fixtures and marks of the other tests of the page
browser, context, page, pytestmark = test_page.browser, test_page.context, test_page.page, test_page.pytestmark
mixed = test_page.mixed

PATH = "/api/graphs/reading-room/verified"
HOSTILE = 'How old is <img src=x onerror="document.title=1">?'
SQL = "SELECT pages FROM book WHERE label = 'Granite'"


def confirm_button(page):
    return page.locator(f"{LAST} .confirm")


def entries(server, graph="reading-room"):
    return httpx.get(f"{server}/api/graphs/{graph}/verified").json()["questions"]


def tidy(server, graph="reading-room"):
    httpx.delete(f"{server}/api/graphs/{graph}/verified")


def test_this_is_right_is_kept_used_and_taken_back(page, server):
    tidy(server)
    begin(page, server, "reading-room")
    ask(page, QUESTION)
    confirm_button(page).focus()
    page.keyboard.press("Enter")
    expect(page.locator(f"{LAST} .confirmed")).to_contain_text("Confirmed by you. This question gets this answer")
    expect(confirm_button(page)).to_have_attribute("aria-pressed", "true")
    assert page.evaluate("() => document.activeElement.classList.contains('confirm')")
    # it is the only control for "right"
    expect(page.locator(f"{LAST} [data-thumb='1']")).to_have_count(1)
    assert [each["question"] for each in entries(server)] == [QUESTION]
    assert kept(server, page)["turns"][0]["thumb"] == 1
    ask(page, "how many pages does granite have")
    expect(page.locator(f"{LAST} .confirmation")).to_contain_text("Confirmed by you on ")
    # what is confirmed already is not offered again
    expect(confirm_button(page)).to_have_count(0)
    ask(page, "How many pages does Signal Box have?")
    expect(page.locator(f"{LAST} .confirmation")).to_contain_text("In the way of a question that you confirmed on ")
    expect(page.locator(f"{LAST} .confirmation q")).to_have_text(QUESTION)
    # this one may be confirmed too
    expect(confirm_button(page)).to_have_count(1)
    # a page that is loaded again knows it, and takes it back
    page.reload()
    expect(page.locator("#turns article:first-child .confirm")).to_have_attribute("aria-pressed", "true")
    page.click("#turns article:first-child .confirm")
    expect(page.locator("#turns article:first-child .confirm")).to_have_attribute("aria-pressed", "false")
    expect(page.locator("#turns .confirmed")).to_have_count(0)
    assert entries(server) == []


def test_wrong_offers_the_readings_and_the_picked_one_is_confirmed(page, server, mixed):
    tidy(server, mixed)
    begin(page, server, mixed)
    ask(page, "When was Tide released?")
    page.click(f"{LAST} [aria-label='This answer is wrong']")
    offered = page.locator(f"{LAST} .reason .options button")
    words = offered.first.inner_text()
    assert serious(page) == []
    offered.first.focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("#turns article:nth-child(2) .tools")
    first = kept(server, page)["turns"][0]
    assert (first["thumb"], first["comment"]) == (-1, f"It should have been: {words}")
    confirm_button(page).click()
    expect(page.locator(f"{LAST} .confirmed")).to_contain_text("Confirmed by you")
    assert len(entries(server, mixed)) == 1
    tidy(server, mixed)


def test_after_a_sure_answer_wrong_offers_what_else_was_run(page, server, mixed):
    begin(page, server, mixed)
    ask(page, "How many towers are there?")
    assert kept(server, page)["turns"][0]["record"]["options"] == []
    page.click(f"{LAST} [aria-label='This answer is wrong']")
    offered = page.locator(f"{LAST} .reason .options button").first
    words = offered.inner_text()
    offered.focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("#turns article:nth-child(2) .tools")
    expect(page.locator(f"{LAST} .status")).to_contain_text("the reading that you chose")
    record = kept(server, page)["turns"][1]["record"]
    assert (record["question"], record["status"], len(record["values"])) == (words, "answered", 1000)


def test_the_rows_of_an_edited_query_are_confirmed(page, server):
    tidy(server)
    begin(page, server, "reading-room")
    ask(page, QUESTION)
    page.click("#derive")
    page.click("#derivation .query summary >> nth=0")
    query = page.locator("#derivation .query").nth(0)
    query.get_by_text("Edit and run").click()
    query.locator("textarea").fill("SELECT pages FROM book WHERE pages < 0")
    query.get_by_text("Run", exact=True).click()
    expect(query.locator(".rows")).to_contain_text("0 rows")
    # no rows, nothing to confirm
    expect(query.get_by_text("These rows answer")).to_have_count(0)
    query.locator("textarea").fill(SQL)
    query.get_by_text("Run", exact=True).click()
    query.get_by_text(f"These rows answer “{QUESTION}”").click()
    expect(query.locator(".confirmed")).to_contain_text("Confirmed by you")
    assert serious(page) == []
    (entry,) = entries(server)
    assert entry["query"] == {"tool": "sql", "text": SQL}
    query.locator(".confirmed a").click()
    expect(page.locator("#look .terms li")).to_have_count(1)
    tidy(server)


def test_the_list_is_searched_run_and_removed_by_keyboard(page, server):
    tidy(server)
    for question in (QUESTION, HOSTILE):
        body = {"question": question, "query": {"tool": "sql", "text": SQL}}
        assert httpx.post(f"{server}{PATH}", json=body, timeout=60).status_code == 201
    begin(page, server, "reading-room")
    page.click("#lead a >> text=Verified questions")
    rows = page.locator("#look .terms > li")
    expect(rows).to_have_count(2)
    expect(rows.first).to_contain_text(HOSTILE)
    assert page.locator("#look img").count() == 0
    expect(rows.first).to_contain_text("by you on ")
    assert serious(page) == []
    page.keyboard.type("granite")
    expect(rows).to_have_count(1)
    rows.get_by_role("button", name="Run").focus()
    page.keyboard.press("Enter")
    expect(rows.locator("tbody td")).to_have_text("540")
    rows.get_by_role("button", name="Close").click()
    rows.get_by_role("button", name="Remove").focus()
    page.keyboard.press("Enter")
    # asked before, and the focus is on the answer
    expect(rows).to_contain_text("Remove this question?")
    assert len(entries(server)) == 2
    page.keyboard.press("Enter")
    expect(rows).to_have_count(0)
    assert [each["question"] for each in entries(server)] == [HOSTILE]
    page.fill("#look [type=search]", "")
    expect(rows).to_have_count(1)
    page.get_by_role("button", name="Check all").click()
    told = page.locator("#look [role=status]").first
    expect(told).to_contain_text("1 question checked: 0 with other values, 0 not used")
    page.select_option("#look select", "aside")
    expect(told).to_have_text("None found.")
    tidy(server)


def test_many_entries_come_in_pages_and_problems_are_shown_beside_them(page, server):
    tidy(server)
    body = {"question": QUESTION, "query": {"tool": "sql", "text": SQL}}
    entry = httpx.post(f"{server}{PATH}", json=body, timeout=60).json()

    def reply(route):
        skip = int(route.request.url.partition("skip=")[2].partition("&")[0])
        some = [
            {**entry, "question": f"{HOSTILE} {number}", "by": "bo", "state": "contradicted", "note": "<b>Cy</b>"}
            for number in range(skip, skip + 50)
        ]
        route.fulfill(
            json={"graph": "reading-room", "questions": some, "more": skip < 50, "may_approve": False, "owner": "ann"}
        )

    page.route("**/verified?*", reply)
    page.goto(f"{server}/?graph=reading-room&verified=")
    rows = page.locator("#look .terms > li")
    expect(rows).to_have_count(50)
    expect(rows.first).to_contain_text("contradicted")
    expect(rows.first).to_contain_text("<b>Cy</b>")
    # those of others can be run, and not be removed without the right
    expect(rows.first.get_by_role("button")).to_have_count(1)
    page.get_by_role("button", name="Show more").click()
    expect(rows).to_have_count(100)
    expect(rows.nth(50).get_by_role("button")).to_be_focused()
    expect(page.get_by_role("button", name="Show more")).to_have_count(0)
    rows.first.get_by_role("button").click()
    expect(rows.first.locator(".failure")).to_contain_text("There is no verified question")
    assert page.locator("#look b, #look img").count() == 0
    page.complaints[:] = [text for text in page.complaints if "404" not in text]
    tidy(server)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_key_confirms_for_itself_until_another_approves(browser, tmp_path_factory, theme):
    folder = tmp_path_factory.mktemp("verified")
    run = command(folder / "data", folder)
    assert run("ingest", GRAPHS / "reading_room.ttl", "--graph", "reading-room", "--no-vectors").returncode == 0
    ann = run("keys", "add", "ann").stdout.strip()
    eve = run("keys", "add", "eve", "--may", "approve").stdout.strip()
    context = browser.new_context(viewport={"width": 390, "height": 800}, color_scheme=theme)
    context.set_default_timeout(PATIENCE)

    def opened(key):
        page = context.new_page()
        page.add_init_script(f"sessionStorage.setItem('nacre-key', '{key}')")
        return page

    with serving(folder / "data", folder) as (address, _):
        asking = opened(ann)
        begin(asking, address, "reading-room")
        ask(asking, QUESTION)
        confirm_button(asking).click()
        expect(asking.locator(f"{LAST} .confirmed")).to_contain_text("Waiting for approval")
        asking.goto(f"{address}/?graph=reading-room&verified=")
        row = asking.locator("#look .terms > li")
        expect(row).to_contain_text("Waiting for approval")
        expect(row.get_by_role("button", name="Approve")).to_have_count(0)
        approving = opened(eve)
        approving.goto(f"{address}/?graph=reading-room&verified=")
        approving.select_option("#look select", "waiting")
        row = approving.locator("#look .terms > li")
        expect(row).to_contain_text("by ann on ")
        assert serious(approving) == []
        row.get_by_role("button", name="Approve").click()
        expect(row).to_contain_text("for everyone")
        expect(row.get_by_role("button", name="Take approval back")).to_be_focused()
        assert approving.evaluate("() => document.querySelector('#talk').scrollWidth") <= 390
        begin(approving, address, "reading-room")
        ask(approving, QUESTION)
        expect(approving.locator(f"{LAST} .confirmation")).to_contain_text("Confirmed by ann on ")
    context.close()
