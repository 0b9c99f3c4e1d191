"""Comparing configurations: what is counted, as text, CSV and a chart."""

import csv
import io
from typing import Any
from xml.etree import ElementTree

import pytest

from nacre.extensions.evaluation.measures import comparison_chart, comparison_csv, comparison_text, configuration_lines
from nacre.extensions.evaluation.questions import GoldQuestion
from nacre.extensions.evaluation.score import RankingScores, ranking_scores
from nacre.records.answer import Answer, QuestionLine, Value, failed_record

GOLD = [
    GoldQuestion(id=1, question="Who?", type="lookup", answers=["Ann"]),
    GoldQuestion(id=2, question="Which?", type="list", answers=["Ann", "Bo"]),
    GoldQuestion(id=3, question="How many?", type="list", answers=[3]),
]


def record(id_: int, *values: Value, status: str = "answered", **more: Any) -> Answer:
    answer: Any = {
        **failed_record(QuestionLine(id_, "?"), "t", ""),
        "id": id_,
        "values": list(values),
        "status": status,
        **more,
    }
    return answer  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("gold", "values", "expected"),
    [
        (GOLD[1], ["Bo", "Ann"], RankingScores(1.0, 1.0, 1.0, 1.0)),
        (GOLD[1], ["Cy", "Ann"], RankingScores(0.5, 0.0, 0.5, 1.0)),
        (GOLD[1], [], RankingScores(0.0, 0.0, 0.0, 0.0)),
        (GOLD[0], ["a", "b", "c", "d", "e", "Ann"], RankingScores(2 / 7, 0.0, 1 / 6, 0.0)),
        (
            GoldQuestion(id=1, question="?", answers=["x"], alt_answers=[["Ann"]]),
            ["Ann"],
            RankingScores(1.0, 1.0, 1.0, 1.0),
        ),
        (
            GoldQuestion(id=1, question="?", must_include=[["Ann", "Annie"]]),
            ["Annie"],
            RankingScores(1.0, 1.0, 1.0, 1.0),
        ),
        (GoldQuestion(id=1, question="?", nuggets=[["Ann"]], must_include=[["Ann"]]), [], None),
    ],
)
def test_how_far_up_right_values_are(gold: GoldQuestion, values: list[Value], expected: RankingScores | None) -> None:
    found = ranking_scores(gold, record(1, *values))
    assert found == expected if expected is None or found is None else found == pytest.approx(expected)


def test_a_line_a_kind_and_one_for_all() -> None:
    answers = {
        1: record(1, "Ann", seconds=1.0, llm_calls=2, input_tokens=10, output_tokens=4),
        2: record(2, "Ann", status="clarify", seconds=3.0),
    }
    by_list, by_lookup, together = configuration_lines("sql", GOLD, answers)
    assert [each.kind for each in (by_list, by_lookup, together)] == ["list", "lookup", "all"]
    assert (by_list.asked, by_list.exact, by_list.f1) == (2, 0.0, pytest.approx(2 / 3))  # type: ignore[comparison-overlap]
    assert (by_lookup.exact, by_lookup.answered, by_lookup.answered_right) == (1.0, 1.0, 1.0)
    assert (together.exact, together.answered, together.median) == pytest.approx((1 / 3, 1 / 3, 1.0))
    assert (together.calls, together.read, together.written) == (1.0, 5.0, 2.0)


def test_as_text_csv_and_chart() -> None:
    found = configuration_lines("sql", GOLD, {1: record(1, "Ann")}) + configuration_lines("a<b", GOLD, {})
    assert comparison_text(found).count("\n") == len(found) + 1
    rows = list(csv.DictReader(io.StringIO(comparison_csv(found))))
    assert [(row["configuration"], row["kind"], row["exact"]) for row in rows][1] == ("sql", "lookup", "1.0")
    chart = ElementTree.fromstring(comparison_chart(found))
    bars = [each for each in chart.iter() if each.tag.endswith("rect")]
    assert len(bars) == len(found) + 1
    assert "a<b" in "".join(each.text or "" for each in chart.iter())
