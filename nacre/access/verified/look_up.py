"""The verified questions that may answer an owner's question: open graph + owner + words -> VerifiedQuestions.

A turn never fails because of them: if they can't be read, there are none.
"""

import logging
import sqlite3
from collections.abc import Callable
from typing import TypeVar

from nacre.access.verified.graph_identity import note_version
from nacre.errors import ToolError
from nacre.records.verified_question import VerifiedQuestion, question_words
from nacre.stores.graph import Graph
from nacre.stores.verified.store import MAX_CANDIDATES, MAX_LISTED, VerifiedQuestionStore
from nacre.understanding.verified.offer import MAX_COMPARED

T = TypeVar("T")
log = logging.getLogger(__name__)


def verified_questions(graph: Graph, owner: str, limit: int = MAX_LISTED) -> tuple[VerifiedQuestion, ...]:
    """Those in use that are approved or the owner's own, one for each question, the latest first; at most `limit`."""
    return _read(graph, (), lambda store: store.usable(graph.name, owner, limit))


def same_verified_question(graph: Graph, owner: str, question: str) -> VerifiedQuestion | None:
    """The one that is this standalone question, up to case and punctuation; the owner's own one first."""
    return _read(graph, None, lambda store: store.find(graph.name, owner, question))


def similar_verified_questions(
    graph: Graph, owner: str, question: str, limit: int = MAX_CANDIDATES
) -> tuple[VerifiedQuestion, ...]:
    """Those that share the most and rarest words with the question, best first; at most `limit`."""
    return _read(graph, (), lambda store: store.similar(graph.name, owner, question_words(question), limit))


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
