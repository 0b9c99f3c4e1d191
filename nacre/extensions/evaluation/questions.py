"""Read a file of questions with their gold answers: JSONL or YAML -> GoldQuestions; ask them one at a time -> records.
JSONL: one object a line. YAML: `ask` and `values`, further turns under `then` (`tests/fixtures/questions`). Asking
reads only `id`, `question`, `conversation`, `turn` and `graph`, never the gold answers."""

import json
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Required

import yaml
from typing_extensions import TypedDict

from nacre.errors import ConfigError, NacreError
from nacre.records.answer import Answer, QuestionLine, Value, failed_record


class GoldQuestion(TypedDict, total=False):
    """A question and its gold answer; files have the fields that they need.

    `answers` are compared with the values of an answer. `alt_answers` are other right answers, `answers_alt` other
    names of single items; with `match` "any" one of them is enough. If `must_include` or `nuggets` is present, even
    empty, the prose of the answer is compared instead: one name of each group must occur, and no name of the
    `competitors` may come first.
    """

    id: Required[Any]
    question: Required[str]
    conversation: Any
    turn: float
    graph: str
    type: str
    intent: str
    answer_type: str
    answers: list[Value]
    alt_answers: list[list[Value]]
    answers_alt: list[Value | list[Value]]
    match: str
    tolerance: float
    unit: str | None
    must_include: list[list[str]]
    must_not_include: list[str]
    competitors: list[str]
    nuggets: list[list[str]]
    min_nuggets: int
    forbidden: list[str]
    original: Any
    rewording: str


def read_gold_questions(path: Path) -> list[GoldQuestion]:
    """The questions of a file with their gold answers; raises ConfigError as `read_question_lines` does."""
    return [GoldQuestion(**data) for _, data in read_question_lines(path)]  # type: ignore[typeddict-item]


def read_question_lines(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Lines that are not blank, with their places; an id may be the number. Raises ConfigError with the place."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise ConfigError(f"No file {path}. Give a JSONL file with one question a line.") from None
    except (IsADirectoryError, UnicodeDecodeError):
        raise ConfigError(f"{path} is not a JSONL file. Give a text file with one JSON object a line.") from None
    for number, place, data in (_read_yaml if path.suffix == ".yaml" else _read_jsonl)(text, path):
        if not isinstance(data, dict) or not isinstance(data.get("question"), str):
            raise ConfigError(f'{place} has no \'question\'. Write for example {{"id": "1", "question": "..."}}.')
        yield place, {"id": number, **data}


def question_kind(gold: GoldQuestion) -> str:
    """The kind under which a question is counted: its type or intent in the file, or the form of its answer."""
    stated = gold.get("type") or gold.get("intent") or gold.get("answer_type")
    if stated:
        return stated
    answers = gold.get("answers") or []
    if not answers:
        return "none"
    if len(answers) > 1:
        return "list"
    return "boolean" if isinstance(answers[0], bool) else "text" if isinstance(answers[0], str) else "number"


def is_answerable(gold: GoldQuestion) -> bool:
    """Whether the file has an answer; if not, a refusal is right."""
    return gold.get("answer_type") != "none" and any(
        gold.get(field) for field in ("answers", "alt_answers", "must_include", "nuggets")
    )


def has_gold_answer(gold: GoldQuestion) -> bool:
    """Whether a line has a gold answer; an empty list of answers is one.

    >>> has_gold_answer({"id": 1, "question": "?", "answers": []}), has_gold_answer({"id": 1, "question": "?"})
    (True, False)
    """
    return any(gold.get(field) is not None for field in ("answers", "alt_answers", "must_include", "nuggets"))


def standalone_questions(questions: list[GoldQuestion]) -> list[GoldQuestion]:
    """The questions that need no earlier turn: single questions and first turns."""
    first: dict[Any, float] = {}
    for gold in questions:
        turn, conversation = gold.get("turn") or 1, gold.get("conversation")
        first[conversation] = min(turn, first.get(conversation, turn))
    return [g for g in questions if g.get("conversation") is None or (g.get("turn") or 1) == first[g["conversation"]]]


def _read_jsonl(text: str, path: Path) -> Iterator[tuple[str, str, Any]]:
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        place = f"{path}, line {number}"
        try:
            yield str(number), place, json.loads(line)
        except json.JSONDecodeError as error:
            raise ConfigError(f"{place} is not JSON ({error.msg}). Write one JSON object a line.") from None


def _read_yaml(text: str, path: Path) -> Iterator[tuple[str, str, Any]]:
    try:
        cases = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ConfigError(f"{path} is not YAML ({error}). Write a list of 'ask' and 'values'.") from None
    for number, case in enumerate(cases if isinstance(cases, list) else [], start=1):
        turns = [case, *case.get("then", ())] if isinstance(case, dict) else [{}]
        for turn, each in enumerate(turns, start=1):
            conversation = str(number) if len(turns) > 1 else None
            line = {"question": each.get("ask"), "answers": each.get("values")}
            data = {**line, "conversation": conversation, "turn": turn}
            yield f"{number}.{turn}", f"{path}, question {number}", data


# (question, a new thread) -> the record; raises NacreError if the question can't be asked
AskQuestion = Callable[[QuestionLine, str], Awaitable[Answer]]


def read_questions(path: Path) -> list[QuestionLine]:
    """The questions of a file without their gold answers; raises ConfigError naming the file and the line."""
    questions = [_question(data, place) for place, data in read_question_lines(path)]
    if not questions:
        raise ConfigError(f"{path} has no question. Write one JSON object a line, each with a 'question'.")
    return questions


async def ask_questions(questions: Sequence[QuestionLine], ask: AskQuestion) -> AsyncIterator[Answer]:
    """Ask each question and yield the records in the order of `questions`, as soon as all before it are done. Turns of
    conversations are asked in order in a new thread. An error gives a record with the status "failed"."""
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
