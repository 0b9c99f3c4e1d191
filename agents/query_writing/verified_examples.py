"""Verified questions as examples for a model that writes queries: Understanding + Database -> lines within a budget."""

from collections.abc import Iterator

from pydantic import ValidationError

from agents.database import Database
from agents.models.limits import CHARACTERS_PER_TOKEN
from agents.query_writing.query_text import query_text
from nacre.errors import NacreError
from nacre.language.sanitize import quote_line
from nacre.plans.sql.to_sql import to_sql
from nacre.records.evidence import Query
from nacre.records.json_form import from_json
from nacre.records.plan import Combine, Plan, Select
from nacre.records.turn import Understanding
from nacre.records.verified_question import VerifiedQuestion
from nacre.wording.phrases.plan import verbalise_plan

# characters of a question and of a query that are shown (given)
LONGEST_QUESTION, LONGEST_QUERY = 200, 600


def verified_example_lines(understanding: Understanding, database: Database, tokens: int) -> list[str]:
    """Two lines for each of the nearest verified questions, the question and the query that a person confirmed for it,
    as many as the tokens hold. What they contain is quoted as data."""
    lines: list[str] = []
    left = tokens * CHARACTERS_PER_TOKEN
    for each in understanding.examples:
        found = list(_example(each, database))
        left -= sum(map(len, found))
        if left < 0:
            break
        lines += found
    return lines


def _example(verified: VerifiedQuestion, database: Database) -> Iterator[str]:
    query = _query(verified, database)
    # a part of a query would teach what no query may be
    if query and len(query) <= LONGEST_QUERY:
        yield f"Question: {quote_line(verified.standalone)[:LONGEST_QUESTION]}"
        yield quote_line(query)


def _query(verified: VerifiedQuestion, database: Database) -> str:
    """The query, or the plan in words if the language of the database has none; "" if it fits this graph no more."""
    if verified.query is not None:
        is_same = verified.query["tool"] == database.language
        return f"Query: {' '.join(verified.query['text'].split())}" if is_same else ""
    try:
        body = from_json(Plan, verified.plan).body
        if database.language == "sql" and isinstance(body, Select | Combine):
            statement = to_sql(body, database.schema)
            return f"Query: {query_text(Query('sql', 0, statement.text, params=statement.params))}"
        return f"It means: {verbalise_plan(Plan(body), database.schema)}"
    except (ValidationError, NacreError, KeyError):
        # the graph was replaced by one with other classes and properties
        return ""
