"""What agents may ask of an opened graph: the protocol `Database`; branches implement it over one version."""

from collections.abc import Collection, Sequence
from typing import Protocol

from nacre.records.evidence import Found
from nacre.records.look_up import LookUp, Occurrence
from nacre.records.schema import Schema
from nacre.records.turn import Reading
from nacre.stores.lexicon import Lexicon


class Database(Protocol):
    """One version of a graph. No method raises for a query that fails: the failure is in what it returns."""

    @property
    def schema(self) -> Schema:
        """What the graph is about."""
        ...

    @property
    def lexicon(self) -> Lexicon:
        """Its names."""
        ...

    async def read(self, reading: Reading, index: int) -> Found:
        """The rows of a reading, which has this place among those of the turn."""
        ...

    async def query(self, sql: str) -> Found:
        """The rows of a SELECT from outside, behind the guard, within limits."""
        ...

    def describe(self, relations: Collection[str] | None) -> str:
        """CREATE statements of these tables, of all where None."""
        ...

    def table_of(self, thing: str) -> str:
        """The table that a thing (an IRI) lies in, or ""."""
        ...

    async def occurrences(self, phrases: Sequence[str]) -> list[Occurrence]:
        """Where values like these phrases stand, the likest first."""
        ...

    async def look_up(self, wanted: LookUp) -> str:
        """What is there, as text within a bound; why nothing is shown, where nothing is."""
        ...
