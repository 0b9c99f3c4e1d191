"""Disambiguation of statements against the names of a graph: claims -> ExtractedTriple, by rules."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from nacre.extraction.clauses import extract_statements
from nacre.language.tokens import lemma, name_tokens
from nacre.records.extracted import ExtractedStatement, ExtractedTriple, SourceSentence
from nacre.stores.sqlite.lexicon import Lexicon

CONFIDENCE_FILE = Path(__file__).parent / "confidence.json"
# a name that is one of several things' counts by its share of their prominence, from here on (given)
MIN_NAME_CONFIDENCE = 0.5
# triples of patterns that are right less often give no values and complete no schema: they are only shown (given)
MIN_STATEMENT_CONFIDENCE = 0.5
# words of a title that are looked at
MAX_TITLE_WORDS = 12


@dataclass
class DocumentNames:
    """The names that a document has used so far, and those of the graph."""

    lexicon: Lexicon
    seen: dict[str, str] = field(default_factory=dict)

    def key(self, text: str) -> tuple[str, float]:
        """The IRI that a name stands for, "" for none, and how clear that is.

        Titles and nouns for its class in front of a name are left out; the last word of a name that the document
        has used in full will do.
        """
        said = text.split()
        for start in range(len(said)):
            if start and not (said[start - 1].endswith(".") or self._is_class(said[start - 1])):
                break
            found = self._exact(" ".join(said[start:]))
            if found[0]:
                return found
        full = self.seen.get(text.casefold(), "")
        return (full, 1.0) if full else ("", 1.0)

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

    def use(self, text: str, key: str) -> None:
        """Remember the last word of a name of several words, where no other name ends in it."""
        last = text.split()[-1].casefold() if len(text.split()) > 1 else ""
        if last and key:
            self.seen[last] = key if self.seen.get(last, key) == key else ""

    def relation(self, said: str) -> str:
        """The property of the graph that says what a relation says, "" for none."""
        forms = {name_tokens(said), tuple(lemma(word) for word in name_tokens(said))}
        found = {
            name.target
            for form in forms
            for name in (*self.lexicon.exact(form), *self.lexicon.inflected(form))
            if name.kind == "predicate"
        }
        return next(iter(found)) if len(found) == 1 else ""

    def called(self, key: str) -> frozenset[str]:
        """The nouns that a thing of the graph is called by: the labels of its classes."""
        thing = self.lexicon.thing(key) if key else None
        if thing is None:
            return frozenset()
        kinds = {c for g in self.lexicon.schema.groups if g.relation == thing.relation for c in g.classes}
        return frozenset(c.label.lower() for c in self.lexicon.schema.classes if c.iri in kinds)


def resolve_claims(claims: Sequence[SourceSentence], lexicon: Lexicon) -> Iterator[ExtractedTriple]:
    """What the claims of one document state, by rules, in their order."""
    names = DocumentNames(lexicon)
    title, topic = "", ""
    for claim in claims:
        if claim.title != title:
            title, topic = claim.title, passage_topic(claim.title, names)
        key, _ = names.key(topic)
        for statement in extract_statements(claim.text, topic, names.called(key)):
            one = resolve_statement(statement, claim, names)
            if one is None:
                continue
            if one.subject_key:
                topic = one.subject
            yield one


def passage_topic(title: str, names: DocumentNames) -> str:
    """What a passage is about: the thing of the graph that its title names, in whole parts or in few words, else the
    last part of its title."""
    parts = [part.strip() for part in title.split(":") if part.strip()]
    chosen = next((part for part in reversed(parts) if names.key(part)[0]), "")
    if not chosen and parts:
        said = [word for part in parts for word in part.replace(",", " ").split()][:MAX_TITLE_WORDS]
        spans = (
            " ".join(said[start : start + length])
            for length in range(len(said), 0, -1)
            for start in range(len(said) - length + 1)
        )
        chosen = next((span for span in spans if span[0].isupper() and names.key(span)[0]), parts[-1])
    names.use(chosen, names.key(chosen)[0])
    return chosen


def resolve_statement(
    statement: ExtractedStatement, claim: SourceSentence, names: DocumentNames, confidence: float | None = None
) -> ExtractedTriple | None:
    """A statement with the things and the property that it names; None where it is not clear of what it tells."""
    subject_key, clear = names.key(statement.subject)
    object_key, clear_object = names.key(statement.object) if statement.kind in ("thing", "text") else ("", 1.0)
    if min(clear, clear_object) < MIN_NAME_CONFIDENCE or (subject_key and subject_key == object_key):
        return None
    for text, key in ((statement.subject, subject_key), (statement.object, object_key)):
        names.use(text, key)
    share = pattern_confidence(statement.pattern) if confidence is None else confidence
    return ExtractedTriple(
        _shown(statement.subject, subject_key, names),
        subject_key,
        statement.relation,
        names.relation(statement.relation),
        _shown(statement.object, object_key, names),
        object_key,
        "thing" if object_key else statement.kind,
        round(share * clear * clear_object, 3),
        statement.pattern,
        "rules" if confidence is None else "model",
        claim,
    )


def pattern_confidence(pattern: str) -> float:
    """The share of statements of a pattern that were right, the more so the more of them were judged; of a pattern that
    was never met, that of the pattern that it is a case of, else of all.

    >>> pattern_confidence("copula") > pattern_confidence("phrase+noun")
    True
    """
    counts = pattern_counts()
    right, judged = counts.get(pattern) or counts.get(pattern.partition("+")[0]) or counts[""]
    return round((right + 1) / (judged + 2), 3)


@cache
def pattern_counts() -> Mapping[str, tuple[int, int]]:
    """(right, judged) by pattern, "" for all: statements of 25 pages of prose about cars, judged by eye."""
    found: dict[str, list[int]] = json.loads(CONFIDENCE_FILE.read_text(encoding="utf-8"))
    counts = {pattern: (right, judged) for pattern, (right, judged) in found.items()}
    return {**counts, "": (sum(r for r, _ in counts.values()), sum(n for _, n in counts.values()))}


def _shown(text: str, key: str, names: DocumentNames) -> str:
    thing = names.lexicon.thing(key) if key else None
    return thing.label if thing is not None else text
