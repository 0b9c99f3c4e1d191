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
from nacre.access.browse.local_thing import local_thing
from nacre.language.forms.nouns import is_plural
from nacre.language.tokens import fold, tokenize
from nacre.records.browse import BrowseLimits
from nacre.records.schema import UNNAMED
from nacre.records.turn import Rewrite
from nacre.stores.catalog import Graph
from nacre.understanding.understand import understand
from nacre.wording.run_plan import run_plan

# maximum number of things that follow-ups are about, and of questions that are tried
MOST_THINGS, MOST_TRIED = 2, 10
# with many overlapping classes each draft takes a second, and a hundred fail (measured on a chart of time periods)
EXAMPLE_SECONDS = 5.0
# what the facts of a thing are read for here: only which predicates it has
OWN_FACTS = BrowseLimits(values=1, linking=1, passages=False, seconds=1.0)
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
    graph: Graph, things: Sequence[str], asked: str, answered: str = "", wanted: int = 3, seconds: float = 2.0
) -> list[str]:
    """Up to `wanted` questions about these things (IRIs) and their kind, each of which was understood and ran; no
    further one is tried after so many `seconds`. Questions whose answer stands in what was `asked` and `answered` are
    left out."""
    if graph.stored is None:
        return []
    said = fold(asked)
    found: list[str] = []
    kinds: set[str] = set()
    known = _spaced(f"{asked} {answered}")
    deadline = time.monotonic() + seconds
    for draft in islice(follow_up_drafts(graph, things, said), MOST_TRIED):
        if len(found) == wanted or time.monotonic() > deadline:
            break
        if draft.kind not in kinds and fold(draft.question) != said and _answers(graph, draft, known):
            kinds.add(draft.kind)
            found.append(draft.question)
    return found


def follow_up_drafts(graph: Graph, things: Sequence[str], said: str) -> Iterator[QuestionDraft]:
    """Properties of each thing that were not `said` yet, then comparisons with its class."""
    schema = graph.schema
    known = [(iri, thing) for iri in things if (thing := graph.lexicon.thing(iri)) is not None]
    for iri, thing in known[:MOST_THINGS]:
        classes = next((g.classes for g in schema.groups if g.relation == thing.relation), ())
        own = min((schema.class_of[c] for c in classes if c in schema.class_of), key=lambda c: c.count, default=None)
        if own is None or not reads_well(own.label) or len(thing.label) > MAX_SPOKEN_NAME:
            continue
        usual = question_properties(schema, own)
        # a property of its class that the thing has no value of is read as one of the things that name it
        has = _own_predicates(graph, iri)
        unsaid = [p for p in usual if p.iri in has and fold(property_noun(p, schema)) not in said]
        for n, p in enumerate(unsaid[:MOST_PROPERTIES]):
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


def _own_predicates(graph: Graph, iri: str) -> frozenset[str]:
    """The predicates that a thing is the subject of."""
    seen = local_thing(graph, iri, OWN_FACTS)
    return frozenset(facts.predicate for facts in seen.facts) if seen is not None else frozenset()


def _spaced(text: str) -> str:
    """The words of a text, each between spaces.

    >>> _spaced("Signal Box.")
    ' signal box '
    """
    return f" {' '.join(token.norm for token in tokenize(text))} "


def _answers(graph: Graph, draft: QuestionDraft, known: str = "") -> bool:
    """Whether a question is understood and its answer fits the draft; an answer that is `known` does not."""
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
    if known and cells and all(_spaced(str(cell)) in known for cell in cells):
        return False
    telling = all("://" not in text and text != UNNAMED for text in map(str, cells)) and len({*cells}) == len(cells)
    return telling and draft.least <= len(cells) <= draft.most
