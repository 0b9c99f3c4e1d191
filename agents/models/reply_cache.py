"""An answer that a model gave before: model, prompt and version of the graph -> its text, where answers are kept."""

import json
import logging
import sqlite3
from collections.abc import Sequence

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage
from langchain_core.outputs import Generation

from agents.models.limits import Limits

log = logging.getLogger(__name__)


class CachedReply:
    """The place of one answer. Without `limits.cache` there is never one; a store that fails keeps nothing."""

    def __init__(self, limits: Limits, model: BaseChatModel, messages: Sequence[BaseMessage], shape: str) -> None:
        self._store = limits.cache
        self._prompt = json.dumps([[message.type, message.content] for message in messages], ensure_ascii=False)
        named = (model.metadata or {}).get("model", model._llm_type)
        self._of = json.dumps([named, shape, limits.version])

    async def text(self) -> str | None:
        """What was answered before, or None."""
        if self._store is None:
            return None
        try:
            found = await self._store.alookup(self._prompt, self._of)
        except sqlite3.Error as error:
            log.warning("kept model answers can't be read: %s", error)
            return None
        return str(found[0].text) if found else None

    async def keep(self, text: str) -> None:
        """Keep an answer that was complete."""
        if self._store is None:
            return
        try:
            await self._store.aupdate(self._prompt, self._of, [Generation(text=text)])
        except sqlite3.Error as error:
            log.warning("a model answer can't be kept: %s", error)
