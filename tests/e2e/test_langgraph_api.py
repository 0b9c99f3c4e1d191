"""LangGraph's API of `nacre serve`, as its Python client sees it: threads, runs, streams, forks, keys."""

import threading
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any

import httpx
import pytest
from langgraph.pregel.remote import RemoteGraph
from langgraph_sdk import get_client, get_sync_client
from langgraph_sdk.errors import ConflictError, NotFoundError, UnprocessableEntityError

from tests.e2e.conftest import GRAPHS, command, serving
from tests.e2e.test_leaving import Silent, waited
from tests.support.model_servers import openai_server

QUESTION = "How many pages does Granite have?"
ALL_MODES = ["values", "updates", "messages-tuple", "messages", "custom"]
# whose readings are as likely: the question is answered, and another reading is offered
TWO_WAYS = """
@prefix : <http://example.org/studios/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:lund a :Town ; rdfs:label "Lund" . :visby a :Town ; rdfs:label "Visby" .
:mira a :Potter ; rdfs:label "Mira Holt" ; :bornIn :lund ; :diedIn :visby .
:otto a :Potter ; rdfs:label "Otto Brand" ; :bornIn :visby ; :diedIn :lund .
:lena a :Potter ; rdfs:label "Lena Fox" ; :bornIn :lund ; :diedIn :lund .
"""
# no vectors: servers start sooner
PLAIN = {"NACRE_EMBEDDER": "none"}
UNCLEAR = "Where is Mira Holt from?"


def make_graphs(folder):
    """A data folder with three graphs."""
    nacre = command(folder / "data", folder)
    (folder / "studios.ttl").write_text(TWO_WAYS)
    files = {"reading-room": GRAPHS / "reading_room.ttl", "kitchen": GRAPHS / "kitchen.ttl", "studios": None}
    for name, file in files.items():
        done = nacre("ingest", file or folder / "studios.ttl", "--graph", name, "--no-vectors")
        assert done.returncode == 0, done.stderr
    return nacre


@pytest.fixture(scope="module")
def graphs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("langgraph")
    make_graphs(folder)
    return folder


@pytest.fixture(scope="module")
def address(graphs):
    with serving(graphs / "data", graphs, **PLAIN) as (address, _):
        yield f"{address}/langgraph"


@pytest.fixture
def client(address):
    with connected(address) as client:
        yield client


def connected(url, key=None) -> Any:
    """A client; its methods return unions that no test can index."""
    return get_sync_client(url=url, api_key=key)


def new_thread(client):
    return client.threads.create()["thread_id"]


def say(client, thread, text, assistant="reading-room", **more):
    """Ask as a chat page does: the streamed text and the messages at the end."""
    message = {"id": str(uuid.uuid4()), "type": "human", "content": text}
    pieces, values = "", {}
    given = {"messages": [message]} if text else None
    for part in client.runs.stream(thread, assistant, input=given, stream_mode=["values", "messages-tuple"], **more):
        assert part.event != "error", part.data
        if part.event == "messages":
            pieces += part.data[0]["content"]
        elif part.event == "values":
            values = part.data
    assert pieces == values["messages"][-1]["content"]
    return values["messages"]


def contents(messages):
    return [each["content"] for each in messages]


def first_seen(history, message):
    """The state in which a message is first there, as chat pages look for it."""
    return [state for state in history if message["id"] in [m["id"] for m in state["values"].get("messages", [])]][-1]


def test_each_graph_is_an_assistant(client):
    assistants = client.assistants.search()
    assert [each["graph_id"] for each in assistants] == ["kitchen", "reading-room", "studios"]
    found = client.assistants.search(graph_id="kitchen")[0]["assistant_id"]
    assert client.assistants.get(found)["name"] == client.assistants.get("kitchen")["name"] == "kitchen"
    drawn = client.assistants.get_graph(found)
    assert {"rewriter", "sql", "fuser"} <= {node["id"] for node in drawn["nodes"]}
    schemas = client.assistants.get_schemas(found)
    assert {"question", "messages"} <= set(schemas["input_schema"]["properties"])
    assert "branches" in schemas["context_schema"]["properties"]
    with pytest.raises(NotFoundError, match="kitchen, reading-room"):
        client.assistants.get("cellar")


def test_every_mode_tells_the_same_turn(client):
    thread = new_thread(client)
    parts = list(client.runs.stream(thread, "reading-room", input={"question": QUESTION}, stream_mode=ALL_MODES))
    by: dict[str, Any] = {}
    for part in parts:
        by.setdefault(part.event, []).append(part.data)
    assert parts[0].event == "metadata"
    assert parts[-1].data == {"run_id": by["metadata"][0]["run_id"], "status": "success"}
    answer = by["values"][-1]["answer"]
    assert answer["values"] == [540]
    assert [m["type"] for m in by["values"][0]["messages"]] == ["human"]
    said = answer["answer"]
    assert "".join(each["text"] for each in by["custom"]) == said
    assert "".join(chunk["content"] for chunk, _ in by["messages"]) == said
    assert len({chunk["id"] for chunk, _ in by["messages"]}) == 1
    assert {about["langgraph_node"] for _, about in by["messages"]} == {"fuser"}
    assert by["messages/complete"][0][0]["content"] == said
    assert all(said.startswith(partial[0]["content"]) for partial in by["messages/partial"])
    nodes = [next(iter(update)) for update in by["updates"]]
    assert nodes[:3] == ["rewriter", "understand", "tool_selector"]
    assert nodes[-1] == "fuser"
    assert by["updates"][-1]["fuser"]["answer"] == answer
    state = client.threads.get_state(thread)
    assert contents(state["values"]["messages"]) == contents(by["values"][-1]["messages"])
    assert state["values"]["messages"][-1]["id"] == by["messages"][0][0]["id"]
    assert state["values"]["messages"][-1]["additional_kwargs"]["citations"][0]["n"] == 1


def test_a_client_that_does_not_stream_gets_content(client):
    thread = new_thread(client)
    ended = client.runs.wait(thread, "reading-room", input={"messages": [{"role": "user", "content": QUESTION}]})
    assert "540" in ended["messages"][-1]["content"]
    assert ended["answer"]["values"] == [540]
    followed = client.runs.wait(thread, "reading-room", input={"question": "And The Salt Road?"})
    assert followed["answer"]["values"] == [312]
    alone = client.runs.wait(None, "reading-room", input={"question": "How many authors are there?"})
    assert alone["answer"]["values"] == [3]
    told = [
        {"role": "user", "content": QUESTION},
        {"role": "assistant", "content": "540 pages."},
        {"role": "user", "content": [{"type": "text", "text": "And The Salt Road?"}]},
    ]
    ended = client.runs.wait(None, "reading-room", input={"messages": told})
    assert (ended["answer"]["values"], len(ended["messages"])) == ([312], 4)
    invoked = RemoteGraph("reading-room", sync_client=client).invoke({"messages": [("user", QUESTION)]})
    assert "540" in invoked["messages"][-1]["content"]


def test_a_thread_is_a_conversation_of_every_interface(client, address):
    thread = new_thread(client)
    say(client, thread, QUESTION)
    api = address.removesuffix("/langgraph")
    read = httpx.get(f"{api}/api/threads/{thread}").json()
    assert [turn["record"]["values"] for turn in read["turns"]] == [[540]]
    asked = {"question": "And The Salt Road?", "thread": thread}
    assert httpx.post(f"{api}/api/ask", json=asked, headers={"Accept": "application/json"}).json()["values"] == [312]
    messages = client.threads.get_state(thread)["values"]["messages"]
    assert [each["type"] for each in messages] == ["human", "ai"] * 2
    assert "312" in messages[-1]["content"]
    assert [run["status"] for run in client.runs.list(thread)] == ["success", "success"]
    httpx.delete(f"{api}/api/threads/{thread}").raise_for_status()
    with pytest.raises(NotFoundError):
        client.threads.get(thread)


def test_threads_are_found_copied_and_deleted(client):
    mine = client.threads.create(metadata={"topic": "books", "level": 1}, graph_id="reading-room")["thread_id"]
    named = f"named-{uuid.uuid4()}"
    assert client.threads.create(thread_id=named, if_exists="raise")["thread_id"] == named
    with pytest.raises(ConflictError):
        client.threads.create(thread_id=named, if_exists="raise")
    assert client.threads.create(thread_id=named, if_exists="do_nothing")["thread_id"] == named
    assert [each["thread_id"] for each in client.threads.search(metadata={"topic": "books"})] == [mine]
    assert client.threads.search(metadata={"topic": "books", "level": True}) == []
    client.threads.update(mine, metadata={"topic": "paper"})
    say(client, mine, QUESTION)
    found = client.threads.search(metadata={"graph_id": "reading-room", "topic": "paper", "level": 1})
    assert [each["thread_id"] for each in found] == [mine]
    assert "540" in found[0]["values"]["messages"][-1]["content"]
    assert client.threads.search(ids=[mine], select=["thread_id"]) == [{"thread_id": mine}]
    copied = client.threads.copy(mine)["thread_id"]
    assert copied != mine
    client.threads.delete(mine)
    assert "312" in say(client, copied, "And The Salt Road?")[-1]["content"]
    history = client.threads.get_history(copied, limit=100)
    assert [len(state["values"].get("messages", [])) for state in history] == [4, 3, 2, 1, 0]
    with pytest.raises(httpx.HTTPStatusError, match="404"):
        client.runs.wait(mine, "reading-room", input={"question": QUESTION})
    made = client.runs.wait(mine, "reading-room", input={"question": QUESTION}, if_not_exists="create")
    assert made["answer"]["values"] == [540]


def test_a_thread_stays_with_its_graph(client):
    thread = new_thread(client)
    say(client, thread, QUESTION)
    with pytest.raises(httpx.HTTPStatusError, match="409"):
        client.runs.wait(thread, "kitchen", input={"question": "How many dishes are there?"})
    assert "312" in say(client, thread, "And The Salt Road?", "nacre")[-1]["content"]


@pytest.mark.parametrize(
    ("request_body", "why"),
    [
        ({"input": {"question": " "}}, "empty"),
        ({"input": {"question": "x" * 4001}}, "4000"),
        ({"input": {"messages": [{"type": "ai", "content": "x"}]}}, "no question"),
        ({"input": {"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}}, "Only text"),
        ({"input": None}, "nothing to run"),
        ({"input": {"question": QUESTION}, "context": {"branch": "sql"}}, "no option 'branch'"),
        ({"input": {"question": QUESTION}, "webhook": "http://127.0.0.1:1"}, "no webhook"),
        ({"input": {"question": QUESTION}, "interrupt_before": ["sql"]}, "no interrupt_before"),
        ({"command": {"resume": "1"}}, "asks nothing back"),
        ({"command": {"goto": "fuser"}}, "no command.goto"),
        ({"input": {"question": QUESTION}, "stream_mode": ["values", "events"]}, "Choose some of: values, updates"),
    ],
)
def test_what_can_not_be_run_is_refused_before_it_starts(client, address, request_body, why):
    thread = new_thread(client)
    sent = {"assistant_id": "reading-room", **request_body}
    for ending in ("stream", "wait"):
        refused = httpx.post(f"{address}/threads/{thread}/runs/{ending}", json=sent)
        assert refused.status_code == 422
        assert why in refused.json()["detail"]
    with pytest.raises(UnprocessableEntityError):
        list(client.runs.stream(thread, "reading-room", input={"question": QUESTION}, stream_mode="debug"))


def test_forks_and_regenerated_answers_after_a_restart(graphs, client):
    """Regenerate, edit, branches, and going on from an older branch, in a server that has not run any of it."""
    thread = new_thread(client)
    say(client, thread, QUESTION)
    before = say(client, thread, "And The Salt Road?")
    with (
        serving(graphs / "data", graphs, **PLAIN) as (address, _),
        connected(f"{address}/langgraph") as client,
    ):
        history = client.threads.get_history(thread, limit=1000)
        assert contents(history[0]["values"]["messages"]) == contents(before)
        # as pages do it: from the parent of the state in which a message is first seen
        again = say(client, thread, None, checkpoint=first_seen(history, before[-1])["parent_checkpoint"])
        assert contents(again) == contents(before)
        assert again[-1]["id"] != before[-1]["id"]
        assert [m["id"] for m in again[:-1]] == [m["id"] for m in before[:-1]]
        edited = say(
            client, thread, "Which authors are there?", checkpoint=first_seen(history, before[0])["parent_checkpoint"]
        )
        assert contents(edited)[0] == "Which authors are there?"
        assert len(edited) == 2
        read = httpx.get(f"{address}/api/threads/{thread}").json()["turns"]
        assert [turn["record"]["question"] for turn in read] == ["Which authors are there?"]
        history = client.threads.get_history(thread, limit=1000)
        answers = [state for state in history if not state["next"]]
        assert len(answers) == 4
        known = {state["checkpoint"]["checkpoint_id"] for state in history}
        parents = [state["parent_checkpoint"]["checkpoint_id"] for state in history if state["parent_checkpoint"]]
        assert set(parents) <= known
        # two answers to one question have one parent
        assert len(set(parents)) == len(parents) - 2
        old = next(state for state in answers if state["values"]["messages"][-1]["id"] == before[-1]["id"])
        on = say(client, thread, "Which of these two is longer?", checkpoint=old["checkpoint"])
        assert contents(on)[:4] == contents(before)
        read = httpx.get(f"{address}/api/threads/{thread}").json()["turns"]
        assert [turn["record"]["question"] for turn in read] == contents(on)[::2]
        assert [turn["record"]["turn"] for turn in read] == [1, 2, 3]
        client.threads.update_state(thread, None, checkpoint=old["checkpoint"])
        assert contents(client.threads.get_state(thread)["values"]["messages"]) == contents(before)
        assert len(httpx.get(f"{address}/api/threads/{thread}").json()["turns"]) == 2
        with pytest.raises(UnprocessableEntityError, match="Only turns change"):
            client.threads.update_state(thread, {"messages": []})
        with pytest.raises(httpx.HTTPStatusError, match="404"):
            client.runs.wait(thread, "reading-room", input={"question": QUESTION}, checkpoint_id=str(uuid.uuid4()))


def test_a_clarification_interrupts_and_is_resumed(client):
    thread = new_thread(client)
    parts = list(client.runs.stream(thread, "studios", input={"question": UNCLEAR}, stream_mode=["updates", "values"]))
    (asked,) = next(part.data for part in parts if "__interrupt__" in part.data and part.event == "updates")[
        "__interrupt__"
    ]
    assert asked["value"]["options"][0]["n"] == 1
    assert parts[-2].data["__interrupt__"] == [asked]
    assert client.threads.get(thread)["status"] == "interrupted"
    assert [each["thread_id"] for each in client.threads.search(status="interrupted")] == [thread]
    state = client.threads.get_state(thread)
    assert state["next"]
    assert state["tasks"][-1]["interrupts"] == [asked]
    chosen = client.runs.wait(thread, "studios", command={"resume": {asked["id"]: 1}})["answer"]
    assert chosen["standalone"] == asked["value"]["options"][0]["words"]
    assert chosen["values"] == ["Visby"]
    assert client.threads.get_state(thread)["next"] == []
    assert client.threads.search(status="interrupted") == []
    # a fork from the interruption takes the same choice in words
    forked = client.runs.wait(
        thread, "studios", command={"resume": asked["value"]["options"][0]["words"]}, checkpoint=state["checkpoint"]
    )
    assert (forked["answer"]["turn"], forked["answer"]["values"]) == (2, ["Visby"])


def test_a_resumed_turn_repeats_no_model_call(graphs, tmp_path):
    """The model reads the question once; what the person chose is answered without it."""
    with openai_server() as model:
        settings = {"NACRE_MODEL": "openai:coder", "NACRE_OPENAI_BASE_URL": model.url, "NACRE_BUSY_RETRIES": "0"}
        settings |= PLAIN
        with (
            serving(graphs / "data", tmp_path, **settings) as (address, _),
            connected(f"{address}/langgraph") as client,
        ):
            thread = new_thread(client)
            asked = client.runs.wait(thread, "studios", input={"question": UNCLEAR})
            calls = len(model.asked)
            assert calls
            assert asked["__interrupt__"]
            chosen = client.runs.wait(thread, "studios", command={"resume": 1})["answer"]
            assert chosen["values"] == ["Visby"]
            assert chosen["llm_calls"] == 0
            assert len(model.asked) == calls


def test_a_background_run_is_joined_and_read_on(client):
    thread = new_thread(client)
    run = client.runs.create(thread, "reading-room", input={"question": QUESTION})
    assert client.runs.join(thread, run["run_id"])["answer"]["values"] == [540]
    assert client.runs.get(thread, run["run_id"])["status"] == "success"
    whole = list(client.runs.join_stream(thread, run["run_id"], stream_mode=["custom", "values"]))
    seen = whole[len(whole) // 2]
    rest = list(client.runs.join_stream(thread, run["run_id"], stream_mode=["custom", "values"], last_event_id=seen.id))
    assert rest == whole[len(whole) // 2 + 1 :]
    joined = f"{client.http.client.base_url}threads/{thread}/runs/{run['run_id']}/stream"
    # as the client in JavaScript names modes
    custom = httpx.get(joined, params={"stream_mode": '["custom"]'}).text
    assert "event: custom" in custom
    assert "event: values" not in custom
    for unknown in ('["debug"]', "tasks", "[1]", '["'):
        assert httpx.get(joined, params={"stream_mode": unknown}).status_code == 422
    with pytest.raises(httpx.HTTPStatusError, match="404"):
        client.runs.join(new_thread(client), run["run_id"])


async def test_the_async_client_streams_too(address):
    async with get_client(url=address) as client:
        parts = [p async for p in client.runs.stream(None, "reading-room", input={"question": QUESTION})]
    assert parts[-2].data["answer"]["values"] == [540]


def test_two_graphs_asked_at_once_never_mix(graphs, tmp_path):
    """Two keys and two graphs, at the same time and with threads of the same name."""
    nacre = command(graphs / "data", tmp_path)
    keys = {name: nacre("keys", "add", name, "--graphs", graph).stdout.strip() for name, graph in OWNERS.items()}
    try:
        with serving(graphs / "data", tmp_path, **PLAIN) as (address, _):
            clients = {name: connected(f"{address}/langgraph", key) for name, key in keys.items()}
            for name, client in clients.items():
                assert [each["graph_id"] for each in client.assistants.search()] == [OWNERS[name]]
                client.threads.create(thread_id="mine")
            questions = {"ann": (QUESTION, "540"), "bo": ("How many dishes are there?", "3")}

            def ask(name):
                return name, say(clients[name], "mine", questions[name][0], OWNERS[name])[-1]["content"]

            with ThreadPoolExecutor(8) as pool:
                told = list(pool.map(ask, ["ann", "bo"] * 8))
            assert all(questions[name][1] in content for name, content in told)
            for name, client in clients.items():
                messages = client.threads.get_state("mine")["values"]["messages"]
                assert contents(messages)[::2] == [questions[name][0]] * 8
            private = clients["ann"].threads.create()["thread_id"]
            run = clients["ann"].runs.create(private, "reading-room", input={"question": QUESTION})["run_id"]
            for refused in (
                lambda: clients["bo"].threads.get(private),
                lambda: clients["bo"].threads.get_state(private),
                lambda: clients["bo"].threads.get_history(private),
                lambda: clients["bo"].threads.copy(private),
                lambda: clients["bo"].threads.delete(private),
                lambda: clients["bo"].runs.join(private, run),
                lambda: clients["bo"].runs.cancel(private, run),
                lambda: clients["bo"].runs.wait(private, "kitchen", input={"question": QUESTION}),
                lambda: clients["bo"].assistants.get("reading-room"),
                lambda: clients["bo"].runs.wait(None, "reading-room", input={"question": QUESTION}),
            ):
                with pytest.raises((NotFoundError, httpx.HTTPStatusError), match=r"404|no such|not exist|no assistant"):
                    refused()
            assert clients["bo"].threads.search(ids=[private]) == []
            for path in ("ok", "info", "threads/mine", "assistants/kitchen"):
                assert httpx.get(f"{address}/langgraph/{path}").status_code == 401
            for client in clients.values():
                client.close()
    finally:
        (graphs / "data/keys.json").unlink()


OWNERS = {"ann": "reading-room", "bo": "kitchen"}


@pytest.fixture(scope="module")
def slow(graphs, tmp_path_factory):
    """A server whose model never answers, and the model."""
    folder = tmp_path_factory.mktemp("slow")
    settings = {
        "NACRE_MODEL": "openai:silent",
        "NACRE_MODEL_SIZE": "large",
        "NACRE_BUSY_RETRIES": "0",
        "NACRE_MAX_TURNS": "32",
        **PLAIN,
    }
    with closing(Silent()) as silent:
        settings["NACRE_OPENAI_BASE_URL"] = silent.url
        with serving(graphs / "data", folder, **settings) as (address, _):
            yield f"{address}/langgraph", silent


HARD = {"question": "Which of the books would a railway worker enjoy, and why?"}


def test_a_run_that_takes_minutes_shows_progress_and_is_cancelled(slow):
    address, silent = slow
    with connected(address) as client:
        thread = new_thread(client)
        gone = silent.gone
        parts: list[Any] = []

        def read():
            parts.extend(client.runs.stream(thread, "reading-room", input=HARD, stream_mode=["updates", "values"]))

        reader = threading.Thread(target=read)
        with connected(address) as other:
            reader.start()
            assert waited(lambda: other.runs.list(thread, status="running"))
            (run,) = other.runs.list(thread)
            assert other.threads.get(thread)["status"] == "busy"
            assert [each["thread_id"] for each in other.threads.search(status="busy")] == [thread]
            shown = other.runs.join_stream(thread, run["run_id"], stream_mode="updates")
            first = [next(shown).event for _ in range(3)]
            assert first == ["metadata", "updates", "updates"]
            with pytest.raises(httpx.HTTPStatusError, match="409"):
                other.runs.wait(thread, "reading-room", input=HARD, multitask_strategy="reject")
            other.runs.cancel(thread, run["run_id"], wait=True)
            assert other.runs.get(thread, run["run_id"])["status"] == "interrupted"
            assert other.threads.get(thread)["status"] == "idle"
        reader.join()
        assert waited(lambda: silent.gone > gone)
        assert [part.event for part in parts][-2:] == ["error", "end"]
        assert parts[-2].data == {"error": "Cancelled", "message": "Stopped."}
        state = client.threads.get_state(thread)
        assert (contents(state["values"]["messages"]), state["next"]) == ([HARD["question"]], ["rewriter"])


def stop_hard(client, thread, **cancelled):
    """Ask the hard question and cancel its run."""
    run = client.runs.create(thread, "reading-room", input=HARD)["run_id"]
    assert waited(lambda: client.runs.get(thread, run)["status"] == "running")
    client.runs.cancel(thread, run, wait=True, **cancelled)
    return run


def test_a_thread_goes_on_after_a_cancelled_run(slow):
    rules = {"context": {"mind": "rules"}}
    with connected(slow[0]) as client:
        thread = new_thread(client)
        first = say(client, thread, QUESTION, **rules)
        run = stop_hard(client, thread)
        assert [each["status"] for each in client.runs.list(thread)] == ["interrupted", "success"]
        assert client.runs.get(thread, run)["status"] == "interrupted"
        assert client.threads.get(thread)["status"] == "idle"
        history = client.threads.get_history(thread)
        assert [len(state["values"].get("messages", [])) for state in history] == [3, 2, 1, 0]
        # resumed without an input, as LangGraph does it; the message stays the same one
        answered = client.runs.wait(thread, "reading-room", input=None, **rules)["messages"]
        assert contents(answered)[:3] == [*contents(first), HARD["question"]]
        assert answered[2]["id"] == history[0]["values"]["messages"][-1]["id"]
        assert [len(state["values"].get("messages", [])) for state in client.threads.get_history(thread)] == [
            *(4, 3, 2, 1, 0)
        ]
        # or another question follows
        stop_hard(client, thread)
        assert contents(say(client, thread, QUESTION, **rules))[4:6] == [HARD["question"], QUESTION]
        history = client.threads.get_history(thread)
        again = say(client, thread, None, checkpoint=history[1]["checkpoint"], **rules)
        assert contents(again)[4:6] == [HARD["question"], QUESTION]
        read = httpx.get(f"{slow[0].removesuffix('/langgraph')}/api/threads/{thread}").json()["turns"]
        assert [turn["record"]["turn"] for turn in read] == [1, 2, 3]


def test_a_run_that_is_rolled_back_or_began_earlier_leaves_the_thread_as_it_was(slow):
    rules = {"context": {"mind": "rules"}}
    with connected(slow[0]) as client:
        thread = new_thread(client)
        before = say(client, thread, QUESTION, **rules)
        stop_hard(client, thread, action="rollback")
        assert client.threads.get_state(thread)["values"]["messages"] == before
        history = client.threads.get_history(thread)
        run = client.runs.create(thread, "reading-room", input=HARD, checkpoint=history[-1]["checkpoint"])["run_id"]
        client.runs.cancel(thread, run, wait=True)
        assert client.threads.get_state(thread)["values"]["messages"] == before


@pytest.mark.parametrize("mode", ["cancel", "continue"])
def test_who_leaves_decides_whether_the_run_goes_on(slow, mode):
    address, silent = slow
    with connected(address) as client:
        thread = new_thread(client)
        came, gone = silent.came, silent.gone
        stream = client.runs.stream(thread, "reading-room", input=HARD, stream_mode="updates", on_disconnect=mode)
        assert next(stream).event == "metadata"
        assert waited(lambda: silent.came > came)
        stream.close()
        if mode == "cancel":
            assert waited(lambda: silent.gone > gone)
            assert waited(lambda: client.threads.get(thread)["status"] == "idle")
        else:
            time.sleep(1)
            assert silent.gone == gone
            assert client.threads.get(thread)["status"] == "busy"
            # another question takes its place
            second = client.runs.create(thread, "reading-room", input=HARD, multitask_strategy="interrupt")
            assert waited(lambda: silent.gone > gone)
            client.runs.cancel_many(thread_id=thread, run_ids=[second["run_id"]])
            assert waited(lambda: client.threads.get(thread)["status"] == "idle")


def test_conversations_that_stream_at_once_lose_nothing(slow):
    """A person who goes to another conversation while an answer streams finds both answers."""
    address, _ = slow
    rules = {"mind": "rules"}
    with connected(address) as client:
        threads = [new_thread(client) for _ in range(4)]
        streams = []
        for thread in threads:
            streams.append(client.runs.stream(thread, "reading-room", input={"question": QUESTION}, context=rules))
            assert next(streams[-1]).event == "metadata"
            # the page closes the stream when it shows another conversation
            streams[-1].close()
        for thread in threads:
            assert waited(lambda thread=thread: client.threads.get(thread)["status"] == "idle")
            assert "540" in client.threads.get_state(thread)["values"]["messages"][-1]["content"]


def test_runs_without_a_client_are_bounded(slow):
    with httpx.Client(base_url=slow[0], timeout=30) as client:
        sent = {"assistant_id": "reading-room", "input": HARD}
        codes = [client.post("/runs", json=sent).status_code for _ in range(10)]
        assert codes == [200] * 8 + [429] * 2
        assert client.post("/runs/cancel", json={"status": "all"}).status_code == 204
        assert waited(lambda: client.post("/runs", json=sent).status_code == 200)
        assert client.post("/runs/cancel", json={"status": "all"}).status_code == 204
