"""What descriptions and comparisons say; the pairs in fixtures/understanding are extended without Python."""

from typing import Any

import pytest

from nacre.records.turn import Rewrite
from nacre.stores.sqlite.lexicon import Lexicon
from nacre.stores.sqlite.tables import Tables
from nacre.understanding.understand import understand
from nacre.wording.profile import run_plan
from nacre.wording.thing import MAX_DESCRIPTION_SENTENCES
from tests.support.understanding_pairs import pairs


@pytest.mark.parametrize("case", pairs("descriptions"))
def test_descriptions(case: dict[str, Any], small_graphs: dict[str, tuple[Tables, Lexicon]]) -> None:
    tables, lexicon = small_graphs[case["graph"]]
    plan = understand(Rewrite(case["ask"]), tables.schema, lexicon).readings[0].plan
    _, queries, evidence = run_plan(plan, tables, round=1)
    assert not any(query.error for query in queries)
    said = [each.text for each in evidence]
    assert 0 < len(said) <= MAX_DESCRIPTION_SENTENCES
    assert len(said) == len(set(said))
    for part in case["says"]:
        assert part in " ".join(said)
    for part in case.get("lacks", ()):
        assert part not in " ".join(said)


@pytest.mark.parametrize(
    ("graph", "ask", "says", "means", "ends"),
    [
        # the numbers of the breads and those of their recipes are in two tables
        ("bakery", "Describe the Rye.", "the weight ranges from 500 to 1,000 g", 2, 8),
        # both beers are equally strong
        ("breweries", "Tell me about Anvil", "Across its 2 beers, the strength is 5.2%.", 1, 1),
    ],
)
def test_numbers_of_one_table_are_read_together(
    graph: str, ask: str, says: str, means: int, ends: int, small_graphs: dict[str, tuple[Tables, Lexicon]]
) -> None:
    tables, lexicon = small_graphs[graph]
    plan = understand(Rewrite(ask), tables.schema, lexicon).readings[0].plan
    _, queries, evidence = run_plan(plan, tables, round=1)
    assert any(says in each.text for each in evidence)
    assert sum("avg(" in query.text for query in queries) == means
    assert sum("rank()" in query.text for query in queries) == ends
