"""The facts of things of a class that are nearest to a question without names: Understanding + Graph -> ClassFacts.

"Which aviary is in bad shape?" names a class and no property of it: what texts of its things say, and the values of the
property that is nearest in meaning, may hold the answer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice, zip_longest
from typing import TYPE_CHECKING, NamedTuple

from nacre.access.nearest.answer_kind import AnswerKind, gives_kind, requested_kind
from nacre.access.nearest.likeness import (
    WordForms,
    asked_forms,
    has_word,
    meaning_likenesses,
    text_forms,
    word_likenesses,
)
from nacre.access.nearest.named_facts import (
    engine_of,
    fact_text,
    is_list,
    is_prose,
    passage_sentences,
    property_label,
    round_likeness,
)
from nacre.language.base import language, phrase_list
from nacre.language.quantities.amounts import find_amounts
from nacre.language.thesaurus import is_person
from nacre.language.tokens import tokenize
from nacre.plans.inspect_select import asked_select
from nacre.records.evidence import EvidenceSentence, Nearness
from nacre.records.plan import Attribute, Itself, Plan, Select, Variable
from nacre.records.schema import Predicate, Schema
from nacre.records.turn import Reading, Understanding
from nacre.wording.phrases.plan import verbalise_plan
from tools.sql import run_reading

if TYPE_CHECKING:
    from nacre.stores.catalog import Graph
    from nacre.stores.search.vectors import Embedder

# classes that are looked at, things of each, sentences of all, texts and properties that are compared by meaning
MOST_CLASSES, MOST_MEMBERS, MOST_SENTENCES, MOST_TEXTS, MOST_PROPERTIES = 3, 60, 600, 16, 16
# the score from which on words name a class (given)
EXACT_SCORE = 0.9
# texts that are kept, values of the nearest property, and properties that are offered
MOST_KEPT, MOST_VALUES, MOST_OFFERED = 3, 6, 2
# minimum likeness of a text of a thing of the class, and of a property of the class (given)
TEXT_LIKENESS, PROPERTY_LIKENESS = 0.15, 0.2
# the parts of words and of meaning in the likeness, and what the requested kind of answer adds (given)
WORDS_SHARE, MEANING_SHARE, KIND_GAIN = 0.4, 0.6, 0.15


class ClassFacts(NamedTuple):
    """The nearest sentences, with their nearness, and readings that give the nearest properties of all things."""

    sentences: tuple[EvidenceSentence, ...] = ()
    readings: tuple[Reading, ...] = ()


class _QuestionForms(NamedTuple):
    """A question, the forms of its words without those of its classes, and what compares meanings."""

    question: str
    words: tuple[WordForms, ...]
    embedder: Embedder | None

    def likenesses(self, texts: Sequence[str], by_words: Sequence[float]) -> list[float]:
        """The likeness of texts by words and by meaning."""
        if self.embedder is None or not texts:
            return list(by_words)
        meanings = meaning_likenesses(self.question, texts, self.embedder)
        return [WORDS_SHARE * w + MEANING_SHARE * max(0.0, m) for w, m in zip(by_words, meanings, strict=True)]


class _ClassProperty(NamedTuple):
    """A property of a class and its likeness to a question."""

    iri: str
    predicate: Predicate
    likeness: float


def class_facts(understanding: Understanding, graph: Graph, round: int) -> ClassFacts:
    """The nearest facts of things of the classes that the question asks for, then the values of the nearest property:
    rare ones, or the lowest and highest. Nothing for graphs without passages."""
    classes = _requested_classes(understanding, graph.schema)
    if graph.passages is None or not classes:
        return ClassFacts()
    most = MOST_SENTENCES // len(classes)
    sentences = [each for iri in classes for each in islice(_member_sentences(iri, graph, round), most)]
    asked = _QuestionForms(
        understanding.standalone, asked_forms(_without_classes(understanding)), graph.lexicon.embedder
    )
    readings, values = list[Reading](), list[EvidenceSentence]()
    for each in _nearest_properties(asked, classes, graph.schema):
        stated = [s for s in sentences if [p for _, p, _ in s.triples] == [each.predicate.iri]]
        if stated:
            variable = Variable("thing", (each.iri,))
            plan = Plan(Select((Itself(variable.name), Attribute(variable.name, each.predicate.iri)), (variable,)))
            readings.append(Reading(plan, 0.0, 0.0, verbalise_plan(plan, graph.schema), near=True))
            values = values or [
                replace(s, nearness=Nearness(round_likeness(each.likeness), s.triples[0][0]))
                for s in _telling_values(stated, each.predicate)
            ]
    listed = {predicate for each in values for _, predicate, _ in each.triples}
    others = [each for each in sentences if listed.isdisjoint(p for _, p, _ in each.triples)]
    return ClassFacts((*_nearest_sentences(asked, others, graph.schema), *values), tuple(readings))


def _requested_classes(understanding: Understanding, schema: Schema) -> list[str]:
    """The classes of the things in the likeliest reading that gives something of them; those of persons if the question
    asks "who"."""
    select = next((asked_select(each.plan.body) for each in understanding.readings), None)
    variables = [each for each in select.variables if not each.keys] if select is not None else []
    found = [iri for each in variables for iri in each.classes if iri in schema.class_of]
    if any(token.norm in language().words["who"] for token in tokenize(understanding.standalone)):
        persons = [each.iri for each in schema.shown_classes if _may_be_person(each.label)]
        found = [*(iri for iri in found if iri in persons), *persons] or found
    return list(dict.fromkeys(found))[:MOST_CLASSES]


def _may_be_person(label: str) -> bool:
    """Whether a class may be one of persons: by its name, or the ending of one ("grower", "craftsman")."""
    return is_person(label) or label.casefold().endswith(phrase_list("kinds", "person_endings"))


def _member_sentences(iri: str, graph: Graph, round: int) -> Iterator[EvidenceSentence]:
    """The sentences about the first things of a class."""
    assert graph.passages is not None
    variable = Variable("thing", (iri,))
    plan = Plan(Select((Itself(variable.name),), (variable,), limit=MOST_MEMBERS, ties=False))
    reading = Reading(plan, 0.0, 0.0, verbalise_plan(plan, graph.schema))
    for rows in run_reading(reading, 1, engine_of(graph), round=round).evidence:
        for key in rows.keys[:MOST_MEMBERS]:
            told = passage_sentences(graph.passages.by_key(key, 1), graph.schema, round)
            yield from (each for each in told if not is_list(each))


def _without_classes(understanding: Understanding) -> str:
    """The question without the words of its classes; all of it if nothing is left."""
    text = understanding.standalone
    spans = {
        (m.start, m.end)
        for m in (*understanding.mentions, *understanding.candidates)
        if m.kind == "class" and m.score >= EXACT_SCORE
    }
    inside = {i for start, end in spans for i in range(start, end)}
    return " ".join("".join(" " if i in inside else c for i, c in enumerate(text)).split()) or text


def _nearest_sentences(
    asked: _QuestionForms, sentences: Sequence[EvidenceSentence], schema: Schema
) -> Iterator[EvidenceSentence]:
    """The nearest texts, and the nearest facts whose value has a word of the question."""
    facts = [fact_text(each, each.title) for each in sentences]
    forms = [text_forms(fact) for fact in facts]
    by_words = word_likenesses(asked.words, forms)
    labels = [property_label(each, schema) for each in sentences]
    label_forms = {label: text_forms(label) for label in set(labels)}

    def has_value_word(i: int) -> bool:
        return any(has_word(w, forms[i]) and not has_word(w, label_forms[labels[i]]) for w in asked.words)

    telling = [i for i, each in enumerate(sentences) if is_prose(each) or (by_words[i] and has_value_word(i))]
    order = sorted(telling, key=lambda i: (-by_words[i], i))[:MOST_TEXTS]
    near = asked.likenesses([facts[i] for i in order], [by_words[i] for i in order])
    ranked = sorted(zip(order, near, strict=True), key=lambda each: (-each[1], each[0]))[:MOST_KEPT]
    for i, likeness in ranked:
        if likeness >= TEXT_LIKENESS:
            yield replace(sentences[i], nearness=Nearness(round_likeness(likeness), sentences[i].keys[0]))


def _nearest_properties(asked: _QuestionForms, classes: Sequence[str], schema: Schema) -> list[_ClassProperty]:
    """The nearest properties of the classes, the nearest first."""
    pairs = [
        (iri, each)
        for iri in classes
        for each in schema.predicates_of([iri])
        if each.role == "fact" and not each.hidden
    ][:MOST_PROPERTIES]
    if asked.embedder is None:
        return []
    texts = [f"{each.label}. {each.comment}" if each.comment else each.label for _, each in pairs]
    near = asked.likenesses(texts, word_likenesses(asked.words, [text_forms(each) for each in texts]))
    kind = requested_kind(asked.question)
    found = [
        _ClassProperty(iri, each, likeness + KIND_GAIN * _is_of_kind(each, kind, schema))
        for (iri, each), likeness in zip(pairs, near, strict=True)
    ]
    found = sorted(found, key=lambda each: -each.likeness)[:MOST_OFFERED]
    return [each for each in found if each.likeness >= PROPERTY_LIKENESS]


def _is_of_kind(predicate: Predicate, kind: AnswerKind, schema: Schema) -> bool:
    """Whether the values of a property are of the requested kind, if one is requested."""
    sample = next(iter((*predicate.values, *predicate.samples)), "")
    return bool(kind) and gives_kind(predicate, False, sample, kind, schema)


def _telling_values(stated: Sequence[EvidenceSentence], predicate: Predicate) -> list[EvidenceSentence]:
    """Some of the sentences that give a property: of numbers and dates the lowest and highest, else the rarest."""
    values = [each.triples[0][2] for each in stated]
    half = MOST_VALUES // 2
    if predicate.minimum is not None:
        amounts = [find_amounts(value) for value in values]
        order = sorted(range(len(stated)), key=lambda i: (amounts[i][0].value if amounts[i] else 0.0, i))
    elif predicate.datatype in ("date", "datetime"):
        order = sorted(range(len(stated)), key=lambda i: (values[i], i))
    else:
        counts = Counter(values)
        return [stated[i] for i in sorted(range(len(stated)), key=lambda i: (counts[values[i]], i))[:MOST_VALUES]]
    lowest, highest = order[:half], order[max(half, len(order) - half) :]
    pairs = zip_longest(reversed(highest), lowest)
    return [stated[i] for pair in pairs for i in pair if i is not None]
