"""All readings of a question, in the form that it asks for: Question + Links -> Candidates, not yet ranked.

`READERS` read question forms with a grammar of their own. Some contain phrases or questions ("more than", "what share
of", two questions in one). Those are parsed here as well, and only complete readings of them count. All other questions
are read by the beam, whose readings pass `CONSTRAINTS` and then `REWRITES`.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from nacre.records.cancellation import Deadline
from nacre.records.plan import Body, Itself, Select
from nacre.understanding.constrain import constrain
from nacre.understanding.linking.graph.schema_graph import SchemaGraph
from nacre.understanding.linking.link_mentions import link_mentions
from nacre.understanding.linking.linker import Linker, prepare_question
from nacre.understanding.parsing.coverage import unused_tokens
from nacre.understanding.parsing.derive import (
    MAX_CANDIDATES,
    derive_candidates,
    likeliest_candidates,
    parse_context,
)
from nacre.understanding.parsing.profile_subjects import GroupReader
from nacre.understanding.parsing.readers.ages import read_ages
from nacre.understanding.parsing.readers.choice import read_choices
from nacre.understanding.parsing.readers.comparison import is_comparison, read_comparisons
from nacre.understanding.parsing.readers.kinds import read_kind_question
from nacre.understanding.parsing.readers.more_than import read_more_than
from nacre.understanding.parsing.readers.shares import is_thing_count, read_shares
from nacre.understanding.parsing.readers.two_questions import read_two_questions
from nacre.understanding.parsing.state import Candidate, ParseContext
from nacre.understanding.question.types import Link, Question
from nacre.understanding.ranking.rank import rank_candidates
from nacre.understanding.ranking.unheeded_words import unheeded_words
from nacre.understanding.ranking.weights import load_weights
from nacre.understanding.rewrite_plans import rewrite_plan


class ReaderInput(NamedTuple):
    """What a reader may use: the question, what its spans may name, and the parser itself for phrases and clauses."""

    question: Question
    links: list[Link]
    linker: Linker
    deadline: Deadline
    most: int = MAX_CANDIDATES

    @property
    def graph(self) -> SchemaGraph:
        """The schema graph."""
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

    def read_count(self, text: str) -> Select | None:
        """The plan of a question for one number of things."""
        bodies = _complete_bodies(text, self.linker, self.deadline)
        return bodies[0] if bodies and isinstance(bodies[0], Select) and is_thing_count(bodies[0]) else None


class QuestionReader(NamedTuple):
    """A reader of one question form. If its readings `exclude_others`, nothing else is tried; otherwise they stand
    beside those of the beam."""

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
    return [*beside, *(rewrite_plan(each, context) for each in asked.derive_in(context))]


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


def _complete_bodies(text: str, linker: Linker, deadline: Deadline) -> list[Body]:
    return [c.body for c in complete_readings(text, linker, deadline)]


def _uses_every_word(found: Sequence[Candidate], question: Question) -> bool:
    return any(not unused_tokens(each, question) for each in found)


READERS = (
    QuestionReader("kind", lambda x: read_kind_question(x.question, x.links, x.graph)),
    QuestionReader(
        "comparison",
        lambda x: read_comparisons(x.question, x.links, x.linker.index),
        lambda found, question: is_comparison(question),
    ),
    QuestionReader("more than", lambda x: read_more_than(x.question, x.links, x.read_count)),
    QuestionReader("age", lambda x: read_ages(x.question, x.links, x.graph), _uses_every_word),
    QuestionReader("choice", lambda x: read_choices(x.question, x.links, x.linker.index)),
    QuestionReader("share", lambda x: read_shares(x.question, x.links, x.derive)),
    QuestionReader("two questions", lambda x: read_two_questions(x.question, x.read_whole, x.graph.schema)),
)
