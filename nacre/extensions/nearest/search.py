"""What is nearest to a question that no rows surely answer: TurnView + Graph -> NearestFound.

Then the look-up of the fact that is nearest: Understanding + near facts -> a reading and its rows. No rule derives this
reading from the words; likeness chooses the property of a named thing that they ask for. Last, readings that change one
part of the likeliest plan: what a superlative measures if no word names it, a total to the mean that is asked for, or a
condition less. These are offered, and run only if a person chooses them.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from agents.answering.draft import QUERYING
from agents.answering.select_answer import (
    UNSURE,
    candidate_rows,
    content_words,
    has_same_columns,
    indexed_sentences,
    is_empty,
    is_nil,
    row_probability,
    says_opposite,
    select_answer_rows,
)
from agents.model_priors import after_agreement
from agents.turn_view import Lack, TurnView
from nacre.access.likeness import KIND_GAIN, AnswerKind, engine_of, requested_kind, text_forms, word_likenesses
from nacre.extensions.nearest.facts import (
    EXACT_SCORE,
    ClassFacts,
    class_facts,
    fitting_facts,
    is_list,
    is_prose,
    is_telling,
    kind_fit,
    named_facts,
    prose_matches,
    question_forms,
    round_likeness,
    without_names,
)
from nacre.extensions.nearest.repair import Repairs, find_repairs
from nacre.language.data import WORDS, word_list
from nacre.language.tokens import fold, name_tokens, tokenize
from nacre.plans.selects import asked_select, predicates_of, variable_of
from nacre.records.evidence import BranchResult, Evidence, EvidenceSentence, Nearness, Query, Rows
from nacre.records.plan import (
    EXTREMES,
    MEANS,
    Aggregate,
    Attribute,
    Edge,
    Filter,
    Itself,
    Plan,
    Profile,
    Select,
    Variable,
)
from nacre.records.schema import Schema
from nacre.records.turn import NamedThing, Reading, Understanding
from nacre.understanding.question.analyse import analyse_question
from nacre.understanding.ranking.probabilities import MIN_SHARE, probability
from nacre.understanding.ranking.rank import load_weights
from nacre.wording.nouns import is_temporal
from nacre.wording.plan_phrases import predicate_words, verbalise_plan
from tools.search_passages import LEXICAL
from tools.sql import run_reading

if TYPE_CHECKING:
    from nacre.stores.catalog import Graph

# sentences of the other branches that are kept
MOST_OTHERS = 15


class NearestFound(NamedTuple):
    """What was found, and the understanding with a further reading if a fact was looked up."""

    found: BranchResult
    understanding: Understanding


def search_nearest(view: TurnView, lack: Lack, graph: Graph) -> NearestFound:
    """The sentences that are nearest to the question, with their nearness: texts of requested things, and facts of the
    named things; if none is named, facts of the classes that it asks for, and sentences that other branches found. The
    nearest fact is looked up as a reading of its own. An endpoint is asked for no facts if the rows only lack
    certainty.

    Blocking; raises ToolError if a store fails.
    """
    started = time.perf_counter()
    understanding = view.understanding
    if graph.remote is not None and lack == "certainty":
        return NearestFound(BranchResult(LEXICAL), understanding)
    matches = prose_matches(understanding, view.evidence, graph, view.round)
    evidence: list[Evidence] = [*matches]
    queries: tuple[Query, ...] = ()
    if not any(each.nearness and each.nearness.chance for each in matches):
        facts, queries = named_facts(understanding, graph, view.round)
        if not facts and lack != "certainty":
            of_class = class_facts(understanding, graph, view.round) if _is_unclear(understanding) else ClassFacts()
            understanding = replace(understanding, readings=(*understanding.readings, *of_class.readings))
            others = _nearest_found(view, graph)
            evidence += [*of_class.sentences, *(each for each in others if lack == "everything" or not is_list(each))]
        named = [each.mention for each in understanding.named]
        evidence += fitting_facts(without_names(view.standalone, named), facts, graph.schema)
        understanding = compare_readings(understanding, facts, graph)
        looks_up = not view.enabled or not set(QUERYING).isdisjoint(view.enabled)
        looked_up = look_up_nearest(understanding, facts, view.evidence, graph, view.round) if looks_up else None
        if looked_up is not None:
            understanding = replace(understanding, readings=(*understanding.readings, looked_up.reading))
            evidence += looked_up.found.evidence
            queries += looked_up.found.queries
    selected = view.answer_rows
    rows = selected[1] if selected is not None else None
    repairs = find_repairs(view, rows, graph) if graph.remote is None else Repairs()
    if repairs.answer is not None:
        repaired = run_reading(repairs.answer, len(understanding.readings), engine_of(graph), round=view.round)
        understanding = replace(understanding, readings=(*understanding.readings, repairs.answer))
        chance, doubts = repairs.answer.probability, repairs.answer.doubts
        evidence += (
            replace(each, probability=chance, doubts=doubts) for each in repaired.rows if not is_empty(each.table)
        )
        queries += repaired.queries
    changed = changed_readings(view.understanding, rows, view.evidence, graph.schema)
    understanding = replace(understanding, readings=(*understanding.readings, *repairs.offered, *changed))
    words = f"what is nearest to: {view.standalone}"
    query = Query(LEXICAL, view.round, view.standalone, words=words, rows=len(evidence))
    query = replace(query, seconds=time.perf_counter() - started)
    found = BranchResult(LEXICAL, tuple(evidence), (query, *queries) if graph.endpoint is None else queries)
    return NearestFound(found, understanding)


def _is_unclear(understanding: Understanding) -> bool:
    """Whether the likeliest reading leaves words out, or there is none."""
    return bool(understanding.unknown) or not understanding.readings or bool(understanding.readings[0].unused)


def _nearest_found(view: TurnView, graph: Graph) -> list[EvidenceSentence]:
    """The sentences that the branches found, compared with the question."""
    found = [each for _, each in indexed_sentences(view.evidence) if each.round and is_telling(each, graph.schema)]
    found = list({each.text: each for each in found}.values())
    texts = [text_forms(f"{each.title}: {each.text}") for each in found]
    near = word_likenesses(question_forms(view.standalone), texts)
    nearest = sorted(range(len(found)), key=lambda i: (-near[i], i))[:MOST_OTHERS]
    return [replace(found[i], nearness=Nearness(round_likeness(near[i]))) for i in nearest]


# log-odds that the nearest fact is the requested one: per likeness apart from the kind of answer, per lead over the
# next property of the same kind, without such a property, if it is of the requested kind, and in any case (fitted: 126
# questions with everyday words about one thing, 1 in 4 without an answer)
OF_LIKENESS, OF_LEAD, OF_NO_RIVAL, OF_KIND, BIAS = 6.5, 2.5, 0.8, 0.7, -1.8

# minimum likeness, apart from the kind of answer, of a fact that is looked up, and of one that may be sure (given)
LEAST_LIKENESS, SURE_LIKENESS = 0.12, 0.45

# minimum probability of a look-up, and of one whose rows a reading gives as well (given)
MIN_CHANCE, MIN_CHANCE_AGREED = 0.6, 0.5

# minimum probability of rows that leave words out and are still preferred to a look-up (given)
LIKELIER_THAN_NOT = 0.5

# words of a fact from which on it is a text and no value (given)
MAX_WORDS = 20

# kinds of cues that ask for more than a property of one thing
LIMITING_CUES = frozenset(
    ("negation", *MEANS, *EXTREMES, "most", "superlative", "comparative", "compared", "order", "share", "missing")
)


class NearReading(NamedTuple):
    """A reading that looks up one property of a named thing, and what running it gave."""

    reading: Reading
    found: BranchResult


def look_up_nearest(
    understanding: Understanding,
    facts: Sequence[EvidenceSentence],
    evidence: Sequence[Evidence],
    graph: Graph,
    round: int,
) -> NearReading | None:
    """Look up the property that the nearest fact about the only named thing states. `facts` are the nearest first.

    If the question calls properties by their names, only these count. The look-up is likelier if a reading gives the
    same rows. Unless the property is named and those rows answer without it, it is never sure; it is dropped if other
    rows answer that use all words of the question or are likelier than not.
    """
    if len(understanding.named) != 1 or not facts or graph.lexicon.embedder is None or not _may_ask(understanding):
        return None
    (thing,) = understanding.named
    if _may_be_another(understanding, thing):
        return None
    exact = _exact_properties(understanding)
    facts = [each for each in facts if not exact or exact & {predicate for _, predicate, _ in each.triples}]
    looked_up = _property(facts[0], thing) if facts else None
    if looked_up is None or (len(facts[0].text.split()) > MAX_WORDS and not exact):
        return None
    chance, is_near = _chance_of(facts, thing, requested_kind(understanding.standalone), graph.schema)
    if not chance:
        return None
    plan = Plan(_select(thing, *looked_up, graph.schema))
    reading = Reading(plan, 0.0, 1.0, verbalise_plan(plan, graph.schema), own=True, near=True)
    if says_opposite(_words_of(understanding), reading.words):
        return None
    found = run_reading(reading, len(understanding.readings), engine_of(graph), round=round)
    rows = next(iter(found.rows), None)
    if rows is None:
        return None
    chance = _chance_beside(chance, rows, understanding, evidence, may_be_sure=is_near and bool(exact))
    if not chance:
        return None
    reading = replace(reading, probability=chance, score=chance)
    return NearReading(reading, replace(found, evidence=(replace(rows, probability=chance),)))


def compare_readings(understanding: Understanding, facts: Sequence[EvidenceSentence], graph: Graph) -> Understanding:
    """The understanding with the likeness of the properties that its readings look up."""
    if not facts or graph.lexicon.embedder is None:
        return understanding

    def compared(reading: Reading) -> Reading:
        select = asked_select(reading.plan.body)
        if not reading.own or select is None:
            return reading
        wanted = predicates_of(select)
        near = (each.nearness.likeness for each in facts if each.nearness and wanted & {p for _, p, _ in each.triples})
        return replace(reading, likeness=max(near, default=None))

    return replace(understanding, readings=tuple(map(compared, understanding.readings)))


def _chance_of(
    facts: Sequence[EvidenceSentence], thing: NamedThing, asked: AnswerKind, schema: Schema
) -> tuple[float, bool]:
    """The probability that the first fact is the requested one (0 if it is not near), and whether it may be sure."""
    fits = [kind_fit(each, thing.mention.target, asked, schema) for each in facts]
    if asked == "number" and is_prose(facts[0]):
        return 0.0, False
    own = [
        (each.nearness.likeness if each.nearness else 0.0) - KIND_GAIN * fit
        for each, fit in zip(facts, fits, strict=True)
    ]
    properties = [_property(each, thing) for each in facts]
    rivals = [
        likeness
        for each, likeness, fit in zip(properties, own, fits, strict=True)
        if fit == fits[0] and each != properties[0]
    ]
    lead = OF_LEAD * (own[0] - max(rivals)) if rivals else OF_NO_RIVAL
    chance = probability(OF_LIKENESS * own[0] + lead + OF_KIND * (fits[0] > 0) + BIAS)
    return chance if own[0] >= LEAST_LIKENESS else 0.0, own[0] >= SURE_LIKENESS


def _chance_beside(
    chance: float, looked_up: Rows, understanding: Understanding, evidence: Sequence[Evidence], *, may_be_sure: bool
) -> float:
    """The probability of looked up rows beside those of readings; 0 if they must not answer. Likeness alone accounts
    for no word: they `may_be_sure` only if the question names the property and the rows answer without them."""
    selected = select_answer_rows(understanding, evidence)
    others = [each for _, each in candidate_rows(evidence) if each.reading is not None and not is_empty(each.table)]
    same = [each for each in others if has_same_columns(each.table, looked_up.table)]
    if same:
        chance = after_agreement(chance, max(row_probability(understanding, each) for each in same))
    if chance < (MIN_CHANCE_AGREED if same else MIN_CHANCE):
        return 0.0
    is_agreed = selected is not None and selected[1] in same
    left_out = _left_out(understanding, selected[1] if selected else None)
    is_doubted = is_agreed and selected is not None and bool(selected[1].doubts)
    is_rivalled = selected is not None and not is_agreed and _is_preferred(understanding, selected[1])
    if left_out == "beside" or is_doubted or is_rivalled:
        return 0.0
    is_sure = is_agreed and may_be_sure and not left_out
    return round_likeness(min(chance, understanding.most, 1.0 if is_sure else load_weights().threshold - UNSURE))


def _left_out(understanding: Understanding, rows: Rows | None) -> str:
    """Whether a reading leaves out what is counted: "how many visitors do the museums have", or what is asked for
    beside what it gives: "what colour is it and is it loud"."""
    question, joining = analyse_question(understanding.standalone), WORDS["joining"]
    unused = understanding.readings[rows.reading].unused if rows is not None and rows.reading is not None else ()
    words = {word for each in unused for word in each.split()}
    after = next((i for i, token in enumerate(question.tokens) if token.norm in joining), len(question.tokens))
    if words.intersection(token.text for token in question.tokens[after:]):
        return "beside"
    ends = {cue.end for cue in question.cues if cue.kind == "count"}
    return "counted" if words & {token.text for i, token in enumerate(question.tokens) if i in ends} else ""


def _is_preferred(understanding: Understanding, rows: Rows) -> bool:
    """Whether rows of a reading answer rather than other rows that are looked up."""
    if rows.reading is None:
        return False
    is_complete = not understanding.readings[rows.reading].unused
    return is_complete or row_probability(understanding, rows) >= LIKELIER_THAN_NOT


def _may_ask(understanding: Understanding) -> bool:
    """Whether a question may ask for one property of a thing: not for yes or no, and without numbers and orders."""
    question = analyse_question(understanding.standalone)
    norms = [token.norm for token in question.tokens]
    is_open = any(norm in WORDS["question_words"] | WORDS["who"] for norm in norms)
    first = understanding.readings[0].plan.body if understanding.readings else None
    if (isinstance(first, Select) and len(first.answers) > 1) or any(norm in WORDS["than"] for norm in norms):
        return False
    if not norms or (norms[0] in WORDS["asking_yes_no"] and not is_open):
        return False
    if understanding.absent or _asks_of_others(understanding):
        return False
    named = [(each.mention.start, each.mention.end) for each in understanding.named]
    tokens = question.tokens
    bounds = [(tokens[n.start].start, tokens[n.end - 1].end) for n in question.numbers]
    is_bounded = any(not any(a <= start and end <= b for a, b in named) for start, end in bounds)
    return not is_bounded and not any(cue.kind in LIMITING_CUES for cue in question.cues)


def _may_be_another(understanding: Understanding, thing: NamedThing) -> bool:
    """Whether other things have the name as well."""
    name = thing.mention
    rivals = (each for each in understanding.candidates if each.kind == "entity" and each.target != name.target)
    return any((each.start, each.end) == (name.start, name.end) and each.score >= name.score for each in rivals)


def _asks_of_others(understanding: Understanding) -> bool:
    """Whether a question asks something of other things than the named one, to which they are linked.

    "Where is the club that Ann plays for", "which club has a player from Ghana": a class with a relative clause, or two
    classes stand before the name.
    """
    named_at = min(each.mention.start for each in understanding.named)
    before = {token.norm for token in tokenize(understanding.standalone[:named_at])[1:]}
    mentions = (*understanding.mentions, *understanding.candidates)
    classes = {(each.start, each.end) for each in mentions if each.kind == "class" and each.end <= named_at}
    apart = [
        (start, end) for start, end in classes if not any(a <= start and end <= b for a, b in classes - {(start, end)})
    ]
    return len(apart) > 1 or (bool(apart) and not word_list("wording", "relative_pronouns").isdisjoint(before))


def _exact_properties(understanding: Understanding) -> set[str]:
    """The properties that the question calls by their names."""
    mentions = (*understanding.mentions, *understanding.candidates)
    return {each.target for each in mentions if each.kind == "predicate" and each.score >= 1.0}


def _words_of(understanding: Understanding) -> list[str]:
    """The words of a question, without those of the names in it."""
    named = {word for each in understanding.named for word in name_tokens(each.mention.text)}
    return [token.norm for token in tokenize(understanding.standalone) if token.norm not in named]


def _property(fact: EvidenceSentence, thing: NamedThing) -> tuple[str, bool] | None:
    """The predicate of a fact, and whether it leads to the thing; None if the fact is not about the thing itself."""
    key = thing.mention.target
    found = {(predicate, subject != key) for subject, predicate, value in fact.triples if key in (subject, value)}
    return found.pop() if len(found) == 1 else None


def _select(thing: NamedThing, predicate: str, is_inverse: bool, schema: Schema) -> Select:
    """The values of a property of a thing, or the things at the other end of a link."""
    body = thing.everything.plan.body
    assert isinstance(body, Profile)
    variable, about = body.members.variables[0], schema.predicate_of[predicate]
    if about.has_literals and not is_inverse:
        return Select((Attribute(variable.name, predicate),), (variable,))
    classes = tuple(iri for iri in (about.domains if is_inverse else about.ranges) if iri in schema.class_of)
    other = Variable("other", classes if len(classes) == 1 else ())
    ends = (other.name, variable.name) if is_inverse else (variable.name, other.name)
    return Select((Itself(other.name),), (variable, other), (Edge(ends[0], predicate, ends[1]),))


# readings with a changed plan that are offered (given)
MAX_CHANGED = 2


def changed_readings(
    understanding: Understanding, selected: Rows | None, evidence: Sequence[Evidence], schema: Schema
) -> tuple[Reading, ...]:
    """The readings that change one part of the plan of the likeliest reading if that gives nothing, else of the plan of
    the selected rows."""
    first = next((each for _, each in candidate_rows(evidence) if each.reading == 0), None)
    is_nothing = first is None or is_empty(first.table) or is_nil(first.table)
    place = 0 if is_nothing or selected is None else selected.reading
    if place is None or not understanding.readings:
        return ()
    reading, select = understanding.readings[place], understanding.readings[place].plan.body
    if not isinstance(select, Select):
        return ()
    bodies = [*_other_measures(select, understanding, schema), *_means(select, understanding)]
    if is_nothing or not reading.unused:
        bodies += _fewer_conditions(select, understanding, is_nothing=is_nothing)
    known = {each.words for each in understanding.readings if each.score >= MIN_SHARE}
    found: dict[str, Reading] = {}
    for body in bodies:
        words = verbalise_plan(Plan(body), schema)
        if words not in known:
            found.setdefault(words, Reading(Plan(body), 0.0, reading.covered, words, near=True))
    return tuple(found.values())[:MAX_CHANGED]


def _other_measures(select: Select, understanding: Understanding, schema: Schema) -> Iterator[Select]:
    """The plan by each other date of the things, if the question does not name the date that orders them."""
    order = select.order
    if order is None or not isinstance(order.by, Attribute) or not is_temporal(order.by.predicate, schema):
        return
    if content_words(predicate_words(order.by.predicate, schema)) <= content_words(understanding.standalone):
        return
    classes = next(each.classes for each in select.variables if each.name == order.by.variable)
    for each in schema.predicates_of(classes):
        if each.iri != order.by.predicate and not each.hidden and is_temporal(each.iri, schema):
            yield replace(select, order=replace(order, by=replace(order.by, predicate=each.iri)))


def _means(select: Select, understanding: Understanding) -> Iterator[Select]:
    """The plan with the mean that the question asks for in place of a total."""
    means = [cue for cue in analyse_question(understanding.standalone).cues if cue.kind in MEANS]
    totals = [each for each in select.answers if isinstance(each, Aggregate) and each.function == "sum"]
    if means and totals:
        mean: Any = means[0].kind
        answers = (replace(each, function=mean) if each in totals else each for each in select.answers)
        yield replace(select, answers=tuple(answers))


def _fewer_conditions(select: Select, understanding: Understanding, *, is_nothing: bool) -> Iterator[Select]:
    """The plan without one of its conditions, that with the weakest words first. If the plan gives something, only
    conditions that no words name exactly are left out."""
    shown = [*select.answers, *select.by, *([select.order.by] if select.order is not None else [])]
    used = {*map(variable_of, shown), *select.group}
    found: list[tuple[float, Select]] = []
    for variable in select.variables:
        edges = [each for each in select.edges if variable.name in (each.subject, each.object)]
        if variable.name not in used and len(edges) == 1:
            conditions = [_named(each) for each in select.filters if variable_of(each.left) == variable.name]
            targets = (edges[0].predicate, *variable.keys, *variable.classes, *chain.from_iterable(conditions))
            found.append((_score(understanding, *targets), _without_variable(select, variable)))
        elif variable.keys and variable.classes:
            plain = replace(variable, keys=(), label="", below=())
            variables = tuple(plain if each == variable else each for each in select.variables)
            found.append((_score(understanding, *variable.keys), replace(select, variables=variables)))
    for condition in select.filters:
        if condition.op != "known" and not isinstance(condition.left, Aggregate):
            # both ends of a range
            others = tuple(each for each in select.filters if each.left != condition.left)
            found.append((_score(understanding, *_named(condition)), replace(select, filters=others)))
    is_list = not any(isinstance(each, Aggregate) for each in select.answers) and select.order is None
    for score, changed in sorted(found, key=lambda each: each[0]):
        if (is_nothing or score < EXACT_SCORE) and not (is_list and _has_no_condition(changed)):
            yield changed


def _named(condition: Filter) -> tuple[str, str]:
    """What words may name of a condition: its property, and its value."""
    return (condition.left.predicate if isinstance(condition.left, Attribute) else "", fold(str(condition.right)))


def _has_no_condition(select: Select) -> bool:
    return not (select.edges or select.filters or any(each.keys for each in select.variables))


def _without_variable(select: Select, variable: Variable) -> Select:
    """The plan without a variable, the link to it and the conditions on it."""

    def is_kept(condition: Filter) -> bool:
        right = condition.right.variable if isinstance(condition.right, Attribute) else ""
        return variable.name not in (variable_of(condition.left), right)

    return replace(
        select,
        variables=tuple(each for each in select.variables if each != variable),
        edges=tuple(each for each in select.edges if variable.name not in (each.subject, each.object)),
        filters=tuple(filter(is_kept, select.filters)),
    )


def _score(understanding: Understanding, *targets: str) -> float:
    """How well words of the question name one of these; 0 if none does."""
    named = (each.score for each in understanding.mentions if {each.target, fold(each.label)} & {*targets})
    return max(named, default=0.0)
