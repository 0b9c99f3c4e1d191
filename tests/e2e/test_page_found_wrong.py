"""What people found wrong on the page, in a real browser: what it must not do again.

Others of these are held elsewhere: names of branches, times of steps, ends of charts, long lists, unknown addresses,
picked readings, arrow keys and cards of failed requests by test_page_details.py; follow-up questions by test_browse.py.
"""

import httpx
import pytest
from playwright.sync_api import expect

from tests.e2e import test_page
from tests.e2e.conftest import ingested
from tests.e2e.test_page import LAST, ask, begin, taken

# fixtures and marks of the other tests of the page
browser, context, page, pytestmark = test_page.browser, test_page.context, test_page.page, test_page.pytestmark

BASE = "http://example.org/w/"
WELLS = 45
# the names in the picture of classes that are shown, and those beyond its edges
COVERED = """() => {
  const edge = document.querySelector('.map').getBoundingClientRect();
  const names = [...document.querySelectorAll('.node-name')].filter((each) => !each.hidden);
  const clipped = names.filter((each) => { const box = each.getBoundingClientRect();
    return box.left < edge.left - 1 || box.right > edge.right + 1; });
  return [names.length, clipped.map((each) => each.textContent)]; }"""


@pytest.fixture(scope="module")
def wells(data, tmp_path_factory):
    """A graph of a class that a place names more often than its page shows, and of long names of classes."""
    folder = tmp_path_factory.mktemp("wells")
    names = ("Ash", "Birch", "Cedar", "Date", "Elm")
    things = "".join(
        f':w{i} a :Well ; r:label "{names[i % 5]} Well {chr(65 + i // 5)}" ; :depth {60 + i} ; :parish :p{i // 42} .\n'
        for i in range(WELLS)
    )
    others = ':p0 a :Parish ; r:label "Parish Oster" . :p1 a :Parish ; r:label "Parish Wester" .\n'
    kinds = "".join(
        f':K{i} a o:Class ; r:label "surveyed trench of the {names[i]} field" . :k{i} a :K{i} ; r:label "Trench {i}" ;'
        f" :near :w{i} .\n"
        for i in range(5)
    )
    # a class and things without labels; the plural of its word has another dictionary form than its singular
    kinds += "".join(f":s{i} a :Sailing ; :day {1 + i} ; :crew {20 + i % 2} .\n" for i in range(4))
    prefixes = f"@prefix : <{BASE}> . @prefix r: <http://www.w3.org/2000/01/rdf-schema#> .\n"
    owl = "@prefix o: <http://www.w3.org/2002/07/owl#> .\n"
    (folder / "wells.ttl").write_text(prefixes + owl + things + others + kinds)
    with ingested(data, folder, "wells"):
        yield "wells"


def test_a_table_of_names_is_whole_and_says_nothing_of_the_command_line(page, server, wells):
    begin(page, server, wells)
    answer = ask(page, "Which wells have a depth above 61?")
    assert "--json" not in answer
    assert "()" not in answer
    # the question and the first sentence of a long answer stay in view
    assert page.evaluate("(at) => document.querySelector(at).getBoundingClientRect().top", f"{LAST} .question") > 0
    # 30 rows first, all by a click, in a file and in what is copied
    rows = page.locator(f"{LAST} .answer tbody tr")
    expect(rows).to_have_count(30)
    expect(page.locator(f"{LAST} .table-foot")).to_contain_text(f"30 of {WELLS - 2} rows")
    assert len(taken(page, lambda: page.click(f"{LAST} .answer >> text=CSV")).splitlines()) == WELLS - 1
    page.click(f"{LAST} .answer >> text=Show all")
    expect(rows).to_have_count(WELLS - 2)
    page.click(f"{LAST} [aria-label='Copy the answer']")
    copied = page.evaluate("() => navigator.clipboard.readText()")
    assert "--json" not in copied
    assert "()" not in copied
    assert "Elm Well I" in copied


def test_what_is_left_out_of_a_list_is_a_button(page, server, wells):
    page.goto(f"{server}/?graph={wells}&thing={BASE}p0")
    linking = page.locator("#look .pairs li")
    more = page.get_by_role("button", name="and 30 more")
    expect(more).to_be_visible()
    before = linking.count()
    more.focus()
    page.keyboard.press("Enter")
    expect(linking).to_have_count(before - 1 + 30)
    expect(more).to_have_count(0)
    # the keyboard goes on where it was
    assert page.evaluate("() => document.activeElement.matches('#look .pairs a')")
    page.fill("#question", "")
    body = httpx.get(f"{server}/api/graphs/{wells}/thing", params={"iri": f"{BASE}p0", "whole": "urn:none"}).json()
    assert [len(each["ends"]) for each in body["linking"]] == [12]


def test_only_doubtful_answers_ask_what_was_meant(page, server, wells):
    asked = ("Is that what you meant", "I read this as", "did you mean")
    for question in ("How many wells are there?", "Which well has the highest depth?"):
        body, headers = {"question": question, "graph": wells}, {"Accept": "application/json"}
        record = httpx.post(f"{server}/api/ask", json=body, headers=headers, timeout=60).json()
        assert record["status"] == "answered", record["answer"]
        assert record["options"] == []
        assert not [each for each in asked if each in record["answer"]]
    begin(page, server, wells)
    ask(page, "How many wells are there?")
    expect(page.locator(f"{LAST} .options")).to_have_count(0)


def test_an_answer_without_anything_offers_questions_of_the_graph(page, server, wells):
    begin(page, server, wells)
    ask(page, "Which zeppelins are there?")
    expect(page.locator(f"{LAST} .onward button")).to_have_count(3)
    page.click(f"{LAST} .onward button >> nth=0")
    page.wait_for_selector("#turns article:nth-of-type(2) .tools")
    expect(page.locator(LAST)).to_contain_text("Answered")


def test_names_in_the_picture_of_classes_are_neither_covered_nor_cut_off(page, server, wells):
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 800})
        page.goto(f"{server}/?graph={wells}&picture=")
        page.wait_for_selector(".map a.node")
        shown, clipped = page.evaluate(COVERED)
        assert shown >= 3
        assert clipped == []
    page.locator(".map .node-name:visible").first.click()
    expect(page.locator("#look .table-body")).to_be_visible()


def test_the_question_about_a_class_table_is_answered(page, server, wells):
    page.goto(f"{server}/?graph={wells}&class={BASE}Sailing")
    page.click("#look >> text=Ask about these")
    assert page.input_value("#question") == "How many sailings are there?"
    page.keyboard.press("Enter")
    page.wait_for_selector(f"{LAST} .tools")
    expect(page.locator(f"{LAST} .answer")).to_contain_text("4 sailings")
    expect(page.locator(f"{LAST} .status")).to_contain_text("Answered")
    page.goto(f"{server}/?graph={wells}&class={BASE}Sailing&filter={BASE}crew%20none")
    page.click("#look >> text=Ask about these")
    assert page.input_value("#question") == "Which sailings have no crew?"
    page.fill("#question", "")


def test_the_menu_of_a_filter_shows_its_counts_and_its_button_whole(page, server, wells):
    page.goto(f"{server}/?graph={wells}&class={BASE}Well")
    page.click("[aria-label='Filter by depth']")
    edges = """() => { const menu = document.querySelector('#choices').getBoundingClientRect();
      const parts = [...document.querySelectorAll('#choices *')];
      return parts.filter((each) => each.getBoundingClientRect().right > menu.right).map((each) => each.tagName); }"""
    expect(page.locator("#choices form")).to_be_visible()
    assert page.evaluate(edges) == []


def test_without_javascript_the_page_says_what_to_do(browser, server):
    for width in (1280, 360):
        context = browser.new_context(java_script_enabled=False, viewport={"width": width, "height": 700})
        page = context.new_page()
        page.goto(server)
        assert "This page needs JavaScript. Allow it here and load the page again." in page.inner_text("noscript")
        box = page.locator("noscript").bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width
        assert 0 <= box["y"] < 300
        # nothing is shown that does nothing
        for dead in ("#side", "#ask", "#derive"):
            assert page.is_hidden(dead)
        context.close()
