"""Views in the dialect of the server: SELECT over tables of the file -> SELECT over tables of a schema."""

from collections.abc import Mapping

from sqlglot import exp, parse_one

from nacre.stores.databases.portable import make_portable
from nacre.stores.databases.server.place import Kind, stored_name
from nacre.stores.databases.server.types import TYPES

Columns = Mapping[str, Mapping[str, Kind]]


def view_sql(body: str, columns: Columns, schema: str) -> tuple[str, dict[str, Kind]]:
    """The SELECT of a view for the server, and the kinds of its columns."""
    tree = parse_one(body, dialect="sqlite")
    selects = list(tree.find_all(exp.Select))
    outer = [select for select in selects if select.find_ancestor(exp.Subquery, exp.In) is None]
    kinds: dict[str, Kind] = {}
    for select in outer:
        table = next(iter(select.find_all(exp.Table))).name
        for shown in select.selects:
            inner = shown.this if isinstance(shown, exp.Alias) else shown
            if isinstance(inner, exp.Column):
                kinds[shown.alias_or_name] = columns[table][inner.name]
    for select in outer:
        for shown in select.selects:
            if isinstance(shown, exp.Alias) and isinstance(shown.this, exp.Null):
                kind = kinds.setdefault(shown.alias, "text")
                # a NULL without a type would be a text, which fits no number of the other tables
                shown.set("this", exp.Cast(this=exp.Null(), to=exp.DataType.build(TYPES[kind], dialect="postgres")))
    order = [shown.alias_or_name for shown in outer[0].selects]
    for identifier in tree.find_all(exp.Identifier):
        identifier.set("this", stored_name(identifier.name))
        identifier.set("quoted", True)
    for read in tree.find_all(exp.Table):
        read.set("db", exp.to_identifier(schema, quoted=True))
    text = make_portable(tree, "postgres").sql(dialect="postgres", comments=False)
    return text, {name: kinds.get(name, "text") for name in order}
