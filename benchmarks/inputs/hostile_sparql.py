"""SPARQL that tries to leave its graph or to take all time: names of a graph and an address -> query texts."""

from typing import NamedTuple

LIST_ITEMS = 4900


class Bypass(NamedTuple):
    """A query that must be refused: with this kind of ToolError, and this word in its message."""

    text: str
    kind: str
    word: str


def bypasses(predicate: str, address: str = "http://127.0.0.1:9/") -> dict[str, Bypass]:
    """Queries that ask another host or graph in a way that some parser overlooks, by name; prefixes are up to you."""
    pattern = f"?r {predicate} ?l"
    service = f"SERVICE <{address}> {{ ?a ?b ?c }}"
    return {
        "SERVICE": Bypass(f"SELECT ?r {{ {pattern} . {service} }}", "refused", "SERVICE"),
        "SERVICE after a comment that ends in \\r": Bypass(
            f"SELECT ?r {{ {pattern} #\r{service}\n}} LIMIT 1", "refused", "SERVICE"
        ),
        "GRAPH after a comment that ends in \\r": Bypass(
            f"SELECT ?r {{ {pattern} #\rGRAPH ?g {{ ?a ?b ?c }}\n}}", "refused", "GRAPH"
        ),
        "GRAPH of another graph": Bypass(
            f"SELECT ?r {{ {pattern} GRAPH <urn:other> {{ ?a ?b ?c }} }}", "refused", "GRAPH"
        ),
        "FROM another graph": Bypass(f"SELECT ?r FROM <{address}> {{ {pattern} }}", "refused", "FROM"),
        "SERVICE after an escaped quote": Bypass(
            f'SELECT ?r {{ ?r {predicate} "\\u0022 }} #" {service} }}', "refused", "SERVICE"
        ),
        "SERVICE after a comment with quotes": Bypass(
            f"# PREFIX a:<b> FILTER(?o != '''\nSELECT ?r {{ {pattern} }} {service}", "refused", "SERVICE"
        ),
        "a list of 4,900 items": Bypass(
            f"SELECT ?r {{ ?r {predicate} (" + "1 " * LIST_ITEMS + ") }", "too_large", "tokens"
        ),
        "70 levels": Bypass(f"SELECT ?r {'{' * 70} {pattern} {'}' * 70}", "too_large", "levels"),
    }


def slow_sparql(predicate: str) -> str:
    """A query that the guard accepts and no engine finishes: all paths of any length, twice."""
    anything = f"(!{predicate}|^!{predicate})*"
    return f"SELECT (COUNT(*) AS ?n) {{ ?a {anything} ?b . ?b {anything} ?c }}"
