"""SPARQL texts of a grammar with odd white space, comments and escapes: nothing -> a strategy of Hypothesis."""

from hypothesis import strategies as st

V = "http://example.org/v#"
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
        # comparisons of different types have results of their own in some engines
        "FILTER(isNumeric(?o) && ?o > 3)",
        "FILTER(str(?o) != '# }')",
        "FILTER(str(?o) IN ('3', '#'))",
        "FILTER NOT EXISTS { ?s v:flows v:b }",
        "{ SELECT ?s { ?s v:length ?l } }",
        "VALUES ?v { 'x' \"#\" }",
        "BIND(CONCAT('a', '# }') AS ?y)",
        "BIND(COALESCE(?x, 'SERVICE') AS ?z)",
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
