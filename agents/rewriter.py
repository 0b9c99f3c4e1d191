"""Make a turn stand alone: Conversation -> Rewrite. A model is asked only for turns that may depend on earlier ones."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import HumanMessage, SystemMessage
from pydantic import BaseModel, Field

from agents.calls import Limits, ModelFailed, structured
from agents.off_loop import off_loop
from agents.plain import quoted
from agents.prompt import prompt
from agents.result import Result
from records.schema import Schema
from records.turn import Earlier, Rewrite
from semantics.conversation import rewrite
from stores.lexicon import Lexicon

TURNS_SHOWN = 3


@dataclass(frozen=True)
class Conversation:
    """The question as typed, what was said before it (oldest first), and the graph it is about."""

    question: str
    earlier: tuple[Earlier, ...]
    schema: Schema
    lexicon: Lexicon


Rewriter = Callable[[Conversation], Awaitable[Result[Rewrite]]]


class Standalone(BaseModel):
    """The question, standing alone."""

    question: str = Field(min_length=1, max_length=1000)


async def by_rules(conversation: Conversation) -> Result[Rewrite]:
    """The rewrite by the rules of `semantics.conversation`."""
    said = await off_loop(
        rewrite, conversation.question, conversation.earlier, conversation.schema, conversation.lexicon
    )
    return Result(said)


def by_model(model: BaseChatModel, rules: Rewriter, limits: Limits) -> Rewriter:
    """The rules' rewrite, worded by the model where they say that it depends, or are unsure. Scope stays theirs."""

    async def rewriter(conversation: Conversation) -> Result[Rewrite]:
        drafted = await rules(conversation)
        draft = drafted.value
        if not conversation.earlier or (draft.sure and not draft.depends):
            return drafted
        try:
            answer, usage = await structured(model, _messages(conversation, draft), Standalone, limits=limits)
        except ModelFailed as failed:
            return Result(draft, f"rules after model: {failed.why}", failed.usage)
        worded = " ".join(answer.question.split())
        return Result(replace(draft, standalone=worded, depends=worded != conversation.question), "model", usage)

    return rewriter


def _messages(conversation: Conversation, draft: Rewrite) -> list[SystemMessage | HumanMessage]:
    lines = [
        f"Question: {quoted(turn.standalone)}\nAnswer: {quoted(turn.answer)[:300]}"
        for turn in conversation.earlier[-TURNS_SHOWN:]
    ]
    turn = prompt(
        "rewriter_turn",
        conversation="\n".join(lines),
        draft=quoted(draft.standalone),
        question=quoted(conversation.question),
    )
    return [SystemMessage(prompt("rewriter")), HumanMessage(turn)]
