"""Accept one reading query and nothing else: foreign SPARQL text -> the query to run, or ToolError.

The text that runs is written anew from the tokens that were judged (`query_tokens`), so that the engine cannot read
anything else in it.
"""

from collections.abc import Callable
from dataclasses import dataclass

from rapidfuzz import fuzz, process

from nacre.errors import ToolError
from nacre.records.schema import Schema
from nacre.stores.sparql.query_tokens import keywords, query_tokens, write_tokens
from tools.guards.origins import check_headings, check_origins
from tools.guards.sparql_shape import QueryShape, inspect_query

LONGEST = 10_000
MOST_PATTERNS = 100
NEAR_SCORE = 55
ALLOWED_FORMS = ("SELECT", "ASK", "CONSTRUCT")
# namespaces that every RDF graph may use, whether its schema lists their terms or not
_COMMON = ("http://www.w3.org/1999/02/22-rdf-syntax-ns#", "http://www.w3.org/2000/01/rdf-schema#",
           "http://www.w3.org/2004/02/skos/core#", "urn:nacre:")  # fmt: skip
# words that a query must not contain, with the reason
_REFUSED_WORDS = {
    "SERVICE": "SERVICE is not allowed: only this graph can be asked.",
    "FROM": "FROM is not allowed: the graph is chosen already.",
    # an attached graph may be one of several in its store
    "GRAPH": "GRAPH is not allowed: the graph is chosen already.",
}
InspectQuery = Callable[[str], QueryShape]


@dataclass(frozen=True)
class GuardedQuery:
    """A query that may run: its canonical text with a LIMIT, and its form (SELECT, ASK or CONSTRUCT)."""

    text: str
    form: str


def guard_sparql(
    text: str,
    schema: Schema,
    *,
    limit: int,
    inspect: InspectQuery = inspect_query,
    numbers: frozenset[float] | None = None,
) -> GuardedQuery:
    """The query in canonical form, with a LIMIT if a SELECT or CONSTRUCT has none.

    `inspect` parses; pass one that runs in a process for texts of strangers. `numbers` are those of the question, as
    for `run_model_sql`. Raises ToolError: `syntax` for what is no SPARQL 1.1 query, `unknown_name` for predicates and
    classes that the graph does not have, with the nearest; `too_large` for long or deep queries and for patterns that
    nothing joins; `refused` for SERVICE, FROM, GRAPH, DESCRIBE and updates. What runs the query bounds rows and time as
    well.
    """
    if len(text) > LONGEST:
        raise ToolError("refused", f"The query has {len(text)} characters; {LONGEST} are the most.")
    tokens = query_tokens(text)
    for word in keywords(tokens) & _REFUSED_WORDS.keys():
        raise ToolError("refused", _REFUSED_WORDS[word])
    canonical = write_tokens(tokens)
    shape = inspect(canonical)
    if shape.form not in ALLOWED_FORMS:
        raise ToolError("refused", f"Only {', '.join(ALLOWED_FORMS)} are allowed, not {shape.form}.")
    if shape.patterns > MOST_PATTERNS:
        raise ToolError("too_large", f"The query has {shape.patterns} patterns; {MOST_PATTERNS} are the most.")
    _check_names(shape, schema)
    if numbers is not None:
        check_origins(shape.shown, numbers)
        check_headings(shape.headings, shape.predicates, numbers)
    if shape.unjoined:
        names = ", ".join(f"?{name}" for name in shape.unjoined[:4])
        raise ToolError("too_large", f"Nothing joins the patterns of {names}. Link them by a variable that they share.")
    if not shape.takes_limit:
        raise ToolError("refused", "End the query in a LIMIT, and put VALUES inside the group.")
    return GuardedQuery(canonical if shape.has_limit else f"{canonical}\nLIMIT {limit}", shape.form)


def _check_names(shape: QueryShape, schema: Schema) -> None:
    for iri in shape.predicates:
        if iri not in schema.predicate_of and not iri.startswith(_COMMON):
            nearest = _nearest_hint(nearest_iri(iri, schema, "predicate"))
            raise ToolError("unknown_name", f"There is no predicate <{iri}>.{nearest}")
    for iri in shape.classes:
        if iri not in schema.class_of:
            nearest = _nearest_hint(nearest_iri(iri, schema, "class"))
            raise ToolError("unknown_name", f"There is no class <{iri}>.{nearest}")


def nearest_iri(iri: str, schema: Schema, kind: str) -> str | None:
    """The class or predicate whose name is most similar to that of an unknown IRI."""
    every = schema.classes if kind == "class" else schema.predicates
    word = iri.replace("#", "/").rpartition("/")[2]
    names = {each.iri: max((each.label, each.iri.replace("#", "/").rpartition("/")[2]), key=len) for each in every}
    best = process.extractOne(word.lower(), {k: v.lower() for k, v in names.items()}, scorer=fuzz.WRatio,
                              score_cutoff=NEAR_SCORE)  # fmt: skip
    return str(best[2]) if best else None


def _nearest_hint(best: str | None) -> str:
    return f" The nearest is <{best}>." if best else ""
