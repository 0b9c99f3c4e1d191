"""What a turn needs of an open graph, from its first node to its last: Graph + text -> Lexicon, parsed questions."""

import asyncio
import logging
import threading
import time
from collections.abc import Collection, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import NamedTuple
from uuid import uuid4
from weakref import WeakKeyDictionary

from agents.answering.select_answer import content_words, is_covered_by
from nacre.config.settings import Settings
from nacre.errors import ToolError
from nacre.extension import services
from nacre.records.evidence import EvidenceSentence
from nacre.records.schema import Schema
from nacre.records.threads import run_in_thread
from nacre.records.turn import Rewrite, Understanding, VerifiedQuestion
from nacre.stores.catalog import Graph
from nacre.stores.sqlite.lexicon import Lexicon
from nacre.understanding.ranking.probabilities import shift_readings
from nacre.understanding.understand import understand
from tools.sandbox import Sandbox

LONGEST_TURN = 900.0

RECENT_SECONDS = 1.0  # within so many seconds an opened version is used without a look at its files


class _Lease(NamedTuple):
    """The lease of one turn. `run` is the id of its run, `since` its begin by the monotonic clock."""

    graph: Graph
    timer: asyncio.TimerHandle
    run: str
    since: float


class VersionLeases:
    """The open versions that turns read. A lease that is never released ends after `LONGEST_TURN` seconds."""

    def __init__(self) -> None:
        self._leases: dict[str, _Lease] = {}

    def acquire(self, graph: Graph, run: str = "") -> str:
        """Keep an open graph from being closed; returns the name of the lease. On the event loop only."""
        name = uuid4().hex
        timer = asyncio.get_running_loop().call_later(LONGEST_TURN, self.release, name)
        self._leases[name] = _Lease(graph, timer, run, time.monotonic())
        return name

    def recent(self, name: str) -> AbstractContextManager[Graph] | None:
        """The graph of a turn that began just now; None if it should be opened again, with a look at its files."""
        lease = self._leases.get(name)
        is_recent = lease is not None and time.monotonic() - lease.since < RECENT_SECONDS
        return nullcontext(lease.graph) if lease is not None and is_recent else None

    def release(self, name: str) -> None:
        """End a lease and close its graph; a lease that ended already is no error."""
        lease = self._leases.pop(name, None)
        if lease is not None:
            lease.timer.cancel()
            lease.graph.close()

    def release_run(self, run: str) -> None:
        """End the leases of a run that was cancelled."""
        for name in [name for name, lease in self._leases.items() if lease.run == run]:
            self.release(name)


log = logging.getLogger(__name__)


def lexicon_for(graph: Graph, *texts: str) -> Lexicon:
    """The lexicon of an ingested graph; that of an attached graph with the things that the texts may name."""
    return graph.remote.about("\n".join(texts)) if graph.remote is not None else graph.lexicon


async def load_lexicon(graph: Graph, *texts: str) -> Lexicon:
    """The same for the event loop; names of an attached graph are looked up at its endpoint, in a thread."""
    return graph.lexicon if graph.endpoint is None else await run_in_thread(lexicon_for, graph, *texts)


async def available_lexicon(graph: Graph, *texts: str) -> Lexicon:
    """The same; the names of the schema alone if the endpoint fails to look up others."""
    try:
        return await load_lexicon(graph, *texts)
    except ToolError as error:
        log.warning("names of %s were not looked up (%s): %s", graph.name, error.kind, error)
        return graph.lexicon


MOST_QUESTIONS = 128

# a question, the number of candidates, the shift of the graph, and the verified questions that it is compared with
CacheKey = tuple[Rewrite, int, float, tuple[tuple[str, str, str], ...]]

_known: WeakKeyDictionary[Lexicon, dict[CacheKey, Understanding]] = WeakKeyDictionary()

_lock = threading.Lock()


def cached_understanding(
    rewrite: Rewrite,
    schema: Schema,
    lexicon: Lexicon,
    most: int,
    verified: Sequence[VerifiedQuestion] = (),
    shift: float = 0.0,
) -> Understanding:
    """As `understand`, with `shift` added to the log-odds of readings; it depends on its arguments alone, so that
    repeated questions are parsed once. A parse that the deadline cut short is not cached."""
    key = (rewrite, most, shift, tuple((each.id, each.by, each.at) for each in verified))
    with _lock:
        known = _known.setdefault(lexicon, {})
        found = known.get(key)
    if found is None:
        found = understand(rewrite, schema, lexicon, most, verified)
        cut = found.cut or not lexicon.is_complete
        found = replace(found, readings=shift_readings(found.readings, shift), cut=cut)
        if not found.cut:
            with _lock:
                while len(known) >= MOST_QUESTIONS:
                    del known[next(iter(known))]
                known[key] = found
    return found


async def understand_question(
    rewrite: Rewrite, graph: Graph, lexicon: Lexicon, most: int, owner: str, settings: Settings, sandbox: Sandbox
) -> Understanding:
    """The understanding of a question, compared with the verified questions of its owner where there are any."""
    for look_up in services("understand"):
        found: Understanding = await look_up(rewrite, graph, lexicon, most, owner, settings, sandbox)
        return found
    return await run_in_thread(cached_understanding, rewrite, graph.schema, lexicon, most)


def clear_understandings() -> None:
    """Forget all parsed questions, so that measured times contain the parse."""
    with _lock:
        _known.clear()


CHUNK_SIZE = 400


def look_up_labels(graph: Graph, iris: Collection[str]) -> dict[str, str]:
    """The labels of those classes, predicates and things that have one."""
    schema = graph.schema
    known = {iri: schema.class_of[iri].label for iri in iris if iri in schema.class_of}
    known |= {iri: schema.predicate_of[iri].label for iri in iris if iri in schema.predicate_of}
    rest = sorted({iri for iri in iris if iri not in known})
    if graph.stored is None:
        return known | (graph.remote.labels(rest) if graph.remote is not None and rest else {})
    for start in range(0, len(rest), CHUNK_SIZE):
        part = rest[start : start + CHUNK_SIZE]
        marks = ",".join("?" * len(part))
        rows = graph.stored.run(f"SELECT iri, label FROM entity WHERE iri IN ({marks})", part).rows
        known |= {str(row[0]): str(row[1]) for row in rows if row[1]}
    return known


def vector_problem(graph: Graph) -> str:
    """Why the branch `vector` can't be asked, or ""."""
    if graph.vectors is not None and graph.passages is not None:
        return ""
    return graph.unavailable.get("vector") or f"not built. Run: nacre index --graph {graph.name}"


def lexical_problem(graph: Graph) -> str:
    """Why the branch `lexical` can't be asked, or ""."""
    if graph.lexical is not None and graph.passages is not None:
        return ""
    return graph.unavailable.get("lexical") or f"not built. Run: nacre index --graph {graph.name}"


def sparql_problem(graph: Graph) -> str:
    """Why the branch `sparql` can't be asked, or ""."""
    if graph.triples is not None or graph.remote is not None:
        return ""
    again = f"not built. Run: nacre ingest FILE.ttl --graph {graph.name} --sparql"
    return graph.unavailable.get("sparql") or again


WATERFALL_PASSAGES = 5  # passages that the last layer of a waterfall looks at (PolyRAG, section 5.1)


def may_texts_answer(question: str, graph: Graph, left_out: Sequence[str]) -> bool:
    """Whether a near passage of documents has all left out words and covers the question; True without an index."""
    if graph.lexical is None or graph.passages is None:
        return True
    missing = content_words(" ".join(left_out))
    for passage in graph.passages.get([hit.id for hit in graph.lexical.search(question, WATERFALL_PASSAGES)]):
        sentences = [EvidenceSentence("lexical", 1, e.text, passage.title) for e in passage.sentences if e.document]
        words = content_words(" ".join([passage.title, *(each.text for each in sentences)]))
        if sentences and missing <= words and is_covered_by(question, sentences):
            return True
    return False
