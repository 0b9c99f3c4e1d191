"""SPARQL in a layer: patterns, paths and CONSTRUCT queries -> the same with full IRIs, checked."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache

from ingestion.layer.entries import Place
from ingestion.layer.format.prefixes import expand_name
from ingestion.vocabulary import LABEL, TYPE, XSD
from nacre.errors import IngestionError, ToolError
from nacre.stores.sparql.query_tokens import Token, keywords, query_tokens, write_tokens

# steps of a path (given: longer ones are mistakes, and each step is a join)
MAX_STEPS = 20
# what a pattern may not do: read elsewhere, or compute what no pattern describes
_REFUSED = frozenset({"SERVICE", "GRAPH", "FROM", "LOAD", "INSERT", "DELETE", "DROP", "CLEAR", "CREATE", "ADD", "MOVE"})
_NOT_IN_PATTERNS = _REFUSED | {"SELECT", "CONSTRUCT", "DESCRIBE", "ASK", "GROUP", "ORDER", "LIMIT", "HAVING"}
_TERMS = frozenset({"variable", "iri", "blank", "string", "number"})


def full_pattern(text: str, prefixes: Mapping[str, str], place: Place) -> str:
    """A pattern or query with full IRIs. Raises IngestionError for what is no SPARQL, and for unknown prefixes."""
    try:
        tokens = query_tokens(text)
    except ToolError as error:
        raise IngestionError(f"{place}: {error}") from None
    return write_tokens([_full(token, prefixes, place) for token in tokens])


def _full(token: Token, prefixes: Mapping[str, str], place: Place) -> Token:
    if token.kind == "word" and token.text == "a":
        return token._replace(kind="iri", text=f"<{TYPE}>")
    if token.kind != "pname":
        return token
    iri = expand_name(token.text, prefixes)
    if not iri:
        raise IngestionError(f"{place}: unknown prefix in '{token.text}'. Add it under 'prefixes'.")
    return token._replace(kind="iri", text=f"<{iri}>")


def full_path(text: str, prefixes: Mapping[str, str], place: Place) -> str:
    """A property path with full IRIs. Raises IngestionError for what is no path."""
    written = full_pattern(text, prefixes, place)
    steps = 0
    for token in query_tokens(written):
        if token.kind == "iri":
            steps += 1
        elif token.kind != "mark" or token.text not in "^/|()?*+":
            raise IngestionError(
                f"{place}: '{token.text}' can't be in a path; a path has properties and ^ / | ( ) ? + *."
            )
    if not 0 < steps <= MAX_STEPS:
        raise IngestionError(f"{place}: a path has 1 to {MAX_STEPS} properties, this one has {steps}.")
    return written


def check_pattern(text: str, variables: Sequence[str], place: Place) -> str:
    """A group pattern without its braces; raises IngestionError if it may not be used or lacks a variable."""
    tokens = query_tokens(text)
    if refused := keywords(tokens) & _NOT_IN_PATTERNS:
        raise IngestionError(f"{place}: {min(refused)} can't be in 'where'. Write a rule, or a plain pattern.")
    names = {token.text[1:] for token in tokens if token.kind == "variable"}
    for name in variables:
        if name not in names:
            raise IngestionError(f"{place}: 'where' lacks the variable ?{name}.")
    _check_engine(f"SELECT * WHERE {{ {text} }}", place)
    return text


def check_rule(text: str, place: Place) -> str:
    """A CONSTRUCT query; raises IngestionError for another one, or one that reads elsewhere."""
    words = keywords(query_tokens(text))
    if "CONSTRUCT" not in words or words & _REFUSED:
        raise IngestionError(f"{place}: a rule is one CONSTRUCT query over the graph alone.")
    _check_engine(text, place)
    return text


def _check_engine(query: str, place: Place) -> None:
    """Parse with the engine that will run it."""
    try:
        _empty_store().query(query)
    except (SyntaxError, ValueError) as error:
        raise IngestionError(f"{place}: {' '.join(str(error).split())[:300]}") from None


@cache
def _empty_store():  # type: ignore[no-untyped-def]
    # pyoxigraph takes 30 ms to import, and most layers have paths only
    import pyoxigraph

    return pyoxigraph.Store()


def may_read_any_predicate(texts: Iterable[str]) -> bool:
    """Whether a predicate of a pattern or query may be a variable; some are taken for one that are not."""
    every = map(query_tokens, texts)
    return any(_may_be_predicate(tokens, i) for tokens in every for i in range(1, len(tokens) - 1))


def iris_of(text: str) -> frozenset[str]:
    """All IRIs in a pattern or query."""
    return frozenset(token.text[1:-1] for token in query_tokens(text) if token.kind == "iri")


def mentioned_iris(text: str) -> frozenset[str]:
    """The IRIs in a pattern or query that a graph has only if it uses their vocabulary: no datatypes, types, labels."""
    return frozenset(iri for iri in iris_of(text) if iri not in (TYPE, LABEL) and not iri.startswith(XSD))


def _may_be_predicate(tokens: Sequence[Token], i: int) -> bool:
    before, token, after = tokens[i - 1 : i + 2]
    if token.kind != "variable" or not (after.kind in _TERMS or after.text in "[("):
        return False
    return before.kind in _TERMS or before.text in "];"
