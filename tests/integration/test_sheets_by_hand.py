"""Sheets that people make by hand: sums, several tables, notes, merged cells and repetition marks are no data."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import xlsxwriter

from ingestion.read.parse import read_sources
from ingestion.read.sources import ReadOptions, find_sources
from ingestion.read.tables import SheetReport, read_sheet_reports
from nacre.extensions.spreadsheets import layout
from nacre.records.schema import LOCAL
from nacre.stores.versions import SHEETS

READING = ReadOptions(base=f"{LOCAL}club/")


def read(path: Path) -> tuple[dict[str, dict[str, list[str]]], tuple[SheetReport, ...]]:
    """The values of each column of each class in the order of rows, and the reports."""
    facts = read_sources(find_sources([str(path)], READING), path.parent / SHEETS)
    found: dict[str, dict[str, list[str]]] = {}
    for p, o in zip(facts.predicate.tolist(), facts.object.tolist(), strict=True):
        start, mark, column = facts.texts[p].rpartition("#")
        if mark and start.startswith(READING.base):
            found.setdefault(start.rpartition("/")[2], {}).setdefault(column, []).append(facts.texts[o])
    return found, read_sheet_reports(path.parent)


def read_csv(folder: Path, text: str) -> tuple[dict[str, dict[str, list[str]]], tuple[SheetReport, ...]]:
    (folder / "kilns.csv").write_text(text, encoding="utf-8")
    return read(folder / "kilns.csv")


@pytest.mark.parametrize(
    ("text", "column", "values"),
    [
        # subtotals and a total over them
        ("Site,Kiln,Pots\nElm,A,10\nElm,B,2\nElm,Subtotal,12\nOak,C,5\nOak,Subtotal,5\nTotal,,17\n", "Pots", "10 2 5"),
        ("Ort;Pots\nA;1.000,5\nB;50\nSumme Ost;1.050,5\nC;20\nSumme West;20\nGesamt;1.070,5\n", "Pots", "1000.5 50 20"),
        # a word is enough where it is alone, also for averages
        ("Kiln,Pots\nA,10\nB,20\nGrand total:,31\nAverage,15.5\n", "Pots", "10 20"),
        # the sum is above its rows
        ("Kiln,Pots\nAll kilns total,30\nA,10\nB,20\n", "Pots", "10 20"),
        # no word, but sums of all
        ("Kiln,Pots,Jugs\nA,10,1\nB,20,2\n,30,3\n", "Pots", "10 20"),
        # a name with such a word
        ("Firm,Pots\nTotal Clay,10\nSum Bricks,20\nClay Sum,35\n", "Pots", "10 20 35"),
        # another row beside the sum
        ("Year,Site,Pots\n2020,Elm,1\n2020,Oak,20\n2020,Total,21\n2021,Elm,7\n2021,Total,7\n", "Pots", "1 20 7"),
        # a row with as many texts as the others, whatever its numbers
        ("Site,Kiln,Use,Pots\nElm,A,plates,10\nElm,B,bowls,2\nElm,C,all total,12\nOak,D,cups,5\n", "Pots", "10 2 12 5"),
        # no word, and a formula that leaves out rows
        ("Site,Kiln,Pots,Jugs\nElm,A,10,1\nElm,B,20,2\nOak,C,30,4\n,,60,3\n", "Pots", "10 20 30"),
        # chance
        ("Kiln,Pots\nA,1\nB,2\nC,3\n", "Pots", "1 2 3"),
        # the same headings on each page
        ("Kiln,Pots\nA,1\nB,2\n\nKiln,Pots\nC,3\nD,5\n", "Pots", "1 2 3 5"),
        ("Kiln,Pots,Clay\nA,1,red\n\nB,2,red\n\nC,7,grey\n", "Pots", "1 2 7"),
    ],
)  # fmt: skip
def test_sums_are_no_rows(tmp_path: Path, text: str, column: str, values: str) -> None:
    found, (report,) = read_csv(tmp_path, text)
    assert found["kilns"][column] == values.split()
    left_out = sum(bool(cell) for line in text.splitlines() for cell in line.replace(";", ",").split(","))
    assert report.rows == len(values.split())
    if ";" not in text:
        headings = sum(bool(each) for each in text.splitlines()[0].split(","))
        assert sum(each.read for each in report.columns) + report.skipped == left_out - headings


def test_tables_below_each_other_are_classes_and_notes_are_named(tmp_path: Path) -> None:
    text = (
        "Firings in May,,,\n\nKiln,Pots,Hours,Potter\nA,10,8,Ida\nB,20,9,Bo\nTotal,30,17,\n\n"
        "* without the test kiln,,,\n\nClay store,,,\nClay,Sacks,Price,\nRed,4,12.5,\nGrey,9,8.25,\n\n"
        "Counted by Ida on 3 May,,,\n"
    )
    found, reports = read_csv(tmp_path, text)
    assert [(each.label, each.rows) for each in reports] == [("firings in may", 2), ("clay store", 2)]
    assert found["Clay%20store"] == {"Clay": ["Red", "Grey"], "Sacks": ["4", "9"], "Price": ["12.5", "8.25"]}
    assert "Below the table, not read: * without the test kiln" in reports[0].notes
    assert "Row 6 has sums of the rows above and is not read." in reports[0].notes
    assert "Below the table, not read: Counted by Ida on 3 May" in reports[1].notes
    assert len({each.cells for each in reports}) == 1


def test_a_note_below_a_table_of_two_columns_is_no_row(tmp_path: Path) -> None:
    _, (report,) = read_csv(tmp_path, "Kiln,Pots\nA,1\nB,2\n\nx = cold,\n")
    assert report.rows == 2
    assert "Below the table, not read: x = cold" in report.notes


def write_merged(path: Path, rows: Sequence[Sequence[Any]], merged: list[tuple[int, int, int, int]]) -> Path:
    with xlsxwriter.Workbook(path) as book:
        sheet = book.add_worksheet("Kilns")
        for n, row in enumerate(rows):
            for place, cell in enumerate(row):
                sheet.write(n, place, cell)
        for top, left, bottom, right in merged:
            sheet.merge_range(top, left, bottom, right, rows[top][left])
    return path


def test_the_value_of_merged_cells_is_that_of_all_their_rows(tmp_path: Path) -> None:
    rows: list[list[Any]] = [
        [],
        ["Year", "Site", "Kiln", "Pots", "Potter", "Fee"],
        [2020, "Elm", "A", 10, "Ida", 90],
        ["", "", "B", 20, "", ""],
        ["", "", "Subtotal Elm", 30, "", ""],
        ["", "Oak", "C", 5, "Bo", 20],
        ["", "", "D", 6, "Ann", 30],
    ]
    merged = [(2, 0, 6, 0), (2, 1, 4, 1), (5, 1, 6, 1), (2, 4, 3, 4), (2, 5, 3, 5)]
    found, (report,) = read(write_merged(tmp_path / "a.xlsx", rows, merged))
    assert found["Kilns"]["Site"] == ["Elm", "Elm", "Oak", "Oak"]
    assert found["Kilns"]["Year"] == ["2020"] * 4
    assert found["Kilns"]["Potter"] == ["Ida", "Ida", "Bo", "Ann"]
    # a fee for two is not one for each
    assert found["Kilns"]["Fee"] == ["90", "20", "30"]
    assert "Numbers in merged cells stay in their first row: row 3." in report.notes


@pytest.mark.parametrize(
    ("text", "sites"),
    [
        ('Site,Kiln,Pots\nElm,A,1\n"""",B,2\nditto,C,3\nOak,D,4\n', "Elm Elm Elm Oak"),
        ("Site,Kiln,Pots\nElm,A,1\n,B,2\n,C,5\nOak,D,4\n,E,4\n", "Elm Elm Elm Oak Oak"),
        # a mark of some rows is not repeated
        ("Site,Kiln,Pots\nElm,A,1\n,B,2\nElm,C,5\n,D,4\n,E,4\n", "Elm Elm"),
        ("Site,Kiln,Pots\n,A,1\n,B,2\nElm,C,5\n,D,4\nOak,E,4\n,F,1\n", "Elm Oak"),
    ],
)
def test_values_that_are_only_written_where_they_change(tmp_path: Path, text: str, sites: str) -> None:
    assert read_csv(tmp_path, text)[0]["kilns"]["Site"] == sites.split()


def test_titles_of_sections_are_no_rows(tmp_path: Path) -> None:
    text = "Kiln,Pots,Clay\nNorth yard,,\nA,1,red\nB,2,red\nSouth yard,,\nC,3,grey\n"
    found, (report,) = read_csv(tmp_path, text)
    assert found["kilns"]["Kiln"] == ["A", "B", "C"]
    assert "Rows 2, 5 have the title of a section and are not read." in report.notes


def test_the_work_for_sums_grows_with_the_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    rank = layout._rank

    def counted(cell: str) -> int:
        seen.append(cell)
        return rank(cell)

    monkeypatch.setattr(layout, "_rank", counted)
    rows = [(n, [f"Item {n}", str(n % 9)]) for n in range(2_000)]
    assert layout.find_totals([*rows, (2_000, ["Total", "7990"])]) == [2_000]
    assert len(seen) < 10 * len(rows)


@pytest.mark.parametrize(
    ("text", "labels", "rows"),
    [
        # one is longer, each with a title
        ("Kilns,,,Potters,\nKiln,Pots,,Potter,Room\nA,10,,Ida,2\nB,20,,Bo,4\nC,30,,,\n", ["kilns", "potters"], [3, 2]),
        # headings in other rows
        ("Kiln,Pots,,,\nA,10,,Potter,Room\nB,20,,Ida,2\nC,30,,Bo,4\n", ["kilns", "table 2"], [3, 2]),
        # the same headings
        ("Kiln,Pots,,,Kiln,Pots\nA,10,,,C,5\nB,20,,,D,7\n", ["kilns", "table 2"], [2, 2]),
        # a column is empty in one table
        ("Kiln,Pots,,Potter,Room\nA,10,,Ida,2\nB,20,,Bo,4\n", ["kilns"], [2]),
        ("Kiln,Pots,,Fired,Hours\nA,10,,2024-05-06,2\nB,20,,2024-05-07,4\nC,30,,,\n", ["kilns"], [3]),
        ("Kiln,Pots,,Potter,Room\nA,10,,Ida,2\nB,20,,Ida,4\nC,30,,,\n", ["kilns"], [3]),
        ("Kiln,Pots,,Note\nA,10,,new\nB,20,,\nC,30,,\n", ["kilns"], [3]),
    ],
)
def test_tables_beside_each_other_are_classes(tmp_path: Path, text: str, labels: list[str], rows: list[int]) -> None:
    _, reports = read_csv(tmp_path, text)
    assert ([each.label for each in reports], [each.rows for each in reports]) == (labels, rows)
    assert all(any("side by side" in note for note in each.notes) == (len(rows) > 1) for each in reports)
    cells = sum(bool(cell) for line in text.splitlines() for cell in line.split(","))
    read = sum(column.read + 1 for each in reports for column in each.columns)
    assert cells == read + sum(each.skipped for each in reports)
    assert len({each.cells for each in reports}) == 1


def test_an_empty_cell_among_ticks_is_a_no(tmp_path: Path) -> None:
    path = tmp_path / "kilns.csv"
    path.write_text("Kiln,Fired,Cleaned,Insured\nElm,x,yes,n\nOak,,,y\nAsh,X,yes,\nFir,,,y\n")
    found, (report,) = read(path)
    assert found["kilns"] == {
        "Kiln": ["Elm", "Oak", "Ash", "Fir"],
        "Fired": ["true", "false", "true", "false"],
        "Cleaned": ["true", "true"],
        "Insured": ["false", "true", "true"],
    }
    assert [(each.read, each.empty) for each in report.columns[1:]] == [(2, 2), (2, 2), (3, 1)]
    assert report.notes == ("Fired: an empty cell is a no, since all others are ticks.",)


def test_headings_in_two_languages_are_two_names(tmp_path: Path) -> None:
    text = "Ofen / kiln;Kosten / costs\nElm;10\nOak;20\n"
    (tmp_path / "kilns.csv").write_text(text)
    facts = read_sources(find_sources([str(tmp_path / "kilns.csv")], READING), tmp_path / SHEETS)
    assert {"Kosten", "costs", "Ofen", "kiln"} <= set(facts.texts)


def test_a_sheet_that_is_only_called_by_a_number_has_the_name_of_its_file_too(tmp_path: Path) -> None:
    with xlsxwriter.Workbook(str(tmp_path / "kilns.xlsx")) as book:
        for name in ("2024", "2025"):
            sheet = book.add_worksheet(name)
            for n, row in enumerate([("Kiln", "Pots"), ("Elm", 10), ("Oak", 20)]):
                sheet.write_row(n, 0, row)
    _, reports = read(tmp_path / "kilns.xlsx")
    assert [each.label for each in reports] == ["kilns 2024", "kilns 2025"]


def test_ones_and_zeros_say_yes_and_no_unless_they_count(tmp_path: Path) -> None:
    path = tmp_path / "kilns.csv"
    rows = "".join(f"Kiln {n},{n % 2},{1 if n % 2 else ''},{n % 2}\n" for n in range(20))
    path.write_text(f"Kiln,Insured,Cleaned,Number of doors\n{rows}")
    found, _ = read(path)
    assert {name: set(values) for name, values in found["kilns"].items() if name != "Kiln"} == {
        "Insured": {"true", "false"},
        "Cleaned": {"true", "false"},
        "Number%20of%20doors": {"0", "1"},
    }
    path.write_text("Kiln,Insured\nElm,1\nOak,0\n")
    assert read(path)[0]["kilns"]["Insured"] == ["1", "0"]
