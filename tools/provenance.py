"""Open a citation: Evidence -> the same with the triples it rests on, and its basis in words. A path is followed from
thing to value; of a pattern or rule the triples of the thing that the pattern reads are cited."""

import logging
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from functools import cache
from itertools import islice
from typing import TypeGuard
from urllib.parse import quote, unquote

from nacre.errors import ToolError
from nacre.extension import service
from nacre.language.tokens import fold, spelling
from nacre.plans.property_path import PathTriples, parse_path
from nacre.plans.sparql_engine import provenance_query
from nacre.plans.sparql_vocabulary import Vocabulary, cell_value, path_of
from nacre.plans.to_sql import MAX_PROVENANCE_THINGS, MAX_PROVENANCE_TRIPLES, trace_provenance
from nacre.records.evidence import EXTRACTED_NAMESPACE, Evidence, EvidenceSentence, Query, Rows, Table
from nacre.records.plan import Ask, Body, Combine, Compute, Plan, Select
from nacre.records.schema import REIFIES, Schema
from nacre.stores.sparql_source import SparqlSource, SparqlTerm, query_tokens
from nacre.stores.sqlite.tables import ROW_BASE, SqlResult, Tables
from nacre.stores.sqlite.triples import TYPE, StatedTriples, Triple, TripleReader

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
    """The triples behind a model's query, for its columns, with names; also of other tables whose values it shows."""
    triples = TripleReader(tables)
    found: dict[Triple, None] = {}
    for number, used in enumerate(service("foreign_queries", "used_tables")(query.text, tables.schema)):
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
        is_end = value in evidence.keys
        listed = triples.with_object(value, predicate) if is_end else triples.with_subject(subject, predicate)
        others = ((t, t[0] if is_end else t[2]) for t in listed)
        found.update(dict.fromkeys(t for t, end in others if _normalised(triples.label(end) or end) in text))
    ends = dict.fromkeys(end for subject, _, value in found for end in (subject, value))
    triples.prepare(ends)
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


# that two terms are one
SAME_AS = tuple(f"http://www.w3.org/2002/07/owl#{name}" for name in ("sameAs", "equivalentClass"))

PATTERN = "triples that the query's pattern finds"

# for each query of triples, after the answer was streamed
ENDPOINT_TRACE_SECONDS = 3.0


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
            triples = source.construct(query, limit=MAX_PROVENANCE_TRIPLES - len(found), seconds=ENDPOINT_TRACE_SECONDS)
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
            service("foreign_queries", "sparql_provenance")(rows.query.text, names, solutions=MAX_PROVENANCE_THINGS)
            if rows.query is not None
            else None
        )
        triples = (
            source.construct(query, limit=MAX_PROVENANCE_TRIPLES, seconds=ENDPOINT_TRACE_SECONDS)
            if query is not None
            else []
        )
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


# triples that one derived value is cited with
MAX_SOURCES = 20


def with_derived_sources(triples: Sequence[Triple], tables: Tables) -> tuple[Triple, ...]:
    """The triples, with those of a layer or a rule replaced by the triples of the graph that they come from."""
    schema, shown, stated = tables.schema, TripleReader(tables), StatedTriples(tables)
    found: dict[Triple, None] = {}

    @cache
    def near(term: str) -> Sequence[Triple]:
        # what leads from a term to others, and what says that others are the same
        return (*stated.beside_tables(term), *(t for t in stated.beside_tables(term, "object") if t[1] in SAME_AS))

    for triple in triples:
        if _patterns(triple, schema):
            found |= dict.fromkeys(_sources(triple, schema, stated) or (triple,))
        elif tables.has_triples and not triple[1].startswith(EXTRACTED_NAMESPACE) and shown.is_derived(triple):
            is_over = near.cache_info().currsize > MAX_TERMS
            found |= dict.fromkeys(() if is_over else _basis(triple, shown, stated, near))
        else:
            found[triple] = None
    return tuple(found)


MAX_STEPS = 200  # terms that are visited from one end of a derived triple to the other
MAX_TERMS = 2000  # terms that are visited for one citation


def _basis(
    triple: Triple, shown: TripleReader, stated: StatedTriples, near: Callable[[str], Sequence[Triple]]
) -> Sequence[Triple]:
    """The shortest way of stated triples between the ends of a derived one, else what is stated near its subject."""
    subject, predicate, value = triple
    # a link that an inverse implies
    for link in shown.with_object(subject):
        if link[0] == value and not shown.is_derived(link):
            return (link,)
    before: dict[str, tuple[Triple, ...]] = {spelling(subject): ()}
    queue = _spellings(subject)
    for term in islice(queue, MAX_STEPS):
        own = [t for t in shown.with_subject(term, predicate) if not shown.is_derived(t)]
        for step in (*near(term), *own):
            end = step[2] if step[0] == term else step[0]
            if spelling(end) == spelling(value):
                return (*before[spelling(term)], step)
            if ":" in end and " " not in end and spelling(end) not in before:
                before[spelling(end)] = (*before[spelling(term)], step)
                queue.append(end)
    said = [t for t in stated.beside_tables(value, "object") if re.split("[/#]", t[1])[-1] == predicate.split("/")[-1]]
    for remark in said:
        # what is said of a statement about the subject
        for claim in stated.with_subject(remark[0], REIFIES):
            if f"<{subject}>" in claim[2]:
                return remark, claim
    beside = [t for t in near(subject) if t[1] == predicate]
    return (*beside, *(t for each in beside for t in near(each[2])))[:MAX_SOURCES]


def _spellings(iri: str) -> list[str]:
    """The spellings of an IRI that an ingest reads as one."""
    plain = iri.removesuffix("/").removeprefix("http://").removeprefix("https://")
    forms = dict.fromkeys((plain, unquote(plain), quote(unquote(plain), safe="/:?#[]@!$&'()*+,;=~")))
    schemes = ("http://", "https://") if iri.startswith("http") else ("",)
    return list(dict.fromkeys((iri, *(f"{s}{form}{end}" for s in schemes for form in forms for end in ("", "/")))))


def _patterns(triple: Triple, schema: Schema) -> tuple[str, ...]:
    predicate = schema.predicate_of.get(triple[1])
    return predicate.patterns if predicate is not None else ()


def _sources(triple: Triple, schema: Schema, stated: StatedTriples) -> Iterable[Triple]:
    subject, _, value = triple
    for pattern in _patterns(triple, schema):
        condition, path = path_of(pattern) or (pattern, "")
        along = PathTriples(stated.with_subject, stated.with_object)
        # a pattern that is nothing but a path, or has more than that
        is_path = path and not condition
        found = along.between(parse_path(path), subject, value) if is_path else _read_by(pattern, subject, stated)
        if found:
            return found[:MAX_SOURCES]
    return ()


def _read_by(pattern: str, subject: str, stated: StatedTriples) -> Sequence[Triple]:
    """The triples around a thing by the properties of a pattern, two links far."""
    iris = dict.fromkeys(token.text[1:-1] for token in query_tokens(pattern) if token.kind == "iri")
    own = [triple for iri in iris for triple in (*stated.with_subject(subject, iri), *stated.with_object(subject, iri))]
    behind = [
        triple
        for near in own[:MAX_SOURCES]
        for end in {near[0], near[2]} - {subject}
        for iri in iris
        for triple in stated.with_subject(end, iri)
    ]
    return tuple(dict.fromkeys((*own, *behind)))


SMALLEST_ID = 2**31

# of an ingested graph, or the IRI of a row of an attached database
EntityId = int | str


def is_id(cell: object) -> TypeGuard[EntityId]:
    """Whether a cell is an id: ids are 63-bit hashes, smaller numbers are counts and measures."""
    if isinstance(cell, str):
        return cell.startswith(ROW_BASE)
    return isinstance(cell, int) and not isinstance(cell, bool) and cell >= SMALLEST_ID


def look_up_entities(ids: Collection[EntityId], tables: Tables) -> dict[EntityId, tuple[str, str]]:
    """IRI and label of those ids that are entities."""
    labels = tables.row_labels(each for each in ids if isinstance(each, str))
    if labels is not None:
        return {iri: (iri, label) for iri, label in labels.items()}
    found: dict[EntityId, tuple[str, str]] = {}
    wanted = sorted(ids, key=str)
    for start in range(0, len(wanted), 400):
        part: Sequence[EntityId] = wanted[start : start + 400]
        marks = ",".join("?" * len(part))
        rows: SqlResult = tables.run(f"SELECT id, iri, label FROM entity WHERE id IN ({marks})", part)
        found.update({row[0]: (str(row[1]), str(row[2] or row[1])) for row in rows.rows if is_id(row[0])})
    return found
