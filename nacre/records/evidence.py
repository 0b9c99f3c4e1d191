"""The RDF data model (terms, passages, extracted triples), and what the branches look up and return."""

from dataclasses import dataclass
from typing import Literal, NamedTuple

from nacre.records.plan import Plan

TermKind = Literal["iri", "blank", "literal", "triple"]


class Term(NamedTuple):
    """One RDF term. `value` is the IRI, the blank node's label, or the lexical form of a literal. `datatype` is an IRI,
    or "" for xsd:string and language-tagged text; `language` is "" where there is none."""

    kind: TermKind
    value: str
    datatype: str = ""
    language: str = ""


class Sentence(NamedTuple):
    """A sentence and its source: a triple, or a place in a document (character offsets).

    If a triple's literal is longer than a passage, the object is the part that the sentence quotes, and `start` and
    `end` are its place in the literal.
    """

    text: str
    triple: tuple[str, str, str] | None = None
    document: str | None = None
    start: int = 0
    end: int = 0


@dataclass(frozen=True, slots=True)
class Passage:
    """Sentences about one thing, or a stretch of a document. `key` is the subject's IRI or the document's name."""

    id: int
    key: str
    title: str
    sentences: tuple[Sentence, ...]

    @property
    def text(self) -> str:
        return " ".join([sentence[0] for sentence in self.sentences])


# namespace of terms that texts add, a part of that of layers
EXTRACTED_NAMESPACE = "urn:nacre:layer:text:"

ObjectKind = Literal["thing", "text", "number", "date"]


class SourceSentence(NamedTuple):
    """A sentence of a document, from `start` to `end` (characters); `title` is that of its passage."""

    text: str
    document: str
    start: int
    end: int
    title: str = ""


@dataclass(frozen=True)
class ExtractedTriple:
    """A statement with its sentence. The keys are IRIs of the graph, "" for what the graph does not have. `confidence`
    is the measured precision of its pattern, 0..1."""

    subject: str
    subject_key: str
    relation: str
    relation_key: str
    object: str
    object_key: str
    kind: ObjectKind
    confidence: float
    pattern: str
    by: Literal["rules", "model"]
    claim: SourceSentence

    @property
    def phrase(self) -> str:
        """The triple as text."""
        return f"{self.subject} {self.relation} {self.object}"


Cell = str | int | float | bool | None

AnswerForm = Literal["names", "number", "date", "yes_no", "table", "text", "prose"]


@dataclass(frozen=True)
class QueryError:
    kind: str
    message: str


@dataclass(frozen=True)
class Query:
    """One query that was tried. `tool` is its branch, `words` its meaning in English, `by` the reasoner that wrote
    it. `portable` is the query of the branch `sparql` for any endpoint with the data as it was read."""

    tool: str
    round: int
    text: str
    words: str = ""
    params: tuple[Cell, ...] = ()
    rows: int = 0
    truncated: bool = False
    error: QueryError | None = None
    seconds: float = 0.0
    by: Literal["rules", "model"] = "rules"
    portable: str = ""


@dataclass(frozen=True)
class KindCount:
    """How many things of a result are of one class."""

    iri: str
    label: str
    count: int


# deprecated; the same as other records, which were joined; the same as another thing of the graph
Mark = Literal["deprecated", "several records", "exact match"]


@dataclass(frozen=True)
class MarkedThings:
    """Things of a result that are counted apart as well: their mark and names."""

    mark: Mark
    names: tuple[str, ...]


@dataclass(frozen=True)
class OtherSpelling:
    """Another way in which a value of a condition may be written, and the things that have it (None if that is not
    known); whether they are among the rows."""

    value: str
    other: str
    count: int | None
    is_joined: bool


@dataclass(frozen=True)
class Table:
    """Rows of a result. `keys` are the IRIs behind each row (same length as `rows`).

    `units` has one entry a column ("" if none). `contributing` counts the things behind an aggregate. If the question
    asks for a highest or lowest value and the rows do not show it, `measured` has that value for each row. If the
    things are of several classes, `kinds` are these with their numbers of things, most first. `possible` are the names
    of further things that fit if a date that is not exact is a certain day. `marked` are those that are counted apart.
    `spellings` are other ways in which the values that were asked for may be written.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    keys: tuple[tuple[str, ...], ...] = ()
    units: tuple[str, ...] = ()
    contributing: int | None = None
    truncated: bool = False
    measured: tuple[Cell, ...] = ()
    measured_name: str = ""
    measured_unit: str = ""
    kinds: tuple[KindCount, ...] = ()
    possible: tuple[str, ...] = ()
    marked: tuple[MarkedThings, ...] = ()
    spellings: tuple[OtherSpelling, ...] = ()


@dataclass(frozen=True)
class JoinedTexts:
    """A join of facts of the graph and sentences of texts.

    `question` is the turn's question with the name of a thing (`label`) instead of the words that describe it. `chance`
    is the probability that the thing is the described one. Evidence that is the `basis` supports that; other evidence
    answers `question`."""

    question: str
    label: str
    chance: float
    basis: bool = False


@dataclass(frozen=True)
class Nearness:
    """Why a sentence is near to a question that no rows answer.

    `likeness` is 0..1, comparable between sentences. `thing` is the IRI of the thing that it is about: a named one, or
    one that may be asked for. `chance` is the probability that this thing is the answer, 0 if it is not offered as one.
    """

    likeness: float
    thing: str = ""
    chance: float = 0.0


@dataclass(frozen=True)
class Doubt:
    """A check that a reading or its rows fail, by name, and the words of the question, or the property, that it is
    about."""

    check: str
    point: str


@dataclass(frozen=True)
class Rows:
    """Rows that one branch found in one round.

    `query` returned them (None for a comparison, which combines many facts); `beside` are further queries that they
    were computed from. `reading` is the index of the understanding's reading that they answer (None if a model wrote
    the query), and `words` is the reading in words; `meaning` is what a model says that the rows are. `text` shows the
    first rows, `keys` are the IRIs behind all rows. `probability` is the chance that they answer the question,
    estimated after they were seen. `confirmed` rows were also found in another way. Rows from a text have the place of
    their first sentence. `triples` are looked up when the rows are cited; `basis` then describes the source of the
    citation. `plan` is set for rows that have a plan but no reading. `verified` is the id of the verified question that
    they answer, "" for others. With `doubts`, the rows of a reading are never sure; they count for nothing if the rows
    are `confirmed`.
    """

    branch: str
    round: int
    table: Table
    text: str = ""
    title: str = ""
    words: str = ""
    meaning: str = ""
    reading: int | None = None
    query: Query | None = None
    beside: tuple[Query, ...] = ()
    keys: tuple[str, ...] = ()
    triples: tuple[tuple[str, str, str], ...] = ()
    basis: str = ""
    confirmed: bool = False
    probability: float | None = None
    document: str | None = None
    start: int = 0
    end: int = 0
    plan: Plan | None = None
    joined: JoinedTexts | None = None
    names: tuple[tuple[str, str], ...] = ()
    verified: str = ""
    doubts: tuple[Doubt, ...] = ()
    kind: Literal["table"] = "table"


@dataclass(frozen=True)
class EvidenceSentence:
    """A sentence that one branch found in one round: verbalised from `triples`, or in `document` from `start` to `end`.
    `title` is that of its passage. `score` is comparable within one branch only. Sentences that were looked up because
    nothing else answers have their `nearness`."""

    branch: str
    round: int
    text: str
    title: str = ""
    score: float = 0.0
    keys: tuple[str, ...] = ()
    triples: tuple[tuple[str, str, str], ...] = ()
    document: str | None = None
    start: int = 0
    end: int = 0
    basis: str = ""
    joined: JoinedTexts | None = None
    nearness: Nearness | None = None
    kind: Literal["sentence"] = "sentence"


# `kind` discriminates them when they are parsed
Evidence = Rows | EvidenceSentence


@dataclass(frozen=True)
class GraphOverview:
    """Remarkable facts of a graph, the spans of its dates and numbers, and questions that it answers."""

    highlights: tuple[EvidenceSentence, ...] = ()
    spans: tuple[EvidenceSentence, ...] = ()
    examples: tuple[str, ...] = ()


@dataclass(frozen=True)
class BranchResult:
    """What one branch returns for one round: evidence, the queries it tried, and the error if it failed.

    `wants` is the form of answer that a model expects, `missing` what the model says the graph lacks, `outcome` the
    result of the model's queries compared with the rules' rows ("" if it wrote none). The model's rows come first.
    `standalone` is a follow-up as the model understood it, "" if it was not asked.
    """

    branch: str
    evidence: tuple[Evidence, ...] = ()
    queries: tuple[Query, ...] = ()
    error: QueryError | None = None
    by: str = "rules"
    wants: AnswerForm | None = None
    missing: str = ""
    outcome: str = ""
    standalone: str = ""

    @property
    def rows(self) -> tuple[Rows, ...]:
        """The evidence that is rows."""
        return tuple(each for each in self.evidence if isinstance(each, Rows))


@dataclass(frozen=True)
class Occurrence:
    """A value as the graph spells it, and the column that holds it; `likeness` to the searched text, 0..1."""

    table: str
    column: str
    value: str
    likeness: float = 1.0


@dataclass(frozen=True)
class LookUp:
    """A request to see values like `text` (in a column, a table or anywhere), the rows or columns of a table, or
    passages about `text`."""

    kind: Literal["values", "rows", "columns", "passages"]
    table: str = ""
    column: str = ""
    text: str = ""


def shorten(text: str, most: int) -> str:
    """At most so many characters of a text on one line, cut between words.

    >>> shorten("word " * 100, 12), shorten("two words", 12)
    ('word word …', 'two words')
    """
    text = " ".join(text.split())
    if len(text) <= most:
        return text
    return text[: text.rfind(" ", most // 2, most - 1) + 1 or most - 1] + "…"
