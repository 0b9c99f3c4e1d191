"""Have a model reword a question in the graph's own words, and parse that by rules: TurnView + Database -> Rewording.

A small model is better at everyday words than at queries, and the rules know the graph and which words they can't
account for. So the rules parse the rewording; nothing that the model writes is run.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage
from pydantic import BaseModel, Field

from agents.answering.calibrate_rows import calibrate_rows
from agents.answering.selection.refused_rows import is_echo
from agents.answering.selection.rows import is_empty, row_probability
from agents.answering.selection.select_answer import DECLINED
from agents.database import Database
from agents.models.calls import ModelFailed, structured_reply
from agents.models.limits import CHARACTERS_PER_TOKEN, Limits
from agents.prompt import prompt
from agents.result import NO_USAGE, Usage
from agents.run_in_thread import run_in_thread
from agents.turn_view import TurnView
from nacre.language.sanitize import quote_line, quote_lines
from nacre.language.tokens import tokenize
from nacre.records.evidence import Query, Rows
from nacre.records.schema import Class, Predicate, Schema
from nacre.records.turn import Rewrite, Understanding
from nacre.understanding.understand import understand

# a property with at most so many values is shown with them, each up to so many characters (given)
MOST_VALUES = 6
LONGEST_VALUE = 20


class RewordedQuestion(BaseModel):
    """The question in other words."""

    reworded: str = Field(min_length=1, max_length=300)


@dataclass(frozen=True)
class Rewording:
    """The rows for a rewording, with their plan and their probability if the rewording is right; None if the rules
    can't account for every word. `queries` are all that were run."""

    rows: Rows | None = None
    queries: tuple[Query, ...] = ()
    usage: Usage = NO_USAGE
    failed: str = ""


async def reword_question(model: BaseChatModel, view: TurnView, database: Database, limits: Limits) -> Rewording:
    """One call, and the likeliest reading of its rewording; nothing if it only repeats the question, or leaves out a
    name or a number of it."""
    try:
        answer, usage = await structured_reply(
            model, await _messages(view, database, limits), RewordedQuestion, limits=limits
        )
    except ModelFailed as failed:
        return Rewording(usage=failed.usage, failed=failed.why)
    text = " ".join(answer.reworded.split())
    if _words(text) == _words(view.standalone) or not _keeps_names(text, view):
        return Rewording(usage=usage)
    understanding = await run_in_thread(understand, Rewrite(text), database.schema, database.lexicon)
    if understanding.expected == "prose" or understanding.unknown:
        return Rewording(usage=usage)
    results = await database.read(understanding.readings[: database.most])
    queries = tuple(query for found in results for query in found.queries)
    rows = (
        _likeliest(understanding, [each for found in calibrate_rows(understanding, results) for each in found.rows])
        if results
        else None
    )
    return Rewording(rows, queries, usage)


def _likeliest(understanding: Understanding, rows: list[Rows]) -> Rows | None:
    """The likeliest rows if their reading accounts for every word, with the plan instead of the reading."""
    informative = [each for each in rows if not is_empty(each.table) and not is_echo(understanding, each)]
    best = max(informative, key=lambda each: row_probability(understanding, each), default=None)
    if best is None or best.reading is None or row_probability(understanding, best) < DECLINED:
        return None
    reading = understanding.readings[best.reading]
    if reading.unused or reading.lost:
        return None
    return replace(
        best, reading=None, plan=reading.plan, words=reading.words, probability=row_probability(understanding, best)
    )


def _words(text: str) -> list[str]:
    return [token.norm for token in tokenize(text)]


def _keeps_names(text: str, view: TurnView) -> bool:
    """Whether a rewording has all numbers of the question and a word of each name; "sporty" names a "sport"."""
    words = set(_words(text))
    numbers = {word for word in _words(view.standalone) if any(map(str.isdigit, word))}
    names = [f"{each.text} {each.label}" for each in view.understanding.mentions if each.kind == "entity"]
    derived = [f"{word} {near}" for word, near in view.understanding.unknown if near and word.startswith(near)]
    return numbers <= words and all(words.intersection(_words(name)) for name in (*names, *derived))


async def _messages(view: TurnView, database: Database, limits: Limits) -> list[BaseMessage]:
    prefix = await run_in_thread(rewording_prefix, database.schema, limits.schema_tokens)
    return [SystemMessage(prefix), HumanMessage(prompt("rewording_turn", question=quote_line(view.standalone)))]


def rewording_prefix(schema: Schema, most_tokens: int) -> str:
    """The prefix of every prompt about a graph, byte for byte the same."""
    return prompt("rewording", names=quote_lines(class_lines(schema, most_tokens)))


def class_lines(schema: Schema, most_tokens: int) -> str:
    """One line for each class, the largest first: its label and those of its properties; as many as fit."""
    left, lines = most_tokens * CHARACTERS_PER_TOKEN, list[str]()
    for each in sorted(schema.shown_classes, key=lambda each: (-each.count, each.iri)):
        line = f"{each.label}: {', '.join(_properties(each, schema))}"
        left -= len(line) + 1
        if left < 0:
            break
        lines.append(line)
    return "\n".join(lines)


def _properties(owner: Class, schema: Schema) -> Iterator[str]:
    for each in schema.shown_predicates:
        if owner.iri in each.domains and each.role == "fact":
            yield each.label + _range(each, schema)


def _range(predicate: Predicate, schema: Schema) -> str:
    """The classes that a property leads to, its values if they are few, or its unit."""
    if predicate.has_links:
        classes = [schema.class_of[iri].label for iri in predicate.ranges if iri in schema.class_of]
        return f" ({' or '.join(classes[:2])})" if classes else ""
    if predicate.values and predicate.minimum is None and len(predicate.values) <= MOST_VALUES:
        return f" ({'/'.join(value[:LONGEST_VALUE] for value in predicate.values)})"
    return f" in {predicate.unit}" if predicate.unit else ""
