"""How a turn came to its answer: TurnView + Graph + Settings -> AnswerDerivation; evidence -> with its triples."""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from agents.answering.draft import QUERYING
from agents.answering.select_answer import plan_of
from agents.turn_view import TurnView
from nacre.access.open_graph import look_up_labels
from nacre.config.settings import Settings
from nacre.errors import ToolError
from nacre.extension import services
from nacre.plans.sparql_engine import last_segment
from nacre.plans.triple_patterns import QuestionTriples, question_triples, validator_assertions
from nacre.records.answer import (
    AnswerDerivation,
    DerivationLimits,
    MatchCandidate,
    MentionMatch,
    PlannedReadings,
    ProofCheck,
    QueryCheck,
    SelectedReading,
)
from nacre.records.evidence import EXTRACTED_NAMESPACE, Evidence, Query, Rows
from nacre.records.plan import Plan
from nacre.records.schema import Schema
from nacre.records.turn import Mention, Reading, Understanding
from nacre.stores.catalog import Graph
from nacre.stores.sqlite.triples import ExtractedLayer, TripleReader
from nacre.stores.vectors import Embedder, label_vectors
from nacre.understanding.ranking.proof import CHECKS, ONE_PLACE
from tools.provenance import trace_model_sparql, trace_remote_sources, trace_sources
from tools.sparql import BRANCH, endpoint_vocabulary

log = logging.getLogger(__name__)

# errors of a query itself, not of the store that runs it
REFUSED = ("syntax", "refused", "unknown_name", "too_large", "type")

CANDIDATES_SHOWN = 10  # candidates of one mention that are shown

# words of the question and labels -> the similarity of each label
Nearness = Callable[[str, Sequence[str]], Sequence[float]]


def build_derivation(view: TurnView, table: int | None, graph: Graph, settings: Settings) -> AnswerDerivation:
    """All steps; `table` is the index of the evidence whose rows answer, if rows do. Blocking."""
    understanding, used = view.understanding, view.evidence[table] if table is not None else None
    queries = [query for part in view.found for query in part.queries]
    asked, language = _question_triples(understanding, used if isinstance(used, Rows) else None, graph.schema)
    nearness = _nearness(graph.lexicon.embedder) if "sparql" in view.visited else None
    return AnswerDerivation(
        multi_turn=settings.dialogue == "multi",
        depends=view.rewrite.depends,
        sure=view.rewrite.sure,
        triples=[list(triple) for triple in asked.triples],
        language=language,
        assertions=validator_assertions(asked),
        matches=[*_matches(understanding, graph.schema, nearness), *_named_things(asked.things, understanding, graph)],
        planned=_planned_queries(understanding, queries),
        checked=[_checked_query(i, query) for i, query in enumerate(queries) if query.tool in QUERYING],
        rounds=view.round,
        bounds=_parameters(settings, attached=graph.remote is not None),
        proof=_proof(used) if isinstance(used, Rows) and used.reading is not None else [],
    )


def _proof(used: Rows) -> list[ProofCheck]:
    failed = {doubt.check: doubt.point for doubt in used.doubts}
    return [ProofCheck(check=n, passed=n not in failed, point=failed.get(n, "")) for n in (*CHECKS, ONE_PLACE)]


def _parameters(settings: Settings, *, attached: bool) -> DerivationLimits:
    """The parameters of Chatty-KG (section 6), as configured."""
    return DerivationLimits(
        rounds=settings.max_rounds,
        things=settings.endpoint_things if attached else 0,
        considered=settings.endpoint_candidates if attached else 0,
        run=settings.endpoint_readings if attached else 0,
        remembered=settings.remembered,
    )


def _nearness(embedder: Embedder | None) -> Nearness | None:
    """The similarity of words to labels (cosine, as in section 5.1.3); None without an embedder."""
    if embedder is None:
        return None

    def nearness(words: str, labels: Sequence[str]) -> Sequence[float]:
        (asked,) = embedder.embed([words])
        return [float(vector @ asked) for vector in label_vectors(embedder, labels)]

    return nearness


def _question_triples(understanding: Understanding, used: Rows | None, schema: Schema) -> tuple[QuestionTriples, str]:
    """The triples of the query that answered, else of the likeliest reading."""
    plan = plan_of(understanding, used) if used is not None else None
    if plan is not None and used is not None:
        return question_triples(plan, schema), used.branch
    if used is not None and used.query is not None and used.branch in QUERYING:
        text, is_truth = used.query.text, used.table.columns[:1] == ("yes",)
        for patterns in services("query_patterns"):
            return patterns(used.branch, text, schema, lambda iri: _label(used, iri), is_truth), used.branch
    if understanding.readings:
        return question_triples(understanding.readings[0].plan, schema), ""
    return QuestionTriples((), understanding.expected == "boolean", frozenset(), True), ""


def _label(used: Rows, iri: str) -> str:
    for cells, keys in zip(used.table.rows, used.table.keys, strict=False):
        shown = [cell for cell in cells if isinstance(cell, str)]
        if keys == (iri,) and len(shown) == 1:
            return shown[0]
    return last_segment(iri)


def _matches(understanding: Understanding, schema: Schema, nearness: Nearness | None) -> list[MentionMatch]:
    """What each mention may stand for: candidates by name, and predicates that are near in meaning."""
    matches = []
    for mention in understanding.mentions:
        alike = [c for c in understanding.candidates if (c.start, c.end) == (mention.start, mention.end)]
        same = [c for c in alike if (c.kind == "predicate") == (mention.kind == "predicate")]
        listed = _candidates(mention, same, schema, nearness)
        chosen = mention.target
        valid = not chosen or any(each["iri"] == chosen for each in listed)
        matches.append(
            MentionMatch(text=mention.text, kind=mention.kind, chosen=chosen, valid=valid, candidates=listed)
        )
    return matches


def _named_things(things: Sequence[str], understanding: Understanding, graph: Graph) -> list[MentionMatch]:
    """The things that a model's query names; each must be a candidate or a thing of the graph."""
    candidates = {each.target: each.label for each in understanding.candidates if each.kind == "entity"}
    try:
        known = look_up_labels(graph, [iri for iri in things if iri not in candidates])
    except ToolError as error:
        log.warning("things of a query could not be looked up: %s", error)
        known = {}
    labels = known | candidates
    return [
        MentionMatch(
            text=labels.get(iri, last_segment(iri)), kind="entity", chosen=iri, valid=iri in labels, candidates=[]
        )
        for iri in things
    ]


def _candidates(
    mention: Mention, named: Sequence[Mention], schema: Schema, nearness: Nearness | None
) -> list[MatchCandidate]:
    scores: dict[tuple[str, str], float] = {}
    for each in named:
        known = schema.predicate_of.get(each.target) or schema.class_of.get(each.target)
        key = (each.target, known.label if known else each.label)
        scores[key] = max(each.score, scores.get(key, 0.0))
    near = _similarities(mention, schema, nearness) if mention.kind == "predicate" else {}
    for predicate in sorted(near, key=lambda key: -near[key])[:CANDIDATES_SHOWN]:
        scores.setdefault(predicate, 0.0)
    ranked = sorted(scores, key=lambda key: (-scores[key], -near.get(key, 0.0), key))
    shown = ranked[:CANDIDATES_SHOWN]
    return [
        MatchCandidate(iri=key[0], label=key[1], score=round(scores[key], 3), similarity=_rounded(near.get(key)))
        for key in shown
    ]


def _similarities(mention: Mention, schema: Schema, nearness: Nearness | None) -> Mapping[tuple[str, str], float]:
    if nearness is None:
        return {}
    facts = [p for p in schema.predicates if p.role not in ("type", "schema")]
    try:
        near = nearness(mention.text, [p.label for p in facts])
    except Exception:
        # the answer was streamed already, and a derivation without them is still useful
        log.exception("predicates could not be ranked by meaning")
        return {}
    return {(p.iri, p.label): value for p, value in zip(facts, near, strict=True)}


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 3)


def _planned_queries(understanding: Understanding, queries: Sequence[Query]) -> PlannedReadings:
    selected = [_selected_reading(reading, queries) for reading in understanding.readings]
    return PlannedReadings(
        considered=understanding.considered,
        kept=len(understanding.readings),
        selected=[each for each in selected if each["queries"]],
    )


def _selected_reading(reading: Reading, queries: Sequence[Query]) -> SelectedReading:
    own = [i for i, q in enumerate(queries) if q.tool in QUERYING and q.by == "rules" and q.words == reading.words]
    return SelectedReading(words=reading.words, probability=_rounded(reading.probability), queries=own)


def _checked_query(i: int, query: Query) -> QueryCheck:
    if query.error is not None and query.error.kind in REFUSED:
        return QueryCheck(query=i, verdict="refused", why=query.error.message)
    if query.words.startswith("repaired"):
        return QueryCheck(query=i, verdict="repaired", why=query.words)
    return QueryCheck(query=i, verdict="passed", why="")


SENTENCES = 3  # sentences of texts that a citation names


def open_citations(
    cited: Sequence[int], evidence: Sequence[Evidence], understanding: Understanding, graph: Graph
) -> list[Evidence]:
    """The cited evidence, in this order, as it is if tracing fails, since the answer was streamed already. Blocking."""
    evidence_by_number = [evidence[index] for index in cited]
    plans = [plan_of(understanding, each) for each in evidence_by_number]
    try:
        if (remote := graph.remote) is not None:
            words, names = endpoint_vocabulary(remote.endpoint, graph.schema), remote.endpoint.names
            pairs = zip(evidence_by_number, plans, strict=True)
            return [trace_remote_sources(each, plan, remote.source, words, names) for each, plan in pairs]
        traced = [_trace(each, plan, graph) for each, plan in zip(evidence_by_number, plans, strict=True)]
        return [_with_text_basis(each, graph.extracted) for each in traced] if graph.extracted else traced
    except Exception as error:
        log.error("citations could not be traced: %s", error, exc_info=not isinstance(error, ToolError))
        return evidence_by_number


def _trace(evidence: Evidence, plan: Plan | None, graph: Graph) -> Evidence:
    """Evidence of an ingested graph with its triples; SPARQL of a model is traced in the store that it asked."""
    written = isinstance(evidence, Rows) and evidence.branch == BRANCH and plan is None and evidence.query is not None
    if not written or graph.triples is None or not isinstance(evidence, Rows):
        return trace_sources(evidence, plan, graph.tables)
    names = [predicate.iri for predicate in graph.schema.predicates if predicate.role == "name"]
    traced = trace_model_sparql(evidence, graph.triples, names)
    # the store has inferred triples as well
    stated = TripleReader(graph.tables)
    return replace(traced, triples=tuple(triple for triple in traced.triples if stated.contains(triple)))


def _with_text_basis(evidence: Evidence, layer: ExtractedLayer) -> Evidence:
    if evidence.document is not None or not evidence.triples:
        return evidence
    ends = {end for subject, _, value in evidence.triples for end in (subject, value)}
    rests = {(subject, value): predicate for subject, predicate, value in evidence.triples}
    quotes = []
    for each in layer.about(ends, ()):
        predicate = rests.get((each.subject_key, each.object_key or each.object), "")
        if predicate and (predicate.startswith(EXTRACTED_NAMESPACE) or predicate == each.relation_key):
            quotes.append(f"“{each.claim.text}” ({each.claim.document} {each.claim.start}-{each.claim.end})")
    if not quotes:
        return evidence
    more = f" and {len(quotes) - SENTENCES} more" if len(quotes) > SENTENCES else ""
    return replace(evidence, basis=f"{evidence.basis}; of texts: {'; '.join(quotes[:SENTENCES])}{more}")
