"""Relations that are nodes of their own: the measured quantity, or the role, becomes a property. So does what is said
of a statement. Draft -> Draft."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote

import numpy as np
import pyoxigraph as ox

from ingestion.induce.names import lowercase_name
from ingestion.meaning.draft import Draft
from ingestion.read.facts import unique_counts
from ingestion.vocabulary import COMMENT_PREDICATES, LABEL, SCHEMA_TYPES, TRIPLE_TERM, TYPE, local_name, name_rank
from nacre.extensions.vocabularies.value_nodes import UNIT, UNIT_NAMES, VALUE, VALUE_NAMES, VALUE_REASON, unit_symbol
from nacre.language.data import word_list
from nacre.records.schema import REIFIES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Terms = NDArray[np.int32]

# local names of predicates with the number, its unit, and the measured quantity
_VALUES = frozenset({*VALUE_NAMES, "simpleResult", "hasSimpleResult", "result", "hasResult"})

_UNITS = frozenset(UNIT_NAMES)

_MEASURED = frozenset(
    {"observedProperty", "measuredProperty", "hasQuantityKind", "quantityKind", "variableMeasured", "parameter"}
)

# maximum number of measured quantities of a class
MAX_MEASURED = 200


class MeasurementClass(NamedTuple):
    """The measurements of one class, in order, with their numbers and units ("" for none)."""

    owner: str
    things: "Terms"
    values: "Terms"
    units: "Terms | None"
    measured: "Terms | None"
    alone: bool


def unfold_measurements(draft: Draft) -> None:
    """Derive a property for each measured quantity, named by the class of the measurement or the quantity it states.

    The subject is the thing with the only link to the measurement, if the measurement has no other facts; it is then
    hidden. Otherwise the subject is the measurement itself.
    """
    for found in list(_measures(draft)):
        words = set(lowercase_name(local_name(found.owner)).split())
        if found.measured is None and words <= word_list("ingestion", "measurement_words"):
            continue
        targets = _targets(draft, found) if found.alone else None
        if targets is None and found.measured is None and found.units is None:
            continue
        said = _with_units(draft, found)
        names = np.full(len(said), draft.iri(found.owner)) if found.measured is None else found.measured
        subjects = found.things if targets is None else targets[0]
        for name in unique_counts(names)[0].tolist():
            here = names == name
            draft.derive(subjects[here], measured_property(draft, found.owner, name), said[here])
        if targets is not None:
            draft.hide(targets[1].tolist(), VALUE_REASON)
            draft.hide([row for thing in found.things.tolist() for row in draft.rows_of(thing)], VALUE_REASON)


def _measures(draft: Draft) -> Iterator[MeasurementClass]:
    facts = draft.facts
    iris = {draft.text(n): n for n in facts.predicates}
    values, units, measured = (
        {iri for iri in iris if iri in known or local_name(iri) in ends}
        for known, ends in ((VALUE, _VALUES), (UNIT, _UNITS), ((), _MEASURED))
    )
    if not values or not (units or measured):
        return
    typing = np.flatnonzero(facts.predicate == draft.predicate(TYPE))
    typing = typing[~np.isin(typing, list(draft.hidden))] if draft.hidden else typing
    holds = {iri: _held(draft, iri) for iri in sorted(values)}
    beside = {iri: _held(draft, iri) for iri in sorted(units | measured)}
    for number in unique_counts(facts.object[typing])[0].tolist():
        owner = draft.text(number)
        things = np.unique(facts.subject[typing[facts.object[typing] == number]])
        if owner in SCHEMA_TYPES:
            continue
        value = next((held for iri in holds if (held := _of(holds[iri], things)) is not None), None)
        if value is None or not _numbers(draft, value):
            continue
        unit = next((held for iri in sorted(units) if (held := _of(beside[iri], things)) is not None), None)
        what = next((held for iri in sorted(measured) if (held := _of(beside[iri], things)) is not None), None)
        if what is not None and len(unique_counts(what)[0]) > MAX_MEASURED:
            continue
        known = values | units | measured | {TYPE, LABEL}
        rows = np.isin(facts.subject, things)
        alone = all(draft.text(p) in known for p in unique_counts(facts.predicate[rows])[0].tolist())
        yield MeasurementClass(owner, things, value, unit, what, alone)


def _held(draft: Draft, iri: str) -> "NDArray[np.int64]":
    """Subjects and objects of a property, sorted by subject."""
    pairs = np.array(draft.pairs(iri), dtype=np.int64).reshape(-1, 2)
    return pairs[np.argsort(pairs[:, 0], kind="stable")]


def _of(pairs: "NDArray[np.int64]", things: "Terms") -> "Terms | None":
    """The object of each thing, if each has exactly one."""
    mine = pairs[np.isin(pairs[:, 0], things)]
    return mine[:, 1].astype(np.int32) if np.array_equal(mine[:, 0], things) else None


def _numbers(draft: Draft, values: "Terms") -> bool:
    """Whether values are literals that begin with a number; a unit may follow it."""
    for term in unique_counts(values)[0].tolist():
        try:
            float(draft.text(term).partition(" ")[0])
        except ValueError:
            return False
        if draft.sort(term)[0] != "literal":
            return False
    return True


def _targets(draft: Draft, found: MeasurementClass) -> "tuple[Terms, NDArray[np.intp]] | None":
    """The thing that links to each measurement, and the rows of the links; None unless exactly one links to each."""
    facts = draft.facts
    rows = np.flatnonzero(np.isin(facts.object, found.things))
    rows = rows[np.argsort(facts.object[rows], kind="stable")]
    return (facts.subject[rows], rows) if np.array_equal(facts.object[rows], found.things) else None


def _with_units(draft: Draft, found: MeasurementClass) -> "Terms":
    """The values with their units as literals; equal ones are created once."""
    if found.units is None:
        return found.values
    keys = found.values.astype(np.int64) << 32 | found.units
    pairs, places = np.unique(keys, return_inverse=True)
    said = []
    for pair in pairs.tolist():
        value, unit = pair >> 32, draft.text(pair & 0xFFFFFFFF)
        unit = unit_symbol(local_name(unit) if "://" in unit else unit)
        said.append(draft.literal(f"{draft.text(value)} {unit}") if unit else value)
    return np.array(said, dtype=np.int32)[places]


def measured_property(draft: Draft, owner: str, name: int) -> str:
    """The IRI of a derived property, with the names and comments of its source."""
    text = draft.text(name)
    is_literal = draft.sort(name)[0] == "literal"
    iri = f"{owner}-{quote('-'.join(text.lower().split()))}" if is_literal else f"{text}-value"
    number, said = draft.iri(iri), False
    for row in () if is_literal or name >= len(draft.facts.texts) else draft.rows_of(name):
        _, predicate, target = draft.row(row)
        named = name_rank(draft.text(predicate)) is not None
        if named or draft.text(predicate) in COMMENT_PREDICATES:
            draft.add(number, LABEL if named else draft.text(predicate), target)
            said = said or named
    if not said:
        label = text if is_literal else lowercase_name(local_name(text))
        draft.add(number, LABEL, draft.literal(label))
    return iri


# maximum number of roles of one class
MAX_ROLES = 50


def unfold_roles(draft: Draft) -> None:
    """If the things of a class each link two things in a role, derive a property for each role: "chair", "trainer". The
    name of a property ("member", "person") shows which of the two is the holder."""
    facts = draft.facts
    roles = [n for n in facts.predicates if set(_words(draft.text(n))) & word_list("ingestion", "role_words")]
    if not roles:
        return
    typing = np.flatnonzero(facts.predicate == draft.predicate(TYPE))
    for role in roles:
        subjects = facts.subject[facts.predicate == role]
        for number in unique_counts(facts.object[typing[np.isin(facts.subject[typing], subjects)]])[0].tolist():
            if draft.text(number) not in SCHEMA_TYPES:
                _unfold(draft, role, np.unique(facts.subject[typing[facts.object[typing] == number]]))


def _unfold(draft: Draft, role: int, things: "Terms") -> None:
    facts = draft.facts
    rows = np.flatnonzero(np.isin(facts.subject, things) & (facts.predicate != draft.predicate(TYPE)))
    rows = rows[~np.isin(rows, list(draft.hidden))] if draft.hidden else rows
    links = rows[~facts.is_literal[facts.object[rows]]]
    ends = {
        n: _objects_of(draft, links, n, things) for n in unique_counts(facts.predicate[links])[0].tolist() if n != role
    }
    named = _objects_of(draft, rows, role, things)
    pair = [(n, end) for n, end in ends.items() if end is not None]
    if named is None or len(pair) != 2 or len(ends) != 2 or len(unique_counts(named)[0]) > MAX_ROLES:
        return
    pair.sort(key=lambda each: _holds(draft.text(each[0])))
    (_, owners), (_, holders) = pair
    if [_holds(draft.text(n)) for n, _ in pair] != [False, True]:
        return
    names = unique_counts(named)[0].tolist()
    texts = [draft.text(name) for name in names if draft.sort(name)[0] == "literal"]
    if texts and (2 * len(names) > len(things) or not all(any(map(str.isalpha, text)) for text in texts)):
        # unique titles, or positions, as those of authors
        return
    for name in names:
        here = named == name
        draft.derive(owners[here], measured_property(draft, draft.text(role), name), holders[here])


def _objects_of(draft: Draft, rows: "NDArray[np.intp]", predicate: int, things: "Terms") -> "Terms | None":
    """The object of each thing by a predicate, if each has exactly one."""
    mine = rows[draft.facts.predicate[rows] == predicate]
    return draft.facts.object[mine] if np.array_equal(draft.facts.subject[mine], things) else None


def _holds(iri: str) -> bool:
    return not word_list("ingestion", "role_holder_words").isdisjoint(_words(iri))


def _words(iri: str) -> list[str]:
    return lowercase_name(local_name(iri)).split()


CLAIM = "urn:nacre:claim"  # the class of what is only claimed

CLAIM_REASON = "said of a statement"


def read_claims(draft: Draft) -> None:
    """What RDF 1.2 says of a stated triple becomes a property of its ends ("ceo since"). A triple that is only claimed
    is no fact: its claim is a thing, with what is said of it and a link to what it is about."""
    claims = [(r, draft.text(t)) for r, t in draft.pairs(REIFIES) if draft.sort(t)[1] == TRIPLE_TERM]
    if not claims:
        return
    names: dict[int, str] = {}
    for number in sorted(draft.facts.predicates, key=lambda n: name_rank(draft.text(n)) or 0):
        if name_rank(draft.text(number)) is not None:
            for thing, name in draft.pairs(draft.text(number)):
                names.setdefault(thing, draft.text(name))

    def called(iri: str) -> str:
        number = draft.known_iri(iri)
        return names.get(-1 if number is None else number) or lowercase_name(local_name(iri))

    lines = "".join(f"<urn:x> <{REIFIES}> {term} .\n" for _, term in claims)
    parsed = ox.parse(lines.encode(), format=ox.RdfFormat.N_TRIPLES)
    for (node, _), triple in zip(claims, (quad.object for quad in parsed), strict=True):
        assert isinstance(triple, ox.Triple)
        predicate, target = triple.predicate.value, triple.object
        subject = draft.known_iri(getattr(triple.subject, "value", ""))
        rows = [] if subject is None else [draft.row(row) for row in draft.rows_of(subject)]
        draft.budget.spend(len(rows))
        ends = [o for _, p, o in rows if draft.text(p) == predicate and draft.text(o) == getattr(target, "value", "")]
        own = [
            (draft.text(p), o)
            for _, p, o in map(draft.row, draft.rows_of(node))
            if draft.text(p) not in (REIFIES, TYPE)
        ]
        if subject is None or not ends:
            draft.add(node, TYPE, draft.iri(CLAIM))
            words = (called(getattr(triple.subject, "value", "")), called(predicate))
            shown = called(target.value) if isinstance(target, ox.NamedNode) else getattr(target, "value", "")
            draft.add(node, LABEL, draft.literal(" ".join((*words, shown))))
            if subject is not None:
                draft.add(node, CLAIM + "-about", subject)
            continue
        for said, value in own:
            iri = f"{predicate}/{local_name(said)}"
            draft.add(draft.iri(iri), LABEL, draft.literal(f"{called(predicate)} {called(said)}"))
            for end in (subject, *ends):
                draft.add(end, iri, value)
        if draft.sort(node)[0] == "blank":
            draft.hide(draft.rows_of(node), CLAIM_REASON)
    draft.add(draft.iri(CLAIM), LABEL, draft.literal("claim"))
    draft.add(draft.iri(CLAIM + "-about"), LABEL, draft.literal("about"))
    rows_of_claims = (row for node, _ in claims for row in draft.rows_of(node))
    draft.hide([row for row in rows_of_claims if draft.text(draft.row(row)[1]) == REIFIES], CLAIM_REASON)
