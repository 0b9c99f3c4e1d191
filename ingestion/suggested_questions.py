"""Draft questions from the schema of a graph, not yet checked: Graph -> drafts."""

import re
from collections.abc import Iterator
from math import log
from typing import NamedTuple

import simplemma

from ingestion.vocabulary import EMPTY_TYPES, OWL, SKOS
from nacre.language.base import word_list
from nacre.language.booleans import is_boolean_predicate
from nacre.language.forms.nouns import is_plural, plural, singular
from nacre.language.tokens import split_name
from nacre.records.schema import Class, Predicate, Schema
from nacre.stores.catalog import Graph
from nacre.stores.sqlite.identifiers import quote_if_needed
from nacre.wording.labels.predicate_labels import predicate_label
from nacre.wording.labels.value_kinds import is_amount

# maximum number of classes, of properties, of examined members, and of items in a list
MOST_CLASSES, MOST_PROPERTIES, MOST_MEMBERS, LONGEST_LIST = 6, 4, 500, 30
MAX_SPOKEN_NAME = 40
# maximum number of values and members that are tried for a question
MAX_TRIED = 2
# maximum number of things in first place; minimum number of members for a ranking
MOST_FIRST, LEAST_RANKED = 3, 3
# minimum share of members with a property
MIN_PROPERTY_SHARE = 0.5
# minimum share of members with distinctive names
MIN_NAMED_SHARE = 0.8
# classes of vocabularies, which do not say what a graph is about
_FORMAL = EMPTY_TYPES | {SKOS + n for n in ("Concept", "ConceptScheme", "Collection")} | {OWL + "Class"}
_SLUG = re.compile(r"[^\W_A-Z]+([-_][^\W_A-Z]+)+")
_LAST = re.compile(r"(?:(?<![\W_])[\W_]++|(?<![\W_\d]))\d++$")
# three letters, not all of them capitals
_WORD = re.compile(r"(?=.*[^\W\d_]{3})(?=.*[^\W\dA-Z_])[^\W_].*")

# marks of codes, lists and addresses
_NO_NAME = ("_", ",", "://", "@")


class QuestionDraft(NamedTuple):
    """A question, its kind, and the minimum and maximum of a useful answer: of the number for a count, else of rows."""

    kind: str
    question: str
    least: int = 1
    most: int = LONGEST_LIST


def draft_questions(graph: Graph) -> Iterator[QuestionDraft]:
    """Questions about the central classes, the most useful kinds first."""
    schema = graph.schema
    central = [(c, question_properties(schema, c), has_named_members(graph, c)) for c in _central(graph)]
    named = [(c, usual) for c, usual, named in central if named]
    for c, usual in named:
        for p in measure_properties(schema, c, usual):
            yield QuestionDraft(
                "most", f"Which {class_singular(c)} has the highest {property_noun(p, schema)}?", most=MOST_FIRST
            )
    for c, usual in named:
        for words in condition_phrases(schema, usual):
            yield QuestionDraft("list", f"Which {class_plural(c)} have {words}?", 2, min(LONGEST_LIST, c.count - 1))
    for c, usual in named:
        for p in usual[:MOST_PROPERTIES]:
            verb = "are" if is_plural(property_noun(p, schema)) else "is"
            for name in _names(graph, c, p):
                yield QuestionDraft("lookup", f"What {verb} the {property_noun(p, schema)} of {name}?", most=MOST_FIRST)
    for c, usual, _ in central:
        for p in measure_properties(schema, c, usual):
            yield QuestionDraft("average", f"What is the average {property_noun(p, schema)} of the {class_plural(c)}?")
    for c, usual, _ in central:
        said = list(condition_phrases(schema, usual))
        # the first one is used by the list question
        for words in said[1:] + said[:1]:
            yield QuestionDraft("count", f"How many {class_plural(c)} have {words}?", 2, c.count - 1)
    for c, _ in named:
        yield QuestionDraft("all", f"Which {class_plural(c)} are there?", LEAST_RANKED)


def question_properties(schema: Schema, c: Class) -> list[Predicate]:
    """The properties of a class that questions ask for: plain labels first, then the most frequent."""
    usual = [
        p
        for p in schema.shown_predicates
        if p.role == "fact" and p.domains.get(c.iri, 0) >= MIN_PROPERTY_SHARE * c.count
    ]
    # labels such as "public" are no nouns
    said = [
        p
        for p in usual
        if reads_well(p.label) and predicate_label(p.iri, schema).kind == "noun" and not is_boolean_predicate(p)
    ]
    said = [
        p
        for p in said
        if not p.iri.startswith(SKOS) and property_noun(p, schema) not in (class_singular(c), class_plural(c))
    ]
    # "the average attendance of X" asks for something else
    said = [p for p in said if not set(property_noun(p, schema).split()) & word_list("wording", "summarised")]
    # verbs such as "began" and "sold" are no nouns
    said = [
        p
        for p in said
        if property_noun(p, schema).split()[-1]
        not in word_list("wording", "intransitive") | word_list("wording", "participles")
    ]
    return sorted(said, key=lambda p: (not _is_plain(property_noun(p, schema)), -p.domains[c.iri], p.iri))


def measure_properties(schema: Schema, c: Class, usual: list[Predicate]) -> list[Predicate]:
    """The first few properties with numbers that can be ranked and averaged."""
    found = [p for p in usual if _is_measure(p, schema)] if c.count >= LEAST_RANKED else []
    return found[:MOST_PROPERTIES]


def has_named_members(graph: Graph, c: Class) -> bool:
    """Whether the members of a class have names: "City Walker", not "row1" or "7"."""
    relation = graph.schema.relation_of.get(c.relation)
    if graph.stored is None or relation is None:
        return True
    sql = (
        f"SELECT e.label FROM (SELECT {quote_if_needed(relation.key)} AS id FROM {quote_if_needed(relation.name)}"
        f" LIMIT {MOST_MEMBERS}) r JOIN entity e ON e.id = r.id"
    )
    labels = [str(row[0]) for row in graph.tables.run(sql, limit=MOST_MEMBERS).rows]
    # the names without their numbers
    said = [text for text in labels if is_name(text) and not _SLUG.fullmatch(text)]
    telling = {text[: end.start()] if (end := _LAST.search(text)) else text for text in said}
    return len(telling) >= MIN_NAMED_SHARE * len(labels)


def is_name(text: str) -> bool:
    """Whether a text is usable as a name in a question.

    >>> is_name("Day Pack 18"), is_name("patient/2"), is_name("http://ex.org/a"), is_name("asian_art_depar")
    (True, False, False, False)
    """
    if len(text) > MAX_SPOKEN_NAME or not _WORD.fullmatch(text) or any(mark in text for mark in _NO_NAME):
        return False
    return " " in text or not text[-1].isdigit()


def reads_well(label: str) -> bool:
    """Whether a label consists of a few words."""
    words = split_name(label).split()
    return 0 < len(words) <= 4 and all(word.isalpha() and 1 < len(word) < 16 for word in words)


def property_noun(p: Predicate, schema: Schema) -> str:
    """The noun for a property in a question."""
    return predicate_label(p.iri, schema).one


def class_singular(c: Class) -> str:
    """The singular noun for a member of a class."""
    return singular(_lower(c.label))


def class_plural(c: Class) -> str:
    """The plural noun for the members of a class."""
    return plural(_lower(c.label))


def _lower(label: str) -> str:
    return " ".join(w if w.isupper() else w.lower() for w in label.split())


def _central(graph: Graph) -> list[Class]:
    """The central classes: many members with many frequent properties."""
    schema = graph.schema

    def weight(c: Class) -> float:
        return log(1 + c.count) * len(question_properties(schema, c))

    found = [c for c in schema.shown_classes if c.count > 1 and c.iri not in _FORMAL and reads_well(c.label)]
    if SKOS + "Concept" in schema.class_of and graph.stored is not None:
        # the name of a list or a collection is not a noun for its members, unless it is a plural
        found = [c for c in found if is_plural(c.label) or graph.lexicon.thing(c.iri) is None]
    return sorted(found, key=lambda c: (-weight(c), -c.count, c.iri))[:MOST_CLASSES]


def _is_measure(p: Predicate, schema: Schema) -> bool:
    words = set(property_noun(p, schema).split())
    return (
        p.minimum is not None
        and p.minimum != p.maximum
        and p.datatype in ("integer", "real")
        and is_amount(p.iri, schema)
        and not words & word_list("wording", "unranked")
        and not is_plural(p.label)
        and _is_plain(property_noun(p, schema))
    )


def _is_plain(label: str) -> bool:
    """Whether a label consists of English words, without additions such as "in dollars"."""
    words = label.lower().split()
    return all(simplemma.is_known(w, lang="en") for w in words) and not (set(words) - {"of"}) & word_list(
        "wording", "prepositions"
    )


def condition_phrases(schema: Schema, usual: list[Predicate]) -> Iterator[str]:
    """Conditions such as "the brand Acme": plain labels only, links before texts."""
    said = [p for p in usual if 1 < len(p.values) <= LONGEST_LIST and not is_plural(property_noun(p, schema))]
    said = [
        p
        for p in said
        if not set(property_noun(p, schema).split())
        & (word_list("wording", "uncounted") | word_list("wording", "joining"))
    ]
    said = [p for p in said if _is_plain(property_noun(p, schema))]
    for p in sorted(said, key=lambda p: not p.has_links)[:MOST_PROPERTIES]:
        for value in [text for text in p.values if is_name(text)][:MAX_TRIED]:
            yield f"the {property_noun(p, schema)} {value}"


def _names(graph: Graph, c: Class, p: Predicate) -> list[str]:
    """Members with the property and a usable name, short names first."""
    if graph.stored is None:
        return []
    relation = graph.schema.relation_of[c.relation]
    column = next((x for x in relation.columns if x.predicate == p.iri), None)
    if column is None:
        return []
    filled = quote_if_needed(column.value or column.link)
    sql = (
        f"SELECT e.label FROM (SELECT {quote_if_needed(relation.key)} AS id FROM {quote_if_needed(relation.name)}"
        f" WHERE {filled} IS NOT NULL LIMIT {MOST_MEMBERS}) r JOIN entity e ON e.id = r.id"
    )
    labels = {str(row[0]) for row in graph.tables.run(sql, limit=MOST_MEMBERS).rows}
    said = [text for text in labels if is_name(text)]
    return sorted(said, key=lambda text: (len(text), text))[:MAX_TRIED]
