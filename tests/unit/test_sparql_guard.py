"""SPARQL of others: what only reads this graph goes through, with a LIMIT; the rest is refused, each with its kind."""

import pytest

from benchmarks.inputs.hostile_sparql import bypasses
from nacre.errors import ToolError
from nacre.extensions.foreign_queries.model_sparql import guard_sparql
from nacre.records.schema import Class, Predicate, Schema
from nacre.stores.sparql_source import query_tokens, write_tokens

V = "http://example.org/v#"


def _predicate(name: str) -> Predicate:
    return Predicate(V + name, name, 1, 1, 1, True, True, True, {}, {})


SCHEMA = Schema(
    (Class(V + "River", "River", 3, ""),), (), tuple(map(_predicate, ("length", "flowsThrough"))), (), {}, 9, 5
)
PREFIX = f"PREFIX v: <{V}>\n"


def canonical(text: str) -> str:
    return write_tokens(query_tokens(text))


@pytest.mark.parametrize(
    "text",
    [
        "SELECT ?r { ?r a v:River ; v:length ?l FILTER(?l > 3) }",
        "SELECT (COUNT(*) AS ?n) { ?r v:flowsThrough/v:flowsThrough* ?s OPTIONAL { ?s v:length ?l } }",
        "SELECT ?r { { ?r v:length 1 } UNION { ?r v:length 2 } FILTER NOT EXISTS { ?r a v:River } } ORDER BY ?r",
        "SELECT ?a ?b { ?a v:length ?l . ?b v:length ?m FILTER(?l = ?m) } # nothing follows",
        "SELECT ?a { VALUES (?a ?b) { (v:x v:y) } ?a v:length ?l . ?b v:length ?m }",
        "SELECT ?a { VALUES ?c { v:River } ?a a ?c ; v:length ?l }",
        "SELECT (?n-?m AS ?d) {{ SELECT (SUM(?k) AS ?n) {?a v:length ?k}} { SELECT (MAX(?l) AS ?m) {?b v:length ?l}}}",
        "CONSTRUCT { ?r v:length ?l } WHERE { ?r v:length ?l }",
        'SELECT ?r { ?r v:length "3"^^v:metre , "drei"@de , "three" @en-GB , -3 , +2.5 }',
        'SELECT ?r { ?r v:length ?l FILTER(?l >= "3" ^^ v:metre && ?l < "9"^^<http://example.org/v#metre>) }',
    ],
)
def test_what_reads_goes_through_with_a_limit(text: str) -> None:
    guarded = guard_sparql(PREFIX + text, SCHEMA, limit=7).text
    assert guarded == f"{canonical(PREFIX + text)}\nLIMIT 7"
    assert "nothing follows" not in guarded


@pytest.mark.parametrize("text", ["ASK { ?r v:length 3 }", "SELECT ?r { ?r v:length ?l } LIMIT 2"])
def test_what_is_bounded_stays_as_it_is(text: str) -> None:
    assert guard_sparql(PREFIX + text, SCHEMA, limit=7).text == canonical(PREFIX + text)


@pytest.mark.parametrize(
    ("text", "kind", "told"),
    [
        ("INSERT DATA { v:a v:length 3 }", "syntax", "parsed"),
        ("SELECT ?r { ?r v:length }", "syntax", "parsed"),
        ("SELECT ?r { ?r w:length ?l }", "syntax", "w"),
        ("DESCRIBE v:a", "refused", "DESCRIBE"),
        (
            "SELECT ?r { ?r v:length ?l FILTER EXISTS { SERVICE v:e { ?r ?p ?o } } }",
            "refused",
            "SERVICE",
        ),
        *bypasses("v:length").values(),
        ("SELECT ?r { ?r v:lengths ?l }", "unknown_name", V + "length"),
        ("SELECT ?r { ?r v:length|^v:flows ?l }", "unknown_name", V + "flowsThrough"),
        ("SELECT ?r { ?r a v:Rivers }", "unknown_name", V + "River"),
        ("SELECT ?a ?b { ?a v:length ?l . ?b v:length ?m }", "too_large", "joins"),
        ("SELECT ?a ?b { ?a a v:River . ?b a v:River }", "too_large", "joins"),
        ("SELECT ?a ?b { ?a a ?c . ?b a ?c }", "too_large", "joins"),
        ("SELECT ?a { ?a v:length ?l } VALUES ?a { v:x }", "refused", "VALUES"),
        ("SELECT ?a " + "{" * 50 + " ?a v:length ?l " + "}" * 50, "too_large", "nested"),
        ("SELECT ?a { ?a v:length ?l } #" + "x" * 10_000, "refused", "characters"),
    ],
)
def test_the_rest_is_refused(text: str, kind: str, told: str) -> None:
    with pytest.raises(ToolError) as refused:
        guard_sparql(PREFIX + text, SCHEMA, limit=7)
    assert refused.value.kind == kind, refused.value
    assert told in str(refused.value)
