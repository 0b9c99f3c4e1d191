"""A question -> one SPARQL query that returns its answer: the query of the likeliest reading, after running."""

from collections.abc import Sequence

from agents.answering.selection.rows import row_probability
from agents.answering.selection.select_answer import DECLINED
from agents.query_writer import by_rules
from agents.run_in_thread import run_in_thread
from agents.turn_view import first_turn
from nacre.access.sparql_database import sparql_database
from nacre.access.sql_database import sql_database
from nacre.access.text_lexicon import load_lexicon
from nacre.config.settings import Settings
from nacre.errors import ToolError
from nacre.plans.sparql.standalone import standalone_query
from nacre.plans.sparql.terms import format_iri
from nacre.plans.sparql.vocabulary import Vocabulary
from nacre.records.evidence import Rows
from nacre.records.turn import Rewrite
from nacre.stores.catalog import Graph
from nacre.understanding.understand import understand
from tools.guards.sandbox import Sandbox
from tools.guards.sparql_guard import guard_sparql
from tools.sparql import endpoint_vocabulary


async def text2sparql(question: str, graph: Graph, settings: Settings, sandbox: Sandbox) -> str:
    """The query in the terms of the original data, for any endpoint that has them. For an attached graph it is in the
    terms and the dialect of its endpoint, with FROM clauses for the configured graphs.

    Raises ToolError: `empty` if no query is likely enough, `refused` if the answer is prose, and if the endpoint fails.
    """
    lexicon = await load_lexicon(graph, question)
    understanding = await run_in_thread(understand, Rewrite(question), graph.schema, lexicon)
    remote = (
        await run_in_thread(sparql_database, graph, settings, sandbox, question) if graph.endpoint is not None else None
    )
    database = remote or sql_database(graph, settings, sandbox)
    result = (await by_rules(first_turn(question, understanding), database)).value
    likely = [each for each in result.evidence if isinstance(each, Rows) and each.reading is not None]
    best = max(likely, key=lambda each: row_probability(understanding, each), default=None)
    if best is None or best.reading is None or row_probability(understanding, best) < DECLINED:
        if result.error is not None and result.error.kind in ("unavailable", "timeout"):
            raise ToolError(result.error.kind, result.error.message)
        raise ToolError("empty", "This question gives no query. Name what the graph knows in other words.")
    vocabulary = (
        endpoint_vocabulary(graph.endpoint, graph.schema) if graph.endpoint is not None else Vocabulary(graph.schema)
    )
    query = standalone_query(understanding.readings[best.reading].plan, vocabulary)
    limit, inspect = settings.row_limit, sandbox.inspect_sparql
    await run_in_thread(guard_sparql, query, graph.schema, limit=limit, inspect=inspect)
    return _with_from(query, graph.endpoint.graphs) if graph.endpoint is not None else query


def _with_from(query: str, graphs: Sequence[str]) -> str:
    """The query with a FROM clause for each graph.

    >>> _with_from("SELECT ?s { ?s ?p ?o }", ["http://ex.org/g"])
    'SELECT ?s FROM <http://ex.org/g> { ?s ?p ?o }'
    """
    head, brace, group = query.partition("{")
    return f"{head}{''.join(f'FROM {format_iri(each)} ' for each in graphs)}{brace}{group}"
