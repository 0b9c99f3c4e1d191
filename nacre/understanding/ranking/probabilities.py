"""Probabilities of readings: RankedReadings + Question -> Readings, best first; a reading and its rows -> 0..1.

The shift of a graph is a logistic model with a random intercept for each graph: the log-odds of a reading of the
rules plus the shift of its graph. The shift is normally distributed with the standard deviation `SPREAD`, so few
answers move it little.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

from nacre.language.data import WORDS
from nacre.language.word_forms import is_plural
from nacre.plans.sql_joins import RAW_TEXT_SUFFIX
from nacre.records.evidence import Cell, Table
from nacre.records.plan import Attribute, Body, Itself, Plan, Select
from nacre.records.schema import Schema
from nacre.records.turn import Reading, Understanding
from nacre.understanding.linking.schema_graph import SchemaGraph
from nacre.understanding.parsing.class_rules import NARROWER_KIND_RULE, OTHER_KIND_RULE
from nacre.understanding.parsing.link_constraints import looks_up_own
from nacre.understanding.parsing.read_calculations import ELAPSED_RULE
from nacre.understanding.parsing.state import Candidate
from nacre.understanding.question.records import Link, Question, covered_mask, token_mask
from nacre.understanding.ranking.proof import find_doubts
from nacre.understanding.ranking.rank import RankedReading, Weights, load_weights, weighted_sum
from nacre.understanding.ranking.unused_cues import TokenSpan, ignored_words, is_required_word, is_unrestricted
from nacre.wording.plan_phrases import verbalise_plan

# Readings that are returned, and readings among which one is sought that uses everything the question asks.
MAX_READINGS, MAX_READINGS_CHECKED = 6, 12

# Minimum share of the belief of a reading that comes before a likelier one because it uses more (set by hand).
MIN_SHARE = 0.02
# What the log-odds of a reading lose if it ignores a bound, or gives all things although the question has a condition.
# Such a reading is never the answer (given).
LOST_CONDITION_LOG_ODDS = 8.0
# The probability that the time between two dates of a completely named thing is right, if each word is used (given).
DATE_DIFFERENCE_PROBABILITY = 0.9


def best_readings(
    ranked: Sequence[RankedReading], question: Question, links: Sequence[Link], graph: SchemaGraph, schema: Schema
) -> tuple[list[RankedReading], tuple[Reading, ...]]:
    """The best readings with their probabilities; those that ignore a bound, a negation or a rank come last."""
    ignored = [ignored_words(r.candidate, question, graph) for r in ranked[:MAX_READINGS_CHECKED]]
    is_late = [i >= MAX_READINGS_CHECKED or bool(ignored[i]) or r.share < MIN_SHARE for i, r in enumerate(ranked)]
    order = sorted(range(len(ranked)), key=lambda i: is_late[i])
    unlinked = unlinked_tokens(links, question)
    first = order[:MAX_READINGS]
    readings = (make_reading(ranked[i], i, question, ignored[i], unlinked, graph, schema) for i in first)
    doubts = (find_doubts(ranked[i].candidate, question, links, graph) for i in first)
    proved = (replace(each, doubts=found) for each, found in zip(readings, doubts, strict=True))
    return [ranked[i] for i in order], tuple(proved)


def unlinked_tokens(links: Sequence[Link], question: Question) -> frozenset[int]:
    """The content words that no link covers. Numbers are not content words here."""
    linked = covered_mask(links)
    for link in links:
        linked |= token_mask(link.start, link.end) if link.match == "slip" else 0
    return frozenset(
        i
        for i, token in enumerate(question.tokens)
        if not (linked >> i & 1 or i in question.stopwords or token.norm[:1].isdigit())
    )


def restates_condition(candidate: Candidate) -> bool:
    """Whether a reading gives only what its conditions say: the floor of the rooms whose floor is 1."""
    body = candidate.body
    known = [f.left for f in body.filters if f.op == "=" and not f.negated] if isinstance(body, Select) else []
    return isinstance(body, Select) and all(answer in known for answer in body.answers)


def has_other_answer_class(candidate: Candidate, question: Question, graph: SchemaGraph) -> bool:
    """Whether a reading gives none of what the question begins with: "venues open on Monday" are no times."""
    d = candidate.derivation
    first = next((i for i in range(len(question.tokens)) if i not in question.stopwords), None)
    if first is None or not is_plural(question.tokens[first].norm) or not isinstance(candidate.body, Select):
        return False
    if any(token.norm in WORDS["who"] for token in question.tokens[:first]):
        # "who has the most boats" begins with what it asks for
        return False
    if {NARROWER_KIND_RULE, OTHER_KIND_RULE} & set(d.trace):
        return False
    if any(not t.ref.predicate and not graph.nodes[t.ref.node].classes for t in d.targets):
        # The target of a link may be of any class.
        return False
    requested = [r.node for x in d.links if x.kind == "class" and x.exact and x.start == first for r in x.refs]
    answered = {*(t.ref.node for t in d.targets), *(g.node for g in d.group)}
    classes = {iri for node in answered for iri in graph.nodes[node].classes}
    return bool(requested) and not any(n in answered or classes & set(graph.nodes[n].classes) for n in requested)


def show_things_beside_values(body: Body, *, always: bool = False) -> Body:
    """The plan, with several named things, or `always` its things, as a column beside the property that it gives."""
    value = body.answers[0] if isinstance(body, Select) and len(body.answers) == 1 else None
    if not isinstance(body, Select) or not isinstance(value, Attribute) or body.group or body.by or body.order:
        return body
    thing = next((v for v in body.variables if v.name == value.variable), None)
    are_named = thing is not None and 1 < len(thing.keys) == len(thing.label.split(" or "))
    if not (are_named or always):
        return body
    return replace(body, answers=(Itself(value.variable), value))


def make_reading(
    ranked: RankedReading,
    place: int,
    question: Question,
    ignored: tuple[TokenSpan, ...],
    unlinked: frozenset[int],
    graph: SchemaGraph,
    schema: Schema,
) -> Reading:
    """A reading with its probabilities. `ignored` are the spans that it covers and ignores."""
    candidate = ranked.candidate
    plan = Plan(show_things_beside_values(candidate.body))
    words, share = verbalise_plan(plan, schema), round(ranked.share, 4)
    if candidate.derivation.trace == ELAPSED_RULE and not ranked.unused:
        odds = log_odds_before_running(DATE_DIFFERENCE_PROBABILITY)
        return Reading(plan, share, 1.0, words, DATE_DIFFERENCE_PROBABILITY, (), odds)
    has_conditions = bool(ignored) or any(i in unlinked and is_required_word(i, question) for i in ranked.unused)
    is_refused = (
        any(number.op and (number.start, number.end) in ignored for number in question.numbers)
        or (has_conditions and is_unrestricted(candidate.body))
        or has_other_answer_class(candidate, question, graph)
        or restates_condition(candidate)
    )
    content = sum(i not in question.stopwords for i in range(len(question.tokens)))
    unused = [(i, i + 1) for i in ranked.unused if not any(a <= i < b for a, b in ignored)]
    penalty = LOST_CONDITION_LOG_ODDS if is_refused else 0.0
    return Reading(
        plan,
        share,
        round(1 - len(ranked.unused) / max(1, content), 3),
        words,
        round(probability(_weighted_belief(ranked, place, load_weights().before)), 4),
        _texts(sorted([*ignored, *unused]), question),
        round(known_log_odds(ranked, place) - penalty, 4),
        _texts(ignored, question),
        round(_weighted_belief(ranked, place, load_weights().said) - penalty, 4),
        own=looks_up_own(candidate, question, graph),
    )


def _texts(spans: Sequence[TokenSpan], question: Question) -> tuple[str, ...]:
    words = question.tokens
    return tuple(question.text[words[start].start : words[end - 1].end] for start, end in spans)


MIN_BELIEF = 1e-4  # Shares of the belief below this are equal.
MAX_READINGS_RUN = 5  # Readings that are run.
FEW_CELLS, MANY_CELLS, THOUSANDS_OF_CELLS = 10, 100, 1000  # Numbers of cells from which a result counts as larger.

MAX_UNUSED_COUNTED = 4  # More unused words count as so many.

# Features that do not choose among readings: a no is no better reason to choose one than a yes.
_TRUTH = frozenset(("ran yes", "ran no"))

MAX_LOG_ODDS = 30.0  # Log-odds beyond which a probability is 0 or 1.
# What running a reading adds to its log-odds on average (measured over conversations about four graphs to learn from,
# 32 and 45 follow-ups).
RUNNING_LOG_ODDS = 0.68


@dataclass(frozen=True)
class ReadingOutcome:
    """What running one reading gave: the distinct cells, row by row; one boolean for yes or no; None if it failed."""

    values: tuple[Cell, ...] | None

    @cached_property
    def cells(self) -> frozenset[str]:
        """The cells in any order, as texts."""
        return frozenset(map(str, self.values or ()))


def table_outcome(table: Table | None) -> ReadingOutcome:
    """The outcome of a reading by its rows. None stands for a failed run.

    >>> table_outcome(Table(("name", "age", "age (text)"), (("Ann", 4, "4 y"), ("Bo", 4, "4 y")))).values
    ('Ann', 4, 'Bo')
    """
    if table is None:
        return ReadingOutcome(None)
    if table.columns[:1] == ("yes",):
        return ReadingOutcome(tuple(bool(row[0]) for row in table.rows))
    shown = shown_columns(table)
    return ReadingOutcome(tuple(dict.fromkeys(row[i] for row in table.rows for i in shown if row[i] is not None)))


def shown_columns(table: Table) -> list[int]:
    """The positions of the columns to show. Columns with the original text of a value are left out."""
    return [i for i, name in enumerate(table.columns) if not name.endswith(RAW_TEXT_SUFFIX)]


def known_log_odds(ranked: RankedReading, place: int) -> float:
    """The part of the log-odds after running that is known before running: `Reading.odds`."""
    return _weighted_belief(ranked, place, load_weights().after)


def log_odds_before_running(after: float) -> float:
    """The log-odds before running that give a probability `after` running, on average."""
    return math.log(after / (1 - after)) - RUNNING_LOG_ODDS


def probability_after_running(reading: Reading, outcome: Mapping[str, float], learned: Weights | None = None) -> float:
    """The probability that a reading's rows are right, given the features of its outcome (`outcome_features`)."""
    return probability(reading.odds + weighted_sum(outcome, (learned or load_weights()).after))


def choose_reading(
    understanding: Understanding, outcomes: Sequence[ReadingOutcome], learned: Weights | None = None
) -> tuple[int, float]:
    """The position of the reading to answer with, and its probability. The outcomes are those of the first readings."""
    readings = understanding.readings[: len(outcomes)]
    shares = [r.score for r in readings]
    ran = [outcome_features(i, shares, outcomes) for i in range(len(readings))]
    beliefs = [belief_features(r.score, len(r.unused), i) for i, r in enumerate(readings)]
    model = (learned or load_weights()).choice
    worths = [weighted_sum(choice_features(*each), model) for each in zip(beliefs, ran, strict=True)]
    uses_all = not readings[0].lost
    eligible = eligible_readings([len(r.unused) for r in readings], outcomes)
    eligible = [i for i in eligible if not (uses_all and readings[i].lost)]
    best = max(eligible, key=lambda i: (worths[i], -i))
    if outcomes[best].values:
        # Among readings with the same rows, the likeliest one explains best what was understood.
        best = next(i for i in eligible if outcomes[i].cells == outcomes[best].cells)
    return best, probability_after_running(readings[best], ran[best], learned)


def eligible_readings(unused: Sequence[int], outcomes: Sequence[ReadingOutcome]) -> list[int]:
    """The positions of the readings that may answer. If the first one gave no rows, readings that leave out more words
    may not.

    >>> empty = eligible_readings([0, 1, 0], [ReadingOutcome(()), ReadingOutcome((5,)), ReadingOutcome((3,))])
    >>> empty, eligible_readings([0, 1], [ReadingOutcome((1,)), ReadingOutcome((5,))])
    ([0, 2], [0, 1])
    """
    is_first_empty = outcomes[0].values == ()
    return [i for i, more in enumerate(unused) if not i or not is_first_empty or more <= unused[0]]


def belief_features(share: float, unused: int, place: int) -> dict[str, float]:
    """Features of the belief in a reading: its share, its number of unused words, and its position."""
    return {
        "belief": log_odds(_bounded(share)),
        "belief unused": float(min(unused, MAX_UNUSED_COUNTED)),
        "belief something unused": float(unused > 0),
        "belief first": float(place == 0),
    }


def choice_features(beliefs: Mapping[str, float], ran: Mapping[str, float]) -> dict[str, float]:
    """What chooses among readings: belief and outcome, except whether the answer is a yes or a no."""
    return {**beliefs, **{name: value for name, value in ran.items() if name not in _TRUTH}}


def outcome_features(at: int, shares: Sequence[float], outcomes: Sequence[ReadingOutcome]) -> dict[str, float]:
    """Features of what the reading at a position gave, and of the belief in others with the same or other rows."""
    own = outcomes[at]
    cells = [each.cells for each in outcomes]
    same = [i for i, o in enumerate(outcomes) if o.values is not None and cells[i] == cells[at]]
    agreeing = _bounded(sum(shares[i] for i in same))
    whole = max(MIN_BELIEF, sum(shares[: len(outcomes)]))
    values = own.values or ()
    single = values[0] if len(values) == 1 else None
    return {
        # Two readings often give the same yes or no by chance.
        **({} if isinstance(single, bool) else _rival_features(at, shares, cells)),
        "ran agreeing": log_odds(agreeing),
        "ran agreeing of run": min(1.0, agreeing / whole),
        "ran others agree": float(len(same) > 1),
        "ran failed": float(own.values is None),
        "ran empty": float(own.values is not None and not values),
        # Unlike a zero, a no is as good an answer as a yes.
        "ran nil": float(single is not None and single is not False and single == 0),
        "ran yes": float(single is True),
        "ran no": float(single is False),
        "ran one": float(len(values) == 1),
        "ran few": float(1 < len(values) <= FEW_CELLS),
        "ran many": float(len(values) > MANY_CELLS),
        "ran thousands": float(len(values) >= THOUSANDS_OF_CELLS),
        "ran first gave nothing": float(at > 0 and not outcomes[0].values),
    }


def probability(log_odds: float) -> float:
    """A probability from log-odds."""
    return 1 / (1 + math.exp(-max(-MAX_LOG_ODDS, min(MAX_LOG_ODDS, log_odds))))


def _weighted_belief(ranked: RankedReading, place: int, model: Mapping[str, float]) -> float:
    return weighted_sum({**ranked.features, **belief_features(ranked.share, len(ranked.unused), place)}, model)


def _bounded(share: float) -> float:
    return min(1 - MIN_BELIEF, max(MIN_BELIEF, share))


def _rival_features(at: int, shares: Sequence[float], cells: Sequence[frozenset[str]]) -> dict[str, float]:
    """The belief in the likeliest other rows, relative to the belief in these."""
    beliefs: dict[frozenset[str], float] = {}
    for share, own in zip(shares, cells, strict=False):
        if own:
            beliefs[own] = beliefs.get(own, 0.0) + share
    mine = max(MIN_BELIEF, beliefs.get(cells[at], shares[at]))
    others = [belief for rows, belief in beliefs.items() if rows != cells[at]]
    rival = max(others, default=0.0)
    return {"ran rival": math.log(max(MIN_BELIEF, rival) / mine), "ran no rival": float(not others)}


SPREAD = 0.45  # deviation of the shifts of 25 graphs with 1,701 questions (maximum of the marginal likelihood)
MIN_JUDGED = 30  # judged answers from which a shift is fitted (given)
# If fewer answers of the rules are right, people mostly corrected wrong ones (given; 51 to 90 % on the 25 graphs).
MIN_RIGHT = 0.5
STEPS = 30


def log_odds(chance: float) -> float:
    """The log-odds of a probability between 0 and 1, both excluded."""
    return math.log(chance / (1 - chance))


class JudgedAnswer(NamedTuple):
    """The log-odds of an answer by the rules, whether it was right, and whether a person has `written` the query that
    shows it."""

    log_odds: float
    right: bool
    written: bool


def graph_shift(judged: Sequence[JudgedAnswer]) -> float:
    """The shift of a graph; 0 if the answers do not show one.

    People confirm right answers more readily than wrong ones. Such answers can lower the probabilities, but only
    answers to which people wrote the query raise them. A shift must lower the logarithmic loss of answers that it was
    not fitted on (each left out in turn).
    """
    if len(judged) < MIN_JUDGED or sum(each.right for each in judged) < MIN_RIGHT * len(judged):
        return 0.0
    lower = _kept_shift(judged)
    return lower if lower < 0 else max(0.0, _kept_shift([each for each in judged if each.written]))


def shift_readings(readings: tuple[Reading, ...], shift: float) -> tuple[Reading, ...]:
    """The readings with shifted probabilities; not those that are certain or of verified questions."""
    if not shift:
        return readings
    return tuple(
        replace(
            each,
            odds=each.odds + shift,
            said=None if each.said is None else each.said + shift,
            probability=probability(log_odds(each.probability) + shift),
        )
        if each.verified is None and each.probability is not None and 0 < each.probability < 1
        else each
        for each in readings
    )


def _kept_shift(judged: Sequence[JudgedAnswer]) -> float:
    """The likeliest shift; 0 if there are too few answers, or if it does not help on those left out."""
    if len(judged) < MIN_JUDGED:
        return 0.0
    without = sum(_loss(each, 0.0) for each in judged)
    left_out = sum(_loss(each, _fit([*judged[:i], *judged[i + 1 :]])) for i, each in enumerate(judged))
    return _fit(judged) if left_out < without else 0.0


def _fit(judged: Sequence[JudgedAnswer]) -> float:
    """The maximum of the posterior, by Newton's method; the posterior is concave."""
    shift = 0.0
    for _ in range(STEPS):
        chances = [probability(each.log_odds + shift) for each in judged]
        slope = sum(each.right - p for each, p in zip(judged, chances, strict=True)) - shift / SPREAD**2
        step = slope / (sum(p * (1 - p) for p in chances) + 1 / SPREAD**2)
        shift += step
        if abs(step) < 1e-6:
            break
    return shift


def _loss(judged: JudgedAnswer, shift: float) -> float:
    chance = probability(judged.log_odds + shift)
    return -math.log(chance if judged.right else 1 - chance)
