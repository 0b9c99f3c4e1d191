"""Link the statements of a document to the names of a graph: sentences -> ExtractedTriples, by rules."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from nacre.extensions.pyramid.clauses import extract_statements
from nacre.language.tokens import lemma, name_tokens
from nacre.records.facts import ExtractedStatement, ExtractedTriple, SourceSentence
from nacre.stores.sqlite.lexicon import Lexicon

CONFIDENCE_FILE = Path(__file__).parent / "confidence.json"

# share of the prominence of all things with a name that one of them must have (given)
MIN_NAME_CONFIDENCE = 0.5

# triples of patterns with a lower confidence are only shown: they give no values and do not complete the schema (given)
MIN_STATEMENT_CONFIDENCE = 0.5

# words of a title in which names are looked up
MAX_TITLE_WORDS = 12


@dataclass
class DocumentNames:
    """Resolves the names of one document in its order: names of the graph, and short forms used after the full name."""

    lexicon: Lexicon
    short_forms: dict[str, str] = field(default_factory=dict)

    def resolve(self, text: str) -> tuple[str, float]:
        """The IRI that a name refers to ("" if none) and its confidence. Titles and nouns for its class before a name
        are ignored. The last word of a name is enough once the document has used the full name."""
        words = text.split()
        for start in range(len(words)):
            if start and not (words[start - 1].endswith(".") or self._is_class(words[start - 1])):
                break
            iri, confidence = self._exact(" ".join(words[start:]))
            if iri:
                return iri, confidence
        return self.short_forms.get(text.casefold(), ""), 1.0

    def _is_class(self, word: str) -> bool:
        return any(name.kind in ("class", "group") for name in self.lexicon.exact(name_tokens(word)))

    def _exact(self, text: str) -> tuple[str, float]:
        things = [name for name in self.lexicon.exact(name_tokens(text)) if name.kind == "entity"]
        weights: dict[str, float] = {}
        for name in things:
            weights[name.target] = max(weights.get(name.target, 0.0), name.weight + 2)
        if not weights:
            return "", 1.0
        best = max(sorted(weights), key=lambda target: weights[target])
        return best, weights[best] / sum(weights.values())

    def record(self, text: str, iri: str) -> None:
        """Record the last word of a name as its short form, unless another name ends in it."""
        last = text.split()[-1].casefold() if len(text.split()) > 1 else ""
        if last and iri:
            self.short_forms[last] = iri if self.short_forms.get(last, iri) == iri else ""

    def property_of(self, relation: str) -> str:
        """The property of the graph with the name of a relation; "" if there are none or several."""
        forms = {name_tokens(relation), tuple(lemma(word) for word in name_tokens(relation))}
        properties = {
            name.target
            for form in forms
            for name in (*self.lexicon.exact(form), *self.lexicon.inflected(form))
            if name.kind == "predicate"
        }
        return next(iter(properties)) if len(properties) == 1 else ""

    def class_labels(self, key: str) -> frozenset[str]:
        """The labels of the classes of a thing, in small letters."""
        thing = self.lexicon.thing(key) if key else None
        if thing is None:
            return frozenset()
        kinds = {c for g in self.lexicon.schema.groups if g.relation == thing.relation for c in g.classes}
        return frozenset(c.label.lower() for c in self.lexicon.schema.classes if c.iri in kinds)


def link_statements(sentences: Sequence[SourceSentence], lexicon: Lexicon) -> Iterator[ExtractedTriple]:
    """The triples that the sentences of one document state, in their order."""
    names = DocumentNames(lexicon)
    title, topic = "", ""
    for sentence in sentences:
        if sentence.title != title:
            title, topic = sentence.title, passage_topic(sentence.title, names)
        key, _ = names.resolve(topic)
        for statement in extract_statements(sentence.text, topic, names.class_labels(key)):
            triple = resolve_statement(statement, sentence, names)
            if triple is None:
                continue
            if triple.subject_key:
                topic = triple.subject
            yield triple


def passage_topic(title: str, names: DocumentNames) -> str:
    """The topic of a passage: the thing of the graph that its title names, else the last part of the title."""
    parts = [part.strip() for part in title.split(":") if part.strip()]
    chosen = next((part for part in reversed(parts) if names.resolve(part)[0]), "")
    if not chosen and parts:
        words = [word for part in parts for word in part.replace(",", " ").split()][:MAX_TITLE_WORDS]
        spans = (
            " ".join(words[start : start + length])
            for length in range(len(words), 0, -1)
            for start in range(len(words) - length + 1)
        )
        chosen = next((span for span in spans if span[0].isupper() and names.resolve(span)[0]), parts[-1])
    names.record(chosen, names.resolve(chosen)[0])
    return chosen


def resolve_statement(
    statement: ExtractedStatement, sentence: SourceSentence, names: DocumentNames, confidence: float | None = None
) -> ExtractedTriple | None:
    """A statement with the things and the property that it names; None if a name is ambiguous."""
    subject_key, subject_confidence = names.resolve(statement.subject)
    object_key, object_confidence = (
        names.resolve(statement.object) if statement.kind in ("thing", "text") else ("", 1.0)
    )
    if min(subject_confidence, object_confidence) < MIN_NAME_CONFIDENCE or (subject_key and subject_key == object_key):
        return None
    for text, key in ((statement.subject, subject_key), (statement.object, object_key)):
        names.record(text, key)
    share = pattern_confidence(statement.pattern) if confidence is None else confidence
    return ExtractedTriple(
        _label(statement.subject, subject_key, names),
        subject_key,
        statement.relation,
        names.property_of(statement.relation),
        _label(statement.object, object_key, names),
        object_key,
        "thing" if object_key else statement.kind,
        round(share * subject_confidence * object_confidence, 3),
        statement.pattern,
        "rules" if confidence is None else "model",
        sentence,
    )


def pattern_confidence(pattern: str) -> float:
    """The share of correct statements of a pattern, with add-one smoothing.

    A pattern without judged statements has the share of the pattern that it extends, else of all patterns.

    >>> pattern_confidence("copula") > pattern_confidence("phrase+noun")
    True
    """
    counts = pattern_counts()
    right, judged = counts.get(pattern) or counts.get(pattern.partition("+")[0]) or counts[""]
    return round((right + 1) / (judged + 2), 3)


@cache
def pattern_counts() -> Mapping[str, tuple[int, int]]:
    """(correct, judged) statements by pattern, "" for all: of 25 pages of prose about cars, judged by hand."""
    data: dict[str, list[int]] = json.loads(CONFIDENCE_FILE.read_text(encoding="utf-8"))
    counts = {pattern: (right, judged) for pattern, (right, judged) in data.items()}
    return {**counts, "": (sum(r for r, _ in counts.values()), sum(n for _, n in counts.values()))}


def _label(text: str, key: str, names: DocumentNames) -> str:
    thing = names.lexicon.thing(key) if key else None
    return thing.label if thing is not None else text
