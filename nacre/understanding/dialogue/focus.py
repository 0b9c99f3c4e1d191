"""What a conversation is about: earlier turns -> the things that "it", "them" or "she" may stand for.

An earlier turn contributes the things that its plan answered with or named.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from nacre.language.thesaurus import gradable_adjective, is_noun_of_kind, is_person
from nacre.language.tokens import Token, name_tokens, tokenize
from nacre.language.values import is_number_name
from nacre.plans.selects import asked_select, gives_all, is_from_earlier_turn
from nacre.records.plan import Aggregate, Combine, Compute, Plan, Profile, Select, Variable
from nacre.records.turn import EarlierTurn, Scope
from nacre.understanding.linking.adjectives import measured_properties
from nacre.understanding.linking.link_mentions import Linker, link_mentions
from nacre.understanding.linking.schema_paths import NAMED_STEP_COST, RARE_STEP_COST, UNREACHABLE
from nacre.understanding.question.analyse import question_of_tokens
from nacre.understanding.question.records import Link

# Minimum scores of a class or property that tells which things are meant: of the best one, and of the others.
MIN_NAMING_SCORE, MIN_HINT_SCORE = 0.5, 0.3

MAX_SCORE_GAP = 0.05  # How much worse than the best class or property of the same words another one may be.
AFTER_FAILURE = 0.5  # How certain things of earlier turns are after one without an answer, at most (given).
MAX_TURNS_OF_ONE = 3  # Turns in which one thing is looked for before several count as "it".


def focus(
    earlier: tuple[EarlierTurn, ...],
    many: bool,
    linker: Linker,
    requested: Sequence[int] = (),
    without: frozenset[str] = frozenset(),
) -> Scope:
    """The things that a pronoun stands for: one, or `many`, as the pronoun needs. Never things of the tables `without`.

    The first difference of these counts: their number, if it was right in recent turns; how near they are to the
    `requested` nodes by links ("them" in "which of them has the strongest engine" are cars, whatever was listed since);
    how late they were mentioned; whether they were the answer.
    """
    found = [s for s in _scopes(earlier, many, linker) if not (without and _relations(s.keys, linker) <= without)]
    if not found:
        return focus(earlier, False, linker, requested, without) if many else Scope()
    recent = {turn.plan for turn in earlier[-MAX_TURNS_OF_ONE:]}
    single = [s for s in found if len(s.keys) == 1 and s.plan in recent] if not many else []
    named = {s.plan for s in found if not is_nameless(s)}
    best, nearest = None, 0.0
    for scope in single or found:
        if scope.plan in named and is_nameless(scope):
            # of the things of one turn the one with a name is meant
            continue
        distance = _distance(scope, requested, linker) if requested else 0.0
        # a step nearer, however few things have the link
        if best is None or distance <= nearest - NAMED_STEP_COST + RARE_STEP_COST:
            best, nearest = scope, distance
    chosen = _with_best_confidence(best or found[0], found)
    is_after_failure = earlier[-1].plan is None and not earlier[-1].keys
    # a turn in between that was not answered may have been about something else
    return replace(chosen, confidence=min(chosen.confidence, AFTER_FAILURE)) if is_after_failure else chosen


def subject_focus(turn: EarlierTurn, linker: Linker) -> Scope:
    """The one thing that a turn asked about."""
    named = named_things_of(turn.plan)
    return next((s for s in _scopes((turn,), False, linker) if s.keys in named and len(s.keys) == 1), Scope())


def focus_of_kind(
    earlier: tuple[EarlierTurn, ...], relations: frozenset[str], linker: Linker, *, single: bool = False
) -> Scope | None:
    """The things of some tables that the conversation was about last, or the `single` one. None if there are none."""
    found = [scope for scope in _scopes_of_tables(earlier, relations, linker) if len(scope.keys) == 1 or not single]
    return _with_best_confidence(found[0], found) if found else None


def person_focus(earlier: tuple[EarlierTurn, ...], linker: Linker) -> Scope:
    """Whom "she" stands for: one person, or several of the last turn. Never a place or an organisation."""
    persons, last = person_tables(linker), earlier[-1:]
    found = focus_of_kind(last, persons, linker, single=True) or focus_of_kind(last, persons, linker)
    found = found or focus_of_kind(earlier, persons, linker, single=True)
    if found is not None:
        return _with_best_confidence(found, [found, *_scopes_of_tables(earlier, persons, linker)])
    return focus(earlier, False, linker, without=_places(linker) | _bodies(linker))


def place_focus(earlier: tuple[EarlierTurn, ...], linker: Linker) -> Scope:
    """What "there" stands for: the one organisation of the last answer, else its places, else the last thing."""
    places, last = _places(linker), earlier[-1:]
    is_body = len(last[0].keys) == 1 and _relations(last[0].keys, linker) <= _bodies(linker)
    found = focus_of_kind(last, _bodies(linker), linker, single=True) if is_body else None
    found = found or focus_of_kind(last, places, linker, single=True) or focus_of_kind(last, places, linker)
    return found or focus(earlier, False, linker, without=person_tables(linker))


def property_owners(last: EarlierTurn, words: Sequence[Token], linker: Linker) -> Scope:
    """The several things of the last turn that have a property which words name. Empty if there is only one."""
    named = (c for c in linker.link(words) if c.kind == "predicate" and c.score >= MIN_HINT_SCORE)
    graph = linker.index.graph
    nodes = {i for c in named for i, literals in graph.literals.items() if c.predicate in literals}
    relations = frozenset[str]().union(*(graph.nodes[i].relations for i in nodes))
    return next((s for s in _scopes_of_tables((last,), relations, linker) if len(s.keys) > 1), Scope())


def requested_nodes(words: Sequence[Token], at: int, linker: Linker) -> list[int]:
    """The nodes whose things have what a question asks of its pronoun: a class, value, property or measure."""
    graph, named = linker.index.graph, _requested_links(words, at, linker)
    if any(x.score >= MIN_NAMING_SCORE for x in named):
        best = {(x.start, x.end): max(y.score for y in named if (y.start, y.end) == (x.start, x.end)) for x in named}
        meant = (x for x in named if x.score >= max(MIN_HINT_SCORE, best[x.start, x.end] - MAX_SCORE_GAP))
        return list(dict.fromkeys(r.node for x in meant for r in x.refs))
    adjectives = [a for t in words[at:] if (a := gradable_adjective(t)) is not None and a.degree != "positive"]
    costs = [
        (cost, node.index)
        for node in graph.nodes
        for adjective in adjectives
        for ref, _, cost in measured_properties(graph, node.index, adjective.concepts)
        if ref.node == node.index
    ]
    return list(dict.fromkeys(node for cost, node in costs if cost == min(costs)[0]))


def may_have(scope: Scope, words: Sequence[Token], at: int, linker: Linker) -> bool:
    """Whether the things of a scope themselves may have what a question asks of its pronoun, however it calls it."""
    graph, relations = linker.index.graph, _relations(scope.keys, linker)
    nodes = {r.node for x in _requested_links(words, at, linker) if x.score >= MIN_HINT_SCORE for r in x.refs}
    return any(relations <= graph.nodes[i].relations for i in nodes)


def _requested_links(words: Sequence[Token], at: int, linker: Linker) -> list[Link]:
    """The classes and values after the pronoun at a position, and the properties beside it."""
    question = question_of_tokens(words)
    return [
        x
        for x in link_mentions(question, linker.index)
        if not question.stopwords.issuperset(range(x.start, x.end))
        if (x.kind in ("class", "value") and x.start > at) or (x.kind == "property" and not x.start <= at < x.end)
    ]


def may_be_one(earlier: tuple[EarlierTurn, ...], linker: Linker) -> bool:
    """Whether "they" may be one thing: the only one of the last answer, or a person or organisation it was about."""
    answered = answered_things(earlier[-1]) if earlier else ()
    one = focus(earlier[-1:], False, linker)
    is_one = len(one.keys) == 1 and not earlier[-1].cut
    return len(answered) == 1 or (not answered and is_one and _relations(one.keys, linker) <= agent_tables(linker))


def has_only_places(scope: Scope, linker: Linker) -> bool:
    """Whether the things of a scope are all places or organisations."""
    return _relations(scope.keys, linker) <= _places(linker) | _bodies(linker)


def has_only_persons(scope: Scope, linker: Linker) -> bool:
    """Whether the things of a scope are all persons."""
    return _relations(scope.keys, linker) <= person_tables(linker)


def person_tables(linker: Linker) -> frozenset[str]:
    """The tables of persons."""
    return _tables(is_person, linker) - _bodies(linker)


def is_nameless(scope: Scope) -> bool:
    """Whether the things have no names but codes at the ends of their IRIs."""
    return all(
        key.endswith(label) and any(c.isdigit() for c in label)
        for key, label in zip(scope.keys, scope.labels, strict=False)
    )


def agent_tables(linker: Linker) -> frozenset[str]:
    """The tables of persons and organisations."""
    return person_tables(linker) | _bodies(linker)


def _places(linker: Linker) -> frozenset[str]:
    return _tables(lambda noun: is_noun_of_kind("places", noun), linker)


def _bodies(linker: Linker) -> frozenset[str]:
    return _tables(lambda noun: is_noun_of_kind("bodies", noun), linker)


def _scopes(earlier: tuple[EarlierTurn, ...], many: bool, linker: Linker) -> Iterator[Scope]:
    """What each turn was about, last first. A scope is as certain as the turn, if only its answer gave the things."""
    for turn in reversed(earlier):
        answered, named = answered_things(turn), named_things_of(turn.plan)
        # One thing about which several were answered is "it".
        first = answered if len(answered) == 1 or not named or len(named[0]) != 1 else named[0]
        # Then come the other things that it named, last the thing whose value was given.
        last = turn.keys if len(turn.keys) == 1 or many else ()
        options = (answered, last, *named) if many else (first, *named, last)
        for found in dict.fromkeys(options):
            keys = tuple(dict.fromkeys(_named_twin(key, linker) for key in found))
            is_cut = turn.cut and found == turn.keys and (many or len(found) > 1)
            if (len(keys) > many or is_cut) and (not is_cut or gives_all(_first_select(turn.plan))):
                # Not from an earlier turn, but from its question
                is_new = not any(is_from_earlier_turn(v) and v.keys == found for v in plan_variables(turn.plan))
                is_own = found in named and is_new and names_itself(turn, found, linker)
                yield Scope(turn.plan, keys, _labels(keys, linker), confidence=_confidence(turn, is_own), cut=is_cut)


def _scopes_of_tables(earlier: tuple[EarlierTurn, ...], relations: frozenset[str], linker: Linker) -> Iterator[Scope]:
    """The things of some tables that each turn gave or named, last first."""
    for turn in reversed(earlier):
        for keys in (turn.keys, *(v.keys for v in plan_variables(turn.plan))):
            fitting = tuple(k for k in keys if (thing := linker.lexicon.thing(k)) and thing.relation in relations)
            is_cut = turn.cut and keys is turn.keys
            if fitting and (not is_cut or gives_all(_first_select(turn.plan))):
                confidence = _confidence(turn, keys is not turn.keys and names_itself(turn, keys, linker))
                yield Scope(turn.plan, fitting, _labels(fitting, linker), confidence=confidence, cut=is_cut)


def _confidence(turn: EarlierTurn, is_own: bool) -> float:
    """How certain the things of a turn are. Those that its own words name are certain."""
    return 1.0 if turn.confidence is None or is_own else turn.confidence


def _with_best_confidence(best: Scope, found: Sequence[Scope]) -> Scope:
    """A scope with the highest confidence of those with the same things."""
    return replace(best, confidence=max(s.confidence for s in found if set(s.keys) == set(best.keys)))


def _distance(scope: Scope, requested: Sequence[int], linker: Linker) -> float:
    graph, relations = linker.index.graph, _relations(scope.keys, linker)
    nodes = (n for n in graph.nodes if relations and relations <= n.relations)
    own = min(nodes, key=lambda n: n.count, default=None)
    if own is None:
        return UNREACHABLE
    return min((graph.distance(own.index, node) for node in requested), default=UNREACHABLE)


def _named_twin(key: str, linker: Linker) -> str:
    thing = linker.lexicon.thing(key)
    if thing is None or is_number_name(thing.label, (key,)) or _has_names(thing.relation, linker):
        return key
    same = {
        name.target
        for name in linker.lexicon.exact(name_tokens(thing.label))
        if name.kind == "entity" and _has_names(name.relation, linker)
    }
    return same.pop() if len(same) == 1 else key


def _has_names(relation: str, linker: Linker) -> bool:
    graph = linker.index.graph
    return any(graph.nodes[i].named for i in graph.nodes_of_relation.get(relation, ()))


def _tables(is_meant: Callable[[str], bool], linker: Linker) -> frozenset[str]:
    """The tables of the classes whose label is meant."""
    nodes = (n for n in linker.index.graph.nodes if n.classes and is_meant(n.label))
    return frozenset[str]().union(*(n.relations for n in nodes))


def _relations(keys: Sequence[str], linker: Linker) -> frozenset[str]:
    return frozenset(thing.relation for key in keys if (thing := linker.lexicon.thing(key)))


def _labels(keys: Sequence[str], linker: Linker) -> tuple[str, ...]:
    return tuple(thing.label if (thing := linker.lexicon.thing(key)) else key for key in keys)


def answered_things(turn: EarlierTurn) -> tuple[str, ...]:
    """The things that an answer named. Empty if it gave values."""
    body = turn.plan.body if turn.plan else None
    if isinstance(body, Combine):
        return turn.keys
    if isinstance(body, Select) and not isinstance(body.answers[0], Aggregate) and body.answers[0].kind == "itself":
        return turn.keys
    return ()


def named_things_of(plan: Plan | None) -> tuple[tuple[str, ...], ...]:
    """The things that a plan names: those of each variable with names, starting with the answered one."""
    body = _first_select(plan)
    if body is None:
        return ()
    answer = body.answers[-1]
    owner = answer.of.variable if isinstance(answer, Aggregate) else answer.variable
    variables = sorted(body.variables, key=lambda v: v.name != owner)
    return tuple(variable.keys for variable in variables if variable.keys)


def names_itself(turn: EarlierTurn, keys: tuple[str, ...], linker: Linker) -> bool:
    """Whether the user's own words name these things, and not only the rewritten question."""
    if turn.question == turn.standalone:
        return True
    named = (c.keys for c in linker.link(tokenize(turn.question)) if c.kind == "entity")
    return any(set(keys) <= set(own) for own in named)


def plan_variables(plan: Plan | None) -> tuple[Variable, ...]:
    """The variables of the first select of a plan."""
    body = _first_select(plan)
    return body.variables if body is not None else ()


def _first_select(plan: Plan | None) -> Select | None:
    """The select that a plan tests, compares or describes first."""
    body = plan.body if plan else None
    first = body.left if isinstance(body, Compute) else body.members if isinstance(body, Profile) else body
    return asked_select(first) if first is not None else None
