"""Sheets of ordinary people, asked in everyday words: question -> answer of the rules."""

from pathlib import Path

import pytest

from tests.support.ask_graph import Ask, ask_graph

# an account book without a column that names its rows
BOOK = """Date,Shop,Kind,Amount (€),Settled,Note
2023-01-09,Corner Mill,Flour,120.50,yes,
2023-02-14,Corner Mill,Flour,80.00,no,late
2023-02-20,Dairy Lund,Butter,310.00,yes,
2023-07-03,Oven Works,Repairs,45.00,yes,
2024-01-11,Corner Mill,Flour,95.50,yes,
2024-03-05,Dairy Lund,Butter,140.00,no,
2024-03-28,Dairy Lund,Butter,60.00,yes,
2024-06-17,Oven Works,Repairs,400.00,no,
2024-09-02,Corner Mill,Flour,110.00,yes,
"""

# the same with columns that say what is paid, and to whom
BILLS = BOOK.replace("Settled", "Paid").replace("Shop", "Supplier")

# things that are numbered again in each group
GROVE = """Bed,Stem number,Species,Height (m)
North,1,Rowan,4.5
North,2,Larch,9.0
North,3,Rowan,5.5
South,1,Larch,11.0
South,2,Alder,7.0
East,1,Rowan,6.0
"""

# codes, and amounts of two years in two columns
BATHS = """Kürzel,Bad,Ort,Kat. Nr,Staff 2019,Staff now,Visits 2019,Visits 2023
KAA,Nordbad,Kiel,1,12,9,5000,6100
KBB,Südbad,Kiel,2,n/a,7,4000,3900
MCC,Waldbad,Mölln,2,5,5,800,700
MDD,Seebad Alt-Duvenstedt,Kiel,2,8,10,900,1900
"""

# events without names, and who took part; a number of a row may be one of a year
RACES = "Date,Town,Country,Home crew,Away crew,Winner\n" + "\n".join(
    f"{year}-0{month}-1{month},{town},{country},{home},{away},{winner}"
    for year, month, town, country, home, away, winner in [
        (2001, 3, "Bergen", "Norway", "Gulls", "Terns", "Gulls"),
        (2001, 5, "Malmo", "Sweden", "Terns", "Norway", "Terns"),
        (2002, 4, "Bergen", "Norway", "Gulls", "Skuas", "Gulls"),
        (2002, 6, "Lund", "Sweden", "Norway", "Terns", "Terns"),
        (2003, 1, "Malmo", "Sweden", "Skuas", "Gulls", "Gulls"),
    ]
)


@pytest.fixture(scope="module")
def baths(tmp_path_factory: pytest.TempPathFactory) -> Ask:
    return ask_graph(BATHS, tmp_path_factory.mktemp("baths"), "baeder_liste.csv")


@pytest.fixture(scope="module")
def races(tmp_path_factory: pytest.TempPathFactory) -> Ask:
    return ask_graph(RACES, tmp_path_factory.mktemp("races"), "regatta.csv")


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> Ask:
    return ask_graph(BOOK, tmp_path_factory.mktemp("book"), "book.csv")


@pytest.fixture(scope="module")
def bills(tmp_path_factory: pytest.TempPathFactory) -> Ask:
    return ask_graph(BILLS, tmp_path_factory.mktemp("bills"), "ledger.csv")


@pytest.fixture(scope="module")
def grove(tmp_path_factory: pytest.TempPathFactory) -> Ask:
    return ask_graph(GROVE, tmp_path_factory.mktemp("grove"), "grove.csv")


@pytest.mark.parametrize(
    ("question", "values"),
    [
        # rows without names are shown by what tells them apart
        ("What is the cheapest repair?", ["2023-07-03", "Oven Works", 45]),
        ("What was our biggest bill?", ["2024-06-17", "Repairs", "Oven Works", 400]),
        # a noun that nothing is called means the rows
        ("How many bills from Dairy Lund are not settled?", [1]),
        # two totals, two counts
        ("Did we spend more on butter than on flour?", [True]),
        ("Did we spend more on butter or on flour?", ["Butter"]),
        ("Are there more bills from Oven Works than from Corner Mill?", [False]),
        # the most in all
        ("Which shop got the least money in total?", ["Corner Mill"]),
        ("Which shop do we pay most often?", ["Corner Mill"]),
        ("In which year was the most spent?", [2024]),
        ("What was the most we ever paid for butter?", ["2023-02-20", "Dairy Lund", 310]),
        # parts of dates
        ("Total by year", [2023, 555.5, 2024, 805.5]),
        ("spending by year", [2023, 555.5, 2024, 805.5]),
        ("How many bills per month in 2023?", ["2023-01", 1, "2023-02", 2, "2023-07"]),
        ("How many bills per quarter in 2023?", ["2023-Q1", 3, "2023-Q3", 1]),
        ("What did flour cost us in 2024?", [205.5]),
    ],
)
async def test_questions_to_an_account_book(question: str, values: list[object], book: Ask) -> None:
    assert (await book(question))["values"] == values


@pytest.mark.parametrize(
    ("question", "values"), [("Who did we pay the most?", ["Dairy Lund"]), ("What do we spend most on?", ["Butter"])]
)
async def test_the_most_is_a_total(question: str, values: list[object], bills: Ask) -> None:
    assert (await bills(question))["values"] == values


@pytest.mark.parametrize(
    "question",
    ["How much did we pay Dairy Lund?", "Who did we pay the most?", "How many invoices are there from Dairy Lund?"],
)
async def test_what_a_word_may_mean_is_asked(question: str, bills: Ask) -> None:
    # some bills are not paid, and nothing is called an invoice
    assert (await bills(question))["status"] != "answered"


@pytest.mark.parametrize("question", ["How many wheels does Oven Works have?", "How many litres are there?"])
async def test_a_part_or_a_unit_is_no_row(question: str, book: Ask) -> None:
    assert (await book(question))["status"] not in ("answered", "clarify")


@pytest.mark.parametrize(
    ("question", "values"),
    [
        ("How many stems are in the North bed?", [3]),
        ("How many rowan trees are there?", [3]),
        ("Which tree is the tallest?", [1, "South", "Larch", 11]),
        ("Which trees are in bed South?", [1, "Larch", 11, 2, "Alder", 7]),
    ],
)
async def test_what_only_numbers_things_is_not_added_up(question: str, values: list[object], grove: Ask) -> None:
    assert (await grove(question))["values"] == values


MILLS = """Nr,Hersteller,Baujahr,Leistung (kW)
M1,Ostwind,1998,600
M2,Ostwind,2004,2000
M3,Tacke,2004,1500
"""


@pytest.mark.parametrize(
    ("question", "values"),
    [
        ("Which manufacturer is M3 from?", ["Tacke"]),
        ("When was M1 built?", [1998]),
        ("What is the total power of the Ostwind machines?", [2600]),
    ],
)
async def test_german_headings_are_asked_in_english(question: str, values: list[object], tmp_path: Path) -> None:
    assert (await ask_graph(MILLS, tmp_path, "anlagen.csv")(question))["values"] == values


async def test_a_column_that_few_rows_have_names_none(tmp_path: Path) -> None:
    sheet = "code,commonname,bill_description\n" + "".join(
        f"b{i},{name},{text}\n"
        for i, (name, text) in enumerate(
            [("Grey Teal", "Short"), ("Marsh Owl", ""), ("Sand Plover", ""), ("Reed Warbler", "")]
        )
    )
    assert (await ask_graph(sheet, tmp_path, "birds.csv")("What is the code of Marsh Owl?"))["values"] == ["b1"]


@pytest.mark.parametrize(
    ("question", "values"),
    [
        ("Wie viele Badestellen gibt es in Kiel?", [3]),
        ("Welche Badestellen gehören zur Kategorie 2?", ["Südbad", "Waldbad", "Seebad Alt-Duvenstedt"]),
        ("How many staff did Nordbad have in 2019?", [12]),
        ("How many visits did the Waldbad get in 2023?", [700]),
        ("Which bath had the most visits in 2019?", ["Nordbad"]),
        ("Did Nordbad have more visits in 2023 than in 2019?", [True]),
        ("Did Waldbad get more visits in 2023 than in 2019?", [False]),
    ],
)
async def test_a_year_of_the_question_may_be_in_a_heading(question: str, values: list[object], baths: Ask) -> None:
    answer = await baths(question)
    assert sorted(map(str, answer["values"])) == sorted(map(str, values))


@pytest.mark.parametrize(
    ("question", "values"),
    [
        ("Who won more regattas, Gulls or Terns?", ["Gulls"]),
        ("Which crew has won more regattas, Skuas or Terns?", ["Terns"]),
        ("How many regattas were held in Norway?", [2]),
        ("How many regattas were held from the start of 2001 to the end of 2002?", [4]),
        ("How many regattas were there between 1 and 20 March 2001?", [1]),
        # no row has two home crews
        ("In which town did Gulls race Skuas?", ["Bergen"]),
    ],
)
async def test_rows_are_counted_by_their_values(question: str, values: list[object], races: Ask) -> None:
    assert (await races(question))["values"] == values


async def test_a_year_is_no_number_of_a_row(tmp_path: Path) -> None:
    rows = "".join(f"{2000 + n % 7}-01-05,{n}\n" for n in range(2020))
    ask = ask_graph("Day,Litres\n" + rows, tmp_path, "milk.csv")
    answer = await ask("How many were there in 2003?")
    assert "row=2003" not in answer["answer"]


async def test_that_something_was_done_is_no_fact_of_a_name(baths: Ask) -> None:
    assert (await baths("Has the Waldbad been repaired yet?"))["status"] != "answered"


async def test_a_total_may_be_the_lowest_in_a_year(book: Ask) -> None:
    assert (await book("In which year was the total amount the lowest?"))["values"] == [2023]


async def test_a_name_is_no_description_and_nan_no_text(tmp_path: Path) -> None:
    sheet = "cask,description,ale_name,brewer,cellar\n" + "".join(
        f"C{i},{text},{name},{brewer},{cellar}\n"
        for i, (text, name, brewer, cellar) in enumerate(
            [
                ("Malty and dark", "Old Crow", "nan", "nan"),
                ("Light and crisp", "Hay Cart", "Rook Mill", "nan"),
                ("Sweet", "Bee Line", "Rook Mill", "North"),
                ("Bitter with citrus", "Tin Hat", "nan", "North"),
            ]
        )
    )
    ask = ask_graph(sheet, tmp_path, "ales.csv")
    assert (await ask("Who is the brewer of Hay Cart?"))["values"] == ["Rook Mill"]
    assert (await ask("Which brewer has the most ales?"))["values"] == ["Rook Mill"]
    assert (await ask("Which ales have no cellar?"))["values"] == ["Hay Cart", "Old Crow"]


async def test_sums_may_stand_among_headings(tmp_path: Path) -> None:
    sheet = "Pump,Village,Litres,Year built,Visits,1060\n" + "".join(
        f"P{i},{village},{litres},{1900 + i},{i + 2},{10 * litres}\n"
        for i, (village, litres) in enumerate([("Oby", 40), ("Ely", 26), ("Oby", 25), ("Rye", 15)])
    )
    assert (await ask_graph(sheet, tmp_path, "pumps.csv")("How many litres has P1?"))["values"] == [26]


async def test_a_noun_of_rows_is_no_part_of_a_value(tmp_path: Path) -> None:
    sheet = "name,sire,kept at,state\n" + "".join(
        f"{name},{sire},{park},{state}\n"
        for name, sire, park, state in [
            ("Ada", "NA", "Creature Park", "Escaped"),
            ("Bo", "NA", "Lake House", "Escaped"),
            ("Cid", "NA", "Creature Park", "Kept"),
            ("Dot", "Bo the Old", "Lake House", "Kept"),
            ("Eli", "Bo the Old", "Creature Park", "Kept"),
        ]
    )
    ask = ask_graph(sheet, tmp_path, "herd.csv")
    assert (await ask("Which creatures escaped?"))["values"] == ["Ada", "Bo"]
    assert (await ask("How many creatures escaped?"))["values"] == [2]
    # what is not known is the sire of none
    assert (await ask("Who is the sire of the most creatures?"))["values"] == ["Bo the Old"]


# what sorts the rows is written in parts, names with the last part first, languages and genders as codes
CATALOGUE = (
    "Title;Maker;Shelf;Firm;Language;Gender;Loan;Print 1: Town;Print 1: Year;Print 2: Town;Needs glue\n"
    + "\n".join(
        f"Item {n};{('Wick, Anna', 'Lund, Per', 'Lund, Per', '')[n % 4]};"
        f"{('Games/Board games', 'Games/Dice (toy)', 'Maps (folded)', 'Maps (rolled)')[n % 4]};"
        f"{('Ost-West-Verlag GmbH', 'Nord-Verlag GmbH')[n % 2]};{('deu', 'fra', 'wln', '')[n % 4]};"
        f"{('f', 'm', 'mixed')[n % 3]};{('Annual', 'Weekly')[n % 2]};{('Ystad', 'Moss')[n % 2]};{1950 + n};"
        f"{('Moss', 'Lund')[n % 2]};{1 if n % 5 == 0 else ''}"
        for n in range(24)
    )
)


@pytest.fixture(scope="module")
def catalogue(tmp_path_factory: pytest.TempPathFactory) -> Ask:
    return ask_graph(CATALOGUE, tmp_path_factory.mktemp("catalogue"), "catalogue.csv")


@pytest.mark.parametrize(
    ("question", "values"),
    [
        # a part of what sorts the rows; several with the part
        ("How many board games are there?", [6]),
        ("How many toys were made by women?", [2]),
        ("How many maps are there?", [12]),
        ("How many maps are rolled?", [6]),
        # a name in another order, and one without its legal form
        ("How many items are by Anna Wick?", [6]),
        ("Wie viele Items sind vom Ost-West-Verlag?", [12]),
        # codes beside a word, and of languages in three letters
        ("How many items are in German?", [6]),
        ("Combien d'items sont en wallon ?", [6]),
        ("How many items are lent annually?", [12]),
        # headings in groups, and ones beside nothing
        ("How many items have Ystad as the town of the first print?", [12]),
        ("What is the town of Item 3?", ["Moss"]),
        ("How many items need glue?", [5]),
    ],
)
async def test_values_are_named_as_people_say_them(question: str, values: list[object], catalogue: Ask) -> None:
    assert (await catalogue(question))["values"] == values


@pytest.mark.parametrize(
    ("question", "rows"),
    [
        ("list the lockers", [["Locker 1"], ["Locker 2"], ["Locker 10"]]),
        ("how many lockers per corridor", [["Corridor 2", 1], ["Corridor 10", 2]]),
    ],
)
async def test_names_with_numbers_are_in_the_order_of_these(question: str, rows: object, tmp_path: Path) -> None:
    lockers = "Locker,Corridor,Width\nLocker 10,Corridor 10,40\nLocker 1,Corridor 2,30\nLocker 2,Corridor 10,35\n"
    answer = await ask_graph(lockers, tmp_path, "lockers.csv")(question)
    table = answer["table"]
    assert (table["rows"] if table else [[each] for each in answer["values"]]) == rows
