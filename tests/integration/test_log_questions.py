"""Questions about the entries of a log: what was late, what is still out, who took it, and what followed from a yes."""

import pytest

from tests.support.ask_graph import Ask, ask_graph

NAMES = """
@prefix : <http://example.org/p/> . @prefix r: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix x: <http://www.w3.org/2001/XMLSchema#> .
:Puppet a r:Class ; r:label "puppet" . :Club a r:Class ; r:label "club" . :Keeper a r:Class ; r:label "keeper" .
:Outing a r:Class ; r:label "outing" . :carved r:label "carved by" . :wood r:label "wood" . :town r:label "town" .
:since r:label "joined" . :phone r:label "phone number" . :what r:label "puppet" . :club r:label "club" .
:by r:label "handed out by" . :out r:label "out date" . :due r:label "due back" . :back r:label "returned on" .
:fee r:label "fee" .
:imp a :Puppet ; r:label "Red Imp" ; :carved :una ; :wood "lime" . :owl a :Puppet ; r:label "Grey Owl" ; :wood "oak" .
:fox a :Puppet ; r:label "Sly Fox" ; :carved :una ; :wood "lime" .
:hill a :Club ; r:label "Hill Club" ; :town "Orle" . :mill a :Club ; r:label "Mill Club" ; :town "Orle" .
:dale a :Club ; r:label "Dale Club" ; :town "Sutt" .
:una a :Keeper ; r:label "Una Crane" ; :since "2019-02-01"^^x:date ; :phone "07700 1234" .
:bo a :Keeper ; r:label "Bo Finch" ; :since "2022-05-01"^^x:date . :eli a :Keeper ; r:label "Eli Rook" .
:eli :since "2023-01-10"^^x:date .
"""
# what went out to which club by whom, when it did, was due and came back, and what it cost
OUTINGS = (
    ("imp", "hill", "bo", "2024-03-01", "2024-03-10", "2024-03-15", 5),
    ("imp", "mill", "bo", "2024-03-20", "2024-03-30", "2024-03-28", 7),
    ("owl", "hill", "una", "2024-04-02", "2024-04-12", "2024-04-12", 9),
    ("fox", "hill", "bo", "2024-04-20", "2024-04-30", "2024-05-06", 4),
    ("imp", "hill", "una", "2024-05-11", "2024-05-20", "", 6),
    ("owl", "dale", "bo", "2024-05-12", "2024-05-22", "2024-05-20", 8),
)


def outing(number: int, what: str, club: str, by: str, out: str, due: str, back: str, fee: int) -> str:
    returned = f' ; :back "{back}"^^x:date' if back else ""
    dates = f':out "{out}"^^x:date ; :due "{due}"^^x:date{returned}'
    return f":o{number} a :Outing ; :what :{what} ; :club :{club} ; :by :{by} ; :fee {fee} ; {dates} .\n"


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Ask:
    entries = "".join(outing(number, *row) for number, row in enumerate(OUTINGS, 1))
    return ask_graph(NAMES + entries, tmp_path_factory.mktemp("log"))


@pytest.mark.parametrize(
    ("questions", "values"),
    {
        # when something was due and when it was done
        ("How many outings came back late?",): [2],
        ("How many of our outings came back early?",): [2],
        ("Was the Hill Club ever late?",): [2],
        # what is not done
        ("Is the Red Imp back yet?",): [1],
        ("What is still out with the Hill Club?",): ["Red Imp"],
        ("Does the Mill Club still have anything?",): [0],
        # who has to do with the entries, whatever the verb
        ("Who had the Grey Owl?",): ["Dale Club", "Hill Club"],
        ("What did the Hill Club take most often?",): ["Red Imp"],
        ("What was handed out in March 2024?", "Who took them?"): ["Hill Club", "Mill Club"],
        # amounts of what was listed, and of another period
        ("What was handed out in March 2024?", "Who took them?", "How much was that in all?"): [12],
        ("What was handed out in March 2024?", "How much did they bring in?", "And in April?"): [13],
        ("For each town, how much money came in?",): ["Orle", 31, "Sutt", 8],
        # the one with the most entries, if nothing says what is counted
        ("Which club of Orle took more?",): ["Hill Club"],
        # what happened in a period
        ("What happened in May 2024?",): ["o5", "o6"],
        # "they" after a yes are all who are asked about
        ("Has any keeper joined since 2022?", "When did they join?"): ["2022-05-01", "2023-01-10"],
    }.items(),
)
async def test_log(log: Ask, questions: tuple[str, ...], values: list[object]) -> None:
    answer = await log(*questions)
    assert answer["values"] == values, answer["answer"]


@pytest.mark.parametrize("question", ["How many outings came back late?", "Is the Red Imp back yet?"])
async def test_what_only_dates_say_is_not_sure(log: Ask, question: str) -> None:
    assert (await log(question))["status"] == "clarify"


async def test_an_unknown_verb_is_not_answered_but_offered(log: Ask) -> None:
    answer = await log("Who repainted the Red Imp?")
    assert (answer["status"], answer["values"]) == ("partial", [])
    assert any("handed out by" in each["words"] for each in answer["options"])


async def test_a_phone_number_is_no_height(log: Ask) -> None:
    answer = await log("How tall is Una Crane?")
    assert answer["values"] == []
    assert answer["status"] in ("partial", "not_in_graph")


async def test_questions_that_work_are_offered_if_nothing_is_understood(log: Ask) -> None:
    offered = [each["words"] for each in (await log("How come?"))["options"]]
    assert "the club with the most outings" in offered
