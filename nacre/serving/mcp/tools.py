"""The tools of the MCP server: arguments from an agent + caller -> records. What an agent confirms is used for its own
key until a person approves it: a text in the data must not teach everyone. Teaching words needs the right to write."""

import functools
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from contextlib import asynccontextmanager
from dataclasses import asdict
from typing import Annotated, Any, Literal, ParamSpec, TypeVar

from mcp.server import MCPServer
from mcp.server.context import ServerRequestContext
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError as McpToolError
from mcp.types import InputRequiredResult, ToolAnnotations
from pydantic import BaseModel, BeforeValidator, Field

from ingestion.layer.apply import MAX_NAME
from nacre.access import queries
from nacre.access.open_graph import lexical_problem, sparql_problem, vector_problem
from nacre.access.things import MOST_FACTS, MOST_INCOMING, NamedThing, find_thing
from nacre.errors import NacreError
from nacre.extension import service
from nacre.records.browse import PredicateFacts
from nacre.records.evidence import Cell, shorten
from nacre.records.schema import Predicate, Schema
from nacre.records.threads import run_in_thread
from nacre.records.turn import MAX_PAGE, VerifiedQuery, VerifiedQuestion
from nacre.serving.http.dependencies import GraphLookUp
from nacre.serving.http.graphs import examples_of, graph_summary
from nacre.serving.http.layer import MAX_QUESTION
from nacre.serving.keys import report_deed
from nacre.serving.mcp.ask import AskCall, AskTool, ToolContext
from nacre.serving.transcript import AgentAnswer
from nacre.stores.catalog import Graph

P = ParamSpec("P")

T = TypeVar("T")

MAX_ROWS, DEFAULT_ROWS = 1000, 100

MAX_SENTENCES, DEFAULT_SENTENCES = 24, 8

# read-only; the same call gives the same result until the graph has a new version
READS = ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False)

WRITES = READS.model_copy(update={"read_only_hint": False})

REMOVES = WRITES.model_copy(update={"destructive_hint": True})

TOOLS = {
    **dict.fromkeys(
        ("ask", "query_sql", "query_sparql", "search", "describe_graph", "describe_thing", "list_graphs"), READS
    ),
    "list_verified": READS,
    "confirm_answer": WRITES,
    "confirm_query": WRITES,
    "remove_verified": REMOVES,
    "teach_word": WRITES,
}


def or_default(default: object) -> BeforeValidator:
    """Reads null as the default: some clients send it for each argument that they leave out."""
    return BeforeValidator(lambda value: default if value is None else value)


GraphArgument = Annotated[str | None, Field(description="Name of the graph; may be omitted if there is only one.")]

RowLimit = Annotated[int, or_default(DEFAULT_ROWS), Field(ge=1, le=MAX_ROWS, description="Maximum number of rows.")]

ContextResolver = Callable[[ServerRequestContext[Any, Any]], ToolContext]


def add_tools(mcp: MCPServer[Any], resolve_context: ContextResolver) -> None:
    """Register the tools of `TOOLS` with a server."""
    tools = GraphTools(resolve_context)
    for name, hints in TOOLS.items():
        title = name.replace("_", " ").capitalize()
        mcp.tool(title=title, annotations=hints, structured_output=True)(_with_tool_errors(getattr(tools, name)))


class ToolRows(BaseModel):
    """The rows of a query."""

    columns: list[str]
    rows: list[list[Cell]]
    units: list[str] = Field(description="One entry per column, empty if it has no unit.")
    truncated: bool = Field(description="Whether there are more rows than listed.")
    query: str = Field(description="The query as it ran.")
    note: str = Field(description="How it differs from the query that was sent, if it was repaired.")
    seconds: float


class SearchHits(BaseModel):
    """The sentences that a search found, best first."""

    found: list["SearchHit"]


class ClassSummary(BaseModel):
    """A class, and the table with a row for each of its members."""

    iri: str
    label: str
    count: int
    table: str
    comment: str


class PropertySummary(BaseModel):
    """A property: its datatype, unit and targets."""

    iri: str
    label: str
    triples: int
    datatype: str
    unit: str
    links_to: list[str] = Field(description="Labels of the classes that it links to; empty for literals.")
    samples: list[str]
    comment: str


class GraphDescription(BaseModel):
    """The contents of a graph."""

    name: str
    version: str
    triples: int
    things: int
    classes: list[ClassSummary]
    properties: list[PropertySummary]
    truncated: bool = Field(description="Whether there are more classes or properties than listed.")
    sql: bool = Field(description="Whether query_sql can be used.")
    sparql: bool = Field(description="Whether query_sparql can be used.")
    search: bool = Field(description="Whether search can be used.")
    examples: list[str] = Field(description="Questions that the tool ask answers.")


class FactSummary(BaseModel):
    """One fact: a property and its value."""

    property: str
    predicate: str
    value: str
    label: str = Field(description="The name of the value, if it is a thing.")


class ThingDescription(BaseModel):
    """The facts about one thing."""

    iri: str
    label: str
    kinds: list[str]
    facts: list[FactSummary]
    incoming: list[FactSummary] = Field(description="Facts of other things that link to it; value is the other thing.")
    alike: list[str] = Field(description="IRIs of other things that the name may refer to.")
    truncated: bool


class GraphList(BaseModel):
    """The graphs that can be queried."""

    graphs: list["GraphListItem"]


class VerifiedEntry(BaseModel):
    """A question that a person confirmed."""

    id: str
    question: str
    by: str = Field(description="Who confirmed it.")
    at: str = Field(description="When, in UTC.")
    approved: bool = Field(description="Whether everyone uses it; otherwise only who confirmed it.")
    state: str = Field(description="in use, or why it is not used.")
    note: str


class VerifiedEntries(BaseModel):
    """Verified questions of a graph."""

    graph: str
    questions: list[VerifiedEntry]
    more: bool


class RemovedEntry(BaseModel):
    """The id of a removed entry."""

    id: str


class ProposedMeaning(BaseModel):
    """What a word may mean; a value is one of the property `iri`."""

    kind: str
    iri: str
    name: str
    value: str
    answer: str = Field(description="What the question would give; without a question, some values.")


class TaughtWord(BaseModel):
    """What a word was taught to mean, or may mean, the likeliest first."""

    graph: str
    word: str
    taught: str = Field(description="The meaning that is being applied, or an empty string.")
    proposals: list[ProposedMeaning]
    problem: str = Field(description="Why it can't be taught.")


class GraphTools:
    """The tools, one method each. Their docstrings and parameters are what agents see."""

    def __init__(self, resolve_context: ContextResolver) -> None:
        self._resolve_context = resolve_context
        self._ask_tool = AskTool()

    async def ask(
        self,
        question: Annotated[str, Field(description="The question in plain language, 4000 characters at most.")],
        ctx: Context,
        graph: GraphArgument = None,
        thread: Annotated[
            str | None, Field(description="Any name; questions with the same name form one conversation.")
        ] = None,
    ) -> AgentAnswer | InputRequiredResult:
        """Ask a question in plain language; the answer has citations, the values as data, and a probability."""
        context = self._resolve_context(ctx.request_context)
        return await self._ask_tool.answer(context, ctx, AskCall(question, graph, thread))

    async def query_sql(
        self,
        sql: Annotated[str, Field(description="One SELECT in SQLite's dialect, over the tables of describe_graph.")],
        ctx: Context,
        graph: GraphArgument = None,
        limit: RowLimit = DEFAULT_ROWS,
    ) -> ToolRows:
        """Run one SELECT over the tables of a graph, read-only. The graph's schema resource lists the tables."""
        async with self._open_graph(ctx, graph, for_query=True) as (context, opened):
            resources = context.service.composition.resources
            result = await queries.query_sql(opened, sql, resources.settings, resources.sandbox, limit)
        report_deed(context.caller, "queried", sql, graph=opened.name, version=opened.version)
        return ToolRows(**asdict(result))

    async def query_sparql(
        self,
        sparql: Annotated[str, Field(description="One SELECT, ASK or CONSTRUCT of SPARQL 1.1.")],
        ctx: Context,
        graph: GraphArgument = None,
        limit: RowLimit = DEFAULT_ROWS,
    ) -> ToolRows:
        """Run one SPARQL query over a graph, read-only. describe_graph tells whether the graph supports SPARQL."""
        async with self._open_graph(ctx, graph, for_query=True) as (context, opened):
            resources = context.service.composition.resources
            result = await queries.query_sparql(opened, sparql, resources.settings, resources.sandbox, limit)
        report_deed(context.caller, "queried", sparql, graph=opened.name, version=opened.version)
        return ToolRows(**asdict(result))

    async def search(
        self,
        text: Annotated[str, Field(min_length=1, description="Words to search for, 1000 characters at most.")],
        ctx: Context,
        graph: GraphArgument = None,
        limit: Annotated[
            int,
            or_default(DEFAULT_SENTENCES),
            Field(ge=1, le=MAX_SENTENCES, description="Maximum number of sentences."),
        ] = DEFAULT_SENTENCES,
    ) -> SearchHits:
        """Find sentences of a graph and of its documents that contain these words or are close in meaning."""
        async with self._open_graph(ctx, graph) as (context, opened):
            settings = context.service.composition.settings
            sentences = await queries.search_sentences(opened, text, settings, limit)
        return SearchHits(found=[SearchHit(**asdict(each)) for each in sentences])

    async def describe_graph(self, ctx: Context, graph: GraphArgument = None) -> GraphDescription:
        """The contents of a graph: its classes, their tables, its properties, and questions that it answers."""
        async with self._open_graph(ctx, graph) as (context, opened):
            return await run_in_thread(_graph_description, context, opened)

    async def describe_thing(
        self,
        name: Annotated[str, Field(description="The name of one thing, or its IRI.")],
        ctx: Context,
        graph: GraphArgument = None,
    ) -> ThingDescription:
        """All facts about one thing: its classes, its properties, and the facts that link to it."""
        async with self._open_graph(ctx, graph) as (context, opened):
            seconds = context.service.composition.settings.branch_seconds
            return thing_description(await run_in_thread(find_thing, opened, name, seconds))

    async def list_graphs(self, ctx: Context) -> GraphList:
        """The graphs that can be queried."""
        context = self._resolve_context(ctx.request_context)
        async with context.service.look_up_slot(context.caller):
            return GraphList(graphs=await run_in_thread(_graph_list, context))

    async def list_verified(
        self,
        ctx: Context,
        graph: GraphArgument = None,
        search: Annotated[str, or_default(""), Field(max_length=200, description="Part of the question.")] = "",
        limit: Annotated[int, or_default(50), Field(ge=1, le=MAX_PAGE, description="Maximum number.")] = 50,
    ) -> VerifiedEntries:
        """Questions of a graph that people confirmed: they are answered the same way again."""
        context = self._resolve_context(ctx.request_context)
        verified = service("verified", "entries")(context.service)
        page = await verified.listed(context.caller, graph, search=search, limit=limit)
        return VerifiedEntries(graph=page.graph, questions=[_entry(each) for each in page.questions], more=page.more)

    async def confirm_answer(
        self,
        thread: Annotated[str, Field(description="The thread that the question was asked in.")],
        turn: Annotated[int, Field(ge=1, description="The number of the turn, from 1.")],
        ctx: Context,
        graph: GraphArgument = None,
    ) -> VerifiedEntry:
        """Store that the answer of a turn is right. Only call it if the user said that it is right."""
        context = self._resolve_context(ctx.request_context)
        verified = service("verified", "entries")(context.service, approves=False)
        return _entry(await verified.confirm_turn(context.caller, thread, turn, graph))

    async def confirm_query(
        self,
        question: Annotated[str, Field(description="The question that the query answers.")],
        language: Annotated[Literal["sql", "sparql"], Field(description="The language of the query.")],
        query: Annotated[str, Field(description="The query. It is run, and must give values.")],
        ctx: Context,
        graph: GraphArgument = None,
    ) -> VerifiedEntry:
        """Store a query as the right answer to a question. Only call it if the user confirmed its rows."""
        context = self._resolve_context(ctx.request_context)
        verified = service("verified", "entries")(context.service, approves=False)
        written = VerifiedQuery(tool=language, text=query)
        return _entry((await verified.confirm_query(context.caller, graph, question, written))[0])

    async def remove_verified(
        self,
        id: Annotated[str, Field(max_length=40, description="The id, as list_verified gives it.")],
        ctx: Context,
        graph: GraphArgument = None,
    ) -> RemovedEntry:
        """Remove a question that this key confirmed."""
        context = self._resolve_context(ctx.request_context)
        await service("verified", "entries")(context.service).remove(context.caller, graph, id, context.caller.owner)
        return RemovedEntry(id=id)

    async def teach_word(
        self,
        word: Annotated[str, Field(min_length=1, max_length=MAX_NAME, description="A word that named nothing.")],
        ctx: Context,
        meaning: Annotated[
            str, or_default(""), Field(max_length=2000, description="What it means, by its IRI or name.")
        ] = "",
        value: Annotated[
            str, or_default(""), Field(max_length=2000, description="The value of the property, if it means one.")
        ] = "",
        question: Annotated[
            str, or_default(""), Field(max_length=MAX_QUESTION, description="The question that the word is from.")
        ] = "",
        graph: GraphArgument = None,
    ) -> TaughtWord:
        """Without a meaning, propose what a word may mean; with one, make it another name in the graph. Only give a
        meaning that the user chose. It takes effect after some seconds."""
        context = self._resolve_context(ctx.request_context)
        async with context.service.look_up_slot(context.caller):
            name = await run_in_thread(context.service.resolve_graph, graph, context.caller)
            look_up = GraphLookUp(context.service.library, context.caller, name)
            if meaning:
                teach = service("layer_patterns", "teach_meaning", "Teaching")
                await run_in_thread(teach, look_up, word, meaning, value, question)
                return TaughtWord(graph=name, word=word, taught=value or meaning, proposals=[], problem="")
            propose = service("layer_patterns", "propose_meanings", "Teaching")
            found = await run_in_thread(propose, look_up, word, question)
        proposals = [ProposedMeaning(**asdict(each)) for each in found.meanings]
        return TaughtWord(graph=name, word=word, taught="", proposals=proposals, problem=found.problem)

    @asynccontextmanager
    async def _open_graph(
        self, ctx: Context, graph: str | None, *, for_query: bool = False
    ) -> AsyncIterator[tuple[ToolContext, Graph]]:
        """The open graph of a request, once a slot for look-ups is free, or one for queries of callers."""
        context = self._resolve_context(ctx.request_context)
        service = context.service
        async with service.query_slot(context.caller) if for_query else service.look_up_slot(context.caller):
            with await context.service.open_graph(graph, context.caller) as opened:
                yield context, opened


def _with_tool_errors(function: Callable[P, Awaitable[T]]) -> Callable[P, Awaitable[T]]:
    """The same tool. Errors with a message for users become tool errors, which the agent can read and act on."""

    @functools.wraps(function)
    async def wrapped(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return await function(*args, **kwargs)
        except NacreError as error:
            raise McpToolError(str(error)) from error
        except TimeoutError as error:
            raise McpToolError("It took too long. Ask for less.") from error

    return wrapped


def _graph_description(context: ToolContext, opened: Graph) -> GraphDescription:
    schema = opened.schema
    classes = sorted(schema.shown_classes, key=lambda each: -each.count)
    properties = sorted(schema.shown_predicates, key=lambda each: -each.triples)
    return GraphDescription(
        name=opened.name,
        version=opened.version,
        triples=schema.triples,
        things=schema.entities,
        classes=[
            ClassSummary(
                iri=c.iri, label=c.label, count=c.count, table=c.relation, comment=shorten(c.comment, MAX_COMMENT)
            )
            for c in classes[:MAX_CLASSES]
        ],
        properties=[property_summary(each, schema) for each in properties[:MAX_PROPERTIES]],
        truncated=len(classes) > MAX_CLASSES or len(properties) > MAX_PROPERTIES,
        sql=opened.stored is not None,
        sparql=not sparql_problem(opened),
        search=not (lexical_problem(opened) and vector_problem(opened)),
        examples=examples_of(context.service.library, opened.name),
    )


class GraphListItem(BaseModel):
    """A graph and its size; `problem` says why it can't be queried."""

    name: str
    version: str
    triples: int
    things: int
    classes: int
    problem: str


def _graph_list(context: ToolContext) -> list[GraphListItem]:
    fields = GraphListItem.model_fields
    every = (graph_summary(context.service.library, name) for name in context.service.graph_names(context.caller))
    return [GraphListItem(**{name: getattr(each, name) for name in fields}) for each in every]


def _entry(entry: VerifiedQuestion) -> VerifiedEntry:
    return VerifiedEntry(**{name: getattr(entry, name) for name in VerifiedEntry.model_fields})


MAX_CLASSES, MAX_PROPERTIES = 100, 200

MAX_COMMENT = 200

MAX_FACT = 1000


class SearchHit(BaseModel):
    """A sentence of the graph or of one of its documents."""

    text: str
    source: str = Field(description="The thing or the document that it comes from.")
    branch: str = Field(description="lexical: it contains the words; vector: it is close in meaning.")
    keys: list[str] = Field(description="IRIs of the things it is about.")


def property_summary(predicate: Predicate, schema: Schema) -> PropertySummary:
    """The summary of a property."""
    targets = sorted(predicate.ranges, key=lambda iri: -predicate.ranges[iri]) if predicate.has_links else []
    return PropertySummary(
        iri=predicate.iri,
        label=predicate.label,
        triples=predicate.triples,
        datatype="" if predicate.has_links and not predicate.has_literals else predicate.datatype,
        unit=predicate.unit,
        links_to=[schema.class_of[iri].label for iri in targets[:5] if iri in schema.class_of],
        samples=[shorten(each, MAX_COMMENT) for each in (predicate.values or predicate.samples)[:5]],
        comment=shorten(predicate.comment, MAX_COMMENT),
    )


def thing_description(named: NamedThing) -> ThingDescription:
    """A thing with its facts one by one, within bounds."""
    thing = named.thing
    facts, incoming = list(_fact_summaries(thing.facts)), list(_fact_summaries(thing.linking))
    cut = any(each.more for each in (*thing.facts, *thing.linking)) or not thing.complete
    return ThingDescription(
        iri=thing.iri,
        label=thing.label,
        kinds=[end.text for end in thing.classes],
        facts=facts[:MOST_FACTS],
        incoming=incoming[:MOST_INCOMING],
        alike=list(named.alike),
        truncated=cut or len(facts) > MOST_FACTS or len(incoming) > MOST_INCOMING,
    )


def _fact_summaries(facts: Iterable[PredicateFacts]) -> Iterator[FactSummary]:
    """Facts one by one: the IRI and the name of a thing, the text of a literal."""
    for each in facts:
        for end in each.ends:
            yield FactSummary(
                property=each.label,
                predicate=each.predicate,
                value=end.iri or end.text[:MAX_FACT],
                label=end.text if end.iri else "",
            )
