"""Everyday questions about a club: what nobody used, who is there longest, what was earned, and short follow-ups."""

from datetime import date
from pathlib import Path

import pytest

from tests.support.ask_graph import Ask, ask_graph

CLUB = """
@prefix : <http://example.org/c/> . @prefix r: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix x: <http://www.w3.org/2001/XMLSchema#> .
:Member a r:Class ; r:label "member" . :Punt a r:Class ; r:label "punt" . :Trip a r:Class ; r:label "trip" .
:Crew a r:Class ; r:label "crew" . :Cabin a r:Class ; r:label "cabin" . :Talk a r:Class ; r:label "talk" .
:joined r:label "joined" . :lodges r:label "lodges in" . :room r:label "capacity" . :crewOf r:label "crew member" .
:chaired r:label "chaired by" . :meets r:label "meets on" . :gave r:label "given by" . :heard r:label "attended by" .
:punt r:label "punt" . :on r:label "went on" . :soldFor r:label "sold for" . :rent r:label "weekly rent" .
:beds r:label "beds" . :by r:label "booked by" .
:ann a :Member ; r:label "Ann Pell" ; :joined "2011-03-04"^^x:date ; :lodges :alder .
:ben a :Member ; r:label "Ben Roe" ; :joined "2015-06-01"^^x:date ; :lodges :birch .
:cas a :Member ; r:label "Cas Ivey" ; :joined "2019-09-12"^^x:date ; :lodges :birch .
:dot a :Member ; r:label "Dot Lorne" ; :joined "2020-01-20"^^x:date .
:alder a :Cabin ; r:label "Alder" ; :rent 40 ; :beds 2 . :birch a :Cabin ; r:label "Birch" ; :rent 55 ; :beds 3 .
:cedar a :Cabin ; r:label "Cedar" ; :rent 35 ; :beds 3 .
:heron a :Punt ; r:label "Heron" ; :room 4 . :teal a :Punt ; r:label "Teal" ; :room 9 .
:smew a :Punt ; r:label "Smew" ; :room 6 .
:harbour a :Crew ; r:label "Harbour Crew" ; :crewOf :ann, :ben, :cas ; :chaired :ben ; :meets "Tuesday" .
:lantern a :Crew ; r:label "Lantern Crew" ; :crewOf :dot, :cas ; :chaired :dot ; :meets "Tuesday" .
:rescue a :Crew ; r:label "Rescue Crew" ; :crewOf :ann ; :chaired :ann ; :meets "Friday" .
:knots a :Talk ; r:label "Knots and Splices" ; :gave :ann ; :heard :ben, :dot .
:tides a :Talk ; r:label "Reading Tides" ; :gave :cas ; :heard :ann .
:t1 a :Trip ; r:label "T1" ; :punt :heron ; :by :ann ; :on "2021-05-02"^^x:date .
:t2 a :Trip ; r:label "T2" ; :punt :heron ; :by :ben ; :on "2022-05-09"^^x:date .
:t3 a :Trip ; r:label "T3" ; :punt :heron ; :by :ben ; :on "2022-07-15"^^x:date .
:t4 a :Trip ; r:label "T4" ; :punt :teal ; :by :cas ; :on "2022-08-21"^^x:date .
"""


@pytest.fixture(scope="module")
def club(tmp_path_factory: pytest.TempPathFactory) -> Ask:
    return ask_graph(CLUB, tmp_path_factory.mktemp("club"))


@pytest.mark.parametrize(
    ("questions", "values"),
    {
        # what nothing is linked to, and where nobody lives
        ("Which punt have we never used?",): ["Smew"],
        ("Which punts were never hired?",): ["Smew"],
        ("Which cabins are empty?",): ["Cedar"],
        ("Which cabins are vacant?",): ["Cedar"],
        # by the date of the beginning
        ("Who has been with us longest?",): ["Ann Pell"],
        ("Which member has been here the longest?",): ["Ann Pell"],
        # a comparative that chooses
        ("Which cabin is cheaper per week?",): ["Cedar"],
        ("What's the cheapest cabin to rent?",): ["Cedar"],
        # the year before or after that of the turn before
        ("How many trips were there in 2022?", "And the year before?"): [1],
        ("How many trips were there in 2021?", "and the next year?"): [3],
        ("How many trips were there in 2022?", "Which punts were used that year?"): ["Heron", "Teal"],
        # the number of what was listed
        ("Which trips were in 2022?", "How many is that?"): [3],
        # references by a part of a name, at the end of a question, to two things and to a day
        ("Which crews are there?", "Who chaired the lantern one?"): ["Dot Lorne"],
        ("When did Ann Pell join?", "Which cabin is hers?"): ["Alder"],
        ("How many trips has Heron?", "And Teal?", "Which of the two punts is bigger?"): ["Teal"],
        ("Which crews are there?", "Who chaired the lantern one?", "When do they meet?"): ["Tuesday"],
        ("When does the Harbour Crew meet?", "Does any other crew meet that day?"): [True],
        ("When does the Rescue Crew meet?", "Does any other crew meet that day?"): [False],
        # what is left out
        ("Who gave Knots and Splices?", "Who took part?"): ["Ben Roe", "Dot Lorne"],
        ("Who gave Knots and Splices?", "Did she give anything else?"): [False],
        # the others of an order
        ("Which punt is used the most?", "And the others?"): ["Teal", 1],
        ("Which cabin has the lowest rent?", "and the others?"): ["Alder", 40, "Birch", 55],
        # conditions on what was asked before
        ("What is the average rent?", "And only for cabins with three beds?"): [45],
        ("Which cabins have three beds?", "How many beds do both have?"): [3],
    }.items(),
)
async def test_everyday(club: Ask, questions: tuple[str, ...], values: list[object]) -> None:
    answer = await club(*questions)
    assert answer["values"] == values, answer["answer"]


async def test_a_guessed_link_is_not_sure(club: Ask) -> None:
    assert (await club("Which punt have we never used?"))["status"] == "clarify"
    assert (await club("Which cabins are empty?"))["status"] == "clarify"


async def test_an_empty_result_is_stated(club: Ask) -> None:
    answer = await club("Which crews chaired by Ben Roe meet on Friday?")
    assert "othing for “crews" in answer["answer"] or "Nothing in this graph matches: crews" in answer["answer"]


JARS = """Jar no,Filled on,Keeper,Sort,Weight (g),Sold for
J1,2023-02-01,Ida Lund,lime,410,£5.00
J2,2023-03-11,Ida Lund,heather,250,
J3,2024-04-02,Tor Hay,lime,390,£6.50
J4,2024-05-20,Tor Hay,clover,420,£4.00
J5,2024-06-30,Ida Lund,clover,260,
"""


@pytest.fixture(scope="module")
def jars(tmp_path_factory: pytest.TempPathFactory) -> Ask:
    return ask_graph(JARS, tmp_path_factory.mktemp("jars"), "fillings.csv")


@pytest.mark.parametrize(
    ("question", "values"),
    {
        # the header of the key says what a row is
        "Which jars are clover?": ["J4", "J5"],
        "How many jars are there?": [5],
        "Which jar is the heaviest?": ["J4"],
        # some were sold for an amount
        "Which jars were sold?": ["J1", "J3", "J4"],
        "How many jars were sold?": [3],
        "Was J1 sold?": [True],
        "Was J2 sold?": [False],
        # what was earned
        "What did we get for lime?": [11.5],
        "How much did we take for jars in 2024?": [10.5],
    }.items(),
)
async def test_rows_by_the_header_of_their_key(jars: Ask, question: str, values: list[object]) -> None:
    answer = await jars(question)
    assert answer["values"] == values, answer["answer"]


DELIVERIES = """Delivery,Date,Mill,Sacks,Price per sack (€)
D1,2024-02-03,Elmwater,20,14.00
D2,2024-02-19,Elmwater,10,16.00
D3,2024-03-04,Ropewalk,30,11.00
"""


async def test_a_price_per_unit_is_no_group_and_is_not_added_up(tmp_path: Path) -> None:
    ask = ask_graph(DELIVERIES, tmp_path, "deliveries.csv")
    assert (await ask("What is the price per sack?"))["values"] == [11, 14, 16]
    assert (await ask("average price per sack per mill"))["values"] == ["Elmwater", 15, "Ropewalk", 11]


async def test_an_age_is_compared_with_the_date_of_birth(tmp_path: Path) -> None:
    born = [f"{date.today().year - age}-01-01" for age in (70, 34, 12)]
    rows = zip(("Ann Pell", "Ben Roe", "Cas Ivey"), born, ("2021-01-05", "2001-02-03", "2022-04-08"), strict=True)
    table = "\n".join(map(",".join, [("Rower", "Born", "Joined"), *rows]))
    ask = ask_graph(table, tmp_path, "rowers.csv")
    assert (await ask("Which rowers are younger than 20 years?"))["values"] == ["Cas Ivey"]
    assert (await ask("Which rowers are older than 30?"))["values"] == ["Ann Pell", "Ben Roe"]
