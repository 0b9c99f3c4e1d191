"""All readings of a question, in the form that it asks for: Question + Links -> Candidates, not yet ranked.

Some forms contain phrases or questions of their own ("more than", "what share of", two questions in one). Those are
parsed here as well, and only complete readings of them count.
"""

from nacre.records.cancellation import Deadline
from nacre.records.plan import Body, Itself, Select
from nacre.understanding.linking.link_mentions import link_mentions
from nacre.understanding.linking.linker import Linker
from nacre.understanding.linking.prepare_question import prepare_question
from nacre.understanding.parsing.candidate import Candidate
from nacre.understanding.parsing.constraints.direction import drop_reversed_links
from nacre.understanding.parsing.constraints.own_properties import prefer_own_properties
from nacre.understanding.parsing.constraints.part_of import include_parts
from nacre.understanding.parsing.constraints.relative_clauses import attach_relative_clauses
from nacre.understanding.parsing.coverage import unused_tokens
from nacre.understanding.parsing.derive import MAX_CANDIDATES, derive_candidates
from nacre.understanding.parsing.lowering.members import aggregate_members
from nacre.understanding.parsing.lowering.role_holders import resolve_role_holder
from nacre.understanding.parsing.lowering.union_nouns import read_unions
from nacre.understanding.parsing.profile_subjects import GroupReader
from nacre.understanding.parsing.readers.ages import read_ages
from nacre.understanding.parsing.readers.averages import read_averages
from nacre.understanding.parsing.readers.choice import read_choices
from nacre.understanding.parsing.readers.comparison import is_comparison, read_comparisons
from nacre.understanding.parsing.readers.keywords import read_keywords
from nacre.understanding.parsing.readers.kinds import read_kind_question
from nacre.understanding.parsing.readers.more_than import CountReader, read_more_than
from nacre.understanding.parsing.readers.shares import is_thing_count, read_shares
from nacre.understanding.parsing.readers.two_questions import read_two_questions
from nacre.understanding.parsing.readers.yes_no import as_yes_no, is_comparable, keep_named_things
from nacre.understanding.question.types import Link, Question
from nacre.understanding.ranking.rank import rank_candidates
from nacre.understanding.ranking.unheeded_words import unheeded_words
from nacre.understanding.ranking.weights import load_weights


def parse_question(
    question: Question, links: list[Link], linker: Linker, deadline: Deadline, most: int = MAX_CANDIDATES
) -> list[Candidate]:
    """The readings of a question. The first special form that fits excludes the later ones."""
    graph = linker.index.graph
    kind = read_kind_question(question, links, graph)
    if kind is not None:
        return [kind]
    comparisons = list(read_comparisons(question, links, linker.index))
    if comparisons and is_comparison(question):
        return comparisons
    counts = list(read_more_than(question, links, _count_reader(linker, deadline)))
    if counts:
        return counts
    ages = list(read_ages(question, links, graph))
    if any(not unused_tokens(c, question) for c in ages):
        return ages
    choices = [*read_choices(question, links, linker.index), *read_averages(question, links, graph)]
    choices = choices or list(
        read_shares(question, links, lambda q, found: derive_candidates(q, found, linker.index, deadline, most))
    )
    if choices:
        return choices
    double = list(read_two_questions(question, lambda text: complete_readings(text, linker, deadline), graph.schema))
    if double:
        return double
    derived = prefer_own_properties(
        derive_candidates(question, links, linker.index, deadline, most),
        lambda each: not unheeded_words(each, question, graph),
        question,
        graph,
    )
    found = [as_yes_no(resolve_role_holder(c, question, graph), question, graph) for c in derived]
    found = [c for c in drop_reversed_links(found, question, graph) if is_comparable(c, graph)]
    found = keep_named_things(attach_relative_clauses(found, question, graph), links)
    found = [c._replace(body=include_parts(aggregate_members(c.body, graph), graph)) for c in found]
    found = [read_unions(c, question, graph) for c in found]
    return read_keywords([*ages, *comparisons, *found], question)


def complete_readings(text: str, linker: Linker, deadline: Deadline) -> list[Candidate]:
    """The readings of a phrase or clause that use each of its words, likeliest first."""
    question = prepare_question(text, linker)
    found = parse_question(question, link_mentions(question, linker.index), linker, deadline)
    graph = linker.index.graph
    ranked = rank_candidates(found, question, graph, load_weights())
    return [r.candidate for r in ranked if not r.unused and not unheeded_words(r.candidate, question, graph)]


def group_reader(linker: Linker, deadline: Deadline) -> GroupReader:
    """A function that reads a phrase as the things of one class that meet conditions."""

    def read_group(phrase: str) -> list[Select]:
        return [
            body
            for body in _complete_bodies(phrase, linker, deadline)
            if isinstance(body, Select)
            if len(body.answers) == 1 and isinstance(body.answers[0], Itself)
            if (body.edges or body.filters) and body.limit is None and not body.group
        ]

    return read_group


def _count_reader(linker: Linker, deadline: Deadline) -> CountReader:
    """A function that reads a question as one number of things, or gives None."""

    def read_count(text: str) -> Select | None:
        bodies = _complete_bodies(text, linker, deadline)
        return bodies[0] if bodies and isinstance(bodies[0], Select) and is_thing_count(bodies[0]) else None

    return read_count


def _complete_bodies(text: str, linker: Linker, deadline: Deadline) -> list[Body]:
    return [c.body for c in complete_readings(text, linker, deadline)]
