"""/api/text2sparql, the interface of the public challenge: question + dataset -> one SPARQL query.

It is the likeliest query, of a model or of a reading, after running.
"""

import io
import time
from collections import defaultdict
from collections.abc import Sequence
from contextlib import AsyncExitStack, closing
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, FastAPI, Query, Request
from pydantic import BaseModel

from agents.agents import Agents, build_agents
from agents.answering.select_answer import DECLINED, is_empty, row_probability, sole_reading
from agents.query_writer import by_rules
from agents.turn_view import Database, first_turn
from graph.context import agents_for
from ingestion.index.triples import export_triples
from ingestion.vocabulary import SCHEMA_PREDICATES, TYPE, local_name
from nacre.access.open_graph import load_lexicon
from nacre.access.queries import SparqlDatabase, sparql_database, sql_database
from nacre.config.settings import Settings
from nacre.errors import ConfigError, ToolError
from nacre.extension import service
from nacre.plans.sparql_engine import sparql_engine, standalone_query
from nacre.plans.sparql_vocabulary import Vocabulary, cell_value, format_iri
from nacre.records.evidence import Cell
from nacre.records.schema import Predicate, Schema
from nacre.records.threads import run_in_thread
from nacre.serving.http.auth import CallerDep
from nacre.serving.http.dependencies import ERROR_RESPONSES, TurnServiceDep, run_while_connected
from nacre.serving.keys import Caller, report_deed
from nacre.serving.turn_service import TurnInput, TurnService
from nacre.stores.catalog import Graph
from nacre.stores.sparql_source import OxigraphStore, SparqlSource, keywords, query_tokens
from nacre.stores.sqlite.lexicon import Lexicon
from nacre.stores.sqlite.tables import Tables
from nacre.understanding.ranking.probabilities import MAX_READINGS_RUN
from nacre.understanding.understand import understand
from tools.sandbox import Sandbox
from tools.sparql import endpoint_vocabulary, ingested_labels

if TYPE_CHECKING:
    import pyoxigraph as ox

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
    """One SPARQL 1.1 query in the data's own vocabulary. If a model is configured, it is asked as in a turn."""
    graph_name = parse_datasets(service.composition.settings.datasets).get(dataset, dataset)
    turn = TurnInput(question, service.resolve_graph(graph_name, caller), caller=caller)
    name = await service.check_question(turn)
    try:
        query = await run_while_connected(request, _translate(service, caller, name, question))
    except ToolError as error:
        raise ConfigError(str(error)) from error
    report_deed(caller, "translated", query, graph=name)
    return SparqlTranslation(dataset=dataset, question=question, query=query)


async def _translate(service: TurnService, caller: Caller, name: str, question: str) -> str:
    resources = service.composition.resources
    async with service.turn_slot(caller), AsyncExitStack() as stack:
        graph = stack.enter_context(await run_in_thread(service.library.open, name))
        agents = agents_for(resources, None)
        await stack.enter_async_context(service.spend(caller, None))
        return await text2sparql(question, graph, resources.settings, resources.sandbox, agents)


def parse_datasets(setting: str) -> dict[str, str]:
    """The graph of each dataset.

    >>> parse_datasets("https://example.org/geo/=geo, https://example.org/q?a=b=cars")
    {'https://example.org/geo/': 'geo', 'https://example.org/q?a=b': 'cars'}
    """
    pairs = (each.strip().rpartition("=") for each in setting.split(",") if each.strip())
    return {iri.strip(): name.strip() for iri, _, name in pairs}


async def text2sparql(
    question: str, graph: Graph, settings: Settings, sandbox: Sandbox, agents: Agents | None = None
) -> str:
    """The query in the terms of the data as it was read, for any endpoint that has them. For an attached graph it is in
    the terms and the dialect of its endpoint, with FROM clauses for the configured graphs.

    It is the likeliest that gave rows, of the rules and of the model of `agents`, if they have one. Over an ingested
    graph, queries run over its data as it was read; over a larger one readings of the rules run over its tables.
    Raises ToolError: `empty` if no query is likely enough, `refused` if the answer is prose, and if the endpoint fails.
    """
    agents = agents or build_agents(None)
    database: Database | None
    lexicon = await load_lexicon(graph, question)
    asked = replace(first_turn(question), deadline=time.monotonic() + settings.turn_seconds, version=graph.version)
    if graph.endpoint is None:
        rewrite = (await agents.rewriter(asked, sql_database(graph, settings, sandbox))).value
        database = await run_in_thread(plain_database, graph, settings, sandbox, lexicon)
    else:
        rewrite, remote = asked.rewrite, await run_in_thread(sparql_database, graph, settings, sandbox, question)
        database = replace(remote, wants_query=True) if remote is not None else None
    understanding = await run_in_thread(understand, rewrite, graph.schema, lexicon)
    view = replace(asked, rewrite=rewrite, understanding=understanding)
    writer = agents.query_writer if database is not None else by_rules
    database = database or sql_database(graph, settings, sandbox)
    result = (await writer(view, database)).value
    # rows that the data as it was read does not give rest on what ingestion derived
    found = [each for each in result.rows if not (database.wants_query and is_empty(each.table))]
    if result.missing:
        # as in a turn: what the model says that the graph lacks is not answered by a reading alone
        found = [each for each in found if sole_reading(understanding, each) is None]
    likely = sorted(found, key=lambda each: -row_probability(understanding, each))
    words = endpoint_vocabulary(graph.endpoint, graph.schema) if graph.endpoint is not None else None
    for each in likely:
        if row_probability(understanding, each) < DECLINED:
            break
        if each.reading is None:
            query = each.query.portable if each.query is not None else ""
        else:
            query = standalone_query(understanding.readings[each.reading].plan, words or Vocabulary(graph.schema))
        limit, inspect = settings.row_limit, sandbox.inspect_sparql
        try:
            await run_in_thread(
                service("foreign_queries", "guard_sparql"), query, database.schema, limit=limit, inspect=inspect
            )
        except ToolError as error:
            if error.kind != "unknown_name":
                raise
            # it names what ingestion derived
            continue
        return _with_from(query, graph.endpoint.graphs) if graph.endpoint is not None else query
    if result.error is not None and result.error.kind in ("unavailable", "timeout"):
        raise ToolError(result.error.kind, result.error.message)
    raise ToolError("empty", "This question gives no query. Name what the graph knows in other words.")


def select_values(query: str, graph: Graph, settings: Settings, sandbox: Sandbox) -> frozenset[Cell]:
    """The values that a SELECT selects over the data as it was read, or the truth of an ASK. Blocking; raises
    ToolError."""
    database = (
        plain_database(graph, settings, sandbox, graph.lexicon)
        if graph.endpoint is None
        else sparql_database(graph, settings, sandbox, "")
    )
    if database is None:
        raise ToolError("too_large", "The data is not in memory as it was read: attach an endpoint that has it.")
    query, seconds = database.prefixes.declare(query), settings.branch_seconds
    if "ASK" in keywords(query_tokens(query)):
        return frozenset([database.source.ask(query, seconds=seconds)])
    found = database.source.select(query, limit=settings.row_limit, seconds=seconds)
    return frozenset(cell_value(term) for row in found.rows for term in row if term is not None)


# graphs with more triples are not loaded into memory as they were read (given)
MAX_PLAIN_TRIPLES = 300_000
PLAIN_SECONDS = 30.0
# predicates that ingestion reads into others, and the most values of one that are listed (given)
MAX_UNREAD, MOST_VALUES = 200, 8


def plain_database(graph: Graph, settings: Settings, sandbox: Sandbox, lexicon: Lexicon) -> SparqlDatabase | None:
    """The database of an ingested graph as it was read, without what ingestion derived, in a process of the sandbox.
    None for a graph without a file, and for a large one. Blocking."""
    if graph.stored is None or not graph.stored.is_local or graph.schema.triples > MAX_PLAIN_TRIPLES:
        return None
    source = OxigraphStore(graph.stored.path, _load_triples, sandbox.stores)
    # a version never changes
    schema = graph.schema.cache.get(
        (_stated_schema, settings.row_limit), lambda: _stated_schema(source, graph.schema, settings.row_limit)
    )
    words, labels = Vocabulary(graph.schema), ingested_labels(graph.stored)
    engine = sparql_engine(source, words, labels, tables=graph.stored)
    of = SparqlDatabase(graph, settings, sandbox, 1, lexicon, engine, source, labels, MAX_READINGS_RUN, portable=words)
    return replace(of, is_plain=True, stated=schema, wants_query=True)


def _stated_schema(source: SparqlSource, schema: Schema, limit: int) -> Schema:
    """The classes that the data states members of, also by a subclass, and its predicates with their languages; those
    as well that ingestion reads into others, such as the number and the unit of a quantity."""
    found = source.select("SELECT ?c (COUNT(?s) AS ?n) { ?s a ?c } GROUP BY ?c", limit=limit, seconds=PLAIN_SECONDS)
    members = {each.value: int(number.value) for each, number in found.rows if each is not None and number is not None}
    stated = set(schema.with_parents(members))
    query = 'SELECT DISTINCT ?p ?l { ?s ?p ?o BIND(IF(isLiteral(?o), LANG(?o), "") AS ?l) }'
    languages: dict[str, set[str]] = defaultdict(set)
    for name, language in source.select(query, limit=10 * limit, seconds=PLAIN_SECONDS).rows:
        if name is not None:
            languages[name.value] |= {f"@{language.value}"} if language and language.value else set()
    known = [
        replace(each, hidden=False, written=" or ".join(sorted(languages[each.iri])) or each.written)
        for each in schema.predicates
        if each.iri in languages
    ]
    unread = sorted(languages.keys() - schema.predicate_of.keys() - SCHEMA_PREDICATES - {TYPE})
    return replace(
        schema,
        classes=tuple(
            replace(each, hidden=False, count=each.count or members.get(each.iri, 0))
            for each in schema.classes
            if each.iri in stated
        ),
        predicates=(*known, *_unread_predicates(source, unread[:MAX_UNREAD], limit)),
    )


def _unread_predicates(source: SparqlSource, iris: Sequence[str], limit: int) -> list[Predicate]:
    """Predicates of the data that the schema lacks, with their classes, targets and some values."""
    query = f"""SELECT ?p ?c ?r (COUNT(?o) AS ?n) (SAMPLE(?o) AS ?v) (SAMPLE(?label) AS ?l)
        (GROUP_CONCAT(DISTINCT IF(isLiteral(?o), STR(?o), ""); separator="\u001f") AS ?all)
        {{ VALUES ?p {{ {" ".join(map(format_iri, iris))} }} ?s ?p ?o ; a ?c OPTIONAL {{ ?o a ?r }}
        OPTIONAL {{ ?p <http://www.w3.org/2000/01/rdf-schema#label> ?label }} }} GROUP BY ?p ?c ?r"""
    rows = source.select(query, limit=limit, seconds=PLAIN_SECONDS).rows if iris else ()
    found: dict[str, Predicate] = {}
    for name, class_, target, number, value, label, texts in rows:
        if name is None or class_ is None or number is None or value is None:
            continue
        values = tuple(sorted(filter(None, texts.value.split("\x1f")))) if texts is not None else ()
        count, is_link = int(number.value), value.kind != "literal"
        new = Predicate(name.value, label.value if label else local_name(name.value), 0, 0, 0, not is_link, is_link,
                        False, {}, {}, datatype="real" if isinstance(cell_value(value), int | float) else "text",
                        values=values if len(values) <= MOST_VALUES else (), samples=values[:1])  # fmt: skip
        each = found.setdefault(name.value, new)
        each.domains[class_.value] = each.domains.get(class_.value, 0) + count
        if target is not None:
            each.ranges[target.value] = each.ranges.get(target.value, 0) + count
    return list(found.values())


@lru_cache(maxsize=2)
def _load_triples(tables: str) -> "ox.Store":
    """A store of the triples of a graph as they were read, in memory; those of named graphs as well."""
    import pyoxigraph as ox

    store, lines = ox.Store(), io.BytesIO()
    with closing(Tables(Path(tables))) as opened:
        export_triples(opened, lines, "nq")
    for quad in ox.parse(lines.getvalue(), format=ox.RdfFormat.N_QUADS, lenient=True):
        store.add(ox.Quad(quad.subject, quad.predicate, quad.object))
    return store


def _with_from(query: str, graphs: Sequence[str]) -> str:
    """The query with a FROM clause for each graph.

    >>> _with_from("SELECT ?s { ?s ?p ?o }", ["http://ex.org/g"])
    'SELECT ?s FROM <http://ex.org/g> { ?s ?p ?o }'
    """
    head, brace, group = query.partition("{")
    return f"{head}{''.join(f'FROM {format_iri(each)} ' for each in graphs)}{brace}{group}"


def add_text2sparql(app: FastAPI, *, alone: bool) -> None:
    """Add the route."""
    app.include_router(router)
