"""Say a question in the words of the graph: what was understood + a model -> an understanding that covers more."""

from collections.abc import Awaitable, Callable, Collection

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage
from pydantic import BaseModel, Field

from agents.models.calls import structured
from agents.models.limits import Limits
from agents.plain import quoted, quoted_lines
from agents.prompt import prompt
from agents.result import Usage
from agents.vocabulary import vocabulary
from records.schema import Schema
from records.turn import Mention, Understanding

Understand = Callable[[str], Awaitable[Understanding]]


class Reworded(BaseModel):
    """The question in the words of the catalogue."""

    question: str = Field(min_length=3, max_length=500)


async def reworded(
    model: BaseChatModel, before: Understanding, schema: Schema, understand: Understand, limits: Limits
) -> tuple[Understanding | None, Usage]:
    """What a model's wording of the question is understood as; None where it asks something else, or says nothing new.

    Raises ModelFailed.
    """
    messages: list[BaseMessage] = [
        SystemMessage(head(schema, limits)),
        HumanMessage(prompt("rewording_turn", question=quoted(before.standalone))),
    ]
    answer, usage = await structured(model, messages, Reworded, limits=limits)
    worded = " ".join(answer.question.split())
    if worded.casefold() == before.standalone.casefold():
        return None, usage
    after = await understand(worded)
    labels = [each.label for each in schema.classes] + [each.label for each in schema.predicates]
    terms = {label.casefold() for label in labels}
    return (None if strays(before, after, terms) else after), usage


def head(schema: Schema, limits: Limits) -> str:
    """What every prompt about a graph begins with, byte for byte."""
    return prompt("rewording", vocabulary=quoted_lines(vocabulary(schema, limits.schema_tokens)))


def strays(before: Understanding, after: Understanding, terms: Collection[str] = ()) -> str:
    """Why another wording asks something else, or "": it wants another kind of answer, or lost or gained a name.

    What is one of the `terms` of the schema (small letters) may be said in other words, even if a thing is called so.

    >>> strays(Understanding("How long is it?"), Understanding("Who knows?"))
    "it can't be read"
    """
    if not after.readings:
        return "it can't be read"
    if _kind(before.expected) != _kind(after.expected):
        return f"it asks for {after.expected}, not for a {before.expected}"
    lost = [name for name in _missing(before.mentions, after) if name.casefold() not in terms]
    gained = _missing(after.mentions, before)
    if lost or gained:
        return f"it {'lost' if lost else 'gained'} {' and '.join(lost or gained)}"
    return ""


def _kind(expected: str) -> str:
    return "entities" if expected in ("entities", "text") else expected


def _missing(mentions: tuple[Mention, ...], other: Understanding) -> list[str]:
    """Names and numbers of one wording that the other lacks."""
    targets = {mention.target for mention in other.mentions}
    said = other.standalone.casefold()
    return [
        mention.text
        for mention in mentions
        if mention.kind in ("entity", "number")
        and mention.target not in targets
        and mention.text.casefold() not in said
    ]
