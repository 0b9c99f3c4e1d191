"""The RDF data model: terms, facts, capsules (all facts of one subject) and passages (their text)."""

from dataclasses import dataclass
from typing import Literal, NamedTuple

TermKind = Literal["iri", "blank", "literal", "triple"]


class Term(NamedTuple):
    """One RDF term. `value` is the IRI, the blank node's label, or the lexical form of a literal.

    `datatype` is an IRI, or "" for xsd:string and language-tagged text; `language` is "" where there is none.
    """

    kind: TermKind
    value: str
    datatype: str = ""
    language: str = ""


class Fact(NamedTuple):
    """One triple of a capsule, without its subject. `graph` is "" for the default graph."""

    predicate: str
    object: Term
    graph: str = ""


@dataclass(frozen=True, slots=True)
class Capsule:
    """All facts of one subject, in a stable order (the grouping that PolyRAG and RAGONITE start from)."""

    subject: Term
    facts: tuple[Fact, ...]


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
