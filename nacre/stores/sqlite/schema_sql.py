"""The schema as SQL text for models and users: Schema -> CREATE statements with comments on what the rows contain."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate

from nacre.records.evidence import shorten
from nacre.records.schema import Column, Predicate, Relation, Schema
from nacre.stores.sqlite.tables import Tables, quote_if_needed

_MAX_VALUES = 12

_MAX_VALUE_LENGTH = 50

# columns, and characters of a column's meaning and values, shown beside what a question is about (given)
_MAX_COLUMNS, _MAX_MEANING, _MAX_VALUES_LENGTH = 12, 60, 70

# up to so many columns are shown: the line that says that they are left out would be as long (given)
_MAX_LEFT = 3

# in a part for a question: columns named in short, characters of columns that are left out, junctions that are named,
# tables linking to a junction, characters of a view (given)
_MAX_NAMED, _MAX_LEFT_LENGTH, _MAX_JUNCTIONS, _MAX_OWNERS, _MAX_ABOUT = 10, 600, 20, 4, 80

# the last word of labels of nodes that qualify a value, as ingestion makes them
STATEMENT = "statement"

# properties for one language: as ingestion derives them, and as data names them ("nameFR", "name_fr", "name:fr")
_TRANSLATION = re.compile(r"@([a-z]{2,3})(-[A-Za-z0-9]+)*$")

_LANGUAGE = re.compile(r"(?<=[a-z])[A-Z]{2}$|(?<=[_:.-])[a-z]{2}$")

# Not DATE for dates: SQLite would turn a text like "01" in such a column into a number.
SQL_TYPES = {"integer": "INTEGER", "real": "REAL", "boolean": "BOOLEAN", "year": "INTEGER"}


def schema_sql(tables: Tables, relations: Collection[str] | None = None, focus: Collection[str] | None = None) -> str:
    """CREATE statements for `entity` and the relations (all by default), without the columns of raw text.

    With a `focus`, the predicates that a question is about, these are shown in full. Of other columns the most useful
    ones are shown in short: links first; copies, names in other languages and identifiers are left out. A line names
    columns that are left out. A junction that the question is not about is one line.

    A view is one line with the tables it unites, or with the view before it that has the same columns. Columns without
    a value, classes without members and what a layer hides are left out; named relations without a focus are shown with
    what is hidden, since some facts are found through that alone. Tables that a column refers to and that are not
    shown are listed at the end.
    """
    schema = tables.schema
    shown = [r for r in schema.relations if relations is None or r.name in relations]
    whole = relations is not None and focus is None
    empty = {c.relation for c in schema.classes if not c.count} | (frozenset() if whole else schema.hidden_relations)
    parts = [
        "-- every thing of every table has a row here too, with the same id; label is its name\n"
        "CREATE TABLE entity (\n  id INTEGER PRIMARY KEY,\n  iri TEXT,\n  label TEXT\n);"
    ]
    views: dict[tuple[str, ...], list[Relation]] = {}
    for relation in shown:
        if relation.kind == "view" and relation.name not in empty and len(relation.columns) > 1:
            views.setdefault(_column_names(relation), []).append(relation)
    copies: dict[tuple[str, ...], str] = {}
    described: set[str] = set()
    for relation in shown:
        if relation.name in empty:
            continue
        columns = _column_names(relation)
        alike = views.get(columns, []) if relation.kind == "view" else []
        is_part = focus is not None and relation.kind == "table" and len(columns) > _MAX_LEFT
        same = copies.get(columns) if alike or is_part else None
        united = _united(schema, relation)
        if united and (relations is None or united <= {r.name for r in shown}):
            name, tables_of_view = quote_if_needed(relation.name), ", ".join(sorted(united))
            parts.append(f"-- {_about(schema, relation)}\n-- view {name}: all rows and columns of {tables_of_view}")
        elif same is not None:
            known = _about(schema, relation, 200 if focus is None else _MAX_ABOUT)
            about = f"-- {known}\n" if known else ""
            shared = count_shared_rows(tables, relation, same) if alike else 0
            both = f"; {shared} of its rows are in both" if shared else ""
            of = f"{quote_if_needed(relation.name)}: the columns of {same}{both}"
            parts.append(f"{about}-- {relation.kind} {of}{_all_labels(tables, relation)}")
        else:
            copies.setdefault(columns, quote_if_needed(relation.name))
            line = _copied_view(schema, relation, shown) if alike and focus is not None else ""
            if line:
                parts.append(line)
            else:
                parts.append(_statement(tables, relation, alike, focus, described, whole=whole))
    if relations is not None:
        parts += _referenced_tables(schema, "\n".join(parts), shown, empty, focus or (), whole=whole)
    if focus is not None:
        parts += _further_junctions(schema, shown)
    return "\n\n".join(parts) + "\n"


def _all_labels(tables: Tables, relation: Relation) -> str:
    """The labels of all things of a small table, such as the codes of a list; "" for others."""
    if not 0 < _size(tables.schema, relation) <= _MAX_VALUES:
        return ""
    of = f"SELECT {quote_if_needed(relation.key)} FROM {quote_if_needed(relation.name)}"
    found = tables.trusted().execute(f"SELECT label FROM entity WHERE id IN ({of}) ORDER BY label")
    return f"; its things: {', '.join(_short(label) for (label,) in found)}"


def _copied_view(schema: Schema, relation: Relation, shown: Sequence[Relation]) -> str:
    """A line for a view that has all columns of tables shown and no others; "" if there are none."""
    own, inside = set(_column_names(relation)), _united(schema, relation)
    known = [each for each in shown if each.name in inside and each.columns and own >= set(_column_names(each))]
    if own != {name for each in known for name in _column_names(each)}:
        return ""
    of = ", ".join(quote_if_needed(each.name) for each in known)
    about = f"-- {text}\n" if (text := _about(schema, relation, _MAX_ABOUT)) else ""
    return f"{about}-- view {quote_if_needed(relation.name)}: rows of {of}, with their columns"


def _first_columns(schema: Schema, relation: Relation, focus: Collection[str]) -> Sequence[str]:
    """The columns that a question is about, then the first that no other language and no node behind a value has."""
    useful = [
        column
        for column in relation.columns
        if (known := schema.predicate_of.get(column.predicate)) and not (known.hidden or is_secondary(schema, known))
    ]
    useful.sort(key=lambda column: column.predicate not in focus)
    return [column.value or column.link for column in useful[:_MAX_NAMED]]


def _column_names(relation: Relation) -> tuple[str, ...]:
    return tuple(column.value or column.link for column in relation.columns)


def column_comment(predicate: Predicate, samples: Sequence[str] = (), *, short: bool = False) -> str:
    """Meaning, unit and values of a predicate in one line; `samples` replace the predicate's own."""
    meaning = _meaning(predicate, short=short)
    parts = [meaning] if meaning else []
    if predicate.role == "identifier":
        parts.append("unique" if predicate.datatype == "text" else "an identifier")
    if predicate.unit:
        parts.append(f"in {predicate.unit}")
    texts = [*predicate.values, *(samples or predicate.samples)]
    if predicate.datatype == "text" and predicate.role == "fact" and texts and all(map(is_number, texts)):
        parts.append("numbers as text")
    if predicate.datatype == "boolean":
        return _clean("; ".join([*parts, "1 or 0"]))
    bounds = predicate.minimum, predicate.maximum
    few = 0 < len(predicate.values) <= _MAX_VALUES
    if bounds[0] is not None and bounds[1] is not None and (predicate.unit or not few):
        parts.append(f"from {bounds[0]:.10g} to {bounds[1]:.10g}")
    elif predicate.values:
        shown = predicate.values[:_MAX_VALUES]
        if short:
            # as many as have room, at least one
            lengths = accumulate(len(_short(value)) + 2 for value in shown)
            shown = shown[: max(1, sum(length <= _MAX_VALUES_LENGTH for length in lengths))]
        more = ", ..." if len(predicate.values) > len(shown) else ""
        parts.append("one of: " + ", ".join(map(_short, shown)) + more)
    elif samples or predicate.samples:
        parts.append("e.g. " + ", ".join(map(_short, (samples or predicate.samples)[: 1 if short else 2])))
    return _clean("; ".join(parts))


def _meaning(predicate: Predicate, *, short: bool) -> str:
    return shorten(_clean(predicate.comment).rstrip(". "), _MAX_MEANING if short else 200)


def is_number(text: str) -> bool:
    """Whether a text reads as a number of Python."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def column_definitions(
    column: Column,
    predicate: Predicate,
    target: str,
    samples: Sequence[str] = (),
    filled: str = "",
    targets: str = "",
    *,
    short: bool = False,
) -> list[tuple[str, str]]:
    """The SQL columns of a predicate with a comment each: value, low, high, raw text, link (to `target`). `targets`
    names the tables behind a link of several, `filled` says how many rows have a value, "" if all have one."""
    kind = SQL_TYPES.get(predicate.datatype, "TEXT")
    text = "; ".join(x for x in (column_comment(predicate, samples, short=short), filled) if x)
    found: list[tuple[str, str]] = []
    if column.value:
        shape = (
            {
                "range": "middle of the range",
                "pair": "first of two",
                "period": "a date in words, which has no order",
            }.get(predicate.shape, "")
            if column.low
            else ""
        )
        found.append((f"{quote_if_needed(column.value)} {kind}", "; ".join(x for x in (shape, text) if x)))
    if column.low:
        ends = ("first possible day", "last possible day")
        notes = ends if predicate.shape == "period" else ("lower number", "higher number")
        found += [
            (f"{quote_if_needed(end)} {kind}", note) for end, note in zip((column.low, column.high), notes, strict=True)
        ]
    if column.text:
        found.append((f"{quote_if_needed(column.text)} TEXT", "as written in the data"))
    if column.link:
        meaning = _meaning(predicate, short=short)
        # the values of a link are the names in its target table
        note = "; ".join(x for x in ("" if column.value else meaning, targets, "" if column.value else filled) if x)
        found.append((f"{quote_if_needed(column.link)} INTEGER REFERENCES {quote_if_needed(target)}(id)", note))
    return found


def create_table(name: str, columns: Sequence[tuple[str, str]]) -> str:
    """A CREATE TABLE statement: one line for each column, with its comment at the end."""
    lines = []
    for number, (definition, comment) in enumerate(columns):
        comma = "," if number < len(columns) - 1 else ""
        lines.append(f"  {definition}{comma}" + (f" -- {comment}" if comment else ""))
    return f"CREATE TABLE {quote_if_needed(name)} (\n" + "\n".join(lines) + "\n)"


def _referenced_tables(
    schema: Schema, text: str, shown: Sequence[Relation], empty: Collection[str], focus: Collection[str], *, whole: bool
) -> list[str]:
    """A line for each table that the text of the shown ones refers to and that is not shown."""
    links = [column.predicate for relation in shown for column in relation.columns if column.link]
    known = [schema.predicate_of[iri] for iri in links if iri in schema.predicate_of]
    names = dict.fromkeys(link_target(schema, predicate) for predicate in known if whole or not predicate.hidden)
    names = dict.fromkeys(name for name in names if f"REFERENCES {quote_if_needed(name)}(" in text)
    lines, bare = list[str](), list[str]()
    for name in names:
        if name in schema.relation_of and name not in empty and all(name != each.name for each in shown):
            listed = ", ".join(map(quote_if_needed, _first_columns(schema, schema.relation_of[name], focus)))
            if listed:
                lines.append(f"-- table {quote_if_needed(name)}, in short: id, {listed}")
            else:
                bare.append(quote_if_needed(name))
    if bare:
        lines.append(f"-- tables that have only id (names: entity.label): {', '.join(bare)}")
    return lines


def _further_junctions(schema: Schema, shown: Sequence[Relation]) -> list[str]:
    """A line with the junctions from tables shown that are not shown themselves, those with most rows first."""
    names = {relation.name for relation in shown}
    aside = names | schema.hidden_relations
    known_links = (each for each in links_from(schema, names) if schema.junctions[each.iri] not in aside)
    left = [each for each in known_links if not is_secondary(schema, each)]
    listed = list[str]()
    for known in sorted(left, key=lambda each: (-each.triples, each.iri))[:_MAX_JUNCTIONS]:
        relation = schema.relation_of[schema.junctions[known.iri]]
        columns = (name for each in relation.columns for name in (each.value, each.link) if name)
        target = link_target(schema, known)
        to = "" if target == "entity" or target in relation.name else f" -> {target}"
        listed.append(
            f"{quote_if_needed(relation.name)}({', '.join(map(quote_if_needed, (relation.key, *columns)))}{to})"
        )
    return [f"-- further tables of links and lists: {', '.join(listed)}"] if listed else []


def links_from(schema: Schema, names: Collection[str]) -> list[Predicate]:
    """The predicates with a junction that things of these tables have."""
    owners = {each.iri for each in schema.classes if each.relation in names}
    owners.update(iri for each in schema.groups if each.relation in names for iri in each.classes)
    return [schema.predicate_of[iri] for iri in schema.junctions if owners & schema.predicate_of[iri].domains.keys()]


def _statement(
    tables: Tables,
    relation: Relation,
    alike: Sequence[Relation],
    focus: Collection[str] | None,
    described: set[str],
    *,
    whole: bool,
) -> str:
    """`alike` views share the statement; `whole`: with hidden columns; `described` predicates get no comment again."""
    schema = tables.schema
    columns = [_key_column(schema, relation, focus)]
    filled = fill_notes(tables, alike or [relation])
    kept: Sequence[Column] = relation.columns
    more = ""
    if focus is not None and relation.kind != "junction":
        kept, more = _useful_columns(tables, relation, filled, focus)
    for column in kept:
        predicate = schema.predicate_of.get(column.predicate)
        name = column.value or column.link
        if predicate is None or (predicate.hidden and not whole) or name not in filled:
            continue
        own, samples = restrict_to_relation(tables, relation, column, predicate, _MAX_VALUES)
        shown = Column(column.predicate, column.value, column.low, column.high, "", column.link)
        # ingestion completes what a graph declares as inverse
        inverse = [schema.predicate_of[iri].label for iri in predicate.inverses if iri in schema.predicate_of]
        turned = f"the same links as {', '.join(inverse)}, turned round" if inverse else ""
        definitions = column_definitions(
            shown,
            own,
            link_target(schema, predicate),
            samples,
            filled[name],
            "; ".join(filter(None, (_targets(schema, predicate), turned))) if column.link else "",
            short=focus is not None and column.predicate not in focus,
        )
        is_again = focus is not None and column.predicate in described - (set(focus) - translations(schema).keys())
        again = ((definition, "" if n else filled[name]) for n, (definition, _) in enumerate(definitions))
        columns += again if is_again else definitions
        described.add(column.predicate)
    if relation.kind == "junction" and focus is not None:
        more = _sample_link(tables, relation)
        if all(c.predicate not in focus for c in relation.columns):
            one_line = ", ".join(definition for definition, _ in columns)
            return f"CREATE TABLE {quote_if_needed(relation.name)} ({one_line});{more}"
    about = _about(schema, relation, 200 if focus is None else _MAX_ABOUT)
    known_columns = (schema.predicate_of.get(column.predicate) for column in relation.columns)
    if relation.kind != "junction" and all(each is None or each.role != "name" for each in known_columns):
        about = f"{about}; names: entity.label" if about else "names: entity.label"
    return (f"-- {about}\n" if about else "") + create_table(relation.name, columns) + f";{more}"


def _sample_link(tables: Tables, relation: Relation) -> str:
    """A comment with the labels of two things that a row of a junction links; "" without a link."""
    link = next((column.link for column in relation.columns if column.link), "")
    if not link:
        return ""
    found = tables.trusted().execute(
        f"SELECT one.label, other.label FROM {quote_if_needed(relation.name)} AS t"
        f" JOIN entity AS one ON one.id = t.{quote_if_needed(relation.key)}"
        f" JOIN entity AS other ON other.id = t.{quote_if_needed(link)} LIMIT 1"
    )
    return "".join(f" -- e.g. {_short(one)} -> {_short(other)}" for one, other in found)


def _key_column(schema: Schema, relation: Relation, focus: Collection[str] | None) -> tuple[str, str]:
    """The definition of the key with a comment: for a junction, the tables that it links from."""
    key = quote_if_needed(relation.key)
    if relation.kind != "junction":
        return f"{key} INTEGER PRIMARY KEY", ""
    owners = sorted(_owners(schema, relation))
    if len(owners) == 1 and owners[0].isidentifier():
        return f"{key} INTEGER REFERENCES {quote_if_needed(owners[0])}(id)", ""
    shown = owners if focus is None else owners[:_MAX_OWNERS]
    more = f" and {len(owners) - len(shown)} more" if len(owners) > len(shown) else ""
    return f"{key} INTEGER", f"id in {', '.join(shown)}{more}" if owners[1:] else ""


def _useful_columns(
    tables: Tables, relation: Relation, filled: Mapping[str, str], focus: Collection[str]
) -> tuple[Sequence[Column], str]:
    """Those of the focus and the most useful others, in order, and a line that names what is left out."""
    schema = tables.schema
    known_columns = [
        (place, column, known)
        for place, column in enumerate(relation.columns)
        if (known := schema.predicate_of.get(column.predicate)) is not None and (column.value or column.link) in filled
    ]
    copies = _copied_columns(tables, relation, [column for _, column, known in known_columns if known.role == "name"])
    links, seen = 0, set[tuple[str, ...]]()
    ranked: list[tuple[int, int, int]] = []
    for place, column, known in sorted(known_columns, key=lambda each: -_filled_share(schema, each[2])):
        values = known.values or known.samples
        is_copy = column.value in copies or (bool(values) and not column.link and values in seen)
        seen.add(values)
        links += bool(column.link)
        use = 1 if known.role == "name" else 3 if column.value or links > _MAX_COLUMNS // 2 else 2
        use = 6 if is_copy or known.iri in translations(schema) else 5 if is_secondary(schema, known) else use
        use = 4 if known.hidden else 0 if known.iri in focus else use
        ranked.append((use, len(ranked), place))
    ranked.sort()
    useful = sum(use <= 3 for use, *_ in ranked)
    most = max(_MAX_COLUMNS, sum(not use for use, *_ in ranked))
    places = [place for *_, place in ranked[: useful if useful <= most + _MAX_LEFT else most]]
    left = [relation.columns[place] for *_, place in ranked[len(places) :]]
    return [relation.columns[place] for place in sorted(places)], _left_out(left, translations(schema))


def _left_out(left: Sequence[Column], codes: Mapping[str, str]) -> str:
    """A line that names the columns that are left out, of languages together, and counts those that have no room."""
    ends: dict[str, list[str]] = {}
    for column in left:
        name, code = quote_if_needed(column.value or column.link), codes.get(column.predicate, "")
        stem = name.removesuffix(f"_{code}")
        ends.setdefault(stem, []).extend([code] if stem != name else [])
    names = [f"{stem}_({'|'.join(own)})" if own else stem for stem, own in ends.items()]
    shown = sum(length <= _MAX_LEFT_LENGTH for length in accumulate(len(name) + 2 for name in names))
    more = sum(max(1, len(own)) for own in list(ends.values())[shown:])
    parts = [f"also {', '.join(names[:shown])}" if shown else "", f"{more} more columns: look them up" if more else ""]
    return "\n-- " + "; ".join(filter(None, parts)) if left else ""


def _copied_columns(tables: Tables, relation: Relation, columns: Sequence[Column]) -> set[str]:
    """The columns of names whose values are those of an earlier one in every row."""
    names = [column.value for column in columns if column.value]
    if len(names) < 2 or relation.kind == "junction" or _size(tables.schema, relation) > _MAX_COUNTED:
        return set()
    read, of = tables.trusted().execute, quote_if_needed(relation.name)
    found: set[str] = set()
    for place, name in enumerate(names):
        own = quote_if_needed(name)
        for other in (quote_if_needed(each) for each in names[:place] if each not in found):
            if read(f"SELECT NOT EXISTS (SELECT 1 FROM {of} WHERE {own} IS NOT {other})").fetchone()[0]:
                found.add(name)
                break
    return found


def is_secondary(schema: Schema, predicate: Predicate) -> bool:
    """Whether people seldom ask for a predicate: an identifier, a name in another language, a node behind a value."""
    label = predicate.label or predicate.comment
    is_translation = predicate.iri in translations(schema)
    return predicate.role == "identifier" or is_translation or label.endswith(f" {STATEMENT}")


def translations(schema: Schema) -> dict[str, str]:
    """The predicates for one language with its code: derived ones, and others beside one for English whose name differs
    from theirs in the code alone."""

    def compute() -> dict[str, str]:
        derived = {p.iri: code[1] for p in schema.predicates if (code := _TRANSLATION.search(p.iri))}
        coded = {p.iri: code[0].lower() for p in schema.predicates if (code := _LANGUAGE.search(p.iri))}
        english = {iri[:-2] for iri, code in coded.items() if code == "en"}
        return derived | {iri: code for iri, code in coded.items() if code != "en" and iri[:-2] in english}

    return schema.cache.get("translations", compute)


def _filled_share(schema: Schema, predicate: Predicate) -> float:
    """The largest share of the things of a class that have the predicate; a class of one thing says little."""
    counts = ((n, schema.class_of[iri].count) for iri, n in predicate.domains.items() if iri in schema.class_of)
    return max((n / count for n, count in counts if count > 1), default=0.0)


def _united(schema: Schema, relation: Relation) -> set[str]:
    """The tables of the groups that a class view unites; empty for other relations."""
    classes = {c.iri for c in schema.classes if c.relation == relation.name}
    if relation.kind != "view" or not classes:
        return set()
    within = (schema.groups_of_class.get(iri, frozenset()) for iri in classes)
    return {group for groups in within for group in groups} - {relation.name}


def _about(schema: Schema, relation: Relation, longest: int = 200) -> str:
    """What a relation has, in at most so many characters a class, and its number of rows."""
    found = [c for c in schema.classes if c.relation == relation.name]
    parts = [f"{c.label}: {c.comment}" if c.comment else c.label for c in found]
    parts += [" ".join(g.words) for g in schema.groups if g.relation == relation.name and g.words]
    text, count = "; ".join(shorten(_clean(p), longest) for p in parts if p), _size(schema, relation)
    return f"{text} ({count} rows)" if text and count else text


def _owners(schema: Schema, relation: Relation) -> set[str]:
    """The tables whose rows a junction links from: the smallest classes that have as many subjects together."""
    predicate = schema.predicate_of.get(relation.columns[0].predicate) if relation.columns else None
    if predicate is None:
        return set()
    classes = [schema.class_of[iri] for iri in predicate.domains if iri in schema.class_of]
    found: set[str] = set()
    covered = 0
    for each in sorted(classes, key=lambda c: (c.count, c.iri)):
        if covered < predicate.subjects:
            found.add(each.relation)
            covered += predicate.domains[each.iri]
    return found


def _targets(schema: Schema, predicate: Predicate) -> str:
    """The tables that the links of a predicate lead to with their shares, "" if one table has all targets."""
    if link_target(schema, predicate) in {group.relation for group in schema.groups}:
        return ""
    parents = {iri for each in predicate.ranges if each for iri in schema.with_parents([each]) - {each}}
    ends = [(schema.class_of[i], n) for i, n in predicate.ranges.items() if i in schema.class_of and i not in parents]
    ends = [(each, number) for each, number in ends if number < predicate.objects]
    # a table says more than a class that unites several
    ends = [end for end in ends if end[0].relation in {group.relation for group in schema.groups}] or ends
    shown = sorted(ends, key=lambda end: (-end[1], end[0].iri))[:3]
    shares = {each.relation: n for each, n in reversed(shown)}
    listed = ", ".join(f"{quote_if_needed(e)} {100 * shares[e] / predicate.objects:.0f} %" for e in reversed(shares))
    return f"to {listed}" if listed and predicate.objects else ""


def link_target(schema: Schema, predicate: Predicate) -> str:
    """The smallest table whose rows are all that the links of a predicate lead to; `entity` where there is none."""
    total = predicate.objects
    own = schema.smallest_class(iri for iri, count in predicate.ranges.items() if iri and count == total)
    return own.relation if own is not None else "entity"


def _short(text: str) -> str:
    return shorten(_clean(text), _MAX_VALUE_LENGTH)


def _clean(text: str) -> str:
    """One line: SQLite takes no NUL in a statement, and a line break would end the comment."""
    text = text[:1000]
    return " ".join((text if text.isprintable() else "".join(c if c.isprintable() else " " for c in text)).split())


# values are counted in relations of at most so many rows, since a part of the schema is written for each question
_MAX_COUNTED = 100_000


def fill_notes(tables: Tables, relations: Sequence[Relation]) -> dict[str, str]:
    """The columns, with a note how many rows of a table have a value where not all do. Columns without a value in any
    of the relations, which have the same columns, are left out; large views, and columns of junctions, are all kept."""
    first = relations[0]
    names = [column.value or column.link for column in first.columns]
    is_small = sum(_size(tables.schema, each) for each in relations) <= _MAX_COUNTED
    if first.kind == "junction" or not names or not (is_small or first.kind == "table"):
        return dict.fromkeys(names, "")
    counts = ", ".join(f"count({quote_if_needed(name)})" for name in names)
    read = tables.trusted().execute
    found = [read(f"SELECT count(*), {counts} FROM {quote_if_needed(each.name)}").fetchone() for each in relations]
    rows, *filled = map(sum, zip(*found, strict=True))
    return {
        name: f"in {number} rows" if first.kind == "table" and number < rows else ""
        for name, number in zip(names, filled, strict=True)
        if number or not is_small
    }


def count_shared_rows(tables: Tables, relation: Relation, other: str) -> int:
    """How many rows of a view are also in another relation (quoted name); 0 for a large view, which is not read."""
    if _size(tables.schema, relation) > _MAX_COUNTED:
        return 0
    name, key = quote_if_needed(relation.name), quote_if_needed(relation.key)
    read = tables.trusted().execute
    return int(read(f"SELECT count(*) FROM {name} WHERE {key} IN (SELECT {key} FROM {other})").fetchone()[0])


def restrict_to_relation(
    tables: Tables, relation: Relation, column: Column, predicate: Predicate, most: int
) -> tuple[Predicate, list[str]]:
    """The predicate with its values in this relation, at most one more than `most`, and samples of its text."""
    if not column.value:
        return predicate, []
    name, of = quote_if_needed(column.value), quote_if_needed(relation.name)
    read = tables.trusted().execute
    if len(predicate.domains) > 1 and predicate.datatype in ("integer", "real"):
        low, high = read(f"SELECT min({name}), max({name}) FROM {of}").fetchone()
        bounds = {} if isinstance(low, str) or isinstance(high, str) else {"minimum": low, "maximum": high}
        predicate = replace(predicate, values=(), **bounds)
    elif len(predicate.domains) > 1 and predicate.values:
        found = read(f"SELECT DISTINCT {name} FROM {of} WHERE {name} IS NOT NULL LIMIT {most + 1}").fetchall()
        predicate = replace(predicate, values=tuple(str(row[0]) for row in found))
    if not predicate.samples or predicate.datatype != "text":
        return predicate, []
    found = read(f"SELECT DISTINCT {name} FROM {of} WHERE {name} IS NOT NULL LIMIT 2").fetchall()
    return predicate, [str(row[0]) for row in found]


def _size(schema: Schema, relation: Relation) -> int:
    classes = [each.count for each in schema.classes if each.relation == relation.name]
    return max([*classes, *(each.count for each in schema.groups if each.relation == relation.name)], default=0)
