"""Look-ups before SPARQL is written: LookUp + source -> names, values, sample things or properties, as text."""

from rapidfuzz import fuzz, process

from nacre.errors import ToolError
from nacre.language.tokens import tokenize
from nacre.plans.sparql.derived import derived_patterns, write_membership, write_statement
from nacre.plans.sparql.engine import LabelLookup, last_segment
from nacre.plans.sparql.schema import Prefixes, schema_sparql
from nacre.plans.sparql.terms import format_literal
from nacre.records.look_up import LookUp
from nacre.records.schema import Schema
from nacre.stores.sparql.sparql_source import SparqlSource, SparqlTerm
from nacre.stores.sparql.text_search import text_search_pattern

MOST, SAMPLE, FACTS, LONGEST = 10, 3, 60, 60
NEAR_SCORE = 80


def look_up_sparql(
    wanted: LookUp, source: SparqlSource, schema: Schema, prefixes: Prefixes, labels: LabelLookup, *, seconds: float
) -> str:
    """What a look-up finds, as a text of bounded length, or why it finds nothing."""
    if wanted.kind == "passages":
        return "This graph has no passages."
    try:
        if wanted.kind == "values":
            return _values(wanted, source, schema, prefixes, seconds)
        class_iri = _resolve(wanted.table, {c.iri: c.label for c in schema.classes if c.count}, prefixes)
        if class_iri is None:
            return f"There is no class {wanted.table!r}."
        if wanted.kind == "columns":
            return schema_sparql(schema, prefixes, [class_iri])
        return _things(write_membership(schema, class_iri, "?s", "?c"), source, prefixes, labels, seconds)
    except ToolError as error:
        return str(error)


def _resolve(name: str, known: dict[str, str], prefixes: Prefixes) -> str | None:
    """The IRI for a prefixed name or a label."""
    full = prefixes.full(name)
    if full in known:
        return full
    labels = {key: label.lower() for key, label in known.items()}
    best = process.extractOne(name.rpartition(":")[2].lower(), labels, scorer=fuzz.ratio, score_cutoff=NEAR_SCORE)
    return str(best[2]) if best else None


def _values(wanted: LookUp, source: SparqlSource, schema: Schema, prefixes: Prefixes, seconds: float) -> str:
    """Values of a property that contain the text, or names of things that contain its words."""
    text = wanted.text.strip(" %")
    literal = {p.iri: p.label for p in schema.predicates if p.has_literals}
    column = _resolve(wanted.column, literal, prefixes) if wanted.column else None
    if column is not None:
        holds = f" FILTER(CONTAINS(LCASE(STR(?l)), {format_literal(text.lower())}))" if text else ""
        statement = write_statement(schema, column, "?s", "?l", "?v")
        query = f"SELECT DISTINCT ?l {{ {statement} FILTER(isLiteral(?l)){holds} }} LIMIT {MOST + 1}"
        rows = source.select(query, limit=MOST + 1, seconds=seconds).rows
        lines = [f'{prefixes.short(column)}: "{_shown(row[0])}"' for row in rows[:MOST]]
        lines += ["... there are more"] * (len(rows) > MOST)
        return "\n".join(lines) or f"No value of {prefixes.short(column)} is like {text!r}."
    words = [token.norm for token in tokenize(text) if token.norm.isalnum()]
    names = [p.iri for p in schema.predicates if p.role == "name" and not derived_patterns(schema, p.iri)]
    if not words or not names:
        return "Name a property, or words of a name."
    pattern = text_search_pattern("virtuoso" if source.dialect == "virtuoso" else "", names, words, words)
    query = f"SELECT DISTINCT ?s ?l {{ {pattern} }} LIMIT {20 * MOST}"
    rows = source.select(query, limit=20 * MOST, seconds=seconds).rows
    named = [(row[0].value, row[1].value) for row in rows if row[0] and row[1]]
    named.sort(key=lambda each: (-fuzz.ratio(text.lower(), each[1].lower()), each))
    lines = [f'"{label[:LONGEST]}" is the name of {prefixes.short(key)}' for key, label in named[:MOST]]
    lines += [f"... {len(named) - MOST} more match"] * (len(named) > MOST)
    return "\n".join(lines) or f"No name is like {text!r}."


def _things(members: str, source: SparqlSource, prefixes: Prefixes, labels: LabelLookup, seconds: float) -> str:
    sample = f"SELECT ?s {{ {members} }} LIMIT {SAMPLE}"
    query = f"SELECT ?s ?p ?o {{ {{ {sample} }} ?s ?p ?o }} LIMIT {SAMPLE * FACTS}"
    rows = source.select(query, limit=SAMPLE * FACTS, seconds=seconds).rows
    links = {row[2].value for row in rows if row[2] is not None and row[2].kind == "iri"}
    names = labels(links) if links else {}
    lines = [
        f"{prefixes.short(s.value)} {prefixes.short(p.value)} "
        + (f"{names.get(o.value) or last_segment(o.value)}" if o.kind == "iri" else f'"{_shown(o)}"')
        for s, p, o in rows
        if s and p and o
    ]
    return "\n".join(lines) or "It has no things."


def _shown(term: SparqlTerm | None) -> str:
    return "" if term is None else " ".join(term.value.split())[:LONGEST]
