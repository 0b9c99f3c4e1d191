"""How a graph defines a class: Select + Tables -> a sentence with the triple that says it."""

from nacre.language.sanitize import quote_line
from nacre.records.evidence import EvidenceSentence
from nacre.records.plan import Select
from nacre.stores.databases.attached_tables import AttachedTables
from nacre.stores.sqlite.tables import Tables
from nacre.stores.sqlite.triples import StatedTriples
from nacre.wording.labels.class_nouns import class_noun


def class_definition(select: Select, tables: Tables) -> list[EvidenceSentence]:
    """What the graph says of the class whose things a select gives without conditions; nothing without a comment."""
    known = tables.schema.class_of.get(_defined_class(select))
    if known is None or not known.comment or isinstance(tables, AttachedTables):
        return []
    begin = known.comment.rstrip("…. ")
    stated = [each for each in StatedTriples(tables).beside_tables(known.iri) if each[2].startswith(begin)]
    if not stated:
        return []
    noun = class_noun(select.variables[0], tables.schema)
    text = f"The graph describes “{noun}” as “{quote_line(known.comment)}”."
    return [EvidenceSentence("sql", 0, text=text, title=noun, keys=(known.iri,), triples=(stated[0],))]


def _defined_class(select: Select) -> str:
    """The one class whose things a select gives without conditions; "" for others."""
    is_plain = len(select.variables) == 1 and not (select.edges or select.filters or select.limit)
    thing = select.variables[0]
    return thing.classes[0] if is_plain and len(thing.classes) == 1 and not (thing.keys or thing.without) else ""
