import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any, get_type_hints

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from langgraph.checkpoint.memory import InMemorySaver

from agents.agents import build_agents
from agents.tool_selector import Choice
from agents.turn_view import Database, Result, TurnView
from graph.branches import all_branches
from graph.builder import App, Composition, build_graph, compose, open_persistent_app
from graph.context import Resources
from graph.stream import stream_turn
from nacre.config.settings import Settings
from nacre.errors import ConfigError
from nacre.records.answer import Answer
from nacre.records.evidence import BranchResult, EvidenceSentence, QueryError


@pytest.fixture
def composition(settings: Settings) -> Composition:
    return compose(settings)


@pytest.fixture
def app(composition: Composition) -> App:
    return composition.build(InMemorySaver())


async def ask(app: App, question: str, **options: Any) -> tuple[Answer, list[tuple[str, Any]]]:
    events = [event async for event in stream_turn(app, question, **options)]
    assert [kind for kind, _ in events].index("answer") == len(events) - 1
    answer: Answer = events[-1][1]
    assert "".join(text for kind, text in events if kind == "token") == answer["answer"]
    return answer, events


async def test_a_turn_from_question_to_record(app: App) -> None:
    answer, events = await ask(app, "How many dishes are there?", graph="kitchen", thread="t", id="q1")
    assert set(answer) == set(get_type_hints(Answer))
    assert answer == json.loads(json.dumps(answer))
    assert [kind for kind, _ in events][:2] == ["rewriter", "understand"]
    assert {"query", "evidence", "token"} <= {kind for kind, _ in events}
    assert (answer["id"], answer["graph"], answer["thread"], answer["turn"]) == ("q1", "kitchen", "t", 1)
    assert (answer["values"], answer["status"]) == ([3], "answered")
    assert answer["enabled"] == ["sql", "lexical"]
    assert "vector" in answer["unavailable"]
    assert set(answer["visited"]) == {"sql", "lexical"}
    assert answer["llm_calls"] == 0
    assert set(answer["by"].values()) == {"rules"}
    assert answer["first_token_seconds"] is not None
    assert 0 < answer["first_token_seconds"] <= answer["seconds"]
    [citation] = answer["citations"]
    assert "[1]" in answer["answer"]
    assert answer["queries"][citation["query"] or 0]["tool"] == "sql"


async def test_a_lone_question_is_not_remembered(app: App) -> None:
    first, _ = await ask(app, "How many dishes are there?")
    second, _ = await ask(app, "How many dishes are there?")
    assert (first["turn"], second["turn"], first["thread"]) == (1, 1, None)


async def test_a_thread_remembers_and_a_turn_starts_anew(app: App) -> None:
    await ask(app, "How many dishes are there?", thread="t")
    second, _ = await ask(app, "How many ingredients are there?", thread="t")
    state = (await app.aget_state({"configurable": {"thread_id": "local:t"}})).values
    assert second["turn"] == 2
    assert {query["text"] for query in second["queries"] if query["tool"] == "lexical"} == {second["standalone"]}
    assert [message.type for message in state["messages"]] == ["human", "ai", "human", "ai"]
    assert [turn["question"] for turn in state["earlier"]] == [
        "How many dishes are there?",
        "How many ingredients are there?",
    ]
    # only a last turn is confirmed or leant on
    assert [bool(turn["evidence"]) for turn in state["earlier"]] == [False, True]


async def test_thanks_and_doubts_are_no_turn_that_later_ones_lean_on(app: App) -> None:
    await ask(app, "How many dishes are there?", thread="t")
    thanks, _ = await ask(app, "thanks!", thread="t")
    doubt, _ = await ask(app, "are you sure?", thread="t")
    named, _ = await ask(app, "which ones?", thread="t")
    first, _ = await ask(app, "what did I ask first?", thread="t")
    assert thanks["answer"] == "You're welcome."
    assert "“the number of dishes”" in doubt["answer"]
    assert (doubt["values"], doubt["citations"]) == ([], [])
    assert sorted(named["values"]) == ["dal", "pilaf", "rice porridge"]
    assert "“How many dishes are there?”" in first["answer"]
    assert first["turn"] == 5


async def test_owners_do_not_share_threads(app: App) -> None:
    await ask(app, "How many dishes are there?", thread="t", owner="ann")
    other, _ = await ask(app, "How many dishes are there?", thread="t", owner="bob")
    assert other["turn"] == 1
    assert other["thread"] == "t"


async def test_one_thread_asked_at_once_loses_nothing(app: App) -> None:
    await asyncio.gather(*(ask(app, "How many dishes are there?", thread="t") for _ in range(3)))
    state = (await app.aget_state({"configurable": {"thread_id": "local:t"}})).values
    assert state["turn"] == 3
    assert len(state["messages"]) == 6


async def test_a_thread_outlives_the_process(composition: Composition, tmp_path: Path) -> None:
    kept = replace(composition, settings=composition.settings.model_copy(update={"data": tmp_path}))
    for turn in (1, 2):
        async with open_persistent_app(kept) as (app, _, _, _):
            answer, _ = await ask(app, "How many dishes are there?", thread="t")
            assert answer["turn"] == turn


async def test_messages_are_an_input_too(app: App) -> None:
    config = {"configurable": {"thread_id": "studio"}}
    await app.ainvoke({"question": "How many dishes are there?"}, config)  # type: ignore[call-overload]
    state = await app.ainvoke({"messages": [("human", "How many ingredients are there?")]}, config)  # type: ignore[call-overload]
    assert state["answer"]["question"] == "How many ingredients are there?"
    assert state["answer"]["values"] == [3]
    assert len(state["messages"]) == 4


async def test_a_client_can_not_inject_state(app: App) -> None:
    sent: Any = {"question": "How many dishes are there?", "earlier": [{"bad": 1}], "turn": 41, "usage": {"calls": 9}}
    state = await app.ainvoke(sent, {"configurable": {"thread_id": "x"}})
    assert (state["answer"]["turn"], state["answer"]["llm_calls"]) == (1, 0)


@pytest.mark.parametrize(
    ("question", "options", "said"),
    [
        ("", {}, "question is empty"),
        (" \n ", {}, "question is empty"),
        ("x" * 20_000, {}, "20000 characters; 4000 are the most"),
        ("How many?", {"graph": "kitchn"}, "Did you mean 'kitchen'"),
        ("How many?", {"context": {"branches": ["magic"]}}, "no branch 'magic'"),
        ("How many?", {"context": {"mood": 1}}, "no option 'mood'"),
        ("How many?", {"context": {"mind": "model"}}, "NACRE_MODEL"),
    ],
)
async def test_bad_input_is_refused_before_anything_is_said(
    app: App, question: str, options: dict[str, Any], said: str
) -> None:
    with pytest.raises(ConfigError, match=said):
        await anext(stream_turn(app, question, **options))


@pytest.mark.parametrize("question", ["🙂🙂🙂", "DROP TABLE dish; --", "????", "\u202e\x00?", "[1] [2]", "x" * 4000])
async def test_odd_questions_get_an_answer(app: App, question: str) -> None:
    answer, _ = await ask(app, question)
    assert answer["answer"]
    assert answer["status"] in ("answered", "partial", "not_in_graph", "failed")


async def test_a_thread_is_about_one_graph(app: App) -> None:
    await ask(app, "How many dishes are there?", thread="t")
    with pytest.raises(ConfigError, match="about the graph 'kitchen'"):
        await ask(app, "How many dishes are there?", thread="t", graph="other")


async def test_no_graph_at_all_is_one_clear_line(tmp_path: Path) -> None:
    app = compose(Settings(data=tmp_path / "none", embedder="none", _env_file=None)).build()
    with pytest.raises(ConfigError, match="nacre ingest"):
        await ask(app, "How many dishes are there?")


async def test_only_a_branch_that_lacks_is_a_failure_with_its_reason(app: App) -> None:
    answer, _ = await ask(app, "How many dishes are there?", context={"branches": ["vector"]})
    assert answer["status"] == "failed"
    assert "embedder" in (answer["reason"] or "")
    assert (answer["enabled"], answer["visited"], answer["rounds"]) == ([], [], 0)


async def test_an_error_of_a_branch_does_not_end_the_turn(composition: Composition) -> None:
    async def broken(view: TurnView, database: Database) -> Result[BranchResult]:
        raise OSError("the disk is gone")

    rules = composition.agents["rules"]
    agents_by_reasoner = {"rules": replace(rules, query_writer=broken)}
    app = build_graph(Resources(composition.library, agents_by_reasoner, composition.settings))
    answer, _ = await ask(app, "How many dishes are there?")
    assert answer["answer"]
    assert answer["visited"].count("sql") > 1


async def test_a_branch_that_hangs_is_left_behind(composition: Composition) -> None:
    async def slow(view: TurnView, database: Database) -> Result[BranchResult]:
        raise TimeoutError

    agents_by_reasoner = {"rules": replace(composition.agents["rules"], query_writer=slow)}
    app = build_graph(Resources(composition.library, agents_by_reasoner, composition.settings))
    answer, _ = await ask(app, "How many dishes are there?", context={"branches": ["sql"]})
    assert answer["status"] == "failed"
    assert "within 10 s" in (answer["reason"] or "")


choices = st.lists(st.sampled_from([*all_branches(), "magic", "", "fuser"]), max_size=4).map(tuple)


@hypothesis_settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.one_of(choices, st.just(None)), min_size=1, max_size=8),
    st.integers(1, 6),
    st.sets(st.sampled_from(list(all_branches())), min_size=1).map(sorted),
    st.sampled_from(["nothing", "error", "rows"]),
)
def test_any_selector_ends_within_its_rounds_and_leaves_no_branch_out(
    composition: Composition,
    said: list[tuple[str, ...] | None],
    max_rounds: int,
    branches: list[str],
    found: str,
) -> None:
    queue = list(said)

    async def selector(view: TurnView) -> Result[Choice]:
        chosen = queue.pop(0) if queue else (*all_branches(), "magic")
        if chosen is None:
            raise RuntimeError("this selector fails")
        return Result(Choice(tuple(chosen)))

    async def writer(view: TurnView, database: Database) -> Result[BranchResult]:
        if found == "rows":
            return Result(await database.read(view.understanding.readings[0], 0))  # type: ignore[arg-type]
        return Result(BranchResult("sql", error=QueryError("empty", "nothing") if found == "error" else None))

    agents_by_reasoner = {"rules": replace(build_agents(None), tool_selector=selector, query_writer=writer)}
    app = build_graph(Resources(composition.library, agents_by_reasoner, composition.settings))
    context = {"branches": branches, "max_rounds": max_rounds}
    answer, _ = asyncio.run(ask(app, "How many dishes with saffron are there?", context=context))
    assert answer["rounds"] <= max_rounds
    # without vectors, an embedder and places
    assert set(answer["enabled"]) == set(branches) - {"vector", "triples", "places"}
    assert set(answer["visited"]) == set(answer["enabled"])
    assert len(answer["visited"]) <= answer["rounds"] * len(answer["enabled"])


async def test_evidence_of_one_turn_is_absent_from_the_next(composition: Composition) -> None:
    marked = EvidenceSentence("sql", 1, text="Marked evidence of turn one.")
    turns = iter([BranchResult("sql", (marked,)), BranchResult("sql")])

    async def writer(view: TurnView, database: Database) -> Result[BranchResult]:
        assert view.of("sql") == ()
        return Result(next(turns))

    agents_by_reasoner = {"rules": replace(composition.agents["rules"], query_writer=writer)}
    app = build_graph(Resources(composition.library, agents_by_reasoner, composition.settings), InMemorySaver())
    options = {"thread": "t", "context": {"max_rounds": 1}}
    _, first = await ask(app, "What is marked?", **options)
    _, second = await ask(app, "What is marked?", **options)
    texts = [[event["text"] for kind, event in events if kind == "evidence"] for events in (first, second)]
    assert marked.text in texts[0]
    assert marked.text not in texts[1]
