import pytest

from nacre.extensions.evaluation.questions import is_answerable, question_kind, standalone_questions
from nacre.extensions.evaluation.score import (
    ScoreLine,
    count_refused,
    f1_score,
    is_refusal,
    is_right,
    right_ids,
    score_lines,
    score_report,
    status_is_right,
)


def record(answer="", values=(), status="answered", rows=(1,), **more):
    """An answer that cites queries which found so many rows."""
    return {
        "id": "1",
        "answer": answer,
        "values": list(values),
        "status": status,
        "seconds": 0.5,
        "queries": [{"i": i, "rows": count} for i, count in enumerate(rows)],
        "citations": [{"query": i} for i in range(len(rows))],
        **more,
    }


@pytest.mark.parametrize(
    ("gold", "given", "expected"),
    [
        ({"answers": [12]}, record(values=[12]), True),
        ({"answers": [12]}, record(values=[12, 13]), False),
        ({"answers": [12]}, record(values=["12"]), False),
        ({"answers": [12], "alt_answers": [[13]]}, record(values=[13]), True),
        ({"answers": [100], "tolerance": 0.01}, record(values=[101]), True),
        ({"answers": [100], "tolerance": 0.01}, record(values=[102]), False),
        ({"answers": [152.5556]}, record(values=[152.56]), True),
        ({"answers": ["yes"]}, record(values=[True]), True),
        ({"answers": ["yes"]}, record(values=[False]), False),
        ({"answers": [False]}, record(values=[False]), True),
        ({"answers": ["no"]}, record(values=[False]), True),
        ({"answers": [1]}, record(values=[True]), False),
        ({"answers": ["Café"]}, record(values=["cafe"]), True),
        ({"answers": ["oak", "ash"]}, record(values=["The Ash", "Oak"]), True),
        ({"answers": ["oak", "ash"]}, record(values=["oak"]), False),
        ({"answers": ["oak", "ash"]}, record(values=["oak", "ash", "elm"]), False),
        ({"answers": ["oak", "ash"], "match": "any"}, record(values=["ash"]), True),
        ({"answers": ["oak", "ash"], "match": "any"}, record(values=["elm"]), False),
        ({"answers": ["Oak Lane", "ash"], "answers_alt": ["Oak"]}, record(values=["oak", "ash"]), True),
        ({"answers": ["Oak Lane", "ash"], "answers_alt": ["Oak"]}, record(values=["oak", "oak lane"]), False),
        ({"answers": ["Oak Lane"], "answers_alt": [["The Alley"]]}, record(values=["alley"]), True),
        ({"answers": []}, record(status="not_in_graph"), True),
        ({"answers": []}, record(values=["oak"]), False),
        ({"answers": [12]}, record(values=[12], status="failed"), False),
    ],
)
def test_by_values(gold, given, expected):
    assert is_right(gold, given) is expected


@pytest.mark.parametrize(
    ("gold", "given", "expected"),
    [
        ({"must_include": [["oak", "beech"], ["ash"]]}, record("Ash and  Beech."), True),
        ({"must_include": [["oak", "beech"], ["ash"]]}, record("Only ash."), False),
        ({"must_include": [["Ann"], ["Ann Lee"]]}, record("It is Ann Lee."), False),
        ({"must_include": [["Ann"], ["Ann Lee"]]}, record("Ann Lee and Ann."), True),
        ({"must_include": [["oak"]]}, record("Oakland."), False),
        ({"must_include": [["oak"]], "must_not_include": ["ash"]}, record("Oak, ash."), False),
        ({"must_include": [["oak"]], "competitors": ["ash"]}, record("The oak, not the ash."), True),
        ({"must_include": [["oak"]], "competitors": ["ash"]}, record("The ash, then the oak."), False),
        ({"must_include": [], "answers": [216], "unit": "min"}, record("It takes 3:36 h [1]."), True),
        ({"must_include": [], "answers": [4800], "unit": "mm"}, record("It is 4.8 m long [1]."), True),
        ({"must_include": [], "answers": [4800], "unit": "mm"}, record("It weighs 4800 kg [1]."), False),
        ({"must_include": [], "answers": [1]}, record("It is 7 [1]."), False),
        ({"must_include": [], "answers": ["yes"]}, record("Yes.", values=[True]), True),
        ({"nuggets": [["a"], ["b"], ["c"]], "min_nuggets": 2, "forbidden": ["z"]}, record("c b"), True),
        ({"nuggets": [["a"], ["b"], ["c"]], "min_nuggets": 2, "forbidden": ["z"]}, record("c b z"), False),
        ({"nuggets": [["a"], ["b"]], "min_nuggets": 2}, record("b"), False),
        ({"must_include": [], "answer_type": "none"}, record("I know no price.", status="not_in_graph"), True),
        ({"must_include": [], "answer_type": "none"}, record("Its weight is 3 kg."), False),
    ],
)
def test_in_prose(gold, given, expected):
    assert is_right(gold, given) is expected


def test_nothing_is_said_where_no_query_found_a_row():
    assert is_refusal(record(status="not_in_graph", rows=()))
    assert is_refusal(record(rows=(0, 0)))
    assert not is_refusal(record(rows=(0, 1)))
    assert not is_refusal(record(rows=()))
    assert not is_refusal(record(values=[0], rows=(0,)))


def test_a_passage_instead_of_an_answer_is_not_nothing():
    loosely = record("Oaks are trees [1].", rows=())
    assert not is_refusal({**loosely, "citations": [{"query": None}]})  # type: ignore[typeddict-item]


def test_the_status_is_judged_by_whether_there_is_an_answer():
    assert status_is_right({"answers": [3]}, record(values=[4]))  # type: ignore[typeddict-item]
    assert not status_is_right({"answers": [3]}, record(status="not_in_graph"))  # type: ignore[typeddict-item]
    assert status_is_right({"answers": []}, record(status="not_in_graph"))  # type: ignore[typeddict-item]
    assert not status_is_right({"answers": []}, record(values=[4]))  # type: ignore[typeddict-item]


def test_a_question_without_a_record_counts_as_wrong():
    questions = [{"id": "1", "type": "count", "answers": [2]}, {"id": "2", "type": "count", "answers": [2]}]
    answers = {"1": record(values=[2])}
    assert score_lines(questions, answers) == [  # type: ignore[arg-type]
        ScoreLine("count", 2, 1, 0.5, 1, 0.5, 0.5),
        ScoreLine("together", 2, 1, 0.5, 1, 0.5, 0.5),
    ]
    assert right_ids(questions, answers) == {"1"}  # type: ignore[arg-type]
    assert "no record 1" in score_report(questions, answers)  # type: ignore[arg-type]


def test_kinds_have_a_line_each_and_may_be_left_out():
    questions = [{"id": "1", "intent": "lookup", "answers": [2]}, {"id": "2", "answer_type": "list", "answers": [2]}]
    answers = {"1": record(values=[2]), "2": record(values=[3])}
    assert [line.kind for line in score_lines(questions, answers)] == ["list", "lookup", "together"]  # type: ignore[arg-type]
    assert "lookup" not in score_report(questions, answers, kinds=False)  # type: ignore[arg-type]


def test_refused_are_those_with_an_answer_that_got_none():
    questions = [{"id": "1", "answers": [2]}, {"id": "2", "answers": [2]}, {"id": "3", "answers": []}]
    answers = {id: record(status=status) for id, status in (("1", "failed"), ("2", "partial"), ("3", "not_in_graph"))}
    assert count_refused(questions, answers) == (2, 1)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("answers", "expected"), [([], "none"), ([True], "boolean"), ([3], "number"), (["a"], "text"), (["a", "b"], "list")]
)
def test_a_file_that_names_no_kind_is_counted_by_the_shape_of_its_answers(answers, expected):
    assert question_kind({"id": "1", "question": "?", "answers": answers}) == expected


def test_what_has_an_answer():
    assert is_answerable({"nuggets": [["a"]]})  # type: ignore[typeddict-item]
    assert not is_answerable({"answers": [], "must_include": []})  # type: ignore[typeddict-item]
    assert not is_answerable({"answers": ["x"], "answer_type": "none"})  # type: ignore[typeddict-item]


def test_first_turns_stand_alone():
    questions = [
        {"id": "b2", "conversation": "b", "turn": 2},
        {"id": "b1", "conversation": "b", "turn": 1},
        {"id": "x"},
        {"id": "y", "conversation": None, "turn": 3},
    ]
    assert [gold["id"] for gold in standalone_questions(questions)] == ["b1", "x", "y"]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("gold", "values", "expected"),
    [
        ({"answers": ["oak", "ash"]}, ["oak", "ash"], 1.0),
        ({"answers": ["oak", "ash"]}, ["oak"], 2 / 3),
        ({"answers": ["oak", "ash"]}, ["oak", "elm"], 0.5),
        ({"answers": ["oak"]}, ["oak", "elm", "fir"], 0.5),
        ({"answers": ["oak"], "alt_answers": [["elm", "fir"]]}, ["elm"], 2 / 3),
        ({"answers": ["oak"]}, ["elm"], 0.0),
        ({"answers": ["oak"]}, [], 0.0),
        ({"answers": []}, ["oak"], 0.0),
    ],
)
def test_f1_is_of_items(gold, values, expected):
    assert f1_score({"id": 1, "question": "?", **gold}, record(values=values)) == pytest.approx(expected)  # type: ignore[typeddict-item]
