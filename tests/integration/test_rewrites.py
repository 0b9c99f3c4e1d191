"""Turns that lean on what was said before, and turns that don't; the pairs in fixtures/understanding are extended
without Python.
"""

from dataclasses import replace
from typing import Any

import pytest

from nacre.records.turn import EarlierTurn, Rewrite
from nacre.stores.sqlite.lexicon import Lexicon
from nacre.stores.sqlite.tables import Tables
from nacre.understanding.dialogue.rewrite import rewrite_question
from nacre.understanding.understand import understand
from nacre.wording.profile import run_plan
from tests.support.understanding_pairs import pairs


@pytest.mark.parametrize("case", pairs("rewrites"))
def test_rewrite(case: dict[str, Any], small_graphs: dict[str, tuple[Tables, Lexicon]]) -> None:
    tables, lexicon = small_graphs[case["graph"]]
    earlier = tuple(_answered(Rewrite(question), tables, lexicon) for question in case["after"])
    found = rewrite_question(case["ask"], earlier, tables.schema, lexicon)
    if case.get("same"):
        assert found == Rewrite(case["ask"], sure=found.sure)
        assert found.sure != case.get("adrift", False)
        return
    if "alone" in case:
        assert found == Rewrite(case["alone"])
        return
    assert found.depends
    if "becomes" in case:
        assert found.standalone == case["becomes"]
    else:
        assert found.scope is not None
        assert sorted(found.scope.labels) == sorted(case["scope"])


@pytest.mark.parametrize("case", pairs("follow_ups"))
def test_follow_up(case: dict[str, Any], small_graphs: dict[str, tuple[Tables, Lexicon]]) -> None:
    tables, lexicon = small_graphs[case["graph"]]
    earlier: tuple[EarlierTurn, ...] = ()
    for question in case["after"]:
        earlier = (*earlier, _answered(rewrite_question(question, earlier, tables.schema, lexicon), tables, lexicon))
    found = rewrite_question(case["ask"], earlier, tables.schema, lexicon)
    assert understand(found, tables.schema, lexicon).readings[0].words == case["becomes"]


def test_a_chart_of_numbers_has_each_thing(small_graphs: dict[str, tuple[Tables, Lexicon]]) -> None:
    """Values that repeat are no fewer marks of a chart; a list of them has each once."""
    tables, lexicon = small_graphs["reading_room"]
    read = [understand(Rewrite("Show the pages", display=shown), tables.schema, lexicon) for shown in ("chart", "")]
    answers = [each.readings[0].plan.body.answers for each in read]  # type: ignore[union-attr]
    assert [len(each) for each in answers] == [2, 1]
    assert answers[0][1] == answers[1][0]


AGAIN = "as bars; As a bar chart; as a pie; as a line, please; as stacked bars; now as lines; show that as columns"
SHOWN = {
    "a histogram of the pages": ("Show the pages", True),
    "Distribution of the pages": ("Show the pages", True),
    "a stacked bar chart of the number of books by genre": ("Show the number of books per genre", True),
    "number of books per genre as a pie": ("number of books per genre", True),
    "What is the share of books by genre?": ("Show books per genre?", True),
    "How are the books distributed across genres?": ("Show the books per genres", True),
    "books per genre, stacked by author": ("Show books per genre and author", True),
    # what follows names no group, and no number
    "books by genre and Mira Oake": ("books by genre and Mira Oake", True),
    "Granite against Mira Oake": ("Granite against Mira Oake", True),
    "share of books that Mira Oake wrote": ("share of books that Mira Oake wrote", True),
}


def test_an_answer_is_shown_as_another_kind_of_chart(small_graphs: dict[str, tuple[Tables, Lexicon]]) -> None:
    tables, lexicon = small_graphs["reading_room"]
    earlier = (_answered(Rewrite("How many books are there per genre?"), tables, lexicon),)
    for again in AGAIN.split("; "):
        found = rewrite_question(again, earlier, tables.schema, lexicon)
        assert (found.display, found.standalone) == ("chart", "the number of books for each genre"), again
    for question, (standalone, sure) in SHOWN.items():
        found = rewrite_question(question, (), tables.schema, lexicon)
        assert (found.standalone, found.sure) == (standalone, sure)
        shown = "shares" if question.startswith("What is the share") else "chart"
        assert found.display == ("" if standalone == question else shown)


def test_a_turn_of_hundreds_of_words_is_no_follow_up(small_graphs: dict[str, tuple[Tables, Lexicon]]) -> None:
    tables, lexicon = small_graphs["reading_room"]
    earlier = (_answered(Rewrite("Who wrote Granite?"), tables, lexicon),)
    question = "no, " + "Granite " * 400
    assert rewrite_question(question, earlier, tables.schema, lexicon) == Rewrite(question)


def _answered(turn: Rewrite, tables: Tables, lexicon: Lexicon) -> EarlierTurn:
    """A turn and its answer by the best plan that has rows."""
    for reading in understand(turn, tables.schema, lexicon).readings:
        table = run_plan(reading.plan, tables, round=1)[0]
        if table is not None and table.rows:
            keys = tuple(dict.fromkeys(key for row in table.keys for key in row))
            labels = tuple(thing.label for key in keys if (thing := lexicon.thing(key)))
            return EarlierTurn(turn.standalone, turn.standalone, "", reading.plan, keys, labels)
    raise LookupError(f"No plan for {turn.standalone!r} has rows.")


@pytest.mark.parametrize(
    "ask",
    [
        "how old are they?",
        "their age?",
        "how old is the first one?",
        "which of those is the oldest?",
        "the oldest one?",
        "only those older than 30",
        "how many are there?",
    ],
)
def test_no_follow_up_is_surer_than_what_it_leans_on(ask: str, small_graphs: dict[str, tuple[Tables, Lexicon]]) -> None:
    tables, lexicon = small_graphs["company"]
    doubtful = replace(_answered(Rewrite("Who works in Sales?"), tables, lexicon), confidence=0.4)
    found = rewrite_question(ask, (doubtful,), tables.schema, lexicon)
    assert understand(found, tables.schema, lexicon).most == 0.4


def test_doubt_stays_with_what_a_turn_gave(small_graphs: dict[str, tuple[Tables, Lexicon]]) -> None:
    tables, lexicon = small_graphs["company"]
    asked = ["Which employee has the highest salary?", "which department is she in?", "how old is she?"]
    earlier: tuple[EarlierTurn, ...] = ()
    for question in asked:
        turn = rewrite_question(question, earlier, tables.schema, lexicon)
        sure = understand(turn, tables.schema, lexicon).most
        answered = replace(_answered(turn, tables, lexicon), question=question, confidence=0.4 if not earlier else sure)
        assert not earlier or sure == 0.4
        earlier = (*earlier, answered)
    # what the question names itself rests on nothing before it
    own = rewrite_question("how old is Elif Kaya?", earlier, tables.schema, lexicon)
    assert understand(own, tables.schema, lexicon).most == 1.0
