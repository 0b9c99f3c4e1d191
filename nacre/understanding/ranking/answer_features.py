"""Features of what a reading answers with: the type that the question word asks for, and the measure of adjectives."""

from collections.abc import Sequence
from functools import lru_cache

from nacre.language.base import phrase_list
from nacre.language.thesaurus import nouns_of_kind
from nacre.understanding.linking.graph.schema_graph import SchemaGraph
from nacre.understanding.linking.schema.adjectives import measured_properties
from nacre.understanding.parsing.coverage import is_inside_link
from nacre.understanding.parsing.state import Candidate
from nacre.understanding.question.types import Question, Ref, Target

# Letters of a noun that others may end with, at least: "keeper" in "beekeeper".
MIN_SUFFIX_LETTERS = 5


def measure_features(candidate: Candidate, question: Question, graph: SchemaGraph) -> dict[str, float]:
    """How far down an adjective's list of measures the property comes that orders or answers."""
    d = candidate.derivation
    ordering = [*((d.order.ref,) if d.order else ()), *(c.top.ref for c in d.conditions if c.top)]
    shown = [t.ref for t in d.targets if t.ref.predicate and not t.function]
    found: dict[str, float] = {}
    for kind, refs in (("superlative", ordering), ("degree", shown)):
        cue = next((c for c in question.cues if c.kind == kind and not is_inside_link(c.start, c.end, d.links)), None)
        if cue is None:
            continue
        concepts = tuple((cue.value.partition(" ")[2] if kind == "superlative" else cue.value).split("|"))
        for ref in refs:
            measures = [r.predicate for r, _, _ in measured_properties(graph, ref.node, concepts)]
            if ref.predicate in measures:
                found[f"{kind} measure place"] = float(measures.index(ref.predicate))
                found[f"{kind} measured"] = 1.0
            elif measures:
                found[f"{kind} measured otherwise"] = 1.0
    return found


def answer_type_features(candidate: Candidate, question: Question, graph: SchemaGraph) -> dict[str, float]:
    """Whether the reading asks for what the question already names, and whether the answer is a place for "where" and
    a person for "who"."""
    d = candidate.derivation
    things = {Ref(t.ref.node, "", t.ref.slot) for t in d.targets if not t.function and not t.ref.predicate}
    named = {c.ref for c in d.conditions if c.op == "is" and not c.negated and len(c.keys) == 1}
    found = {"answers what is named": float(bool(things & named))}
    first = question.tokens[0].norm if question.tokens else ""
    ref = d.targets[0].ref if d.targets else None
    if ref is None:
        return found
    words = set(graph.words[ref.predicate] if ref.predicate else graph.nodes[ref.node].words)
    words |= set(graph.words[ref.via]) if ref.via else set()
    if first == "where":
        fits = any(_is_noun_of_kind(word, "places") for word in words)
        return {**found, "asked where fits": float(fits), "asked where misfits": float(not fits)}
    if first == "who":
        fits = any(_is_noun_of_kind(word, "persons") for word in words)
        fits |= not ref.predicate and ref.node in graph.persons
        is_body = any(_is_noun_of_kind(word, "bodies") for word in words)
        return {**found, "asked who fits": float(fits), "asked who misfits": float(not fits and not is_body)}
    return found


def question_word_features(targets: Sequence[Target], question: Question, graph: SchemaGraph) -> dict[str, float]:
    """The question word together with the type of the first answer."""
    if not targets:
        return {}
    words = question.tokens
    first = words[0].norm if words else ""
    second = words[1].norm if len(words) > 1 else ""
    lead = f"{first} {second}" if first == "how" else first
    known = phrase_list("ranking", "question_openings")
    return {f"asked {lead} for {_answer_type(targets[0], graph)}": 1.0} if lead in known else {}


def _answer_type(target: Target, graph: SchemaGraph) -> str:
    predicate = target.ref.predicate
    if target.function in ("count", "avg", "sum"):
        return "number"
    if not predicate:
        return "thing"
    if graph.is_date(predicate):
        return "date"
    return "numeric" if graph.is_numeric(predicate) else "text"


@lru_cache(maxsize=4096)
def _is_noun_of_kind(word: str, kind: str) -> bool:
    """Whether a word is in a list of nouns, or a compound that ends with one."""
    nouns = nouns_of_kind(kind)
    return word in nouns or any(word.endswith(noun) for noun in nouns if len(noun) >= MIN_SUFFIX_LETTERS)
