"""Which readings stay, by what they answer: Candidates + Question -> the readings that are not ruled out."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple, TypeGuard

from nacre.language.data import WORDS, phrase_list, word_map
from nacre.language.thesaurus import function_words, nouns_of_kind
from nacre.language.tokens import Token, multilingual_property
from nacre.language.word_forms import is_plural
from nacre.plans.selects import selects_of
from nacre.records.plan import EXTREMES, MEANS, Attribute, Body, Itself, Select
from nacre.understanding.linking.link_mentions import find_expressions
from nacre.understanding.linking.schema_graph import SchemaGraph
from nacre.understanding.parsing.class_rules import OWN_COLUMN_RULE
from nacre.understanding.parsing.columns import STANDS_FOR_RULE
from nacre.understanding.parsing.entity_rules import IDENTIFIER_RULE, MEMBERS_RULE
from nacre.understanding.parsing.property_rules import AMOUNT_LEFT_RULE
from nacre.understanding.parsing.read_yes_no import is_keywords
from nacre.understanding.parsing.state import COMPARED_RULE, Candidate, ParseContext
from nacre.understanding.parsing.superlative_rules import TOTAL_RULE
from nacre.understanding.question.records import Derivation, Link, Question, Ref, Target


def drop_self_references(candidates: list[Candidate], context: ParseContext) -> list[Candidate]:
    """Return the readings that do not count each thing as one of itself, and do not ask for what is named.

    Yes/no questions and keywords may ask for what they name, others if there is no other reading, not for its number.
    """
    question = context.question
    kept = [c for c in candidates if not (_counts_itself(c.derivation) or _repeats_end(c.body, context.graph))]
    if is_keywords(question) or (question.tokens and question.tokens[0].norm in WORDS["asking_yes_no"]):
        return kept
    kept = [c for c in kept if not _targets_named_thing(c.derivation, counted=True)]
    kept = [c for c in kept if not _asks_for_given(c.derivation)] or kept
    return [c for c in kept if not _targets_named_thing(c.derivation, counted=False)] or kept


def _asks_for_given(derivation: Derivation) -> bool:
    """Whether the values that are asked for are those of the conditions: "the plots whose plot is P2"."""
    given = {c.ref for c in derivation.conditions if c.op == "=" and not c.negated and len(c.values) == 1}
    return bool(given) and all(target.ref in given and not target.function for target in derivation.targets)


def _counts_itself(derivation: Derivation) -> bool:
    """Whether each thing is counted as one of its own class: "clubs with the most clubs"."""
    targets, group = derivation.targets, derivation.group
    if any(each.function == "count" and not each.ref.predicate and each.ref in group for each in targets):
        return True
    things = {target.ref for target in targets if not target.function and not target.ref.predicate}
    counted = [each.ref for each in derivation.conditions if each.function == "count" and not each.ref.predicate]
    order = derivation.order
    if order is not None and order.function == "count" and not order.ref.predicate:
        counted.append(order.ref)
    return set(group) <= things and any(ref in things for ref in counted)


def _repeats_end(body: Body, graph: SchemaGraph) -> bool:
    """Whether two variables stand at the one end that a link has, or two values where a thing has one: the sailors of
    each sailor's rentals, the matches whose home team is Oslo and is Bergen."""
    for select in selects_of(body):
        classes = {variable.name: variable.classes for variable in select.variables if not variable.keys}
        ends: list[object] = [
            (edge.subject, edge.predicate, classes[edge.object])
            for edge in select.edges
            if edge.object in classes and graph.about(edge.predicate).functional
        ]
        equal = {(each.left, each.right) for each in select.filters if each.op == "=" and not each.negated}
        ends += [left for left, _ in equal if isinstance(left, Attribute) and graph.about(left.predicate).functional]
        if len(set(ends)) < len(ends):
            return True
    return False


def _targets_named_thing(derivation: Derivation, counted: bool) -> bool:
    """Whether a reading asks for a thing that the question names, or for its number: "which states are Texas"."""
    if "named so" in derivation.trace or IDENTIFIER_RULE in derivation.trace:
        return False
    named = {each.ref for each in derivation.conditions if each.op == "is" and len(each.keys) == 1 and not each.negated}
    if counted:
        # one thing, however many values it has
        refs: list[Ref] = [each.ref for each in derivation.targets if each.function == "count" and not each.distinct]
    else:
        refs = [each.ref for each in derivation.targets if not each.ref.predicate]
    return any(ref.thing in named for ref in refs)


def drop_computed_texts(candidates: list[Candidate], context: ParseContext) -> list[Candidate]:
    """Return the readings that add up and average numbers alone: dates have no sum, and texts no average."""
    return [each for each in candidates if not _computes_with_texts(each, context)]


def _computes_with_texts(candidate: Candidate, context: ParseContext) -> bool:
    d = candidate.derivation
    terms: list[tuple[str, Ref]] = [(target.function, target.ref) for target in d.targets]
    terms += [(condition.function, condition.ref) for condition in d.conditions]
    terms += [(d.order.function, d.order.ref)] if d.order is not None else []
    added = {ref.predicate for function, ref in terms if function == "sum" and ref.predicate}
    averaged = {ref.predicate for function, ref in terms if function in MEANS and ref.predicate}
    graph = context.graph
    return any(not graph.is_numeric(each) for each in added | averaged) or any(map(graph.is_date, added))


def drop_other_groups(candidates: list[Candidate], context: ParseContext) -> list[Candidate]:
    """ "The total amount of orders per client", where orders have a "total": drop the readings that group by something
    else than what the question names for it, or show a value of what they compute with, as if a group had only one."""
    ends = {cue.end for cue in context.question.cues if cue.kind == "group" and cue.value != "weak"}
    named = [(link.kind, ref) for link in context.links if link.start in ends for ref in link.refs]
    classes = {ref.node for kind, ref in named if kind == "class"}
    columns = {(ref.node, ref.predicate) for kind, ref in named if kind == "property"}

    def groups_by_other(group: Sequence[Ref]) -> bool:
        return bool(classes) and not any(r.node in classes or (r.node, r.predicate) in columns for r in group)

    def shows_part(derivation: Derivation) -> bool:
        computed = {target.ref.thing for target in derivation.targets if target.function}
        parts = computed - {ref.thing for ref in derivation.group}
        return any(target.ref.thing in parts and not target.function for target in derivation.targets)

    found = ((each, each.derivation) for each in candidates)
    return [each for each, d in found if not d.group or not (groups_by_other(d.group) or shows_part(d))]


def prefer_wider_classes(candidates: list[Candidate], context: ParseContext) -> list[Candidate]:
    """Drop the readings about an unnamed class if a wider one reads the same: "the tallest work" of all works."""
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
    """Drop the readings that list narrower categories of a category that sorts things: "all berry bushes"."""
    # the categories whose members a reading gives
    links = [x for c in candidates if MEMBERS_RULE in c.derivation.trace for x in c.derivation.links]
    named = {key for link in links if link.kind == "entity" for key in link.keys}
    nodes = context.graph.nodes
    return [
        each
        for each in candidates
        if MEMBERS_RULE in each.derivation.trace or named.isdisjoint(nodes[_root(each.derivation)].classes)
    ]


def _root(derivation: Derivation) -> int:
    """The class that a reading gives first."""
    return derivation.targets[0].ref.node


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
    """Drop the readings that rank things by their largest part, where others rank them by the sum of their parts."""
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


def prefer_summed_bounds(candidates: list[Candidate], context: ParseContext) -> list[Candidate]:
    """Drop the readings that compare each part with a total, where others compare the sum."""
    if not any(cue.kind == "sum" for cue in context.question.cues):
        return candidates
    summed = {c._replace(function="") for each in candidates for c in each.derivation.conditions if c.function == "sum"}
    return [each for each in candidates if not summed.intersection(each.derivation.conditions)]


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


def prefer_whole_sums(candidates: list[Candidate], context: ParseContext) -> list[Candidate]:
    """Drop the readings that list a total of each thing, where others give the total of all."""
    tokens, of_all_words = context.question.tokens, WORDS["altogether"]
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


def show_names_in_any_language(candidate: Candidate, context: ParseContext) -> Candidate:
    """Return things by their shown names, where a question says "name" and not in which language."""
    body, derivation = candidate.body, candidate.derivation
    if not isinstance(body, Select):
        return candidate
    inexact = {ref.predicate for x in derivation.links if x.kind == "property" and not x.exact for ref in x.refs}

    def is_any_name(term: object) -> TypeGuard[Attribute]:
        return isinstance(term, Attribute) and term.predicate in inexact and bool(multilingual_property(term.predicate))

    answers = dict.fromkeys(Itself(each.variable) if is_any_name(each) else each for each in body.answers)
    order = body.order
    if order is not None and is_any_name(order.by):
        order = replace(order, by=Itself(order.by.variable))
    return candidate._replace(body=replace(body, answers=tuple(answers), order=order))


MAX_NUMBERED = 8  # how many columns an answer with all numbered properties has at most


def answer_requested_property(candidate: Candidate, context: ParseContext) -> Candidate:
    """Return the values of a property that a question asks for and compares: "which amount is below 100"."""
    body, links = candidate.body, candidate.derivation.links
    start = _class_start(context.question, links, set())
    if not start or not isinstance(body, Select) or len(body.answers) != 1 or not isinstance(body.answers[0], Itself):
        return candidate
    if AMOUNT_LEFT_RULE in candidate.derivation.trace:
        return candidate
    named = {ref.predicate for x in links if x.start == start and x.exact and x.kind == "property" for ref in x.refs}
    # what equals one value is known: "which are on floor 1" asks for those on it
    compared = (f.left for f in body.filters if not (f.op == "=" and isinstance(f.right, str | float | int)))
    asked = next((each for each in compared if isinstance(each, Attribute) and each.predicate in named), None)
    is_own = asked is not None and asked.variable == body.answers[0].variable
    return candidate._replace(body=replace(body, answers=(asked,))) if asked is not None and is_own else candidate


def show_numbered_properties(candidate: Candidate, context: ParseContext) -> Candidate:
    """Return the values of all properties that differ by a number: "phone" of "Phone" and "Phone 2"."""

    def stem(predicate: str) -> str:
        return context.graph.about(predicate).label.rstrip(" 0123456789")

    body = candidate.body
    shown = body.answers[-1] if isinstance(body, Select) and not body.group and body.limit is None else None
    if not isinstance(body, Select) or not isinstance(shown, Attribute):
        return candidate
    links = [x for x in context.links if x.kind == "property" and x.exact and x.refs[0].predicate]
    own = [x for x in candidate.derivation.links if x in links and x.refs[0].predicate == shown.predicate]
    spans = {(x.start, x.end, x.refs[0].node) for x in own}
    beside = sorted({x.refs[0].predicate for x in links if (x.start, x.end, x.refs[0].node) in spans})
    beside = [each for each in beside if stem(each) == stem(shown.predicate)]
    if len(beside) < 2 or len(body.answers) + len(beside) > MAX_NUMBERED:
        return candidate
    answers = (*body.answers[:-1], *(replace(shown, predicate=each) for each in beside))
    return candidate._replace(body=replace(body, answers=tuple(dict.fromkeys(answers))))


class _RequestedClass(NamedTuple):
    """A class that is asked for; `exact` are the tokens at which it is named in full."""

    node: int
    exact: frozenset[int]


def prefer_requested_class(candidates: list[Candidate], context: ParseContext) -> list[Candidate]:
    """Return the readings that show things of the requested class, or something of them, before anything else."""
    requested = _requested_class(context.question, context.links, context.graph)
    if requested is None:
        return candidates
    return [each for each in candidates if _shows(each.derivation, requested, context.graph)]


def _requested_class(question: Question, links: Sequence[Link], graph: SchemaGraph) -> _RequestedClass | None:
    """The class that a question begins to ask for: "Which states ...", "the two largest states"."""
    ranking = {i for cue in question.cues if cue.kind in ("superlative", "most") for i in range(cue.start, cue.end)}
    start = _class_start(question, links, ranking)
    if not start:
        return None
    named = _names_at(start, question, links, ranking, graph)
    end = max((link.end for link in named), default=0)
    nodes = {x.refs[0].node if x.kind == "class" else None for x in named if x.end == end}
    is_owner = end and question.text[question.tokens[end - 1].end :][:1] in ("'", "’")
    only = next(iter(nodes)) if len(nodes) == 1 and not is_owner else None
    if only is None:
        return None
    exact = frozenset(link.start for link in named if link.exact and link.kind == "class")
    return _RequestedClass(only, exact)


def _class_start(question: Question, links: Sequence[Link], ranking: set[int]) -> int:
    """The first token of what a question begins to ask for; 0 if it does not begin so."""
    words = question.tokens
    if not words:
        return 0
    determiners = WORDS["article"] | WORDS["whose_own"]
    numbers = {i for number in question.numbers if not number.op for i in range(number.start, number.end)}
    # "in which towns"
    lead = int(len(words) > 1 and words[0].norm in WORDS["asking_after"] and words[1].norm in WORDS["asking_kind"])
    if words[lead].norm not in WORDS["asking_kind"]:
        # "the two largest states"
        first = next((i for i, word in enumerate(words) if i not in numbers and word.norm not in determiners), 0)
        if words[lead].norm not in determiners or not (first in ranking or numbers):
            return 0
    class_starts = {link.start for link in links if link.kind == "class"}
    start = next(
        (
            i
            for i in range(lead + 1, len(words))
            if i not in ranking | numbers
            and (words[i].norm not in function_words() or (i == lead + 1 and i in class_starts))
        ),
        0,
    )
    # "which of them has the most seats" asks for them
    asks_scope = any(link.match == "scope" and lead < link.start < start for link in links)
    return 0 if asks_scope else start


def _names_at(
    start: int, question: Question, links: Sequence[Link], ranking: set[int], graph: SchemaGraph
) -> list[Link]:
    """The classes and properties that are named in full at a token, else the classes of which it says the most."""
    # "pasta has the shortest" does not name the class "short pasta"
    ranked = sum(1 << i for i in ranking)
    named = [link for link in links if link.start == start and link.exact and not link.covered & ranked]
    if not named:
        # "which shows", of what is called a series; "which keepers", of the light keepers
        partly = [link for link in links if link.start == start and _may_name_class(link, question, graph)]
        named = [link for link in partly if link.score == max(other.score for other in partly)]
    return [link for link in named if link.kind in ("class", "property")]


def _may_name_class(link: Link, question: Question, graph: SchemaGraph) -> bool:
    """Whether a word names a class by a synonym, or by the last word of its name."""
    if link.kind != "class":
        return False
    last = question.tokens[link.end - 1].lemma
    return link.match == "like" or (link.match == "partial" and graph.nodes[link.refs[0].node].words[-1:] == (last,))


def _shows(derivation: Derivation, requested: _RequestedClass, graph: SchemaGraph) -> bool:
    """Whether a reading shows things of a class, or something of them, before anything else."""
    first = derivation.targets[0].ref
    nodes = {first.node, *(ref.node for ref in derivation.group)}
    is_shown = any(graph.may_be(node, requested.node) for node in nodes) or _shows_person(derivation, requested, graph)
    partial = [x for x in derivation.links if x.kind == "property" and x.refs[0].predicate and not x.exact]
    if any(link.start in requested.exact for link in partial):
        # "which airports" does not ask for "airport codes"
        return False
    return is_shown


def _shows_person(derivation: Derivation, requested: _RequestedClass, graph: SchemaGraph) -> bool:
    """Whether a reading shows the names of what unnamed things stand for: of the people that rows of players are."""
    if STANDS_FOR_RULE in derivation.trace:
        return True
    first = derivation.targets[0].ref
    if graph.nodes[requested.node].named or not first.predicate:
        return False
    steps = (step for step in graph.steps[requested.node] if step.forward and step.target == first.node)
    return graph.about(first.predicate).role == "name" and any(graph.about(step.predicate).functional for step in steps)


# what a question asks for by its first words
WHO, WHERE, WHEN, AGE, SPAN = "who", "where", "when", "how old", "how long"


class AnswerTypeMatch(NamedTuple):
    """The readings that may answer, and the `nearest` that uses more words but gives no answer of the `asked` type."""

    kept: list[Candidate]
    nearest: Candidate | None = None
    asked: str = ""


def filter_by_answer_type(candidates: Sequence[Candidate], question: Question, graph: SchemaGraph) -> AnswerTypeMatch:
    """Drop the readings that give another type of answer than the question asks for by its first words."""
    asked = requested_answer_type(question)
    if not asked:
        return AnswerTypeMatch(list(candidates))
    # of two that are named, the type is not asked for
    open_ = [each for each in candidates if COMPARED_RULE not in each.derivation.trace]
    dropped = [each for each in open_ if _misses_type(each, asked, graph)]
    if asked == WHEN:
        ends = _requested_end(question)
        dropped += [each for each in candidates if each not in dropped and _is_other_end(each, *ends, graph)]
    if asked == WHO:
        dropped += _actions_beside_agents(candidates, question, graph)
    kept = [each for each in candidates if each not in dropped]
    if asked == WHERE:
        kept = _prefer_places(kept, question, graph)
    nearest = max(dropped, key=lambda each: (_used_words(each, question), each.derivation.prior), default=None)
    if nearest is None or any(_used_words(each, question) >= _used_words(nearest, question) for each in kept):
        return AnswerTypeMatch(kept)
    return AnswerTypeMatch(kept, nearest, asked)


def requested_answer_type(question: Question) -> str:
    """Return what the first words ask for; "" if they may ask for anything."""
    words = [token.norm for token in question.tokens]
    lead = " ".join(words[:2])
    if lead in (AGE, SPAN):
        return lead
    if set(phrase_list("parsing", "asking_age")) & {" ".join(pair) for pair in pairwise(words)}:
        return AGE
    # "since when is he here"
    first = WHEN if words[1:2] == [WHEN] else words[0] if words else ""
    if first in WORDS["asking_who"]:
        return WHO
    return first if first in (WHERE, WHEN) else ""


def _used_words(candidate: Candidate, question: Question) -> int:
    covered = candidate.derivation.covered
    return sum(covered >> i & 1 for i in range(len(question.tokens)) if i not in question.stopwords)


def _misses_type(candidate: Candidate, asked: str, graph: SchemaGraph) -> bool:
    """Whether no column of a reading has the requested type."""
    body, targets = candidate.body, candidate.derivation.targets
    if not isinstance(body, Select):
        return False
    if not any(isinstance(answer, Attribute | Itself) for answer in body.answers):
        # the first of several days is a day
        extremes = (each.ref.predicate if each.function in EXTREMES else "" for each in targets)
        return asked in (WHO, WHERE) or (asked == WHEN and not all(each and graph.is_date(each) for each in extremes))
    return all(_has_other_type(target, asked, graph) for target in targets)


def _has_other_type(target: Target, asked: str, graph: SchemaGraph) -> bool:
    """Whether a column cannot have the requested type."""
    if target.function:
        return asked in (WHO, WHERE, WHEN) and target.function not in EXTREMES
    ref, words = target.ref, _words(target.ref, graph)
    persons, places = nouns_of_kind("persons"), nouns_of_kind("places")
    if not ref.predicate:
        return asked == WHEN and bool(words) and words[-1] in persons | places
    is_date, is_number = graph.is_date(ref.predicate), graph.is_numeric(ref.predicate)
    about = graph.about(ref.predicate)
    if asked in (SPAN, WHEN) and len({*phrase_list("parsing", "periods")} & {*words}) > 1:
        # "weekly hours" are no time that something took
        return True
    if asked in (AGE, SPAN):
        return about.datatype in ("date", "datetime", "year") or about.role != "fact"
    if asked == WHERE:
        return is_date and not set(words) & places
    if asked == WHO:
        return (is_date or is_number) and about.role == "fact"
    return not is_date and not is_number and bool(set(words) & (persons | places))


def _words(ref: Ref, graph: SchemaGraph) -> tuple[str, ...]:
    return graph.words[ref.predicate] if ref.predicate else graph.nodes[ref.node].words


def _requested_end(question: Question) -> tuple[frozenset[str], frozenset[str]]:
    """The words of the date that is asked for, a beginning or an end, and those of the other; none if it may be any."""
    content = [token for i, token in enumerate(question.tokens) if i not in question.stopwords]
    said = {form for token in content for form in (token.norm, token.lemma)}
    said |= {concept for _, _, concepts in find_expressions(question, 0) for concept in concepts}
    for asked, other in ((WORDS["end"], WORDS["start"]), (WORDS["start"], WORDS["end"])):
        if said & asked and not said & other:
            return asked, other
    return frozenset(), frozenset()


def _is_other_end(candidate: Candidate, asked: frozenset[str], other: frozenset[str], graph: SchemaGraph) -> bool:
    """Whether a reading gives the date on which something begins for "when does it end", or the other way round."""
    columns = [set(_words(target.ref, graph)) for target in candidate.derivation.targets if target.ref.predicate]
    return bool(columns) and all(words & other and not words & asked for words in columns)


def _actions_beside_agents(candidates: Sequence[Candidate], question: Question, graph: SchemaGraph) -> list[Candidate]:
    """The readings that give what was done, where others that use as many words give who did it."""
    agents = [each for each in candidates if _gives_agents(each, graph)]
    most = max((_used_words(each, question) for each in agents), default=-1)

    def gives_action(derivation: Derivation) -> bool:
        first, classes = derivation.targets[0].ref, (x.refs[0].node for x in derivation.links if x.kind == "class")
        if not first.predicate and first.node in classes:
            return True
        return not any(t.ref.predicate or graph.nodes[t.ref.node].named for t in derivation.targets)

    others = (each for each in candidates if each not in agents and _used_words(each, question) <= most)
    return [each for each in others if gives_action(each.derivation)]


def _gives_agents(candidate: Candidate, graph: SchemaGraph) -> bool:
    """Whether a reading gives persons, organisations, or those by whom something is done."""
    ref = candidate.derivation.targets[0].ref
    done_by = (s.predicate for s in graph.steps[ref.node] if not s.forward)
    if not ref.predicate and (ref.node in graph.persons or any(graph.words[iri][-1:] == ("by",) for iri in done_by)):
        return True
    words = _words(ref, graph)
    return bool(words) and words[-1] in nouns_of_kind("persons") | nouns_of_kind("bodies")


def _prefer_places(candidates: list[Candidate], question: Question, graph: SchemaGraph) -> list[Candidate]:
    """The readings that give a place at the end of a link, then those that do not give the things to be located."""
    kept = [each for each in candidates if _gives_place_of_link(each, graph)] or candidates
    located = [each for each in kept if not _gives_located_things(each, question)]
    most = max((_used_words(each, question) for each in kept), default=0)
    return located if any(_used_words(each, question) == most for each in located) else kept


def _gives_place_of_link(candidate: Candidate, graph: SchemaGraph) -> bool:
    """Whether a reading gives the end of a link that says where: the firm of "works at", not its town."""
    derivation, body = candidate.derivation, candidate.body
    if not isinstance(body, Select) or len(body.edges) != 1 or len(derivation.targets) != 1:
        return False
    if derivation.targets[0].ref.predicate:
        return False
    edge, answer = body.edges[0], body.answers[0]
    named = {ref.via for link in derivation.links if link.kind == "property" for ref in link.refs}
    is_end = isinstance(answer, Itself) and answer.variable == edge.object and edge.predicate in named
    label = graph.about(edge.predicate).label.casefold().split()
    return is_end and len(label) > 1 and label[-1] in WORDS["standing_at"]


def _gives_located_things(candidate: Candidate, question: Question) -> bool:
    """Whether a reading gives the things whose place is asked for: "where is the club that ..."."""
    words = [token.norm for token in question.tokens]
    if len(words) < 3 or words[1] not in WORDS["being"] or words[2] not in WORDS["article"]:
        return False
    derivation = candidate.derivation
    first = min((link for link in derivation.links if link.start >= 3), key=lambda link: link.start, default=None)
    if first is None or first.kind != "class":
        return False
    ref = derivation.targets[0].ref
    return not ref.predicate and ref.node == first.refs[0].node


def is_part_name_guess(candidate: Candidate, question: Question, graph: SchemaGraph) -> bool:
    """Whether "the P of Y" is read as things of a class P, linked to something with Y in its name."""
    derivation, body = candidate.derivation, candidate.body
    if not isinstance(body, Select) or len(derivation.targets) != 1:
        return False
    target = derivation.targets[0]
    if target.ref.predicate or target.function:
        return False
    own = (link for link in derivation.links if link.kind == "class" and link.refs[0].node == target.ref.node)
    noun = next(own, None)
    if noun is None or not noun.start or question.tokens[noun.end - 1].norm != question.tokens[noun.end - 1].lemma:
        return False
    cue = next((each for each in question.cues if each.kind == "of" and each.start == noun.end), None)
    has_partial_name = cue is not None and any(
        link.kind == "entity" and link.match == "part" and link.start >= cue.end for link in derivation.links
    )
    class_words = set(graph.nodes[noun.refs[0].node].words)
    return has_partial_name and not any(class_words & set(graph.words[edge.predicate]) for edge in body.edges)
