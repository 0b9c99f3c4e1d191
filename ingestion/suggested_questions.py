"""Questions that a person would ask of a graph, made from its schema and not yet checked: Graph -> drafts."""

import re
from collections.abc import Iterator
from math import log
from typing import NamedTuple

import simplemma

from ingestion.vocabulary import EMPTY_TYPES, OWL, SKOS
from nacre.language.booleans import is_flag
from nacre.language.forms.nouns import is_plural, plural, singular, wording
from nacre.language.tokens import split_name
from nacre.records.schema import Class, Predicate, Schema
from nacre.stores.catalog import Graph
from nacre.stores.sqlite.schema_sql import quoted
from nacre.wording.phrases.predicate_labels import is_amount, label_of

# classes and properties that questions are made of, members that are looked at, and items a list may have
MOST_CLASSES, MOST_PROPERTIES, MOST_MEMBERS, LONGEST_LIST = 6, 4, 500, 30
LONGEST_NAME = 40
# values of a property, and members of a class, that questions are tried with
MOST_TRIED = 2
# things that may share the first place, and members of a class that is worth ranking, at least
MOST_FIRST, LEAST_RANKED = 3, 3
# a property that a class has for at least this share of its members
USUAL = 0.5
# members of a class that are told apart by more than a number, at least
NAMED = 0.8
# what every thing of a vocabulary is, which is no answer to what a graph is about
_FORMAL = EMPTY_TYPES | {SKOS + n for n in ("Concept", "ConceptScheme", "Collection")} | {OWL + "Class"}
_SLUG = re.compile(r"[^\W_A-Z]+([-_][^\W_A-Z]+)+")
_LAST = re.compile(r"[\W_]*\d+$")
# three letters, not all of them capitals
_WORD = re.compile(r"(?=.*[^\W\d_]{3})(?=.*[^\W\dA-Z_])[^\W_].*")

# of codes, lists and addresses
_NO_NAME = ("_", ",", "://", "@")


class Drafted(NamedTuple):
    """A question, its kind, and the least and most that a telling answer has: of a count its number, else rows."""

    kind: str
    question: str
    least: int = 1
    most: int = LONGEST_LIST


def drafts(graph: Graph) -> Iterator[Drafted]:
    """Questions about the central classes, the most telling kinds first."""
    schema = graph.schema
    central = [(c, properties(schema, c), are_named(graph, c)) for c in _central(graph)]
    named = [(c, usual) for c, usual, named in central if named]
    for c, usual in named:
        for p in measures(schema, c, usual):
            yield Drafted("most", f"Which {one(c)} has the highest {noun(p, schema)}?", most=MOST_FIRST)
    for c, usual in named:
        for words in conditions(schema, usual):
            yield Drafted("list", f"Which {many(c)} have {words}?", 2, min(LONGEST_LIST, c.count - 1))
    for c, usual in named:
        for p in usual[:MOST_PROPERTIES]:
            verb = "are" if is_plural(noun(p, schema)) else "is"
            for name in _names(graph, c, p):
                yield Drafted("lookup", f"What {verb} the {noun(p, schema)} of {name}?", most=MOST_FIRST)
    for c, usual, _ in central:
        for p in measures(schema, c, usual):
            yield Drafted("average", f"What is the average {noun(p, schema)} of the {many(c)}?")
    for c, usual, _ in central:
        said = list(conditions(schema, usual))
        # the list has the first of them
        for words in said[1:] + said[:1]:
            yield Drafted("count", f"How many {many(c)} have {words}?", 2, c.count - 1)
    for c, _ in named:
        yield Drafted("all", f"Which {many(c)} are there?", LEAST_RANKED)


def properties(schema: Schema, c: Class) -> list[Predicate]:
    """What a person would ask of the members of a class: of ordinary words, then what most members have."""
    usual = [p for p in schema.predicates if p.role == "fact" and p.domains.get(c.iri, 0) >= USUAL * c.count]
    # nobody asks what the "public" of something is
    said = [p for p in usual if reads_well(p.label) and label_of(p.iri, schema).kind == "noun" and not is_flag(p)]
    said = [p for p in said if not p.iri.startswith(SKOS) and noun(p, schema) not in (one(c), many(c))]
    # "the average attendance of X" asks for something else
    said = [p for p in said if not set(noun(p, schema).split()) & wording("summarised")]
    # "began" and "sold" are no nouns
    said = [p for p in said if noun(p, schema).split()[-1] not in wording("intransitive") | wording("participles")]
    return sorted(said, key=lambda p: (not _is_plain(noun(p, schema)), -p.domains[c.iri], p.iri))


def measures(schema: Schema, c: Class, usual: list[Predicate]) -> list[Predicate]:
    """Properties whose numbers a person ranks or averages, the first few."""
    found = [p for p in usual if _is_measure(p, schema)] if c.count >= LEAST_RANKED else []
    return found[:MOST_PROPERTIES]


def are_named(graph: Graph, c: Class) -> bool:
    """Whether the members of a class have names: "City Walker", not "row1" or "7"."""
    relation = graph.schema.relation_of.get(c.relation)
    if graph.stored is None or relation is None:
        return True
    sql = (
        f"SELECT e.label FROM (SELECT {quoted(relation.key)} AS id FROM {quoted(relation.name)}"
        f" LIMIT {MOST_MEMBERS}) r JOIN entity e ON e.id = r.id"
    )
    labels = [str(row[0]) for row in graph.tables.run(sql, limit=MOST_MEMBERS).rows]
    # what a row is called but for its number
    said = [text for text in labels if is_name(text) and not _SLUG.fullmatch(text)]
    telling = {text[: end.start()] if (end := _LAST.search(text)) else text for text in said}
    return len(telling) >= NAMED * len(labels)


def is_name(text: str) -> bool:
    """Whether a person would say a text as a name in a question.

    >>> is_name("Day Pack 18"), is_name("patient/2"), is_name("http://ex.org/a"), is_name("asian_art_depar")
    (True, False, False, False)
    """
    if len(text) > LONGEST_NAME or not _WORD.fullmatch(text) or any(mark in text for mark in _NO_NAME):
        return False
    return " " in text or not text[-1].isdigit()


def reads_well(label: str) -> bool:
    """Whether a label is a few words."""
    words = split_name(label).split()
    return 0 < len(words) <= 4 and all(word.isalpha() and 1 < len(word) < 16 for word in words)


def noun(p: Predicate, schema: Schema) -> str:
    """What a property is called in a question."""
    return label_of(p.iri, schema).one


def one(c: Class) -> str:
    """What a member of a class is called."""
    return singular(_lower(c.label))


def many(c: Class) -> str:
    """What the members of a class are called."""
    return plural(_lower(c.label))


def _lower(label: str) -> str:
    return " ".join(w if w.isupper() else w.lower() for w in label.split())


def _central(graph: Graph) -> list[Class]:
    """The classes that most is said of: many members with many usual properties."""
    schema = graph.schema

    def weight(c: Class) -> float:
        return log(1 + c.count) * len(properties(schema, c))

    found = [c for c in schema.classes if c.count > 1 and c.iri not in _FORMAL and reads_well(c.label)]
    if SKOS + "Concept" in schema.class_of and graph.stored is not None:
        # the name of a list or a collection is no noun, a plural is the name of its members
        found = [c for c in found if is_plural(c.label) or graph.lexicon.thing(c.iri) is None]
    return sorted(found, key=lambda c: (-weight(c), -c.count, c.iri))[:MOST_CLASSES]


def _is_measure(p: Predicate, schema: Schema) -> bool:
    words = set(noun(p, schema).split())
    return (
        p.minimum is not None
        and p.minimum != p.maximum
        and p.datatype in ("integer", "real")
        and is_amount(p.iri, schema)
        and not words & wording("unranked")
        and not is_plural(p.label)
        and _is_plain(noun(p, schema))
    )


def _is_plain(label: str) -> bool:
    """Whether a label is made of English words, and says nothing beside what it names ("in dollars")."""
    words = label.lower().split()
    return all(simplemma.is_known(w, lang="en") for w in words) and not (set(words) - {"of"}) & wording("prepositions")


def conditions(schema: Schema, usual: list[Predicate]) -> Iterator[str]:
    """As "the brand Acme": of ordinary words, links before texts."""
    said = [p for p in usual if 1 < len(p.values) <= LONGEST_LIST and not is_plural(noun(p, schema))]
    said = [p for p in said if not set(noun(p, schema).split()) & (wording("uncounted") | wording("joining"))]
    said = [p for p in said if _is_plain(noun(p, schema))]
    for p in sorted(said, key=lambda p: not p.has_links)[:MOST_PROPERTIES]:
        for value in [text for text in p.values if is_name(text)][:MOST_TRIED]:
            yield f"the {noun(p, schema)} {value}"


def _names(graph: Graph, c: Class, p: Predicate) -> list[str]:
    """Members that have the property and a name to say, those with short names first."""
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
    labels = {str(row[0]) for row in graph.tables.run(sql, limit=MOST_MEMBERS).rows}
    said = [text for text in labels if is_name(text)]
    return sorted(said, key=lambda text: (len(text), text))[:MOST_TRIED]
