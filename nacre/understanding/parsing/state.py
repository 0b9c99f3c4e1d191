"""Readings of a question: ParseState while it is read from left to right, with steps from state to state; Candidate, a
reading with its plan; and which words of the question a reading leaves unused.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, Literal, NamedTuple

from nacre.plans.selects import asked_select, predicates_of, variable_of
from nacre.records.plan import Ask, Body, Select
from nacre.understanding.linking.schema_graph import SchemaGraph
from nacre.understanding.linking.schema_paths import UNREACHABLE
from nacre.understanding.question.records import (
    Aggregation,
    Condition,
    Derivation,
    Link,
    Ordering,
    Question,
    Ref,
    Target,
    covered_mask,
    token_mask,
)

# first estimates that only order the beam; the weights that rank finished readings are learned (ranking/weights.json)
DISTANCE_COST = 0.5

LINK_COST = 0.25
SCOPE_WORTH = 1.5
RANK_AFTER_AGGREGATE = 0.4
SKIPPED_COST = 0.55
DANGLING_COST = 0.5
CUE_GAIN = 0.12
UNSETTLED_COST = 0.6


class PendingSuperlative(NamedTuple):
    """A superlative that waits for its property."""

    descending: bool
    concepts: tuple[str, ...] = ()  # what it measures
    counts: bool = True  # it may say how many ("the most"), not only how much ("the largest")
    common: bool = False  # it says how often ("the most common"), and restricts the target before it


class _Fields(NamedTuple):
    """A partial reading."""

    score: float = 0.0
    mode: str = "T"  # the next mention is a target ("T"), part of a condition ("C") or of an order ("O")
    next_role: str = ""  # what the next mention is instead: "group", "order up", "order down"
    pending_aggregates: tuple[Aggregation, ...] = ()  # waiting for their property
    shared_aggregates: tuple[Aggregation, ...] = ()  # those of the target before
    distinct: bool = False
    targets: tuple[Target, ...] = ()
    conditions: tuple[Condition, ...] = ()
    group: tuple[Ref, ...] = ()
    order: Ordering | None = None
    rank: PendingSuperlative | None = None
    degree: tuple[str, ...] = ()
    limit: int = 0
    comparison: tuple[str, float | None] | None = None  # (operator, number or None), waiting for a number or property
    earlier_comparison: tuple[str, float] | None = None  # "over 80 or under 50 pages"
    unit: str = ""  # that of the number
    until: float | None = None  # the upper end of a range
    negated: bool = False
    exclusive: bool = False  # the next value is the only one that a thing has
    text_match: str = ""
    pending_text: str = ""  # waiting for its property: "the letter a in their names"
    pending_property: Ref | None = None  # waiting for its value
    pending_function: Aggregation = ""
    pending_is_target: bool = False  # the pending property is the last target as well
    owner: Ref | None = None  # the thing that the next property belongs to
    nodes: tuple[Ref, ...] = ()
    join: Literal["and", "or", "both"] = "and"
    last: str = ""  # the kind of what was read last
    hints: frozenset[str] = frozenset()  # predicates that the question names as links
    covered: int = 0
    links: tuple[Link, ...] = ()
    trace: tuple[str, ...] = ()


_PLACES = {name: place for place, name in enumerate(_Fields._fields)}


class ParseState(_Fields):
    """A partial reading; a question makes thousands."""

    __slots__ = ()

    def _replace(self, **changes: Any) -> "ParseState":
        """Return this state with changes, a third faster than the method of named tuples."""
        fields = list(self)
        for name, value in changes.items():
            fields[_PLACES[name]] = value
        return tuple.__new__(ParseState, fields)

    def apply_rule(self, rule: str, gain: float = 0.0, **changes: Any) -> "ParseState":
        """Return this state with changes, and with the rule that made them in its trace."""
        return self._replace(score=self.score + gain, trace=(*self.trace, rule), **changes)

    def add_conditions(self, rule: str, gain: float, *conditions: Condition, **changes: Any) -> "ParseState":
        """Return this state with the conditions that a rule makes; they use up a negation."""
        every = (*self.conditions, *conditions)
        return self.apply_rule(rule, gain, **{"conditions": every, "negated": False, **changes})

    @property
    def pending_values(self) -> Ref | None:
        """The property whose value is expected, None if a link between things waits."""
        return self.pending_property if self.pending_property and self.pending_property.predicate else None


ParseStates = Iterator[ParseState]


def next_slot(state: ParseState, node: int) -> int:
    """Return the first slot of a node that no thing in the reading has."""
    return 1 + max((n.slot for n in state.nodes if n.node == node), default=-1)


class ParseContext(NamedTuple):
    """What rules may read: the question, the schema graph, and what spans of the question may name."""

    question: Question
    graph: SchemaGraph
    links: Sequence[Link]


@lru_cache(maxsize=64)
def stopword_mask(stopwords: frozenset[int]) -> int:
    """Return the bit mask of the tokens without meaning."""
    return sum(1 << i for i in stopwords)


def has_self_link(ref: Ref, context: ParseContext) -> bool:
    """Whether a link joins things of one class."""
    return any(s.target == ref.node for s in context.graph.steps[ref.node])


def is_second_mention(state: ParseState, ref: Ref, context: ParseContext) -> bool:
    """Whether a class was mentioned before with a link between its things, so that now another thing is meant."""
    if not any(node.node == ref.node for node in state.nodes):
        return False
    return any((ref.node, ref.node) in context.graph.ends.get(hint, ()) for hint in state.hints)


def add_link(state: ParseState, link: Link, context: ParseContext, ref: Ref) -> ParseState:
    """Return the state with a mention taken for something: its score, its words and its node."""
    # what the conversation is about is worth as much as a mention
    min_words = SCOPE_WORTH if link.match == "scope" else 0.5
    words = (link.covered & ~stopword_mask(context.question.stopwords)).bit_count()
    worth = max(min_words, words) * link.score
    if link.match.startswith("link"):
        worth -= LINK_COST
    linked = {"score": state.score + worth, "covered": state.covered | link.covered, "links": (*state.links, link)}
    return state._replace(**linked | _node_changes(state, ref, context, state.score + worth))


def add_schema_node(state: ParseState, ref: Ref, context: ParseContext) -> ParseState:
    """Return the state with the node of a reference; a distant node costs."""
    changes = _node_changes(state, ref, context, state.score)
    return state._replace(**changes) if changes else state


def _node_changes(state: ParseState, ref: Ref, context: ParseContext, score: float) -> dict[str, Any]:
    """What the node of a reference changes in a state with a score."""
    node = ref.thing
    hints = {"hints": state.hints | {ref.via}} if ref.via and ref.via not in state.hints else {}
    if node in state.nodes:
        return hints
    cost = 0.0
    if state.nodes:
        distance = min([context.graph.distance(other.node, node.node) for other in state.nodes])
        cost = DISTANCE_COST * min(1.0 if node.slot else distance, UNREACHABLE)
    return {"nodes": (*state.nodes, node), "score": score - cost, **hints}


def last_target_as_condition(state: ParseState) -> dict[str, Any]:
    """Return the changes by which the last target becomes the property of a condition; its count waits again."""
    if not state.pending_is_target or state.pending_property is None or not state.targets:
        return {}
    is_count = state.targets[-1].function == "count"
    pending = (*state.pending_aggregates, "count") if is_count else state.pending_aggregates
    return {"targets": state.targets[:-1], "pending_is_target": False, "pending_aggregates": pending}


def drop_open_property(state: ParseState) -> ParseState:
    """Return the state without a property that waits for its value; one that is no target costs."""
    if state.pending_property is None:
        return state
    if state.pending_is_target:
        return state._replace(pending_property=None, pending_is_target=False, pending_function="")
    return state.apply_rule("dangling", -DANGLING_COST, pending_property=None, pending_function="")


COMPARED_RULE = "compared"  # in the trace of a reading that compares two sides, which the question names
KEPT_GIVEN_RULE = "given kept"  # in the trace of a reading that cannot leave out what was given


class Candidate(NamedTuple):
    """One reading with its plan."""

    derivation: Derivation
    body: Body
    join_cost: float = 0.0  # the cost of its paths
    steps: int = 0  # their length
    ambiguous: int = 0  # the number of other paths about as cheap
    path_choice: int = 0  # which of them was taken
    name_loss: float = 0.0  # by how much better links score for the same words
    split_names: int = 0  # how many links are parts of a longer name in the question


def whole_reading(
    body: Body, target: Target, covered: int, prior: float, trace: tuple[str, ...], links: tuple[Link, ...]
) -> Candidate:
    """Return a reading that is made of the question as a whole, and not from left to right."""
    nodes = (target.ref.thing,)
    return Candidate(Derivation((target,), nodes=nodes, covered=covered, prior=prior, trace=trace, links=links), body)


def unused_tokens(candidate: Candidate, question: Question) -> list[int]:
    """Return the positions of the content words that no part of a reading accounts for."""
    unfollowed = unfollowed_links(candidate)
    others = covered_mask(link for link in candidate.derivation.links if link not in unfollowed)
    covered = candidate.derivation.covered & ~(covered_mask(unfollowed) & ~others)
    return [i for i in range(len(question.tokens)) if i not in question.stopwords and not covered >> i & 1]


def unfollowed_links(candidate: Candidate) -> list[Link]:
    """Return the properties and links that a reading names but that its plan does not contain, and the names that
    restrict nothing but another name.

    "Is he blocked" does not only ask whether he exists, nor "the ships that the Vigilant escorts" for the Vigilant.
    """
    is_checked, links = isinstance(candidate.body, Ask), candidate.derivation.links
    select = asked_select(candidate.body)
    if select is None:
        return []
    tested = predicates_of(select)
    unused = [
        link
        for link in links
        if link.kind == "property"
        if (named := {ref.via or (ref.predicate if is_checked else "") for ref in link.refs} - {""})
        if not named & tested
    ]
    beside = frozenset[tuple[str, ...]]() if is_checked else _keys_beside_answer(select)
    return [*unused, *(link for link in links if link.kind == "entity" and link.keys in beside)]


def _keys_beside_answer(select: Select) -> frozenset[tuple[str, ...]]:
    """The named things that are joined to the answer over other named things only."""
    named = {variable.name: variable.keys for variable in select.variables if len(variable.keys) == 1}
    reached = {variable_of(answer) for answer in select.answers} | set(select.group)
    for _ in select.edges:
        open_ends = reached - named.keys() or reached
        reached |= {n for e in select.edges if {e.subject, e.object} & open_ends for n in (e.subject, e.object)}
    return frozenset(keys for name, keys in named.items() if name not in reached)


def without_overlaps(links: Iterable[Link]) -> list[Link]:
    """Return the links that overlap none before them, in the order of the question."""
    found: list[Link] = []
    for link in links:
        if not any(link.covered & other.covered for other in found):
            found.append(link)
    return sorted(found, key=lambda link: link.start)


def is_inside_link(start: int, end: int, links: Iterable[Link]) -> bool:
    """Whether one link covers all tokens of a span."""
    mask = token_mask(start, end)
    return any(x.covered & mask == mask for x in links)


def overlaps_link(start: int, end: int, links: Iterable[Link]) -> bool:
    """Whether a link covers some token of a span."""
    mask = token_mask(start, end)
    return any(x.covered & mask for x in links)
