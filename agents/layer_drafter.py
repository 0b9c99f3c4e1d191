"""Draft a semantic layer: the text of a graph -> YAML. Only a model can; rules write a template."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import HumanMessage, SystemMessage
from pydantic import BaseModel, Field

from agents.models.calls import structured_reply
from agents.models.limits import Limits
from agents.prompt import prompt
from agents.result import Result

# characters of a draft: one of sixty entries has 14,000 (measured)
MAX_DRAFT = 60_000


class DraftedLayer(BaseModel):
    """The layer as YAML."""

    layer: str = Field(max_length=MAX_DRAFT)


@dataclass(frozen=True)
class LayerDrafter:
    """Drafts and repairs with one model. Both raise ModelFailed."""

    model: BaseChatModel
    limits: Limits

    async def draft(self, graph: str, prefixes: str, present: str, questions: Sequence[str]) -> Result[str]:
        """The layer for some classes of a graph; `present` is what is drafted already."""
        asked = "\n".join(f"- {question}" for question in questions)
        turn = prompt("layer_drafter_turn", graph=graph, prefixes=prefixes, present=present or "(nothing)", asked=asked)
        return await self._reply(turn)

    async def repair(self, graph: str, prefixes: str, failed: Sequence[tuple[str, str]]) -> Result[str]:
        """Corrected entries for those that failed: (entry, reason)."""
        entries = "\n".join(f"- {entry}\n  reason: {reason}" for entry, reason in failed)
        return await self._reply(prompt("layer_repair_turn", graph=graph, prefixes=prefixes, failed=entries))

    async def _reply(self, turn: str) -> Result[str]:
        messages = [SystemMessage(prompt("layer_drafter")), HumanMessage(turn)]
        # a failed entry is repaired by a call of its own
        limits = replace(self.limits, retries=1)
        reply, usage = await structured_reply(self.model, messages, DraftedLayer, limits=limits)
        return Result(reply.layer, "model", usage)
