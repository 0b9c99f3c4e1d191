"""Questions about the conversation itself ("are you sure?", "what did I ask?"): question + earlier turns -> text."""

from collections.abc import Sequence

from nacre.language.base import language
from nacre.language.sanitize import quote_line
from nacre.language.tokens import tokenize
from nacre.records.schema import Schema
from nacre.records.turn import EarlierTurn
from nacre.wording.phrases.plan import verbalise_plan

# Kinds of questions about the conversation: keys of dialogue.yaml.
META_KINDS = ("asked_first", "asked_last", "asked_all", "doubt")


def is_meta_question(question: str) -> bool:
    """Whether a turn asks about the conversation, and not about the graph.

    >>> is_meta_question("Are you sure?"), is_meta_question("What did I ask first?")
    (True, True)
    >>> is_meta_question("Are you sure that he is old?")
    False
    """
    return bool(_kind(question))


def answer_meta_question(question: str, earlier: Sequence[EarlierTurn], schema: Schema) -> str:
    """The answer to a question about the conversation. `earlier` has at least one turn."""
    kind = _kind(question)
    if kind == "asked_first":
        return f"The first question that I remember is “{quote_line(earlier[0].question)}”."
    if kind == "asked_last":
        return f"Your last question was “{quote_line(earlier[-1].question)}”."
    if kind == "asked_all":
        return "You asked: " + "; ".join(f"“{quote_line(turn.question)}”" for turn in earlier) + "."
    return _basis(earlier[-1], schema)


def _basis(turn: EarlierTurn, schema: Schema) -> str:
    """What the last answer is based on, and how certain it is."""
    if turn.plan is None or turn.confidence is None:
        return "My last answer rests on what it cites; I have nothing else to say for it."
    try:
        reading = f"I read “{quote_line(turn.question)}” as “{quote_line(verbalise_plan(turn.plan, schema))}”."
    except KeyError:
        # The graph no longer has what the plan is about.
        return "The graph has changed since my last answer. Please ask once more."
    return f"{reading} Of answers that I am as sure of as this one, about {turn.confidence:.0%} are right."


def _kind(question: str) -> str:
    text = " ".join(t.norm for t in tokenize(question))
    return next((kind for kind in META_KINDS if language().dialogue[kind].search(text)), "")
