"""What a reader checks before a reading may be called the answer: Candidate + Question -> Doubts, its rows -> Doubts.

A reading of the rules that fails one is at most asked back, and the answer says of which point it is not sure. Words
that no part of a reading accounts for, and the question words "who", "when" and "where", are judged earlier.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import chain

from nacre.language.data import WORDS, word_list
from nacre.language.thesaurus import function_words
from nacre.language.tokens import lemma
from nacre.language.word_forms import is_participle
from nacre.plans.selects import asked_select, compared_predicates, predicates_of, selects_of, variable_of
from nacre.records.evidence import Doubt, Table
from nacre.records.plan import ELAPSED, EXTREMES, Ask, Attribute, Body, Compute, Edge, Select
from nacre.understanding.linking.adjectives import measured_numbers
from nacre.understanding.linking.schema_graph import SchemaGraph
from nacre.understanding.linking.schema_paths import NAMED_STEP_COST, RARE_STEP_COST
from nacre.understanding.linking.schema_terms import ROW_NOUN
from nacre.understanding.parsing.columns import MEASURE_RULE
from nacre.understanding.parsing.constraints import asks_capacity
from nacre.understanding.parsing.cue_rules import BY_END_RULE, NOBODY_RULE, OPEN_RULE, end_date_ref
from nacre.understanding.parsing.entity_rules import IDENTIFIER_RULE
from nacre.understanding.parsing.finish import PLACE_OR_TIME_RULE, UNLINKED_RULE, WHO_RULE
from nacre.understanding.parsing.link_constraints import named_edges, unnamed_edges
from nacre.understanding.parsing.number_rules import MAX_SAMPLES
from nacre.understanding.parsing.property_rules import TOTAL_RULE
from nacre.understanding.parsing.read_comparisons import SUMMED_SIDES_RULE
from nacre.understanding.parsing.state import KEPT_GIVEN_RULE, Candidate, overlaps_link
from nacre.understanding.parsing.superlative_rules import SETTLED_TOTAL_RULE
from nacre.understanding.question.numbers import FIRST_YEAR, LAST_YEAR
from nacre.understanding.question.records import INEQUALITIES, Link, Question, Ref, covered_mask, token_mask
from nacre.understanding.ranking.features import answer_type_features, question_word_features
from nacre.wording.labels import predicate_label

MIN_RANKED_SHARE = 0.5  # The share of the things of a class that must have what they are ranked by.
MIN_WHOLE_SCORE = 0.9  # Minimum score of a value or name that is whole in the question.

# Minimum scores of the words that name what is summed, for "how many" and for "the total": "the total number of
# students" is no sum of "professor number" (set by hand).
MIN_SUMMED_SCORE, MIN_NAMED_SCORE = 0.8, 0.5

_AMOUNT = re.compile(r"\W*\d[\d\W]*[^\W\d_]{0,4}\W*")  # a text that is an amount: "12", "3:36", "11 EUR"

ONE_PLACE = "one place"  # The check of rows: what is ranked first stands alone.

Find = Callable[[Candidate, Question, Sequence[Link], SchemaGraph], Iterator[str]]


def find_doubts(
    candidate: Candidate, question: Question, links: Sequence[Link], graph: SchemaGraph
) -> tuple[Doubt, ...]:
    """The first doubt of each check that a reading fails before it runs."""
    found = ((name, next(find(candidate, question, links, graph), "")) for name, find in CHECKS.items())
    return tuple(Doubt(name, point) for name, point in found if point)


def doubts_of_rows(body: Body, table: Table) -> tuple[Doubt, ...]:
    """Whether the operator of a plan shows in its rows: what is first stands alone, a time has both ends."""
    select = asked_select(body)
    if isinstance(body, Compute) and body.op in ELAPSED and not table.rows:
        return (Doubt("operator", body.op),)
    places = len(set(table.rows))
    return (Doubt(ONE_PLACE, str(places)),) if select is not None and select.limit == 1 and places > 1 else ()


def _uncovered(candidate: Candidate, question: Question, links: Sequence[Link], graph: SchemaGraph) -> Iterator[str]:
    """A property that is named, if the plan restricts nothing and lacks it; "and how many", "still" without effect; a
    yes about names that nothing joins."""
    d = candidate.derivation
    yield from _unshown(candidate, question)
    yield from _kept_others(candidate, question)
    for link in (x for x in d.links if x.kind == "property" and x.match == "like"):
        # what is called by a word before what the word is like
        span = (link.start, link.end)
        exact = (x for x in links if x.kind == "property" and x.exact and (x.start, x.end) == span)
        yield from (_words(question, x.covered) for x in exact if x not in d.links)
    # "honey per variety" names no varieties of honey
    groups = (c for c in question.cues if c.kind == "group" and not d.group)
    yield from (
        _words(question, c.covered) for c in groups if any(x.start < c.start and c.end < x.end for x in d.links)
    )
    yield from _last_dates(candidate, question, graph)
    if (question.wants_measure and MEASURE_RULE not in d.trace) or (d.conditions and not d.links):
        # "were there any since June" names nothing
        yield question.text
    # "more" of what, "who took more"
    last = (c for c in question.cues if c.kind == "compare" and c.end == len(question.tokens))
    yield from (_words(question, c.covered) for c in last if not c.covered & d.covered)
    selects = selects_of(candidate.body)
    is_only_named = isinstance(candidate.body, Ask) and {x.kind for x in d.links} == {"entity"}
    if is_only_named and not any(s.edges or s.filters for s in selects):
        # two names of which nothing is stated but what they are, that something is "still" there, "back" or "returned"
        done = {token.norm for i, token in enumerate(question.tokens) if not d.covered >> i & 1}
        is_state = any(map(is_participle, done)) or bool(done & WORDS["whereabouts"])
        if len(d.links) > 1 or OPEN_RULE in d.trace or is_state:
            yield question.text
    if OPEN_RULE in d.trace and BY_END_RULE not in d.trace:
        nodes = (graph.node_of_classes.get((v.classes, v.without)) for each in selects for v in each.variables)
        may_end = end_date_ref([Ref(node) for node in nodes if node is not None], graph) is not None
        is_vague = may_end or not d.conditions
        # "still" before nothing that is used: "the boats of Ness still in service"
        now = (c for c in question.cues if c.kind == "now" and (is_vague or all(x.start < c.end for x in d.links)))
        yield from (_words(question, c.covered) for c in now)
    if any(s.filters or s.edges or s.group or s.by or s.order or any(v.keys for v in s.variables) for s in selects):
        return
    used = set(chain.from_iterable(map(predicates_of, selects)))
    for link in d.links:
        named = {ref.predicate for ref in link.refs} - {""}
        is_own = link.kind == "property" and named and not link.refs[0].via
        if is_own and not named & used and graph.about(link.refs[0].predicate).role == "fact":
            yield _words(question, link.covered)


def _last_dates(candidate: Candidate, question: Question, graph: SchemaGraph) -> Iterator[str]:
    """The day on which something was "last" done, for when it was done at all."""
    last = WORDS["the_last"]
    for condition in candidate.derivation.conditions:
        predicate, is_before = condition.ref.predicate, condition.op not in ("known", "unknown", ">", ">=")
        is_last = predicate and graph.is_date(predicate) and last & set(graph.words[predicate])
        if is_before and is_last and last.isdisjoint(token.norm for token in question.tokens):
            yield predicate_label(predicate, graph.schema).one


def _kept_others(candidate: Candidate, question: Question) -> Iterator[str]:
    """ "Another boat", "who else", where nothing is left out; a person that nothing said stands for."""
    d = candidate.derivation
    persons = (i for i, token in enumerate(question.tokens) if token.norm in WORDS["pronoun_person"])
    named = min((x.start for x in d.links if x.kind == "entity"), default=len(question.tokens))
    yield from (question.tokens[i].text for i in persons if i < named and not overlaps_link(i, i + 1, d.links))
    if KEPT_GIVEN_RULE in d.trace:
        yield question.text
    # "other than Ann", "who else besides Ann"
    names_others = any(cue.kind == "negation" for cue in question.cues)
    for i, token in enumerate(question.tokens):
        is_other = token.norm in WORDS["other"] | WORDS["other_after"] and not names_others
        if is_other and not overlaps_link(i, i + 1, d.links):
            yield token.text


def _unshown(candidate: Candidate, question: Question) -> Iterator[str]:
    """What is asked for beside a property, or of a thing, and is no column: "theme and artist", "engineer of it", "and
    is it heavy"."""
    d, body = candidate.derivation, asked_select(candidate.body)
    norms = [token.norm for token in question.tokens]
    for i in range(1, 0 if isinstance(candidate.body, Ask) else len(norms) - 2):
        is_pronoun = norms[i + 2] in WORDS["second_pronoun"] - WORDS["possessive"]
        if norms[i] in WORDS["joining"] and norms[i + 1] in WORDS["asking_yes_no"] and is_pronoun:
            yield _words(question, token_mask(i + 1, len(norms)))
    if body is None:
        return
    shown = {target.ref.node for target in d.targets} | {target.ref.predicate for target in d.targets} - {""}
    ends = Counter(name for edge in body.edges for name in (edge.subject, edge.object))
    used = {variable_of(term) for term in (*body.answers, *(f.left for f in body.filters), *body.by)} | {*body.group}
    used |= {variable.name for variable in body.variables if variable.keys}
    loose = {e.predicate for e in body.edges for name in (e.subject, e.object) if ends[name] == 1 and name not in used}
    for link in d.links:
        start = next(i for i in range(link.start, -1, -1) if not i or norms[i - 1] not in WORDS["article"])
        before = norms[start - 1] if start else ""
        is_beside = link.kind == "class" and before in WORDS["joining"] and link.refs[0].node not in shown
        if is_beside and any(x.end < link.start and x.refs[0].predicate in shown for x in d.links):
            yield _words(question, link.covered)
        is_noun = question.tokens[link.end - 1].norm == question.tokens[link.end - 1].lemma
        is_required = any(cue.kind == "having" and cue.end == start for cue in question.cues)
        is_of = {*norms[link.end : link.end + 1]} <= WORDS["choosing_of"] | {"for"}
        if link.kind == "property" and link.refs[0].via in loose and is_noun and is_of and not is_required:
            yield _words(question, link.covered)


def _of_others(candidate: Candidate, question: Question, links: Sequence[Link], graph: SchemaGraph) -> Iterator[str]:
    """A link that a yes-or-no question does not name, unless its ends are named and no other joins them; one of several
    that no question names; a rank by what few things have; what a linked thing is not."""
    d = candidate.derivation
    yield from _of_several_paths(candidate, question, links, graph)
    yield from _of_several_dates(candidate, graph)
    if isinstance(candidate.body, Ask):
        select = candidate.body.select
        unsure = unnamed_edges(candidate._replace(body=select), question, graph)
        named = named_edges(select, d.links, question, graph)
        unsure += [edge for edge in select.edges if edge not in named and _has_rival(edge, select, graph)]
        yield from (predicate_label(edge.predicate, graph.schema).one for edge in unsure)
    elif (far := _far_property(candidate, question, graph)) is not None:
        yield predicate_label(far, graph.schema).one
    edges = {edge.predicate for each in selects_of(candidate.body) for edge in each.edges}
    asked = {target.ref.node for target in d.targets}
    used = {c.ref.node for c in d.conditions if c.ref.predicate} | {ref.node for ref in d.group}
    for link in (x for x in d.links if x.match.endswith("like")):
        ref = link.refs[0]
        # "who trains Ann", of a link from one person to another: in which direction
        is_either = ref.via in edges and any(start == end for start, end in graph.ends.get(ref.via, ()))
        # "which animals died", of species whose patients died
        if is_either or (link.kind == "class" and ref.node in asked and used and ref.node not in used):
            yield _words(question, link.covered)
    yield from (_words(question, x.covered) for x in d.links if x.match == ROW_NOUN)
    for link in (x for x in d.links if x.kind == "class" and x.refs[0].node in graph.unions.members):
        # "how many loads are there", of classes that may be loads, where lorries have a "load number"
        if any(x.kind == "property" and x.covered == link.covered for x in links):
            yield _words(question, link.covered)
    ranked = [d.order.ref] if d.order is not None else []
    ranked += [t.ref for t in d.targets if t.function in EXTREMES] + [c.top.ref for c in d.conditions if c.top]
    for ref in ranked:
        with_value = graph.value_counts.get((ref.node, ref.predicate), 0)
        is_named = any(ref.predicate in {r.predicate for r in x.refs} for x in d.links)
        is_code = ref.predicate and graph.about(ref.predicate).role != "fact" and not is_named
        if is_code or (ref.predicate and with_value < MIN_RANKED_SHARE * graph.nodes[ref.node].count):
            yield predicate_label(ref.predicate, graph.schema).one


MAX_RIVAL_DISTANCE = 2 * NAMED_STEP_COST + RARE_STEP_COST  # Of another thing that may be meant: two links, one of few.


def _of_several_paths(
    candidate: Candidate, question: Question, links: Sequence[Link], graph: SchemaGraph
) -> Iterator[str]:
    """A link that nothing names, if another leads as well to what "who" asks for, or to what has a value: "trips from
    Bath" over the town of the guide, where passengers have towns too."""
    d, body = candidate.derivation, candidate.body
    if not isinstance(body, Select) or not body.edges:
        return
    asked = {target.ref.node for target in d.targets}
    roots, ends, others = asked, set[int](), set[int]()
    if WHO_RULE in d.trace:
        named = named_edges(body, d.links, question, graph)
        unsure = [edge for edge in body.edges if edge not in named]
        # "who had the drum" asks for no one who made it
        done = [edge for edge in unsure if is_participle(predicate_label(edge.predicate, graph.schema).one.split()[0])]
        linked = covered_mask(d.links)
        said = {token.norm for i, token in enumerate(question.tokens) if not linked >> i & 1}
        if said <= function_words():
            yield from (predicate_label(edge.predicate, graph.schema).one for edge in done)
        nodes = {graph.node_of_classes.get((v.classes, v.without)) for v in body.variables}
        roots, ends = {each for each in nodes - asked if each is not None}, asked
        others = {each for each in graph.persons if graph.nodes[each].named}
    elif unsure := unnamed_edges(candidate, question, graph):
        values = [x for x in d.links if x.kind == "value" and graph.about(x.refs[0].predicate).role == "fact"]
        ends = {ref.node for x in values for ref in x.refs} | asked
        others = {ref.node for y in links for x in values if y.covered == x.covered for ref in y.refs}
    others = {each for each in others if not any(graph.may_be(each, end) or graph.may_be(end, each) for end in ends)}
    if any(graph.distance(root, each) <= MAX_RIVAL_DISTANCE for root in roots for each in others):
        yield from (predicate_label(edge.predicate, graph.schema).one for edge in unsure)


def _of_several_dates(candidate: Candidate, graph: SchemaGraph) -> Iterator[str]:
    """The date that answers "when" or "when last" if no word names it and the things of another class that have it have
    others: "when was it last lent", of loans with a day out and a day due."""
    d = candidate.derivation
    if PLACE_OR_TIME_RULE not in d.trace:
        return
    named = {ref.predicate for link in d.links for ref in link.refs}
    linked = {condition.ref.node for condition in d.conditions if condition.op == "is"}
    for target in d.targets:
        dates = [each for each in graph.literals[target.ref.node] if graph.is_date(each)]
        is_one_of = target.ref.predicate in dates and len(dates) > 1 and target.ref.node not in linked
        if is_one_of and target.ref.predicate not in named:
            yield predicate_label(target.ref.predicate, graph.schema).one


def _has_rival(edge: Edge, select: Select, graph: SchemaGraph) -> bool:
    """Whether another property links the same classes in the same direction."""
    nodes = {v.name: graph.node_of_classes.get((v.classes, v.without), -1) for v in select.variables}
    steps = graph.steps.get(nodes[edge.subject], ())
    return len({step.predicate for step in steps if step.forward and step.target == nodes[edge.object]}) > 1


def _far_property(candidate: Candidate, question: Question, graph: SchemaGraph) -> str | None:
    """A property behind an unnamed link, not named exactly, if the named thing has one of that kind."""
    d = candidate.derivation
    named = [variable for variable in getattr(candidate.body, "variables", ()) if variable.keys]
    if len(named) != 1 or any(x.kind == "class" for x in d.links) or not unnamed_edges(candidate, question, graph):
        return None
    node = graph.node_of_classes.get((named[0].classes, named[0].without))
    exact = {ref.predicate for link in d.links if link.exact for ref in link.refs}
    likely = {ref.predicate for link in d.links if not link.match.endswith("like") for ref in link.refs}
    for target in d.targets:
        about = graph.about(target.ref.predicate) if target.ref.predicate else None
        if about is None or node is None or target.ref.node == node or target.ref.predicate in exact:
            continue
        if target.ref.predicate not in likely and graph.is_numeric(target.ref.predicate):
            # "how long was she here" asks for no duration of her treatments
            return target.ref.predicate
        is_date, own = graph.is_date(target.ref.predicate), graph.literals[node]
        if any(graph.is_date(p) if is_date else about.unit and graph.about(p).unit == about.unit for p in own):
            return target.ref.predicate
    return None


def _in_part(candidate: Candidate, question: Question, links: Sequence[Link], graph: SchemaGraph) -> Iterator[str]:
    """A word of a longer value, a value of the named property that is read as a name, a number inside a text, a year
    that is read as an amount, and a text without quotation marks that is no known value."""
    d = candidate.derivation
    if "free text" in d.trace and not question.quoted:
        yield from (condition.label for condition in d.conditions)
    used = covered_mask(d.links)
    named = {ref.predicate for link in d.links if link.kind == "property" for ref in link.refs if ref.predicate}
    yield from (_words(question, x.covered) for x in d.links if x.kind == "value" and x.match == "part")
    for whole in links:
        if whole.kind not in ("value", "entity") or whole.score < MIN_WHOLE_SCORE:
            continue
        is_cut = any(x.kind == "entity" and x.covered & whole.covered and x.covered & ~whole.covered for x in d.links)
        is_more = whole.exact and whole.covered & ~used and not is_cut
        if is_more and any(x.covered & whole.covered and not x.covered & ~whole.covered for x in d.links):
            yield _words(question, whole.covered)
        same = (x for x in d.links if x.kind == "entity" and x.covered == whole.covered)
        if whole.kind == "value" and whole.refs[0].predicate in named and any(same):
            yield _words(question, whole.covered)
    for condition in d.conditions:
        if condition.op == "contains":
            yield from (value for value in map(str, condition.values) if value.isdigit())
        if condition.ref.predicate and graph.about(condition.ref.predicate).unit:
            amounts = (n for n in question.numbers if not n.unit and n.value in condition.values and n.start)
            years = (n for n in amounts if FIRST_YEAR <= n.value <= LAST_YEAR)
            dated = (n for n in years if question.tokens[n.start - 1].norm in WORDS["locating"])
            yield from (_words(question, token_mask(n.start, n.end)) for n in dated)


def _of_polarity(candidate: Candidate, question: Question, _: Sequence[Link], graph: SchemaGraph) -> Iterator[str]:
    """What is unknown, or that there are rows, if these may have 0 of it; a denial of what is linked, beside another
    condition, or of what the things of a wide word may be."""
    d = candidate.derivation
    for node in (target.ref.node for target in d.targets if isinstance(candidate.body, Ask)):
        numbers = measured_numbers(graph, node) if not graph.nodes[node].named else []
        lowest = graph.about(numbers[0]).minimum if len(numbers) == 1 else None
        if lowest is not None and lowest <= 0 and all(c.ref.predicate != numbers[0] for c in d.conditions):
            yield predicate_label(numbers[0], graph.schema).one
    denials = [c for c in question.cues if c.kind in ("negation", "missing")]
    for select in selects_of(candidate.body):
        unknown = (f.left for f in select.filters if f.op == "unknown" and isinstance(f.left, Attribute))
        for value in unknown:
            lowest = graph.about(value.predicate).minimum
            if lowest is not None and lowest <= 0:
                yield predicate_label(value.predicate, graph.schema).one
    asked = {target.ref.node for target in d.targets}
    denied = {c.ref.node for c in d.conditions if c.negated and c.op == "exists"}
    if NOBODY_RULE in d.trace:
        # "nobody has used it" denies no other link to persons
        named = covered_mask(x for x in d.links if x.kind != "property" or x.refs[0].via or x.refs[0].node in denied)
        named |= covered_mask(c for c in question.cues if c.kind != "having")
        unnamed = (i for i in range(len(question.tokens)) if not named >> i & 1 and i not in question.stopwords)
        yield from (question.tokens[i].text for i in unnamed)
    if UNLINKED_RULE in d.trace or (NOBODY_RULE in d.trace and any(c.kind == "missing" for c in denials)):
        yield _words(question, token_mask(denials[0].start, len(question.tokens)))
    is_own = any(denied & set(graph.unions.members.get(node, ())) for node in asked)
    flags = (c for c in d.conditions if c.negated and c.ref.predicate and c.ref.node not in asked)
    # "which guests have not paid": no bill, or not all of them
    yield from (predicate_label(c.ref.predicate, graph.schema).one for c in flags if graph.is_flag(c.ref.predicate))
    if not denials or (len(d.conditions) < 2 and not is_own) or not isinstance(candidate.body, Select):
        return
    if is_own or any(c.negated and (c.ref.node not in asked or not c.ref.predicate) for c in d.conditions):
        yield _words(question, token_mask(denials[0].start, len(question.tokens)))


def _of_operators(candidate: Candidate, question: Question, _: Sequence[Link], graph: SchemaGraph) -> Iterator[str]:
    """ "Are all ..." that only asks for some; "did A or B win more" that compares nothing; "A, or B and C": which of
    them "and" joins; different things whose names repeat; a count beside another aggregate that nothing joins; a number
    with a unit beyond all numbers of a property without one, as 2.1 m is of heights in cm."""
    d = candidate.derivation
    yield from _amounts_as_texts(candidate.body, graph)
    for i, token in enumerate(question.tokens if isinstance(candidate.body, Ask) else ()):
        is_all = token.norm in WORDS["of_all_things"] and question.tokens[i - 1].norm != "at"
        if is_all and not overlaps_link(i, i + 1, d.links):
            yield token.text
    compares = any(c.op in INEQUALITIES or c.against is not None or c.top is not None for c in d.conditions)
    if isinstance(candidate.body, Ask) and not compares:
        yield from (_words(question, c.covered) for c in question.cues if c.kind == "compare")
    joins = [c for c in question.cues if c.kind in ("or", "and")]
    is_either = any(len(c.values) > 1 or len(c.keys) > 1 or c.join == "or" for c in d.conditions)
    if is_either and {c.kind for c in joins} == {"or", "and"}:
        yield _words(question, token_mask(joins[0].start, joins[-1].end))
    for target in (t for t in d.targets if not t.ref.predicate and t.distinct):
        for named in map(graph.about, graph.literals[target.ref.node]):
            is_name = named.role in ("name", "identifier") or WORDS["naming"] & set(graph.words[named.iri])
            if is_name and named.objects < named.subjects:
                yield question.text
    functions = {target.function for target in d.targets}
    grouped = {cue.end for cue in question.cues if cue.kind == "group"}
    if functions - {""} and not d.group:
        # "total load by boat"
        yield from (_words(question, x.covered) for x in d.links if x.kind == "class" and x.start in grouped)
    each = [cue for cue in question.cues if cue.kind == "group"]
    if "group dropped" in d.trace and d.targets and not any(t.ref.predicate or t.function for t in d.targets):
        # "what did we earn from each trader", for the traders
        yield from (_words(question, cue.covered) for cue in each)
    if "number per group" in d.trace and "avg" in functions and not any(cue.kind == "avg" for cue in question.cues):
        # "hours spent per shed" may be a total
        yield from (_words(question, cue.covered) for cue in each)
    is_joined = any(token.norm in WORDS["joining"] for token in question.tokens)
    if "count" in functions and functions - {"count", ""} and not d.group and not is_joined:
        yield question.text
    summed = {target.ref.predicate for target in d.targets if target.function == "sum"}
    least = MIN_SUMMED_SCORE if TOTAL_RULE in d.trace else MIN_NAMED_SCORE
    for link in d.links:
        if link.kind == "property" and link.refs[0].predicate in summed and link.score < least:
            yield _words(question, link.covered)
    bounds = (c for c in d.conditions if c.ref.predicate and not c.function and c.op in INEQUALITIES)
    compared = [value for condition in bounds for value in condition.values]
    for cue in (cue for cue in question.cues if cue.kind == "compare"):
        number = next((n for n in question.numbers if n.start >= cue.start and n.value in compared), None)
        if number and any(x.kind == "class" and cue.end <= x.start and x.end <= number.start for x in d.links):
            yield _words(question, token_mask(cue.start, number.end))
    for condition in d.conditions:
        about = graph.about(condition.ref.predicate) if condition.ref.predicate and not condition.function else None
        if about is None or about.unit or about.minimum is None or about.maximum is None:
            continue
        for number in question.numbers:
            is_far = number.value in condition.values and not about.minimum <= number.value <= about.maximum
            if is_far and number.unit:
                yield _words(question, token_mask(number.start, number.end))


def _amounts_as_texts(body: Body, graph: SchemaGraph) -> Iterator[str]:
    """Properties that are compared or sorted by as texts, although most are amounts: "9 bar" after "90 bar"."""
    for about in map(graph.about, compared_predicates(body)):
        texts = (about.values or about.samples)[:MAX_SAMPLES]
        if about.datatype == "text" and 2 * sum(bool(_AMOUNT.fullmatch(text)) for text in texts) > len(texts):
            yield about.label


def _of_totals(candidate: Candidate, question: Question, links: Sequence[Link], graph: SchemaGraph) -> Iterator[str]:
    """Two totals that are compared although no word names what is added up; "how much did we pay" of things that may
    not be paid."""
    d, order = candidate.derivation, candidate.derivation.order
    if not {SUMMED_SIDES_RULE, SETTLED_TOTAL_RULE}.isdisjoint(d.trace):
        yield question.text
    ranked = order.ref if order is not None and order.limit and not order.function else Ref(-1)
    is_amount = bool(ranked.predicate) and not graph.is_date(ranked.predicate)
    if is_amount and ranked.node not in {target.ref.node for target in d.targets}:
        # "which driver charged the most": the highest of one trip, or the most in all
        ends = (c for c in question.cues if c.kind == "most" and question.tokens[c.end - 1].norm in WORDS["most"])
        yield from (_words(question, c.covered) for c in ends)
    sums = [cue for cue in question.cues if cue.kind == "sum"]
    unused = (link for link in links if link.kind == "property" and link not in d.links)
    for link in (link for link in unused if graph.is_flag(link.refs[0].predicate)):
        yield from (_words(question, link.covered) for c in sums if c.start <= link.start and link.end <= c.end)


def _of_shape(candidate: Candidate, question: Question, _: Sequence[Link], graph: SchemaGraph) -> Iterator[str]:
    """ "Which plays ..." that gives dates, "what is the city ..." that gives a number, "who" that gives boats, "the
    cheapest price" that gives things, "the item with the number 12" that gives the number."""
    d = candidate.derivation
    yield from _not_counted(candidate, question, graph)
    yield from _not_measured(candidate, question, graph)
    undated = {f"asked when for {kind}" for kind in ("text", "thing")}
    if answer_type_features(candidate, question, graph).get("asked who misfits") or not undated.isdisjoint(
        question_word_features(d.targets, question, graph)
    ):
        yield question.tokens[0].text
    codes = [x.start for x in d.links if x.kind == "entity"] if IDENTIFIER_RULE in d.trace else []
    asked = {target.ref.predicate for target in d.targets} - {""}
    yield from (_words(question, x.covered) for x in d.links if x.end in codes and x.refs[0].predicate in asked)
    if not question.tokens or question.tokens[0].norm not in WORDS["asking_kind"]:
        return
    mentioned = (x for x in d.links if x.kind != "value")
    first = min(mentioned, key=lambda x: x.start, default=None)
    if first is None:
        return
    if first.match == "partial" and first.start == 1 and first.refs[0].predicate in asked:
        # "which mineral ..." asks for no mineral group
        head = graph.words[first.refs[0].predicate][-1]
        said = {form for token in question.tokens for form in (token.norm, token.lemma)}
        if head not in said | WORDS["naming"] and not is_participle(head):
            yield _words(question, first.covered)
    things = [target.ref for target in d.targets if not target.function and not target.ref.predicate]
    is_listed = any(token.norm in WORDS["listing"] | WORDS["joining"] for token in question.tokens)
    if first.kind == "class" and first.exact and 0 < len(things) < len(d.targets) and not is_listed:
        yield _words(question, first.covered)
    own = first.refs[0]
    ranked_by = d.order is not None and d.order.limit and not d.order.function and d.order.ref.predicate
    if ranked_by and own.predicate == ranked_by and own.predicate not in asked and "target" not in d.trace:
        yield _words(question, first.covered)
    if first.kind != "class" or not first.exact or any(graph.may_be(ref.node, own.node) for ref in things):
        return
    between = {token.norm for token in question.tokens[1 : first.start]}
    given = {target.ref.predicate for target in d.targets if target.ref.predicate}
    # "which plane numbers", "the names of the planes", and a number of things are asked for otherwise
    is_named = any(graph.about(each).role in ("name", "identifier") for each in given)
    is_part = any(x.kind == "property" and x.refs[0].predicate in given and x.start <= first.end for x in d.links)
    counts = any(cue.kind in ("count", "group") for cue in question.cues)
    if between <= WORDS["being"] | WORDS["article"] and not (is_named or is_part or counts):
        yield _words(question, first.covered)


def _not_counted(candidate: Candidate, question: Question, graph: SchemaGraph) -> Iterator[str]:
    """ "How many" or "how much" if the answer is no number; its noun if the things that are counted are named after the
    verb: "how many calls did the stations have"."""
    d = candidate.derivation
    asks = [token.norm for token in question.tokens[:2]]
    end = 2 if len(asks) > 1 and asks[0] in WORDS["degree"] and asks[1] in WORDS["how_much"] else 0
    end = next((cue.end for cue in question.cues if cue.kind == "count" and cue.start == 0), end)
    numbers = (t.function or (t.ref.predicate and graph.is_numeric(t.ref.predicate)) for t in d.targets)
    if end and isinstance(candidate.body, Select) and d.targets and not any(numbers):
        yield _words(question, token_mask(0, end))
    counts = [t.ref for t in d.targets if t.function == "count"]
    takes = (word_list("question", "holding") | word_list("question", "fitting")) & {t.norm for t in question.tokens}
    if counts and takes and asks_capacity(question):
        # how many there are is not how many there may be
        yield min(takes)
    counted = {ref.node for ref in counts if not ref.predicate or graph.about(ref.predicate).role == "name"}
    is_repeated = not word_list("nearest", "repeated").isdisjoint(token.norm for token in question.tokens[:end])
    persons = (n in graph.persons or not any(map(graph.is_date, graph.literals[n])) for n in counted)
    if is_repeated and (not counts or any(persons)):
        # how often somebody did it is not how many persons, nor "how many times" an amount of time
        yield _words(question, token_mask(0, end))
    for cue in (cue for cue in question.cues if cue.kind == "count" and counted):
        verbs = (i for i in range(cue.end, len(question.tokens)) if question.tokens[i].norm in WORDS["helping"])
        verb = next(verbs, cue.end)
        names = [x for x in d.links if x.kind == "class" and x.start >= cue.end and x.refs[0].node in counted]
        is_noun = any(i not in question.stopwords for i in range(cue.end, verb))
        if is_noun and names and all(x.start > verb for x in names):
            yield _words(question, token_mask(cue.end, verb))


def _not_measured(candidate: Candidate, question: Question, graph: SchemaGraph) -> Iterator[str]:
    """ "How long" of what is no length: things, or a property that neither the adjective means nor a word names; "how
    much money did we take" is no longitude, although what takes time is long."""
    d = candidate.derivation
    named = {ref.predicate for x in d.links if x.kind == "property" and x.match != "like" for ref in x.refs} - {""}
    # "how high were the expenses per kind", by the number of expenses
    counts = any(t.function == "count" for t in d.targets) and all(cue.kind != "count" for cue in question.cues)
    asked = {target.ref.predicate for target in d.targets if not (counts and not target.function)}
    for cue in (cue for cue in question.cues if cue.kind == "degree" and cue.value and not asked & named):
        # "how old", by the day on which it was built
        meant = {word for each in cue.value.split("|") for word in each.removeprefix("-").split()}
        of = (meant & {form for word in graph.words.get(each, ()) for form in (word, lemma(word))} for each in asked)
        if isinstance(candidate.body, Select) and not any(of):
            yield _words(question, cue.covered)


def _words(question: Question, mask: int) -> str:
    """The part of the question from the first to the last of some tokens, or all of it."""
    words = [token for i, token in enumerate(question.tokens) if mask >> i & 1] or question.tokens
    return question.text[words[0].start : words[-1].end]


CHECKS: dict[str, Find] = {
    "coverage": _uncovered,
    "own things first": _of_others,
    "whole values": _in_part,
    "polarity": _of_polarity,
    "operator": _of_operators,
    "total": _of_totals,
    "shape": _of_shape,
}
