"""Use verified questions: Understanding + VerifiedQuestions -> Understanding with their reading, and examples.

Also: words of verified questions that a semantic layer could teach (NameProposals).
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import simplemma
from rapidfuzz.distance import OSA

from nacre.access.teaching import MAX_NAME, MAX_WORDS
from nacre.extensions.verified.offer import (
    LIKELY,
    Offer,
    merge_offer,
    named_elements,
    offers,
    standing_offer,
    unaccounted_words,
)
from nacre.extensions.verified.template import Template, asked_elements, content_words, template_of
from nacre.language.small_talk import strip_courtesy
from nacre.language.tokens import Token, tokenize
from nacre.records.schema import Schema
from nacre.records.threads import raise_if_cancelled
from nacre.records.turn import Reading, Understanding, VerifiedMatch
from nacre.records.verified_question import VerifiedQuestion, normalised_question
from nacre.stores.sqlite.lexicon import Lexicon
from nacre.understanding.linking.link_mentions import Linker, link_mentions, prepare_question
from nacre.understanding.parse_question import expected_kind
from nacre.understanding.question.records import Link, Question
from nacre.understanding.ranking.probabilities import MAX_LOG_ODDS, MAX_READINGS
from nacre.wording.plan_phrases import verbalise_plan

# verified questions that a model sees (given)
MAX_EXAMPLES = 3

# letters of a word that may have a slip (given)
MIN_LETTERS = 4

# questions whose tokens are kept (given)
CACHED_TEXTS = 2048


def apply_verified(
    understanding: Understanding,
    verified: Sequence[VerifiedQuestion],
    text: str,
    question: Question,
    links: Sequence[Link],
    linker: Linker,
) -> Understanding:
    """The understanding with what verified questions say, the most similar of them given first.

    The same question is a match; its plan comes first and is certain. Otherwise the likeliest plan of a similar
    question is one more reading.
    """
    if not verified:
        return understanding
    schema = linker.schema
    same = next((each for each in verified if _is_same_question(each, text, question, linker.lexicon)), None)
    if same is not None:
        return _with_match(replace(understanding, examples=(same,)), same, schema)
    found = offers(verified, question, links, understanding.readings, linker.index.graph)
    understanding = replace(understanding, examples=_examples(found, verified))
    best = standing_offer(found, question, links, linker.index.graph)
    readings = merge_offer(best, understanding.readings, schema, MAX_READINGS)
    if best is None or readings == understanding.readings:
        return understanding
    expected = expected_kind(readings[0].plan.body, schema)
    if readings[0].plan.body != best.alignment.plan.body or best.probability < LIKELY:
        return replace(understanding, readings=readings, expected=expected)
    # what its words mean is known from the verified question
    return replace(understanding, readings=readings, expected=expected, unknown=(), absent=(), unstated=None)


def _with_match(understanding: Understanding, same: VerifiedQuestion, schema: Schema) -> Understanding:
    query = (same.query["tool"], same.query["text"]) if same.query else ("", "")
    match = VerifiedMatch(same.id, same.by, same.at, same.question, *query)
    template = template_of(same, schema)
    if template is None:
        return replace(understanding, verified=match) if same.query else understanding
    plan = template.plan
    reading = Reading(plan, 1.0, 1.0, verbalise_plan(plan, schema), 1.0, (), MAX_LOG_ODDS)
    others = tuple(each for each in understanding.readings if each.plan.body != plan.body)
    return replace(
        understanding,
        readings=(reading, *others)[:MAX_READINGS],
        expected=expected_kind(plan.body, schema),
        unknown=(),
        absent=(),
        unstated=None,
        verified=match,
    )


def _examples(found: Sequence[Offer], verified: Sequence[VerifiedQuestion]) -> tuple[VerifiedQuestion, ...]:
    """The nearest verified questions: the likeliest offers, then the others in their order."""
    nearest = [offer.verified for offer in found]
    return tuple([*nearest, *(each for each in verified if each not in nearest)][:MAX_EXAMPLES])


def _is_same_question(verified: VerifiedQuestion, text: str, question: Question, lexicon: Lexicon) -> bool:
    """Whether the words are the same. One letter may be wrong, missing, additional or swapped with the next in words
    that neither English nor the graph has; `question` has the words of `text`, with their spelling corrected."""
    if normalised_question(verified.standalone) == normalised_question(text):
        return True
    wanted = _plain_tokens(verified.standalone)
    return any(_have_same_words(words, wanted, lexicon) for words in (_plain_tokens(text), question.tokens))


@lru_cache(CACHED_TEXTS)
def _plain_tokens(text: str) -> tuple[Token, ...]:
    return tuple(tokenize(strip_courtesy(text)))


def _have_same_words(words: Sequence[Token], wanted: Sequence[Token], lexicon: Lexicon) -> bool:
    return len(words) == len(wanted) and all(
        word.norm == other.norm or _is_slip(word.norm, other.norm, lexicon)
        for word, other in zip(words, wanted, strict=True)
    )


def _is_slip(word: str, other: str, lexicon: Lexicon) -> bool:
    if min(len(word), len(other)) < MIN_LETTERS or not (word.isalpha() and other.isalpha()):
        return False
    if OSA.distance(word, other, score_cutoff=1) > 1 or simplemma.is_known(word, lang="en"):
        return False
    known = lexicon.word(word)
    return known is None or not known.names


@dataclass(frozen=True)
class NameProposal:
    """People say `phrase` for the class or property `iri`, which is called `label`, in these verified questions."""

    phrase: str
    iri: str
    label: str
    questions: tuple[str, ...]


def name_proposals(verified: Sequence[VerifiedQuestion], linker: Linker) -> tuple[NameProposal, ...]:
    """The phrases that nothing in the graph accounts for, each with the class or property that it must mean, those of
    most questions first.

    A question tells what a phrase means if it is the only unknown one, and if only one class or property of the
    confirmed plan is named by no other word. A phrase that would mean two things is not proposed.
    """
    found: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for each in verified:
        raise_if_cancelled()
        template = template_of(each, linker.schema)
        for phrase, iri in _taught(template, linker) if template is not None else ():
            found[phrase, iri].append(each.id)
    meanings = defaultdict(set)
    for phrase, iri in found:
        meanings[phrase].add(iri)
    proposals = [
        NameProposal(phrase, iri, _label(iri, linker), tuple(dict.fromkeys(ids)))
        for (phrase, iri), ids in found.items()
        if len(meanings[phrase]) == 1
    ]
    return tuple(sorted(proposals, key=lambda each: (-len(each.questions), each.phrase)))


def _taught(template: Template, linker: Linker) -> Iterator[tuple[str, str]]:
    """The only unknown phrase of a question, with the only element that no word names."""
    graph = linker.index.graph
    question = prepare_question(template.question.text, linker)
    if len(question.tokens) != len(template.question.tokens):
        # words were left out, so the places of names are others
        return
    links = link_mentions(question, linker.index)
    slots = [*((slot.start, slot.end) for slot in template.names), *((n.start, n.end) for n in question.numbers)]
    taken = frozenset(i for start, end in slots for i in range(start, end))
    unknown = unaccounted_words(question, links, template.elements, graph, taken)
    unknown -= {i for cue in question.cues for i in range(cue.start, cue.end)}
    others = [i for i, _ in content_words(question, taken) if i not in unknown]
    naming = {each.iri for each in linker.schema.predicates if each.role == "name"}
    asked = asked_elements(template.plan.body, naming)
    unnamed = asked - named_elements(question, links, asked, graph, others)
    phrases = list(_runs(sorted(unknown), question))
    if len(phrases) == 1 and len(unnamed) == 1:
        yield phrases[0], next(iter(unnamed))


def _runs(places: Collection[int], question: Question) -> Iterator[str]:
    """The words at these places; those next to each other are one phrase."""
    run: list[int] = []
    for i in (*places, -1):
        if run and i != run[-1] + 1:
            if len(run) <= MAX_WORDS:
                yield " ".join(question.tokens[at].lemma for at in run)[:MAX_NAME]
            run = []
        run.append(i)


def _label(iri: str, linker: Linker) -> str:
    known = linker.schema.class_of.get(iri) or linker.schema.predicate_of.get(iri)
    return known.label if known is not None else iri
