"""What a conversation is about: earlier turns -> the things that "it", "them" or "there" stand for."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from nacre.language.format_values import is_number_name
from nacre.language.thesaurus import gradable_adjective, is_noun_of_kind, is_person
from nacre.language.tokens import Token, name_tokens, tokenize
from nacre.plans.merge import is_from_earlier_turn
from nacre.records.plan import Aggregate, Ask, Combine, Compute, Plan, Profile, Select, Variable
from nacre.records.turn import EarlierTurn, Scope
from nacre.understanding.linking.graph.shortest_paths import UNREACHABLE
from nacre.understanding.linking.graph.steps import NAMED_STEP_COST
from nacre.understanding.linking.link_mentions import link_mentions
from nacre.understanding.linking.linker import Linker
from nacre.understanding.linking.schema.adjectives import measured_properties
from nacre.understanding.question.analyse import question_of_tokens

# how well words name a kind or property that tells which things are meant
MIN_NAMING_SCORE = 0.5
# how well they may name others of which the same is said
MIN_HINT_SCORE = 0.3


def focus(earlier: tuple[EarlierTurn, ...], many: bool, linker: Linker, asked: Sequence[int] = ()) -> Scope:
    """What the conversation is about: the things of the last turn that has some, one or many as the pronoun wants.

    Things that are nearer to the nodes `asked` for by a link are meant before later ones: "them" in "which of
    them has the strongest engine" are cars, whatever was listed since.
    """
    found = list(_focuses(earlier, many, linker))
    if not found:
        return focus(earlier, False, linker) if many else Scope()
    best, nearest = found[0], _distance(found[0], asked, linker)
    for scope in found[1:] if asked else ():
        distance = _distance(scope, asked, linker)
        if distance <= nearest - NAMED_STEP_COST:
            best, nearest = scope, distance
    return _as_sure_as_any(best, found)


def has_one_answer(earlier: Sequence[EarlierTurn]) -> bool:
    """Whether the last turn named one thing, which "they" may stand for as well as "it" ("What do they make?")."""
    return bool(earlier) and len(_answered(earlier[-1])) == 1


def is_nameless(scope: Scope) -> bool:
    """Whether the things have no names but the ends of their IRIs, which tell a person nothing.

    >>> is_nameless(Scope(None, ("http://ex.org/row1",), ("row1",)))
    True
    """
    return all(
        key.endswith(label) and any(c.isdigit() for c in label)
        for key, label in zip(scope.keys, scope.labels, strict=False)
    )


def _focuses(earlier: tuple[EarlierTurn, ...], many: bool, linker: Linker) -> Iterator[Scope]:
    """What each turn was about, last first; as likely what is meant as that turn was right, if its answer gave it."""
    for turn in reversed(earlier):
        answered, asked = _answered(turn), _asked_about(turn.plan)
        # one thing that much was told of is "it" before all that was told
        single = answered if len(answered) == 1 or len(asked) != 1 else asked
        # at last the thing whose value was given
        ways = (answered, turn.keys, asked) if many else (single, asked, turn.keys if len(turn.keys) == 1 else ())
        for found in dict.fromkeys(ways):
            keys = _named_twins(found, linker)
            if len(keys) > many:
                own = found == asked and not _of_before(turn.plan, asked) and _named_by(turn, asked, linker)
                sure = 1.0 if turn.confidence is None or own else turn.confidence
                yield Scope(turn.plan, keys, _labels(keys, linker), confidence=sure)


def _distance(scope: Scope, asked: Sequence[int], linker: Linker) -> float:
    """How far the things of a scope are from what is asked for."""
    graph = linker.index.graph
    relations = {thing.relation for key in scope.keys if (thing := linker.lexicon.thing(key))}
    own = min((n for n in graph.nodes if relations and relations <= n.relations), key=lambda n: n.count, default=None)
    return min((graph.distance(own.index, b) for b in asked), default=UNREACHABLE) if own is not None else UNREACHABLE


def _named_twins(keys: Sequence[str], linker: Linker) -> tuple[str, ...]:
    """The things; for one without a name of its own the one that is called like it: a car for its engine."""
    return tuple(dict.fromkeys(_named_twin(key, linker) for key in keys))


def _named_twin(key: str, linker: Linker) -> str:
    graph = linker.index.graph
    thing = linker.lexicon.thing(key)
    if thing is None or is_number_name(thing.label, (key,)):
        return key
    if any(graph.nodes[i].named for i in graph.nodes_of_relation.get(thing.relation, ())):
        return key
    same = {
        n.target
        for n in linker.lexicon.exact(name_tokens(thing.label))
        if n.kind == "entity" and any(graph.nodes[i].named for i in graph.nodes_of_relation.get(n.relation, ()))
    }
    return same.pop() if len(same) == 1 else key


def requested_nodes(words: Sequence[Token], at: int, linker: Linker) -> list[int]:
    """The kinds of things that have what a question asks of its pronoun: a class that it names after it, a
    value, a property ("which genre is it"), or a measure that it compares."""
    question, graph = question_of_tokens(words), linker.index.graph
    named = [
        x
        for x in link_mentions(question, linker.index)
        if not question.stopwords.issuperset(range(x.start, x.end))
        if (x.kind in ("class", "value") and x.start > at) or (x.kind == "property" and not x.start <= at < x.end)
    ]
    if any(x.score >= MIN_NAMING_SCORE for x in named):
        return list(dict.fromkeys(r.node for x in named if x.score >= MIN_HINT_SCORE for r in x.refs))
    said = [m.concepts for t in words[at:] if (m := gradable_adjective(t)) is not None and m.degree != "positive"]
    return [
        n.index
        for n in graph.nodes
        for c in said
        if any(r.node == n.index for r, _, _ in measured_properties(graph, n.index, c))
    ]


def focus_of_kind(
    earlier: tuple[EarlierTurn, ...], relations: frozenset[str], linker: Linker, *, single: bool = False
) -> Scope | None:
    """The things of one kind that the conversation was about last, or the `single` one; None where there are none."""
    found = [f for f in _of_kind(earlier, relations, linker) if len(f.keys) == 1 or not single]
    return _as_sure_as_any(found[0], found) if found else None


def _of_kind(earlier: tuple[EarlierTurn, ...], relations: frozenset[str], linker: Linker) -> Iterator[Scope]:
    for turn in reversed(earlier):
        for keys in (turn.keys, *(v.keys for v in _variables(turn.plan))):
            fitting = tuple(k for k in keys if (thing := linker.lexicon.thing(k)) and thing.relation in relations)
            if fitting:
                own = keys is not turn.keys and _named_by(turn, keys, linker)
                sure = 1.0 if turn.confidence is None or own else turn.confidence
                yield Scope(turn.plan, fitting, _labels(fitting, linker), confidence=sure)


def property_owners(last: EarlierTurn, words: Sequence[Token], linker: Linker) -> Scope:
    """The things that the last turn gave, or spoke of as given before, that have a property that is named; none where
    that is one thing."""
    named = (c for c in linker.link(words) if c.kind == "predicate" and c.score >= MIN_HINT_SCORE)
    nodes = {i for c in named for i, own in linker.index.graph.literals.items() if c.predicate in own}
    relations = frozenset[str]().union(*(linker.index.graph.nodes[i].relations for i in nodes))
    return next((f for f in _of_kind((last,), relations, linker) if len(f.keys) > 1), Scope())


def _as_sure_as_any(best: Scope, found: Sequence[Scope]) -> Scope:
    """Things that a surer turn gave as well are as sure as that."""
    return replace(best, confidence=max(f.confidence for f in found if set(f.keys) == set(best.keys)))


def person_focus(earlier: tuple[EarlierTurn, ...], linker: Linker) -> Scope:
    """Whom "she" stands for: one person, or those of whom the last turn gave several; never a place or a body."""
    bodies = _tables(lambda noun: is_noun_of_kind("bodies", noun), linker)
    kinds, last = _tables(is_person, linker) - bodies, earlier[-1:]
    found = focus_of_kind(last, kinds, linker, single=True) or focus_of_kind(last, kinds, linker)
    found = found or focus_of_kind(earlier, kinds, linker, single=True)
    if found is not None:
        return _as_sure_as_any(found, [found, *_of_kind(earlier, kinds, linker)])
    other = focus(earlier, False, linker)
    known = {thing.relation for key in other.keys if (thing := linker.lexicon.thing(key))}
    return Scope() if known & (place_tables(linker) | bodies) else other


def has_only_persons(scope: Scope, linker: Linker) -> bool:
    """Whether the things of a scope are all persons."""
    kinds = _tables(is_person, linker)
    return all((thing := linker.lexicon.thing(key)) is not None and thing.relation in kinds for key in scope.keys)


def place_tables(linker: Linker) -> frozenset[str]:
    """The tables of the kinds of things that are places, which "there" may stand for."""
    return _tables(lambda noun: is_noun_of_kind("places", noun), linker)


def _tables(is_meant: Callable[[str], bool], linker: Linker) -> frozenset[str]:
    nodes = (n for n in linker.index.graph.nodes if n.classes and is_meant(n.label))
    return frozenset[str]().union(*(n.relations for n in nodes))


def _answered(turn: EarlierTurn) -> tuple[str, ...]:
    """The things an answer named, where it named things."""
    body = turn.plan.body if turn.plan else None
    if isinstance(body, Combine):
        return turn.keys
    if isinstance(body, Select) and not isinstance(body.answers[0], Aggregate) and body.answers[0].kind == "itself":
        return turn.keys
    return ()


def _of_before(plan: Plan | None, keys: tuple[str, ...]) -> bool:
    """Whether a plan has these things from a turn before it, and not from its question."""
    return any(is_from_earlier_turn(v) and v.keys == keys for v in _variables(plan))


def _named_by(turn: EarlierTurn, keys: tuple[str, ...], linker: Linker) -> bool:
    """Whether a turn's own words name these things, and not those that stand for what a turn before it gave."""
    if turn.question == turn.standalone:
        return True
    said = (c.keys for c in linker.link(tokenize(turn.question)) if c.kind == "entity")
    return any(set(keys) <= set(named) for named in said)


def _asked_about(plan: Plan | None) -> tuple[str, ...]:
    """The things a plan names: those of its first variable with names."""
    body = _select(plan)
    if body is None:
        return ()
    answer = body.answers[-1]
    owner = answer.of.variable if isinstance(answer, Aggregate) else answer.variable
    ordered: list[Variable] = sorted(body.variables, key=lambda v: v.name != owner)
    for variable in ordered:
        if variable.keys:
            return variable.keys
    return ()


def _select(plan: Plan | None) -> Select | None:
    """The select that a plan asks, compares or describes first."""
    body = plan.body if plan else None
    if isinstance(body, Ask):
        body = body.select
    if isinstance(body, Compute):
        body = body.left
    if isinstance(body, Profile):
        body = body.members
    return body if isinstance(body, Select) else None


def _variables(plan: Plan | None) -> tuple[Variable, ...]:
    body = _select(plan)
    return body.variables if body is not None else ()


def _labels(keys: Sequence[str], linker: Linker) -> tuple[str, ...]:
    return tuple(thing.label if (thing := linker.lexicon.thing(key)) else key for key in keys)
