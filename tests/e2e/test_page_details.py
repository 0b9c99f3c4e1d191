"""Details of the page in a real browser: what is copied, exported, printed, recalled, and errors in the address."""

import json
import re
import sys
from pathlib import Path

import pytest
from playwright.sync_api import Route, expect

from tests.e2e import test_page
from tests.e2e.conftest import ROOT, command, free_port, ingested, serving, started
from tests.e2e.test_page import LAST, QUESTION, STATIC, ask, begin, kept, serious, taken

browser, context, page, mixed = test_page.browser, test_page.context, test_page.page, test_page.mixed
pytestmark = test_page.pytestmark

NAME_ENDINGS = ("bo", "ca", "den", "fa", "gil", "hom", "ka", "lin", "more")
BUOYS = 45
NAMES = [f"{first}{second} Marker" for first in ("Ar", "Bel", "Cor", "Dun", "Els") for second in NAME_ENDINGS]


CHART = """async (table) => {
  const { chart } = await import("/static/turn/chart.js");
  document.querySelector("#turns figure").replaceWith(await chart(table));
}"""


@pytest.fixture(scope="module")
def buoys(data, tmp_path_factory):
    """A graph with more things of a class than an answer names, and with large numbers."""
    folder = tmp_path_factory.mktemp("buoys")
    things = "".join(
        f':b{i} a :Buoy ; r:label "{NAMES[i]}" ; :depth {7300 + i * 15} ; :weight {1_200_000 + i} .\n'
        for i in range(BUOYS)
    )
    prefixes = "@prefix : <http://example.org/y/> . @prefix r: <http://www.w3.org/2000/01/rdf-schema#> .\n"
    (folder / "buoys.ttl").write_text(prefixes + things)
    with ingested(data, folder, "buoys"):
        yield "buoys"


def test_a_long_list_is_opened_copied_and_exported_whole(page, server, buoys):
    begin(page, server, "buoys")
    ask(page, "Which buoys are there?")
    names = page.locator(f"{LAST} .answer .names li")
    expect(names).to_have_count(30)
    page.click(f"{LAST} [aria-label='Copy the answer']")
    copied = page.evaluate("() => navigator.clipboard.readText()")
    assert "--json" not in copied
    assert all(name in copied for name in NAMES)
    page.click(f"{LAST} [aria-label='Download this answer']")
    assert len(taken(page, lambda: page.click("#choices >> text=csv")).splitlines()) == BUOYS + 1
    page.click(f"{LAST} .answer button.chip:has-text('more')")
    expect(names).to_have_count(BUOYS)


TURN = """async ([answer, words]) => {
  const { newTurn, finishTurn } = await import("/static/turn/turn.js");
  const turn = newTurn("Which?", { ask() {} });
  const empty = { by: {}, unavailable: {}, citations: [], values: [], caveats: [], visited: [] };
  finishTurn(turn, { ...empty, queries: [], others: [], question: "Which?", standalone: "Which?", status: "clarify",
    answer, options: words.map((each) => ({ words: each })) });
  return turn.answer.textContent;
}"""


def test_readings_below_an_answer_are_not_in_its_text_too(page, server, buoys):
    begin(page, server, "buoys")
    one, two = "the tides of the locks", "the locks of a tide"
    for text in (f"Or did you mean “{one}”?", f"Or did you mean: 1. “{one}”; 2. “{two}”?"):
        words = [each for each in (one, two) if each in text]
        assert page.evaluate(TURN, [f"It is 1.5 m. {text}", words]) == "It is 1.5 m."


def test_what_is_announced_is_no_markup(page, server, buoys):
    begin(page, server, "buoys")
    ask(page, "Show the depths and weights of the buoys as a table")
    expect(page.locator(f"{LAST} .answer table")).to_be_visible()
    said = page.text_content("#said")
    assert said
    assert "|" not in said
    assert "--json" not in said


def test_numbers_are_written_as_in_the_text_and_charts_fit_a_phone(browser, server, buoys):
    context = browser.new_context(viewport={"width": 360, "height": 740}, accept_downloads=True)
    page = context.new_page()
    begin(page, server, "buoys")
    ask(page, "What are the depth and the weight of each buoy?")
    expect(page.locator(f"{LAST} .answer tbody")).to_contain_text("7,315")
    expect(page.locator(f"{LAST} figure svg.scatter .ct-point")).to_have_count(BUOYS)
    assert page.evaluate("() => document.querySelector('#talk').scrollWidth") <= 360
    figure = page.locator(f"{LAST} figure")
    rows = [[NAMES[i], 7300 + i * 15, 1_200_000_000 + i] for i in range(BUOYS)]
    page.evaluate(CHART, {"columns": ["buoy", "depth", "weight"], "units": ["", "m", "kg"], "rows": rows})
    expect(figure.locator("svg.scatter")).to_have_count(1)
    figure.get_by_role("button", name="Bars").click()
    expect(figure.locator("svg.bars .ct-bar")).to_have_count(24)
    clipped = """() => { const svg = document.querySelector('figure svg'); const edge = svg.getBoundingClientRect();
        return [...svg.querySelectorAll('text')].filter((each) => { const box = each.getBoundingClientRect();
            return box.right > edge.right + 1 || box.left < edge.left - 1; }).map((each) => each.textContent); }"""
    assert page.evaluate(clipped) == []
    drawing = taken(page, lambda: figure.get_by_label("Save the chart as SVG").click())
    assert drawing.startswith("<svg")
    assert "7,960" in drawing
    assert figure.locator("figcaption").inner_text() in drawing
    assert len(taken(page, lambda: figure.get_by_label("Save the chart as CSV").click()).splitlines()) == BUOYS + 1
    with page.expect_download() as download:
        figure.get_by_label("Save the chart as PNG").click()
    assert Path(download.value.path()).read_bytes().startswith(b"\x89PNG")
    context.close()


def test_charts_are_sorted_rounded_grouped_and_have_axes_with_units(page, server, buoys):
    begin(page, server, "buoys")
    ask(page, "What are the depth and the weight of each buoy?")
    figure = page.locator(f"{LAST} figure")

    def draw(columns, units, rows, **more):
        expect(figure).to_have_count(1)
        page.evaluate(CHART, {"columns": columns, "units": units, "rows": rows, **more})

    def texts(kind):
        return figure.locator(f"svg text{kind}").all_text_contents()

    draw(["buoy", "depth"], ["", "m"], [["Ar", 5], ["Bel", 1_234_567.891], ["Cor", 20.123456]])
    assert {"5", "20.12", "1.23M"} <= set(texts(".value"))
    assert texts(".axis") == ["depth (m)"]
    titles = figure.locator("svg .ct-bar title").all_text_contents()
    assert sorted(titles) == ["Ar: 5", "Bel: 1,234,567.89", "Cor: 20.1235"]
    tops = {
        name: figure.locator(f"svg text.name:text-is('{name}')").bounding_box()["y"] for name in ("Ar", "Bel", "Cor")
    }
    assert tops["Bel"] < tops["Cor"] < tops["Ar"]
    years = [[str(year), 3 + year % 4] for year in (1990, 2005, 1991)]
    draw(["year", "visits"], ["", ""], years)
    expect(figure.locator("svg.line .ct-point")).to_have_count(3)
    assert texts(".axis") == ["year"]
    places = [each.bounding_box()["x"] for each in figure.locator("svg.line .ct-point").all()]
    assert places[1] - places[0] < (places[2] - places[1]) / 5
    rows = [[land, kind, number] for number, land in enumerate(("Oster", "Wester"), 3) for kind in ("iron", "oak")]
    draw(["land", "kind", "count"], ["", "", ""], rows, fill=0)
    # counts are parts of a whole
    expect(figure.locator("svg.stacked .ct-bar")).to_have_count(4)
    expect(figure.locator("svg rect")).to_have_count(2)
    figure.get_by_role("button", name="Grouped").focus()
    page.keyboard.press("Enter")
    expect(figure.locator("svg.grouped .ct-bar")).to_have_count(4)
    assert page.evaluate("() => document.activeElement.textContent") == "Grouped"
    assert {"Oster", "Wester", "iron", "oak"} <= set(texts(".name"))
    assert serious(page) == []
    # a pie has few parts, and names them with their shares
    draw(["land", "count"], ["", ""], [[f"L{number}", number] for number in range(1, 8)], fill=0)
    figure.get_by_role("button", name="Pie").click()
    expect(figure.locator("svg.pie .ct-slice-pie")).to_have_count(7)
    assert "L7: 7 (25%)" in texts(".name")
    # the distribution of numbers, with empty parts
    draw(
        ["buoy", "depth"],
        ["", "m"],
        [[f"B{number}", depth] for number, depth in enumerate((1, 2, 2.5, 3, 4, 5, 9, 19))],
    )
    figure.get_by_role("button", name="Histogram").click()
    expect(figure.locator("svg.histogram .ct-bar")).to_have_count(4)
    assert figure.locator("svg .ct-bar title").all_text_contents() == [
        "0 – 5: 5",
        "5 – 10: 2",
        "10 – 15: 0",
        "15 – 20: 1",
    ]
    assert texts(".axis") == ["depth (m)"]
    assert serious(page) == []


def test_charts_have_zeros_gaps_others_and_tell_each_mark(page, server, buoys):
    begin(page, server, "buoys")
    ask(page, "What are the depth and the weight of each buoy?")
    figure = page.locator(f"{LAST} figure")
    months = [["2022-11", 2], ["2023-01", 5], ["2023-02", 3]]

    def draw(columns, rows, **more):
        expect(figure).to_have_count(1)
        page.evaluate(CHART, {"columns": columns, "units": [""] * len(columns), "rows": rows, **more})

    # a month that nothing is counted in is 0, one without an average is a gap
    draw(["month", "visits"], months, fill=0)
    expect(figure.locator("svg.line .ct-point")).to_have_count(4)
    assert "2022-12: 0" in figure.locator("svg title").all_text_contents()
    draw(["month", "depth"], months, fill=None)
    expect(figure.locator("svg.line .ct-point")).to_have_count(3)
    assert figure.locator("svg .ct-line").get_attribute("d").count("M") == 2
    rows = [[land, f"K{n}", n + 1] for n in range(10) for land in ("Oster", "Wester")]
    draw(["land", "kind", "visits"], rows[:-1], fill=0)
    expect(figure.locator("svg.stacked rect")).to_have_count(8)
    assert "3 others" in figure.locator("svg text.name").all_text_contents()
    figure.get_by_role("button", name="Grouped").click()
    expect(figure.locator("svg.grouped .ct-bar")).to_have_count(16)
    assert "Wester, K9: 0" in figure.locator("svg title").all_text_contents()
    # the keyboard reaches each mark
    figure.locator("svg").focus()
    page.keyboard.press("ArrowRight")
    note = figure.locator("figcaption [role=status]")
    expect(note).to_contain_text(": ")
    first = note.inner_text()
    page.keyboard.press("ArrowRight")
    expect(note).not_to_have_text(first)
    assert serious(page) == []


def test_an_unknown_graph_or_thread_in_the_address_is_an_error_with_a_way_on(page, server):
    page.goto(f"{server}/?graph=atlantis")
    expect(page.locator("#look .failure")).to_contain_text("no graph named “atlantis”")
    page.click("#look .failure a:has-text('reading-room')")
    page.wait_for_selector("#examples button")
    page.goto(f"{server}/?thread=gone")
    expect(page.locator("#turns .failure")).to_contain_text("no such conversation")
    expect(page.locator("#about")).to_have_text("Conversation not found")
    page.click("#turns .failure button")
    page.wait_for_selector("#examples button")
    page.complaints[:] = [text for text in page.complaints if "404" not in text]


def test_the_arrow_keys_bring_back_questions(page, server):
    begin(page, server, "reading-room")
    ask(page, QUESTION)
    ask(page, "And Signal Box?")
    page.focus("#question")
    for key, shown in (("ArrowUp", "And Signal Box?"), ("ArrowUp", QUESTION), ("ArrowDown", "And Signal Box?")):
        page.keyboard.press(key)
        assert page.input_value("#question") == shown
    page.fill("#question", "a draft")
    page.keyboard.press("ArrowUp")
    assert page.input_value("#question") == "a draft"


def test_branches_have_names_of_their_own_and_steps_fit_into_the_time_of_the_turn(page, server):
    begin(page, server, "reading-room")
    page.click("#configure")
    names = page.locator("#configuration fieldset label").all_inner_texts()
    assert len(set(names)) == len(names) >= 4
    page.click("#configuration >> text=Done")
    page.click("#derive")
    ask(page, QUESTION)
    page.wait_for_selector("#derivation .bars")
    milliseconds = (
        """(text) => [...text.matchAll(/([\\d.]+) (ms|s)/g)].map(([, n, unit]) => n * (unit === 's' ? 1000 : 1))"""
    )
    took = page.evaluate(milliseconds, page.inner_text("#derivation .summary dt:has-text('Took') + dd"))[0]
    steps = page.evaluate(milliseconds, " ".join(page.locator("#derivation .bar-time").all_inner_texts()))
    assert max(steps) <= took * 1.05


def test_a_reading_that_was_picked_claims_no_probability(page, server, mixed):
    begin(page, server, "mixed")
    ask(page, "When was Tide released?")
    page.click(f"{LAST} .options button >> nth=0")
    page.wait_for_selector("#turns article:nth-child(2) .tools")
    expect(page.locator(f"{LAST} .status")).to_contain_text("the reading that you chose")
    expect(page.locator(f"{LAST} .status")).not_to_contain_text("sure")
    page.reload()
    page.wait_for_selector("#turns article:nth-child(2) .tools")
    expect(page.locator(f"{LAST} .status")).to_contain_text("the reading that you chose")


def test_the_card_of_a_server_that_was_away_goes_when_it_is_back(page, data, tmp_path):
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    arguments = [sys.executable, "-m", "nacre.serving.cli.main", "serve", "--port", str(port)]
    with started(arguments, data, tmp_path, f"{address}/healthz"):
        page.goto(f"{address}/?graph=reading-room")
        page.wait_for_selector("#examples button")
    page.fill("#search", "x")
    expect(page.locator("#threads .failure")).to_contain_text("can't be reached")
    with started(arguments, data, tmp_path, f"{address}/healthz"):
        page.fill("#search", "")
        expect(page.locator("#threads .failure")).to_have_count(0)
    page.complaints[:] = [text for text in page.complaints if "ERR_" not in text]


def test_a_printed_answer_has_its_text_and_sources_without_the_controls(page, server):
    begin(page, server, "reading-room")
    ask(page, QUESTION)
    page.emulate_media(media="print")
    for hidden in ("#side", "#ask", f"{LAST} .tools"):
        assert page.is_hidden(hidden)
    assert page.is_visible(f"{LAST} .answer")
    expect(page.locator(f"{LAST} .printed-sources")).to_contain_text("pages")
    page.emulate_media(media="screen")
    assert page.is_hidden(f"{LAST} .printed-sources")


def test_the_page_speaks_german_where_the_browser_does(browser, server):
    context = browser.new_context(locale="de-DE")
    page = context.new_page()
    begin(page, server, "reading-room")
    assert page.evaluate("() => document.documentElement.lang") == "de"
    expect(page.locator("#new")).to_have_text("Neues Gespräch")
    expect(page.locator("#question")).to_have_attribute("placeholder", "Stellen Sie eine Frage")
    ask(page, QUESTION)
    expect(page.locator(f"{LAST} .status")).to_contain_text("Beantwortet")
    page.goto(f"{server}/?graph=reading-room&lang=en")
    expect(page.locator("#new")).to_have_text("New conversation")
    page.goto(f"{server}/?graph=reading-room")
    expect(page.locator("#new")).to_have_text("New conversation")
    # a link to a language that is none changes nothing, now and later
    page.goto(f"{server}/?graph=reading-room&lang=constructor")
    page.locator("#examples button").first.wait_for()
    assert page.evaluate("() => localStorage.getItem('nacre-language')") == "en"
    context.close()


def test_a_graph_with_german_labels_is_shown_and_asked_in_german(browser, tmp_path):
    folder = tmp_path / "own"
    (folder / "data").mkdir(parents=True)
    made = command(folder / "data", folder)(
        "ingest", ROOT / "tests/fixtures/languages/orgelbau.ttl", "--graph", "orgelbau", "--no-vectors"
    )
    assert made.returncode == 0
    with serving(folder / "data", folder) as (address, _):
        context = browser.new_context(locale="de-DE", viewport={"width": 360, "height": 740}, color_scheme="dark")
        page = context.new_page()
        begin(page, address, "orgelbau")
        suggested = page.locator("#examples button").all_inner_texts()
        assert suggested
        assert not [each for each in suggested if re.match(r"(Which|What|How) ", each)]
        expect(page.locator("#picture .about")).to_contain_text("In diesem Graphen")
        assert serious(page) == []
        assert page.evaluate("() => document.querySelector('#talk').scrollWidth") <= 360
        page.click("#examples button >> nth=0")
        page.wait_for_selector(f"{LAST} .tools")
        expect(page.locator(f"{LAST} .status")).to_contain_text("Beantwortet")
        context.close()


def test_what_is_loaded_before_first_use_is_small(server):
    eager, left = set(), ["shell/main.js"]
    while left:
        name = left.pop()
        if name not in eager:
            eager.add(name)
            folder = Path(name).parent
            found = re.findall(r'^(?:import|export) .*?"(\.[^"]+)";', (STATIC / name).read_text(), re.MULTILINE)
            left += [str((STATIC / folder / each).resolve().relative_to(STATIC)) for each in found]
    sheets = [str(each.relative_to(STATIC)) for each in (STATIC / "css").iterdir()]
    assert len(eager) > 8
    assert not {"shell/browse.js", "turn/derivation.js", "shell/schema_graph.js"} & eager
    size = sum((STATIC / name).stat().st_size for name in ["index.html", "icon.svg", "words/en.json", *eager, *sheets])
    assert size < 150_000
    assert json.dumps(sorted(eager)).count("chart") == 0


def test_another_conversation_while_an_answer_streams_loses_nothing(page, server, mixed):
    asked: list[Route] = []
    begun: list[Route] = []
    begin(page, server, "reading-room")
    ask(page, QUESTION)
    page.click("#new")
    page.wait_for_selector("#examples button")
    ask(page, "How many books are there?")
    entries = page.locator("#threads li")
    # other tests have asked this server before: the last two are on top
    expect(entries.nth(0)).to_contain_text("How many books are there?")
    expect(entries.nth(1)).to_contain_text(QUESTION)
    before = entries.count()

    def send(question, at, held):
        """Ask, and hold the request."""
        page.route(at, lambda route: held.append(route))
        page.fill("#question", question)
        page.keyboard.press("Enter")
        while not held:
            page.wait_for_timeout(20)

    def release(at, held):
        held.pop().continue_()
        page.unroute(at)

    # away and back while the answer is under way
    send("How many authors are there?", "**/api/ask", asked)
    entries.filter(has_text=QUESTION).locator("a").first.click()
    expect(page.locator(f"{LAST} .answer")).to_contain_text("540")
    assert page.locator("#turns article").count() == 1
    entries.filter(has_text="How many books").locator("a").first.click()
    expect(page.locator("#turns article")).to_have_count(2)
    expect(page.locator(LAST)).to_contain_text("How many authors are there?")
    release("**/api/ask", asked)
    expect(page.locator(f"{LAST} .answer")).to_contain_text("3 authors")
    # the words come before the end of the turn, which is then stored
    expect(page.locator(f"{LAST} .tools")).to_be_visible()
    assert len(kept(server, page)["turns"]) == 2
    # the answer to a first question comes while another conversation is shown
    page.click("#new")
    page.wait_for_selector("#examples button")
    send("How many pages does The Salt Road have?", "**/api/threads", begun)
    entries.filter(has_text=QUESTION).locator("a").first.click()
    expect(page.locator(f"{LAST} .answer")).to_contain_text("540")
    release("**/api/threads", begun)
    expect(entries).to_have_count(before + 1)
    expect(page.locator("#about")).to_contain_text(QUESTION)
    assert page.locator("#turns article").count() == 1
    entries.filter(has_text="The Salt Road").first.locator("a").click()
    expect(page.locator(f"{LAST} .answer")).to_contain_text("312")
