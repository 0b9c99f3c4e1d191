"""The structured output of the MCP tools: one record per tool, made from schemas and things;
`agent_answer` has that of `ask`."""

from collections.abc import Iterable, Iterator

from pydantic import BaseModel, Field

from nacre.access.browse.things import MOST_FACTS, MOST_INCOMING, NamedThing
from nacre.records.browse import PredicateFacts
from nacre.records.evidence import Cell
from nacre.records.schema import Class, Predicate, Schema

MAX_CLASSES, MAX_PROPERTIES = 100, 200
MAX_COMMENT = 200
MAX_FACT = 1000


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


class SearchHit(BaseModel):
    """A sentence of the graph or of one of its documents."""

    text: str
    source: str = Field(description="The thing or the document that it comes from.")
    branch: str = Field(description="lexical: it contains the words; vector: it is close in meaning.")
    keys: list[str] = Field(description="IRIs of the things it is about.")


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


class GraphListItem(BaseModel):
    """A graph and its size; `problem` says why it can't be queried."""

    name: str
    version: str
    triples: int
    things: int
    classes: int
    problem: str


def class_summary(record: Class) -> ClassSummary:
    """The summary of a class."""
    return ClassSummary(
        iri=record.iri, label=record.label, count=record.count, table=record.relation, comment=_shorten(record.comment)
    )


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
        samples=[_shorten(each) for each in (predicate.values or predicate.samples)[:5]],
        comment=_shorten(predicate.comment),
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


def _shorten(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= MAX_COMMENT else f"{text[:MAX_COMMENT].rstrip()} ..."
