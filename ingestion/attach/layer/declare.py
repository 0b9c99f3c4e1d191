"""The names of a layer as declarations of an endpoint: resolved Layer + ProbeResult -> ProbeResult."""

from dataclasses import replace

from ingestion.attach.probe import ProbeResult
from ingestion.induce.names.column_names import readable_name
from ingestion.layer.entries import ClassEntry, Layer, PropertyEntry
from ingestion.vocabulary import ALTERNATIVE, COMMENT, LABEL, PREFERRED, local_name
from nacre.stores.sparql.sparql_source import SparqlTerm


def declare_names(probed: ProbeResult, layer: Layer) -> ProbeResult:
    """The result with the names of a layer before those that the endpoint declares. Later entries come first."""
    said = dict(probed.said)
    for entry in layer.entries:
        if not isinstance(entry, ClassEntry | PropertyEntry) or not entry.iri:
            continue
        iri = entry.iri
        others = list(said.get((iri, ALTERNATIVE), ()))
        if entry.name:
            previous = said.get((iri, PREFERRED), ())
            # a name from an IRI stays an alternative
            named = previous or said.get((iri, LABEL), ())
            others = [*previous, *others] if named else [_text(readable_name(local_name(iri)).lower()), *others]
            said[iri, PREFERRED] = (_text(entry.name),)
        also = (*entry.also, *(entry.inverse if isinstance(entry, PropertyEntry) else ()))
        said[iri, ALTERNATIVE] = tuple(dict.fromkeys((*map(_text, also), *others)))
        if entry.comment:
            said[iri, COMMENT] = (_text(entry.comment),)
    return replace(probed, said={key: terms for key, terms in said.items() if terms})


def _text(text: str) -> SparqlTerm:
    return SparqlTerm("literal", text)
