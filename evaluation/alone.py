"""A model for comparison: without what the rules found, and as one query in one call -> ways to ask."""

import time
from dataclasses import replace
from functools import partial

from langchain_core.language_models import BaseChatModel
from langgraph.checkpoint.memory import InMemorySaver

from agents import fuser
from agents.answering.account import said
from agents.models.calls import ModelFailed, structured
from agents.models.limits import Limits
from agents.result import Result
from agents.sql_writer import MODEL_VISITS, SqlTask, SqlWriter, Written, asking, select
from config.models import chat_model
from config.settings import Settings
from evaluation.run import Ask, Question, failed
from graph.app import compose, limits_of
from graph.builder import build
from graph.context import Context
from graph.nodes import Resources
from graph.turn import stream
from records.answer import Answer
from records.errors import ConfigError
from records.evidence import Found, QueryError
from records.turn import Understanding
from stores.catalog import Library
from stores.schema_sql import schema_sql
from tools.written import run_written


def alone(settings: Settings, graph: str) -> Ask:
    """The whole loop, but the model gets neither drafts nor linked names, and words every answer."""
    composition = compose(settings)
    if "model" not in composition.teams:
        raise ConfigError("Set NACRE_MODEL, such as openai:gpt-4o-mini.")
    limits, rules = limits_of(settings), composition.teams["rules"]
    team = replace(
        composition.teams["model"],
        sql_writer=_writer(_model(settings), limits),
        fuser=fuser.by_model(_model(settings), rules.fuser, limits),
    )
    resources = Resources(composition.library, {"rules": rules, "model": team}, settings)
    app = build(resources, InMemorySaver())

    async def ask(question: Question, thread: str) -> Answer:
        context = Context(mind="model")
        found: Answer | None = None
        async for kind, payload in stream(app, question.question, graph=graph, thread=thread, context=context):
            found = payload if kind == "answer" else found
        assert found is not None, "a turn ends with its record"
        return found

    return ask


def _writer(model: BaseChatModel, limits: Limits) -> SqlWriter:
    async def sql_writer(task: SqlTask) -> Result[Found]:
        if len(task.earlier) >= MODEL_VISITS:
            return Result(Found("sql", error=QueryError("empty", "The model was asked before.")))
        bare = replace(task, understanding=replace(task.understanding, mentions=(), readings=()))
        return await select(model, bare, Found("sql"), (), limits)

    return sql_writer


def naive(settings: Settings, library: Library, graph: str) -> Ask:
    """One call a question: the tables and the question as it stands -> a SELECT, whose cells are the answer."""
    model, limits = _model(settings), limits_of(settings)

    async def ask(question: Question, thread: str) -> Answer:
        record, started = failed(question, thread, ""), time.perf_counter()
        with library.open(graph) as opened:
            tables = opened.tables
            messages = asking(Understanding(question.question), opened.schema, partial(schema_sql, tables), limits)
            try:
                written, usage = await structured(model, messages, Written, limits=limits)
            except ModelFailed as error:
                return {**record, "reason": error.why}
            found = run_written(written.sql, tables, round=1)
        rows = next((each.table for each in found.evidence if each.table is not None), None)
        told = said(rows) if rows is not None and rows.rows else None
        return {
            **record,
            "status": "answered" if told else "not_in_graph",
            "answer": told.text if told else "",
            "values": list(told.values) if told else [],
            "seconds": round(time.perf_counter() - started, 4),
            "llm_calls": usage.calls,
            "input_tokens": usage.input,
            "cached_tokens": usage.cached,
            "output_tokens": usage.output,
        }

    return ask


def _model(settings: Settings) -> BaseChatModel:
    model = chat_model(settings, "sql")
    if model is None:
        raise ConfigError("Set NACRE_MODEL, such as openai:gpt-4o-mini.")
    return model
