"""A class as a table on the page, in a real browser: sorting, filters with counts, search, pages, files, a question."""

import json

import httpx
import pytest
from playwright.sync_api import expect

from tests.e2e import test_page
from tests.e2e.conftest import ingested
from tests.e2e.test_page import serious, taken

browser, context, page, pytestmark = test_page.browser, test_page.context, test_page.page, test_page.pytestmark

BASE = "http://example.org/y/"
BUOYS = 230
COLOURS = ("red", "white", "green")
ROWS = "#look .grid tbody tr"


@pytest.fixture(scope="module")
def buoys(data, tmp_path_factory):
    """A graph of a class of several pages, and of another class with the same property."""
    folder = tmp_path_factory.mktemp("buoys")
    things = "".join(
        f':b{i} a :Buoy ; r:label "Buoy {i:03}" ; :depth {i * 10} ; :colour "{COLOURS[i % 3]}" ; :keeper :k{i % 4} .\n'
        for i in range(BUOYS)
    )
    keepers = "".join(f':k{i} a :Keeper ; r:label "Keeper {i}" ; :colour "violet" .\n' for i in range(4))
    prefixes = f"@prefix : <{BASE}> . @prefix r: <http://www.w3.org/2000/01/rdf-schema#> .\n"
    (folder / "buoys.ttl").write_text(prefixes + things + keepers)
    with ingested(data, folder, "buoys"):
        yield "buoys"


def test_a_class_is_a_table_that_sorts_filters_and_is_shared(page, context, server, buoys):
    page.goto(f"{server}/?graph=buoys&class={BASE}Buoy")
    expect(page.locator(ROWS)).to_have_count(100)
    expect(page.locator(".table-foot")).to_contain_text("1 to 100 of 230")
    assert serious(page) == []
    page.click(".table-foot >> text=Next")
    expect(page.locator(".table-foot")).to_contain_text("101 to 200 of 230")
    page.click("#look thead button:has-text('depth')")
    page.click("#look thead th[aria-sort=ascending] button:has-text('depth')")
    expect(page.locator(f"{ROWS} >> nth=0")).to_contain_text("2,290")
    page.click("[aria-label='Filter by colour']")
    expect(page.locator("#choices")).to_contain_text("red77")
    # the other class has this property too, with a value of its own
    expect(page.locator("#choices")).not_to_contain_text("violet")
    assert serious(page) == []
    page.click("#choices button:has-text('green')")
    expect(page.locator(".table-foot")).to_contain_text("of 76")
    page.click("[aria-label='Filter by depth']")
    # a histogram of the green ones by parts of 200, whose bars are filters
    expect(page.locator("#choices .bins button")).to_have_count(12)
    page.click("#choices [aria-label='200 – 399: 7']")
    expect(page.locator(".table-foot")).to_contain_text("of 7")
    expect(page.locator(".filters")).to_contain_text("depth at most 399")
    page.go_back()
    expect(page.locator(".table-foot")).to_contain_text("of 76")
    page.click("[aria-label='Filter by depth']")
    page.fill("#choices [aria-label='Lowest of depth']", "2000")
    page.keyboard.press("Enter")
    expect(page.locator(".table-foot")).to_contain_text("of 10")
    page.click("[aria-label='Filter by keeper']")
    page.click("#choices button:has-text('Keeper 2')")
    expect(page.locator(ROWS)).to_have_count(2)
    # its address shows the same to others
    other = context.new_page()
    other.goto(page.url)
    expect(other.locator(ROWS)).to_have_count(2)
    expect(other.locator(".filters")).to_contain_text("keeper is Keeper 2")
    lines = taken(page, lambda: page.click(".table-foot >> text=CSV")).splitlines()
    assert len(lines) == 3
    assert lines[0].startswith("iri,name,")
    assert len(json.loads(taken(page, lambda: page.click(".table-foot >> text=JSON")))["rows"]) == 2
    page.click(".table-foot >> text=Ask about these")
    asked = page.input_value("#question")
    assert asked.startswith("Which buoys have the colour green and the depth at least 2000 and the keeper Keeper 2")
    page.click(".filters button >> nth=0")
    expect(page.locator(".filters button")).to_have_count(2)
    page.go_back()
    expect(page.locator(".filters button")).to_have_count(3)
    page.fill("#look input[type=search]", "206")
    expect(page.locator(".table-foot")).to_contain_text("of 1")


def test_what_names_all_is_one_column_in_natural_order_and_the_focus_stays(page, server, data, tmp_path):
    prefixes = f"@prefix : <{BASE}> . @prefix r: <http://www.w3.org/2000/01/rdf-schema#> .\n"
    hives = "".join(f':h{i} a :Hive ; r:label "Hive {i}" ; :sign "Hive {i}" ; :comb {i * 3} .\n' for i in range(1, 13))
    (tmp_path / "hives.ttl").write_text(prefixes + hives)
    with ingested(data, tmp_path, "hives"):
        page.goto(f"{server}/?graph=hives&class={BASE}Hive")
        expect(page.locator(f"{ROWS} th")).to_have_text([f"Hive {i}" for i in range(1, 13)])
        expect(page.locator("#look thead .sort")).to_have_text(["sign", "comb"])
        page.click("[aria-label='Filter by comb']")
        expect(page.locator("#choices .bin-ends span")).to_have_count(2)
        page.locator("#choices .bins button >> nth=0").focus()
        page.keyboard.press("Enter")
        expect(page.locator("#look .card h3 >> nth=0")).to_contain_text("of 12 things")
        assert page.evaluate("() => document.activeElement.ariaLabel") == "Filter by comb"
        page.click("#look thead .sort >> nth=0")
        expect(page.locator("#look thead th[aria-sort=descending] .sort")).to_be_focused()
        # the box of a filter leaves the question field free, and headings are one line on a phone
        page.set_viewport_size({"width": 360, "height": 740})
        heads = page.locator("#look thead th").evaluate_all("(all) => all.map((each) => each.offsetTop)")
        assert len(set(heads)) == 1
        page.click("[aria-label='Filter by comb']")
        expect(page.locator("#choices")).to_be_visible()
        ends = page.evaluate(
            "() => ['choices', 'ask'].map((id) => document.getElementById(id).getBoundingClientRect())"
        )
        assert ends[0]["bottom"] <= ends[1]["top"]


def test_truth_values_are_words_and_a_filter_by_them_too(page, server, data, tmp_path):
    prefixes = f"@prefix : <{BASE}> . @prefix r: <http://www.w3.org/2000/01/rdf-schema#> .\n"
    bells = "".join(f':e{i} a :Bell ; r:label "Bell {i}" ; :lit {str(i < 3).lower()} .\n' for i in range(8))
    (tmp_path / "bells.ttl").write_text(prefixes + bells)
    with ingested(data, tmp_path, "bells"):
        page.goto(f"{server}/?graph=bells&class={BASE}Bell")
        expect(page.locator(f"{ROWS} td")).to_have_text([*["yes"] * 3, *["no"] * 5])
        page.click("[aria-label='Filter by lit']")
        page.click("#choices button:has-text('yes3')")
        expect(page.locator(f"{ROWS} td")).to_have_text(["yes"] * 3)
        expect(page.locator(".filters")).to_contain_text("lit is yes")
        lines = taken(page, lambda: page.click(".table-foot >> text=CSV")).splitlines()
        assert [line.rpartition(",")[2] for line in lines] == ["lit", *["yes"] * 3]
        page.goto(f"{server}/?graph=bells&thing={BASE}e5")
        expect(page.locator("#look .pairs td >> nth=0")).to_have_text("no")


def test_the_api_of_tables_is_bounded_and_says_what_is_wrong(server, buoys):
    def get(path, **query):
        return httpx.get(f"{server}/api/graphs/buoys/class/{path}", params={"iri": f"{BASE}Buoy", **query})

    assert len(get("table").json()["rows"]) == 100
    facet = get("facet", property=f"{BASE}depth").json()
    assert (facet["low"], facet["high"], len(facet["values"]), facet["more"]) == (0, 2290, 30, True)
    for status, path, query in (
        (422, "table", {"filter": "nonsense"}),
        (422, "table", {"filter": f"{BASE}depth >= deep"}),
        (422, "table", {"filter": "urn:none = 1"}),
        (422, "table", {"skip": 10**7}),
        (422, "table", {"filter": [f"{BASE}depth = 1"] * 11}),
        (422, "facet", {"property": "urn:none"}),
        (404, "table", {"iri": "urn:none"}),
        (404, "file", {"iri": "urn:none"}),
    ):
        reply = get(path, **query)
        assert reply.status_code == status, (path, query, reply.text)
        assert reply.json()["detail"]
    assert get("table", filter=f"{BASE}colour = ' OR 1=1 --").json()["rows"] == []
    files = get("file", format="csv")
    assert files.headers["content-type"].startswith("text/csv")
    assert len(files.text.splitlines()) == BUOYS + 1


def test_a_thing_has_its_pictures_and_links_to_addresses(page, server, fresh_graph):
    page.goto(f"{server}/?graph={fresh_graph}&thing={BASE}lamp")
    expect(page.locator("#look .pictures img")).to_have_count(1)
    assert page.locator("#look .pictures img").get_attribute("alt") == "sketch of Old Lamp"
    link = page.locator("#look a:has-text('elsewhere.example')")
    assert link.get_attribute("rel") == "noopener noreferrer"
    assert page.locator("#look a[href^='javascript']").count() == 0
    assert serious(page) == []


@pytest.fixture(scope="module")
def fresh_graph(data, tmp_path_factory):
    """A graph of a thing with a picture in its data, an address of a picture elsewhere, and dates."""
    folder = tmp_path_factory.mktemp("lamp")
    pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
    (folder / "lamp.ttl").write_text(
        f"@prefix : <{BASE}> . @prefix r: <http://www.w3.org/2000/01/rdf-schema#> .\n"
        "@prefix x: <http://www.w3.org/2001/XMLSchema#> .\n"
        f':lamp a :Lamp ; r:label "Old Lamp" ; :lit "1871-05-02"^^x:date ; :putOut "1950-11-30"^^x:date ;\n'
        f':sketch "data:image/png;base64,{pixel}" ; :photo "http://elsewhere.example/lamp.png" ;\n'
        ':note "javascript:alert(1)" .\n'
        ':other a :Lamp ; r:label "New Lamp" ; :lit "1950-12-01"^^x:date .\n'
    )
    with ingested(data, folder, "lamp"):
        yield "lamp"
