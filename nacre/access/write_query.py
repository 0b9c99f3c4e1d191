"""A question -> the query of its best reading, in SQL and SPARQL, without running it."""

from dataclasses import dataclass

from agents.run_in_thread import run_in_thread
from nacre.access.text_lexicon import load_lexicon
from nacre.errors import ConfigError, ToolError
from nacre.plans.sparql.standalone import standalone_query
from nacre.plans.sparql.vocabulary import Vocabulary
from nacre.plans.sql.to_sql import to_sql
from nacre.plans.statement import Statement
from nacre.records.evidence import Cell
from nacre.records.plan import Ask, Combine, Compute, Plan, Select
from nacre.records.schema import Schema
from nacre.records.turn import Rewrite
from nacre.stores.catalog import Graph
from nacre.understanding.understand import understand
from tools.sparql import endpoint_vocabulary


@dataclass(frozen=True)
class SqlQuery:
    """SQL over the tables of a graph, and the values of its parameters."""

    text: str
    params: tuple[Cell, ...]


@dataclass(frozen=True)
class WrittenQuery:
    """What a question was read as, and its query. A comparison has two statements in SQL; `sparql` is in the terms of
    the original data, "" if the answer is no single query. `unused`: words of the question that nothing accounts for.
    """

    question: str
    words: str
    unused: tuple[str, ...]
    sql: tuple[SqlQuery, ...]
    sparql: str


async def write_query(question: str, graph: Graph) -> WrittenQuery:
    """The query of the reading that is likeliest before anything was run. The rules write it.

    Raises ConfigError if the question is no query.
    """
    lexicon = await load_lexicon(graph, question)
    understanding = await run_in_thread(understand, Rewrite(question), graph.schema, lexicon)
    for reading in understanding.readings:
        sql = _statements(reading.plan, graph.schema) if graph.stored is not None else ()
        sparql = _sparql(reading.plan, graph)
        if sql or sparql:
            return WrittenQuery(question, reading.words, tuple(reading.unused), sql, sparql)
    raise ConfigError("This question gives no query. Name what the graph knows, in other words.")


def _sparql(plan: Plan, graph: Graph) -> str:
    """One query in the terms of the data, or "" for what no single query gives."""
    endpoint, schema = graph.endpoint, graph.schema
    vocabulary = Vocabulary(schema) if endpoint is None else endpoint_vocabulary(endpoint, schema)
    try:
        return standalone_query(plan, vocabulary)
    except ToolError as error:
        if error.kind != "refused":
            raise
        return ""


def _statements(plan: Plan, schema: Schema) -> tuple[SqlQuery, ...]:
    body = plan.body
    parts: tuple[Select | Combine, ...] = ()
    if isinstance(body, Select | Combine):
        parts = (body,)
    elif isinstance(body, Ask):
        parts = (body.select,)
    elif isinstance(body, Compute):
        parts = (body.left, body.right)
    return tuple(_query(to_sql(part, schema)) for part in parts)


def _query(statement: Statement) -> SqlQuery:
    return SqlQuery(statement.text, statement.params)
