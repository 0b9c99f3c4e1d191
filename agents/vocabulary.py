"""The words of a graph, as short as they go: Schema -> kinds of things, each with its properties and their values."""

from agents.plain import quoted
from records.schema import Predicate, Schema
from semantics.words import split_name

CHARACTERS_A_TOKEN = 4
VALUES = 8
PROPERTIES = 40


def vocabulary(schema: Schema, tokens: int) -> str:
    """A line a kind, the largest first, within about `tokens`; wider kinds name the narrower ones instead."""
    lines = []
    groups = sorted(schema.groups, key=lambda each: (-each.count, each.label))
    for group in groups:
        wider = [schema.class_of[iri].label for iri in group.classes if iri in schema.class_of]
        names = list(dict.fromkeys(name.casefold() for name in (group.label, *group.words, *wider)))
        own = [p for p in schema.predicates if p.role == "fact" and _is_recorded(p, group.relation, schema)]
        lines.append(_line(names, own))
    text = ""
    for line in dict.fromkeys(lines):
        if len(text) + len(line) < tokens * CHARACTERS_A_TOKEN:
            text += line + "\n"
    return text.rstrip()


def _is_recorded(predicate: Predicate, relation: str, schema: Schema) -> bool:
    if predicate.iri in schema.junctions:
        classes = {iri for group in schema.groups if group.relation == relation for iri in group.classes}
        return bool(classes & predicate.domains.keys())
    return any(column.predicate == predicate.iri for column in schema.relation_of[relation].columns)


def _line(names: list[str], predicates: list[Predicate]) -> str:
    said = ", ".join(_property(p) for p in predicates[:PROPERTIES])
    return f"{quoted(' = '.join(names))}: {said}" if said else quoted(" = ".join(names))


def _property(predicate: Predicate) -> str:
    label = quoted(split_name(predicate.label))[:60]
    unit = f" in {predicate.unit}" if predicate.unit else ""
    few = 1 < len(predicate.values) <= VALUES and predicate.datatype in ("text", "boolean") and not unit
    values = f" ({', '.join(quoted(v)[:30] for v in predicate.values)})" if few else ""
    return f"{label}{unit}{values}"
