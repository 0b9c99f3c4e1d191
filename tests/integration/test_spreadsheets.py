"""Spreadsheets become graphs: files -> classes, things, typed properties, links, reports of cells, and the cells."""

import csv
import io
import json
import sqlite3
import zipfile
from contextlib import closing
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import duckdb
import pytest
import xlsxwriter
from hypothesis import given, settings
from hypothesis import strategies as st

from ingestion.layer.layer_file import load_layer_files, read_layer
from ingestion.pipeline import change_layers, ingest
from ingestion.read import sources
from ingestion.read.facts import Facts
from ingestion.read.parse import read_sources
from ingestion.read.sources import ReadOptions, find_sources
from ingestion.read.tables import SheetReport, read_sheet_reports
from ingestion.stages import NO_PROGRESS
from ingestion.vocabulary import LABEL, TYPE, XSD
from nacre.errors import ConfigError, IngestionError
from nacre.extensions.spreadsheets import layout, read_delimited, triples
from nacre.extensions.spreadsheets.preview import preview_table
from nacre.extensions.spreadsheets.read_workbook import _workbook
from nacre.extensions.spreadsheets.triples import export_cells
from nacre.extensions.uploads.files import command_of_files
from nacre.records.schema import LOCAL
from nacre.stores.catalog import Servers
from nacre.stores.sqlite.tables import Tables
from nacre.stores.versions import SHEETS, TABLES

READING = ReadOptions(base=f"{LOCAL}club/")


def read(*files: Path, strict: bool = False) -> tuple[Facts, tuple[SheetReport, ...]]:
    """The facts of files and the reports of their sheets, which lie beside the first one."""
    folder = files[0].parent / SHEETS
    facts = read_sources(find_sources(list(map(str, files)), READING), folder)
    return facts, read_sheet_reports(files[0].parent)


def cells(facts: Facts, column: str) -> dict[str, tuple[str, str]]:
    """The values of a column by the last part of the IRI of a row, each with the last part of its datatype."""
    found = {}
    for s, p, o in zip(facts.subject.tolist(), facts.predicate.tolist(), facts.object.tolist(), strict=True):
        if facts.texts[p].endswith(f"#{column}"):
            term = facts.term(o)
            found[facts.texts[s].rpartition("/")[2]] = (term.value, term.datatype.removeprefix(XSD))
    return found


def alternative_names(facts: Facts) -> set[str]:
    pairs = zip(facts.predicate, facts.object, strict=True)
    return {facts.texts[o] for p, o in pairs if "altLabel" in facts.texts[p]}


def notes(reports: tuple[SheetReport, ...]) -> str:
    return "\n".join(note for report in reports for note in report.notes)


def write(path: Path, text: str, encoding: str = "utf-8") -> Path:
    path.write_bytes(text.encode(encoding))
    return path


def test_a_sheet_is_a_class_and_a_row_a_thing_that_is_named(tmp_path: Path) -> None:
    facts, (report,) = read(
        write(tmp_path / "members.csv", "id,Name,Joined\n1,Ada Lind,2024-02-03\n2,Bo Berg,2025-04-05\n")
    )
    thing = "nacre-file:///club/members.csv/members/id=1"
    stated = {
        (facts.texts[p], facts.texts[o])
        for s, p, o in zip(facts.subject.tolist(), facts.predicate.tolist(), facts.object.tolist(), strict=True)
        if facts.texts[s] == thing
    }
    assert (TYPE, "nacre-file:///club/members.csv/members") in stated
    assert (LABEL, "Ada Lind") in stated
    assert cells(facts, "Joined")["id=1"] == ("2024-02-03", "date")
    assert (report.label, report.rows, report.key, report.name) == ("members", 2, "id", "Name")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "cp1252"])
def test_a_german_table_has_numbers_units_dates_and_codes(tmp_path: Path, encoding: str) -> None:
    text = (
        "Kostenstelle;Bezeichnung;Betrag;Anteil;Datum;PLZ\r\n0100;Müllabfuhr;1.234,50 €;12,5 %;03.04.2025;01067\r\n"
        "0200;Straßenbau;-10.000,00 €;50 %;28.02.2025;20095\r\n0300;Größere Geräte;-250,75 €;0,5 %;31.12.2024;80331\r\n"
    )
    facts, (report,) = read(write(tmp_path / "haushalt.csv", text, encoding))
    row = "Kostenstelle=0100"
    assert cells(facts, "Bezeichnung")[row] == ("Müllabfuhr", "")
    assert cells(facts, "Betrag")["Kostenstelle=0200"] == ("-10000.00 €", "")
    assert cells(facts, "Anteil")[row] == ("12.5 %", "")
    assert cells(facts, "Datum")[row] == ("2025-04-03", "date")
    assert cells(facts, "PLZ")[row] == ("01067", "")
    assert [(each.name, each.unit) for each in report.columns if each.unit] == [("Betrag", "€"), ("Anteil", "%")]


@pytest.mark.parametrize(
    ("written", "values", "datatype"),
    [
        (["1 234,50", "2 000,00"], ["1234.50", "2000.00"], "decimal"),
        (["1'234.50", "7.5"], ["1234.50", "7.5"], "decimal"),
        (["1,234", "2,5"], ["1.234", "2.5"], "decimal"),
        (["(250)", "300"], ["-250", "300"], "integer"),
        (["012", "100"], ["012", "100"], ""),
        (["03/04/2025", "31/12/2025"], ["2025-04-03", "2025-12-31"], "date"),
        (["03/04/2025", "12/31/2025"], ["2025-03-04", "2025-12-31"], "date"),
        (["03/04/2025", "05/06/2025"], ["03/04/2025", "05/06/2025"], ""),
        (["3. Mai 2025", "Mar 5, 2024"], ["2025-05-03", "2024-03-05"], "date"),
        (["ja", "nein"], ["true", "false"], "boolean"),
        (["yes", "no"], ["true", "false"], "boolean"),
        (["8:30", "17:05:10"], ["08:30:00", "17:05:10"], "time"),
        (["=1+1", "@SUM(A1)"], ["=1+1", "@SUM(A1)"], ""),
        (["123456789012345678901", "1"], ["123456789012345678901", "1"], ""),
    ],
)
def test_the_type_of_a_column_is_that_of_all_its_cells(
    tmp_path: Path, written: list[str], values: list[str], datatype: str
) -> None:
    with (tmp_path / "a.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["what", "value"], *([f"thing {n}", each] for n, each in enumerate(written))])
    facts, _ = read(tmp_path / "a.csv")
    assert sorted(cells(facts, "value").values()) == sorted((value, datatype) for value in values)


def test_dates_that_no_row_decides_are_asked_for(tmp_path: Path) -> None:
    _, reports = read(write(tmp_path / "a.csv", "what,when\nx y,03/04/2025\nz w,05/06/2025\n"))
    assert "no cell tells the day from the month" in notes(reports)


def test_a_cell_that_does_not_fit_is_kept_as_text_and_named(tmp_path: Path) -> None:
    rows = "".join(f"thing {n},{n}\n" for n in range(12))
    facts, reports = read(write(tmp_path / "a.csv", f"what,size\n{rows}thing 12,about ten\n"))
    assert ("about ten", "") in cells(facts, "size").values()
    assert "size: kept as text, since they are no integers: 'about ten' (row 14)." in notes(reports)
    assert [(each.read, each.kept_as_text) for each in reports[0].columns] == [(13, 0), (13, 1)]


def test_headings_are_kept_apart_and_titles_and_sums_are_not_rows(tmp_path: Path) -> None:
    text = (
        "Budget of the town,,,,\n,,,,\n,2024,,2025,\nItem,Plan,Actual,Plan,Actual\n"
        "Schools,10,11,12,13\nRoads,20,21,22,23\nTotal,30,32,34,36\n,,,,\nSource: town hall,,,,\n"
    )
    facts, (report,) = read(write(tmp_path / "budget.csv", text))
    assert [each.name for each in report.columns] == ["Item", "2024 Plan", "2024 Actual", "2025 Plan", "2025 Actual"]
    assert cells(facts, "2024%20Plan") == {"Item=Schools": ("10", "integer"), "Item=Roads": ("20", "integer")}
    assert report.rows == 2
    for expected in ("Budget of the town", "rows 3 and 4", "Row 7 has sums", "Source: town hall"):
        assert expected in notes((report,))


def test_a_first_column_that_only_numbers_rows_is_no_amount(tmp_path: Path) -> None:
    facts, _ = read(write(tmp_path / "a.csv", '"","pot","height"\n"1","P",4\n"2","Q",5\n"3","P",6\n'))
    assert {kind for _, kind in cells(facts, "Column%201").values()} == {"token"}


def test_headings_below_merged_ones_are_names_where_no_other_column_has_them(tmp_path: Path) -> None:
    facts, _ = read(
        write(tmp_path / "a.csv", "Pot,Size,,Glaze,\n,Height,Note,Colour,Note\nP1,4,7,red,3\nP2,5,9,blue,4\n")
    )
    assert alternative_names(facts) == {"Height", "Colour", "pot"}


def test_empty_and_doubled_headings_have_names_of_their_own(tmp_path: Path) -> None:
    _, (report,) = read(
        write(tmp_path / "a.csv", "Name,name,Phone,Phone,,gone\nAda Lind,ada,1-2,3-4,x,\nBo Berg,bo,5-6,,y,\n")
    )
    assert [each.name for each in report.columns] == ["Name", "name 2", "Phone", "Phone 2", "Column 5"]
    for expected in ("called 'Phone 2'", "called 'Column 5'", "'gone' has no cell"):
        assert expected in notes((report,))


def test_a_heading_over_numbers_of_rows_and_names_is_that_of_the_names(tmp_path: Path) -> None:
    rows = "".join(f"{n},{name},{n * 3}\n" for n, name in enumerate(("Oak Lab", "Elm Lab", "Fir Lab"), 1))
    facts, (report,) = read(write(tmp_path / "ranks-2024.csv", f"Laboratory,,Staff\n{rows}"))
    assert [each.name for each in report.columns] == ["Laboratory number", "Laboratory", "Staff"]
    assert report.name == "Laboratory"
    assert "its heading 'Laboratory' is that of column 2" in notes((report,))
    # a row with the name of a laboratory is one
    assert alternative_names(facts) == {"laboratory", "ranks"}


def test_a_table_is_also_called_without_its_date_if_no_other_is(tmp_path: Path) -> None:
    text = "Lender_Name,Sum\nAda Lind,3\nAda Lind,5\nBo Berg,7\nAda Lind,1\nAda Lind,2\n"
    files = [write(tmp_path / f"{name}.csv", text) for name in ("2024-03-loans", "gifts-2024-03", "gifts-2024-04")]
    facts, reports = read(*files)
    # the lender is no name of a loan, since most loans have another one of the same
    assert {report.name for report in reports} == {""}
    assert alternative_names(facts) == {"2024 03 loans", "lender"}
    assert [report.label for report in reports] == ["loans", "gifts 2024 03", "gifts 2024 04"]


def test_years_are_known_by_any_word_of_their_heading(tmp_path: Path) -> None:
    text = "Show,FirstYear,Visits\n" + "".join(f"show {n},{1990 + n},{1990 + n}\n" for n in range(12))
    _, (report,) = read(write(tmp_path / "a.csv", text))
    assert [each.type for each in report.columns] == ["text", "year", "integer"]


def test_a_compound_with_a_word_for_names_names_rows_also_by_numbers(tmp_path: Path) -> None:
    rows = "".join(f"{n},{line},bus\n" for n, line in enumerate((31, 7, 46), 1))
    _, (report,) = read(write(tmp_path / "linien.csv", f"Linien_Id,Linienname,VSYS\n{rows}"))
    assert (report.name, [each.type for each in report.columns]) == ("Linienname", ["integer", "text", "text"])


def test_a_table_without_headings_loses_no_row(tmp_path: Path) -> None:
    _, (report,) = read(write(tmp_path / "a.csv", "1,Ada,30.5\n2,Bo,20.5\n3,Cy,10.5\n"))
    assert (report.rows, [each.name for each in report.columns]) == (3, ["Column 1", "Column 2", "Column 3"])


def test_columns_that_refer_to_other_sheets_are_links(tmp_path: Path) -> None:
    loans = write(
        tmp_path / "loans.csv", "no,Object,Borrower,member id\n1,Oak chest,Lund Museum,7\n2,Map,Ystad Museum,8\n"
    )
    borrowers = write(tmp_path / "borrowers.csv", "Borrower,Town\nLund Museum,Lund\nYstad Museum,Ystad\n")
    members = write(tmp_path / "members.csv", "id,Name\n7,Ada Lind\n8,Bo Berg\n9,Cy Dahl\n")
    facts, reports = read(loans, borrowers, members)
    assert cells(facts, "Borrower")["no=1"] == ("nacre-file:///club/borrowers.csv/borrowers/Borrower=Lund%20Museum", "")
    assert cells(facts, "member%20id")["no=2"] == ("nacre-file:///club/members.csv/members/id=8", "")
    assert [each.link for each in reports[0].columns] == ["", "", "borrowers, by Borrower", "members, by id"]


PONIES = """
@prefix v: <http://stable.example/v#> . @prefix k: <http://stable.example/id/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
v:Pony rdfs:label "pony"@en, "Pferd"@de, "cheval"@fr . v:Rider rdfs:label "rider"@en .
k:p1 a v:Pony ; rdfs:label "Brisk" ; v:code "P-1" . k:p2 a v:Pony ; rdfs:label "Dapple" ; v:code "P-2" .
k:p3 a v:Pony ; rdfs:label "Mocha" ; v:code "P-3" . k:p4 a v:Pony ; rdfs:label "Tansy" ; v:code "P-4" .
k:ana a v:Rider ; rdfs:label "Ana Ruiz" . k:bo a v:Rider ; rdfs:label "Bo Lund" .
"""


def lesson_links(folder: Path, table: str, rdf: str = PONIES) -> tuple[list[str], Facts, str]:
    """The links of the columns of a table of lessons that is read with RDF, the facts, and the notes."""
    facts, reports = read(write(folder / "lessons.csv", table), write(folder / "ponies.ttl", rdf))
    return [each.link for each in reports[0].columns], facts, notes(reports)


@pytest.mark.parametrize(
    ("heading", "values", "way"),
    [
        ("Pony", ("Brisk", "dapple ", "MOCHA", "Tansy"), "name"),
        ("Ponies", ("Brisk", "Dapple", "Brisk", "Dapple"), "name"),
        ("Name of pony", ("Brisk", "Dapple", "Brisk", "Dapple"), "name"),
        ("Pferde", ("Brisk", "Dapple", "Brisk", "Dapple"), "name"),
        ("Nom du cheval", ("Brisk", "Dapple", "Brisk", "Dapple"), "name"),
        ("Pony code", ("P-1", "p-2", "P-3", "P-1"), "code"),
        ("Stable no.", ("P-1", "P-2", "P-3") * 2, "code"),
        ("Pony id", ("p1", "p2", "p1", "p2"), "IRI"),
        ("Mount", ("Brisk", "Dapple", "Mocha", "Brisk"), "name"),
    ],
)
def test_a_column_refers_to_things_of_the_graph(
    tmp_path: Path, heading: str, values: tuple[str, ...], way: str
) -> None:
    rows = "".join(f"{n},{value},{n}0\n" for n, value in enumerate(values, 1))
    links, facts, said = lesson_links(tmp_path, f"no,{heading},fee\n{rows}")
    assert links == ["", f"ponies, by {way} (a guess)", ""]
    named = [value for value, _ in cells(facts, heading.replace(" ", "%20")).values()]
    assert {each.rpartition("/")[0] for each in named} == {"http://stable.example/id"}
    assert len(named) == len(values)
    assert "a guess" in said


@pytest.mark.parametrize(
    ("heading", "values"),
    [
        # too few, of two classes, most of which are none, and numbers
        ("Mount", ("Brisk", "Dapple", "Brisk", "Dapple")),
        ("Mount", ("Brisk", "Dapple", "Ana Ruiz", "Ana Ruiz")),
        ("Pony", ("Brisk", "Rex", "Fido", "Nero")),
        ("Ponies", ("1", "2", "3", "4")),
    ],
)
def test_a_column_that_names_no_things_of_one_class_stays(
    tmp_path: Path, heading: str, values: tuple[str, ...]
) -> None:
    rows = "".join(f"{n},{value},{n}0\n" for n, value in enumerate(values, 1))
    numbers = "".join(f'k:p{n} v:code "{n}" .' for n in range(1, 5))
    links, facts, _ = lesson_links(tmp_path, f"no,{heading},fee\n{rows}", PONIES + numbers)
    assert links == ["", "", ""]
    assert [value for value, _ in cells(facts, heading).values()] == list(values)


def test_texts_that_name_no_thing_or_several_stay_beside_a_link(tmp_path: Path) -> None:
    rdf = PONIES + 'k:p5 a v:Pony ; rdfs:label "Tansy" .'
    ponies = ("Brisk", "Brisk", "Dapple", "Mocha", "Tansy", "", "P9")
    more = "".join(f'k:q{n} a v:Pony ; rdfs:label "Q{n}" .\n' for n in range(8))
    rows = "".join(f"{n},{pony},{n}0\n" for n, pony in enumerate((*ponies, *(f"Q{n}" for n in range(8))), 1))
    links, facts, said = lesson_links(tmp_path, f"no,Pony,fee\n{rows}", rdf + more)
    assert links[1] == "ponies, by name (a guess)"
    assert "no single one of the ponies: 'Tansy' (row 6), 'P9' (row 8)" in said
    assert cells(facts, "Pony%20text") == {"no=5": ("Tansy", ""), "no=7": ("P9", "")}
    assert all(value.startswith("http://stable.example/id/") for value, _ in cells(facts, "Pony").values())


def test_a_link_to_the_graph_can_be_refused(tmp_path: Path) -> None:
    stated = {"url": "lessons.csv", "tableSchema": {"columns": [{}, {"datatype": "string"}]}}
    write(tmp_path / "lessons.csv-metadata.json", json.dumps(stated))
    links, facts, _ = lesson_links(tmp_path, "no,Pony,fee\n1,Brisk,5\n2,Dapple,6\n3,Mocha,7\n")
    assert links == ["", "", ""]
    assert cells(facts, "Pony")["no=1"] == ("Brisk", "")


def test_rows_about_things_are_not_called_like_them_unless_there_is_one_of_each(tmp_path: Path) -> None:
    _, reports = read(
        write(tmp_path / "ponies.ttl", PONIES),
        write(tmp_path / "lessons.csv", "no,Pony,fee\n1,Brisk,5\n2,Dapple,6\n3,Mocha,7\n4,Mocha,7\n"),
        write(tmp_path / "heights.csv", "Pony,cm\nBrisk,120\nDapple,130\nMocha,140\n"),
    )
    assert [(each.name, [column.link != "" for column in each.columns]) for each in reports] == [
        ("", [False, True, False]),
        ("Pony", [True, False]),
    ]


def test_the_same_columns_of_a_later_table_are_no_links(tmp_path: Path) -> None:
    text = "Name,Phone number,Town\nAda Lind,040/1,Lund\nBo Berg,040/2,Lund\nCy Dahl,040/3,Ystad\nDi Ek,040/4,Lund\n"
    for file, table in (("members 2024.csv", text), ("members 2025.csv", text + "Di Ek,040/4,Kivik\n")):
        source = str(write(tmp_path / file, table))
        made = ingest([source], "club", data=tmp_path / "data", add=True, tables_only=True, reading=READING)
    reports = read_sheet_reports(tmp_path / "data" / "club" / "versions" / made.version)
    assert [(each.name, [column.link for column in each.columns]) for each in reports] == [("Name", ["", "", ""])] * 2


def test_columns_keep_their_order_when_a_word_is_taught_and_a_file_is_added(tmp_path: Path) -> None:
    data = tmp_path / "data"
    first = write(tmp_path / "walks.csv", "Walk,Start,Length,Dog\nFell,2024-01-03,4,Bo\nLoch,2024-02-05,7,Cy\n")
    second = write(tmp_path / "huts.csv", "Hut,Beds,Altitude\nPine,4,800\nRidge,9,1200\n")

    def order(version: str) -> list[str]:
        with closing(Tables(data / "club" / "versions" / version / TABLES)) as tables:
            known = sorted(tables.schema.predicates, key=lambda each: each.position)
        return [each.label for each in known if each.position]

    made = ingest([str(first)], "club", data=data, tables_only=True, reading=READING)
    assert order(made.version) == ["Walk", "Start", "Length", "Dog"]
    taught = change_layers("club", lambda files: files, data=data, server=Servers(), on_stage=NO_PROGRESS)
    assert order(taught.version) == ["Walk", "Start", "Length", "Dog"]
    both = ingest([str(second)], "club", data=data, add=True, tables_only=True, reading=READING)
    assert order(both.version) == ["Walk", "Start", "Length", "Dog", "Hut", "Beds", "Altitude"]


def test_a_table_that_is_added_refers_to_what_the_graph_has(tmp_path: Path) -> None:
    data, text = tmp_path / "data", "no,Pony,fee\n1,Brisk,5\n2,Dapple,6\n3,Rex,7\n4,Mocha,8\n5,Tansy,9\n6,Tansy,9\n"
    ponies, lessons = write(tmp_path / "ponies.ttl", PONIES), write(tmp_path / "lessons.csv", text)
    for file in (ponies, lessons, lessons):
        made = ingest([str(file)], "club", data=data, add=True, tables_only=True, reading=READING)
    folder = data / "club" / "versions" / made.version
    (report,) = read_sheet_reports(folder)
    assert report.columns[1].link == "ponies, by name (a guess)"
    out = io.BytesIO()
    export_cells(folder, "", out)
    assert out.getvalue().decode().replace("\r\n", "\n") == text


@settings(max_examples=40)
@given(
    st.lists(st.sampled_from(("Brisk", "Dapple", "Mocha", "Tansy", "P9", "")), min_size=2, max_size=12),
    st.sampled_from(("Pony", "Mount")),
)
def test_each_cell_is_a_link_or_a_text_whatever_the_order_of_files(
    tmp_path_factory: pytest.TempPathFactory, values: list[str], heading: str
) -> None:
    found = []
    for table, rdf in (("a.csv", "b.ttl"), ("b.csv", "a.ttl")):
        folder = tmp_path_factory.mktemp("sheets")
        rows = "".join(f"{n},{value},x\n" for n, value in enumerate(values, 1))
        files = [write(folder / table, f"no,{heading},note\n{rows}"), write(folder / rdf, PONIES)]
        facts, (report,) = read(*sorted(files))
        linked, beside = cells(facts, heading), cells(facts, f"{heading}%20text")
        assert not linked.keys() & beside.keys()
        assert {f"no={n}" for n, value in enumerate(values, 1) if value} == linked.keys() | beside.keys()
        # without a link all are texts; with one all names of ponies are links
        names = {"k:p1": "Brisk", "k:p2": "Dapple", "k:p3": "Mocha", "k:p4": "Tansy"}
        texts = {
            k: names.get(value.replace("http://stable.example/id/", "k:"), value) for k, (value, _) in linked.items()
        }
        texts |= {k: value for k, (value, _) in beside.items()}
        assert texts == {f"no={n}": value for n, value in enumerate(values, 1) if value}
        found.append((sorted(texts.items()), [column.link for column in report.columns]))
    assert found[0] == found[1]


def test_a_heading_may_begin_with_the_word_for_a_key(tmp_path: Path) -> None:
    towns = write(tmp_path / "villes.csv", "Code canton,Code département,Nom\n03,01,Ambon\n01,2A,Bordes\n02,03,Cluis\n")
    departments = write(tmp_path / "dep.csv", "Région,Code département,Nom\nx,01,Ain\nx,2A,Corse-du-Sud\ny,03,Allier\n")
    _, (report, _) = read(towns, departments)
    assert [each.link for each in report.columns] == ["", "dep, by Code département", ""]


def test_numbers_that_are_keys_of_another_sheet_by_chance_are_no_links(tmp_path: Path) -> None:
    readings = write(tmp_path / "readings.csv", "site,mm\nFord,1\nMill,2\nFord,3\n")
    members = write(tmp_path / "members.csv", "id,Name\n1,Ada Lind\n2,Bo Berg\n3,Cy Dahl\n")
    facts, _ = read(readings, members)
    assert ("1", "integer") in cells(facts, "mm").values()


def test_metadata_of_csv_on_the_web_is_obeyed(tmp_path: Path) -> None:
    loans = write(tmp_path / "loans.txt.csv", "a|b|c|d\nx|7|03/04/2025|1,5\ny|8|05/06/2025|2,5\n", "cp1252")
    write(tmp_path / "members.csv", "nr,Name\n7,Ada Lind\n8,Bo Berg\n")
    stated = {
        "@context": "http://www.w3.org/ns/csvw",
        "dialect": {"delimiter": "|", "encoding": "cp1252"},
        "url": "loans.txt.csv",
        "tableSchema": {
            "columns": [
                {"name": "a", "titles": "Object"},
                {"name": "b", "titles": {"en": "Borrowed by"}},
                {"name": "c", "titles": "Lent", "datatype": {"base": "date", "format": "dd/MM/yyyy"}},
                {"name": "d", "titles": ["Weight"], "datatype": {"base": "decimal", "format": {"decimalChar": ","}}},
            ],
            "primaryKey": "a",
            "foreignKeys": [
                {"columnReference": "b", "reference": {"resource": "members.csv", "columnReference": "nr"}}
            ],
        },
    }
    write(tmp_path / "loans.txt.csv-metadata.json", json.dumps(stated))
    facts, reports = read(loans, tmp_path / "members.csv", tmp_path / "loans.txt.csv-metadata.json")
    assert cells(facts, "Lent")["Object=x"] == ("2025-04-03", "date")
    assert cells(facts, "Weight")["Object=y"] == ("2.5", "decimal")
    assert cells(facts, "Borrowed%20by")["Object=x"] == ("nacre-file:///club/members.csv/members/nr=7", "")
    assert reports[0].key == "Object"


def test_metadata_say_which_column_names_the_rows(tmp_path: Path) -> None:
    path = write(tmp_path / "tools.csv", "Tool,Nickname,Shelf\nAnvil,Old Tom,A\nVice,Grip,B\nSaw,Shark,A\n")
    assert preview_table(path).sheets[0].named_by == "Nickname"
    stated = {"url": "tools.csv", "tableSchema": {"columns": [{}, {}, {}], "rowTitles": ["Shelf"]}}
    metadata = write(tmp_path / "tools.csv-metadata.json", json.dumps(stated))
    assert preview_table(path).sheets[0].named_by == "Shelf"
    _, reports = read(path, metadata)
    assert reports[0].name == "Shelf"


def test_json_lines_are_rows_and_lines_that_are_none_are_named(tmp_path: Path) -> None:
    records = ['{"id": "012", "name": "Ada Lind", "home": {"town": "Lund"}}', "not json", '{"id": "013", "n": 1.50}']
    text = "\n".join(records)
    facts, reports = read(write(tmp_path / "a.jsonl", text))
    assert cells(facts, "home%20town") == {"id=012": ("Lund", "")}
    assert cells(facts, "n") == {"id=013": ("1.50", "decimal")}
    assert "no JSON object: line 2" in notes(reports)


def workbook(path: Path, sheets: dict[str, str]) -> Path:
    """An XLSX file of sheets with these rows in XML."""
    main, office = (
        "http://schemas.openxmlformats.org/spreadsheetml/2006/main",
        "http://schemas.openxmlformats.org/officeDocument/2006/relationships",
    )
    package = "http://schemas.openxmlformats.org/package/2006"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("[Content_Types].xml", f'<Types xmlns="{package}/content-types"/>')
        file.writestr(
            "_rels/.rels",
            f'<Relationships xmlns="{package}/relationships"><Relationship Id="r" Type="{office}/officeDocument"'
            ' Target="xl/workbook.xml"/></Relationships>',
        )
        names = "".join(f'<sheet name="{name}" sheetId="{n}" r:id="r{n}"/>' for n, name in enumerate(sheets, 1))
        file.writestr(
            "xl/workbook.xml", f'<workbook xmlns="{main}" xmlns:r="{office}"><sheets>{names}</sheets></workbook>'
        )
        parts = "".join(
            f'<Relationship Id="r{n}" Type="{office}/worksheet" Target="worksheets/{n}.xml"/>'
            for n in range(1, len(sheets) + 1)
        )
        file.writestr(
            "xl/_rels/workbook.xml.rels", f'<Relationships xmlns="{package}/relationships">{parts}</Relationships>'
        )
        for n, rows in enumerate(sheets.values(), 1):
            file.writestr(
                f"xl/worksheets/{n}.xml", f'<worksheet xmlns="{main}"><sheetData>{rows}</sheetData></worksheet>'
            )
    return path


def xml_row(number: int, *texts: str) -> str:
    row = "".join(
        f'<c r="{chr(65 + n)}{number}">{text}</c>'
        if text.startswith("<")
        else f'<c r="{chr(65 + n)}{number}" t="inlineStr"><is><t>{text}</t></is></c>'
        for n, text in enumerate(texts)
    )
    return f'<row r="{number}">{row}</row>'


def test_a_workbook_has_a_class_for_each_sheet_wherever_its_table_begins(tmp_path: Path) -> None:
    first = (
        xml_row(3, "Name", "Weight") + xml_row(4, "Oak chest", "<v>12.5</v>") + xml_row(5, "Map", "<f>1+1</f><v>2</v>")
    )
    second = xml_row(1, "Town", "People") + xml_row(2, "Lund", "<v>1</v>") + xml_row(3, "Ystad", "<v>2</v>")
    facts, reports = read(workbook(tmp_path / "a.xlsx", {"Objects": first, "Towns": second}))
    assert [each.label for each in reports] == ["objects", "towns"]
    assert sorted(cells(facts, "Weight").values()) == [("12.5", "decimal"), ("2", "decimal")]


def test_errors_and_formulas_without_a_value_are_named(tmp_path: Path) -> None:
    cells_of_row = '<c r="B3" t="e"><f>A1/0</f><v>#DIV/0!</v></c><c r="C3"><f>SUM(A1:A2)</f></c>'
    rows = xml_row(1, "Name", "Share", "Sum") + xml_row(2, "Oak chest", "<v>1</v>", "<v>2</v>")
    rows += f'<row r="3"><c r="A3" t="inlineStr"><is><t>Map</t></is></c>{cells_of_row}</row>'
    _, reports = read(workbook(tmp_path / "a.xlsx", {"Objects": rows}))
    assert "an error of the spreadsheet: B3 #DIV/0!." in notes(reports)
    assert "a formula without a stored value: C3." in notes(reports)


def open_document(path: Path, rows: str) -> Path:
    """An ODS file of one sheet with these rows in XML."""
    names = "".join(
        f' xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in ("office", "table", "text")
    )
    calc = ' xmlns:calcext="urn:org:documentfoundation:names:experimental:calc:xmlns:calcext:1.0"'
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        file.writestr(
            "META-INF/manifest.xml",
            '<m:manifest xmlns:m="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"><m:file-entry m:full-path="/"'
            ' m:media-type="application/vnd.oasis.opendocument.spreadsheet"/></m:manifest>',
        )
        table = f'<table:table table:name="Objects">{rows}</table:table>'
        file.writestr(
            "content.xml",
            f"<office:document-content{names}{calc}><office:body><office:spreadsheet>{table}</office:spreadsheet>"
            "</office:body></office:document-content>",
        )
    return path


def document_row(*cells: str, attributes: str = "") -> str:
    """A row of ODS: texts, or cells in XML."""
    text = '<table:table-cell office:value-type="string"><text:p>{}</text:p></table:table-cell>'
    row = "".join(cell if cell.startswith("<") else text.format(cell) for cell in cells)
    return f"<table:table-row{attributes}>{row}</table:table-row>"


def document_cell(kind: str, value: str, text: str = "", more: str = "") -> str:
    place = f"{kind}-value" if kind in ("date", "boolean", "string") else "value"
    return (
        f'<table:table-cell office:value-type="{kind}" office:{place}="{value}"{more}><text:p>{text}</text:p>'
        "</table:table-cell>"
    )


def test_a_document_of_libreoffice_has_dates_formulas_errors_and_merged_cells(tmp_path: Path) -> None:
    rows = document_row("Name", "Bought", "Price", "Sum", "Lent", "Share")
    bad = document_cell("string", "", "#DIV/0!", ' table:formula="of:=1/0" calcext:value-type="error"')
    rows += document_row(
        "Oak chest",
        document_cell("date", "2024-02-03", "03.02.24"),
        document_cell("currency", "12.5", "12,50 €", ' office:currency="EUR"'),
        document_cell("float", "3", "3", ' table:formula="of:=1+2"'),
        document_cell("boolean", "true", "TRUE"),
        bad,
    )
    merged = ' table:number-columns-spanned="2" table:number-rows-spanned="1"'
    rows += document_row(
        "Map",
        document_cell("date", "2024-02-04", "04.02.24"),
        document_cell("float", "7", "7", merged) + "<table:covered-table-cell/>",
        document_cell("boolean", "false", "FALSE"),
        document_cell("percentage", "0.25", "25%"),
    )
    empty = '<table:table-cell table:number-columns-repeated="1024"/>'
    rows += document_row(empty, attributes=' table:number-rows-repeated="1048500"')
    facts, (report,) = read(open_document(tmp_path / "a.ods", rows))
    assert cells(facts, "Bought") == {"Name=Map": ("2024-02-04", "date"), "Name=Oak%20chest": ("2024-02-03", "date")}
    assert cells(facts, "Price") == {"Name=Map": ("7", "decimal"), "Name=Oak%20chest": ("12.5", "decimal")}
    assert cells(facts, "Sum") == {"Name=Oak%20chest": ("3", "integer")}
    assert cells(facts, "Share") == {"Name=Map": ("0.25", "decimal")}
    assert "an error of the spreadsheet: row 2, column 6 #DIV/0!." in notes((report,))
    # of twelve cells one has an error and one is covered by another
    assert (report.rows, sum(each.read for each in report.columns), report.skipped) == (2, 10, 0)


def test_texts_and_truth_values_with_the_attribute_of_numbers_are_read(tmp_path: Path) -> None:
    text = '<table:table-cell office:value-type="string" office:value="{0}"><text:p>{0}</text:p></table:table-cell>'
    truth = document_cell("boolean", "true").replace("boolean-value", "value")
    things = [("Oak chest", "2"), ("Map", "3")]
    rows = "".join(document_row(text.format(name), document_cell("float", price), truth) for name, price in things)
    rows = document_row("Name", "Price", "Lent") + rows
    facts, _ = read(open_document(tmp_path / "a.ods", rows))
    assert cells(facts, "Price") == {"Name=Oak%20chest": ("2", "integer"), "Name=Map": ("3", "integer")}
    assert set(cells(facts, "Lent").values()) == {("true", "boolean")}


def test_an_old_workbook_and_parquet_have_dates_and_numbers(tmp_path: Path) -> None:
    # written by xlwt 1.3: a sheet with dates, formulas without values, truth values, an error and a merged cell
    old = tmp_path / "old.xls"
    old.write_bytes((Path(__file__).parents[1] / "fixtures/spreadsheets/objects.xls").read_bytes())
    facts, (report,) = read(old)
    assert cells(facts, "Bought")["Name=Map"] == ("2024-02-04", "date")
    assert cells(facts, "Price")["Name=Chair"] == ("3", "decimal")
    assert "It has merged cells." in notes((report,))
    assert sum(each.read for each in report.columns) == 10
    new = tmp_path / "b" / "new.parquet"
    new.parent.mkdir()
    duckdb.sql(
        "COPY (SELECT * FROM (VALUES ('Oak chest', DATE '2024-02-03', 12.5, 3::BIGINT, NULL),"
        " ('Map', DATE '2024-02-04', 7, 4, [1, 2])) AS t(Name, Bought, Price, Rooms, Parts))"
        f" TO '{new}' (FORMAT parquet)"
    )
    facts, (report,) = read(new)
    assert cells(facts, "Bought")["Name=Map"] == ("2024-02-04", "date")
    assert cells(facts, "Price")["Name=Oak%20chest"] == ("12.5", "decimal")
    assert cells(facts, "Parts") == {"Name=Map": ("[1, 2]", "")}
    assert [(each.read, each.empty) for each in report.columns] == [(2, 0)] * 4 + [(1, 1)]


def test_a_hostile_workbook_ends_within_its_memory(tmp_path: Path) -> None:
    far = workbook(
        tmp_path / "far.xlsx", {"S": '<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>' + xml_row(1, "a")}
    )
    with pytest.raises(IngestionError, match=r"far\.xlsx: .*memory"):
        read(far)


def test_the_workbooks_of_an_ingest_share_a_limit_of_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = []
    for name in ("oaks", "elms"):
        paths.append(tmp_path / f"{name}.parquet")
        rows = "SELECT i AS id, repeat('x', 20_000) AS note FROM range(400) t(i)"
        duckdb.sql(f"COPY ({rows}) TO '{paths[-1]}' (FORMAT parquet, COMPRESSION zstd)")
    monkeypatch.setattr(sources, "FREE_BYTES", 9_000_000)
    _, reports = read(*paths)
    assert reports[0].rows == 400
    assert reports[1].rows < 200
    assert "The rest is not read: the cells of all workbooks" in notes(reports)
    monkeypatch.setattr(sources, "FREE_BYTES", 7_000_000)
    with pytest.raises(IngestionError, match=r"elms\.parquet: the cells of all workbooks .* --max-expansion"):
        read(*paths)


def test_the_cells_of_a_workbook_are_deleted_as_soon_as_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    second_pass, counts = triples._second_pass, []

    def counting(*arguments: Any) -> SheetReport:
        counts.append(len(list(tmp_path.glob("nacre-sheets-*/*/*.csv"))))
        return second_pass(*arguments)

    monkeypatch.setattr(triples, "_second_pass", counting)
    rows = xml_row(1, "id", "Name") + xml_row(2, "1", "Ada")
    read(*(workbook(tmp_path / f"{name}.xlsx", {"A": rows, "B": rows}) for name in ("oaks", "elms")))
    assert counts == [4, 4, 2, 2]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", b"", "the file is empty"),
        ("a.csv", b"a,b\n\n , \n", "no row has a cell"),
        ("a.csv", b'a,b\n1,"open\n' + b"x,y\n" * 400_000, "line 2: a quote has no end"),
        ("a.csv", b"a,b;" * 4_100_000, "a line has more than"),
        ("a.jsonl", b"[1]\n2\n", "no line has a JSON object"),
        ("a.xlsx", b"hello", "no workbook that can be read"),
        ("a.xlsx", bytes.fromhex("d0cf11e0a1b11ae1") + bytes(600), "protected by a password"),
        ("a.parquet", b"PAR1", "no workbook that can be read"),
    ],
)
def test_what_can_not_be_read_is_one_line(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(IngestionError, match=message):
        read(tmp_path / name)


def test_columns_beyond_the_limit_are_counted_and_ragged_rows_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert layout.MAX_COLUMNS == 2000
    for module in (layout, triples):
        monkeypatch.setattr(module, "MAX_COLUMNS", 20)
    wide = [",".join(f"c{n}" for n in range(160)), *(",".join(str(n * row) for n in range(160)) for row in (1, 2))]
    _, (report,) = read(write(tmp_path / "wide.csv", "\n".join(wide)))
    assert (len(report.columns), report.skipped) == (20, 280)
    assert "beyond column 20 " in notes((report,))
    # an ingest of its own: in the same folder it would add to the first one
    (tmp_path / "b").mkdir()
    _, (report,) = read(write(tmp_path / "b" / "mixed.csv", "name;city;age\nAda;Lund;5\nBo,Ystad,6\nCy;Lund;7\n"))
    assert "Not as many cells as headings (3): row 3." in notes((report,))


def test_cells_beyond_the_limit_of_an_ingest_are_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(triples, "MAX_CELLS", 100)
    monkeypatch.setattr(triples, "BATCH", 10)
    _, (report,) = read(write(tmp_path / "a.csv", "a,b\n" + "".join(f"x{n},{n}\n" for n in range(200))))
    assert report.rows < 100
    assert "an ingest reads at most 100 cells" in notes((report,))


def test_a_folder_of_rdf_ignores_its_tables_unless_they_are_named(tmp_path: Path) -> None:
    write(tmp_path / "a.nt", "<http://e.org/a> <http://e.org/p> <http://e.org/b> .\n")
    table = write(tmp_path / "b.csv", "id,Name\n1,Ada Lind\n2,Bo Berg\n")
    assert read_sources(find_sources([str(tmp_path)], READING)).triples == 1
    assert read_sources(find_sources([str(tmp_path), str(table)], READING)).triples > 1


def test_terms_of_rdf_and_of_a_table_are_the_same_terms(tmp_path: Path) -> None:
    rdf = write(tmp_path / "a.nt", f'<nacre-file:///club/b.csv/b/id=1> <{LABEL}> "Ada Lind" .\n')
    facts, _ = read(rdf, write(tmp_path / "b.csv", "id,Name\n1,Ada Lind\n2,Bo Berg\n"))
    assert len(set(zip(facts.texts[1:], facts.sort_of.tolist()[1:], strict=True))) == len(facts.texts) - 1


@pytest.mark.parametrize("files", [("members.csv", "members.csv-metadata.json"), ("loans.xlsx", "notes.md", "a.ttl")])
def test_an_upload_reads_tables_as_tables(tmp_path: Path, files: tuple[str, ...]) -> None:
    for name in files:
        (tmp_path / name).touch()
    command = command_of_files(tmp_path, "club")
    sources = command[1 : next(n for n, each in enumerate(command) if each.startswith("--"))]
    assert {Path(each).name for each in sources} == {name for name in files if name.endswith((".csv", ".xlsx", ".ttl"))}


def test_the_cells_are_exported_as_they_were(tmp_path: Path) -> None:
    text = 'Title,,\n\nName,Betrag,Datum\nAda,"1.234,50 €",03.04.2025\nBo,"2,00 €", 31.12.2024\n'
    made = ingest([str(write(tmp_path / "a.csv", text))], "club", data=tmp_path / "data", no_vectors=True)
    folder = tmp_path / "data" / "club" / "versions" / made.version
    out = io.BytesIO()
    export_cells(folder, "", out)
    assert list(csv.reader(io.StringIO(out.getvalue().decode()))) == list(csv.reader(io.StringIO(text)))
    with pytest.raises(ConfigError, match="Which sheet"):
        export_cells(folder, "b", out)
    tables = Tables(folder / "graph.sqlite")
    assert [(each.label, each.datatype, each.unit) for each in tables.schema.predicates if each.label == "Betrag"] == [
        ("Betrag", "real", "€")
    ]
    tables.close()


TEXT = st.text(
    st.characters(exclude_categories=("Cs", "Cc"), exclude_characters="\x85\u2028\u2029\ufffe\uffff"), max_size=12
)

CELL = st.one_of(
    TEXT, st.integers(-(10**6), 10**6).map(str), st.dates().map(str), st.sampled_from(["1.234,5", "yes", "03/04/25"])
)


@settings(max_examples=60, deadline=None)
@given(st.data(), st.integers(1, 5), st.sampled_from([",", ";", "\t"]))
def test_any_sheet_comes_back_and_each_cell_is_counted(
    tmp_path_factory: pytest.TempPathFactory, data: Any, width: int, delimiter: str
) -> None:
    folder = tmp_path_factory.mktemp("sheet")
    rows = data.draw(st.lists(st.lists(CELL, min_size=width, max_size=width), min_size=1, max_size=8))
    rows = [[f"Heading {n}" for n in range(width)], *rows, ["last row"] * width]
    with (folder / "a.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter=delimiter, quoting=csv.QUOTE_ALL).writerows(rows)
    facts, (report,) = read(folder / "a.csv")
    out = io.BytesIO()
    (folder / "x").mkdir()
    export_cells(folder, "", out)
    assert list(csv.reader(io.StringIO(out.getvalue().decode(), newline=""))) == rows
    filled = sum(bool(cell.strip()) for row in rows[1:] for cell in row)
    assert sum(each.read for each in report.columns) + report.skipped == filled
    columns = [n for n, text in enumerate(facts.texts) if "#" in text and facts.term(n).kind == "iri" and "/a#" in text]
    assert sum(int(p in columns) for p in facts.predicate.tolist()) == sum(each.read for each in report.columns)


@pytest.mark.parametrize("ending", ["xlsx", "ods"])
@settings(max_examples=25, deadline=None)
@given(st.lists(st.lists(CELL, min_size=1, max_size=4), min_size=1, max_size=6))
def test_the_texts_of_any_workbook_come_back(
    tmp_path_factory: pytest.TempPathFactory, ending: str, rows: list[list[str]]
) -> None:
    # blanks in a row are elements of their own in ODS, and the parsers end a sheet with its last cell
    rows = [[" ".join(cell.split()) for cell in row] for row in [["first"], *rows, ["last"]]]
    folder = tmp_path_factory.mktemp("workbook")
    path = folder / f"a.{ending}"
    if ending == "xlsx":
        with xlsxwriter.Workbook(path) as book:
            sheet = book.add_worksheet("Objects")
            for place, cell in ((at, cell) for at in enumerate(rows) for cell in enumerate(at[1])):
                sheet.write_string(place[0], cell[0], cell[1])
    else:
        open_document(path, "".join(document_row(*map(escape, row)) for row in rows))
    ((_, found, _, _),) = _workbook(path, folder)
    width = max(map(len, rows))
    padded = [[*row, *[""] * (width - len(row))] for row in rows]
    assert [[*row, *[""] * (width - len(row))] for row in found] == padded


def test_the_delimiter_is_the_one_that_parts_rows_alike() -> None:
    assert read_delimited.detect_delimiter(["a;b\n", '"x;y";1,5\n', "z;2,5\n"]).delimiter == ";"
    assert read_delimited.detect_delimiter(["sep=|\n", "a|b\n"]) == read_delimited.Delimiting("|", skipped=1)


@pytest.mark.parametrize(
    "stated",
    [
        {"dialect": {"delimiter": ",,"}},
        {"dialect": {"delimiter": "\n"}},
        {"dialect": {"encoding": "undefined"}},
        {"dialect": {"encoding": "a\0b"}},
        {"dialect": {"encoding": "utf-16"}},
        {"tables": {"url": "t.csv"}},
    ],
)
def test_metadata_that_can_not_be_used_are_a_reason(tmp_path: Path, stated: dict[str, Any]) -> None:
    (tmp_path / "t.csv-metadata.json").write_text(json.dumps(stated))
    with pytest.raises(IngestionError, match=r"t\.csv: "):
        read(write(tmp_path / "t.csv", "name,price\na,1\n"))


def test_changed_metadata_are_a_changed_file(tmp_path: Path) -> None:
    table, versions = write(tmp_path / "t.csv", "name,price\na,1\nb,2\n"), set()
    for title in ("cost", "worth"):
        columns = {"tableSchema": {"columns": [{"titles": "name"}, {"titles": title}]}}
        (tmp_path / "t.csv-metadata.json").write_text(json.dumps(columns))
        versions.add(ingest([str(table)], "t", data=tmp_path / "data", no_vectors=True).version)
    assert len(versions) == 2


def test_a_row_has_as_many_cells_as_a_spreadsheet(tmp_path: Path) -> None:
    lines = "".join(f'{{"key {n}": {n}}}\n' for n in range(triples.MAX_ROW + 1))
    with pytest.raises(IngestionError, match="row 1 has more than 16,384 cells"):
        read(write(tmp_path / "t.jsonl", lines))
    _, (report,) = read(write(tmp_path / "t.csv", f"name,price\na,1\nb,2\n{',' * triples.MAX_ROW}x\nc,3\n"))
    assert report.rows == 2
    assert "row 4 has more than 16,384 cells" in report.notes[-1]


def test_a_title_of_a_megabyte_is_cut_as_headings_are(tmp_path: Path) -> None:
    columns = [{"titles": "name"}, {"titles": "releasedate" * 100_000}]
    (tmp_path / "t.csv-metadata.json").write_text(json.dumps({"tableSchema": {"columns": columns}}))
    _, (report,) = read(write(tmp_path / "t.csv", "name,price\na,1\nb,2\n"))
    assert [len(each.name) for each in report.columns] == [4, 200]


@pytest.mark.parametrize(
    ("order", "days"), [("day first", ["2025-04-03", "2025-06-05"]), ("month first", ["2025-03-04", "2025-05-06"])]
)
def test_annotations_say_whether_the_day_is_first(tmp_path: Path, order: str, days: list[str]) -> None:
    table = write(tmp_path / "members.csv", "name,Joined\nAnn,03/04/2025\nBo,05/06/2025\n")
    layer = write(tmp_path / "dates.yaml", f"properties:\n  joined:\n    dates: {order}\n")
    layers = load_layer_files((), layer)
    made = ingest([str(table)], "club", data=tmp_path / "data", no_vectors=True, layers=layers)
    graph = tmp_path / "data" / "club" / "versions" / made.version / "graph.sqlite"
    with closing(sqlite3.connect(graph)) as opened:
        assert [day for (day,) in opened.execute("SELECT joined FROM members ORDER BY 1")] == days
    with pytest.raises(IngestionError, match="'dates' can only be 'day first' or 'month first', not 'dmy'"):
        read_layer(layer, layer.read_text().replace(order, "dmy"))


def test_metadata_state_the_types_of_each_sheet_of_a_workbook(tmp_path: Path) -> None:
    path = tmp_path / "club.xlsx"
    with xlsxwriter.Workbook(path) as book:
        for name in ("Spring 2025", "Autumn"):
            lines = [["Name", "Shelf", "Lent"], ["Ada", "12", "03/04/2025"], ["Bo", "14", "05/06/2025"]]
            sheet = book.add_worksheet(name)
            for n, line in enumerate(lines):
                sheet.write_row(n, 0, line)
    spring, autumn = preview_table(path).sheets
    assert [each.type for each in spring.columns] == ["text", "integer", "text"]
    columns = [{}, {"datatype": "string"}, {"datatype": {"base": "date", "format": "M/d/yyyy"}}]
    stated = {"tables": [{"url": spring.url, "tableSchema": {"columns": columns}}]}
    write(tmp_path / "club.xlsx-metadata.json", json.dumps(stated))
    _, reports = read(path)
    assert [[each.type for each in report.columns] for report in reports] == [
        ["text", "text", "date"],
        ["text", "integer", "text"],
    ]
    assert [[each.type for each in sheet.columns] for sheet in preview_table(path).sheets] == [
        ["text", "text", "date"],
        ["text", "integer", "text"],
    ]
    assert autumn.url == "club.xlsx#Autumn"


def test_a_stated_number_or_date_is_written_as_the_others_of_its_file(tmp_path: Path) -> None:
    rows = "Ort;Preis;Menge;Tag;Termin\nAue;1,5;1.200;3.4.2025;4/13/2025\nBern;2,5;2.300;5.6.2025;5/6/2025\n"
    table = write(tmp_path / "a.csv", rows)
    columns = [{}, {}, {"datatype": "integer"}, {"datatype": "date"}, {"datatype": "date"}]
    write(tmp_path / "a.csv-metadata.json", json.dumps({"tableSchema": {"columns": columns}}))
    facts, _ = read(table)
    assert sorted(cells(facts, "Menge").values()) == [("1200", "integer"), ("2300", "integer")]
    assert sorted(cells(facts, "Tag").values()) == [("2025-04-03", "date"), ("2025-06-05", "date")]
    assert sorted(cells(facts, "Termin").values()) == [("2025-04-13", "date"), ("2025-05-06", "date")]


def test_a_preview_is_bounded_in_columns_rows_texts_and_time(tmp_path: Path) -> None:
    path = tmp_path / "wide.csv"
    lines = [",".join(f"c{n}" for n in range(60)), *(",".join(["x" * 300] * 60) for _ in range(700))]
    path.write_text("\n".join(lines), encoding="utf-8")
    (sheet,) = preview_table(path).sheets
    assert (len(sheet.columns), sheet.more_columns, len(sheet.rows), len(sheet.rows[0])) == (50, 10, 499, 50)
    assert {len(cell) for row in sheet.rows for cell in row} == {100}
    late = preview_table(path, seconds=0.0)
    assert (late.sheets, late.problem) == ((), "It is too large to be shown before it is read.")
    (tmp_path / "broken.xlsx").write_bytes(b"no workbook")
    assert preview_table(tmp_path / "broken.xlsx").problem
