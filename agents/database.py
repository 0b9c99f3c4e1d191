"""What agents may ask of an opened graph: the protocol `Database`; branches implement it over one version."""

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

    By `sparql` classes (IRIs) take the place of tables, and properties that of columns.
    """

    @property
    def language(self) -> Language:
        """What its queries are written in, and the branch that they belong to."""
        ...

    @property
    def most(self) -> int:
        """How many readings of a question are run."""
        ...

    @property
    def schema(self) -> Schema:
        """What the graph is about."""
        ...

    @property
    def lexicon(self) -> Lexicon:
        """Its names."""
        ...

    async def read(self, readings: Sequence[Reading]) -> Sequence[BranchResult]:
        """The rows of each reading of the turn, the likeliest first."""
        ...

    async def query(self, text: str) -> BranchResult:
        """The rows of a query from outside, behind the guard, within limits."""
        ...

    def describe(self, relations: Collection[str] | None) -> str:
        """CREATE statements of these tables, of all where None; by SPARQL the properties of these classes."""
        ...

    def table_of(self, thing: str) -> str:
        """The table that a thing (an IRI) lies in, or by SPARQL its classes, or ""."""
        ...

    async def occurrences(self, phrases: Sequence[str]) -> list[Occurrence]:
        """Where values like these phrases stand, the likest first."""
        ...

    async def look_up(self, wanted: LookUp) -> str:
        """What is there, as text within a bound; why nothing is shown, where nothing is."""
        ...
