"""Account for every triple of a graph: Tables -> counts by column, and hidden triples with reasons.
The triples of a version can be read again: graph.sqlite -> Facts, as an ingest read them."""

import sqlite3
from array import array
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import count, islice
from pathlib import Path
from typing import Any

from ingestion.index.triples import stored_statements
from ingestion.read.facts import BLANK, IRI, NO_OMISSIONS, Facts, Omission, Omissions, TripleCollector
from ingestion.read.tables import SheetReport, read_sheet_reports, sheet_lines
from ingestion.vocabulary import TYPE, local_name
from nacre.stores.addresses import DatabaseLimits
from nacre.stores.catalog import open_tables
from nacre.stores.sqlite.passages import Documents, skipped_lines
from nacre.stores.sqlite.passages import SkippedDocument as Unread
from nacre.stores.sqlite.tables import Tables, quote_if_needed


@dataclass(frozen=True)
class ColumnCount:
    """The number of triples of one predicate in one `column` of a `relation`."""

    relation: str
    column: str
    triples: int


@dataclass(frozen=True)
class AsideCount:
    """The number of triples that no table shows, with the reason; they are stored and exported."""

    reason: str
    triples: int


@dataclass(frozen=True)
class PredicateReport:
    """All triples of one predicate."""

    predicate: str
    label: str
    triples: int
    lies: tuple[ColumnCount, ...]
    left_out: tuple[AsideCount, ...]


@dataclass(frozen=True)
class IngestReport:
    """The report: `shown` + `left_out` = `triples`. `omitted` are unreadable statements and files. `texts` counts the
    documents that were read, `texts_left_out` are unreadable or repeated ones. `sharing` counts the predicates that
    share `shared_tables` with others. `limits` say what was not derived because it would have been too much. `cycles`
    are hierarchies that lead back to where they begin. `sheets` account for the cells of spreadsheets."""

    triples: int
    entities: int
    shown: int
    left_out: int
    predicates: tuple[PredicateReport, ...]
    omitted: Omissions = NO_OMISSIONS
    texts: int = 0
    texts_left_out: tuple[Unread, ...] = ()
    sharing: int = 0
    shared_tables: int = 0
    limits: tuple[str, ...] = ()
    cycles: tuple[str, ...] = ()
    sheets: tuple[SheetReport, ...] = ()


def build_report(tables: Tables, documents: Documents | None = None, folder: Path | None = None) -> IngestReport:
    """Count triples, most frequent predicates first, the `documents`, and the cells of the spreadsheets in `folder`."""
    connection = tables.trusted()
    layout = tables.layout
    labels = {p.iri: p.label for p in tables.schema.predicates}
    lies: dict[str, list[ColumnCount]] = {}
    left: dict[str, list[AsideCount]] = {}
    types = _types(connection, layout)
    if types:
        lies[TYPE] = types
    for index, place in enumerate(layout["places"]):
        lies.setdefault(place["predicate"], []).extend(_place(connection, index, place))
    for predicate, reason, many in connection.execute(
        "SELECT predicate, reason, count(*) FROM _nacre_aside GROUP BY predicate, reason ORDER BY 3 DESC, 2"
    ):
        left.setdefault(predicate, []).append(AsideCount(reason, many))
    accounts = []
    for iri in {*lies, *left}:
        here, out = tuple(lies.get(iri, ())), tuple(left.get(iri, ()))
        total = sum(x.triples for x in here) + sum(x.triples for x in out)
        accounts.append(PredicateReport(iri, labels.get(iri, ""), total, here, out))
    accounts.sort(key=lambda a: (-a.triples, a.predicate))
    shown = sum(x.triples for a in accounts for x in a.lies)
    aside = sum(x.triples for a in accounts for x in a.left_out)
    entities = connection.execute("SELECT count(*) FROM entity").fetchone()[0]
    texts, texts_left_out = (documents.count, tuple(documents.skipped())) if documents is not None else (0, ())
    sharing = [place["shared"] for place in layout["places"] if place.get("shared")]
    return IngestReport(
        layout["triples"],
        entities,
        shown,
        aside,
        tuple(accounts),
        read_omissions(tables),
        texts,
        texts_left_out,
        len(sharing),
        len(set(sharing)),
        read_limits(tables),
        tuple(_cycles(tables)),
        read_sheet_reports(folder) if folder is not None else (),
    )


def read_omissions(tables: Tables) -> Omissions:
    """The omissions of the ingest; the first thousand of each kind are listed."""
    counts = tables.layout["omitted"]
    rows = tables.trusted().execute("SELECT kind, file, line, text, reason, statements FROM _nacre_omitted")
    return Omissions(tuple(Omission(*row) for row in rows), *counts)


def omission_lines(found: Omissions, most: int | None = None) -> list[str]:
    """A summary of omissions: a line with the counts, then the first `most` of the list.

    >>> omission_lines(Omissions((Omission("statement", "a.nt", 3, '"x"', "no triple"),), 1))
    ['Left out: 1 statement that cannot be read.', '  a.nt, line 3: "x": no triple']
    """
    kinds = (
        (found.statements, "statement that cannot be read", "statements that cannot be read"),
        (found.files, "file that cannot be read", "files that cannot be read"),
        (found.other_files, "file that is no RDF", "files that are no RDF"),
    )
    counts = [f"{count:,} {one if count == 1 else many}" for count, one, many in kinds if count]
    if not counts:
        return []
    shown = found.listed[:most]
    lines = [f"Left out: {', '.join(counts)}.", *(f"  {each.words}" for each in shown)]
    if len(found.listed) > len(shown):
        lines.append(f"  and {len(found.listed) - len(shown):,} more")
    return lines


def limit_lines(limits: Sequence[str]) -> list[str]:
    """What was not derived, a line for each limit."""
    return [f"Not everything was derived, {limit}." for limit in limits]


def read_limits(tables: Tables) -> tuple[str, ...]:
    """What the ingest did not derive because it would have been too much."""
    return tuple(tables.layout.get("limits", ()))


def report_text(found: IngestReport) -> str:
    """The report as text, a line for each predicate."""
    lines = [
        f"{found.triples} triples, {found.entities} entities: {found.shown} in tables, {found.left_out} kept aside."
    ]
    if found.sharing:
        count = f"{found.shared_tables} table{'' if found.shared_tables == 1 else 's'}"
        lines.append(
            f"{found.sharing:,} rare predicates share {count}, since a graph has no more tables for predicates."
        )
    lines += limit_lines(found.limits)
    lines += [f"A cycle: {cycle}." for cycle in found.cycles]
    for account in found.predicates:
        lines.append(f"{account.triples:>9}  <{account.predicate}>")
        lines += [f"{x.triples:>18}  {x.relation}.{x.column}" for x in account.lies]
        lines += [f"{x.triples:>18}  not shown: {x.reason}" for x in account.left_out]
    if found.shown + found.left_out != found.triples:
        lines.append(f"{found.triples - found.shown - found.left_out} triples are not accounted for. Ingest again.")
    if found.texts or found.texts_left_out:
        lines.append(f"{found.texts:,} document{'' if found.texts == 1 else 's'} in passages.")
    lines += sheet_lines(found.sheets)
    return "\n".join([*lines, *omission_lines(found.omitted), *skipped_lines(found.texts_left_out)])


# predicates of hierarchies, by the ends of their IRIs
HIERARCHIES = ("subClassOf", "subPropertyOf", "broader", "broaderTransitive", "partOf", "isPartOf", "part_of")

MAX_CYCLES, MAX_CYCLE_NAMES = 20, 10


def _cycles(tables: Tables) -> Iterator[str]:
    """The first cycles of each hierarchy: "broader: peat, bog, peat"."""
    connection = tables.trusted()
    links: defaultdict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    aside = "SELECT subject, object FROM _nacre_aside WHERE predicate = ? AND kind <> 'literal'"
    hierarchies = connection.execute("SELECT DISTINCT predicate FROM _nacre_aside")
    for (predicate,) in hierarchies.fetchall():
        if local_name(predicate) in HIERARCHIES:
            for subject, target in connection.execute(aside, (predicate,)):
                links[predicate][subject].add(target)
    for predicate, relation, column in (
        (c.predicate, r, c) for r in tables.schema.relations for c in r.columns if r.kind != "view" and c.link
    ):
        if local_name(predicate) in HIERARCHIES:
            key, link = quote_if_needed(relation.key), quote_if_needed(column.link)
            query = f"SELECT s.iri, o.iri FROM {quote_if_needed(relation.name)} r JOIN entity s ON s.id = r.{key}"
            for subject, target in connection.execute(f"{query} JOIN entity o ON o.id = r.{link}"):
                links[predicate][subject].add(target)
    labels: dict[str, str] = dict(connection.execute("SELECT iri, label FROM entity")) if links else {}
    for predicate in sorted(links):
        for cycle in islice(find_cycles(links[predicate]), MAX_CYCLES):
            names = [labels.get(iri) or local_name(iri) for iri in (*cycle, cycle[0])]
            more = [f"{len(names) - MAX_CYCLE_NAMES + 1:,} more", names[-1]] if len(names) > MAX_CYCLE_NAMES else []
            yield f"{local_name(predicate)}: {', '.join([*names[: MAX_CYCLE_NAMES - len(more)], *more])}"


def find_cycles(links: Mapping[str, Collection[str]]) -> Iterator[list[str]]:
    """Cycles of a graph without common nodes, each from its first node in the order of texts on.

    >>> list(find_cycles({"a": ["b"], "b": ["c"], "c": ["b", "d"], "e": ["e"]}))
    [['b', 'c'], ['e']]
    """
    incoming: defaultdict[str, set[str]] = defaultdict(set)
    left = {node: set(ends) for node, ends in links.items()}
    for node, ends in links.items():
        for end in ends:
            incoming[end].add(node)
            left.setdefault(end, set())
    done = [node for node, ends in left.items() if not ends]
    while True:
        while done:
            # what leads to nothing is in no cycle
            gone = done.pop()
            left.pop(gone, None)
            for node in incoming.pop(gone, ()):
                if node in left:
                    left[node].discard(gone)
                    if not left[node]:
                        done.append(node)
        if not left:
            return
        place: dict[str, int] = {}
        node = min(left)
        while node not in place:
            place[node] = len(place)
            node = min(left[node])
        cycle = list(place)[place[node] :]
        first = cycle.index(min(cycle))
        yield cycle[first:] + cycle[:first]
        done = cycle


def _types(connection: sqlite3.Connection, layout: dict[str, Any]) -> list[ColumnCount]:
    found = []
    for table in layout["tables"]:
        name = table["rows"]
        plain = connection.execute(
            f'SELECT count(*) FROM "{name}" WHERE id NOT IN (SELECT entity FROM _nacre_type)'
        ).fetchone()[0]
        other = connection.execute(
            f"SELECT count(*) FROM _nacre_type WHERE class <> '' AND entity IN (SELECT id FROM \"{name}\")"
        ).fetchone()[0]
        if triples := plain * len(table["types"]) + other:
            found.append(ColumnCount(name, "id", triples))
    return found


def _place(connection: sqlite3.Connection, index: int, place: dict[str, Any]) -> list[ColumnCount]:
    found = []
    row = "rowid" if place["junction"] else "id"
    if place.get("derived"):
        return []
    for relation in [place["junction"]] if place["junction"] else place["tables"]:
        shown = place["text"] or place["value"]
        for column, counted in ((place["value"] or shown, shown), (place["link"], place["link"])):
            if not counted:
                continue
            count = connection.execute(
                f'SELECT count("{counted}") FROM "{relation}"'
                f" WHERE {row} NOT IN (SELECT row FROM _nacre_derived WHERE predicate = ?)",
                (index,),
            ).fetchone()[0]
            # a triple in several named graphs counts as several statements in one cell
            more = connection.execute(
                f"SELECT count(*) - count(DISTINCT row) FROM _nacre_graph WHERE predicate = ? AND row IN "
                f'(SELECT {row} FROM "{relation}" WHERE "{counted}" IS NOT NULL)',
                (index,),
            ).fetchone()[0]
            if count + more:
                found.append(ColumnCount(relation, column, count + more))
    return found


def version_facts(folder: Path, databases: DatabaseLimits = DatabaseLimits()) -> Facts:  # noqa: B008 (immutable)
    """The triples of a version without those of its layers; blank nodes keep their labels."""
    numbers = count(1)
    # number of a term by its text; the default graph is the empty name
    names: defaultdict[str, int] = defaultdict(numbers.__next__, {"": 0})
    literals: defaultdict[tuple[str, str], defaultdict[str, int]] = defaultdict(lambda: defaultdict(numbers.__next__))
    rows = array("I")
    with closing(open_tables(folder, databases)) as tables:
        layout = tables.layout
        for subject, predicate, kind, value, datatype, language, graph in stored_statements(tables.trusted(), layout):
            target = literals[datatype, language][value] if kind == "literal" else names[value]
            rows.extend((names[subject], names[predicate], target, names[graph]))
        omitted = read_omissions(tables)
    collector = TripleCollector()
    collector.texts = [""] * next(numbers)
    collector.sort_of = array("i", bytes(4 * len(collector.texts)))
    iri, blank = collector.number(IRI), collector.number(BLANK)
    for text, number in names.items():
        collector.texts[number] = text
        collector.sort_of[number] = blank if text.startswith("_:") else iri
    for (datatype, language), known in literals.items():
        sort = collector.number(("literal", datatype, language))
        for text, number in known.items():
            collector.texts[number] = text
            collector.sort_of[number] = sort
    collector.add(rows, 4)
    return collector.facts(omitted)
