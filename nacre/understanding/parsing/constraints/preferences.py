"""Readings that other readings of the same question, or one of its cues, rule out: Candidates -> those left."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence

from nacre.language.base import language, word_map
from nacre.language.forms.nouns import is_plural
from nacre.language.tokens import Token
from nacre.understanding.parsing.mention_rules.categories import MEMBERS_RULE
from nacre.understanding.parsing.mention_rules.class_mentions import OWN_COLUMN_RULE
from nacre.understanding.parsing.modifier_rules.superlatives import TOTAL_RULE
from nacre.understanding.parsing.state import Candidate, ParseContext
from nacre.understanding.question.types import Derivation, Question, Ref


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


def prefer_members(candidates: list[Candidate], context: ParseContext) -> list[Candidate]:
    """Drop the readings that list the narrower categories of a category, if it sorts other things as well.

    "All berry bushes" are plants of that kind, and not its varieties.
    """
    named = {key for c in candidates if MEMBERS_RULE in c.derivation.trace for key in _category_keys(c.derivation)}
    nodes = context.graph.nodes
    return [
        each
        for each in candidates
        if MEMBERS_RULE in each.derivation.trace
        or not named.intersection(nodes[_root(each.derivation)].classes if each.derivation.targets else ())
    ]


def _category_keys(derivation: Derivation) -> Iterator[str]:
    """The categories whose members a reading gives."""
    return (key for link in derivation.links if link.kind == "entity" for key in link.keys)


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


def prefer_own_columns(candidates: list[Candidate], _: ParseContext) -> list[Candidate]:
    """ "The boats with their keepers": keep the readings that show both, if there are any."""
    shown = [c for c in candidates if OWN_COLUMN_RULE not in c.derivation.trace or len(c.derivation.targets) > 1]
    return shown if any(OWN_COLUMN_RULE in c.derivation.trace for c in shown) else candidates


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


def expect_rule(
    asks: Callable[[Question], bool], rule: str
) -> Callable[[list[Candidate], ParseContext], list[Candidate]]:
    """Return a constraint that keeps the readings made by a rule, if the question asks for what the rule answers."""

    def keep(candidates: list[Candidate], context: ParseContext) -> list[Candidate]:
        if not asks(context.question):
            return candidates
        return [each for each in candidates if rule in each.derivation.trace]

    return keep


def asks_capacity(question: Question) -> bool:
    """Whether "how many" begins a measure: "how many people can the room hold" counts nobody."""
    counts = [cue for cue in question.cues if cue.kind == "count"]
    degrees = [cue for cue in question.cues if cue.kind == "degree"]
    return any(degree.start == count.start and count.end < degree.end for degree in degrees for count in counts)


def asks_measure(question: Question) -> bool:
    """Whether the measure of a superlative is asked for as well."""
    return question.wants_measure


def prefer_whole_sums(candidates: list[Candidate], context: ParseContext) -> list[Candidate]:
    """Return the readings without those that list a total of each thing, where others give the total of all.

    "The total amount of all orders" is one number, even if each order has a "total amount".
    """
    tokens, of_all_words = context.question.tokens, language().words["altogether"]
    if not any(cue.kind == "any" and tokens[cue.start].norm in of_all_words for cue in context.question.cues):
        return candidates
    sums = {target.ref for each in candidates for target in each.derivation.targets if target.function == "sum"}
    return [each for each in candidates if not any(_lists_totals(each.derivation, ref, tokens) for ref in sums)]


def _lists_totals(derivation: Derivation, ref: Ref, tokens: Sequence[Token]) -> bool:
    """Whether a property that is called a total is listed for each thing."""
    total_words = word_map("wording", "computed")["total"].split()
    named = [
        link
        for link in derivation.links
        if link.kind == "property" and link.refs[0] == ref and tokens[link.start].norm in total_words
    ]
    is_listed = any(target.ref == ref and not target.function for target in derivation.targets)
    return is_listed and any(not is_plural(tokens[link.end - 1].norm) for link in named)
