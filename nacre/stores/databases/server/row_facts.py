"""The facts of many things with few queries: IRIs -> RowFacts by IRI.

A query for each table reads all columns of the rows. Predicates with tables of their own, which may have any number of
values of a thing, are left to look-ups.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from nacre.stores.sqlite.identifiers import quote_identifier
from nacre.stores.sqlite.tables import Cell, RowFacts, lexical_form

# things that are read together; fewer are filled up with the last one, so that few different queries are translated
SIZES = (8, 60, 200)
# look-ups of fewer things, or queries of more tables, cost less the one way than the other
FEWEST_THINGS, MOST_TABLES = 3, 100

LookUp = Callable[[str, Sequence[Cell]], Sequence[tuple[Any, ...]]]
Place = tuple[int, Mapping[str, Any]]


class _Thing(NamedTuple):
    """What is read of a thing: its IRI and label, its classes by table, and (place, value, text, id of a target)."""

    iri: str
    label: str
    types: list[str]
    cells: list[tuple[Place, Any, Any, Any]]


def row_facts(subjects: Sequence[str], layout: Mapping[str, Any], look_up: LookUp) -> dict[str, RowFacts] | None:
    """The facts of these things; those that do not exist are missing. None if single look-ups cost less."""
    if len(subjects) < FEWEST_THINGS or len(layout["tables"]) > MOST_TABLES:
        return None
    unread = frozenset(place["predicate"] for place in layout["places"] if place["junction"])
    found: dict[str, RowFacts] = {}
    for start in range(0, len(subjects), SIZES[-1]):
        found |= _read(subjects[start : start + SIZES[-1]], layout, unread, look_up)
    return found


def _read(
    subjects: Sequence[str], layout: Mapping[str, Any], unread: frozenset[str], look_up: LookUp
) -> dict[str, RowFacts]:
    rows = _rows("SELECT id, iri, label FROM entity WHERE iri IN ({})", subjects, look_up)
    things = {id: _Thing(str(iri), str(label), [], []) for id, iri, label in rows}
    if not things:
        return {}
    ids = list(things)
    stated: dict[Any, list[str]] = {}
    for id, kind in _rows("SELECT entity, class FROM _nacre_type WHERE entity IN ({})", ids, look_up):
        stated.setdefault(id, []).append(str(kind))
    for table in layout["tables"]:
        _read_table(table, layout, things, look_up)
    targets = {target for thing in things.values() for *_, target in thing.cells if target is not None}
    iris = dict(_rows("SELECT id, iri FROM entity WHERE id IN ({})", list(targets), look_up))
    exact: dict[tuple[Any, Any], list[str]] = {}
    # the index of exact forms begins with the predicate
    places = ", ".join(str(index) for index, place in enumerate(layout["places"]) if not place["junction"]) or "NULL"
    query = f"SELECT predicate, row, lexical FROM _nacre_exact WHERE predicate IN ({places}) AND row IN ({{}})"
    for predicate, row, lexical in _rows(query, ids, look_up):
        exact.setdefault((predicate, row), []).append(str(lexical))
    found = {}
    for id, thing in things.items():
        values: dict[str, list[str]] = {}
        for (index, place), value, text, target in sorted(thing.cells, key=lambda cell: cell[0][0]):
            own = values.setdefault(place["predicate"], [])
            own += [str(iris[target])] if target is not None else exact.get((index, id), [])
            if target is None and (index, id) not in exact and (text is not None or value is not None):
                own.append(str(text) if text is not None else lexical_form(value, place["datatype"]))
        types = tuple(dict.fromkeys(stated.get(id) or thing.types))
        complete = {predicate: tuple(own) for predicate, own in values.items() if predicate not in unread}
        found[thing.iri] = RowFacts(types, thing.label, complete, unread)
    return found


def _read_table(
    table: Mapping[str, Any], layout: Mapping[str, Any], things: dict[Any, _Thing], look_up: LookUp
) -> None:
    places = [
        (index, place)
        for index, place in enumerate(layout["places"])
        if not place["junction"] and table["rows"] in place["tables"]
    ]
    names = dict.fromkeys(place[part] for _, place in places for part in _PARTS if place[part])
    columns = {name: number for number, name in enumerate(names, 1)}
    listed = ", ".join(["id", *map(quote_identifier, columns)])
    query = f"SELECT {listed} FROM {quote_identifier(table['rows'])} WHERE id IN ({{}})"
    for row in _rows(query, list(things), look_up):
        things[row[0]].types.extend(table["types"])
        for each in places:
            value, text, link = (row[columns[name]] if (name := each[1][part]) else None for part in _PARTS)
            things[row[0]].cells.append((each, value, text, link))


_PARTS = ("value", "text", "link")


def _rows(query: str, values: Sequence[Cell], look_up: LookUp) -> Iterator[tuple[Any, ...]]:
    """The rows of a query with a list of values in the place of its braces."""
    for start in range(0, len(values), SIZES[-1]):
        part = list(values[start : start + SIZES[-1]])
        size = next(size for size in SIZES if size >= len(part))
        part += part[-1:] * (size - len(part))
        yield from look_up(query.format(", ".join("?" * size)), part)
