"""Stores that are cut short or overwritten, under a running server and before it starts: it lives on and says what is
damaged, and every stream ends with an answer or an error."""

import json
import os
from pathlib import Path

import httpx
import pytest

GRAPHS = Path(__file__).parents[1] / "fixtures/graphs"
QUESTION = "How many pages does Granite have?"
# a slip, so that spellings are looked up, and words that no name has
OTHERS = ("How many pages dose Granyte have?", "Which of the books are about stones and weather?")


@pytest.fixture
def room(fresh, tmp_path):
    """A data folder of one's own with the graph `reading-room`."""
    assert fresh("ingest", GRAPHS / "reading_room.ttl", "--graph", "reading-room").returncode == 0
    return tmp_path / "data"


def files(room, store):
    version = json.loads((room / "reading-room/current").read_text())["version"]
    place = room / "reading-room/versions" / version / store
    return sorted(place.iterdir()) if place.is_dir() else [place]


def cut(file):
    os.truncate(file, file.stat().st_size // 3)


def garbled(file):
    """Other content of the same length, where it lies."""
    size = file.stat().st_size
    with file.open("r+b") as out:
        out.seek(size // 4)
        out.write(bytes(byte ^ 0x5A for byte in range(256)) * (size // 512 + 1))
        out.truncate(size)


def told(address, question):
    """The kinds of events of one turn, without its tokens, and its record or error."""
    reply = httpx.post(f"{address}/api/ask", json={"question": question}, timeout=60)
    if reply.status_code != 200:
        return [reply.status_code], reply.json()
    events = [event.split("\n") for event in reply.text.strip().split("\n\n")]
    pairs = [
        ({line.split(": ")[0]: line.split(": ", 1)[1] for line in event if ": " in line and line[0] != ":"})
        for event in events
    ]
    kinds = [pair["event"] for pair in pairs if pair.get("event") in ("answer", "error", "done")]
    return kinds, json.loads(next(pair["data"] for pair in pairs if pair.get("event") in ("answer", "error")))


def test_an_index_of_words_that_is_cut_short_is_one_branch_less(room, serve):
    with serve(room) as (address, process):
        assert told(address, QUESTION)[1]["unavailable"] == {}
        for file in files(room, "lexical"):
            cut(file)
        for question in (QUESTION, *OTHERS):
            kinds, record = told(address, question)
            assert kinds == ["answer", "done"]
            assert "damaged" in record["unavailable"]["lexical"]
        assert told(address, QUESTION)[1]["values"] == [540]
        ready = httpx.get(f"{address}/readyz").json()
        assert ready["status"] == "degraded"
        assert "damaged" in ready["graphs"]["reading-room"]["unavailable"]["lexical"]
        assert process.poll() is None


def test_an_index_of_words_that_is_overwritten_ends_no_stream(room, serve):
    with serve(room) as (address, process):
        assert told(address, QUESTION)[0] == ["answer", "done"]
        for file in files(room, "lexical"):
            garbled(file)
        for question in (QUESTION, *OTHERS):
            assert told(address, question)[0] == ["answer", "done"]
        assert "damaged" in httpx.get(f"{address}/readyz").json()["graphs"]["reading-room"]["unavailable"]["lexical"]
        assert process.poll() is None


@pytest.mark.parametrize("damage", [cut, garbled])
@pytest.mark.parametrize("store", ["lexicon.words", "lexicon.sqlite"])
def test_names_that_are_damaged_are_told(room, serve, fresh, store, damage):
    with serve(room) as (address, process):
        assert told(address, QUESTION)[0] == ["answer", "done"]
        for file in files(room, store):
            damage(file)
        for question in (QUESTION, *OTHERS):
            kinds, said = told(address, question)
            assert kinds in (["answer", "done"], ["error", "done"], [422]), said
            assert "Internal error" not in json.dumps(said)
            if damage is cut:
                assert "damaged" in json.dumps(said)
        if (store, damage) != ("lexicon.sqlite", garbled):
            assert "damaged" in httpx.get(f"{address}/readyz").json()["graphs"]["reading-room"]["problem"]
        assert process.poll() is None
    with serve(room) as (address, process):
        kinds, said = told(address, QUESTION)
        assert kinds in (["answer", "done"], ["error", "done"], [422]), said
        assert "Internal error" not in json.dumps(said)
        assert process.poll() is None
    asked = fresh("ask", QUESTION)
    assert asked.returncode in (0, 1, 2)
    assert "Traceback" not in asked.stderr


def test_vectors_that_are_cut_short_are_one_branch_less(room, serve):
    with serve(room) as (address, process):
        assert told(address, QUESTION)[1]["unavailable"] == {}
        for file in (room / "reading-room/vectors").rglob("*"):
            if file.is_file() and "shard" in file.parts:
                cut(file)
        # the last is searched for by meaning
        for question in (QUESTION, *OTHERS):
            kinds, record = told(address, question)
            assert kinds == ["answer", "done"]
        assert "damaged" in record["unavailable"]["vector"]
        assert process.poll() is None
