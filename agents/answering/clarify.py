"""Ambiguous questions: readings + their rows -> the other readings to offer, and the words that offer or confirm
them."""

from collections.abc import Sequence
from dataclasses import replace

from agents.answering.disputes import is_same_result
from agents.answering.selection.refused_rows import is_echo
from agents.answering.selection.rows import candidate_rows, is_empty, is_nil, plan_of, row_probability
from nacre.language.base import word_list
from nacre.language.sanitize import quote_line
from nacre.language.tokens import tokenize
from nacre.plans.inspect_select import asked_select
from nacre.records.evidence import Evidence, Rows
from nacre.records.plan import Attribute, Body, Plan, Select
from nacre.records.schema import Schema
from nacre.records.turn import Reading, Understanding
from nacre.understanding.ranking.weights import load_weights
from nacre.wording.labels.class_nouns import class_noun

MOST_OFFERED = 3


def other_readings(
    chosen: Rows, understanding: Understanding, evidence: Sequence[Evidence], schema: Schema
) -> tuple[Reading, ...]:
    """The readings that are likely enough to be offered and give something else than the rows that answer, the
    likeliest first. Readings that give the same rows add up their probabilities.

    If two readings have the same words because things of two classes share a name, the later one names the class. The
    codes of things that are in the answer already are no other answer.
    """
    shown, words = [chosen.table], {chosen.words}
    plan = plan_of(understanding, chosen)
    things = {_conditions(plan)} if plan is not None else set()
    found: list[Reading] = []
    rows = [each for _, each in candidate_rows(evidence)]
    for each in sorted(rows, key=lambda e: -row_probability(understanding, e)):
        if each.reading is None or _combined_probability(each, rows, understanding) < load_weights().offered:
            continue
        is_no_answer = is_empty(each.table) or is_nil(each.table) or is_echo(understanding, each)
        if is_no_answer or any(is_same_result(each.table, table) for table in shown):
            continue
        reading = understanding.readings[each.reading]
        if _selects_identifiers(reading.plan, schema) and _conditions(reading.plan) in things:
            continue
        if each.words in words:
            reading = _with_classes(reading, schema)
        if reading.words in words:
            continue
        shown.append(each.table)
        things.add(_conditions(reading.plan))
        words.add(reading.words)
        found.append(reading)
    return tuple(found[:MOST_OFFERED])


def _combined_probability(rows: Rows, every: Sequence[Rows], understanding: Understanding) -> float:
    """The probability of all readings that give the same rows."""
    same = {e.reading for e in every if e.reading is not None and is_same_result(rows.table, e.table)}
    return sum(understanding.readings[i].score for i in same)


def _conditions(plan: Plan) -> Body:
    """The conditions of a plan, whatever it selects."""
    return replace(plan.body, answers=()) if isinstance(plan.body, Select) else plan.body


def _selects_identifiers(plan: Plan, schema: Schema) -> bool:
    """Whether a plan selects nothing but identifiers."""
    return isinstance(plan.body, Select) and all(
        isinstance(answer, Attribute) and schema.predicate_of[answer.predicate].role == "identifier"
        for answer in plan.body.answers
    )


def _with_classes(reading: Reading, schema: Schema) -> Reading:
    """The reading with the classes of the things that it names added to its words."""
    select = asked_select(reading.plan.body)
    variables = select.variables if select is not None else ()
    kinds = dict.fromkeys(class_noun(each, schema) for each in variables if each.keys)
    return replace(reading, words=f"{reading.words} ({', '.join(kinds)})") if kinds else reading


def offer_readings(readings: Sequence[Reading]) -> str:
    """The readings in words, to be chosen by number."""
    quotes = [f"“{quote_line(each.words)}”" for each in readings]
    if len(quotes) == 1:
        return f"Or did you mean {quotes[0]}?"
    return f"Or did you mean: {'; '.join(f'{n}. {each}' for n, each in enumerate(quotes, 1))}?"


def confirm_reading(words: str, answer: str = "") -> str:
    """Ask to confirm a reading if there is no other to offer; its words are left out if the answer has them.

    >>> confirm_reading("the age of Ann", "The age of Ann is 40.")
    'Is that what you meant?'
    >>> confirm_reading("towns that Ann lives in", "Ann lives in Hay.")
    'I read this as “towns that Ann lives in”. Is that what you meant?'
    """
    answer_words = {token.norm for token in tokenize(answer)}
    if answer and {token.norm for token in tokenize(words)} <= answer_words | word_list("answering", "reading_forms"):
        return "Is that what you meant?"
    return f"I read this as “{quote_line(words)}”. Is that what you meant?"
