"""The graphs that fixtures/questions are asked of: name -> tables and lexicon."""

from pathlib import Path

from ingestion.index.lexicon import write_names
from ingestion.induce.layout import induce_layout
from ingestion.induce.write_tables import write_layout
from ingestion.read.parse import parse_files
from nacre.stores.sqlite.lexicon import Lexicon
from nacre.stores.sqlite.tables import Tables

FIXTURES = Path(__file__).parents[1] / "fixtures"
NAMES = tuple(sorted(path.stem for path in (FIXTURES / "questions").glob("*.yaml")))


def opened(name: str, folder: Path) -> tuple[Tables, Lexicon]:
    """One graph, written into a folder and opened."""
    layout = induce_layout(parse_files([FIXTURES / f"graphs/{name}.ttl"]))
    write_names(layout, write_layout(layout, folder / "graph.sqlite"), folder / "lexicon.sqlite")
    tables = Tables(folder / "graph.sqlite")
    return tables, Lexicon(folder / "lexicon.sqlite", tables.schema)
