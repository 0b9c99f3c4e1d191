"""Bring your own data on the page, in a real browser: files, progress, a graph, its deletion; and who may not."""

import os
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import httpx
from playwright.sync_api import expect

from tests.e2e import test_page
from tests.e2e.conftest import GRAPHS, serving
from tests.e2e.test_page import ask, serious
from tests.support import sparql_server as servers

browser, context, page, pytestmark = test_page.browser, test_page.context, test_page.page, test_page.pytestmark

READ_SECONDS = 120_000
LAMPS = """
CREATE TABLE lighthouse (id INTEGER PRIMARY KEY, name TEXT UNIQUE, height REAL, built INTEGER);
INSERT INTO lighthouse VALUES (1, 'Skerry Point', 41.5, 1888), (2, 'Grey Ness', 22, 1907), (3, 'Long Sound', 33, 1921);
"""


def test_a_file_becomes_a_graph_that_answers_and_is_deleted(page, tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "lamps.csv").write_text("name,price\nSkerry lamp,41\nGrey lamp,22\n")
    (tmp_path / "coast.md").write_text("# Coast\n\nThe Saltpan lighthouse was lit in 1871 by the keeper Orla Finch.\n")
    (tmp_path / "broken.ttl").write_text("<urn:a> <urn:b> <urn:broken")
    with serving(tmp_path / "data", tmp_path) as (address, _):
        page.goto(address)
        page.click("#lead a:has-text('Add data')")
        expect(page.locator("#look")).to_contain_text("NACRE_ATTACH_HOSTS")
        (tmp_path / "Größen & Maße.csv").write_text("name,price\nSkerry lamp,41\n")
        page.set_input_files("#look input[type=file]", [tmp_path / "Größen & Maße.csv"])
        assert page.input_value("#look label:has-text('Name of the graph') input") == "groessen-masse"
        page.goto(f"{address}/?add=")
        page.set_input_files("#look input[type=file]", [GRAPHS / "reading_room.ttl"])
        assert page.input_value("#look label:has-text('Name of the graph') input") == "reading-room"
        assert serious(page) == []
        page.click("#look >> text=Read these files")
        page.click("#look .upload-status a:has-text('Ask reading-room')", timeout=READ_SECONDS)
        page.wait_for_selector("#examples button")
        assert "540" in ask(page, "How many pages does Granite have?")
        # more files are added to it, by the keyboard; a name without letters gets our message before anything is sent,
        # and another one becomes a name that is accepted
        other = page.context.new_page()
        other.goto(address)
        other.wait_for_selector("#examples button")
        page.goto(f"{address}/?add=")
        expect(page.locator("#look li:has-text('reading-room')")).to_contain_text(re.compile(r"\d+ facts, read on \d+"))
        page.focus("[aria-label='Add files to reading-room']")
        page.keyboard.press("Enter")
        expect(page.locator("#look [role=status] >> nth=0")).to_contain_text("added to what reading-room has")
        page.set_input_files("#look input[type=file]", [tmp_path / "lamps.csv", tmp_path / "coast.md"])
        page.fill("#look label:has-text('Name of the graph') input", "???")
        page.click("#look >> text=Read these files")
        expect(page.locator("#look .failure")).to_contain_text("The name of a graph has a to z")
        page.fill("#look label:has-text('Name of the graph') input", "Reading Room")
        page.keyboard.press("Tab")
        expect(page.locator("#look label:has-text('Name of the graph') input")).to_have_value("reading-room")
        assert serious(page) == []
        page.click("#look >> text=Read these files")
        page.click("#look .upload-status a:has-text('Ask reading-room')", timeout=READ_SECONDS)
        page.wait_for_selector("#examples button")
        assert "540" in ask(page, "How many pages does Granite have?")
        assert "41" in ask(page, "What is the price of Skerry lamp?")
        assert "1871" in ask(page, "When was the Saltpan lighthouse lit?")
        # a file that can't be read says why, and a new graph is in every list at once
        page.goto(f"{address}/?add=lamps")
        page.set_input_files("#look input[type=file]", [tmp_path / "broken.ttl"])
        page.click("#look >> text=Read these files")
        expect(page.locator("#look .failure")).to_contain_text("broken.ttl, line 1", timeout=READ_SECONDS)
        page.reload()
        page.set_input_files("#look input[type=file]", [tmp_path / "lamps.csv"])
        page.click("#look >> text=Read these files")
        expect(page.locator("#look .terms a:has-text('lamps')")).to_be_visible(timeout=READ_SECONDS)
        for tab in (page, other):
            expect(tab.locator("#graph option")).to_have_text(["lamps", "reading-room"])
        other.close()
        page.click("[aria-label='Delete the graph lamps']")
        # the view is drawn again after a deletion
        page.evaluate("() => { document.querySelector('#look').firstElementChild.dataset.earlier = ''; }")
        page.click("#look button.bad:has-text('Delete') >> nth=0")
        expect(page.locator("#look > [data-earlier]")).to_have_count(0)
        expect(page.locator("[aria-label='Delete the graph lamps']")).to_have_count(0)
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


TYPES = ["text", "number with unit (m)", "date", "yes or no"]
TIDES = "Station;Level;Seen;Open\n" + "".join(f"Skerry {chr(65 + i)};{i},5 m;{i + 1}.03.2021;yes\n" for i in range(20))


def test_tables_show_their_first_rows_and_types_before_they_are_read(page, tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "tides.csv").write_text(TIDES.replace("Skerry B", "<b>Skerry</b>"))
    (tmp_path / "broken.xlsx").write_bytes(b"no workbook")
    with serving(tmp_path / "data", tmp_path) as (address, _):
        for width, theme in ((360, "light"), (1280, "dark"), (1920, "light")):
            page.set_viewport_size({"width": width, "height": 800})
            page.emulate_media(color_scheme=theme)
            page.goto(f"{address}/?add=")
            page.set_input_files("#look input[type=file]", [tmp_path / "tides.csv", tmp_path / "broken.xlsx"])
            shown = page.locator("#look .preview").first
            expect(shown).to_contain_text("Each row becomes a thing of the class “tides”")
            expect(shown.get_by_label("Its name is in the column")).to_have_value("Station")
            expect(shown.locator("th")).to_contain_text(["Station", "Level", "Seen", "Open"])
            expect(shown.get_by_label("Its name is in the column").locator("option >> nth=0")).to_have_text("none")
            expect(shown.locator("th option:checked")).to_have_text(TYPES)
            expect(shown.locator("tbody tr")).to_have_count(5)
            expect(shown.locator("tbody tr >> nth=1")).to_have_text("<b>Skerry</b>1,5 m2.03.2021yes")
            expect(page.locator("#look .preview >> nth=1")).to_contain_text("Its first rows can't be shown")
            assert page.evaluate("() => document.querySelector('#talk').scrollWidth <= innerWidth")
            assert serious(page) == []
        # nothing of it stays
        page.wait_for_load_state("networkidle")
        left = [each for each in (tmp_path / "data").rglob("*") if each.name in ("tides.csv", "broken.xlsx")]
        assert left == []


def test_a_preview_says_what_columns_refer_to_and_a_name_becomes_one_that_graphs_may_have(page, tmp_path):
    (tmp_path / "data").mkdir()
    names = [f"Rock {n}" for n in "ABCDE"]
    (tmp_path / "rocks.csv").write_text("Rock,Height\n" + "".join(f"{name},{10 + i}\n" for i, name in enumerate(names)))
    seals = "".join(f"Seal {i},{names[i % 5]},{'grey' if i % 2 else 'ringed'}\n" for i in range(12))
    (tmp_path / "seals.csv").write_text("Seal,Lies on,Kind\n" + seals)
    with serving(tmp_path / "data", tmp_path) as (address, _):
        page.goto(f"{address}/?add=")
        page.set_input_files("#look input[type=file]", [tmp_path / "rocks.csv", tmp_path / "seals.csv"])
        types = page.locator("#look .preview >> nth=1").locator("th option:checked")
        expect(types).to_have_text(["text", "refers to rocks", "text"])
        # a file is left out again, and what is known of the graph takes its place
        page.get_by_role("button", name="Leave seals.csv out").click()
        expect(page.locator("#look .preview")).to_have_count(1)
        page.get_by_label("Name of the graph").fill("Große Felsen")
        page.get_by_role("button", name="Read these files").click()
        expect(page.get_by_label("Name of the graph")).to_have_value("grosse-felsen")
        expect(page.locator("#look .upload-status")).to_contain_text("The graph is ready.")
        page.get_by_label("Name of the graph").fill("grosse-felsen")
        page.set_input_files("#look input[type=file]", [tmp_path / "seals.csv"])
        types = page.locator("#look .preview").locator("th option:checked")
        expect(types).to_have_text(["text", "refers to rocks", "text"])
        assert serious(page) == []


def test_a_type_is_changed_before_a_table_is_read_and_a_german_reads_what_became_of_it(page, tmp_path):
    (tmp_path / "data").mkdir()
    rows = "".join(f"Skerry {chr(65 + i)};{10 + i};0{i % 9 + 1}/03/2021;{i % 3}\n" for i in range(20))
    (tmp_path / "high tides.csv").write_text("Station;Shelf;Seen;Boats\n" + rows)
    with serving(tmp_path / "data", tmp_path) as (address, _):
        page.goto(f"{address}/?lang=de&add=")
        page.set_input_files("#look input[type=file]", [tmp_path / "high tides.csv"])
        shown = page.locator("#look .preview")
        expect(shown.locator("th option:checked")).to_have_text(["Text", "ganze Zahl", "Text", "ganze Zahl"])
        # an order of dates that the cells do not show is asked for, with some of them
        expect(shown).to_contain_text("Was steht bei den Daten von „Seen“ zuerst (01/03/2021, 02/03/2021")
        day, month = (shown.get_by_role("button", name=each) for each in ("Der Tag: 1. März", "Der Monat: 3. Januar"))
        month.click()
        expect(page.get_by_label("Typ von „Seen“")).to_have_value("monthFirst")
        day.focus()
        page.keyboard.press("Enter")
        expect(page.get_by_label("Typ von „Seen“")).to_have_value("dayFirst")
        expect(day).to_have_attribute("aria-pressed", "true")
        expect(month).to_have_attribute("aria-pressed", "false")
        # by the keyboard, and one that is set back
        page.focus("[aria-label='Typ von „Shelf“']")
        page.keyboard.press("T")
        page.select_option("[aria-label='Typ von „Boats“']", label="Text")
        page.select_option("[aria-label='Typ von „Boats“']", label="ganze Zahl")
        assert serious(page) == []
        page.click("#look >> text=Diese Dateien lesen")
        page.wait_for_selector("#look .upload-status a", timeout=READ_SECONDS)
        # what was printed is folded away
        expect(page.locator("#look .progress")).to_be_hidden()
        page.click("#look .upload-status summary")
        lines = page.inner_text("#look .progress").splitlines()
        english = re.compile(r"\b(parse|tables|names|is now|things|rows?|key|cells|read|vectors|embedded)\b")
        assert [line for line in lines if english.search(line)] == []
        assert any("20 Zeilen als „high tides“, benannt nach „Station“" in line for line in lines)
        found = httpx.get(f"{address}/api/graphs/high-tides").json()["predicates"]
        types = {each["label"]: each["datatype"] for each in found}
        assert types == {"label": "text", "Station": "text", "Shelf": "text", "Seen": "date", "Boats": "integer"}


def test_progress_is_in_words_and_rows_may_have_no_name(page, tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "knots.csv").write_text("Knot,Shelf\nBowline,3\nSheet bend,4\n")
    states = [
        {"phase": "running", "lines": ["parse: 24,000 of 50,000"]},
        {"phase": "running", "lines": ["parse: 1.5 s", "tables: 0.2 s", "warning: odd"]},
        {"phase": "failed", "lines": ["parse: 1.5 s", "knots.csv, line 3: no"], "reason": "knots.csv, line 3: no"},
    ]
    with serving(tmp_path / "data", tmp_path) as (address, _):
        page.goto(f"{address}/?add=")
        page.set_input_files("#look input[type=file]", [tmp_path / "knots.csv"])
        page.select_option("#look .preview select >> nth=0", label="none")
        page.click("#look >> text=Read these files")
        page.wait_for_selector("#look .upload-status a", timeout=READ_SECONDS)
        labels = [each["label"] for each in httpx.get(f"{address}/api/graphs/knots").json()["predicates"]]
        assert "label" not in labels
        # what the server prints is shown in words of its reader
        left = iter(states)
        page.route(
            re.compile(r"/api/uploads/\w{32}$"),
            lambda route: (
                route.fulfill(json={"address": "", **next(left)})
                if route.request.method == "GET"
                else route.continue_()
            ),
        )
        page.set_input_files("#look input[type=file]", [tmp_path / "knots.csv"])
        page.fill("#look label:has-text('Name of the graph') input", "loops")
        page.click("#look >> text=Read these files")
        steps = page.locator("#look .steps")
        expect(steps.locator(".busy")).to_have_text("Reading the files: 24,000 rows of 50,000 rows")
        expect(steps.locator(".done")).to_have_text("Reading the files")
        expect(steps.locator(".busy")).to_have_text("Building tables")
        expect(steps.locator("li")).to_have_count(5)
        expect(page.locator("#look .failure")).to_contain_text("knots.csv, line 3: no")
        expect(page.locator("#look .upload-status")).not_to_contain_text("parse")
        assert serious(page) == []


def test_a_database_is_uploaded_and_an_endpoint_is_attached_on_the_page(page, tmp_path):
    (tmp_path / "data").mkdir()
    with closing(sqlite3.connect(tmp_path / "lamps.sqlite")) as made:
        made.executescript(LAMPS)
    with (
        servers.endpoint(GRAPHS / "reading_room.ttl") as endpoint,
        serving(tmp_path / "data", tmp_path, NACRE_ATTACH_HOSTS=endpoint.split("/")[2]) as (address, process),
    ):
        page.goto(f"{address}/?add=")
        page.set_input_files("#look input[type=file]", [tmp_path / "lamps.sqlite"])
        page.click("#look >> text=Read these files")
        page.click("#look .upload-status .options button", timeout=READ_SECONDS)
        page.wait_for_selector("#turns article .tools")
        assert "41.5" in ask(page, "What is the height of Skerry Point?")
        # the server itself has not opened the file
        opened = [os.readlink(file) for file in Path(f"/proc/{process.pid}/fd").iterdir() if file.is_symlink()]
        assert [file for file in opened if "kept" in file] == []
        page.goto(f"{address}/?add=")
        page.fill("#look label:has-text('Address of the endpoint') input", "http://127.0.0.1:1/sparql")
        page.fill("#look label:has-text('Name of the attached graph') input", "far")
        page.click("#look >> text=Attach >> nth=-1")
        expect(page.locator("#look .failure")).to_contain_text("does not attach that host")
        page.complaints.clear()
        page.fill("#look label:has-text('Address of the endpoint') input", endpoint)
        page.click("#look button:has-text('Attach')")
        page.click("#look .upload-status a:has-text('Ask far')", timeout=READ_SECONDS)
        page.wait_for_selector("#examples button")
        assert "540" in ask(page, "How many pages does Granite have?")
