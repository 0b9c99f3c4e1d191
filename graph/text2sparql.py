"""A question -> one SPARQL query that alone gives the answer: that of its likeliest reading, after running."""

from collections.abc import Sequence

from agents.answering.select_answer import DECLINED, chance
from agents.query_writer import by_rules
from agents.run_in_thread import off_loop
from agents.turn_view import asked
from nacre.access.database import database
from nacre.access.text_lexicon import names_about
from nacre.access.triples_database import over_triples
from nacre.config.settings import Settings
from nacre.errors import ToolError
from nacre.plans.sparql.pattern import Vocabulary
from nacre.plans.sparql.standalone import query_of
from nacre.plans.sparql.terms import iri
from nacre.records.evidence import Rows
from nacre.records.turn import Rewrite
from nacre.stores.catalog import Graph
from nacre.understanding.understand import understand
from tools.guards.sandbox import Apart
from tools.guards.sparql_guard import guard_sparql
from tools.sparql import vocabulary_at


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
