"""What the tools of the MCP server give back, as structured output: one record a tool."""

from collections.abc import Iterable, Iterator
from typing import Any

from pydantic import BaseModel, Field

from nacre.access.browse.things import MOST_FACTS, MOST_INCOMING, NamedThing
from nacre.records.answer import Answer, Option, TableRecord, Value
from nacre.records.browse import PredicateFacts
from nacre.records.evidence import Cell
from nacre.records.schema import Class, Predicate, Schema

MOST_CLASSES, MOST_PROPERTIES = 100, 200
MAX_COMMENT = 200
LONGEST_FACT = 1000


class ToolCitation(BaseModel):
    """What one [n] of an answer rests on."""

    n: int
    source: str
    text: str
    basis: str
    query: str = Field(description="The query that gave it, or an empty text.")
    keys: list[str] = Field(description="IRIs of the things it rests on, 20 at most.")


class ToolAnswer(BaseModel):
    """An answer with what it rests on."""

    answer: str = Field(description="The answer in words; each [n] is a citation.")
    values: list[Value] = Field(description="The answer as data.")
    table: TableRecord | None
    unit: str | None
    status: str = Field(
        description="answered, partial, clarify, not_in_graph, not_understood or failed. Only answered is reliable."
    )
    confidence: float | None = Field(description="Probability that the values are right, 0 to 1.")
    reason: str | None
    options: list[Option] = Field(description="Other readings of the question; ask their words to choose one.")
    caveats: list[str]
    citations: list[ToolCitation]
    graph: str
    version: str
    thread: str | None


class ToolRows(BaseModel):
    """The rows of a query."""

    columns: list[str]
    rows: list[list[Cell]]
    units: list[str] = Field(description="One entry a column, empty where there is none.")
    truncated: bool = Field(description="Whether there are more rows than are told.")
    query: str = Field(description="The query as it ran.")
    note: str = Field(description="How it differs from the one given, where it had to be repaired.")
    seconds: float


class SearchHits(BaseModel):
    """What a search found, the best first."""

    found: list["SearchHit"]


class SearchHit(BaseModel):
    """A sentence of the graph, or of a text that goes with it."""

    text: str
    source: str = Field(description="The thing or the document that it is about.")
    branch: str = Field(description="lexical: it holds the words; vector: it means the like.")
    keys: list[str] = Field(description="IRIs of the things it is about.")


class ClassSummary(BaseModel):
    """A class of things, and the table that has a row for each."""

    iri: str
    label: str
    count: int
    table: str
    comment: str


class PropertySummary(BaseModel):
    """A property: what has it, what it leads to."""

    iri: str
    label: str
    triples: int
    datatype: str
    unit: str
    links_to: list[str] = Field(description="Labels of the classes that it leads to; empty for plain values.")
    samples: list[str]
    comment: str


class GraphDescription(BaseModel):
    """What a graph is about."""

    name: str
    version: str
    triples: int
    things: int
    classes: list[ClassSummary]
    properties: list[PropertySummary]
    truncated: bool = Field(description="Whether there are more classes or properties than are told.")
    sql: bool = Field(description="Whether query_sql can be used.")
    sparql: bool = Field(description="Whether query_sparql can be used.")
    search: bool = Field(description="Whether search can be used.")
    examples: list[str] = Field(description="Questions that the tool ask answers.")


class FactSummary(BaseModel):
    """One fact: a property and its other end."""

    property: str
    predicate: str
    value: str
    label: str = Field(description="The name of the value, where it is a thing.")


class ThingDescription(BaseModel):
    """What a graph says of one thing."""

    iri: str
    label: str
    kinds: list[str]
    facts: list[FactSummary]
    incoming: list[FactSummary] = Field(description="Facts of others that lead to it; value is the other thing.")
    alike: list[str] = Field(description="IRIs of further things that the name may mean.")
    truncated: bool


class GraphList(BaseModel):
    """The graphs that can be asked."""

    graphs: list["GraphListItem"]


class GraphListItem(BaseModel):
    """A graph, and how large it is; `problem` says why it can't be asked."""

    name: str
    version: str
    triples: int
    things: int
    classes: int
    problem: str


def tool_answer(record: Answer) -> ToolAnswer:
    """The part of an answer record that another agent needs."""
    queries = {query["i"]: query["text"] for query in record["queries"]}
    citations = [
        ToolCitation(
            n=each["n"],
            source=each["source"],
            text=each["text"],
            basis=each["basis"],
            query=queries.get(each["query"], "") if each["query"] is not None else "",
            keys=each["keys"][:20],
        )
        for each in record["citations"]
    ]
    kept: dict[str, Any] = {name: record[name] for name in ToolAnswer.model_fields if name != "citations"}  # type: ignore[literal-required]
    return ToolAnswer(**kept, citations=citations)


def class_summary(found: Class) -> ClassSummary:
    """A class as it is told."""
    return ClassSummary(
        iri=found.iri, label=found.label, count=found.count, table=found.relation, comment=_short(found.comment)
    )


def property_summary(found: Predicate, schema: Schema) -> PropertySummary:
    """A property as it is told."""
    targets = sorted(found.ranges, key=lambda iri: -found.ranges[iri]) if found.has_links else []
    return PropertySummary(
        iri=found.iri,
        label=found.label,
        triples=found.triples,
        datatype="" if found.has_links and not found.has_literals else found.datatype,
        unit=found.unit,
        links_to=[schema.class_of[iri].label for iri in targets[:5] if iri in schema.class_of],
        samples=[_short(each) for each in (found.values or found.samples)[:5]],
        comment=_short(found.comment),
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
                value=end.iri or end.text[:LONGEST_FACT],
                label=end.text if end.iri else "",
            )


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= MAX_COMMENT else f"{text[:MAX_COMMENT].rstrip()} ..."
