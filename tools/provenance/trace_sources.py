"""Open a citation: Evidence -> the same with the triples it rests on, and its basis in words."""

import logging
from collections.abc import Iterable, Sequence
from dataclasses import replace

from nacre.errors import ToolError
from nacre.language.tokens import fold
from nacre.plans.sql.provenance import MAX_PROVENANCE_THINGS, MAX_PROVENANCE_TRIPLES, trace_provenance
from nacre.records.evidence import Evidence, EvidenceSentence, Query, Rows, Table
from nacre.records.plan import Ask, Combine, Compute, Plan
from nacre.stores.sqlite.tables import Tables
from nacre.stores.sqlite.triples import Triple, TripleReader
from tools.provenance.derived_sources import with_derived_sources
from tools.provenance.entity_ids import is_id, look_up_entities

log = logging.getLogger(__name__)

# for the rows of one table, after the answer was streamed
SECONDS = 2.0
IN_WORDS = "these triples, in words"


def trace_sources(evidence: Evidence, plan: Plan | None, tables: Tables) -> Evidence:
    """The evidence with at most 200 triples and its basis; `plan` is its reading's, None for a query of a model."""
    if evidence.basis:
        # rows and sentences of the branch `triples` have their basis already
        return evidence
    if isinstance(evidence, Rows):
        rows = _trace_rows(evidence, plan, tables)
        return replace(rows, triples=with_derived_sources(rows.triples, tables)[:MAX_PROVENANCE_TRIPLES])
    if evidence.document is not None:
        return replace(evidence, basis="a passage of a text")
    triples = with_derived_sources(_sentence_triples(evidence, TripleReader(tables)), tables)
    return replace(evidence, triples=triples[:MAX_PROVENANCE_TRIPLES], basis=IN_WORDS)


def _trace_rows(rows: Rows, plan: Plan | None, tables: Tables) -> Rows:
    found: Iterable[Triple]
    try:
        if plan is not None:
            found = trace_provenance(plan, rows.table, tables)
        elif rows.query is not None:
            found = _model_query_triples(rows.query, rows.keys, tables)
        else:
            # a comparison combines many facts and has their triples
            stored = TripleReader(tables)
            stated = dict.fromkeys(t for triple in rows.triples for t in _stated_triples(triple, stored))
            return replace(rows, triples=tuple(stated), basis=IN_WORDS)
    except ToolError as error:
        log.warning("a citation could not be traced: %s", error)
        found = ()
    return replace(rows, triples=tuple(found), basis=basis_in_words(rows.table, plan, rows.keys))


def basis_in_words(table: Table, plan: Plan | None, keys: Sequence[str]) -> str:
    """What rows rest on, in words."""
    body = plan.body if plan is not None else None
    count = table.contributing
    some = f", of which {MAX_PROVENANCE_THINGS} are named" if count and count > MAX_PROVENANCE_THINGS else ""
    if isinstance(body, Combine) or (plan is None and not keys):
        return "the query as a whole: its rows come from sets of things combined, not from single ones"
    if count is not None:
        return f"{count} thing{'s' * (count != 1)}{some}"
    if isinstance(body, Ask):
        return "what the query found" if table.rows and table.rows[0][0] else "that the query found nothing"
    if isinstance(body, Compute):
        return "the rows of two queries"
    shown = f", of which {MAX_PROVENANCE_THINGS} are shown" if len(table.rows) > MAX_PROVENANCE_THINGS else ""
    many = f"{len(table.rows)} row{'s' * (len(table.rows) != 1)}{shown}"
    return many if table.rows else "that the query found nothing"


def _model_query_triples(query: Query, keys: Sequence[str], tables: Tables) -> Iterable[Triple]:
    """The triples of the things behind a model's query, for the columns that it uses, with their names; also of the
    other tables whose values it shows."""
    # sqlglot is slow to import, and the rules do without it
    from tools.provenance.row_provenance import used_tables

    triples = TripleReader(tables)
    found: dict[Triple, None] = {}
    for number, used in enumerate(used_tables(query.text, tables.schema)):
        for key in _shown_things(used.shown_ids, tables) if number else keys[:MAX_PROVENANCE_THINGS]:
            name = triples.name_triple(key)
            found.update(dict.fromkeys(t for iri in used.predicates for t in triples.with_subject(key, iri)))
            found.update({name: None} if name else {})
    return list(found)[:MAX_PROVENANCE_TRIPLES]


def _shown_things(query: str, tables: Tables) -> list[str]:
    """The IRIs of the ids in the last column of a query."""
    if not query:
        return []
    try:
        rows = tables.run(query, limit=MAX_PROVENANCE_THINGS, seconds=SECONDS).rows
    except ToolError as error:
        log.warning("the things of a joined table could not be traced: %s", error)
        return []
    ids = dict.fromkeys(row[-1] for row in rows if is_id(row[-1]))
    names = look_up_entities(set(ids), tables)
    return [names[each][0] for each in ids if each in names]


def _sentence_triples(evidence: EvidenceSentence, triples: TripleReader) -> tuple[Triple, ...]:
    """The triples of a sentence as the graph has them: those that it lists, and the names of the things in it."""
    text = _normalised(f"{evidence.title} {evidence.text}")
    found: dict[Triple, None] = {}
    for triple in evidence.triples:
        found.update(dict.fromkeys(_stated_triples(triple, triples)))
    if len(evidence.triples) == 1 and found:
        [(subject, predicate, value)] = evidence.triples
        listed = (
            triples.with_object(value, predicate)
            if value in evidence.keys
            else triples.with_subject(subject, predicate)
        )
        others = ((t, t[0] if value in evidence.keys else t[2]) for t in listed)
        found.update(dict.fromkeys(t for t, end in others if _normalised(triples.label(end) or end) in text))
    ends = dict.fromkeys(end for subject, _, value in found for end in (subject, value))
    for end in ends:
        name = triples.name_triple(end)
        # "Highlight: Parking Assistant" is listed under its kind as "Parking Assistant"
        if name and any(_normalised(part) in text for part in (name[2], name[2].rpartition(": ")[2])):
            found[name] = None
    for key in evidence.keys:
        if evidence.branch != "sql" and not any(
            t[0] == key and _normalised(t[2]) in _normalised(evidence.title) for t in found
        ):
            found.update(dict.fromkeys(_title_triples(key, evidence.title, triples)))
    return tuple(found)[:MAX_PROVENANCE_TRIPLES]


def _stated_triples(triple: Triple, triples: TripleReader) -> list[Triple]:
    """The triple as the data has it; a value may be shown in another form than it was written."""
    if triples.contains(triple):
        return [triple]
    subject, predicate, value = triple
    same = [t for t in triples.with_subject(subject, predicate) if _normalised(t[2]) == _normalised(value)]
    return same or triples.with_subject(subject, predicate)


def _title_triples(key: str, title: str, triples: TripleReader) -> list[Triple]:
    """The link and the name that give an unnamed thing its title ("the engine of X")."""
    for link in triples.with_object(key):
        name = triples.name_triple(link[0])
        if name and _normalised(name[2]) in _normalised(title):
            return [link, name]
    return []


def _normalised(text: str) -> str:
    return " ".join(fold(text).split())
