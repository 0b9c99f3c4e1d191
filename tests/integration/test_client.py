"""`nacre.Nacre` over a data folder: in threads and event loops. In scripts: tests/e2e/test_client_scripts.py."""

import asyncio
import gc
import threading
from pathlib import Path

import pytest
from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.outputs import ChatGeneration, ChatResult

import nacre
from ingestion.pipeline import ingest
from nacre import Nacre, NacreError

GRAPH = Path(__file__).parents[1] / "fixtures/graphs/reading_room.ttl"
QUESTION, FOLLOW = "How many pages does Granite have?", "And The Salt Road?"


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("python")
    ingest([str(GRAPH)], "room", data=folder, no_vectors=True)
    return folder


@pytest.fixture
def graph(data, monkeypatch):
    monkeypatch.setenv("NACRE_EMBEDDER", "none")
    with Nacre(data) as opened:
        yield opened.graph("room")


def test_an_answer_has_parts(graph):
    reply = graph.ask(QUESTION)
    assert reply.values == [540]
    assert reply.status == "answered"
    assert reply.confidence > 0.5
    assert str(reply) == reply.text == reply.record["answer"]
    assert reply.cited.startswith(f"{reply.text}\n[1] ")
    assert [citation["n"] for citation in reply.citations] == [1]
    assert (reply.table, reply.unit, reply.options) == (None, None, [])
    table = graph.ask("What are the pages and the genre of each book?").table
    assert len(table["rows"]) == 6


def test_a_stream_joins_to_the_answer(graph):
    with graph.stream(QUESTION) as stream:
        with pytest.raises(RuntimeError, match="not complete"):
            _ = stream.reply
        tokens = list(stream)
    assert len(tokens) > 1
    assert "".join(tokens) == stream.reply.text
    left = graph.stream(QUESTION)
    next(left)
    left.close()
    assert list(left) == []


def test_a_conversation_goes_on_and_others_do_not_hear_it(graph):
    chat = graph.chat()
    assert chat.ask(QUESTION).values == [540]
    stream = chat.stream(FOLLOW)
    list(stream)
    assert stream.reply.values == [312]
    assert graph.ask(FOLLOW).values != [312]
    assert graph.chat().ask(FOLLOW).values != [312]


def test_a_conversation_is_forgotten_with_its_object(data, monkeypatch):
    monkeypatch.setenv("NACRE_EMBEDDER", "none")
    with Nacre(data) as opened:
        ask = opened.graph().chat().ask
        chat = opened.graph().chat("named")
        assert (ask(QUESTION).values, ask(FOLLOW).values, chat.ask(QUESTION).values) == ([540], [312], [540])
        remembered = opened.source._service.app.checkpointer.storage  # type: ignore[union-attr]
        assert len(remembered) == 2
        del ask, chat
        gc.collect()
        # the loop has its turn
        assert opened.graphs() == ["room"]
        assert list(remembered) == ["local:named"]


def test_a_conversation_that_is_kept_outlives_the_program(data, monkeypatch):
    monkeypatch.setenv("NACRE_EMBEDDER", "none")
    with Nacre(data, keep=True) as first:
        first.graph().chat("kept").ask(QUESTION)
    with Nacre(data, keep=True) as second:
        assert second.graph().chat("kept").ask(FOLLOW).values == [312]


def test_event_loops_and_threads_share_one(graph, data):
    async def several():
        replies = await asyncio.gather(*(graph.aask(QUESTION) for _ in range(3)))
        chat = graph.chat()
        await chat.aask(QUESTION)
        async with chat.astream(FOLLOW) as stream:
            tokens = [token async for token in stream]
        assert "".join(tokens) == stream.reply.text
        left = graph.astream(QUESTION)
        await anext(left)
        await left.aclose()
        with pytest.raises(NacreError):
            await graph.aask("")
        return [reply.values for reply in replies], stream.reply.values

    for _ in range(2):
        assert asyncio.run(several()) == ([[540]] * 3, [312])
    found = []
    threads = [threading.Thread(target=lambda: found.append(graph.ask(QUESTION).values)) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert found == [[540]] * 4


def test_what_cannot_be_asked_raises_one_family_of_errors(data, graph, tmp_path):
    for asking in (lambda: graph.ask(""), lambda: list(graph.stream("x" * 5000)), lambda: graph.ask("x", mind="model")):
        with pytest.raises(NacreError):
            asking()
    with Nacre(data) as opened, pytest.raises(NacreError, match="no-such"):
        opened.graph("no-such").ask(QUESTION)
    with Nacre(tmp_path / "empty") as opened:
        assert opened.graphs() == []
        with pytest.raises(NacreError, match="nacre ingest"):
            opened.graph().ask(QUESTION)
    with Nacre("http://ann:secret@127.0.0.1:9", key="k") as opened, pytest.raises(NacreError) as gone:
        opened.graphs()
    assert "secret" not in str(gone.value)


def test_what_was_closed_opens_again(data, monkeypatch):
    monkeypatch.setenv("NACRE_EMBEDDER", "none")
    opened = Nacre(data)
    assert opened.graphs() == ["room"]
    opened.close()
    opened.close()
    assert opened.graph().ask(QUESTION).values == [540]
    opened.close()


class Scripted(BaseChatModel):
    """Calls its only tool with what it is asked, and then repeats what the tool says."""

    tool: str = ""

    @property
    def _llm_type(self):
        return "scripted"

    def bind_tools(self, tools, **kwargs):
        return Scripted(tool=tools[0].name)

    def _generate(self, messages, stop=None, run_manager=None, **kwargs):
        last = messages[-1]
        asks = last.type == "human"
        call = [{"name": self.tool, "args": {"question": last.text}, "id": "1"}]
        said = AIMessage("", tool_calls=call) if asks else AIMessage(last.text)
        return ChatResult(generations=[ChatGeneration(message=said)])


def test_an_agent_asks_the_graph_as_its_tool(graph):
    tool = graph.as_tool()
    assert tool.name == "ask_room"
    agent = create_agent(Scripted(), [tool])
    messages = agent.invoke({"messages": [HumanMessage(QUESTION)]})["messages"]
    assert "540" in messages[-1].text
    assert "status: answered, probability 0." in messages[-1].text
    told = next(message for message in messages if message.type == "tool")
    assert told.artifact["values"] == [540]
    messages = asyncio.run(agent.ainvoke({"messages": [HumanMessage(QUESTION)]}))["messages"]
    assert "540" in messages[-1].text
    # what can't be asked is for the agent to read
    assert "question is empty" in tool.invoke({"question": ""})


def test_names_of_the_package_are_few_and_there():
    assert dir(nacre) == sorted(nacre.__all__)
    assert all(getattr(nacre, name).__name__ == name for name in nacre.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = nacre.nonsense
