"""Calibrate the probabilities of a graph with its verified questions: open graph + store -> GraphCalibration.

The rules answer each question without its entry. Only approved questions count, so that a key changes nothing for
others.
"""

import logging
import time
from dataclasses import replace
from datetime import UTC, datetime

from agents.answering.calibrate_rows import calibrate_rows
from agents.run_in_thread import run_in_thread
from nacre.access.sql_database import sql_database
from nacre.config.settings import Settings
from nacre.errors import ToolError
from nacre.records.turn import Rewrite
from nacre.records.verified_question import GraphCalibration, VerifiedQuestion, values_hash
from nacre.stores.graph import Graph
from nacre.stores.verified.store import VerifiedQuestionStore
from nacre.understanding.ranking.calibrate import MAX_READINGS_RUN
from nacre.understanding.understand import understand
from nacre.understanding.verified.graph_shift import JudgedAnswer, graph_shift, log_odds
from nacre.wording.answers.answer import verbalise_result
from tools.guards.sandbox import Sandbox

# questions that are asked, the latest ones, and seconds for them (given)
MAX_ASKED, SECONDS = 100, 30.0
# a change of so many questions calibrates again (given)
RENEWED_AFTER = 10
# an owner without entries, who uses approved ones alone
NOBODY = ""
# probabilities below this, or above its complement, are equal
LEAST = 1e-4
log = logging.getLogger(__name__)


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
