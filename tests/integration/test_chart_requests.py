"""Charts that questions ask for: numbers by two groups, shares, two numbers, over time, and what follow-ups change."""

import pytest

from tests.support.ask_graph import Ask, ask_graph

PLACES = ("Oster", "Wester", "Norden")
STATES = ("open", "closed")
# place, state, minutes and month of each visit
VISITS = [(n % 3, n % 2 if n != 4 else 1, 10 + n * 3, (1, 2, 4)[n % 3]) for n in range(12)]


@pytest.fixture(scope="module")
def visits(tmp_path_factory: pytest.TempPathFactory) -> Ask:
    rows = "".join(
        f"V-{n},{PLACES[place]},{STATES[state]},{minutes},{minutes * 2 + n},2023-{month:02}-0{1 + n % 9}\n"
        for n, (place, state, minutes, month) in enumerate(VISITS)
    )
    text = f"Visit,Place,State,Minutes,Price EUR,Day\n{rows}"
    return ask_graph(text, tmp_path_factory.mktemp("visits"), "visits.csv")


GROUPED = (["place", "state", "number of visits"], "chart")
SHARED = (["state", "number of visits", "share (%)"], "shares")


@pytest.mark.parametrize(
    ("questions", "columns", "display"),
    [
        (["visits by place and state"], *GROUPED),
        (["visits per place, stacked by state"], *GROUPED),
        (["a stacked bar chart of visits by place and state"], *GROUPED),
        (["visits by place as a chart", "stack them by state"], *GROUPED),
        (["visits by place and state", "side by side"], *GROUPED),
        (["What percentage of the visits is each state?"], *SHARED),
        (["share of visits by state"], *SHARED),
        (["visits by state as a chart", "in percent"], *SHARED),
        (["minutes against price"], ["minutes", "price (EUR)"], "chart"),
        (["visits over time"], ["month", "number of visits"], "chart"),
        (["visits by place as a chart", "only the top two"], ["place", "number of visits"], "chart"),
        (["visits by place as a chart", "without Oster"], ["place", "number of visits"], "chart"),
        # one number by group is no chart by itself, and "by Oster" no group
        (["How many visits per place?"], ["place", "number of visits"], ""),
    ],
)
async def test_a_chart_has_the_numbers_that_the_question_wants(
    visits: Ask, questions: list[str], columns: list[str], display: str
) -> None:
    answer = await visits(*questions)
    assert answer["table"] is not None
    assert (answer["table"]["columns"], answer["display"]) == (columns, display)
    assert answer["status"] in ("answered", "clarify")


async def test_shares_sum_to_a_hundred(visits: Ask) -> None:
    answer = await visits("What share of the visits does each place have?")
    assert answer["table"] is not None
    assert answer["status"] == "answered"
    assert round(sum(float(row[-1] or 0) for row in answer["table"]["rows"]), 6) == 100


async def test_what_has_no_shares_is_not_sure(visits: Ask) -> None:
    answer = await visits("share of the average price by place")
    assert answer["status"] != "answered"


async def test_a_share_is_of_all_things_of_the_class(visits: Ask) -> None:
    answer = await visits("What is the share of open visits?")
    number = sum(STATES[state] == "open" for _, state, *_ in VISITS)
    assert answer["values"] == pytest.approx([100 * number / len(VISITS)])


@pytest.mark.parametrize(
    ("change", "first"),
    [("the other way round", "Bremen"), ("smallest first", "Bremen"), ("largest first", "Aachen")],
)
async def test_the_order_of_a_chart_is_turned(
    tmp_path_factory: pytest.TempPathFactory, change: str, first: str
) -> None:
    places = ["Aachen"] * 3 + ["Bremen"] + ["Corvo"] * 2
    text = "Visit,Place\n" + "".join(f"V-{n},{place}\n" for n, place in enumerate(places))
    ask = ask_graph(text, tmp_path_factory.mktemp("turned"), "visits.csv")
    answer = await ask("number of visits by place as a chart", change)
    assert answer["table"] is not None
    assert answer["table"]["rows"][0][0] == first
    assert answer["display"] == "chart"


async def test_groups_without_a_word_for_them_are_not_rewritten(visits: Ask) -> None:
    answer = await visits("How many visits to Oster vs Wester?")
    assert answer["display"] == ""


@pytest.mark.parametrize(
    ("questions", "columns"),
    [
        (["Besuche nach Ort und Zustand"], ["Ort", "Zustand", "Besuche"]),
        (["Besuche nach Ort als Balkendiagramm", "gestapelt nach Zustand"], ["Ort", "Zustand", "Besuche"]),
        (["Anteil der Besuche nach Ort"], ["Ort", "Besuche", "Anteil (%)"]),
    ],
)
async def test_german_questions_ask_for_charts(
    tmp_path_factory: pytest.TempPathFactory, questions: list[str], columns: list[str]
) -> None:
    rows = "".join(f"B-{n},{PLACES[n % 3]},{('offen', 'zu')[n % 2]}\n" for n in range(12))
    ask = ask_graph(f"Besuch,Ort,Zustand\n{rows}", tmp_path_factory.mktemp("besuche"), "besuche.csv")
    answer = await ask(*questions)
    assert answer["table"] is not None
    assert answer["table"]["columns"] == columns
