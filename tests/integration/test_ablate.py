"""Passes of understanding are left out one at a time, and only where they did something."""

from types import SimpleNamespace
from typing import Any

import pytest

from evaluation.ablation import Ablation, Pass, ablate_question, format_table
from nacre.stores.sqlite.lexicon import Lexicon
from nacre.stores.sqlite.tables import Tables


@pytest.mark.parametrize(
    ("question", "answers", "needed", "idle"),
    [
        ("Is Chiara Neri older than 20?", [True], Pass("rewrite", "yes or no"), Pass("reader", "share")),
        ("How many employees are there?", [7], Pass("rule", "count class"), Pass("rewrite", "yes or no")),
    ],
)
def test_only_passes_that_did_something_are_left_out(
    question: str, answers: list[Any], needed: Pass, idle: Pass, small_graphs: dict[str, tuple[Tables, Lexicon]]
) -> None:
    tables, lexicon = small_graphs["company"]
    graph: Any = SimpleNamespace(schema=tables.schema, lexicon=lexicon, tables=tables)
    ablation = Ablation()
    ablate_question({"question": question, "answers": answers}, graph, {}, ablation)
    worths = ablation.worths
    assert ablation.right == 1, "the question is not answered with all passes"
    assert worths[needed].exact[-1] == 1, "nothing is lost without the pass"
    assert idle not in worths or not worths[idle].fired
    assert f"| {' | '.join(needed)} | 1 |" in format_table(ablation)
