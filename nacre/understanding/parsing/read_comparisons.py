"""Read comparisons and choices: Question + Links -> Candidates."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Literal, NamedTuple

from nacre.language.data import WORDS
from nacre.language.thesaurus import english_data, gradable_adjective, unit_words
from nacre.records.plan import Aggregate, Attribute, Compute, Edge, Itself, Order, Select, Variable, aggregated_value
from nacre.understanding.linking.adjectives import measured_properties
from nacre.understanding.linking.link_mentions import LinkingIndex
from nacre.understanding.linking.schema_graph import SchemaGraph
from nacre.understanding.linking.schema_paths import PathStep, SchemaNode
from nacre.understanding.parsing.lower import lower_derivation, member_link
from nacre.understanding.parsing.read_calculations import TIME_UNITS
from nacre.understanding.parsing.state import COMPARED_RULE, Candidate, whole_reading, without_overlaps
from nacre.understanding.question.records import (
    Aggregation,
    Condition,
    Cue,
    Derivation,
    Link,
    Ordering,
    Question,
    Ref,
    Target,
    covered_mask,
    token_mask,
)

MIN_NAME_SCORE = 0.5  # a name is meant from this score on
MAX_OPTIONS = 2  # how many things of one name, and how many measures, are tried
DEFAULT_RANKING = (">", ("price", "cost"))  # what is compared by "how much more" without an adjective
BASE_PRIOR = 2.0  # the prior of a reading without its names


class _Comparison(NamedTuple):
    """The operator, measure and unit of a comparison of two things, and which words say so."""

    than: int
    operator: str
    concepts: tuple[str, ...]
    asks_yes_no: bool
    is_average: bool
    covered: int
    unit: str


class _MeasurePair(NamedTuple):
    """The property of either side; `reverse`: the adjective means the lower value."""

    left: Ref
    right: Ref
    reverse: bool
    cost: float
    covered: int


def read_comparisons(question: Question, links: Sequence[Link], index: LinkingIndex) -> Iterator[Candidate]:
    """Yield readings of "is A longer than B", "how much more is A than B", "the difference in age between A and B"."""
    names = [link for link in links if link.kind == "entity" and link.score >= MIN_NAME_SCORE]
    comparison = _comparison(question) or _difference(question, names)
    if comparison is None:
        return
    for before in _links_of_longest_name([name for name in names if name.end <= comparison.than]):
        for after in _links_of_longest_name([name for name in names if name.start > comparison.than]):
            yield from _compared_readings(before, after, comparison, question, links, index.graph)


def is_comparison(question: Question) -> bool:
    """Whether a question can only compare two things: "how many more ...", "is the average ... than the average"."""
    words = question.tokens
    at = next((i for i, token in enumerate(words[:2]) if token.norm in WORDS["degree"]), 2)
    asks_degree = at == 0 or (at == 1 and words[0].norm in WORDS["asking_after"])
    # "how much longer", "how many years older", "by how many metres is A longer"
    last = len(words) if at == 1 else 3 if _unit_at(question, at + 2) else 2
    compares = any(
        cue.kind in ("compare", "compared", "comparative") and 0 < cue.start <= last for cue in question.cues
    )
    than = next((i for i, token in enumerate(words) if token.norm in WORDS["than"]), 0)
    sides = {cue.start < than for cue in question.cues if cue.kind == "avg"}
    return (asks_degree and compares) or len(sides) == 2


def _unit_at(question: Question, place: int) -> str:
    """The word for a unit at a place of a question: "years"; "" for another word."""
    token = question.tokens[place] if place < len(question.tokens) else None
    return token.lemma if token and (token.lemma in TIME_UNITS or {token.norm, token.lemma} & unit_words()) else ""


def _comparison(question: Question) -> _Comparison | None:
    words = question.tokens
    than = next((i for i, token in enumerate(words) if token.norm in WORDS["than"]), None)
    if than is None:
        return None
    asks_yes_no = words[0].norm in WORDS["asking_yes_no"]
    degree = next((i for i, token in enumerate(words[:than]) if token.norm in WORDS["degree"]), None)
    if not asks_yes_no and degree is None:
        return None
    unit = "" if degree is None else _unit_at(question, degree + 2)
    comparatives = (cue for cue in question.cues if cue.kind in ("comparative", "compared") and cue.end <= than + 1)
    comparative: Cue | None = next(comparatives, None)
    operator, concepts = comparative.ranking if comparative is not None else DEFAULT_RANKING
    averages = [cue for cue in question.cues if cue.kind == "avg"]
    covered = token_mask(than, than + 1) | (token_mask(degree or 0, degree + 3) if degree is not None and unit else 0)
    for cue in (*averages, *([comparative] if comparative is not None else [])):
        covered |= cue.covered
    return _Comparison(than, operator, concepts, asks_yes_no, bool(averages), covered, unit)


def _difference(question: Question, names: Sequence[Link]) -> _Comparison | None:
    """ "The difference in height between A and B": the property is named."""
    words = question.tokens
    apart = next((i for i, token in enumerate(words) if token.lemma in WORDS["apart"]), None)
    joints = (i for i, token in enumerate(words) if token.norm in WORDS["joining"])
    between = (i for i in joints if any(x.end == i for x in names) and any(i < x.start <= i + 2 for x in names))
    joint = next(between, None)
    if apart is None or joint is None:
        return None
    return _Comparison(joint, ">", (), False, False, token_mask(apart, apart + 1), "")


def _links_of_longest_name(links: Sequence[Link]) -> list[Link]:
    best = max(links, key=lambda link: (link.end - link.start, link.score, -link.start), default=None)
    if best is None:
        return []
    return [link for link in links if link.covered == best.covered and link.score >= best.score][:MAX_OPTIONS]


def _compared_readings(
    before: Link, after: Link, comparison: _Comparison, question: Question, links: Sequence[Link], graph: SchemaGraph
) -> Iterator[Candidate]:
    own = [link.refs[0].node for link in (before, after)]
    # the average of a thing is that of the things that belong to it
    steps = [member_link(graph, node) if comparison.is_average else None for node in own]
    nodes = [step.target if step is not None else node for step, node in zip(steps, own, strict=True)]
    for pair in _measure_pairs(nodes, links, comparison, graph):
        # of dates the earliest: they have no average
        are_dates = all(graph.is_date(each.predicate) for each in (pair.left, pair.right))
        function: Literal["avg", "min"] = "min" if are_dates else "avg"
        left = _side(graph, before, pair.left, steps[0], function)
        right = _side(graph, after, pair.right, steps[1], function)
        if left is None or right is None:
            continue
        is_more = (comparison.operator == ">") != pair.reverse
        if comparison.asks_yes_no:
            body = Compute(">" if is_more else "<", left, right)
        else:
            operation = TIME_UNITS.get(comparison.unit, "years") if are_dates else "-"
            body = Compute(operation, left, right) if is_more else Compute(operation, right, left)
        covered = comparison.covered | before.covered | after.covered | pair.covered
        prior = BASE_PRIOR + _worth(before, question) + _worth(after, question) - pair.cost
        yield whole_reading(body, Target(pair.left, function), covered, prior, (COMPARED_RULE,), (before, after))


def _worth(link: Link, question: Question) -> float:
    """What a name adds to the prior: as in the parser, its score for each content word."""
    words = sum(1 for i in range(link.start, link.end) if link.covered >> i & 1 and i not in question.stopwords)
    return link.score * max(1, words)


def _measure_pairs(
    nodes: Sequence[int], links: Sequence[Link], comparison: _Comparison, graph: SchemaGraph
) -> Iterator[_MeasurePair]:
    """The property of either side: one that the question names, else what the adjective measures."""
    numeric = [
        link
        for link in links
        if link.kind == "property" and link.refs[0].predicate and graph.is_numeric(link.refs[0].predicate)
    ]
    named = {link.refs[0].predicate: link for link in sorted(numeric, key=lambda link: link.score)}
    for predicate, link in named.items():
        if link.end <= comparison.than and all(predicate in graph.literals[node] for node in nodes):
            left, right = (Ref(node, predicate) for node in nodes)
            yield _MeasurePair(left, right, False, 1 - link.score, link.covered)
    if not comparison.concepts:
        return
    first, second = (measured_properties(graph, node, comparison.concepts)[:MAX_OPTIONS] for node in nodes)
    for left, reverse, cost in first:
        for right, _, other_cost in second:
            if right.predicate == left.predicate and right.predicate not in named:
                yield _MeasurePair(left, right, reverse, cost + other_cost, 0)


def _side(
    graph: SchemaGraph, link: Link, ref: Ref, step: PathStep | None, function: Literal["avg", "min"]
) -> Select | None:
    """A number of a property over the things of one side, or over what belongs to them by a step. None if the owner of
    the property is further than a step away."""
    node, owner = graph.nodes[link.refs[0].node], "thing"
    variables = [Variable("thing", node.classes, node.without, link.keys, link.label)]
    edges: list[Edge] = []
    if step is not None:
        node, owner = graph.nodes[step.target], "member"
        variables.append(Variable(owner, node.classes, node.without))
        edges.append(Edge(owner, step.predicate, "thing"))
    if ref.node != node.index:
        paths = graph.cheapest_paths(node.index, ref.node)
        if not paths or len(paths[0][1]) != 1:
            return None
        (last,) = paths[0][1]
        before, owner, end = owner, "owner", graph.nodes[ref.node]
        variables.append(Variable(owner, end.classes, end.without))
        edges.append(Edge(before, last.predicate, owner) if last.forward else Edge(owner, last.predicate, before))
    return Select((Aggregate(function, Attribute(owner, ref.predicate)),), tuple(variables), tuple(edges))


PRIOR = 4.0  # the prior of such a reading: it accounts for every word
COUNTED_SIDES_RULE = "counted apart"  # the rule by which each side is read as a question, all of whose words are used
SUMMED_SIDES_RULE = "summed apart"  # the same by which amounts are added up


class ReadNumber(NamedTuple):
    """The plan of a question for one number, and its words that nothing in the graph is called."""

    plan: Select
    unknown: frozenset[str]


NumberReader = Callable[[str], ReadNumber | None]


def read_more_than(question: Question, links: Sequence[Link], read_number: NumberReader) -> Iterator[Candidate]:
    """Yield the reading of "has Ann made more jars than Bo": how many has Ann made, and how many has Bo made; and those
    of "did we spend more on hay or on straw", "who made more jars, Ann or Bo" and "more in 2023 than in 2024"."""
    words = question.tokens
    more = next((i for i, token in enumerate(words) if token.norm in WORDS["more"] | WORDS["fewer"]), 0)
    than = next((i for i, token in enumerate(words) if i > more and token.norm in WORDS["than"] | WORDS["either"]), 0)
    is_choice = bool(than) and words[than].norm in WORDS["either"]
    asks_which = words[0].norm in WORDS["asking_which"] | WORDS["asking_where"]
    if not (more and than) or not (words[0].norm in WORDS["asking_yes_no"] or (asks_which and is_choice)):
        return
    first = None if asks_which else _longest_name(links, 1, more)
    first = first or _longest_name([x for x in links if x.end == than], more, than)
    first = first or _longest_name(links, more, than) or _year(question, more, than)
    second = _longest_name(links, than + 1, len(words)) or _year(question, than, len(words))
    if first is not None and second is not None and _is_year(second):
        first = _year(question, more, than)
    if first is None or second is None:
        return
    sides = [read_number(each) for each in _questions_of_sides(question, first, second, more, than)]
    left, right = (None if side is None else side.plan for side in sides)
    if left is None or right is None or _size(left) != _size(right) or left == right:
        # a name may be read as a word: "more jars than IT"
        return
    is_fewer = words[more].norm in WORDS["fewer"]
    body = _larger_value(left, right, not is_fewer) if is_choice else Compute("<" if is_fewer else ">", left, right)
    counted = [link for link in links if link.kind == "class" and more < link.start and link.end <= than][:1]
    is_total = isinstance(left.answers[0], Aggregate)
    function: Aggregation = "count" if isinstance(aggregated_value(left.answers[0]), Itself) else "sum"
    rules = (COUNTED_SIDES_RULE if function == "count" else SUMMED_SIDES_RULE,) if is_total else ()
    target = Target((counted or [x for x in (first, second) if x.refs] or links)[0].refs[0].thing, function)
    unknown = frozenset[str]().union(*(side.unknown for side in sides if side is not None))
    covered = sum(1 << i for i, token in enumerate(words) if token.norm not in unknown)
    if body is not None:
        named = tuple(x for x in (first, second, *counted) if x.refs)
        yield whole_reading(body, target, covered, PRIOR, (COMPARED_RULE, *rules), named)


def _year(question: Question, start: int, end: int) -> Link | None:
    """A year as a side of a comparison."""
    year = next((i for i in range(start, end) if re.fullmatch(r"[12]\d{3}", question.tokens[i].norm)), None)
    return None if year is None else Link(year, year + 1, "value", (), 1.0, 1 << year)


def _is_year(link: Link) -> bool:
    return not link.refs


def _larger_value(left: Select, right: Select, descending: bool) -> Select | None:
    """The one of two values of a property for which a number is larger: "more on hay or on straw"."""
    number = left.answers[0]
    if not isinstance(number, Aggregate):
        return None
    differing = [(one, other) for one, other in zip(left.filters, right.filters, strict=False) if one != other]
    for one, other in differing if len(differing) == 1 else ():
        values = tuple(each.right for each in (one, other) if isinstance(each.right, str))
        if len(values) == 2 and isinstance(one.left, Attribute) and replace(one, right=other.right) == other:
            both = replace(one, op="in", right=values)
            filters = tuple(both if each == one else each for each in left.filters)
            order = Order(number, descending)
            return replace(left, answers=(one.left,), by=(one.left,), filters=filters, order=order, limit=1)
    return None


def _questions_of_sides(question: Question, first: Link, second: Link, more: int, than: int) -> list[str]:
    """ "How many jars has Ann made", "how many jars has Bo made"; "how much did we spend on hay", "... on straw"."""
    text, words = question.text, question.tokens

    def part(start: int, end: int) -> str:
        return text[words[start].start : words[end - 1].end] if start < end else ""

    rest = part(second.end, len(words))
    if first.start < more:
        things, before, after = part(more + 1, than), part(1, first.start), part(first.end, more)
        sides = [part(each.start, each.end) for each in (first, second)]
        return [" ".join(f"how many {things} {words[0].text} {before} {x} {after} {rest}".split()) for x in sides]
    # both sides begin with one preposition: "on", "from the"
    at = than + 1 if words[than + 1].norm not in WORDS["more"] else than + 2
    preposition = words[at].norm if at < second.start else ""
    start = max((i for i in range(more + 1, first.start) if words[i].norm == preposition), default=first.start)
    sides = [part(start, first.end), part(at if not _is_year(second) else second.start - 1, second.end)]
    things = part(more + 1, start)
    if words[0].norm in WORDS["asking_yes_no"]:
        lead = "" if words[0].norm in WORDS["being"] else part(0, more)
    else:
        # "which team has won", "who lost", "where are there"
        helping = (i for i in range(1, more) if words[i].norm in WORDS["asking_yes_no"])
        lead = part(next(helping, max(1, more - 1)), more)
    if words[0].norm in WORDS["being"] and not things:
        return [f"how many {side} {words[0].text} {rest}" for side in sides]
    if average := next((cue for cue in question.cues if cue.kind == "avg" and more < cue.start < than), None):
        things = f"{part(more + 1, average.start)} {part(average.end, start)}"
        return [f"what is the average {things} of {side} {rest}" for side in sides]
    is_money = more + 1 >= start or words[more + 1].lemma in WORDS["money"]
    asked = f"how much {lead} {part(more + 2, start)}" if is_money else f"how many {things} {lead}"
    return [f"{asked} {side} {rest}" for side in sides]


def _longest_name(links: Sequence[Link], start: int, end: int) -> Link | None:
    inside = [link for link in links if link.kind in ("entity", "value") and start <= link.start and link.end <= end]
    return max(inside, key=lambda link: (link.end - link.start, link.score), default=None)


def _size(select: Select) -> tuple[int, int]:
    """How many things a select names, and how many filters it has."""
    return sum(bool(variable.keys) for variable in select.variables), len(select.filters)


MIN_THINGS, MAX_MEASURES = 2, 2  # how many things there are to choose among, and how many measures are tried
SCORE_MARGIN = 0.05  # how much worse a property may be named than the best one

# cues that say by what things are compared, in the order in which they are tried
COMPARING_KINDS = ("compared", "compare", "superlative", "most")

_UP = frozenset((">", "up"))


class _Measure(NamedTuple):
    """What things are compared by: a property, or how many things are linked to them."""

    ref: Ref
    descending: bool
    is_count: bool
    cost: float
    covered: int
    hints: frozenset[str] = frozenset()


def read_choices(question: Question, links: Sequence[Link], index: LinkingIndex) -> Iterator[Candidate]:
    """Yield readings that choose among named things, which "or" parts and which are compared with nothing else."""
    if any(token.norm in WORDS["than"] for token in question.tokens):
        return
    entities = [x for x in links if x.kind == "entity" and (x.score >= MIN_NAME_SCORE or _is_only_one(x, question))]
    longest = sorted(entities, key=lambda each: (-each.covered.bit_count(), -each.score, each.refs))
    names = without_overlaps(longest)
    if len(names) < MIN_THINGS or not _are_alternatives(names, question):
        return
    cue = _comparing_cue(question, names)
    if cue is not None and not _restricts_place(names[0], cue, question):
        for things in _possible_things(names, entities, index.graph):
            yield from _choice_readings(things, cue, links, index.graph)


def _is_only_one(link: Link, question: Question) -> bool:
    """Whether a capitalised part of a name is beside "or", and one thing alone has it."""
    beside = (question.tokens[i].norm for i in (link.start - 1, link.end) if 0 <= i < len(question.tokens))
    is_capital = all(token.text[0].isupper() for token in question.tokens[link.start : link.end])
    return len(link.keys) == 1 and is_capital and any(word in WORDS["either"] for word in beside)


def _are_alternatives(names: Sequence[Link], question: Question) -> bool:
    """Whether only "or", commas and articles stand between the names; or "and", after "which of"."""
    words = question.tokens
    between = [range(one.end, other.start) for one, other in pairwise(names)]
    if not all(i in question.stopwords or words[i].norm in WORDS["either"] for gap in between for i in gap):
        return False
    before = [token.norm for token in words[: names[0].start] if token.norm not in WORDS["article"]]
    # "which of A and B", "of A and B, which"
    asks_which = any(token.norm in WORDS["asking_which"] for token in words)
    follows_which_of = asks_which and before[-1:] and before[-1] in WORDS["choosing_of"] and len(before) <= 2
    conjunctions = WORDS["either"] | WORDS["joining"] if follows_which_of else WORDS["either"]
    return any(words[i].norm in conjunctions for gap in between for i in gap)


def _comparing_cue(question: Question, names: Sequence[Link]) -> Cue | None:
    """What says which of the things is chosen: "longer", "more", "the highest", "first"."""
    covered = covered_mask(names)
    cues = [
        cue for kind in COMPARING_KINDS for cue in question.cues if cue.kind == kind and not covered >> cue.start & 1
    ]
    for i, token in enumerate(question.tokens):
        word = english_data()["at_end"].get(token.norm, "")
        adjective = gradable_adjective(token._replace(norm=word, lemma=word)) if word else None
        if adjective is not None and not covered >> i & 1:
            direction = "up" if adjective.descending else "down"
            cues.append(Cue(i, i + 1, "superlative", f"{direction} {'|'.join(adjective.concepts)}"))
    return next((cue for cue in cues if cue.kind != "compare" or cue.value in ("<", ">")), None)


def _restricts_place(first: Link, cue: Cue, question: Question) -> bool:
    """Whether the names only say where something else is: "the largest orchard in A or B". "More orchards in A or in B"
    asks for one of them."""
    if cue.kind in ("compared", "compare"):
        return False
    before = [i for i in range(first.start) if question.tokens[i].norm not in WORDS["article"]]
    if not before or question.tokens[before[-1]].norm not in WORDS["locating"]:
        return False
    return cue.start < first.start or any(i not in question.stopwords for i in before)


def _possible_things(names: Sequence[Link], entities: Sequence[Link], graph: SchemaGraph) -> Iterator[tuple[Link, ...]]:
    """The named things, of classes that belong together if several things share a name."""
    found: set[tuple[Link, ...]] = set()
    options = [[each for each in entities if (each.start, each.end) == (name.start, name.end)] for name in names]
    for first in options[0]:

        def distance(other: Link, first: Link = first) -> tuple[int, float]:
            node = _common_class((first, other), graph)
            return (node.count if node else sum(each.count for each in graph.nodes)), -other.score

        things = (first, *(min(others, key=distance) for others in options[1:]))
        if things not in found:
            found.add(things)
            yield things


def _tables(things: Sequence[Link], graph: SchemaGraph) -> frozenset[str]:
    return frozenset(table for thing in things for table in graph.nodes[thing.refs[0].node].relations)


def _common_class(things: Sequence[Link], graph: SchemaGraph) -> SchemaNode | None:
    tables = _tables(things, graph)
    classes = (node for node in graph.nodes if tables <= node.relations)
    return min(classes, key=lambda node: (node.count, node.index), default=None)


def _choice_readings(
    things: Sequence[Link], cue: Cue, links: Sequence[Link], graph: SchemaGraph
) -> Iterator[Candidate]:
    node = _common_class(things, graph)
    if node is None:
        return
    root, tables = Ref(node.index), _tables(things, graph)
    keys = tuple(dict.fromkeys(key for thing in things for key in thing.keys))
    among = Condition(root, "is", (), False, keys, " or ".join(thing.label for thing in things))
    nouns = (link for link in links if link.kind == "class" and graph.nodes[link.refs[0].node].relations & tables)
    covered = covered_mask((cue, *things, *nouns))
    for one, other in pairwise(sorted(things, key=lambda link: link.start)):
        covered |= token_mask(one.end, other.start)
    for measure in _measures(root, cue, covered, links, graph):
        derivation = Derivation(
            targets=(Target(root),),
            conditions=(among,),
            group=(root,) if measure.is_count else (),
            order=Ordering(measure.ref, measure.descending, "count" if measure.is_count else "", 1),
            nodes=(root,),
            covered=covered | measure.covered,
            prior=BASE_PRIOR + sum(thing.score for thing in things) - measure.cost,
            trace=("choice",),
            links=tuple(things),
            hints=measure.hints,
        )
        lowered = lower_derivation(derivation, graph)
        if lowered is not None:
            yield Candidate(derivation, lowered.body)


def _measures(root: Ref, cue: Cue, covered: int, links: Sequence[Link], graph: SchemaGraph) -> Iterator[_Measure]:
    """What is compared: a named number or date, a number of things, or what an adjective measures."""
    direction, _, concepts = cue.value.partition(" ")
    up = direction in _UP
    free = [link for link in links if not link.covered & covered]
    properties = sorted((link for link in free if link.kind == "property"), key=lambda link: (-link.score, link.start))
    stated = list(_stated_measures(root, up, properties, graph))
    if cue.kind == "compare":
        # "more" is no later date
        stated = [each for each in stated if not graph.is_date(each.ref.predicate)]
    counted = list(_counted_measures(root, up, free, properties, graph))
    yield from stated
    yield from counted
    if stated or counted or not concepts:
        return
    for ref, reverse, cost in measured_properties(graph, root.node, tuple(concepts.split("|")))[:MAX_MEASURES]:
        # how many people a town has does not say how big its clubs are
        if ref.node == root.node or not graph.nodes[ref.node].named:
            yield _Measure(ref, up != reverse, False, cost, 0)


def _stated_measures(root: Ref, up: bool, properties: Sequence[Link], graph: SchemaGraph) -> Iterator[_Measure]:
    ordered = [
        link
        for link in properties
        if (predicate := link.refs[0].predicate) and (graph.is_numeric(predicate) or graph.is_date(predicate))
    ]
    best = [link for link in ordered if link.score >= ordered[0].score - SCORE_MARGIN]
    for link in best[:MAX_MEASURES]:
        ref = link.refs[0]
        own = Ref(root.node, ref.predicate) if ref.predicate in graph.literals[root.node] else ref
        yield _Measure(own, up, False, 1 - link.score, link.covered)


def _counted_measures(
    root: Ref, up: bool, links: Sequence[Link], properties: Sequence[Link], graph: SchemaGraph
) -> Iterator[_Measure]:
    hints = frozenset(ref.via for link in properties for ref in link.refs if ref.via and link.score >= MIN_NAME_SCORE)
    own = graph.nodes[root.node].relations
    classes = [link for link in links if link.kind == "class" and not graph.nodes[link.refs[0].node].relations & own]
    for link in sorted(classes, key=lambda each: -each.score)[:MAX_MEASURES]:
        covered = link.covered | covered_mask(each for each in properties if any(ref.via in hints for ref in each.refs))
        yield _Measure(Ref(link.refs[0].node), up, True, 1 - link.score, covered, hints)
