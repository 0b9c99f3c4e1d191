"""What is nearest to a question that no rows surely answer: TurnView + Graph -> NearestFound."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from agents.answering.answer_draft import Lack
from agents.answering.draft_sentences import QUERYING
from agents.answering.selection.rows import indexed_sentences
from agents.turn_view import TurnView
from nacre.access.nearest.class_facts import ClassFacts, class_facts
from nacre.access.nearest.likeness import likenesses, question_forms, text_forms, word_likenesses
from nacre.access.nearest.look_up import compare_readings, look_up_nearest
from nacre.access.nearest.named_facts import is_list, is_telling, named_facts, round_likeness
from nacre.access.nearest.prose_matches import prose_matches
from nacre.records.evidence import BranchResult, Evidence, EvidenceSentence, Nearness, Query
from nacre.records.turn import Understanding
from tools.lexical import BRANCH

if TYPE_CHECKING:
    from nacre.stores.catalog import Graph

# sentences of the other branches that are compared with the question
MOST_COMPARED = 15


class NearestFound(NamedTuple):
    """What was found, and the understanding with a further reading if a fact was looked up."""

    found: BranchResult
    understanding: Understanding


def search_nearest(view: TurnView, lack: Lack, graph: Graph) -> NearestFound:
    """The sentences that are nearest to the question, with their nearness: texts of requested things, and facts of the
    named things; if none is named, facts of the classes that it asks for, and sentences that other branches found. The
    nearest fact is looked up as a reading of its own. An endpoint is asked for no facts if the rows only lack
    certainty.

    Blocking; raises ToolError if a store fails.
    """
    started = time.perf_counter()
    understanding = view.understanding
    if graph.remote is not None and lack == "certainty":
        return NearestFound(BranchResult(BRANCH), understanding)
    matches = prose_matches(understanding, view.evidence, graph, view.round)
    evidence: list[Evidence] = [*matches]
    queries: tuple[Query, ...] = ()
    if not any(each.nearness and each.nearness.chance for each in matches):
        facts, queries = named_facts(understanding, graph, view.round)
        if not facts and lack != "certainty":
            of_class = class_facts(understanding, graph, view.round) if _is_unclear(understanding) else ClassFacts()
            understanding = replace(understanding, readings=(*understanding.readings, *of_class.readings))
            others = _nearest_found(view, graph)
            evidence += [*of_class.sentences, *(each for each in others if lack == "everything" or not is_list(each))]
        evidence += facts
        understanding = compare_readings(understanding, facts, graph)
        looks_up = not view.enabled or not set(QUERYING).isdisjoint(view.enabled)
        looked_up = look_up_nearest(understanding, facts, view.evidence, graph, view.round) if looks_up else None
        if looked_up is not None:
            understanding = replace(understanding, readings=(*understanding.readings, looked_up.reading))
            evidence += looked_up.found.evidence
            queries += looked_up.found.queries
    words = f"what is nearest to: {view.standalone}"
    query = Query(BRANCH, view.round, view.standalone, words=words, rows=len(evidence))
    query = replace(query, seconds=time.perf_counter() - started)
    found = BranchResult(BRANCH, tuple(evidence), (query, *queries) if graph.endpoint is None else queries)
    return NearestFound(found, understanding)


def _is_unclear(understanding: Understanding) -> bool:
    """Whether the likeliest reading leaves words out, or there is none."""
    return bool(understanding.unknown) or not understanding.readings or bool(understanding.readings[0].unused)


def _nearest_found(view: TurnView, graph: Graph) -> list[EvidenceSentence]:
    """The sentences that the branches found, compared with the question."""
    found = [each for _, each in indexed_sentences(view.evidence) if each.round and is_telling(each, graph.schema)]
    found = list({each.text: each for each in found}.values())
    by_words = word_likenesses(question_forms(view.standalone), [text_forms(each.text) for each in found])
    sentences = [found[i] for i in sorted(range(len(found)), key=lambda i: (-by_words[i], i))[:MOST_COMPARED]]
    texts = [f"{each.title}: {each.text}" for each in sentences]
    near = likenesses(view.standalone, texts, graph.lexicon.embedder)
    return [
        replace(each, nearness=Nearness(round_likeness(likeness)))
        for each, likeness in zip(sentences, near, strict=True)
    ]
