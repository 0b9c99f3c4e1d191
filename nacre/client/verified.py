"""Verified questions of a graph in a program: `Nacre().graph("bmw").verified` -> confirm, list, approve and remove."""

from collections.abc import Coroutine, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from nacre.client.reply import Reply
from nacre.records.verified_question import VerifiedQuery, VerifiedQuestion

if TYPE_CHECKING:
    from nacre.client.facade import Nacre

T = TypeVar("T")


class VerifiedSource(Protocol):
    """The verified questions of a data folder or a server. Methods raise NacreError for what a user can correct."""

    async def listed(self, graph: str | None, search: str, *, waiting: bool) -> list[VerifiedQuestion]:
        """Those that the caller may see, the latest first."""
        ...

    async def confirm_answer(self, reply: Reply) -> VerifiedQuestion:
        """Confirm an answer."""
        ...

    async def confirm_query(self, graph: str | None, question: str, query: VerifiedQuery) -> VerifiedQuestion:
        """Confirm a query for a question."""
        ...

    async def import_lines(self, graph: str | None, lines: Sequence[dict[str, Any]]) -> list[str]:
        """Confirm lines of a file; for each, why it was left out, or ""."""
        ...

    async def approve(self, graph: str | None, id: str, by: str | None) -> VerifiedQuestion:
        """Approve an entry."""
        ...

    async def remove(self, graph: str | None, id: str, by: str | None) -> None:
        """Remove an entry."""
        ...

    async def check(self, graph: str | None) -> list[VerifiedQuestion]:
        """Run them again; those that are not used."""
        ...


class VerifiedQuestions:
    """Questions of one graph that people confirmed: they are answered the same way again. Methods raise NacreError.

    In an event loop, await `asyncio.to_thread(...)` of a method.
    """

    def __init__(self, nacre: "Nacre", graph: str | None) -> None:
        self._nacre = nacre
        self._graph = graph

    def list(self, search: str = "", *, waiting: bool = False) -> Sequence[VerifiedQuestion]:
        """The approved ones and your own, the latest first; `waiting`: only those that wait for approval."""
        return self._run(self._source.listed(self._graph, search, waiting=waiting))

    def confirm(self, reply: Reply) -> VerifiedQuestion:
        """This answer is right. On a server, the question must have been asked in a named thread."""
        return self._run(self._source.confirm_answer(reply))

    def add(self, question: str, *, sql: str = "", sparql: str = "") -> VerifiedQuestion:
        """A query that answers a question, in SQL over the graph's tables or in SPARQL. It is run and must give
        values."""
        if bool(sql) is bool(sparql):
            raise ValueError("Give one query: sql or sparql.")
        query = VerifiedQuery(tool="sql", text=sql) if sql else VerifiedQuery(tool="sparql", text=sparql)
        return self._run(self._source.confirm_query(self._graph, question, query))

    def add_lines(self, lines: Sequence[dict[str, Any]]) -> Sequence[str]:
        """Confirm lines as `nacre examples import` reads them; for each, why it was left out, or ""."""
        return self._run(self._source.import_lines(self._graph, lines))

    def approve(self, id: str, by: str | None = None) -> VerifiedQuestion:
        """Let everyone who may read the graph use it; `by` is its owner, if several people confirmed the question."""
        return self._run(self._source.approve(self._graph, id, by))

    def remove(self, id: str, by: str | None = None) -> None:
        """Delete it."""
        self._run(self._source.remove(self._graph, id, by))

    def check(self) -> Sequence[VerifiedQuestion]:
        """Run all again; those that fail, give nothing or give values of another kind, which are not used."""
        return self._run(self._source.check(self._graph))

    @property
    def _source(self) -> VerifiedSource:
        return self._nacre.verified_source

    def _run(self, call: Coroutine[Any, Any, T]) -> T:
        return self._nacre.run(call)
