"""Readings in place of one that does not give what is asked for, or of none: TurnView + Rows -> Repairs.

The first is looked up if it is the only sense that the words make. The others are offered, and run only if a person
chooses them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain, islice, pairwise
from typing import TYPE_CHECKING, NamedTuple

from agents.answering.select_answer import UNSURE, row_probability, sole_reading
from nacre.extensions.nearest.reshape import (
    SHARED_LETTERS,
    Shape,
    agent_nodes,
    by_first_date,
    by_state,
    event_steps,
    events_of,
    fits,
    has_own_verb,
    is_direct,
    most_linked,
    most_of,
    of_events,
    requested_shape,
    reshape,
    start_date,
    stated_state,
    totals_per_thing,
    without_link,
)
from nacre.language.data import WORDS, word_list
from nacre.language.thesaurus import function_words
from nacre.language.tokens import tokenize
from nacre.language.values import find_periods, year_bounds
from nacre.plans.selects import EARLIER_TURN_MARK, asked_select, variable_of
from nacre.records.evidence import Doubt, Rows
from nacre.records.plan import PERIODS, Aggregate, Attribute, Filter, Itself, Order, Plan, Profile, Select, Variable
from nacre.records.turn import Reading
from nacre.understanding.dialogue.ellipsis import SCOPE_OPENING, YEAR
from nacre.understanding.dialogue.plan_edits import exclude_keys
from nacre.understanding.linking.adjectives import is_measured_number
from nacre.understanding.linking.link_mentions import linker_of
from nacre.understanding.linking.schema_graph import SchemaGraph
from nacre.understanding.question.analyse import analyse_question
from nacre.understanding.question.records import RANKING_CUES
from nacre.understanding.ranking.probabilities import show_things_beside_values
from nacre.understanding.ranking.rank import load_weights
from nacre.wording.plan_phrases import verbalise_plan

if TYPE_CHECKING:
    from agents.turn_view import TurnView
    from nacre.stores.catalog import Graph

# readings that are offered, and links of one thing that are tried (given)
MOST_REPAIRS, MOST_LINKS = 3, 2

# the probability of a reading that no row of another one is compared with (given)
REPAIR_PROBABILITY = 0.5


class Repairs(NamedTuple):
    """The reading to look up, and those to offer."""

    answer: Reading | None = None
    offered: tuple[Reading, ...] = ()


def find_repairs(view: TurnView, selected: Rows | None, graph: Graph) -> Repairs:
    """What a question may ask for if the selected rows, which are not sure, do not give it, or if there are none."""
    schema_graph = linker_of(graph.lexicon).index.graph
    # one that is likelier than not, as what is asked for, but never sure
    known = row_probability(view.understanding, selected) + UNSURE if selected is not None else REPAIR_PROBABILITY
    chance = min(load_weights().threshold, known) - (UNSURE / 2 if selected is not None else 0.0)
    events = list(dict.fromkeys((*_by_state(view, schema_graph), *_happenings(view, schema_graph))))
    if events:
        offered = tuple(_reading(each, schema_graph) for each in events[1:MOST_REPAIRS])
        return Repairs(_reading(events[0], schema_graph, chance=chance), offered)
    if selected is None:
        return _of_nothing(view, schema_graph)
    reading = sole_reading(view.understanding, selected)
    if reading is None or not isinstance(reading.plan.body, Select):
        return Repairs()
    select, text = reading.plan.body, _text(view)
    shape = requested_shape(text)
    asked = {each.target for each in view.understanding.mentions if each.kind == "predicate"}
    is_of_other_verb = shape == "person" and has_own_verb(select, text, asked, schema_graph)
    persons = list(of_events(select, text, schema_graph, persons=True)) if is_of_other_verb else []
    base = _base(select, shape, view)
    is_fitting = fits(select, shape, schema_graph) and (shape != "times" or base == select)
    shaped = persons if is_fitting else list(reshape(base, shape, text, schema_graph))
    # "how many beds do both have" may ask for each
    may_be_each = shape == "total" and not (reading.doubts or reading.unused)
    is_sure = bool(persons) or base != select
    direct = [each for each in shaped[:1] if is_sure or (is_direct(each, select, shape) and not may_be_each)]
    if (shape == "object" or not shaped) and (
        ranked := [
            *_ranked_earlier(view, schema_graph),
            *_per_thing(select, reading, view, schema_graph),
            *_most_events(select, view, schema_graph),
        ]
    ):
        shaped, direct = ranked, ranked[:1]
    first = [_reading(each, schema_graph, unused=reading.unused, chance=chance) for each in direct]
    others = [
        *_of_earlier_things(select, view),
        *shaped[len(direct) :],
        *_opposite_orders(select, view),
        *_first_things(select, view, schema_graph),
        *_own_measures(select, reading, view, schema_graph),
    ]
    return Repairs(next(iter(first), None), tuple(_reading(each, schema_graph) for each in others[:MOST_REPAIRS]))


def _base(select: Select, shape: Shape, view: TurnView) -> Select:
    """The plan whose things a question asks something of: of "what was that in all" the one before, of "what was let"
    the likeliest of the same things."""
    norms, earlier = [token.norm for token in tokenize(view.question)], _earlier_plan(view)
    if shape == "amount" and earlier is not None and word_list("nearest", "pointing") & {*norms}:
        return earlier
    keys = {key for each in select.variables for key in each.keys}
    named = [each for each in _bases(view) if keys.isdisjoint(each.variables[0].keys)] if shape == "times" else []
    if len(named) == 1 and view.understanding.named:
        return named[0]
    likeliest = view.understanding.readings[0].plan.body
    if shape == "object" and isinstance(likeliest, Select) and likeliest.answers == select.answers:
        return likeliest
    return select


def _reading(
    body: Select,
    graph: SchemaGraph,
    unused: tuple[str, ...] = (),
    chance: float | None = None,
    doubts: tuple[Doubt, ...] = (),
) -> Reading:
    plan = Plan(show_things_beside_values(body))
    words, score = verbalise_plan(plan, graph.schema), chance or 0.0
    return Reading(plan, score, 1.0, words, chance, unused, near=chance is None, doubts=doubts)


def _of_nothing(view: TurnView, graph: SchemaGraph) -> Repairs:
    """Of a question without rows: a verb as a link, the others of the turn before, and what is asked for of the things
    that it names, or of those of the turn before."""
    verbs = list(islice(_verb_as_link(view, graph), MOST_LINKS))
    if verbs:
        return Repairs(verbs[0], tuple(replace(each, probability=None, near=True) for each in verbs[1:]))
    first = list(_first_persons(view, graph))
    answer = next(chain(_other_things(view), first if len(first) == 1 else ()), None)
    if answer is not None:
        return Repairs(_reading(answer, graph, chance=REPAIR_PROBABILITY))
    text = _text(view)
    shape = requested_shape(text) or ("" if view.understanding.named else "thing")
    bases = () if _asks_property(view) else _bases(view)
    shaped = (each for base in bases if shape for each in islice(reshape(base, shape, text, graph), MOST_REPAIRS))
    bodies = list(islice(dict.fromkeys(chain(_ranked_earlier(view, graph), shaped)), MOST_REPAIRS))
    # a verb that is not known may ask for something else, but for "bring in"
    question = analyse_question(text)
    paid = {question.tokens[i].norm for cue in question.cues if cue.kind == "sum" for i in range(cue.start, cue.end)}
    unknown = {word for text, _ in view.understanding.unknown for word in text.split()} - paid
    has_values = any(each.kind == "value" for each in view.understanding.mentions)
    is_sole = shape in ("amount", "total") and len(bodies) == 1 and not has_values
    if bodies and (shape in ("person", "object") or is_sole) and unknown <= WORDS["paying"] | WORDS["spending"]:
        first_reading = _reading(bodies[0], graph, chance=REPAIR_PROBABILITY)
        return Repairs(first_reading, tuple(_reading(each, graph) for each in bodies[1:]))
    if not (bodies or view.understanding.readings or view.understanding.named):
        # questions that have an answer here
        logs = (found for each in _classes(graph) for found in events_of(each, graph))
        bodies = list(islice((ranked for each in logs for ranked in most_linked(each, graph)), MOST_LINKS))
    return Repairs(None, tuple(_reading(each, graph) for each in bodies))


def _text(view: TurnView) -> str:
    """The question without what it is about."""
    return view.standalone.split(SCOPE_OPENING)[0]


def _asks_property(view: TurnView) -> bool:
    """Whether a word that nothing in the graph is called names what is asked for: "what colour", "the price"."""
    unknown = {word for text, _ in view.understanding.unknown for word in text.casefold().split()}
    tokens = [token.norm for token in tokenize(view.standalone)]
    leads = WORDS["asking_kind"] | WORDS["article"] | WORDS["possessive"]
    return any(one in leads and two in unknown and two not in PERIODS for one, two in pairwise(tokens))


def _bases(view: TurnView) -> Iterator[Select]:
    """The things that a question names; if it names nothing at all, those of the turn before."""
    understanding = view.understanding
    for thing in understanding.named:
        if isinstance(thing.everything.plan.body, Profile):
            yield thing.everything.plan.body.members
    if not understanding.named and not any(each.kind == "class" for each in understanding.mentions):
        yield from (plan for plan in [_earlier_plan(view)] if plan is not None)


def _earlier_plan(view: TurnView) -> Select | None:
    plan = view.conversation[-1].plan if view.conversation else None
    return plan.body if plan is not None and isinstance(plan.body, Select) else None


def _by_state(view: TurnView, graph: SchemaGraph) -> Iterator[Select]:
    """ "Which came back late?", "is it back yet?": the events of the likeliest reading, of the things that are meant or
    of any class that were done late, early or in time, or are not done; or their number, or what they lead to."""
    first = next(iter(view.understanding.readings), None)
    select = asked_select(first.plan.body) if first is not None else None
    plain = () if select is None else (each for each in select.filters if each.op not in ("known", "unknown"))
    likeliest = (replace(select, filters=tuple(plain)),) if select is not None else ()
    text, state = _text(view), stated_state(_text(view))
    bases = chain(likeliest, _bases(view), _classes(graph)) if state else ()
    states = (by_state(events, state, graph) for base in bases for events in events_of(base, graph))
    found = next((each for each in states if each is not None), None)
    if found is None:
        return
    question, shape = analyse_question(text), requested_shape(text)
    is_number = any(cue.kind == "count" for cue in question.cues)
    if is_number or question.tokens[0].norm in WORDS["asking_yes_no"]:
        yield replace(found, answers=(Aggregate("count", Itself(variable_of(found.answers[0]))),))
    asked = {each.target for each in view.understanding.mentions if each.kind == "class"}
    for each in reshape(found, shape, text, graph) if shape in ("person", "object", "thing") else ():
        if each != found and (shape != "thing" or asked & set(each.variables[-1].classes)):
            yield each
    yield found


def _classes(graph: SchemaGraph) -> Iterator[Select]:
    """The things of each class, the largest first."""
    for node in sorted(graph.base_nodes, key=lambda each: -each.count):
        variable = Variable(node.variable, node.classes, node.without)
        yield Select((Itself(variable.name),), (variable,))


def _happenings(view: TurnView, graph: SchemaGraph) -> Iterator[Select]:
    """ "What happened in March 2025?": the events of the largest class in the period."""
    tokens = tokenize(_text(view))
    if word_list("nearest", "happening").isdisjoint(each.norm for each in tokens):
        return
    years = (year_bounds(int(each.norm)) for each in tokens if YEAR.fullmatch(each.norm))
    period = next(chain(((p.first, p.after) for p in find_periods(_text(view))), years), None)
    events = next((found for each in _classes(graph) for found in events_of(each, graph)), None)
    if period and events is not None:
        date = start_date(events.variables[0], graph)
        yield replace(events, filters=(Filter(date, ">=", period[0]), Filter(date, "<", period[1])))


def _verb_as_link(view: TurnView, graph: SchemaGraph) -> Iterator[Reading]:
    """ "Which lakes were never sounded": the class of a denied question that is left with one unknown word, without the
    things that lead to it."""
    first = next(iter(view.understanding.readings), None)
    select = first.plan.body if first is not None else None
    question = analyse_question(view.standalone)
    denials = [cue for cue in question.cues if cue.kind in ("negation", "missing")]
    negated = {token.norm for cue in denials for token in question.tokens[cue.start : cue.end]}
    if first is None or not isinstance(select, Select) or not negated or len(select.variables) > 1:
        return
    left = {token.norm for text in first.unused for token in tokenize(text)} - negated
    if len(left) != 1 or not isinstance(select.answers[0], Itself) or select.filters or select.order:
        return
    doubts = tuple(Doubt("coverage", word) for word in left)
    for step in event_steps(select.variables[0], graph):
        yield _reading(without_link(select, step, graph), graph, chance=REPAIR_PROBABILITY, doubts=doubts)


def _other_things(view: TurnView) -> Iterator[Select]:
    """ "And the others?": what the turn before gave of one thing, of all others of its class; of several things those
    without what it gave of the rest."""
    words = {token.norm for token in tokenize(view.question)}
    earlier, other = _earlier_plan(view), word_list("nearest", "others")
    if earlier is None or not words & other or words - other - function_words():
        return
    variable = next(each for each in earlier.variables if each.name == variable_of(earlier.answers[0]))
    value = earlier.answers[-1]
    if len(variable.keys) > 1 and isinstance(value, Attribute):
        unknown = Filter(value, "unknown")
        yield replace(earlier, answers=(Itself(variable.name),), filters=(*earlier.filters, unknown))
    elif len(variable.keys) == 1:
        every = replace(variable, keys=(), label="")
        variables = tuple(every if each == variable else each for each in earlier.variables)
        label = f"(1 {EARLIER_TURN_MARK}"
        yield _beside_things(exclude_keys(replace(earlier, variables=variables), every, variable.keys, label))


def _beside_things(select: Select) -> Select:
    """The plan with its things beside the property that it gives."""
    value = select.answers[0]
    is_value = isinstance(value, Attribute) and len(select.answers) == 1
    return replace(select, answers=(Itself(variable_of(value)), value), paired=True) if is_value else select


def _of_earlier_things(select: Select, view: TurnView) -> Iterator[Select]:
    """The plan over the things of an earlier turn, if words of the question refer to some."""
    words = {token.norm for token in tokenize(view.question)[1:]}
    if not words & word_list("nearest", "referring"):
        return
    for variable in select.variables:
        keys = () if variable.keys else _earlier_keys(variable, view)
        if keys:
            those = replace(variable, keys=keys, label=f"({len(keys)} {EARLIER_TURN_MARK}")
            yield replace(select, variables=tuple(those if each == variable else each for each in select.variables))


def _earlier_keys(variable: Variable, view: TurnView) -> tuple[str, ...]:
    """The things of a class that the last turn with some gave, if it gave no more than are known."""
    for turn in reversed(view.conversation):
        body = turn.plan.body if turn.plan is not None else None
        if turn.keys and not turn.cut and isinstance(body, Select):
            own = next(each for each in body.variables if each.name == variable_of(body.answers[0]))
            return turn.keys if own.classes == variable.classes else ()
    return ()


def _ranked_earlier(view: TurnView, graph: SchemaGraph) -> Iterator[Select]:
    """ "Which one has the most?", after numbers of several things: the first of these by their number."""
    earlier = _earlier_plan(view)
    cues = [cue for cue in analyse_question(view.standalone).cues if cue.kind in RANKING_CUES]
    is_named = any(each.kind in ("class", "predicate") for each in view.understanding.mentions)
    if earlier is None or not cues or is_named or earlier.limit or len(earlier.answers) != 2:
        return
    thing, number = earlier.answers
    is_number = isinstance(number, Aggregate) or is_measured_number(graph, getattr(number, "predicate", ""))
    if isinstance(thing, Itself) and not isinstance(number, Itself) and is_number:
        first = replace(earlier, order=Order(number, cues[-1].ranking[0] == "up"), limit=1)
        yield from (first, *_opposite_orders(first, view))


def _per_thing(select: Select, reading: Reading, view: TurnView, graph: SchemaGraph) -> Iterator[Select]:
    """ "What did each stall make?": the amounts of what leads to the things, in place of the things alone."""
    cues = {cue.kind for cue in analyse_question(view.standalone).cues}
    is_named = any(each.kind == "predicate" for each in view.understanding.mentions)
    is_value = select.answers[0].kind == "attribute" and "sum" in cues
    if "group" not in cues or not (is_value or (reading.doubts and not is_named)):
        return
    if len(select.variables) > 1 or isinstance(select.answers[0], Aggregate):
        return
    for step in event_steps(select.variables[0], graph)[:MOST_LINKS]:
        yield from totals_per_thing(select, step, graph)


def _most_events(select: Select, view: TurnView, graph: SchemaGraph) -> Iterator[Select]:
    """ "Which club hired more?": the one of the things of a plan with the most events, if it ranks them by nothing."""
    question = analyse_question(view.question)
    ends = [c for c in question.cues if c.end == len(question.tokens) and c.kind in ("compare", "most")]
    if ends and isinstance(select.answers[0], Itself) and not (select.order or select.group):
        for events in events_of(select, graph):
            counted = variable_of(events.answers[0])
            plan = select if counted in {each.name for each in select.variables} else events
            yield most_of(replace(plan, answers=select.answers[:1]), counted, ends[0].value not in ("down", "<"))


def _opposite_orders(select: Select, view: TurnView) -> Iterator[Select]:
    """The plan in the opposite order if "best" or "worst" does not say which end is meant."""
    order = select.order
    cues = (cue for cue in analyse_question(view.standalone).cues if cue.kind in RANKING_CUES)
    is_judged = any(word_list("nearest", "judging") & set(cue.ranking[1]) for cue in cues)
    if order is not None and select.limit and is_judged:
        yield replace(select, order=replace(order, descending=not order.descending))


def _first_persons(view: TurnView, graph: SchemaGraph) -> Iterator[Select]:
    """ "Who was here the longest?": the persons with the earliest date, if nothing else is named."""
    if not view.understanding.readings and requested_shape(view.standalone) == "person" and _asks_duration(view):
        for node in agent_nodes(graph):
            of = Variable(graph.nodes[node].variable, graph.nodes[node].classes, graph.nodes[node].without)
            yield from by_first_date(Select((Itself(of.name),), (of,)), graph)


def _first_things(select: Select, view: TurnView, graph: SchemaGraph) -> Iterator[Select]:
    """ "Which boat did we have the longest?": the things with the earliest date."""
    if select.answers[0].kind == "itself" and _asks_duration(view):
        of = next(each for each in select.variables if each.name == variable_of(select.answers[0]))
        yield from by_first_date(Select(select.answers[:1], (of,)), graph)


def _asks_duration(view: TurnView) -> bool:
    cues = (cue for cue in analyse_question(view.standalone).cues if cue.kind in RANKING_CUES)
    return any(word_list("nearest", "lasting") & set(cue.ranking[1]) for cue in cues)


def _own_measures(select: Select, reading: Reading, view: TurnView, graph: SchemaGraph) -> Iterator[Select]:
    """The things that have the most of what they are linked to, by their own numbers if the reading leaves out of what:
    those whose names begin like the words that are left out, else all."""
    order, answer = select.order, select.answers[0]
    if order is None or not isinstance(order.by, Aggregate) or not reading.unused or not isinstance(answer, Itself):
        return
    variable = next(each for each in select.variables if each.name == answer.variable)
    node = graph.node_of_classes.get((variable.classes, variable.without))
    own = [each for each in (graph.literals[node] if node is not None else ()) if is_measured_number(graph, each)]
    starts = {token.norm[:SHARED_LETTERS] for text in reading.unused for token in tokenize(text)}
    like = [each for each in own if starts & {word[:SHARED_LETTERS] for word in graph.words[each]}]
    for iri in like or own:
        by = Attribute(variable.name, iri)
        yield Select((answer,), (variable,), order=Order(by, order.descending), limit=select.limit)
