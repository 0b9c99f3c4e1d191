"""Words of questions name things, kinds, properties and values; the pairs in fixtures/understanding are extended
without Python.
"""

import re
from typing import Any

import pytest

from nacre.language.tokens import tokenize
from nacre.records.turn import Rewrite
from nacre.stores.sqlite.lexicon import Lexicon
from nacre.stores.sqlite.tables import Tables
from nacre.understanding.linking import name_candidates
from nacre.understanding.linking.link_mentions import linker_of
from nacre.understanding.linking.name_candidates import NameCandidate
from nacre.understanding.understand import understand
from tests.support.understanding_pairs import pairs

KINDS = ("entity", "class", "predicate", "flag", "value")


@pytest.mark.parametrize("case", pairs("linking"))
def test_best_candidate(case: dict[str, Any], small_graphs: dict[str, tuple[Tables, Lexicon]]) -> None:
    lexicon = small_graphs[case["graph"]][1]
    found = _linked(case["ask"], lexicon)
    if case.get("nothing"):
        assert found == []
        return
    kind = next(k for k in KINDS if k in case)
    assert [(kind, case[kind])] == [(c.kind, _label(c, lexicon)) for c in found[:1]]
    if "of" in case:
        same = [c for c in found if c.exact and _label(c, lexicon) == case[kind]]
        assert sorted(lexicon.schema.class_of[c.classes[0]].label for c in same) == sorted(case["of"])


def test_a_right_word_that_names_nothing_may_be_a_slip(small_graphs: dict[str, tuple[Tables, Lexicon]]) -> None:
    tables, lexicon = small_graphs["transit"]
    slip = understand(Rewrite("how many despots are there?"), tables.schema, lexicon)
    assert slip.readings[0].words == "the number of depots"
    # it may be meant, which is not enough to be told for sure
    assert slip.readings[0].unused == ("despots",)
    assert slip.unknown == ()
    other = understand(Rewrite("how many oceans are there?"), tables.schema, lexicon)
    assert [word for word, _ in other.unknown] == ["oceans"]


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("wich trams are stabled at Slipway Yard?", {"Slipway Yard"}),
        ("Whats the capacty of Harbour Gate", {"Harbour Gate"}),
        ("Hello, which vehicless are maintained at Millbrok, please?", {"Millbrok"}),
    ],
)
def test_a_name_is_cut_from_the_question_as_typed(
    question: str, names: set[str], small_graphs: dict[str, tuple[Tables, Lexicon]]
) -> None:
    tables, lexicon = small_graphs["transit"]
    understanding = understand(Rewrite(question), tables.schema, lexicon)
    mentions = [*understanding.mentions, *understanding.candidates, *(each.mention for each in understanding.named)]
    assert {each.text for each in mentions if each.kind == "entity"} >= names
    assert all(question[each.start : each.end] == each.text for each in mentions)
    words = {word.strip("?,.") for word in question.split()}
    assert all(word in words for each in mentions for word in each.text.split())


def test_dictionaries_of_other_languages_are_read_for_everyday_words_alone(
    small_graphs: dict[str, tuple[Tables, Lexicon]], monkeypatch: pytest.MonkeyPatch
) -> None:
    languages: list[str] = []

    def is_known(word: str, lang: str) -> bool:
        languages.append(lang)
        return False

    monkeypatch.setattr(name_candidates, "is_known", is_known)
    lexicon = small_graphs["transit"][1]
    assert [_label(each, lexicon) for each in _linked("who owns the [kestrel]?", lexicon)] == ["Kestrel"]
    assert {*languages} <= {"en"}


def _linked(marked: str, lexicon: Lexicon) -> list[NameCandidate]:
    """The candidates over exactly the words in brackets, best first."""
    before, said, _ = re.split(r"[\[\]]", marked)
    span = len(tokenize(before)), len(tokenize(before)) + len(tokenize(said))
    linker = linker_of(lexicon)
    question = linker.spelling.correct(re.sub(r"[\[\]]", "", marked))
    return [c for c in linker.link(tokenize(question)) if (c.start, c.end) == span]


def _label(candidate: NameCandidate, lexicon: Lexicon) -> str:
    """What it names; for one name of many things the words said."""
    if candidate.kind == "value":
        return candidate.value
    if candidate.kind == "entity" and len(candidate.keys) == 1:
        thing = lexicon.thing(candidate.keys[0])
        return thing.label if thing else ""
    return candidate.label
