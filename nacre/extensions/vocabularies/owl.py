"""Rules for RDF and OWL links: Draft -> Draft.

Lists and containers become links to their members; of things that are the same, one gets all facts; transitive,
inverse and symmetric predicates get the links that follow; things link to the named graphs that describe them. Last
the rules of all vocabularies, by the name of the rule of `ingestion/meaning/derive.py` that they come before."""

import re
from collections import defaultdict
from urllib.parse import unquote

import numpy as np

from ingestion.induce.names import readable_name
from ingestion.meaning.derive import Rule
from ingestion.meaning.draft import Draft, transitive_closure
from ingestion.vocabulary import (
    ALTERNATIVE,
    INVERSE,
    LABEL,
    OWL,
    RDF,
    RDFS,
    SCHEMA_PREDICATES,
    SKOS,
    TYPE,
    XSD,
    local_name,
    name_rank,
)
from nacre.extensions.vocabularies.ontologies import read_ontology, read_skos, read_wikibase
from nacre.extensions.vocabularies.relation_nodes import read_claims, unfold_measurements, unfold_roles
from nacre.extensions.vocabularies.value_nodes import unfold_names, unfold_nodes, unfold_parts, unfold_values
from nacre.language.word_forms import singular
from nacre.records.schema import DEPRECATED, EXACT_MATCH, RECORDS

FIRST, REST, NIL = RDF + "first", RDF + "rest", RDF + "nil"

CONTAINERS = (RDF + "Bag", RDF + "Seq", RDF + "Alt")

MEMBER = re.compile(re.escape(RDF) + r"_\d+|" + re.escape(RDFS + "member"))

# links that a list of several owners becomes at most (given): more of them would not be in the file
MAX_SHARED_LINKS = 1_000_000

LIST_REASON = "part of a list"

# lists in class expressions are parsed with these
_MEANT = {SKOS + "memberList": SKOS + "member"}


def unfold_lists(draft: Draft) -> None:
    """Replace links to lists and containers in blank nodes by links to each member, and hide the nodes. Members keep
    their places, and the first, second, third and last one have a property."""
    lists: Lists = defaultdict(list)
    _unfold_lists(draft, lists)
    known = {readable_name(local_name(iri)) for iri in draft.predicates}
    for iri, members in lists.items():
        draft.places |= {
            (owner, each): place for owner, those in members for place, each in reversed([*enumerate(those)])
        }
        labels = [draft.text(o) for s, o in draft.pairs(LABEL) if draft.text(s) == iri]
        called = readable_name(labels[0] if labels else local_name(iri)).lower()
        *words, noun = called.removesuffix(" list").split() or [""]
        for name, place in PLACES.items():
            label = " ".join((name, *words, singular(noun) or noun))
            if max(len(those) for _, those in members) <= max(1, place) or label in known:
                continue
            draft.add(draft.iri(f"{iri}@{name}"), LABEL, draft.literal(label))
            for words_of_end in ENDS.get(name, ()):
                draft.add(draft.iri(f"{iri}@{name}"), SKOS + "altLabel", draft.literal(words_of_end))
            for owner, those in members:
                if place < len(those):
                    draft.add(owner, f"{iri}@{name}", those[place])
        label = f"number of {' '.join((*words, noun))}"
        if label not in known and any(len(set(those)) < len(those) for _, those in members):
            # links are a set: of one that comes twice they count one
            draft.add(draft.iri(f"{iri}@number"), LABEL, draft.literal(label))
            for owner, those in members:
                draft.add(owner, f"{iri}@number", draft.literal(str(len(those)), XSD + "integer"))


# members of lists by the property that leads to them, each with the thing that has the list
Lists = defaultdict[str, list[tuple[int, list[int]]]]

PLACES = {"first": 0, "second": 1, "third": 2, "last": -1}

# what people say of the ends of a list
ENDS = {"first": ("starts at", "starts with", "begins with"), "last": ("ends at", "ends with", "terminates at")}


def _unfold_lists(draft: Draft, lists: Lists) -> None:
    if draft.has_any(FIRST):
        rest, first = dict(draft.pairs(REST)), dict(draft.pairs(FIRST))
        for head in sorted(first.keys() - set(rest.values()) - set(first.values())):
            nodes: list[int] = []
            _unfold(draft, head, nodes, _items(head, first, rest, nodes), lists)
    for number in draft.facts.predicates:
        if MEMBER.fullmatch(draft.text(number)):
            break
    else:
        return
    for iri in CONTAINERS:
        for node in draft.instances_of(iri):
            rows = [(draft.text(p), o) for _, p, o in map(draft.row, draft.rows_of(node))]
            numbered = sorted((len(p), p, o) for p, o in rows if MEMBER.fullmatch(p))
            _unfold(draft, node, [node], [o for _, _, o in numbered], lists)


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


def _unfold(draft: Draft, head: int, nodes: list[int], members: list[int], lists: Lists) -> None:
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
        lists[_MEANT.get(predicate, predicate)].append((draft.row(row)[0], members))
        for member in members:
            draft.add(draft.row(row)[0], _MEANT.get(predicate, predicate), member)
    draft.hide(owners, LIST_REASON)
    for node in nodes:
        draft.hide(draft.rows_of(node), LIST_REASON)


NOT_DEPRECATED_REASON = "not deprecated, as all that does not say so"


def set_aside_not_deprecated(draft: Draft) -> None:
    """Set aside that things are not deprecated: others do not say it, and none of these is told apart from them."""
    for thing, value in draft.pairs(DEPRECATED):
        if draft.text(value) in ("false", "0"):
            rows = [row for row in draft.rows_of(thing) if draft.text(draft.row(row)[1]) == DEPRECATED]
            draft.hide([row for row in rows if draft.row(row)[2] == value], NOT_DEPRECATED_REASON)


def name_exact_matches(draft: Draft) -> None:
    """Things that match each other exactly are also called what the other is called."""
    pairs = [pair for pair in draft.pairs(EXACT_MATCH) if pair[0] != pair[1]]
    names = [iri for iri in map(draft.text, draft.facts.predicates) if pairs and name_rank(iri) is not None]
    for iri in sorted(names):
        called = defaultdict[int, list[int]](list)
        for thing, name in draft.pairs(iri):
            called[thing].append(name)
        for one, other in pairs:
            for thing, match in ((one, other), (other, one)):
                for name in called[match]:
                    draft.add(thing, ALTERNATIVE, name)


SAME = OWL + "sameAs"

EQUIVALENT = OWL + "equivalentClass"

_SAME = (SAME, EQUIVALENT)

SAME_REASON = "same as another thing"


def merge_same(draft: Draft) -> None:
    """Of described things that are the same, the one with most facts represents all. The triples of the others are
    hidden and derived for it. If it has a value of a property already, no other one is added, except for names."""
    if not draft.has_any(*_SAME):
        return
    for group in _groups(draft):
        best, *others = sorted(group, key=lambda n: (-len(draft.rows_of(n)), draft.text(n)))
        for other in others:
            _move(draft, other, best)
        draft.add(best, RECORDS, draft.literal(str(len(group)), XSD + "integer"))


def _groups(draft: Draft) -> list[set[int]]:
    near: dict[int, set[int]] = defaultdict(set)
    for iri in _SAME:
        for one, other in draft.pairs(iri):
            if one != other and _described(draft, one) and _described(draft, other):
                near[one].add(other)
                near[other].add(one)
    groups, seen = [], set[int]()
    for start in sorted(near):
        if start in seen:
            continue
        group, queue = {start}, [start]
        while queue:
            for other in near[queue.pop()] - group:
                group.add(other)
                queue.append(other)
        seen |= group
        groups.append(group)
    return groups


def _described(draft: Draft, term: int) -> bool:
    return draft.sort(term)[0] == "iri" and bool(draft.rows_of(term))


def _move(draft: Draft, other: int, best: int) -> None:
    has = {draft.row(row)[1] for row in draft.rows_of(best)}
    for row in draft.rows_of(other):
        _, predicate, target = draft.row(row)
        iri = draft.text(predicate)
        if iri not in _SAME and target != best:
            if predicate not in has or iri == TYPE or draft.sort(target)[0] != "literal":
                draft.add(best, iri, target)
            elif name_rank(iri) is not None:
                draft.add(best, ALTERNATIVE, target)
    draft.hide(draft.rows_of(other), SAME_REASON)
    for row in draft.rows_to(other):
        subject, predicate, _ = draft.row(row)
        iri = draft.text(predicate)
        if subject != best and iri not in _SAME:
            draft.add(subject, iri, best)
        draft.hide([row], SAME_REASON)


# maximum number of derived links for each stated one: a chain of n links implies n²/2
MAX_LINKS_PER_THING = 20


def complete_transitive(draft: Draft) -> None:
    """Derive the links that transitive predicates imply; a predicate with too many gets none."""
    for iri in sorted(draft.text(n) for n in draft.instances_of(OWL + "TransitiveProperty")):
        if iri in SCHEMA_PREDICATES:
            continue
        direct: dict[int, set[int]] = defaultdict(set)
        for subject, target in draft.pairs(iri):
            if draft.sort(target)[0] != "literal":
                direct[subject].add(target)
        closure = transitive_closure(direct)
        implied = [(start, end) for start in sorted(direct) for end in sorted(closure.ancestors[start] - direct[start])]
        if not closure.complete or len(implied) > MAX_LINKS_PER_THING * sum(map(len, direct.values())):
            draft.limits.append(f"complete transitive: no further links of <{iri}>, since there would be too many")
            continue
        for subject, target in implied:
            draft.add(subject, iri, target)


# pairs of inverses that a vocabulary declares in its own file, which graphs seldom include
KNOWN = ((SKOS + "broader", SKOS + "narrower"), (SKOS + "hasTopConcept", SKOS + "topConceptOf"))

SYMMETRIC = (SKOS + "related",)


def complete_inverses(draft: Draft) -> None:
    """Derive the links that inverse and symmetric predicates imply."""
    declared = [(draft.text(a), draft.text(b)) for a, b in draft.pairs(INVERSE)]
    for one, other in sorted({*declared, *KNOWN}):
        there, back = draft.pairs(one), draft.pairs(other)
        _add_reversed(draft, there, other)
        _add_reversed(draft, back, one)
    symmetric = [draft.text(n) for n in draft.instances_of(OWL + "SymmetricProperty")]
    for iri in sorted({*symmetric, *SYMMETRIC}):
        _add_reversed(draft, draft.pairs(iri), iri)


def _add_reversed(draft: Draft, links: list[tuple[int, int]], predicate: str) -> None:
    for subject, target in links:
        if draft.sort(target)[0] != "literal":
            draft.add(target, predicate, subject)


NAMED_GRAPH = "urn:nacre:named-graph"  # the predicate from a thing to the named graphs that state its class

MAX_NAMED_GRAPHS = 100  # more of them are no few exports or sources that people know by name (given)


def link_named_graphs(draft: Draft) -> None:
    """Link each thing to the named graphs that state its class, if things of a class are in several graphs."""
    facts = draft.facts
    if facts.graph is None:
        return
    rows = np.flatnonzero((facts.predicate == draft.predicate(TYPE)) & (facts.graph > 0))
    graphs = np.unique(facts.graph[rows])
    of_class = np.unique(np.stack((facts.object[rows], facts.graph[rows])), axis=1)
    if not 2 <= len(graphs) <= MAX_NAMED_GRAPHS or len(np.unique(of_class[0])) == of_class.shape[1]:
        return
    draft.add(draft.iri(NAMED_GRAPH), LABEL, draft.literal("named graph"))
    for graph in graphs.tolist():
        if not any(name_rank(draft.text(draft.row(row)[1])) is not None for row in draft.rows_of(graph)):
            *before, last = re.findall(r"[^\W_]+", unquote(draft.text(graph)))[-2:]
            draft.add(graph, LABEL, draft.literal(" ".join((*before, last))))
            draft.add(graph, ALTERNATIVE, draft.literal(" ".join((last, *before))))
    subjects, of_graphs = np.unique(np.stack((facts.subject[rows], facts.graph[rows])), axis=1)
    draft.derive(subjects, NAMED_GRAPH, of_graphs)


RULES: dict[str, tuple[Rule, ...]] = {
    "name_undescribed_targets": (
        read_claims,
        unfold_lists,
        unfold_values,
        unfold_names,
        unfold_nodes,
        merge_same,
        name_exact_matches,
        set_aside_not_deprecated,
        read_wikibase,
        read_ontology,
        read_skos,
        complete_transitive,
        complete_inverses,
        unfold_measurements,
        unfold_roles,
    ),
    "name_translations": (unfold_parts,),
    # after all
    "": (link_named_graphs,),
}
