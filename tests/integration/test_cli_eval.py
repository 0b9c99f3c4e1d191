import json

import pytest

from nacre.errors import ConfigError, IngestionError
from nacre.extensions.evaluation.questions import ask_questions, asking_order, read_questions
from nacre.records.answer import QuestionLine, failed_record


def lines(path, *records):
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def test_gold_is_never_read(tmp_path):
    file = lines(
        tmp_path / "q.jsonl", {"id": 7, "question": "How many?", "answers": [3], "standalone": "x", "graph": "g"}
    )
    assert read_questions(file) == [QuestionLine(7, "How many?", None, None, "g")]


def test_a_thread_is_a_conversation(tmp_path):
    file = lines(tmp_path / "q.jsonl", {"id": 1, "question": "Who wrote it?", "thread": "a"})
    assert read_questions(file) == [QuestionLine(1, "Who wrote it?", "a", None, None)]


def test_a_byte_order_mark_and_blank_lines_are_dropped(tmp_path):
    file = tmp_path / "q.jsonl"
    file.write_text('\ufeff{"question": "a\u2028b"}\n\n', encoding="utf-8")
    assert [question.question for question in read_questions(file)] == ["a\u2028b"]


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (None, "No file"),
        ("", "has no question"),
        ("\n \n", "has no question"),
        ('{"question": "a"}\n{"question": ', "line 2 is not JSON"),
        ('["a"]', "line 1 has no 'question'"),
        ('{"id": "1"}', "line 1 has no 'question'"),
        ('{"question": "a", "turn": "first"}', "line 1: 'turn' is 'first'"),
        ('{"question": "a", "graph": 3}', "line 1: 'graph' is 3"),
    ],
)
def test_a_file_that_cannot_be_asked_is_named(tmp_path, content, told):
    file = tmp_path / "q.jsonl"
    if content is not None:
        file.write_text(content, encoding="utf-8")
    with pytest.raises(ConfigError, match=told) as raised:
        read_questions(file)
    assert str(file) in str(raised.value)


def test_a_binary_file_is_named(tmp_path):
    file = tmp_path / "q.jsonl"
    file.write_bytes(b"\xff\xfe\x00\x80")
    with pytest.raises(ConfigError, match="not a JSONL file"):
        read_questions(file)


def test_without_turns_a_conversation_keeps_the_order_of_the_file():
    questions = [QuestionLine("1", "?", "c"), QuestionLine("2", "?", "c", 1), QuestionLine("3", "?", "c")]
    assert list(asking_order(questions)) == [0, 1, 2]


async def test_conversations_share_a_thread_and_records_keep_the_order_of_the_file():
    questions = [
        QuestionLine("b2", "second", "b", 2),
        QuestionLine("alone", "alone"),
        QuestionLine("a1", "first of a", "a", 1),
        QuestionLine("b1", "first", "b", 1),
        QuestionLine("too", "alone too"),
    ]
    asked = []

    async def ask(question, thread):
        asked.append((question.id, thread))
        return failed_record(question, thread, "")

    records = [record async for record in ask_questions(questions, ask)]
    assert [id for id, _ in asked] == ["b1", "b2", "alone", "a1", "too"]
    assert [record["id"] for record in records] == [question.id for question in questions]
    threads = dict(asked)
    assert threads["b1"] == threads["b2"]
    assert len(set(threads.values())) == 4


async def test_a_record_is_given_as_soon_as_it_can_be():
    questions = [QuestionLine("1", "?"), QuestionLine("2", "?")]
    asked = []

    async def ask(question, thread):
        asked.append(question.id)
        return failed_record(question, thread, "")

    async for record in ask_questions(questions, ask):
        assert asked[-1] == record["id"]


async def test_a_question_that_raises_costs_no_other():
    async def ask(question, thread):
        if question.id == "1":
            raise IngestionError("the store is gone")
        if question.id == "2":
            raise ValueError("a fault of ours")
        return {**failed_record(question, thread, ""), "status": "answered"}

    records = [
        record
        async for record in ask_questions([QuestionLine("1", "?"), QuestionLine("2", "?"), QuestionLine("3", "?")], ask)
    ]
    assert [(r["status"], r["reason"]) for r in records[:2]] == [
        ("failed", "the store is gone"),
        ("failed", "ValueError: a fault of ours"),
    ]
    assert records[2]["status"] == "answered"
