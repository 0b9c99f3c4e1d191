"""Find the tables and views that hold things, literals and links: Variable or predicate + Schema -> relations."""

from nacre.records.plan import Variable
from nacre.records.schema import Column, Relation, Schema

# the table of all things
ENTITY_RELATION = Relation("entity", "table", "id", ())


def variable_relation(variable: Variable, schema: Schema) -> Relation:
    """The relation whose rows a variable stands for: of its group, of its smallest class, or of all things."""
    for group in schema.groups:
        if group.classes and set(group.classes) == set(variable.classes) and group.without == variable.without:
            return schema.relation_of[group.relation]
    own = schema.smallest_class(variable.classes)
    return ENTITY_RELATION if own is None else schema.relation_of[own.relation]


def predicate_column(relation: Relation, predicate: str) -> Column | None:
    """The column of a relation that holds a predicate; None if it has none."""
    return next((c for c in relation.columns if c.predicate == predicate), None)


def literal_columns(schema: Schema, predicate: str) -> list[tuple[Relation, Column]]:
    """Each table with the column that holds literals of a predicate. Views only repeat tables."""
    return [(relation, column) for relation, column in _table_columns(schema, predicate) if column.value or column.text]


def link_columns(schema: Schema, predicate: str) -> list[tuple[Relation, Column]]:
    """Relations that together hold all links of a predicate: tables, then class views. A link may occur in several."""
    found = [(r, c) for r, c in _table_columns(schema, predicate) if c.link]
    covered = {r.name for r, _ in found}
    views = [(schema.relation_of[c.relation], set(schema.groups_of_class.get(c.iri, ()))) for c in schema.classes]
    views += [(schema.relation_of[g.relation], {g.relation}) for g in schema.groups]
    for view, groups in sorted(views, key=lambda each: -len(each[1])):
        column = predicate_column(view, predicate)
        if column is not None and column.link and groups - covered:
            found.append((view, column))
            covered |= groups
    return found


def _table_columns(schema: Schema, predicate: str) -> list[tuple[Relation, Column]]:
    return [(r, c) for r in schema.relations if r.kind != "view" for c in r.columns if c.predicate == predicate]
