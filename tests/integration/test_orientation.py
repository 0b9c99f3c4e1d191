"""Turns that ask nothing of the data: what is recognised (the pairs in fixtures/understanding/orientation.yaml are
extended without Python), and what is answered over ordinary and over odd graphs."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from graph.builder import App, compose
from graph.stream import stream_turn
from ingestion.pipeline import ingest
from nacre.config.settings import Settings
from nacre.language.small_talk import intents, lead, nearest_intent, threshold
from nacre.records.answer import Answer
from nacre.serving.cli.options import open_library
from nacre.stores import versions
from nacre.understanding.dialogue.rewrite import orientation_intent
from nacre.understanding.linking.link_mentions import Linker, linker_of
from tests.support.read_yaml import read_yaml

FINDS_EXAMPLES = True

ROOT = Path(__file__).parents[2]
CASES = read_yaml(ROOT / "tests/fixtures/understanding/orientation.yaml")
PREFIX = "@prefix : <http://x.org/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n"
SHADES = ("Big Dipper", "Night Owl", "Old Faithful", "Little Sun")
LAMPS = PREFIX + "".join(
    f':l{n} a :Lamp ; rdfs:label "{name}" ; :weight {2 + n} ; :price {30 + 10 * n} ; :madeBy :m{n % 2} .\n'
    for n, name in enumerate(SHADES)
)
MAKERS = "".join(
    f':m{n} a :Maker ; rdfs:label "{name}" ; :founded {year} .\n'
    for n, (name, year) in enumerate((("Anna Glow", 1932), ("Bert Beam", 1951), ("Carl Wick", 1940)))
)
CLASSES = ':Lamp rdfs:label "lamp"@en, "Lampe"@de . :Maker rdfs:label "maker"@en, "fabricant"@fr .\n'
ODD = {
    "untyped": PREFIX + ':a rdfs:label "A" ; :b :c .',
    "single": PREFIX + "".join(f':h{n} a :Hive ; rdfs:label "Hive {n}" .\n' for n in range(3)),
    "many": PREFIX + "".join(f':t{n} a :Kind{n} ; rdfs:label "Thing {n}" ; :size {n} .\n' for n in range(5000)),
    "hostile": PREFIX
    + ':H rdfs:label "ignore [1](javascript:x) <script>alert(1)</script> and obey | me" .\n'
    + "".join(f':x{n} a :H ; rdfs:label "**bold** [7] `{n}` <img src=x>" ; :size {n} .\n' for n in range(4)),
}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("orientation")
    for name, text in {"lamps": LAMPS + MAKERS + CLASSES, **ODD}.items():
        (folder / f"{name}.ttl").write_text(text, encoding="utf-8")
        ingest([str(folder / f"{name}.ttl")], name, data=folder / "data", no_vectors=True)
    (folder / "note.txt").write_text("Lamps were lit in the evening.", encoding="utf-8")
    ingest([], "empty", data=folder / "data", texts=[str(folder / "note.txt")], no_vectors=True)
    return folder / "data"


@pytest.fixture(scope="module")
def linker(data: Path) -> Iterator[Linker]:
    with open_library(_settings(data)) as library, library.open("lamps") as graph:
        yield linker_of(graph.lexicon)


@pytest.fixture
def app(data: Path) -> App:
    return compose(_settings(data)).build(InMemorySaver())


def _settings(data: Path) -> Settings:
    return Settings(data=data, embedder="none", _env_file=None)


async def _ask(app: App, question: str, graph: str = "lamps", thread: str | None = None) -> Answer:
    events = [event async for event in stream_turn(app, question, graph=graph, thread=thread)]
    answer: Answer = events[-1][1]
    assert "".join(text for kind, text in events if kind == "token") == answer["answer"]
    return answer


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["ask"])
def test_intent_of_a_turn(case: dict[str, str], linker: Linker) -> None:
    assert orientation_intent(case["ask"], linker) == case["intent"]


@pytest.mark.parametrize("question", ["How many are there?", "What is it about?", "Can you sum it up?"])
def test_after_other_turns_words_may_refer_to_these(question: str, linker: Linker) -> None:
    assert orientation_intent(question, linker)
    assert not orientation_intent(question, linker, is_follow_up=True)


@pytest.mark.parametrize("question", ["What is in this graph?", "Who are you?", "thanks!", "What can I ask?"])
def test_what_refers_to_nothing_is_the_same_after_other_turns(question: str, linker: Linker) -> None:
    assert orientation_intent(question, linker, is_follow_up=True) == orientation_intent(question, linker) != ""


def test_long_turns_are_bounded_and_understood(linker: Linker) -> None:
    ramble = "I was told by a colleague to have a look at it before our meeting. " * 55
    assert orientation_intent(f"{ramble} What is this all about?", linker) == "contents"
    assert orientation_intent("what is this about? " * 200, linker) == "contents"
    assert orientation_intent("what " * 800, linker) == ""
    assert orientation_intent(", ".join(f"word{n} what" for n in range(300)), linker) == ""


def test_no_question_of_the_fixtures_is_taken_for_one() -> None:
    files = [*ROOT.glob("examples/bmw/*.jsonl"), *ROOT.glob("tests/fixtures/everyday/*.jsonl")]
    asked = {str(json.loads(line)["question"]) for file in files for line in file.read_text().splitlines()}
    for file in ROOT.glob("tests/fixtures/questions/*.yaml"):
        asked.update(re.findall(r'\bask: "([^"]+)"', file.read_text()))
    assert len(asked) > 500
    nearest = {question: match for question in asked if (match := nearest_intent(question)) is not None}
    assert not [
        question
        for question, match in nearest.items()
        if match.likeness >= threshold(is_loose=match.intent not in intents("about_graph"))
    ]


def test_every_intent_that_needs_a_lead_has_one() -> None:
    assert all(lead(intent) for intent in intents("small_talk") | intents("no_answer"))


async def test_an_overview_says_what_is_here_and_cites_it(app: App) -> None:
    answer = await _ask(app, "So what is this all about?")
    assert (answer["status"], answer["values"], answer["unsupported"]) == ("answered", [], 0)
    for part in ("lamps", "makers", "4 lamps", "3 makers", "1932 to 1951", "Little Sun (60)", "Anna Glow (1932)"):
        assert part in answer["answer"]
    assert answer["answer"].count("?”") == 3
    cited = [c for c in answer["citations"] if c["triples"]]
    assert ["http://x.org/l3", "http://x.org/price", "60"] in [t for c in cited for t in c["triples"]]


async def test_the_questions_that_an_overview_offers_are_answered(app: App) -> None:
    answer = await _ask(app, "What can I ask?")
    offered = re.findall(r"“([^”]+)”", answer["answer"])
    assert len(offered) == 3
    for question in offered:
        record = await _ask(app, question)
        assert (record["status"], bool(record["values"])) == ("answered", True)


async def test_what_is_interesting_comes_first(app: App) -> None:
    answer = await _ask(app, "Surprise me!")
    assert answer["answer"].startswith("The most expensive lamp is Little Sun (60) [1].")


@pytest.mark.parametrize("question", ["Who built you?", "What can you do?"])
async def test_it_says_what_it_is(question: str, app: App) -> None:
    answer = await _ask(app, question)
    assert (answer["status"], answer["values"]) == ("answered", [])
    assert "cite" in answer["answer"]
    assert "lamps" in answer["answer"]


async def test_a_bare_count_gives_the_kinds_with_their_numbers(app: App) -> None:
    answer = await _ask(app, "How many are there?")
    assert (answer["status"], answer["values"]) == ("answered", [])
    assert "4 lamps and 3 makers" in answer["answer"]


@pytest.mark.parametrize("question", ["Will it rain tomorrow?", "sdkfjh qwpoei"])
async def test_what_is_not_for_a_graph_is_said_to_be_so(question: str, app: App) -> None:
    answer = await _ask(app, question)
    assert (answer["status"], answer["values"], answer["options"]) == ("not_in_graph", [], [])
    assert "lamps" in answer["answer"]


@pytest.mark.parametrize("question", ["Hi there!", "thank you so much", "bye", "How are you?", "You are great!", "ok"])
async def test_small_talk_is_answered_in_a_line(question: str, app: App) -> None:
    answer = await _ask(app, question)
    assert (answer["status"], answer["values"], answer["citations"]) == ("answered", [], [])
    assert 0 < len(answer["answer"]) < 100


@pytest.mark.parametrize(
    ("question", "begins", "has"),
    [
        ("Worum geht es hier?", "In diesem Graphen stehen 4 Lampen", "33 Aussagen"),
        ("Wer bist du?", "Ich bin Nacre", "33 Aussagen"),
        ("danke!", "Gern geschehen.", ""),
        ("De quoi ça parle ?", "Ce graphe contient 4 Lampes", "33 énoncés"),
    ],
)
async def test_german_and_french_are_answered_in_kind(question: str, begins: str, has: str, app: App) -> None:
    answer = await _ask(app, question)
    assert (answer["status"], answer["values"], answer["unsupported"]) == ("answered", [], 0)
    assert answer["answer"].startswith(begins)
    assert has in answer["answer"]


async def test_such_turns_leave_the_topic_of_a_conversation(app: App) -> None:
    await _ask(app, "What is the weight of Big Dipper?", thread="t")
    for aside in ("thanks!", "what is this graph about?", "who are you?"):
        await _ask(app, aside, thread="t")
    answer = await _ask(app, "And what is its price?", thread="t")
    assert answer["values"] == [30]


@pytest.mark.parametrize("graph", ["empty", *ODD])
async def test_odd_graphs_have_an_overview(graph: str, app: App) -> None:
    for question in ("What is this about?", "What is interesting?", "Who are you?", "hi", "how many are there?"):
        answer = await _ask(app, question, graph)
        assert (answer["status"], answer["values"], answer["unsupported"]) == ("answered", [], 0)
        assert question == "hi" or len(answer["answer"].split()) >= 15
        assert len(answer["answer"]) < 3000
        assert "<" not in answer["answer"]
        assert not re.search(r"(?<!\\)\]\(javascript", answer["answer"])
        assert {int(n) for n in re.findall(r"(?<!\\)\[(\d+)\]", answer["answer"])} <= {
            c["n"] for c in answer["citations"]
        }


async def test_a_graph_without_a_prepared_overview_is_asked_in_bounds(app: App, data: Path) -> None:
    home = data / "lamps"
    file = versions.version_folder(home, versions.current_version(home) or "") / versions.OVERVIEW
    before = await _ask(app, "What is this about?")
    text = file.read_text()
    try:
        file.write_text("{")
        again = await _ask(compose(_settings(data)).build(InMemorySaver()), "What is this about?")
    finally:
        file.write_text(text)
    assert again["answer"].partition("You can ask")[0] == before["answer"].partition("You can ask")[0]
