"""The proof of a reading: readings that fail and that pass each check, and what an answer then says."""

from pathlib import Path

import pytest

from ingestion.pipeline import ingest
from nacre.records.evidence import Doubt, Table
from nacre.records.plan import Ask, Attribute, Itself, Order, Plan, Select, Variable
from nacre.records.threads import start_deadline
from nacre.stores.catalog import Library
from nacre.understanding.linking.link_mentions import link_mentions, linker_of, prepare_question
from nacre.understanding.parse_question import parse_question
from nacre.understanding.ranking.proof import ONE_PLACE, doubts_of_rows, find_doubts
from nacre.wording.plan_phrases import verbalise_plan
from tests.support.ask_graph import Ask as AskGraph
from tests.support.ask_graph import ask_graph

GRAPH = """
@prefix : <http://e.org/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
:Boat a rdfs:Class ; rdfs:label "boat" . :Harbour a rdfs:Class ; rdfs:label "harbour" .
:Hire a rdfs:Class ; rdfs:label "hire" . :Fault a rdfs:Class ; rdfs:label "fault" .
:berth rdfs:label "berth" . :fee rdfs:label "fee" . :leaks rdfs:label "leaks" . :state rdfs:label "state" .
:hull rdfs:label "hull" . :launched rdfs:label "launched" . :boat rdfs:label "boat hired" .
:load rdfs:label "load (kg)" .
:draft rdfs:label "draft" . :rigged rdfs:label "rigged on" . :stone rdfs:label "stone" .
:a a :Boat ; rdfs:label "Petrel" ; :berth :h ; :fee 9 ; :leaks 0 ; :state "on hire" ; :hull "oak" ; :draft 120 ;
  :load 900 ;
  :launched "1991-02-01"^^xsd:date ; :rigged "1992-01-01"^^xsd:date .
:b a :Boat ; rdfs:label "Skua" ; :berth :h ; :fee 7 ; :leaks 3 ; :state "ashore" ; :hull "steel" ; :draft 210 ;
  :load 2023 ;
  :launched "1985-02-01"^^xsd:date .
:c a :Boat ; rdfs:label "Dunlin" ; :fee 8 ; :state "afloat" ; :hull "elm" ; :draft 95 ;
  :load 700 ;
  :launched "1979-02-01"^^xsd:date .
:h a :Harbour ; rdfs:label "Ness" ; :stone "granite" . :i a :Harbour ; rdfs:label "Wick" ; :stone "slate" .
:lasted rdfs:label "duration (h)" . :teacher rdfs:label "teacher" .
:Pilot a rdfs:Class ; rdfs:label "pilot" . :p a :Pilot ; rdfs:label "Ada" ; :teacher :q .
:q a :Pilot ; rdfs:label "Bo" ; :teacher :r . :r a :Pilot ; rdfs:label "Cy" .
:x a :Hire ; rdfs:label "Hire 1" ; :boat :b ; :lasted 3 ; :settled true .
:y a :Hire ; rdfs:label "Hire 2" ; :boat :a ; :settled false . :settled rdfs:label "settled" .
:f a :Fault ; rdfs:label "F1" ; :boat :a . :g a :Fault ; rdfs:label "F2" ; :boat :b .
"""


def doubts_of(library: Library, question: str) -> dict[str, tuple[Doubt, ...]]:
    """The doubts of each reading of a question about the graph, by its words."""
    opened = library.open("boats")
    linker = linker_of(opened.lexicon)
    asked = prepare_question(question, linker)
    links = link_mentions(asked, linker.index)
    candidates = parse_question(asked, links, linker, start_deadline(5.0))
    return {
        verbalise_plan(Plan(c.body), opened.schema): find_doubts(c, asked, links, linker.index.graph)
        for c in reversed(candidates)
    }


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Library:
    folder: Path = tmp_path_factory.mktemp("boats")
    (folder / "boats.ttl").write_text(GRAPH)
    ingest([str(folder / "boats.ttl")], "boats", data=folder / "data")
    return Library(folder / "data", None)


@pytest.mark.parametrize(
    ("question", "words", "expected"),
    [
        ("which faults are still open", "faults", ("coverage", "still")),
        ("which boats have no leaks", "boats", ("coverage", "leaks")),
        ("which faults does Petrel have", "faults whose boat hired is Petrel", None),
        ("which boat was rigged last", "the boat rigged last", ("own things first", "rigged on")),
        ("which boat was launched last", "the boat launched last", None),
        (
            "is there granite in Petrel",
            "whether the stone of the berth of Petrel is granite",
            ("own things first", "berth"),
        ),
        ("is the hull of Petrel oak", "whether the hull of Petrel is oak", None),
        ("which boats are on hire", "boats with a hire", ("whole values", "on hire")),
        ("which boats are on hire", "boats whose state is on hire", None),
        ("boats of Hire 2", "boats with exactly 2 hires", ("whole values", "Hire 2")),
        ("boats of Hire 2", "the boat hired for Hire 2", None),
        ("which boats have no load in 2023", "hires whose boat hired's load is not 2,023 kg", ("whole values", "2023")),
        ("which boats have a load above 800", "boats whose load is above 800 kg", None),
        ("which boats have no leaks", "boats without a known leaks", ("polarity", "leaks")),
        ("which boats have no berth", "boats without a berth", None),
        (
            "boats with an oak or elm hull and a fee of 9",
            "boats whose hull is oak or elm and whose fee is 9",
            ("operator", "or elm hull and"),
        ),
        ("boats with an oak or elm hull", "boats whose hull is oak or elm", None),
        ("what is the cheapest fee", "the boat with the lowest fee", ("shape", "fee")),
        ("which boat has the lowest fee", "the lowest fee of the boats", ("shape", "boat")),
        ("which boat has the lowest fee", "the boat with the lowest fee", None),
        ("the state and harbour of the boats", "the states of the boats that have a berth", ("coverage", "harbour")),
        (
            "the state and harbour of the boats",
            "the states of the boats that have a berth, with the harbour",
            None,
        ),
        ("the boat of harbour Ness", "boats with a fault whose berth is Ness", ("coverage", "boat")),
        ("the boat of harbour Ness", "boats whose berth is Ness", None),
        (
            "boats with at least a hire and load 800",
            "boats with a hire whose load is at least 800 kg",
            ("operator", "at least a hire and load 800"),
        ),
        ("boats with a draft above 1.1 m", "boats whose draft is above 1.1", ("operator", "above 1.1 m")),
        ("boats with a draft above 110", "boats whose draft is above 110", None),
        ("boats with load of at least 800", "boats whose load is at least 800 kg", None),
        ("are the boats all steel", "whether there are boats whose hull is steel", ("operator", "all")),
        ("are there boats of steel", "whether there are boats whose hull is steel", None),
        (
            "did an oak or elm boat have more faults",
            "whether there are boats with a fault whose hull is oak or elm",
            ("operator", "more"),
        ),
        ("who has the faults of Petrel", "faults whose boat hired is Petrel", ("shape", "who")),
        ("boats of hull Ash", "boats whose hull is Ash", ("whole values", "Ash")),
        ("which boats of Ness are still in service", "boats whose berth is Ness", ("coverage", "still")),
        ("did an oak or elm boat have faults", "whether there are boats with a fault whose hull is oak or elm", None),
        (
            "does Petrel go well with Skua",
            "whether Petrel or Skua is a boat",
            ("coverage", "does Petrel go well with Skua"),
        ),
        ("do you still have Petrel", "whether Petrel is a boat", ("coverage", "do you still have Petrel")),
        ("do you have Petrel", "whether Petrel is a boat", None),
        (
            "how long was Skua here",
            "the durations of the hires whose boat hired is Skua",
            ("own things first", "duration"),
        ),
        ("how long was he here", "the durations of the hires", ("coverage", "he")),
        ("who is training Bo", "pilots whose teacher is Bo", ("own things first", "training")),
        ("total duration by boat", "the total duration of the hires", ("operator", "boat")),
        ("are Petrel and Skua boats", "whether Petrel or Skua is a boat", None),
        ("how many trips did the boats of Ness have", "the number of boats whose berth is Ness", ("shape", "trips")),
        ("how many boats did Ness have", "the number of boats whose berth is Ness", None),
        ("how many boats did Ness have", "boats whose berth is Ness", ("shape", "how many")),
        ("when was Skua launched", "when Skua was launched", None),
        ("when was the hull of Skua made", "the hull of Skua", ("shape", "when")),
        ("which boats have not settled", "boats without a hire that is settled", ("polarity", "settled")),
        (
            "which harbour has the most load",
            "harbours that are berths of the boat with the highest load",
            ("total", "the most"),
        ),
        ("how many har-bours have a berth", "the number of harbours that are the berth of a boat", None),
    ],
)
def test_checks(library: Library, question: str, words: str, expected: tuple[str, str] | None) -> None:
    found = doubts_of(library, question)
    assert words in found, sorted(found)
    assert found[words] == (() if expected is None else (Doubt(*expected),))


def test_what_is_ranked_first_stands_alone() -> None:
    fee = Attribute("boat", "http://e.org/fee")
    boats = Variable("boat", ("http://e.org/Boat",))
    first = Select((Itself("boat"),), (boats,), order=Order(fee, descending=True), limit=1)
    alone, shared = Table(("boat",), (("Petrel",),)), Table(("boat",), (("Petrel",), ("Skua",)))
    same = Table(("hull",), (("oak",), ("oak",)))
    assert doubts_of_rows(first, shared) == (Doubt(ONE_PLACE, "2"),)
    assert doubts_of_rows(first, alone) == doubts_of_rows(first, same) == doubts_of_rows(Ask(first), alone) == ()


async def test_a_date_of_what_is_linked_needs_its_name_beside_an_own_one(tmp_path: Path) -> None:
    graph = """
    @prefix : <http://e.org/> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
    @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
    """ + "".join(
        f':m{i} a :Member ; rdfs:label "{name} Rook" ; :joined_on "201{i}-03-04"^^xsd:date .'
        f':l{i} a :Lease ; :member :m{i} ; :start_date "202{i}-05-06"^^xsd:date .'
        for i, name in enumerate(("Ada", "Bea", "Cleo", "Dot"))
    )
    ask = ask_graph(graph, tmp_path)
    unsure, sure = await ask("Bea Rook - joining date?"), await ask("What is the start date of Bea Rook?")
    assert unsure["status"] != "answered"
    assert [sure["status"], sure["values"]] == ["answered", ["2021-05-06"]]


async def test_an_answer_says_of_which_point_it_is_not_sure(tmp_path: Path) -> None:
    ask = ask_graph(GRAPH, tmp_path)
    sure, unsure = await ask("Which boat was launched last?"), await ask("Which boat was rigged last?")
    checks = ["coverage", "own things first", "whole values", "polarity", "operator", "total", "shape", ONE_PLACE]
    assert [sure["status"], unsure["status"], unsure["values"]] == ["answered", "clarify", ["Petrel"]]
    assert "I am not sure that “rigged on” is what you mean." in unsure["answer"]
    assert [(each["check"], each["passed"], each["point"]) for each in sure["derivation"]["proof"]] == [
        (name, True, "") for name in checks
    ]
    failed = [each for each in unsure["derivation"]["proof"] if not each["passed"]]
    assert failed == [{"check": "own things first", "passed": False, "point": "rigged on"}]


async def test_what_names_a_thing_is_no_answer_and_repeated_names_are_not_counted_as_different(tmp_path: Path) -> None:
    rows = "".join(f"V{i}.0{i},Print {i},{'Ida Loam' if i % 2 else 'Ole Kiln'}\n" for i in range(1, 9))
    ask = ask_graph(f"Item Number,Title,Lender\n{rows}", tmp_path, "items.csv")
    code, last = await ask("Which item has the item number V3.03?"), await ask("What is the item number of Print 3?")
    assert code["status"] != "answered" or code["values"] == ["Print 3"]
    assert [last["status"], last["values"]] == ["answered", ["V3.03"]]
    guests = "".join(f"{20 - i},{'Ida Loam' if i % 2 else 'Ole Kiln'},A-{i}\n" for i in range(1, 9))
    folder = tmp_path / "shows"
    folder.mkdir()
    ask = ask_graph(f"day,guest name,code\n{guests}", folder, "guests.csv")
    different = await ask("How many different guests were there?")
    assert different["status"] != "answered" or different["values"] == [2]


async def test_verbs_that_only_relate_things_are_no_words_left_out(tmp_path: Path) -> None:
    ask = ask_graph(GRAPH, tmp_path)
    located, painted = await ask("Which boats are located in Ness?"), await ask("Which boats are painted in Ness?")
    assert located["values"] == painted["values"] == ["Petrel", "Skua"]
    assert located["status"] != "partial" == painted["status"]


def test_a_link_of_a_similar_word_covers_nothing(library: Library) -> None:
    opened = library.open("boats")
    linker = linker_of(opened.lexicon)
    asked = prepare_question("the state and harbour of the boats", linker)
    links = link_mentions(asked, linker.index)
    candidates = parse_question(asked, links, linker, start_deadline(5.0))
    words = "the states of the boats that have a berth"
    own = next(c for c in candidates if verbalise_plan(Plan(c.body), opened.schema) == words)
    similar = tuple(x._replace(covered=0) if x.kind == "class" else x for x in own.derivation.links)
    own = own._replace(derivation=own.derivation._replace(links=similar))
    assert find_doubts(own, asked, links, linker.index.graph) == (Doubt("coverage", asked.text),)


async def test_a_number_after_the_property_that_it_is_an_amount_of_is_no_thing(tmp_path: Path) -> None:
    shares = {1: 88.1, 2: 88.1, 3: 100, 4: 0, 5: 100, 99: 50, 100: 50, 101: 100, 120: 0}
    lamps = "".join(
        f":L{i} a :Lamp ; :hasName 'Lamp{chr(65 + i % 26)}'@en ; :hasLampNumber {i} ; :hasSeries {1 + i % 2} ;"
        f" :hasPercentageBrass {share} ."
        for i, share in shares.items()
    )
    ask = ask_graph(f"@prefix : <http://e.org/#> . {lamps}", tmp_path)
    answer = await ask("Which lamps of series 1 have a percentage brass of 100?")
    assert answer["status"] != "answered"
    by_number = await ask("Which lamp has the lamp number 3?")
    assert [by_number["status"], by_number["values"]] == ["answered", ["LampD"]]


async def test_a_property_of_a_uml_class_is_called_by_its_own_name(tmp_path: Path) -> None:
    cables = "".join(
        f'<urn:uuid:0{i}> a :Cable ; :Named.title "C{i}" ; :Wire.totalLength {i}0 ; :Cable.Named "x" .'
        for i in (1, 2, 3)
    )
    pumps = '<urn:uuid:09> a :Pump ; :Named.title "C1" ; :displayName "Main pump" .'
    ask = ask_graph(f"@prefix : <http://e.org/uml#> . {cables} {pumps}", tmp_path)
    longest, pump = await ask("Which cable has the greatest total length?"), await ask("List the pumps")
    assert [longest["status"], longest["values"], pump["values"]] == ["answered", ["C3"], ["Main pump"]]


async def test_a_yes_over_one_of_two_links_needs_its_name(tmp_path: Path) -> None:
    steps = "".join(
        f':s{i} a :Step ; :label "Step {i}" ; :takes :m{i} ; :gives :m{i + 1} . :m{i} a :Matter ; :label "Matter{i}x" .'
        for i in range(1, 6)
    )
    ask = ask_graph(f"@prefix : <http://e.org/> . {steps}", tmp_path)
    unnamed, named = await ask("Is Matter3x in any of the steps?"), await ask("Is Matter3x taken by Step 3?")
    assert unnamed["status"] != "answered"
    assert [named["status"], named["values"]] == ["answered", [True]]


async def test_things_of_a_column_and_a_date_are_counted(tmp_path: Path) -> None:
    rows = "".join(f"Fern {i},18{i}0-04-05,{i}\n" for i in range(1, 8))
    ask = ask_graph(f"fern,collected,pots\n{rows}", tmp_path, "ferns.csv")
    before, in_century = (
        await ask("How many ferns were collected before 1850?"),
        await ask("How many ferns were collected in the 19th century?"),
    )
    assert [before["status"], before["values"], in_century["values"]] == ["answered", [4], [7]]


async def test_what_an_adjective_asks_for_is_measured_by_what_it_means(tmp_path: Path) -> None:
    rows = "".join(f"Crossing {i},{i}0.50\n" for i in range(1, 8))
    ask = ask_graph(f"crossing,cost (EUR)\n{rows}", tmp_path, "crossings.csv")
    questions = ("How long does a crossing take on average?", "How good is Crossing 3?", "How far is Crossing 3?")
    assert all([(await ask(each))["status"] != "answered" for each in questions])
    priced = await ask("How expensive is Crossing 3?")
    assert [priced["status"], priced["values"]] == ["answered", [30.5]]


DEPOT = """
@prefix : <http://e.org/d/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:Winch a rdfs:Class ; rdfs:label "winch" . :Crate a rdfs:Class ; rdfs:label "crate" .
:Worker a rdfs:Class ; rdfs:label "worker" . :Shift a rdfs:Class ; rdfs:label "shift" .
:greaser rdfs:label "greased by" . :paint rdfs:label "paint" . :drum rdfs:label "drum" . :sound rdfs:label "sound" .
:winch rdfs:label "winch" . :worker rdfs:label "worker" . :number rdfs:label "piece no" .
:d1 a :Worker ; rdfs:label "Ada Holm" . :d2 a :Worker ; rdfs:label "Bo Lind" .
:w1 a :Winch ; rdfs:label "Grumbler" ; :paint "ochre" ; :drum "steel" ; :sound true ; :greaser :d1 .
:w2 a :Winch ; rdfs:label "Howler" ; :paint "teal" ; :drum "brass" ; :sound false ; :greaser :d2 .
:w3 a :Winch ; rdfs:label "Mutter" ; :paint "ochre" ; :drum "steel" ; :sound true .
:c1 a :Crate ; rdfs:label "Box One" ; :paint "teal" . :c2 a :Crate ; rdfs:label "Box Two" ; :paint "teal" .
:s1 a :Shift ; :number "P1" ; :winch :w3 ; :worker :d1 . :s2 a :Shift ; :number "P2" ; :winch :w2 ; :worker :d2 .
:s3 a :Shift ; :number "P3" ; :winch :w3 ; :worker :d2 . :s4 a :Shift ; :number "P4" ; :winch :w2 ; :worker :d1 .
"""


async def test_what_nobody_did_needs_a_word_for_the_link(tmp_path: Path) -> None:
    ask = ask_graph(DEPOT, tmp_path)
    for question in ("Which winch has nobody ever used?", "Which winch has nobody borrowed?"):
        assert (await ask(question))["status"] != "answered", question
    sure = await ask("Which winches are greased by nobody?")
    assert [sure["status"], sure["values"]] == ["answered", ["Mutter"]]


async def test_a_second_question_that_is_not_answered_is_doubted(tmp_path: Path) -> None:
    ask = ask_graph(DEPOT, tmp_path)
    for clause in ("is it sound", "is it steel", "does it squeak"):
        answer = await ask(f"What is the paint of Grumbler and {clause}?")
        assert answer["status"] != "answered", clause
        assert clause.split()[-1] in answer["answer"], clause
    alone = await ask("What is the paint of Grumbler?")
    assert [alone["status"], alone["values"]] == ["answered", ["ochre"]]


async def test_what_somebody_got_is_no_description(tmp_path: Path) -> None:
    ask = ask_graph(DEPOT, tmp_path)
    for question in ("What did Ada Holm get?", "What does Ada Holm get for Grumbler?", "What did Ada Holm bring?"):
        assert (await ask(question))["status"] != "answered", question


async def test_a_wide_noun_that_a_property_is_called_by_is_doubted(tmp_path: Path) -> None:
    ask = ask_graph(DEPOT, tmp_path)
    unsure, sure = await ask("How many pieces are there?"), await ask("How many winches are there?")
    assert [unsure["status"], sure["status"], sure["values"]] == ["clarify", "answered", [3]]


async def test_a_number_of_different_values_is_no_group(tmp_path: Path) -> None:
    rows = "".join(f"Mast {i},{'larch' if i % 2 else 'spruce'}\n" for i in range(1, 8))
    counted = await ask_graph(f"mast,wood type\n{rows}", tmp_path, "masts.csv")(
        "Count the number of different wood types."
    )
    assert [counted["status"], counted["values"]] == ["answered", [2]]


LENT = """
@prefix : <http://e.org/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
:Drum rdfs:label "drum" . :Loan rdfs:label "loan" . :Maker rdfs:label "person" .
:d1 a :Drum ; rdfs:label "Big Tom" ; :madeBy :m1 . :d2 a :Drum ; rdfs:label "Old Sam" ; :madeBy :m2 .
:m1 a :Maker ; rdfs:label "Ada Moss" . :m2 a :Maker ; rdfs:label "Ben Ash" .
:l1 a :Loan ; rdfs:label "L1" ; :drum :d1 ; :dayOut "2024-01-02"^^xsd:date ; :dayDue "2024-02-02"^^xsd:date .
:l2 a :Loan ; rdfs:label "L2" ; :drum :d1 ; :dayOut "2024-03-02"^^xsd:date ; :dayDue "2024-04-02"^^xsd:date .
:l3 a :Loan ; rdfs:label "L3" ; :drum :d2 ; :dayOut "2024-05-02"^^xsd:date ; :dayDue "2024-06-02"^^xsd:date .
"""


async def test_a_link_and_a_date_need_a_word(tmp_path: Path) -> None:
    ask = ask_graph(LENT, tmp_path)
    said = {
        question: (await ask(question))["status"]
        for question in (
            "Who made Big Tom?",
            # a verb for having is no word for making
            "Who has Big Tom?",
            "Who had Big Tom then?",
            # one of two dates of a loan, which nothing names
            "When was Big Tom last borrowed?",
        )
    }
    assert list(said.values()) == ["answered", "clarify", "clarify", "clarify"], said


async def test_a_present_participle_is_the_verb_of_a_link(tmp_path: Path) -> None:
    hooks = """
    @prefix : <http://e.org/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
    :Drum rdfs:label "drum" . :Hook rdfs:label "hook" . :hangsOn rdfs:label "hangs on" .
    :d1 a :Drum ; rdfs:label "Big Tom" ; :hangsOn :h1 . :d2 a :Drum ; rdfs:label "Old Sam" ; :hangsOn :h2 .
    :d3 a :Drum ; rdfs:label "Thin Tim" ; :hangsOn :h1 . :h1 a :Hook ; rdfs:label "North Wall" .
    :h2 a :Hook ; rdfs:label "South Wall" .
    """
    ask = ask_graph(hooks, tmp_path)
    for question in ("What's hanging on North Wall?", "Which drums are hanging on North Wall?"):
        answer = await ask(question)
        assert (answer["status"], answer["values"]) == ("answered", ["Big Tom", "Thin Tim"]), question


async def test_how_long_asks_for_no_longitude(tmp_path: Path) -> None:
    piers = """
    @prefix : <http://e.org/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
    :Pier rdfs:label "pier" . :Trip rdfs:label "trip" . :delay rdfs:label "delay (min)" . :pier rdfs:label "pier" .
    :p1 a :Pier ; rdfs:label "Westgate" ; :lat 57.1 ; :long 5.8 .
    :p2 a :Pier ; rdfs:label "Eastgate" ; :lat 56.1 ; :long 4.8 .
    :t1 a :Trip ; rdfs:label "T1" ; :pier :p1 ; :delay 10 . :t2 a :Trip ; rdfs:label "T2" ; :pier :p1 ; :delay 20 .
    :t3 a :Trip ; rdfs:label "T3" ; :pier :p2 ; :delay 60 .
    """
    ask = ask_graph(piers, tmp_path)
    assert (await ask("How long was the average delay at Westgate?"))["values"] == [15]


def test_that_there_are_rows_is_not_sure_if_they_may_have_0(tmp_path: Path) -> None:
    (tmp_path / "boats.ttl").write_text(GRAPH)
    (tmp_path / "ropes.csv").write_text("no,Boat,Coils\n1,Petrel,0\n2,Skua,4\n3,Dunlin,4\n4,Petrel,0\n")
    ingest([str(tmp_path / name) for name in ("boats.ttl", "ropes.csv")], "boats", data=tmp_path / "data")
    doubts = doubts_of(Library(tmp_path / "data", None), "does Petrel have ropes")
    assert doubts["whether Petrel has a rope"] == (Doubt("polarity", "coils"),)


LOOMS = """
@prefix : <http://e.org/l/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
:w1 a :Weaver ; rdfs:label "Ada Finn" ; :guild "silk" . :w2 a :Weaver ; rdfs:label "Bo Marsh" ; :guild "wool" .
:w3 a :Weaver ; rdfs:label "Cy Holm" ; :guild "silk" .
:woodGroup rdfs:label "wood group" . :kind rdfs:label "kind" .
:l1 a :Loom ; rdfs:label "Tall Loom" ; :woodGroup "hard" ; :storey 1 .
:l2 a :Loom ; rdfs:label "Old Loom" ; :woodGroup "soft" ; :storey 2 .
:l3 a :Loom ; rdfs:label "Red Loom" ; :storey 1 .
:r1 a :Rental ; rdfs:label "R1" ; :weaver :w1 ; :proceeds 40 ; :day "2023-03-01"^^xsd:date .
:r2 a :Rental ; rdfs:label "R2" ; :weaver :w2 ; :proceeds 60 ; :day "2023-04-01"^^xsd:date .
:r3 a :Rental ; rdfs:label "R3" ; :weaver :w3 ; :proceeds 10 ; :day "2024-03-01"^^xsd:date .
:r4 a :Rental ; rdfs:label "R4" ; :weaver :w1 ; :proceeds 30 ; :day "2023-05-01"^^xsd:date .
"""


@pytest.fixture(scope="module")
def looms(tmp_path_factory: pytest.TempPathFactory) -> AskGraph:
    return ask_graph(LOOMS, tmp_path_factory.mktemp("looms"))


@pytest.mark.parametrize(
    ("question", "word"),
    [
        ("Which looms are out?", "out"),
        ("How many looms are in?", "in"),
        ("Are the looms away?", "away"),
        ("Which looms are still off?", "off"),
    ],
)
async def test_a_particle_that_says_how_things_are_is_left_out_of_no_answer(
    question: str, word: str, looms: AskGraph
) -> None:
    answer = await looms(question)
    assert answer["status"] != "answered"
    assert f"“{word}”" in answer["answer"]


async def test_a_name_that_only_begins_with_what_is_asked_for_and_a_count_of_what_is_high_are_not_sure(
    looms: AskGraph,
) -> None:
    for sure, unsure in (
        ("Which wood group has Old Loom?", "Which wood has Old Loom?"),
        ("How many rentals are there per weaver?", "How high were the rentals per weaver?"),
    ):
        assert ((await looms(sure))["status"], (await looms(unsure))["status"] == "answered") == ("answered", False)


async def test_the_word_before_a_year_is_read_with_it(looms: AskGraph) -> None:
    answer = await looms("How many rentals were there in the year 2023?")
    assert (answer["values"], answer["unclear"]) == ([3], [])


async def test_a_particle_of_a_verb_or_of_a_place_is_none(looms: AskGraph) -> None:
    statuses = {(await looms(each))["status"] for each in ("Which looms are there?", "Which storey is Old Loom on?")}
    assert statuses == {"answered"}


@pytest.mark.parametrize(
    ("turns", "value"),
    [
        (("What were the total proceeds in 2023?", "And from silk weavers?"), 70),
        (("What were the total proceeds from silk weavers?", "And from wool weavers?"), 60),
    ],
)
async def test_a_restriction_alone_keeps_what_was_asked(turns: tuple[str, ...], value: float, looms: AskGraph) -> None:
    answer = await looms(*turns)
    assert answer["values"] == [value] or answer["status"] != "answered"
    assert "proceeds" in answer["standalone"]


async def test_a_restriction_that_fits_no_question_is_not_sure(looms: AskGraph) -> None:
    assert (await looms("Which looms are there?", "And from silk weavers in 2023?"))["status"] != "answered"


async def test_what_a_condition_says_is_no_answer(looms: AskGraph) -> None:
    expected = ["Red Loom", "Tall Loom"]
    for turns in (("Which are on storey 1?",), ("Which looms are there?", "Which are on storey 1?")):
        assert sorted((await looms(*turns))["values"]) == expected
    asked = await looms("What is the storey of the looms on storey 1?")
    assert asked["values"] != [1] or asked["status"] != "answered"
