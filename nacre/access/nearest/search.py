"""What is nearest to a question that no rows answer: TurnView + Graph -> BranchResult."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

from agents.answering.answer_draft import Lack
from agents.answering.selection.rows import indexed_sentences
from agents.turn_view import TurnView
from nacre.access.nearest.likeness import likenesses
from nacre.access.nearest.named_facts import LEXICAL, is_telling, named_facts, round_likeness
from nacre.access.nearest.prose_matches import prose_matches
from nacre.records.evidence import BranchResult, EvidenceSentence, Nearness, Query

if TYPE_CHECKING:
    from nacre.stores.catalog import Graph

# sentences of the other branches that are compared with the question
MOST_COMPARED = 15


def search_nearest(view: TurnView, lack: Lack, graph: Graph) -> BranchResult:
    """The sentences that are nearest to the question, with their nearness: texts of requested things; if everything
    lacks and they do not answer, facts of the named things, or else sentences that other branches found.

    Blocking; raises ToolError if a store fails.
    """
    started = time.perf_counter()
    found = prose_matches(view.understanding, view.evidence, graph, view.round)
    queries: tuple[Query, ...] = ()
    if lack == "everything" and not any(each.nearness and each.nearness.chance for each in found):
        facts = named_facts(view.understanding, graph, view.round)
        queries = facts.queries
        found += [each for each in facts.evidence if isinstance(each, EvidenceSentence)] or _nearest_found(view, graph)
    words = f"what is nearest to: {view.standalone}"
    query = Query(LEXICAL, view.round, view.standalone, words=words, rows=len(found))
    query = replace(query, seconds=time.perf_counter() - started)
    return BranchResult(LEXICAL, tuple(found), (query, *queries) if graph.endpoint is None else queries)


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
