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
