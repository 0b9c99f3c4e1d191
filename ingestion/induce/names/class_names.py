"""Name the tables and relations of classes: Classes + SqlIdentifiers + Declarations -> named Classes."""

from collections.abc import Sequence
from dataclasses import replace

from ingestion.induce.classes import Classes
from ingestion.induce.declarations import Declarations
from ingestion.induce.names.column_names import SqlIdentifiers, column_name, namespace_word, readable_name
from ingestion.induce.names.iri_segments import distinctive_segments
from ingestion.vocabulary import EMPTY_TYPES, local_name
from nacre.language.base import word_list


def name_classes(classes: Classes, names: SqlIdentifiers, declarations: Declarations) -> Classes:
    """The classes with named tables and a relation for each class. Tables are named by their most specific class."""
    segments = distinctive_segments(classes.facts.texts, classes.table_of, len(classes.tables))
    claimed: dict[str, str] = {}

    def claim(iri: str) -> str:
        if iri not in claimed:
            plain = class_identifier(iri, declarations)
            claimed[iri] = names.claim([plain, f"{namespace_word(iri)}_{plain.rstrip('_')}"])
        return claimed[iri]

    shared = [iri for iri in classes.members if not _is_table(classes, iri)]
    shared.sort(key=lambda iri: (-classes.members[iri], iri))
    relation_of = {iri: claim(iri) for iri in shared}
    view_of: dict[str, Sequence[int]] = {iri: classes.tables_with(iri) for iri in shared}
    tables = list(classes.tables)
    for index in sorted(range(len(tables)), key=lambda i: (-tables[i].count, sorted(tables[i].closed))):
        specific = _most_specific(classes, tables[index].closed, declarations)
        of_class = class_identifier(specific, declarations)
        words = tuple(w for w in segments[index] if not is_redundant_word(column_name(w), of_class))
        label = readable_name(of_class)
        if not specific:
            label, name = "thing", names.claim(["thing", "untyped_thing"])
        elif specific not in view_of:
            name = claim(specific)
        else:
            base = claim(specific).rstrip("_")
            elsewhere = {w for i, other in segments.items() if i != index for w in other}
            unique = [w for w in words if w not in elsewhere] or words
            label = f"{label} {unique[0]}" if unique else f"other {label}"
            last = f"other_{base}" if len(base) < 50 else f"other_{base[:50]}"
            name = names.claim([*(f"{base}_{column_name(w)}" for w in unique), last])
        rows_name = names.claim([f"{name.rstrip('_')}_rows"]) if tables[index].merged else name
        tables[index] = replace(tables[index], name=name, rows_name=rows_name, label=label, words=words)
        relation_of |= {iri: name for iri in tables[index].closed if iri not in view_of}
    for iri in sorted(classes.kinds, key=lambda k: (-len(classes.kinds[k]), k)):
        relation_of[iri] = claim(iri)
    for iri in sorted(declarations.classes - classes.members.keys() - classes.kinds.keys()):
        if not iri.startswith("_:"):
            relation_of[iri] = claim(iri)
            view_of[iri] = []
    return replace(classes, tables=tables, relation_of=relation_of, view_of=view_of)


def _is_table(classes: Classes, iri: str) -> bool:
    """Whether the members of a class are exactly the main set of one table."""
    tables = classes.tables_with(iri)
    if len(tables) != 1:
        return False
    table = classes.tables[tables[0]]
    return iri in table.closed and not any(iri in classes.sets[s] for s in table.sets[1:])


def _most_specific(classes: Classes, closed: frozenset[str], declarations: Declarations) -> str:
    if not closed:
        return ""
    depth = {iri: len(declarations.ancestors(iri)) for iri in closed}
    return min(closed, key=lambda iri: (iri in EMPTY_TYPES, classes.members[iri], -depth[iri], iri))


def is_redundant_word(word: str, name: str) -> bool:
    """Whether a word adds nothing to the name of a class."""
    return set(word.split("_")) <= set(name.split("_")) or word.replace("_", "") == name.replace("_", "")


def class_identifier(iri: str, declarations: Declarations) -> str:
    """The SQL identifier of a class, from its label or its IRI."""
    if not iri:
        return ""
    label = class_label(iri, declarations)
    return column_name(label) if label and len(label) <= 40 else column_name(class_local_name(iri, declarations))


def class_label(iri: str, declarations: Declarations) -> str:
    """The stated label of a class, "" if that is the name of a database table."""
    label = declarations.label(iri)
    return label if strip_table_affix(label) == label else ""


def class_local_name(iri: str, declarations: Declarations) -> str:
    """The local name of a class's IRI, without a database's prefix of table names."""
    name = local_name(iri)
    mark = f"{name.partition('_')[0]}_".lower()
    # a single letter may belong to the name: "t_shirt"
    if len(mark) == 2 and not any(local_name(c).lower().startswith(mark) for c in declarations.classes - {iri}):
        return name
    return strip_table_affix(name)


def strip_table_affix(name: str) -> str:
    """The name of a database table without a prefix or suffix that marks tables; names in capitals are lowercased.

    >>> [strip_table_affix(name) for name in ("T_ORDER_ITEM", "tbl_depot", "depot_tbl", "Depot")]
    ['order_item', 'depot', 'depot', 'Depot']
    >>> strip_table_affix("tblVisit"), strip_table_affix("tabular")
    ('Visit', 'tabular')
    """
    marks = word_list("wording", "tables")
    glued = next((m for m in marks if len(m) > 1 and name.startswith(m) and name[len(m) : len(m) + 1].isupper()), "")
    if glued:
        return name.removeprefix(glued)
    first, *rest = name.split("_")
    plain = rest if rest and first.lower() in marks else [first, *rest]
    # a single letter at the end is no mark of a table
    plain = plain[:-1] if len(plain) > 1 and len(plain[-1]) > 1 and plain[-1].lower() in marks - {"table"} else plain
    short = "_".join(plain)
    return name if short == name or not short.strip("_") else short.lower() if name.isupper() else short
