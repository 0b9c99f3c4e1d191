"""Build the predicates of an endpoint, and the units of their literals: ProbeResult + DeclaredSchema -> Predicate."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import median

from ingestion.attach.declared_schema import DeclaredSchema
from ingestion.attach.probe import LiteralSample, ProbeResult, TypeSetSample
from ingestion.induce.build_schema import LONG_TEXT, MAX_LISTED_VALUES, MAX_SAMPLE_LENGTH, SAMPLES
from ingestion.induce.names.column_names import readable_name
from ingestion.induce.names.predicate_names import ReadableLabel
from ingestion.induce.values.cells import TypedCells, infer_cells
from ingestion.induce.values.quantities import parse_quantity, stated_unit, unit_conversion
from ingestion.read.capsules import TermSort
from ingestion.vocabulary import (
    ALTERNATIVE,
    COMMENT_PREDICATES,
    INVERSE,
    OWL,
    SCHEMA_PREDICATES,
    SKOS,
    local_name,
    name_rank,
    vocabulary_labels,
)
from nacre.language.base import word_list
from nacre.records.schema import Predicate

# minimum share of unique values of an identifying property (as for ingested graphs)
_UNIQUE = 0.8
_UNIT_AT_END = re.compile(r"\d\s*([^\d\s.,()]+)\s*$")


def build_predicate(
    iri: str,
    probed: ProbeResult,
    kinds: Sequence[tuple[TypeSetSample, frozenset[str]]],
    said: DeclaredSchema,
    spoken: ReadableLabel,
) -> Predicate:
    """Build a predicate from all samples; `spoken` is its readable label."""
    triples = probed.predicates[iri]
    # usual labels in graphs with a thesaurus
    usual = vocabulary_labels().get(iri, ()) if SKOS + "Concept" in probed.classes else ()
    domains: Counter[str] = Counter()
    ranges: Counter[str] = Counter()
    subjects = 0
    for kind, closed in kinds:
        having = round(kind.subjects.get(iri, 0) * kind.scale)
        subjects += having
        domains.update({c: having for c in closed if having})
        for (p, c), n in kind.ends.items():
            if p == iri and c in probed.classes:
                # things of several type sets may link to the same object
                ranges[c] = max(ranges[c], min(round(n * kind.scale), probed.classes[c]))
    literals = probed.literals.get(iri)
    cells = _cells(iri, literals) if literals else None
    texts = [term.value for term, _ in literals.counts] if literals else []
    few = literals is not None and literals.whole and len(texts) <= MAX_LISTED_VALUES
    short = few and all(len(text) <= MAX_SAMPLE_LENGTH for text in texts)
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
        samples=() if short else tuple(text[:MAX_SAMPLE_LENGTH] for text in texts[:SAMPLES]),
        inverses=said.linked(iri, INVERSE),
        role=role,  # type: ignore[arg-type]
    )


def _objects(triples: int, literals: LiteralSample | None, ranges: Mapping[str, int]) -> int:
    """The number of distinct objects: counted, else estimated."""
    if literals is not None:
        return len(literals.counts) if literals.whole else triples
    return max(ranges.values(), default=triples)


def _by_count(counts: Counter[str]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda each: (-each[1], each[0])))


def _least(a: float | None, b: float | None) -> float | None:
    return min(a, b) if a is not None and b is not None else a if b is None else b


def _most(a: float | None, b: float | None) -> float | None:
    return max(a, b) if a is not None and b is not None else a if b is None else b


def _cells(iri: str, literals: LiteralSample) -> TypedCells:
    sorts: list[TermSort] = [("literal", term.datatype, term.language) for term, _ in literals.counts]
    frequency: Counter[TermSort] = Counter()
    for sort, (_, n) in zip(sorts, literals.counts, strict=True):
        frequency[sort] += n
    return infer_cells(iri, [term.value for term, _ in literals.counts], sorts, dict(frequency))


def _unit(cells: TypedCells | None, *said: str) -> str:
    if cells is None or cells.unit or cells.datatype not in ("integer", "real"):
        return cells.unit if cells else ""
    return next((unit for text in said if (unit := stated_unit(readable_name(text)))), "")


def _role(iri: str, literals: LiteralSample | None, cells: TypedCells | None, has_links: bool) -> str:
    """The role of a predicate, as for ingested graphs, by the sampled literals."""
    if iri in SCHEMA_PREDICATES or iri == OWL + "sameAs":
        return "schema"
    if literals is None or cells is None or has_links:
        return "fact"
    words = readable_name(local_name(iri)).lower().split()
    if name_rank(iri) is not None or iri == ALTERNATIVE:
        return "name"
    if cells.datatype not in ("text", "integer") or cells.unit:
        return "fact"
    seen = sum(n for _, n in literals.counts)
    unique = len(literals.counts) > _UNIQUE * seen
    if set(words) & word_list("ingestion", "identifier_words") and unique:
        return "identifier"
    if cells.datatype != "text":
        return "fact"
    if iri in COMMENT_PREDICATES or median(len(term.value) for term, _ in literals.counts) > LONG_TEXT:
        return "text"
    return "name" if unique and words[-1:] in (["name"], ["title"]) else "fact"


def unit_factors(unit: str, literals: LiteralSample | None) -> dict[str, float]:
    """The factors that convert other units to the usual one, by the unit at the end of literals."""
    found: dict[str, float] = {}
    for text in (term.value for term, _ in literals.counts) if literals else ():
        read, ending = parse_quantity(text), _UNIT_AT_END.search(text)
        way = unit_conversion(read.unit, unit) if read and ending and read.unit != unit else None
        if way and ending and way[1] == 0 and way[0] != 1:
            found[ending[1]] = way[0]
    return dict(sorted(found.items()))
