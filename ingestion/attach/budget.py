"""Ask an endpoint no more than a number of queries and seconds: query -> rows, or None where it gave none."""

import logging
import time
from typing import NamedTuple

from nacre.errors import ToolError
from nacre.stores.sparql.sparql_source import SparqlSource, SparqlTerm

log = logging.getLogger(__name__)

# what attaching may take (given), and the longest of its queries
MAX_QUERIES = 300
MAX_SECONDS = 60.0
MAX_QUERY_SECONDS = 12.0

Row = tuple[SparqlTerm | None, ...]


class Budget(NamedTuple):
    """How many queries there may be, and how many seconds they may take together."""

    queries: int = MAX_QUERIES
    seconds: float = MAX_SECONDS


class BudgetedEndpoint:
    """An endpoint with what is left of a budget. What it refuses or is too slow for is told as None, not raised."""

    def __init__(self, source: SparqlSource, budget: Budget = Budget()) -> None:  # noqa: B008 (immutable)
        self._source = source
        self._left = budget.queries
        self._begun = time.monotonic()
        self._end = self._begun + budget.seconds
        self.asked = 0
        self.failed = 0

    @property
    def over(self) -> bool:
        """Whether nothing more may be asked."""
        return self._left <= self.asked or time.monotonic() >= self._end

    @property
    def seconds(self) -> float:
        """How long it has taken so far."""
        return time.monotonic() - self._begun

    def rows(self, query: str, limit: int = 1000, seconds: float = MAX_QUERY_SECONDS) -> list[Row] | None:
        """The rows of a SELECT; None where it failed, or where nothing more may be asked."""
        if self.over:
            return None
        self.asked += 1
        try:
            left = min(seconds, self._end - time.monotonic())
            return self._source.select(query, limit=limit, seconds=left).rows
        except ToolError as error:
            self.failed += 1
            log.info("a probing query failed (%s): %s", error.kind, error)
            return None

    def texts(self, query: str, limit: int = 1000) -> list[tuple[str, ...]] | None:
        """The same with "" for what is unbound, and of each term its text alone."""
        found = self.rows(query, limit)
        return None if found is None else [tuple(term.value if term else "" for term in row) for row in found]
