"""How often things come, and numbers by group: questions about guests and their stays -> answers of the rules."""

import pytest

from tests.support.ask_graph import Ask, ask_graph

HEAD = """@prefix : <http://example.org/inn/> . @prefix r: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix x: <http://www.w3.org/2001/XMLSchema#> .
:Guest r:label "guest" . :Stay r:label "stay" .
"""
NAMES = ("Alder", "Birch", "Cedar", "Elder", "Hazel", "Larch", "Maple", "Rowan")
STAYS = {"Ivo Lenz": 2, "Mara Quist": 1, "Tom Ebb": 3, "Una Dray": 2}

BOOKINGS = """Booking,Patron,Zone,Delivered,Ordered
B-1,Ada Low,North,2024-05-02,2023-11-01
B-2,Ada Low,South,2024-06-02,2023-12-05
B-3,Ben Orr,North,2024-07-02,2023-12-09
"""

JOBS = """No,Description,Owner,Hours
J-1,Brake pads,Ada Low,2
J-2,Brake pads,Ben Orr,3
J-3,Oil change,Ada Low,5
J-4,Brake pads,Ben Orr,5
J-5,Oil change,Ada Low,1
J-6,Oil change,Ben Orr,1
"""


def _inn() -> str:
    lines, stay = [HEAD], 0
    for n, (guest, times) in enumerate(STAYS.items()):
        lines.append(f':g{n} a :Guest ; r:label "{guest}" .')
        for _ in range(times):
            name, room = NAMES[stay], ("Garden", "Attic")[stay % 2]
            stay += 1
            lines.append(f':s{stay} a :Stay ; r:label "{name}" ; :guest :g{n} ; :room "{room}" ; :nights {stay} .')
    return "\n".join(lines)


@pytest.fixture(scope="module")
def inn(tmp_path_factory: pytest.TempPathFactory) -> Ask:
    return ask_graph(_inn(), tmp_path_factory.mktemp("inn"))


@pytest.fixture(scope="module")
def bookings(tmp_path_factory: pytest.TempPathFactory) -> Ask:
    return ask_graph(BOOKINGS, tmp_path_factory.mktemp("bookings"), "bookings.csv")


@pytest.fixture(scope="module")
def jobs(tmp_path_factory: pytest.TempPathFactory) -> Ask:
    return ask_graph(JOBS, tmp_path_factory.mktemp("jobs"), "jobs.csv")


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("Which guests came twice?", ["Ivo Lenz", "Una Dray"]),
        ("Which guests came only once?", ["Mara Quist"]),
        ("Which guests came exactly 3 times?", ["Tom Ebb"]),
        ("Which guests came more than once?", ["Ivo Lenz", "Tom Ebb", "Una Dray"]),
    ],
)
async def test_how_often_counts_what_links_to_things(question: str, names: list[str], inn: Ask) -> None:
    assert sorted(map(str, (await inn(question))["values"])) == names


@pytest.mark.parametrize("question", ["Which guests pay twice the price?", "which stays cost 3 times the average?"])
async def test_a_factor_is_not_left_out(question: str, inn: Ask) -> None:
    assert (await inn(question))["status"] != "answered"


@pytest.mark.parametrize(
    ("question", "values"),
    [
        ("total nights by guest", {"Tom Ebb": 15, "Una Dray": 15, "Ivo Lenz": 3, "Mara Quist": 3}),
        ("number of stays by room", {"Attic": 4, "Garden": 4}),
        ("average nights by room", {"Attic": 5, "Garden": 4}),
    ],
)
async def test_by_before_the_last_noun_groups(question: str, values: dict[str, int], inn: Ask) -> None:
    table = (await inn(question))["table"]
    assert table is not None
    assert dict(table["rows"]) == values  # type: ignore[arg-type]


async def test_by_two_nouns_groups_by_both(inn: Ask) -> None:
    table = (await inn("total nights by guest and room"))["table"]
    assert table is not None
    assert ["Tom Ebb", "Attic", 10] in table["rows"]
    assert len(table["rows"]) == 7


async def test_periods_are_of_the_date_that_is_named_after_the_things(bookings: Ask) -> None:
    """Neither is the end of something, and the other one comes first in the alphabet."""
    answer = await bookings("How many bookings by year?")
    assert answer["answer"].startswith("For 2024 (date delivered), the number of bookings is 3")


async def test_names_that_repeat_have_their_key(jobs: Ask) -> None:
    assert (await jobs("Which jobs took 5 hours?"))["values"] == ["Brake pads (J-4)", "Oil change (J-3)"]
    assert (await jobs("How many jobs are brake pads?"))["values"] == [3]
