"""A triple that was extracted from a sentence, and where that sentence stands."""

from dataclasses import dataclass
from typing import Literal, NamedTuple

# where what texts add to a schema is named; no graph of anybody's has names there (RFC 2606)
EXTRACTED_NAMESPACE = "http://extracted.invalid/"

ObjectKind = Literal["thing", "text", "number", "date"]


class SourceSentence(NamedTuple):
    """A sentence of a document, `start` to `end` in characters, and what its passage is about."""

    text: str
    document: str
    start: int
    end: int
    title: str = ""


class ExtractedStatement(NamedTuple):
    """What a sentence states, in its own words. `pattern` says how it was found; `kind` what its object is."""

    subject: str
    relation: str
    object: str
    kind: ObjectKind
    pattern: str


@dataclass(frozen=True)
class ExtractedTriple:
    """A statement with its sentence. The keys are IRIs of the graph, "" for what the graph does not know; `confidence`
    is the share of statements of its pattern that were right where it was measured, 0..1."""

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
        """The triple in words."""
        return f"{self.subject} {self.relation} {self.object}"
