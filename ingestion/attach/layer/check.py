"""Check layers at an endpoint: LayerFiles + endpoint -> for each entry what it gives and what is wrong."""

from collections.abc import Iterator

from ingestion.attach.budget import BudgetedEndpoint
from ingestion.attach.layer.apply import EndpointLayer, apply_endpoint_layers
from ingestion.attach.probe import probe_endpoint
from ingestion.layer.check import EXAMPLES, EntryReport, LayerReport, entry_name, shared_names
from ingestion.layer.entries import Entry, PropertyEntry
from ingestion.layer.resolve import Problem
from ingestion.layer.stored import LayerFiles


def check_endpoint_layers(asking: BudgetedEndpoint, files: LayerFiles) -> LayerReport:
    """Apply the layers to samples of the endpoint and report; nothing is written."""
    applied = apply_endpoint_layers(asking, probe_endpoint(asking), files)
    own = {each.name for each in files.files}
    given = [(i, entry) for i, entry in enumerate(applied.layer.entries) if entry.place.file in own]
    reports = [
        EntryReport(entry.place, entry_name(entry), applied.counts.get(i), _examples(entry, applied))
        for i, entry in given
    ]
    problems = [*applied.problems, *_without_values(given, applied), *shared_names([entry for _, entry in given])]
    return LayerReport(tuple(reports), tuple(sorted(problems, key=lambda p: p.place)))


def _examples(entry: Entry, applied: EndpointLayer) -> tuple[str, ...]:
    """Some literals of a derived property."""
    if not isinstance(entry, PropertyEntry) or entry.iri not in applied.patterns:
        return ()
    literals = applied.probed.literals.get(entry.iri)
    return tuple(term.value[:80] for term, _ in literals.counts[:EXAMPLES]) if literals else ()


def _without_values(given: list[tuple[int, Entry]], applied: EndpointLayer) -> Iterator[Problem]:
    for index, entry in given:
        if applied.counts.get(index) == 0:
            yield Problem(entry.place, f"'{entry_name(entry)}' gives nothing in this graph.")
