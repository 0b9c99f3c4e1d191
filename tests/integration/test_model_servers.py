"""The clients of model servers against servers that speak their protocols, on this machine."""

import asyncio
import json
import logging
import resource
import threading
from functools import cached_property
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx
import openai
import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import HumanMessage, SystemMessage
from pydantic import BaseModel, SecretStr

from agents import model_calls as calls
from agents.agents import build_agents
from agents.model_calls import Limits, ModelFailed, StructuredOutput, UsageCounter, stream_reply, structured_reply
from agents.model_priors import Priors
from agents.turn_view import Usage
from graph.builder import build_graph, compose
from graph.context import Resources
from graph.stream import stream_turn
from nacre.config.bounded_replies import MAX_REPLY_BYTES, ReplyTooLarge, bound_clients
from nacre.config.models import chat_model
from nacre.config.settings import Settings
from nacre.extensions.model_agents.write_queries import Step
from tests.support.model_servers import Reply, Server, endless_server, ollama_server, openai_server
from tests.support.scripted_model import ScriptedModel, step

MESSAGES = [SystemMessage("Be short."), HumanMessage("What simmers?")]
BUSY = Reply(status=429, headers={"retry-after": "0.01"})
BROKEN = Reply(status=500)
KEY = "sk-proj-a1b2c3d4e5f6g7h8"


class Dish(BaseModel):
    """A dish."""

    name: str
    hot: bool


DAL = Reply(json.dumps({"name": "dal", "hot": True}))


@pytest.fixture(autouse=True)
def _hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calls, "FIRST_PAUSE", 0.01)


def model_of(server: Server, name: str = "openai:small", **more: Any) -> BaseChatModel:
    places = {"NACRE_OPENAI_BASE_URL": server.url, "NACRE_OLLAMA_HOST": server.url}
    settings = Settings(model=name, forbid_models=False, _env_file=None, **places, **more)  # type: ignore[arg-type]
    model = chat_model(settings)
    assert model is not None
    return model


def limits(**more: Any) -> Limits:
    """Those of one server: which ways it takes is learned anew."""
    return Limits(seconds=20, retries=1, busy_retries=2, **more)


async def said(model: BaseChatModel, meter: UsageCounter) -> str:
    return "".join([piece async for piece in stream_reply(model, MESSAGES, meter, limits=limits())])


async def test_openai_streams_and_counts_cached_tokens() -> None:
    with openai_server(Reply("Dal simmers on.")) as server:
        meter = UsageCounter()
        assert await said(model_of(server, openai_api_key=SecretStr("k")), meter) == "Dal simmers on."
    assert meter.usage == Usage(calls=1, input=120, cached=100, output=8, unpriced=1)
    assert server.asked[0]["messages"][0] == {"role": "system", "content": "Be short."}
    assert server.asked[0]["temperature"] == 0


async def test_openai_is_asked_for_a_json_schema() -> None:
    with openai_server(DAL) as server:
        dish, usage = await structured_reply(model_of(server), MESSAGES, Dish, limits=limits())
    assert (dish, usage.calls, usage.cached) == (Dish(name="dal", hot=True), 1, 100)
    assert server.asked[0]["response_format"]["type"] == "json_schema"
    assert "name" in server.asked[0]["response_format"]["json_schema"]["schema"]["properties"]


@pytest.mark.parametrize("trouble", [[BUSY], [BROKEN], [BUSY, Reply(status=503)]])
async def test_a_busy_or_broken_server_is_tried_again(trouble: list[Reply]) -> None:
    with openai_server(*trouble, Reply("Dal.")) as server:
        assert await said(model_of(server), UsageCounter()) == "Dal."
        assert len(server.asked) == len(trouble) + 1
    with openai_server(*trouble, DAL) as server:
        assert (await structured_reply(model_of(server), MESSAGES, Dish, limits=limits()))[0] == Dish(
            name="dal", hot=True
        )


@pytest.mark.parametrize(("reply", "times"), [(BROKEN, 3), (BUSY, 3), (Reply(status=401), 1), (Reply(status=400), 3)])
async def test_a_server_that_stays_so_is_given_up(reply: Reply, times: int) -> None:
    with openai_server(*[reply] * 3) as server:
        with pytest.raises(ModelFailed) as failed:
            await structured_reply(model_of(server), MESSAGES, Dish, limits=limits())
        assert len(server.asked) == times
    # what a server refuses costs nothing
    assert failed.value.usage == Usage(calls=times)


async def test_a_pause_longer_than_the_turn_is_not_waited_for() -> None:
    with openai_server(Reply(status=429, headers={"retry-after": "3600"}), DAL) as server:
        with pytest.raises(ModelFailed, match="429"):
            await structured_reply(model_of(server), MESSAGES, Dish, limits=limits())
        assert len(server.asked) == 1


@pytest.mark.parametrize("kind", ["openai", "ollama"])
async def test_a_stream_that_is_cut_off_fails_after_what_was_said(kind: str) -> None:
    opened = openai_server if kind == "openai" else ollama_server
    pieces: list[str] = []

    async def listen(model: BaseChatModel) -> None:
        async for piece in stream_reply(model, MESSAGES, UsageCounter(), limits=limits()):
            pieces.append(piece)

    with opened(Reply("Dal simmers on and on.", cut=2)) as server:
        with pytest.raises(ModelFailed):
            await listen(model_of(server, f"{kind}:small"))
        assert len(server.asked) == 1
    assert "".join(pieces) == "Dal simmers"


async def test_a_refusal_is_said_so() -> None:
    with (
        openai_server(Reply(refusal="I'd rather not.")) as server,
        pytest.raises(ModelFailed, match="refused to answer"),
    ):
        await structured_reply(model_of(server), MESSAGES, Dish, limits=limits())


@pytest.mark.parametrize("text", ["no json", '{"title": "dal"}', '{"name": "da', ""])
async def test_malformed_json_is_asked_for_again(text: str) -> None:
    with openai_server(Reply(text), DAL) as server:
        dish, usage = await structured_reply(model_of(server), MESSAGES, Dish, limits=limits())
        assert "That can't be used" in server.asked[1]["messages"][-1]["content"]
    assert (dish, usage.calls) == (Dish(name="dal", hot=True), 2)


@pytest.mark.parametrize("kind", ["openai", "ollama"])
async def test_text_of_a_servers_error_is_in_the_log_without_keys_and_in_no_record(
    kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    error = Reply(f"Incorrect API key: {KEY}. See the dashboard.", status=401)
    caplog.set_level(logging.DEBUG, "agents.model_calls")
    served = openai_server(error, error) if kind == "openai" else ollama_server(error, error, model="small")
    with served as server:
        for call in (
            said(model_of(server, f"{kind}:small"), UsageCounter()),
            structured_reply(model_of(server, f"{kind}:small"), MESSAGES, Dish, limits=limits()),
        ):
            with pytest.raises(ModelFailed) as failed:
                await call
            assert failed.value.why.endswith("the model's server answered with status 401")
    logged = " ".join(record.getMessage() for record in caplog.records if record.name == "agents.model_calls")
    assert "See the dashboard" in logged
    assert KEY not in logged


@pytest.mark.parametrize("kind", ["openai", "ollama"])
async def test_an_endless_reply_is_ended_by_its_size(kind: str) -> None:
    start = peak_memory()
    with endless_server() as server, pytest.raises(ModelFailed):
        await structured_reply(model_of(server, f"{kind}:small"), MESSAGES, Dish, limits=limits())
    assert peak_memory() - start < 6 * MAX_REPLY_BYTES


class OtherClient:
    """The client of another provider, which makes its HTTP client when it is first used."""

    def __init__(self, client: httpx.AsyncClient) -> None:
        self._client = client


class OtherModel(ScriptedModel):
    """A model of a provider that the tests do not install."""

    url: str = ""

    @cached_property
    def _async_client(self) -> OtherClient:
        return OtherClient(httpx.AsyncClient(base_url=self.url))

    async def _agenerate(self, *_: Any, **__: Any) -> Any:
        reply = await self._async_client._client.post("/", json={})
        return reply.json()


async def test_an_endless_reply_of_any_provider_is_ended_by_its_size() -> None:
    start = peak_memory()
    with endless_server() as server:
        model = OtherModel(url=server.url)
        bound_clients(model)
        with pytest.raises(ReplyTooLarge):
            await model.ainvoke(MESSAGES)
    assert peak_memory() - start < 6 * MAX_REPLY_BYTES


@pytest.mark.parametrize("kind", ["openai", "ollama"])
def test_an_endless_reply_without_an_event_loop_is_ended_by_its_size(kind: str) -> None:
    with endless_server() as server, pytest.raises(Exception, match=r"too many bytes|Connection error"):
        model_of(server, f"{kind}:small").invoke(MESSAGES)


def test_a_provider_with_an_unknown_client_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    bound_clients(ScriptedModel())
    assert "replies of ScriptedModel is not limited" in caplog.text


def peak_memory() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


async def test_nobody_listens() -> None:
    with openai_server() as server:
        pass
    with pytest.raises(ModelFailed, match="onnection"):
        await said(model_of(server), UsageCounter())


async def test_ollama_streams_and_counts() -> None:
    with ollama_server(Reply("Dal simmers on.")) as server:
        meter = UsageCounter()
        assert await said(model_of(server, "ollama:small"), meter) == "Dal simmers on."
    assert meter.usage == Usage(calls=1, input=50, output=7)
    assert server.paths == ["/api/chat"]
    assert server.asked[0]["options"]["num_predict"] == 800


async def test_ollama_is_given_the_schema_as_format() -> None:
    with ollama_server(DAL) as server:
        dish, _ = await structured_reply(model_of(server, "ollama:small"), MESSAGES, Dish, limits=limits())
    assert dish == Dish(name="dal", hot=True)
    assert server.asked[0]["format"]["properties"]["name"]["type"] == "string"


async def test_ollama_that_is_busy_is_tried_again() -> None:
    with ollama_server(Reply(status=503), DAL) as server:
        assert (await structured_reply(model_of(server, "ollama:small"), MESSAGES, Dish, limits=limits()))[
            0
        ].name == "dal"
        assert len(server.asked) == 2


async def test_ollama_without_the_model_says_so() -> None:
    with ollama_server(DAL) as server, pytest.raises(ModelFailed, match="status 404"):
        await structured_reply(model_of(server, "ollama:large"), MESSAGES, Dish, limits=limits())


async def test_a_price_makes_the_cost_known() -> None:
    with openai_server(Reply("Dal.")) as server:
        model = model_of(server)
        model.metadata = {"price": (10.0, 1.0, 100.0)}
        meter = UsageCounter()
        await said(model, meter)
    assert meter.usage.price == pytest.approx((20 * 10 + 100 * 1 + 8 * 100) / 1_000_000)
    assert meter.usage.unpriced == 0


QUERY = step("SELECT 1", wants="number", look_ups=[{"kind": "rows", "table": "dish", "column": "", "text": ""}])
FENCED = f"Here it is:\n```json\n{json.dumps(QUERY)}\n```\nI hope that this helps."


@pytest.mark.parametrize(
    ("takes", "ignores", "replies", "refused", "way"),
    [
        (("json_schema",), (), [json.dumps(QUERY)] * 2, 0, "json_schema"),
        (("tools",), (), [json.dumps(QUERY)] * 2, 1, "tools"),
        ((), (), [FENCED] * 2, 2, "text"),
        # a server that takes everything and answers in words
        ((), ("json_schema", "tools"), [FENCED] * 2, 0, "json_schema"),
    ],
)
async def test_a_record_is_asked_for_in_the_way_that_a_server_takes(
    takes: tuple[str, ...], ignores: tuple[str, ...], replies: list[str], refused: int, way: str
) -> None:
    bounds = limits()
    with openai_server(*map(Reply, replies), takes=takes, ignores=ignores) as server:
        model = model_of(server)
        for _ in replies:
            answer, _usage = await structured_reply(model, MESSAGES, Step, limits=bounds)
            assert answer == Step.model_validate(QUERY)
    assert bounds.output.method == way
    # what it refused once it is not asked for again
    assert len(server.asked) == refused + len(replies)
    said = [message["content"] for message in server.asked[-1]["messages"]]
    assert said[0].startswith("Be short."), "the head stays as it is"
    assert sum("Its fields" in text for text in said) == (way == "text"), "the format is said once, in the head"


@pytest.mark.parametrize(("takes", "way"), [(("tools",), "tools"), (("json_schema",), "json_schema"), ((), "text")])
async def test_a_question_is_answered_over_each_server(settings: Settings, takes: tuple[str, ...], way: str) -> None:
    query = step("SELECT count(*) FROM dish", wants="number")
    bounds = limits()
    with openai_server(Reply(json.dumps(query)), takes=takes) as server:
        composition = compose(settings)
        right = Priors("large", {"alone": (999, 1000), "disputed": (999, 1000)})
        model_agents = build_agents(model_of(server), bounds, priors=right, lead="model")
        app = build_graph(Resources(composition.library, {**composition.agents, "model": model_agents}, settings))
        events = [event async for event in stream_turn(app, "How many of them are cooked in there?")]
    answer = events[-1][1]
    assert answer["values"] == [3]
    assert answer["by"]["sql"] == "model"
    assert bounds.output.method == way


async def test_questions_at_once_move_on_one_way_and_not_two() -> None:
    bounds = limits()
    with openai_server(*[DAL] * 6, takes=("tools",)) as server:
        model = model_of(server)
        asked = [structured_reply(model, MESSAGES, Dish, limits=bounds) for _ in range(6)]
        dishes = [dish for dish, _ in await asyncio.gather(*asked)]
    assert dishes == [Dish(name="dal", hot=True)] * 6
    assert bounds.output.method == "tools"


async def test_a_server_that_refuses_every_way_is_asked_anew_the_next_time() -> None:
    bounds = limits()
    with openai_server(*[Reply(status=400)] * 3, DAL) as server:
        model = model_of(server)
        with pytest.raises(ModelFailed, match="400"):
            await structured_reply(model, MESSAGES, Dish, limits=bounds)
        assert (await structured_reply(model, MESSAGES, Dish, limits=bounds))[0].name == "dal"
    assert bounds.output.method == "json_schema", "a prompt that was too long says nothing about ways to ask"


async def test_a_way_that_was_set_is_kept() -> None:
    with openai_server(DAL, takes=("tools",)) as server:
        with pytest.raises(ModelFailed, match="status 400"):
            await structured_reply(
                model_of(server), MESSAGES, Dish, limits=limits(output=StructuredOutput("json_schema"))
            )
        assert len(server.asked) == 1
        assert (
            await structured_reply(model_of(server), MESSAGES, Dish, limits=limits(output=StructuredOutput("tools")))
        )[0].hot


class Sql(BaseModel):
    """One query."""

    sql: str


@pytest.mark.parametrize("text", ["SELECT 1", "```sql\nSELECT 1\n```", 'Sure: {"sql": "SELECT 1"}'])
async def test_a_record_of_one_text_may_be_that_text(text: str) -> None:
    with openai_server(Reply(text)) as server:
        assert (await structured_reply(model_of(server), MESSAGES, Sql, limits=limits()))[0] == Sql(sql="SELECT 1")


@pytest.mark.parametrize("text", ['{"sql": "SELECT', '```json\n{"sql": "SEL'])
async def test_json_that_was_cut_off_is_no_text(text: str) -> None:
    with openai_server(Reply(text), Reply('{"sql": "SELECT 1"}')) as server:
        assert (await structured_reply(model_of(server), MESSAGES, Sql, limits=limits()))[0] == Sql(sql="SELECT 1")
        assert len(server.asked) == 2


async def test_openai_is_asked_through_a_proxy_where_one_is_set() -> None:
    asked: list[str] = []

    class Proxy(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked.append(self.path)
            self.send_error(502)

        def log_message(self, *_: object) -> None:
            """Tests say what went wrong."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Proxy) as proxy:
        serving = threading.Thread(target=proxy.serve_forever, args=(0.02,))
        serving.start()
        try:
            settings = Settings(
                model="openai:small",
                NACRE_OPENAI_BASE_URL="http://model.example/v1",
                model_proxy=SecretStr(f"http://127.0.0.1:{proxy.server_address[1]}"),
                forbid_models=False,
                _env_file=None,
            )
            model = chat_model(settings)
            assert model is not None
            with pytest.raises(openai.APIStatusError):
                await model.ainvoke("hello")
        finally:
            proxy.shutdown()
            serving.join()
    assert asked == ["http://model.example/v1/chat/completions"]
