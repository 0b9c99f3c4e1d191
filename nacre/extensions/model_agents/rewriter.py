"""Make a question stand alone, in English, by a model that is asked only if the rules are unsure."""

from collections.abc import Awaitable, Callable
from dataclasses import replace

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import HumanMessage, SystemMessage
from pydantic import BaseModel, Field

from agents.answering.select_answer import content_words
from agents.model_calls import Limits, ModelFailed, prompt, structured_reply
from agents.rewriter import Rewriter
from agents.turn_view import Database, Result, TurnView
from nacre.language.data import phrase_list, word_list
from nacre.language.sanitize import quote_line
from nacre.language.tokens import ENGLISH, language_name, tokenize
from nacre.records.turn import Rewrite, Scope

TURNS_SHOWN = 3


class StandaloneQuestion(BaseModel):
    """The question, standing alone."""

    question: str = Field(min_length=1, max_length=1000)


class TranslatedQuestion(BaseModel):
    """The question, standing alone: in its own language, and in English."""

    question: str = Field(min_length=1, max_length=1000)
    english: str = Field(min_length=1, max_length=1000)


def by_model(
    model: BaseChatModel, rules: Rewriter, limits: Limits, *, small: bool = False, joined: bool = False
) -> Rewriter:
    """The rules' rewrite; the model words it if they are unsure, and translates it from another language.

    A small model only translates: its wordings of doubtful follow-ups were never better. With `joined`, the agent that
    writes the query understands the follow-up and the language in the same call. The rules' rewrite of a follow-up is
    then a draft that is not sure.
    """

    async def rewriter(view: TurnView, database: Database) -> Result[Rewrite]:
        drafted = await rules(view, database)
        draft = drafted.value
        shares_call = joined and bool(database.schema.predicates)
        foreign = draft.language != ENGLISH and not shares_call
        if shares_call and draft.language != ENGLISH and not draft.gloss:
            return Result(Rewrite(view.question, sure=False, language=draft.language, own=view.question))
        sure = small or (_is_one_thing(draft) if draft.depends else not _is_unsure(view.question, draft))
        asks_nothing = draft.aside or bool(draft.orientation)
        if not foreign and (not view.conversation or draft.chosen is not None or asks_nothing or sure):
            return drafted
        if shares_call and not foreign:
            return Result(replace(draft, sure=False))
        shape: type[StandaloneQuestion] | type[TranslatedQuestion] = (
            TranslatedQuestion if foreign else StandaloneQuestion
        )
        messages, bounds = _messages(view, draft), limits.until(view.deadline, view.version)
        try:
            answer, usage = await structured_reply(
                model, messages, shape, limits=bounds, refuse=_refusal(view, foreign)
            )
        except ModelFailed as failed:
            return Result(draft, f"rules after model: {failed.why}", failed.usage)
        worded = " ".join(answer.question.split())
        depends = worded.casefold() != view.question.casefold() and bool(view.conversation)
        if isinstance(answer, TranslatedQuestion):
            english = " ".join(answer.english.split())
            return Result(Rewrite(english, depends, language=draft.language, own=worded), "model", usage)
        # the names that the model put in replace the rules' scope; they are as sure as it was
        confidence = _inherited_confidence(draft, view) if depends else 1.0
        scope = Scope(confidence=confidence) if confidence < 1.0 else None
        return Result(replace(draft, standalone=worded, depends=depends, scope=scope), "model", usage)

    return rewriter


def _inherited_confidence(draft: Rewrite, view: TurnView) -> float:
    """The probability that what a follow-up refers to was right: the scope of the rules, else the turn before."""
    if draft.scope is not None:
        return draft.scope.confidence
    before = view.conversation[-1].confidence if view.conversation else None
    return 1.0 if before is None else before


def _refusal(
    view: TurnView, foreign: bool
) -> Callable[[StandaloneQuestion | TranslatedQuestion], Awaitable[str | None]]:
    """Refuses a wording that is no question of this conversation."""

    async def refuse(answer: StandaloneQuestion | TranslatedQuestion) -> str | None:
        is_fitting = foreign or is_of_conversation(answer.question, view)
        return None if is_fitting else "it is no question of this conversation"

    return refuse


def is_of_conversation(wording: str, view: TurnView) -> bool:
    """Whether a wording shares a content word with the question or the conversation."""
    asked = [view.question, view.rewrite.standalone if view.rewrite.gloss else ""]
    known = content_words(" ".join([*asked, *(f"{t.standalone} {t.answer}" for t in view.conversation)]))
    return not known or bool(content_words(wording) & known)


def _is_one_thing(draft: Rewrite) -> bool:
    """Whether a follow-up refers to the key of a single thing, which leaves little doubt."""
    return draft.sure and draft.scope is not None and len(draft.scope.keys) == 1


def _is_unsure(question: str, draft: Rewrite) -> bool:
    """Whether the rules doubt their draft, or left a question unchanged that seems to refer to an earlier turn.

    >>> _is_unsure("Who wrote them?", Rewrite("Who wrote them?")), _is_unsure("Who?", Rewrite("Who wrote Home?", True))
    (True, False)
    """
    words = [token.norm for token in tokenize(question)]
    starts = [start.split() for start in phrase_list("answering", "continuations")]
    refers = not word_list("answering", "references").isdisjoint(words)
    refers = refers or any(words[: len(start)] == start for start in starts)
    return not draft.sure or (not draft.depends and refers)


def _messages(view: TurnView, draft: Rewrite) -> list[SystemMessage | HumanMessage]:
    lines = [
        f"Question: {quote_line(turn.standalone)}\nAnswer: {quote_line(turn.answer)[:300]}"
        for turn in view.conversation[-TURNS_SHOWN:]
    ]
    hint = f"Draft of the question standing alone: {quote_line(draft.standalone)}"
    if draft.language != ENGLISH:
        language = language_name(draft.language)
        hint = f"The question is in {language}. Give it in {language}, then translate it into English."
    turn = prompt(
        "rewriter_turn",
        conversation="\n".join(lines) or "nothing was said before",
        draft=hint,
        question=quote_line(view.question),
    )
    return [SystemMessage(prompt("rewriter")), HumanMessage(turn)]
