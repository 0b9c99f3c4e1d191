"""What answers and plans read like, over a small schema."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.answering.grounding_gate import GroundingGate
from nacre.language.values import format_value
from nacre.records.evidence import Rows, Table
from nacre.records.plan import (
    Aggregate,
    Ask,
    Attribute,
    Combine,
    Compute,
    Edge,
    Filter,
    Itself,
    Order,
    Plan,
    Select,
    Variable,
)
from nacre.records.schema import Class, Predicate, Schema
from nacre.wording.answer import verbalise_result, verbalise_rows
from nacre.wording.grid import align_markdown_table, build_grid
from nacre.wording.plan_phrases import verbalise_plan

N = "http://example.org/"


def predicate(name: str, label: str, *, links: str = "", **more: object) -> Predicate:
    owner = "Club" if name in ("budget", "foundedIn", "town", "showedAt") else "Player"
    ranges = {N + links: 3} if links else {"": 3}
    given = {"functional": True, **more}
    return Predicate(N + name, label, 3, 3, 3, not links, bool(links), domains={N + owner: 3}, ranges=ranges, **given)  # type: ignore[arg-type]


SCHEMA = Schema(
    (Class(N + "Player", "players", 3, "player"), Class(N + "Club", "football club", 2, "club")),
    (),
    (
        predicate("height", "height", datatype="real", unit="cm", minimum=150, maximum=200),
        predicate("budget", "budget (EUR)", datatype="integer", unit="EUR", minimum=1, maximum=9),
        predicate("born", "born on", datatype="date"),
        predicate("foundedIn", "founded in", datatype="integer", minimum=1880, maximum=1990),
        predicate("town", "town", functional=False),
        predicate("active", "active", datatype="boolean"),
        predicate("trainer", "trainer", datatype="boolean"),
        predicate("fee", "fee paid", datatype="boolean"),
        predicate("showedAt", "showed at"),
        predicate("sangAt", "sang at"),
        predicate("horseBorn", "horse born", datatype="integer", minimum=1990, maximum=2015),
        predicate("club", "club", links="Club"),
        predicate("mentor", "is mentor of", links="Player"),
        predicate("teaches", "teaches", links="Player", functional=False),
    ),
    (),
    {},
    9,
    9,
)
P = Variable("p", (N + "Player",))
C = Variable("c", (N + "Club",))
ANN = Variable("p", (N + "Player",), keys=(N + "ann",), label="Ann Lee")
HEIGHT = Attribute("p", N + "height")
IN_CLUB = Edge("p", N + "club", "c")


def words(body: object) -> str:
    return verbalise_plan(Plan(body), SCHEMA)  # type: ignore[arg-type]


def said(body: object, *rows: tuple[object, ...], columns: tuple[str, ...] = ("p",), **more: object) -> str:
    units = more.pop("units", ("",) * len(columns))
    table = Table(columns, tuple(rows), units=units, **more)  # type: ignore[arg-type]
    return verbalise_result(Plan(body), table, SCHEMA, "").text  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("bounds", "expected"),
    [
        ((">=", "2019-01-01"), "after 2018"),
        (("<", "2019-01-01"), "before 2019"),
        ((">=", "2015-04-01"), "after March 2015"),
        ((">=", "2015-04-02"), "no earlier than 2 April 2015"),
        ((">", "2019-01-01"), "after 1 January 2019"),
        ((">=", "2019-01-01", "<", "2020-01-01"), "in 2019"),
        ((">=", "2015-03-01", "<", "2015-04-01"), "in March 2015"),
        ((">=", "2015-03-05", "<", "2015-03-06"), "on 5 March 2015"),
        ((">=", "1990-01-01", "<", "2000-01-01"), "in the 1990s"),
        ((">=", "2011-01-01", "<", "2018-01-01"), "between 2011 and 2017"),
        (("contains", "-07-"), "in July"),
        (("contains", "-07-12"), "on 12 July"),
        ((">=", "2015-03-05", "<", "2019-01-01"), "between 5 March 2015 and 31 December 2018"),
    ],
)
def test_dates_are_said_as_people_bound_them(bounds: tuple[str, ...], expected: str) -> None:
    filters = tuple(
        Filter(Attribute("p", N + "born"), op, day)  # type: ignore[arg-type]
        for op, day in zip(bounds[::2], bounds[1::2], strict=True)
    )
    assert words(Select((Itself("p"),), (P,), (), filters)) == f"players who were born {expected}"


def test_plans_read_like_noun_phrases() -> None:
    rich = Filter(Attribute("c", N + "budget"), ">", 5)
    most = Select((Itself("c"),), (P, C), (IN_CLUB,), (), ("c",), Order(Aggregate("count", Itself("p")), True), 1)
    assert words(Select((Itself("p"),), (P, C), (IN_CLUB,), (rich,))) == "players whose club's budget is above 5 EUR"
    assert (
        words(Select((Itself("p"),), (P,), (), (), (), Order(HEIGHT, True), 1)) == "the player with the greatest height"
    )
    assert words(most) == "the football club with the most players"
    assert words(Select((Aggregate("avg", HEIGHT),), (P,))) == "the average height of the players"
    each = Select((Itself("c"), Aggregate("count", Itself("p"))), (P, C), (IN_CLUB,), (), ("c",))
    assert words(each) == "the number of players for each football club"
    mentored = Select(
        (Itself("p"),),
        (P, Variable("q", (N + "Player",), keys=(N + "bo",), label="Bo")),
        (Edge("p", N + "mentor", "q"),),
    )
    assert words(mentored) == "players who are mentors of Bo"
    some = Select((Itself("c"),), (P, C), (IN_CLUB,))
    none = Select((Itself("c"),), (C,), (), (Filter(Itself("c"), "in", some, True),))
    assert words(none) == "football clubs without a player"


def test_a_superlative_is_said_with_its_number() -> None:
    best = Select((Itself("p"),), (P,), (), (), (), Order(HEIGHT, True), 1)
    one = said(best, ("Ann Lee",), measured=(181.5,), measured_unit="cm")
    assert one == "The player with the greatest height is Ann Lee (181.5 cm)."
    two = said(best, ("Ann Lee",), ("Bo",), measured=(181.5, 181.5), measured_unit="cm")
    assert two == "The players with the greatest height are Ann Lee and Bo (181.5 cm each)."


def test_one_of_several_names_is_chosen_in_a_sentence() -> None:
    two = Variable("p", (N + "Player",), keys=(N + "ann", N + "bo"), label="Ann Lee (player) or Bo")
    taller = Select((Itself("p"),), (two,), (), (), (), Order(HEIGHT, True), 1)
    told = said(taller, ("Bo",), measured=(181.5,), measured_unit="cm")
    assert told == "Of Ann Lee and Bo, the one with the greatest height is Bo (181.5 cm)."


def test_what_things_are_not_is_said_shortly() -> None:
    players = Select((Itself("k"),), (Variable("k", (N + "Player",)),))
    assert words(Select((Itself("c"),), (C,), (), (Filter(Itself("c"), "in", players, True),))) == (
        "football clubs that are not players"
    )
    town = Attribute("other", N + "town")
    having = Select((Itself("other"),), (Variable("other", (N + "Club",)),), (), (Filter(town, "=", "Oslo"),))
    told = words(Select((Itself("c"),), (C,), (), (Filter(Itself("c"), "in", having, True),)))
    assert told == "football clubs whose towns do not include Oslo"


def test_properties_are_said_with_their_verb() -> None:
    own = ((Itself("p"), Attribute("p", N + "born")), (ANN,))
    assert said(Select(*own), ("Ann Lee", "1990-05-01"), columns=("p", "born on")) == "Ann Lee was born on 1 May 1990."
    own = ((Itself("p"), Attribute("p", N + "active")), (ANN,))
    assert said(Select(*own), ("Ann Lee", 0), columns=("p", "active")) == "Ann Lee is not active."
    admired = Select((Itself("q"),), (ANN, Variable("q")), (Edge("p", N + "teaches", "q"),))
    assert said(admired, ("Bo",), ("Cy",), columns=("q",)) == "Ann Lee teaches Bo and Cy."


def test_labels_take_the_form_that_their_sentence_needs() -> None:
    flags = [Filter(Attribute("p", N + name), "=", True) for name in ("trainer", "fee")]
    assert words(Select((Itself("p"),), (P,), (), (flags[0],))) == "players who are trainers"
    assert words(Select((Itself("p"),), (P,), (), (flags[1],))) == "players who are fee-paid"
    sang = Filter(Attribute("p", N + "sangAt"), "=", "the fair")
    assert words(Select((Itself("p"),), (P,), (), (sang,))) == "players who sang at the fair"
    shown = Filter(Attribute("c", N + "showedAt"), "=", "the fair")
    assert words(Select((Itself("c"),), (C,), (), (shown,))) == "football clubs that were shown at the fair"
    oldest = Order(Attribute("p", N + "horseBorn"), False)
    assert words(Select((Itself("p"),), (P,), (), (), order=oldest, limit=1)) == "the player whose horse was born first"


def test_what_is_true_of_all_says_of_how_many() -> None:
    number, those = (
        (Aggregate("count", Itself("p")),),
        Variable("p", (N + "Player",), keys=(N + "a", N + "b", N + "c"), label="(3 of before)"),
    )
    active = Select(number, (those,), (), (Filter(Attribute("p", N + "active"), "=", True),))
    asked = Compute("=", active, Select(number, (those,)))
    assert words(asked) == "whether all of those 3 players are active"
    told = [said(asked, (n == 3, n, 3), columns=("yes", "left", "right"), units=("", "", "")) for n in (3, 1, 0)]
    assert told[0] == "Yes, all of those 3 players are active."
    assert told[1] == "No, only 1 of those 3 players is active."
    assert told[2] == "No, none of those 3 players are active."
    every = Compute("=", replace(active, variables=(P,)), Select(number, (P,)))
    assert words(every) == "whether all players are active"


def test_some_of_the_things_before_are_said_of_them() -> None:
    those = Variable("p", (N + "Player",), keys=(N + "a", N + "b", N + "c"), label="(3 of before)")
    tall = Select((Itself("p"),), (those,), (), (Filter(HEIGHT, ">", 180),))
    assert said(tall, ("Ann",), ("Bo",)) == "Of those 3 players, there are 2 whose height is above 180 cm: Ann and Bo."
    assert said(tall, ("Ann",)) == "Of those 3 players, the one whose height is above 180 cm is Ann."


def test_yes_and_no_are_whole_sentences() -> None:
    named = Variable("c", (N + "Club",), keys=(N + "x",), label="Rovers")
    asked = Ask(Select((Itself("p"),), (ANN, named), (IN_CLUB,)))
    assert said(asked, (1,), columns=("yes",)) == "Yes, the club of Ann Lee is Rovers."
    assert said(asked, (0,), columns=("yes",)) == "No, the club of Ann Lee is not Rovers."
    tall = [Select((HEIGHT,), (each,)) for each in (ANN, Variable("p", keys=(N + "bo",), label="Bo"))]
    text = said(
        Compute(">", tall[0], tall[1]), (1, 181.0, 170.0), columns=("yes", "left", "right"), units=("", "cm", "cm")
    )
    assert text == "Yes, the height of Ann Lee is 181 cm, higher than the height of Bo (170 cm)."


def test_one_row_without_any_value_is_a_table() -> None:
    pair = Select((Attribute("p", N + "height"), Itself("c")), (P, C), (IN_CLUB,))
    assert said(pair, (None, None), columns=("height", "c")).startswith("Here are")


def test_several_columns_are_a_table_of_all_cells() -> None:
    each = Select((Itself("c"), Aggregate("count", Itself("p"))), (P, C), (IN_CLUB,), (), ("c",))
    told = verbalise_result(
        Plan(each), Table(("c", "count"), (("Rovers", 2), ("United", 2)), units=("", "")), SCHEMA, ""
    )
    assert told.values == ("Rovers", 2, "United")
    assert told.columns == ("football club", "number of players")
    assert told.rows == (("Rovers", 2), ("United", 2))
    gate = GroundingGate([Rows("sql", 1, table=Table(("c", "count"), told.rows), words=words(each))], lambda _: None)
    gate.say(told.text, (0,))
    assert gate.unsupported == 0
    assert gate.answer == (
        "Here is the number of players for each football club [1]:\n\n"
        "| Football club | Number of players |\n"
        "| ------------- | ----------------: |\n"
        "| Rovers        |                 2 |\n"
        "| United        |                 2 |"
    )


def test_a_table_says_only_what_the_rows_hold() -> None:
    rows = Table(("c", "count"), (("Rovers", 2),))
    gate = GroundingGate([Rows("sql", 1, table=rows)], lambda _: None)
    gate.say("Players:\n\n| Club | Number |\n| --- | ---: |\n| Rovers | 3 |", (0,))
    assert gate.unsupported == 1
    assert "3" not in gate.answer


def test_thirty_names_are_said_and_the_rest_counted() -> None:
    told = verbalise_rows(Table(("name",), tuple((f"n{i}",) for i in range(42))))
    assert told.text.endswith("n29 and 12 more (ask with --json for all).")
    assert len(told.values) == 42
    told = verbalise_rows(Table(("name", "size"), tuple((f"n{i}", i) for i in range(42))))
    assert told.text.startswith(
        "Here are the names with their size (42 in all; the first are shown, ask with --json for the rest):\n\n"
        "| Name | Size |"
    )
    assert (told.text.count("\n"), len(told.rows)) == (33, 42)


def test_combined_selects_are_said() -> None:
    left, right = Select((Itself("p"),), (P,)), Select((Itself("p"),), (P, C), (IN_CLUB,))
    assert words(Combine("difference", left, right)) == "players except those who have a club"


cells = st.one_of(st.text(max_size=12), st.integers(-5, 3000), st.floats(-1e6, 1e6), st.none())


@given(st.lists(st.tuples(cells, cells), min_size=1, max_size=5))
def test_any_rows_make_a_table_of_as_many_cells(rows: list[tuple[object, object]]) -> None:
    found = build_grid(Table(("a", "b"), tuple(rows)))  # type: ignore[arg-type]
    lines = align_markdown_table(found.markdown(30)).split("\n")
    assert len(lines) == len(rows) + 2
    assert len({line.replace("\\|", "").replace("\\\\", "").count("|") for line in lines}) == 1


@given(st.floats(-1e9, 1e9))
def test_rounding_stays_near(value: float) -> None:
    near = float(format_value(value, rounded=True).replace(",", ""))
    assert abs(near - value) <= 0.006 * max(abs(value), 1e-12) or abs(near - value) < 1e-12
