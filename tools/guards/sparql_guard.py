"""Let one reading query through and nothing else: SPARQL text of others -> the text to run, or ToolError."""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from rapidfuzz import fuzz, process

from nacre.errors import ToolError
from nacre.records.schema import Schema
from nacre.stores.sqlite.triples import TYPE

LONGEST = 10_000
# the parser's time grows fast with the depth of groups
MOST_GROUPS, MOST_PATTERNS = 60, 100
NEAR = 55
_PREFIX = re.compile(r"\bPREFIX\s+[^\s:<>]*:\s*<[^<>\s]*>", re.IGNORECASE)
_FORMS = {"SelectQuery": "SELECT", "AskQuery": "ASK", "ConstructQuery": "CONSTRUCT"}
# what every RDF graph may say, whether its schema lists it or not
_COMMON = ("http://www.w3.org/1999/02/22-rdf-syntax-ns#", "http://www.w3.org/2000/01/rdf-schema#",
           "http://www.w3.org/2004/02/skos/core#", "urn:nacre:")  # fmt: skip


def guard_sparql(text: str, schema: Schema, *, limit: int) -> str:
    """The query, with a LIMIT where a SELECT or CONSTRUCT has none.

    Raises ToolError: `syntax` for what is no SPARQL 1.1 query, `unknown_name` for predicates and classes that the graph
    has not, with the nearest; `too_large` for patterns that nothing joins; `refused` for SERVICE, FROM, GRAPH, DESCRIBE
    and updates. What runs it bounds rows and time besides.
    """
    if len(text) > LONGEST:
        raise ToolError("refused", f"The query has {len(text)} characters; {LONGEST} are the most.")
    if text.count("{") > MOST_GROUPS:
        raise ToolError("too_large", f"The query has more than {MOST_GROUPS} groups. Write it with fewer.")
    query = parse_sparql(text)
    if query.name not in _FORMS:
        form = query.name.removesuffix("Query").upper()
        raise ToolError("refused", f"Only {', '.join(_FORMS.values())} are allowed, not {form}.")
    if query.datasetClause:
        raise ToolError("refused", "FROM is not allowed: the graph is chosen already.")
    parts = list(algebra_nodes(query))
    if any(part.name == "Graph" for part in parts):
        # an attached graph may be one of several in its store
        raise ToolError("refused", "GRAPH is not allowed: the graph is chosen already.")
    triples = [triple for part in parts for triple in node_patterns(part)]
    if len(triples) > MOST_PATTERNS:
        raise ToolError("too_large", f"The query has {len(triples)} patterns; {MOST_PATTERNS} are the most.")
    for _, predicate, object_ in triples:
        _check_names(predicate, object_, schema)
    _check_joined(triples, parts)
    return _limited(text, query, limit)


def query_form(text: str) -> str:
    """Whether a query is a SELECT, an ASK or a CONSTRUCT; raises ToolError as `guard_sparql`.

    >>> query_form("ASK { ?s ?p ?o }")
    'ASK'
    """
    return _FORMS[parse_sparql(text).name]


def parse_sparql(text: str) -> Any:
    """The algebra of a query, as rdflib has it; raises ToolError `syntax`, `refused` for SERVICE, `too_large`."""
    from rdflib.plugins.sparql.algebra import translateQuery
    from rdflib.plugins.sparql.parser import parseQuery

    try:
        # rdflib reads a # in the IRI of a prefix as a comment where more IRIs follow on its line
        tree = parseQuery(_PREFIX.sub(r"\g<0>\n", text))
        if any(part.name == "ServiceGraphPattern" for part in algebra_nodes(tree)):
            # rdflib can't translate all of them
            raise ToolError("refused", "SERVICE is not allowed: only this graph can be asked.")
        return translateQuery(tree).algebra
    except ToolError:
        raise
    except RecursionError:
        raise ToolError("too_large", "The query is nested too deep. Write it with fewer levels.") from None
    except Exception as error:  # rdflib raises kinds of its own, and bare ones
        lines = str(error).strip().splitlines()
        reason = lines[0] if lines else type(error).__name__
        raise ToolError("syntax", f"The query can't be parsed as SPARQL 1.1: {reason}") from None


def algebra_nodes(node: Any) -> Iterator[Any]:
    """All parts of a parsed query, from outside in."""
    from rdflib.plugins.sparql.parserutils import CompValue

    if isinstance(node, CompValue):
        yield node
        for each in node.values():
            yield from algebra_nodes(each)
    elif isinstance(node, Iterable) and not isinstance(node, str):
        for each in node:
            yield from algebra_nodes(each)


def node_patterns(part: Any) -> Iterator[tuple[Any, Any, Any]]:
    """The patterns of one part; those within EXISTS are still lists of so many times three terms."""
    for listed in part.triples or ():
        yield from zip(listed[::3], listed[1::3], listed[2::3], strict=True)


def _check_names(predicate: Any, object_: Any, schema: Schema) -> None:
    from rdflib import URIRef

    for iri in _iris(predicate):
        if iri not in schema.predicate_of and not iri.startswith(_COMMON):
            raise ToolError(
                "unknown_name", f"There is no predicate <{iri}>.{_said(nearest_iri(iri, schema, 'predicate'))}"
            )
    if str(predicate) == TYPE and isinstance(object_, URIRef) and str(object_) not in schema.class_of:
        raise ToolError(
            "unknown_name", f"There is no class <{object_}>.{_said(nearest_iri(str(object_), schema, 'class'))}"
        )


def _iris(predicate: Any) -> Iterator[str]:
    """The predicates of a pattern, those of a property path each."""
    from rdflib import URIRef
    from rdflib.paths import Path

    if isinstance(predicate, URIRef):
        yield str(predicate)
    elif isinstance(predicate, Path):
        for inner in (*getattr(predicate, "args", ()), *(getattr(predicate, name, None) for name in ("arg", "path"))):
            yield from _iris(inner)


def nearest_iri(iri: str, schema: Schema, kind: str) -> str | None:
    """The class or predicate whose name is most like that of an IRI which the graph has not."""
    every = schema.classes if kind == "class" else schema.predicates
    word = iri.replace("#", "/").rpartition("/")[2]
    names = {each.iri: max((each.label, each.iri.replace("#", "/").rpartition("/")[2]), key=len) for each in every}
    best = process.extractOne(word.lower(), {k: v.lower() for k, v in names.items()}, scorer=fuzz.WRatio,
                              score_cutoff=NEAR)  # fmt: skip
    return str(best[2]) if best else None


def _said(best: str | None) -> str:
    return f" The nearest is <{best}>." if best else ""


def _check_joined(triples: list[Any], parts: list[Any]) -> None:
    """Raises ToolError where two patterns share neither a thing nor a variable, nor are compared with each other."""
    from rdflib.term import BNode, Identifier, Variable

    groups: list[set[Any]] = []
    of_triples = [{term for term in triple if isinstance(term, Identifier)} - _constants(triple) for triple in triples]
    shared = list(of_triples)
    for part in parts:
        if part.name in ("Filter", "Extend"):
            shared.append({*_variables(part.expr), *_variables(part.var)})
        elif part.name.startswith("Aggregate_"):
            shared.append({*_variables(part.res), *_variables(part.vars)})
        elif part.name == "values":
            shared += [set(row) for row in part.res]
    for terms in shared:
        if not any(isinstance(term, Variable | BNode) for term in terms):
            continue
        touching = [group for group in groups if group & terms]
        groups = [group for group in groups if not group & terms] + [set(terms).union(*touching)]
    # the classes that VALUES lists for a type are no things of their own
    apart = [group for group in groups if any(group & terms for terms in of_triples)]
    if len(apart) > 1:
        names = ", ".join(sorted(f"?{min(map(str, group))}" for group in apart)[:4])
        raise ToolError("too_large", f"Nothing joins the patterns of {names}. Link them by a variable that they share.")


def _constants(triple: Any) -> set[Any]:
    """The predicate and, of a type, the class: to share them joins nothing."""
    _, predicate, object_ = triple
    return {predicate} | ({object_} if str(predicate) == TYPE else set())


def _variables(node: Any) -> Iterator[Any]:
    from rdflib.term import Variable

    if isinstance(node, Variable):
        yield node
    elif isinstance(node, dict):
        for each in node.values():
            yield from _variables(each)
    elif isinstance(node, list | tuple | set):
        for each in node:
            yield from _variables(each)


def _limited(text: str, query: Any, limit: int) -> str:
    if query.name == "AskQuery" or query.p.name == "Slice":
        return text
    limited = f"{text.rstrip()}\nLIMIT {limit}"
    try:
        parse_sparql(limited)
    except ToolError:
        raise ToolError("refused", "End the query in a LIMIT, and put VALUES inside the group.") from None
    return limited
