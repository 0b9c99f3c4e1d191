"""What a question bounds, denies or ranks by, and no reading uses: it is kept, and no answer ignores it."""

import pytest

from agents.answering.select_answer import DECLINED
from nacre.records.evidence import Table
from nacre.records.plan import Select
from nacre.stores.sqlite.lexicon import Lexicon
from nacre.stores.sqlite.tables import Tables
from nacre.understanding.dialogue.rewrite import rewrite_question
from nacre.understanding.ranking.probabilities import MAX_READINGS_RUN, choose_reading, table_outcome
from nacre.understanding.understand import MAX_GUESS_PROBABILITY, understand
from nacre.wording.profile import run_plan

Graphs = dict[str, tuple[Tables, Lexicon]]


@pytest.mark.parametrize(
    ("graph", "question", "lost"),
    [
        ("chess_clubs", "players taller than 180 cm", ("taller than 180 cm",)),
        ("chess_clubs", "players heavier than 90", ("heavier than 90",)),
        ("chess_clubs", "players under 60 kg", ("under 60 kg",)),
        ("chess_clubs", "players with more than 2 million followers", ("more than 2 million",)),
        ("orchards", "the most beautiful orchards", ("the most",)),
        ("chess_clubs", "clubs without women", ("without",)),
    ],
)
def test_what_no_reading_uses_is_kept_and_declined(
    graph: str, question: str, lost: tuple[str, ...], small_graphs: Graphs
) -> None:
    assert _lost_and_chance(question, *small_graphs[graph]) == (lost, True)


@pytest.mark.parametrize("question", ["orchards in Narnia", "orchards owned by Fred Miller"])
def test_all_of_a_kind_are_no_answer_where_a_name_is_unknown(question: str, small_graphs: Graphs) -> None:
    assert _lost_and_chance(question, *small_graphs["orchards"]) == ((), True)


@pytest.mark.parametrize(
    "question",
    [
        "orchards with 2 to 4 staff",
        "the three oldest orchards",
        "orchards without loam soil",
        "orchards planted in 1995",
    ],
)
def test_what_is_used_is_not_lost(question: str, small_graphs: Graphs) -> None:
    assert _lost_and_chance(question, *small_graphs["orchards"]) == ((), False)


@pytest.mark.parametrize(
    ("question", "lost"),
    [
        ("what is the average revenue of the orchards, and when", ("when",)),
        ("which orchards are in Millbrook, when was it", ("when was",)),
        ("when was Old Hollow planted", ()),
    ],
)
def test_when_is_asked_for_too(question: str, lost: tuple[str, ...], small_graphs: Graphs) -> None:
    assert _lost_and_chance(question, *small_graphs["orchards"])[0] == lost


@pytest.mark.parametrize("question", ["which orchard is the strongest?", "the strongest orchard"])
def test_what_an_adjective_measures_may_be_guessed_and_is_never_sure(question: str, small_graphs: Graphs) -> None:
    """Nothing measures strength: any number is a guess, which says that it does not use the word."""
    tables, lexicon = small_graphs["orchards"]
    understood = understand(rewrite_question(question, (), tables.schema, lexicon), tables.schema, lexicon)
    guesses = [r for r in understood.readings if isinstance(r.plan.body, Select) and r.plan.body.order]
    assert guesses
    assert all("strongest" in r.lost[0] for r in guesses)
    assert understood.most <= MAX_GUESS_PROBABILITY


def _lost_and_chance(question: str, tables: Tables, lexicon: Lexicon) -> tuple[tuple[str, ...], bool]:
    """What the first reading does nothing with, and whether the one that is chosen is declined."""
    understood = understand(rewrite_question(question, (), tables.schema, lexicon), tables.schema, lexicon)
    given: list[Table | None] = [run_plan(r.plan, tables, round=1)[0] for r in understood.readings[:MAX_READINGS_RUN]]
    _, chance = choose_reading(understood, [table_outcome(table) for table in given])
    return understood.readings[0].lost, chance < DECLINED
