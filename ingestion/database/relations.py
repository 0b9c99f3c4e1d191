"""Relations of a database: reflected tables -> AttachedTables with IRIs of their columns."""

from collections.abc import Sequence
from dataclasses import dataclass

from ingestion.database.reflect import ForeignKey, ReflectedColumn, ReflectedTable
from ingestion.induce.names.column_names import column_name
from nacre.stores.databases.attached import AttachedColumn, AttachedLink, AttachedTable
from nacre.stores.databases.row_keys import iri_part, table_iri

# columns that tell rows apart if there is no key at all
MOST_KEY_COLUMNS = 16


@dataclass(frozen=True)
class MappedTable:
    """A table, its relation, and by name of a column of the relation the IRI of its property and what it is read
    from."""

    reflected: ReflectedTable
    attached: AttachedTable
    literals: dict[str, tuple[str, ReflectedColumn]]
    links: dict[str, tuple[str, ForeignKey]]


def map_tables(tables: Sequence[ReflectedTable]) -> list[MappedTable]:
    """The relations of the tables; foreign keys to tables that are not among them are plain columns."""
    known = {(table.schema, table.name): table for table in tables}
    names: dict[tuple[str, str], str] = {}
    for table in tables:
        names[table.schema, table.name] = _free(column_name(table.name) or "rows", set(names.values()))
    return [_mapped(table, known, names) for table in tables]


def _mapped(
    table: ReflectedTable, known: dict[tuple[str, str], ReflectedTable], names: dict[tuple[str, str], str]
) -> MappedTable:
    iri = table_iri(table.schema, table.name)
    foreign = [key for key in table.foreign if (key.schema, key.table) in known]
    linked = {key.columns[0] for key in foreign if len(key.columns) == 1}
    key = table.key or tuple(column.name for column in table.columns)[:MOST_KEY_COLUMNS]
    literals: dict[str, tuple[str, ReflectedColumn]] = {}
    taken = {"id", "iri", "label"}
    for column in table.columns:
        # the number in a foreign key says nothing but its link; in a key it is a number that people know
        if column.name not in linked or (len(table.key) == 1 and column.name in table.key):
            name = _free(column_name(column.name) or "value", taken)
            taken.add(name)
            literals[name] = (f"{iri}#{iri_part(column.name)}", column)
    links: dict[str, tuple[str, ForeignKey]] = {}
    for each in foreign:
        name = _free(column_name("_".join(each.columns)) or "link", taken)
        taken.add(name)
        links[name] = (f"{iri}#ref-{';'.join(map(iri_part, each.columns))}", each)
    storages = {column.name: column.storage for column in table.columns}
    attached = AttachedTable(
        names[table.schema, table.name],
        table.schema,
        table.name,
        iri,
        key,
        tuple(storages.get(column, "integer" if column == "rowid" else "other") for column in key),
        (),
        tuple(AttachedColumn(name, column.name, column.storage) for name, (_, column) in literals.items()),
        tuple(
            AttachedLink(name, each.columns, names[each.schema, each.table], each.referred, each.guessed)
            for name, (_, each) in links.items()
        ),
        table.guessed_key or not table.key,
    )
    return MappedTable(table, attached, literals, links)


def _free(name: str, taken: set[str]) -> str:
    number, free = 1, name
    while free in taken:
        number += 1
        free = f"{name}_{number}"
    return free
