"""Pages of a large class: their order is that of an index, for a table and for a class of several tables."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ingestion.induce import write_tables as indexes
from ingestion.induce import write_tables as value_counts
from ingestion.pipeline import ingest
from nacre.access import class_table
from nacre.access import class_table as class_facet
from nacre.records.browse import Facet, RowFilter, TableRequest
from nacre.stores.catalog import Graph, Library

FINDS_EXAMPLES = True

BASE = "http://example.org/b/"
Opened = Callable[[int], Graph]


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Opened]:
    """The same graph, with indexes for tables of at least a number of rows."""
    folder = tmp_path_factory.mktemp("bells")
    (folder / "bells.ttl").write_text(_bells())
    libraries = []

    def open_graph(rows: int) -> Graph:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(indexes, "SORTED_ROWS", rows)
            patch.setattr(value_counts, "LARGE_CLASS", rows)
            data = folder / f"data-{rows}"
            ingest([str(folder / "bells.ttl")], "bells", data=data, no_vectors=True)
        libraries.append(Library(data, None))
        return libraries[-1].open("bells").__enter__()

    graphs = {rows: open_graph(rows) for rows in (1, 100)}
    yield graphs.__getitem__
    for library in libraries:
        library.close()


def _bells() -> str:
    r = "http://www.w3.org/2000/01/rdf-schema#"
    lines = [f"@prefix : <{BASE}> . @prefix r: <{r}> . @prefix x: <http://www.w3.org/2001/XMLSchema#> ."]
    lines += [':b1 :ring "clear"@de, "clear"@en, :m0 .', ':b2 :ring "clear"@en, "dull" .']
    lines += [f":{each} r:subClassOf :Instrument ." for each in ("Bell", "Gong")]
    for n in range(23):
        facts = f'r:label "Bell {(n * 7) % 23:02d}" ; :mark "m{n % 3}"'
        facts += f" ; :mass {(n * 5) % 11}.5" if n % 4 else ""
        facts += f' ; :cast "18{10 + n % 9}-03-01"^^x:date ; :maker :m{n % 3}' if n % 5 else ""
        lines.append(f":b{n} a :Bell ; {facts} .")
    lines += [f':g{n} a :Gong ; r:label "Bell {n}x" ; :cast "1800-01-0{n + 1}"^^x:date .' for n in range(4)]
    lines += [f':m{n} a :Maker ; r:label "Maker {9 - n}" .' for n in range(3)]
    return "\n".join(lines)


def pages(graph: Graph, request: TableRequest, size: int) -> list[str]:
    """All members, collected from pages."""
    found: list[str] = []
    while True:
        page = class_table.class_table(graph, TableRequest(**{**vars(request), "skip": len(found)}), size)
        assert page is not None
        assert page.matching == (page.count if not request.search else 3)
        if not page.rows:
            return found
        found += [row.iri.removeprefix(BASE) for row in page.rows]


@pytest.mark.parametrize("name", ["Bell", "Instrument"])
@pytest.mark.parametrize("sort", ["", "mass", "cast", "maker", "mark"])
@pytest.mark.parametrize("descending", [False, True])
def test_pages_have_each_member_once_in_order(opened: Opened, name: str, sort: str, descending: bool) -> None:
    request = TableRequest(f"{BASE}{name}", sort=f"{BASE}{sort}" if sort else "", descending=descending)
    indexed, plain = opened(1), opened(100)
    count = 23 if name == "Bell" else 27
    for size in (4, 7, count):
        found = pages(indexed, request, size)
        assert sorted(found) == sorted(set(found))
        assert len(found) == count
        assert found == pages(plain, request, size)
    whole = class_table.class_table(indexed, TableRequest(**{**vars(request), "columns": (request.sort,)}), count)
    assert whole is not None
    texts = [(row.cells[0][0].text if row.cells[0] else "") if sort else row.label for row in whole.rows]
    given = [text for text in texts if text]
    assert given == texts[: len(given)]
    values = list(map(float, given)) if sort == "mass" else given
    assert values == sorted(values, reverse=descending)


@pytest.mark.parametrize(
    ("name", "sort"), [("Bell", ""), ("Bell", "mass"), ("Bell", "cast"), ("Instrument", ""), ("Instrument", "cast")]
)
@pytest.mark.parametrize("descending", [False, True])
def test_a_page_far_behind_reads_an_index_alone(
    opened: Opened, name: str, sort: str, descending: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = TableRequest(f"{BASE}{name}", sort=f"{BASE}{sort}" if sort else "", descending=descending, skip=12)
    for rows, is_indexed in ((1, True), (100, False)):
        first, *_ = plans(opened(rows), request, monkeypatch)
        assert ("_nacre_sorted_" in first) == is_indexed
        assert ("TEMP B-TREE" in first) == (not is_indexed)
        assert not is_indexed or first.count("USING COVERING INDEX") == first.count("_nacre_sorted_")


def test_filters_read_all_rows_and_a_search_reads_names_alone(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows that pass a filter may be rare, so their order is not that of an index."""
    graph, bell = opened(1), f"{BASE}Bell"
    heavy = RowFilter(f"{BASE}mass", ">=", "5")
    for sort in ("", f"{BASE}cast"):
        first, *_ = plans(graph, TableRequest(bell, filters=(heavy,), sort=sort), monkeypatch)
        assert "_nacre_sorted_" not in first
    first, *_ = plans(graph, TableRequest(bell, search="ell 1"), monkeypatch)
    assert "COVERING INDEX _nacre_sorted_" in first
    assert len(pages(graph, TableRequest(bell, search="bell 2"), 2)) == 3


def test_a_last_page_tells_the_number_without_counting(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    marks = (f"{BASE}mark",)
    few = TableRequest(f"{BASE}Bell", search="bell 2", columns=marks)
    found = class_table.class_table(opened(1), few, 10)
    assert found is not None
    assert found.matching == 3
    # the keys, their rows, and the names of the rows
    assert len(plans(opened(1), few, monkeypatch)) == 3
    assert len(plans(opened(1), TableRequest(f"{BASE}Bell", search="bell", columns=marks), monkeypatch)) == 4


def plans(graph: Graph, request: TableRequest, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """How SQLite runs the queries of a page."""
    found: list[str] = []
    run = graph.tables.run

    def noted(sql: str, params: tuple[object, ...] = (), **limits: float) -> object:
        rows = graph.tables.trusted().execute(f"EXPLAIN QUERY PLAN {sql}", tuple(params)).fetchall()
        found.append("\n".join(row[3] for row in rows))
        return run(sql, params, **limits)  # type: ignore[arg-type]

    with monkeypatch.context() as patch:
        patch.setattr(graph.tables, "run", noted)
        assert class_table.class_table(graph, request, 5) is not None
    return found


def test_questions_compare_values_without_these_indexes(opened: Opened) -> None:
    plan = opened(1).tables.trusted().execute("EXPLAIN QUERY PLAN SELECT * FROM bell WHERE mass >= 5").fetchall()
    assert [row[3] for row in plan] == ["SCAN bell"]


def test_small_tables_have_no_such_index(tmp_path: Path) -> None:
    (tmp_path / "bells.ttl").write_text(_bells())
    ingest([str(tmp_path / "bells.ttl")], "bells", data=tmp_path / "data", no_vectors=True)
    library = Library(tmp_path / "data", None)
    with library.open("bells") as graph:
        sql = "SELECT count(*) FROM sqlite_master WHERE name LIKE '%sorted%'"
        assert graph.tables.trusted().execute(sql).fetchone() == (0,)
    library.close()


def facet(graph: Graph, name: str, predicate: str, *filters: RowFilter, search: str = "") -> Facet:
    found = class_facet.class_facet(graph, TableRequest(f"{BASE}{name}", search, filters), f"{BASE}{predicate}")
    assert found is not None
    return found


@pytest.mark.parametrize("name", ["Bell", "Instrument"])
@pytest.mark.parametrize("predicate", ["mark", "mass", "cast", "maker", "ring"])
def test_values_of_a_whole_class_are_those_that_the_ingest_counted(
    opened: Opened, name: str, predicate: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted = facet(opened(100), name, predicate)
    assert len(counted.values) > 1
    assert counted == facet(opened(1), name, predicate)
    # without the tables, only the names of things are looked up
    graph, run = opened(1), opened(1).tables.run

    def names_only(sql: str, *arguments: object, **limits: object) -> object:
        # the histogram is of a sample, which is read in milliseconds
        assert sql.startswith(("SELECT id, iri, label FROM entity WHERE id IN", "SELECT CAST("))
        return run(sql, *arguments, **limits)  # type: ignore[arg-type]

    monkeypatch.setattr(graph.tables, "run", names_only)
    assert facet(graph, name, predicate) == counted


def test_values_of_filtered_members_are_estimated_from_a_range_of_ids(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph, heavy = opened(1), RowFilter(f"{BASE}mass", ">=", "0")
    exact = facet(graph, "Bell", "mark", heavy)
    assert not exact.estimated
    monkeypatch.setattr(class_facet, "SAMPLED", 8)
    monkeypatch.setattr(class_facet, "ENOUGH", 2)
    found = facet(graph, "Bell", "mark", heavy)
    assert found.estimated
    assert {each.text for each in found.values} <= {each.text for each in exact.values}
    # a range is that of the whole class
    every = facet(graph, "Bell", "cast")
    some = facet(graph, "Bell", "cast", heavy)
    assert (some.low, some.high, some.estimated) == (every.low, every.high, True)
    # few members pass: all of them are counted
    monkeypatch.setattr(class_facet, "ENOUGH", 50)
    assert facet(graph, "Bell", "mark", heavy) == exact
    plan = graph.tables.trusted().execute("EXPLAIN QUERY PLAN SELECT mark FROM bell r WHERE r.id BETWEEN 0 AND 9")
    assert "INTEGER PRIMARY KEY" in plan.fetchone()[3]


def test_few_values_in_a_column_are_not_indexed_and_few_classes_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("LEAST_FILLED", "SORTED_ROWS"):
        monkeypatch.setattr(indexes, name, 1)
    monkeypatch.setattr(value_counts, "LARGE_CLASS", 1)
    monkeypatch.setattr(value_counts, "MOST_CLASSES", 1)
    monkeypatch.setattr(value_counts, "MOST_PROPERTIES", 3)
    (tmp_path / "bells.ttl").write_text(_bells())
    ingest([str(tmp_path / "bells.ttl")], "bells", data=tmp_path / "data", no_vectors=True)
    library = Library(tmp_path / "data", None)
    with library.open("bells") as graph:
        read = graph.tables.trusted().execute
        # names and the dates of gongs, which all have one
        tables = read("SELECT tbl_name FROM sqlite_master WHERE name LIKE '%sorted%' ORDER BY 1").fetchall()
        assert tables == [("bell",), ("gong",), ("gong",), ("maker",)]
        assert len(read("SELECT key FROM _nacre_meta WHERE key LIKE 'facet %'").fetchall()) == 3
    library.close()
