"""Where a graph comes from, by its own description and by its version: Tables -> sentences with their triples."""

from datetime import date

from nacre.language.base import load_language_data, word_map
from nacre.language.format_values import format_date
from nacre.language.forms.nouns import join_names
from nacre.language.translation.templates import fill_template, join_translated
from nacre.plans.run import Engine
from nacre.records.evidence import EvidenceSentence
from nacre.records.schema import Schema
from nacre.stores.databases.attached_tables import AttachedTables
from nacre.stores.sqlite.identifiers import quote_identifier
from nacre.stores.sqlite.tables import Tables
from nacre.stores.sqlite.triples import TYPE, StatedTriples, Triple, TripleReader
from nacre.wording.translations.values import translated_literal

HEADERS = "resources/headers.yaml"
TITLE = "this graph"
# Values of one part, and letters of a value (given).
MAX_VALUES, MAX_LETTERS = 3, 120
# Letters of the day in the name of a version: 20260131T...
DAY_LETTERS = 8

# parts of a description by name ("title", "creator", ...), each with its triples
Origin = dict[str, tuple[Triple, ...]]


def origin_sentence(engine: Engine) -> EvidenceSentence | None:
    """What a graph states of itself as a whole: name, authors, publisher, date, version, licence; None if nothing."""
    found = graph_origin(engine)
    if not found or engine.tables is None:
        return None
    words = word_map("wording", "origin")
    tables = engine.tables
    parts = [words[name].format(value=join_names(_values(name, stated, tables))) for name, stated in found.items()]
    triples = tuple(triple for each in found.values() for triple in each)
    keys = tuple(dict.fromkeys(subject for subject, _, _ in triples))
    text = words["whole"].format(parts=join_names(parts))
    return EvidenceSentence(engine.tool, 1, text=text, title=TITLE, keys=keys, triples=triples)


def translated_origin(engine: Engine, code: str) -> str:
    """The same in German or French; "" if nothing is stated."""
    found = graph_origin(engine)
    if not found or engine.tables is None:
        return ""
    parts = [
        fill_template(
            code,
            f"origin_{name}",
            value=join_translated(_translated(name, _texts(triples, engine.tables), code), code),
        )
        for name, triples in found.items()
    ]
    return fill_template(code, "origin_whole", parts=", ".join(parts))


def read_sentence(version: str, code: str = "en") -> str:
    """When a version was read in, from its name; "" if the name has no day.

    >>> read_sentence("20260503T101500000000-0a1b2c3d")
    'It was read in on 3 May 2026.'
    """
    try:
        day = date.fromisoformat(version[:DAY_LETTERS]).isoformat()
    except ValueError:
        return ""
    if code == "en":
        return word_map("wording", "origin")["read"].format(date=format_date(day))
    return fill_template(code, "origin_read", date=translated_literal(day, code))


def graph_origin(engine: Engine) -> Origin:
    """The description of an ingested graph by its parts, if there is exactly one; of other graphs nothing is read."""
    tables = engine.tables
    if tables is None or isinstance(tables, AttachedTables):
        return {}
    return engine.schema.cache.get(graph_origin, lambda: _find_origin(tables))


def _find_origin(tables: Tables) -> Origin:
    headers = load_language_data(HEADERS)
    stated = StatedTriples(tables)
    for kind in headers["types"]:
        subjects = _subjects(kind, tables, tables.schema, stated)
        if len(subjects) == 1:
            found: Origin = {}
            for name, predicates in headers["parts"].items():
                every = (tuple(stated.with_subject(subjects[0], predicate)[:MAX_VALUES]) for predicate in predicates)
                first = next((triples for triples in every if triples), ())
                if first:
                    found[name] = first
            # a bare name says nothing of where a graph comes from
            return found if found.keys() - {"title"} else {}
    return {}


def _subjects(kind: str, tables: Tables, schema: Schema, stated: StatedTriples) -> list[str]:
    """At most two things of a class, be they in tables or among the statements of the schema."""
    found = [subject for subject, _, _ in stated.with_object(kind, TYPE)]
    own = schema.class_of.get(kind)
    if own is not None and own.count == 1:
        sql = f"SELECT iri FROM entity WHERE id IN (SELECT id FROM {quote_identifier(own.relation)} LIMIT 2)"
        found += [str(iri) for (iri,) in tables.trusted().execute(sql)]
    elif own is not None:
        return []
    return list(dict.fromkeys(found))[:2]


def _values(name: str, triples: tuple[Triple, ...], tables: Tables) -> list[str]:
    texts = _texts(triples, tables)
    return [format_date(text) for text in texts] if name == "date" else texts


def _translated(name: str, texts: list[str], code: str) -> list[str]:
    return [translated_literal(text, code) for text in texts] if name == "date" else texts


def _texts(triples: tuple[Triple, ...], tables: Tables) -> list[str]:
    """The objects as bounded texts in one line; things by their names."""
    reader = TripleReader(tables)
    names = (reader.label(value) or value for _, _, value in triples)
    return list(dict.fromkeys(" ".join(name.split())[:MAX_LETTERS] for name in names))
