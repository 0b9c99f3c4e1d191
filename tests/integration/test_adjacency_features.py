"""What stands beside mentions tells readings apart: lists, comparisons, where something comes from and goes to."""

import pytest

from nacre.records.plan import Plan
from nacre.records.threads import start_deadline
from nacre.stores.sqlite.lexicon import Lexicon
from nacre.stores.sqlite.tables import Tables
from nacre.understanding.linking.link_mentions import link_mentions, linker_of, prepare_question
from nacre.understanding.parse_question import parse_question
from nacre.understanding.ranking.features import adjacency_features
from nacre.wording.plan_phrases import verbalise_plan

SECONDS = 5.0


@pytest.mark.parametrize(
    ("graph", "question", "words", "feature", "value"),
    [
        ("company", "salary and age of Chiara Neri", "the salary and age of Chiara Neri", "joined in one part", 1),
        ("company", "salary and age of Chiara Neri", "the salary and age of Chiara Neri", "columns nothing joins", 0),
        ("company", "employees older than 40", "employees who are older than 40", "comparisons unanswered", 0),
        ("company", "employees older than 40", "employees", "comparisons unanswered", 1),
        ("company", "employees with a salary over 50000", "employees", "comparisons unanswered", 1),
    ],
)
def test_features(
    graph: str,
    question: str,
    words: str,
    feature: str,
    value: float,
    small_graphs: dict[str, tuple[Tables, Lexicon]],
) -> None:
    tables, lexicon = small_graphs[graph]
    linker = linker_of(lexicon)
    asked = prepare_question(question, linker)
    candidates = parse_question(asked, link_mentions(asked, linker.index), linker, start_deadline(SECONDS))
    found = {
        verbalise_plan(Plan(c.body), tables.schema): adjacency_features(c, asked, linker.index.graph)
        for c in candidates
    }
    assert words in found, sorted(found)
    assert found[words][feature] == value
