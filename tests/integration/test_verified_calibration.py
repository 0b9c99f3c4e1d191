"""Verified questions calibrate the probabilities of their graph: when, with which, shown, and undone."""

import asyncio
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from graph.builder import Composition, compose
from graph.stream import stream_turn
from ingestion.pipeline import ingest
from nacre.config.settings import Settings
from nacre.extensions.verified.checks import calibrate_graph, is_due, undo_calibration
from nacre.records.answer import Answer
from nacre.records.turn import GraphCalibration, VerifiedQuery, VerifiedQuestion, question_id, values_hash
from nacre.serving.cli.main import main
from nacre.stores.state.verified_questions import VerifiedQuestionStore
from nacre.understanding.ranking.probabilities import MIN_JUDGED

HERE = "http://example.org/ferns/"
COUNT = 36
FERNS = "\n".join(f':f{n} a :Fern ; rdfs:label "Fern {chr(97 + n % 26)}{n}" ; :fronds {n + 3} .' for n in range(COUNT))
GRAPH = f"""
@prefix : <{HERE}> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:Fern rdfs:label "fern" . :fronds rdfs:label "fronds" .
{FERNS}
"""
QUESTION = "How many fronds has Fern a0?"


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ferns")
    (folder / "ferns.ttl").write_text(GRAPH, encoding="utf-8")
    ingest([str(folder / "ferns.ttl")], "ferns", data=folder / "data", no_vectors=True)
    return folder / "data"


@pytest.fixture
def house(data: Path) -> Iterator[Composition]:
    composition = compose(Settings(data=data, embedder="none", _env_file=None))
    yield composition
    store = composition.library.verified
    store.remove_all()
    store.store_calibration("ferns", GraphCalibration(0.0, 0, 0, 0, "", ""))
    composition.library.close()


def verify(house: Composition, count: int, wrong: int, *, approved: bool = True) -> None:
    """Confirm a query for so many questions, the first `wrong` of them with other values than the rules find."""
    entries = []
    for n in range(1, count + 1):
        question, value = f"How many fronds has Fern {chr(97 + n % 26)}{n}?", n + 3 + (1000 if n <= wrong else 0)
        query = VerifiedQuery(tool="sql", text=f"SELECT {value}")
        entry = VerifiedQuestion(
            question_id("ferns", question), question, question, None, query, values_hash([value]), "number", "ann",
            "2026-05-03T10:00:00Z", house.library.current("ferns"), approved,
        )  # fmt: skip
        entries.append(entry)
    house.library.verified.add_all("ferns", entries)


def calibrate(house: Composition) -> GraphCalibration:
    resources = house.resources
    with house.library.open("ferns") as graph:
        return asyncio.run(
            calibrate_graph(graph, house.library.verified, resources.settings, resources.sandbox, seconds=600)
        )


def due(house: Composition) -> bool:
    with house.library.open("ferns") as graph:
        return is_due(graph, house.library.verified)


def ask(house: Composition) -> Answer:
    async def run() -> Answer:
        context = {"mind": "rules", "branches": ["sql"]}
        events = [e async for e in stream_turn(house.build(), QUESTION, graph="ferns", owner="bob", context=context)]
        answer: Answer = events[-1][1]
        return answer

    return asyncio.run(run())


def test_a_harder_graph_is_less_sure_until_it_is_undone(house: Composition) -> None:
    before = ask(house)
    verify(house, 35, wrong=14)
    store = house.library.verified
    found = calibrate(house)
    assert (found.asked, found.right, found.questions) == (35, 21, 35)
    assert found.shift < 0
    # the plan is no offer of a query that has none, so this is the reading of the rules
    after = ask(house)
    assert after["values"] == before["values"] == [3]
    assert before["confidence"] is not None
    assert after["confidence"] is not None
    assert after["confidence"] < before["confidence"]
    undo_calibration("ferns", store)
    assert ask(house)["confidence"] == before["confidence"]
    assert not due(house)
    # asked for, it is made again
    assert calibrate(house) == replace(found, at=store.calibration("ferns").at)  # type: ignore[union-attr]


def test_it_is_due_with_thirty_approved_ones_and_again_after_ten_more(house: Composition) -> None:
    house.library.verified.store_calibration("ferns", GraphCalibration(0.0, 0, 0, 0, "", ""))
    verify(house, MIN_JUDGED, wrong=0, approved=False)
    with house.library.open("ferns") as graph:
        version = graph.version
    assert calibrate(house).asked == 0
    assert not due(house)
    verify(house, MIN_JUDGED, wrong=0)
    assert due(house)
    house.library.verified.store_calibration("ferns", GraphCalibration(0.0, MIN_JUDGED - 9, 0, 0, version, ""))
    assert not due(house)
    house.library.verified.store_calibration("ferns", GraphCalibration(0.0, MIN_JUDGED, 0, 0, "1", ""))
    assert due(house)


def test_nothing_is_calibrated_before_somebody_asks(house: Composition, tmp_path: Path) -> None:
    verify(house, MIN_JUDGED, wrong=0)
    entries = house.library.verified.listed("ferns")
    with closing(VerifiedQuestionStore(tmp_path / "verified.sqlite")) as store, house.library.open("ferns") as graph:
        store.add_all("ferns", entries)
        assert not is_due(graph, store)
        store.store_calibration("ferns", GraphCalibration(0.0, 0, 0, 0, graph.version, ""))
        assert is_due(graph, store)


def test_the_commands_calibrate_show_and_undo(
    house: Composition, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("NACRE_DATA", str(house.library.data))
    monkeypatch.setenv("NACRE_EMBEDDER", "none")
    verify(house, 32, wrong=12)
    words = "Of 32 verified questions that the rules answer alone, 20 are right as confirmed: probabilities are lower"
    assert main(["calibrate", "--verified", "--graph", "ferns"]) == 0
    assert words in capsys.readouterr().out
    assert main(["examples", "check", "--graph", "ferns"]) == 0
    assert words in capsys.readouterr().out
    assert main(["calibrate", "--undo", "--graph", "ferns"]) == 0
    main(["examples", "check", "--graph", "ferns"])
    assert "was undone" in capsys.readouterr().out
    main(["doctor"])
    assert "The calibration by verified questions was undone" in capsys.readouterr().out
    assert main(["calibrate"]) == 2
