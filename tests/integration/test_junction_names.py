"""Names of the columns of junctions, whatever their predicate is called."""

from pathlib import Path

import pytest

from ingestion.induce.write_tables import write_tables
from ingestion.read.parse import parse_files

GRAPH = """
@prefix e: <http://example.org/> .
e:b1 a e:Book ; e:{name} e:t1 , e:t2 . e:f1 a e:Film ; e:{name} e:t1 .
e:t1 a e:Topic . e:t2 a e:Topic .
"""


@pytest.mark.parametrize("name", ["subject", "owner", "book", "film"])
def test_the_key_of_a_junction_is_no_other_column(tmp_path: Path, name: str) -> None:
    """A property of several classes whose link would be called as the key of its junction."""
    (tmp_path / "g.ttl").write_text(GRAPH.replace("{name}", name))
    schema = write_tables(parse_files([tmp_path / "g.ttl"]), tmp_path / "g.sqlite")
    junction = schema.relation_of[schema.junctions[f"http://example.org/{name}"]]
    assert junction.key != junction.columns[0].link
