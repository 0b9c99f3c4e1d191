"""Which questions ask for a description; the pairs in fixtures/understanding are extended without Python."""

from typing import Any

import pytest

from nacre.records.plan import Profile
from nacre.records.turn import Rewrite
from nacre.stores.sqlite.lexicon import Lexicon
from nacre.stores.sqlite.tables import Tables
from nacre.understanding.understand import understand
from tests.support.understanding_pairs import pairs


@pytest.mark.parametrize("case", pairs("profiles"))
def test_profiles(case: dict[str, Any], small_graphs: dict[str, tuple[Tables, Lexicon]]) -> None:
    tables, lexicon = small_graphs[case["graph"]]
    body = understand(Rewrite(case["ask"]), tables.schema, lexicon).readings[0].plan.body
    if case.get("nothing"):
        assert not isinstance(body, Profile)
        return
    assert isinstance(body, Profile)
    members = [body.members, *([body.against] if body.against else [])]
    assert [m.variables[0].label for m in members] == case["about"]
