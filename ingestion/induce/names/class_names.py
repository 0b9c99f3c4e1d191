"""Name the tables and relations of classes: Classes + SqlIdentifiers + Declarations -> their names, set in the
tables."""

from ingestion.induce.classes import Classes
from ingestion.induce.declarations import Declarations
from ingestion.induce.names.column_names import SqlIdentifiers, column_name, namespace_word, readable_name
from ingestion.induce.names.iri_segments import distinctive_segments
from ingestion.vocabulary import EMPTY_TYPES, local_name
from nacre.language.forms.nouns import wording_entry


def name_classes(classes: Classes, names: SqlIdentifiers, statements: Declarations) -> None:
    """Name tables by their most telling class and give every class a relation."""
    segments = distinctive_segments(classes.facts.texts, classes.table_of, len(classes.tables))
    claimed: dict[str, str] = {}

    def claim(iri: str) -> str:
        if iri not in claimed:
            plain = class_identifier(iri, statements)
            claimed[iri] = names.claim([plain, f"{namespace_word(iri)}_{plain.rstrip('_')}"])
        return claimed[iri]

    order = sorted(
        range(len(classes.tables)), key=lambda i: (-classes.tables[i].count, sorted(classes.tables[i].closed))
    )
    shared = [iri for iri in classes.members if not _alone(classes, iri)]
    for iri in sorted(shared, key=lambda i: (-classes.members[i], i)):
        classes.relation_of[iri] = claim(iri)
        classes.view_of[iri] = classes.tables_with(iri)
    for index in order:
        table = classes.tables[index]
        telling = _telling(classes, table.closed, statements)
        of_class = class_identifier(telling, statements)
        words = [w for w in segments[index] if not is_redundant_word(column_name(w), of_class)]
        table.words = tuple(words)
        table.label = readable_name(of_class)
        if not telling:
            table.label = "thing"
            table.name = names.claim(["thing", "untyped_thing"])
        elif telling not in classes.view_of:
            table.name = claim(telling)
        else:
            base = claim(telling).rstrip("_")
            taken_by_others = {w for i, other in segments.items() if i != index for w in other}
            unique = [w for w in words if w not in taken_by_others] or words
            table.label = f"{table.label} {unique[0]}" if unique else f"other {table.label}"
            table.name = names.claim(
                [
                    *(f"{base}_{column_name(w)}" for w in unique),
                    f"other_{base}" if len(base) < 50 else f"other_{base[:50]}",
                ]
            )
        table.rows_name = names.claim([f"{table.name.rstrip('_')}_rows"]) if table.merged else table.name
        for iri in table.closed:
            if iri not in classes.view_of:
                classes.relation_of[iri] = table.name
    for iri in sorted(classes.kinds, key=lambda k: (-len(classes.kinds[k]), k)):
        classes.relation_of[iri] = claim(iri)
    for iri in sorted(statements.classes - classes.members.keys() - classes.kinds.keys()):
        if not iri.startswith("_:"):
            classes.relation_of[iri] = claim(iri)
            classes.view_of[iri] = []


def _alone(classes: Classes, iri: str) -> bool:
    """Whether the members of a class are exactly the main set of one table."""
    tables = classes.tables_with(iri)
    if len(tables) != 1:
        return False
    table = classes.tables[tables[0]]
    return iri in table.closed and not any(iri in classes.sets[s] for s in table.sets[1:])


def _telling(classes: Classes, closed: frozenset[str], statements: Declarations) -> str:
    if not closed:
        return ""
    depth = {iri: len(statements.ancestors(iri)) for iri in closed}
    return min(closed, key=lambda iri: (iri in EMPTY_TYPES, classes.members[iri], -depth[iri], iri))


def is_redundant_word(word: str, name: str) -> bool:
    """Whether a word of the data adds nothing to the name of a class."""
    return set(word.split("_")) <= set(name.split("_")) or word.replace("_", "") == name.replace("_", "")


def class_identifier(iri: str, statements: Declarations) -> str:
    """The SQL name of a class, from its label or its IRI."""
    if not iri:
        return ""
    label = class_label(iri, statements)
    return column_name(label) if label and len(label) <= 40 else column_name(class_local_name(iri, statements))


def class_label(iri: str, statements: Declarations) -> str:
    """The label that the graph states for a class, "" where that is the name of its table."""
    label = statements.label(iri)
    return label if strip_table_affix(label) == label else ""


def class_local_name(iri: str, statements: Declarations) -> str:
    """The end of a class's IRI, without what a database writes before the names of its tables."""
    name = local_name(iri)
    mark = f"{name.partition('_')[0]}_".lower()
    # a letter alone may belong to a name: "t_shirt"
    if len(mark) == 2 and not any(local_name(c).lower().startswith(mark) for c in statements.classes - {iri}):
        return name
    return strip_table_affix(name)


def strip_table_affix(name: str) -> str:
    """The name of a table without the mark of one before it or behind it; letters of a name in capitals become small.

    >>> [strip_table_affix(name) for name in ("T_ORDER_ITEM", "tbl_depot", "depot_tbl", "Depot")]
    ['order_item', 'depot', 'depot', 'Depot']
    >>> strip_table_affix("tblVisit"), strip_table_affix("tabular")
    ('Visit', 'tabular')
    """
    marks = wording_entry("tables")
    glued = next((m for m in marks if len(m) > 1 and name.startswith(m) and name[len(m) : len(m) + 1].isupper()), "")
    if glued:
        return name.removeprefix(glued)
    first, *rest = name.split("_")
    plain = rest if rest and first.lower() in marks else [first, *rest]
    # a letter behind a name says less
    plain = plain[:-1] if len(plain) > 1 and len(plain[-1]) > 1 and plain[-1].lower() in marks - {"table"} else plain
    short = "_".join(plain)
    return name if short == name or not short.strip("_") else short.lower() if name.isupper() else short
