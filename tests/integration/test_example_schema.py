"""The example's schema.sql and annotations.yaml are what the documentation says of them."""

from pathlib import Path

import pytest

from ingestion.induce.write_tables import write_tables
from ingestion.layer.layer_file import load_layer_files
from ingestion.read.parse import parse_files
from ingestion.report import build_report
from nacre.records.schema import Schema
from nacre.stores.sqlite.schema_sql import schema_sql
from nacre.stores.sqlite.tables import Tables

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "bmw"


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The example as it is, and with its annotations."""
    folder = tmp_path_factory.mktemp("example")
    facts = parse_files([EXAMPLE / "kg.ttl"])
    write_tables(facts, folder / "plain.sqlite")
    write_tables(facts, folder / "noted.sqlite", load_layer_files((), EXAMPLE / "annotations.yaml", packs=False))
    return folder / "plain.sqlite", folder / "noted.sqlite"


def test_schema_sql_is_what_the_code_gives(places: tuple[Path, Path]) -> None:
    # to renew it: write schema_sql(Tables(path of graph.sqlite)) to the file
    assert (EXAMPLE / "schema.sql").read_text(encoding="utf-8") == schema_sql(Tables(places[0]))


def test_the_annotations_change_what_is_shown_and_nothing_that_is_stored(places: tuple[Path, Path]) -> None:
    plain, noted = (Tables(path) for path in places)

    def labels(schema: Schema) -> set[str]:
        return {p.label for p in schema.predicates} | {c.label for c in schema.classes}

    assert labels(plain.schema) - labels(noted.schema) >= {"WLTP CO2 emission combined", "url"}
    assert labels(noted.schema) - labels(plain.schema) == {
        "engine",
        "acceleration from 0 to 62 mph",
        "CO2 emission",
        "fuel consumption",
        "electric range",
        "energy consumption",
        "battery size",
    }
    assert "measured by WLTP; in g/km" in schema_sql(noted)
    shown = {p.predicate: p for p in build_report(plain).predicates}
    assert {p.predicate: (p.triples, p.left_out) for p in build_report(noted).predicates} == {
        iri: (p.triples, p.left_out) for iri, p in shown.items()
    }


def test_the_schema_is_readable(places: tuple[Path, Path]) -> None:
    text = (EXAMPLE / "schema.sql").read_text(encoding="utf-8")
    assert "CREATE TABLE car_model (" in text
    assert "in mm; from" in text
    assert "one of: All-wheel drive" in text
    assert "http://" not in text
    assert "co_2" not in text


def test_the_documentation_shows_this_file() -> None:
    page = (ROOT / "docs" / "any-rdf.md").read_text(encoding="utf-8")
    notes = (EXAMPLE / "annotations.yaml").read_text(encoding="utf-8")
    blocks = page.split("```yaml\n")[1:]
    assert len(blocks) == 1
    lines = [line.strip() for line in blocks[0].partition("```")[0].splitlines() if line.strip() != "..."]
    stripped = [line.strip() for line in notes.splitlines()]
    assert [line for line in lines if line not in stripped] == []
