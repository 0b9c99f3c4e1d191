"""What agents may ask of an open graph: the protocol `Database`; `nacre.access` implements it by SQL and by SPARQL."""

from collections.abc import Collection, Sequence
from typing import Literal, Protocol

from nacre.records.evidence import BranchResult
from nacre.records.look_up import LookUp, Occurrence
from nacre.records.schema import Schema
from nacre.records.turn import Reading
from nacre.stores.sqlite.lexicon import Lexicon

Language = Literal["sql", "sparql"]


class Database(Protocol):
    """One version of a graph. No method raises for a query that fails: the failure is in what it returns.

    By SPARQL classes (IRIs) take the place of tables, and properties that of columns.
    """

    @property
    def language(self) -> Language:
        """The language of its queries, which is the name of their branch."""
        ...

    @property
    def most(self) -> int:
        """How many readings of a question are run."""
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

    async def query(self, text: str, question: str | None) -> BranchResult:
        """The rows of a query that a model wrote for a question, behind the guard, within limits. Values that rest on
        neither stored ones nor numbers of the question are refused; None for a query that a person confirmed."""
        ...

    def describe(self, relations: Collection[str] | None) -> str:
        """CREATE statements of these tables, of all if None; by SPARQL the properties of these classes."""
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
