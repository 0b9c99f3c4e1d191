"""A question -> one SPARQL query that alone gives the answer: that of its likeliest reading, after running."""

from collections.abc import Sequence

from agents.answering.select_answer import DECLINED, row_probability
from agents.query_writer import by_rules
from agents.run_in_thread import run_in_thread
from agents.turn_view import first_turn
from nacre.access.sparql_database import sparql_database
from nacre.access.sql_database import sql_database
from nacre.access.text_lexicon import load_lexicon
from nacre.config.settings import Settings
from nacre.errors import ToolError
from nacre.plans.sparql.pattern import Vocabulary
from nacre.plans.sparql.standalone import standalone_query
from nacre.plans.sparql.terms import format_iri
from nacre.records.evidence import Rows
from nacre.records.turn import Rewrite
from nacre.stores.catalog import Graph
from nacre.understanding.understand import understand
from tools.guards.sandbox import Sandbox
from tools.guards.sparql_guard import guard_sparql
from tools.sparql import endpoint_vocabulary


async def text2sparql(question: str, graph: Graph, settings: Settings, apart: Sandbox) -> str:
    """The query in terms of the data as it was given, to be asked of any endpoint that has it; of an attached graph in
    the terms and the dialect of its endpoint, and FROM the graphs that were named.

    Raises ToolError: `empty` where the question gives no query that is likely enough, `refused` where its answer is
    prose, and where the endpoint can't be asked.
    """
    names = await load_lexicon(graph, question)
    understanding = await run_in_thread(understand, Rewrite(question), graph.schema, names)
    away = await run_in_thread(sparql_database, graph, settings, question) if graph.endpoint is not None else None
    found = (await by_rules(first_turn(question, understanding), away or sql_database(graph, settings, apart))).value
    likely = [each for each in found.evidence if isinstance(each, Rows) and each.reading is not None]
    best = max(likely, key=lambda each: row_probability(understanding, each), default=None)
    if best is None or best.reading is None or row_probability(understanding, best) < DECLINED:
        if found.error is not None and found.error.kind in ("unavailable", "timeout"):
            raise ToolError(found.error.kind, found.error.message)
        raise ToolError("empty", "This question gives no query. Name what the graph knows in other words.")
    words = (
        endpoint_vocabulary(graph.endpoint, graph.schema) if graph.endpoint is not None else Vocabulary(graph.schema)
    )
    query = standalone_query(understanding.readings[best.reading].plan, words)
    guard_sparql(query, graph.schema, limit=settings.row_limit)
    return _from(query, graph.endpoint.graphs) if graph.endpoint is not None else query


def _from(query: str, graphs: Sequence[str]) -> str:
    """The query with the graphs that it asks.

    >>> _from("SELECT ?s { ?s ?p ?o }", ["http://ex.org/g"])
    'SELECT ?s FROM <http://ex.org/g> { ?s ?p ?o }'
    """
    head, brace, group = query.partition("{")
    return f"{head}{''.join(f'FROM {format_iri(each)} ' for each in graphs)}{brace}{group}"
