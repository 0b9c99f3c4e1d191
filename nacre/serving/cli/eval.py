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
    out: Annotated[Path, typer.Option("--out", metavar="PREDICTIONS.jsonl", help="Where the answer records go.")],
    graph: options.GraphOption = None,
    mind: options.MindOption = None,
    branches: options.BranchesOption = None,
    limit: Annotated[int | None, typer.Option("--limit", min=1, metavar="N", help="Ask only the first N.")] = None,
    score: Annotated[
        bool, typer.Option("--score", help="Then compare with the gold answers in the file: exact, F1, confidence.")
    ] = False,
) -> None:
    """Ask a file of questions, write their records.

    One at a time, in the order of the file; conversations share a thread, failed questions are written too. Gold
    answers are read with --score alone, and after the last answer is written.
    """
    from nacre.config.settings import Settings
    from nacre.errors import ConfigError
    from nacre.evaluation.ask_questions import read_questions

    if out.exists() and questions.exists() and out.samefile(questions):
        raise ConfigError(f"--out {out} is the file of the questions. Give another name.")
    wanted = read_questions(questions)[:limit]
    settings = Settings()
    context = options.turn_context(settings, mind, branches)
    out.parent.mkdir(parents=True, exist_ok=True)
    with out.open("w", encoding="utf-8", errors="replace") as file:
        asyncio.run(ask_all(wanted, graph, context, file))
    if score:
        sys.stdout.write(_scored(questions, out))


def _scored(questions: Path, predictions: Path) -> str:
    """How the records compare with the gold answers; questions without one, or beyond a --limit, are left out."""
    from nacre.evaluation.questions import has_gold_answer
    from nacre.evaluation.questions import read_gold_questions as read_gold
    from nacre.evaluation.score import read_answers, score_report

    answers = read_answers(predictions)
    golds = [gold for gold in read_gold(questions) if has_gold_answer(gold) and gold["id"] in answers]
    if not golds:
        return f'No line of {questions} has gold answers. Write for example {{"question": "...", "answers": [12]}}.\n'
    return score_report(golds, answers)


async def ask_all(questions: "list[QuestionLine]", graph: str | None, context: "Context", out: TextIO) -> None:
    """Ask the questions one at a time and write their records, a line each as soon as it is there."""
    from agents.run_in_thread import run_in_thread
    from nacre.config.settings import Settings
    from nacre.evaluation.ask_questions import ask_questions
    from nacre.serving.garbage_collection import relax_collection
    from nacre.serving.turn_service import open_turn_service

    async with open_turn_service(Settings(), lasting=False) as service:
        relax_collection()
        library = service.library
        # a wrong name is bad input and found before the first question, not a run full of failures
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
