"""What is left of an amount, a bound of the same thing, the only number of things: question -> answer of the rules."""

import pytest

from tests.support.ask_graph import Ask, ask_graph

PIGMENTS = """Pigment,Kind,Stock,Reorder Level,Price,Shop
Umber,Earth,0,5,12.5,Farrow
Sienna,Earth,40,20,1.2,Bell
Viridian,Mineral,3,20,0.9,Bell
Ochre,Earth,12,12,7.5,Farrow
Smalt,Mineral,0,2,4.0,Lund
"""
MURALS = """Mural,Painter,Budget,Spent,Price,Quantity
River,Ines,5000,6200,7000,2
Gate,Tom,3000,1200,1000,0
Tower,Ines,8000,8000,9500,1
"""
GRANTS = """Grant sum,
Theatre,Sum
Lantern,900
Harbour Stage,1250
Puppet Yard,400
Riverside,5000
"""


@pytest.fixture(scope="module")
def grants(tmp_path_factory: pytest.TempPathFactory) -> Ask:
    return ask_graph(GRANTS, tmp_path_factory.mktemp("grants"), "2025-06-grants.csv")


@pytest.mark.parametrize(
    ("question", "values"),
    [
        ("Which theatre got the most?", ["Riverside"]),
        ("Which theatres got more than 1000?", ["Harbour Stage", "Riverside"]),
        ("How many theatres received less than 1000?", [2]),
        ("Did Lantern get more than 500?", [True]),
        ("Which theatres got between 500 and 2000?", ["Harbour Stage", "Lantern"]),
        ("How many grants are there?", [4]),
    ],
)
async def test_a_number_without_a_property_is_the_only_one(question: str, values: list[object], grants: Ask) -> None:
    assert (await grants(question))["values"] == values


LOANS = """Loan,Lender,Due Date
Ladder,Ines,2024-05-03
Long Saw,Tom,2025-01-31
Tent,Ines,2023-11-20
"""


@pytest.mark.parametrize(
    ("question", "values"),
    [
        ("What is the latest due date?", ["2025-01-31"]),
        ("What is the earliest due date of the loans?", ["2023-11-20"]),
        ("What is the latest due date of Ines?", ["2024-05-03"]),
        ("Which loan has the latest due date?", ["Long Saw"]),
    ],
)
async def test_the_latest_of_a_date_is_a_date(question: str, values: list[str], loans: Ask) -> None:
    assert (await loans(question))["values"] == values


@pytest.fixture(scope="module")
def loans(tmp_path_factory: pytest.TempPathFactory) -> Ask:
    return ask_graph(LOANS, tmp_path_factory.mktemp("loans"), "loans.csv")


@pytest.fixture(scope="module")
def pigments(tmp_path_factory: pytest.TempPathFactory) -> Ask:
    return ask_graph(PIGMENTS, tmp_path_factory.mktemp("pigments"), "pigments.csv")


@pytest.fixture(scope="module")
def murals(tmp_path_factory: pytest.TempPathFactory) -> Ask:
    return ask_graph(MURALS, tmp_path_factory.mktemp("murals"), "murals.csv")


@pytest.mark.parametrize(
    ("question", "values"),
    [
        ("Which pigments are out of stock?", ["Smalt", "Umber"]),
        ("Which pigments are sold out?", ["Smalt", "Umber"]),
        ("Which pigments ran out of stock?", ["Smalt", "Umber"]),
        ("Which pigments are not in stock?", ["Smalt", "Umber"]),
        ("What is out of stock?", ["Smalt", "Umber"]),
        ("How many pigments are out of stock?", [2]),
        ("Is Umber out of stock?", [True]),
        ("Is Umber in stock?", [False]),
        ("Is Ochre sold out?", [False]),
        ("Which pigments are in stock?", ["Ochre", "Sienna", "Viridian"]),
        ("Which pigments are not out of stock?", ["Ochre", "Sienna", "Viridian"]),
        ("Which pigments are below their reorder level?", ["Smalt", "Umber", "Viridian"]),
        ("Which pigments have less stock than their reorder level?", ["Smalt", "Umber", "Viridian"]),
        ("How many pigments are above the reorder level?", [1]),
        ("Is Viridian under its reorder level?", [True]),
        ("How many of Sienna are in stock?", [40]),
    ],
)
async def test_what_is_left_and_what_is_below_a_bound(question: str, values: list[object], pigments: Ask) -> None:
    assert (await pigments(question))["values"] == values


@pytest.mark.parametrize(
    ("question", "values"),
    [
        ("Which murals are over budget?", ["River"]),
        ("Which murals are under their budget?", ["Gate"]),
        ("Is River over budget?", [True]),
        ("Which murals are sold out?", ["Gate"]),
    ],
)
async def test_a_budget_bounds_what_was_spent_and_no_other_number(
    question: str, values: list[object], murals: Ask
) -> None:
    assert (await murals(question))["values"] == values
