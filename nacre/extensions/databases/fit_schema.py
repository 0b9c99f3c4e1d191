"""Make the relations of a schema those of a database: the schema that ingestion induced from a sample -> the schema of
the whole database, and where its columns are.

Relations have the IRIs of their columns; counts, extremes and values of large tables are those of all rows.
"""

import json
import logging
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

from ingestion.induce.declarations import person_name_labels
from ingestion.induce.names import column_name, lowercase_name
from nacre.errors import ToolError
from nacre.extensions.databases.attached import AttachedColumn, AttachedLink, AttachedTable, Storage
from nacre.extensions.databases.attached_tables import AttachedTables
from nacre.extensions.databases.reflect import ForeignKey, ReflectedColumn, ReflectedTable
from nacre.extensions.databases.row_keys import iri_part, table_iri
from nacre.language.data import word_list
from nacre.plans.selects import free_name
from nacre.records.json_form import from_json
from nacre.records.schema import Column, Predicate, Relation, Schema
from nacre.stores.sqlite.tables import Cell, Tables, quote_identifier

# rows that are compared, and the share that must agree
_COMPARED, _SHARE = 500, 0.9

# datatypes whose cells are ISO texts, and those whose cells are numbers
_DATES, _NUMBERS = ("date", "datetime"), ("integer", "real", "year")


class FittedSchema(NamedTuple):
    """The schema, the tables of its relations, the layout that readers of single facts use (JSON), and the labels of
    properties of layers that no column gives."""

    schema: Schema
    tables: tuple[AttachedTable, ...]
    layout: str
    left: tuple[str, ...]


@dataclass(frozen=True)
class MappedTable:
    """A table, its relation, and by name of a column of the relation the IRI of its property and what it is read
    from."""

    reflected: ReflectedTable
    attached: AttachedTable
    literals: dict[str, tuple[str, ReflectedColumn]]
    links: dict[str, tuple[str, ForeignKey]]


def fit_schema(sampled: Path, mapped: Sequence[MappedTable]) -> FittedSchema:
    """Fit the schema of the tables in the file `sampled` to the database."""
    with closing(Tables(sampled)) as tables:
        schema = from_json(Schema, json.loads(tables.meta("schema")))
        by_class = {each.attached.iri: each for each in mapped}
        homes = _homes(schema, by_class)
        names = {each.attached.relation: relation for relation, each in homes.items()}
        plain = {p.iri for p in _parsed_texts(schema, homes, tables)}
        as_text: dict[str, Any] = {"datatype": "text", "shape": "single", "unit": "", "minimum": None, "maximum": None}
        predicates = {p.iri: replace(p, **as_text) if p.iri in plain else p for p in schema.predicates}
        allowed = {iri: column.values for each in homes.values() for iri, column in each.literals.values()}
        for iri in filter(allowed.get, predicates):
            # what an enum or a check constraint allows, also if no row has it
            values = tuple(dict.fromkeys((*predicates[iri].values, *allowed[iri])))
            predicates[iri] = replace(predicates[iri], values=values)
        relations, attached = [], []
        for name, each in homes.items():
            relation = schema.relation_of[name]
            sampled_columns = [c for c in relation.columns if _source(each, c)]
            # under the names that they have in the database
            columns = tuple(_fitted(c, each, predicates) for c in sampled_columns)
            relations.append(replace(relation, kind="table", columns=columns))
            # the columns of the sample with the cells as the database has them
            cells = [(c.text if c.predicate in plain and c.text else c.value or c.text, c) for c in sampled_columns]
            label = each.attached.label or _label_columns(name, each, cells, tables)
            attached.append(_attached(name, each, columns, predicates, names, label))
            for iri, column in each.literals.values():
                # "albumid" is no number to sum up
                is_joined = column.name.lower().endswith(tuple(word_list("ingestion", "identifier_words")))
                if is_joined and (column.name,) == each.reflected.key and iri in predicates:
                    predicates[iri] = replace(predicates[iri], role="identifier")
            for iri in {iri for iri, _ in each.literals.values()} & set(predicates):
                naming = any(iri == own and column.name in label for own, column in each.literals.values())
                if naming or (each.attached.label and predicates[iri].role == "name"):
                    # of a person with a first and a last name, a title is no name
                    predicates[iri] = replace(predicates[iri], role="name" if naming else "fact")
    # a view that shows rows or columns of tables once more is asked for by its name
    known = {column.name for each in homes.values() if not each.reflected.is_view for column in each.reflected.columns}
    views = {
        each.attached.iri
        for each in homes.values()
        if known
        and each.reflected.is_view
        and (each.links or 2 * sum(c.name in known for c in each.reflected.columns) >= len(each.reflected.columns))
    }
    classes = tuple(replace(c, hidden=c.hidden or c.iri in views) for c in schema.classes)
    fitted = _reduced(replace(schema, classes=classes), relations, predicates)
    left = tuple(p.label for p in schema.shown_predicates if p.iri not in fitted.predicate_of and p.role == "fact")
    return FittedSchema(fitted, tuple(attached), json.dumps(_layout(fitted), ensure_ascii=False), left)


def _homes(schema: Schema, by_class: Mapping[str, MappedTable]) -> dict[str, MappedTable]:
    """The relation that lists the rows of each table."""
    found: dict[str, MappedTable] = {}
    for group in schema.groups:
        own = [by_class[iri] for iri in group.classes if iri in by_class]
        if len(own) == 1:
            found[group.relation] = own[0]
    return found


def _fitted(column: Column, mapped: MappedTable, predicates: Mapping[str, Predicate]) -> Column:
    """The column of the database. Among numbers in a column of texts, other texts are shown beside them."""
    source = _source(mapped, column)
    if column.link:
        return Column(column.predicate, link=source)
    is_beside = column.text and mapped.literals[source][1].storage == "text"
    is_beside = is_beside and predicates[column.predicate].datatype in _NUMBERS
    text = free_name(f"{source}_text", (*mapped.literals, *mapped.links)) if is_beside else ""
    return Column(column.predicate, value=source, text=text)


def _source(mapped: MappedTable, column: Column) -> str:
    """The name of the column of the relation before it was fitted; "" for a property of another table."""
    named = (*mapped.literals.items(), *mapped.links.items())
    return next((name for name, (iri, _) in named if iri == column.predicate), "")


def _parsed_texts(schema: Schema, homes: Mapping[str, MappedTable], tables: Tables) -> Iterator[Predicate]:
    """The properties of text columns whose cells a query can't read from the texts, as 1.2 m from "120 cm" among
    metres. The database has only the texts."""
    for name, each in homes.items():
        storages = {iri: column.storage for iri, column in each.literals.values()}
        for column in schema.relation_of[name].columns:
            predicate = schema.predicate_of[column.predicate]
            if storages.get(column.predicate) not in ("text", "list", "other") or column.link:
                continue
            is_number = predicate.datatype in _NUMBERS
            if (
                predicate.shape != "single"
                or storages[column.predicate] == "list"
                or column.low
                or (predicate.unit and storages[column.predicate] != "text")
                or (predicate.datatype in _DATES and not _are_iso(name, column, tables))
                or (
                    predicate.datatype not in ("text", *_DATES)
                    and not (is_number and _are_read(name, column, predicate.unit, tables))
                )
            ):
                yield predicate


def _are_read(relation: str, column: Column, unit: str, tables: Tables) -> bool:
    """Whether each number is written as a number, before or after its unit or without one."""
    own, text = quote_identifier(column.value), quote_identifier(column.text or column.value)
    query = f"SELECT {own}, {text} FROM {quote_identifier(relation)} WHERE {text} IS NOT NULL"
    for value, written in tables.run(query, limit=_COMPARED).rows:
        text = str(written).strip()
        number = text.removesuffix(unit) if text.endswith(unit) else text.removeprefix(unit)
        try:
            if value is not None and float(number) != float(value):
                return False
        except ValueError:
            return False
    return True


def _are_iso(relation: str, column: Column, tables: Tables) -> bool:
    """Whether each date was written as the cell has it."""
    own, text = quote_identifier(column.value), quote_identifier(column.text or column.value)
    query = f"SELECT count(*) FROM {quote_identifier(relation)} WHERE {own} IS NOT {text}"
    return tables.run(query, limit=1).rows == [(0,)]


def _label_columns(
    relation: str, mapped: MappedTable, columns: Sequence[tuple[str, Column]], tables: Tables
) -> tuple[str, ...]:
    """The columns of the table that give the labels of the sampled rows; empty if none do."""
    sources = {name: mapped.literals[_source(mapped, c)][1].name for name, c in columns if not c.link}
    texts = list(sources)
    of = quote_identifier(relation)
    shown = ", ".join(f"t.{quote_identifier(name)}" for name in texts)
    if not texts:
        return ()
    query = f"SELECT e.label, {shown} FROM {of} t JOIN entity e ON e.id = t.id"
    found = tables.run(query, limit=_COMPARED).rows
    rows = [[" ".join(str(cell).split()) if cell is not None else "" for cell in row] for row in found]
    ways: list[tuple[int, ...]] = [(i,) for i in range(len(texts))]
    ways += [(i, j) for i in range(len(texts)) for j in range(len(texts)) if i != j]
    for way in ways:
        agreeing = sum(row[0] == " ".join(row[1 + i] for i in way) for row in rows)
        if rows and agreeing >= _SHARE * len(rows):
            return tuple(sources[texts[i]] for i in way)
    return ()


def _attached(
    name: str,
    mapped: MappedTable,
    columns: Sequence[Column],
    predicates: Mapping[str, Predicate],
    names: Mapping[str, str],
    label: tuple[str, ...],
) -> AttachedTable:
    literals, links = [], []
    own_links = {link.name: link for link in mapped.attached.links}
    for column in columns:
        source = _source(mapped, column)
        if column.link and own_links[source].target in names:
            link = own_links[source]
            links.append(replace(link, name=column.link, target=names[link.target]))
        elif column.value:
            read, predicate = mapped.literals[source][1], predicates[column.predicate]
            is_number = read.storage in ("text", "other") and predicate.datatype in _NUMBERS
            storage: Storage = "number_text" if is_number else read.storage
            literals.append(AttachedColumn(column.value, read.name, storage, predicate.unit if is_number else ""))
            literals += [AttachedColumn(column.text, read.name, read.storage)] if column.text else []
    return replace(mapped.attached, relation=name, label=label, columns=tuple(literals), links=tuple(links))


def _reduced(schema: Schema, relations: Sequence[Relation], predicates: Mapping[str, Predicate]) -> Schema:
    """The schema with only these relations, and what they hold."""
    kept = {relation.name for relation in relations}
    held = {column.predicate for relation in relations for column in relation.columns}
    return replace(
        schema,
        classes=tuple(c for c in schema.classes if c.relation in kept),
        groups=tuple(g for g in schema.groups if g.relation in kept),
        predicates=tuple(predicates[p.iri] for p in schema.predicates if p.iri in held),
        relations=tuple(relations),
        junctions={},
    )


def _layout(schema: Schema) -> dict[str, Any]:
    """The places of the facts in the relations, as `TripleReader` reads them."""
    columns = {(r.name, c.predicate): c for r in schema.relations for c in r.columns}
    places = []
    for (relation, predicate), column in columns.items():
        datatype = schema.predicate_of[predicate].datatype
        place = {"predicate": predicate, "junction": "", "derived": False, "key": "id", "sort": ["", ""]}
        places.append(
            {
                **place,
                "text": column.text,
                "value": column.value,
                "link": column.link,
                "datatype": datatype,
                "tables": [relation],
            }
        )
    tables = [{"rows": group.relation, "types": list(group.classes)} for group in schema.groups]
    return {"triples": schema.triples, "base_graph": "", "named_graphs": False, "tables": tables, "places": places}


# columns that tell rows apart if there is no key at all
MOST_KEY_COLUMNS = 16


def map_tables(tables: Sequence[ReflectedTable]) -> list[MappedTable]:
    """The relations of the tables; foreign keys to tables that are not among them are plain columns."""
    known = {(table.schema, table.name): table for table in tables}
    names: dict[tuple[str, str], str] = {}
    for table in tables:
        names[table.schema, table.name] = free_name(column_name(table.name) or "rows", names.values())
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
            name = free_name(column_name(column.name) or "value", taken)
            taken.add(name)
            literals[name] = (f"{iri}#{iri_part(column.name)}", column)
    links: dict[str, tuple[str, ForeignKey]] = {}
    for each in foreign:
        name = free_name(column_name("_".join(each.columns)) or "link", taken)
        taken.add(name)
        links[name] = (f"{iri}#ref-{';'.join(map(iri_part, each.columns))}", each)
    # in a key, a day is the number or text that the column has
    plain: dict[str, Storage] = {"day_number": "integer", "day_text": "text"}
    storages = {column.name: plain.get(column.storage, column.storage) for column in table.columns}
    attached = AttachedTable(
        names[table.schema, table.name],
        table.schema,
        table.name,
        iri,
        key,
        tuple(storages.get(column, "integer" if column == "rowid" else "other") for column in key),
        table.names or two_part_name(table),
        tuple(AttachedColumn(name, column.name, column.storage) for name, (_, column) in literals.items()),
        tuple(
            AttachedLink(
                name,
                each.columns,
                names[each.schema, each.table],
                each.referred,
                each.guessed,
                _cast(table, each, known[each.schema, each.table]),
            )
            for name, (_, each) in links.items()
        ),
        table.guessed_key or not table.key,
    )
    return MappedTable(table, attached, literals, links)


def _cast(table: ReflectedTable, key: ForeignKey, target: ReflectedTable) -> Literal["", "integer", "text"]:
    """The type that a column is read as to be compared with what it refers to; "" for its own."""
    own = next((c.storage for c in table.columns if c.name == key.columns[0]), "")
    other = next((c.storage for c in target.columns if c.name == key.referred[0]), "")
    if len(key.columns) == 1 and own != other:
        return "integer" if other == "integer" else "text" if own == "integer" else ""
    return ""


def two_part_name(table: ReflectedTable) -> tuple[str, ...]:
    """The columns with the given and the family name of a person, or with the genus and the species of a species; none
    if a table lacks one, or has the whole name.

    >>> columns = [ReflectedColumn(name, "text") for name in ("title", "first_name", "last_name")]
    >>> two_part_name(ReflectedTable("", "tutor", tuple(columns)))
    ('first_name', 'last_name')
    """
    texts = {lowercase_name(column.name).lower(): column.name for column in table.columns if column.storage == "text"}
    of_species = word_list("ingestion", "genus_labels"), word_list("ingestion", "species_labels")
    for labels in (person_name_labels(), of_species):
        parts = [[texts[word] for word in sorted(words & texts.keys())] for words in labels]
        if all(parts) and "name" not in texts and "full name" not in texts:
            return tuple(part[0] for part in parts)
    return ()


log = logging.getLogger(__name__)

SECONDS = 60.0


def with_statistics(
    schema: Schema, tables: AttachedTables, rows: Mapping[str, int], partial: Collection[str]
) -> Schema:
    """The schema with the numbers of all rows; `rows` by relation, `partial` are the relations not sampled whole."""
    counted = {c.iri: rows.get(c.relation, c.count) for c in schema.classes}
    predicates = {p.iri: p for p in schema.predicates}
    for relation in schema.relations:
        if relation.name in partial:
            predicates |= _counted(relation, predicates, tables, rows[relation.name])
    found = tuple(predicates[p.iri] for p in schema.predicates)
    return replace(
        schema,
        classes=tuple(replace(c, count=counted[c.iri]) for c in schema.classes),
        groups=tuple(replace(g, count=rows.get(g.relation, g.count)) for g in schema.groups),
        predicates=found,
        triples=sum(p.triples for p in found) + sum(counted.values()),
        entities=sum(counted.values()),
    )


def _counted(
    relation: Relation, predicates: Mapping[str, Predicate], tables: AttachedTables, rows: int
) -> dict[str, Predicate]:
    columns = [(c, quote_identifier(c.value or c.link)) for c in relation.columns]
    stated = [quote_identifier(c.text or c.value or c.link) for c in relation.columns]
    shown = [f"count({name}), count(DISTINCT {name})" for name in stated]
    shown += [f"min({name}), max({name}), count({name})" for _, name in columns]
    query = f"SELECT {', '.join(shown)} FROM {quote_identifier(relation.name)}"
    try:
        cells: Sequence[Cell] = tables.run(query, limit=1, seconds=SECONDS).rows[0]
    except ToolError as error:
        log.warning("%s: counts are estimated (%s)", relation.name, error)
        known = [predicates[c.predicate] for c, _ in columns]
        return {p.iri: replace(p, triples=rows, subjects=rows, domains=dict.fromkeys(p.domains, rows)) for p in known}
    found = {}
    for number, (column, _) in enumerate(columns):
        predicate = predicates[column.predicate]
        count, distinct = int(cells[2 * number] or 0), int(cells[2 * number + 1] or 0)
        low, high, read = cells[2 * len(columns) + 3 * number :][:3]
        changes: dict[str, Any] = {"triples": count, "subjects": count, "objects": distinct}
        changes["unread"] = count - int(read or 0)
        changes["domains"] = dict.fromkeys(predicate.domains, count)
        changes["ranges"] = dict.fromkeys(predicate.ranges, distinct)
        if isinstance(low, int | float) and isinstance(high, int | float) and predicate.minimum is not None:
            changes |= {"minimum": float(low), "maximum": float(high)}
        if predicate.values and distinct > len(predicate.values):
            changes |= {"values": (), "samples": predicate.samples or predicate.values[:8]}
        found[column.predicate] = replace(predicate, **changes)
    return found
