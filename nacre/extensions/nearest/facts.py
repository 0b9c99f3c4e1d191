"""The facts nearest to a question, of the things that it names and of those of a class: Understanding + Graph ->
sentences.

Nearness, by words and by the property's label, is 0 to 1 each; whether a fact is of the kind asked for ("when": date)
is 1, 0 or -1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice, zip_longest
from typing import TYPE_CHECKING, NamedTuple

from agents.answering.fallbacks import is_text
from agents.answering.select_answer import candidate_rows, row_probability, sole_reading
from nacre.access.likeness import (
    KIND_GAIN,
    TELLING_ROLES,
    AnswerKind,
    WordForms,
    _with_stems,
    asked_forms,
    engine_of,
    gives_kind,
    has_word,
    is_of_kind,
    likenesses,
    requested_kind,
    text_forms,
    word_likenesses,
)
from nacre.language.data import WORDS, phrase_list, word_list
from nacre.language.quantities import canonical_unit, convert_unit, find_amounts
from nacre.language.thesaurus import function_words, is_person, synonyms
from nacre.language.tokens import fold, iri_end, lemma, name_tokens, tokenize
from nacre.plans.selects import asked_select
from nacre.records.evidence import Evidence, EvidenceSentence, Nearness, Passage, Query
from nacre.records.plan import Aggregate, Ask, Attribute, Body, Itself, Plan, Select, Variable
from nacre.records.schema import Predicate, Schema
from nacre.records.turn import Mention, Reading, Understanding
from nacre.stores.sqlite.triples import TripleReader
from nacre.wording.plan_phrases import verbalise_plan
from tools.search_passages import LEXICAL, found_sentences
from tools.sql import run_reading

if TYPE_CHECKING:
    from nacre.stores.catalog import Graph
    from nacre.stores.lexical import LexicalIndex
    from nacre.stores.sqlite.lexicon import Lexicon
    from nacre.stores.sqlite.passages import Passages

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


# classes that are looked at, things of each, sentences of all, and properties that are compared by meaning
MOST_CLASSES, MOST_MEMBERS, MOST_SENTENCES, MOST_PROPERTIES = 3, 60, 600, 16

# the score from which on words name a class (given)
EXACT_SCORE = 0.9

# texts that are kept, values of the nearest property, and properties that are offered
MOST_KEPT, MOST_VALUES, MOST_OFFERED = 3, 6, 2

# minimum likeness of a text of a thing of the class, and of a property of the class (given)
TEXT_LIKENESS, PROPERTY_LIKENESS = 0.15, 0.2


class ClassFacts(NamedTuple):
    """The nearest sentences, with their nearness, and readings that give the nearest properties of all things."""

    sentences: tuple[EvidenceSentence, ...] = ()
    readings: tuple[Reading, ...] = ()


class _QuestionForms(NamedTuple):
    """A question, and the forms of its words without those of its classes."""

    question: str
    words: tuple[WordForms, ...]


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
    asked = _QuestionForms(understanding.standalone, asked_forms(_without_classes(understanding)))
    readings, values = list[Reading](), list[EvidenceSentence]()
    for each in _nearest_properties(asked, classes, graph):
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
    if any(token.norm in WORDS["who"] for token in tokenize(understanding.standalone)):
        persons = [each.iri for each in schema.shown_classes if may_be_person(each.label)]
        found = [*(iri for iri in found if iri in persons), *persons] or found
    return list(dict.fromkeys(found))[:MOST_CLASSES]


def may_be_person(label: str) -> bool:
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
    for i in sorted(telling, key=lambda i: (-by_words[i], i))[:MOST_KEPT]:
        if by_words[i] >= TEXT_LIKENESS:
            yield replace(sentences[i], nearness=Nearness(round_likeness(by_words[i]), sentences[i].keys[0]))


def _nearest_properties(asked: _QuestionForms, classes: Sequence[str], graph: Graph) -> list[_ClassProperty]:
    """The nearest properties of the classes, the nearest first."""
    schema = graph.schema
    pairs = [
        (iri, each)
        for iri in classes
        for each in schema.predicates_of([iri])
        if each.role == "fact" and not each.hidden
    ][:MOST_PROPERTIES]
    if graph.lexicon.embedder is None:
        return []
    texts = [f"{each.label}. {each.comment}" if each.comment else each.label for _, each in pairs]
    by_words = word_likenesses(asked.words, [text_forms(each) for each in texts])
    near = likenesses(asked.question, texts, by_words, graph.lexicon)
    kind = requested_kind(asked.question)
    found = [
        _ClassProperty(iri, each, likeness + KIND_GAIN * is_of_kind(each, kind, schema))
        for (iri, each), likeness in zip(pairs, near, strict=True)
    ]
    found = sorted(found, key=lambda each: -each.likeness)[:MOST_OFFERED]
    return [each for each in found if each.likeness >= PROPERTY_LIKENESS]


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


# passages that are searched or read of a thing, things whose texts are quoted, and words of a question that are sought
MOST_PASSAGES, MOST_QUOTED, MOST_WORDS = 60, 5, 8

# the share of the words that a text must have (given)
ENOUGH_WORDS = 0.5

# the probability that a thing is asked for if one of its sentences has the only word, or each of several; words in
# different sentences count as one (given)
CHANCE_OF_WORD, CHANCE_OF_WORDS = 0.6, 0.82


@dataclass(frozen=True)
class Requested:
    """What a question asks for: whether a thing may be meant, the words that it must be described by, and whether the
    things themselves are the answer."""

    may_be: Callable[[str], bool]
    words: tuple[WordForms, ...]
    is_list: bool


def prose_matches(
    understanding: Understanding, evidence: Sequence[Evidence], graph: Graph, round: int
) -> list[EvidenceSentence]:
    """A sentence for each thing of the requested class whose texts have most of the words that the likeliest reading
    leaves out, best first. Its nearness has the probability that the thing is asked for: 0 if words are missing."""
    requested = _requested(understanding, evidence, graph.lexicon, graph.schema)
    if requested is None or graph.lexical is None or graph.passages is None:
        return []
    best: dict[str, tuple[int, int, EvidenceSentence]] = {}
    for key, sentences in _texts_of_members(requested, graph, graph.lexical, round).items():
        forms = [text_forms(each.text) for each in sentences]
        counts = [sum(has_word(word, each) for word in requested.words) for each in forms]
        together = sum(any(has_word(word, each) for each in forms) for word in requested.words)
        place = max(range(len(counts)), key=lambda i: (counts[i], -i))
        best[key] = (together, counts[place], sentences[place])
    most = max((together for together, _, _ in best.values()), default=0)
    if most < ENOUGH_WORDS * len(requested.words):
        return []
    order = sorted(best.items(), key=lambda each: (-each[1][1], each[1][2].title))
    return [
        _match(key, together, own, sentence, requested) for key, (together, own, sentence) in order if together == most
    ][:MOST_QUOTED]


def _match(key: str, together: int, own: int, sentence: EvidenceSentence, requested: Requested) -> EvidenceSentence:
    """The sentence as the reason why a thing is asked for."""
    wanted, chance = len(requested.words), 0.0
    if (
        together == wanted
        and requested.is_list
        and not set(name_tokens(sentence.text)) & word_list("texts", "negating")
    ):
        chance = CHANCE_OF_WORDS if own == wanted > 1 else CHANCE_OF_WORD
    return replace(sentence, nearness=Nearness(round_likeness(together / wanted), key, chance))


def _requested(
    understanding: Understanding, evidence: Sequence[Evidence], lexicon: Lexicon, schema: Schema
) -> Requested | None:
    """What the likeliest rows ask for, if they are things and leave words out, or anything; None for other rows."""
    rows = max((each for _, each in candidate_rows(evidence) if each.reading is not None),
               key=lambda each: row_probability(understanding, each), default=None)  # fmt: skip
    reading = sole_reading(understanding, rows) if rows is not None else None
    classes = requested_classes(reading.plan.body) if reading is not None else ()
    if not classes:
        return _requested_anything(understanding)
    assert rows is not None
    assert reading is not None
    words = tuple(dict.fromkeys(form for text in reading.unused for form in question_forms(text)))[:MOST_WORDS]
    if not words or reading.lost:
        return None
    is_list = rows.table.columns[:1] != ("yes",) and rows.table.contributing is None
    if is_list and not rows.table.truncated:
        return Requested(frozenset(rows.keys).__contains__, words, is_list)
    relations = frozenset.intersection(*(schema.groups_of_class.get(each, frozenset()) for each in classes))

    def is_member(key: str) -> bool:
        thing = lexicon.thing(key)
        return thing is not None and thing.relation in relations

    return Requested(is_member, words, is_list)


def _requested_anything(understanding: Understanding) -> Requested | None:
    """What "is there anything that leaks?" asks for: anything whose texts have all words of the question."""
    anything = WORDS["anything"]
    tokens = tokenize(understanding.standalone)
    if understanding.named or anything.isdisjoint(token.norm for token in tokens):
        return None
    words = question_forms(" ".join(token.text for token in tokens if token.norm not in anything))[:MOST_WORDS]
    return Requested(lambda key: True, words, True) if words else None


def requested_classes(body: Body) -> tuple[str, ...]:
    """The classes of the things that a plan lists, counts or asks for; empty for other plans, and for counts and yes or
    no under conditions."""
    is_truth = isinstance(body, Ask)
    select = asked_select(body)
    if select is None or len(select.answers) != 1 or select.order is not None:
        return ()
    answer = select.answers[0]
    is_count = isinstance(answer, Aggregate) and answer.function == "count"
    of = answer.of if isinstance(answer, Aggregate) and is_count else answer
    if not isinstance(of, Itself) or select.group:
        return ()
    if (is_count or is_truth) and (select.edges or any(each.op != "known" for each in select.filters)):
        return ()
    variable = next(each for each in select.variables if each.name == of.variable)
    return () if variable.keys else variable.classes


def _texts_of_members(
    requested: Requested, graph: Graph, index: LexicalIndex, round: int
) -> dict[str, list[EvidenceSentence]]:
    """The prose of the things that may be asked for and have one of the words, by IRI."""
    assert graph.passages is not None
    text = " ".join(word for forms in requested.words for word in sorted(forms))
    passages = graph.passages.get([hit.id for hit in index.search(text, MOST_PASSAGES)])
    found: dict[str, list[EvidenceSentence]] = {}
    for passage in passages:
        prose = [each for each in passage_sentences([passage], graph.schema, round) if is_prose(each)]
        if prose and requested.may_be(passage.key):
            found.setdefault(passage.key, []).extend(prose)
    return found
