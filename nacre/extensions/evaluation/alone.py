"""A model without Nacre: the question and a summary of the schema -> one query, its cells as the answer."""

import time
from functools import partial

from langchain_core.messages import HumanMessage, SystemMessage

from agents.model_calls import CHARACTERS_PER_TOKEN, ModelFailed, structured_reply
from agents.model_priors import model_limits
from nacre.config.models import chat_model
from nacre.config.settings import Settings
from nacre.errors import ConfigError
from nacre.evaluation.questions import AskQuestion, QuestionLine, failed_record
from nacre.extension import service
from nacre.extensions.model_agents.query_prompt import relevant_tables, whole_schema
from nacre.extensions.model_agents.write_queries import SqlReply
from nacre.records.answer import Answer
from nacre.records.evidence import BranchResult
from nacre.records.turn import Understanding
from nacre.stores.catalog import Library
from nacre.stores.sqlite.schema_sql import schema_sql
from nacre.wording.answer import verbalise_rows

# tokens of the schema that it is shown (given)
SCHEMA_TOKENS = 6000

PROMPT_HEAD = (
    "You write one SQLite SELECT that answers a question about these tables. Select exactly what is asked for; "
    "for a yes-or-no question the word 'yes' or 'no'.\n\n"
)


def ask_model_alone(settings: Settings, library: Library, graph: str | None) -> AskQuestion:
    """A function that asks the model each question in one call, without the conversation around it. Raises ConfigError
    without a model."""
    model, limits = chat_model(settings, "sql"), model_limits(settings)
    if model is None:
        raise ConfigError("No model is set. Set NACRE_MODEL: local, or such as openai:gpt-4o-mini.")

    async def ask(question: QuestionLine, thread: str) -> Answer:
        record, started = failed_record(question, thread, ""), time.perf_counter()
        with library.open(library.resolve(question.graph or graph)) as opened:
            describe = partial(schema_sql, opened.tables)
            schema = whole_schema(opened.schema, SCHEMA_TOKENS, describe)
            if schema is None:
                understanding = Understanding(question.question)
                schema = relevant_tables(understanding, opened.schema, opened.lexicon, SCHEMA_TOKENS, describe)
            shown = schema[: SCHEMA_TOKENS * CHARACTERS_PER_TOKEN]
            messages = [SystemMessage(PROMPT_HEAD + shown), HumanMessage(f"Question: {question.question}")]
            try:
                reply, usage = await structured_reply(model, messages, SqlReply, limits=limits)
            except ModelFailed as error:
                return {**record, "reason": error.why}
            result: BranchResult = service("foreign_queries", "run_sql", "--alone")(reply.sql, opened.tables, round=1)
        table = next((each.table for each in result.rows), None)
        answer = verbalise_rows(table) if table is not None and table.rows else None
        return {
            **record,
            "status": "answered" if answer else "not_in_graph",
            "answer": answer.text if answer else "",
            "values": list(answer.values) if answer else [],
            "seconds": round(time.perf_counter() - started, 4),
            "llm_calls": usage.calls,
            "input_tokens": usage.input,
            "cached_tokens": usage.cached,
            "output_tokens": usage.output,
        }

    return ask
