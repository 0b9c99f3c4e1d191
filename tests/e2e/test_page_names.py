"""The names of a graph on the page, in a real browser: search, other names, questions with them, reading only."""

import re

import httpx
import pytest
from playwright.sync_api import expect

from tests.e2e import test_page
from tests.e2e.conftest import ROOT, command, serving
from tests.e2e.test_page import PATIENCE, ask, begin, serious

# fixtures and marks of the other tests of the page
browser, context, page, pytestmark = test_page.browser, test_page.context, test_page.page, test_page.pytestmark

EXAMPLE = ROOT / "examples/workshop/collection.ttl"
APPLIED = 120_000
INSTRUMENT = "#look .terms li:has([title$='#InventoryObject'])"


@pytest.fixture(scope="module")
def workshop(tmp_path_factory):
    """A data folder with one graph."""
    folder = tmp_path_factory.mktemp("names")
    assert command(folder / "data", folder)("ingest", EXAMPLE, "--graph", "workshop", "--no-vectors").returncode == 0
    return folder


def open_names(page, address):
    page.goto(f"{address}/?graph=workshop")
    page.wait_for_selector("#examples button")
    page.focus("#lead a")
    page.keyboard.press("Enter")
    page.wait_for_selector("#look .terms li")


def test_a_name_is_saved_applied_and_asked_with(page, workshop):
    with serving(workshop / "data", workshop) as (address, _):
        open_names(page, address)
        assert "names=" in page.url
        assert page.evaluate("() => document.activeElement.getAttribute('aria-label')") == "Search names"
        total = page.locator("#look .terms li").count()
        page.keyboard.type("inventory object")
        expect(page.locator("#look .terms li")).to_have_count(1)
        row = page.locator(INSTRUMENT)
        expect(row).to_contain_text("5 things")
        expect(row.locator("button")).to_be_disabled()
        row.locator("input").fill("gizmo, <b>gadget</b>")
        page.keyboard.press("Enter")
        expect(row).to_contain_text("being applied")
        expect(row.locator("button")).to_be_disabled()
        expect(row).to_contain_text("Applied. Questions", timeout=APPLIED)
        assert page.locator("#look b").count() == 0
        # what was typed in other fields stays, and a failed change keeps its text
        page.fill("#look [type=search]", "")
        expect(page.locator("#look .terms li")).to_have_count(total)
        expect(row.locator("input")).to_have_value("gizmo, <b>gadget</b>")
        expect(page.locator("#look")).to_contain_text("Applied layer files: people.yaml")
        row.locator("input").fill("x" * 200)
        row.locator("button").click()
        expect(row.locator(".error")).to_contain_text("at most 100 characters")
        expect(row.locator("button")).to_be_enabled()
        page.complaints[:] = [text for text in page.complaints if "422" not in text]
        assert "5" in ask(page, "How many gizmos are there?")
        assert page.is_hidden("#look")
        # what people gave is listed, and is taken back by a click
        open_names(page, address)
        given = page.locator("#look .options button")
        expect(given).to_have_count(2)
        assert serious(page) == []
        given.nth(0).click()
        expect(given).to_have_text(["<b>gadget</b> → inventory object"], timeout=APPLIED)
        expect(page.locator(INSTRUMENT).locator("input")).to_have_value("<b>gadget</b>")


def test_names_that_are_saved_while_others_are_applied_wait_and_are_applied(page, tmp_path_factory):
    folder = tmp_path_factory.mktemp("waiting")
    assert command(folder / "data", folder)("ingest", EXAMPLE, "--graph", "workshop", "--no-vectors").returncode == 0
    with serving(folder / "data", folder) as (address, _):
        open_names(page, address)
        first, second, third = (page.locator("#look .terms li").nth(i) for i in (0, 2, 4))
        for row, name in ((first, "gizmo"), (second, "x" * 200), (third, "gubbins, wotsit")):
            row.locator("input").fill(name)
            page.keyboard.press("Enter")
        expect(first).to_contain_text("being applied")
        for row in (second, third):
            expect(row).to_contain_text("applied after the change before it")
            expect(row.locator("button")).to_be_disabled()
        # whoever closes the page is asked, as the server does not know what waits
        with page.expect_event("dialog") as asked:
            page.evaluate("() => { setTimeout(() => location.reload()); }")
        assert asked.value.type == "beforeunload"
        asked.value.dismiss()
        expect(first).to_contain_text("Applied. Questions", timeout=APPLIED)
        # one that is refused holds nothing up, says why and keeps its text
        expect(second.locator(".error")).to_contain_text("at most 100 characters")
        expect(second.locator("input")).to_have_value("x" * 200)
        # it goes on when the view is left
        third.locator("input").fill("gubbins")
        page.keyboard.press("Enter")
        page.click("#look nav a >> nth=0")
        expect(page.locator("#examples button").first).to_be_visible()
        for _ in range(APPLIED // 1000):
            terms = httpx.get(f"{address}/api/graphs/workshop/layer").json()["terms"]
            given = [each["given"] for each in terms if each["given"]]
            if ["gubbins"] in given:
                break
            page.wait_for_timeout(1000)
        assert given == [["gizmo"], ["gubbins"]]
        page.complaints[:] = [text for text in page.complaints if "422" not in text]


def test_a_word_is_taught_beside_the_answer_by_those_who_may(browser, tmp_path_factory):
    folder = tmp_path_factory.mktemp("taught")
    run = command(folder / "data", folder)
    assert run("ingest", EXAMPLE, "--graph", "workshop", "--no-vectors").returncode == 0
    reading, writing = (run("keys", "add", *more).stdout.strip() for more in (("ann",), ("wu", "--may", "write")))
    context = browser.new_context()
    context.set_default_timeout(PATIENCE)
    question = "What is the gubbins of the ship chronometer?"

    def asked(key):
        page = context.new_page()
        page.add_init_script(f"sessionStorage.setItem('nacre-key', '{key}')")
        begin(page, address, "workshop")
        ask(page, question)
        return page, page.locator("#turns article .teaching")

    with serving(folder / "data", folder) as (address, _):
        _, teaching = asked(reading)
        expect(teaching).to_have_count(0)
        page, teaching = asked(writing)
        # the word is a chip, and the names are a click away from everywhere
        expect(teaching.get_by_role("button")).to_have_text(["gubbins", "Others"])
        expect(page.locator("#side #names")).to_have_attribute("href", "?graph=workshop&names=")
        teaching.get_by_role("button", name="Teach what “gubbins” means").click()
        expect(teaching).to_contain_text("“gubbins” may mean:")
        expect(teaching.get_by_role("link")).to_have_attribute("href", "?graph=workshop&names=")
        expect(teaching.get_by_role("button")).to_have_count(5)
        assert serious(page) == []
        teaching.get_by_role("button", name="object group (property): The group of Ship chronometer is C.").focus()
        page.keyboard.press("Enter")
        expect(teaching).to_contain_text("being applied")
        # the question is asked again, in the place of its first answer
        expect(page.locator("#turns article .answer")).to_contain_text(
            "The group of Ship chronometer is C", timeout=APPLIED
        )
        expect(page.locator("#turns article .tools")).to_have_count(1)
        expect(page.locator("#turns article .status")).to_contain_text("Answered")
        expect(page.locator("#turns article .teaching")).to_have_count(0)
        # a word that was misread is taught from the derivation, each by itself, by the keyboard
        page.click("#turns article .derive")
        words = page.locator("#panel .teaching")
        expect(words.get_by_role("button")).to_have_text(["What", "is", "the", "gubbins", "of", "ship", "chronometer"])
        words.get_by_role("button", name="Teach what “ship” means").focus()
        page.keyboard.press("Enter")
        expect(words).to_contain_text("“ship” may mean:")
        words.get_by_role("button", name="Teach what “the” means").click()
        expect(words).to_contain_text("a word that questions are made of")
        ask(page, "What is the doodad widget of the ship chronometer?")
        last = page.locator("#turns article:last-child .teaching")
        expect(last.get_by_role("button")).to_have_text(["doodad", "widget", "Others"])
        last.get_by_role("button", name="Others").click()
        expect(last.get_by_role("button", name="Teach what “chronometer” means")).to_be_visible()
        assert serious(page) == []
    context.close()


def test_without_the_right_names_are_read_only_and_at_most_200_are_shown(page, workshop):
    def reply(route):
        names = route.fetch().json()
        extra = [
            {**names["terms"][0], "iri": f"urn:{i}", "name": f"thing {i} <i>", "given": ["one"]} for i in range(400)
        ]
        hidden = {**names["terms"][0], "iri": "urn:h", "name": "secret", "hidden": True, "derived": True}
        route.fulfill(json={**names, "terms": [*extra, hidden], "may_write": False, "problem": "It failed."})

    with serving(workshop / "data", workshop) as (address, _):
        page.route("**/layer?*", reply)
        open_names(page, address)
        expect(page.locator("#look .terms li")).to_have_count(200)
        expect(page.locator("#look")).to_contain_text("401 entries; the first 200 are shown")
        expect(page.locator("#look")).to_contain_text("nacre keys add NAME --may write")
        expect(page.locator("#look .error")).to_have_text("It failed.")
        assert page.locator("#look form, #look i").count() == 0
        page.fill("#look [type=search]", "SECRET")
        expect(page.locator("#look .terms .tag")).to_have_text(["class", "derived", "hidden"])


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_names_fit_a_narrow_window(browser, workshop, theme):
    context = browser.new_context(viewport={"width": 360, "height": 740}, color_scheme=theme)
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    with serving(workshop / "data", workshop) as (address, _):
        open_names(page, address)
        assert page.evaluate("() => document.querySelector('#talk').scrollWidth") <= 360
        assert serious(page) == []
        assert httpx.get(f"{address}/api/graphs/workshop/layer").json()["may_write"]
    assert re.search("names", page.title(), re.IGNORECASE)
    context.close()
