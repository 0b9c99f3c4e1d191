"""Understand a question with the verified questions that still hold: Rewrite + open graph + owner -> Understanding.

An ingest checks those of a graph. Those that it did not reach, and all of an attached graph, whose data changes by
itself, are checked when a turn first uses them. A turn waits for that so long and no longer, and never fails because of
them: if they can't be read, there are none.

Then their use: Understanding + VerifiedQuestions -> Understanding with their reading, and examples; and words of
verified questions that a semantic layer could teach (NameProposals)."""

import asyncio
import logging
import re
import sqlite3
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import lru_cache
from itertools import product
from typing import Literal, TypeVar

from rapidfuzz.distance import OSA

from ingestion.layer.apply import MAX_NAME, MAX_WORDS
from nacre.access.open_graph import cached_understanding
from nacre.config.settings import Settings
from nacre.errors import NacreError, ToolError
from nacre.extensions.verified.checks import check_entry, note_version
from nacre.extensions.verified.offer import (
    LIKELY,
    MAX_COMPARED,
    Offer,
    merge_offer,
    named_elements,
    offers,
    standing_offer,
    unaccounted_words,
)
from nacre.extensions.verified.template import LinkedQuestion, Template, asked_elements, content_words, template_of
from nacre.language.sanitize import strip_control_characters
from nacre.language.small_talk import strip_courtesy
from nacre.language.tokens import Token, is_known, tokenize
from nacre.records.schema import Schema
from nacre.records.threads import raise_if_cancelled, run_in_thread
from nacre.records.turn import (
    Reading,
    Rewrite,
    Understanding,
    VerifiedMatch,
    VerifiedQuery,
    VerifiedQuestion,
    normalised_question,
    question_words,
)
from nacre.stores.catalog import Graph
from nacre.stores.sqlite.lexicon import Lexicon
from nacre.stores.state.verified_questions import VerifiedQuestionStore
from nacre.understanding.linking.link_mentions import Linker, link_mentions, linker_of, prepare_question
from nacre.understanding.parse_question import expected_kind
from nacre.understanding.question.records import Link, Question
from nacre.understanding.ranking.probabilities import MAX_LOG_ODDS, MAX_READINGS
from nacre.wording.plan_phrases import verbalise_plan
from tools.sandbox import Sandbox

# seconds that a turn waits for checks, and entries that it checks (given)
WAIT_SECONDS, MAX_CHECKED = 2.0, 3

# seconds until an entry of an attached graph is checked again, and until a check that did not end is repeated (given)
HOLD_SECONDS, RETRY_SECONDS = 3600.0, 60.0

# outcomes that are kept
MAX_KEPT = 10_000

log = logging.getLogger(__name__)

Outcome = Literal["holds", "aside", "unknown"]

Key = tuple[str, ...]


class _Outcomes:
    """What the checks of this process found, for a time. Safe to share between threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: dict[Key, tuple[Outcome, float]] = {}

    def get(self, key: Key) -> Outcome | None:
        """The outcome of a check; None if there was none, or long ago."""
        with self._lock:
            outcome, until = self._kept.get(key, (None, 0.0))
        return outcome if time.monotonic() < until else None

    def keep(self, key: Key, outcome: Outcome) -> None:
        seconds = RETRY_SECONDS if outcome == "unknown" else HOLD_SECONDS
        with self._lock:
            self._kept.pop(key, None)
            while len(self._kept) >= MAX_KEPT:
                del self._kept[next(iter(self._kept))]
            self._kept[key] = (outcome, time.monotonic() + seconds)


_outcomes = _Outcomes()


async def understand_question(
    rewrite: Rewrite, graph: Graph, lexicon: Lexicon, most: int, owner: str, settings: Settings, sandbox: Sandbox
) -> Understanding:
    """The understanding of a question, compared with the verified questions of its owner unless it is a follow-up.

    One that turns out not to hold is set aside, and the question is understood without it. One whose check takes too
    long offers nothing to other questions for now; the same question runs its plan anyway.
    """
    stands_alone = rewrite.scope is None and rewrite.chosen is None

    def compared() -> tuple[Sequence[VerifiedQuestion], float]:
        known = comparable_verified_questions(graph, owner, rewrite.standalone) if stands_alone else ()
        return known, probability_shift(graph)

    def read() -> Understanding:
        found = cached_understanding(rewrite, graph.schema, lexicon, most, verified, shift)
        return with_like_query(found, verified, lexicon)

    verified, shift = await run_in_thread(compared)
    deadline = time.monotonic() + WAIT_SECONDS
    for _ in range(MAX_CHECKED):
        found = await run_in_thread(read)
        used = used_entry(found, verified)
        if used is None:
            return found
        outcome = await _outcome(graph, used, settings, sandbox, deadline - time.monotonic())
        if outcome == "holds" or (outcome == "unknown" and found.verified is not None):
            return found
        verified = tuple(each for each in verified if each != used)
    certain = tuple(each for each in verified if not _is_due(graph, each))
    return await run_in_thread(cached_understanding, rewrite, graph.schema, lexicon, most, certain, shift)


def used_entry(understanding: Understanding, verified: Sequence[VerifiedQuestion]) -> VerifiedQuestion | None:
    """The verified question that an understanding rests on: the same one, or the one whose plan is a reading."""
    offered = next((each.verified for each in understanding.readings if each.verified is not None), None)
    match = understanding.verified or offered
    if match is None:
        return None
    return next((each for each in verified if (each.id, each.by) == (match.id, match.by)), None)


def with_like_query(
    understanding: Understanding, verified: Sequence[VerifiedQuestion], lexicon: Lexicon
) -> Understanding:
    """The understanding with the query of a verified question that differs by nothing but a name of a thing of the same
    class, if its plan or another one's offers no reading: the query has the other name, and runs as it would."""
    queries = [each for each in verified if each.query is not None]
    if not queries or understanding.verified or any(each.verified for each in understanding.readings[:1]):
        return understanding
    linker = linker_of(lexicon)
    question = _linked(understanding.standalone, linker)
    for each in queries:
        names = _other_names(_linked(each.standalone, linker), question, linker)
        if names is not None and each.query is not None and (text := with_other_name(each.query, *names)):
            about = (each.id, each.by, each.at, each.question)
            match = VerifiedMatch(*about, each.query["tool"], text, is_like=True)
            return replace(understanding, verified=match, unknown=(), absent=(), unstated=None)
    return understanding


def _linked(text: str, linker: Linker) -> tuple[Question, Sequence[Link]]:
    question = prepare_question(text, linker)
    return question, [each for each in link_mentions(question, linker.index) if each.kind == "entity" and each.exact]


def _other_names(
    verified: tuple[Question, Sequence[Link]], asked: tuple[Question, Sequence[Link]], linker: Linker
) -> tuple[Link, Link] | None:
    """The names by which two questions differ, of things of one class; None if they differ by more."""
    (one, names), (other, others) = verified, asked
    words, wanted = ([token.lemma for token in each.tokens] for each in (one, other))

    def classes(name: Link) -> set[str]:
        return {iri for ref in name.refs for iri in linker.index.graph.nodes[ref.node].classes}

    for old, new in product(names, others):
        is_rest_same = words[: old.start] == wanted[: new.start] and words[old.end :] == wanted[new.end :]
        is_other = len(old.keys) == len(new.keys) == 1 and old.keys != new.keys
        if is_rest_same and is_other and classes(old) & classes(new):
            return old, new
    return None


# constants of a query, after what only looks like one: identifiers and comments of SQL, comments of SPARQL
_CONSTANTS = {
    "sql": re.compile(r"\"(?:[^\"]|\"\")*+\"?|--[^\n]*+|/\*(?:[^*]|\*(?!/))*+|'((?:[^']|'')*+)'?"),
    "sparql": re.compile(r"<([^<>\s]*+)>|#[^\n]*+|\"((?:[^\"\\\n]|\\.)*+)\"?|'((?:[^'\\\n]|\\.)*+)'?"),
}

_NO_IRI = re.compile(r"[\s<>\"{}|\\^`]")


def with_other_name(query: VerifiedQuery, old: Link, new: Link) -> str:
    """The query with the IRI and the label of another thing as constants; "" if it has those of the thing nowhere."""
    others = {old.keys[0]: new.keys[0], old.label: strip_control_characters(new.label)}
    is_sql = query["tool"] == "sql"

    def replaced(match: re.Match[str]) -> str:
        value = match[match.lastindex] if match.lastindex else ""
        other = others.get(value.replace("''", "'") if is_sql else value) if value else None
        if other is None:
            return match[0]
        start, end = match[0][0], match[0][-1]
        other = other.replace("'", "''") if is_sql else other.replace("\\", r"\\").replace(end, f"\\{end}")
        return f"{start}{other}{end}"

    text = _CONSTANTS[query["tool"]].sub(replaced, query["text"])
    return "" if text == query["text"] or _NO_IRI.search(new.keys[0]) else text


async def _outcome(
    graph: Graph, entry: VerifiedQuestion, settings: Settings, sandbox: Sandbox, seconds: float
) -> Outcome:
    """Whether an entry holds; it is run if that is not known, and what that gives is stored."""
    if not _is_due(graph, entry):
        return "holds"
    key = _key(graph, entry)
    if (known := _outcomes.get(key)) is not None:
        return known
    # turns that come meanwhile do not check it too
    _outcomes.keep(key, "unknown")
    try:
        checked = await asyncio.wait_for(check_entry(graph, entry, settings, sandbox), max(0.0, seconds))
        if checked != entry and graph.verified is not None:
            await run_in_thread(graph.verified.record_check, graph.name, checked)
    except TimeoutError:
        return "unknown"
    except (NacreError, sqlite3.Error) as error:
        log.warning("graph %s: a verified question can't be checked: %s", graph.name, error)
        return "unknown"
    outcome: Outcome = "holds" if checked.state == "in use" else "aside"
    _outcomes.keep(key, outcome)
    if outcome == "aside":
        log.info("graph %s: a verified question is not used any more (%s)", graph.name, checked.state)
    return outcome


def _is_due(graph: Graph, entry: VerifiedQuestion) -> bool:
    """Whether an entry must be checked before it is used, as far as its version and the time tell."""
    if entry.version < graph.version:
        return _outcomes.get(_key(graph, entry)) != "holds"
    if not graph.attached or _outcomes.get(_key(graph, entry)) == "holds":
        return False
    try:
        age = datetime.now(UTC) - datetime.fromisoformat(entry.at)
    except (ValueError, TypeError):
        return True
    return age.total_seconds() > HOLD_SECONDS


def _key(graph: Graph, entry: VerifiedQuestion) -> Key:
    return (graph.name, graph.version, entry.id, entry.by, entry.at)


T = TypeVar("T")


def comparable_verified_questions(graph: Graph, owner: str, question: str) -> tuple[VerifiedQuestion, ...]:
    """Those to compare a question with, each once: the same one, those that share most words with it, and the latest;
    at most `MAX_COMPARED`."""

    def read(store: VerifiedQuestionStore) -> tuple[VerifiedQuestion, ...]:
        same = store.find(graph.name, owner, question)
        similar = store.similar(graph.name, owner, question_words(question), MAX_COMPARED)
        latest = store.usable(graph.name, owner, MAX_COMPARED) if len(similar) < MAX_COMPARED else ()
        found = {each.id: each for each in (*([same] if same is not None else ()), *similar, *latest)}
        return tuple(found.values())[:MAX_COMPARED]

    return _read(graph, (), read)


def probability_shift(graph: Graph) -> float:
    """What approved questions say of the probabilities of a graph, in log-odds."""

    def read(store: VerifiedQuestionStore) -> float:
        known = store.calibration(graph.name)
        return known.shift if known is not None else 0.0

    return _read(graph, 0.0, read)


def _read(graph: Graph, without: T, read: Callable[[VerifiedQuestionStore], T]) -> T:
    if graph.verified is None:
        return without
    try:
        if graph.verified.known_version(graph.name) not in (None, graph.version):
            note_version(graph, graph.verified)
        return read(graph.verified)
    except (sqlite3.Error, ToolError) as error:
        log.warning("graph %s: its verified questions can't be read: %s", graph.name, error)
        return without


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
    linked = LinkedQuestion(question, links, linker.index.graph, understanding.readings)
    found = offers(verified, linked)
    understanding = replace(understanding, examples=_examples(found, verified))
    best = standing_offer(found, linked)
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
    if OSA.distance(word, other, score_cutoff=1) > 1 or is_known(word, lang="en"):
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
    question = prepare_question(template.question.text, linker)
    if len(question.tokens) != len(template.question.tokens):
        # words were left out, so the places of names are others
        return
    linked = LinkedQuestion(question, link_mentions(question, linker.index), linker.index.graph)
    slots = [*((slot.start, slot.end) for slot in template.names), *((n.start, n.end) for n in question.numbers)]
    taken = frozenset(i for start, end in slots for i in range(start, end))
    unknown = unaccounted_words(linked, template.elements, taken)
    unknown -= {i for cue in question.cues for i in range(cue.start, cue.end)}
    others = [i for i, _ in content_words(question, taken) if i not in unknown]
    naming = {each.iri for each in linker.schema.predicates if each.role == "name"}
    asked = asked_elements(template.plan.body, naming)
    unnamed = asked - named_elements(linked, asked, others)
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
