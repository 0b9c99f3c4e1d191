"""What is known of a reading while the question is read from left to right: ParseState, immutable."""

from functools import lru_cache
from typing import Any, Literal, NamedTuple

from nacre.understanding.linking.graph.schema_graph import SchemaGraph
from nacre.understanding.linking.graph.shortest_paths import UNREACHABLE
from nacre.understanding.question.types import Aggregation, Condition, Link, Ordering, Question, Ref, Target

# first estimates that only order the beam; what decides between finished readings is learned (ranking/weights.json)
DISTANCE_COST = 0.5
LINK_COST = 0.25
SCOPE_WORTH = 1.5
RANK_AFTER_AGGREGATE = 0.4
SKIPPED_COST = 0.55
DANGLING_COST = 0.5
CUE_GAIN = 0.12
UNSETTLED_COST = 0.6


class PendingSuperlative(NamedTuple):
    """A superlative that waits for its property: direction, what it measures; `counts` where it may say how many
    ("the most"), and not only how much ("the largest"); `common` where it says how often
    ("the most common") and what was asked for is restricted by it.
    """

    descending: bool
    concepts: tuple[str, ...] = ()
    counts: bool = True
    common: bool = False


class _Fields(NamedTuple):
    """A partial reading.

    `mode` says what the next mention is taken for: "T" a target, "C" part of a condition; `want` overrides it
    ("group", "order up", "order down"). `asks` are aggregates that wait for what they are of, `sticky` those of the
    target before. `prop` waits for its value.
    `only`: what is said next is all that a thing has of its kind.
    `text` waits for the property that holds it ("the letter a in their names").
    `compare` waits for a number or a property: (operator, number or None), `unit` is the number's, `until` the upper
    end where it is a range; `other` was said before it ("over 80 or under 50 pages").
    """

    score: float = 0.0
    mode: str = "T"
    next_role: str = ""
    pending_aggregates: tuple[Aggregation, ...] = ()
    shared_aggregates: tuple[Aggregation, ...] = ()
    distinct: bool = False
    targets: tuple[Target, ...] = ()
    conditions: tuple[Condition, ...] = ()
    group: tuple[Ref, ...] = ()
    order: Ordering | None = None
    rank: PendingSuperlative | None = None
    degree: tuple[str, ...] = ()
    limit: int = 0
    comparison: tuple[str, float | None] | None = None
    earlier_comparison: tuple[str, float] | None = None
    unit: str = ""
    until: float | None = None
    negated: bool = False
    exclusive: bool = False
    text_match: str = ""
    pending_text: str = ""
    pending_property: Ref | None = None
    pending_function: Aggregation = ""
    pending_is_target: bool = False
    owner: Ref | None = None
    nodes: tuple[Ref, ...] = ()
    join: Literal["and", "or", "both"] = "and"
    last: str = ""
    hints: frozenset[str] = frozenset()
    covered: int = 0
    links: tuple[Link, ...] = ()
    trace: tuple[str, ...] = ()


_PLACES = {name: place for place, name in enumerate(_Fields._fields)}


class ParseState(_Fields):
    """A partial reading, of which thousands are made for a question."""

    __slots__ = ()

    def _replace(self, **changes: Any) -> "ParseState":
        """As of any named tuple, in two thirds of the time."""
        fields = list(self)
        for name, value in changes.items():
            fields[_PLACES[name]] = value
        return tuple.__new__(ParseState, fields)

    def apply_rule(self, rule: str, gain: float = 0.0, **changes: Any) -> "ParseState":
        """Return this state with changes, and with the rule that made them in its trace."""
        return self._replace(score=self.score + gain, trace=(*self.trace, rule), **changes)

    @property
    def pending_values(self) -> Ref | None:
        """The property whose value is expected, None if a link between things waits."""
        return self.pending_property if self.pending_property and self.pending_property.predicate else None


def next_slot(state: ParseState, node: int) -> int:
    """The first slot of a node that no thing has yet."""
    return 1 + max((n.slot for n in state.nodes if n.node == node), default=-1)


class ParseContext(NamedTuple):
    """What rules may look at: the question and the schema graph."""

    question: Question
    graph: SchemaGraph

    def content(self, mask: int) -> int:
        """How many tokens of a mask carry meaning."""
        return (mask & ~stopword_mask(self.question.stopwords)).bit_count()


@lru_cache(maxsize=64)
def stopword_mask(light: frozenset[int]) -> int:
    """The tokens that carry no meaning, as a bit mask."""
    return sum(1 << i for i in light)


def has_self_link(ref: Ref, context: ParseContext) -> bool:
    """Whether a link joins things of one kind."""
    return any(s.target == ref.node for s in context.graph.steps[ref.node])


def is_second_mention(state: ParseState, ref: Ref, context: ParseContext) -> bool:
    """Whether a link between things of one kind was named, so that a second mention of the kind is another thing."""
    if not any(n.node == ref.node for n in state.nodes):
        return False
    return any((ref.node, ref.node) in context.graph.ends.get(hint, ()) for hint in state.hints)


def add_link(state: ParseState, link: Link, context: ParseContext, ref: Ref) -> ParseState:
    """The state after a mention was taken for something: its score, its words, and the nodes it needs."""
    # what was spoken of before is as good as said again
    least = SCOPE_WORTH if link.match == "scope" else 0.5
    worth = max(least, context.content(link.covered)) * link.score
    if link.match.startswith("link"):
        worth -= LINK_COST
    new = state._replace(
        score=state.score + worth,
        covered=state.covered | link.covered,
        links=(*state.links, link),
    )
    return add_schema_node(new, ref, context)


def add_schema_node(state: ParseState, ref: Ref, context: ParseContext) -> ParseState:
    """The state with the node of a reference among its nodes; a far one costs."""
    node = ref.thing
    hints = state.hints | {ref.via} if ref.via else state.hints
    if node in state.nodes:
        return state._replace(hints=hints) if hints != state.hints else state
    cost = 0.0
    if state.nodes:
        distance = min(context.graph.distance(n.node, node.node) for n in state.nodes)
        if node.slot:
            distance = 1.0
        cost = DISTANCE_COST * min(distance, UNREACHABLE)
    return state._replace(nodes=(*state.nodes, node), score=state.score - cost, hints=hints)


def last_target_as_condition(state: ParseState) -> dict[str, Any]:
    """The changes by which the last target becomes a condition's property; its count is asked of something else."""
    if not state.pending_is_target or state.pending_property is None or not state.targets:
        return {}
    last = state.targets[-1]
    asks = (*state.pending_aggregates, "count") if last.function == "count" else state.pending_aggregates
    return {"targets": state.targets[:-1], "pending_is_target": False, "pending_aggregates": asks}


def drop_open_property(state: ParseState) -> ParseState:
    """The state without a property that waited for a value in vain."""
    if state.pending_property is None:
        return state
    if state.pending_is_target:
        return state._replace(pending_property=None, pending_is_target=False, pending_function="")
    return state._replace(
        pending_property=None, pending_function="", score=state.score - DANGLING_COST, trace=(*state.trace, "dangling")
    )
