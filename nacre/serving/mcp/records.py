"""What the tools of the MCP server give back, as structured output: one record a tool."""

from typing import Any

from pydantic import BaseModel, Field

from nacre.records.answer import Answer, Option, TableRecord, Value
from nacre.records.evidence import Cell
from nacre.records.schema import Class, Predicate, Schema

MOST_CLASSES, MOST_PROPERTIES = 100, 200
LONGEST_COMMENT = 200


class Cited(BaseModel):
    """What one [n] of an answer rests on."""

    n: int
    source: str
    text: str
    basis: str
    query: str = Field(description="The query that gave it, or an empty text.")
    keys: list[str] = Field(description="IRIs of the things it rests on, 20 at most.")


class Told(BaseModel):
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
    citations: list[Cited]
    graph: str
    version: str
    thread: str | None


class Rows(BaseModel):
    """The rows of a query."""

    columns: list[str]
    rows: list[list[Cell]]
    units: list[str] = Field(description="One entry a column, empty where there is none.")
    truncated: bool = Field(description="Whether there are more rows than are told.")
    query: str = Field(description="The query as it ran.")
    note: str = Field(description="How it differs from the one given, where it had to be repaired.")
    seconds: float


class Sentences(BaseModel):
    """What a search found, the best first."""

    found: list["FoundSentence"]


class FoundSentence(BaseModel):
    """A sentence of the graph, or of a text that goes with it."""

    text: str
    source: str = Field(description="The thing or the document that it is about.")
    branch: str = Field(description="lexical: it holds the words; vector: it means the like.")
    keys: list[str] = Field(description="IRIs of the things it is about.")


class ClassTold(BaseModel):
    """A class of things, and the table that has a row for each."""

    iri: str
    label: str
    count: int
    table: str
    comment: str


class PropertyTold(BaseModel):
    """A property: what has it, what it leads to."""

    iri: str
    label: str
    triples: int
    datatype: str
    unit: str
    links_to: list[str] = Field(description="Labels of the classes that it leads to; empty for plain values.")
    samples: list[str]
    comment: str


class GraphTold(BaseModel):
    """What a graph is about."""

    name: str
    version: str
    triples: int
    things: int
    classes: list[ClassTold]
    properties: list[PropertyTold]
    truncated: bool = Field(description="Whether there are more classes or properties than are told.")
    sql: bool = Field(description="Whether query_sql can be used.")
    sparql: bool = Field(description="Whether query_sparql can be used.")
    search: bool = Field(description="Whether search can be used.")
    examples: list[str] = Field(description="Questions that the tool ask answers.")


class StatedTold(BaseModel):
    """One fact: a property and its other end."""

    property: str
    predicate: str
    value: str
    label: str = Field(description="The name of the value, where it is a thing.")


class ThingTold(BaseModel):
    """What a graph says of one thing."""

    iri: str
    label: str
    kinds: list[str]
    facts: list[StatedTold]
    incoming: list[StatedTold] = Field(description="Facts of others that lead to it; value is the other thing.")
    alike: list[str] = Field(description="IRIs of further things that the name may mean.")
    truncated: bool


class Listing(BaseModel):
    """The graphs that can be asked."""

    graphs: list["GraphListed"]


class GraphListed(BaseModel):
    """A graph, and how large it is; `problem` says why it can't be asked."""

    name: str
    version: str
    triples: int
    things: int
    classes: int
    problem: str


def told(record: Answer) -> Told:
    """The part of an answer record that another agent needs."""
    queries = {query["i"]: query["text"] for query in record["queries"]}
    citations = [
        Cited(
            n=each["n"],
            source=each["source"],
            text=each["text"],
            basis=each["basis"],
            query=queries.get(each["query"], "") if each["query"] is not None else "",
            keys=each["keys"][:20],
        )
        for each in record["citations"]
    ]
    kept: dict[str, Any] = {name: record[name] for name in Told.model_fields if name != "citations"}  # type: ignore[literal-required]
    return Told(**kept, citations=citations)


def class_told(found: Class) -> ClassTold:
    """A class as it is told."""
    return ClassTold(
        iri=found.iri, label=found.label, count=found.count, table=found.relation, comment=_short(found.comment)
    )


def property_told(found: Predicate, schema: Schema) -> PropertyTold:
    """A property as it is told."""
    targets = sorted(found.ranges, key=lambda iri: -found.ranges[iri]) if found.has_links else []
    return PropertyTold(
        iri=found.iri,
        label=found.label,
        triples=found.triples,
        datatype="" if found.has_links and not found.has_literals else found.datatype,
        unit=found.unit,
        links_to=[schema.class_of[iri].label for iri in targets[:5] if iri in schema.class_of],
        samples=[_short(each) for each in (found.values or found.samples)[:5]],
        comment=_short(found.comment),
    )


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= LONGEST_COMMENT else f"{text[:LONGEST_COMMENT].rstrip()} ..."
