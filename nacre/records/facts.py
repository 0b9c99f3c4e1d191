"""The RDF data model: terms, and passages (the text of facts).

Then triples that were extracted from sentences, with the places of the sentences.
"""

from dataclasses import dataclass
from typing import Literal, NamedTuple

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


class ExtractedStatement(NamedTuple):
    """A statement in the words of its sentence. `pattern` is the extraction pattern, `kind` the type of its object."""

    subject: str
    relation: str
    object: str
    kind: ObjectKind
    pattern: str


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


@dataclass(frozen=True)
class Proposal:
    """A class, or an attribute of the class `domain`, that texts state and the schema lacks.

    `relations` are the extracted relations that express it, `label` among them. `priority` is that of equation 7 at
    its medoid, as sign(Pr) log(1 + |Pr|). `key` is set if the property exists and only lacks these facts.
    """

    kind: Literal["class", "attribute"]
    domain: str
    label: str
    relations: tuple[str, ...]
    instances: tuple[ExtractedTriple, ...]
    priority: float
    key: str = ""

    @property
    def support(self) -> int:
        """How many subjects have it."""
        return len({each.subject_key or each.subject for each in self.instances})
