"""What properties without a label are called: the words of their IRIs, as a person says them, and the unit in them."""

from collections import Counter
from collections.abc import Collection, Mapping
from typing import NamedTuple

from ingestion.induce.column_names import plain_words
from ingestion.induce.glued import unglued
from ingestion.induce.quantities import COMMON
from ingestion.vocabulary import local_name
from nacre.semantics.nouns import wording

# units that are words as well, and letters that are numbered things: "duration min", "price in", "vitamin a"
_NO_UNIT = frozenset({"in", "min", "bar", "ms"}) | {unit for unit in COMMON if len(unit) == 1 and unit != "m"}
_POWERS = {"m2": "m²", "km2": "km²", "cm2": "cm²", "m3": "m³", "cm3": "cm³"}


class Spoken(NamedTuple):
    """A name in words, the unit that it said, and how it is written, where that differs."""

    label: str
    unit: str = ""
    written: str = ""


def spoken_names(iris: Collection[str], numeric: Collection[str]) -> Mapping[str, Spoken]:
    """What predicates are called by their IRIs; those that are `numeric` without the unit at the end of their names,
    where no other is called so.

    >>> spoken_names(["http://e/height_cm", "http://e/birthYr"], ["http://e/height_cm"])["http://e/height_cm"]
    Spoken(label='height', unit='cm', written='height cm')
    """
    plain = {iri: plain_words(local_name(iri)) for iri in iris}
    words = {word for said in plain.values() for word in said.split()}
    written = {iri: unglued(said, words) for iri, said in plain.items()}
    whole = {iri: _in_full(said) for iri, said in written.items()}
    short = {iri: _without_unit(said) if iri in numeric else (said, "") for iri, said in whole.items()}
    often = Counter(said for said, _ in short.values())
    found = {}
    for iri, (said, unit) in short.items():
        said, unit = (said, unit) if often[said] == 1 else (whole[iri], "")
        found[iri] = Spoken(said, unit, written[iri] if said != written[iri] else "")
    return found


def _in_full(label: str) -> str:
    """A name without the abbreviations that data is written with: "birth yr" -> "birth year"."""
    known = wording("abbreviations")
    return " ".join(known.get(word.lower(), word) for word in label.split())


def _without_unit(label: str) -> tuple[str, str]:
    before, _, last = label.rpartition(" ")
    unit = _POWERS.get(last.lower(), last)
    is_unit = unit in COMMON and unit not in _NO_UNIT and len(before) > 2
    return (before, unit) if is_unit else (label, "")
