"""Earlier replies of models: model, prompt and version of the graph -> the text, if replies are cached."""

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
    """The place of one reply in the cache. Without a cache, or if it fails, there is never one."""

    def __init__(self, limits: Limits, model: BaseChatModel, messages: Sequence[BaseMessage], shape: str) -> None:
        self._cache = limits.cache
        self._prompt = json.dumps([[message.type, message.content] for message in messages], ensure_ascii=False)
        name = (model.metadata or {}).get("model", model._llm_type)
        self._key = json.dumps([name, shape, limits.version])

    async def text(self) -> str | None:
        """The cached reply, or None."""
        if self._cache is None:
            return None
        try:
            generations = await self._cache.alookup(self._prompt, self._key)
        except sqlite3.Error as error:
            log.warning("cached model replies can't be read: %s", error)
            return None
        return str(generations[0].text) if generations else None

    async def store(self, text: str) -> None:
        """Store a complete reply."""
        if self._cache is None:
            return
        try:
            await self._cache.aupdate(self._prompt, self._key, [Generation(text=text)])
        except sqlite3.Error as error:
            log.warning("a model reply can't be cached: %s", error)
