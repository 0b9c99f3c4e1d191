"""What an endpoint declares about its classes and predicates: labels, comments, superclasses."""

from collections.abc import Iterable
from functools import lru_cache

from ingestion.induce.names.class_names import strip_table_affix
from ingestion.induce.names.column_names import lowercase_name
from ingestion.induce.schema_limits import MAX_COMMENT, MAX_LABEL, other_labels
from ingestion.vocabulary import (
    ALTERNATIVE,
    COMMENT,
    EMPTY_TYPES,
    LABEL,
    PREFERRED,
    SUBCLASS,
    language_rank,
    local_name,
)
from nacre.stores.sparql.sparql_source import SparqlTerm


class DeclaredSchema:
    """The declarations of classes and predicates, by (term, predicate)."""

    def __init__(self, declared: dict[tuple[str, str], tuple[SparqlTerm, ...]]) -> None:
        self._declared = declared
        self.ancestors = lru_cache(maxsize=None)(self._ancestors)

    def label(self, iri: str) -> str:
        found = self._texts(iri, PREFERRED) or self._texts(iri, LABEL)
        return found[0][:MAX_LABEL] if found else ""

    def name(self, iri: str) -> str:
        return self.label(iri) or lowercase_name(strip_table_affix(local_name(iri)))[:MAX_LABEL] or iri[:MAX_LABEL]

    def others(self, iri: str) -> tuple[str, ...]:
        named = [text for p in (PREFERRED, LABEL, ALTERNATIVE) for text in self._texts(iri, p)]
        return other_labels(text for text in named if text[:MAX_LABEL] != self.label(iri))

    def comment(self, iri: str) -> str:
        found = self._texts(iri, COMMENT)
        return found[0][:MAX_COMMENT] if found else ""

    def linked(self, iri: str, predicate: str) -> tuple[str, ...]:
        return tuple(term.value for term in self._declared.get((iri, predicate), ()) if term.kind == "iri")

    def closed(self, types: Iterable[str]) -> frozenset[str]:
        """The classes with all their ancestors."""
        return frozenset().union(*(self.ancestors(iri) for iri in types))

    def _ancestors(self, iri: str) -> frozenset[str]:
        found, open_ = {iri}, [iri]
        while open_:
            new = [up for up in self.linked(open_.pop(), SUBCLASS) if up not in found and up not in EMPTY_TYPES]
            found.update(new)
            open_ += new
        return frozenset(found)

    def _texts(self, iri: str, predicate: str) -> list[str]:
        """Texts in English, else untagged, else in other languages."""
        terms = [term for term in self._declared.get((iri, predicate), ()) if term.kind == "literal" and term.value]
        ranked = sorted(terms, key=lambda term: (language_rank(term.language), term.value))
        best = [language_rank(term.language)[0] for term in ranked[:1]]
        return [term.value for term in ranked if language_rank(term.language)[0] <= max(2, *best)]
