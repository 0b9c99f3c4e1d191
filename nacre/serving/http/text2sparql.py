"""/api/text2sparql, the interface of the public challenge: question + dataset -> one SPARQL query.

It is the query of the likeliest reading, after running.
"""

from collections.abc import Sequence
from contextlib import AsyncExitStack
from typing import Annotated

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel

from agents.answering.select_answer import DECLINED, row_probability
from agents.query_writer import by_rules
from agents.turn_view import first_turn
from nacre.access.databases import sparql_database, sql_database
from nacre.access.open_graph import load_lexicon
from nacre.config.settings import Settings
from nacre.errors import ConfigError, ToolError
from nacre.plans.sparql_engine import standalone_query
from nacre.plans.sparql_vocabulary import Vocabulary, format_iri
from nacre.records.evidence import Rows
from nacre.records.threads import run_in_thread
from nacre.records.turn import Rewrite
from nacre.serving.http.auth import CallerDep
from nacre.serving.http.dependencies import ERROR_RESPONSES, TurnServiceDep, run_while_connected
from nacre.serving.keys import Caller
from nacre.serving.turn_service import TurnInput, TurnService
from nacre.stores.catalog import Graph
from nacre.understanding.understand import understand
from tools.sandbox import Sandbox, guard_sparql
from tools.sparql import endpoint_vocabulary

router = APIRouter(prefix="/api", tags=["ask"], responses=ERROR_RESPONSES)


class SparqlTranslation(BaseModel):
    """The question, the dataset as the client named it, and the query."""

    dataset: str
    question: str
    query: str


@router.get("/text2sparql", summary="Write a question as SPARQL")
async def text_to_sparql(
    request: Request,
    service: TurnServiceDep,
    caller: CallerDep,
    question: Annotated[str, Query(description="The question.", min_length=1)],
    dataset: Annotated[str, Query(description="The dataset's IRI, as NACRE_DATASETS maps it, or a graph's name.")],
) -> SparqlTranslation:
    """One SPARQL 1.1 query in the data's own vocabulary. The rules write it, even if a model is configured."""
    graph_name = parse_datasets(service.composition.settings.datasets).get(dataset, dataset)
    turn = TurnInput(question, service.resolve_graph(graph_name, caller), caller=caller)
    name = await service.check_question(turn)
    try:
        query = await run_while_connected(request, _translate(service, caller, name, question))
    except ToolError as error:
        raise ConfigError(str(error)) from error
    return SparqlTranslation(dataset=dataset, question=question, query=query)


async def _translate(service: TurnService, caller: Caller, name: str, question: str) -> str:
    resources = service.composition.resources
    async with service.turn_slot(caller), AsyncExitStack() as stack:
        graph = stack.enter_context(await run_in_thread(service.library.open, name))
        return await text2sparql(question, graph, resources.settings, resources.sandbox)


def parse_datasets(setting: str) -> dict[str, str]:
    """The graph of each dataset.

    >>> parse_datasets("https://example.org/geo/=geo, https://example.org/q?a=b=cars")
    {'https://example.org/geo/': 'geo', 'https://example.org/q?a=b': 'cars'}
    """
    pairs = (each.strip().rpartition("=") for each in setting.split(",") if each.strip())
    return {iri.strip(): name.strip() for iri, _, name in pairs}


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
