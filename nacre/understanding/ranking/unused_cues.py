"""Find bounds, negations and ranks of the question that a plan ignores: Candidate + Question -> spans of tokens."""

from collections.abc import Iterator

from nacre.language.data import WORDS, word_list
from nacre.records.plan import AGGREGATES, EXTREMES, Body, Combine, Compute, Select
from nacre.understanding.linking.schema_graph import SchemaGraph
from nacre.understanding.parsing.finish import UNSETTLED_DEGREE_RULE
from nacre.understanding.parsing.number_rules import AGE_RULES, convert_to_unit, is_year_of_birth
from nacre.understanding.parsing.read_comparisons import COUNTED_SIDES_RULE, SUMMED_SIDES_RULE
from nacre.understanding.parsing.state import Candidate, overlaps_link
from nacre.understanding.parsing.superlative_rules import GUESSED_MEASURE_RULE
from nacre.understanding.question.records import (
    INEQUALITIES,
    RANKING_CUES,
    Condition,
    Cue,
    Derivation,
    Number,
    Question,
)

# Kinds of cues that compare. A reading that uses them, or those that rank, has an order, an extreme or a comparison.
_COMPARING_CUES = frozenset(("compared", "comparative"))

RELATIVE_TOLERANCE = 1e-6  # How far two numbers may differ, relatively, to count as equal.

TokenSpan = tuple[int, int]


def ignored_words(candidate: Candidate, question: Question, graph: SchemaGraph) -> tuple[TokenSpan, ...]:
    """The spans that bound, negate, group or rank, and that no part of the plan expresses, in order."""
    d = candidate.derivation
    if not {COUNTED_SIDES_RULE, SUMMED_SIDES_RULE}.isdisjoint(d.trace):
        return ()
    found = [
        *_ignored_numbers(d, question, graph),
        *_ignored_cues(candidate, question, graph),
        *_ignored_groups(d, question),
        *_ignored_comparisons(candidate, question),
    ]
    is_ranked = _is_ranked(candidate) and GUESSED_MEASURE_RULE not in d.trace
    if not is_ranked:
        # The cues that rank, and those that compare if no condition does
        compares = any(c.op in INEQUALITIES for c in _all_conditions(d.conditions))
        kinds = RANKING_CUES if compares else RANKING_CUES | _COMPARING_CUES
        found += [(c.start, c.end) for c in question.cues if c.kind in kinds]
    # Words in names express nothing ("Rule No 5", "the Best Actor award"). The name of an unused link is no excuse.
    # Nor are things that are neither asked for nor restricted: "has the oldest tree" asks for more than for a tree.
    used = {t.ref.node for t in d.targets} | {c.ref.node for c in _all_conditions(d.conditions)}
    links = [x for x in d.links if is_ranked or not (x.refs and x.refs[0].via and x.refs[0].node not in used)]
    spans = set(found)
    longest = (s for s in spans if not any(o != s and o[0] <= s[0] and s[1] <= o[1] for o in spans))
    return tuple(sorted(span for span in longest if not overlaps_link(*span, links)))


def is_unrestricted(body: Body) -> bool:
    """Whether a plan gives all things of a class, or one number over all: no condition, name, join or limit."""
    if not isinstance(body, Select):
        return False
    return not (body.filters or body.edges or body.limit or any(v.keys for v in body.variables))


def is_required_word(at: int, question: Question) -> bool:
    """Whether an unlinked word must be a condition: a capitalised word, or one right after "in" or "by"."""
    words = question.tokens
    # The first word of a sentence is always capitalised.
    is_first = at == 0 or any(mark in ".?!" for mark in question.text[words[at - 1].end : words[at].start])
    is_name = words[at].text[:1].isupper() and not is_first
    return is_name or (at > 0 and words[at - 1].norm in WORDS["locating"])


def _ignored_numbers(d: Derivation, question: Question, graph: SchemaGraph) -> Iterator[TokenSpan]:
    """Numbers that are in no condition, limit or rank. A "one" or "two" without a bound may only stand for things."""
    often = word_list("question", "occasions")
    for number in question.numbers:
        words = question.tokens[number.start : number.end]
        counts = bool(number.op) or any(t.norm[:1].isdigit() or t.norm in often for t in words)
        if counts and not _is_used(number, d, graph):
            yield number.start, number.end


def _ignored_cues(candidate: Candidate, question: Question, graph: SchemaGraph) -> Iterator[TokenSpan]:
    """Negations, a final total, a percentage, the measure of "how heavy", and a second date that are not used."""
    d, words, joining = candidate.derivation, question.tokens, WORDS["joining"]
    functions = {t.function for t in d.targets} | {c.function for c in _all_conditions(d.conditions)}
    functions |= {d.order.function} if d.order is not None else set()
    is_aggregated = not isinstance(candidate.body, Select) or bool(functions & AGGREGATES.keys() - EXTREMES)
    is_negated = _is_negated(candidate)
    is_share = isinstance(candidate.body, Compute) and candidate.body.op == "%"
    gives_date = any(t.ref.predicate and graph.is_date(t.ref.predicate) for t in d.targets)
    for cue in question.cues:
        is_ignored = False
        if cue.kind in ("negation", "missing"):
            # "is not higher than 4" is a bound.
            is_bound = any(n.op and n.start < cue.end and cue.start < n.end for n in question.numbers)
            is_ignored = not is_negated and not is_bound
        elif cue.kind == "sum":
            # "the total price" may be the name of a property.
            is_ignored = not is_aggregated and cue.end == len(words)
        elif cue.kind == "share":
            is_ignored = not is_share
        elif cue.kind == "degree":
            # "how much in total" is a sum
            is_ignored = UNSETTLED_DEGREE_RULE in d.trace and not is_aggregated
        elif cue.start and (cue.kind, cue.value) == ("open", "when"):
            has_comma = "," in question.text[words[cue.start - 1].end : words[cue.start].start]
            is_ignored = not gives_date and (has_comma or words[cue.start - 1].norm in joining)
        if is_ignored:
            yield cue.start, cue.end


def _ignored_groups(d: Derivation, question: Question) -> Iterator[TokenSpan]:
    """Groups that the reading does not form, or whose class it does not use."""
    groups = [c for c in question.cues if c.kind == "group"]
    has_only_numbers = all(t.function or not t.ref.predicate for t in d.targets) and any(t.function for t in d.targets)
    if has_only_numbers and not d.group and "group is owner" not in d.trace:
        # "the total for each" is not one number. "The average size per order" is a property of orders.
        grouping, words = WORDS["grouping"], question.tokens
        last = {x.start for x in d.links if x.end == len(words) and x.kind in ("class", "property")}
        spans = ((c, {token.norm for token in words[c.start : c.end]}) for c in groups)
        yield from ((c.start, c.end) for c, said in spans if said & grouping or (c.value == "weak" and c.end in last))
    elif not d.group:
        # "the cost per maker" is no list of costs
        yield from ((c.start, c.end) for c in groups if _groups_by_other_class(c, d))
    for cue in groups if d.group else ():
        # "for each maker" without the makers.
        of = next((i for i in range(cue.end, len(question.tokens)) if i not in question.stopwords), None)
        if of is not None and not d.covered >> of & 1:
            yield cue.start, cue.end


def _groups_by_other_class(cue: Cue, d: Derivation) -> bool:
    """Whether a class or property follows that is none of what is asked for or of its things."""
    after = [link.refs[0] for link in d.links if link.start == cue.end and link.kind in ("class", "property")]
    asked = {target.ref for target in d.targets} | ({d.order.ref} if d.order is not None else set())
    return bool(after) and not any(ref in asked or ref == target.thing for ref in after for target in asked)


def _ignored_comparisons(candidate: Candidate, question: Question) -> Iterator[TokenSpan]:
    """The "than" of "has A more than B", which does not ask whether there are any."""
    d = candidate.derivation
    conditions = _all_conditions(d.conditions)
    compares = any(c.op in INEQUALITIES or c.against is not None or c.top is not None for c in conditions)
    if compares or isinstance(candidate.body, Compute):
        return
    than = WORDS["than"]
    for i, token in enumerate(question.tokens):
        # "narrower than" may be the name of a link.
        if token.norm in than and not any(x.kind == "property" and x.end == i for x in d.links):
            yield i, i + 1


def _is_used(number: Number, d: Derivation, graph: SchemaGraph) -> bool:
    """Whether a reading has the number in a condition, in any unit, or as a limit or rank."""
    conditions = list(_all_conditions(d.conditions))
    orders = [*((d.order,) if d.order is not None else ()), *(c.top for c in conditions if c.top is not None)]
    if any(number.value in (o.limit, o.offset + 1) for o in orders):
        return True
    if not AGE_RULES.isdisjoint(d.trace) and any(is_year_of_birth(number, v) for c in conditions for v in c.values):
        return True
    return any(_is_value(number, value, c, graph) for c in conditions for value in c.values)


def _is_value(number: Number, value: str | float, condition: Condition, graph: SchemaGraph) -> bool:
    """Whether a number of the question is a constant of a condition: a date, a number in a text, or a quantity."""
    if isinstance(value, str):
        years = {f"{int(number.value):04}", f"{int(number.value) + 1:04}"} if number.value < 1e4 else set()
        bounds = {number.date_start, number.date_end} - {""}
        return value[:4] in years or value in bounds or f"{number.value:g}" in value
    unit = graph.about(condition.ref.predicate).unit if condition.ref.predicate else ""
    amounts = [n for n in (number.value, convert_to_unit(number, unit)) if n is not None]
    return any(abs(value - n) <= RELATIVE_TOLERANCE * max(1.0, abs(n)) for n in amounts)


def _all_conditions(conditions: tuple[Condition, ...]) -> Iterator[Condition]:
    for condition in conditions:
        yield condition
        yield from _all_conditions(condition.inner)


def _is_negated(candidate: Candidate) -> bool:
    d = candidate.derivation
    lacking = WORDS["lacking"]
    return any(
        c.negated or c.op in ("unknown", "!=") or any(str(v).casefold() in lacking for v in c.values)
        for c in _all_conditions(d.conditions)
    ) or any(c.function and c.values == (0,) for c in d.conditions)


def _is_ranked(candidate: Candidate) -> bool:
    d = candidate.derivation
    conditions = _all_conditions(d.conditions)
    is_ordered = d.order is not None or any(c.top is not None or c.against is not None for c in conditions)
    is_extreme = any(t.function in ("max", "min") for t in d.targets)
    return is_ordered or is_extreme or not isinstance(candidate.body, Select | Combine)
