"""Collect the names of a graph, and who is linked to whom, into its lexicon: Tables -> lexicon file."""

import sqlite3
from collections import Counter
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from urllib.parse import unquote

from records.schema import Column, Predicate, Relation, Schema
from semantics.words import name_tokens, split_name
from stores.lexicon import Link, Name, write_lexicon
from stores.tables import Tables


def write_names(tables: Tables, path: Path) -> int:
    """Write the lexicon of a graph to `path`; returns how many names it holds."""
    schema, db = tables.schema, tables.trusted()
    links = list(_links(db, schema))
    return write_lexicon(path, _names(db, schema, links), _facts(db, schema), links)


def _names(db: sqlite3.Connection, schema: Schema, links: list[Link]) -> Iterator[Name]:
    for c in schema.classes:
        for text in {c.label, *c.alt_labels, split_name(local_name(c.iri))}:
            yield Name(name_tokens(text), "class", c.iri, "", c.label, c.relation, 1.0)
    for g in schema.groups:
        for text in {g.label, *g.words, *_compounds(g.label, g.words)}:
            yield Name(name_tokens(text), "group", g.relation, "", g.label, g.relation, 1.0)
    for p in schema.predicates:
        if p.role in ("type", "schema"):
            continue
        for text in {split_name(n) for n in (p.label, *p.alt_labels, local_name(p.iri))}:
            yield Name(name_tokens(text), "predicate", p.iri, "", p.label, "", 1.0)
        if p.has_literals and p.role == "fact" and p.datatype == "text":
            for value in p.values:
                yield Name(name_tokens(split_name(value)), "value", value, p.iri, value, "", 1.0)
    yield from _entities(db, schema)


def _compounds(label: str, words: tuple[str, ...]) -> list[str]:
    return [f"{label} {word}" for word in words if word.lower() not in label.lower()]


def _entities(db: sqlite3.Connection, schema: Schema) -> Iterator[Name]:
    """Every name of every described thing: its label, what its naming predicates say, the last segment of its IRI."""
    weight: Counter[int] = Counter()
    for predicate in schema.predicates:
        if predicate.has_links and predicate.role not in ("type", "schema"):
            weight.update(chain.from_iterable(_pairs(db, schema, predicate.iri)))
    naming = [p for p in schema.predicates if p.role in ("name", "identifier") and p.has_literals]
    for group in schema.groups:
        relation = schema.relation_of[group.relation]
        extra: dict[int, set[str]] = {}
        for predicate in naming:
            for key, text in _literals(db, schema, relation, predicate):
                extra.setdefault(key, set()).add(str(text))
        rows = db.execute(
            f'SELECT e.id, e.iri, e.label FROM "{relation.name}" r JOIN entity e ON e.id = r."{relation.key}"'
        )
        for key, iri, label in rows:
            others = extra.get(key)
            names = {name_tokens(text) for text in {label or "", *others}} if others else {name_tokens(label or "")}
            local = local_name(iri)
            names.add(name_tokens(split_name(unquote(local) if "%" in local else local)))
            # a thing that only its IRI names is rarely the one meant
            prominence = -1.0 if not others and len(names) == 1 else weight[key]
            for tokens in names:
                yield Name(tokens, "entity", iri, "", label or iri, group.relation, prominence)


def _facts(db: sqlite3.Connection, schema: Schema) -> Iterator[tuple[str, str, int]]:
    """(table, predicate, how many of its rows have it)."""
    for group in schema.groups:
        relation = schema.relation_of[group.relation]
        for column in relation.columns:
            filled = " OR ".join(f'"{c}" IS NOT NULL' for c in (column.text, column.value, column.link) if c)
            if filled:
                (n,) = db.execute(f'SELECT count(*) FROM "{relation.name}" WHERE {filled}').fetchone()
                if n:
                    yield relation.name, column.predicate, n
        for iri, name in schema.junctions.items():
            junction = schema.relation_of[name]
            (n,) = db.execute(
                f'SELECT count(DISTINCT j."{junction.key}") FROM "{name}" j '
                f'JOIN "{relation.name}" r ON r."{relation.key}" = j."{junction.key}"'
            ).fetchone()
            if n:
                yield relation.name, iri, n


def _links(db: sqlite3.Connection, schema: Schema) -> Iterator[Link]:
    home: dict[int, str] = {}
    for group in schema.groups:
        relation = schema.relation_of[group.relation]
        rows = db.execute(f'SELECT "{relation.key}" FROM "{relation.name}"')
        home.update(dict.fromkeys(chain.from_iterable(rows), group.relation))
    for predicate in schema.predicates:
        if predicate.has_links and predicate.role not in ("type", "schema"):
            known = home.get
            counts = Counter((known(s, ""), known(o, "")) for s, o in _pairs(db, schema, predicate.iri))
            for (subject_home, object_home), n in counts.items():
                yield Link(predicate.iri, subject_home, object_home, n)


def _columns(schema: Schema, predicate: str) -> Iterator[tuple[Relation, Column]]:
    """The tables (never views) where a predicate lies, with its column."""
    for relation in schema.relations:
        if relation.kind != "view":
            for column in relation.columns:
                if column.predicate == predicate:
                    yield relation, column


def _pairs(db: sqlite3.Connection, schema: Schema, predicate: str) -> Iterator[tuple[int, int]]:
    for relation, column in _columns(schema, predicate):
        if column.link:
            yield from db.execute(
                f'SELECT "{relation.key}", "{column.link}" FROM "{relation.name}" WHERE "{column.link}" IS NOT NULL'
            )


def _literals(
    db: sqlite3.Connection, schema: Schema, relation: Relation, predicate: Predicate
) -> Iterator[tuple[int, object]]:
    if predicate.iri in schema.junctions:
        junction = schema.relation_of[schema.junctions[predicate.iri]]
        (column,) = junction.columns
        yield from db.execute(
            f'SELECT j."{junction.key}", j."{column.text or column.value}" FROM "{junction.name}" j '
            f'JOIN "{relation.name}" r ON r."{relation.key}" = j."{junction.key}" '
            f'WHERE j."{column.text or column.value}" IS NOT NULL'
        )
        return
    for column in relation.columns:
        if column.predicate == predicate.iri and (column.text or column.value):
            name = column.text or column.value
            yield from db.execute(
                f'SELECT "{relation.key}", "{name}" FROM "{relation.name}" WHERE "{name}" IS NOT NULL'
            )


def local_name(iri: str) -> str:
    """The last segment of an IRI.

    >>> local_name("http://ex.org/a#birthPlace")
    'birthPlace'
    """
    return iri.rstrip("/#").rsplit("#", 1)[-1].rsplit("/", 1)[-1]
