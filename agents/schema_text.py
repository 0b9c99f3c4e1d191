"""The schema as a model reads it: Schema -> text, the same for every question of a graph version."""

from agents.plain import quoted
from records.schema import Column, Predicate, Relation, Schema

CHARACTERS_A_TOKEN = 4
SAMPLES = 3


def schema_text(schema: Schema, tokens: int) -> str:
    """A line a table, a line a column, with units and samples; the largest first, cut at about `tokens`."""
    members = {c.relation: c.count for c in schema.classes} | {g.relation: g.count for g in schema.groups}
    # every table before any view, so that what the budget cuts is what the tables hold anyway
    order = sorted(schema.relations, key=lambda r: (r.kind == "view", -members.get(r.name, 0), r.name))
    text = "TABLE entity(id key, iri, label): every thing, by its label"
    for relation in order:
        described = _relation(relation, schema, members.get(relation.name, 0))
        if len(text) + len(described) > tokens * CHARACTERS_A_TOKEN:
            continue
        text += "\n" + described
    return text


def _relation(relation: Relation, schema: Schema, members: int) -> str:
    head = f"{'VIEW' if relation.kind == 'view' else 'TABLE'} {relation.name}({relation.key} key)"
    if members:
        head += f" {members} rows"
    if relation.comment:
        head += f": {quoted(relation.comment)[:80]}"
    lines = [
        line
        for column in relation.columns
        if (predicate := schema.predicate_of.get(column.predicate)) is not None
        for line in _column(column, predicate)
    ]
    return "\n".join([head, *lines])


def _column(column: Column, predicate: Predicate) -> list[str]:
    label = quoted(predicate.label)[:60]
    samples = [quoted(sample)[:30] for sample in (predicate.values or predicate.samples)[:SAMPLES]]
    shown = f", e.g. {'; '.join(samples)}" if samples else ""
    unit = f", in {predicate.unit}" if predicate.unit else ""
    lines = []
    if column.value:
        lines.append(f"  {column.value} {predicate.datatype}: {label}{unit}{shown if not column.link else ''}")
    ends = ((column.low, "low"), (column.high, "high"))
    lines += [f"  {name} {end} end of {label}{unit}" for name, end in ends if name]
    if column.link:
        lines.append(f"  {column.link} link: {label}{shown}")
    return lines
