"""The nodes of the schema graph: Schema + counts of a Lexicon -> SchemaNodes, one a class or combination of classes."""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from nacre.language.tokens import lemma, split_name
from nacre.records.schema import Class, Schema
from nacre.stores.sqlite.lexicon import Lexicon

# The part of an IRI after its namespace.
_LOCAL_NAME = re.compile(r"[^#/]*$")


@dataclass(frozen=True)
class SchemaNode:
    """A class, or a group: the things that have one combination of classes.

    `words` are the lemmas of the label, `relations` the tables of its things, `variable` the name of such a thing in a
    plan. `named` says that its things have names, and not only codes. A union has things of the classes `any_of`.
    """

    index: int
    label: str
    classes: tuple[str, ...]
    without: tuple[str, ...]
    relations: frozenset[str]
    count: int
    words: tuple[str, ...]
    named: bool
    variable: str
    any_of: tuple[str, ...] = ()


def build_nodes(lexicon: Lexicon) -> tuple[tuple[SchemaNode, ...], Mapping[str, int]]:
    """The nodes of classes, then those of groups that are no class; and the node of each class."""
    schema = lexicon.schema
    relations, named = _relations_of_classes(lexicon), _named_relations(lexicon)
    same = _equivalent_classes(schema, relations)
    classes = [c for c in schema.classes if c.count and relations[c.iri] and c.iri not in same]
    class_nodes = [
        schema_node(i, c.label, (c.iri,), (), relations[c.iri], c.count, bool(relations[c.iri] & named))
        for i, c in enumerate(classes)
    ]
    node_of_class = {c.iri: i for i, c in enumerate(classes)}
    node_of_class |= {wide: node_of_class[narrow] for wide, narrow in same.items()}
    single = {n.relations for n in class_nodes}
    groups = [g for g in schema.groups if frozenset((g.relation,)) not in single]
    group_nodes = [
        schema_node(i, g.label, g.classes, g.without, frozenset((g.relation,)), g.count, g.relation in named)
        for i, g in enumerate(groups, len(class_nodes))
    ]
    return (*class_nodes, *group_nodes), node_of_class


def schema_node(
    index: int,
    label: str,
    classes: tuple[str, ...],
    without: tuple[str, ...],
    relations: frozenset[str],
    count: int,
    named: bool,
) -> SchemaNode:
    """A node with the words and the variable that its label gives."""
    words = tuple(lemma(w) for w in split_name(label).split())
    variable = re.sub(r"\W+", "_", label.casefold()).strip("_") or "thing"
    return SchemaNode(index, label, classes, without, relations, count, words, named, variable)


def _relations_of_classes(lexicon: Lexicon) -> Mapping[str, frozenset[str]]:
    """The tables of the things of each class."""
    schema, rare = lexicon.schema, _rare_relations(lexicon)
    groups = schema.groups_of_class
    return {c.iri: groups.get(c.iri, frozenset()) | rare.get(c.iri, frozenset()) for c in schema.classes}


def _rare_relations(lexicon: Lexicon) -> Mapping[str, frozenset[str]]:
    """For each class and superclass the views of things whose combination of types is too rare for a group."""
    schema = lexicon.schema
    ungrouped = {home.relation for home in lexicon.table_counts} - {group.relation for group in schema.groups}
    found: dict[str, set[str]] = defaultdict(set)
    for c in schema.classes:
        waiting = [c.iri] if c.relation in ungrouped else []
        while waiting:
            iri = waiting.pop()
            if iri in schema.class_of and c.relation not in found[iri]:
                found[iri].add(c.relation)
                waiting += schema.class_of[iri].parents
    return {iri: frozenset(relations) for iri, relations in found.items()}


def _named_relations(lexicon: Lexicon) -> frozenset[str]:
    """The tables, and views, most of whose things have a name other than a code at the end of their IRI."""
    naming = {p.iri for p in lexicon.schema.predicates if p.role == "name"}
    names = {relation: n for (relation, predicate), n in lexicon.facts.items() if predicate in naming}
    coded = {h.relation for h in lexicon.table_counts if h.coded > h.things / 2 > names.get(h.relation, 0)}
    tables = {*(home.relation for home in lexicon.table_counts), *(group.relation for group in lexicon.schema.groups)}
    return frozenset(tables - coded)


def _equivalent_classes(schema: Schema, relations: Mapping[str, frozenset[str]]) -> Mapping[str, str]:
    """Classes with exactly the things of another one, and that class: persons, if all are employees.

    It is one that a semantic layer derives or names, else the most specific one.
    """
    counts = {group.relation: group.count for group in schema.groups}
    alike: dict[frozenset[str], list[Class]] = defaultdict(list)
    for c in schema.classes:
        if c.count and c.count == sum(counts.get(r, 0) for r in relations[c.iri]):
            alike[relations[c.iri]].append(c)
    vocabulary_size = Counter(_namespace(c.iri) for c in schema.classes)
    found: dict[str, str] = {}
    for classes in alike.values():
        # The most specific class; among several, one of the vocabulary with most classes in the graph.
        first, *others = sorted(
            classes,
            key=lambda c: (
                not c.pattern,
                not c.is_named,
                -len(schema.with_parents((c.iri,))),
                -vocabulary_size[_namespace(c.iri)],
            ),
        )
        found |= {other.iri: first.iri for other in others}
    return found


def _namespace(iri: str) -> str:
    return _LOCAL_NAME.sub("", iri)
