"""Blank nodes that are parts, such as addresses and offers: their facts become facts of the owner. Draft -> Draft."""

from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np

from ingestion.meaning.draft import Draft
from ingestion.meaning.nodes.value_nodes import VALUE
from ingestion.read.capsules import unique_counts
from ingestion.vocabulary import OWL, RDF, SCHEMA_PREDICATES, SCHEMA_TYPES, SHACL, TYPE, local_name, name_rank

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.int64]

# predicates of ontologies, lists and shapes, whose nodes are not parts of things
_OF_SCHEMA = (OWL, RDF, SHACL)
# local names of predicates that show that a node is a value, or its name
_NAMING = frozenset({"value", "display"})
# facts of a part
MAX_PART_FACTS = 12
REASON = "part of a thing"


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
    told = _telling(draft, predicate)
    keys = owner_of[subject] << 32 | predicate
    sources = _unique(keys, subject)[0]
    held = np.unique(triples[shown, 0] << 32 | triples[shown, 1])
    doubled = np.isin(keys, held) | np.isin(keys, sources[1:][sources[1:] == sources[:-1]])
    # one that only some things would have, as others say it themselves, would answer for a part of them
    fits = ~told & ~np.isin(predicate, predicate[doubled & ~told]) & ~blank[target]
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
    """Give the owners of parts one text of what each holds, the most telling first, and keep the parts aside.

    Both are triples: the links to the parts, and what is said of them.
    """
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
        told = np.array([draft.literal(said[node]) for node in mine[:, 2].tolist()])
        draft.derive(mine[:, 0], draft.text(number), told)
    nodes = np.unique(subject)
    draft.hide(
        np.flatnonzero(np.isin(draft.facts.subject, nodes) | np.isin(draft.facts.object, nodes)).tolist(), REASON
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
