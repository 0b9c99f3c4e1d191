"""A turn as every agent sees it: TurnView, with the question, its reading, the evidence so far and the deadline.
`Database`: what agents may ask of an open graph, `Result`: what they return, `AnswerDraft`: an unwritten answer."""

import math
from collections.abc import Collection, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import astuple, dataclass, field
from functools import cached_property
from typing import Generic, Literal, Protocol, TypeVar
from uuid import UUID

from agents.answering.select_answer import select_answer_rows
from nacre.language.tokens import ENGLISH, tokenize
from nacre.records.answer import Status, Value
from nacre.records.evidence import BranchResult, Evidence, LookUp, Occurrence, QueryError, Rows
from nacre.records.schema import Schema
from nacre.records.turn import EarlierTurn, Reading, Rewrite, Understanding
from nacre.stores.sqlite.lexicon import Lexicon

Strategy = Literal["parallel", "stepwise", "waterfall"]


@dataclass(frozen=True)
class TurnView:
    """The decoded state; later fields have defaults. `conversation`: earlier turns, oldest first; `wanted`: branches of
    the next round; `failures`: errors of branches without results; `search`: a better text for passages. The turn ends
    at `deadline` (by `time.monotonic()`) and reads `version` of the graph."""

    question: str
    rewrite: Rewrite
    understanding: Understanding
    conversation: tuple[EarlierTurn, ...] = ()
    found: tuple[BranchResult, ...] = ()
    round: int = 1
    enabled: tuple[str, ...] = ()
    visited: tuple[str, ...] = ()
    wanted: tuple[str, ...] = ()
    failures: Mapping[str, QueryError] = field(default_factory=dict)
    strategy: Strategy = "parallel"
    search: str = ""
    deadline: float = math.inf
    version: str = ""

    @property
    def standalone(self) -> str:
        """The question that stands alone, in English; as the model that wrote the query understood it, if it did."""
        return next((part.standalone for part in self.found if part.standalone), self.rewrite.standalone)

    @property
    def language(self) -> str:
        """The language of the answer."""
        return self.rewrite.language if self.rewrite.own else ENGLISH

    @property
    def names(self) -> str:
        """The language that things are named in; "" for names as they are stored."""
        return self.language if self.language != ENGLISH else ""

    @property
    def foreign_words(self) -> frozenset[str]:
        """The words of a question in another language that it does not share with its English form: no names."""
        own, english = ({token.norm for token in tokenize(text)} for text in (self.rewrite.own, self.standalone))
        return frozenset(word for word in own - english if word.isalpha())

    @cached_property
    def evidence(self) -> tuple[Evidence, ...]:
        """All evidence in the order in which it was found, then that of the turn which this one refers to, as of round
        0. Rows of a reading by SPARQL are left out if SQL gave rows of the same reading."""
        read = {each.reading for each in self._own_evidence if isinstance(each, Rows) and each.branch == "sql"}
        # the same reading by two query languages is one piece of evidence, not two that agree
        own = tuple(
            e for e in self._own_evidence if not (isinstance(e, Rows) and e.branch == "sparql" and e.reading in read)
        )
        return own + tuple(each for turn in self.referenced_turns[-1:] for each in turn.evidence)

    @cached_property
    def _own_evidence(self) -> tuple[Evidence, ...]:
        return tuple(each for part in self.found for each in part.evidence)

    @cached_property
    def answer_rows(self) -> tuple[int, Rows] | None:
        """The rows to answer with as the evidence stands (`select_answer_rows`)."""
        return select_answer_rows(self.understanding, self.evidence)

    @property
    def referenced_turns(self) -> tuple[EarlierTurn, ...]:
        """The turns before this one if its question refers to them."""
        return self.conversation if self.rewrite.depends else ()

    def of(self, branch: str) -> tuple[BranchResult, ...]:
        """The results of one branch in earlier rounds."""
        return tuple(part for part in self.found if part.branch == branch)


def first_turn(question: str, understanding: Understanding | None = None) -> TurnView:
    """A first turn in which nothing was found yet."""
    return TurnView(question, Rewrite(question), understanding or Understanding(question))


Language = Literal["sql", "sparql"]


class Database(Protocol):
    """One version of a graph. No method raises for a failed query: the failure is in what it returns.
    By SPARQL classes (IRIs) take the place of tables, and properties that of columns."""

    @property
    def language(self) -> Language:
        """The language of its queries, which is the name of their branch."""
        ...

    @property
    def most(self) -> int:
        """How many readings of a question are run."""
        ...

    @property
    def wants_query(self) -> bool:
        """Whether one query is asked for, which others run, instead of its rows."""
        ...

    @property
    def schema(self) -> Schema:
        """The schema of the graph."""
        ...

    @property
    def lexicon(self) -> Lexicon:
        """The names that the conversation may mean."""
        ...

    async def read(self, readings: Sequence[Reading], names: str = "") -> Sequence[BranchResult]:
        """The rows of each reading of the turn, the likeliest first. By SQL, things have their names in the language
        `names` if it is given and they have one."""
        ...

    async def query(self, text: str, question: str | None, names: str = "") -> BranchResult:
        """The rows of a query that a model wrote for a question, behind the guard, within limits; names as in `read`.
        Values that rest on neither stored ones nor numbers of the question are refused; None for a query that a person
        confirmed."""
        ...

    def describe(self, relations: Collection[str] | None, focus: Collection[str] | None = None) -> str:
        """CREATE statements of these tables, of all if None; by SPARQL the properties of these classes. With a `focus`,
        the predicates that a question is about, others are shown in short, and not all of them."""
        ...

    def table_of(self, thing: str) -> str:
        """The table that has the row of a thing (an IRI), by SPARQL its classes; "" for an unknown thing."""
        ...

    async def occurrences(self, phrases: Sequence[str]) -> list[Occurrence]:
        """Where values like these phrases occur, the most similar first."""
        ...

    async def look_up(self, wanted: LookUp) -> str:
        """What a look-up finds, as a text of bounded length, or why it finds nothing."""
        ...


T = TypeVar("T")


@dataclass(frozen=True)
class Usage:
    """Started model calls, and tokens; `cached` is the part of `input` that the server had in its cache.
    `price` is in US dollars, without `unpriced` calls, whose price or number of tokens is unknown."""

    calls: int = 0
    input: int = 0
    cached: int = 0
    output: int = 0
    price: float = 0.0
    unpriced: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(*(own + more for own, more in zip(astuple(self), astuple(other), strict=True)))


NO_USAGE = Usage()

FREE = (0.0, 0.0, 0.0)

# tokens and US dollars of each model call of a turn, by its run: those of its prompt until the server has counted them.
# Whoever runs a turn sets it; without it nothing is counted
spending: ContextVar[dict[UUID, tuple[int, float]] | None] = ContextVar("spending", default=None)


@dataclass(frozen=True)
class Result(Generic[T]):
    """The result of one agent; `by` is "rules", "model", or "rules after model: why"."""

    value: T
    by: str = "rules"
    usage: Usage = NO_USAGE


# a sentence with the indexes of the evidence that it rests on
CitedSentence = tuple[str, tuple[int, ...]]

# what an answer lacks: nothing, that its rows are sure, words that they leave out, or everything
Lack = Literal["", "certainty", "words", "everything"]


@dataclass(frozen=True)
class AnswerDraft:
    """The whole answer: its sentences in order, its status, and the values as data. `table`: the index of the evidence
    with the values, if any. `disputed`: sentences that say what other evidence gives. `options`: readings as good as
    the answered one, offered at the end, by `offer` in other languages; `others`: less likely ones, not offered.
    `confirm`: the reading to be confirmed without options; `doubt`: a further doubt. `columns`, `rows`: several columns
    as a table. `translated`: the first sentences in the question's language. `things`: IRIs and labels that it is
    about, if no table has them; `topic`: the reading that asks for everything about them."""

    sentences: tuple[CitedSentence, ...]
    status: Status
    confidence: float | None = None
    values: tuple[Value, ...] = ()
    unit: str | None = None
    reason: str | None = None
    caveats: tuple[str, ...] = ()
    table: int | None = None
    disputed: tuple[CitedSentence, ...] = ()
    options: tuple[Reading, ...] = ()
    others: tuple[Reading, ...] = ()
    offer: str = ""
    confirm: str = ""
    doubt: str = ""
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[Value | None, ...], ...] = ()
    translated: tuple[str, ...] = ()
    things: tuple[tuple[str, str], ...] = ()
    topic: Reading | None = None
