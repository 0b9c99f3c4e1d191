"""Read what is asked of a thing where no word names a property: the whole question -> candidates for it.

A question whose names are replaced by their classes ("who runs the department") is compared with every property of the
class said as a question ("what is the head of the department"). Single words say less: "runs" alone is near to sport.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from records.schema import Predicate
from semantics.candidates import Candidate
from semantics.english import function_words
from semantics.markers import Form
from semantics.meaning import unit
from semantics.paths import SchemaGraph
from semantics.words import Token
from stores.vectors import Embedder

# of 51 questions in other words about 51 sets of properties, these let through 24 of 30 right readings
# and 8 of 51 where the right property had been taken away
MARGIN = 0.1
GAIN = 0.0
# the margin of a property that is the only one
ALONE = 0.3


class Properties:
    """What is recorded of the things of each table, as questions and their vectors, made at the first need."""

    def __init__(self, graph: SchemaGraph, embedder: Embedder) -> None:
        self.graph = graph
        self._embedder = embedder
        self._known: dict[str, tuple[tuple[Predicate, ...], Any, Any]] = {}

    def in_context(
        self, words: Sequence[Token], form: Form, unexplained: Sequence[int], mentions: Sequence[Candidate]
    ) -> list[Candidate]:
        """The property that the unexplained words ask of a mentioned thing; none where two are about as likely."""
        # "soccer club": what stands before a known noun only modifies it
        no_property = {m.start - 1 for m in mentions} | _doers(words, form, unexplained)
        span = _span([i for i in unexplained if i not in no_property], mentions)
        if not span:
            return []
        question, content = _masked(words, mentions, self.graph), " ".join(words[i].norm for i in span)
        best: tuple[float, Candidate] | None = None
        if not mentions:
            return []
        whole, part = unit(self._embedder.embed([question, content]))
        for relation in dict.fromkeys(_table(mention, self.graph) for mention in mentions):
            predicates, said, names = self._of(relation)
            fitting = [i for i, p in enumerate(predicates) if _fits(p, form)]
            if not fitting:
                continue
            score = said[fitting] @ whole + 0.5 * (names[fitting] @ part)
            order = np.argsort(-score, kind="stable")
            first = fitting[int(order[0])]
            margin = float(score[order[0]] - score[order[1]]) if len(order) > 1 else ALONE
            # the last row asks nothing of the thing
            gain = float(said[first] @ whole - said[-1] @ whole)
            if margin < MARGIN or gain < GAIN or (best is not None and float(score[order[0]]) <= best[0]):
                continue
            iri, label = predicates[first].iri, predicates[first].label
            sure = 0.6 + 0.3 * min(1.0, margin / 0.4)
            covered = frozenset(span)
            found = Candidate("predicate", span[0], span[-1] + 1, sure, label, predicate=iri, covered=covered)
            best = float(score[order[0]]), found
        return [best[1]] if best else []

    def _of(self, relation: str) -> tuple[tuple[Predicate, ...], Any, Any]:
        """The predicates of a table's things; the vectors of each said as a question, and of its name alone."""
        if relation not in self._known:
            label, links = _class_label(self.graph, relation), self.graph.steps.get(relation, ())
            own = {s.predicate for s in links if s.forward} | {p for r, p in self.graph.facts if r == relation}
            predicates = tuple(p for p in self.graph.schema.predicates if p.iri in own and p.role != "type")
            if not predicates:
                return (), None, None
            texts = [*(f"what is the {p.label.lower()} of the {label}" for p in predicates), f"what is the {label}"]
            vectors = unit(self._embedder.embed([*texts, *(p.label.lower() for p in predicates)]))
            self._known[relation] = predicates, vectors[: len(texts)], vectors[len(texts) :]
        return self._known[relation]


def _doers(words: Sequence[Token], form: Form, unexplained: Sequence[int]) -> set[int]:
    """ "Which footballer plays for X": a noun right before a verb that is no auxiliary says who does it."""
    light = function_words()
    return {
        i
        for i in unexplained
        if form.asked in ("which", "count")
        and i - form.focus in (0, 1, 2)
        and i + 1 < len(words)
        and words[i + 1].norm not in light
    }


def _span(unexplained: Sequence[int], mentions: Sequence[Candidate]) -> list[int]:
    """The longest run of unexplained words that no mention interrupts."""
    runs: list[list[int]] = []
    for i in unexplained:
        if runs and not any(runs[-1][-1] < m.start < i for m in mentions):
            runs[-1].append(i)
        else:
            runs.append([i])
    return max(runs, key=len, default=[])


def _masked(words: Sequence[Token], mentions: Sequence[Candidate], graph: SchemaGraph) -> str:
    """The question with each named thing said as its class: "who runs the department"."""
    said: list[str] = []
    i = 0
    while i < len(words):
        mention = next((m for m in mentions if m.start == i), None)
        if mention is None:
            said.append(words[i].norm)
            i += 1
            continue
        if mention.kind == "entity" and (not said or said[-1] not in ("the", "a", "an")):
            said.append("the")
        said.append(_class_label(graph, _table(mention, graph)) if mention.kind == "entity" else mention.label)
        i = mention.end
    return " ".join(said)


def _table(mention: Candidate, graph: SchemaGraph) -> str:
    return max(mention.relations, key=lambda r: (graph.size.get(r, 0), r), default="")


def _class_label(graph: SchemaGraph, relation: str) -> str:
    return next((g.label.lower() for g in graph.schema.groups if g.relation == relation), "thing")


def _fits(predicate: Predicate, form: Form) -> bool:
    """Can the property be what the question word asks for?"""
    dated = predicate.datatype in ("date", "datetime", "year")
    numeric = predicate.has_literals and predicate.minimum is not None
    if form.asked == "when":
        return dated or any(w in ("year", "date", "time") for w in predicate.label.lower().split())
    if form.asked in ("amount", "degree"):
        return numeric
    if form.asked in ("who", "where"):
        return not numeric and not dated
    return True
