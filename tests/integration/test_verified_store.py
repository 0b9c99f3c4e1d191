"""The store of verified questions: who may use which, contradictions, approval, deletion, and bounded look-ups."""

import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from nacre.records.turn import VerifiedQuestion, question_id, question_words, values_hash, values_kind
from nacre.stores.state.verified_questions import MAX_CANDIDATES, VerifiedQuestionStore

PLAN = {"body": {"kind": "overview"}, "version": 1}
GRAPH = "mills"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[VerifiedQuestionStore]:
    opened = VerifiedQuestionStore(tmp_path / "verified.sqlite")
    yield opened
    opened.close()


def entry(question: str, by: str = "ann", values: tuple[object, ...] = (3,), **fields: object) -> VerifiedQuestion:
    made = VerifiedQuestion(
        question_id(GRAPH, question), question, question, PLAN, None, values_hash(values), values_kind(values), by,
        "2026-05-03T10:00:00Z", "v1",
    )  # fmt: skip
    return replace(made, **fields)  # type: ignore[arg-type]


def test_reading_creates_no_file(store: VerifiedQuestionStore, tmp_path: Path) -> None:
    assert store.usable(GRAPH, "ann") == ()
    assert store.find(GRAPH, "ann", "How many?") is None
    assert list(tmp_path.iterdir()) == []


def test_an_entry_answers_its_owner_until_it_is_approved(store: VerifiedQuestionStore) -> None:
    added = store.add(GRAPH, entry("How many mills grind rye?"))
    assert store.find(GRAPH, "ann", "how many MILLS grind rye") == added
    assert store.find(GRAPH, "bob", "How many mills grind rye?") is None
    assert store.usable(GRAPH, "bob") == ()
    assert store.similar(GRAPH, "bob", question_words(added.question)) == ()
    approved = store.approve(GRAPH, added.id, "ann")
    assert approved is not None
    assert store.find(GRAPH, "bob", "How many mills grind rye?") == approved
    assert store.usable(GRAPH, "bob") == store.similar(GRAPH, "bob", ["rye"]) == (approved,)
    assert store.find("barns", "bob", "How many mills grind rye?") is None


def test_entries_outlive_the_process(store: VerifiedQuestionStore, tmp_path: Path) -> None:
    added = store.add(GRAPH, entry("How many mills grind rye?", approved=True))
    store.close()
    again = VerifiedQuestionStore(tmp_path / "verified.sqlite")
    assert again.usable(GRAPH, "bob") == (added,)
    again.close()
    assert (tmp_path / "verified.sqlite").stat().st_mode & 0o077 == 0


def test_two_people_who_contradict_are_both_set_aside_and_listed(store: VerifiedQuestionStore) -> None:
    first = store.add(GRAPH, entry("How many mills grind rye?", approved=True))
    second = store.add(GRAPH, entry("How many mills grind rye?", by="bob", values=(4,), approved=True))
    for owner in ("ann", "bob", "eve"):
        assert store.find(GRAPH, owner, first.question) is None
        assert store.usable(GRAPH, owner) == store.similar(GRAPH, owner, ["rye"]) == ()
    listed = store.listed(GRAPH, states=("contradicted",))
    assert {each.by for each in listed} == {"ann", "bob"}
    # the note names nobody: who may not approve sees it too
    assert {each.note for each in listed} == {"other values were confirmed for the same question"}
    assert store.remove(GRAPH, second.id, "bob")
    assert store.find(GRAPH, "eve", first.question) == first


def test_two_people_without_approval_contradict(store: VerifiedQuestionStore) -> None:
    store.add(GRAPH, entry("How many mills grind rye?"))
    store.add(GRAPH, entry("How many mills grind rye?", by="bob", values=(4,)))
    assert store.usable(GRAPH, "ann") == store.usable(GRAPH, "bob") == ()


def test_an_entry_without_approval_does_not_stop_an_approved_one(store: VerifiedQuestionStore) -> None:
    approved = store.add(GRAPH, entry("How many mills grind rye?", approved=True))
    store.add(GRAPH, entry("How many mills grind rye?", by="mal", values=(4,)))
    assert store.find(GRAPH, "eve", approved.question) == approved
    # whoever contradicts gets neither
    assert store.find(GRAPH, "mal", approved.question) is None
    assert store.usable(GRAPH, "mal") == store.similar(GRAPH, "mal", ["rye"]) == ()


def test_equal_values_do_not_contradict_and_the_own_entry_comes_first(store: VerifiedQuestionStore) -> None:
    store.add(GRAPH, entry("How many mills grind rye?", approved=True))
    own = store.add(GRAPH, entry("How many mills grind rye", by="bob"))
    assert store.usable(GRAPH, "bob") == store.similar(GRAPH, "bob", ["mills", "rye"]) == (own,)


def test_a_new_plan_loses_the_approval(store: VerifiedQuestionStore) -> None:
    store.add(GRAPH, entry("How many mills grind rye?", approved=True))
    assert store.add(GRAPH, entry("How many mills grind rye?")).approved
    other = entry("How many mills grind rye?", plan=None, query={"tool": "sql", "text": "SELECT 4"})
    assert not store.add(GRAPH, other).approved


def test_a_check_changes_what_is_used_but_not_a_newer_confirmation(store: VerifiedQuestionStore) -> None:
    added = store.add(GRAPH, entry("How many mills grind rye?", approved=True))
    store.record_check(GRAPH, replace(added, state="empty", note="no rows"))
    assert store.usable(GRAPH, "eve") == store.similar(GRAPH, "eve", ["rye"]) == ()
    newer = store.add(GRAPH, entry("How many mills grind rye?", plan=None, query={"tool": "sql", "text": "SELECT 3"}))
    store.record_check(GRAPH, replace(added, state="failed"))
    assert store.find(GRAPH, "ann", added.question) == newer


def test_deletion_leaves_no_word_in_the_file(store: VerifiedQuestionStore, tmp_path: Path) -> None:
    store.add(GRAPH, entry("How many mills grind quinoa?"))
    store.add("barns", entry("Which barns hold quinoa?"))
    assert store.remove_all(owner="ann") == 2
    store.close()
    assert store.count(GRAPH) == 0
    store.close()
    assert all(b"quinoa" not in file.read_bytes() for file in tmp_path.iterdir())


def test_deletion_leaves_no_word_in_the_journal_while_the_file_is_open(
    store: VerifiedQuestionStore, tmp_path: Path
) -> None:
    added = store.add(GRAPH, entry("How many mills grind quinoa?"))
    assert store.remove(GRAPH, added.id, added.by)
    assert [file.name for file in tmp_path.iterdir() if b"quinoa" in file.read_bytes()] == []


def test_a_graph_is_forgotten_with_its_names_and_no_other(store: VerifiedQuestionStore, tmp_path: Path) -> None:
    store.forget_graph(GRAPH)
    assert list(tmp_path.iterdir()) == []
    store.add(GRAPH, entry("How many mills grind quinoa?"))
    store.note_graph(GRAPH, "v1", frozenset({"http://e.org/Quinoa"}), frozenset())
    store.add("barns", entry("Which barns hold rye?"))
    store.forget_graph(GRAPH)
    assert (store.count(GRAPH), store.known_graph(GRAPH), store.graphs()) == (0, None, ["barns"])
    assert [file.name for file in tmp_path.iterdir() if b"uinoa" in file.read_bytes()] == []


def test_the_similar_ones_share_rare_words_and_are_bounded(store: VerifiedQuestionStore) -> None:
    many = [entry(f"How many mills grind grain {n} in the valley?") for n in range(MAX_CANDIDATES * 4)]
    store.add_all(GRAPH, [*many, entry("Who owns the mill of Oberau?")])
    found = store.similar(GRAPH, "ann", question_words("Who built the mill of Oberau?"))
    assert found[0].question == "Who owns the mill of Oberau?"
    assert (
        len(store.similar(GRAPH, "ann", question_words("How many mills grind grain in the valley?"))) == MAX_CANDIDATES
    )
    assert len(store.usable(GRAPH, "ann", 7)) == 7


def test_search_treats_wildcards_as_text(store: VerifiedQuestionStore) -> None:
    store.add_all(GRAPH, [entry("What is 100% of it?"), entry("What is 100 of it?")])
    assert [each.question for each in store.listed(GRAPH, search="100%")] == ["What is 100% of it?"]


def test_a_damaged_file_is_an_error_of_sqlite(store: VerifiedQuestionStore, tmp_path: Path) -> None:
    (tmp_path / "verified.sqlite").write_text("no database " * 50)
    with pytest.raises(sqlite3.DatabaseError):
        store.usable(GRAPH, "ann")
