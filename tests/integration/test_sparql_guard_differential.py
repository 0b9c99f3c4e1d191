"""Whatever text the SPARQL guard accepts: both parsers read the same query, and no other graph or host is asked."""

import subprocess
import sys
from collections import Counter

import pyoxigraph as ox
import rdflib
from hypothesis import given, settings
from hypothesis import strategies as st

from nacre.errors import ToolError
from nacre.records.schema import Class, Predicate, Schema
from tools.guards.sparql_guard import guard_sparql

V = "http://example.org/v#"
SECRET = "secret"
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
# white space, comments and escapes that parsers end or read in ways of their own
GAPS = st.sampled_from(
    [" ", "\n", "\r", "\t", "\r\n", "  ", " # x\n", " #\r", " # ' \n", ' # """ \n', " #<\r\n", " # \\u000A ", "\u0020"]
)
TERMS = st.sampled_from(
    [
        "?s",
        "?o",
        "?x",
        "$s",
        "v:a",
        f"<{V}b>",
        "3",
        "5.0",
        "'a'",
        '"SERVICE <x>"',
        "'''é\n'''@en",
        '"\\u0022"',
        "'\\\\'",
    ]
)
PREDICATES = st.sampled_from(["v:length", "v:name", "v:flows", "v:flows+", "v:flows/v:name", "a", f"<{V}length>", "?p"])
SNIPPETS = st.sampled_from(
    [
        "SERVICE <http://127.0.0.1:9/> { ?a ?b ?c }",
        "GRAPH ?g { ?s ?p ?o }",
        "graph <urn:other> { ?s ?p ?o }",
        "FROM <urn:other>",
        "FILTER(?o > 3)",
        "FILTER(?o != '# }')",
        "OPTIONAL { ?s v:name ?n }",
        "BIND('x' AS ?y)",
        "MINUS { ?s v:length 3 }",
        "}",
        "{",
        "#",
        '"',
        "'''",
        "\\u0022",
        "<",
        ">",
    ]
)


@st.composite
def query_texts(draw: st.DrawFn) -> str:
    """Mostly a query with rows, with a snippet here and there."""
    parts = ["PREFIX", f"v: <{V}>", "SELECT", "?s", "?o", "?x", "?p", "{"]
    for number in range(draw(st.integers(1, 2))):
        parts += ["?s", draw(PREDICATES), draw(TERMS) if number else "?o", "."]
        if draw(st.integers(0, 2)) == 0:
            parts.append(draw(SNIPPETS))
    parts.append("}")
    return "".join(part + draw(GAPS) for part in parts)


def stores() -> tuple[rdflib.Graph, ox.Store]:
    plain, store = rdflib.Graph().parse(data=DATA, format="turtle"), ox.Store()
    for quad in ox.parse(DATA.encode(), ox.RdfFormat.TURTLE):
        store.add(quad)
    other = ox.NamedNode("urn:other")
    store.add(ox.Quad(ox.NamedNode("urn:s"), ox.NamedNode(V + "name"), ox.Literal(SECRET), other))
    return plain, store


PLAIN, STORE = stores()


def shown(term: object) -> str:
    if term is None:
        return ""
    if isinstance(term, ox.NamedNode | rdflib.URIRef):
        return str(term).strip("<>")
    if isinstance(term, ox.Literal):
        return f"{term.value}@{term.language or ''}"
    if isinstance(term, rdflib.Literal):
        return f"{term}@{term.language or ''}"
    return "_"


@settings(max_examples=400)
@given(query_texts())
def test_both_parsers_read_what_the_guard_lets_through_in_one_way(text: str) -> None:
    try:
        guarded = guard_sparql(text, SCHEMA, limit=1000)
    except ToolError:
        return
    found = STORE.query(guarded.text)
    assert isinstance(found, ox.QuerySolutions)
    names = [variable.value for variable in found.variables]
    engine = Counter(tuple(shown(row[name]) for name in sorted(names)) for row in found)
    judged = PLAIN.query(guarded.text)
    columns = sorted(map(str, judged.vars or ()))
    assert columns == sorted(names), guarded.text
    judge = Counter(tuple(shown(row.get(rdflib.Variable(name))) for name in columns) for row in judged.bindings)
    assert engine == judge, guarded.text
    assert not any(SECRET in cell for row in engine for cell in row)


def test_several_first_queries_at_once_are_all_parsed() -> None:
    script = """
import threading
from tools.guards.sparql_shape import inspect_query
wrong = []
def parse(n):
    try:
        inspect_query(f"SELECT (COUNT(?s) AS ?n{n}) {{ ?s ?p ?o FILTER(?o > {n} && regex(str(?s), 'x')) }} ORDER BY ?s")
    except Exception as error:
        wrong.append(error)
threads = [threading.Thread(target=parse, args=(n,)) for n in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(wrong)
"""
    for _ in range(3):
        ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
        assert ran.stdout == "[]\n", ran.stderr
