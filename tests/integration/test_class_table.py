"""A class as a table: pages, sorting, filters, search, values with counts; and values of the class alone."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from ingestion.pipeline import ingest
from nacre.access import class_table as facets
from nacre.access import class_table as tables
from nacre.access.things import class_view
from nacre.errors import ToolError
from nacre.records.browse import Facet, MemberTable, RowFilter, TableRequest
from nacre.stores.catalog import Graph, Library

BASE = "http://example.org/k/"
KNOT = f"{BASE}Knot"


@pytest.fixture(scope="module")
def knots(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Graph]:
    folder = tmp_path_factory.mktemp("knots")
    lines = [f"@prefix : <{BASE}> . @prefix r: <http://www.w3.org/2000/01/rdf-schema#> ."]
    for i in range(12):
        uses = f":usedFor :t{i % 2}, :t2" if i % 3 == 0 else ":usedFor :t1"
        colour = f' ; :fibre "{"hemp" if i % 4 else "=cmd()"}"' if i != 7 else ""
        lines.append(
            f':n{i} a :Knot ; r:label "Knot {chr(65 + i)}" ; :crossings {i % 5} ; {uses} ; :by :p{i % 2}{colour} .'
        )
    lines += [f':t{i} a :Task ; r:label "Task {i}" ; :fibre "brass" .' for i in range(3)]
    lines += [':p0 a :Sailor ; r:label "Ada%Rope" .', ':p1 a :Sailor ; r:label "Bo Rope" .']
    (folder / "knots.ttl").write_text("\n".join(lines))
    ingest([str(folder / "knots.ttl")], "knots", data=folder / "data", no_vectors=True)
    library = Library(folder / "data", None)
    with library.open("knots") as graph:
        yield graph
    library.close()


def table(graph: Graph, *filters: RowFilter, size: int = 100, **request: object) -> MemberTable:
    found = tables.class_table(graph, TableRequest(KNOT, filters=filters, **request), size)  # type: ignore[arg-type]
    assert found is not None
    return found


def facet(graph: Graph, name: str, *filters: RowFilter, search: str = "") -> Facet:
    found = facets.class_facet(graph, TableRequest(KNOT, search, filters), f"{BASE}{name}")
    assert found is not None
    return found


def names(found: MemberTable) -> str:
    return "".join(row.label.removeprefix("Knot ") for row in found.rows)


def counts(found: Facet) -> dict[str, int]:
    return {each.text: each.count for each in found.values}


def test_rows_have_all_values_and_come_in_pages(knots: Graph) -> None:
    first = table(knots, size=5)
    assert (names(first), first.count, first.matching, first.many) == ("ABCDE", 12, 12, "knots")
    assert names(table(knots, size=5, skip=10)) == "KL"
    heads = [column.label for column in first.columns]
    cells = dict(zip(heads, first.rows[0].cells, strict=True))
    assert {end.text for end in cells["used for"]} == {"Task 0", "Task 2"}
    assert [(end.text, end.iri) for end in cells["by"]] == [("Ada%Rope", f"{BASE}p0")]
    assert [end.text for end in cells["crossings"]] == ["0"]
    kinds = {column.label: (column.kind, column.many) for column in first.columns}
    assert kinds["crossings"] == ("number", False)
    assert kinds["by"] == ("thing", False)
    assert kinds["used for"] == ("thing", True)
    chosen = table(knots, columns=(f"{BASE}crossings",))
    assert [column.label for column in chosen.columns] == ["crossings"]
    assert len(chosen.others) == len(heads) - 1


def test_rows_are_sorted_and_those_without_a_value_come_last(knots: Graph) -> None:
    assert names(table(knots, descending=True)) == "LKJIHGFEDCBA"
    down = table(knots, sort=f"{BASE}crossings", descending=True)
    assert [row.cells[0][0].text for row in table(knots, sort=f"{BASE}crossings", columns=(f"{BASE}crossings",)).rows][
        :4
    ] == list("0001")
    assert sorted(names(down)[:2]) == ["E", "J"]
    assert names(table(knots, sort=f"{BASE}fibre"))[-1] == "H"
    assert sorted(names(table(knots, sort=f"{BASE}by"))[:6]) == list("ACEGIK")
    with pytest.raises(ToolError, match="several values"):
        table(knots, sort=f"{BASE}usedFor")


def test_filters_search_and_counts_agree(knots: Graph) -> None:
    ada = RowFilter(f"{BASE}by", "=", f"{BASE}p0")
    low = RowFilter(f"{BASE}crossings", ">=", "2")
    both = table(knots, ada, low)
    assert (names(both), both.matching) == ("CEI", 3)
    assert names(table(knots, low, RowFilter(f"{BASE}crossings", "<=", "2.5"))) == "CHM".replace("M", "")
    assert names(table(knots, RowFilter(f"{BASE}usedFor", "=", f"{BASE}t0"))) == "AG"
    assert names(table(knots, RowFilter(f"{BASE}fibre", "none"))) == "H"
    assert names(table(knots, search="knot b")) == "B"
    assert names(table(knots, search="%")) == ""
    assert counts(facet(knots, "by", low)) == {"Ada%Rope": 3, "Bo Rope": 3}
    assert counts(facet(knots, "usedFor", search="Knot A")) == {"Task 0": 1, "Task 2": 1}
    # a facet counts what its own filter would leave out
    assert counts(facet(knots, "by", ada)) == {"Ada%Rope": 6, "Bo Rope": 6}
    crossings = facet(knots, "crossings")
    assert (crossings.low, crossings.high, crossings.more) == (0, 4, False)


def test_what_is_no_property_or_number_is_an_error_and_never_part_of_a_query(knots: Graph) -> None:
    for each in (RowFilter("urn:x", "="), RowFilter(f"{BASE}crossings", "=", "two")):
        with pytest.raises(ToolError):
            table(knots, each)
    with pytest.raises(ToolError):
        table(knots, sort='"; DROP TABLE knot')
    assert names(table(knots, RowFilter(f"{BASE}fibre", "=", "' OR 1=1 --"))) == ""
    assert tables.class_table(knots, TableRequest("urn:none")) is None
    assert facets.class_facet(knots, TableRequest("urn:none"), "urn:p") is None


def test_counts_are_bounded(knots: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "MOST_COUNTED", 4)
    monkeypatch.setattr(facets, "MOST_COUNTED", 4)
    monkeypatch.setattr(facets, "FACET_VALUES", 2)
    found = table(knots, RowFilter(f"{BASE}crossings", ">=", "0"), size=3)
    assert (found.matching, found.at_least) == (4, True)
    values = facet(knots, "crossings")
    assert (len(values.values), values.more, values.complete) == (2, True, False)


def test_a_class_shows_values_that_its_own_members_have(knots: Graph) -> None:
    seen = {iri: class_view(knots, f"{BASE}{iri}") for iri in ("Knot", "Task")}
    fibres = {}
    for name, view in seen.items():
        assert view is not None
        fibres[name] = next(each.samples for each in view.properties if each.label == "fibre")
    assert set(fibres["Knot"]) == {"hemp", "=cmd()"}
    assert fibres["Task"] == ("brass",)


def test_the_plural_of_a_class_is_in_the_language_of_its_labels(tmp_path: Path) -> None:
    rows = "".join(f"{i};Seil {i};Keller {i % 2};{i * 3},50 €\n" for i in range(1, 9))
    (tmp_path / "Bestand.csv").write_text("Nummer;Bezeichnung;Lagerort;Einkaufspreis\n" + rows, encoding="utf-8")
    ingest([str(tmp_path / "Bestand.csv")], "bestand", data=tmp_path / "data", no_vectors=True)
    library = Library(tmp_path / "data", None)
    with library.open("bestand") as graph:
        (own,) = graph.schema.shown_classes
        members, view = tables.class_table(graph, TableRequest(own.iri)), class_view(graph, own.iri)
    library.close()
    assert members is not None
    assert view is not None
    assert members.many == view.many == "Bestände"


@pytest.mark.parametrize(
    ("last", "expected"),
    [
        # months, quarters, halves of a year, years
        ("2021-05-20", [("2021-01-01", "2021-01-31", 2), ("2021-05-01", "2021-05-31", 1), 5]),
        ("2022-11-02", [("2021-01-01", "2021-03-31", 2), ("2022-10-01", "2022-12-31", 1), 8]),
        ("2025-02-28", [("2021-01-01", "2021-06-30", 2), ("2025-01-01", "2025-06-30", 1), 9]),
        ("2030-02-28", [("2021-01-01", "2021-12-31", 2), ("2030-01-01", "2030-12-31", 1), 10]),
    ],
)
def test_dates_are_counted_by_months_or_years_as_fits_their_range(
    last: str, expected: list[object], tmp_path: Path
) -> None:
    days = ["2021-01-05", "2021-01-31", last]
    rows = "\n".join(f'<urn:l{i}> a <urn:Lock> ; <urn:opened> "{day}"^^x:date .' for i, day in enumerate(days))
    (tmp_path / "locks.ttl").write_text(f"@prefix x: <http://www.w3.org/2001/XMLSchema#> .\n{rows}")
    ingest([str(tmp_path / "locks.ttl")], "locks", data=tmp_path / "data", no_vectors=True)
    library = Library(tmp_path / "data", None)
    with library.open("locks") as graph:
        found = facets.class_facet(graph, TableRequest("urn:Lock"), "urn:opened")
    library.close()
    assert found is not None
    bins = [(each.low, each.high, each.count) for each in found.bins]
    assert [bins[0], bins[-1], len(bins)] == expected
    assert sum(count for *_, count in bins) == len(days)
