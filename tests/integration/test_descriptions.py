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
