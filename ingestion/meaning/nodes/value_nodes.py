"""Nodes that only hold a value (a quantity, a named property, `rdf:value`): the owner gets a literal. Draft ->
Draft."""

from collections import defaultdict
from dataclasses import dataclass

from ingestion.induce.names.labels import FLOATS, NUMBER
from ingestion.meaning.draft import Draft
from ingestion.meaning.unit_codes import unit_symbol
from ingestion.vocabulary import LABEL, RDF, SCHEMA_ORG, TYPE, local_name

_QUDT = "http://qudt.org/schema/qudt/"
_GR = "http://purl.org/goodrelations/v1#"
_OM = "http://www.ontology-of-units-of-measure.org/resource/om-2/"
VALUE = frozenset(
    {RDF + "value", _QUDT + "value", _QUDT + "numericValue", _GR + "hasValue", _GR + "hasValueFloat"}
    | {_GR + "hasValueInteger", _OM + "hasNumericalValue", *(s + "value" for s in SCHEMA_ORG)}
)
LOW = frozenset({_GR + "hasMinValue", _GR + "hasMinValueFloat", *(s + "minValue" for s in SCHEMA_ORG)})
HIGH = frozenset({_GR + "hasMaxValue", _GR + "hasMaxValueFloat", *(s + "maxValue" for s in SCHEMA_ORG)})
# the first of these predicates that a node has gives its unit
UNIT = (
    *(s + name for name in ("unitText", "unitCode") for s in SCHEMA_ORG),
    _GR + "hasUnitOfMeasurement",
    _QUDT + "unit",
    _QUDT + "hasUnit",
    _OM + "hasUnit",
)
NAME = tuple(s + "name" for s in SCHEMA_ORG)
_BESIDE = frozenset({TYPE, LABEL, *(s + name for name in ("propertyID", "additionalType") for s in SCHEMA_ORG)})
REASON = "value behind a node"


# of any vocabulary, by the ends of their IRIs: what holds the number of a quantity or a result, and its unit
VALUE_NAMES = ("value", "numericValue", "numericalValue", "hasValue", "hasNumericValue", "hasNumericalValue")
UNIT_NAMES = ("unit", "unitText", "unitCode", "hasUnit", "uom", "unitOfMeasure", "unitOfMeasurement")
# a blank node of an unknown vocabulary is a value if it only has these predicates
_VALUES, _CODES = (*VALUE_NAMES, "amount", "v"), ("system", "code")
_UNITS = (*UNIT_NAMES, "currency", "hasCurrency")
# predicates with the position of a node
_PLACES = frozenset({"index", "position"})
# maximum number of nested nodes
MAX_NESTING = 3


@dataclass(frozen=True)
class NodeValue:
    """The content of a node. `alone`: only a value, so the node need not be shown."""

    value: int
    name: str
    alone: bool


def unfold_values(draft: Draft) -> None:
    """Derive the value with its unit for the owner of such a node; a node with nothing else is hidden.

    This applies to nodes with a single owner. A named property becomes a predicate.
    """
    known = VALUE | LOW
    iris = {iri for n in draft.facts.predicates if (iri := draft.text(n)) in known or local_name(iri) in _VALUES}
    nodes = {s for iri in sorted(iris) for s, _ in draft.pairs(iri) if iri in known or draft.sort(s)[0] == "blank"}
    # values of owners; with nested nodes, the owner of a node is a node itself
    given: dict[int, dict[str, int]] = defaultdict(dict)
    for _ in range(MAX_NESTING):
        done = {node for node in sorted(nodes) if _unfolded(draft, node, given)}
        nodes -= done
        if not done:
            break
    for subject, values in given.items():
        for iri, value in values.items():
            draft.add(subject, iri, value)


def _unfolded(draft: Draft, node: int, given: dict[int, dict[str, int]]) -> bool:
    """Whether the node is done: its owner got the value, or can't get it."""
    blank = draft.sort(node)[0] == "blank"
    owners = draft.owners(node) if blank else [draft.row(row)[:2] for row in draft.rows_to(node)]
    held = _held(draft, node, given.get(node, {})) if len(owners) == 1 else None
    if held is None or not (blank or held.alone):
        return False
    subject, predicate = owners[0]
    iri = draft.text(predicate)
    if held.name:
        iri = f"{iri}#{'-'.join(held.name.lower().split())}"
        draft.add(draft.iri(iri), LABEL, draft.literal(held.name))
    if given[subject].setdefault(iri, held.value) != held.value:
        draft.add(subject, iri, held.value)
    if held.alone:
        given.pop(node, None)
        draft.hide_link(subject, predicate, node, REASON)
        draft.hide(draft.rows_of(node), REASON)
    return True


def _held(draft: Draft, node: int, given: dict[str, int]) -> NodeValue | None:
    said = dict(given)
    for row in draft.rows_of(node):
        _, predicate, target = draft.row(row)
        if row in draft.hidden:
            continue
        if said.setdefault(draft.text(predicate), target) != target and draft.text(predicate) != TYPE:
            return None
    if not VALUE & said.keys() and not LOW & said.keys():
        return _alike(draft, node, said)
    values = [said[iri] for iri in sorted(VALUE & said.keys())]
    low, high = ([said[iri] for iri in sorted(known & said.keys())] for known in (LOW, HIGH))
    unit = next((draft.text(said[iri]) for iri in UNIT if iri in said), "")
    name = next((draft.text(said[iri]) for iri in NAME if iri in said), "")
    if len(values) > 1 or len(low) != len(high) or not (values or low):
        return None
    ends = values or [*low, *high]
    if any(draft.sort(end)[0] != "literal" for end in ends):
        return None
    alone = said.keys() <= VALUE | LOW | HIGH | _BESIDE | set(UNIT) | set(NAME)
    unit = unit_symbol(local_name(unit) if ":" in unit else unit)
    if len(ends) == 1 and not unit:
        return NodeValue(ends[0], name, alone)
    text = " - ".join(_plain(draft, end) for end in ends)
    return NodeValue(draft.literal(f"{text} {unit}".strip()), name, alone)


def _alike(draft: Draft, node: int, said: dict[str, int]) -> NodeValue | None:
    """The content of a blank node of an unknown vocabulary, if it is a value, with or without a unit."""
    names = {local_name(iri): target for iri, target in said.items() if iri != TYPE}
    value = next((names.pop(each) for each in _VALUES if each in names), None)
    unit = next((names[each] for each in _UNITS if each in names), None)
    beside = {*_UNITS, *_CODES} if unit is not None else set()
    if (
        value is None
        or draft.sort(node)[0] != "blank"
        or draft.sort(value)[0] != "literal"
        or names.keys() - beside - _PLACES
    ):
        return None
    if unit is not None and draft.sort(unit)[0] == "blank":
        return None
    if unit is None:
        return NodeValue(value, "", True)
    said_unit = draft.text(unit) if draft.sort(unit)[0] == "literal" else local_name(draft.text(unit))
    return NodeValue(draft.literal(f"{_plain(draft, value)} {unit_symbol(said_unit)}"), "", True)


def _plain(draft: Draft, value: int) -> str:
    """A readable literal: 2.1 for the double 2.1E0."""
    text = draft.text(value)
    return f"{float(text):.15g}" if draft.sort(value)[1] in FLOATS and NUMBER.fullmatch(text) else text
