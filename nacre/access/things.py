"""Things and classes as their pages show them: Graph + name or IRI -> Thing, ClassView; Graph -> SchemaOverview."""

import re
import time
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace

from nacre.access.class_table import page_keys, plural_label, property_values, row_conditions, table_source
from nacre.access.likeness import engine_of
from nacre.access.open_graph import lexicon_for, look_up_labels
from nacre.errors import ToolError
from nacre.language.data import load_language_data
from nacre.language.tokens import name_tokens
from nacre.plans.sparql_vocabulary import format_iri as iri_term
from nacre.plans.sparql_vocabulary import write_membership
from nacre.records.browse import (
    LONGEST_VALUE,
    MOST_COUNTED,
    PAGE_LIMITS,
    BrowseLimits,
    ClassProperty,
    ClassView,
    FactEnd,
    PredicateFacts,
    TableRequest,
    Thing,
    ThingPassage,
)
from nacre.records.schema import Class, Datatype, Predicate, Relation, Schema
from nacre.records.turn import LONGEST_QUESTION, Rewrite
from nacre.stores.catalog import Graph
from nacre.stores.sparql_source import SparqlTerm
from nacre.stores.sqlite.tables import Cell, Tables, lexical_form, quote_if_needed
from nacre.stores.sqlite.triples import TYPE
from nacre.understanding.understand import understand
from nacre.wording import overview
from tools.provenance import EntityId, is_id, look_up_entities
from tools.search_passages import LEXICAL, retrieve_sentences

# facts of one thing in either direction, and other things of its name (given)
MOST_FACTS, MOST_INCOMING, MOST_ALIKE = 200, 50, 8

IRI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\x00-\x20<>\"{}|^`\\]+")


@dataclass(frozen=True)
class NamedThing:
    """The thing that a name means best, and the IRIs of further things that it may mean."""

    thing: Thing
    alike: tuple[str, ...]


def find_thing(graph: Graph, name: str, seconds: float) -> NamedThing:
    """The best thing of a name or IRI, without late facts (`seconds`). Blocking; raises ToolError `unknown_name`."""
    name = name.strip().encode(errors="replace").decode()
    if not name or len(name) > LONGEST_QUESTION:
        raise ToolError("refused", f"A name has 1 to {LONGEST_QUESTION} characters.")
    iri, alike = _resolve(graph, name)
    thing = local_thing(graph, iri, BrowseLimits(MOST_FACTS, MOST_INCOMING, passages=False, seconds=seconds))
    if thing is None:
        # it has a name, but nothing was looked up in time
        thing = Thing(iri, look_up_labels(graph, [iri]).get(iri, name), (), (), (), complete=False)
    return NamedThing(thing, alike)


def _resolve(graph: Graph, name: str) -> tuple[str, tuple[str, ...]]:
    """The IRI that is meant, and others that may be."""
    if IRI.fullmatch(name) and look_up_labels(graph, [name]).get(name):
        return name, ()
    names = lexicon_for(graph, name)
    words = name_tokens(name)
    spelt = [each for each in names.exact(words) if each.kind == "entity"] if words else []
    if words and not spelt:
        spelt = [n for n in names.find_containing([(word,) for word in words], MOST_ALIKE) if n.kind == "entity"]
    # a name that the data gives before one that only an IRI gives
    targets = [each.target for each in sorted(spelt, key=lambda each: each.weight < 0)]
    nearest = ""
    if not targets:
        read = understand(Rewrite(name), graph.schema, names)
        targets = [each.target for each in read.mentions if each.kind == "entity"]
        nearest = next((near for _, near in read.unknown if near), "")
    keys = [iri for iri in dict.fromkeys(targets) if IRI.fullmatch(iri)]
    if not keys:
        hint = f" The nearest name is {nearest!r}." if nearest else " Try the tool search."
        raise ToolError("unknown_name", f"No thing of this graph is called {name[:100]!r}.{hint}")
    return keys[0], tuple(keys[1 : MOST_ALIKE + 1])


MOST_PASSAGES = 6

LONGEST_SEARCHED = 900  # characters of a name that is searched in passages, which have about 900 (given)


def local_thing(graph: Graph, iri: str, bounds: BrowseLimits = PAGE_LIMITS) -> Thing | None:
    """All facts of a thing, within limits; None if the graph does not know it. Raises ToolError."""
    if graph.stored is None:
        return remote_thing(graph, iri, bounds)
    tables = _TimedTables(graph.stored, time.monotonic() + bounds.seconds)
    rows = tables.rows("SELECT id, label FROM entity WHERE iri = ?", (iri,))
    if not rows:
        return None
    key, label = rows[0][0], str(rows[0][1] or iri)[:LONGEST_VALUE]
    schema = graph.schema
    relation = _home_table(graph, tables, iri, key)
    classes = frozenset(iri for iri, names in schema.groups_of_class.items() if relation and relation.name in names)
    own = next((g.classes for g in schema.groups if relation and g.relation == relation.name), ())
    # the most specific first
    kinds = sorted((schema.class_of[c] for c in own if c in schema.class_of), key=lambda kind: kind.count)
    facts = [*_columns(tables, relation, key, schema), *_junctions(tables, key, classes, schema, bounds)]
    facts.sort(key=lambda each: schema.predicate_of[each.predicate].position)
    linking = list(_incoming(tables, key, classes, schema, bounds))
    ids = {_id(end.iri) for each in (*facts, *linking) for end in each.ends if end.iri}
    names = look_up_entities(ids, graph.stored)
    return Thing(
        iri,
        label,
        tuple(FactEnd(kind.label, kind.iri) for kind in kinds),
        tuple(_with_names(each, names) for each in facts),
        tuple(_with_names(each, names) for each in linking),
        tuple(_passages(graph, iri, label)) if bounds.passages else (),
        tables.complete,
    )


@dataclass
class _TimedTables:
    """The tables until the time is over; `complete` is then false."""

    tables: Tables
    deadline: float
    complete: bool = field(default=True)

    def rows(self, sql: str, params: Sequence[Cell] = (), limit: int = PAGE_LIMITS.values) -> list[tuple[Cell, ...]]:
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


def _fact_end(value: Cell, text: Cell, link: Cell, datatype: Datatype) -> FactEnd | None:
    """The end of a fact in a row; the IRI of a thing is its id until `_with_names` replaces it."""
    if link is not None:
        return FactEnd("", str(link))
    literal = text if text is not None or value is None else lexical_form(value, datatype)
    return None if literal is None else FactEnd(str(literal)[:LONGEST_VALUE])


def _id(text: str) -> EntityId:
    return int(text) if text.isdecimal() else text


def _with_names(facts: PredicateFacts, names: dict[EntityId, tuple[str, str]]) -> PredicateFacts:
    ends = [names.get(_id(end.iri)) if end.iri else None for end in facts.ends]
    pairs = zip(facts.ends, ends, strict=True)
    return replace(facts, ends=tuple(FactEnd(known[1], known[0]) if known else end for end, known in pairs))


def _home_table(graph: Graph, tables: _TimedTables, iri: str, key: Cell) -> Relation | None:
    known = graph.lexicon.thing(iri)
    named = graph.schema.relation_of.get(known.relation) if known else None
    if named is not None:
        return named
    for relation in graph.schema.relations:
        query = f"SELECT 1 FROM {quote_if_needed(relation.name)} WHERE {quote_if_needed(relation.key)} = ?"
        if relation.kind == "table" and tables.rows(query, (key,), 1):
            return relation
    return None


def _may_apply(kinds: dict[str, int], classes: Collection[str]) -> bool:
    return not classes or "" in kinds or any(c in kinds for c in classes)


def _columns(tables: _TimedTables, relation: Relation | None, key: Cell, schema: Schema) -> Iterator[PredicateFacts]:
    """The facts in the thing's own row."""
    if relation is None:
        return
    cells = {name: column for column in relation.columns for name in column.names}
    names = list(cells)
    if not names:
        return
    columns = ", ".join(map(quote_if_needed, names))
    own_row = f"{quote_if_needed(relation.name)} WHERE {quote_if_needed(relation.key)} = ?"
    query = f"SELECT {columns} FROM {own_row}"
    row = dict(zip(names, next(iter(tables.rows(query, (key,), 1)), ()), strict=False))
    for column in relation.columns:
        predicate = schema.predicate_of[column.predicate]
        raw = row.get(column.text)
        end = _fact_end(row.get(column.value), raw, row.get(column.link), predicate.datatype)
        if end is not None:
            unit = predicate.unit if raw is None and not end.iri else ""
            yield PredicateFacts(predicate.iri, predicate.label, unit, (end,))


def _junctions(
    tables: _TimedTables, key: Cell, classes: Collection[str], schema: Schema, bounds: BrowseLimits
) -> Iterator[PredicateFacts]:
    for iri, name in schema.junctions.items():
        predicate, relation = schema.predicate_of.get(iri), schema.relation_of.get(name)
        if predicate is None or relation is None or iri == TYPE or not _may_apply(predicate.domains, classes):
            continue
        column = relation.columns[0]
        cells = (quote_if_needed(name) if name else "NULL" for name in (column.value, column.text, column.link))
        of = f"{quote_if_needed(relation.name)} WHERE {quote_if_needed(relation.key)} = ?"
        rows = tables.rows(f"SELECT {', '.join(cells)} FROM {of}", (key,), MOST_COUNTED)
        most = bounds.most(iri, bounds.values)
        found = (_fact_end(value, text, link, predicate.datatype) for value, text, link in rows[:most])
        ends = [end for end in found if end is not None]
        if ends:
            unit = "" if any(row[1] is not None for row in rows) else predicate.unit
            yield PredicateFacts(iri, predicate.label, unit, tuple(ends), len(rows) - len(ends))


def _incoming(
    tables: _TimedTables, key: Cell, classes: Collection[str], schema: Schema, bounds: BrowseLimits
) -> Iterator[PredicateFacts]:
    found: dict[str, list[EntityId]] = {}
    for relation in schema.relations:
        for column in relation.columns if relation.kind != "view" else ():
            predicate = schema.predicate_of[column.predicate]
            if column.link and predicate.iri != TYPE and _may_apply(predicate.ranges, classes):
                own, link = quote_if_needed(relation.key), quote_if_needed(column.link)
                query = f"SELECT {own} FROM {quote_if_needed(relation.name)} WHERE {link} = ?"
                rows = tables.rows(query, (key,), MOST_COUNTED)
                found.setdefault(predicate.iri, []).extend(row[0] for row in rows if is_id(row[0]))
    for iri, ids in found.items():
        shown = sorted(set(ids), key=str)[: bounds.most(iri, bounds.linking)]
        if shown:
            ends = tuple(FactEnd("", str(i)) for i in shown)
            yield PredicateFacts(iri, schema.predicate_of[iri].label, "", ends, len(set(ids)) - len(shown))


def _passages(graph: Graph, iri: str, label: str) -> Iterator[ThingPassage]:
    """Passages of texts that contain the thing's name; without any the passage of its own facts."""
    if graph.passages is None:
        return
    found: list[ThingPassage] = []
    # no sentence of a passage contains a longer name
    if graph.lexical is not None and len(label) <= LONGEST_SEARCHED:
        index, passages = graph.lexical, graph.passages
        hits = retrieve_sentences(LEXICAL, index, passages, label, label, round=1, limit=MOST_PASSAGES)
        found = [
            ThingPassage(e.title, e.text, e.document, e.start, e.end)
            for e in hits.evidence
            if e.kind == "sentence" and e.document and label.casefold() in e.text.casefold()
        ]
    own = (ThingPassage(p.title, p.text[:LONGEST_VALUE]) for p in graph.passages.by_key(iri, 1))
    yield from found[:MOST_PASSAGES] or own


MAX_ROWS = 300  # rows of one query

Row = tuple[SparqlTerm | None, ...]


def remote_thing(graph: Graph, iri: str, bounds: BrowseLimits = PAGE_LIMITS) -> Thing | None:
    """A thing with its facts in both directions; None if it has none. Raises ToolError."""
    if graph.remote is None:
        return None
    remote, term, schema = graph.remote.source, iri_term(iri), graph.schema
    outgoing = remote.select(f"SELECT ?p ?o {{ {term} ?p ?o }}", limit=MAX_ROWS, seconds=bounds.seconds)
    linking_here = f"SELECT ?p ?s {{ ?s ?p {term} }} LIMIT {MAX_ROWS + 1}"
    incoming = remote.select(linking_here, limit=MAX_ROWS, seconds=bounds.seconds)
    out, into = outgoing.rows, incoming.rows
    if not out and not into:
        return None
    ends = [(p.value, o) for p, o in out if p is not None and o is not None]
    labels = look_up_labels(graph, {iri, *(t.value for row in (*out, *into) for t in row[1:] if t and t.kind == "iri")})
    own = [o.value for p, o in ends if p == TYPE and o.value in schema.class_of]
    kinds = tuple(FactEnd(schema.class_of[each].label, each) for each in own)
    facts, linking = (
        _facts(rows, schema, labels, bounds, usual) for rows, usual in ((out, bounds.values), (into, bounds.linking))
    )
    complete = not (outgoing.truncated or incoming.truncated)
    return Thing(iri, labels.get(iri, iri), kinds, facts, linking, complete=complete)


def remote_members(graph: Graph, own: Class, most: int, skip: int) -> Iterator[FactEnd]:
    """Some members of a class, in the order of their IRIs. Raises ToolError."""
    if graph.remote is None:
        return
    members = write_membership(graph.schema, own.iri, "?s", "?c")
    query = f"SELECT DISTINCT ?s {{ {members} }} ORDER BY ?s LIMIT {most} OFFSET {skip}"
    rows = graph.remote.source.select(query, limit=most, seconds=PAGE_LIMITS.seconds).rows
    iris = [row[0].value for row in rows if row[0] is not None]
    labels = look_up_labels(graph, iris)
    yield from (FactEnd(labels.get(iri, iri), iri) for iri in iris)


def _facts(
    rows: Sequence[Row], schema: Schema, labels: dict[str, str], bounds: BrowseLimits, usual: int
) -> tuple[PredicateFacts, ...]:
    """Rows of a predicate and an end, grouped by predicate."""
    grouped: dict[str, list[FactEnd]] = {}
    for predicate, end in rows:
        if predicate is not None and end is not None and predicate.value != TYPE:
            value = end.value
            far = FactEnd(labels.get(value, value), value) if end.kind == "iri" else FactEnd(value[:LONGEST_VALUE])
            grouped.setdefault(predicate.value, []).append(far)
    facts = []
    for iri, ends in grouped.items():
        most = bounds.most(iri, usual)
        known = schema.predicate_of.get(iri)
        label, unit = (known.label, known.unit) if known else (iri, "")
        facts.append(PredicateFacts(iri, label, unit, tuple(ends[:most]), max(0, len(ends) - most)))
    return tuple(facts)


MEMBERS = 50

PAGE_SECONDS = 4.0

SAMPLES, SAMPLED_ROWS = 4, 200  # sample values of a property, and the rows that they are taken from


def class_view(graph: Graph, iri: str, search: str = "", skip: int = 0) -> ClassView | None:
    """A class with at most 50 of its members, those whose names contain `search`; None if it is unknown."""
    schema = graph.schema
    own = schema.class_of.get(iri)
    if own is None:
        return None
    had = [p for p in schema.shown_predicates if p.domains.get(iri) and p.role != "type"]
    return ClassView(
        iri,
        own.label,
        plural_label(own, graph),
        own.comment,
        own.count,
        tuple(FactEnd(schema.class_of[p].label, p) for p in own.parents if p in schema.class_of),
        tuple(FactEnd(c.label, c.iri) for c in schema.shown_classes if iri in c.parents),
        tuple(_property(p, own, graph) for p in sorted(had, key=lambda p: (p.position, -p.domains[iri], p.label))),
        tuple(_members(graph, own, search, skip)),
        skip,
    )


def _property(p: Predicate, own: Class, graph: Graph) -> ClassProperty:
    schema = graph.schema
    far = sorted((c for c in p.ranges if c in schema.class_of), key=lambda c: -p.ranges[c])[:3]
    leads = tuple(FactEnd(schema.class_of[c].label, c) for c in far)
    return ClassProperty(p.iri, p.label, p.comment, p.unit, p.domains[own.iri], leads, _samples(p, own, graph))


def _samples(p: Predicate, own: Class, graph: Graph) -> tuple[str, ...]:
    """Values that members of the class have: the schema's own if all subjects are members, else those of some rows."""
    if p.domains[own.iri] >= p.subjects:
        return (p.values or p.samples)[:SAMPLES]
    source = table_source(graph, own.iri) if graph.stored is not None else None
    column = source.column_of.get(p.iri) if source is not None else None
    if source is None or column is None or not column.column.value:
        return ()
    value = property_values(source, column, "")
    some = f"SELECT {value.value} AS v FROM {value.tables} WHERE {value.value} IS NOT NULL LIMIT {SAMPLED_ROWS}"
    rows = graph.tables.run(f"SELECT DISTINCT v FROM ({some})", limit=SAMPLES, seconds=PAGE_SECONDS).rows
    return tuple(str(row[0])[:LONGEST_VALUE] for row in rows)


def _members(graph: Graph, own: Class, search: str, skip: int) -> Iterator[FactEnd]:
    if graph.stored is None:
        yield from remote_members(graph, own, MEMBERS, skip)
        return
    source = table_source(graph, own.iri)
    if source is None:
        return
    request = TableRequest(own.iri, search, skip=skip)
    keys = page_keys(graph.stored, source, request, row_conditions(source, request), MEMBERS)
    members = look_up_entities([key for key in keys if is_id(key)], graph.stored)
    for key in keys:
        if is_id(key):
            iri, label = members[key]
            yield FactEnd(label, iri)


# classes of a small diagram and of one that can be searched, links for each class, names of a link
MOST_CLASSES, MOST_SEARCHED, LINKS_EACH, MOST_NAMES = 16, 400, 4, 6


@dataclass(frozen=True)
class ClassNode:
    """One class in the diagram, with its number of members. `is_plumbing` classes have no members, no name, or are
    terms of RDF, OWL, SKOS or SHACL."""

    iri: str
    label: str
    count: int
    is_plumbing: bool = False


@dataclass(frozen=True)
class ClassLink:
    """The links between the things of two classes: labels of predicates, the most frequent first, and triples."""

    start: str
    end: str
    predicates: tuple[str, ...]
    triples: int


@dataclass(frozen=True)
class SchemaOverview:
    """`classes` and `links` of the diagram; `all_classes` and `properties` are the numbers in the whole graph."""

    name: str
    version: str
    things: int
    triples: int
    all_classes: int
    properties: int
    classes: tuple[ClassNode, ...]
    links: tuple[ClassLink, ...]
    words: tuple[str, ...] = ()


def overview_words(graph: Graph, code: str = "en") -> tuple[str, ...]:
    """What is in the graph, by whom it was made and when it was read, in English, German or French, as in answers."""
    engine = engine_of(graph)
    if code == "en":
        sentences = [s.text for s in overview.overview_sentences("contents", engine, 1) if s.title != overview.EXAMPLES]
    else:
        about = overview.translated_overview(graph.schema, code, is_short=False, has_examples=False)
        sentences = [about, overview.translated_origin(engine, code)]
    return tuple(filter(None, [*sentences, overview.read_sentence(graph.version, code)]))


def origin_words(graph: Graph, code: str = "en") -> str:
    """What the graph states of itself: authors, publisher, date, version, licence; and when it was read."""
    engine = engine_of(graph)
    if code == "en":
        origin = overview.origin_sentence(engine)
        stated = origin.text if origin is not None else ""
    else:
        stated = overview.translated_origin(engine, code)
    return " ".join(filter(None, (stated, overview.read_sentence(graph.version, code))))


def schema_overview(graph: Graph, most: int = MOST_CLASSES) -> SchemaOverview:
    """The largest and best linked classes, the largest first, and the links between these. More than 16 classes are
    for a diagram that can be searched: it also has classes without members of their own."""
    schema = graph.schema
    home = {group.relation: own.iri for group in schema.groups if (own := schema.smallest_class(group.classes))}
    counts: Counter[str] = Counter()
    for group in schema.groups:
        if group.relation in home and not schema.class_of[home[group.relation]].hidden:
            counts[home[group.relation]] += group.count
    if most > MOST_CLASSES:
        counts.update({c.iri: 0 for c in schema.shown_classes})
    links: dict[tuple[str, str], Counter[str]] = {}
    for link in graph.lexicon.links:
        ends = home.get(link.subject), home.get(link.object)
        predicate = schema.predicate_of.get(link.predicate)
        if ends[0] and ends[1] and predicate is not None and not predicate.hidden:
            links.setdefault((ends[0], ends[1]), Counter())[link.predicate] += link.triples
    linked: Counter[str] = Counter()
    for (start, end), predicates in links.items():
        for iri in {start, end}:
            linked[iri] += sum(predicates.values())
    shown = sorted(counts, key=lambda iri: (-counts[iri] - linked[iri], iri))[:most]
    lines = []
    for (start, end), predicates in links.items():
        if {start, end} <= set(shown):
            names = tuple(schema.predicate_of[iri].label for iri, _ in predicates.most_common(MOST_NAMES))
            lines.append(ClassLink(start, end, names, sum(predicates.values())))
    machinery = ("_:", *load_language_data(overview.HEADERS)["machinery"])
    nodes = (
        ClassNode(own.iri, own.label, own.count, not (own.count and own.label) or own.iri.startswith(machinery))
        for own in map(schema.class_of.__getitem__, shown)
    )
    return SchemaOverview(
        graph.name,
        graph.version,
        schema.entities,
        schema.triples,
        len(schema.shown_classes),
        sum(p.role == "fact" for p in schema.shown_predicates),
        tuple(sorted(nodes, key=lambda c: (-c.count, c.iri))),
        tuple(sorted(lines, key=lambda line: (-line.triples, line.start, line.end))[: LINKS_EACH * most]),
    )
