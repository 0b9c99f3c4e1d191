"""Small files from which very much could be derived: rules stop, and all that was read is loaded. Work is counted."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchmarks.inputs import hostile_files as files
from ingestion.index import lexicon as names
from ingestion.induce.layout import induce_layout
from ingestion.induce.write_tables import write_layout
from ingestion.layer.layer_file import read_layer
from ingestion.meaning import draft as budget
from ingestion.meaning import draft as closure
from ingestion.meaning.derive import derive_facts
from ingestion.meaning.draft import MAX_NEAREST, Draft, transitive_closure
from ingestion.read.facts import Facts
from ingestion.read.parse import parse_files
from ingestion.report import MAX_CYCLES, IngestReport, build_report, report_text
from nacre.errors import IngestionError
from nacre.extensions.vocabularies.ontologies import _Reader
from nacre.stores.sqlite.tables import Tables

FINDS_EXAMPLES = True


class Calls:
    """Counts the calls of a method; more than `most` of them fail the test at once."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, owner: type, name: str, most: int) -> None:
        self.count = 0
        original: Callable[..., Any] = getattr(owner, name)

        def counted(*given: Any, **named: Any) -> Any:
            self.count += 1
            assert self.count <= most, f"more than {most:,} calls of {name}"
            return original(*given, **named)

        monkeypatch.setattr(owner, name, counted)


def parsed(text: str, folder: Path) -> Facts:
    (folder / "graph.ttl").write_text(text)
    return parse_files([folder / "graph.ttl"])


def reported(text: str, folder: Path) -> IngestReport:
    """The report of an ingest, which accounts for every triple."""
    write_layout(induce_layout(parsed(text, folder)), folder / "graph.sqlite")
    report = build_report(Tables(folder / "graph.sqlite"))
    assert report.shown + report.left_out == report.triples
    return report


def test_an_expression_that_has_its_parts_many_times_is_read_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Calls(monkeypatch, Draft, "row", 100_000)
    assert derive_facts(parsed(files.shared_expressions(20), tmp_path)).triples > 20


def test_a_list_of_many_expressions_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = Calls(monkeypatch, Draft, "row", 1_000_000)
    counts = []
    for number in (100, 400):
        calls.count = 0
        derive_facts(parsed(files.shared_list(number), tmp_path))
        counts.append(calls.count)
    assert counts[1] <= 5 * counts[0]


def test_a_definition_that_follows_links_over_many_levels_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "FREE_STEPS", 100_000)
    monkeypatch.setattr(budget, "STEPS_PER_TRIPLE", 10)
    Calls(monkeypatch, _Reader, "_fits", 100_000)
    report = reported(files.nested_restrictions(20, 12), tmp_path)
    assert any("not all things that fit a definition" in limit for limit in report.limits)


@pytest.mark.parametrize("link", ["skos:broader", "rdfs:subClassOf"])
def test_a_long_chain_has_the_nearest_ones_above(link: str, tmp_path: Path) -> None:
    report = reported(files.chain(3000, link), tmp_path)
    assert report.triples == 3000
    assert any(f"only the {MAX_NEAREST} nearest" in limit for limit in report.limits)
    assert "Not everything was derived, " in report_text(report)
    memberships = derive_facts(parsed(files.chain(3000, link), tmp_path)).memberships
    assert memberships is None or len(memberships) <= MAX_NEAREST * 3000


def test_a_long_chain_of_classes_with_things_has_the_nearest_classes_above(tmp_path: Path) -> None:
    layout = induce_layout(parsed(files.chain(1000, "rdfs:subClassOf", things=True), tmp_path))
    assert max(map(len, layout.classes.sets)) == MAX_NEAREST + 1
    assert layout.declarations.limits


@pytest.mark.parametrize("link", ["skos:broader", "rdfs:subClassOf"])
def test_a_chain_of_usual_length_is_complete(link: str, tmp_path: Path) -> None:
    facts = derive_facts(parsed(files.chain(200, link), tmp_path))
    assert facts.memberships is not None
    assert not facts.limits
    assert reported(files.chain(200, link), tmp_path).limits == ()


def test_all_terms_above_are_found_within_the_limit_and_the_nearest_ones_beyond(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    chain = {n: [n + 1] for n in range(60)}
    assert transitive_closure(chain).ancestors[0] == frozenset(range(1, 61))
    assert transitive_closure({0: [1], 1: [0]}).ancestors == {0: frozenset({1}), 1: frozenset({0})}
    monkeypatch.setattr(closure, "FREE_LINK_STEPS", 0)
    monkeypatch.setattr(closure, "STEPS_PER_LINK", 5)
    ancestors, complete = transitive_closure(chain)
    assert not complete
    assert ancestors[0] == frozenset(range(1, MAX_NEAREST + 1))
    assert ancestors[58] == frozenset({59, 60})


def test_definitions_are_compared_only_with_members_of_their_classes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Calls(monkeypatch, _Reader, "_fits", 300 * 10)
    facts = derive_facts(parsed(files.definitions(300, "top{}"), tmp_path))
    assert facts.memberships is not None
    assert not facts.limits


def test_definitions_that_all_things_fit_are_compared_within_the_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(budget, "FREE_STEPS", 20_000)
    monkeypatch.setattr(budget, "STEPS_PER_TRIPLE", 10)
    Calls(monkeypatch, _Reader, "_fits", 100_000)
    report = reported(files.definitions(400), tmp_path)
    assert any("not all things that fit a definition" in limit for limit in report.limits)


def test_code_tables_that_are_all_alike_are_compared_within_the_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(budget, "FREE_STEPS", 1000)
    monkeypatch.setattr(budget, "STEPS_PER_TRIPLE", 1)
    report = reported(files.code_tables(100), tmp_path)
    assert any(limit.startswith("expand codes") for limit in report.limits)


def test_the_work_for_nodes_that_are_linked_both_ways_grows_with_their_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = Calls(monkeypatch, Draft, "row", 1_000_000)
    counts = []
    for number in (400, 1600):
        calls.count = 0
        derive_facts(parsed(files.linked_star(number), tmp_path))
        counts.append(calls.count)
    assert counts[1] <= 5 * counts[0]


def test_a_rule_that_would_derive_too_much_stops_and_the_rest_is_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(budget, "FREE_DERIVED", 100)
    monkeypatch.setattr(budget, "DERIVED_PER_TRIPLE", 0)
    text = files.chain(300, ":near") + ":near a owl:SymmetricProperty .\n"
    report = reported(text, tmp_path)
    assert report.limits == ("complete inverses: more than 100 derived triples",)
    assert report.triples == 301


def test_links_between_things_of_many_kinds_are_counted_in_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    layout = induce_layout(parsed(files.chain(60, "skos:broader"), tmp_path))
    schema = write_layout(layout, tmp_path / "graph.sqlite")
    whole = names._links(layout, schema)[0]
    sizes: list[int] = []
    original = names._with_kinds

    def measured(*given: Any) -> Any:
        found = original(*given)
        sizes.append(len(found[0]))
        return found

    monkeypatch.setattr(names, "_with_kinds", measured)
    monkeypatch.setattr(names, "MAX_PAIRS", 5000)
    assert names._links(layout, schema)[0] == whole
    # a part may end with the largest link
    assert max(sizes) < 5000 + 60 * 60


def test_annotations_whose_aliases_multiply_are_refused() -> None:
    lists = ["&a0 [x, x, x, x, x, x, x, x, x, x]", *(f"&a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10))]
    text = "classes:\n  product:\n    name: [" + ", ".join(lists) + "]\n"
    with pytest.raises(IngestionError, match="aliases"):
        read_layer(Path("layer.yaml"), text)


def test_cycles_of_hierarchies_are_named(tmp_path: Path) -> None:
    turtle = """
        @prefix : <http://e.org/> . @prefix skos: <http://www.w3.org/2004/02/skos/core#> .
        @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
        :a a skos:Concept ; skos:prefLabel "peat" ; skos:broader :b .
        :b a skos:Concept ; skos:prefLabel "bog" ; skos:broader :a , :d .
        :c a skos:Concept ; skos:prefLabel "fen" ; skos:broader :a .
        :d a skos:Concept ; skos:prefLabel "soil" . :s a :T ; :partOf :s .
        :T rdfs:subClassOf :U . :U rdfs:subClassOf :T .
    """
    report = reported(turtle, tmp_path)
    assert report.cycles == ("partOf: s, s", "subClassOf: T, U, T", "broader: peat, bog, peat")
    assert "A cycle: broader: peat, bog, peat." in report_text(report)


def test_few_of_many_and_of_long_cycles_are_named(tmp_path: Path) -> None:
    ring = [f"<http://e.org/{i:04}> <http://e.org/partOf> <http://e.org/{(i + 1) % 5000:04}> .\n" for i in range(5000)]
    small = [f"<http://e.org/x{i}> <http://e.org/partOf> <http://e.org/x{i}> .\n" for i in range(50)]
    cycles = reported("".join((*ring, *small)), tmp_path).cycles
    assert len(cycles) == MAX_CYCLES
    assert cycles[0].endswith("4,992 more, 0000")
