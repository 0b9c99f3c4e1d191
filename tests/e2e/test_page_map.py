"""The overview in words and the picture of classes in a real browser: search, zoom, keys, a list, plumbing."""

import pytest
from playwright.sync_api import expect

from tests.e2e import test_page
from tests.e2e.conftest import ingested
from tests.e2e.test_page import serious

browser, context, page = test_page.browser, test_page.context, test_page.page
pytestmark = test_page.pytestmark

CLASSES = 40
# with the one that the concept scheme makes of its concepts
SHOWN_CLASSES = CLASSES + 1
# the boxes of the names that are shown, and of the circles
SHOWN = """() => ['.node-name', '.node'].map((kind) => [...document.querySelectorAll('.map ' + kind)]
  .map((each) => each.getBoundingClientRect()).filter((box) => box.width)
  .map((box) => [box.left, box.top, box.right, box.bottom]))"""


@pytest.fixture(scope="module")
def looms(data, tmp_path_factory):
    """A graph with many classes, a header, a class without members and a concept scheme."""
    folder = tmp_path_factory.mktemp("looms")
    lines = [
        "@prefix : <http://example.org/l/> . @prefix r: <http://www.w3.org/2000/01/rdf-schema#> .",
        "@prefix o: <http://www.w3.org/2002/07/owl#> . @prefix d: <http://purl.org/dc/terms/> .",
        "@prefix s: <http://www.w3.org/2004/02/skos/core#> .",
        '<http://example.org/l> a o:Ontology ; d:creator "Weavers of Arn" ; d:issued "2021-05-04" .',
        ':scheme a s:ConceptScheme ; s:prefLabel "weaves" .',
        ':twill a s:Concept ; s:prefLabel "twill" ; s:inScheme :scheme .',
    ]
    for n in range(CLASSES):
        lines.append(f':Loom{n} a o:Class ; r:label "loom kind {n}" .')
        for each in range(3):
            after = f":loom{(n * 7 + 1) % CLASSES}x{each}"
            lines.append(f':loom{n}x{each} a :Loom{n} ; r:label "Loom {n} no {each}" ; :feeds {after} .')
    (folder / "looms.ttl").write_text("\n".join(lines))
    with ingested(data, folder, "looms"):
        yield "looms"


def test_a_graph_is_told_in_words(page, server, looms):
    page.goto(f"{server}/?graph=looms")
    expect(page.locator("#picture .card")).to_contain_text("was made by Weavers of Arn")
    expect(page.locator("#picture .card")).to_contain_text("It was read in on")
    page.click("text=Search and zoom all classes")
    expect(page.locator(".map a.node")).to_have_count(SHOWN_CLASSES)


def test_the_picture_of_classes_is_searched_zoomed_and_walked(page, server, looms):
    page.goto(f"{server}/?graph=looms&picture=")
    expect(page.locator(".map a.node")).to_have_count(SHOWN_CLASSES)
    page.focus(".map")
    names, circles = page.evaluate(SHOWN)
    assert len(names) > 8
    # no name hides another or a circle
    overlaps = [
        (a, b) for i, a in enumerate(names) for b in (*names[i + 1 :], *circles)
        if a[0] + 2 < b[2] and b[0] + 2 < a[2] and a[1] + 3 < b[3] and b[1] + 3 < a[3]
    ]  # fmt: skip
    assert overlaps == []
    page.click("[aria-label='Zoom in']")
    assert page.evaluate(SHOWN)[1] != circles
    page.click("text=Show the whole picture")
    assert page.evaluate(SHOWN)[1] == circles
    page.hover(".map")
    page.mouse.down()
    page.mouse.move(500, 500, steps=5)
    page.mouse.up()
    # a drag opens nothing
    expect(page.locator(".map a.node")).to_have_count(SHOWN_CLASSES)
    assert page.evaluate(SHOWN)[1] != circles
    page.click("text=Show the whole picture")
    # one stop of Tab; arrow keys go on; Enter opens the class
    assert page.locator(".map a[tabindex='0']").count() == 1
    page.focus(".map a[tabindex='0']")
    first = page.evaluate("() => document.activeElement.getAttribute('aria-label')")
    for key in ("ArrowRight", "ArrowLeft", "ArrowDown", "ArrowUp"):
        page.keyboard.press(key)
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    assert page.evaluate("() => document.activeElement.getAttribute('aria-label')") != first
    page.fill("[aria-label='Search classes']", "kind 17")
    expect(page.locator(".map-list li")).to_have_count(1)
    page.keyboard.press("Enter")
    assert "loom kind 17" in page.evaluate("() => document.activeElement.getAttribute('aria-label')")
    page.fill("[aria-label='Search classes']", "")
    page.check(".check input")
    expect(page.locator(".map a.node")).to_have_count(SHOWN_CLASSES + 2)
    assert serious(page) == []
    # the same picture each time
    page.goto(f"{server}/?graph=looms&picture=")
    expect(page.locator(".map a.node")).to_have_count(SHOWN_CLASSES)
    page.focus(".map")
    assert page.evaluate(SHOWN)[1] == circles
    page.focus(".map a[tabindex='0']")
    page.keyboard.press("Enter")
    expect(page.locator("#look .table-body")).to_be_visible()
