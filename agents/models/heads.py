"""Let a model's server read what prompts begin with, before anybody asks: a graph's schema -> a call for each head."""

import asyncio
import logging
from collections.abc import Iterator

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import HumanMessage, SystemMessage

from agents import rewording, sql_writer
from agents.models.limits import Limits
from agents.schema_text import Describe, whole
from records.schema import Schema

log = logging.getLogger(__name__)


def heads(schema: Schema, describe: Describe, limits: Limits) -> Iterator[str]:
    """What prompts about this graph begin with; last what is asked first, as a server may keep no more than one."""
    yield sql_writer.head(whole(schema, limits.schema_tokens, describe))
    yield rewording.head(schema, limits)


async def read_ahead(model: BaseChatModel, schema: Schema, describe: Describe, limits: Limits) -> None:
    """Send each head and leave at the first word. A model that is down is told of when it is asked."""
    for text in heads(schema, describe, limits):
        messages = [SystemMessage(text), HumanMessage("Question:")]
        try:
            async with asyncio.timeout(limits.seconds):
                async for _ in model.astream(messages):
                    break
        except Exception as error:
            log.warning("the model did not read ahead: %s: %s", type(error).__name__, error)
            return
