"""The triples of a version as they were read: graph.sqlite -> Facts."""

import json
from array import array
from collections import defaultdict
from contextlib import closing
from itertools import count
from pathlib import Path

from ingestion.export import stored_statements
from ingestion.read.capsules import BLANK, IRI, Facts, TripleCollector
from ingestion.report import read_omissions
from nacre.stores.databases.address import DatabaseLimits
from nacre.stores.tables_of_version import open_tables


def version_facts(folder: Path, databases: DatabaseLimits = DatabaseLimits()) -> Facts:  # noqa: B008 (immutable)
    """The triples of a version without those of its layers; blank nodes keep their labels."""
    numbers = count(1)
    # number of a term by its text; the default graph is the empty name
    names: defaultdict[str, int] = defaultdict(numbers.__next__, {"": 0})
    literals: defaultdict[tuple[str, str], defaultdict[str, int]] = defaultdict(lambda: defaultdict(numbers.__next__))
    rows = array("I")
    with closing(open_tables(folder, databases)) as tables:
        layout = json.loads(tables.meta("layout"))
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
