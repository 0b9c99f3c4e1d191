"""What a person confirms -> a verified question; entries + the version of their graph -> whether they hold.

An answer of a turn is confirmed by the plan in the record that the server stored, never by one from the client; a query
with the rows that it gave. Queries that people wrote pass the same guard and sandbox as any other; plans run like
readings. New values are fine, since data changes. An entry that fails, gives nothing any more, or gives values of
another kind is not used until a person looks at it. A name can be given to another graph, so a new version is compared
by terms and bases.

Verified questions calibrate the probabilities of their graph. The rules answer each question without its entry. Only
approved questions count, so that a key changes nothing for others.
"""

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

from pydantic import ValidationError

from agents.answering.select_answer import calibrate_rows
from agents.turn_view import Database
from nacre.access.queries import query_sparql, query_sql, sparql_database, sql_database
from nacre.config.settings import Settings
from nacre.errors import ConfigError, ToolError
from nacre.language.sanitize import strip_control_characters
from nacre.records.answer import Answer, Value
from nacre.records.evidence import Cell, Rows
from nacre.records.json_form import from_json
from nacre.records.plan import Plan
from nacre.records.threads import run_in_thread
from nacre.records.turn import (
    LONGEST_QUESTION,
    GraphCalibration,
    Reading,
    Rewrite,
    VerifiedQuery,
    VerifiedQuestion,
    VerifiedState,
    question_id,
    question_words,
    values_hash,
    values_kind,
)
from nacre.stores.catalog import Graph
from nacre.stores.state.verified_questions import MAX_LISTED, VerifiedQuestionStore
from nacre.understanding.ranking.probabilities import MAX_READINGS_RUN, JudgedAnswer, graph_shift, log_odds
from nacre.understanding.understand import understand
from nacre.wording.answer import verbalise_result
from nacre.wording.plan_phrases import verbalise_plan
from tools.sandbox import LONGEST, Sandbox

NO_ANSWER = "This answer has no rows that could be confirmed. Pick one of its readings, or write the query yourself."


def question_of_answer(graph: Graph, record: Answer, by: str) -> VerifiedQuestion:
    """The answer of a turn as an entry that was not run yet; raises ConfigError if nothing in it can be confirmed."""
    plan, query = record.get("plan"), _written_query(record)
    if record["status"] in ("failed", "not_understood") or (plan is None and query is None):
        raise ConfigError(NO_ANSWER)
    # what depends on the conversation is stored as it stands alone
    depends = record["derivation"]["depends"] or not question_words(record["question"])
    question = record["standalone_own"] if depends else record["question"]
    return new_entry(graph, question, record["standalone"], by, plan=plan, query=None if plan is not None else query)


def new_entry(
    graph: Graph,
    question: str,
    standalone: str,
    by: str,
    *,
    plan: dict[str, Any] | None = None,
    query: VerifiedQuery | None = None,
) -> VerifiedQuestion:
    """An entry that was not run yet; raises ConfigError for a question or query that can't be stored."""
    question, standalone = (" ".join(strip_control_characters(text).split()) for text in (question, standalone))
    if not question_words(standalone) or max(len(question), len(standalone)) > LONGEST_QUESTION:
        raise ConfigError(f"Give a question in words, {LONGEST_QUESTION} characters at most.")
    if query is not None and len(query["text"]) > LONGEST:
        raise ConfigError(f"The query has {len(query['text'])} characters; {LONGEST} are the most.")
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    id = question_id(graph.name, standalone)
    return VerifiedQuestion(id, question, standalone, plan, query, "", "none", by, now, graph.version)


@dataclass(frozen=True)
class GivenAnswer:
    """What a plan or query gives now. `values` are the answer as data, each once; `words` say what was asked, if a plan
    was. `is_prose`: a description answers, which has no values."""

    values: tuple[Value, ...]
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[Cell, ...], ...] = ()
    words: str = ""
    query: str = ""
    truncated: bool = False
    is_prose: bool = False


async def confirm(
    graph: Graph,
    entry: VerifiedQuestion,
    settings: Settings,
    sandbox: Sandbox,
    store: VerifiedQuestionStore,
    is_right: Callable[[GivenAnswer], bool] = lambda given: True,
) -> tuple[VerifiedQuestion, GivenAnswer]:
    """Run a new entry and store it with what it gave.

    Raises ConfigError if it can't run, gives nothing, or gives something that not `is_right`.

    Entries of others for the same question are run again first, so that values of one version are compared, and of an
    attached graph those of one time.
    """
    try:
        given = await run_verified(graph, entry, settings, sandbox)
    except ToolError as error:
        raise ConfigError(f"It can't be confirmed: {error}") from error
    if given.truncated:
        raise ConfigError("It gives more rows than are read, so its values can't be compared later. Ask for fewer.")
    if not given.values and not given.is_prose:
        raise ConfigError("It gives no values, so there is nothing to confirm.")
    if not is_right(given):
        raise ConfigError("It gives other values than those that are given as right.")
    await run_in_thread(note_version, graph, store)
    for other in await run_in_thread(store.entries, graph.name, entry.id):
        if (graph.attached or other.version != graph.version) and other.by != entry.by:
            checked = await check_entry(graph, other, settings, sandbox)
            await run_in_thread(store.record_check, graph.name, checked)
    entry = replace(entry, values_hash=values_hash(given.values), kind=values_kind(given.values))
    return await run_in_thread(store.add, graph.name, entry), given


def _written_query(record: Answer) -> VerifiedQuery | None:
    """The query of the first citation with rows, if it stands for itself."""
    for citation in record["citations"]:
        number = citation["query"]
        if number is not None and number < len(record["queries"]):
            query = record["queries"][number]
            if query["tool"] in ("sql", "sparql") and not query["params"] and query["error"] is None:
                return VerifiedQuery(tool="sql" if query["tool"] == "sql" else "sparql", text=query["text"])
    return None


# seconds for the checks after an ingest (given): some thousands of plans over tables
CHECK_SECONDS = 30.0

MAX_NOTE = 200

# errors of a store that is away, which say nothing about the question
_AWAY = ("unavailable",)

# states that only a person ends
_ASIDE = ("failed", "empty", "changed kind", "replaced")

_GIVES_NOTHING = "it gives nothing any more"

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class CheckReport:
    """What a check found. `changed` entries have other values and stay in use; `aside` ones are not used; `left` were
    not reached in time."""

    checked: int
    changed: tuple[VerifiedQuestion, ...]
    aside: tuple[VerifiedQuestion, ...]
    left: int


async def check_entry(
    graph: Graph, entry: VerifiedQuestion, settings: Settings, sandbox: Sandbox, *, restore: bool = False
) -> VerifiedQuestion:
    """The entry with the state that running it gives. One that was set aside stays so, unless a person asked for the
    check (`restore`). If the store is away, the entry is unchanged."""
    if entry.state in _ASIDE and not restore:
        return entry
    try:
        given = await run_verified(graph, entry, settings, sandbox)
    except ToolError as error:
        if error.kind in _AWAY or (graph.attached and error.kind == "timeout"):
            return entry
        if error.kind == "empty":
            return _set_aside(entry, "empty", _GIVES_NOTHING)
        return _set_aside(entry, "failed", f"it failed: {error}")
    return judged(entry, given, graph.version)


def judged(entry: VerifiedQuestion, given: GivenAnswer, version: str) -> VerifiedQuestion:
    """The entry with the state that follows from what it gives in a version."""
    kind = values_kind(given.values)
    if not given.values and not given.is_prose:
        return _set_aside(entry, "empty", _GIVES_NOTHING)
    if kind != entry.kind:
        return _set_aside(entry, "changed kind", f"it gives values of another kind: {kind} instead of {entry.kind}")
    hash = values_hash(given.values)
    note = f"its values changed with version {version}" if hash != entry.values_hash else ""
    state: VerifiedState = "contradicted" if entry.state == "contradicted" else "in use"
    return replace(entry, values_hash=hash, version=version, state=state, note=note)


async def check_all(
    graph: Graph,
    store: VerifiedQuestionStore,
    settings: Settings,
    sandbox: Sandbox,
    *,
    owner: str | None = None,
    seconds: float = CHECK_SECONDS,
    restore: bool = False,
) -> CheckReport:
    """Check the entries of a graph, or those of an owner, and store what was found; no further one is started
    after so many `seconds`. Entries of this version are only checked again if a person asked for it (`restore`)."""
    await run_in_thread(note_version, graph, store)
    deadline = time.monotonic() + seconds
    total = await run_in_thread(store.count, graph.name, owner)
    if graph.attached and not restore:
        # each check is a query of somebody's endpoint or database, so they are made when they are needed
        return CheckReport(0, (), (), 0)
    checked: list[tuple[VerifiedQuestion, VerifiedQuestion]] = []
    skip = 0
    while entries := await run_in_thread(store.listed, graph.name, owner, own=True, skip=skip):
        skip += len(entries)
        due = [each for each in entries if restore or (each.version != graph.version and each.state not in _ASIDE)]
        total -= len(entries) - len(due)
        for entry in due:
            if time.monotonic() > deadline:
                return _report(checked, total - len(checked))
            after = await check_entry(graph, entry, settings, sandbox, restore=restore)
            stored = await run_in_thread(store.record_check, graph.name, after)
            if stored is not None:
                checked.append((entry, stored))
    return _report(checked, 0)


def _report(checked: Sequence[tuple[VerifiedQuestion, VerifiedQuestion]], left: int) -> CheckReport:
    changed = tuple(
        after for before, after in checked if after.state == "in use" and after.values_hash != before.values_hash
    )
    aside = tuple(after for _, after in checked if after.state != "in use")
    return CheckReport(len(checked), changed[:MAX_LISTED], aside[:MAX_LISTED], max(0, left))


def _set_aside(entry: VerifiedQuestion, state: VerifiedState, note: str) -> VerifiedQuestion:
    return replace(entry, state=state, note=" ".join(note.split())[:MAX_NOTE])


async def run_verified(graph: Graph, entry: VerifiedQuestion, settings: Settings, sandbox: Sandbox) -> GivenAnswer:
    """What the plan or query of an entry gives in this version. Raises ToolError if it can't run."""
    if entry.query is not None:
        return await run_query(graph, entry.query, settings, sandbox)
    try:
        plan = from_json(Plan, entry.plan)
    except ValidationError as error:
        raise ToolError("type", "Its plan was written by another version of nacre. Confirm it again.") from error
    return await _run_plan(graph, plan, entry.standalone, settings, sandbox)


async def run_query(graph: Graph, query: VerifiedQuery, settings: Settings, sandbox: Sandbox) -> GivenAnswer:
    """What a query gives as it is written. Raises ToolError, also if the guard refuses it."""
    run = query_sql if query["tool"] == "sql" else query_sparql
    result = await run(graph, query["text"], settings, sandbox, settings.row_limit)
    if result.note:
        # a repair suits a query that a model writes now; stored ones must give what they say, or nothing
        raise ToolError("empty", f"As written, the query fails or gives nothing. This one runs: {result.query}")
    values = tuple(dict.fromkeys(cell for row in result.rows for cell in row if cell is not None))
    return GivenAnswer(values, result.columns, result.rows, "", result.query, result.truncated)


async def _run_plan(graph: Graph, plan: Plan, question: str, settings: Settings, sandbox: Sandbox) -> GivenAnswer:
    # as likely as can be: it is run first and with the whole budget
    reading = Reading(plan, 0.0, 1.0, await run_in_thread(verbalise_plan, plan, graph.schema))
    database: Database = sql_database(graph, settings, sandbox)
    if graph.stored is None:
        remote = await run_in_thread(sparql_database, graph, settings, sandbox, question)
        if remote is None:
            raise ToolError("unavailable", f"Graph {graph.name!r} can't be asked now.")
        database = remote
    try:
        found = await database.read([reading])
    except TimeoutError:
        raise ToolError("timeout", f"It took longer than {settings.branch_seconds:g} seconds.") from None
    result = found[0]
    if result.error is not None:
        raise ToolError(result.error.kind, result.error.message)
    rows = next((each for each in result.evidence if isinstance(each, Rows)), None)
    text = result.queries[0].text if result.queries else ""
    if rows is None:
        return GivenAnswer((), words=reading.words, query=text, is_prose=bool(result.evidence))
    said = await run_in_thread(verbalise_result, plan, rows.table, graph.schema, question)
    values = tuple(dict.fromkeys(said.values))
    return GivenAnswer(values, rows.table.columns, rows.table.rows, reading.words, text, rows.table.truncated)


# the share of its classes and properties that the same graph keeps from one version to the next (given)
KEPT_TERMS = 0.5

# things whose IRIs are looked at; their order in the table is that of their hashes
SAMPLED_THINGS = 200


def note_version(graph: Graph, store: VerifiedQuestionStore) -> None:
    """Compare an open version with the one that was last noted, once for each version. Raises sqlite3.Error."""
    known = store.known_version(graph.name)
    if known is not None and known >= graph.version:
        return
    terms = frozenset((*graph.schema.class_of, *graph.schema.predicate_of))
    bases = _bases(graph)
    before = store.known_graph(graph.name)
    if before is not None and not _is_same(before[0], before[1], terms, bases):
        aside = store.set_aside(graph.name, "replaced", "the graph of this name was replaced by another one")
        log.warning("graph %s was replaced by another one: %d verified questions are not used", graph.name, aside)
    store.note_graph(graph.name, graph.version, terms, bases)


def _is_same(
    terms: frozenset[str], bases: frozenset[str], new_terms: frozenset[str], new_bases: frozenset[str]
) -> bool:
    if terms and len(terms & new_terms) < KEPT_TERMS * len(terms):
        return False
    return not (bases and new_bases) or bool(bases & new_bases)


def _bases(graph: Graph) -> frozenset[str]:
    """The schemes and hosts of a sample of its things; none for an attached graph."""
    if graph.stored is None:
        return frozenset()
    rows = graph.stored.run("SELECT iri FROM entity ORDER BY id LIMIT ?", (SAMPLED_THINGS,)).rows
    return frozenset(base for (iri,) in rows if (base := _base(str(iri))))


def _base(iri: str) -> str:
    """The scheme and host of an IRI; "" for a blank node.

    >>> _base("https://mills.example/id/7"), _base("urn:isbn:3"), _base("_:b1")
    ('https://mills.example', 'urn:isbn', '')
    """
    try:
        parts = urlsplit(iri)
    except ValueError:
        return ""
    if parts.netloc:
        return f"{parts.scheme}://{parts.netloc}"
    return f"{parts.scheme}:{parts.path.partition(':')[0]}" if parts.scheme else ""


# questions that are asked, the latest ones, and seconds for them (given)
MAX_ASKED, SECONDS = 100, 30.0

# a change of so many questions calibrates again (given)
RENEWED_AFTER = 10

# an owner without entries, who uses approved ones alone
NOBODY = ""

# probabilities below this, or above its complement, are equal
LEAST = 1e-4


def is_due(graph: Graph, store: VerifiedQuestionStore) -> bool:
    """Whether a person asked for the calibration of a graph, and its version or a number of its verified questions are
    new since. False for attached graphs, whose sources would be asked. Raises sqlite3.Error."""
    count = _count(graph, store)
    known = store.calibration(graph.name)
    if graph.attached or known is None or known.undone:
        return False
    return known.version != graph.version or abs(count - known.questions) >= RENEWED_AFTER


async def calibrate_graph(
    graph: Graph, store: VerifiedQuestionStore, settings: Settings, sandbox: Sandbox, seconds: float = SECONDS
) -> GraphCalibration:
    """Ask the questions, at most for so long, and store the shift that they show. Raises sqlite3.Error."""
    deadline, judged = time.monotonic() + seconds, list[JudgedAnswer]()
    for entry in await run_in_thread(store.usable, graph.name, NOBODY, MAX_ASKED):
        if time.monotonic() > deadline:
            break
        try:
            answer = await _judged(graph, entry, settings, sandbox)
        except (ToolError, TimeoutError) as error:
            log.info("graph %s: a verified question can't be asked: %s", graph.name, type(error).__name__)
            continue
        judged += [answer] if answer is not None else []
    shift = round(await run_in_thread(graph_shift, judged), 4)
    count = await run_in_thread(_count, graph, store)
    now, right = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"), sum(each.right for each in judged)
    found = GraphCalibration(shift, count, len(judged), right, graph.version, now)
    await run_in_thread(store.store_calibration, graph.name, found)
    return found


def undo_calibration(graph: str, store: VerifiedQuestionStore) -> None:
    """Use the probabilities as they were learned, until somebody asks for a calibration. Raises sqlite3.Error."""
    known = store.calibration(graph) or GraphCalibration(0.0, 0, 0, 0, "", "")
    store.store_calibration(graph, replace(known, shift=0.0, undone=True))


def _count(graph: Graph, store: VerifiedQuestionStore) -> int:
    """The number of approved entries in use."""
    return store.count(graph.name, states=("in use",)) - store.count(graph.name, waiting=True)


async def _judged(graph: Graph, entry: VerifiedQuestion, settings: Settings, sandbox: Sandbox) -> JudgedAnswer | None:
    """The answer of the rules alone; None if no rows have a probability."""
    question = entry.standalone
    understanding = await run_in_thread(understand, Rewrite(question), graph.schema, graph.lexicon)
    readings = understanding.readings[:MAX_READINGS_RUN]
    if not readings:
        return None
    found = calibrate_rows(understanding, await sql_database(graph, settings, sandbox).read(readings))
    rows = [
        each for result in found for each in result.rows if each.probability is not None and each.reading is not None
    ]
    best = max(rows, key=lambda each: each.probability or 0.0, default=None)
    if best is None or best.reading is None or best.probability is None:
        return None
    plan = readings[best.reading].plan
    said = await run_in_thread(verbalise_result, plan, best.table, graph.schema, question)
    if not said.values:
        return None
    chance = min(1 - LEAST, max(LEAST, best.probability))
    right = values_hash(said.values) == entry.values_hash
    return JudgedAnswer(log_odds(chance), right, entry.query is not None)
