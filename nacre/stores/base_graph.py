"""The ingested graph without what texts added: an open graph -> one with the tables of its version."""

from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from pathlib import Path

from nacre.stores import versions
from nacre.stores.catalog import Graph
from nacre.stores.sqlite.lexicon import Lexicon
from nacre.stores.sqlite.tables import Tables


@contextmanager
def open_base_graph(graph: Graph, data: Path) -> Iterator[Graph]:
    """The graph with the tables, schema and lexicon of its version; `data` is the data folder."""
    if not graph.layers or graph.stored is None:
        yield graph
        return
    folder = versions.version_folder(data / graph.name, graph.version)
    with ExitStack() as stack:
        tables = stack.enter_context(closing(Tables(folder / versions.TABLES)))
        lexicon = stack.enter_context(closing(Lexicon(folder / versions.LEXICON, tables.schema)))
        yield replace(graph, stored=tables, schema=tables.schema, lexicon=lexicon)
