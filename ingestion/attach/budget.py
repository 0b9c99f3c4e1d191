"""Query an endpoint within a budget of queries and seconds: query -> rows, or None if it failed."""

import logging
import time
from typing import NamedTuple

from nacre.errors import ToolError
from nacre.stores.sparql.sparql_source import SparqlSource, SparqlTerm

log = logging.getLogger(__name__)

# the budget of attaching (given), and the maximum time of one query
MAX_QUERIES = 300
MAX_SECONDS = 60.0
MAX_QUERY_SECONDS = 12.0
# share of the budget for one query that reads the whole graph, as counting does; the others need what is left (given)
SCAN_SHARE = 0.2

Row = tuple[SparqlTerm | None, ...]


class Budget(NamedTuple):
    """The maximum number of queries, and of seconds for all of them."""

    queries: int = MAX_QUERIES
    seconds: float = MAX_SECONDS


class BudgetedEndpoint:
    """An endpoint with the rest of a budget. Failed and slow queries return None and raise nothing."""

    def __init__(self, source: SparqlSource, budget: Budget = Budget()) -> None:  # noqa: B008 (immutable)
        self._source = source
        self._left = budget.queries
        self._start = time.monotonic()
        self._end = self._start + budget.seconds
        self.scan_seconds = min(MAX_QUERY_SECONDS, SCAN_SHARE * budget.seconds)
        self.asked = 0
        self.failed = 0

    @property
    def over(self) -> bool:
        """Whether the budget is used up."""
        return self._left <= self.asked or time.monotonic() >= self._end

    @property
    def seconds(self) -> float:
        """The seconds used so far."""
        return time.monotonic() - self._start

    def rows(self, query: str, limit: int = 1000, seconds: float = MAX_QUERY_SECONDS) -> list[Row] | None:
        """The rows of a SELECT; None if it failed or the budget is used up."""
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

    def texts(self, query: str, limit: int = 1000, seconds: float = MAX_QUERY_SECONDS) -> list[tuple[str, ...]] | None:
        """The rows of a SELECT as texts, "" for unbound variables."""
        found = self.rows(query, limit, seconds)
        return None if found is None else [tuple(term.value if term else "" for term in row) for row in found]
