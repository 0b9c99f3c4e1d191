"""The ferry company: 200 pages in four formats and a small graph, asked as a user would."""

import asyncio
from pathlib import Path

from langgraph.checkpoint.memory import InMemorySaver

from evaluation import ferry as make_ferry
from graph.builder import compose
from graph.stream import stream_turn
from ingestion.pipeline import ingest
from nacre.config.settings import Settings
from nacre.extensions.evaluation.questions import GoldQuestion, read_gold_questions
from nacre.extensions.evaluation.score import is_right
from nacre.records.answer import Answer

QUESTIONS = Path(make_ferry.__file__).with_name("ferry_questions.jsonl")
LEAST_RIGHT = 16


async def asked(questions: list[GoldQuestion], data: Path) -> list[Answer]:
    app = compose(Settings(data=data, embedder="none", _env_file=None)).build(InMemorySaver())
    found = []
    for gold in questions:
        events = [event async for event in stream_turn(app, gold["question"], graph="ferry")]
        found.append(events[-1][1])
    return found


def test_most_questions_are_answered_and_what_is_sure_is_right(tmp_path: Path) -> None:
    words = make_ferry.make_ferry(tmp_path)
    assert words >= 200 * make_ferry.WORDS_A_PAGE
    stores = tmp_path / "stores"
    made = ingest([str(tmp_path / "ferry.ttl")], "ferry", data=stores, texts=[str(tmp_path / "texts")])
    assert made.texts == make_ferry.DOCUMENTS
    questions = read_gold_questions(QUESTIONS)
    answers = asyncio.run(asked(questions, stores))
    right = [is_right(gold, answer) for gold, answer in zip(questions, answers, strict=True)]
    both = [good for gold, good in zip(questions, right, strict=True) if gold["type"] == "both"]
    assert sum(right) >= LEAST_RIGHT
    assert sum(both) >= len(both) / 2
    sure = [good for answer, good in zip(answers, right, strict=True) if answer["status"] == "answered"]
    assert sum(sure) >= 0.9 * len(sure)
    assert all(len(answer["answer"].split()) <= 60 for answer in answers if answer["status"] == "answered")
    assert all(len(answer["answer"].split()) <= 160 for answer in answers)
