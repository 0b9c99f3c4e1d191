"""Lists and containers: a link to one becomes a link to each member. Draft -> Draft."""

import re

from ingestion.meaning.draft import Draft
from ingestion.vocabulary import OWL, RDF, RDFS, SCHEMA_PREDICATES, SKOS, TYPE

FIRST, REST, NIL = RDF + "first", RDF + "rest", RDF + "nil"
CONTAINERS = (RDF + "Bag", RDF + "Seq", RDF + "Alt")
MEMBER = re.compile(re.escape(RDF) + r"_\d+|" + re.escape(RDFS + "member"))
# links that a list of several owners becomes at most (given): more of them would not be in the file
MAX_SHARED_LINKS = 1_000_000
REASON = "part of a list"
# lists in class expressions are parsed with these
_MEANT = {SKOS + "memberList": SKOS + "member"}


def unfold_lists(draft: Draft) -> None:
    """Replace links to lists and containers in blank nodes by links to each member, and hide the nodes."""
    if draft.has_any(FIRST):
        rest, first = dict(draft.pairs(REST)), dict(draft.pairs(FIRST))
        for head in sorted(first.keys() - set(rest.values()) - set(first.values())):
            nodes: list[int] = []
            _unfold(draft, head, nodes, _items(head, first, rest, nodes))
    for number in draft.facts.predicates:
        if MEMBER.fullmatch(draft.text(number)):
            break
    else:
        return
    for iri in CONTAINERS:
        for node in draft.instances_of(iri):
            members = [o for _, p, o in map(draft.row, draft.rows_of(node)) if MEMBER.fullmatch(draft.text(p))]
            _unfold(draft, node, [node], members)


def _items(head: int, first: dict[int, int], rest: dict[int, int], nodes: list[int]) -> list[int]:
    """The members of a list, those of lists in it among them; its nodes are appended to `nodes`."""
    found: list[int] = []
    seen = set(nodes)
    # the rests of the lists that are being read, the innermost last: lists may be nested to any depth
    waiting = [head]
    while waiting:
        head = waiting.pop()
        while head in first and head not in seen:
            seen.add(head)
            nodes.append(head)
            member, following = first[head], rest.get(head, -1)
            if member in first:
                waiting.append(following)
                head = member
            else:
                found.append(member)
                head = following
    return found


def _unfold(draft: Draft, head: int, nodes: list[int], members: list[int]) -> None:
    owners = draft.rows_to(head)
    if not owners or any(draft.sort(node)[0] != "blank" for node in nodes):
        return
    predicates = [draft.text(draft.row(row)[1]) for row in owners]
    if any(iri in SCHEMA_PREDICATES or iri.startswith(OWL) for iri in predicates):
        return
    for node in nodes:
        known = {draft.text(draft.row(row)[1]) for row in draft.rows_of(node)}
        if not all(iri in (FIRST, REST, TYPE) or MEMBER.fullmatch(iri) for iri in known):
            return
    if len(owners) > 1 and len(owners) * len(members) > MAX_SHARED_LINKS:
        return
    for row, predicate in zip(owners, predicates, strict=True):
        for member in members:
            draft.add(draft.row(row)[0], _MEANT.get(predicate, predicate), member)
    draft.hide(owners, REASON)
    for node in nodes:
        draft.hide(draft.rows_of(node), REASON)
