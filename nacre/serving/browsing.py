"""What there is to see of a thing or a class: Graph + IRI -> facts both ways, members, passages; labels of IRIs."""

import time
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

from graph.names import endpoint_names
from nacre.records.errors import ToolError
from nacre.records.schema import Class, Column, Predicate, Relation, Schema
from nacre.semantics.sparql_terms import iri as iri_term
from nacre.stores.catalog import Graph
from nacre.stores.schema_sql import quoted
from nacre.stores.tables import Cell, Tables
from nacre.stores.triples import TYPE
from tools import lexical
from tools.ids import entities

# values of one predicate that are shown, things that link by one predicate, members of a class at once
MOST_VALUES, MOST_LINKING, MEMBERS = 30, 12, 50
MOST_PASSAGES, MOST_COUNTED, MOST_AWAY = 6, 1000, 300
LONGEST_VALUE = 2000
# seconds that a look may take in all, as a person waits for it
SECONDS = 4.0


@dataclass(frozen=True)
class End:
    """One end of a fact: a thing by `iri` and its name, or a literal ("" for `iri`)."""

    text: str
    iri: str = ""


@dataclass(frozen=True)
class Facts:
    """The ends of all facts of one predicate; `more` are not listed."""

    predicate: str
    label: str
    unit: str
    ends: tuple[End, ...]
    more: int = 0


@dataclass(frozen=True)
class About:
    """A passage that names the thing: of a text, where `document` names one."""

    title: str
    text: str
    document: str = ""
    start: int = 0
    end: int = 0


@dataclass(frozen=True)
class Thing:
    """`facts` start at the thing, `linking` end there; `complete` is false where time ran out."""

    iri: str
    label: str
    classes: tuple[End, ...]
    facts: tuple[Facts, ...]
    linking: tuple[Facts, ...]
    passages: tuple[About, ...] = ()
    complete: bool = True


@dataclass(frozen=True)
class Property:
    """What the members of a class have: how many of them, and a few values."""

    iri: str
    label: str
    comment: str
    unit: str
    members: int
    leads_to: tuple[End, ...]
    samples: tuple[str, ...]


@dataclass(frozen=True)
class Kind:
    """A class: where it stands, what its members have, and some members from `skip` on, by name."""

    iri: str
    label: str
    comment: str
    count: int
    parents: tuple[End, ...]
    children: tuple[End, ...]
    properties: tuple[Property, ...]
    members: tuple[End, ...]
    skip: int


@dataclass
class _Looking:
    """The tables of one look, until its time is over."""

    tables: Tables
    deadline: float
    complete: bool = field(default=True)

    def rows(self, sql: str, params: Sequence[Cell] = (), limit: int = MOST_VALUES) -> list[tuple[Cell, ...]]:
        left = self.deadline - time.monotonic()
        if left <= 0:
            self.complete = False
            return []
        try:
            return self.tables.run(sql, params, limit=limit, seconds=left).rows
        except ToolError as error:
            if error.kind != "timeout":
                raise
            self.complete = False
            return []


def thing(graph: Graph, iri: str) -> Thing | None:
    """All that is said of a thing, within bounds; None where the graph does not know it. Raises ToolError."""
    if graph.stored is None:
        return _thing_away(graph, iri)
    looking = _Looking(graph.stored, time.monotonic() + SECONDS)
    found = looking.rows("SELECT id, label FROM entity WHERE iri = ?", (iri,))
    if not found:
        return None
    key, label = int(found[0][0] or 0), str(found[0][1] or iri)
    schema = graph.schema
    relation = _home(graph, looking, iri, key)
    classes = _classes(relation, schema)
    said = _Said(looking)
    facts = [*_columns(said, relation, key, schema), *_junctions(said, key, classes, schema)]
    linking = list(_linking(said, key, classes, schema))
    names = entities(said.ids, graph.stored)
    return Thing(
        iri,
        label,
        tuple(End(schema.class_of[c].label, c) for c in _most_specific(relation, schema)),
        tuple(_named(each, names) for each in facts),
        tuple(_named(each, names) for each in linking),
        tuple(_passages(graph, iri, label)),
        looking.complete,
    )


def kind(graph: Graph, iri: str, search: str = "", skip: int = 0) -> Kind | None:
    """A class with at most 50 of its members, those whose names hold `search`; None where there is none."""
    schema = graph.schema
    own = schema.class_of.get(iri)
    if own is None:
        return None
    return Kind(
        iri,
        own.label,
        own.comment,
        own.count,
        tuple(End(schema.class_of[p].label, p) for p in own.parents if p in schema.class_of),
        tuple(End(c.label, c.iri) for c in schema.classes if iri in c.parents),
        tuple(_property(p, own, schema) for p in _properties(own, schema)),
        tuple(_members(graph, own, search, skip)),
        skip,
    )


def labels(graph: Graph, iris: Collection[str]) -> dict[str, str]:
    """What classes, predicates and things are called, those that have a name."""
    schema = graph.schema
    known = {iri: schema.class_of[iri].label for iri in iris if iri in schema.class_of}
    known |= {iri: schema.predicate_of[iri].label for iri in iris if iri in schema.predicate_of}
    rest = sorted({iri for iri in iris if iri not in known})
    if graph.stored is None:
        names = endpoint_names(graph)
        return known | (names.labels(rest) if names is not None and rest else {})
    for start in range(0, len(rest), 400):
        part = rest[start : start + 400]
        marks = ",".join("?" * len(part))
        rows = graph.stored.run(f"SELECT iri, label FROM entity WHERE iri IN ({marks})", part).rows
        known |= {str(row[0]): str(row[1]) for row in rows if row[1]}
    return known


@dataclass
class _Said:
    """Ids that facts have met on the way, to be named at once."""

    looking: _Looking
    ids: set[int] = field(default_factory=set)

    def end(self, value: Cell, text: Cell, link: Cell) -> End | None:
        if isinstance(link, int):
            self.ids.add(link)
            return End("", str(link))
        said = text if text is not None else value
        return None if said is None else End(str(said)[:LONGEST_VALUE])


def _named(facts: Facts, names: dict[int, tuple[str, str]]) -> Facts:
    ends = [names.get(int(end.iri)) if end.iri else None for end in facts.ends]
    told = tuple(End(known[1], known[0]) if known else end for end, known in zip(facts.ends, ends, strict=True))
    return Facts(facts.predicate, facts.label, facts.unit, told, facts.more)


def _home(graph: Graph, looking: _Looking, iri: str, key: int) -> Relation | None:
    """The table that has the thing's row."""
    known = graph.lexicon.thing(iri)
    named = graph.schema.relation_of.get(known.relation) if known else None
    if named is not None:
        return named
    for relation in graph.schema.relations:
        query = f"SELECT 1 FROM {quoted(relation.name)} WHERE {quoted(relation.key)} = ?"
        if relation.kind == "table" and looking.rows(query, (key,), 1):
            return relation
    return None


def _classes(relation: Relation | None, schema: Schema) -> frozenset[str]:
    """All classes of the things of a table."""
    name = relation.name if relation else ""
    return frozenset(iri for iri, relations in schema.groups_of_class.items() if name in relations)


def _most_specific(relation: Relation | None, schema: Schema) -> list[str]:
    own = next((g.classes for g in schema.groups if relation and g.relation == relation.name), ())
    return sorted((c for c in own if c in schema.class_of), key=lambda c: schema.class_of[c].count)


def _concerns(kinds: dict[str, int], classes: Collection[str]) -> bool:
    return not classes or "" in kinds or any(c in kinds for c in classes)


def _columns(said: _Said, relation: Relation | None, key: int, schema: Schema) -> Iterator[Facts]:
    """What stands in the thing's own row."""
    if relation is None:
        return
    cells = {n: c for c in relation.columns for n in (c.value, c.low, c.high, c.text, c.link) if n}
    names = list(cells)
    if not names:
        return
    query = f"SELECT {', '.join(map(quoted, names))} FROM {quoted(relation.name)} WHERE {quoted(relation.key)} = ?"
    row = dict(zip(names, next(iter(said.looking.rows(query, (key,), 1)), ()), strict=False))
    for column in relation.columns:
        predicate = schema.predicate_of[column.predicate]
        raw = row.get(column.text)
        end = said.end(row.get(column.value), raw, row.get(column.link))
        if end is not None:
            unit = predicate.unit if raw is None and not end.iri else ""
            yield Facts(predicate.iri, predicate.label, unit, (end,))


def _junctions(said: _Said, key: int, classes: Collection[str], schema: Schema) -> Iterator[Facts]:
    """What stands in tables of their own."""
    for iri, name in schema.junctions.items():
        predicate, relation = schema.predicate_of.get(iri), schema.relation_of.get(name)
        if predicate is None or relation is None or iri == TYPE or not _concerns(predicate.domains, classes):
            continue
        column = relation.columns[0]
        rows = said.looking.rows(f"{_cells(column, relation)} WHERE {quoted(relation.key)} = ?", (key,), MOST_COUNTED)
        ends = [end for row in rows[:MOST_VALUES] if (end := said.end(*row)) is not None]
        if ends:
            raw = any(row[1] is not None for row in rows)
            yield Facts(iri, predicate.label, "" if raw else predicate.unit, tuple(ends), len(rows) - len(ends))


def _cells(column: Column, relation: Relation) -> str:
    names = (quoted(name) if name else "NULL" for name in (column.value, column.text, column.link))
    return f"SELECT {', '.join(names)} FROM {quoted(relation.name)}"


def _linking(said: _Said, key: int, classes: Collection[str], schema: Schema) -> Iterator[Facts]:
    """The things that link to this one, by predicate."""
    found: dict[str, list[int]] = {}
    for relation in schema.relations:
        for column in relation.columns if relation.kind != "view" else ():
            predicate = schema.predicate_of[column.predicate]
            if column.link and predicate.iri != TYPE and _concerns(predicate.ranges, classes):
                own, link = quoted(relation.key), quoted(column.link)
                query = f"SELECT {own} FROM {quoted(relation.name)} WHERE {link} = ?"
                rows = said.looking.rows(query, (key,), MOST_COUNTED)
                found.setdefault(predicate.iri, []).extend(int(row[0]) for row in rows if isinstance(row[0], int))
    for iri, ids in found.items():
        shown = sorted(set(ids))[:MOST_LINKING]
        said.ids.update(shown)
        if shown:
            ends = tuple(End("", str(i)) for i in shown)
            yield Facts(iri, schema.predicate_of[iri].label, "", ends, len(set(ids)) - len(shown))


def _passages(graph: Graph, iri: str, label: str) -> Iterator[About]:
    """Passages of texts that hold the thing's name; where there are none, how its facts read."""
    if graph.passages is None:
        return
    found: list[About] = []
    if graph.lexical is not None:
        hits = lexical.search(graph.lexical, graph.passages, label, label, round=1, limit=MOST_PASSAGES).evidence
        found = [
            About(e.title, e.text, e.document, e.start, e.end)
            for e in hits
            if e.kind == "sentence" and e.document and label.casefold() in e.text.casefold()
        ]
    own = (About(p.title, p.text[:LONGEST_VALUE]) for p in graph.passages.by_key(iri)[:1])
    yield from found[:MOST_PASSAGES] or own


def _properties(own: Class, schema: Schema) -> list[Predicate]:
    had = [p for p in schema.predicates if p.domains.get(own.iri) and p.role != "type"]
    return sorted(had, key=lambda p: (-p.domains[own.iri], p.label))


def _property(p: Predicate, own: Class, schema: Schema) -> Property:
    far = sorted((c for c in p.ranges if c in schema.class_of), key=lambda c: -p.ranges[c])[:3]
    leads = tuple(End(schema.class_of[c].label, c) for c in far)
    return Property(p.iri, p.label, p.comment, p.unit, p.domains[own.iri], leads, (p.values or p.samples)[:4])


def _members(graph: Graph, own: Class, search: str, skip: int) -> Iterator[End]:
    if graph.stored is None:
        yield from _members_away(graph, own, skip)
        return
    relation = graph.schema.relation_of.get(own.relation)
    if relation is None:
        return
    key = quoted(relation.key)
    like = "%" + search.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%"
    query = (
        f"SELECT e.iri, e.label FROM {quoted(relation.name)} r JOIN entity e ON e.id = r.{key} "
        f"WHERE e.label LIKE ? ESCAPE '\\' ORDER BY e.label, e.iri LIMIT {MEMBERS} OFFSET {skip}"
    )
    for iri, label in graph.stored.run(query, (like,), limit=MEMBERS, seconds=SECONDS).rows:
        yield End(str(label or iri), str(iri))


def _thing_away(graph: Graph, iri: str) -> Thing | None:
    """A thing of an attached graph, by two queries."""
    remote, term, schema = graph.remote, iri_term(iri), graph.schema
    if remote is None:
        return None
    out = remote.select(f"SELECT ?p ?o {{ {term} ?p ?o }}", limit=MOST_AWAY, seconds=SECONDS)
    into = remote.select(f"SELECT ?p ?s {{ ?s ?p {term} }} LIMIT {MOST_AWAY}", limit=MOST_AWAY, seconds=SECONDS)
    if not out.rows and not into.rows:
        return None
    rows = [(p.value, o) for p, o in (*out.rows, *into.rows) if p and o]
    called = labels(graph, {iri, *(o.value for _, o in rows if o.kind == "iri")})

    def facts(pairs: Sequence[tuple[object, ...]], most: int) -> Iterator[Facts]:
        grouped: dict[str, list[End]] = {}
        for p, o in ((p, o) for p, o in pairs if p and o):
            value = o.value  # type: ignore[attr-defined]
            far = End(called.get(value, value), value) if o.kind == "iri" else End(value[:LONGEST_VALUE])  # type: ignore[attr-defined]
            grouped.setdefault(p.value, []).append(far)  # type: ignore[attr-defined]
        for predicate, ends in grouped.items():
            known = schema.predicate_of.get(predicate)
            if predicate != TYPE:
                label = known.label if known else predicate
                yield Facts(predicate, label, known.unit if known else "", tuple(ends[:most]), max(0, len(ends) - most))

    kinds = tuple(
        End(schema.class_of[o.value].label, o.value) for p, o in rows if p == TYPE and o.value in schema.class_of
    )
    told = tuple(facts(out.rows, MOST_VALUES)), tuple(facts(into.rows, MOST_LINKING))
    return Thing(iri, called.get(iri, iri), kinds, *told)


def _members_away(graph: Graph, own: Class, skip: int) -> Iterator[End]:
    if graph.remote is None:
        return
    query = f"SELECT ?s {{ ?s a {iri_term(own.iri)} }} ORDER BY ?s LIMIT {MEMBERS} OFFSET {skip}"
    rows = graph.remote.select(query, limit=MEMBERS, seconds=SECONDS).rows
    iris = [row[0].value for row in rows if row[0] is not None]
    called = labels(graph, iris)
    yield from (End(called.get(iri, iri), iri) for iri in iris)
