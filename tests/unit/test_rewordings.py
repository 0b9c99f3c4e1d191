import re
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import OSA

from evaluation.branches import compared
from evaluation.orders import orders
from evaluation.reword import KINDS, filler, polite, reworded, rewordings, synonym, typo
from evaluation.robust import Kept, failing, kept
from evaluation.wording import resource

QUESTIONS = [
    {"id": "1", "question": "What is the length of the Amber Bridge?", "answers": [12], "conversation": "c", "turn": 1},
    {"id": "2", "question": "And its height?", "answers": [3], "conversation": "c", "turn": 2},
    {"id": "3", "question": "Which painter was born in Harbour Town?", "answers": ["Ann Lee"]},
]
WORDS = st.sampled_from("which what painter bridges standing Harbour 1459 x5 xDrive40d the of in 40d".split())


@given(st.lists(WORDS, min_size=1, max_size=9), st.integers())
def test_a_typo_is_one_slip_in_one_long_word_and_never_in_a_number(words, seed):
    question = " ".join(words)
    other = typo(question, Random(seed))
    if other is None:
        assert not any(len(word) >= 6 and word.isalpha() for word in words)
        return
    changed = [(a, b) for a, b in zip(words, other.split(), strict=True) if a != b]
    assert len(changed) == 1
    ((before, after),) = changed
    assert OSA.distance(before, after) == 1
    assert before.isalpha()
    assert len(before) >= 6
    assert before[0] == after[0]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("which country is Ann Lee from", ["From which country is Ann Lee?"]),
        ("in which town was Ann Lee born", ["which town was Ann Lee born in?"]),
        ("what is the age of Ann Lee", ["Ann Lee: what is its age?", "The age of Ann Lee, what is that?"]),
        (
            "what is the oldest bridge in Harbour Town",
            ["In Harbour Town, what is the oldest bridge?", "The oldest bridge in Harbour Town, what is that?"],
        ),
        ("how many bridges are in Harbour Town", ["In Harbour Town, how many bridges are there?"]),
        ("how old is Ann Lee", ["Ann Lee: how old?"]),
        # the phrase belongs to a noun, not to the question
        ("which gallery has a painter from Harbour Town", []),
        ("name a gallery that has a painter from Harbour Town", []),
        ("what is the age of all the painters", ["The age of all the painters, what is that?"]),
        ("which painters are older than Ann Lee", []),
        ("who painted the bridge", []),
    ],
)
def test_orders(question, expected):
    assert orders(question) == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("which painters live here?", {"what painters live here?"}),
        ("How much does the bell cost?", {"What is the price of the bell?"}),
        ("how many painters live in town?", {"what is the number of painters that live in town?"}),
        ("show the largest bridge", {"list the largest bridge", "show the biggest bridge?", "show the biggest bridge"}),
        ("the bell", {None}),
    ],
)
def test_synonyms(question, expected):
    assert {synonym(question, Random(seed)) for seed in range(20)} <= expected


def test_every_synonym_changes_what_it_fits():
    for pattern, other in resource()["synonyms"]:
        assert re.compile(pattern)
        assert other.strip()


@pytest.mark.parametrize("question", ["Which bell is old?", "Name a bell.", "the old bell", "Is it old?"])
def test_requests_and_fillers_keep_the_question(question):
    for seed in range(20):
        for said in (polite(question, Random(seed)), filler(question, Random(seed))):
            assert question[1:-1] in said
            assert len(said) > len(question)


def test_five_rewordings_each_of_another_kind_where_it_fits():
    found = list(rewordings("What is the length of the Amber Bridge?", "1"))
    assert [kind for kind, _ in found] == list(KINDS)
    assert len({question for _, question in found}) == 5
    assert len(list(rewordings("old bell", "1"))) == 5


def test_rewordings_are_the_same_for_a_seed_and_name_what_they_reword():
    found = reworded(QUESTIONS, seed=3, count=9)
    assert found == reworded(QUESTIONS, seed=3, count=9)
    assert found != reworded(QUESTIONS, seed=4, count=9)
    assert {gold["original"] for gold in found} == {"1", "3"}
    assert all(gold["conversation"] is None for gold in found)
    assert {gold["id"]: gold["answers"] for gold in found}["3~2"] == ["Ann Lee"]
    assert len({gold["id"] for gold in found}) == len(found) == 10


def test_only_rewordings_of_right_answers_count():
    lines = [
        {"id": "1~1", "question": "?", "original": "1", "rewording": "typo"},
        {"id": "1~2", "question": "??", "original": "1", "rewording": "polite", "answers": [12]},
        {"id": "3~1", "question": "???", "original": "3", "rewording": "typo"},
    ]
    assert kept(lines, before={"1"}, after={"1~1", "3~1"}) == [
        Kept("polite", 1, 0),
        Kept("typo", 1, 1),
        Kept("together", 2, 1),
    ]
    told = failing(QUESTIONS, lines, {}, {"1~2"})
    assert len(told) == 1
    assert "polite: ??\n  at first: What is the length of the Amber Bridge?\n  expected: [12]" in told[0]


def test_what_a_branch_alone_knows_is_not_lost():
    sql, vector, anyone = compared({1, 2}, {"sql": {1, 3}, "vector": {2, 4}})
    assert (sql.right, sql.lost, vector.lost) == (2, (3,), (4,))
    assert (anyone.right, anyone.lost) == (4, (3, 4))
