"""The resources of general English hold what their readers rely on."""

from collections import Counter
from itertools import combinations
from pathlib import Path

import pytest
import yaml

from nacre.language import thesaurus as english
from nacre.language.thesaurus import concept_phrases, english_data, gradable_adjective, synonyms
from nacre.language.tokens import lemma, tokenize
from tests.support.read_yaml import LOADER, read_yaml

LANGUAGE = Path(english.__file__).parent
THESAURUS = LANGUAGE / "en" / "synonyms.yaml"
OPPOSITES = [
    ("start", "end"),
    ("begin", "finish"),
    ("open", "close"),
    ("birth", "death"),
    ("born", "die"),
    ("buyer", "seller"),
    ("buy", "sell"),
    ("sender", "recipient"),
    ("export", "import"),
    ("winner", "loser"),
    ("win", "lose"),
    ("arrive", "depart"),
    ("arrival", "departure"),
    ("entrance", "exit"),
    ("hire", "dismiss"),
    ("join", "leave"),
    ("successor", "predecessor"),
    ("next", "previous"),
    ("parent", "child"),
    ("mother", "wife"),
    ("mother", "father"),
    ("husband", "wife"),
    ("son", "daughter"),
    ("brother", "sister"),
    ("teacher", "student"),
    ("landlord", "tenant"),
    ("lender", "borrower"),
    ("employer", "employee"),
    ("profit", "loss"),
    ("revenue", "cost"),
    ("increase", "decrease"),
    ("maximum", "minimum"),
    ("approve", "reject"),
    ("enable", "disable"),
    ("active", "inactive"),
    ("legal", "illegal"),
    ("north", "south"),
    ("inside", "outside"),
    ("advantage", "disadvantage"),
    ("predator", "prey"),
    ("plaintiff", "defendant"),
    ("mandatory", "optional"),
    ("rare", "common"),
    ("cheap", "expensive"),
    ("latitude", "longitude"),
]


def _thesaurus() -> dict[str, list[list[str]] | dict[str, list[str]]]:
    read: dict[str, list[list[str]] | dict[str, list[str]]] = read_yaml(THESAURUS)
    return read


GROUPS = [tuple(group) for group in _thesaurus()["synonyms"]]


def test_groups_are_small_and_say_each_word_once() -> None:
    wrong = [group for group in GROUPS if not 2 <= len(group) <= 10 or len(set(group)) < len(group)]
    assert not wrong


def test_no_group_lies_within_another() -> None:
    sets = [frozenset(group) for group in GROUPS]
    holding: dict[str, list[frozenset[str]]] = {}
    for group in sets:
        for word in group:
            holding.setdefault(word, []).append(group)
    twice = [group for group, count in Counter(sets).items() if count > 1]
    within = [group for group in sets if any(group < other for other in holding[min(group)])]
    assert not twice
    assert not within


def test_words_are_lemmas_in_lower_case() -> None:
    # "opening" alone is read as the verb, "openings" as the noun; "found" is the lemma of "founded"
    wrong = [
        word
        for word in {word for group in GROUPS for word in group}
        if word != word.lower() or word not in {lemma(word), lemma(word + "s"), lemma(word + "ed")}
    ]
    assert not wrong


@pytest.mark.parametrize(("one", "other"), OPPOSITES)
def test_opposites_share_no_group(one: str, other: str) -> None:
    assert other not in synonyms(one)


def test_the_opposites_are_words_of_the_thesaurus() -> None:
    known = {word for group in GROUPS for word in group}
    assert len({word for pair in OPPOSITES for word in pair} & known) > len(OPPOSITES)


def test_synonyms_go_both_ways() -> None:
    for group in GROUPS:
        for one, other in combinations(group, 2):
            assert other in synonyms(one)
            assert one in synonyms(other)


def test_phrases_are_of_several_lemmas_and_ask_for_lemmas() -> None:
    for phrase, concepts in concept_phrases().items():
        assert len(phrase) > 1, phrase
        assert concepts, phrase
        assert len(set(concepts)) == len(concepts), phrase
        assert all(lemma(concept) == concept or lemma(concept + "ed") == concept for concept in concepts), phrase


def test_no_two_phrases_have_the_same_lemmas() -> None:
    assert len(concept_phrases()) == len(_thesaurus()["phrases"])


@pytest.mark.parametrize(
    "question", ["what is the vase made of", "who was in charge of it", "where did they take place"]
)
def test_a_phrase_is_found_by_the_lemmas_of_a_question(question: str) -> None:
    lemmas = tuple(token.lemma for token in tokenize(question))
    spans = {lemmas[i:j] for i, j in combinations(range(len(lemmas) + 1), 2)}
    assert spans & concept_phrases().keys()


def test_measures_have_a_direction_and_properties() -> None:
    for word, (direction, *concepts) in english_data()["measures"].items():
        assert direction in ("up", "down"), word
        assert concepts, word


@pytest.mark.parametrize(
    ("said", "descending", "first"),
    [
        ("busiest", True, "passenger"),
        ("rarer", False, "frequency"),
        ("driest", False, "rainfall"),
        ("steepest", True, "slope"),
        ("calmest", False, "wind"),
    ],
)
def test_forms_of_adjectives_are_read(said: str, descending: bool, first: str) -> None:
    read = gradable_adjective(tokenize(said)[0])
    assert read is not None
    assert read.degree != "positive"
    assert (read.descending, read.concepts[0]) == (descending, first)


def _root(path: Path) -> yaml.Node:
    node = yaml.compose(path.read_text(encoding="utf-8"), Loader=LOADER)
    assert node is not None
    return node


WORD_LISTS = [path for path in sorted(LANGUAGE.rglob("*.yaml")) if isinstance(_root(path), yaml.MappingNode)]


@pytest.mark.parametrize("path", WORD_LISTS, ids=lambda path: path.name)
def test_no_class_of_words_is_named_twice(path: Path) -> None:
    names = [key.value for key, _ in _root(path).value]
    assert len(names) == len(set(names))
