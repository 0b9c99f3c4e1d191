"""What rules an offer out: Alignment + Words + Question + Links -> whether the question asks for something else.

A verified question may differ by one word from a question that asks for something else. These laws only take offers
away, so that what the rules read stands. A surer reading of the rules is a milder one: the offer comes behind it.

- The question word asks for another kind of answer than the plan gives.
- The question computes something that the verified one does not, or negates it, or asks for the other extreme.
- A word names another class or property than those of the plan, or a thing for which the plan has no place.
- A name is another one, and a word that nothing accounts for stands in the place of one of the verified question.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from nacre.language.base import language
from nacre.records.plan import Aggregate, Attribute, Body, Combine, Select
from nacre.records.turn import ExpectedKind, Reading
from nacre.understanding.expected_answer import expected_kind
from nacre.understanding.linking.graph.schema_graph import SchemaGraph
from nacre.understanding.question.types import Link, Question
from nacre.understanding.verified.align import Alignment
from nacre.understanding.verified.likeness import Words, computing_cues, cue_directions

# minimum score of a link to another class or property, and minimum probability of a reading of the rules that is sure
# (chosen on the questions of 77 graphs)
MIN_OTHER_LINK, SURE_READING = 0.7, 0.7
# kinds of answers that fit what the first words ask for
FITTING_KINDS: Mapping[str, frozenset[ExpectedKind]] = {
    "when": frozenset(("date", "number")),
    "where": frozenset(("entities", "text", "prose")),
    "who": frozenset(("entities", "text", "prose")),
    "number": frozenset(("number",)),
    "truth": frozenset(("boolean",)),
}
# what a question computes only if its verified one does, and the other way round
COMPUTED_ONLY_IF_VERIFIED, NEEDED_IF_VERIFIED = frozenset(("not", "avg", "share")), frozenset(("not",))


def asks_otherwise(
    alignment: Alignment, words: Words, question: Question, links: Sequence[Link], graph: SchemaGraph
) -> bool:
    """Whether the question contradicts the plan of the verified question."""
    return (
        not _fits_kind(alignment, question, graph)
        or _computes_otherwise(alignment, question)
        or _names_otherwise(alignment, words, links)
        # "who rang the bell of A" is no other wording of "who cast the bell of B"
        or bool(alignment.changed and words.unlinked and words.missing)
    )


def rules_are_surer(alignment: Alignment, probability: float, first: Reading | None) -> bool:
    """Whether the first reading of the rules is another one that is sure, and surer than an offer."""
    known = (first.probability or 0.0) if first is not None and first.plan.body != alignment.plan.body else 0.0
    return known >= SURE_READING and known > probability


def requested_kind(question: Question) -> str:
    """What the first words ask for, a key of `FITTING_KINDS`; "" if they leave it open."""
    known, first = language().words, question.tokens[0].norm if question.tokens else ""
    opening = next((cue for cue in question.cues if cue.start == 0), None)
    if first in known["who"]:
        return "who"
    if opening is not None and opening.kind in ("open", "count"):
        return opening.value if opening.kind == "open" else "number"
    return "truth" if first in known["asking_yes_no"] else ""


def answer_kinds(body: Body, graph: SchemaGraph) -> frozenset[ExpectedKind]:
    """The kinds of all columns that a plan answers with. Texts of a property of dates are dates."""
    select = body.left if isinstance(body, Combine) else body
    if not isinstance(select, Select):
        return frozenset((expected_kind(body, graph.schema),))
    dates = any(isinstance(each, Attribute) and graph.is_date(each.predicate) for each in select.answers)
    kinds = {expected_kind(replace(select, answers=(each,)), graph.schema) for each in select.answers}
    return frozenset(kinds | {"date"} if dates else kinds)


def _fits_kind(alignment: Alignment, question: Question, graph: SchemaGraph) -> bool:
    asked, body, template = requested_kind(question), alignment.plan.body, alignment.template
    kinds = answer_kinds(body, graph)
    if asked and asked != requested_kind(template.question) and FITTING_KINDS[asked].isdisjoint(kinds):
        return False
    if asked != "truth" and kinds == {"boolean"}:
        return False
    if _counts_things(question) and not _counts_things(template.question) and _only(body, "sum", "avg"):
        return False
    # a list is asked for, and the plan only counts
    lists = any(cue.kind == "open" for cue in question.cues)
    return not (lists and _only(body, "count") and computing_cues(question.cues).isdisjoint(("count", "sum")))


def _counts_things(question: Question) -> bool:
    """Whether the question begins with a count ("how many"), or wants different things."""
    return requested_kind(question) == "number" or any(cue.kind == "distinct" for cue in question.cues)


def _only(body: Body, *functions: str) -> bool:
    """Whether all that a plan answers with are results of these functions."""
    answers = body.answers if isinstance(body, Select) else ()
    return bool(answers) and all(isinstance(each, Aggregate) and each.function in functions for each in answers)


def _computes_otherwise(alignment: Alignment, question: Question) -> bool:
    body, template = alignment.plan.body, alignment.template
    cues, others = computing_cues(question.cues), computing_cues(template.cues)
    if (cues - others) & COMPUTED_ONLY_IF_VERIFIED or (others - cues) & NEEDED_IF_VERIFIED:
        return True
    if isinstance(body, Select) and body.order is not None and body.limit is not None and "order" not in cues:
        return True
    extremes = [cue_directions(c for c in each if c.kind not in ("order", "direction"))
                for each in (question.cues, template.cues)]  # fmt: skip
    return all(extremes) and extremes[0].isdisjoint(extremes[1])


def _names_otherwise(alignment: Alignment, words: Words, links: Sequence[Link]) -> bool:
    free = [link for link in links if alignment.taken.isdisjoint(range(link.start, link.end))]
    known = words.same | words.synonymous
    return any(
        link.exact and known.isdisjoint(range(link.start, link.end))
        if link.kind in ("entity", "value")
        else link.score >= MIN_OTHER_LINK and any(link.covered >> i & 1 for i in words.other | words.weak)
        for link in free
    )
