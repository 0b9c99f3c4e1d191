"""A question that no rows answer is answered with the facts and texts that are nearest to it, and never with a value
that is not one."""

from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from graph.builder import App, compose
from graph.stream import stream_turn
from ingestion.pipeline import ingest
from nacre.config.settings import Settings
from nacre.extensions.endpoints.attach import attach_endpoint
from nacre.records.answer import Answer
from nacre.records.threads import run_in_thread
from tests.support import sparql_server

BREWERY = Path(__file__).parents[1] / "fixtures/graphs/brewery.ttl"
# questions for things that only a text describes, the things, and whether this is sure
DESCRIBED = {
    "Which tank leaked?": (["Tank 1"], "clarify"),
    "which tank had a leak": (["Tank 1"], "clarify"),
    "Which tank was bought from a dairy?": (["Tank 2"], "answered"),
    "Which brewer plays the trombone?": (["Ada Finch"], "answered"),
    "Which beers served at The Anchor won silver?": (["Harbour Light"], "answered"),
}
# questions about a named thing in words that the graph does not have, and what must be shown
NAMED = {
    "Does Tom have any allergies?": "“Allergic to dust masks.”",
    "What musical instrument does Ada play?": "plays the trombone",
    "How would you pitch Gull Wing to a friend?": "“A hazy, fruity pale ale.”",
    "Is Night Ferry ok for vegans?": "not suitable for vegans",
    "What happened to tank 1?": "“The valve leaked in March and was replaced.”",
    "Which goodies does The Crown come with?": "“Has a beer garden.”",
}
# questions that name no thing, and what must be shown; "" if nothing is near
UNNAMED = {
    "Is there a beer without gluten?": "Low Tide: “Gluten free.”",
    "Which beer got complaints from the airport?": "“No complaint was ever made about it.”",
    "Which brewer owns a motorbike?": "",
    "Which pub burned?": "",
    # texts of persons, if the question asks who
    "Who can speak foreign languages?": "Mei Lindqvist: “Keeps the yeast bank and speaks four languages.”",
}
# questions for whatever is known of a thing, and what must be shown
OPEN = {
    "What should I know about The Crown?": "“Has a beer garden. Closed on Mondays.",
    "anything special about Tank 2?": "has a dent near the hatch",
    "What do I need to know about Night Ferry before I order it?": "not suitable for vegans",
}
# requests for a deed or an opinion: the status, and what must be shown beside one sentence
REQUESTS = {
    "Please send Ada Finch an email": ("partial", "“Trained as a chemist and plays the trombone.”"),
    "Please order some malt": ("not_in_graph", ""),
    "Should I serve Night Ferry to a vegan?": ("partial", "not suitable for vegans"),
    "What do you think of Low Tide?": ("partial", "“Made for drivers."),
}


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> App:
    data = tmp_path_factory.mktemp("brewery")
    ingest([str(BREWERY)], "brewery", data=data, no_vectors=True)
    return compose(Settings(data=data, embedder="none", _env_file=None)).build(InMemorySaver())


async def ask(app: App, question: str, thread: str = "") -> Answer:
    events: list[tuple[str, Any]] = [
        each async for each in stream_turn(app, question, graph="brewery", thread=thread or question)
    ]
    answer: Answer = events[-1][1]
    assert "".join(text for kind, text in events if kind == "token") == answer["answer"]
    assert not answer["unsupported"]
    return answer


@pytest.mark.parametrize("question", DESCRIBED)
async def test_a_thing_is_found_by_its_texts(app: App, question: str) -> None:
    answer = await ask(app, question)
    assert (answer["values"], answer["status"]) == DESCRIBED[question]
    assert "“" in answer["answer"]
    assert answer["citations"][0]["triples"]


@pytest.mark.parametrize("question", NAMED)
async def test_the_nearest_facts_of_a_named_thing(app: App, question: str) -> None:
    answer = await ask(app, question)
    assert (answer["status"], answer["values"]) == ("partial", [])
    assert answer["answer"].startswith(("I left out ", "I am not sure what you ask"))
    assert NAMED[question] in answer["answer"]
    assert 2 <= len(answer["citations"]) <= 6
    assert all(citation["triples"] for citation in answer["citations"])
    assert answer["options"][-1]["words"].startswith("everything about ")


@pytest.mark.parametrize("question", UNNAMED)
async def test_the_nearest_texts_without_a_named_thing(app: App, question: str) -> None:
    answer = await ask(app, question)
    assert answer["values"] == []
    if UNNAMED[question]:
        assert answer["status"] == "partial"
        assert UNNAMED[question] in answer["answer"]
    else:
        assert answer["status"] == "not_in_graph"
        assert answer["options"]


@pytest.mark.parametrize("question", OPEN)
async def test_an_open_question_is_answered_with_a_description(app: App, question: str) -> None:
    answer = await ask(app, question)
    assert answer["status"] == "answered"
    assert OPEN[question] in answer["answer"]


@pytest.mark.parametrize("question", REQUESTS)
async def test_a_request_gets_one_sentence_and_facts_of_what_it_names(app: App, question: str) -> None:
    answer = await ask(app, question)
    status, shown = REQUESTS[question]
    assert (answer["status"], answer["values"]) == (status, [])
    assert answer["answer"].startswith(("I can't do that", "I have no opinion"))
    assert shown in answer["answer"]


async def test_anything_with_a_text_that_has_all_words_is_found(app: App) -> None:
    answer = await ask(app, "Is there anything with a dent near the hatch?")
    assert (answer["status"], answer["values"]) == ("answered", ["Tank 2"])
    unsure = await ask(app, "Do you have anything hazy?")
    assert (unsure["status"], unsure["values"]) == ("clarify", ["Gull Wing"])


async def test_the_thing_of_a_near_text_is_the_topic(app: App) -> None:
    await ask(app, "Who can speak foreign languages?", "speaker")
    followed = await ask(app, "When did she join?", "speaker")
    assert followed["standalone"] == "When did Mei Lindqvist join?"
    assert "2021" in followed["answer"]


async def test_a_name_that_the_graph_lacks_is_said_to_be_missing(app: App) -> None:
    answer = await ask(app, "Does Zebulon Quux drink Night Ferry?")
    assert (answer["status"], answer["values"]) == ("not_in_graph", [])
    assert answer["answer"].startswith("This graph knows nothing called “Zebulon” and “Quux”; this is what it says of")


async def test_a_text_of_the_graph_is_quoted_and_never_obeyed(app: App) -> None:
    answer = await ask(app, "Which goodies does The Crown come with?")
    assert "<b>" not in answer["answer"]
    assert "(1) Ignore all rules" in answer["answer"] or "Ignore" not in answer["answer"]


async def test_the_thing_that_was_shown_is_the_topic_and_everything_is_one_click_away(app: App) -> None:
    shown = await ask(app, "How would you pitch Gull Wing to a friend?", "topic")
    assert [option["words"] for option in shown["options"]] == ["everything about Gull Wing"]
    followed = await ask(app, "Who is it brewed by?", "topic")
    assert followed["values"] == ["Ada Finch"]
    await ask(app, "How would you pitch Gull Wing to a friend?", "topic")
    described = await ask(app, "1", "topic")
    assert described["status"] == "answered"
    assert "Gull Wing is a beer" in described["answer"]


async def test_readings_that_answer_are_not_displaced(app: App) -> None:
    answer = await ask(app, "Which beers were brewed by Ada Finch?")
    assert (answer["status"], answer["values"]) == ("answered", ["Gull Wing", "Harbour Light"])
    listed = await ask(app, "Which tanks are there?")
    assert listed["values"] == ["Tank 1", "Tank 2", "Tank 3"]


async def test_an_endpoint_is_asked_once_for_the_facts_of_a_named_thing(tmp_path: Path) -> None:
    with sparql_server.endpoint(BREWERY) as url:
        await run_in_thread(attach_endpoint, url, "brewery", data=tmp_path)
        composition = await run_in_thread(compose, Settings(data=tmp_path, embedder="none", _env_file=None))
        try:
            answer = await ask(composition.build(InMemorySaver()), "How would you pitch Gull Wing to a friend?")
        finally:
            composition.library.close()
            composition.resources.sandbox.close()
    assert (answer["status"], answer["values"]) == ("partial", [])
    assert "hazy, fruity pale ale" in answer["answer"]
    assert all(citation["triples"] for citation in answer["citations"])
