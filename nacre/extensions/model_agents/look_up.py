"""What a model sees of the data before it writes a query: names of a question, each once with its columns; LookUp ->
names, values, sample rows or columns, as text."""

import re
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import NamedTuple

from rapidfuzz import fuzz, process

from agents.answering.select_answer import content_words
from agents.turn_view import Database
from nacre.errors import ToolError
from nacre.extensions.model_agents.schema_sparql import schema_sparql
from nacre.language.sanitize import quote_line
from nacre.language.thesaurus import function_words
from nacre.language.tokens import fold, tokenize
from nacre.plans.sparql_engine import LabelLookup, last_segment
from nacre.plans.sparql_vocabulary import (
    Prefixes,
    derived_patterns,
    format_iri,
    format_literal,
    write_membership,
    write_statement,
)
from nacre.records.evidence import LookUp, Occurrence, shorten
from nacre.records.schema import Relation, Schema
from nacre.records.threads import run_in_thread
from nacre.records.turn import Mention, Understanding
from nacre.stores.sparql_source import SparqlSource, SparqlTerm, text_search_pattern
from nacre.stores.sqlite.lexicon import LexiconThing
from nacre.stores.sqlite.schema_sql import is_secondary, links_from
from nacre.stores.sqlite.tables import Tables, quote_if_needed
from tools.provenance import is_id, look_up_entities

MOST = 10
A_PHRASE = 3

# values that are only like words of a question, and things that a name may mean, which are shown (given)
MOST_ALIKE, MOST_THINGS, MOST_OF_LABEL = 3, 4, 2

# similar spellings are searched among at most so many distinct values of a column
NEAR_VALUES = 3000

LEAST_SIMILARITY = 0.84

# the share that a phrase must have of a value that contains it (given)
LEAST_SHARE = 0.5

# characters of the columns of a table; of a table with more, those that a look-up names are shown, in fewer characters
MAX_COLUMNS_TEXT, MAX_NAMED_TEXT = 2400, 2400

# the columns of a table as it is described
_COLUMN = re.compile(r'^ +"?(\w+)', re.MULTILINE)

SAMPLE_ROWS = 3
LONGEST_CELL = 60
LONGEST_VALUE = 300
LONGEST_LINE = 140

# values of one column that are counted as matches
MOST_MATCHES = 200

_TEXTS = ("text", "date", "datetime", "year")


class _Place(NamedTuple):
    """A column whose values are looked up; of a link the labels of its targets."""

    table: str
    column: str
    is_link: bool = False

    @property
    def value(self) -> str:
        return "e.label" if self.is_link else f"t.{quote_if_needed(self.column)}"

    @property
    def source(self) -> str:
        joined = f" LEFT JOIN entity e ON e.id = t.{quote_if_needed(self.column)}" if self.is_link else ""
        return f"{quote_if_needed(self.table)} t{joined}"


def find_occurrences(phrases: Sequence[str], tables: Tables, *, seconds: float) -> list[Occurrence]:
    """Where values occur that equal a phrase, contain it, or have a similar spelling: the most similar first. Columns
    that are not reached within `seconds` are left out."""
    deadline = time.monotonic() + seconds
    found: list[Occurrence] = []
    for phrase in phrases:
        own = [each for place in _places(tables.schema) for each in _containing(phrase, place, tables, deadline)]
        own = [each for each in own if each.likeness >= LEAST_SHARE]
        if not own and not any(map(str.isdigit, phrase)):
            own = [each for place in _places(tables.schema) for each in _similar(phrase, place, tables, deadline)]
        found += _best_places(own, tables.schema)[:A_PHRASE]
    return sorted(dict.fromkeys(found), key=lambda each: -each.likeness)[:MOST]


def look_up_sql(wanted: LookUp, tables: Tables, describe: Callable[[Collection[str]], str], *, seconds: float) -> str:
    """What a look-up finds, as a text of bounded length. Look-ups of passages are not done here."""
    schema = tables.schema
    known = {relation.name.lower(): relation for relation in schema.relations}
    relation = known.get(wanted.table.lower().strip('"'))
    try:
        if wanted.kind == "values":
            return _like_values(wanted, relation, tables, time.monotonic() + seconds)
        if relation is None and wanted.table.lower() == "entity":
            return describe([]) if wanted.kind == "columns" else _rows("entity", "id", wanted.text, tables, seconds)
        if relation is None:
            near = process.extract(
                wanted.table.lower(), list(known), scorer=fuzz.WRatio, score_cutoff=NEAR_SCORE, limit=3
            )
            nearest = f" The nearest are {', '.join(known[name].name for name, *_ in near)}." if near else ""
            return f"There is no table {wanted.table!r}.{nearest}"
        if wanted.kind == "columns":
            return _all_columns(wanted, relation, schema, describe)
        return _rows(relation.name, relation.key, wanted.text, tables, seconds)
    except ToolError as error:
        return str(error)


def _all_columns(wanted: LookUp, relation: Relation, schema: Schema, describe: Callable[[Collection[str]], str]) -> str:
    """All columns of a table, and the tables of its properties with several values; of a wide table the columns that
    are asked for, with the names of the others."""
    junctions = [schema.junctions[each.iri] for each in links_from(schema, {relation.name})]
    text = describe([relation.name, *junctions])
    if len(text) <= MAX_COLUMNS_TEXT:
        return text
    words = _words(f"{wanted.text} {wanted.column}") - function_words()
    lists = [name for name in junctions if words & _words(name)]
    # columns whose name has the words, then those whose comment has them
    near = sorted(
        (-len(words & _words(line.partition(" --")[0])), -len(shared), place, line)
        for place, line in enumerate(describe([relation.name]).splitlines())
        if (shared := words & _words(line))
    )
    _, *created = describe(junctions).split("CREATE TABLE ") if junctions else [""]
    described = {table.partition(" (")[0].strip('"'): table.partition(");")[0] for table in created}
    # a list is joined by columns whose names can't be guessed
    joined = [f"{each}({', '.join(_COLUMN.findall(described.get(each, '')))})" for each in junctions]
    named = [column.value or column.link for column in relation.columns]
    parts = [
        *(line[:LONGEST_LINE] for *_, line in near[:MOST]),
        *([describe(lists).partition("\n\n")[2].strip()] if lists else []),
        f"Tables of its lists: {', '.join(joined)}",
        f"All columns of {relation.name}: {', '.join(named)}",
    ]
    return "\n".join(parts)[:MAX_NAMED_TEXT]


def _words(text: str) -> set[str]:
    return {token.norm for token in tokenize(text.replace("_", " "))}


def _like_values(wanted: LookUp, relation: Relation | None, tables: Tables, deadline: float) -> str:
    """Values like a text with how many match, or the first values of the columns; rows without a value are counted."""
    places = [
        place
        for place in (_named_places(relation, wanted.column) if relation else _places(tables.schema))
        if not wanted.column or place.column.lower() == wanted.column.lower()
    ]
    if not places:
        return "There is no such column of text."
    text = wanted.text.strip(" %")
    if not text:
        return "\n".join(_column_values(place, tables, deadline) for place in places[:MOST])
    found = [each for place in places for each in _containing(text, place, tables, deadline, MOST_MATCHES)]
    found = found or [each for place in places for each in _similar(text, place, tables, deadline)]
    found = _without_repeated_labels(found)
    best = sorted(found, key=lambda e: -e.likeness)[:MOST]
    lines = [f"{each.table}.{each.column}: {each.value[:LONGEST_VALUE]}" for each in best]
    if len(found) > len(best):
        lines.append(f"... {len(found) - len(best)} more match")
    if lines:
        return "\n".join(lines)
    none = f"No value is like {wanted.text!r}."
    # rows without a value are no rows with another one
    return "\n".join([none, *(_column_values(place, tables, deadline) for place in places)]) if wanted.column else none


def _without_repeated_labels(found: Sequence[Occurrence]) -> list[Occurrence]:
    """The values without labels of the table `entity` that a column of another table has as well."""
    named = {each.value for each in found if each.table != "entity"}
    return [each for each in found if each.table != "entity" or each.value not in named]


def _best_places(found: Sequence[Occurrence], schema: Schema) -> list[Occurrence]:
    """The most similar values first, each once in a table, names before other texts; identifiers and names in other
    languages last, and only if nothing else is as similar."""
    known = schema.predicate_of
    places = [
        (r.name, c.value, known[c.predicate]) for r in schema.relations for c in r.columns if c.predicate in known
    ]
    late = {(table, column) for table, column, predicate in places if is_secondary(schema, predicate)}
    names = {(table, column) for table, column, predicate in places if predicate.role == "name"} | {("entity", "label")}
    ranked = sorted(
        _without_repeated_labels(found),
        key=lambda each: (
            -each.likeness,
            (each.table, each.column) in late,
            (each.table, each.column) not in names,
            each.table,
            each.column,
            each.value,
        ),
    )
    best = max((each.likeness for each in found if (each.table, each.column) not in late), default=0.0)
    kept: dict[tuple[str, str], Occurrence] = {}
    for each in ranked:
        if (each.table, each.column) not in late or each.likeness > best:
            kept.setdefault((each.table, each.value), each)
    return list(kept.values())


def _column_values(place: _Place, tables: Tables, deadline: float) -> str:
    """The first values of a column, how many there are, and how many rows have none."""
    shown = ", ".join(value[:LONGEST_CELL] for value in _distinct(place, tables, MOST, deadline))
    counts = f"SELECT count(DISTINCT {place.value}), sum({place.value} IS NULL), count(*) FROM {place.source}"
    ((values, without, rows), *_) = _run(counts, (), tables, deadline) or [(0, 0, 0)]
    more = f" ({values} values)" if isinstance(values, int) and values > MOST else ""
    none = f"; {without} of {rows} rows have no value" if without else ""
    return f"{place.table}.{place.column}: {shown or 'no value'}{more}{none}"


def _rows(relation: str, key: str, text: str, tables: Tables, seconds: float) -> str:
    """Rows of the things whose label contains a text, or samples."""
    every = f"SELECT * FROM {quote_if_needed(relation)}"
    called = f"{every} WHERE {quote_if_needed(key)} IN (SELECT id FROM entity WHERE instr(lower(label), lower(?)))"
    rows = tables.run(called if text else every, (text,) if text else (), limit=SAMPLE_ROWS, seconds=seconds)
    if text and not rows.rows:
        return f"No label is like {text!r}.\n{_rows(relation, key, '', tables, seconds)}"
    names = look_up_entities({cell for row in rows.rows for cell in row if is_id(cell)}, tables)

    def shown(cell: object) -> str:
        value = names[cell][1] if is_id(cell) and cell in names else cell
        return "" if value is None else str(value)[:LONGEST_CELL]

    # ids are shown as the labels of their things
    return "\n".join([" | ".join(rows.columns), *(" | ".join(map(shown, row)) for row in rows.rows)])


def _places(schema: Schema) -> Iterator[_Place]:
    """The columns of text, of tables before junctions; views repeat them."""
    for relation in sorted(schema.relations, key=lambda each: (each.kind != "table", each.name)):
        for column in relation.columns if relation.kind != "view" else ():
            predicate = schema.predicate_of.get(column.predicate)
            if predicate is not None and column.value and predicate.datatype in _TEXTS:
                yield _Place(relation.name, column.value)
    yield _Place("entity", "label")


def _named_places(relation: Relation, column: str) -> Iterator[_Place]:
    """The columns of one table: those of text, links by the names of their targets, and any column that is named."""
    texts = {"label", *(each.value for each in relation.columns if each.value)}
    for each in relation.columns:
        for name in filter(None, (each.value, each.low, each.high)):
            yield _Place(relation.name, name)
        if each.link:
            yield _Place(relation.name, each.link, is_link=True)
    if column.lower() == "label" and "label" not in texts:
        yield _Place("entity", "label")


def _containing(phrase: str, place: _Place, tables: Tables, deadline: float, most: int = A_PHRASE) -> list[Occurrence]:
    """Values that equal the phrase, or contain it at the start of a word."""
    name = place.value
    escaped = phrase.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    query = (
        f"SELECT DISTINCT {name} FROM {place.source} "
        f"WHERE {name} LIKE ? ESCAPE '\\' ORDER BY length({name}) LIMIT {most}"
    )
    rows = _run(query, (f"%{escaped}%",), tables, deadline, most)
    wanted = fold(phrase)
    values = [str(row[0]) for row in rows if f" {wanted}" in f" {fold(str(row[0]))}"]
    return [Occurrence(place.table, place.column, value, _likeness(wanted, value)) for value in values]


def _likeness(wanted: str, value: str) -> float:
    """The share of a value that a phrase is; 1 only for the same words."""
    if [token.norm for token in tokenize(wanted)] == [token.norm for token in tokenize(value)]:
        return 1.0
    return min(0.99, len(wanted) / max(1, len(fold(value))))


def _similar(phrase: str, place: _Place, tables: Tables, deadline: float) -> list[Occurrence]:
    """Values with a spelling similar to the phrase."""
    values = {fold(value): value for value in _distinct(place, tables, NEAR_VALUES, deadline)}
    near = process.extract(
        fold(phrase), list(values), scorer=fuzz.ratio, score_cutoff=100 * LEAST_SIMILARITY, limit=A_PHRASE
    )
    return [Occurrence(place.table, place.column, values[text], round(score / 100, 2)) for text, score, _ in near]


def _distinct(place: _Place, tables: Tables, most: int, deadline: float) -> list[str]:
    query = f"SELECT DISTINCT {place.value} FROM {place.source} WHERE {place.value} IS NOT NULL"
    return [str(row[0]) for row in _run(query, (), tables, deadline, most)]


def _run(
    query: str, params: tuple[str, ...], tables: Tables, deadline: float, most: int = A_PHRASE
) -> list[tuple[object, ...]]:
    left = deadline - time.monotonic()
    if left <= 0:
        return []
    try:
        return list(tables.run(query, params, limit=most, seconds=left).rows)
    except ToolError:
        # values that take too long are left out
        return []


MAX_LINES, SAMPLE, FACTS, LONGEST = 14, 3, 60, 60
NEAR_SCORE = 80


def look_up_sparql(
    wanted: LookUp, source: SparqlSource, schema: Schema, prefixes: Prefixes, labels: LabelLookup, *, seconds: float
) -> str:
    """What a look-up finds, as a text of bounded length, or why it finds nothing."""
    if wanted.kind == "passages":
        return "This graph has no passages."
    try:
        if wanted.kind == "values":
            return _property_values(wanted, source, schema, prefixes, seconds)
        class_iri = _resolve(wanted.table, {c.iri: c.label for c in schema.classes if c.count}, prefixes)
        if class_iri is None:
            return f"There is no class {wanted.table!r}."
        if wanted.kind == "columns":
            return schema_sparql(schema, prefixes, [class_iri])
        return _things(write_membership(schema, class_iri, "?s", "?c"), source, prefixes, labels, seconds)
    except ToolError as error:
        return str(error)


def _resolve(name: str, known: dict[str, str], prefixes: Prefixes) -> str | None:
    """The IRI for a prefixed name or a label."""
    full = prefixes.full(name)
    if full in known:
        return full
    labels = {key: label.lower() for key, label in known.items()}
    best = process.extractOne(name.rpartition(":")[2].lower(), labels, scorer=fuzz.ratio, score_cutoff=NEAR_SCORE)
    return str(best[2]) if best else None


def _property_values(wanted: LookUp, source: SparqlSource, schema: Schema, prefixes: Prefixes, seconds: float) -> str:
    """Values of a property that contain the text, or names of things that contain its words."""
    text = wanted.text.strip(" %")
    literal = {p.iri: p.label for p in schema.predicates if p.has_literals}
    column = _resolve(wanted.column, literal, prefixes) if wanted.column else None
    if column is not None:
        holds = f" FILTER(CONTAINS(LCASE(STR(?l)), {format_literal(text.lower())}))" if text else ""
        statement = write_statement(schema, column, "?s", "?l", "?v")
        query = f"SELECT DISTINCT ?l {{ {statement} FILTER(isLiteral(?l)){holds} }} LIMIT {MAX_LINES + 1}"
        rows = source.select(query, limit=MAX_LINES + 1, seconds=seconds).rows
        lines = [f'{prefixes.short(column)}: "{_shown(row[0])}"' for row in rows[:MAX_LINES]]
        lines += ["... there are more"] * (len(rows) > MAX_LINES)
        return "\n".join(lines) or f"No value of {prefixes.short(column)} is like {text!r}."
    words = [token.norm for token in tokenize(text) if token.norm.isalnum()]
    names = [p.iri for p in schema.predicates if p.role == "name" and not derived_patterns(schema, p.iri)]
    if not words or not names:
        return "Name a property, or words of a name."
    pattern = text_search_pattern("virtuoso" if source.dialect == "virtuoso" else "", names, words, words)
    query = f"SELECT DISTINCT ?s ?l {{ {pattern} }} LIMIT {20 * MAX_LINES}"
    rows = source.select(query, limit=20 * MAX_LINES, seconds=seconds).rows
    named = [(row[0].value, row[1].value) for row in rows if row[0] and row[1]]
    named.sort(key=lambda each: (-fuzz.ratio(text.lower(), each[1].lower()), each))
    lines = [f'"{label[:LONGEST]}" is the name of {prefixes.short(key)}' for key, label in named[:MAX_LINES]]
    lines += [f"... {len(named) - MAX_LINES} more match"] * (len(named) > MAX_LINES)
    return "\n".join(lines) or f"No name is like {text!r}."


def _things(members: str, source: SparqlSource, prefixes: Prefixes, labels: LabelLookup, seconds: float) -> str:
    sample = f"SELECT ?s {{ {members} }} LIMIT {SAMPLE}"
    query = f"SELECT ?s ?p ?o {{ {{ {sample} }} ?s ?p ?o }} LIMIT {SAMPLE * FACTS}"
    rows = source.select(query, limit=SAMPLE * FACTS, seconds=seconds).rows
    links = {row[2].value for row in rows if row[2] is not None and row[2].kind == "iri"}
    names = labels(links) if links else {}
    lines = [
        f"{prefixes.short(s.value)} {prefixes.short(p.value)} "
        + (f"{names.get(o.value) or last_segment(o.value)}" if o.kind == "iri" else f'"{_shown(o)}"')
        for s, p, o in rows
        if s and p and o
    ]
    return "\n".join(lines) or "It has no things."


def _shown(term: SparqlTerm | None) -> str:
    return "" if term is None else " ".join(term.value.split())[:LONGEST]


MAX_COLUMNS = 3

LONGEST_PHRASE = 6

# characters of a name, as it is shown (given)
MAX_SHOWN = 80

MOST_PHRASES = 12

_QUOTED = re.compile(r"[\"“‘']([^\"”’']{2,80})[\"”’']")

_WORD = re.compile(r"[^\W_][\w.&'’-]*")


async def linked_name_lines(
    understanding: Understanding, database: Database, occurrences: Sequence[Occurrence] | None = None
) -> list[str]:
    """One line for each name: the words of the question, the column with the exact spelling, and the score. The
    `occurrences` of its values are looked up if they are not given."""
    if occurrences is None:
        occurrences = await database.occurrences(value_phrases(understanding))
    lines, labels = list[str](), set[tuple[str, str]]()
    for mention in understanding.mentions:
        lines += _mention_lines(mention, database)
        if database.language == "sparql":
            continue
        # looks up things on disk
        things = await run_in_thread(_things_named, mention, understanding, database)
        tables = {label: [each.relation for each in things if each.label == label] for label, _ in things}
        named = [f"{_quoted_name(label)} of table {' or '.join(of)}" for label, of in tables.items()]
        lines += [f"{_may_be(mention)} {each}{_sure(mention)}" for each in named]
        labels.update((table, fold(each.label)) for each in things for table in (each.relation, "entity"))
        # a list of further names says the same of them
        lists = database.schema.junctions.values() if things else ()
        labels.update((table, fold(mention.text)) for table in (*lists, "entity"))
    others = [each for each in occurrences if (each.table, fold(each.value)) not in labels]
    exact = [each for each in others if each.likeness >= 1]
    alike = [each for each in others if each.likeness < 1][:MOST_ALIKE]
    return list(dict.fromkeys([*map(occurrence_line, (*exact, *alike)), *lines]))[:MAX_LINES]


def value_phrases(understanding: Understanding) -> list[str]:
    """Spans of a question that may be values: quotations, runs of capitalised words, then single words. No part of a
    name that is known as a whole is one.

    >>> value_phrases(Understanding("Which dishes of Cape Town use 'black rice' in 2010?"))
    ['black rice', 'Cape Town', 'dishes', 'use', '2010']
    """
    question = understanding.standalone
    known = [each.text for each in understanding.mentions if each.kind in ("entity", "value") and each.score >= 1]
    quotes = [match[1].strip() for match in _QUOTED.finditer(question)]
    rest = _QUOTED.sub(" ", question)
    words = [match[0].rstrip(".'’") for match in _WORD.finditer(rest)]
    runs: list[list[str]] = [[]]
    for number, word in enumerate(words):
        # a number belongs to the name before it; the first word is capitalised anyway
        if (any(map(str.isupper, word)) and number > 0) or (runs[-1] and any(map(str.isdigit, word))):
            runs[-1].append(word)
        elif runs[-1]:
            runs.append([])
    named = [" ".join(run[:LONGEST_PHRASE]) for run in runs if run]
    inside = {word for run in runs for word in run}
    single = [word for word in words if word not in inside and content_words(word)]
    found = dict.fromkeys([*quotes, *named, *single])
    return [each for each in found if not any(each in name and each != name for name in known)][:MOST_PHRASES]


def occurrence_line(found: Occurrence) -> str:
    """Where a value occurs, as a model reads it."""
    how = "" if found.likeness >= 1 else f" (alike, {found.likeness:.2f})"
    return f"{found.table}.{found.column} has {_quoted_name(found.value)}{how}"


def _mention_lines(mention: Mention, database: Database) -> list[str]:
    """What a mention may stand for, in terms of tables, or of IRIs and values of properties."""
    what = ""
    if database.language != "sparql" and mention.kind == "value":
        places = _columns_of(mention.predicate, database)
        what = f"{' or '.join(places)} = {_quoted_name(mention.label)}" if places else ""
    elif database.language == "sparql" and mention.kind == "value":
        what = f"the value {_quoted_name(mention.label)} of {format_iri(mention.predicate)}"
    elif database.language == "sparql" and mention.kind == "entity" and (of := database.table_of(mention.target)):
        what = f"{format_iri(mention.target)}, {_quoted_name(mention.label)}, of {of}"
    return [f"{_may_be(mention)} {what}{_sure(mention)}"] if what else []


def _things_named(mention: Mention, understanding: Understanding, database: Database) -> list[LexiconThing]:
    """The labels and tables of things that the words of a mention may name, of what is no thing only those called so.
    Things of which hardly anything is stated are left out if there are others."""
    span = mention.start, mention.end
    meant = [each for each in (mention, *understanding.candidates) if (each.start, each.end) == span and each.target]
    meant = [each for each in meant if each.kind == "entity" and (mention.kind == "entity" or _is_called(each))]
    by_label: dict[str, dict[str, None]] = {}
    for each in meant:
        by_label.setdefault(each.label, {})[each.target] = None
    chosen = [target for targets in by_label.values() for target in list(targets)[:MOST_OF_LABEL]]
    found = dict.fromkeys(filter(None, map(database.lexicon.thing, chosen[:MOST_THINGS])))
    known = database.schema.relation_of
    return [each for each in found if each.relation in known and len(known[each.relation].columns) > 1] or list(found)


def _is_called(mention: Mention) -> bool:
    """Whether a thing has the name that the question has, perhaps with its class after it."""
    return f"{fold(mention.label)} (".startswith(f"{fold(mention.text)} (")


def _may_be(mention: Mention) -> str:
    return f"'{shorten(quote_line(mention.text), MAX_SHOWN)}' may be"


def _sure(mention: Mention) -> str:
    return f" (score {mention.score:.2f})" if mention.score < 1 else ""


def _columns_of(predicate: str, database: Database) -> Sequence[str]:
    """The columns of a predicate, tables before views."""
    found: list[str] = []
    for relation in sorted(database.schema.relations, key=lambda each: (each.kind == "view", each.name)):
        for column in relation.columns:
            if column.predicate == predicate and not (found and relation.kind == "view"):
                found.append(f"{relation.name}.{column.value or column.link}")
    return found[:MAX_COLUMNS]


def _quoted_name(text: str) -> str:
    return "'" + shorten(quote_line(text), MAX_SHOWN).replace("'", "''") + "'"
