"""The names of things in one language: IRIs + Tables -> names, from the properties that hold them."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from nacre.language.detect_language import language_property, multilingual_property
from nacre.records.evidence import Cell, Table
from nacre.records.schema import Schema
from nacre.stores.sqlite.tables import Tables

# Things that are looked up for one answer, at most; parameters of one statement (given).
MAX_THINGS, CHUNK_SIZE = 1000, 400


class TranslatedName(NamedTuple):
    """The label of a thing as rows have it, and its name in another language."""

    label: str
    name: str


def translated_names(iris: Collection[str], language: str, tables: Tables) -> dict[str, TranslatedName]:
    """The names of those things that have one in the language."""
    columns = _name_columns(tables.schema, language)
    found: dict[str, TranslatedName] = {}
    wanted = sorted(iris)[:MAX_THINGS] if columns else []
    for start in range(0, len(wanted), CHUNK_SIZE):
        part = wanted[start : start + CHUNK_SIZE]
        marks = ",".join("?" * len(part))
        for relation, key, column in columns:
            rows = tables.run(
                f'SELECT entity.iri, entity.label, min(named."{column}") FROM entity JOIN "{relation}" AS named'
                f' ON named."{key}" = entity.id WHERE entity.iri IN ({marks}) GROUP BY entity.iri, entity.label',
                part,
            ).rows
            for iri, label, name in rows:
                if name is not None:
                    found.setdefault(str(iri), TranslatedName(str(label), str(name)))
    return found


def translate_table(table: Table, names: Mapping[str, TranslatedName]) -> Table:
    """The table with translated names in place of the labels of the things of each row."""
    if not names:
        return table

    def translated(row: Sequence[Cell], keys: Sequence[str]) -> tuple[Cell, ...]:
        by_label = {names[key].label: names[key].name for key in keys if key in names}
        return tuple(by_label.get(cell, cell) if isinstance(cell, str) else cell for cell in row)

    return replace(table, rows=tuple(map(translated, table.rows, table.keys or ((),) * len(table.rows))))


def _name_columns(schema: Schema, language: str) -> list[tuple[str, str, str]]:
    """Table, key and column of the names in a language, of labels before other names."""
    found = []
    predicates = [
        p.iri
        for p in schema.predicates
        if (base := multilingual_property(p.iri)) and p.iri == language_property(base, language)
    ]
    for relation in schema.relations:
        for column in relation.columns if relation.kind != "view" else ():
            if column.predicate in predicates and column.value:
                found.append((predicates.index(column.predicate), relation.name, relation.key, column.value))
    return [(name, key, column) for _, name, key, column in sorted(found)]
