"""A question -> one SPARQL query that alone gives the answer: that of its likeliest reading, after running."""

from collections.abc import Sequence

from agents.answering.trust import DECLINED, chance
from agents.off_loop import off_loop
from agents.query_writer import by_rules
from agents.turn_view import asked
from graph.database import database
from graph.names import names_about
from graph.triples_database import over_triples
from nacre.config.settings import Settings
from nacre.records.errors import ToolError
from nacre.records.evidence import Rows
from nacre.records.turn import Rewrite
from nacre.semantics.sparql_alone import query_of
from nacre.semantics.sparql_pattern import Vocabulary
from nacre.semantics.sparql_terms import iri
from nacre.semantics.understand import understand
from nacre.stores.catalog import Graph
from tools.apart import Apart
from tools.sparql import vocabulary_at
from tools.sparql_guard import guard_sparql


async def text2sparql(question: str, graph: Graph, settings: Settings, apart: Apart) -> str:
    """The query in terms of the data as it was given, to be asked of any endpoint that has it; of an attached graph in
    the terms and the dialect of its endpoint, and FROM the graphs that were named.

    Raises ToolError: `empty` where the question gives no query that is likely enough, `refused` where its answer is
    prose, and where the endpoint can't be asked.
    """
    names = await names_about(graph, question)
    understanding = await off_loop(understand, Rewrite(question), graph.schema, names)
    away = await off_loop(over_triples, graph, settings, question) if graph.endpoint is not None else None
    found = (await by_rules(asked(question, understanding), away or database(graph, settings, apart))).value
    likely = [each for each in found.evidence if isinstance(each, Rows) and each.reading is not None]
    best = max(likely, key=lambda each: chance(understanding, each), default=None)
    if best is None or best.reading is None or chance(understanding, best) < DECLINED:
        if found.error is not None and found.error.kind in ("unavailable", "timeout"):
            raise ToolError(found.error.kind, found.error.message)
        raise ToolError("empty", "This question gives no query. Name what the graph knows in other words.")
    words = vocabulary_at(graph.endpoint, graph.schema) if graph.endpoint is not None else Vocabulary(graph.schema)
    query = query_of(understanding.readings[best.reading].plan, words)
    guard_sparql(query, graph.schema, limit=settings.row_limit)
    return _from(query, graph.endpoint.graphs) if graph.endpoint is not None else query


def _from(query: str, graphs: Sequence[str]) -> str:
    """The query with the graphs that it asks.

    >>> _from("SELECT ?s { ?s ?p ?o }", ["http://ex.org/g"])
    'SELECT ?s FROM <http://ex.org/g> { ?s ?p ?o }'
    """
    head, brace, group = query.partition("{")
    return f"{head}{''.join(f'FROM {iri(each)} ' for each in graphs)}{brace}{group}"
