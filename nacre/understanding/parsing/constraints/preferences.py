"""Readings that others of the same question rule out: Candidates -> those left."""

from collections import defaultdict
from itertools import permutations

from nacre.language.base import language
from nacre.records.plan import Attribute, Body, Select, aggregated_value
from nacre.understanding.linking.graph.schema_graph import SchemaGraph
from nacre.understanding.linking.schema.class_synonyms import SKOS_NAMESPACE
from nacre.understanding.parsing.candidate import Candidate
from nacre.understanding.parsing.mention_rules.categories import MEMBERS_RULE
from nacre.understanding.parsing.modifier_rules.superlatives import TOTAL_RULE
from nacre.understanding.question.types import INEQUALITIES, Derivation, Question, Ref


def prefer_wider_classes(candidates: list[Candidate], graph: SchemaGraph) -> list[Candidate]:
    """The readings without those about a kind that the question does not name, where one about a wider kind is else the
    same: "the tallest work" is no tapestry's."""
    about: dict[tuple[object, ...], set[int]] = defaultdict(set)
    keyed = [(c, _root(c.derivation), _apart_from_root(c.derivation)) for c in candidates]
    for _, root, rest in keyed:
        about[rest].add(root)

    def is_narrower(derivation: Derivation, root: int, rest: tuple[object, ...]) -> bool:
        if any(x.kind == "class" and x.refs[0].node == root for x in derivation.links):
            return False
        return any(graph.nodes[root].relations < graph.nodes[other].relations for other in about[rest])

    return [c for c, root, rest in keyed if not is_narrower(c.derivation, root, rest)]


def _root(d: Derivation) -> int:
    """The kind that a reading gives first."""
    return d.targets[0].ref.node if d.targets else -1


def _apart_from_root(d: Derivation) -> tuple[object, ...]:
    """What a reading says beside the kind that it gives first."""
    root = _root(d)

    def of(ref: Ref) -> Ref:
        return ref._replace(node=-1) if ref.node == root else ref

    return (
        tuple(t._replace(ref=of(t.ref)) for t in d.targets),
        tuple(c._replace(ref=of(c.ref)) for c in d.conditions),
        tuple(map(of, d.group)),
        d.order._replace(ref=of(d.order.ref)) if d.order is not None else None,
        d.combine,
        d.hints,
    )


def drop_sorting_categories(candidates: list[Candidate]) -> list[Candidate]:
    """The readings without the categories that lie below one, where other things are sorted by these: "steam engines"
    are engines, and no types of them."""
    found = [c.derivation for c in candidates if MEMBERS_RULE in c.derivation.trace]
    sorting = [d for d in found if any(not predicate.startswith(SKOS_NAMESPACE) for predicate in d.hints)]
    below = {c.ref.node for d in sorting for c in d.conditions if c.op == "exists"}
    return [c for c in candidates if not (below & {t.ref.node for t in c.derivation.targets})]


def prefer_owner_columns(candidates: list[Candidate]) -> list[Candidate]:
    """The readings without those that show only what things have, where others show the things beside it."""
    asked = [(c, {t.ref for t in c.derivation.targets}) for c in candidates]
    beside = {frozenset(r for r in refs if r.predicate) for _, refs in asked if any(not r.predicate for r in refs)}
    beside.discard(frozenset())
    return [c for c, refs in asked if not beside or (len(refs) > 1 and frozenset(refs) not in beside)]


def prefer_whole_names(candidates: list[Candidate], question: Question) -> list[Candidate]:
    """The readings without those that take a name apart that others take as a whole: "Thornlea Hospital" is no hospital
    in Thornlea. A name is what is written with capitals."""
    tokens = question.tokens
    whole = {
        link.covered
        for c in candidates
        for link in c.derivation.links
        if link.kind == "entity" and link.exact and link.end - link.start > 1
        if all(t.text[:1].isupper() for t in tokens[link.start : link.end])
    }

    def is_apart(candidate: Candidate) -> bool:
        covered = {link.covered for link in candidate.derivation.links}
        return any(part & name == part != name for name in whole - covered for part in covered)

    return [c for c in candidates if not is_apart(c)]


def prefer_extreme_values(candidates: list[Candidate], question: Question) -> list[Candidate]:
    """The readings that give the highest or lowest value, where a question begins to ask for it: "what is the highest
    fee of the dancers" is a fee, and no dancer."""
    cue = next((c for c in question.cues if c.kind in ("superlative", "most")), None)
    words, known = question.tokens, language().words
    if cue is None or not cue.start or words[0].norm in known["who"] | known["choosing_one"]:
        return candidates
    if any(i not in question.stopwords for i in range(cue.start)) or any(n.start < cue.start for n in question.numbers):
        return candidates
    named = {
        ref
        for c in candidates
        for x in c.derivation.links
        if x.kind == "property" and x.exact and x.start == cue.end
        if x.end == len(words) or words[x.end].norm in known["of"] | known["choosing_of"]
        for ref in x.refs
    }
    ends = ("max", "min")
    return [
        c for c in candidates if any(t.ref in named and t.function in ends for t in c.derivation.targets)
    ] or candidates


def prefer_named_measure(candidates: list[Candidate]) -> list[Candidate]:
    """The readings without those that bound another property than the one that is named: "an empty weight under 1600
    kg" bounds no payload of what has an empty weight."""
    other = [c for c in candidates if _bounds_other(c.derivation)]
    return [c for c in candidates if c not in other] or candidates


def _bounds_other(d: Derivation) -> bool:
    named = {ref.predicate for link in d.links if link.kind == "property" for ref in link.refs if ref.predicate}
    bounded = {c.ref.predicate for c in d.conditions if c.op in INEQUALITIES and c.ref.predicate and not c.function}
    known = {c.ref.predicate for c in d.conditions if c.op == "known"}
    return bool(known & named) and bool(bounded - named)


def prefer_totals(candidates: list[Candidate]) -> list[Candidate]:
    """The readings without those that place things by the one part that has the most, where others place them by all of
    their parts: the department with the most beds has them in several rooms."""
    whole = [
        (c.derivation.order.ref, {t.ref.node for t in c.derivation.targets})
        for c in candidates
        if TOTAL_RULE in c.derivation.trace and c.derivation.order
    ]

    def is_part(d: Derivation) -> bool:
        asked = {t.ref.node for t in d.targets}
        return d.order is not None and any(d.order.ref == ref and asked & other for ref, other in whole)

    return [c for c in candidates if TOTAL_RULE in c.derivation.trace or not is_part(c.derivation)]


def prefer_single_hops(candidates: list[Candidate]) -> list[Candidate]:
    """The readings without those that follow a link on and on which the question names once, where others do not: the
    "mentor of Ann" is nobody's whose mentor is Ann's."""
    return [c for c in candidates if not _goes_on(c)] or candidates


def _goes_on(candidate: Candidate) -> bool:
    body = candidate.body
    if not isinstance(body, Select):
        return False
    named = [ref.via for x in candidate.derivation.links if x.kind == "property" for ref in x.refs[:1] if ref.via]
    for one, other in permutations(body.edges, 2):
        if one.predicate == other.predicate and one.object == other.subject and named.count(one.predicate) == 1:
            return True
    return False


def drop_constant_orders(candidates: list[Candidate]) -> list[Candidate]:
    """The readings without those in the order of what one named thing has, which puts nothing before anything else."""
    return [c for c in candidates if not _in_no_order(c.body)]


def _in_no_order(body: Body) -> bool:
    if not isinstance(body, Select) or body.order is None or not isinstance(body.order.by, Attribute):
        return False
    by = body.order.by.variable
    named = any(v.name == by and len(v.keys) == 1 for v in body.variables)
    return named and all(aggregated_value(answer).variable != by for answer in body.answers)
