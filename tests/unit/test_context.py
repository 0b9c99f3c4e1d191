import pytest

from graph.branches import all_branches
from graph.context import Context, parse_context
from nacre.errors import ConfigError


def test_nothing_chosen_is_a_context() -> None:
    assert parse_context(None) == Context() == parse_context({})


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"mood": "good"}, "no option 'mood'"),
        ({"mind": "heart"}, "mind can't be 'heart'"),
        ({"branches": ["sql", "magic"]}, "there is no branch 'magic'; there are sql, vector, lexical"),
        ({"max_rounds": 0}, "max_rounds can't be 0"),
        ({"top_k": "all"}, "top_k can't be 'all'"),
        ({"strategy": "guess"}, "strategy can't be 'guess'"),
    ],
)
def test_what_can_not_be_is_refused_by_name(given: dict[str, object], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        parse_context(given)


def test_the_form_offers_the_branches_there_are() -> None:
    form = Context.model_json_schema()
    options = form["properties"]["branches"]["anyOf"][0]["items"]["enum"]
    assert options == list(all_branches())
    assert form["additionalProperties"] is False
