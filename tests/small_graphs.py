"""The graphs that fixtures/questions are asked of: name -> tables and lexicon."""

from pathlib import Path

from ingestion.load import write_tables
from ingestion.names import write_names
from ingestion.parse import parse
from stores.lexicon import Lexicon
from stores.tables import Tables

FIXTURES = Path(__file__).parent / "fixtures"
NAMES = tuple(sorted(path.stem for path in (FIXTURES / "questions").glob("*.yaml")))


def opened(name: str, folder: Path) -> tuple[Tables, Lexicon]:
    """One graph, written into a folder and opened."""
    write_tables(parse([FIXTURES / f"graphs/{name}.ttl"]), folder / "graph.sqlite")
    tables = Tables(folder / "graph.sqlite")
    write_names(tables, folder / "lexicon.sqlite")
    return tables, Lexicon(folder / "lexicon.sqlite", tables.schema)
