"""The schema in a prompt: Schema -> CREATE statements of all tables, or of a connected part, within a budget."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

from agents.answering.selection.word_cover import content_words
from agents.models.limits import CHARACTERS_PER_TOKEN
from nacre.language.tokens import split_name
from nacre.records.json_form import to_json
from nacre.records.schema import Relation, Schema
from nacre.records.turn import Understanding
from nacre.stores.sqlite.lexicon import Lexicon, TableLink

# the CREATE statements of `entity` and these relations, of all if None
DescribeTables = Callable[[Collection[str] | None], str]

# characters of a column with its comment: schemas of clearly too many columns are not written out
COLUMN_CHARACTERS = 30
# relevant tables that are shown with the paths between them before others (given)
SEEDS = 8
LONGEST_PATH = 3


def whole_schema(schema: Schema, tokens: int, describe: DescribeTables) -> str | None:
    """All tables, the same text for every question of a graph version; None if they exceed the budget."""
    most = tokens * CHARACTERS_PER_TOKEN
    if sum(len(relation.columns) for relation in schema.relations) * COLUMN_CHARACTERS > 2 * most:
        return None
    text = describe(None)
    return text if len(text) <= most else None


def relevant_tables(
    understanding: Understanding, schema: Schema, lexicon: Lexicon, tokens: int, describe: DescribeTables
) -> str:
    """The part of the schema that a question is about, within the budget; at least one table.

    The order: tables that the question names or is near to, with those on the paths between them; tables that they
    refer to or that refer to them; other tables that share words with the question. A junction follows the second of
    its two tables.
    """
    ranked = _ranked(understanding, schema, lexicon)
    chosen: list[str] = []
    text = describe(chosen)
    order = _connected_order([relation.name for relation in ranked], lexicon.links)
    for name in dict.fromkeys(_with_junctions(order, schema, lexicon.links)):
        longer = describe([*chosen, name])
        if chosen and len(longer) > tokens * CHARACTERS_PER_TOKEN:
            continue
        chosen.append(name)
        text = longer
    return text


def relevant_classes(
    understanding: Understanding, schema: Schema, lexicon: Lexicon, tokens: int, describe: DescribeTables
) -> str:
    """The classes that a question is about with their properties, within the budget; at least one.

    The order: classes that the question names, classes that they link to or that link to them, other classes that share
    words with it.
    """
    iris = {i for mention in understanding.mentions for i in (mention.target, mention.predicate)}
    for reading in understanding.readings:
        iris.update(_strings_in(to_json(reading.plan)))
    asked_words = content_words(understanding.standalone)
    worth: dict[str, int] = {}
    for each in schema.shown_classes:
        own = [p for p in schema.shown_predicates if each.iri in p.domains]
        words = content_words(f"{each.label} {each.comment}")
        labels = content_words(" ".join(p.label for p in own))
        spoken = 2 * (each.iri in iris) + sum(p.iri in iris for p in own)
        worth[each.iri] = 3 * len(words & asked_words) + spoken + len(labels & asked_words - words)
    ranked = [c.iri for c in sorted(schema.shown_classes, key=lambda c: (-worth[c.iri], -c.count, c.iri)) if c.count]
    seeds = [iri for iri in ranked[:SEEDS] if worth[iri]]
    neighbours = [
        other
        for seed in seeds
        for p in schema.predicates
        for near, others in ((p.domains, p.ranges), (p.ranges, p.domains))
        if seed in near
        for other in others
    ]
    chosen: list[str] = []
    text = ""
    for iri in dict.fromkeys([*seeds, *neighbours, *ranked]):
        longer = describe([*chosen, iri])
        if chosen and len(longer) > tokens * CHARACTERS_PER_TOKEN:
            continue
        chosen.append(iri)
        text = longer
    return text


def _connected_order(ranked: Sequence[str], links: Sequence[TableLink]) -> list[str]:
    """The tables in the order in which they are shown."""
    near: dict[str, dict[str, int]] = {}
    for link in links:
        if link.subject and link.object:
            for one, other in ((link.subject, link.object), (link.object, link.subject)):
                neighbours = near.setdefault(one, {})
                neighbours[other] = neighbours.get(other, 0) + link.triples
    seeds = list(ranked[:SEEDS])
    between = [name for one, other in combinations(seeds, 2) for name in _path(one, other, near)]
    referred = [link.object for seed in seeds for link in links if link.subject == seed]
    referring = [link.subject for seed in seeds for link in links if link.object == seed]
    order = [*seeds[:1], *_with_paths(seeds, near), *between, *referred, *referring, *ranked]
    return [name for name in dict.fromkeys(order) if name]


def _with_junctions(order: Sequence[str], schema: Schema, links: Sequence[TableLink]) -> Iterator[str]:
    """The tables, each followed by the junctions between it and those before it."""
    joined: dict[str, list[tuple[str, str]]] = {}
    for link in links:
        if link.predicate in schema.junctions:
            for one, other in ((link.subject, link.object), (link.object, link.subject)):
                joined.setdefault(one, []).append((other, schema.junctions[link.predicate]))
    before: set[str] = set()
    for name in order:
        before.add(name)
        yield name
        yield from (junction for other, junction in joined.get(name, ()) if other in before)


def _with_paths(seeds: Sequence[str], near: Mapping[str, Mapping[str, int]]) -> Iterator[str]:
    """Each further seed, followed by the path to it from the first."""
    for seed in seeds[1:]:
        yield seed
        yield from _path(seeds[0], seed, near)


def _path(one: str, other: str, near: Mapping[str, Mapping[str, int]]) -> list[str]:
    """The tables of a shortest path between two, at most `LONGEST_PATH` links long; of several the most used."""
    paths = {one: [one]}
    for _ in range(LONGEST_PATH):
        further: dict[str, list[str]] = {}
        for end, path in paths.items():
            for following in sorted(near.get(end, ()), key=lambda name: (-near[end][name], name)):
                if following == other:
                    return path[1:]
                if following not in path:
                    further.setdefault(following, [*path, following])
        paths = further
    return []


def _ranked(understanding: Understanding, schema: Schema, lexicon: Lexicon) -> list[Relation]:
    """Relations by relevance: those of linked names and readings, those that share words with the question or are
    near."""
    iris = {i for mention in understanding.mentions for i in (mention.target, mention.predicate)}
    for reading in understanding.readings:
        iris.update(_strings_in(to_json(reading.plan)))
    asked_words = content_words(understanding.standalone)
    classes = {each.relation: each for each in schema.classes}
    groups = {each.relation: each for each in schema.groups}
    homes = {thing.relation for iri in iris if (thing := lexicon.thing(iri))}
    near = _nearness(understanding.standalone, schema, lexicon)
    worth: list[tuple[tuple[float, bool, int, str], Relation]] = []
    for relation in schema.relations:
        if relation.name in schema.hidden_relations:
            continue
        group, known = groups.get(relation.name), classes.get(relation.name)
        of = set(group.classes) if group else {known.iri} if known else set()
        predicates = {column.predicate for column in relation.columns}
        own = content_words(f"{split_name(relation.name)} {relation.comment} {known.label if known else ''}")
        labels = content_words(" ".join(_labels(predicates, schema)))
        # a named table counts more than a table with a named column (given)
        spoken = 3 * len(own & asked_words) + 2 * len(of & iris) + (relation.name in homes) + len(predicates & iris)
        score = spoken + len(labels & asked_words - own) + 2 * near.get(relation.name, 0.0)
        if score > 0:
            members = group.count if group else known.count if known else 0
            worth.append(((-score, relation.kind == "view", -members, relation.name), relation))
    return [relation for _, relation in sorted(worth, key=lambda each: each[0])]


def _nearness(question: str, schema: Schema, lexicon: Lexicon) -> dict[str, float]:
    """The similarity of the question to each class, 0..1 by table; empty without an embedder."""
    if lexicon.embedder is None or not schema.classes:
        return {}
    import numpy as np

    shown = [each for each in schema.classes if each.count]
    texts = [f"{each.label}. {each.comment}"[:200] for each in shown]
    vectors = np.asarray(lexicon.embedder.embed([question, *texts]))
    return {each.relation: max(0.0, float(score)) for each, score in zip(shown, vectors[1:] @ vectors[0], strict=True)}


def _strings_in(data: Any) -> Iterator[str]:
    if isinstance(data, str):
        yield data
    elif isinstance(data, Mapping | list):
        for each in data.values() if isinstance(data, Mapping) else data:
            yield from _strings_in(each)


def _labels(predicates: Collection[str], schema: Schema) -> list[str]:
    known = schema.predicate_of
    return [known[iri].label for iri in predicates if iri in known]
