"""The same again gives the same: stores byte by byte, answers word by word, whatever order Python's sets come in."""

import json
from pathlib import Path

GRAPHS = Path(__file__).parents[1] / "fixtures/graphs"
QUESTIONS = [
    "How many pages does Granite have?",
    "And The Salt Road?",
    "Which of them is longer?",
    "Which novels have more than 300 pages?",
    "Who wrote the most books?",
    "What is the average number of pages of the books of Mira Oake?",
    "Tell me about Signal Box.",
]
MEASURED = {"seconds", "first_token_seconds", "version", "thread"}


def test_two_ingests_and_two_runs_are_alike(nacre, begin, tmp_path):
    file = tmp_path / "q.jsonl"
    asked = [{"id": str(i), "conversation": "c", "turn": i, "question": q} for i, q in enumerate(QUESTIONS)]
    file.write_text("".join(json.dumps(question) + "\n" for question in asked))
    runs = []
    for seed in ("1", "2"):
        settings = {"PYTHONHASHSEED": seed, "NACRE_DATA": str(tmp_path / seed)}
        made = nacre("ingest", GRAPHS / "reading_room.ttl", "--graph", "room", **settings)
        assert made.returncode == 0, made.stderr
        out = tmp_path / f"p{seed}.jsonl"
        done = nacre("eval", file, "--out", out, **settings)
        assert done.returncode == 0, done.stderr
        (folder,) = (tmp_path / seed / "room/versions").iterdir()
        stores = {name: (folder / name).read_bytes() for name in ("graph.sqlite", "passages.sqlite", "lexicon.sqlite")}
        runs.append(([without_times(json.loads(line)) for line in out.read_text().splitlines()], stores, made.stdout))
    (first, stores, told), (second, stores_again, told_again) = runs
    assert first == second
    assert [name for name in stores if stores[name] != stores_again[name]] == []
    assert told.splitlines()[1:3] == told_again.splitlines()[1:3]
    assert sum(bool(record["values"]) for record in first) >= 5


def without_times(record):
    """The record without what a clock or a name by chance decides."""
    kept = {key: value for key, value in record.items() if key not in MEASURED}
    kept["queries"] = [{key: value for key, value in query.items() if key != "seconds"} for query in record["queries"]]
    return kept
