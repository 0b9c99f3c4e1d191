"""All derivations of a question within a beam: Question + indexes -> Candidates, likeliest first (stage `derive_candidates`)."""

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

from nacre.language.base import language
from nacre.language.forms.nouns import is_plural, wording_entry
from nacre.language.thesaurus import function_words
from nacre.language.tokens import Token
from nacre.records.cancellation import Deadline, raise_if_cancelled
from nacre.records.plan import Body, Select
from nacre.understanding.linking.graph.schema_graph import SchemaGraph
from nacre.understanding.linking.index import LinkingIndex
from nacre.understanding.parsing.beam import beam_search
from nacre.understanding.parsing.candidate import Candidate
from nacre.understanding.parsing.completion.columns import MEASURE_RULE, STANDS_FOR_RULE
from nacre.understanding.parsing.completion.finish import finish_state
from nacre.understanding.parsing.constraints.mentioned_paths import count_mentioned_edges, mentioned_words
from nacre.understanding.parsing.constraints.preferences import (
    drop_constant_orders,
    drop_sorting_categories,
    prefer_extreme_values,
    prefer_named_measure,
    prefer_owner_columns,
    prefer_single_hops,
    prefer_totals,
    prefer_whole_names,
    prefer_wider_classes,
)
from nacre.understanding.parsing.lowering.lower import LoweredPlan, lower_derivation
from nacre.understanding.parsing.mention_rules.categories import MEMBERS_RULE
from nacre.understanding.parsing.mention_rules.entities_and_values import BY_ITS_CODE
from nacre.understanding.parsing.mention_rules.possessives import has_possessive_column
from nacre.understanding.parsing.modifier_rules.exclusive import ONLY_RULE
from nacre.understanding.parsing.modifier_rules.ongoing import BY_END_RULE
from nacre.understanding.parsing.state import ParseContext
from nacre.understanding.question.types import Aggregation, Derivation, Link, Question, Ref

# partial readings that are finished, ways of joining that are tried, and readings that are kept
MOST_STATES = 40
MOST_WAYS = 3
MAX_CANDIDATES = 40
# derivations that are turned into plans
MOST_LOWERED = 60
# the rule by which things are asked for together with what they have
OWN = "class target with own"
# what is so far below the best of its kind is left out: readings that are finished, turned into plans, kept
MARGIN = 2.0


T = TypeVar("T")


def derive_candidates(
    question: Question, links: list[Link], known: LinkingIndex, deadline: Deadline, most: int = MAX_CANDIDATES
) -> list[Candidate]:
    """The `most` readings of a question, likeliest first by their prior, each plan once."""
    question = _without_parts(question, links)
    states = beam_search(ParseContext(question, known.graph), links, deadline)
    best: dict[tuple[int, int], float] = {}
    for each in links:
        best[each.start, each.end] = max(each.score, best.get((each.start, each.end), 0.0))
    whole = {x.covered for x in links if x.exact and x.end - x.start > 1}
    found: dict[Body, Candidate] = {}
    apart: dict[tuple[object, ...], Derivation] = {}
    for state in _near(states, lambda s: s.score)[:MOST_STATES]:
        for derivation in finish_state(state, ParseContext(question, known.graph)):
            key = (
                *derivation[:4],
                frozenset(derivation.nodes),
                derivation.combine,
                derivation.hints,
                derivation.attachment,
            )
            before_it = apart.get(key)
            if before_it is None or derivation.prior > before_it.prior:
                apart[key] = derivation
    likeliest = sorted(apart.values(), key=lambda d: -d.prior)
    for derivation in _near(likeliest, lambda d: d.prior)[:MOST_LOWERED]:
        raise_if_cancelled()
        if found and deadline.is_over():
            break
        for choice, lowered in enumerate(_lowered(derivation, question, known.graph)):
            derivation = derivation._replace(prior=derivation.prior - (0.3 if choice else 0.0))
            used = derivation.links
            candidate = Candidate(
                derivation,
                lowered.body,
                lowered.cost,
                lowered.steps,
                lowered.ambiguous,
                choice,
                sum(best[x.start, x.end] - x.score for x in used),
                sum(any(x.covered & w == x.covered != w for w in whole) for x in used),
            )
            before = found.get(lowered.body)
            if before is None or prior_score(candidate) > prior_score(before):
                found[lowered.body] = candidate
    asks = bool(question.tokens) and question.tokens[0].norm in language().words["asking_yes_no"]
    counting = [c for c in found.values() if not (_counts_itself(c.derivation) or _is_twice(c.body, known.graph))]
    every = [c for c in counting if asks or not _asks_itself(c.derivation, "count")]
    telling = [c for c in every if not _asks_itself(c.derivation)]
    kept = every if asks or not telling else telling
    kept = _summed(_with_what_is_lacking(_without_own_name(kept), question), question)
    # "the boats with their keepers" shows the keepers
    shown = [c for c in kept if OWN not in c.derivation.trace or len(c.derivation.targets) > 1]
    kept = shown if any(OWN in c.derivation.trace for c in shown) else kept
    kept = prefer_totals(drop_constant_orders(drop_sorting_categories(prefer_single_hops(kept))))
    kept = prefer_owner_columns(kept) if has_possessive_column(question) else kept
    if any(c.kind == "now" for c in question.cues):
        kept = [c for c in kept if BY_END_RULE in c.derivation.trace] or kept
    counts = [c for c in question.cues if c.kind == "count"]
    if any(d.kind == "degree" and d.start == c.start and c.end < d.end for d in question.cues for c in counts):
        # "how many people can the room hold" counts nobody
        kept = [c for c in kept if "degree of thing" in c.derivation.trace] or kept
    if any(c.kind == "only" for c in question.cues):
        kept = [c for c in kept if ONLY_RULE in c.derivation.trace] or kept
    if question.wants_measure:
        kept = [c for c in kept if MEASURE_RULE in c.derivation.trace] or kept
    kept = prefer_wider_classes(
        prefer_whole_names(prefer_named_measure(prefer_extreme_values(kept, question)), question), known.graph
    )
    asked = _asked_kind(question, links, known.graph)
    told = [c for c in kept if asked is None or _tells(c.derivation, asked, known.graph)]
    return _near(sorted(told or kept, key=lambda c: -prior_score(c)), prior_score)[:most]


def _without_parts(question: Question, links: list[Link]) -> Question:
    """The question without numbers that are parts of a code which is named as it is written: "8302-2"; and without what
    asks how many where it goes on from a property's name: the "phone numbers of" the shops."""
    words = question.tokens
    codes = [
        x
        for x in links
        if x.kind in ("value", "entity") and x.exact and x.end - x.start > 1
        if len(question.text[words[x.start].start : words[x.end - 1].end].split()) == 1
    ]
    parts = tuple(n for n in question.numbers if not any(x.start <= n.start and n.end <= x.end for x in codes))
    named = [x for x in links if x.kind == "property" and x.exact]
    cues = [
        c
        for c in question.cues
        if c.kind != "count" or not any(x.start < c.start and x.covered >> c.start & 1 for x in named)
    ]
    return question._replace(numbers=parts, cues=tuple(cues))


def _lowered(derivation: Derivation, question: Question, graph: SchemaGraph) -> list[LoweredPlan]:
    """The plans of a derivation by the ways that are about as short, but for those of which the question speaks less
    than of one that is no longer."""
    found: list[LoweredPlan] = []
    for choice in range(MOST_WAYS):
        lowered = lower_derivation(derivation, graph, choice)
        if lowered is None:
            break
        found.append(lowered)
        if lowered.ambiguous <= choice:
            break
    if len(found) < 2:
        return found
    said = mentioned_words(derivation.links, question, graph)
    speaks = {each: count_mentioned_edges(each.body, said, graph) for each in found}
    return [a for a in found if not any(speaks[b] > speaks[a] and b.steps <= a.steps for b in found)]


def _near(ordered: list[T], score: Callable[[T], float]) -> list[T]:
    """What is at most the margin below the first."""
    return [each for each in ordered if score(each) >= score(ordered[0]) - MARGIN]


class _Kind(NamedTuple):
    """The kind of things asked for, properties before its name that only rank it ("highest rated players"), and where
    it is named in full."""

    node: int
    ranking: frozenset[str] = frozenset()
    named: frozenset[int] = frozenset()


def _says_kind(link: Link, question: Question, graph: SchemaGraph) -> bool:
    """Whether a word says a kind in another way, or by the last word of its name."""
    last = question.tokens[link.end - 1].lemma
    return link.match == "like" or (link.match == "partial" and graph.nodes[link.refs[0].node].words[-1:] == (last,))


def _asked_kind(question: Question, links: list[Link], graph: SchemaGraph) -> _Kind | None:
    """The kind of things that a question begins to ask for.

    "which states ...", "what is the longest river ...", "the two largest states", "the three highest rated players".
    """
    words = question.tokens
    known = language().words
    ranking = {i for c in question.cues if c.kind in ("superlative", "most") for i in range(c.start, c.end)}
    places = {i for n in question.numbers if not n.op for i in range(n.start, n.end)}
    # "in which towns"
    lead = int(len(words) > 1 and words[0].norm in known["asking_after"] and words[1].norm in known["asking_kind"])
    said = words[lead].norm if words else ""
    first = next(
        (
            i
            for i in range(len(words))
            if i not in places and words[i].norm not in known["article"] | known["whose_own"]
        ),
        0,
    )
    begins = said in known["article"] | known["whose_own"] and (first in ranking or places)
    if said not in known["asking_kind"] and not begins:
        return None
    skipped = ranking | places
    kinds_at = {x.start for x in links if x.kind == "class"}
    start = next(
        (
            i
            for i in range(lead + 1, len(words))
            if i not in skipped and (words[i].norm not in function_words() or (i == lead + 1 and i in kinds_at))
        ),
        0,
    )
    if any(x.match == "scope" and lead < x.start < start for x in links):
        # "which of them has the most seats" asks for them
        return None
    # "pasta has the shortest" is not the name of a kind, "short pasta"
    ranked = sum(1 << i for i in ranking)
    named = [x for x in links if x.start == start and x.exact and not x.covered & ranked]
    if not named:
        # "which shows", of what is called a series; "which keepers", of the light keepers
        like = [x for x in links if x.start == start and x.kind == "class" and _says_kind(x, question, graph)]
        named = [x for x in like if x.score == max(y.score for y in like)]
    after = [x for x in named if x.kind in ("class", "property")]
    end = max((x.end for x in after), default=0)
    kinds = {x.refs[0].node if x.kind == "class" else None for x in after if x.end == end}
    by: frozenset[str] = frozenset()
    if ranking:
        measures = [x for x in links if x.start == start and x.kind == "property" and x.refs[0].predicate]
        owners = [
            x
            for x in links
            for m in measures
            if x.kind == "class" and x.start == m.end and (x.exact or _says_kind(x, question, graph))
        ]
        ranked_kinds = {x.refs[0].node for x in owners if any(x.refs[0].node == m.refs[0].node for m in measures)}
        if len(ranked_kinds) == 1:
            kinds, end = {*ranked_kinds}, max(x.end for x in owners)
            by = frozenset(m.refs[0].predicate for m in measures)
    owning = end and question.text[words[end - 1].end :][:1] in ("'", "’")
    node = next(iter(kinds)) if start and len(kinds) == 1 and not owning else None
    return None if node is None else _Kind(node, by, frozenset(x.start for x in after if x.exact and x.kind == "class"))


def _tells(d: Derivation, kind: _Kind, graph: SchemaGraph) -> bool:
    """Whether a reading tells things of a kind, or something of them, before anything else."""
    shown = {d.targets[0].ref.node, *(g.node for g in d.group)} if d.targets else set()
    told = any(graph.may_be(node, kind.node) for node in shown) or _names_one(d, kind, graph)
    partly = [x for x in d.links if x.kind == "property" and x.refs[0].predicate and not x.exact]
    if any(x.start in kind.named for x in partly):
        # "which airports" asks for no "airport codes"
        return False
    return told and d.targets[0].ref.predicate not in kind.ranking


def _names_one(d: Derivation, kind: _Kind, graph: SchemaGraph) -> bool:
    """Whether a reading tells the names of what each thing of a kind without names is one of: of the people whom rows
    for players stand for."""
    first = d.targets[0].ref if d.targets else None
    if STANDS_FOR_RULE in d.trace:
        return True
    if first is None or graph.nodes[kind.node].named or not first.predicate:
        return False
    leads = (s for s in graph.steps[kind.node] if s.forward and s.target == first.node)
    return graph.about(first.predicate).role == "name" and any(graph.about(s.predicate).functional for s in leads)


def _without_own_name(found: list[Candidate]) -> list[Candidate]:
    """Not what a category is called, nor a kind of whose name that is a part, where its members may be asked for."""
    named = {(x.start, x.end) for c in found if MEMBERS_RULE in c.derivation.trace for x in c.derivation.links}
    if not named:
        return found
    kept = [c for c in found if "default target is thing" not in c.derivation.trace]
    return [
        c
        for c in kept
        if not any(x.kind == "class" and not x.exact and (x.start, x.end) in named for x in c.derivation.links)
    ]


def _summed(found: list[Candidate], question: Question) -> list[Candidate]:
    """ "The total amount of all orders" is one number, where each of them has a "total amount" and none is named."""
    words = question.tokens
    of_all = any(c.kind == "any" and words[c.start].norm in language().words["altogether"] for c in question.cues)
    sums = {t.ref for c in found for t in c.derivation.targets if t.function == "sum"} if of_all else set()
    return [c for c in found if not any(_listed(c.derivation, ref, words) for ref in sums)]


def _listed(d: Derivation, ref: Ref, words: Sequence[Token]) -> bool:
    """Whether what is called a total of each thing is listed."""
    totals = wording_entry("computed")["total"].split()
    said = [x for x in d.links if x.kind == "property" and x.refs[0] == ref and words[x.start].norm in totals]
    listed = any(t.ref == ref and not t.function for t in d.targets)
    return listed and any(not is_plural(words[x.end - 1].norm) for x in said)


def _with_what_is_lacking(found: list[Candidate], question: Question) -> list[Candidate]:
    """Only the readings that answer to a "without", if there are any."""
    going = language().words["going_without"]
    if not any(c.kind in ("negation", "missing") and question.tokens[c.start].norm in going for c in question.cues):
        return found
    answering = [c for c in found if any(x.negated or x.op == "unknown" for x in c.derivation.conditions)]
    return answering or found


def _asks_itself(d: Derivation, function: Aggregation | None = None) -> bool:
    """Does a reading ask for a thing that the question names, or for its number: "which states are Texas"?"""
    named = {c.ref for c in d.conditions if c.op == "is" and len(c.keys) == 1 and not c.negated}
    if "named so" in d.trace or BY_ITS_CODE in d.trace:
        return False
    if function is not None:
        # one thing, however many values it has
        counted = [t.ref for t in d.targets if t.function == function and not t.distinct]
    else:
        counted = [t.ref for t in d.targets if not t.ref.predicate]
    return any(r.thing in named for r in counted)


def _is_twice(body: Body, graph: SchemaGraph) -> bool:
    """Does a plan speak of one thing as of two, as each stands at the one end that a link has: the sailors of each
    sailor's rentals?"""
    if not isinstance(body, Select):
        return False
    kinds = {v.name: v.classes for v in body.variables if not v.keys}
    ends = [
        (e.subject, e.predicate, kinds[e.object])
        for e in body.edges
        if e.object in kinds and graph.about(e.predicate).functional
    ]
    return len(set(ends)) < len(ends)


def _counts_itself(d: Derivation) -> bool:
    """Does a reading count each thing as one of its own kind: "clubs with the most clubs", "with fewer than 60", the
    clubs of each club?"""
    if any(t.function == "count" and not t.ref.predicate and t.ref in d.group for t in d.targets):
        return True
    things = {t.ref for t in d.targets if not t.function and not t.ref.predicate}
    counted = [c.ref for c in d.conditions if c.function == "count" and not c.ref.predicate]
    if d.order is not None and d.order.function == "count" and not d.order.ref.predicate:
        counted.append(d.order.ref)
    own = {*d.group} <= things
    return own and any(r in things for r in counted)


def prior_score(candidate: Candidate) -> float:
    """A first estimate that orders readings where no weights are at hand."""
    return candidate.derivation.prior - 0.2 * candidate.join_cost
