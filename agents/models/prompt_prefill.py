"""Prefill prompts: a graph -> the fixed beginnings of its prompts in the cache of the model's server."""

import asyncio
import logging

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import HumanMessage, SystemMessage

from agents.models.failure_reasons import failure_reason, logged_error
from agents.models.limits import Limits
from agents.models.priors import Size
from agents.query_writing.query_prompt import query_prefix
from agents.query_writing.rewording import rewording_prefix as names_head
from agents.query_writing.schema_text import DescribeTables, whole_schema
from agents.run_in_thread import run_in_thread
from nacre.records.schema import Schema

log = logging.getLogger(__name__)


async def prefill_prompts(
    model: BaseChatModel, schema: Schema, describe: DescribeTables, limits: Limits, size: Size
) -> None:
    """Send each prefix and stop at the first token of the reply. The prefix that is needed first comes last, because a
    server may keep only one. A model that is down is reported when it is asked."""
    prefixes = [
        query_prefix(await run_in_thread(whole_schema, schema, limits.schema_tokens, describe), small=size == "small")
    ]
    if size == "small":
        prefixes.append(await run_in_thread(names_head, schema, limits.schema_tokens))
    try:
        for text in prefixes:
            async with asyncio.timeout(limits.seconds):
                async for _ in model.astream([SystemMessage(text), HumanMessage("Question:")]):
                    break
    except Exception as error:
        log.warning("prompts could not be prefilled: %s", failure_reason(error))
        log.debug("prompts could not be prefilled: %s", logged_error(error))
