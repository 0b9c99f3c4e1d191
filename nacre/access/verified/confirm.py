"""What a person confirms -> a verified question: the answer of a turn, or a query with the rows that it gave.

The plan comes from the record that the server stored, never from the client.
"""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from agents.run_in_thread import run_in_thread
from nacre.access.verified.check import check_entry
from nacre.access.verified.graph_identity import note_version
from nacre.access.verified.run import GivenAnswer, run_verified
from nacre.config.settings import Settings
from nacre.errors import ConfigError, ToolError
from nacre.language.sanitize import strip_control_characters
from nacre.records.answer import Answer
from nacre.records.turn import LONGEST_QUESTION
from nacre.records.verified_question import (
    VerifiedQuery,
    VerifiedQuestion,
    question_id,
    question_words,
    values_hash,
    values_kind,
)
from nacre.stores.graph import Graph
from nacre.stores.verified.store import VerifiedQuestionStore
from tools.guards.sandbox import Sandbox
from tools.guards.sql_guard import LONGEST

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
