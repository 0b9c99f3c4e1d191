"""Whatever text guard and engine accept: both parsers read the same query, and no other graph is asked."""

from collections import Counter

import pyoxigraph as ox
import rdflib

from benchmarks.fuzz.run import FuzzResult, run_for
from benchmarks.inputs.sparql_texts import V, query_texts
from nacre.errors import ToolError
from nacre.extensions.foreign_queries.model_sparql import guard_sparql
from nacre.records.schema import Class, Predicate, Schema

SECRET = "secret"
MAX_ROWS = 1000
DATA = f"""
@prefix v: <{V}> .
v:a a v:River ; v:length 3 ; v:name "a \\"b\\" # c" ; v:flows v:b .
v:b a v:River ; v:length 5 ; v:name "SERVICE <x>" ; v:flows v:c .
v:c v:length 8 ; v:name "é\\\\n"@en .
"""
SCHEMA = Schema(
    (Class(V + "River", "River", 3, ""),),
    (),
    tuple(Predicate(V + n, n, 1, 1, 1, True, True, True, {}, {}) for n in ("length", "name", "flows")),
    (),
    {},
    9,
    5,
)


def fuzz_guard(seconds: float, seed: int) -> FuzzResult:
    """Check texts until the time is over."""
    return run_for("SPARQL guard", query_texts(), check_guarded, seconds, seed)


def check_guarded(text: str) -> None:
    """Fails if the engine accepts what the guard makes of a text and a second parser finds other rows for it."""
    try:
        guarded = guard_sparql(text, SCHEMA, limit=MAX_ROWS)
    except ToolError:
        return
    try:
        found = STORE.query(guarded.text)
    except SyntaxError:  # the engine is stricter in a few places, such as a variable that BIND names twice: nothing ran
        return
    assert isinstance(found, ox.QuerySolutions)
    names = [variable.value for variable in found.variables]
    engine = Counter(tuple(_shown(row[name]) for name in sorted(names)) for row in found)
    second = PLAIN.query(guarded.text)
    columns = sorted(map(str, second.vars or ()))
    assert columns == sorted(names), guarded.text
    judge = Counter(tuple(_shown(row.get(rdflib.Variable(name))) for name in columns) for row in second.bindings)
    assert engine == judge, guarded.text
    assert not any(SECRET in cell for row in engine for cell in row), guarded.text


def _stores() -> tuple[rdflib.Graph, ox.Store]:
    plain, store = rdflib.Graph().parse(data=DATA, format="turtle"), ox.Store()
    for quad in ox.parse(DATA.encode(), ox.RdfFormat.TURTLE):
        store.add(quad)
    other = ox.NamedNode("urn:other")
    store.add(ox.Quad(ox.NamedNode("urn:s"), ox.NamedNode(V + "name"), ox.Literal(SECRET), other))
    return plain, store


PLAIN, STORE = _stores()


def _shown(term: object) -> str:
    if term is None:
        return ""
    if isinstance(term, ox.NamedNode | rdflib.URIRef):
        return str(term).strip("<>")
    if isinstance(term, ox.Literal):
        return f"{term.value}@{term.language or ''}"
    if isinstance(term, rdflib.Literal):
        return f"{term}@{term.language or ''}"
    return "_"
