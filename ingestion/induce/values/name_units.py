"""Units at the end of property names: predicates -> the same with units, "lengthM" as a length in m."""

import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import cache

from ingestion.induce.names.column_names import readable_name
from ingestion.induce.names.predicate_names import expand_abbreviations
from ingestion.induce.values.quantities import CURRENCY_SIGNS, UNIT_SYMBOLS, is_common_unit
from ingestion.vocabulary import local_name
from nacre.language.quantities.units import magnitude_of_name
from nacre.language.thesaurus import english_data
from nacre.language.tokens import fold, lemma
from nacre.records.schema import Predicate

_BRACKETS = re.compile(r"(?:(?<!\s)\s++)?\(([^()]{1,12})\)\s*+$")
# minimum length of the word before a unit; maximum number of words of a unit: "km h"
_SHORTEST, _LONGEST = 3, 2


def add_name_units(predicates: Sequence[Predicate], classes: Collection[str]) -> tuple[Predicate, ...]:
    """Numeric properties with the unit at the end of their names; labels made from IRIs lose the unit.

    A label stays as it is if the rest of it is the label of another property or of a class (`classes` are their
    labels).
    """
    found = [_named(p) for p in predicates]
    labels = Counter([fold(p.label) for p in predicates] + [fold(rest) for rest, _ in found if rest])
    taken = {fold(label) for label in classes} | {label for label, count in labels.items() if count > 1}
    named = zip(predicates, found, strict=True)
    return tuple(_called(p, "" if fold(rest) in taken else rest, unit) for p, (rest, unit) in named)


def _called(predicate: Predicate, rest: str, unit: str) -> Predicate:
    """The property with its unit; if its label loses the unit, the old label becomes an alternative one."""
    named = replace(predicate, unit=unit) if unit else predicate
    return replace(named, label=rest, alt_labels=(*named.alt_labels, named.label)) if rest else named


def _named(predicate: Predicate) -> tuple[str, str]:
    """The label without its unit ("" if it stays as it is), and the unit."""
    numbers = predicate.datatype in ("integer", "real") and predicate.role == "fact" and not predicate.has_links
    if not numbers:
        return "", ""
    if counted := magnitude_of_name(predicate.label) or magnitude_of_name(local_name(predicate.iri)):
        return "", counted[1] if predicate.unit in ("", counted[1]) else ""
    if brackets := _BRACKETS.search(predicate.label):
        said = brackets[1]
        unit = (
            said
            if said in UNIT_SYMBOLS or is_common_unit(said)
            else _unit(said.lower()) or _spelt_out().get(said.lower(), "")
        )
        return "", unit if predicate.unit in ("", unit) else ""
    name, label = readable_name(local_name(predicate.iri)), predicate.label
    unit = trailing_unit(name)[1] or trailing_unit(expand_abbreviations(name))[1]
    if not unit or predicate.unit not in ("", unit):
        return "", ""
    # a stated label stays as it is
    derived = any(
        fold(said).replace(" ", "").endswith(fold(label).replace(" ", ""))
        for said in (name, expand_abbreviations(name))
    )
    return trailing_unit(label)[0] if derived else "", unit


def trailing_unit(name: str) -> tuple[str, str]:
    """The words of a name before its unit, and the unit; the name and "" if it does not end in a unit.

    Ambiguous units, such as single letters, only count after a noun that is measured in them.

    >>> trailing_unit("length M"), trailing_unit("price Eur"), trailing_unit("speed km h"), trailing_unit("area Km2")
    (('length', 'm'), ('price', 'EUR'), ('speed', 'km/h'), ('area', 'km²'))
    >>> trailing_unit("plan B"), trailing_unit("temperature min"), trailing_unit("cost per kg")
    (('plan B', ''), ('temperature min', ''), ('cost per kg', ''))
    """
    words = name.split()
    for size in range(min(_LONGEST, len(words) - 1), 0, -1):
        rest = words[: -size - 1] if words[-size - 1].lower() == "in" else words[:-size]
        last = rest[-1].lower() if rest else ""
        if len(last) < _SHORTEST or not last.isalpha() or last == "per" or _unit(last):
            continue
        spelt = "/".join(words[-size:]).lower()
        unit = _unit(spelt) or _units_of().get(lemma(last), {}).get(spelt, "")
        if unit:
            return " ".join(rest), unit
    return name, ""


def _unit(spelt: str) -> str:
    """The unit with this spelling, independent of the noun; "" for none."""
    code = spelt.upper()
    return code if code in CURRENCY_SIGNS else str(english_data()["units_in_names"].get(spelt, ""))


@cache
def _spelt_out() -> dict[str, str]:
    """Unambiguous words for units: "minutes", "litres"."""
    known = {spelt: unit for units in _units_of().values() for spelt, unit in units.items()}
    return {spelt: unit for spelt, unit in known.items() if len(spelt) > _SHORTEST}


@cache
def _units_of() -> dict[str, dict[str, str]]:
    """Measured noun -> spelling of a unit -> unit."""
    return {noun: group["units"] for group in english_data()["units_after"] for noun in group["measured"].split()}
