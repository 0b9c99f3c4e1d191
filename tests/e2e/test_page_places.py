"""Maps, charts and tables of things with places in a real browser: what a question wants to see, names, neighbours."""

import httpx
import pytest
from playwright.sync_api import expect

from tests.e2e import test_page
from tests.e2e.conftest import ingested
from tests.e2e.test_page import LAST, ask, begin, serious

browser, context, page = test_page.browser, test_page.context, test_page.page
pytestmark = test_page.pytestmark

BASE = "http://example.org/q/"
NAMES = [f"{name} Beacon" for name in ("Ash", "Birch", "Cedar", "Dune", "Elm", "Fern", "Gorse", "Hazel")]
FOCUSED = "() => document.activeElement.getAttribute('aria-label')"


@pytest.fixture(scope="module")
def beacons(data, tmp_path_factory):
    """A graph of things with places in numbers and in well-known text, with dates and groups."""
    folder = tmp_path_factory.mktemp("beacons")
    lines = [
        f"@prefix : <{BASE}> . @prefix r: <http://www.w3.org/2000/01/rdf-schema#> .",
        "@prefix x: <http://www.w3.org/2001/XMLSchema#> . @prefix g: <http://www.w3.org/2003/01/geo/wgs84_pos#> .",
        "@prefix s: <http://www.opengis.net/ont/geosparql#> .",
        ':oster a :Coast ; r:label "Oster" . :wester a :Coast ; r:label "Wester" .',
    ]
    for n, name in enumerate(NAMES):
        lines.append(
            f':b{n} a :Beacon ; r:label "{name}" ; :height {20 + n * 7 % 30} ; :coast :{("oster", "wester")[n % 2]} ;'
            f' :lit "{1900 + n // 3}-0{1 + n % 3}-04"^^x:date ; g:lat {60 - n * 9} ; g:long {n * 11 - 30} .'
        )
    lines += [f':k{n} a :Kiosk ; r:label "Kiosk {n}" ; g:lat 50.0{n} ; g:long 8.0{n} .' for n in range(3)]
    lines += [f':{n} a :Keeper ; r:label "{n}" ; :keeps :b{b} .' for n, b in (("Ann", 6), ("Bo", 6), ("Cy", 5))]
    lines.append(':buoy a :Buoy ; r:label "Old Buoy" ; s:asWKT "POINT(10.5 55.25)"^^s:wktLiteral .')
    (folder / "beacons.ttl").write_text("\n".join(lines))
    with ingested(data, folder, "beacons"):
        yield "beacons"


def test_things_with_places_are_on_a_map_that_the_keyboard_walks(page, server, beacons):
    iris = [f"{BASE}b0", f"{BASE}buoy", f"{BASE}oster"]
    found = httpx.post(f"{server}/api/graphs/{beacons}/places", json={"iris": iris}).json()
    assert found == {f"{BASE}b0": [60, -30], f"{BASE}buoy": [55.25, 10.5]}
    too_many = {"iris": [f"{BASE}x{n}" for n in range(1001)]}
    assert httpx.post(f"{server}/api/graphs/{beacons}/places", json=too_many).status_code == 422
    begin(page, server, beacons)
    ask(page, "Show the beacons on a map")
    places = page.locator(f"{LAST} .places a.node")
    expect(places).to_have_count(len(NAMES))
    expect(page.locator(f"{LAST} .places path.country").first).to_be_attached()
    assert page.locator(f"{LAST} .places a[tabindex='0']").count() == 1
    page.locator(f"{LAST} .places a[tabindex='0']").focus()
    first = page.evaluate(FOCUSED)
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowRight")
    assert page.evaluate(FOCUSED) in NAMES
    assert page.evaluate(FOCUSED) != first
    page.keyboard.press("+")
    assert serious(page) == []
    page.keyboard.press("Enter")
    expect(page.locator("#look h2")).to_contain_text("Beacon")
    page.goto(f"{server}/?graph={beacons}&class={BASE}Beacon")
    expect(page.locator("#look .places a.node")).to_have_count(len(NAMES))
    assert serious(page) == []
    # places within some kilometres are apart, with a scale
    page.goto(f"{server}/?graph={beacons}&class={BASE}Kiosk")
    expect(page.locator("#look .places a.node")).to_have_count(3)
    expect(page.locator("#look .leaflet-control-scale-line")).to_contain_text("km")
    tops = page.locator("#look .places a.node").evaluate_all(
        "(all) => all.map((each) => each.getBoundingClientRect().top)"
    )
    assert max(tops) - min(tops) > 100
    # things that link to a place are where it is; those at one place are one mark
    page.goto(f"{server}/?graph={beacons}&class={BASE}Keeper")
    expect(page.locator("#look .places .node")).to_have_count(2)
    several = page.locator("#look .places .node[aria-label^='2 things: Ann, Bo']")
    expect(several).to_have_text("22 things: Ann, Bo")
    # a mark of several things lists them, also by the keyboard
    several.focus()
    page.keyboard.press("Enter")
    expect(page.locator("#choices a")).to_have_text(["Ann", "Bo"])
    assert serious(page) == []
    page.keyboard.press("Escape")
    expect(several).to_be_focused()
    # the arrow keys move the map itself, plus and minus zoom it
    page.focus("#look .places .map")
    where = "() => document.querySelector('#look .places .node').getBoundingClientRect().left"
    before = page.evaluate(where)
    page.keyboard.press("ArrowRight")
    assert page.evaluate(where) == before - 80
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("-")
    assert page.evaluate(where) != before
    page.keyboard.press("0")
    several.click()
    page.click("#choices a >> nth=1")
    expect(page.locator("#look h2")).to_have_text("Bo")
    expect(page.locator("#choices")).to_be_hidden()
    # nothing of it is loaded for things without places
    loaded = []
    page.on("request", lambda request: loaded.append(request.url))
    page.goto(f"{server}/?graph={beacons}&class={BASE}Coast")
    expect(page.locator("#look .table-body tbody tr")).to_have_count(2)
    page.wait_for_load_state("networkidle")
    assert not [url for url in loaded if "leaflet.js" in url or "world-atlas" in url]


def test_an_answer_is_shown_as_the_question_wants_it(page, server, beacons):
    begin(page, server, beacons)
    ask(page, "Show a chart of the heights of the beacons")
    assert page.locator(f"{LAST} .notes").filter(has_text="chart").count() == 0
    marks = page.locator(f"{LAST} figure.chart svg.bars .ct-bar title")
    expect(marks).to_have_count(len(NAMES))
    assert all(text.partition(":")[0] in NAMES for text in marks.all_text_contents())
    ask(page, "as a histogram")
    expect(page.locator(f"{LAST} figure.chart svg.histogram .ct-bar").first).to_be_attached()
    ask(page, "as a line")
    expect(page.locator(f"{LAST} figure")).to_contain_text("These numbers allow no such chart: Line.")
    ask(page, "only the top three")
    # as the kind that was asked for before, which these numbers do not allow either
    expect(marks).to_have_count(3)
    ask(page, "as a table")
    expect(page.locator(f"{LAST} .answer tbody tr")).to_have_count(3)
    expect(page.locator(f"{LAST} .answer th").first).to_contain_text("beacon")
    expect(page.locator(f"{LAST} figure")).to_have_count(0)
    ask(page, "as a chart please")
    expect(marks).to_have_count(3)
    ask(page, "beacons by coast as a pie")
    expect(page.locator(f"{LAST} figure.chart svg.pie .ct-slice-pie")).to_have_count(2)
    ask(page, "the other way round")
    expect(page.locator(f"{LAST} figure.chart svg.pie .ct-slice-pie")).to_have_count(2)
    ask(page, "share of beacons by coast")
    expect(page.locator(f"{LAST} .answer th").last).to_contain_text("share (%)")
    assert page.locator(f"{LAST} .answer > *").evaluate_all("(all) => all.map((each) => each.className)")[-1] == "grid"
    ask(page, "How many beacons were lit in each year?")
    expect(page.locator(f"{LAST} .answer tbody tr")).to_have_count(3)
    ask(page, "by month")
    expect(page.locator(f"{LAST} .answer tbody tr")).to_have_count(8)
    ask(page, "plot height against lat")
    expect(page.locator(f"{LAST} figure.chart svg.scatter .ct-point")).to_have_count(len(NAMES))
    assert serious(page) == []


def test_tables_of_numbers_have_the_names_of_their_things(page, server, beacons):
    begin(page, server, beacons)
    ask(page, "What are the height and the lat of each beacon?")
    head = page.locator(f"{LAST} .answer th")
    expect(head.first).to_contain_text("name")
    expect(head).to_have_count(3)
    assert page.locator(f"{LAST} .answer tbody td:first-child >> nth=0").inner_text() in NAMES


def test_a_class_on_a_phone_is_cards_with_dates_of_the_reader(browser, server, beacons):
    context = browser.new_context(viewport={"width": 360, "height": 740})
    page = context.new_page()
    page.goto(f"{server}/?graph={beacons}&class={BASE}Beacon")
    row = page.locator("#look .table-body tbody tr").first
    expect(row.locator("td[data-label]").first).to_be_visible()
    boxes = [each.bounding_box() for each in row.locator("td").all()]
    assert len(boxes) >= 3
    assert all(box["x"] >= 0 and box["x"] + box["width"] <= 360 for box in boxes)
    expect(row.locator("td[data-label=lit]")).to_have_text("4 January 1900")
    assert serious(page) == []
    context.close()


def test_the_links_of_a_thing_are_opened_node_by_node(page, server, beacons):
    page.goto(f"{server}/?graph={beacons}&thing={BASE}b0")
    page.get_by_role("button", name="Its links as a picture").focus()
    page.keyboard.press("Enter")
    nodes = page.locator("#look .schema .node")
    expect(nodes).to_have_count(2)
    assert page.evaluate(FOCUSED) == NAMES[0]
    oster = page.locator("#look .schema button.node")
    oster.focus()
    page.keyboard.press("Enter")
    # Oster and the beacons of its coast
    expect(nodes).to_have_count(1 + len(NAMES) // 2)
    assert page.evaluate(FOCUSED) == "Oster"
    expect(page.locator("#look .schema p")).to_contain_text("coast of")
    assert serious(page) == []
    page.keyboard.press("Enter")
    expect(page.locator("#look h2")).to_have_text("Oster")
