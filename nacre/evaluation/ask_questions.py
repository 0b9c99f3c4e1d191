"""Ask the questions of a file one at a time: lines of a file -> answer records in the order of the file.

Of a line only `id`, `question`, `conversation`, `turn` and `graph` are read, never the gold answers.
"""

import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from nacre.errors import ConfigError, NacreError
from nacre.evaluation.questions import read_question_lines
from nacre.records.answer import Answer, Cost
from nacre.records.derivation import empty_derivation


class QuestionLine(NamedTuple):
    """One line. `id` keeps its JSON type; `conversation` and `graph` are None if the line has none."""

    id: Any
    question: str
    conversation: str | None = None
    turn: float | None = None
    graph: str | None = None


# (question, a new thread) -> the record; raises NacreError if the question can't be asked
AskQuestion = Callable[[QuestionLine, str], Awaitable[Answer]]


def read_questions(path: Path) -> list[QuestionLine]:
    """The questions of a file without their gold answers; raises ConfigError naming the file and the line."""
    questions = [_question(data, place) for place, data in read_question_lines(path)]
    if not questions:
        raise ConfigError(f"{path} has no question. Write one JSON object a line, each with a 'question'.")
    return questions


async def ask_questions(questions: Sequence[QuestionLine], ask: AskQuestion) -> AsyncIterator[Answer]:
    """Ask each question and yield the records in the order of `questions`, each as soon as all before it are done.

    The turns of a conversation are asked in their order in one new thread. A question that raises an error has a record
    with the status "failed".
    """
    done: dict[int, Answer] = {}
    threads: dict[str, str] = {}
    next_index = 0
    for index in asking_order(questions):
        question = questions[index]
        thread = uuid.uuid4().hex
        if question.conversation is not None:
            thread = threads.setdefault(question.conversation, thread)
        try:
            record = await ask(question, thread)
        except NacreError as error:
            record = failed_record(question, thread, str(error))
        except Exception as error:
            # a failure of one question must not end the run: its record has the reason
            record = failed_record(question, thread, f"{type(error).__name__}: {error}")
        done[index] = {**record, "id": question.id}
        while next_index in done:
            yield done.pop(next_index)
            next_index += 1


def asking_order(questions: Sequence[QuestionLine]) -> Iterator[int]:
    """The indexes of the questions in file order, except that turns of a conversation are in the order of the turns.

    >>> list(asking_order([QuestionLine("b", "?", "c", 2), QuestionLine("x", "?"), QuestionLine("a", "?", "c", 1)]))
    [2, 0, 1]
    """
    turns: dict[str, list[int]] = {}
    for index, question in enumerate(questions):
        if question.conversation is not None:
            turns.setdefault(question.conversation, []).append(index)
    for members in turns.values():
        if all(questions[index].turn is not None for index in members):
            members.sort(key=lambda index: (questions[index].turn or 0, index))
    asked: set[int] = set()
    for index, question in enumerate(questions):
        members = [index] if question.conversation is None else turns[question.conversation]
        for member in members[: members.index(index) + 1]:
            if member not in asked:
                asked.add(member)
                yield member


def failed_record(question: QuestionLine, thread: str, reason: str) -> Answer:
    """The record of a question that could not be asked."""
    return Answer(
        id=question.id,
        graph=question.graph or "",
        version="",
        thread=thread,
        turn=int(question.turn or 1),
        question=question.question,
        standalone=question.question,
        answer="",
        values=[],
        table=None,
        unit=None,
        status="failed",
        confidence=None,
        reason=reason,
        options=[],
        caveats=[],
        strategy="",
        rounds=0,
        enabled=[],
        visited=[],
        unavailable={},
        by={},
        queries=[],
        citations=[],
        unsupported=0,
        seconds=0.0,
        first_token_seconds=None,
        llm_calls=0,
        input_tokens=0,
        cached_tokens=0,
        output_tokens=0,
        price=0.0,
        language="en",
        standalone_own=question.question,
        conversation=Cost(llm_calls=0, input_tokens=0, cached_tokens=0, output_tokens=0, price=0.0),
        derivation=empty_derivation(),
        plan=None,
        verified=None,
    )


def _question(data: dict[str, Any], place: str) -> QuestionLine:
    turn, graph, conversation = data.get("turn"), data.get("graph"), data.get("conversation", data.get("thread"))
    if turn is not None and (isinstance(turn, bool) or not isinstance(turn, int | float)):
        raise ConfigError(f"{place}: 'turn' is {turn!r}. Give a number, or leave it out.")
    if graph is not None and not isinstance(graph, str):
        raise ConfigError(f"{place}: 'graph' is {graph!r}. Give the name of a graph, or leave it out.")
    return QuestionLine(
        id=data["id"],
        question=data["question"],
        conversation=None if conversation is None else str(conversation),
        turn=turn,
        graph=graph,
    )
