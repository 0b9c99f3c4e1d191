"""SPARQL that a model wrote: text -> BranchResult of the guarded query, with labels for things.

Then the guard: one reading query is accepted and nothing else, and described (QueryShape). The text that runs is
written anew from the tokens that were judged (`query_tokens`), so that the engine cannot read anything else in it.
And the triples behind a query: text -> CONSTRUCT."""

import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rapidfuzz import fuzz, process

from nacre.errors import ToolError
from nacre.extensions.foreign_queries.origins import Origin, check_headings, check_origins
from nacre.extensions.foreign_queries.run_model_sql import query_result
from nacre.extensions.foreign_queries.sparql_origins import sparql_origins
from nacre.extensions.foreign_queries.sql_guard import first_line
from nacre.plans.sparql_engine import LabelLookup, last_segment
from nacre.plans.sparql_vocabulary import Prefixes, Vocabulary, cell_value, format_iri
from nacre.records.evidence import BranchResult, Cell, Query, QueryError, Table
from nacre.records.schema import Schema
from nacre.stores.sparql_source import (
    SparqlSource,
    SparqlTerm,
    Token,
    keywords,
    query_tokens,
    seconds_left,
    write_tokens,
)
from nacre.stores.sqlite.triples import TYPE
from tools.sandbox import LONGEST
from tools.sparql import BRANCH
from tools.sql import failed_query

_UNKNOWN = re.compile(r"There is no (predicate|class) <([^<>]*)>")


@dataclass(frozen=True)
class QueryShape:
    """What a query asks, as far as a guard judges it.

    `form` is SELECT, ASK, CONSTRUCT or DESCRIBE; `has_limit` whether it ends in LIMIT or OFFSET, and `takes_limit`
    whether a LIMIT may be appended; `predicates` and `classes` are the IRIs that its patterns name; `unjoined` are
    variables, one of each group of patterns, if nothing joins the groups; `shown` is where the values come from, and
    `headings` are the variables that are shown.
    """

    form: str
    has_limit: bool
    takes_limit: bool
    patterns: int
    predicates: tuple[str, ...]
    classes: tuple[str, ...]
    unjoined: tuple[str, ...]
    shown: tuple[Origin, ...] = ()
    headings: tuple[str, ...] = ()


InspectQuery = Callable[[str], QueryShape]


def inspect_query(text: str) -> QueryShape:
    """The shape of a query; raises ToolError as `parse_sparql`, and `refused` for GRAPH and FROM."""
    query = parse_sparql(text)
    parts = list(algebra_nodes(query))
    if query.datasetClause or any(part.name == "Graph" for part in parts):
        raise ToolError("refused", "GRAPH and FROM are not allowed: the graph is chosen already.")
    form = _FORMS.get(query.name, query.name)
    triples = [triple for part in parts for triple in node_patterns(part)]
    has_limit = form == "ASK" or (form != "DESCRIBE" and query.p.name == "Slice")
    return QueryShape(
        form,
        has_limit,
        has_limit or _is_query(f"{text}\nLIMIT 1"),
        len(triples),
        tuple(dict.fromkeys(iri for _, predicate, _ in triples for iri in _predicate_iris(predicate))),
        tuple(dict.fromkeys(_class_iris(triples))),
        _unjoined(triples, parts),
        sparql_origins(query),
        tuple(map(str, query.PV or ())) if form == "SELECT" else (),
    )


def run_model_sparql(
    text: str,
    source: SparqlSource,
    schema: Schema,
    prefixes: Prefixes,
    labels: LabelLookup,
    *,
    round: int,
    limit: int = 1000,
    seconds: float = 5.0,
    inspect: InspectQuery = inspect_query,
    numbers: frozenset[float] | None = None,
    portable: Vocabulary | None = None,
    is_plain: bool = False,
) -> BranchResult:
    """The rows of a SELECT or ASK that a model wrote, guarded; IRIs in its cells are shown as labels and kept as keys.

    With the vocabulary `portable` of the data as it was read, the result has the query that gives the same there; if
    the source `is_plain`, which has the data as it was read, this one runs.

    Missing prefixes are declared. An unknown class or property is replaced by the nearest one and the query run once
    more; other errors are the message of `error`, for the model. All queries that were tried are in the result.
    `numbers` are as for `run_model_sql`.
    """

    clock = time.monotonic()

    def run(query: str, words: str = "") -> BranchResult:
        started = time.perf_counter()
        try:
            anywhere = write_out_subclasses(query, portable) if portable else ""
            text = anywhere if is_plain else query
            guarded = guard_sparql(text, schema, limit=limit, inspect=inspect, numbers=numbers)
            # parsing, and a query before the repaired one, count too
            table = _table(guarded, source, labels, limit, seconds_left(clock, seconds))
        except ToolError as error:
            took = time.perf_counter() - started
            return failed_query(error, query, words, round=round, seconds=took, by="model", branch=BRANCH)
        took = time.perf_counter() - started
        return query_result(table, Query(BRANCH, round, guarded.text, words, seconds=took, portable=anywhere))

    declared = prefixes.declare(text)
    first = run(declared)
    if first.error is None or first.error.kind != "unknown_name":
        return first
    repaired, replacement = _with_nearest_name(declared, first.error.message, schema, prefixes)
    if repaired is None:
        return first
    second = run(prefixes.declare(repaired), f"repaired (unknown_name): {replacement}")
    if second.error is not None:
        error = QueryError(second.error.kind, f"{first.error.message} {second.error.message}")
        return replace(second, error=error, queries=(*first.queries, *second.queries))
    return replace(second, queries=(*first.queries, *second.queries))


def _with_nearest_name(query: str, message: str, schema: Schema, prefixes: Prefixes) -> tuple[str | None, str]:
    """The query with the nearest known name instead of the unknown one, and what was replaced."""
    unknown = _UNKNOWN.search(message)
    if unknown is None:
        return None, ""
    kind, wrong = unknown.groups()
    best = nearest_iri(wrong, schema, kind)
    if best is None:
        return None, ""
    replacement = f"{prefixes.short(best)} instead of {prefixes.short(wrong)}"
    for spelt in (f"<{wrong}>", prefixes.short(wrong)):
        pattern = rf"{re.escape(spelt)}(?![\w-])"
        if re.search(pattern, query):
            return re.sub(pattern, lambda _: prefixes.short(best), query), replacement
    return None, ""


@dataclass(frozen=True)
class GuardedQuery:
    """A query that may run: its canonical text with a LIMIT, and its form (SELECT, ASK or CONSTRUCT)."""

    text: str
    form: str


def _table(query: GuardedQuery, source: SparqlSource, labels: LabelLookup, limit: int, seconds: float) -> Table:
    if query.form == "CONSTRUCT":
        raise ToolError("refused", "Write a SELECT or an ASK.")
    if query.form == "ASK":
        return Table(("yes",), ((int(source.ask(query.text, seconds=seconds)),),), ((),), ("",))
    solutions = source.select(query.text, limit=limit, seconds=seconds)
    things = {term.value for row in solutions.rows for term in row if term is not None and term.kind == "iri"}
    named = labels(things) if things else {}

    def shown(term: SparqlTerm | None) -> Cell:
        if term is not None and term.kind == "iri":
            return named.get(term.value) or last_segment(term.value)
        return cell_value(term)

    keys = tuple(
        tuple(dict.fromkeys(t.value for t in row if t is not None and t.kind == "iri")) for row in solutions.rows
    )
    columns = tuple(name.replace("_", " ") for name in solutions.variables)
    rows = tuple(tuple(map(shown, row)) for row in solutions.rows)
    return Table(columns, rows, keys, ("",) * len(columns), truncated=solutions.truncated)


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
    unknown = [("predicate", iri) for iri in shape.predicates if iri not in schema.predicate_of]
    unknown = [(kind, iri) for kind, iri in unknown if not iri.startswith(_COMMON)]
    unknown += [("class", iri) for iri in shape.classes if iri not in schema.class_of]
    for kind, iri in unknown[:1]:
        best = nearest_iri(iri, schema, kind)
        nearest = f" The nearest is <{best}>." if best else ""
        raise ToolError("unknown_name", f"There is no {kind} <{iri}>.{nearest}")


def nearest_iri(iri: str, schema: Schema, kind: str) -> str | None:
    """The class or predicate whose name is most similar to that of an unknown IRI."""
    every = schema.classes if kind == "class" else schema.predicates
    word = iri.replace("#", "/").rpartition("/")[2]
    names = {each.iri: max((each.label, each.iri.replace("#", "/").rpartition("/")[2]), key=len) for each in every}
    best = process.extractOne(word.lower(), {k: v.lower() for k, v in names.items()}, scorer=fuzz.WRatio,
                              score_cutoff=NEAR_SCORE)  # fmt: skip
    return str(best[2]) if best else None


_FORMS = {"SelectQuery": "SELECT", "AskQuery": "ASK", "ConstructQuery": "CONSTRUCT", "DescribeQuery": "DESCRIBE"}

# rdflib's grammar keeps state while it parses, so that two threads break each other's queries
_PARSER = threading.Lock()


def parse_sparql(text: str) -> Any:
    """The algebra of a query, as rdflib has it; raises ToolError `syntax`, `refused` for SERVICE, `too_large`."""
    from rdflib.plugins.sparql.algebra import translateQuery
    from rdflib.plugins.sparql.parser import parseQuery

    try:
        with _PARSER:
            tree = parseQuery(text)
            if any(part.name == "ServiceGraphPattern" for part in algebra_nodes(tree)):
                # rdflib can't translate all of them
                raise ToolError("refused", "SERVICE is not allowed: only this graph can be asked.")
            return translateQuery(tree).algebra
    except ToolError:
        raise
    except RecursionError:
        raise ToolError("too_large", "The query is nested too deep. Write it with fewer levels.") from None
    except Exception as error:  # rdflib raises kinds of its own, and bare ones
        raise ToolError("syntax", f"The query can't be parsed as SPARQL 1.1: {first_line(error)}") from None


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
    """The patterns of one part; inside EXISTS they are still lists of three terms after three terms."""
    for listed in part.triples or ():
        yield from zip(listed[::3], listed[1::3], listed[2::3], strict=True)


def _is_query(text: str) -> bool:
    try:
        parse_sparql(text)
    except ToolError:
        return False
    return True


def _predicate_iris(predicate: Any) -> Iterator[str]:
    """The IRIs of a predicate, of a property path each."""
    from rdflib import URIRef
    from rdflib.paths import Path

    if isinstance(predicate, URIRef):
        yield str(predicate)
    elif isinstance(predicate, Path):
        for inner in (*getattr(predicate, "args", ()), *(getattr(predicate, name, None) for name in ("arg", "path"))):
            yield from _predicate_iris(inner)


def _class_iris(triples: Iterable[tuple[Any, Any, Any]]) -> Iterator[str]:
    from rdflib import URIRef

    for _, predicate, object_ in triples:
        if str(predicate) == TYPE and isinstance(object_, URIRef):
            yield str(object_)


def _unjoined(triples: list[Any], parts: list[Any]) -> tuple[str, ...]:
    """A variable of each group of patterns, if two groups share neither a thing nor a variable nor a comparison."""
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
    separate = [group for group in groups if any(group & terms for terms in of_triples)]
    return tuple(sorted(min(map(str, group)) for group in separate)) if len(separate) > 1 else ()


def _constants(triple: Any) -> set[Any]:
    """The predicate and, of a type, the class: sharing them joins nothing."""
    from rdflib.term import Identifier

    _, predicate, object_ = triple
    # inside EXISTS of a SELECT clause a predicate may be a path that is not translated
    own = {predicate} if isinstance(predicate, Identifier) else set()
    return own | ({object_} if str(predicate) == TYPE else set())


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


def write_out_subclasses(query: str, vocabulary: Vocabulary) -> str:
    """The query with all subclasses of its classes, for a source that does not state superclasses."""
    tokens = query_tokens(query)
    spaces = {f"{t.text}": tokens[i + 1].text[1:-1] for i, t in enumerate(tokens[:-1]) if t.kind == "pname" and i
              and tokens[i - 1].text.upper() == "PREFIX"}  # fmt: skip

    def iri(token: Token) -> str:
        space, colon, local = token.text.partition(":")
        return token.text[1:-1] if token.kind == "iri" else spaces.get(space + colon, "") + local

    texts: list[str | None] = [f"{token.gap}{token.text}" for token in tokens]
    groups: list[int] = []
    for place, token in enumerate(tokens[:-2]):
        groups = [*groups, place] if token.text == "{" else groups[:-1] if token.text == "}" else groups
        verb, class_ = token, tokens[place + 1]
        if not groups or not (verb.text == "a" or iri(verb) == TYPE) or class_.kind not in ("iri", "pname"):
            continue
        members = vocabulary.members(iri(class_)) if iri(class_) in vocabulary.schema.class_of else ()
        if len(members) < 2:
            continue
        kind, listed = f"?kind{place}", " ".join(map(format_iri, members))
        begin = next(i for i in range(place, -1, -1) if _begins_statement(tokens[i - 1], tokens[i]))
        subject = tokens[begin]
        if subject.kind != "variable" or tokens[place + 2].text == ",":
            texts[place + 1] = f" {kind}"
            texts[groups[-1]] = f"{texts[groups[-1]]} VALUES {kind} {{ {listed} }}"
            continue
        inner = f"SELECT DISTINCT {subject.text} {{ VALUES {kind} {{ {listed} }} {subject.text} a {kind} }}"
        texts[groups[-1]] = f"{texts[groups[-1]]} {{ {inner} }}"
        for each in _without_statement([t.text for t in tokens], begin, place):
            texts[each] = None
    return "".join(text for text in texts if text is not None).lstrip()


def _without_statement(texts: Sequence[str], begin: int, verb: int) -> range:
    """What to leave out so that a statement, its verb and one object, goes from the list of its subject."""
    if begin < verb - 1:
        # the last or a middle one of a list, with the semicolon before it
        return range(verb - 1, verb + 2)
    end = verb + 2
    while texts[end] == ";":
        end += 1
    if end > verb + 2 and texts[end] not in (".", "}"):
        return range(verb, end)
    return range(begin, end + (texts[end] == "."))


def _begins_statement(before: Token, token: Token) -> bool:
    """Whether a token begins the triples of a subject after another token."""
    is_word = before.kind == "word" and before.text not in ("a", "true", "false")
    return is_word or (before.text in (".", "{", "}", ")") and token.text not in (";", ","))
