"""What is nearest to a question that no rows surely answer: TurnView + Graph -> NearestFound."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from agents.answering.answer_draft import Lack
from agents.answering.selection.rows import indexed_sentences
from agents.answering.selection.select_answer import select_answer_rows
from agents.turn_view import TurnView
from nacre.access.nearest.likeness import likenesses
from nacre.access.nearest.look_up import compare_readings, look_up_nearest
from nacre.access.nearest.named_facts import LEXICAL, is_telling, named_facts, round_likeness
from nacre.access.nearest.prose_matches import prose_matches
from nacre.records.evidence import BranchResult, Evidence, EvidenceSentence, Nearness, Query
from nacre.records.turn import Understanding

if TYPE_CHECKING:
    from nacre.stores.catalog import Graph

# branches that give rows
ROW_BRANCHES = frozenset(("sql", "sparql"))
# sentences of the other branches that are compared with the question
MOST_COMPARED = 15


class NearestFound(NamedTuple):
    """What was found, and the understanding with a further reading if a fact was looked up."""

    found: BranchResult
    understanding: Understanding


def search_nearest(view: TurnView, lack: Lack, graph: Graph) -> NearestFound:
    """The sentences that are nearest to the question, with their nearness: texts of requested things, and facts of the
    named things; if nothing answers and none is named, sentences that other branches found. The nearest fact is looked
    up as a reading of its own. An endpoint is asked for no facts if the rows of a reading answer that uses all words.

    Blocking; raises ToolError if a store fails.
    """
    started = time.perf_counter()
    if graph.remote is not None and lack == "words" and not _leaves_words_out(view):
        return NearestFound(BranchResult(LEXICAL), view.understanding)
    evidence: list[Evidence] = [*prose_matches(view.understanding, view.evidence, graph, view.round)]
    queries: tuple[Query, ...] = ()
    understanding = view.understanding
    if not any(isinstance(each, EvidenceSentence) and each.nearness and each.nearness.chance for each in evidence):
        named = named_facts(understanding, graph, view.round)
        facts = [each for each in named.evidence if isinstance(each, EvidenceSentence)]
        queries = named.queries
        evidence += facts or (_nearest_found(view, graph) if lack == "everything" else [])
        understanding = compare_readings(understanding, facts, graph)
        looks_up = not view.enabled or not ROW_BRANCHES.isdisjoint(view.enabled)
        looked_up = look_up_nearest(understanding, facts, view.evidence, graph, view.round) if looks_up else None
        if looked_up is not None:
            understanding = replace(understanding, readings=(*understanding.readings, looked_up.reading))
            evidence += looked_up.found.evidence
            queries += looked_up.found.queries
    words = f"what is nearest to: {view.standalone}"
    query = Query(LEXICAL, view.round, view.standalone, words=words, rows=len(evidence))
    query = replace(query, seconds=time.perf_counter() - started)
    found = BranchResult(LEXICAL, tuple(evidence), (query, *queries) if graph.endpoint is None else queries)
    return NearestFound(found, understanding)


def _leaves_words_out(view: TurnView) -> bool:
    """Whether the reading that answers as the evidence stands leaves words of the question out."""
    selected = select_answer_rows(view.understanding, view.evidence)
    reading = selected[1].reading if selected is not None else None
    return reading is None or bool(view.understanding.readings[reading].unused)


def _nearest_found(view: TurnView, graph: Graph) -> list[EvidenceSentence]:
    """The sentences that the branches found, compared with the question."""
    found = [each for _, each in indexed_sentences(view.evidence) if each.round and is_telling(each, graph.schema)]
    sentences = list({each.text: each for each in found}.values())[:MOST_COMPARED]
    texts = [f"{each.title}: {each.text}" for each in sentences]
    near = likenesses(view.standalone, texts, graph.lexicon.embedder)
    return [
        replace(each, nearness=Nearness(round_likeness(likeness)))
        for each, likeness in zip(sentences, near, strict=True)
    ]
