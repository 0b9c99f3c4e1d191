"""Rules for nodes that only stand between a thing and its values: Draft -> Draft.

Nodes that only hold a value (a quantity, a named property, `rdf:value`) or a name; blank nodes behind blank nodes; and
blank nodes that are parts, such as addresses and offers: their values become facts of the owner.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from ingestion.induce.declarations import FLOATS, NUMBER, person_name_labels
from ingestion.induce.names import readable_name
from ingestion.meaning.draft import Draft, TermPair
from ingestion.read.facts import unique_counts
from ingestion.vocabulary import (
    LABEL,
    OWL,
    RDF,
    SCHEMA_ORG,
    SCHEMA_PREDICATES,
    SCHEMA_TYPES,
    SHACL,
    TYPE,
    local_name,
    name_rank,
)
from nacre.language.data import word_list, word_map

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.int64]

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

VALUE_REASON = "value behind a node"


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
    """Derive the value with its unit for the owner of such a node; a node with nothing else is hidden. This applies to
    nodes with a single owner. A named property becomes a predicate."""
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
        draft.hide_link(subject, predicate, node, VALUE_REASON)
        draft.hide(draft.rows_of(node), VALUE_REASON)
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


def unfold_names(draft: Draft) -> None:
    """If a naming property leads to a blank node, derive a name from the node's text, or its given and family name. The
    node stays shown."""
    if not draft.facts.kinds("blank").any():
        return
    iris = sorted(draft.text(n) for n in draft.facts.predicates)
    behind = [
        (iri, owner, node)
        for iri in iris
        if name_rank(iri) is not None
        for owner, node in draft.pairs(iri)
        if draft.sort(node)[0] == "blank"
    ]
    if not behind:
        return
    labels = (word_list("ingestion", "whole_name_labels"), *person_name_labels())
    whole, given, family = (_texts(draft, iris, words) for words in labels)
    for iri, owner, node in behind:
        both = f"{given[node]} {family[node]}" if node in given and node in family else ""
        if text := whole.get(node) or both:
            draft.add(owner, iri, draft.literal(text))


def _texts(draft: Draft, iris: list[str], words: frozenset[str]) -> dict[int, str]:
    """The alphabetically first literal of each subject with one of these properties."""
    said = [pair for iri in iris if readable_name(local_name(iri)).lower() in words for pair in draft.pairs(iri)]
    literals = [(subject, draft.text(target)) for subject, target in said if draft.sort(target)[0] == "literal"]
    return dict(sorted(literals, reverse=True))


_SCHEMA = SCHEMA_PREDICATES | SCHEMA_TYPES | {RDF + "first", RDF + "rest", RDF + "List"}


# maximum number of nested levels, and of facts that a node gets
MAX_LEVELS, MAX_LIFTED_FACTS = 3, 32

NESTED_REASON = "points at something"


def unfold_nodes(draft: Draft) -> None:
    """Replace blank nodes that only point at something by links to it; a blank node gets the facts of nested nodes,
    unless it has the property already.

    Both only apply to nodes with a single owner. The facts of a node that points are hidden.
    """
    for _ in range(MAX_LEVELS):
        if not sum([_bypass_pointer(draft, node, facts) for node, facts in _nodes(draft).items()]):
            break
    # facts that are lifted lead to no blank node, so that none gets another owner
    has_one_owner = cache(lambda node: len(draft.owners(node)) == 1)
    for _ in range(MAX_LEVELS - 1):
        nodes = _nodes(draft)
        if not sum([_lift_facts(draft, nodes, node, has_one_owner) for node in nodes]):
            break


def _nodes(draft: Draft) -> dict[int, list[TermPair]]:
    """The shown facts (predicate, target) of each blank node that links to another node or is linked from one."""
    facts = draft.facts
    blank = facts.kinds("blank")
    if not blank.any():
        return {}
    linking = blank[facts.subject] & ~facts.is_literal[facts.object]
    wanted = np.zeros(len(facts.texts), dtype=bool)
    wanted[facts.subject[linking]] = True
    wanted[facts.object[linking]] = True
    for subject, _, target in draft.added:
        if draft.sort(subject)[0] == "blank" and draft.sort(target)[0] != "literal":
            wanted[[each for each in (subject, target) if each < len(wanted)]] = True
    wanted &= blank
    found: dict[int, list[TermPair]] = defaultdict(list)
    for row in np.flatnonzero(wanted[facts.subject]).tolist():
        if row not in draft.hidden:
            subject, predicate, target = draft.row(row)
            found[subject].append((predicate, target))
    for subject, predicate, target in draft.added:
        if subject < len(wanted) and wanted[subject]:
            found[subject].append((predicate, target))
    return {node: said for node, said in found.items() if not _of_schema(draft, said)}


def _of_schema(draft: Draft, said: Iterable[TermPair]) -> bool:
    """Whether a node belongs to an ontology, to SHACL shapes or to a list."""
    iris = {draft.text(target if draft.text(p) == TYPE else p) for p, target in said}
    return bool(iris & _SCHEMA) or any(iri.startswith((OWL, SHACL)) for iri in iris)


def _bypass_pointer(draft: Draft, node: int, said: list[TermPair]) -> bool:
    """Link the owner of a pointing node to its targets; returns whether it applied."""
    owners = draft.owners(node)
    facts = [(local_name(draft.text(p)), t, draft.sort(t)[0] != "literal") for p, t in said if draft.text(p) != TYPE]
    targets = [target for _, target, link in facts if link]
    if len(owners) != 1 or not targets or len(targets) > MAX_LIFTED_FACTS:
        return False
    pointers, repeating = (word_list("ingestion", key) for key in ("pointer_predicates", "repeating_predicates"))
    if any(name not in (pointers if link else repeating) for name, _, link in facts):
        return False
    subject, predicate = owners[0]
    for target in targets:
        draft.add(subject, draft.text(predicate), target)
    draft.hide_link(subject, predicate, node, NESTED_REASON)
    for p, target in said:
        draft.hide_link(node, p, target, NESTED_REASON)
    return True


def _lift_facts(
    draft: Draft, nodes: dict[int, list[TermPair]], node: int, has_one_owner: Callable[[int], bool]
) -> bool:
    """Add the facts of nested nodes to a node; returns whether there were any."""
    if not has_one_owner(node):
        return False
    inner = [t for _, t in nodes[node] if t in nodes and t != node and has_one_owner(t)]
    if not inner:
        return False
    own = {p for p, _ in nodes[node]}
    facts = [
        (p, target)
        for each in inner
        for p, target in nodes[each]
        if p not in own and draft.text(p) != TYPE and draft.sort(target)[0] != "blank"
    ]
    for p, target in facts[:MAX_LIFTED_FACTS]:
        draft.add(node, draft.text(p), target)
    return bool(facts)


# predicates of ontologies, lists and shapes, whose nodes are not parts of things
_OF_SCHEMA = (OWL, RDF, SHACL)

# local names of predicates that show that a node is a value, or its name
_NAMING = frozenset({"value", "display"})

# facts of a part
MAX_PART_FACTS = 12

PART_REASON = "part of a thing"


def unfold_parts(draft: Draft) -> None:
    """Derive the facts of a blank node for its only owner, if the link is the only value of its property.

    Facts that the owner has itself, or that two of its parts have, are left out. If all facts were derived and are
    literals, the link gets them as one text, and the node is hidden unless it has a class.
    """
    facts = draft.facts
    blank = facts.kinds("blank")
    if not blank.any():
        return
    added = np.array(list(draft.added), dtype=np.int64).reshape(-1, 3)
    triples: Numbers = np.concatenate((np.stack((facts.subject, facts.predicate, facts.object)).T, added))
    shown = np.ones(len(triples), dtype=bool)
    shown[list(draft.hidden)] = False
    size = max(len(blank), int(triples.max()) + 1)
    blank = np.concatenate((blank, np.zeros(size - len(blank), dtype=bool)))
    owner, by, part = triples[shown & blank[triples[:, 2]] & ~_telling(draft, triples[:, 1])].T
    owner_of = np.full(size, -1, dtype=np.int64)
    owner_of[part] = owner
    owner_of[part[np.isin(by, by[_repeated(owner << 32 | by)]) | _repeated(part) | (owner == part)]] = -1
    said = np.flatnonzero(shown & (owner_of[triples[:, 0]] >= 0))
    owner_of[triples[said[_of_others(draft, triples[said])], 0]] = -1
    owner_of[np.bincount(triples[:, 0], minlength=size) > MAX_PART_FACTS] = -1
    said = said[owner_of[triples[said, 0]] >= 0]
    if not len(said):
        return
    subject, predicate, target = triples[said].T
    is_telling = _telling(draft, predicate)
    keys = owner_of[subject] << 32 | predicate
    sources = _unique(keys, subject)[0]
    held = np.unique(triples[shown, 0] << 32 | triples[shown, 1])
    doubled = np.isin(keys, held) | np.isin(keys, sources[1:][sources[1:] == sources[:-1]])
    # one that only some things would have, as others say it themselves, would answer for a part of them
    fits = ~is_telling & ~np.isin(predicate, predicate[doubled & ~is_telling]) & ~blank[target]
    for number in unique_counts(predicate[fits])[0].tolist():
        here = fits & (predicate == number)
        draft.derive(owner_of[subject[here]], draft.text(number), target[here])
    literal = facts.is_literal
    literal = np.concatenate(
        (literal, np.array([draft.sort(t)[0] == "literal" for t in range(len(literal), size)], bool))
    )
    whole = fits & literal[target]
    alone = ~np.isin(subject, subject[~whole])
    links = triples[shown & np.isin(triples[:, 2], subject[alone])]
    _put_in_one(draft, links, triples[said][alone])


def _put_in_one(draft: Draft, links: "Numbers", facts: "Numbers") -> None:
    """Give the owners of parts one text of what each holds, the most telling first, and keep the parts aside. Both are
    triples: the links to the parts, and what is said of them."""
    if not len(links):
        return
    subject, predicate, target = facts.T
    distinct = dict(zip(*(each.tolist() for each in unique_counts(_unique(predicate, target)[0])), strict=True))
    texts: dict[int, list[tuple[int, int, str]]] = defaultdict(list)
    for node, number, value in zip(subject.tolist(), predicate.tolist(), target.tolist(), strict=True):
        texts[node].append((-distinct[number], number, draft.text(value)))
    said = {node: ", ".join(text for *_, text in sorted(found)) for node, found in texts.items()}
    for number in unique_counts(links[:, 1])[0].tolist():
        mine = links[links[:, 1] == number]
        joined = np.array([draft.literal(said[node]) for node in mine[:, 2].tolist()])
        draft.derive(mine[:, 0], draft.text(number), joined)
    nodes = np.unique(subject)
    draft.hide(
        np.flatnonzero(np.isin(draft.facts.subject, nodes) | np.isin(draft.facts.object, nodes)).tolist(), PART_REASON
    )
    for key in [key for key in draft.added if key[0] in said or key[2] in said]:
        del draft.added[key]


def _unique(*columns: "Numbers") -> "Numbers":
    return np.unique(np.stack(columns), axis=1)


def _repeated(keys: "Numbers") -> "NDArray[np.bool_]":
    """For each number whether it occurs more than once."""
    found, counts = np.unique(keys, return_counts=True)
    return np.isin(keys, found[counts > 1])


def _telling(draft: Draft, predicates: "Numbers") -> "NDArray[np.bool_]":
    """The predicates that name their subjects or give their class."""
    known = unique_counts(predicates)[0].tolist()
    return np.isin(predicates, [n for n in known if (iri := draft.text(n)) == TYPE or name_rank(iri) is not None])


def _of_others(draft: Draft, triples: "Numbers") -> "NDArray[np.bool_]":
    """The triples that show that a node is not a part: it belongs to an ontology, shapes or a list, or has a name."""
    predicates = [
        n
        for n in unique_counts(triples[:, 1])[0].tolist()
        if (iri := draft.text(n)) in SCHEMA_PREDICATES
        or (iri != TYPE and iri.startswith(_OF_SCHEMA))
        or iri in VALUE
        or local_name(iri) in _NAMING
        or name_rank(iri) is not None
    ]
    types = triples[:, 1] == (draft.predicate(TYPE) or -1)
    classes = [n for n in unique_counts(triples[types, 2])[0].tolist() if draft.text(n) in SCHEMA_TYPES]
    found: NDArray[np.bool_] = np.isin(triples[:, 1], predicates) | (types & np.isin(triples[:, 2], classes))
    return found


def unit_symbol(code: str) -> str:
    """The symbol of a unit; an unknown code stays as it is, and the code of a dimensionless number gives "".

    >>> unit_symbol("KGM"), unit_symbol("KiloM-PER-HR"), unit_symbol("bar"), unit_symbol("C62")
    ('kg', 'km/h', 'bar', '')
    """
    return "" if code in word_list("ingestion", "dimensionless_codes") else _symbols().get(code, code)


@cache
def _symbols() -> dict[str, str]:
    """The symbol of each code."""
    return {code: symbol for symbol, codes in word_map("ingestion", "unit_codes").items() for code in codes.split()}
