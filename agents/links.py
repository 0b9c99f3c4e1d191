"""What the linker found, for a writer of queries: Understanding + Schema -> lines "'text' = table.column ..."."""

from collections.abc import Callable

from agents.plain import quoted
from records.schema import Schema
from records.turn import Mention, Understanding

MOST = 12
PLACES = 3


def links(understanding: Understanding, schema: Schema, relation_of: Callable[[str], str]) -> list[str]:
    """A line a mention, each once; `relation_of` gives the table that a thing (an IRI) lies in, or ""."""
    lines = (_line(mention, schema, relation_of) for mention in understanding.mentions)
    return list(dict.fromkeys(line for line in lines if line))[:MOST]


def _line(mention: Mention, schema: Schema, relation_of: Callable[[str], str]) -> str:
    said, label = quoted(mention.text)[:80], quoted(mention.label)[:80].replace("'", "''")
    if mention.kind == "entity":
        # part of a name stands for all things that have it
        table = relation_of(mention.target)
        return (
            f"'{said}' = {_named(table, schema)} '{label}'" if table else f"'{said}' is part of names: LIKE '%{label}%'"
        )
    if mention.kind == "class" and mention.target in schema.class_of:
        return f"'{said}' = table {schema.class_of[mention.target].relation}"
    if mention.kind == "predicate":
        return f"'{said}' = {places}" if (places := " or ".join(_places(mention.target, schema))) else ""
    if mention.kind == "value":
        places = " or ".join(_places(mention.predicate, schema))
        return f"'{said}' = {places} '{label}'" if places else ""
    return ""


def _named(table: str, schema: Schema) -> str:
    """The column of a table that names its things."""
    relation = schema.relation_of.get(table)
    for column in relation.columns if relation else ():
        predicate = schema.predicate_of.get(column.predicate)
        if predicate is not None and predicate.role == "name" and column.value:
            return f"{table}.{column.value}"
    return "entity.label"


def _places(predicate: str, schema: Schema) -> list[str]:
    """The columns of a predicate, tables before views; of a link, that it holds ids."""
    found: list[str] = []
    for relation in sorted(schema.relations, key=lambda each: (each.kind == "view", each.name)):
        for column in relation.columns:
            if column.predicate == predicate and not (found and relation.kind == "view"):
                found.append(f"{relation.name}.{column.value or column.link}" + ("" if column.value else " (ids)"))
    return found[:PLACES]
