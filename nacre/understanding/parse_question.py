"""All readings of a question, in the form that it asks for: Question + Links -> Candidates, not yet ranked.

`READERS` read question forms with a grammar of their own. Some contain phrases or questions ("more than", "what
share of", two questions in one). Those are parsed here as well, and only complete readings of them count. All other
questions are read by the beam, whose readings pass `CONSTRAINTS` and then `REWRITES`.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from nacre.records.plan import (
    ARITHMETIC,
    ELAPSED,
    Aggregate,
    Ask,
    Body,
    Combine,
    Compute,
    Itself,
    Overview,
    Profile,
    Select,
)
from nacre.records.schema import Schema
from nacre.records.threads import Deadline
from nacre.records.turn import ExpectedKind, Reading
from nacre.understanding.linking.link_mentions import Linker, link_mentions, prepare_question
from nacre.understanding.linking.schema_graph import SchemaGraph
from nacre.understanding.parsing.columns import MEASURE_RULE, show_rows
from nacre.understanding.parsing.constraints import (
    answer_requested_property,
    asks_capacity,
    drop_computed_texts,
    drop_other_groups,
    drop_self_references,
    expect_rule,
    prefer_members,
    prefer_own_columns,
    prefer_requested_class,
    prefer_summed_bounds,
    prefer_totals,
    prefer_whole_sums,
    prefer_wider_classes,
    show_names_in_any_language,
    show_numbered_properties,
)
from nacre.understanding.parsing.derive import MAX_CANDIDATES, derive_candidates, likeliest_candidates, parse_context
from nacre.understanding.parsing.link_constraints import (
    drop_dates_beside,
    drop_reversed_links,
    drop_single_counts,
    prefer_named_extremes,
    prefer_named_links,
    prefer_own_properties,
)
from nacre.understanding.parsing.lower import aggregate_members, include_parts, read_unions
from nacre.understanding.parsing.profiles import GroupReader
from nacre.understanding.parsing.read_calculations import (
    is_one_number,
    read_ages,
    read_mean_counts,
    read_measures,
    read_shares,
    read_terms,
    read_two_questions,
)
from nacre.understanding.parsing.read_comparisons import (
    ReadNumber,
    is_comparison,
    read_choices,
    read_comparisons,
    read_more_than,
)
from nacre.understanding.parsing.read_yes_no import as_condition, as_yes_no, keep_named_things, read_kind_question
from nacre.understanding.parsing.state import Candidate, ParseContext, unused_tokens
from nacre.understanding.question.records import Link, Question, covered_mask
from nacre.understanding.ranking.rank import RankedReading, load_weights, rank_candidates
from nacre.understanding.ranking.unused_cues import ignored_words
from nacre.wording.plan_phrases import verbalise_plan


class ReaderInput(NamedTuple):
    """What a reader may use: the question, what its spans may name, and the parser itself for phrases and clauses."""

    question: Question
    links: list[Link]
    linker: Linker
    deadline: Deadline
    most: int = MAX_CANDIDATES

    @property
    def graph(self) -> SchemaGraph:
        return self.linker.index.graph

    def derive(self, question: Question, links: list[Link]) -> list[Candidate]:
        """The likeliest readings of the beam that meet the constraints."""
        return self.derive_in(parse_context(question, links, self.graph))

    def derive_in(self, context: ParseContext) -> list[Candidate]:
        """The same in a context."""
        return likeliest_candidates(constrain(derive_candidates(context, self.deadline), context), self.most)

    def read_whole(self, text: str) -> list[Candidate]:
        """The readings of a phrase or clause that use each of its words."""
        return complete_readings(text, self.linker, self.deadline)

    def read_number(self, text: str) -> ReadNumber | None:
        """The plan of a question for one number of things or one amount, if all but unknown words are read."""
        question, links, found = _ranked_readings(text, self.linker, self.deadline)
        linked = covered_mask(links)
        for reading in sorted(found, key=lambda each: len(each.unused)):
            body, unknown = reading.candidate.body, reading.unused
            if not any(linked >> i & 1 for i in unknown) and not ignored_words(reading.candidate, question, self.graph):
                if not is_one_number(body):
                    return None
                return ReadNumber(body, frozenset(question.tokens[i].norm for i in unknown))
        return None


class QuestionReader(NamedTuple):
    """A reader of one question form, beside the beam's unless its readings `exclude_others`."""

    name: str
    read: Callable[[ReaderInput], Iterable[Candidate]]
    exclude_others: Callable[[Sequence[Candidate], Question], bool] = lambda found, question: True


def parse_question(
    question: Question, links: list[Link], linker: Linker, deadline: Deadline, most: int = MAX_CANDIDATES
) -> list[Candidate]:
    """The readings of a question: those of the first reader that excludes others, else those of the beam as well."""
    asked = ReaderInput(question, links, linker, deadline, most)
    beside: list[Candidate] = []
    for reader in READERS:
        found = list(reader.read(asked))
        if found and reader.exclude_others(found, question):
            return found
        beside += found
    context = parse_context(question, links, asked.graph)
    once: dict[Body, Candidate] = {}
    for each in asked.derive_in(context):
        rewritten = each
        for rewrite in REWRITES:
            rewritten = rewrite.change(rewritten, context)
        once.setdefault(rewritten.body, rewritten)
    return [*beside, *once.values()]


def complete_readings(text: str, linker: Linker, deadline: Deadline) -> list[Candidate]:
    """The readings of a phrase or clause that use each of its words, likeliest first."""
    question, _, ranked = _ranked_readings(text, linker, deadline)
    graph = linker.index.graph
    return [r.candidate for r in ranked if not r.unused and not ignored_words(r.candidate, question, graph)]


def _ranked_readings(text: str, linker: Linker, deadline: Deadline) -> tuple[Question, list[Link], list[RankedReading]]:
    question = prepare_question(text, linker)
    links = link_mentions(question, linker.index)
    found = parse_question(question, links, linker, deadline)
    return question, links, rank_candidates(found, question, linker.index.graph, load_weights())


def group_reader(linker: Linker, deadline: Deadline) -> GroupReader:
    """A function that reads a phrase as the things of one class that meet conditions."""

    def read_group(phrase: str) -> list[Select]:
        return [
            body
            for body in [c.body for c in complete_readings(phrase, linker, deadline)]
            if isinstance(body, Select)
            if len(body.answers) == 1 and isinstance(body.answers[0], Itself)
            if (body.edges or body.filters) and body.limit is None and not body.group
        ]

    return read_group


def _uses_every_word(found: Sequence[Candidate], question: Question) -> bool:
    return any(not unused_tokens(each, question) for each in found)


class PlanRewrite(NamedTuple):
    """A named change of a reading, which returns other readings as they are."""

    name: str
    change: Callable[[Candidate, ParseContext], Candidate]


REWRITES = (
    PlanRewrite("yes or no", as_yes_no),
    PlanRewrite("aggregate of members", aggregate_members),
    PlanRewrite("parts of a whole", include_parts),
    PlanRewrite("nouns of unions", read_unions),
    PlanRewrite("requested property", answer_requested_property),
    PlanRewrite("rows without names", show_rows),
    PlanRewrite("numbered properties", show_numbered_properties),
    PlanRewrite("names in any language", show_names_in_any_language),
    PlanRewrite("keywords as condition", as_condition),
)


def constrain(candidates: list[Candidate], context: ParseContext) -> list[Candidate]:
    """Return the readings that meet the constraints, which are applied in their order."""
    for constraint in CONSTRAINTS:
        kept = constraint.keep(candidates, context)
        candidates = kept if constraint.is_law else kept or candidates
    return candidates


Keep = Callable[[list[Candidate], ParseContext], list[Candidate]]


class Constraint(NamedTuple):
    """A named constraint: `keep` returns the readings that meet it. If none does, all stay, unless it is a law."""

    name: str
    keep: Keep
    is_law: bool = False


CONSTRAINTS = (
    Constraint("no self reference", drop_self_references, is_law=True),
    Constraint("computable", drop_computed_texts, is_law=True),
    Constraint("named groups", drop_other_groups),
    Constraint("dates of what is asked", drop_dates_beside),
    Constraint("named links", prefer_named_links),
    Constraint("total of all", prefer_whole_sums),
    Constraint("own columns", prefer_own_columns),
    Constraint("rank by total", prefer_totals),
    Constraint("named extreme", prefer_named_extremes),
    Constraint("bound of total", prefer_summed_bounds),
    Constraint("answers capacity", expect_rule(asks_capacity, "degree of thing")),
    Constraint("answers measure", expect_rule(lambda question: question.wants_measure, MEASURE_RULE)),
    Constraint("widest class", prefer_wider_classes),
    Constraint("members of categories", prefer_members),
    Constraint("requested class", prefer_requested_class),
    Constraint(
        "own property",
        lambda found, x: prefer_own_properties(found, x, lambda c: not ignored_words(c, x.question, x.graph)),
    ),
    Constraint("direction of links", drop_reversed_links, is_law=True),
    Constraint("counts of one", drop_single_counts, is_law=True),
    Constraint("all named things", keep_named_things),
)


READERS = (
    QuestionReader("kind", lambda x: read_kind_question(x.question, x.links, x.graph)),
    QuestionReader(
        "comparison",
        lambda x: read_comparisons(x.question, x.links, x.linker.index),
        lambda found, question: is_comparison(question),
    ),
    QuestionReader("more than", lambda x: read_more_than(x.question, x.links, x.read_number)),
    QuestionReader("age", lambda x: read_ages(x.question, x.links, x.graph), _uses_every_word),
    QuestionReader("term", lambda x: read_terms(x.question, x.links, x.graph), _uses_every_word),
    QuestionReader("choice", lambda x: read_choices(x.question, x.links, x.linker.index)),
    QuestionReader("share", lambda x: read_shares(x.question, x.links, x.derive)),
    QuestionReader("mean of counts", lambda x: read_mean_counts(x.question, x.read_whole)),
    QuestionReader("measures", lambda x: read_measures(x.question, x.read_whole)),
    QuestionReader("two questions", lambda x: read_two_questions(x.question, x.read_whole, x.graph.schema)),
)


def expected_kind(body: Body | None, schema: Schema) -> ExpectedKind:
    """What a plan answers with. Without a plan a text is expected."""
    if body is None:
        return "text"
    if isinstance(body, Profile | Overview):
        return "prose"
    if isinstance(body, Ask) or (isinstance(body, Compute) and body.op not in ARITHMETIC | ELAPSED):
        return "boolean"
    if isinstance(body, Compute):
        return "number"
    select = body.left if isinstance(body, Combine) else body
    assert isinstance(select, Select)
    last = select.answers[-1]
    if isinstance(last, Itself):
        return "entities"
    if isinstance(last, Aggregate):
        return "number"
    predicate = schema.predicate_of[last.predicate]
    if predicate.datatype in ("date", "datetime"):
        return "date"
    return "number" if predicate.minimum is not None else "text"


def offered_kind(reading: Reading, schema: Schema) -> ExpectedKind | None:
    """What a reading from an earlier turn answers with. None if the graph no longer has what it is about."""
    try:
        verbalise_plan(reading.plan, schema)
        return expected_kind(reading.plan.body, schema)
    except KeyError:
        return None
