"""Where the values of a class are, and conditions on them as SQL: Graph + class -> TableSource, RowConditions."""

from dataclasses import dataclass

from nacre.errors import ToolError
from nacre.records.browse import CellKind, RowFilter, TableColumn, TableRequest
from nacre.records.schema import Class, Column, Predicate, Relation, Schema
from nacre.stores.graph import Graph
from nacre.stores.sqlite.identifiers import quote_if_needed
from nacre.stores.sqlite.tables import Cell

# of one query: several times what 450,000 members take (measured)
SECONDS = 4.0
TEMPORAL = ("date", "datetime", "time")


@dataclass(frozen=True)
class SourceColumn:
    """A property with where its values are: in the relation of the class, or in a `junction`.

    `has_raw_text`: raw text stands where no number could be parsed. On a server a column has values of one type.
    """

    shown: TableColumn
    column: Column
    junction: Relation | None
    has_raw_text: bool = True

    def expressions(self, alias: str) -> tuple[str, str]:
        """SQL for the value and for the id of the linked thing, each NULL if there is none."""
        column = self.column
        texts = (column.text,) if self.has_raw_text or not column.value else ()
        names = [f"{alias}.{quote_if_needed(name)}" for name in (column.value, *texts) if name]
        value = f"coalesce({', '.join(names)})" if len(names) > 1 else (names or ["NULL"])[0]
        return value, f"{alias}.{quote_if_needed(column.link)}" if column.link else "NULL"


@dataclass(frozen=True)
class TableSource:
    """The relation that has the members of a class, and its properties by IRI. `name` is SQL for the name of a member
    if the relation has it itself, else "". The columns of a database are typed: each has values of one type."""

    own: Class
    relation: Relation
    column_of: dict[str, SourceColumn]
    name: str
    is_typed: bool = False

    @property
    def key(self) -> str:
        """SQL for the id of a row."""
        return f"r.{quote_if_needed(self.relation.key)}"

    @property
    def rows(self) -> str:
        """SQL for the relation, as `r`."""
        return f"{quote_if_needed(self.relation.name)} r"

    def find(self, predicate: str) -> SourceColumn:
        """The column of a property. Raises ToolError if the class has none."""
        if predicate not in self.column_of:
            raise ToolError("unknown_name", f"The class {self.own.label!r} has no property {predicate[:200]!r}.")
        return self.column_of[predicate]


@dataclass(frozen=True)
class RowConditions:
    """Conditions with their values; `sql` is empty without any."""

    sql: str
    values: tuple[Cell, ...]

    def and_also(self, condition: str) -> str:
        """The SQL with one more condition."""
        return f"{self.sql} AND {condition}" if self.sql else f" WHERE {condition}"


def table_source(graph: Graph, iri: str) -> TableSource | None:
    """The source of a class; None if the class is unknown. Raises ToolError for an attached graph, which has no
    tables."""
    schema = graph.schema
    own = schema.class_of.get(iri)
    relation = schema.relation_of.get(own.relation) if own is not None else None
    if own is None or (relation is None and graph.stored is not None):
        return None
    # raises what to tell for an attached graph
    _ = graph.tables
    assert relation is not None
    in_row = {column.predicate: column for column in relation.columns}
    found: dict[str, SourceColumn] = {}
    for p in sorted(schema.predicates_of([iri]), key=lambda p: (-p.domains[iri], p.label)):
        junction = schema.relation_of.get(schema.junctions.get(p.iri, ""))
        column = in_row.get(p.iri) or (junction.columns[0] if junction is not None else None)
        if column is None or p.hidden or p.role in ("type", "schema") or _is_name(p, own, schema):
            continue
        shown = TableColumn(p.iri, p.label, p.unit, _kind(p), p.iri not in in_row, p.domains[iri])
        has_raw_text = graph.tables.is_local or shown.kind != "number"
        found[p.iri] = SourceColumn(shown, column, None if p.iri in in_row else junction, has_raw_text)
    names = [in_row[p.iri] for p in schema.predicates_of([iri]) if p.role == "name" and p.iri in in_row]
    # an entity's label costs a look-up in a large table for each row
    is_own = len(names) == 1 and _is_name(schema.predicate_of[names[0].predicate], own, schema)
    name = f"r.{quote_if_needed(names[0].value)}" if is_own and names[0].value else ""
    return TableSource(own, relation, found, name, graph.database is not None)


def _is_name(p: Predicate, own: Class, schema: Schema) -> bool:
    """Whether a property has the names that the first column shows anyway."""
    return p.role == "name" and p.domains[own.iri] >= own.count


def _kind(p: Predicate) -> CellKind:
    if p.has_links and not p.has_literals:
        return "thing"
    if p.datatype in ("integer", "real", "year"):
        return "number"
    return "date" if p.datatype in TEMPORAL else "text"


def row_conditions(source: TableSource, request: TableRequest) -> RowConditions:
    """The search and the filters of a request, over the relation `r`. Raises ToolError for an unknown property or a
    value that is no number."""
    parts: list[str] = []
    values: list[Cell] = []
    if request.search:
        test = "LIKE ? ESCAPE '\\'"
        labelled = f"{source.key} IN (SELECT id FROM entity WHERE label {test})"
        parts.append(f"{source.name} {test}" if source.name else labelled)
        values.append("%" + request.search.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%")
    for each in request.filters:
        sql, own = _condition(source, each)
        parts.append(sql)
        values += own
    return RowConditions(f" WHERE {' AND '.join(parts)}" if parts else "", tuple(values))


def _condition(source: TableSource, each: RowFilter) -> tuple[str, list[Cell]]:
    column = source.find(each.predicate)
    junction = column.junction
    value, link = column.expressions("r" if junction is None else "j")
    values: list[Cell] = []
    if each.comparison == "none":
        test = f"{value} IS NULL AND {link} IS NULL"
        if junction is not None:
            test = "1"
    elif each.comparison == "=" and column.column.link and ":" in each.value:
        test, values = f"{link} = (SELECT id FROM entity WHERE iri = ?)", [each.value]
    else:
        test, values = f"{value} {each.comparison} ?", [_typed(each.value, column.shown.kind)]
        if column.shown.kind == "number" and not source.is_typed and column.has_raw_text:
            test = f"typeof({value}) IN ('integer', 'real') AND {test}"
    if junction is None:
        return f"({test})", values
    inside = f"SELECT j.{quote_if_needed(junction.key)} FROM {quote_if_needed(junction.name)} j WHERE {test}"
    return f"{source.key} {'NOT ' if each.comparison == 'none' else ''}IN ({inside})", values


def _typed(text: str, kind: CellKind) -> Cell:
    """The value to compare with. Raises ToolError if a number is expected and there is none."""
    if kind != "number":
        return text
    try:
        return int(text) if text.lstrip("-").isdecimal() and len(text) < 19 else float(text)
    except ValueError:
        raise ToolError("type", f"{text[:100]!r} is not a number.") from None
