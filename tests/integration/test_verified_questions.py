"""Verified questions over a data folder: confirming, checking after an ingest, contradictions, and bad input."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import pytest

from graph.context import Context
from ingestion.pipeline import ingest
from nacre.config.settings import Settings
from nacre.errors import ConfigError
from nacre.extensions.verified import look_up as first_use
from nacre.extensions.verified.checks import check_all
from nacre.extensions.verified.entries import VerifiedQuestionService, export_lines
from nacre.extensions.verified.look_up import comparable_verified_questions
from nacre.records.turn import VerifiedQuery
from nacre.serving.cli.main import main
from nacre.serving.errors import Conflict, Forbidden, NotFound, WrongGraph
from nacre.serving.keys import LOCAL_CALLER, Caller
from nacre.serving.turn_service import TurnService, open_turn_service
from nacre.stores.catalog import Library
from nacre.stores.state.verified_questions import VerifiedQuestionStore
from tools.sandbox import Sandbox

T = TypeVar("T")

PREFIX = "@prefix : <https://quarry.example/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n"
QUARRIES = (
    PREFIX
    + """
:Quarry a rdfs:Class ; rdfs:label "quarry" . :depth rdfs:label "depth" . :stone rdfs:label "stone" .
:q1 a :Quarry ; rdfs:label "Blackfell" ; :depth 40 ; :stone "slate" .
:q2 a :Quarry ; rdfs:label "Ashdale" ; :depth 75 ; :stone "granite" .
:q3 a :Quarry ; rdfs:label "Coldridge" ; :depth 60 ; :stone "slate" .
"""
)
OTHER = """@prefix : <https://ferns.example/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:Fern a rdfs:Class ; rdfs:label "fern" . :fronds rdfs:label "fronds" .
:f1 a :Fern ; rdfs:label "Hart's tongue" ; :fronds 12 . :f2 a :Fern ; rdfs:label "Maidenhair" ; :fronds 30 .
"""
QUESTION = "What is the depth of Ashdale?"
SQL = VerifiedQuery(tool="sql", text="SELECT depth FROM quarry WHERE label = 'Ashdale'")
ANN, BOB, EVE = Caller("ann"), Caller("bob"), Caller("eve", may=("approve",))


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("NACRE_EMBEDDER", "none")
    monkeypatch.setenv("NACRE_DATA", str(tmp_path / "data"))
    load(tmp_path / "data", QUARRIES)
    return tmp_path / "data"


def load(data: Path, turtle: str) -> None:
    file = data.parent / "graph.ttl"
    file.write_text(turtle, encoding="utf-8")
    ingest([str(file)], "quarries", data=data, no_vectors=True)


def with_service(data: Path, run: Callable[[TurnService, VerifiedQuestionService], Awaitable[T]]) -> T:
    async def opened() -> T:
        async with open_turn_service(Settings(data=data), lasting=True, warm=False) as service:
            return await run(service, VerifiedQuestionService(service))

    return asyncio.run(opened())


def recheck(data: Path) -> Any:
    library, sandbox = Library(data, None), Sandbox()
    with closing(library), closing(sandbox), library.open("quarries") as graph:
        return asyncio.run(check_all(graph, library.verified, Settings(data=data), sandbox))


def used(data: Path, owner: str) -> list[str]:
    with closing(Library(data, None)) as library, library.open("quarries") as graph:
        return [each.question for each in comparable_verified_questions(graph, owner, "")]


def confirm(data: Path, caller: Caller = ANN, question: str = QUESTION, query: VerifiedQuery = SQL) -> Any:
    async def run(service: TurnService, verified: VerifiedQuestionService) -> Any:
        return (await verified.confirm_query(caller, "quarries", question, query))[0]

    return with_service(data, run)


def test_an_answer_of_a_thread_is_confirmed_with_its_plan(data: Path) -> None:
    async def run(service: TurnService, verified: VerifiedQuestionService) -> None:
        record = await service.answer(QUESTION, "quarries", "talk", caller=ANN)
        assert record["values"] == [75]
        entry = await verified.confirm_turn(ANN, "talk", 1)
        assert (entry.by, entry.kind, entry.approved, entry.plan) == ("ann", "number", False, record["plan"])
        assert entry.question == QUESTION
        with pytest.raises(NotFound):
            await verified.confirm_turn(BOB, "talk", 1)
        with pytest.raises(NotFound):
            await verified.confirm_turn(ANN, "talk", 2)
        with pytest.raises(WrongGraph):
            await verified.confirm_turn(ANN, "talk", 1, "another")
        unclear = await service.answer("Hello!", "quarries", "talk", caller=ANN)
        with pytest.raises(ConfigError, match="no rows"):
            await verified.confirm_turn(ANN, "talk", unclear["turn"])

    with_service(data, run)
    assert used(data, "ann") == [QUESTION]
    assert used(data, "bob") == []


def test_a_follow_up_is_stored_as_it_stands_alone(data: Path) -> None:
    async def run(service: TurnService, verified: VerifiedQuestionService) -> None:
        await service.answer(QUESTION, "quarries", "talk", caller=ANN)
        record = await service.answer("And of Coldridge?", "quarries", "talk", caller=ANN)
        assert record["values"] == [60]
        entry = await verified.confirm_turn(ANN, "talk", 2)
        assert "Coldridge" in entry.question
        assert "depth" in entry.question

    with_service(data, run)


def test_a_query_outside_the_guard_is_refused(data: Path) -> None:
    for text in ("DELETE FROM quarry", "SELECT load_extension('x')", "SELECT * FROM sqlite_master", "SELECT nothing"):
        with pytest.raises(ConfigError, match="can't be confirmed"):
            confirm(data, query=VerifiedQuery(tool="sql", text=text))
    with pytest.raises(ConfigError, match="no values"):
        confirm(data, query=VerifiedQuery(tool="sql", text="SELECT depth FROM quarry WHERE depth > 99"))
    # a near name is offered, and is not confirmed in place of what was written
    with pytest.raises(ConfigError, match=r"This one runs: .*Ashdale"):
        confirm(data, query=VerifiedQuery(tool="sql", text="SELECT depth FROM quarry WHERE label = 'Ashdal'"))
    with pytest.raises(ConfigError, match="question in words"):
        confirm(data, question="?!")
    assert used(data, "ann") == []


def test_approval_needs_the_right_and_lets_everyone_use_it(data: Path) -> None:
    entry = confirm(data)

    async def run(service: TurnService, verified: VerifiedQuestionService) -> None:
        assert (await verified.listed(BOB, "quarries")).questions == ()
        with pytest.raises(NotFound):
            await verified.run(BOB, "quarries", entry.id)
        for caller in (ANN, BOB):
            with pytest.raises(Forbidden):
                await verified.approve(caller, "quarries", entry.id)
        assert [each.id for each in (await verified.listed(EVE, "quarries", waiting=True)).questions] == [entry.id]
        with pytest.raises(Conflict):
            # the query that was seen may be another one
            await verified.approve(EVE, "quarries", entry.id, at="2026-01-01T00:00:00Z")
        await verified.approve(EVE, "quarries", entry.id, at=entry.at)
        assert (await verified.listed(BOB, "quarries")).questions[0].approved
        with pytest.raises(NotFound):
            await verified.remove(BOB, "quarries", entry.id)
        assert (await verified.run(BOB, "quarries", entry.id))[1].values == (75,)
        with pytest.raises(ConfigError, match="quarries"):
            await verified.listed(Caller("zoe", graphs=()), "quarries")

    with_service(data, run)
    # another process
    assert used(data, "bob") == [QUESTION]


def test_two_people_who_contradict_are_not_used_until_one_is_removed(data: Path) -> None:
    first = confirm(data)
    other = VerifiedQuery(tool="sql", text="SELECT depth FROM quarry WHERE label = 'Blackfell'")
    second = confirm(data, BOB, QUESTION.upper(), other)
    assert (first.id, second.state) == (second.id, "contradicted")
    assert used(data, "ann") == used(data, "bob") == []

    async def run(service: TurnService, verified: VerifiedQuestionService) -> None:
        listed = (await verified.listed(EVE, "quarries", states=("contradicted",))).questions
        assert {each.by for each in listed} == {"ann", "bob"}
        with pytest.raises(ConfigError, match="ann, bob"):
            await verified.approve(EVE, "quarries", first.id)
        await verified.remove(EVE, "quarries", first.id, "bob")

    with_service(data, run)
    assert used(data, "ann") == [QUESTION]


def test_new_data_keeps_changed_values_and_sets_the_rest_aside(data: Path) -> None:
    confirm(data)
    confirm(data, question="Which stone is quarried at Coldridge?",
            query=VerifiedQuery(tool="sql", text="SELECT stone FROM quarry WHERE label = 'Coldridge'"))  # fmt: skip
    confirm(data, question="Where is slate?",
            query=VerifiedQuery(tool="sql", text="SELECT label FROM quarry WHERE stone = 'slate'"))  # fmt: skip
    load(data, QUARRIES.replace("75", "90").replace('"slate"', "5"))
    report = recheck(data)
    assert [each.question for each in report.changed] == [QUESTION]
    assert {each.question: each.state for each in report.aside} == {
        "Which stone is quarried at Coldridge?": "changed kind",
        "Where is slate?": "empty",
    }
    assert used(data, "ann") == [QUESTION]
    # a second ingest does not end it, a person does
    load(data, QUARRIES)
    assert recheck(data).checked == 1
    assert used(data, "ann") == [QUESTION]
    report = with_service(data, lambda service, verified: verified.check(ANN, "quarries"))
    assert (report.checked, report.aside) == (3, ())
    assert len(used(data, "ann")) == 3


def test_a_query_that_fails_after_an_ingest_is_not_used(data: Path) -> None:
    confirm(data)
    load(data, QUARRIES.replace(":depth", ":bottom").replace('"depth"', '"bottom"'))
    report = recheck(data)
    assert [each.state for each in report.aside] == ["failed"]
    assert used(data, "ann") == []


def test_checks_end_in_time(data: Path) -> None:
    for n in range(3):
        confirm(data, question=f"{QUESTION} ({n})")
    load(data, QUARRIES.replace("75", "90"))
    library, sandbox = Library(data, None), Sandbox()
    with closing(library), closing(sandbox), library.open("quarries") as graph:
        report = asyncio.run(check_all(graph, library.verified, Settings(data=data), sandbox, seconds=0.0))
    assert report.left == 3 - report.checked
    assert report.checked < 3


def test_what_an_ingest_did_not_reach_is_checked_at_its_first_use(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(first_use, "WAIT_SECONDS", 60.0)
    entry = confirm(data)
    load(data, QUARRIES.replace(':depth 75 ; :stone "granite"', ':stone "granite"'))

    async def ask(service: TurnService, verified: VerifiedQuestionService) -> Any:
        return await service.answer(QUESTION, "quarries", None, Context(mind="rules"), caller=ANN)

    assert with_service(data, ask)["verified"] is None
    with closing(Library(data, None)) as library:
        assert [each.state for each in library.verified.entries("quarries", entry.id)] == ["empty"]


def test_a_graph_that_was_replaced_does_not_use_the_questions_of_the_old_one(data: Path) -> None:
    count = VerifiedQuery(tool="sql", text="SELECT count(*) FROM entity")
    confirm(data, LOCAL_CALLER, "How many things are there?", count)
    load(data, OTHER)
    with closing(Library(data, None)) as library, library.open("quarries") as graph:
        assert comparable_verified_questions(graph, "local", "How many things are there?") == ()
        assert [each.state for each in library.verified.listed("quarries")] == ["replaced"]
    # whoever looks at them may use them again
    report = with_service(data, lambda service, verified: verified.check(LOCAL_CALLER, "quarries"))
    assert (report.checked, report.aside) == (1, ())
    assert used(data, "local") == ["How many things are there?"]


def test_lines_are_imported_and_exported(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines: list[dict[str, Any]] = [
        {"question": QUESTION, "answers": [75]},
        {"question": "What is the depth of Coldridge?", "answers": [75]},
        {"question": "How deep is the deepest?", "query": "SELECT max(depth) FROM quarry", "answers": [75]},
        {"question": "How deep is the flattest?", "query": "SELECT min(depth) FROM quarry", "answers": [41]},
        {"question": "And there?", "turn": 2, "answers": [75]},
        {"question": "Nothing?"},
        {"question": "Broken?", "query": 5},
        {"question": "Old?", "plan": {"body": {"kind": "nonsense"}}},
    ]
    file = tmp_path / "lines.jsonl"
    file.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    assert main(["examples", "import", str(file), "--graph", "quarries"]) == 0
    printed = capsys.readouterr().out
    assert "2 of 8 questions are verified now." in printed
    assert printed.count("left out") == 6
    assert main(["examples", "export", str(tmp_path / "out.jsonl")]) == 0
    with closing(VerifiedQuestionStore(data / "verified.sqlite")) as store:
        before = store.listed("quarries")
        assert store.remove_all("quarries") == 2
    assert main(["examples", "import", str(tmp_path / "out.jsonl")]) == 0
    with closing(VerifiedQuestionStore(data / "verified.sqlite")) as store:
        after = {each.id: replace(each, at="") for each in store.listed("quarries")}
    assert after == {each.id: replace(each, at="") for each in before}
    assert [line["question"] for line in export_lines(before)] == [each.question for each in before]


def test_plans_of_strangers_are_not_imported(data: Path) -> None:
    entry = with_service(data, _confirm_answer)
    line = {"question": QUESTION, "plan": entry.plan}

    async def run(service: TurnService, verified: VerifiedQuestionService) -> Any:
        return [each async for each in verified.import_lines(BOB, "quarries", [("1", line)])]

    (imported,) = with_service(data, run)
    assert imported.entry is None
    assert "Plans are imported on the server" in imported.problem


def test_the_commands_list_check_approve_and_remove(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    entry = confirm(data)
    assert main(["examples", "list", "--waiting"]) == 0
    assert f"{entry.id}  waiting" in capsys.readouterr().out
    assert main(["examples", "approve", entry.id]) == 0
    assert main(["examples", "list", "--search", "ashdale"]) == 0
    assert "approved" in capsys.readouterr().out
    load(data, QUARRIES.replace("Ashdale", "Ashvale"))
    assert main(["examples", "check"]) == 1
    assert "it gives nothing any more" in capsys.readouterr().out
    main(["doctor"])
    assert "not used: 1 empty" in capsys.readouterr().out
    assert main(["examples", "remove"]) == 2
    assert main(["examples", "remove", "--all", "--by", "ann"]) == 0
    assert main(["examples", "list"]) == 0
    assert "There are none" in capsys.readouterr().out


def test_an_ingest_on_the_command_line_checks(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    confirm(data)
    file = data.parent / "graph.ttl"
    file.write_text(QUARRIES.replace("Ashdale", "Ashvale"), encoding="utf-8")
    assert main(["ingest", str(file), "--graph", "quarries", "--no-vectors"]) == 0
    assert "1 verified questions are not used until you look at them" in capsys.readouterr().out


async def _confirm_answer(service: TurnService, verified: VerifiedQuestionService) -> Any:
    return await verified.confirm_answer(ANN, await service.answer(QUESTION, "quarries", caller=ANN))
