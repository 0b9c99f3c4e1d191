"""Queries in canonical form: no comment, escape or odd white space is left to be read in two ways."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.errors import ToolError
from nacre.stores.sparql_source import MAX_DEPTH, MAX_TOKENS, keywords, query_tokens, write_tokens


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("SELECT*{?s ?p ?o}", "SELECT* { ?s ?p ?o }"),
        ("ask { $s a <http://e.org/A> . }", "ask { ?s a <http://e.org/A> . }"),
        ("ASK { ?s ?p 'it''s' }", 'ASK { ?s ?p "it" "s" }'),
        ('ASK { ?s ?p """a "b"\nc""" }', 'ASK { ?s ?p "a \\"b\\"\\nc" }'),
        ("ASK { ?s ?p 'a\\u0041' }", 'ASK { ?s ?p "aA" }'),
        ("PREFIX a: <http://e.org/#> # FILTER\nASK { ?s a:b.c ?o }", "PREFIX a: <http://e.org/#>\nASK { ?s a:b.c ?o }"),
        ("ASK {\r\n\t?s a <http://e.org/#A> # all\r  . }", "ASK {\n ?s a <http://e.org/#A>\n  . }"),
        ("ASK { ?s ?p 1.5e3, -2, .5 }", "ASK { ?s ?p 1.5e3 , -2 , .5 }"),
        ("ASK { ?s ?p 'x'@en-GB, '1'^^<http://e.org/t> }", 'ASK { ?s ?p "x"@en-GB , "1"^^<http://e.org/t> }'),
        ("ASK { ?s (^a:b/!a:c)*|a:d+ ?o }", "ASK { ?s ( ^ a:b / ! a:c )* | a:d+ ?o }"),
        ("ASK { BIND(concat ('a') AS ?b) }", 'ASK { BIND ( concat( "a" ) AS ?b ) }'),
        ("ASK { FILTER(?a<?b && ?c>=?d) }", "ASK { FILTER ( ?a < ?b && ?c >= ?d ) }"),
    ],
)
def test_one_way_to_write_a_query(text: str, canonical: str) -> None:
    assert write_tokens(query_tokens(text)) == canonical


@pytest.mark.parametrize("end", ["\r", "\n", "\r\n"])
def test_a_comment_ends_at_any_end_of_line(end: str) -> None:
    assert "SERVICE" in keywords(query_tokens(f"SELECT ?z {{ ?s ?p ?o #{end}SERVICE <http://127.0.0.1/> {{}} }}"))


def test_a_quote_that_is_escaped_as_a_code_point_does_not_end_a_string() -> None:
    text = 'ASK { ?s ?p "\\u0022 } SERVICE <http://127.0.0.1/> { ?a ?b \\u0022" }'
    assert keywords(query_tokens(text)) == {"ASK"}


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("ASK { ?s ?p <a> }", "refused"),
        ("ASK { ?s ?p <http://e.org/\\u0041> }", "refused"),
        ("ASK { ?s ?p '\\\\u0041' }", "refused"),
        ("ASK { ?s ?p '\x01' }", "refused"),
        ("ASK { ?s ?p 'a\\x' }", "syntax"),
        ("ASK { ?s ?p 'a\\uD800' }", "syntax"),
        ("ASK { ?s ?p 'a }", "syntax"),
        ("SEL\\u0045CT * {}", "syntax"),
        ("ASK { ?s ?p (" + "1 " * MAX_TOKENS + ") }", "too_large"),
        ("{" * (MAX_DEPTH + 1), "too_large"),
    ],
)
def test_what_parsers_could_read_in_two_ways_is_refused(text: str, kind: str) -> None:
    with pytest.raises(ToolError) as caught:
        query_tokens(text)
    assert caught.value.kind == kind


@given(st.text(alphabet="SELCTservic{}?:<>/#\\\"'u0022\n\r\t .@^!&|=*()[]-_~%é\x00", max_size=80))
def test_the_canonical_form_is_its_own_canonical_form(text: str) -> None:
    try:
        tokens = query_tokens(text)
    except ToolError:
        return
    canonical = write_tokens(tokens)
    assert write_tokens(query_tokens(canonical)) == canonical
