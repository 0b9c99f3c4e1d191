"""Nested blank nodes: values of an inner node become values of the outer one, or of its owner. Draft -> Draft."""

from collections import defaultdict
from collections.abc import Callable, Iterable
from functools import cache

import numpy as np

from ingestion.meaning.draft import Draft, TermPair
from ingestion.vocabulary import OWL, RDF, SCHEMA_PREDICATES, SCHEMA_TYPES, SHACL, TYPE, local_name
from nacre.language.base import word_list

_SCHEMA = SCHEMA_PREDICATES | SCHEMA_TYPES | {RDF + "first", RDF + "rest", RDF + "List"}


# maximum number of nested levels, and of facts that a node gets
MAX_LEVELS, MAX_LIFTED_FACTS = 3, 32
REASON = "points at something"


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
    draft.hide_link(subject, predicate, node, REASON)
    for p, target in said:
        draft.hide_link(node, p, target, REASON)
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
