"""Find the rows that answer: TurnView + Database -> Found; by the rules' readings or by queries of a model."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Literal

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from pydantic import BaseModel, Field

from agents.answering.agreement import say_the_same
from agents.answering.trust import chance, is_empty
from agents.answering.weighed import weighed
from agents.database import Database
from agents.doubts import doubt
from agents.models.calls import ModelFailed, structured
from agents.models.limits import Limits
from agents.models.priors import Outcome, Priors
from agents.query_prompt import looked_up, messages_of, sent_back
from agents.result import NOTHING, Result, Usage
from agents.turn_view import TurnView
from nacre.records.evidence import Evidence, Found, Query, QueryError, Rows, Wants
from nacre.records.look_up import LookUp
from nacre.records.turn import Understanding
from nacre.semantics.languages import ENGLISH
from nacre.semantics.ranking.weights import weights

MODEL_VISITS = 1
MOST_LOOK_UPS = 4
MOST_QUERIES = 4
# a reading this likely, whose rows are others, disputes a query (given)
LIKELY = 0.3
# candidates nearer than this are as sure as each other (given)
MARGIN = 0.15

Lead = Literal["auto", "model", "rules"]
QueryWriter = Callable[[TurnView, Database], Awaitable[Result[Found]]]


class Look(BaseModel):
    """One thing to see before the query is written."""

    kind: Literal["values", "rows", "columns", "passages"]
    table: str = Field(max_length=200)
    column: str = Field(max_length=200)
    text: str = Field(max_length=200)


class Step(BaseModel):
    """What is asked for, and the queries for it, or what must be seen first."""

    wants: Wants
    look_ups: list[Look] = Field(max_length=20)
    queries: list[str] = Field(max_length=20)
    meaning: str = Field(max_length=300)
    missing: str = Field(max_length=300)


class Written(BaseModel):
    """One SQLite SELECT: what a small model is asked for."""

    sql: str = Field(min_length=6, max_length=4000)


class WrittenSparql(BaseModel):
    """The same in SPARQL."""

    sparql: str = Field(min_length=6, max_length=4000)


@dataclass(frozen=True)
class Writing:
    """What a model came to: what it wants, its last queries' rows, all that it tried, and what that cost."""

    wants: Wants | None = None
    missing: str = ""
    ran: tuple[Found, ...] = ()
    tried: tuple[Query, ...] = ()
    doubted: bool = False
    usage: Usage = field(default=NOTHING)
    failed: str = ""


async def by_rules(view: TurnView, database: Database) -> Result[Found]:
    """The rows of the best readings, each with the chance that it is right, the likeliest first."""
    readings, branch = view.understanding.readings[: database.most], database.language
    if not readings or not may_read(view.of(branch)):
        said = "it can't be read as a query" if not readings else "no other way to read it"
        return Result(Found(branch, error=QueryError("empty", f"The question gives no query: {said}.")))
    ran = [await database.read(reading, index) for index, reading in enumerate(readings)]
    if view.rewrite.chosen is not None and view.rewrite.chosen.plan == readings[0].plan:
        # the person said that this is what was meant
        return Result(reduce(_beside, map(_certain, ran)))
    found = reduce(_beside, weighed(view.understanding, ran))
    order = sorted(found.evidence, key=lambda each: -_likely(view.understanding, each))
    return Result(replace(found, evidence=tuple(order)))


def _certain(found: Found) -> Found:
    sure = (replace(each, probability=1.0) if isinstance(each, Rows) else each for each in found.evidence)
    return replace(found, evidence=tuple(sure))


def _likely(understanding: Understanding, evidence: Evidence) -> float:
    """The chance that rows answer the question; what sentences say follows them."""
    return chance(understanding, evidence) if isinstance(evidence, Rows) else 0.0


def may_read(earlier: Sequence[Found]) -> bool:
    """Whether readings are to be run: in the first round, and again where the store broke."""
    return all(found.error is not None and found.error.kind == "unavailable" for found in earlier)


def by_model(
    model: BaseChatModel, rules: QueryWriter, limits: Limits, priors: Priors, lead: Lead = "auto"
) -> QueryWriter:
    """Queries of the model beside the rules' readings, each with its probability.

    A reading answers without a call only where it is at least as likely to be right as the model; with the lead
    `rules` wherever one gave rows, with `model` never.
    """

    async def query_writer(view: TurnView, database: Database) -> Result[Found]:
        drafted = await rules(view, database)
        if len(view.of(database.language)) >= MODEL_VISITS or view.rewrite.chosen is not None or view.rewrite.aside:
            # a reading that the person chose needs no other opinion, what asks nothing of the graph none at all
            return drafted
        found = drafted.value
        if priors.size == "small" and lead == "auto" and view.understanding.expected == "prose":
            # it can't say that it gathers rows for a description, and the rules word one
            return Result(found)
        rows = _filled(found.rows)
        if priors.size != "small" and lead == "auto":
            # what leaves words out is no answer, so it can't take a larger model's place
            rows = [each for each in rows if not view.understanding.readings[each.reading or 0].unused]
        best = max((chance(view.understanding, each) for each in rows), default=0.0)
        # how good a description is was never measured
        known = view.understanding.expected != "prose" or lead == "rules"
        if lead != "model" and known and best >= (_bar(priors) if lead == "auto" else 0.01):
            return Result(found)
        bounds = limits.until(view.deadline, view.version)
        writing = await _written(model, view, database, found, bounds, priors)
        found = _together(view, found, writing, priors)
        usage = writing.usage
        if not writing.failed and _is_undecided(view.understanding, found):
            second = await _written(model, replace(view, understanding=Understanding(view.standalone)), database,
                                    None, replace(bounds, exchanges=1), priors)  # fmt: skip
            found, usage = _with_second(found, second, priors), usage + second.usage
        return Result(found, f"rules after model: {writing.failed}" if writing.failed else "model", usage)

    return query_writer


def _bar(priors: Priors) -> float:
    """From which chance on a reading answers without a call: that of the model, or a higher one from which it is said
    with confidence; beside one that is more than a small one the highest that calibration tells apart, since agreement
    with the model would raise a lower one."""
    learned = weights()
    highest = max((threshold for _, threshold, *_ in learned.levels), default=learned.threshold)
    return max(priors.before, learned.threshold if priors.size == "small" else highest)


async def _written(
    model: BaseChatModel, view: TurnView, database: Database, drafts: Found | None, limits: Limits, priors: Priors
) -> Writing:
    """Let the model write, look up, see what its queries gave, and write again, `limits.exchanges` times at most."""
    small = priors.size == "small"
    said: list[BaseMessage] = await messages_of(view, database, drafts, limits, small=small)
    short: type[Written | WrittenSparql] = Written if database.language == "sql" else WrittenSparql
    shape: type[Step | Written | WrittenSparql] = short if small else Step
    done = Writing()
    for left in range(limits.exchanges - 1, -1, -1):
        try:
            answer, usage = await structured(model, said, shape, limits=limits)
        except ModelFailed as failed:
            return replace(done, usage=done.usage + failed.usage, failed="" if done.ran else failed.why)
        step = _step(answer)
        done = replace(done, usage=done.usage + usage, wants=step.wants if not small else None, missing=step.missing)
        if step.look_ups and not step.queries and left:
            asked = [LookUp(each.kind, each.table, each.column, each.text) for each in step.look_ups[:MOST_LOOK_UPS]]
            seen = [(each, await database.look_up(each)) for each in asked]
            said = [*said, AIMessage(answer.model_dump_json()), HumanMessage(looked_up(seen))]
            continue
        again = {query.text for query in done.tried}
        # of several queries the columns say what each is about
        words = step.meaning if len(step.queries) == 1 else ""
        ran = tuple([_meaning(await database.query(query), words) for query in step.queries[:MOST_QUERIES]])
        if step.wants == "yes_no":
            ran = tuple(_as_truth(found) for found in ran)
        done = replace(done, ran=ran or done.ran, tried=(*done.tried, *(q for part in ran for q in part.queries)))
        why = doubt(view, done.wants, ran)
        done = replace(done, doubted=bool(why))
        if not why or not left or all(query.text in again for part in ran for query in part.queries):
            break
        said = [*said, AIMessage(answer.model_dump_json()), HumanMessage(sent_back(ran, why))]
    return done


def _step(answer: Step | Written | WrittenSparql) -> Step:
    if isinstance(answer, Step):
        return answer
    query = answer.sql if isinstance(answer, Written) else answer.sparql
    return Step(wants="text", look_ups=[], queries=[query], meaning="", missing="")


def _as_truth(found: Found) -> Found:
    """A single 1 or 0 as the yes or no that it says."""
    return replace(found, evidence=tuple(_said_as_truth(each) for each in found.rows))


def _said_as_truth(rows: Rows) -> Rows:
    table = rows.table
    if len(table.rows) != 1 or len(table.rows[0]) != 1 or table.rows[0][0] not in (0, 1):
        return rows
    return replace(rows, table=replace(table, columns=("yes",), units=("",)))


def _meaning(found: Found, words: str) -> Found:
    """What was found, with what the model says that its query gives; the words of a repair stay."""
    words = " ".join(words.split())
    if not words or any(query.words for query in found.queries):
        return found
    queries = tuple(replace(query, words=words) for query in found.queries)
    renamed = dict(zip(found.queries, queries, strict=True))
    evidence = (replace(each, words=words, query=each.query and renamed[each.query]) for each in found.rows)
    return replace(found, queries=queries, evidence=tuple(evidence))


def _together(view: TurnView, drafted: Found, writing: Writing, priors: Priors) -> Found:
    """The rules' rows and the model's, each with its chance; all queries that were tried."""
    own = [each for part in writing.ran for each in part.rows]
    queries = (*drafted.queries, *writing.tried)
    error = next((part.error for part in reversed(writing.ran) if part.error), None) or drafted.error
    if not own:
        return replace(drafted, queries=queries, error=None if drafted.evidence else error, missing=writing.missing,
                       wants=writing.wants, outcome="empty" if writing.tried else "")  # fmt: skip
    outcome = _outcome(view.understanding, drafted, own, writing)
    agreeing = [each for each in drafted.rows if outcome == "agreed" and _agree(each, own[0])]
    beside = agreeing or (_filled(drafted.rows) if outcome == "disputed" else [])
    reading = max((chance(view.understanding, each) for each in beside), default=None)
    sure = priors.after(outcome, reading)
    own = [replace(each, probability=sure) for each in own]
    alike = [each for each in agreeing if _alike(each, own[0])]
    if alike:
        # rows of a plan are worded and traced better than those of a bare query
        words = own[0].words
        own = [replace(each, probability=sure, confirmed=True) for each in alike]
        if view.language != ENGLISH:
            # a model that words them reads what its own query gives, not the plan in English
            own = [replace(each, words=words or each.words) for each in own]
    rest = [each for each in drafted.evidence if each not in agreeing]
    if outcome == "disputed":
        rest = [_against(each, view.understanding, priors) if isinstance(each, Rows) else each for each in rest]
    return Found(drafted.branch, (*own, *rest), queries, by="model", wants=writing.wants, missing=writing.missing,
                 outcome=outcome)  # fmt: skip


def _against(rows: Rows, understanding: Understanding, priors: Priors) -> Rows:
    return replace(rows, probability=priors.against(chance(understanding, rows)))


def _outcome(understanding: Understanding, drafted: Found, own: Sequence[Rows], writing: Writing) -> Outcome:
    if is_empty(own[0].table):
        return "empty"
    if writing.wants == "prose":
        return "alone"
    if any(_agree(each, own[0]) for each in drafted.rows):
        return "agreed"
    if writing.doubted:
        return "doubted"
    likely = [each for each in _filled(drafted.rows) if chance(understanding, each) >= LIKELY]
    return "disputed" if likely else "alone"


def _is_undecided(understanding: Understanding, found: Found) -> bool:
    """Whether rows of the model and of a reading differ, and neither is surer."""
    if found.wants == "prose":
        return False
    rows = _filled(found.rows)
    own = [chance(understanding, each) for each in rows if each.reading is None]
    theirs = [chance(understanding, each) for each in rows if each.reading is not None]
    return bool(own and theirs) and abs(max(own) - max(theirs)) < MARGIN


def _with_second(found: Found, second: Writing, priors: Priors) -> Found:
    """What a second, independent query agrees with counts as agreed."""
    rows = next((each for part in second.ran for each in _filled(part.rows)), None)
    queries = (*found.queries, *second.tried)
    if rows is None:
        return replace(found, queries=queries)
    return replace(
        found,
        queries=queries,
        evidence=tuple(
            replace(each, probability=priors.after("agreed"), confirmed=True)
            if isinstance(each, Rows) and _agree(each, rows)
            else each
            for each in found.evidence
        ),
    )


def _agree(one: Rows, other: Rows) -> bool:
    return len(_filled([one, other])) == 2 and say_the_same(one.table, other.table)


def _alike(one: Rows, other: Rows) -> bool:
    """Whether both show a single column, so that neither shows more than was asked for."""
    return len(one.table.columns) == len(other.table.columns) == 1


def _filled(rows: Iterable[Rows]) -> list[Rows]:
    """Those with something in them."""
    return [each for each in rows if not is_empty(each.table)]


def _beside(first: Found, other: Found) -> Found:
    evidence = first.evidence + other.evidence
    return replace(
        first, evidence=evidence, queries=first.queries + other.queries, error=None if evidence else first.error
    )
