"""Readings that other readings of the same question rule out: Candidates -> those left."""

from collections import defaultdict

from nacre.language.base import language
from nacre.records.plan import Attribute, Body, Select, aggregated_value
from nacre.understanding.linking.schema.class_synonyms import SKOS_NAMESPACE
from nacre.understanding.parsing.candidate import Candidate
from nacre.understanding.parsing.completion.finish import NAMED_TARGET_RULE
from nacre.understanding.parsing.mention_rules.categories import MEMBERS_RULE
from nacre.understanding.parsing.mention_rules.class_mentions import OWN_COLUMN_RULE
from nacre.understanding.parsing.mention_rules.possessives import has_possessive_column
from nacre.understanding.parsing.modifier_rules.superlatives import TOTAL_RULE
from nacre.understanding.parsing.state import ParseContext
from nacre.understanding.question.types import INEQUALITIES, Derivation, Ref


def drop_category_names(candidates: list[Candidate], _: ParseContext) -> list[Candidate]:
    """Drop the readings that give the name of a category, where others give its members.

    A class of whose name the category is a part is dropped as well.
    """
    members = [each.derivation for each in candidates if MEMBERS_RULE in each.derivation.trace]
    named = {(link.start, link.end) for derivation in members for link in derivation.links}
    if not named:
        return candidates
    return [
        each
        for each in candidates
        if NAMED_TARGET_RULE not in each.derivation.trace
        and not any(
            link.kind == "class" and not link.exact and (link.start, link.end) in named
            for link in each.derivation.links
        )
    ]


def prefer_wider_classes(candidates: list[Candidate], context: ParseContext) -> list[Candidate]:
    """Drop the readings about a class that the question does not name, where a wider class reads the same.

    "The tallest work" is not restricted to tapestries.
    """
    graph = context.graph
    roots_of: dict[tuple[object, ...], set[int]] = defaultdict(set)
    keyed = [(each, _root(each.derivation), _without_root(each.derivation)) for each in candidates]
    for _, root, rest in keyed:
        roots_of[rest].add(root)

    def is_narrower(derivation: Derivation, root: int, rest: tuple[object, ...]) -> bool:
        if any(link.kind == "class" and link.refs[0].node == root for link in derivation.links):
            return False
        return any(graph.nodes[root].relations < graph.nodes[other].relations for other in roots_of[rest])

    return [each for each, root, rest in keyed if not is_narrower(each.derivation, root, rest)]


def _root(derivation: Derivation) -> int:
    """The class that a reading gives first."""
    return derivation.targets[0].ref.node if derivation.targets else -1


def _without_root(derivation: Derivation) -> tuple[object, ...]:
    """The content of a reading without the class that it gives first."""
    root, order = _root(derivation), derivation.order

    def masked(ref: Ref) -> Ref:
        return ref._replace(node=-1) if ref.node == root else ref

    return (
        tuple(target._replace(ref=masked(target.ref)) for target in derivation.targets),
        tuple(condition._replace(ref=masked(condition.ref)) for condition in derivation.conditions),
        tuple(map(masked, derivation.group)),
        order._replace(ref=masked(order.ref)) if order is not None else None,
        derivation.combine,
        derivation.hints,
    )


def drop_sorting_categories(candidates: list[Candidate], _: ParseContext) -> list[Candidate]:
    """Drop the categories below a category, where other readings give the things in these categories.

    "Steam engines" are engines, and no types of engines.
    """
    members = [each.derivation for each in candidates if MEMBERS_RULE in each.derivation.trace]
    sorted_things = [d for d in members if any(not predicate.startswith(SKOS_NAMESPACE) for predicate in d.hints)]
    below = {condition.ref.node for d in sorted_things for condition in d.conditions if condition.op == "exists"}
    return [each for each in candidates if not (below & {target.ref.node for target in each.derivation.targets})]


def prefer_owner_columns(candidates: list[Candidate], context: ParseContext) -> list[Candidate]:
    """Drop the readings that show only properties, where others show the same properties beside their owners."""
    if not has_possessive_column(context.question):
        return candidates
    targets = [(each, {target.ref for target in each.derivation.targets}) for each in candidates]
    with_owner = [refs for _, refs in targets if any(not ref.predicate for ref in refs)]
    owned = {frozenset(ref for ref in refs if ref.predicate) for refs in with_owner} - {frozenset()}
    return [each for each, refs in targets if not owned or (len(refs) > 1 and frozenset(refs) not in owned)]


def prefer_own_columns(candidates: list[Candidate], _: ParseContext) -> list[Candidate]:
    """ "The boats with their keepers": keep the readings that show both, if there are any."""
    shown = [c for c in candidates if OWN_COLUMN_RULE not in c.derivation.trace or len(c.derivation.targets) > 1]
    return shown if any(OWN_COLUMN_RULE in c.derivation.trace for c in shown) else candidates


def prefer_whole_names(candidates: list[Candidate], context: ParseContext) -> list[Candidate]:
    """Drop the readings that split a capitalised name, where others take it as a whole.

    "Thornlea Hospital" is no hospital in Thornlea.
    """
    tokens = context.question.tokens
    names = {
        link.covered
        for each in candidates
        for link in each.derivation.links
        if link.kind == "entity" and link.exact and link.end - link.start > 1
        if all(token.text[:1].isupper() for token in tokens[link.start : link.end])
    }

    def splits_name(candidate: Candidate) -> bool:
        covered = {link.covered for link in candidate.derivation.links}
        return any(part & name == part != name for name in names - covered for part in covered)

    return [each for each in candidates if not splits_name(each)]


def prefer_extreme_values(candidates: list[Candidate], context: ParseContext) -> list[Candidate]:
    """Keep the readings that give the highest or lowest value, where a question begins to ask for it.

    "What is the highest fee of the dancers" asks for a fee, and for no dancer.
    """
    question = context.question
    cue = next((each for each in question.cues if each.kind in ("superlative", "most")), None)
    words, known = question.tokens, language().words
    if cue is None or not cue.start or words[0].norm in known["who"] | known["choosing_one"]:
        return candidates
    before = range(cue.start)
    if any(i not in question.stopwords for i in before) or any(n.start < cue.start for n in question.numbers):
        return candidates
    prepositions = known["of"] | known["choosing_of"]
    properties = {
        ref
        for each in candidates
        for link in each.derivation.links
        if link.kind == "property" and link.exact and link.start == cue.end
        if link.end == len(words) or words[link.end].norm in prepositions
        for ref in link.refs
    }
    return [
        each
        for each in candidates
        if any(target.ref in properties and target.function in ("max", "min") for target in each.derivation.targets)
    ]


def prefer_named_measure(candidates: list[Candidate], _: ParseContext) -> list[Candidate]:
    """Drop the readings that bound another property than the one that is named, if there are others.

    "An empty weight under 1600 kg" bounds no payload.
    """
    return [each for each in candidates if not _bounds_other(each.derivation)]


def _bounds_other(derivation: Derivation) -> bool:
    properties = (ref.predicate for link in derivation.links if link.kind == "property" for ref in link.refs)
    named = {predicate for predicate in properties if predicate}
    conditions = [each for each in derivation.conditions if each.ref.predicate]
    bounded = {each.ref.predicate for each in conditions if each.op in INEQUALITIES and not each.function}
    known = {each.ref.predicate for each in conditions if each.op == "known"}
    return bool(known & named) and bool(bounded - named)


def prefer_totals(candidates: list[Candidate], _: ParseContext) -> list[Candidate]:
    """Drop the readings that rank things by their largest part, where others rank them by the sum of their parts.

    The department with the most beds has them in several rooms.
    """
    totals = [
        (each.derivation.order.ref, {target.ref.node for target in each.derivation.targets})
        for each in candidates
        if TOTAL_RULE in each.derivation.trace and each.derivation.order
    ]

    def ranks_by_part(derivation: Derivation) -> bool:
        nodes = {target.ref.node for target in derivation.targets}
        order = derivation.order
        return order is not None and any(order.ref == ref and nodes & other for ref, other in totals)

    return [c for c in candidates if TOTAL_RULE in c.derivation.trace or not ranks_by_part(c.derivation)]


def drop_constant_orders(candidates: list[Candidate], _: ParseContext) -> list[Candidate]:
    """Drop the readings ordered by a value of one named thing, which is the same in every row."""
    return [each for each in candidates if not _has_constant_order(each.body)]


def _has_constant_order(body: Body) -> bool:
    if not isinstance(body, Select) or body.order is None or not isinstance(body.order.by, Attribute):
        return False
    by = body.order.by.variable
    is_named = any(variable.name == by and len(variable.keys) == 1 for variable in body.variables)
    return is_named and all(aggregated_value(answer).variable != by for answer in body.answers)
