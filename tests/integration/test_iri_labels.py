"""The shown label of things whose IRI or lower-case label is spelt better elsewhere."""

import sqlite3
from pathlib import Path

import pytest

from ingestion.induce.write_tables import write_tables
from ingestion.read.parse import parse_files

_THINGS = """
@prefix : <http://example.org/statute/> .
@prefix v: <http://example.org/vocabulary#> .
:rule4 a v:Rule ; v:heading "Rule 4" ; v:number "4" .
:rule4-2 a v:Rule ; v:heading "Rule 4(2)" ; v:number "4-2" .
:ferry a v:Ship ; <http://www.w3.org/2000/01/rdf-schema#label> "ms anna b" ; <https://schema.org/name> "MS Anna B" .
:tank7 a v:Tank ; v:note "the old one" .
:form1 a v:Form ; v:asks v:landingDate, v:iPhone .
v:landingDate v:note "when it lands" .
v:iPhone v:note "a telephone" .
"""


@pytest.mark.parametrize("label", ["Rule 4", "Rule 4(2)", "tank7", "landing date", "iPhone", "MS Anna B"])
def test_what_people_write_is_the_label(label: str, tmp_path: Path) -> None:
    (tmp_path / "graph.ttl").write_text(_THINGS)
    write_tables(parse_files([tmp_path / "graph.ttl"]), tmp_path / "graph.sqlite")
    rows = sqlite3.connect(tmp_path / "graph.sqlite").execute("SELECT label FROM entity")
    assert label in {found for (found,) in rows}
