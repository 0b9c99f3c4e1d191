"""Questions that a graph answers, made from what is central in it and checked by asking them: Graph -> questions."""

import time
from collections.abc import Iterator, Sequence
from itertools import islice
from math import log

from ingestion.vocabulary import EMPTY_TYPES, OWL, SKOS
from nacre.records.answer import Value
from nacre.records.schema import Class, Predicate, Schema
from nacre.records.turn import Rewrite
from nacre.semantics.labels_said import label_of
from nacre.semantics.nouns import is_plural, plural, singular
from nacre.semantics.run_plan import run_plan
from nacre.semantics.understand import understand
from nacre.semantics.words import fold, split_name
from nacre.stores.catalog import Graph
from nacre.stores.schema_sql import quoted

# classes and properties that questions are made of, members that are looked at, and items a list may have
MOST_CLASSES, MOST_PROPERTIES, MOST_MEMBERS, LONGEST_LIST = 6, 4, 500, 30
LONGEST_NAME = 40
# things that questions go on from, and questions that are tried for it
MOST_THINGS, MOST_TRIED = 2, 10
# a property that a class has for at least this share of its members
USUAL = 0.5
# the first probability of a reading that is shown as an example
SURE = 0.5
# what every thing of a vocabulary is, which is no answer to what a graph is about
_FORMAL = EMPTY_TYPES | {SKOS + n for n in ("Concept", "ConceptScheme", "Collection")} | {OWL + "Class"}
# numbers that nobody ranks or averages, and such as are averages themselves
_NO_MEASURE = frozenset(
    "average mean code id key number latitude longitude lat long zip postcode phone year date".split()
)


def examples(graph: Graph, wanted: int = 3) -> list[str]:
    """Up to `wanted` questions of different kinds; each was understood, ran, and gave something, not too much.

    Of an attached graph they are about classes and properties alone and are not run, as each would cost its endpoint.
    """
    found: list[str] = []
    kinds: set[str] = set()
    # of each kind one, and where that is too little, more of a kind
    for again in (False, True):
        for kind, question, least in _drafts(graph):
            if len(found) == wanted:
                return found
            if question not in found and (again or kind not in kinds) and _answers(graph, question, least):
                kinds.add(kind)
                found.append(question)
    return found


def follow_ups(graph: Graph, things: Sequence[str], asked: str, wanted: int = 3, seconds: float = 2.0) -> list[str]:
    """Up to `wanted` questions about these things (IRIs) and their kind, each of which was understood and ran; no
    further one is tried after so many `seconds`."""
    if graph.stored is None:
        return []
    said = fold(asked)
    found: list[str] = []
    kinds: set[str] = set()
    deadline = time.monotonic() + seconds
    for kind, question, least in islice(_onward(graph, things, said), MOST_TRIED):
        if len(found) == wanted or time.monotonic() > deadline:
            break
        if kind not in kinds and fold(question) != said and _answers(graph, question, least):
            kinds.add(kind)
            found.append(question)
    return found


def _onward(graph: Graph, things: Sequence[str], said: str) -> Iterator[tuple[str, str, int]]:
    """As `_drafts`: properties of each thing that were not `said` yet, then where its kind stands."""
    schema = graph.schema
    known = [thing for iri in things if (thing := graph.lexicon.thing(iri)) is not None]
    for thing in known[:MOST_THINGS]:
        classes = next((g.classes for g in schema.groups if g.relation == thing.relation), ())
        own = min((schema.class_of[c] for c in classes if c in schema.class_of), key=lambda c: c.count, default=None)
        if own is None or not _reads_well(own.label) or len(thing.label) > LONGEST_NAME:
            continue
        properties = [p for p in _properties(schema, own) if fold(_noun(p, schema)) not in said]
        for n, p in enumerate(properties[:MOST_PROPERTIES]):
            verb = "are" if is_plural(_noun(p, schema)) else "is"
            yield f"of, {n % 2}", f"What {verb} the {_noun(p, schema)} of {thing.label}?", 1
        for p in [p for p in properties if _is_measure(p)][:MOST_PROPERTIES]:
            yield "most", f"Which {_one(own)} has the highest {_noun(p, schema)}?", 1
            yield "average", f"What is the average {_noun(p, schema)} of the {_many(own)}?", 1
        yield "count", f"How many {_many(own)} are there?", 1


def _drafts(graph: Graph) -> Iterator[tuple[str, str, int]]:
    """Kind, question and the least number of rows of its answer, the most telling first."""
    schema = graph.schema
    central = [(c, _properties(schema, c)) for c in _central(schema)]
    for c, properties in central:
        for p in [p for p in properties if _is_measure(p)][:MOST_PROPERTIES]:
            yield "most", f"Which {_one(c)} has the highest {_noun(p, schema)}?", 1
    for c, properties in central:
        for p in [p for p in properties if p.has_links and 1 < len(p.values) <= LONGEST_LIST][:MOST_PROPERTIES]:
            yield "list", f"Which {_many(c)} have the {_noun(p, schema)} {p.values[0]}?", 2
    for c, properties in central:
        for p in properties[:MOST_PROPERTIES]:
            for name in _names(graph, c, p):
                verb = "are" if is_plural(_noun(p, schema)) else "is"
                yield "lookup", f"What {verb} the {_noun(p, schema)} of {name}?", 1
    for c, properties in central:
        for p in [p for p in properties if _is_measure(p)][:MOST_PROPERTIES]:
            yield "average", f"What is the average {_noun(p, schema)} of the {_many(c)}?", 1
    for c, _ in central:
        yield "list", f"Which {_many(c)} are there?", 2
        yield "count", f"How many {_many(c)} are there?", 1


def _central(schema: Schema) -> list[Class]:
    """The classes that most is said of: many members with many usual properties."""

    def weight(c: Class) -> float:
        return log(1 + c.count) * len(_properties(schema, c))

    named = [c for c in schema.classes if c.count > 1 and c.iri not in _FORMAL and _reads_well(c.label)]
    if SKOS + "Concept" in schema.class_of:
        # the name of a list or a collection is no noun, a plural is the name of its members
        named = [c for c in named if is_plural(c.label)]
    return sorted(named, key=lambda c: (-weight(c), -c.count, c.iri))[:MOST_CLASSES]


def _properties(schema: Schema, c: Class) -> list[Predicate]:
    """What a person would ask of its members, the properties most have first."""
    usual = [p for p in schema.predicates if p.role == "fact" and p.domains.get(c.iri, 0) >= USUAL * c.count]
    said = [p for p in usual if _reads_well(p.label) and label_of(p.iri, schema).kind == "noun"]
    said = [p for p in said if not p.iri.startswith(SKOS)]
    return sorted(said, key=lambda p: (-p.domains[c.iri], p.iri))


def _is_measure(p: Predicate) -> bool:
    words = set(split_name(p.label).split())
    return (
        p.minimum is not None
        and p.minimum != p.maximum
        and p.datatype in ("integer", "real")
        and not words & _NO_MEASURE
        and not is_plural(p.label)
    )


def _reads_well(label: str) -> bool:
    words = split_name(label).split()
    return 0 < len(words) <= 4 and all(word.isalpha() and len(word) < 16 for word in words)


def _noun(p: Predicate, schema: Schema) -> str:
    return label_of(p.iri, schema).one


def _one(c: Class) -> str:
    return singular(_lower(c.label))


def _many(c: Class) -> str:
    return plural(_lower(c.label))


def _lower(label: str) -> str:
    return " ".join(w if w.isupper() else w.lower() for w in label.split())


def _names(graph: Graph, c: Class, p: Predicate) -> list[str]:
    """Two members that have the property and a name to say, those with short names first."""
    if graph.stored is None:
        return []
    relation = graph.schema.relation_of[c.relation]
    column = next((x for x in relation.columns if x.predicate == p.iri), None)
    if column is None:
        return []
    sql = (
        f"SELECT e.label FROM (SELECT {quoted(relation.key)} AS id FROM {quoted(relation.name)}"
        f" WHERE {quoted(column.value or column.link)} IS NOT NULL LIMIT {MOST_MEMBERS}) r JOIN entity e ON e.id = r.id"
    )
    labels = {str(row[0]) for row in graph.tables.run(sql, limit=MOST_MEMBERS).rows if row[0]}
    said = [text for text in labels if len(text) <= LONGEST_NAME and text[0].isalpha() and "_" not in text]
    return sorted(said, key=lambda text: (len(text), text))[:2]


def _answers(graph: Graph, question: str, least: int) -> bool:
    understood = understand(Rewrite(question), graph.schema, graph.lexicon)
    if not understood.readings:
        return False
    reading = understood.readings[0]
    if reading.covered < 0.99 or (reading.probability or 0.0) < SURE:
        return False
    if graph.stored is None:
        return True
    table, _, _ = run_plan(reading.plan, graph.tables, round=1)
    cells: list[Value] = [] if table is None else [row[-1] for row in table.rows if row[-1] is not None]
    return least <= len(cells) <= LONGEST_LIST
