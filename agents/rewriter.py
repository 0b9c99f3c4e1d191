"""Make a turn stand alone, in English: Conversation -> Rewrite. A model is asked only where the rules are unsure."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import HumanMessage, SystemMessage
from pydantic import BaseModel, Field

from agents.models.calls import ModelFailed, structured
from agents.models.limits import ANY_TURN, Limits, Turn
from agents.off_loop import off_loop
from agents.plain import quoted
from agents.prompt import prompt
from agents.result import Result
from records.schema import Schema
from records.turn import Earlier, Rewrite
from semantics.conversation import rewrite
from semantics.languages import ENGLISH, language_name, language_of
from semantics.words import tokens
from stores.lexicon import Lexicon

TURNS_SHOWN = 3
# words by which a question leans on what was said before, as a rule
POINTING = frozenset("it its they them their theirs those these he she him his her hers ones".split())


@dataclass(frozen=True)
class Conversation:
    """The question as typed, what was said before it (oldest first), and the graph it is about."""

    question: str
    earlier: tuple[Earlier, ...]
    schema: Schema
    lexicon: Lexicon
    turn: Turn = ANY_TURN


Rewriter = Callable[[Conversation], Awaitable[Result[Rewrite]]]


class Standalone(BaseModel):
    """The question, standing alone."""

    question: str = Field(min_length=1, max_length=1000)


class Translated(BaseModel):
    """The question, standing alone: in its own language, and in English."""

    question: str = Field(min_length=1, max_length=1000)
    english: str = Field(min_length=1, max_length=1000)


async def by_rules(conversation: Conversation) -> Result[Rewrite]:
    """The rewrite by the rules of `semantics.conversation`; they read English, and name the question's language."""
    said = await off_loop(
        rewrite, conversation.question, conversation.earlier, conversation.schema, conversation.lexicon
    )
    if said.chosen is not None:
        # in the words of an answer, which are English whatever names they hold
        return Result(said)
    return Result(replace(said, language=language_of(conversation.question)))


def by_model(model: BaseChatModel, rules: Rewriter, limits: Limits) -> Rewriter:
    """The rules' rewrite; worded by the model where they are unsure, and translated where it is in another language."""

    async def rewriter(conversation: Conversation) -> Result[Rewrite]:
        drafted = await rules(conversation)
        draft = drafted.value
        foreign = draft.language != ENGLISH
        if not foreign and not (conversation.earlier and _is_unsure(conversation.question, draft)):
            return drafted
        shape: type[Standalone] | type[Translated] = Translated if foreign else Standalone
        messages, bounds = _messages(conversation, draft), limits.of(conversation.turn)
        try:
            answer, usage = await structured(model, messages, shape, limits=bounds)
        except ModelFailed as failed:
            return Result(draft, f"rules after model: {failed.why}", failed.usage)
        worded = " ".join(answer.question.split())
        depends = worded.casefold() != conversation.question.casefold() and bool(conversation.earlier)
        if isinstance(answer, Translated):
            english = " ".join(answer.english.split())
            return Result(Rewrite(english, depends, language=draft.language, own=worded), "model", usage)
        return Result(replace(draft, standalone=worded, depends=depends), "model", usage)

    return rewriter


def _is_unsure(question: str, draft: Rewrite) -> bool:
    """Whether the rules doubt their draft, or left a question alone that seems to point back.

    >>> _is_unsure("Who wrote them?", Rewrite("Who wrote them?")), _is_unsure("Who?", Rewrite("Who wrote Home?", True))
    (True, False)
    """
    words = [token.norm for token in tokens(question)]
    points = bool(POINTING.intersection(words)) or words[:1] == ["and"] or words[:2] == ["what", "about"]
    return not draft.sure or (not draft.depends and points)


def _messages(conversation: Conversation, draft: Rewrite) -> list[SystemMessage | HumanMessage]:
    lines = [
        f"Question: {quoted(turn.standalone)}\nAnswer: {quoted(turn.answer)[:300]}"
        for turn in conversation.earlier[-TURNS_SHOWN:]
    ]
    hint = f"Draft of the question standing alone: {quoted(draft.standalone)}"
    if draft.language != ENGLISH:
        language = language_name(draft.language)
        hint = f"The question is in {language}. Give it in {language}, then translate it into English."
    turn = prompt(
        "rewriter_turn",
        conversation="\n".join(lines) or "nothing was said before",
        draft=hint,
        question=quoted(conversation.question),
    )
    return [SystemMessage(prompt("rewriter")), HumanMessage(turn)]
