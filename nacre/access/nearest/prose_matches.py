"""Things of a class whose texts have the words that a reading leaves out: Understanding + rows -> sentences.

"Which boat was painted over?" asks for boats, and only a comment of one of them has "painted".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from agents.answering.selection.rows import candidate_rows, row_probability, sole_reading
from nacre.access.nearest.likeness import WordForms, has_word, question_forms, text_forms
from nacre.access.nearest.named_facts import is_prose, passage_sentences, round_likeness
from nacre.language.base import language, word_list
from nacre.language.tokens import name_tokens, tokenize
from nacre.plans.inspect_select import asked_select
from nacre.records.evidence import Evidence, EvidenceSentence, Nearness
from nacre.records.plan import Aggregate, Ask, Body, Itself
from nacre.records.schema import Schema
from nacre.records.turn import Understanding

if TYPE_CHECKING:
    from nacre.stores.catalog import Graph
    from nacre.stores.search.lexical import LexicalIndex
    from nacre.stores.sqlite.lexicon import Lexicon

# passages that are searched, things whose texts are quoted, and words of a question that are sought
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
    anything = language().words["anything"]
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
