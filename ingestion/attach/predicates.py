"""Say what a predicate behind an endpoint is: Probed + Said -> Predicate, and the units of its literals."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import median

from ingestion.attach.declared_schema import Said
from ingestion.attach.probe import Kind, Literals, Probed
from ingestion.induce.describe import FEW_VALUES, LONG_TEXT, LONGEST_SAMPLE, SAMPLES
from ingestion.induce.names.column_names import words_of
from ingestion.induce.names.predicate_names import Spoken
from ingestion.induce.values.cells import Cells, typed_cells
from ingestion.induce.values.quantities import conversion, quantity, stated_unit
from ingestion.read.capsules import Sort
from ingestion.vocabulary import (
    ALTERNATIVE,
    COMMENT_PREDICATES,
    IDENTIFIER_WORDS,
    INVERSE,
    KNOWN_NAMES,
    OWL,
    SCHEMA_PREDICATES,
    SKOS,
    local_name,
    name_rank,
)
from nacre.records.schema import Predicate

# how many of its values a property that tells things apart has once (as for ingested graphs)
_UNIQUE = 0.8
_UNIT_AT_END = re.compile(r"\d\s*([^\d\s.,()]+)\s*$")


def predicate_of(
    iri: str, probed: Probed, kinds: Sequence[tuple[Kind, frozenset[str]]], said: Said, spoken: Spoken
) -> Predicate:
    """A predicate with all that was seen of it; `spoken` is its name as people say it."""
    triples = probed.predicates[iri]
    # people call these so where there is a thesaurus
    usual = KNOWN_NAMES.get(iri, ()) if SKOS + "Concept" in probed.classes else ()
    domains: Counter[str] = Counter()
    ranges: Counter[str] = Counter()
    subjects = 0
    for kind, closed in kinds:
        having = round(kind.subjects.get(iri, 0) * kind.scale)
        subjects += having
        domains.update({c: having for c in closed if having})
        for (p, c), n in kind.ends.items():
            if p == iri and c in probed.classes:
                # things of several kinds may link to the same
                ranges[c] = max(ranges[c], min(round(n * kind.scale), probed.classes[c]))
    literals = probed.literals.get(iri)
    cells = _cells(iri, literals) if literals else None
    texts = [term.value for term, _ in literals.counts] if literals else []
    few = literals is not None and literals.whole and len(texts) <= FEW_VALUES
    short = few and all(len(text) <= LONGEST_SAMPLE for text in texts)
    role = _role(iri, literals, cells, any(kind.links.get(iri) for kind, _ in kinds))
    return Predicate(
        iri=iri,
        label=said.label(iri) or next(iter(usual), "") or spoken.label or iri,
        triples=triples,
        subjects=subjects or triples,
        objects=_objects(triples, literals, ranges),
        has_literals=literals is not None,
        has_links=any(kind.links.get(iri) for kind, _ in kinds),
        functional=all(kind.subjects[iri] == kind.triples[iri] for kind, _ in kinds if iri in kind.subjects),
        domains=_by_count(domains),
        ranges=_by_count(ranges),
        datatype=cells.datatype if cells else "text",
        shape=cells.shape if cells else "single",
        unit=_unit(cells, said.comment(iri), said.label(iri), local_name(iri)),
        minimum=_least(cells.minimum if cells else None, literals.minimum if literals else None),
        maximum=_most(cells.maximum if cells else None, literals.maximum if literals else None),
        comment=said.comment(iri),
        alt_labels=(*said.others(iri), *usual[1:], *spoken.others),
        values=tuple(dict.fromkeys(texts)) if short else (),
        samples=() if short else tuple(text[:LONGEST_SAMPLE] for text in texts[:SAMPLES]),
        inverses=said.linked(iri, INVERSE),
        role=role,  # type: ignore[arg-type]
    )


def _objects(triples: int, literals: Literals | None, ranges: Mapping[str, int]) -> int:
    """How many different objects there are: as many as were counted, else as there may be."""
    if literals is not None:
        return len(literals.counts) if literals.whole else triples
    return max(ranges.values(), default=triples)


def _by_count(counts: Counter[str]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda each: (-each[1], each[0])))


def _least(a: float | None, b: float | None) -> float | None:
    return min(a, b) if a is not None and b is not None else a if b is None else b


def _most(a: float | None, b: float | None) -> float | None:
    return max(a, b) if a is not None and b is not None else a if b is None else b


def _cells(iri: str, literals: Literals) -> Cells:
    sorts: list[Sort] = [("literal", term.datatype, term.language) for term, _ in literals.counts]
    frequency: Counter[Sort] = Counter()
    for sort, (_, n) in zip(sorts, literals.counts, strict=True):
        frequency[sort] += n
    return typed_cells(iri, [term.value for term, _ in literals.counts], sorts, dict(frequency))


def _unit(cells: Cells | None, *said: str) -> str:
    if cells is None or cells.unit or cells.datatype not in ("integer", "real"):
        return cells.unit if cells else ""
    return next((unit for text in said if (unit := stated_unit(words_of(text)))), "")


def _role(iri: str, literals: Literals | None, cells: Cells | None, has_links: bool) -> str:
    """As for ingested graphs, by the literals that were seen."""
    if iri in SCHEMA_PREDICATES or iri == OWL + "sameAs":
        return "schema"
    if literals is None or cells is None or has_links:
        return "fact"
    words = words_of(local_name(iri)).lower().split()
    if name_rank(iri) is not None or iri == ALTERNATIVE:
        return "name"
    if cells.datatype not in ("text", "integer") or cells.unit:
        return "fact"
    seen = sum(n for _, n in literals.counts)
    unique = len(literals.counts) > _UNIQUE * seen
    if set(words) & IDENTIFIER_WORDS and unique:
        return "identifier"
    if cells.datatype != "text":
        return "fact"
    if iri in COMMENT_PREDICATES or median(len(term.value) for term, _ in literals.counts) > LONG_TEXT:
        return "text"
    return "name" if unique and words[-1:] in (["name"], ["title"]) else "fact"


def factors_of(unit: str, literals: Literals | None) -> dict[str, float]:
    """What brings numbers in other units than the usual one to it, by the unit as literals end with it."""
    found: dict[str, float] = {}
    for text in (term.value for term, _ in literals.counts) if literals else ():
        read, ending = quantity(text), _UNIT_AT_END.search(text)
        way = conversion(read.unit, unit) if read and ending and read.unit != unit else None
        if way and ending and way[1] == 0 and way[0] != 1:
            found[ending[1]] = way[0]
    return dict(sorted(found.items()))
