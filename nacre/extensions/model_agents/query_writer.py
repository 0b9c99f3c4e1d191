"""Find the rows that answer, by readings of the rules and queries of a model: TurnView + Database -> BranchResult.

In order: the agent, a question reworded by a model, rows of readings merged with those of a model, and prompts that
are sent ahead to fill the cache of a model's server.

A small model is better at everyday words than at queries, and the rules know the graph and which words they can't
account for. So the rules parse the rewording; nothing that the model writes is run.
"""

import asyncio
import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage
from pydantic import BaseModel, Field

from agents.answering.select_answer import (
    DECLINED,
    UNSURE,
    calibrate_rows,
    has_same_columns,
    is_echo,
    is_empty,
    is_nil,
    is_same_result,
    row_probability,
    sole_reading,
)
from agents.model_calls import (
    CHARACTERS_PER_TOKEN,
    Limits,
    ModelFailed,
    failure_reason,
    logged_error,
    prompt,
    structured_reply,
)
from agents.model_priors import Outcome, Priors, Size, after_agreement, after_dispute
from agents.query_writer import MODEL_VISITS, Lead, QueryWriter
from agents.turn_view import NO_USAGE, Database, Result, TurnView, Usage
from nacre.extensions.model_agents.doubts import FORMS, is_of_kind
from nacre.extensions.model_agents.query_prompt import DescribeTables, query_prefix, whole_schema
from nacre.extensions.model_agents.write_queries import QueryAttempts, choose_candidate, write_queries
from nacre.language.sanitize import quote_line, quote_lines
from nacre.language.tokens import ENGLISH, fold, tokenize
from nacre.plans.selects import is_unknown_truth
from nacre.records.evidence import BranchResult, Query, Rows
from nacre.records.schema import Predicate, Schema
from nacre.records.threads import run_in_thread
from nacre.records.turn import Rewrite, Understanding
from nacre.understanding.ranking.rank import load_weights
from nacre.understanding.understand import understand


def by_model(
    model: BaseChatModel, rules: QueryWriter, limits: Limits, priors: Priors, lead: Lead = "auto"
) -> QueryWriter:
    """The rows of the model's queries and of the rules' readings, each with its probability.

    A reading answers without a model call only if it is at least as likely to be right as the model. With the lead
    `rules` it does whenever it gave rows, with `model` never; with `alone` the model is not shown readings either.
    """

    async def query_writer(view: TurnView, database: Database) -> Result[BranchResult]:
        drafted = await rules(view, database)
        asks_nothing = view.rewrite.aside or bool(view.understanding.orientation)
        is_chosen = view.rewrite.chosen is not None or any(each.verified for each in drafted.value.rows)
        if len(view.of(database.language)) >= MODEL_VISITS or is_chosen or asks_nothing:
            # a person chose or confirmed what is asked, or the question asks nothing of the data
            return drafted
        result = drafted.value
        if priors.size == "small" and lead == "auto" and view.understanding.expected == "prose":
            # a small model does not report that rows are for a description, and the rules word one
            return Result(result)
        rows = non_empty_rows(result.rows)
        if priors.size != "small" and lead == "auto":
            # a reading that leaves words out can't replace a larger model
            rows = [each for each in rows if not view.understanding.readings[each.reading or 0].unused]
        best = max((row_probability(view.understanding, each) for each in rows), default=0.0)
        # no probability was measured of descriptions, follow-ups that the rules doubt, and graphs of other shapes
        is_followed = bool(view.conversation) and not view.rewrite.sure
        is_doubtful = priors.size == "large" and (is_followed or not has_measured_shape(database.schema))
        is_measured = (view.understanding.expected != "prose" and not is_doubtful) or lead == "rules"
        if lead in ("auto", "rules") and is_measured and best >= (_probability_bar(priors) if lead == "auto" else 0.01):
            return Result(result)
        bounds = limits.until(view.deadline, view.version)
        reworded = Result(result)
        if priors.faithful is not None and lead == "auto" and best >= DECLINED and not view.rewrite.depends:
            reworded = await _with_rewording(model, view, database, result, bounds, priors)
            sure = max(row_probability(view.understanding, each) for each in non_empty_rows(reworded.value.rows))
            if reworded.by != "rules" and (reworded.by != "model" or sure >= load_weights().threshold - UNSURE):
                return reworded
        # the query is written without the rewording, so that their agreement means something
        shown = result if lead != "alone" else None
        writing = await write_queries(model, view, database, shown, bounds, priors)
        result = merge_candidates(view, reworded.value, writing, priors)
        usage = reworded.usage + writing.usage
        if lead != "alone" and not writing.failed and is_undecided(view.understanding, result):
            decided = await _with_second_opinion(model, view, database, result, bounds, priors)
            result, usage = decided.value, usage + decided.usage
        return Result(result, f"rules after model: {writing.failed}" if writing.failed else "model", usage)

    return query_writer


def has_measured_shape(schema: Schema) -> bool:
    """Whether each thing has one class and no class has subclasses, as in the databases that the probabilities of
    readings were learned on."""
    return not any(each.parents for each in schema.shown_classes) and all(len(g.classes) <= 1 for g in schema.groups)


async def _with_rewording(
    model: BaseChatModel, view: TurnView, database: Database, result: BranchResult, limits: Limits, priors: Priors
) -> Result[BranchResult]:
    """The result merged with what the rules find for the model's rewording of the question; by "rules" if that is
    nothing."""
    rewording = await reword_question(model, view, database, limits)
    result = replace(result, queries=(*result.queries, *rewording.queries))
    if rewording.failed:
        return Result(result, f"rules after model: {rewording.failed}", rewording.usage)
    if rewording.rows is None:
        return Result(result, usage=rewording.usage)
    return Result(merge_rewording(view.understanding, result, rewording.rows, priors), "model", rewording.usage)


async def _with_second_opinion(
    model: BaseChatModel, view: TurnView, database: Database, result: BranchResult, limits: Limits, priors: Priors
) -> Result[BranchResult]:
    """The result after a second opinion on two candidates with different rows: a model sees both and chooses. A small
    model writes another query instead, without suggestions. A reading that fails the proof is no candidate."""
    if priors.size == "small":
        alone = replace(view, understanding=Understanding(view.standalone))
        second = await write_queries(model, alone, database, None, replace(limits, exchanges=1), priors)
        return Result(merge_second_query(result, second, priors), "model", second.usage)
    own, reading = rival_rows(view.understanding, result)
    if reading.doubts:
        return Result(_behind_query(view.understanding, result, own))
    chosen = await choose_candidate(model, result.standalone or view.standalone, own, reading, limits)
    if chosen.value is None:
        return Result(result, chosen.by, chosen.usage)
    return Result(merge_choice(result, chosen.value, priors), "model", chosen.usage)


def _probability_bar(priors: Priors) -> float:
    """Minimum probability for a reading to answer without a model call: that of the model, and at least the threshold
    of sure rows. Beside a larger model it is the highest calibrated level, since agreement would raise a lower one."""
    learned = load_weights()
    highest = max((threshold for _, threshold, *_ in learned.levels), default=learned.threshold)
    return max(priors.before, learned.threshold if priors.size == "small" else highest)


# a property with at most so many values is shown with them, each up to so many characters (given)
MOST_VALUES = 6

LONGEST_VALUE = 20


class RewordedQuestion(BaseModel):
    """The question in other words."""

    reworded: str = Field(min_length=1, max_length=300)


@dataclass(frozen=True)
class Rewording:
    """The rows for a rewording, with their plan and their probability if the rewording is right; None if the rules
    can't account for every word. `queries` are all that were run."""

    rows: Rows | None = None
    queries: tuple[Query, ...] = ()
    usage: Usage = NO_USAGE
    failed: str = ""


async def reword_question(model: BaseChatModel, view: TurnView, database: Database, limits: Limits) -> Rewording:
    """One call, and the likeliest reading of its rewording; nothing if it only repeats the question, or leaves out a
    name or a number of it."""
    try:
        answer, usage = await structured_reply(
            model, await _messages(view, database, limits), RewordedQuestion, limits=limits
        )
    except ModelFailed as failed:
        return Rewording(usage=failed.usage, failed=failed.why)
    text = " ".join(answer.reworded.split())
    if _words(text) == _words(view.standalone) or not _keeps_names(text, view):
        return Rewording(usage=usage)
    understanding = await run_in_thread(understand, Rewrite(text), database.schema, database.lexicon)
    if understanding.expected == "prose" or understanding.unknown:
        return Rewording(usage=usage)
    results = await database.read(understanding.readings[: database.most], view.names)
    queries = tuple(query for found in results for query in found.queries)
    rows = (
        _likeliest(understanding, [each for found in calibrate_rows(understanding, results) for each in found.rows])
        if results
        else None
    )
    return Rewording(rows, queries, usage)


def _likeliest(understanding: Understanding, rows: list[Rows]) -> Rows | None:
    """The likeliest rows if their reading accounts for every word, with the plan instead of the reading."""
    informative = [each for each in rows if not is_empty(each.table) and not is_echo(understanding, each)]
    best = max(informative, key=lambda each: row_probability(understanding, each), default=None)
    if best is None or best.reading is None or row_probability(understanding, best) < DECLINED:
        return None
    reading = understanding.readings[best.reading]
    if reading.unused or reading.lost:
        return None
    return replace(
        best, reading=None, plan=reading.plan, words=reading.words, probability=row_probability(understanding, best)
    )


def _words(text: str) -> list[str]:
    return [token.norm for token in tokenize(text)]


def _keeps_names(text: str, view: TurnView) -> bool:
    """Whether a rewording has all numbers of the question and a word of each name; "sporty" names a "sport"."""
    words = set(_words(text))
    numbers = {word for word in _words(view.standalone) if any(map(str.isdigit, word))}
    names = [f"{each.text} {each.label}" for each in view.understanding.mentions if each.kind == "entity"]
    derived = [f"{word} {near}" for word, near in view.understanding.unknown if near and word.startswith(near)]
    return numbers <= words and all(words.intersection(_words(name)) for name in (*names, *derived))


async def _messages(view: TurnView, database: Database, limits: Limits) -> list[BaseMessage]:
    prefix = await run_in_thread(rewording_prefix, database.schema, limits.schema_tokens)
    return [SystemMessage(prefix), HumanMessage(prompt("rewording_turn", question=quote_line(view.standalone)))]


def rewording_prefix(schema: Schema, most_tokens: int) -> str:
    """The prefix of every prompt about a graph, byte for byte the same."""
    return prompt("rewording", names=quote_lines(class_lines(schema, most_tokens)))


def class_lines(schema: Schema, most_tokens: int) -> str:
    """One line for each class, the largest first: its label and those of its properties; as many as fit."""
    left, lines = most_tokens * CHARACTERS_PER_TOKEN, list[str]()
    for each in sorted(schema.shown_classes, key=lambda each: (-each.count, each.iri)):
        own = [p for p in schema.shown_predicates if each.iri in p.domains and p.role == "fact"]
        line = f"{each.label}: {', '.join(p.label + _range(p, schema) for p in own)}"
        left -= len(line) + 1
        if left < 0:
            break
        lines.append(line)
    return "\n".join(lines)


def _range(predicate: Predicate, schema: Schema) -> str:
    """The classes that a property leads to, its values if they are few, or its unit."""
    if predicate.has_links:
        classes = [schema.class_of[iri].label for iri in predicate.ranges if iri in schema.class_of]
        return f" ({' or '.join(classes[:2])})" if classes else ""
    if predicate.values and predicate.minimum is None and len(predicate.values) <= MOST_VALUES:
        return f" ({'/'.join(value[:LONGEST_VALUE] for value in predicate.values)})"
    return f" in {predicate.unit}" if predicate.unit else ""


# a reading at least this likely with other rows disputes a query (given)
LIKELY = 0.3

# candidates whose probabilities differ by less are equally sure (given)
MARGIN = 0.15


def merge_candidates(view: TurnView, drafted: BranchResult, writing: QueryAttempts, priors: Priors) -> BranchResult:
    """The rows of the rules and of the model, each with its probability; all queries that were tried."""
    own = [each for part in writing.ran for each in part.rows]
    queries = (*drafted.queries, *writing.tried)
    error = next((part.error for part in reversed(writing.ran) if part.error), None) or drafted.error
    if not own:
        return replace(drafted, queries=queries, error=None if drafted.evidence else error, missing=writing.missing,
                       wants=writing.wants, outcome="empty" if writing.tried else "",
                       standalone=writing.standalone)  # fmt: skip
    # a reading that lacks a word which a larger model's query has, or finds none where it finds some, is no rival
    beyond = [
        each
        for each in drafted.rows
        if priors.size != "small" and (is_nil(each.table) or _lacks(each, own[0], view.understanding))
    ]
    outcome = _outcome(view.understanding, drafted, own[0], writing, beyond)
    agreeing = [each for each in drafted.rows if outcome == "agreed" and _are_same(each, own[0])]
    others = agreeing or (non_empty_rows(drafted.rows) if outcome == "disputed" else [])
    reading = max((row_probability(view.understanding, each) for each in others), default=None)
    sure = priors.after(outcome, reading)
    if priors.size == "small":
        sure = min(sure, _highest_of_small(view.understanding, drafted, agreeing))
    own = [replace(each, probability=sure) for each in own]
    alike = _agreed_readings(view.understanding, agreeing, own[0], priors)
    if alike:
        # rows of a plan can be worded and traced better than those of a bare query
        words, meaning = own[0].words, own[0].meaning
        own = [replace(each, probability=sure, confirmed=True, meaning=meaning) for each in alike]
        if view.language != ENGLISH:
            # a model that words them needs its own words, not the plan in English
            own = [replace(each, words=words or each.words) for each in own]
    rest = [each for each in drafted.evidence if each not in agreeing]
    if outcome in ("disputed", "alone") or (outcome == "agreed" and priors.size != "small"):
        rest = [
            _disputed_by_query(each, view.understanding, priors, sure)
            if isinstance(each, Rows) and (outcome == "disputed" or _states_nothing(each) or each in beyond)
            else each
            for each in rest
        ]
    return BranchResult(
        drafted.branch,
        (*own, *rest),
        queries,
        by="model",
        wants=writing.wants,
        missing=writing.missing,
        outcome=outcome,
        standalone=writing.standalone,
    )


def _agreed_readings(
    understanding: Understanding, agreeing: Sequence[Rows], own: Rows, priors: Priors
) -> Sequence[Rows]:
    """The rows that answer instead of those of a query that agrees with them: those of a single column, which show no
    more than was asked for. Beside a small model, which leaves columns out and adds others, those with its columns,
    else all, the likeliest first."""
    if priors.size != "small":
        return [each for each in agreeing if len(each.table.columns) == len(own.table.columns) == 1]
    exact = [each for each in agreeing if has_same_columns(each.table, own.table)]
    return exact or sorted(agreeing, key=lambda each: -row_probability(understanding, each))


def _highest_of_small(understanding: Understanding, drafted: BranchResult, agreeing: Sequence[Rows]) -> float:
    """The highest probability of rows of a small model's query. It is shown likely readings: a copy of one is no sign
    that it is right, so it is not sure, and not before a likelier one that was shown as well."""
    highest = load_weights().threshold - UNSURE
    shown = [each for each in non_empty_rows(drafted.rows) if each.reading is not None]
    likeliest = max(shown, key=lambda each: row_probability(understanding, each), default=None)
    if likeliest is None or likeliest in agreeing or likeliest.doubts:
        return highest
    is_shown = any(row_probability(understanding, each) >= LIKELY for each in agreeing)
    return min(highest, row_probability(understanding, likeliest) - UNSURE) if is_shown else highest


def merge_rewording(understanding: Understanding, drafted: BranchResult, rows: Rows, priors: Priors) -> BranchResult:
    """The rows for the question and those for a model's rewording of it, with probabilities, the likeliest first.

    If the likeliest rows of the question are the same, they confirm each other, else they dispute each other. Rows with
    exactly the columns that the rewording asks for come first. One parser reads both, so two wrong readings agree as
    easily as two right ones.
    """
    own = (priors.faithful or 0.0) * (rows.probability or 0.0)
    drafts = sorted(non_empty_rows(drafted.rows), key=lambda each: -row_probability(understanding, each))
    is_same = bool(drafts) and _are_same(drafts[0], rows)
    exact = [each for each in drafts if has_same_columns(each.table, rows.table)]
    # a rewording that leaves a column out, or adds one, does not answer instead of the reading
    agreeing = exact or (drafts[:1] if is_same else [])
    confirmed_rows = [replace(each, confirmed=True) for each in agreeing] or [rows]
    others = [each for each in drafts if each not in agreeing]
    rival = row_probability(understanding, drafts[0]) if drafts else 0.0
    if is_same:
        probability = max(rival, min(after_agreement(own, rival), understanding.most))
    else:
        probability = after_dispute(max([own, *(row_probability(understanding, each) for each in agreeing)]), rival)
        others = [
            replace(each, probability=after_dispute(row_probability(understanding, each), own)) for each in others
        ]
    learned = load_weights()
    if probability < learned.sure or not _is_proved(understanding, drafts, rows):
        # beside a small model, what is said stays as sure as by rules alone
        probability = min(probability, learned.threshold - UNSURE)
    confirmed_rows = [replace(each, probability=probability) for each in confirmed_rows]
    ranked = sorted([*confirmed_rows, *others], key=lambda each: -row_probability(understanding, each))
    rest = [each for each in drafted.evidence if each not in drafts]
    return replace(drafted, evidence=(*ranked, *rest), error=None)


def _is_proved(understanding: Understanding, drafts: Sequence[Rows], rows: Rows) -> bool:
    """Whether the likeliest reading of a question gives exactly the rows of its rewording, leaves no word out, and
    passes the proof as the rewording does. A zero or a "no" is given by wrong readings as well."""
    if not drafts or rows.doubts or understanding.cut or is_nil(rows.table):
        return False
    reading = sole_reading(understanding, drafts[0])
    is_whole = reading is not None and not (reading.unused or reading.lost or drafts[0].doubts)
    return is_whole and has_same_columns(drafts[0].table, rows.table)


def _lacks(rows: Rows, own: Rows, understanding: Understanding) -> bool:
    """Whether a reading leaves out a word of the question that the text of a query has."""
    unused = understanding.readings[rows.reading].unused if rows.reading is not None else ()
    return own.query is not None and any(fold(word) in fold(own.query.text) for word in unused)


def _states_nothing(rows: Rows) -> bool:
    """Whether rows only say that the graph states nothing."""
    return is_empty(rows.table) or is_unknown_truth(rows.table)


def _disputed_by_query(rows: Rows, understanding: Understanding, priors: Priors, sure: float) -> Rows:
    """The rows of a reading after a query gave others, with the probability `sure`. If the reading looks up a property
    of the named thing that is not stated, another property was meant: it is no likelier than the query."""
    reading = understanding.readings[rows.reading] if rows.reading is not None else None
    chance = priors.against(row_probability(understanding, rows))
    is_unstated = reading is not None and (reading.own or is_unknown_truth(rows.table)) and _states_nothing(rows)
    return replace(rows, probability=min(chance, sure) if is_unstated else chance)


def _outcome(
    understanding: Understanding, drafted: BranchResult, own: Rows, writing: QueryAttempts, beyond: Sequence[Rows]
) -> Outcome:
    if is_empty(own.table):
        return "empty"
    if writing.wants == "prose":
        return "alone"
    if any(_are_same(each, own) for each in drafted.rows):
        return "agreed"
    if writing.doubted:
        return "doubted"
    likely = [
        each
        for each in non_empty_rows(drafted.rows)
        if row_probability(understanding, each) >= LIKELY
        and each not in beyond
        and (writing.wants not in FORMS or is_of_kind(writing.wants, each.table))
    ]
    return "disputed" if likely else "alone"


def is_undecided(understanding: Understanding, found: BranchResult) -> bool:
    """Whether rows of the model and of a reading differ, and neither is clearly likelier."""
    if found.wants == "prose" or not all(_candidates(found)):
        return False
    own, reading = (row_probability(understanding, each) for each in rival_rows(understanding, found))
    return abs(own - reading) < MARGIN


def rival_rows(understanding: Understanding, found: BranchResult) -> tuple[Rows, Rows]:
    """The likeliest rows of the model and of a reading."""
    own, readings = _candidates(found)

    def likely(rows: Rows) -> float:
        return row_probability(understanding, rows)

    return max(own, key=likely), max(readings, key=likely)


def _candidates(found: BranchResult) -> tuple[list[Rows], list[Rows]]:
    """The rows of the model and those of readings."""
    rows = non_empty_rows(found.rows)
    return [each for each in rows if each.reading is None], [each for each in rows if each.reading is not None]


def _behind_query(understanding: Understanding, found: BranchResult, own: Rows) -> BranchResult:
    """The result with the rows of readings that fail the proof disputed by those of the query."""
    sure = row_probability(understanding, own)
    evidence = tuple(
        replace(each, probability=after_dispute(row_probability(understanding, each), sure))
        if isinstance(each, Rows) and each.reading is not None and each.doubts
        else each
        for each in found.evidence
    )
    return replace(found, evidence=evidence)


def merge_choice(found: BranchResult, chosen: Rows, priors: Priors) -> BranchResult:
    """The rows that a model chose after it saw both candidates count as agreed, the others as disputed by them."""
    evidence = tuple(
        each
        if not isinstance(each, Rows) or is_empty(each.table)
        else replace(each, probability=priors.after("agreed"), confirmed=True)
        if _are_same(each, chosen)
        else replace(each, probability=after_dispute(each.probability or 0.0, priors.after("agreed")))
        for each in found.evidence
    )
    return replace(found, evidence=evidence)


def merge_second_query(found: BranchResult, second: QueryAttempts, priors: Priors) -> BranchResult:
    """The rows that a second, independent query gives as well count as agreed."""
    rows = next((each for part in second.ran for each in non_empty_rows(part.rows)), None)
    queries = (*found.queries, *second.tried)
    if rows is None:
        return replace(found, queries=queries)
    return replace(
        found,
        queries=queries,
        evidence=tuple(
            replace(each, probability=priors.after("agreed"), confirmed=True)
            if isinstance(each, Rows) and _are_same(each, rows)
            else each
            for each in found.evidence
        ),
    )


def _are_same(one: Rows, other: Rows) -> bool:
    return len(non_empty_rows([one, other])) == 2 and is_same_result(one.table, other.table)


def non_empty_rows(rows: Iterable[Rows]) -> list[Rows]:
    """The rows that are not empty."""
    return [each for each in rows if not is_empty(each.table)]


log = logging.getLogger(__name__)


# what is asked when a prompt is sent ahead: a model may answer an empty question with anything
WARM_UP = "Question: How many things are there?"


async def prefill_prompts(
    model: BaseChatModel, schema: Schema, describe: DescribeTables, limits: Limits, size: Size
) -> None:
    """Send each prefix and stop at the first token of the reply. The prefix that is needed first comes last, because a
    server may keep only one. A model that is down is reported when it is asked."""
    tables = await run_in_thread(whole_schema, schema, limits.schema_tokens, describe)
    prefixes = [query_prefix(tables, small=size == "small")]
    if size == "small":
        prefixes.append(await run_in_thread(rewording_prefix, schema, limits.schema_tokens))
    try:
        for text in prefixes:
            async with asyncio.timeout(limits.seconds):
                async for _ in model.astream([SystemMessage(text), HumanMessage(WARM_UP)]):
                    break
    except Exception as error:
        log.warning("prompts could not be prefilled: %s", failure_reason(error))
        log.debug("prompts could not be prefilled: %s", logged_error(error))
