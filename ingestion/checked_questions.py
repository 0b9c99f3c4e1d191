"""Example questions about the central classes of a graph, checked by asking them: Graph -> questions."""

import time
from collections.abc import Iterator, Sequence
from itertools import islice

from ingestion.suggested_questions import (
    MAX_SPOKEN_NAME,
    MOST_FIRST,
    MOST_PROPERTIES,
    QuestionDraft,
    class_plural,
    class_singular,
    condition_phrases,
    draft_questions,
    has_named_members,
    measure_properties,
    property_noun,
    question_properties,
    reads_well,
)
from nacre.language.forms.nouns import is_plural
from nacre.language.tokens import fold
from nacre.records.schema import UNNAMED
from nacre.records.turn import Rewrite
from nacre.stores.catalog import Graph
from nacre.understanding.understand import understand
from nacre.wording.run_plan import run_plan

# maximum number of things that follow-ups are about, and of questions that are tried
MOST_THINGS, MOST_TRIED = 2, 10
# with many overlapping classes each draft takes a second, and a hundred fail (measured on a chart of time periods)
EXAMPLE_SECONDS = 5.0
# minimum probability of the reading of an example
SURE = 0.5


def find_example_questions(graph: Graph, wanted: int = 3, seconds: float = EXAMPLE_SECONDS) -> list[str]:
    """Up to `wanted` questions of different kinds; each was understood and ran with a useful answer. No further one is
    tried after so many `seconds`.

    For an attached graph they only mention classes and properties and are not run, to spare the endpoint.
    """
    found: list[str] = []
    kinds: set[str] = set()
    others: list[QuestionDraft] = []
    deadline = time.monotonic() + seconds
    # one question of each kind, then more of each if these are too few
    for draft in draft_questions(graph):
        if len(found) == wanted or time.monotonic() > deadline:
            return found
        if draft.kind in kinds:
            others.append(draft)
        elif _answers(graph, draft):
            kinds.add(draft.kind)
            found.append(draft.question)
    for draft in others:
        if len(found) == wanted or time.monotonic() > deadline:
            return found
        if draft.question not in found and _answers(graph, draft):
            found.append(draft.question)
    return found


def find_follow_up_questions(
    graph: Graph, things: Sequence[str], asked: str, wanted: int = 3, seconds: float = 2.0
) -> list[str]:
    """Up to `wanted` questions about these things (IRIs) and their kind, each of which was understood and ran; no
    further one is tried after so many `seconds`."""
    if graph.stored is None:
        return []
    said = fold(asked)
    found: list[str] = []
    kinds: set[str] = set()
    deadline = time.monotonic() + seconds
    for draft in islice(_onward(graph, things, said), MOST_TRIED):
        if len(found) == wanted or time.monotonic() > deadline:
            break
        if draft.kind not in kinds and fold(draft.question) != said and _answers(graph, draft):
            kinds.add(draft.kind)
            found.append(draft.question)
    return found


def _onward(graph: Graph, things: Sequence[str], said: str) -> Iterator[QuestionDraft]:
    """Properties of each thing that were not `said` yet, then comparisons with its class."""
    schema = graph.schema
    known = [thing for iri in things if (thing := graph.lexicon.thing(iri)) is not None]
    for thing in known[:MOST_THINGS]:
        classes = next((g.classes for g in schema.groups if g.relation == thing.relation), ())
        own = min((schema.class_of[c] for c in classes if c in schema.class_of), key=lambda c: c.count, default=None)
        if own is None or not reads_well(own.label) or len(thing.label) > MAX_SPOKEN_NAME:
            continue
        usual = question_properties(schema, own)
        for n, p in enumerate([p for p in usual if fold(property_noun(p, schema)) not in said][:MOST_PROPERTIES]):
            verb = "are" if is_plural(property_noun(p, schema)) else "is"
            yield QuestionDraft(
                f"of, {n % 2}", f"What {verb} the {property_noun(p, schema)} of {thing.label}?", most=MOST_FIRST
            )
        for p in [p for p in measure_properties(schema, own, usual) if fold(property_noun(p, schema)) not in said]:
            if has_named_members(graph, own):
                yield QuestionDraft(
                    "most", f"Which {class_singular(own)} has the highest {property_noun(p, schema)}?", most=MOST_FIRST
                )
            yield QuestionDraft(
                "average", f"What is the average {property_noun(p, schema)} of the {class_plural(own)}?"
            )
        for words in condition_phrases(schema, usual):
            yield QuestionDraft("count", f"How many {class_plural(own)} have {words}?", 2, own.count - 1)


def _answers(graph: Graph, draft: QuestionDraft) -> bool:
    understood = understand(Rewrite(draft.question), graph.schema, graph.lexicon)
    if not understood.readings:
        return False
    reading = understood.readings[0]
    if reading.covered < 0.99 or (reading.probability or 0.0) < SURE:
        return False
    if graph.stored is None:
        return True
    table, _, _ = run_plan(reading.plan, graph.tables, round=1)
    cells = [] if table is None else [row[-1] for row in table.rows if row[-1] is not None]
    if draft.kind == "count":
        return len(cells) == 1 and isinstance(cells[0], int) and draft.least <= cells[0] <= draft.most
    # unnamed nodes and addresses are no readable answers
    telling = all("://" not in text and text != UNNAMED for text in map(str, cells)) and len({*cells}) == len(cells)
    return telling and draft.least <= len(cells) <= draft.most
