"""Compare the values of an answer with its gold answers in their order: GoldQuestion + Answer -> RankingScores."""

from collections.abc import Sequence
from typing import NamedTuple

from nacre.evaluation.questions import GoldQuestion
from nacre.evaluation.verdict import gold_items, same_value
from nacre.records.answer import Answer, Value

TOP_VALUES = 5


class RankingScores(NamedTuple):
    """Scores in 0..1: F1 over the sets of items, whether the first value is right, the reciprocal rank, and whether one
    of the first five values is right."""

    f1: float
    first: float
    reciprocal: float
    five: float


def ranking_scores(gold: GoldQuestion, record: Answer) -> RankingScores | None:
    """The best scores over all gold answers; None if no gold answer has items that can be listed.

    >>> gold = {"id": 1, "question": "?", "answers": ["Ann", "Bo"]}
    >>> ranking_scores(gold, {"status": "answered", "values": ["Cy", "Ann"]})
    RankingScores(f1=0.5, first=0.0, reciprocal=0.5, five=1.0)
    """
    names: list[Sequence[Sequence[Value]]] = [
        gold_items(answers, gold.get("answers_alt") or [])[0]
        for answers in (gold.get("answers") or [], *(gold.get("alt_answers") or []))
        if answers
    ]
    if not names and gold.get("must_include") and not gold.get("nuggets"):
        names = [gold["must_include"]]
    scores = [_scores(items, record["values"], gold.get("tolerance") or 0.0) for items in names]
    return max(scores) if scores else None


def _scores(items: Sequence[Sequence[Value]], values: Sequence[Value], tolerance: float) -> RankingScores:
    hits = [
        {i for i, each in enumerate(items) if any(same_value(n, value, tolerance) for n in each)} for value in values
    ]
    right = [rank for rank, hit in enumerate(hits, 1) if hit]
    precision = len(right) / len(values) if values else 0.0
    recall = len(set().union(*hits)) / len(items)
    f1 = 2 * precision * recall / (precision + recall) if precision and recall else 0.0
    best = min(right, default=0)
    return RankingScores(f1, float(best == 1), 1 / best if best else 0.0, float(0 < best <= TOP_VALUES))
