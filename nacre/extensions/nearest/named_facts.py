"""The facts of the things that a question names, nearest first: Understanding + Graph -> sentences. Nearness, by words
and by the property's label, is 0 to 1 each; whether a fact is of the kind asked for ("when": date) is 1, 0 or -1."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from agents.answering.fallbacks import is_text
from nacre.language.quantities import canonical_unit, convert_unit, find_amounts
from nacre.language.thesaurus import (
    function_words,
    synonyms,
)
from nacre.language.tokens import fold, iri_end, lemma, name_tokens, tokenize
from nacre.records.evidence import EvidenceSentence, Nearness, Passage, Query
from nacre.records.schema import Schema
from nacre.records.turn import Mention, Understanding
from nacre.stores.sqlite.triples import TripleReader
from tools.search_passages import LEXICAL, found_sentences
from tools.sql import run_reading

if TYPE_CHECKING:
    from nacre.stores.catalog import Graph
    from nacre.stores.sqlite.passages import Passages
from nacre.access.likeness import (
    KIND_GAIN,
    TELLING_ROLES,
    AnswerKind,
    WordForms,
    _with_stems,
    asked_forms,
    engine_of,
    gives_kind,
    likenesses,
    requested_kind,
    text_forms,
    word_likenesses,
)

# passages of a thing that are read
MOST_PASSAGES = 8

# things that are described at an endpoint, each by one query (given)
MOST_REMOTE = 1

# facts of one thing that are kept
MOST_FACTS = 6

# the likeness that facts of parts of the thing, and facts whose value the question has, have less (given)
PART_LOSS, REPEAT_LOSS = 0.2, 0.4

# the likeness that prose has more than a value, and that codes and addresses have less (given)
PROSE_GAIN, CODE_LOSS = 0.05, 0.3

# words from which on a fact is a list, which has words of many names, and the likeness that it has less (given)
LIST_WORDS, LIST_LOSS = 25, 0.1

# parts of a thing whose facts count as its own
MOST_PARTS = 2


class _Fact(NamedTuple):
    """A sentence about a thing, its text without the name of the thing, the label of its only property, and
    the words of its value."""

    sentence: EvidenceSentence
    text: str
    label: str
    value: frozenset[str]


def named_facts(
    understanding: Understanding, graph: Graph, round: int
) -> tuple[list[EvidenceSentence], tuple[Query, ...]]:
    """The sentences nearest to the question for each named thing, and the queries that read them at an endpoint."""
    things = understanding.named[: MOST_REMOTE if graph.remote is not None else None]
    found: list[EvidenceSentence] = []
    queries: list[Query] = []
    told: dict[Mention, Sequence[EvidenceSentence]] = {}
    for thing in things:
        sentences: Sequence[EvidenceSentence]
        if graph.passages is not None:
            sentences = _stored_sentences(thing.mention, graph.passages, graph, round)
        else:
            described = run_reading(thing.everything, 1, engine_of(graph), round=round)
            queries += described.queries
            sentences = [each for each in described.evidence if isinstance(each, EvidenceSentence)]
        if sentences:
            told[thing.mention] = sentences
    asked = without_names(understanding.standalone, list(told))
    for mention, sentences in told.items():
        found += nearest_sentences(understanding.standalone, asked, mention, sentences, graph)
    return found, tuple(queries)


def nearest_sentences(
    question: str, asked: str, thing: Mention, sentences: Sequence[EvidenceSentence], graph: Graph
) -> list[EvidenceSentence]:
    """Those nearest to what is asked of the thing: the question without the names of things."""
    words, name = frozenset(name_tokens(question)), frozenset(name_tokens(thing.label))
    # a sentence that only lists what has the thing as a value, "diesel is the fuel of ...", tells of these
    own = [
        each
        for each in dict.fromkeys(sentences)
        if not is_list(each) or any(value != thing.target for _, _, value in each.triples)
    ]
    facts = [_fact(each, thing, graph.schema) for each in own]
    facts = [each for each in facts if not each.value or not each.value <= name]
    by_words = word_likenesses(asked_forms(asked), [text_forms(each.text) for each in facts])
    kind = requested_kind(question)
    gains = [
        _gain(each, words, graph.schema)
        + KIND_GAIN * kind_fit(each.sentence, thing.target, kind, graph.schema)
        - PART_LOSS * (not any(thing.target in triple for triple in each.sentence.triples))
        - REPEAT_LOSS * (bool(each.value) and each.value <= words)
        for each in facts
    ]
    near = likenesses(asked, [each.label for each in facts], by_words, graph.lexicon)
    ranked = sorted(range(len(facts)), key=lambda i: (-near[i] - gains[i], i))[:MOST_FACTS]
    return [
        replace(facts[i].sentence, nearness=Nearness(round_likeness(near[i] + gains[i]), thing.target)) for i in ranked
    ]


def property_label(sentence: EvidenceSentence, schema: Schema) -> str:
    """The label of the property that a sentence states; "" for several or none."""
    predicates = {predicate for _, predicate, _ in sentence.triples}
    known = schema.predicate_of.get(min(predicates)) if len(predicates) == 1 else None
    return known.label if known is not None else ""


def _fact(sentence: EvidenceSentence, thing: Mention, schema: Schema) -> _Fact:
    text, label = fact_text(sentence, thing.label), property_label(sentence, schema)
    known, empty = _lemmas(name_tokens(label)), function_words()
    # a code such as S.QUAY counts as a whole
    parts = [tokens for tokens in map(name_tokens, text.split()) if not empty.issuperset(tokens)]
    return _Fact(sentence, text, label, frozenset(w for tokens in parts for w in tokens if lemma(w) not in known))


def _gain(fact: _Fact, question: frozenset[str], schema: Schema) -> float:
    """What a sentence tells a reader more or less than a value does, as likeness. The question may ask for a list."""
    label = _lemmas(name_tokens(fact.label))
    is_unasked = not label or not label <= _lemmas(question)
    losses = CODE_LOSS * _is_code(fact.sentence, schema) + LIST_LOSS * (is_list(fact.sentence) and is_unasked)
    return PROSE_GAIN * is_prose(fact.sentence) - losses


def _lemmas(words: Iterable[str]) -> set[str]:
    return {lemma(word) for word in words}


def without_names(question: str, named: Sequence[Mention]) -> str:
    """The question without the names of its things; all of it if nothing is left."""
    left = question
    for mention in sorted(named, key=lambda each: -each.start):
        at = fold(left).rfind(fold(mention.text))
        left = left if at < 0 else f"{left[:at]}{left[at + len(mention.text) :]}"
    return " ".join(left.split()) or question


def fact_text(sentence: EvidenceSentence, name: str) -> str:
    """What a sentence says of a thing, without the name of the thing."""
    at = fold(sentence.text).find(fold(name)) if name else -1
    return sentence.text if at < 0 else f"{sentence.text[:at]}{sentence.text[at + len(name) :]}"


def is_prose(sentence: EvidenceSentence) -> bool:
    """Whether a sentence quotes a literal of several words, or is part of one."""
    literal = sentence.triples[0][2] if len(sentence.triples) == 1 else ""
    is_quoted = literal in sentence.text or sentence.text in literal
    return is_quoted and is_text(literal)


def _is_code(sentence: EvidenceSentence, schema: Schema) -> bool:
    """Whether a sentence gives an identifier or the address of a page."""
    known = [schema.predicate_of.get(predicate) for _, predicate, _ in sentence.triples]
    return bool(known) and (
        "://" in sentence.text or any(each is not None and each.role == "identifier" for each in known)
    )


def fitting_facts(question: str, facts: Sequence[EvidenceSentence], schema: Schema) -> list[EvidenceSentence]:
    """Those that answer what is asked for: amounts in a unit that the question names, else values of its kind, and
    texts; all, if there is none. Identifiers are left out unless named, or nothing else is there."""
    lemmas, kind = _lemmas(name_tokens(question)), requested_kind(question)
    plain = [each for each in facts if not _is_unasked_code(each, lemmas, schema)] or list(facts)
    words = {token.norm for token in tokenize(question)} - function_words()
    units = {unit for word in words if (unit := canonical_unit(word))}
    if measured := [each for each in plain if _is_measured_in(each, units, schema)]:
        return measured
    fits = [kind_fit(each, each.nearness.thing if each.nearness else "", kind, schema) for each in plain]
    return [each for each, fit in zip(plain, fits, strict=True) if 1 not in fits or fit >= 0 or is_prose(each)]


def _is_unasked_code(sentence: EvidenceSentence, question: set[str], schema: Schema) -> bool:
    """Whether a sentence gives an identifier, or the end of an IRI in place of a name, that no word asks for."""
    ends = {iri_end(value) for _, _, value in sentence.triples if "://" in value}
    codes = {end for end in ends if any(map(str.isdigit, end)) and end in sentence.text.rstrip(".").split()}
    label = _lemmas(name_tokens(property_label(sentence, schema)))
    return (bool(codes) or _is_code(sentence, schema)) and not (label and label <= question)


def _is_measured_in(sentence: EvidenceSentence, units: set[str], schema: Schema) -> bool:
    stated = {each.unit for _, _, value in sentence.triples for each in find_amounts(value)}
    known = (schema.predicate_of.get(predicate) for _, predicate, _ in sentence.triples)
    stated |= {canonical_unit(each.unit) for each in known if each is not None}
    return any(convert_unit(1.0, own, unit) is not None for own in stated - {""} for unit in units)


def is_list(sentence: EvidenceSentence) -> bool:
    """Whether a sentence has as many words as a list."""
    return len(sentence.text.split()) >= LIST_WORDS and not is_prose(sentence)


def round_likeness(value: float) -> float:
    """A likeness with the precision of records."""
    return round(min(1.0, value), 4)


def _stored_sentences(thing: Mention, stored: Passages, graph: Graph, round: int) -> list[EvidenceSentence]:
    """The sentences of the passages about a thing, and about parts that only it has, such as the engine of a car."""
    own = passage_sentences(stored.by_key(thing.target, MOST_PASSAGES), graph.schema, round)
    reader = TripleReader(graph.tables)
    parts = [part for each in _part_predicates(graph.schema) for _, _, part in reader.with_subject(thing.target, each)]
    passages = [each for part in parts[:MOST_PARTS] for each in stored.by_key(part, 1)]
    stated = {triple for each in own for triple in each.triples}
    of_parts = passage_sentences(passages, graph.schema, round)
    return [*own, *(each for each in of_parts if stated.isdisjoint(each.triples))]


def _part_predicates(schema: Schema) -> list[str]:
    """The links to things that each thing has for itself."""
    return [p.iri for p in schema.shown_predicates if p.role == "fact" and p.has_links and p.functional and p.pairs_off]


def passage_sentences(passages: Sequence[Passage], schema: Schema, round: int) -> list[EvidenceSentence]:
    """The sentences of passages that state facts or quote texts."""
    sentences = (each for passage in passages for each in found_sentences(passage, LEXICAL, round))
    return [each for each in sentences if is_telling(each, schema)]


def is_telling(sentence: EvidenceSentence, schema: Schema) -> bool:
    """Whether a sentence says more of a thing than its names and classes."""
    known = [schema.predicate_of.get(predicate) for _, predicate, _ in sentence.triples]
    return all(each is not None and each.role in TELLING_ROLES and not each.hidden for each in known)


def question_forms(text: str) -> tuple[WordForms, ...]:
    """The forms and synonyms of each word of a text that has a meaning, each once."""
    empty = function_words()
    tokens = [token for token in tokenize(text) if not {token.norm, token.lemma} & empty]
    return tuple(dict.fromkeys(_with_stems(synonyms(token.lemma) | {token.norm}) for token in tokens))


def kind_fit(sentence: EvidenceSentence, thing: str, asked: AnswerKind, schema: Schema) -> int:
    """1 if the fact about a thing gives the requested kind, -1 if it gives another, 0 if any may be asked for."""
    if not asked or not sentence.triples:
        return 0
    subject, iri, value = sentence.triples[0]
    predicate = schema.predicate_of.get(iri)
    if predicate is None:
        return 0
    return 1 if gives_kind(predicate, subject != thing, value, asked, schema) else -1
