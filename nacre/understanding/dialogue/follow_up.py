"""Apply a Rewrite to the readings of a question: Question + candidates + Scope -> plans and Readings, best first."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, pairwise
from typing import NamedTuple

from nacre.language.data import WORDS, pattern, word_map
from nacre.language.thesaurus import function_words
from nacre.language.tokens import tokenize
from nacre.language.word_forms import is_participle, is_plural
from nacre.plans.selects import (
    EARLIER_TURN_MARK,
    asked_select,
    branches,
    filtered_variable,
    is_from_earlier_turn,
    variable_of,
)
from nacre.records.plan import (
    Aggregate,
    Ask,
    Attribute,
    Body,
    Compute,
    Filter,
    Itself,
    Plan,
    Select,
    Variable,
    aggregated_value,
)
from nacre.records.schema import Schema
from nacre.records.turn import EarlierTurn, Reading, Rewrite, Scope
from nacre.understanding.dialogue import plan_edits
from nacre.understanding.dialogue.focus import named_things_of
from nacre.understanding.linking.link_mentions import Linker, LinkingIndex
from nacre.understanding.linking.schema_graph import SchemaGraph
from nacre.understanding.parsing.columns import identifying_properties
from nacre.understanding.parsing.state import KEPT_GIVEN_RULE, Candidate
from nacre.understanding.question.records import Link, Question, Ref
from nacre.understanding.ranking.probabilities import log_odds_before_running
from nacre.understanding.ranking.rank import RankedReading
from nacre.wording.plan_phrases import verbalise_plan

# Changes that a follow-up may ask for, in the order in which they are tried: keys of dialogue.yaml.
CHANGE_KINDS = ("list", "opposite", "exclude", "summary", "order", "add", "restrict", "instead", "first")

# The number that stands in the question for an earlier answer, since the parser expects a number there.
STAND_IN = 999_983.0

# Changes that the follow-up states completely.
_WHOLE_CHANGES: Mapping[str, Callable[[Select], Select | None]] = {
    "list": plan_edits.list_plan,
    "opposite": plan_edits.negate_last_condition,
    "same": lambda select: select,
}

# The edit of a change, if it has another name.
_EDIT_OF_CHANGE: Mapping[str, plan_edits.EditKind] = {"first": "restrict", "summary": "add"}


def change_kind(question: str, last: EarlierTurn) -> str:
    """What a follow-up asks to change in the result before it: one of CHANGE_KINDS or "number". Empty if nothing."""
    body = last.plan.body if last.plan else None
    text = " ".join(t.norm for t in tokenize(question))
    if not isinstance(body, Select):
        return "opposite" if body is not None and pattern("dialogue", "opposite").search(text) else ""
    if pattern("dialogue", "number").search(question.casefold()) and (
        len(body.answers) == 1 and isinstance(body.answers[0], Aggregate) and not body.group and not body.by
    ):
        return "number"
    return next((kind for kind in CHANGE_KINDS if pattern("dialogue", kind).search(text)), "")


def insert_stand_in(question: str) -> str:
    """The question with a number in place of the words that refer to the earlier one."""
    found = pattern("dialogue", "number").search(question.casefold())
    if found is None:
        return question
    return f"{question[: found.start('number')]}{STAND_IN:.0f}{question[found.end('number') :]}"


def changed_plans(
    question: Question, links: Sequence[Link], bodies: Sequence[Body], scope: Scope, graph: SchemaGraph
) -> list[Body]:
    """The plans that a follow-up makes of the earlier one, each once. `bodies` are the plans of its own words."""
    earlier = scope.plan.body if scope.plan else None
    if not isinstance(earlier, Select):
        return []
    if scope.how == "opposite" and earlier.limit and scope.keys and not scope.cut:
        rest = _rest_of_order(earlier, scope.keys)
        return [] if rest is None else [rest]
    if scope.how in _WHOLE_CHANGES:
        whole = _WHOLE_CHANGES[scope.how](earlier)
        return [_show_names(whole, graph)] if whole is not None else []
    if scope.how == "order" and earlier.limit and len(scope.keys) > 1 and not scope.cut:
        # the first things of an order stay the same in another one
        owner, label = variable_of(earlier.answers[0]), f"({len(scope.keys)} {EARLIER_TURN_MARK}"
        kept = (replace(v, keys=scope.keys, label=label) if v.name == owner else v for v in earlier.variables)
        earlier = replace(earlier, variables=tuple(kept), order=None, limit=None, offset=0)
    by_cues = plan_edits.edit_by_cues(question, links, earlier, scope.how, graph)
    if by_cues is not None:
        return [_show_order(by_cues, question, scope)]
    how: plan_edits.EditKind = _EDIT_OF_CHANGE.get(scope.how, scope.how)  # type: ignore[arg-type]
    edited = (
        plan_edits.compare_with_number(body, STAND_IN, earlier)
        if scope.how == "number"
        else plan_edits.edit_plan(earlier, body, how)
        for body in bodies
        if isinstance(body, Select)
    )
    changed = (select for select in edited if select is not None and select != earlier)
    return list(dict.fromkeys(_show_order(select, question, scope) for select in changed))


def _rest_of_order(earlier: Select, given: tuple[str, ...]) -> Select | None:
    """The other things of an order, with what it is by: "and the others?" after the best."""
    by, name = earlier.order.by if earlier.order else None, variable_of(earlier.answers[0])
    is_own = isinstance(by, Aggregate) and earlier.group == (name,)
    if by is None or len(earlier.answers) > 1 or not (is_own or (isinstance(by, Attribute) and by.variable == name)):
        return None
    others = replace(earlier, answers=(Itself(name), by), limit=None, offset=0, paired=not is_own)
    return plan_edits.exclude_keys(
        others, next(v for v in earlier.variables if v.name == name), given, f"({len(given)} {EARLIER_TURN_MARK}"
    )


def _show_order(select: Select, question: Question, scope: Scope) -> Select:
    """A reordered plan with what it is ordered by as a column, if the question asks to see that as well."""
    by = select.order.by if select.order is not None else None
    shows = scope.how == "order" and pattern("dialogue", "and_shows").search(question.text.casefold())
    if not shows or not isinstance(by, Attribute) or by in select.answers or select.group or select.by:
        return select
    return replace(select, answers=(*select.answers, by), paired=True)


def _show_names(select: Select, graph: SchemaGraph) -> Select:
    """The plan with identifying properties in place of things that have no names."""
    answer = select.answers[0]
    if len(select.answers) > 1 or not isinstance(answer, Itself):
        return select
    own = next(v for v in select.variables if v.name == answer.variable)
    node = next((n for n in graph.nodes if n.classes == own.classes and n.without == own.without), None)
    properties = identifying_properties(graph, node.index) if node is not None and not node.named else []
    return replace(select, answers=(Attribute(own.name, properties[0]),)) if properties else select


IDLE_RULES = frozenset(("dangling", "group dropped"))  # Parser rules that link a word but do not use it.
MAX_REVISIONS = 2  # Revised plans of one follow-up, at most.

# The probability that the first of them is right if the plan before it was right (measured over conversations about
# four graphs to learn from, 32 and 45 follow-ups).
REVISION_PROBABILITY = 0.84


def revised_readings(
    ranked: Sequence[RankedReading],
    links: Sequence[Link],
    question: Question,
    scope: Scope | None,
    linker: Linker,
    schema: Schema,
) -> tuple[Reading, ...]:
    """The plan of the scope, changed by what the follow-up says. Empty unless the scope says what to change."""
    if scope is None or not scope.how:
        return ()

    # A change that uses more of the follow-up's words is more likely.
    def words_left(r: RankedReading) -> int:
        return len(r.unused) + sum(rule in IDLE_RULES for rule in r.candidate.derivation.trace)

    bodies = [r.candidate.body for r in sorted(ranked, key=words_left)]
    revised = changed_plans(question, links, bodies, scope, linker.index.graph)[:MAX_REVISIONS]
    first = REVISION_PROBABILITY * scope.confidence
    return tuple(_reading(body, first / (place + 1), schema) for place, body in enumerate(revised))


def merge_readings(revised: tuple[Reading, ...], readings: tuple[Reading, ...], most: int) -> tuple[Reading, ...]:
    """The revised readings, then the others with the remaining probability."""
    if not revised:
        return readings
    left = 1 - revised[0].score
    plans = {r.plan for r in revised}
    others = (
        replace(r, score=r.score * left, probability=(r.probability or 0.0) * left, odds=r.odds + math.log(left))
        for r in readings
        if r.plan not in plans
    )
    return (*revised, *others)[:most]


def _reading(body: Body, probability: float, schema: Schema) -> Reading:
    plan = Plan(body)
    words = verbalise_plan(plan, schema)
    return Reading(plan, probability, 1.0, words, probability, (), log_odds_before_running(probability))


SCOPE_BONUS = 0.25  # What the score of things of the conversation gains over others with the same name.


def scope_links(links: list[Link], scope: Scope | None, question: Question, index: LinkingIndex) -> list[Link]:
    """The links, with the things of the conversation preferred, and linked to a plural pronoun."""
    if scope is None or not scope.keys:
        return links
    keys = set(scope.keys)
    preferred = [
        x._replace(score=x.score + SCOPE_BONUS, keys=tuple(k for k in x.keys if k in keys))
        if x.kind == "entity" and keys & set(x.keys)
        else x
        for x in links
    ]
    is_group = len(scope.keys) > 1 or scope.cut or scope.how
    link = _pronoun_link(scope, question, index) if is_group else None
    return preferred if link is None else [*preferred, link]


def scope_candidates(candidates: list[Candidate], question: Question) -> list[Candidate]:
    """The candidates about the things of the conversation if there are any, else all. "How much do they cost" asks for
    the cost of each; only "in total" and "for them" ask for the total. "Are they full?" asks about all of them."""
    about = [c for c in candidates if any(x.match == "scope" for x in c.derivation.links)]
    places = {x.start for c in about for x in c.derivation.links if x.match == "scope"}
    if places & {end for c in question.cues if c.kind == "count" for end in (c.end, c.end + 1)}:
        # "how many of them are full?" counts the things of the conversation
        about = [c for c in about if _counts_scope(c)] or about
    words = [t.norm for t in question.tokens]
    if not set(words) & WORDS["existing"]:
        about = [_test_all(c) for c in about]
    if not about and words[:1] and words[0] in WORDS["asking_yes_no"] and set(words[1:2]) & WORDS["of_all_things"]:
        # "are all doors open?"
        candidates = [_test_all(c, question) for c in candidates]
    degrees = {c.start for c in question.cues if c.kind == "degree"}
    # "how much do we owe for those" asks for the total, "how much do they cost" for the cost of each
    is_for_all = any(one in WORDS["locating"] and two in WORDS["pronoun_many"] for one, two in pairwise(words))
    asks_total = any(c.kind == "sum" and (is_for_all or c.start not in degrees) for c in question.cues)
    return (about if asks_total else [_value_of_each(c) for c in about]) or candidates


def _counts_scope(candidate: Candidate) -> bool:
    body = candidate.body
    answer = body.answers[0] if isinstance(body, Select) and len(body.answers) == 1 else None
    if not isinstance(body, Select) or not isinstance(answer, Aggregate) or answer.function != "count":
        return False
    return any(v.name == answer.of.variable and is_from_earlier_turn(v) for v in body.variables)


def _test_all(candidate: Candidate, question: Question | None = None) -> Candidate:
    """A yes/no question about several things as whether as many as there are meet its conditions."""
    select = candidate.body.select if isinstance(candidate.body, Ask) else None
    if select is None or not (select.filters or select.edges) or not isinstance(select.answers[0], Itself):
        return candidate
    those = next(v for v in select.variables if v.name == select.answers[0].variable)
    number = (Aggregate("count", Itself(those.name)),)
    every: Select | None = Select(number, (those,)) if is_from_earlier_turn(those) else None
    if every is None and question is not None and not those.keys:
        links = sorted(candidate.derivation.links, key=lambda link: link.start)
        wholes = (
            _subject(replace(select, answers=number), links, end, question) for end in _subject_ends(links, question)
        )
        every = next((each for each in wholes if each is not None), None)
    if every is None:
        return candidate
    meeting = replace(select, answers=number, order=None, limit=None)
    return candidate._replace(body=Compute("=", meeting, every))


def _subject_ends(links: Sequence[Link], question: Question) -> Iterator[int]:
    """Where the noun phrase after "all" may end, longest first: "all dogs over 10 kg", "all dogs"."""
    words = question.tokens
    parts = [x for x in links if x.start > 1]
    head = next(
        (x for x in parts if x.kind != "property" and is_plural(words[x.end - 1].norm)), next(iter(parts), None)
    )
    if head is None:
        return
    after = words[head.end].norm if head.end < len(words) else ""
    is_bound = head.end in {*(n.start for n in question.numbers), *(cue.start for cue in question.cues)}
    if after in WORDS["restricting"] | WORDS["choosing_of"] or is_bound or (after and is_participle(after)):
        values = (x.end for x in parts if x.start >= head.end and x.kind != "property")
        yield from sorted((*values, *(n.end for n in question.numbers if n.start >= head.end)))[:1]
    yield head.end


def _subject(select: Select, links: Sequence[Link], end: int, question: Question) -> Select | None:
    """The part of a select that the words before `end` restrict. None if that is all of it."""
    name, own = aggregated_value(select.answers[0]).variable, [x for x in links if x.start < end]
    named = {(r.predicate, x.value) for x in own for r in x.refs if x.kind in ("value", "property")}
    before = [n for n in question.numbers if n.start < end]
    years = {f"{n.value + plus:04.0f}-01-01" for n in before for plus in (0, 1)}
    numbers = {*years, *(v for n in before for v in (n.value, n.date_start, n.date_end))} - {""}
    keys = {x.keys for x in own if x.keys}
    inside = {name}.union(
        *(b for b in branches(select, name) if any(v.keys in keys for v in select.variables if v.name in b))
    )

    def is_named(each: Filter) -> bool:
        values = each.right if isinstance(each.right, tuple) else (each.right, "")
        if not isinstance(each.left, Attribute):
            return False
        return bool(numbers & {*values}) or any((each.left.predicate, value) in named for value in values)

    for branch in branches(select, name):
        if any(is_named(each) and filtered_variable(each) in branch for each in select.filters):
            inside |= branch
    filters = tuple(
        f for f in select.filters if filtered_variable(f) in inside and (filtered_variable(f) != name or is_named(f))
    )
    edges = tuple(e for e in select.edges if {e.subject, e.object} <= inside)
    if len(filters) + len(edges) == len(select.filters) + len(select.edges):
        return None
    variables = tuple(v for v in select.variables if v.name in inside)
    return Select(select.answers, variables, edges, filters)


def _value_of_each(candidate: Candidate) -> Candidate:
    """A total over the things of the conversation, as the value of each."""
    body = candidate.body
    if not isinstance(body, Select) or body.group or body.by or len(body.answers) != 1:
        return candidate
    answer = body.answers[0]
    if not isinstance(answer, Aggregate) or answer.function != "sum" or not isinstance(answer.of, Attribute):
        return candidate
    return candidate._replace(body=replace(body, answers=(answer.of,)))


def _pronoun_link(scope: Scope, question: Question, index: LinkingIndex) -> Link | None:
    """The link of the word that stands for the things of the conversation. None if there is no such word."""
    # the narrowest node with all things of the scope; nodes of classes come first
    relations = {thing.relation for key in scope.keys if (thing := index.lexicon.thing(key))}
    nodes = [n for n in index.graph.nodes if relations and relations <= n.relations]
    node = min(nodes, key=lambda n: (not n.classes, n.count, n.index)).index if nodes else None
    tokens, result = question.tokens, pattern("dialogue", "result")
    # "three" of "three rooms" is a number
    numbers = {n.start for n in question.numbers if tokens[n.start - 1].norm not in WORDS["before_number"]}
    at = next((i for i, t in enumerate(tokens) if t.norm in WORDS["pronouns"] and i not in numbers), None)
    if at is None and scope.how:
        # If the plan is to be changed, also a word for its result: "list", "table".
        at = next((i for i, t in enumerate(tokens) if result.search(t.norm)), None)
    if node is None or at is None:
        return None
    is_one = len(scope.labels) == 1 and not (scope.how or scope.cut)
    label = scope.labels[0] if is_one else f"({len(scope.keys)} {EARLIER_TURN_MARK}"
    return Link(at, at + 1, "entity", (Ref(node),), 1.0, 1 << at, True, "", scope.keys, label, "scope")


MAX_TURNS_EXCLUDED, MAX_THINGS_EXCLUDED = 2, 100  # Turns whose things are left out, and things of them, at most.


class OtherThings(NamedTuple):
    """A question without the word that leaves out what was given, and the noun of what is left out ("" for persons)."""

    question: str
    noun: str


def strip_other(question: str) -> OtherThings | None:
    """The question without the word that leaves out what was given. None if it has none.

    >>> strip_other("Which other films did she direct?")
    OtherThings(question='Which films did she direct?', noun='films')
    """
    words = tokenize(question)
    for i, token in enumerate(words):
        before = words[i - 1].norm if i else ""
        after = words[i + 1].norm if i + 1 < len(words) else ""
        if token.norm not in WORDS["other"] | WORDS["other_after"]:
            continue
        is_after = token.norm in WORDS["other_after"]
        is_else = before in WORDS["question_words"] | WORDS["indefinite_pronouns"]
        has_noun = after and after not in function_words() | WORDS["stand_in"] | WORDS["than"]
        if is_else if is_after else has_noun and before not in WORDS["before_the_other"]:
            article = f"{word_map('dialogue', 'standalone')['any']} " if token.norm in WORDS["one_other"] else ""
            rest = question[: token.start] + article + question[token.end :].lstrip()
            return OtherThings(rest, "" if is_after else after)
    return None


def rewrite_without_given(rewrite: Rewrite, earlier: Sequence[EarlierTurn], noun: str, linker: Linker) -> Rewrite:
    """The rewrite without the things that the last turns gave or named, of the class that a noun names."""
    given: dict[str, None] = {}
    for turn in earlier[-MAX_TURNS_EXCLUDED:]:
        is_answer = turn.plan is not None and not isinstance(turn.plan.body, Ask)
        given |= dict.fromkeys(chain(turn.keys if is_answer else (), *named_things_of(turn.plan)))
    classes = [c.relations for c in linker.link(tokenize(noun)) if c.kind == "class" and c.exact] if noun else []
    tables = frozenset[str]().union(*classes)
    given = {k: None for k in given if not tables or ((thing := linker.lexicon.thing(k)) and thing.relation in tables)}
    scope = replace(rewrite.scope or Scope(), besides=tuple(given)[:MAX_THINGS_EXCLUDED])
    return replace(rewrite, depends=True, scope=scope)


def exclude_given(candidate: Candidate, keys: tuple[str, ...], index: LinkingIndex) -> Candidate:
    """The candidate without these things, if it is about things of their tables that it does not name."""
    tables = {thing.relation for key in keys if (thing := index.lexicon.thing(key))}
    select, graph = asked_select(candidate.body), index.graph

    def is_fitting(v: Variable) -> bool:
        own = [graph.node_of_classes.get((v.classes, v.without)), *map(graph.node_of_class.get, v.any_of)]
        return not v.keys and any(graph.nodes[node].relations & tables for node in own if node is not None)

    fitting = [v for v in (select.variables if select is not None else ()) if is_fitting(v)]
    if select is None or not fitting:
        return candidate._replace(derivation=candidate.derivation.apply_rule(KEPT_GIVEN_RULE))
    own = max(fitting, key=lambda v: v.name == variable_of(select.answers[0]))
    others = plan_edits.exclude_keys(select, own, keys, f"({len(keys)} {EARLIER_TURN_MARK}")
    return candidate._replace(body=Ask(others) if isinstance(candidate.body, Ask) else others)
