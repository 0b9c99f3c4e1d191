"""Triples that were extracted from sentences, with the places of the sentences."""

from dataclasses import dataclass
from typing import Literal, NamedTuple

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
