"""The tables as a model reads them: Schema -> CREATE statements within a budget; all of them, or those that matter."""

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from agents.answering.trust import content_words
from records.json_form import to_json
from records.schema import Relation, Schema
from records.turn import Understanding

# the CREATE statements of `entity` and these relations, of all where None
Describe = Callable[[Collection[str] | None], str]

CHARACTERS_A_TOKEN = 4
# a column with its comment; only tells that far more columns than fit need not be written to be counted
COLUMN_CHARACTERS = 30


def whole(schema: Schema, tokens: int, describe: Describe) -> str | None:
    """All tables, the same text for every question of a graph version; None where they pass the budget."""
    most = tokens * CHARACTERS_A_TOKEN
    if sum(len(relation.columns) for relation in schema.relations) * COLUMN_CHARACTERS > 2 * most:
        return None
    text = describe(None)
    return text if len(text) <= most else None


def relevant(understanding: Understanding, schema: Schema, tokens: int, describe: Describe) -> str:
    """The tables that a question is about, the most relevant first, within the budget; at least one."""
    chosen: list[str] = []
    text = describe(chosen)
    for relation in _ranked(understanding, schema):
        longer = describe([*chosen, relation.name])
        if chosen and len(longer) > tokens * CHARACTERS_A_TOKEN:
            continue
        chosen.append(relation.name)
        text = longer
    return text


def _ranked(understanding: Understanding, schema: Schema) -> list[Relation]:
    """Relations that what was understood speaks of, then those that share words with the question, then large ones."""
    iris = {i for mention in understanding.mentions for i in (mention.target, mention.predicate)}
    for reading in understanding.readings:
        iris.update(_strings(to_json(reading.plan)))
    asked = content_words(understanding.standalone)
    classes = {each.relation: each for each in schema.classes}
    groups = {each.relation: each for each in schema.groups}
    worth: list[tuple[tuple[int, int, bool, int, str], Relation]] = []
    for relation in schema.relations:
        group, known = groups.get(relation.name), classes.get(relation.name)
        of = set(group.classes) if group else {known.iri} if known else set()
        predicates = {column.predicate for column in relation.columns}
        words = " ".join([relation.name.replace("_", " "), relation.comment, *_labels(predicates, schema)])
        spoken = len((of | predicates) & iris)
        shared = len(content_words(words) & asked)
        if spoken or shared:
            members = group.count if group else known.count if known else 0
            worth.append(((-spoken, -shared, relation.kind == "view", -members, relation.name), relation))
    return [relation for _, relation in sorted(worth, key=lambda each: each[0])]


def _strings(data: Any) -> Iterator[str]:
    if isinstance(data, str):
        yield data
    elif isinstance(data, Mapping | list):
        for each in data.values() if isinstance(data, Mapping) else data:
            yield from _strings(each)


def _labels(predicates: Collection[str], schema: Schema) -> list[str]:
    known = schema.predicate_of
    return [known[iri].label for iri in predicates if iri in known]
