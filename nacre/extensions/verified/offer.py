"""The reading that verified questions offer: question + VerifiedQuestions -> Reading; its place among the others.

Then: what rules an offer out, and how like a question is to a verified one: named features, 0..1 each.

A verified question may differ by one word from a question that asks for something else. Checks rule such offers out;
they never change what the rules read. If a reading of the rules is surer, the offer is only placed behind it.

- The question word asks for another kind of answer than the plan gives.
- The question computes something that the verified one does not, or negates it, or asks for the other extreme.
- A word names another class or property than those of the plan, or a thing for which the plan has no place.
- A name is another one, and a word that nothing accounts for stands in the place of one of the verified question.
"""

import json
import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from pathlib import Path

from rapidfuzz import fuzz

from nacre.extensions.verified.template import (
    Alignment,
    LinkedQuestion,
    align_question,
    content_words,
    has_same_words,
    template_of,
)
from nacre.language.data import WORDS
from nacre.language.thesaurus import GradableAdjective, gradable_adjective, synonyms
from nacre.language.tokens import Token, lemma, name_tokens
from nacre.plans.selects import plan_elements
from nacre.records.plan import (
    AGGREGATES,
    EXTREMES,
    MEANS,
    OF_NUMBERS,
    Aggregate,
    Attribute,
    Body,
    Combine,
    Compute,
    Plan,
    Select,
)
from nacre.records.schema import Schema
from nacre.records.turn import MAX_PROBABILITY, ExpectedKind, Reading, VerifiedMatch, VerifiedQuestion
from nacre.understanding.linking.schema_graph import SchemaGraph
from nacre.understanding.parse_question import expected_kind
from nacre.understanding.question.records import Cue, Link, Question
from nacre.understanding.ranking.probabilities import log_odds_before_running, probability
from nacre.understanding.ranking.rank import weighted_sum
from nacre.wording.plan_phrases import verbalise_plan

WEIGHTS_FILE = Path(__file__).with_name("weights.json")

# verified questions that are compared with one question
MAX_COMPARED = 24

# longer questions are only compared as a whole, since all pairs of words are looked at (given)
MAX_TOKENS_COMPARED = 60

# less likely plans are not offered, and none is surer than this (given)
MIN_PROBABILITY = 0.2

# likelier plans account for all words of the question (given)
LIKELY = 0.5

# the share of an offer of that of the reading of the rules that is surer, at most (given)
SHARE_BEHIND = 0.5


@dataclass(frozen=True)
class Offer:
    """A verified question with the plan for the names of another one, and the probability that its rows answer it."""

    verified: VerifiedQuestion
    alignment: Alignment
    probability: float


@cache
def load_likeness_weights() -> Mapping[str, float]:
    """The weights of the features of likeness, read once."""
    weights: Mapping[str, float] = json.loads(WEIGHTS_FILE.read_text(encoding="utf-8"))
    return weights


def offers(verified: Sequence[VerifiedQuestion], linked: LinkedQuestion) -> list[Offer]:
    """The plans of verified questions with the names of this one, the likeliest first."""
    found = []
    for each, alignment, features in compare_verified(verified[:MAX_COMPARED], linked):
        is_same = has_same_words(alignment, linked.question)
        found.append(Offer(each, alignment, MAX_PROBABILITY if is_same else offer_probability(features)))
    return sorted(found, key=lambda offer: -offer.probability)


def standing_offer(found: Sequence[Offer], linked: LinkedQuestion) -> Offer | None:
    """The likeliest of the offers; None if there is none, or if the question contradicts it. The next one is no
    better: its words are fewer."""
    best = next(iter(found), None)
    if best is None:
        return None
    return None if asks_otherwise(best.alignment, compare_words(best.alignment, linked), linked) else best


def compare_verified(
    verified: Sequence[VerifiedQuestion], linked: LinkedQuestion
) -> list[tuple[VerifiedQuestion, Alignment, dict[str, float]]]:
    """The verified questions whose slots the question fills, with the features of likeness."""
    compared = []
    if len(linked.question.tokens) > MAX_TOKENS_COMPARED:
        return []
    elements = plan_elements(linked.readings[0].plan.body) if linked.readings else frozenset()
    for each in verified:
        template = template_of(each, linked.graph.schema)
        if template is None or len(template.question.tokens) > MAX_TOKENS_COMPARED:
            continue
        alignment = align_question(template, linked)
        if alignment is not None:
            words = compare_words(alignment, linked)
            if not (words.are_shared or (template.names and not alignment.changed)):
                # nothing but its form speaks for it
                continue
            compared.append((each, alignment, likeness_features(alignment, words, linked, elements)))
    leads = word_leads([features for *_, features in compared], [a.plan for _, a, _ in compared])
    return [(each, a, {**features, "lead": lead}) for (each, a, features), lead in zip(compared, leads, strict=True)]


def offer_probability(features: Mapping[str, float]) -> float:
    """The probability that a plan with these features of likeness answers the question."""
    return min(MAX_PROBABILITY, probability(weighted_sum(features, load_likeness_weights())))


def merge_offer(offer: Offer | None, readings: tuple[Reading, ...], schema: Schema, most: int) -> tuple[Reading, ...]:
    """The readings with the offered plan, the likeliest first. A reading of the rules with the same plan takes its
    probability; the others share what is left, and the first one stays before the offer if it is sure and surer. If it
    leaves no word out either, the question is another one, and nothing is offered."""
    if offer is None or offer.probability < MIN_PROBABILITY:
        return readings
    plan, chance = offer.alignment.plan, offer.probability
    is_behind = rules_are_surer(offer.alignment, chance, next(iter(readings), None))
    if is_behind and chance < LIKELY and not readings[0].unused:
        return readings
    own = next((each for each in readings if each.plan.body == plan.body), None)
    # the chance contains already that the rules agree
    score = max(chance, own.score if own is not None else 0.0)
    sure = min(MAX_PROBABILITY, max(chance, (own.probability or 0.0) if own is not None else 0.0))
    left = 1 - chance
    if is_behind:
        score = min(score, readings[0].score * left * SHARE_BEHIND)
    odds = max(log_odds_before_running(sure), own.odds if own is not None else -math.inf)
    words = verbalise_plan(plan, schema)
    unused = own.unused if own is not None and chance < LIKELY else ()
    covered = own.covered if own is not None and chance < LIKELY else 1.0
    alike = offer.verified
    match = VerifiedMatch(alike.id, alike.by, alike.at, alike.question, is_like=True)
    merged = Reading(plan, score, covered, words, sure, unused, odds, verified=match)
    others = [
        replace(each, score=each.score * left, probability=(each.probability or 0.0) * left,
                odds=each.odds + math.log(left))
        for each in readings
        if each is not own
    ]  # fmt: skip
    return tuple(sorted((merged, *others), key=lambda each: -each.score)[:most])


# minimum score of a link to another class or property, and minimum probability of a reading of the rules that is sure
# (chosen on the questions of 77 graphs)
MIN_OTHER_LINK, SURE_READING = 0.7, 0.7

# kinds of answers that fit what the first words ask for
FITTING_KINDS: Mapping[str, frozenset[ExpectedKind]] = {
    "when": frozenset(("date", "number")),
    "where": frozenset(("entities", "text", "prose")),
    "who": frozenset(("entities", "text", "prose")),
    "number": frozenset(("number",)),
    "truth": frozenset(("boolean",)),
}

# what a question computes only if its verified one does, and the other way round
COMPUTED_ONLY_IF_VERIFIED, NEEDED_IF_VERIFIED = frozenset(("not", "share")) | MEANS, frozenset(("not",))


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


def asks_otherwise(alignment: Alignment, words: Words, linked: LinkedQuestion) -> bool:
    """Whether the question contradicts the plan of the verified question."""
    return (
        not _fits_kind(alignment, linked.question, linked.graph)
        or _computes_otherwise(alignment, linked.question)
        or _names_otherwise(alignment, words, linked.links)
        # "who rang the bell of A" is no other wording of "who cast the bell of B"
        or bool(alignment.changed and words.unlinked and words.missing)
    )


def rules_are_surer(alignment: Alignment, probability: float, first: Reading | None) -> bool:
    """Whether the first reading of the rules is another one that is sure, and surer than an offer."""
    known = (first.probability or 0.0) if first is not None and first.plan.body != alignment.plan.body else 0.0
    return known >= SURE_READING and known > probability


def requested_kind(question: Question) -> str:
    """What the first words ask for, a key of `FITTING_KINDS`; "" if they leave it open."""
    first = question.tokens[0].norm if question.tokens else ""
    opening = next((cue for cue in question.cues if cue.start == 0), None)
    if first in WORDS["who"]:
        return "who"
    if opening is not None and opening.kind in ("open", "count"):
        return opening.value if opening.kind == "open" else "number"
    return "truth" if first in WORDS["asking_yes_no"] else ""


def answer_kinds(body: Body, graph: SchemaGraph) -> frozenset[ExpectedKind]:
    """The kinds of all columns that a plan answers with. Texts of a property of dates are dates."""
    select = body.left if isinstance(body, Combine) else body
    if not isinstance(select, Select):
        return frozenset((expected_kind(body, graph.schema),))
    dates = any(isinstance(each, Attribute) and graph.is_date(each.predicate) for each in select.answers)
    kinds = {expected_kind(replace(select, answers=(each,)), graph.schema) for each in select.answers}
    return frozenset(kinds | {"date"} if dates else kinds)


def _fits_kind(alignment: Alignment, question: Question, graph: SchemaGraph) -> bool:
    asked, body, template = requested_kind(question), alignment.plan.body, alignment.template
    kinds = answer_kinds(body, graph)
    if asked and asked != requested_kind(template.question) and FITTING_KINDS[asked].isdisjoint(kinds):
        return False
    if asked != "truth" and kinds == {"boolean"}:
        return False
    if _counts_things(question) and not _counts_things(template.question) and _only(body, *OF_NUMBERS):
        return False
    # a list is asked for, and the plan only counts
    lists = any(cue.kind == "open" for cue in question.cues)
    return not (lists and _only(body, "count") and computing_cues(question.cues).isdisjoint(("count", "sum")))


def _counts_things(question: Question) -> bool:
    """Whether the question begins with a count ("how many"), or wants different things."""
    return requested_kind(question) == "number" or any(cue.kind == "distinct" for cue in question.cues)


def _only(body: Body, *functions: str) -> bool:
    """Whether all that a plan answers with are results of these functions."""
    answers = body.answers if isinstance(body, Select) else ()
    return bool(answers) and all(isinstance(each, Aggregate) and each.function in functions for each in answers)


def _computes_otherwise(alignment: Alignment, question: Question) -> bool:
    body, template = alignment.plan.body, alignment.template
    cues, others = computing_cues(question.cues), computing_cues(template.cues)
    if (cues - others) & COMPUTED_ONLY_IF_VERIFIED or (others - cues) & NEEDED_IF_VERIFIED:
        return True
    if isinstance(body, Select) and body.order is not None and body.limit is not None and "order" not in cues:
        return True
    extremes = [cue_directions(c for c in each if c.kind not in ("order", "direction"))
                for each in (question.cues, template.cues)]  # fmt: skip
    return all(extremes) and extremes[0].isdisjoint(extremes[1])


def _names_otherwise(alignment: Alignment, words: Words, links: Sequence[Link]) -> bool:
    free = [link for link in links if alignment.taken.isdisjoint(range(link.start, link.end))]
    known = words.same | words.synonymous
    return any(
        link.exact and known.isdisjoint(range(link.start, link.end))
        if link.kind in ("entity", "value")
        else link.score >= MIN_OTHER_LINK and any(link.covered >> i & 1 for i in words.other | words.weak)
        for link in free
    )


# minimum score of a link that contradicts a plan without its element, and of two words that are one with a slip (given)
SURE_LINK, SAME_WORD_RATIO = 0.9, 85

# the lead of one verified question over the others, at most (given)
MAX_LEAD = 0.5

# cues that say what is computed, in groups of which one word may stand for the other
COMPUTING_CUES = {
    **{name: "order" if name in EXTREMES else name for name in AGGREGATES},
    "share": "share", "negation": "not", "missing": "not",
    "group": "group", "superlative": "order", "most": "order", "order": "order", "direction": "order",
    "both": "both", "either": "or", "or": "or", "compare": "compare",
    "bound": "compare",
}  # fmt: skip

# directions of cues that have no value
DIRECTIONS = {"max": "up", "min": "down"}


def compare_words(alignment: Alignment, linked: LinkedQuestion) -> Words:
    """The words of the question by what accounts for them, and the words of the verified question that nothing
    matches."""
    template = alignment.template
    labels = _label_words(template.elements, linked.graph)
    places: dict[str, set[int]] = {kind: set() for kind in ("same", "synonymous", "own", "other", "weak", "unlinked")}
    matched: set[int] = set()
    for i, token in content_words(linked.question, alignment.taken):
        kind, at = _match(token, template.words)
        if at is not None:
            matched.add(at)
        elif lemmas_of(token) & labels:
            kind = "own"
        else:
            kind = _linked_kind(i, linked, template.elements, alignment.taken)
        places[kind].add(i)
    missing = tuple(token for at, token in enumerate(template.words) if at not in matched)
    same, synonymous, own, other, weak, unlinked = map(frozenset, places.values())
    return Words(same, synonymous, own, other, weak, unlinked, missing)


def unaccounted_words(linked: LinkedQuestion, elements: Collection[str], taken: frozenset[int]) -> frozenset[int]:
    """The content words of a question that name no element of its plan, and surely nothing else."""
    labels = _label_words(elements, linked.graph)
    return frozenset(
        i
        for i, token in content_words(linked.question, taken)
        if not lemmas_of(token) & labels and _linked_kind(i, linked, elements, taken) in ("weak", "unlinked")
    )


def named_elements(linked: LinkedQuestion, elements: Collection[str], words: Collection[int]) -> frozenset[str]:
    """Those of the elements that words at these places name, by a link or a word of their label."""
    graph = linked.graph
    lemmas = frozenset(each for i in words for each in lemmas_of(linked.question.tokens[i]))
    covering = (link for link in linked.links if any(link.covered >> i & 1 for i in words))
    named = {iri for link in covering for iri in _link_elements(link, graph)}
    return frozenset(iri for iri in elements if iri in named or lemmas & set(_words_of_label(_label(iri, graph))))


def likeness_features(
    alignment: Alignment, words: Words, linked: LinkedQuestion, elements: frozenset[str]
) -> dict[str, float]:
    """Named features of the chance that the plan answers the question. `elements` are the IRIs of the first reading."""
    template, count = alignment.template, max(1, words.count)
    of_verified = max(1, len(template.words))
    readings = linked.readings
    first = readings[0] if readings else None
    cues, others = (computing_cues(each) for each in (linked.question.cues, template.cues))
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
        "other name": float(_names_other(alignment, words, linked.links)),
        "changed": float(alignment.changed > 0),
        "odd numbers": float(alignment.odd > 0),
        "more cues": float(bool(cues - others)),
        "fewer cues": float(bool(others - cues)),
        "slots": float(bool(template.names)),
        "numbers": float(bool(template.numbers)),
        "rules agree": agreeing,
        "rules none": float(first is None),
        # the Jaccard index of the two sets
        "rules elements": len(elements & template.elements) / max(1, len(elements | template.elements)),
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


def _names_other(alignment: Alignment, words: Words, links: Sequence[Link]) -> bool:
    """Whether the question surely names a thing or value that fills no slot, in words that the verified question does
    not have."""
    known = alignment.taken | words.same | words.synonymous | words.own
    return any(
        link.kind in ("entity", "value") and link.exact and known.isdisjoint(range(link.start, link.end))
        for link in links
    )


def _linked_kind(at: int, linked: LinkedQuestion, elements: Collection[str], taken: frozenset[int]) -> str:
    """What links say of a word that the verified question lacks: it names an element of the plan ("own"), surely
    another one, perhaps another one ("weak"), or nothing."""
    links = (link for link in linked.links if taken.isdisjoint(range(link.start, link.end)))
    covering = [link for link in links if link.covered >> at & 1]
    if any(not set(elements).isdisjoint(_link_elements(link, linked.graph)) for link in covering):
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
        if of_other is None or adjective is None or of_other.descending != adjective.descending:
            continue
        if set(of_other.concepts) & set(adjective.concepts):
            return "synonymous", at
    return "", None


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
