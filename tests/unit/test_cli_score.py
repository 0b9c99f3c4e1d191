import pytest

from evaluation.score import is_right, table


def record(answer="", values=(), status="answered", **more):
    return {"id": "1", "answer": answer, "values": list(values), "status": status, "seconds": 0.5, **more}


@pytest.mark.parametrize(
    ("gold", "given", "right"),
    [
        ({"answers": [12]}, record(values=[12]), True),
        ({"answers": [12]}, record(values=[12, 13]), False),
        ({"answers": [12], "alt_answers": [[13]]}, record(values=[13]), True),
        ({"answers": [100], "tolerance": 0.01}, record(values=[101]), True),
        ({"answers": [100], "tolerance": 0.01}, record(values=[102]), False),
        ({"answers": [152.5556]}, record(values=[152.56]), True),
        ({"answers": ["yes"]}, record(values=[True]), True),
        ({"answers": ["yes"]}, record(values=[False]), False),
        ({"answers": ["no"]}, record(values=[False]), True),
        ({"answers": [1]}, record(values=[True]), False),
        ({"answers": ["Café"]}, record(values=["cafe"]), True),
        ({"must_include": [["oak", "beech"], ["ash"]]}, record("Ash and  Beech."), True),
        ({"must_include": [["oak", "beech"], ["ash"]]}, record("Only ash."), False),
        ({"nuggets": [["a"], ["b"], ["c"]], "min_nuggets": 2, "forbidden": ["z"]}, record("c b"), True),
        ({"nuggets": [["a"], ["b"], ["c"]], "min_nuggets": 2, "forbidden": ["z"]}, record("c b z"), False),
        ({"answers": [12]}, record(values=[12], status="failed"), False),
    ],
)
def test_right_and_wrong(gold, given, right):
    assert is_right(gold, given) is right


def test_a_question_without_a_record_counts_as_wrong():
    questions = [{"id": "1", "type": "count", "answers": [2]}, {"id": "2", "type": "count", "answers": [2]}]
    assert table(questions, [record(values=[2])]) == [("count", 2, 1, 1, 0.5), ("together", 2, 1, 1, 0.5)]
