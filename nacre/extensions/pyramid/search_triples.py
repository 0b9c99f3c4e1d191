"""The branch `triples`: single triples about the things that a question names, of the graph and of its texts.

They are embedded on demand (PolyRAG, section 4.2). The best ten are evidence; if one relation of one thing is likely
to answer, all its values are rows. Whether they suffice is a logistic model over named features, fitted by `python
-m evaluation.learn_sufficiency`; PolyRAG asks a model for yes or no.
"""

import json
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nacre.extensions.pyramid.clauses import object_kind
from nacre.extensions.pyramid.extract_triples import MIN_STATEMENT_CONFIDENCE, normalise_name
from nacre.language.quantities import find_amounts
from nacre.language.thesaurus import word_coverage
from nacre.language.tokens import fold, tokenize
from nacre.records.evidence import (
    BranchResult,
    Cell,
    EvidenceSentence,
    ExtractedTriple,
    ObjectKind,
    Query,
    QueryError,
    Rows,
    Table,
)
from nacre.records.turn import Understanding
from nacre.stores.sqlite.lexicon import Lexicon
from nacre.stores.sqlite.passages import Passages
from nacre.stores.sqlite.triples import ExtractedLayer
from nacre.stores.vectors import Embedder, label_vectors

BRANCH = "triples"

MAX_TRIPLES = 10

# relations of which a triple is embedded for a question; others are too far from it
NEAREST = 4

# bounds for one question: words of a name, things, passages of each, relations
LONGEST_NAME, MOST_THINGS, MOST_PASSAGES, MOST_GROUPS = 7, 8, 8, 48

MOST_WORDS = 60

# a mention with a lower score names no thing (given)
MENTION_SCORE = 0.5

EXTRACTED_BASIS = "triples extracted from these sentences"

GRAPH_BASIS = "these triples of the graph"

Array = NDArray[np.float64]


@dataclass(frozen=True)
class TripleStores:
    """The stores of triples; a graph may lack passages, or triples extracted from texts."""

    lexicon: Lexicon
    embedder: Embedder
    passages: Passages | None = None
    layer: ExtractedLayer | None = None


def search(understanding: Understanding, stores: TripleStores, *, round: int) -> BranchResult:
    """The ten best triples as sentences, and the rows of the relation that answers best, with their probability."""
    started = time.perf_counter()
    question = understanding.standalone
    rated = rank_triples(understanding, stores)
    query = Query(BRANCH, round, question, words=f"triples about: {question}", rows=len(rated))
    query = replace(query, seconds=time.perf_counter() - started)
    if not rated:
        return BranchResult(BRANCH, (), (query,), QueryError("empty", "No triple is about what the question names."))
    best, chance = rated[0]
    sentences = [replace(each.sentence, round=round, score=p) for group, p in rated for each in group.triples]
    chosen = list({(each.text, each.title): each for each in sentences}.values())[:MAX_TRIPLES]
    sure = replace(best, triples=tuple(each for each in best.triples if each.confidence >= MIN_STATEMENT_CONFIDENCE))
    answers = sure.triples and understanding.expected not in ("prose", "boolean")
    rows = (_rows(sure, chance, query, round),) if answers else ()
    return BranchResult(BRANCH, (*rows, *chosen), (query,))


@dataclass(frozen=True)
class RetrievedTriple:
    """A triple of a search result: its `other` end as text and as a cell, its confidence and its sentence."""

    other: str
    key: str
    kind: ObjectKind
    confidence: float
    sentence: EvidenceSentence


@dataclass(frozen=True)
class TripleGroup:
    """The triples with one relation and one end, the anchor: their subject, or their object if not `forward`. `names`
    are the relations that were condensed to this one."""

    anchor: str
    relation: str
    forward: bool
    triples: tuple[RetrievedTriple, ...]
    names: tuple[str, ...] = ()

    @property
    def phrase(self) -> str:
        """The anchor and the relation in the order of the triples."""
        return f"{self.anchor} {self.relation}" if self.forward else f"{self.relation} {self.anchor}"


def rank_triples(understanding: Understanding, stores: TripleStores) -> list[tuple[TripleGroup, float]]:
    """The groups of triples that may answer, with their probabilities, the likeliest first."""
    rated = [
        (group, round(sufficiency_probability(found), 4)) for group, found in triple_features(understanding, stores)
    ]
    return sorted(rated, key=lambda pair: (-pair[1], pair[0].phrase))


def triple_features(understanding: Understanding, stores: TripleStores) -> list[tuple[TripleGroup, dict[str, float]]]:
    """The groups of triples that may answer, with their features."""
    question = understanding.standalone
    groups = list(_groups(understanding, stores))[:MOST_GROUPS]
    if not groups:
        return []
    remainders = [_without_name(question, each.anchor) for each in groups]
    relations = [name for each in groups for name in (each.relation, *each.names)]
    names = dict(zip(relations, _of_length_1(label_vectors(stores.embedder, relations)), strict=True))
    distinct = list(dict.fromkeys(remainders))
    vectors = dict(zip(distinct, _embedded(stores.embedder, distinct), strict=True))
    cosines = [
        max(float(names[name] @ vectors[remainder]) for name in (each.relation, *each.names))
        for each, remainder in zip(groups, remainders, strict=True)
    ]
    nearest = sorted(zip(groups, remainders, cosines, best_rivals(cosines), strict=True), key=lambda each: -each[2])[
        :NEAREST
    ]
    triples = [f"{group.relation} {group.triples[0].other}" for group, *_ in nearest]
    embedded = _embedded(stores.embedder, triples)
    return [
        (group, sufficiency_features(remainder, group, float(triple @ vectors[remainder]), cosine, rival))
        for triple, (group, remainder, cosine, rival) in zip(embedded, nearest, strict=True)
    ]


def _groups(understanding: Understanding, stores: TripleStores) -> Iterator[TripleGroup]:
    """The triples about things that the question names, grouped by the named end and the relation."""
    keys = {m.target: m.label for m in understanding.mentions if m.kind == "entity" and m.score >= MENTION_SCORE}
    keys = dict(list(keys.items())[:MOST_THINGS])
    layer = stores.layer
    forms = layer.names(_spans(understanding.standalone)) if layer is not None else []
    # the longest of overlapping names is meant
    forms = [form for form in forms if not any(f" {form} " in f" {other} " and form != other for other in forms)]
    names: dict[str, list[str]] = {}
    for own, into in layer.condensed.items() if layer is not None else ():
        names.setdefault(into, []).append(own)
    found: dict[tuple[str, str, bool], list[RetrievedTriple]] = {}
    for key, label in keys.items():
        for relation, forward, single in _graph_triples(key, stores):
            found.setdefault((label, relation, forward), []).append(single)
    for each in layer.about(keys, forms) if layer is not None else ():
        subject = keys.get(each.subject_key) or (each.subject if normalise_name(each.subject) in forms else "")
        value = keys.get(each.object_key) or (each.object if normalise_name(each.object) in forms else "")
        if subject and not value:
            found.setdefault((subject, each.relation, True), []).append(_single(each, forward=True))
        elif value and not subject:
            found.setdefault((value, each.relation, False), []).append(_single(each, forward=False))
    for (anchor, relation, forward), singles in found.items():
        once = {fold(single.other): single for single in reversed(singles)}
        yield TripleGroup(anchor, relation, forward, tuple(reversed(once.values())), tuple(names.get(relation, ())))


def _graph_triples(key: str, stores: TripleStores) -> Iterator[tuple[str, bool, RetrievedTriple]]:
    """The triples of a thing in its passages."""
    passages = stores.passages.by_key(key, MOST_PASSAGES) if stores.passages is not None else []
    predicates = stores.lexicon.schema.predicate_of
    for passage in passages:
        for text, triple, document, *_ in passage.sentences:
            if triple is None or document is not None or triple[1] not in predicates:
                continue
            predicate = predicates[triple[1]]
            forward = triple[0] == key
            other = triple[2] if forward else triple[0]
            if predicate.role == "name" or other == key:
                continue
            thing = stores.lexicon.thing(other)
            sentence = EvidenceSentence(
                BRANCH, 1, text, passage.title, keys=(key,), triples=(triple,), basis=GRAPH_BASIS
            )
            label, known = (thing.label, other) if thing is not None else (other, "")
            yield (
                predicate.label,
                forward,
                RetrievedTriple(label, known, "thing" if thing else object_kind(label), 1.0, sentence),
            )


def _single(each: ExtractedTriple, *, forward: bool) -> RetrievedTriple:
    other, key = (each.object, each.object_key) if forward else (each.subject, each.subject_key)
    claim = each.claim
    sentence = EvidenceSentence(
        BRANCH,
        1,
        claim.text,
        each.subject,
        keys=tuple(k for k in (each.subject_key, each.object_key) if k),
        triples=((each.subject_key or each.subject, each.relation, each.object_key or each.object),),
        document=claim.document,
        start=claim.start,
        end=claim.end,
        basis=EXTRACTED_BASIS,
    )
    return RetrievedTriple(other, key, each.kind if forward else "thing", each.confidence, sentence)


def _rows(group: TripleGroup, chance: float, query: Query, round: int) -> Rows:
    """All values that a relation gives for its anchor, each once, with the sentences that state them."""
    cells = [_cell(each) for each in group.triples]
    units = {unit for _, unit in cells}
    first = next((each.sentence for each in group.triples if each.sentence.document is not None), None)
    sentences = list(dict.fromkeys(each.sentence.text for each in group.triples))
    return Rows(
        BRANCH,
        round,
        Table(
            (group.relation,),
            tuple(
                (value if len(units) == 1 else each.other,)
                for each, (value, _) in zip(group.triples, cells, strict=True)
            ),
            tuple((each.key,) if each.key else () for each in group.triples),
            (units.pop() if len(units) == 1 else "",),
        ),
        text="\n".join(sentences),
        title=(first.document or "") if first is not None else group.anchor,
        words=f"{group.anchor}: {group.relation}" if group.forward else f"what {group.relation} {group.anchor}",
        query=query,
        keys=tuple(dict.fromkeys(each.key for each in group.triples if each.key)),
        triples=tuple(triple for each in group.triples for triple in each.sentence.triples),
        basis=EXTRACTED_BASIS if first is not None else GRAPH_BASIS,
        probability=chance,
        document=first.document if first is not None else None,
        start=first.start if first is not None else 0,
        end=first.end if first is not None else 0,
    )


def _cell(single: RetrievedTriple) -> tuple[Cell, str]:
    """A value and its unit: a number if the text is a single amount."""
    found = find_amounts(single.other) if single.kind == "number" else []
    if len(found) != 1:
        return single.other, ""
    value = found[0].value
    return int(value) if value.is_integer() else value, found[0].unit


def _spans(question: str) -> list[str]:
    """All spans of the question that may be a name, folded."""
    words = [token.norm for token in tokenize(question)][:MOST_WORDS]
    return [
        " ".join(words[start : start + length])
        for length in range(1, LONGEST_NAME + 1)
        for start in range(len(words) - length + 1)
    ]


def _without_name(question: str, anchor: str) -> str:
    """The question without the name of the thing that it is about."""
    at = fold(question).find(fold(anchor))
    left = question if at < 0 else f"{question[:at]}{question[at + len(anchor) :]}"
    return " ".join(left.split()) or question


def _embedded(embedder: Embedder, texts: Sequence[str]) -> list[Array]:
    """One vector of length 1 for each text."""
    return _of_length_1(embedder.embed(texts) if texts else [])


def _of_length_1(embedded: Sequence[Array]) -> list[Array]:
    vectors = [np.asarray(vector, dtype=np.float64) for vector in embedded]
    return [vector / max(float(np.linalg.norm(vector)), 1e-12) for vector in vectors]


SUFFICIENCY_FILE = Path(__file__).with_name("sufficiency.json")

# triples of a group whose words count for the features
_MAX_TRIPLES = 8

# bound of the score, against overflow
_MAX_SCORE = 30.0


def sufficiency_features(
    left: str, group: TripleGroup, triple: float, relation: float, rival: float
) -> dict[str, float]:
    """The named features of a group.

    `left` is the question without the anchor. `triple` is the cosine of `left` and the nearest triple without the
    anchor, `relation` the cosine of `left` and the names of the relation, `rival` the highest `relation` of another
    group.
    """
    names = " ".join((group.relation, *group.names))
    ends = [each.other for each in group.triples[:_MAX_TRIPLES]]
    return {
        "bias": 1.0,
        "triple": triple,
        "relation": relation,
        "ahead": relation - rival,
        "named": word_coverage(left, [EvidenceSentence("", 1, names)]),
        "told": word_coverage(left, [EvidenceSentence("", 1, f"{names} {end}") for end in ends]),
    }


def sufficiency_probability(features: Mapping[str, float]) -> float:
    """The probability that the other ends are the answer."""
    weights = sufficiency_weights()
    score = sum(weights.get(name, 0.0) * value for name, value in features.items())
    return 1 / (1 + math.exp(-max(-_MAX_SCORE, min(_MAX_SCORE, score))))


def best_rivals(cosines: Sequence[float]) -> list[float]:
    """For each value the highest of the other values; 0 if there are no others.

    >>> best_rivals([0.2, 0.9, 0.5])
    [0.9, 0.5, 0.9]
    """
    order = sorted(cosines, reverse=True)
    return [(order[1] if len(order) > 1 else 0.0) if each == order[0] else order[0] for each in cosines]


@cache
def sufficiency_weights() -> Mapping[str, float]:
    """The weights of the file, read once."""
    weights: dict[str, float] = json.loads(SUFFICIENCY_FILE.read_text(encoding="utf-8"))
    return weights
