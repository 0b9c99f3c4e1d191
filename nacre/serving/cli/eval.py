"""`nacre eval`: a file of questions -> a file of answer records, written one by one."""

import asyncio
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from nacre.serving.terminal import options

if TYPE_CHECKING:
    from graph.context import Context
    from nacre.evaluation.ask_questions import QuestionLine
    from nacre.records.answer import Answer


def evaluate(
    questions: Annotated[Path, typer.Argument(metavar="QUESTIONS.jsonl")],
    out: Annotated[Path, typer.Option("--out", metavar="PREDICTIONS.jsonl", help="File for the answer records.")],
    graph: options.GraphOption = None,
    mind: options.MindOption = None,
    branches: options.BranchesOption = None,
    limit: Annotated[int | None, typer.Option("--limit", min=1, metavar="N", help="Ask only the first N.")] = None,
    score: Annotated[
        bool, typer.Option("--score", help="Then compare with the gold answers: exact match, F1, confidence.")
    ] = False,
) -> None:
    """Ask a file of questions and write their answer records.

    Questions are asked one at a time, in the order of the file. Conversations share a thread; failed questions are
    written too. Gold answers are read only with --score, after the last answer is written.
    """
    from nacre.config.settings import Settings
    from nacre.errors import ConfigError
    from nacre.evaluation.ask_questions import read_questions

    if out.exists() and questions.exists() and out.samefile(questions):
        raise ConfigError(f"--out {out} is the file of questions. Choose another name.")
    lines = read_questions(questions)[:limit]
    settings = Settings()
    context = options.turn_context(settings, mind, branches)
    out.parent.mkdir(parents=True, exist_ok=True)
    with out.open("w", encoding="utf-8", errors="replace") as file:
        asyncio.run(ask_all(lines, graph, context, file))
    if score:
        sys.stdout.write(_score_report(questions, out))


def _score_report(questions: Path, predictions: Path) -> str:
    """The score of the records; questions without gold answers or beyond --limit are omitted."""
    from nacre.evaluation.questions import has_gold_answer, read_gold_questions
    from nacre.evaluation.score import read_answers, score_report

    answers = read_answers(predictions)
    golds = [gold for gold in read_gold_questions(questions) if has_gold_answer(gold) and gold["id"] in answers]
    if not golds:
        return f'No line of {questions} has gold answers. Write for example {{"question": "...", "answers": [12]}}.\n'
    return score_report(golds, answers)


async def ask_all(questions: "list[QuestionLine]", graph: str | None, context: "Context", out: TextIO) -> None:
    """Ask the questions one at a time and write each record as a line when it is available."""
    from agents.run_in_thread import run_in_thread
    from nacre.config.settings import Settings
    from nacre.evaluation.ask_questions import ask_questions
    from nacre.serving.garbage_collection import relax_collection
    from nacre.serving.turn_service import open_turn_service

    async with open_turn_service(Settings(), lasting=False) as service:
        relax_collection()
        library = service.library
        # check the names of graphs before the first question
        for name in {question.graph or graph for question in questions}:
            library.resolve(name)
        await run_in_thread(library.warm)

        async def ask(question: "QuestionLine", thread: str) -> "Answer":
            return await service.answer(question.question, question.graph or graph, thread, context)

        written = 0
        async for record in ask_questions(questions, ask):
            out.write(json.dumps(record, ensure_ascii=False) + "\n")
            out.flush()
            written += 1
            sys.stderr.write(
                f"{written}/{len(questions)} {record['id']} {record['status']} {record['seconds']:.3f} s\n"
            )
