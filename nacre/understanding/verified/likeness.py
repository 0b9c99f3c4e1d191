"""How like a question is to a verified one: Alignment + Question + Links + readings -> named features, 0..1 each."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from rapidfuzz import fuzz

from nacre.language.thesaurus import GradableAdjective, gradable_adjective, synonyms
from nacre.language.tokens import Token, lemma, name_tokens
from nacre.records.plan import Aggregate, Combine, Compute, Plan, Select
from nacre.records.turn import Reading
from nacre.understanding.linking.graph.schema_graph import SchemaGraph
from nacre.understanding.question.types import Cue, Link, Question
from nacre.understanding.verified.align import Alignment, content_words

# minimum score of a link that contradicts a plan without its element, and of two words that are one with a slip (given)
SURE_LINK, SAME_WORD_RATIO = 0.9, 85
# the lead of one verified question over the others, at most (given)
MAX_LEAD = 0.5
# cues that say what is computed, in groups of which one word may stand for the other
COMPUTING_CUES = {
    "count": "count", "avg": "avg", "sum": "sum", "share": "share", "negation": "not", "missing": "not",
    "group": "group", "superlative": "order", "most": "order", "order": "order", "direction": "order",
    "max": "order", "min": "order", "both": "both", "either": "or", "or": "or", "compare": "compare",
    "bound": "compare",
}  # fmt: skip
# directions of cues that have no value
DIRECTIONS = {"max": "up", "min": "down"}


@dataclass(frozen=True)
class Words:
    """What the content words of a question are to a verified question and its plan, by their positions."""

    same: frozenset[int]
    synonymous: frozenset[int]
    own: frozenset[int]
    other: frozenset[int]
    weak: frozenset[int]
    unlinked: frozenset[int]
    missing: tuple[Token, ...]

    @property
    def are_shared(self) -> bool:
        """Whether the verified question or its plan has one of the words."""
        return bool(self.same or self.synonymous or self.own)

    @property
    def count(self) -> int:
        return sum(map(len, (self.same, self.synonymous, self.own, self.other, self.weak, self.unlinked)))


def compare_words(alignment: Alignment, question: Question, links: Sequence[Link], graph: SchemaGraph) -> Words:
    """The words of the question by what accounts for them, and the words of the verified question that nothing
    matches."""
    template = alignment.template
    labels = _label_words(template.elements, graph)
    places: dict[str, set[int]] = {kind: set() for kind in ("same", "synonymous", "own", "other", "weak", "unlinked")}
    matched: set[int] = set()
    for i, token in content_words(question, alignment.taken):
        kind, at = _match(token, template.words)
        if at is not None:
            matched.add(at)
        elif lemmas_of(token) & labels:
            kind = "own"
        else:
            kind = _linked_kind(i, links, template.elements, graph, alignment.taken)
        places[kind].add(i)
    missing = tuple(token for at, token in enumerate(template.words) if at not in matched)
    same, synonymous, own, other, weak, unlinked = map(frozenset, places.values())
    return Words(same, synonymous, own, other, weak, unlinked, missing)


def unaccounted_words(
    question: Question, links: Sequence[Link], elements: Collection[str], graph: SchemaGraph, taken: frozenset[int]
) -> frozenset[int]:
    """The content words of a question that name no element of its plan, and surely nothing else."""
    labels = _label_words(elements, graph)
    return frozenset(
        i
        for i, token in content_words(question, taken)
        if not lemmas_of(token) & labels and _linked_kind(i, links, elements, graph, taken) in ("weak", "unlinked")
    )


def named_elements(
    question: Question, links: Sequence[Link], elements: Collection[str], graph: SchemaGraph, words: Collection[int]
) -> frozenset[str]:
    """Those of the elements that words at these places name, by a link or a word of their label."""
    lemmas = frozenset(each for i in words for each in lemmas_of(question.tokens[i]))
    linked = {iri for link in links for iri in _link_elements(link, graph) if any(link.covered >> i & 1 for i in words)}
    return frozenset(iri for iri in elements if iri in linked or lemmas & set(_words_of_label(_label(iri, graph))))


def likeness_features(
    alignment: Alignment,
    words: Words,
    question: Question,
    links: Sequence[Link],
    readings: Sequence[Reading],
    elements: frozenset[str],
) -> dict[str, float]:
    """Named features of the chance that the plan answers the question. `elements` are the IRIs of the first reading."""
    template, count = alignment.template, max(1, words.count)
    of_verified = max(1, len(template.words))
    first = readings[0] if readings else None
    cues, others = (computing_cues(each) for each in (question.cues, template.cues))
    agreeing = sum(r.score for r in readings if r.plan.body == alignment.plan.body)
    return {
        "bias": 1.0,
        "same words": len(words.same) / count,
        "synonymous words": len(words.synonymous) / count,
        "own words": len(words.own) / count,
        "other words": min(3, len(words.other)) / 3,
        "other share": len(words.other) / count,
        "weak words": len(words.weak) / count,
        "unlinked words": len(words.unlinked) / count,
        "missing share": len(words.missing) / of_verified,
        "missing words": min(3, len(words.missing)) / 3,
        "no word": float(not words.count or not template.words),
        "all words": float(not words.missing and len(words.same) == words.count),
        "other name": float(_names_other(alignment, words, links)),
        "changed": float(alignment.changed > 0),
        "odd numbers": float(alignment.odd > 0),
        "more cues": float(bool(cues - others)),
        "fewer cues": float(bool(others - cues)),
        "slots": float(bool(template.names)),
        "numbers": float(bool(template.numbers)),
        "rules agree": agreeing,
        "rules none": float(first is None),
        "rules elements": _overlap(elements, template.elements),
        "rules shape": float(first is not None and plan_shape(first.plan) == plan_shape(alignment.plan)),
        "rules sure of other": (first.probability or 0.0) if first and first.plan.body != alignment.plan.body else 0.0,
        "rules whole": float(first is not None and not first.unused and first.plan.body != alignment.plan.body),
        "rules unused": min(3, len(first.unused)) / 3 if first else 0.0,
    }  # fmt: skip


def word_leads(features: Sequence[Mapping[str, float]], plans: Sequence[Plan]) -> list[float]:
    """How much more the words of each are those of the question than the words of the best one with another plan."""
    scores = [
        each["same words"] + each["synonymous words"] + each["own words"] / 2
        - each["missing share"] - each["other share"]
        for each in features
    ]  # fmt: skip
    leads, hashes = [], list(map(hash, plans))
    for score, plan in zip(scores, hashes, strict=True):
        others = [other for other, of in zip(scores, hashes, strict=True) if of != plan]
        leads.append(max(-MAX_LEAD, min(MAX_LEAD, score - max(others, default=score - MAX_LEAD))))
    return leads


def plan_shape(plan: Plan) -> tuple[object, ...]:
    """What a plan computes, apart from classes, properties and constants."""
    body = plan.body
    if isinstance(body, Combine | Compute):
        return (body.kind, body.op, *plan_shape(Plan(body.left)), *plan_shape(Plan(body.right)))
    if not isinstance(body, Select):
        return (body.kind,)
    answers = [each.function if isinstance(each, Aggregate) else each.kind for each in body.answers]
    order = (body.order.descending, body.limit) if body.order else ()
    return (body.kind, *answers, order, bool(body.group or body.by), sum(each.negated for each in body.filters))


def computing_cues(cues: Sequence[Cue]) -> set[str]:
    """The values of `COMPUTING_CUES` of the cues, and the directions of those that order."""
    return {COMPUTING_CUES[cue.kind] for cue in cues if cue.kind in COMPUTING_CUES} | cue_directions(cues)


def cue_directions(cues: Iterable[Cue]) -> set[str]:
    """The directions, "up" and "down", of cues that order."""
    ranking = [cue for cue in cues if COMPUTING_CUES.get(cue.kind) == "order"]
    return {DIRECTIONS.get(cue.kind) or cue.ranking[0] for cue in ranking} & {"up", "down"}


def _overlap(one: Collection[str], other: Collection[str]) -> float:
    """The Jaccard index of two sets."""
    return len(set(one) & set(other)) / max(1, len(set(one) | set(other)))


def _names_other(alignment: Alignment, words: Words, links: Sequence[Link]) -> bool:
    """Whether the question surely names a thing or value that fills no slot, in words that the verified question does
    not have."""
    known = alignment.taken | words.same | words.synonymous | words.own
    return any(
        link.kind in ("entity", "value") and link.exact and known.isdisjoint(range(link.start, link.end))
        for link in links
    )


def _linked_kind(
    at: int, links: Sequence[Link], elements: Collection[str], graph: SchemaGraph, taken: frozenset[int]
) -> str:
    """What links say of a word that the verified question lacks: it names an element of the plan ("own"), surely
    another one, perhaps another one ("weak"), or nothing."""
    covering = [link for link in links if link.covered >> at & 1 and taken.isdisjoint(range(link.start, link.end))]
    if any(not set(elements).isdisjoint(_link_elements(link, graph)) for link in covering):
        return "own"
    if any(link.exact and link.score >= SURE_LINK for link in covering):
        return "other"
    return "weak" if covering else "unlinked"


def _link_elements(link: Link, graph: SchemaGraph) -> Iterator[str]:
    for ref in link.refs:
        if ref.predicate or ref.via:
            yield ref.predicate or ref.via
        elif link.kind == "class":
            yield from graph.nodes[ref.node].classes


def _label(iri: str, graph: SchemaGraph) -> str:
    schema = graph.schema
    known = schema.class_of.get(iri) or schema.predicate_of.get(iri)
    return known.label if known is not None else ""


@lru_cache(4096)
def _similar(word: str, other: str) -> str:
    if word == other or (len(word) > 4 and len(other) > 4 and fuzz.ratio(word, other) >= SAME_WORD_RATIO):
        return "same"
    return "synonymous" if other in synonyms(word) or word in synonyms(other) else ""


def _match(token: Token, words: Sequence[Token]) -> tuple[str, int | None]:
    """How a word matches one of the others, and which."""
    found = [(_similar(token.lemma, other.lemma), at) for at, other in enumerate(words)]
    for kind in ("same", "synonymous"):
        at = next((at for each, at in found if each == kind), None)
        if at is not None:
            return kind, at
    adjective = _adjective(token.norm, token.lemma)
    for at, other in enumerate(words) if adjective is not None else ():
        of_other = _adjective(other.norm, other.lemma)
        if of_other is not None and adjective is not None and _measure_same(adjective, of_other):
            return "synonymous", at
    return "", None


def _measure_same(one: GradableAdjective, other: GradableAdjective) -> bool:
    return one.descending == other.descending and bool(set(one.concepts) & set(other.concepts))


def lemmas_of(token: Token) -> frozenset[str]:
    """The lemma of a word and its synonyms, and what an adjective measures."""
    adjective = _adjective(token.norm, token.lemma)
    concepts = (each.removeprefix("-") for each in adjective.concepts) if adjective is not None else ()
    return synonyms(token.lemma) | frozenset(concepts)


@lru_cache(4096)
def _adjective(norm: str, lemma: str) -> GradableAdjective | None:
    return gradable_adjective(Token(norm, 0, len(norm), norm, lemma))


def _label_words(elements: Collection[str], graph: SchemaGraph) -> frozenset[str]:
    return frozenset(word for iri in elements for word in _words_of_label(_label(iri, graph)))


@lru_cache(4096)
def _words_of_label(label: str) -> tuple[str, ...]:
    return tuple(map(lemma, name_tokens(label)))
