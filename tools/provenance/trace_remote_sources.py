"""Open a citation of an attached graph: Evidence -> the same with its triples, fetched from the endpoint."""

import logging
from collections.abc import Collection
from dataclasses import replace

from nacre.errors import ToolError
from nacre.plans.sparql.provenance import provenance_query
from nacre.plans.sparql.terms import cell_value
from nacre.plans.sparql.vocabulary import Vocabulary
from nacre.plans.sql.provenance import MAX_PROVENANCE_THINGS, MAX_PROVENANCE_TRIPLES
from nacre.records.evidence import Evidence, Rows
from nacre.records.plan import Ask, Body, Compute, Plan, Select
from nacre.stores.sparql.sparql_source import SparqlSource, SparqlTerm
from nacre.stores.sqlite.triples import TYPE, Triple
from tools.provenance.model_sparql import model_sparql_provenance
from tools.provenance.trace_sources import IN_WORDS, basis_in_words

log = logging.getLogger(__name__)

PATTERN = "triples that the query's pattern finds"
# for each query of triples, after the answer was streamed
SECONDS = 3.0


def trace_remote_sources(
    evidence: Evidence, plan: Plan | None, source: SparqlSource, words: Vocabulary, names: Collection[str]
) -> Evidence:
    """The evidence with at most 200 triples about at most 50 things, by one CONSTRUCT for each select of the plan, or
    for the query that a model wrote."""
    if not isinstance(evidence, Rows):
        return replace(evidence, basis=IN_WORDS)
    if plan is None and evidence.query is not None:
        return trace_model_sparql(evidence, source, names)
    body = plan.body if plan is not None else None
    keys = tuple(dict.fromkeys(key for row in evidence.table.keys[:MAX_PROVENANCE_THINGS] for key in row))[
        : 4 * MAX_PROVENANCE_THINGS
    ]
    found: dict[Triple, None] = {}
    try:
        for select in _selects(body):
            own = () if isinstance(body, Compute) else keys
            query = provenance_query(select, own, words, names, things=MAX_PROVENANCE_THINGS)
            triples = source.construct(query, limit=MAX_PROVENANCE_TRIPLES - len(found), seconds=SECONDS)
            found.update(dict.fromkeys(sorted((_term_text(s), p.value, _term_text(o)) for s, p, o in triples)))
    except ToolError as error:
        log.warning("a citation could not be traced: %s", error)
    # the triples name the things that a number counts
    things = evidence.keys or tuple(dict.fromkeys(s for s, p, _ in found if p == TYPE))
    return replace(evidence, keys=things, triples=tuple(found), basis=basis_in_words(evidence.table, plan, things))


def trace_model_sparql(rows: Rows, source: SparqlSource, names: Collection[str]) -> Rows:
    """Rows of SPARQL that a model wrote, with at most 200 of the triples that 50 solutions of its pattern rest on."""
    found: list[Triple] = []
    try:
        query = (
            model_sparql_provenance(rows.query.text, names, solutions=MAX_PROVENANCE_THINGS)
            if rows.query is not None
            else None
        )
        triples = source.construct(query, limit=MAX_PROVENANCE_TRIPLES, seconds=SECONDS) if query is not None else []
        found = sorted({(_term_text(s), p.value, _term_text(o)) for s, p, o in triples})
    except ToolError as error:
        log.warning("a citation could not be traced: %s", error)
    basis = PATTERN if found and not rows.keys else basis_in_words(rows.table, None, rows.keys)
    return replace(rows, triples=tuple(found), basis=basis)


def _selects(body: Body | None) -> list[Select]:
    """The selects whose rows can be traced to things; combined sets can't."""
    if isinstance(body, Select):
        return [body]
    if isinstance(body, Ask):
        return [body.select]
    return [body.left, body.right] if isinstance(body, Compute) else []


def _term_text(term: SparqlTerm) -> str:
    return f"_:{term.value}" if term.kind == "blank" else str(cell_value(term)) if term.kind == "iri" else term.value
