"""What a question asks and a reading does nothing with: Candidate + Question -> tokens of numbers, negations, ranks."""

from collections.abc import Iterator

from nacre.language.base import language
from nacre.records.plan import Body, Combine, Compute, Select
from nacre.understanding.linking.graph.schema_graph import SchemaGraph
from nacre.understanding.parsing.candidate import Candidate
from nacre.understanding.parsing.modifier_rules.number_conditions import convert_to_unit
from nacre.understanding.parsing.readers.more_than import COUNTED_SIDES_RULE
from nacre.understanding.question.types import INEQUALITIES, Condition, Cue, Derivation, Link, Number, Question

# kinds of cues that leave their trace in any reading that heeds them
_RANKING = frozenset(("superlative", "most"))
_COMPARING = frozenset(("compared", "comparative"))
RELATIVE_TOLERANCE = 1e-6


def unheeded_words(candidate: Candidate, question: Question, graph: SchemaGraph) -> tuple[tuple[int, int], ...]:
    """The stretches of tokens that bound, negate or rank, and that no part of the plan says; in order."""
    d = candidate.derivation
    if COUNTED_SIDES_RULE in d.trace:
        return ()
    found = [(n.start, n.end) for n in question.numbers if _asks(n, question) and not _used(n, d, graph)]
    bounds = [n for n in question.numbers if n.op]
    if not _negates(candidate):
        negations = [c for c in question.cues if c.kind == "negation"]
        # "is not higher than 4" is a bound
        found += [(c.start, c.end) for c in negations if not any(n.start < c.end and c.start < n.end for n in bounds)]
    if _is_one_number(d):
        # "the total for each" is no one number
        grouping, words = language().words["grouping"], question.tokens
        cues = [c for c in question.cues if c.kind == "group"]
        found += [(c.start, c.end) for c in cues if any(t.norm in grouping for t in words[c.start : c.end])]
    for cue in (c for c in question.cues if d.group and c.kind == "group"):
        # "for each maker" without the makers
        named = next((i for i in range(cue.end, len(question.tokens)) if i not in question.stopwords), None)
        if named is not None and not d.covered >> named & 1:
            found.append((cue.start, cue.end))
    if not _sums(candidate):
        # "in total" at the end; "the total price" may be the name of a property
        found += [(c.start, c.end) for c in question.cues if c.kind == "sum" and c.end == len(question.tokens)]
    if not any(t.ref.predicate and graph.is_date(t.ref.predicate) for t in d.targets):
        found += [(c.start, c.end) for c in question.cues if _asks_when_too(c, question)]
    if not isinstance(candidate.body, Compute) and not any(_compares(c) for c in _every(d.conditions)):
        # "has A more than B" is not whether there are any
        than, links = language().words["than"], d.links
        # but "narrower than" may be what a link is called
        found += [
            (i, i + 1)
            for i, t in enumerate(question.tokens)
            if t.norm in than and not any(x.kind == "property" and x.end == i for x in links)
        ]
    if not (isinstance(candidate.body, Compute) and candidate.body.op == "%"):
        found += [(c.start, c.end) for c in question.cues if c.kind == "share"]
    idle: tuple[Link, ...] = ()
    if not _ranks(candidate):
        compares = any(c.op in INEQUALITIES for c in _every(d.conditions))
        kinds = _RANKING if compares else _RANKING | _COMPARING
        found += [(c.start, c.end) for c in question.cues if c.kind in kinds]
        # "has the oldest tree" asks for more than that there is one
        used = {t.ref.node for t in d.targets} | {c.ref.node for c in _every(d.conditions)}
        idle = tuple(x for x in d.links if x.refs and x.refs[0].via and x.refs[0].node not in used)
    return tuple(sorted(span for span in _longest(found) if not _named(span, d, idle)))


def _asks_when_too(cue: Cue, question: Question) -> bool:
    """Whether a question asks when something was beside something else: "who fixed it, and when"."""
    if (cue.kind, cue.value) != ("open", "when") or not cue.start:
        return False
    words = question.tokens
    parted = "," in question.text[words[cue.start - 1].end : words[cue.start].start]
    return parted or words[cue.start - 1].norm in language().words["joining"]


def has_unheeded_bound(spans: tuple[tuple[int, int], ...], question: Question) -> bool:
    """Whether a number that something is compared with is among what a reading leaves out."""
    compared = {(n.start, n.end) for n in question.numbers if n.op}
    return any(span in compared for span in spans)


def is_unrestricted(body: Body) -> bool:
    """Whether a plan gives all of a kind, or one number of it: no condition, no named thing, no place in an order."""
    if not isinstance(body, Select):
        return False
    return not (body.filters or body.edges or body.limit or any(v.keys for v in body.variables))


def is_required_word(at: int, question: Question) -> bool:
    """Whether a word that names nothing is a condition for sure: a name, or what comes right after "in" or "by"."""
    words = question.tokens
    # a sentence begins with a capital whatever its first word is
    begins = at == 0 or any(mark in ".?!" for mark in question.text[words[at - 1].end : words[at].start])
    named = words[at].text[:1].isupper() and not begins
    return named or (at > 0 and words[at - 1].norm in language().words["locating"])


def _asks(number: Number, question: Question) -> bool:
    """Whether a number must be accounted for: "one" and "two" may only stand for things."""
    words = question.tokens[number.start : number.end]
    return bool(number.op) or any(t.norm[:1].isdigit() for t in words)


def _used(number: Number, d: Derivation, graph: SchemaGraph) -> bool:
    """Whether a reading has the number in a condition, in any unit, or as so many places."""
    places = [d.order] if d.order is not None else []
    conditions = list(_every(d.conditions))
    places += [c.top for c in conditions if c.top is not None]
    if any(number.value in (o.limit, o.offset + 1) for o in places):
        return True
    return any(_is(number, value, c, graph) for c in conditions for value in c.values)


def _is(number: Number, value: str | float, condition: Condition, graph: SchemaGraph) -> bool:
    if isinstance(value, str):
        years = {f"{int(number.value):04}", f"{int(number.value) + 1:04}"} if number.value < 1e4 else set()
        starts = {number.date_start, number.date_end} - {""}
        return value[:4] in years or value in starts or f"{number.value:g}" in value
    unit = graph.about(condition.ref.predicate).unit if condition.ref.predicate else ""
    said = [n for n in (number.value, convert_to_unit(number, unit)) if n is not None]
    return any(abs(value - n) <= RELATIVE_TOLERANCE * max(1.0, abs(n)) for n in said)


def _every(conditions: tuple[Condition, ...]) -> Iterator[Condition]:
    for condition in conditions:
        yield condition
        yield from _every(condition.inner)


def _negates(candidate: Candidate) -> bool:
    d = candidate.derivation
    body = candidate.body
    if isinstance(body, Combine) and body.op == "difference":
        return True
    lacking = language().words["lacking"]
    return any(
        c.negated or c.op in ("unknown", "!=") or any(str(v).casefold() in lacking for v in c.values)
        for c in _every(d.conditions)
    ) or any(c.function and c.values == (0,) for c in d.conditions)


def _ranks(candidate: Candidate) -> bool:
    d = candidate.derivation
    ordered = d.order is not None or any(c.top is not None or c.against is not None for c in _every(d.conditions))
    extreme = any(t.function in ("max", "min") for t in d.targets)
    return ordered or extreme or isinstance(candidate.body, Compute) or not isinstance(candidate.body, Select | Combine)


def _compares(condition: Condition) -> bool:
    return condition.op in INEQUALITIES or condition.against is not None or condition.top is not None


def _sums(candidate: Candidate) -> bool:
    """Whether anything is added up or counted: what is asked for, what comes first, what is bounded."""
    d = candidate.derivation
    functions = [t.function for t in d.targets] + [c.function for c in _every(d.conditions)]
    functions += [d.order.function] if d.order is not None else []
    return not isinstance(candidate.body, Select) or bool({"sum", "count", "avg"} & set(functions))


def _is_one_number(d: Derivation) -> bool:
    """Whether all things end up in one number, though not "the average size per order", which is of orders anyway."""
    alone = all(t.function or not t.ref.predicate for t in d.targets)
    return alone and any(t.function for t in d.targets) and not d.group and "group is owner" not in d.trace


def _longest(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The stretches that lie in no longer one, each once."""
    apart = set(spans)
    return [s for s in apart if not any(o != s and o[0] <= s[0] and s[1] <= o[1] for o in apart)]


def _named(span: tuple[int, int], d: Derivation, idle: tuple[Link, ...]) -> bool:
    """Whether the words are part of a name: "Rule No 5", "the Best Actor award"; not of an `idle` one, at whose end
    stands nothing of which anything is asked or said."""
    mask = ((1 << (span[1] - span[0])) - 1) << span[0]
    return any(x.covered & mask for x in d.links if x not in idle)
