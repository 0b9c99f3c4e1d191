"""The triples behind SPARQL that a model wrote: text -> CONSTRUCT."""

import re
from collections import Counter
from collections.abc import Collection, Iterator
from typing import Any

from nacre.extensions.foreign_queries.sparql_guard import parse_sparql
from nacre.plans.sparql_vocabulary import format_iri

_PROLOGUE = re.compile(r"(?:\s|#[^\n]*|(?:PREFIX\s*\S*?:|BASE)\s*<[^>]*>)*", re.IGNORECASE)

_TOKEN = re.compile(
    r"""<[^<>"{}|^`\\\s]*>|"{3}.*?"{3}|'{3}.*?'{3}|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|\#[^\n]*|[{}]""", re.DOTALL
)


def model_sparql_provenance(text: str, names: Collection[str], *, solutions: int) -> str | None:
    """A CONSTRUCT of the triples behind the rows of a SELECT or the truth of an ASK, for so many solutions of its
    pattern, with the `names` of the things in the first selected variable; None if the pattern has no plain triples.

    Triples in OPTIONAL and UNION are included if a variable of their own shows that they matched. Property paths,
    negations and blank nodes are left out. Raises ToolError for a text that is not SPARQL.
    """
    query = parse_sparql(text)
    triples = list(_certain_triples(query))
    group = _group(text)
    if not triples or group is None:
        return None
    start = _PROLOGUE.match(text)
    prologue = text[: start.end()] if start else ""
    inner = [group] if query.name == "AskQuery" else [f"{{ {text[len(prologue) :]}\n}}", group]
    subjects = {subject for subject, _, _ in triples}
    shown = next((name for name in query.PV or () if name in subjects), None)
    template = [f"  {' '.join(term.n3() for term in triple)} ." for triple in triples]
    if shown is not None:
        listed = ", ".join(map(format_iri, names))
        template.append(f"  {shown.n3()} ?nacre_name ?nacre_label .")
        inner.append(f"OPTIONAL {{ {shown.n3()} ?nacre_name ?nacre_label FILTER(?nacre_name IN ({listed})) }}")
    lines = "\n".join((*template, "} WHERE {", *inner))
    return f"{prologue}\nCONSTRUCT {{\n{lines}\n}} LIMIT {solutions}"


def _certain_triples(query: Any) -> Iterator[tuple[Any, Any, Any]]:
    """The triples that exist whenever their variables are bound, each once."""
    from rdflib import URIRef
    from rdflib.term import BNode, Variable

    found = list(dict.fromkeys(_triples(query.p, ())))
    # the number of triples with a variable, in all and in each optional part
    everywhere = Counter(term for triple, _ in found for term in {*triple} if isinstance(term, Variable))
    within = Counter(
        (part, term) for triple, parts in found for part in parts for term in {*triple} if isinstance(term, Variable)
    )
    for triple, parts in found:
        plain = isinstance(triple[1], URIRef | Variable) and not any(isinstance(term, BNode) for term in triple)
        if plain and all(any(within[part, t] == everywhere[t] for t in triple if t in everywhere) for part in parts):
            yield triple


def _triples(node: Any, parts: tuple[int, ...]) -> Iterator[tuple[tuple[Any, Any, Any], tuple[int, ...]]]:
    """The triples of a pattern, each with the optional parts that contain it."""
    from rdflib.plugins.sparql.parserutils import CompValue
    from rdflib.term import Variable

    if not isinstance(node, CompValue):
        return
    for triple in node.triples or ():
        yield triple, parts
    if node.name in ("LeftJoin", "Union"):
        yield from _triples(node.p1, (*parts, id(node.p1)) if node.name == "Union" else parts)
        yield from _triples(node.p2, (*parts, id(node.p2)))
    elif node.name == "Minus":
        yield from _triples(node.p1, parts)
    elif node.name == "ToMultiSet":
        # variables that a subquery does not select have no value outside of it
        shown = set(node.p.PV or ()) if isinstance(node.p, CompValue) else set()
        inner = _triples(node.p, parts)
        yield from (each for each in inner if {t for t in each[0] if isinstance(t, Variable)} <= shown)
    else:
        for each in (node.p, node.p1, node.p2):
            yield from _triples(each, parts)


def _group(text: str) -> str | None:
    """The group of a query, in its braces; None if there are several, as with EXISTS in the SELECT clause."""
    depth, start, found = 0, 0, list[str]()
    for token in _TOKEN.finditer(text):
        if token[0] == "{":
            start, depth = (token.start() if depth == 0 else start), depth + 1
        elif token[0] == "}":
            depth -= 1
            found += [text[start : token.end()]] if depth == 0 else []
    return found[0] if len(found) == 1 else None
