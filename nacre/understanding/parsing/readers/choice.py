"""One of several named things: Question + Links -> Candidates ("which is wider, A or B", "did A or B earn more?")."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from nacre.language.base import language
from nacre.language.thesaurus import english_data, gradable_adjective
from nacre.understanding.linking.graph.nodes import SchemaNode
from nacre.understanding.linking.graph.schema_graph import SchemaGraph
from nacre.understanding.linking.index import LinkingIndex
from nacre.understanding.linking.schema.adjectives import measured_properties
from nacre.understanding.parsing.candidate import Candidate
from nacre.understanding.parsing.lowering.lower import lower_derivation
from nacre.understanding.question.types import (
    Condition,
    Cue,
    Derivation,
    Link,
    Ordering,
    Question,
    Ref,
    Target,
    token_mask,
)

SURE = 0.5
# things to choose among, and what they may be compared by
LEAST, MOST = 2, 2
# by how much less a property may be named than the best one
ALIKE = 0.05
# words that say which way things are compared, and how else than by an adjective
_COMPARING = ("compared", "compare", "superlative", "most")
_UP = frozenset((">", "up"))


class _Way(NamedTuple):
    """By what things are compared: a property or the number of things of a kind, the greater first or the lesser."""

    ref: Ref
    descending: bool
    counted: bool
    cost: float
    covered: int
    hints: frozenset[str] = frozenset()


def read_choices(question: Question, links: Sequence[Link], known: LinkingIndex) -> Iterator[Candidate]:
    """Readings that choose among named things which the question parts by "or", and compares with nothing else."""
    if any(t.norm in language().words["than"] for t in question.tokens):
        return
    entities = [x for x in links if x.kind == "entity" and x.score >= SURE]
    named = _apart(entities)
    if len(named) < LEAST or not _parted(named, question):
        return
    cue = _cue(question, named)
    if cue is not None and not _within(named[0], cue, question):
        for meant in _meant(named, entities, known.graph):
            yield from _chosen(meant, cue, links, known.graph)


def _meant(named: Sequence[Link], entities: Sequence[Link], graph: SchemaGraph) -> Iterator[tuple[Link, ...]]:
    """The named things as things of kinds that go together, where several share a name."""
    found: set[tuple[Link, ...]] = set()
    alike = [[x for x in entities if (x.start, x.end) == (own.start, own.end)] for own in named]
    for first in alike[0]:

        def apart(other: Link, first: Link = first) -> tuple[int, float]:
            node = _common((first, other), graph)
            return (node.count if node else sum(n.count for n in graph.nodes)), -other.score

        meant = (first, *(min(each, key=apart) for each in alike[1:]))
        if meant not in found:
            found.add(meant)
            yield meant


def _relations(named: Sequence[Link], graph: SchemaGraph) -> frozenset[str]:
    """The tables that things of these kinds lie in."""
    return frozenset(r for x in named for r in graph.nodes[x.refs[0].node].relations)


def _common(named: Sequence[Link], graph: SchemaGraph) -> SchemaNode | None:
    """The narrowest kind that all of these are of."""
    relations = _relations(named, graph)
    return min((n for n in graph.nodes if relations <= n.relations), key=lambda n: (n.count, n.index), default=None)


def _chosen(named: Sequence[Link], cue: Cue, links: Sequence[Link], graph: SchemaGraph) -> Iterator[Candidate]:
    """Readings that choose among these things."""
    node = _common(named, graph)
    if node is None:
        return
    relations = _relations(named, graph)
    root = Ref(node.index)
    keys = tuple(dict.fromkeys(k for x in named for k in x.keys))
    among = Condition(root, "is", (), False, keys, " or ".join(x.label for x in named))
    mask = token_mask(cue.start, cue.end)
    own = (x for x in links if x.kind == "class" and graph.nodes[x.refs[0].node].relations & relations)
    for x in (*named, *own):
        mask |= x.covered
    for way in _ways(root, cue, mask, links, graph):
        order = Ordering(way.ref, way.descending, "count" if way.counted else "", 1)
        whole = Derivation(
            (Target(root),), (among,), (root,) if way.counted else (), order, (root,), "", mask | way.covered,
            2.0 + sum(x.score for x in named) - way.cost, ("choice",), tuple(named), way.hints,
        )  # fmt: skip
        lowered = lower_derivation(whole, graph)
        if lowered is not None:
            yield Candidate(whole, lowered.body, 0.0, 0, 0, 0)


def _parted(named: Sequence[Link], question: Question) -> bool:
    """Whether nothing but "or", commas and articles stands between the names; or "and", after "which of"."""
    words = question.tokens
    between = [range(a.end, b.start) for a, b in pairwise(named)]
    apart = all(all(i in question.stopwords for i in each) for each in between)
    before = [t.norm for t in words[: named[0].start] if t.norm not in language().words["article"]]
    said = language().words
    chosen = len(before) == 2 and before[0] in said["asking_which"] and before[1] in said["choosing_of"]
    parting = said["either"] | said["joining"] if chosen else said["either"]
    return apart and any(words[i].norm in parting for each in between for i in each)


def _within(first: Link, cue: Cue, question: Question) -> bool:
    """Whether the names only say where something else is looked for: "the largest orchard in A or B"."""
    before = [i for i in range(first.start) if question.tokens[i].norm not in language().words["article"]]
    if not before or question.tokens[before[-1]].norm not in language().words["locating"]:
        return False
    return cue.start < first.start or any(i not in question.stopwords for i in before)


def _cue(question: Question, named: Sequence[Link]) -> Cue | None:
    """What says which of the things is chosen: "longer", "more", "the highest", "first"."""
    taken = 0
    for x in named:
        taken |= x.covered
    found = [c for kind in _COMPARING for c in question.cues if c.kind == kind and not taken >> c.start & 1]
    ends = english_data()["at_end"]
    for i, token in enumerate(question.tokens):
        word = ends.get(token.norm, "")
        said = gradable_adjective(token._replace(norm=word, lemma=word)) if word and not taken >> i & 1 else None
        if said is not None:
            way = "up" if said.descending else "down"
            found.append(Cue(i, i + 1, "superlative", f"{way} {'|'.join(said.concepts)}"))
    return next((c for c in found if c.kind != "compare" or c.value in ("<", ">")), None)


def _ways(root: Ref, cue: Cue, taken: int, links: Sequence[Link], graph: SchemaGraph) -> Iterator[_Way]:
    """By what is compared: a number or date that the question names, things of a kind it names, what an adjective
    measures."""
    direction, _, concepts = cue.value.partition(" ")
    up = direction in _UP
    free = [x for x in links if not x.covered & taken]
    stated = sorted((x for x in free if x.kind == "property"), key=lambda x: (-x.score, x.start))
    hints = frozenset(r.via for x in stated for r in x.refs if r.via and x.score >= SURE)
    ordered = [x for x in stated if (p := x.refs[0].predicate) and (graph.is_numeric(p) or graph.is_date(p))]
    for x in [x for x in ordered if x.score >= ordered[0].score - ALIKE][:MOST]:
        ref = x.refs[0]
        if ref.predicate in graph.literals[root.node]:
            ref = Ref(root.node, ref.predicate)
        yield _Way(ref, up, False, 1 - x.score, x.covered)
    own = graph.nodes[root.node].relations
    kinds = [x for x in free if x.kind == "class" and not graph.nodes[x.refs[0].node].relations & own]
    for x in sorted(kinds, key=lambda x: -x.score)[:MOST]:
        mask = x.covered
        for each in stated:
            mask |= each.covered if any(r.via in hints for r in each.refs) else 0
        yield _Way(Ref(x.refs[0].node), up, True, 1 - x.score, mask, hints)
    if ordered or kinds or not concepts:
        return
    for ref, reverse, cost in measured_properties(graph, root.node, tuple(concepts.split("|")))[:MOST]:
        # how many people a town has does not say how big its clubs are
        if ref.node == root.node or not graph.nodes[ref.node].named:
            yield _Way(ref, up != reverse, False, cost, 0)


def _apart(links: Sequence[Link]) -> list[Link]:
    """The longest names, none over another, in the order of the question."""
    found: list[Link] = []
    for link in sorted(links, key=lambda x: (-x.covered.bit_count(), -x.score, x.refs)):
        if not any(link.covered & x.covered for x in found):
            found.append(link)
    return sorted(found, key=lambda x: x.start)
