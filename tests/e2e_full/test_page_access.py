"""Every view and dialog of the page: no findings of axe, light, dark and on a phone; and by the keyboard alone."""

from collections.abc import Callable

import httpx
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.e2e import test_page
from tests.e2e.conftest import GRAPHS, command, serving
from tests.e2e.test_page import LAST, QUESTION, ask, begin

# fixtures and marks of the other tests of the page
browser, context, page, pytestmark = test_page.browser, test_page.context, test_page.page, test_page.pytestmark

GRAPH = "reading-room"
ROOM = "http://example.org/reading-room/"
PHONE = 360
Open = Callable[[Page, str], None]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The address of a server that shares answers and attaches a host."""
    folder = tmp_path_factory.mktemp("access")
    nacre = command(folder / "data", folder)
    assert nacre("ingest", GRAPHS / "reading_room.ttl", "--graph", GRAPH, "--no-vectors").returncode == 0
    with serving(folder / "data", folder, NACRE_SHARING="true", NACRE_ATTACH_HOSTS="store.example") as (address, _):
        yield address


def findings(page: Page) -> list[tuple[str, list[str]]]:
    """What axe-core finds, however small, with where it is."""
    found = Axe().run(page).response["violations"]
    return [(each["id"], [str(node["target"]) for node in each["nodes"]][:4]) for each in found]


def at(query: str, ready: str) -> Open:
    """Opens an address of the page."""

    def open_view(page: Page, site: str) -> None:
        page.goto(f"{site}{query}")
        page.wait_for_selector(ready)

    return open_view


def answered(then: Callable[[Page], None] = lambda page: None, question: str = QUESTION) -> Open:
    """Asks, and does something with the answer."""

    def open_view(page: Page, site: str) -> None:
        begin(page, site, GRAPH)
        ask(page, question)
        then(page)

    return open_view


def clicked(opened: Open, *selectors: str, ready: str) -> Open:
    """Clicks on parts of a view."""

    def open_view(page: Page, site: str) -> None:
        opened(page, site)
        for selector in selectors:
            page.click(selector)
        page.wait_for_selector(ready)

    return open_view


def still(page: Page, address: str) -> None:
    """A page whose policy allows no scripts, so that axe could not run in it, without that policy."""
    page.goto("about:blank")
    page.set_content(httpx.get(address).text)


def shared(page: Page, site: str) -> None:
    """The page of a shared answer."""
    clicked(answered(), f"{LAST} [data-share]", ready=f"{LAST} .shared")(page, site)
    still(page, page.input_value(f"{LAST} .shared input"))


FIRST = at(f"/?graph={GRAPH}", ".schema svg a")
ADD = at("/?add=", "#look .drop")
TABLE = at(f"/?graph={GRAPH}&class={ROOM}Book", "#look .grid tbody tr")
VIEWS: dict[str, Open] = {
    "first screen": FIRST,
    "answer": answered(),
    "answer as a table": answered(question="What are the pages of each book?"),
    "answer that is none": answered(question="Where is the Zeppelin of Foo?"),
    "source": clicked(answered(), f"{LAST} .cite >> nth=0", ready="#source:popover-open .facts"),
    "derivation": clicked(answered(), "#derive", "#derivation .query summary >> nth=0", ready="#derivation pre"),
    "what is wrong": clicked(answered(), f"{LAST} [aria-label='This answer is wrong']", ready=".reason textarea"),
    "editing a question": clicked(answered(), f"{LAST} [aria-label='Edit the question']", ready=".question textarea"),
    "sharing": clicked(answered(), f"{LAST} [data-share]", ready=f"{LAST} .shared"),
    "thing": at(f"/?graph={GRAPH}&thing={ROOM}granite", "#look .pairs"),
    "class table": TABLE,
    "filter": clicked(TABLE, "[aria-label='Filter by pages']", ready="#choices:popover-open form"),
    "all classes": at(f"/?graph={GRAPH}&class=", "#look .names"),
    "picture": at(f"/?graph={GRAPH}&picture=", "svg.map a"),
    "names": at(f"/?graph={GRAPH}&names=", "#look .terms li"),
    "verified questions": at(f"/?graph={GRAPH}&verified=", "#look [role=status]"),
    "shared answers": at("/?shares=", "#look [role=status]"),
    "add data and attach": ADD,
    "deletion": clicked(ADD, f"[aria-label='Delete the graph {GRAPH}']", ready="#look button.bad"),
    "comparison": at(f"/?graph={GRAPH}&compare=1", "#compare fieldset"),
    "configuration": clicked(FIRST, "#configure", ready="#configuration[open]"),
    "unknown graph": at("/?graph=atlantis", "#look .failure"),
    "unknown thread": at("/?thread=gone", "#turns .failure"),
    "unknown thing": at(f"/?graph={GRAPH}&thing=urn:none", "#look .failure"),
    "a shared answer": shared,
    "no shared answer": lambda page, site: still(page, f"{site}/share/none"),
}


@pytest.mark.parametrize("view", VIEWS)
def test_axe_finds_nothing_in_light_and_dark_and_on_a_phone(page, site, view):
    VIEWS[view](page, site)
    assert findings(page) == []
    page.emulate_media(color_scheme="dark")
    assert findings(page) == []
    page.set_viewport_size({"width": PHONE, "height": 740})
    assert findings(page) == []
    assert page.evaluate("() => document.documentElement.scrollWidth") <= PHONE
    assert page.evaluate("() => document.querySelector('#talk')?.scrollWidth ?? 0") <= PHONE
    page.complaints[:] = [text for text in page.complaints if "404" not in text]


# a button, what it opens; Escape closes that, and the focus is on the button again
OPENERS = {
    "configuration": (FIRST, "#configure", "#configuration[open]"),
    "menu of a conversation": (answered(), "#threads li .icon >> nth=0", "#choices:popover-open"),
    "source": (answered(), f"{LAST} .cite >> nth=0", "#source:popover-open"),
    "filter": (TABLE, "[aria-label='Filter by pages']", "#choices:popover-open"),
    "what is wrong": (answered(), f"{LAST} [aria-label='This answer is wrong']", ".reason textarea"),
}


@pytest.mark.parametrize("what", OPENERS)
def test_escape_closes_what_a_key_opened_and_gives_the_focus_back(page, site, what):
    opened, opener, box = OPENERS[what]
    opened(page, site)
    button = page.locator(opener)
    button.focus()
    page.keyboard.press("Enter")
    page.wait_for_selector(box)
    assert page.evaluate("(box) => Boolean(document.activeElement.closest(box.split(':')[0].split('[')[0]))", box)
    page.keyboard.press("Escape")
    expect(page.locator(box)).to_have_count(0)
    expect(button).to_be_focused()


# what can be focused, by its way to it from the body
MARK_FOCUSED = """() => { const own = document.activeElement; if (own === document.body) return null;
  const style = getComputedStyle(own), box = own.closest('.box') && getComputedStyle(own.closest('.box'));
  const circle = own.querySelector('circle'), wide = circle && getComputedStyle(circle).strokeWidth === '4px';
  const seen = style.outlineStyle !== 'none' || wide || (box && box.boxShadow !== 'none') || own.matches('#talk');
  return [own.id || own.getAttribute('aria-label') || own.textContent.slice(0, 40), seen]; }"""


@pytest.mark.parametrize("view", ["first screen", "class table", "picture", "names", "add data and attach", "answer"])
def test_tab_reaches_all_and_shows_where_it_is(page, site, view):
    VIEWS[view](page, site)
    page.evaluate("() => document.querySelector('.skip').focus()")
    seen: list[str] = []
    for _ in range(150):
        page.keyboard.press("Tab")
        focused = page.evaluate(MARK_FOCUSED)
        if focused is None:
            break
        name, is_visible = focused
        assert is_visible, name
        seen.append(name)
    else:
        raise AssertionError("Tab does not come to an end")
    assert {"new", "configure", "question"} <= set(seen)
    assert page.evaluate("() => document.querySelectorAll('#look [tabindex]:not([tabindex=\"-1\"])').length") < 60
