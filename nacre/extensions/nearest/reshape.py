"""Plans of the shape that a question asks for, over the things of another plan: Select + Shape -> Selects, the
likeliest first.

"Who" asks for persons, "when" for dates, "how often" for a number of events, "which month" for groups by date. A plan
that gives something else of the same things is one link or one property away.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import Literal

from nacre.access.likeness import gives_kind, is_of_kind, requested_kind
from nacre.extensions.nearest.facts import may_be_person
from nacre.language.data import WORDS, phrase_list, word_list
from nacre.language.thesaurus import function_words, is_noun_of_kind
from nacre.language.tokens import tokenize
from nacre.plans.selects import free_name, variable_of
from nacre.records.plan import (
    PERIODS,
    Aggregate,
    Attribute,
    Edge,
    Filter,
    Itself,
    Order,
    Select,
    Variable,
    aggregated_value,
)
from nacre.understanding.linking.adjectives import amounts, is_measured_number
from nacre.understanding.linking.schema_graph import SchemaGraph
from nacre.understanding.linking.schema_paths import PathStep
from nacre.understanding.question.analyse import analyse_question

# letters that a word and the name of a property share: "miles", "mileage" (given)
SHARED_LETTERS = 4

# where the question word stands at the latest: "and who ..." (given)
MAX_START = 1

Shape = Literal[
    "", "person", "date", "place", "number", "amount", "total", "times", "month", "quarter", "year", "thing", "object"
]


def requested_shape(text: str) -> Shape:
    """What a question asks for; "" if it may be anything. "How many" asks for a total, "how much" may ask for several.
    An object is what somebody did something with.

    >>> [requested_shape(f"{lead} it run?") for lead in ("who let", "how often did", "which month did", "what made")]
    ['person', 'times', 'month', 'thing']
    >>> requested_shape("how many hours did those take?"), requested_shape("how much did they cost?")
    ('total', 'amount')
    >>> [requested_shape(text) for text in ("what did they let?", "what was let?", "what is a yak?", "what rained?")]
    ['object', 'object', 'thing', 'thing']
    """
    question = analyse_question(text)
    tokens = question.tokens
    at = next((i for i, token in enumerate(tokens) if token.norm in WORDS["question_words"] | WORDS["who"]), None)
    if at is None or at > MAX_START:
        return ""
    if tokens[at].norm in WORDS["asking_kind"] and at + 1 < len(tokens) and tokens[at + 1].lemma in PERIODS:
        return tokens[at + 1].lemma  # type: ignore[return-value]
    counted = next((cue for cue in question.cues if cue.kind == "count" and cue.start == at), None)
    if counted and {token.norm for token in tokens[at : counted.end]} & word_list("nearest", "repeated"):
        return "times"
    if tokens[at].norm == "what" and {token.norm for token in tokens} & (WORDS["paying"] | WORDS["spending"]):
        return "amount"
    after = tokens[at + 1].norm if at + 1 < len(tokens) else ""
    if tokens[at].norm in WORDS["degree"] and after in WORDS["how_much"]:
        return "total" if counted else "amount"
    is_named = after in WORDS["being"] and any(token.norm in WORDS["article"] for token in tokens[at + 2 : at + 3])
    if tokens[at].norm == "what" and after in WORDS["asking_yes_no"] and not is_named:
        return "object"
    return requested_kind(text) or ("thing" if tokens[at].norm in WORDS["asking_kind"] else "")


def fits(select: Select, shape: Shape, graph: SchemaGraph) -> bool:
    """Whether a plan gives what a question asks for: of several things, what is counted or added up is one number."""
    answer = select.answers[0]
    of = aggregated_value(answer)
    variable = _variable(select, of.variable)
    if len(select.answers) > 1:
        return True
    if shape in PERIODS:
        by = select.order.by if select.order is not None else None
        counted = aggregated_value(by).variable if isinstance(by, Aggregate) else of.variable
        return isinstance(of, Attribute) and of.part == shape and counted == of.variable
    if shape == "person":
        return _is_agent(of, variable, graph)
    if shape == "date":
        return isinstance(of, Attribute) and graph.is_date(of.predicate)
    if shape == "place":
        return _is_place(of, variable, graph)
    if shape == "object":
        return not _is_agent(of, variable, graph)
    if shape == "times":
        is_event = not _is_agent(Itself(variable.name), variable, graph) and not _events(select, variable)
        return isinstance(answer, Aggregate) and is_event
    if shape == "amount" and (isinstance(of, Itself) or graph.about(of.predicate).role == "identifier"):
        return isinstance(answer, Aggregate)
    if shape in ("amount", "total") and isinstance(answer, Attribute) and not select.limit:
        return len(variable.keys) == 1 or not is_measured_number(graph, answer.predicate)
    return True


def reshape(select: Select, shape: Shape, text: str, graph: SchemaGraph) -> Iterator[Select]:
    """The plans that give what a question asks for of the things of a plan, or of what is linked to them."""
    if shape in PERIODS:
        yield from _by_period(select, shape, graph)
    elif shape == "object":
        yield from of_events(select, text, graph, persons=False)
    elif select.group or select.by:
        return
    elif shape == "person":
        yield from _persons(select, text, graph)
    elif shape == "date":
        yield from _dates(select, text, graph)
    elif shape == "place":
        yield from _places(select, graph)
    elif shape == "times":
        yield from _counts(select, graph)
    elif shape in ("amount", "total"):
        yield from _totals(select, text, graph)
    elif shape == "thing":
        yield from _linked_things(select, graph)


def is_direct(plan: Select, before: Select, shape: Shape) -> bool:
    """Whether a plan is the only sense of a question that another plan does not fit: it gives a property or a forward
    link of the same things, or counts those that the other one counts by."""
    new = [each for each in plan.edges if each not in before.edges]
    if shape == "times":
        return len(plan.variables) < len(before.variables)
    if shape in ("date", "place"):
        return not new
    if shape == "amount":
        # "how much do they cost" may ask for each
        return aggregated_value(plan.answers[0]) != before.answers[0]
    known = {each.name for each in before.variables}
    return all(each.subject in known for each in new)


def without_link(select: Select, step: PathStep, graph: SchemaGraph) -> Select:
    """The things of a plan that a link leads to or from nothing."""
    name, own = variable_of(select.answers[0]), f"not_{variable_of(select.answers[0])}"
    inner = Select((Itself(own),), (replace(_variable(select, name), name=own),))
    excluded = replace(_follow(inner, inner.variables[0], step, graph), answers=(Itself(own),))
    return replace(select, filters=(*select.filters, Filter(Itself(name), "in", excluded, negated=True)))


def totals_per_thing(select: Select, step: PathStep, graph: SchemaGraph) -> Iterator[Select]:
    """The total of each amount of what a link leads to, for each thing or value of a plan."""
    thing, found = select.answers[0], _follow(select, select.variables[0], step, graph)
    name = variable_of(found.answers[0])
    for iri in amounts(graph, step.target):
        answers = (thing, Aggregate("sum", Attribute(name, iri)))
        by, group = ((thing,), ()) if isinstance(thing, Attribute) else ((), (variable_of(thing),))
        yield replace(found, answers=answers, group=group, by=by)


def by_first_date(select: Select, graph: SchemaGraph) -> Iterator[Select]:
    """The first of the things of a plan by each of their dates."""
    name = variable_of(select.answers[0])
    for iri in _literals(_variable(select, name), graph):
        if graph.is_date(iri):
            yield replace(select, order=Order(Attribute(name, iri), False), limit=1)


# when something was done, compared with when it was due; None: not at all
STATES: dict[str, Literal[">", "<", "<="] | None] = {"unfinished": None, "late": ">", "early": "<", "punctual": "<="}


def stated_state(text: str) -> str:
    """Whether words say that something is not done, or was late, early or in time.

    >>> stated_state("is it still out?"), stated_state("which came back late"), stated_state("how many came back")
    ('unfinished', 'late', '')
    """
    words = f" {' '.join(token.norm for token in tokenize(text))} "
    return next((key for key in STATES if any(f" {each} " in words for each in phrase_list("nearest", key))), "")


def by_state(select: Select, state: str, graph: SchemaGraph) -> Select | None:
    """Those of the things of a plan that were done after they were due, before, in time, or that are not done yet; None
    if the things have no such dates."""
    name = variable_of(select.answers[0])
    variable = _variable(select, name)
    dates = [each for each in _literals(variable, graph) if graph.is_date(each)]
    due = [each for each in dates if _is_due(each, graph)]
    likely = {word for each in due for word in graph.words[each]} - function_words() - WORDS["generic"]
    likely |= WORDS["ended"]
    node, done = _node(variable, graph), [each for each in dates if each not in due]
    done = [each for each in done if likely & set(graph.words[each])] or done[: len(done) == len(due) == 1]
    op = STATES[state]
    if node is None or not done or (op and len(due) != 1):
        return None
    if not op and graph.value_counts[node, done[0]] == graph.nodes[node].count:
        return None
    date = Attribute(name, done[0])
    condition = Filter(date, op, Attribute(name, due[0])) if op else Filter(date, "unknown")
    return replace(select, filters=(*select.filters, condition))


def _is_due(date: str, graph: SchemaGraph) -> bool:
    return bool(word_list("nearest", "due") & set(graph.words[date]))


def agent_nodes(graph: SchemaGraph) -> list[int]:
    """The classes of named persons and bodies, or of what may be persons."""
    return [each.index for each in graph.base_nodes if each.named and _is_agent_class(each.index, graph)]


def event_steps(variable: Variable, graph: SchemaGraph) -> list[PathStep]:
    """The links to a thing from others, those from the largest classes first."""
    steps = [each for each in _steps(variable, graph) if not each.forward]
    return sorted(steps, key=lambda each: -graph.nodes[each.target].count)


def _variable(select: Select, name: str) -> Variable:
    return next(each for each in select.variables if each.name == name)


def _node(variable: Variable, graph: SchemaGraph) -> int | None:
    return graph.node_of_classes.get((variable.classes, variable.without))


def _literals(variable: Variable, graph: SchemaGraph) -> Sequence[str]:
    node = _node(variable, graph)
    known = graph.literals[node] if node is not None else ()
    return [each for each in known if not graph.about(each).hidden]


def _steps(variable: Variable, graph: SchemaGraph) -> list[PathStep]:
    """The links of a thing to others of a class."""
    node = _node(variable, graph)
    steps = graph.steps[node] if node is not None else ()
    return [each for each in steps if graph.nodes[each.target].classes and each.target not in graph.hidden_nodes]


def _subjects(select: Select) -> Iterator[tuple[Select, Variable]]:
    """The things of a plan to follow links from, with the plan: a single thing that it names alone, then those that it
    gives."""
    answer = _variable(select, variable_of(select.answers[0]))
    if not (select.filters or select.order):
        for variable in select.variables:
            if len(variable.keys) == 1 and variable != answer:
                yield Select((Itself(variable.name),), (variable,)), variable
    yield select, answer


def _follow(select: Select, variable: Variable, step: PathStep, graph: SchemaGraph) -> Select:
    """The plan that gives what a link of its things leads to."""
    ends = ("subject", "object") if step.forward else ("object", "subject")
    node = graph.nodes[step.target]
    for edge in select.edges:
        if edge.predicate == step.predicate and getattr(edge, ends[0]) == variable.name:
            other = _variable(select, getattr(edge, ends[1]))
            if not other.keys and other.classes == node.classes:
                return replace(select, answers=(Itself(other.name),))
    name = free_name(node.variable, {each.name for each in select.variables})
    other = Variable(name, node.classes, node.without)
    edge = Edge(*((variable.name, step.predicate, name) if step.forward else (name, step.predicate, variable.name)))
    answers = (Itself(name),)
    return replace(select, answers=answers, variables=(*select.variables, other), edges=(*select.edges, edge))


def _is_agent(of: Attribute | Itself, variable: Variable, graph: SchemaGraph) -> bool:
    """Whether a value is somebody, or of somebody: a person, a body, or what is called after what it does."""
    if isinstance(of, Attribute) and is_of_kind(graph.about(of.predicate), "person", graph.schema):
        return True
    node = _node(variable, graph)
    return node is not None and _is_agent_class(node, graph)


def _is_agent_class(node: int, graph: SchemaGraph) -> bool:
    label = graph.nodes[node].label
    return node in graph.persons or is_noun_of_kind("bodies", label) or may_be_person(label)


def _is_place(of: Attribute | Itself, variable: Variable, graph: SchemaGraph) -> bool:
    if isinstance(of, Attribute):
        return is_of_kind(graph.about(of.predicate), "place", graph.schema)
    return any(is_noun_of_kind("places", graph.schema.class_of[iri].label) for iri in variable.classes)


def _persons(select: Select, text: str, graph: SchemaGraph) -> Iterator[Select]:
    question = analyse_question(text)
    most = [cue for cue in question.cues if cue.kind == "most"]
    after_most = {token.lemma for cue in most for token in question.tokens[cue.end : cue.end + 1]}
    for plan, variable in _subjects(select):
        node = _node(variable, graph)
        counted = node is not None and bool(after_most & {token.lemma for token in tokenize(graph.nodes[node].label)})
        # "who has the most boats": by their number, whatever else may be the most of a boat
        is_most = plan.order is None or plan.order.descending
        by_count = Order(Aggregate("count", Itself(variable.name)), is_most) if counted else None
        steps = [
            each
            for each in _steps(variable, graph)
            if _is_agent_class(each.target, graph) and (each.forward or plan is select)
        ]
        norms = {token.norm[:SHARED_LETTERS] for token in question.tokens}
        far = [each for each in steps if _verb_distance(graph.words[each.predicate], norms) > 1]
        if len(far) == len(steps):
            yield from of_events(plan, text, graph, persons=True)
        for step in sorted(steps, key=lambda each: (each.target not in graph.persons, not each.forward)):
            found = _follow(plan, variable, step, graph)
            if by_count:
                yield replace(found, group=(variable_of(found.answers[0]),), order=by_count, limit=1)
            by = plan.order.by if plan.order is not None else None
            if plan.order and most and isinstance(by, Attribute) and is_measured_number(graph, by.predicate):
                # "who took the most pictures": in all, and not at once
                order = replace(plan.order, by=Aggregate("sum", by))
                yield replace(found, group=(variable_of(found.answers[0]),), order=order)
            yield found
        for iri in _literals(variable, graph):
            if graph.about(iri).role == "fact" and is_of_kind(graph.about(iri), "person", graph.schema):
                value = Attribute(variable.name, iri)
                if by_count:
                    yield replace(plan, answers=(value,), by=(value,), order=by_count, limit=1)
                yield replace(plan, answers=(value,))


def of_events(select: Select, text: str, graph: SchemaGraph, *, persons: bool) -> Iterator[Select]:
    """Who took part in the events of a plan, or what else they lead to, or in the last of these or most of them; before
    things the events themselves, if they have conditions. First come links with a word of the question, those with
    another verb last ("group", and then "handed out by")."""
    norms = {token.norm for token in tokenize(text)}
    words = {norm[:SHARED_LETTERS] for norm in norms}
    is_most = any(cue.kind == "most" for cue in analyse_question(text).cues)
    for events in chain.from_iterable(events_of(plan, graph) for plan, _ in _subjects(select)):
        name = variable_of(events.answers[0])
        variable = _variable(events, name)
        bound = {each.predicate for each in events.edges if each.subject == name}
        if events.filters and not persons and not is_most:
            yield events
        steps = [each for each in _steps(variable, graph) if each.predicate not in bound]
        steps = [each for each in steps if _is_agent_class(each.target, graph) == persons]
        for step in sorted(steps, key=lambda each: _verb_distance(graph.words[each.predicate], words)):
            found = _follow(events, variable, step, graph)
            if norms & WORDS["the_last"]:
                found = replace(found, order=Order(start_date(variable, graph), True), limit=1)
            yield most_of(found, name) if is_most and not found.limit else found


def start_date(event: Variable, graph: SchemaGraph) -> Attribute:
    """When an event began: its date that is known of most, and not when it is due."""
    node = graph.node_of_classes[event.classes, event.without]
    dates = [each for each in _literals(event, graph) if graph.is_date(each)]
    return Attribute(event.name, min(dates, key=lambda each: (_is_due(each, graph), -graph.value_counts[node, each])))


def has_own_verb(select: Select, text: str, asked: Collection[str], graph: SchemaGraph) -> bool:
    """Whether the persons of a plan are those of a verb that the question does not have: made by, of "who took it"."""
    name, words = variable_of(select.answers[0]), {token.norm[:SHARED_LETTERS] for token in tokenize(text)}
    links = [each.predicate for each in select.edges if each.object == name]
    return bool(links) and all(each not in asked and _verb_distance(graph.words[each], words) > 1 for each in links)


def _verb_distance(link: Sequence[str], words: Collection[str]) -> int:
    """0 for a link with a word that begins like one of the question, 1 for one without a verb, else 2."""
    if any(each[:SHARED_LETTERS] in words for each in link):
        return 0
    return 2 if link[-1:] == ("by",) else 1


def _dates(select: Select, text: str, graph: SchemaGraph) -> Iterator[Select]:
    norms = {token.norm for token in analyse_question(text).tokens}
    is_last = bool(norms & WORDS["the_last"])
    for plan, variable in _subjects(select):
        linked = [_follow(plan, variable, step, graph) for step in event_steps(variable, graph)]
        own = [] if is_last and len(variable.keys) == 1 else [replace(plan, answers=(Itself(variable.name),))]
        for found in (*own, *linked):
            name = variable_of(found.answers[0])
            for iri in _literals(_variable(found, name), graph):
                if graph.is_date(iri):
                    value = Attribute(name, iri)
                    is_one = found in own and (found.order or len(variable.keys) == 1)
                    yield replace(found, answers=(value if is_one and not is_last else Aggregate("max", value),))


def _places(select: Select, graph: SchemaGraph) -> Iterator[Select]:
    for plan, variable in _subjects(select):
        for step in _steps(variable, graph):
            is_place = gives_kind(graph.about(step.predicate), False, "", "place", graph.schema)
            # a hospital is where somebody was taken
            if step.forward and (is_place or is_noun_of_kind("bodies", graph.nodes[step.target].label)):
                yield _follow(plan, variable, step, graph)
        for iri in _literals(variable, graph):
            if is_of_kind(graph.about(iri), "place", graph.schema):
                yield replace(plan, answers=(Attribute(variable.name, iri),))


def _events(select: Select, variable: Variable) -> list[str]:
    """The unnamed things that have a link to those that a plan counts: these are counted if events are meant."""
    unnamed = {each.name for each in select.variables if not each.keys and each.classes}
    return [each.subject for each in select.edges if each.object == variable.name and each.subject in unnamed]


def _counts(select: Select, graph: SchemaGraph) -> Iterator[Select]:
    plain = replace(select, order=None, limit=None)
    variable = _variable(plain, variable_of(plain.answers[0]))
    events = _events(plain, variable)
    for event in events:
        yield _without(replace(plain, answers=(Aggregate("count", Itself(event)),)), variable)
    if not variable.keys and not _is_agent(Itself(variable.name), variable, graph):
        yield replace(plain, answers=(Aggregate("count", Itself(variable.name)),))
    if events:
        return
    for named in (each for each in plain.variables if len(each.keys) == 1):
        for step in event_steps(named, graph):
            found = _follow(Select((Itself(named.name),), (named,)), named, step, graph)
            yield replace(found, answers=(Aggregate("count", Itself(variable_of(found.answers[0]))),))


def _without(select: Select, variable: Variable) -> Select:
    """The plan without a variable that nothing restricts."""
    edges = tuple(each for each in select.edges if variable.name not in (each.subject, each.object))
    restricted = {variable_of(each.left) for each in select.filters}
    restricted |= {each.right.variable for each in select.filters if isinstance(each.right, Attribute)}
    if variable.keys or variable.name in restricted or len(select.edges) - len(edges) != 1:
        return select
    return replace(select, variables=tuple(each for each in select.variables if each != variable), edges=edges)


def _totals(select: Select, text: str, graph: SchemaGraph) -> Iterator[Select]:
    answer = select.answers[0]
    plain = replace(select, order=None, limit=None)
    if isinstance(answer, Attribute) and is_measured_number(graph, answer.predicate):
        yield replace(plain, answers=(Aggregate("sum", answer),))
        return
    question = analyse_question(text)
    is_paid = {token.norm for token in question.tokens} & (WORDS["paying"] | WORDS["spending"])
    if isinstance(answer, Aggregate) or not (is_paid or any(cue.kind == "sum" for cue in question.cues)):
        return
    variable = _variable(plain, answer.variable)
    linked = [_follow(plain, variable, step, graph) for step in event_steps(variable, graph)]
    for found in (plain, *(list(events_of(plain, graph)) or linked)):
        name = variable_of(found.answers[0])
        node = _node(_variable(found, name), graph)
        for iri in amounts(graph, node) if node is not None else ():
            yield replace(found, answers=(Aggregate("sum", Attribute(name, iri)),))


def _by_period(select: Select, part: Shape, graph: SchemaGraph) -> Iterator[Select]:
    """The period with the most things that a plan gives or counts, by a date of these."""
    by = select.order.by if select.order is not None else None
    counted = by if isinstance(by, Aggregate) else select.answers[0]
    variable = _variable(select, aggregated_value(counted).variable)
    own = [each for each in _literals(variable, graph) if graph.is_date(each)]
    descending = select.order.descending if select.order is not None else True
    grouping = {each.variable for each in select.by} - {variable.name}
    for iri in own:
        filters = []
        for each in select.filters:
            left = each.left
            moved = isinstance(left, Attribute) and left.variable in grouping and graph.is_date(left.predicate)
            filters.append(replace(each, left=Attribute(variable.name, iri)) if moved else each)
        value = Attribute(variable.name, iri, part)  # type: ignore[arg-type]
        order = Order(Aggregate("count", Itself(variable.name)), descending)
        found = replace(
            select, answers=(value,), filters=tuple(filters), group=(), by=(value,), order=order, limit=1, offset=0
        )
        for name in grouping:
            found = _without(found, _variable(found, name))
        yield found


def most_linked(events: Select, graph: SchemaGraph) -> Iterator[Select]:
    """What most of the things of a plan lead to, of each class with names."""
    variable = _variable(events, variable_of(events.answers[0]))
    for step in _steps(variable, graph):
        if step.forward and graph.nodes[step.target].named:
            yield most_of(_follow(events, variable, step, graph), variable.name)


def most_of(select: Select, counted: str, is_most: bool = True) -> Select:
    """The thing of a plan with the most of another variable, or the fewest."""
    order = Order(Aggregate("count", Itself(counted)), is_most)
    return replace(select, group=(variable_of(select.answers[0]),), order=order, limit=1)


def events_of(select: Select, graph: SchemaGraph) -> Iterator[Select]:
    """The plans that give the dated things without a name of a plan, or that lead to its things, without an order."""
    plain = replace(select, order=None, limit=None, offset=0, group=(), by=())
    events = [each for each in plain.variables if _is_event(each, graph)]
    for each in events:
        found = replace(plain, answers=(Itself(each.name),))
        for other in plain.variables:
            found = _without(found, other) if other.name != each.name else found
        yield found
    for variable in () if events else plain.variables:
        for step in event_steps(variable, graph):
            linked = _follow(plain, variable, step, graph)
            if _is_event(_variable(linked, variable_of(linked.answers[0])), graph):
                yield linked


def _is_event(variable: Variable, graph: SchemaGraph) -> bool:
    """Whether a thing is an entry of a log: it has a date and leads to others, and nothing leads to it."""
    steps = _steps(variable, graph)
    is_dated = any(graph.is_date(each) for each in _literals(variable, graph))
    return is_dated and bool(steps) and all(each.forward for each in steps)


def _linked_things(select: Select, graph: SchemaGraph) -> Iterator[Select]:
    plain = replace(select, order=None, limit=None)
    variable = _variable(plain, variable_of(plain.answers[0]))
    used = {each.predicate for each in plain.edges}
    for step in _steps(variable, graph):
        if step.predicate not in used and graph.nodes[step.target].named:
            yield _follow(plain, variable, step, graph)
