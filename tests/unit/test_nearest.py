"""What is nearest to a question: likeness by words, and which facts are shown with which first sentence."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

from agents.answering.fallbacks import draft_matches, draft_nearest, facts_beside
from agents.answering.select_answer import gives_opposite, is_refused, select_answer_rows
from nacre.access.likeness import text_forms, word_likenesses
from nacre.extensions.nearest.facts import nearest_sentences, question_forms
from nacre.language.tokens import tokenize
from nacre.records.evidence import EvidenceSentence, Nearness, Rows, Table
from nacre.records.plan import Attribute, Itself, Plan, Profile, Select, Variable
from nacre.records.schema import Schema
from nacre.records.turn import Mention, NamedThing, Reading, Understanding
from nacre.stores.sqlite.lexicon import Lexicon, LexiconWord
from nacre.understanding.mentions import absent_names
from nacre.understanding.question.analyse import question_of_tokens

SCHEMA = Schema((), (), (), (), {}, 0, 0)
BOATS = Plan(Select((Itself("x"),), (Variable("x", ("Boat",)),)))
OTTER = Mention("Otter", 0, 5, "entity", "otter", "Otter", 1.0)
EVERYTHING = Reading(
    Plan(Profile(Select((Itself("x"),), (Variable("x", keys=("otter",)),)))), 1.0, 1.0, "everything about Otter", 1.0
)
NAMED = NamedThing(OTTER, EVERYTHING)


def boats(unused: tuple[str, ...], probability: float = 0.9) -> tuple[Understanding, Rows]:
    reading = Reading(BOATS, 1.0, 1.0, "boats", probability, unused)
    rows = Rows(
        "sql", 1, Table(("boat",), (("Otter",), ("Heron",)), (("otter",), ("heron",))), words="boats", reading=0
    )
    return Understanding("which boat sank?", readings=(reading,)), rows


def fact(text: str, likeness: float, thing: str = "otter", chance: float = 0.0) -> EvidenceSentence:
    return EvidenceSentence("lexical", 1, text, "Otter", keys=("otter",), nearness=Nearness(likeness, thing, chance))


def test_forms_and_stems_of_a_word_are_like_it() -> None:
    sentences = [text_forms(text) for text in ("It leaked in March.", "He is allergic to dust.", "A tree.")]
    assert word_likenesses(question_forms("Did it leak?"), sentences) == [1.0, 0.0, 0.0]
    assert word_likenesses(question_forms("any allergies?"), sentences) == [0.0, 1.0, 0.0]


@pytest.mark.parametrize(("unused", "refused"), [(("sank",), True), ((), False), (("available",), False)])
def test_all_things_of_a_class_answer_only_what_leaves_no_word_out(unused: tuple[str, ...], refused: bool) -> None:
    understanding, rows = boats(unused)
    assert is_refused(understanding, rows) == refused
    assert (select_answer_rows(understanding, [rows]) is None) == refused


def test_rows_without_a_named_thing_do_not_answer() -> None:
    understanding, rows = boats(("otter",))
    reading = replace(understanding.readings[0], plan=Plan(replace(BOATS.body, limit=2)))  # type: ignore[arg-type]
    understanding = replace(understanding, readings=(reading,))
    assert not is_refused(understanding, rows)
    assert is_refused(replace(understanding, named=(NAMED,)), rows)


def test_three_facts_are_shown_and_the_nearest_first() -> None:
    understanding = Understanding("any safety bits on the Otter?", unknown=(("bits", ""),), named=(NAMED,))
    evidence = [fact(f"Otter has {n} masts.", score) for n, score in ((1, 0.1), (2, 0.9), (3, 0.2), (4, 0.05))]
    draft = draft_nearest(understanding, evidence, SCHEMA)
    assert draft is not None
    assert (draft.status, draft.values) == ("partial", ())
    assert [indexes for _, indexes in draft.sentences] == [(), (1,), (2,), (0,)]
    assert draft.sentences[0][0].startswith("I left out “bits”; this is what the graph says of Otter")
    assert draft.options == (EVERYTHING,)
    assert draft.things == (("otter", "Otter"),)


def test_facts_leave_room_for_what_is_offered_and_one_is_always_shown() -> None:
    understanding = Understanding("any safety bits on the Otter?", unknown=(("bits", ""),), named=(NAMED,))
    long, short = fact(f"Otter has {'very ' * 150}old sails.", 0.9), fact("Otter has 2 masts.", 0.8)
    draft = draft_nearest(understanding, [long, short], SCHEMA)
    assert draft is not None
    assert [indexes for _, indexes in draft.sentences] == [(), (1,)]
    alone = draft_nearest(understanding, [long], SCHEMA)
    assert alone is not None
    assert [indexes for _, indexes in alone.sentences] == [(), (0,)]


def test_a_list_of_other_things_is_no_fact_of_a_thing() -> None:
    predicate = SimpleNamespace(
        role="fact", label="boat", datatype="text", minimum=None, domains={}, ranges={}, has_literals=False
    )
    linked = SimpleNamespace(predicate_of={"in": predicate}, class_of={})
    graph = SimpleNamespace(lexicon=SimpleNamespace(embedder=None), schema=linked)
    listed = EvidenceSentence(
        "lexical", 1, f"Otter is the boat of {'Ann, ' * 30}Bob.", triples=(("ann", "in", "otter"),)
    )
    own = replace(listed, text="Otter is the boat of Ann.")
    near = nearest_sentences("who?", "who?", OTTER, [listed, own], cast(Any, graph))
    assert [each.text for each in near] == [own.text]


def test_a_code_that_has_a_word_of_the_name_is_a_fact() -> None:
    predicate = SimpleNamespace(role="fact", label="code", datatype="text", minimum=None, domains={}, ranges={})
    schema = SimpleNamespace(predicate_of={"code": predicate}, class_of={})
    graph = SimpleNamespace(lexicon=SimpleNamespace(embedder=None), schema=schema)
    code = EvidenceSentence("lexical", 1, "Otter's code is S.OTTER.", triples=(("otter", "code", "S.OTTER"),))
    name = EvidenceSentence("lexical", 1, "Otter's code is Otter.", triples=(("otter", "code", "Otter"),))
    near = nearest_sentences("what code?", "what code?", OTTER, [code, name], cast(Any, graph))
    assert [each.text for each in near] == [code.text]


def test_a_word_that_names_of_the_graph_have_is_not_absent() -> None:
    class Words:
        def word(self, text: str) -> LexiconWord | None:
            return LexiconWord(1, text, text, 9, 9, False, 2) if text == "otter" else None

    question = question_of_tokens(tokenize("Which Otter does Quux sail?"))
    unknown = (("Otter", ""), ("Quux", ""))
    assert absent_names(unknown, question, cast(Lexicon, Words())) == ("Quux",)


def test_sentences_that_are_not_like_the_question_are_not_shown() -> None:
    assert draft_nearest(Understanding("who ate?"), [fact("Otter has a mast.", 0.1, thing="")], SCHEMA) is None
    assert draft_nearest(Understanding("who ate?"), [fact("Otter ate.", 0.9, thing="")], SCHEMA) is not None


LENGTH = Plan(Select((Attribute("x", "length"),), (Variable("x", keys=("otter",)),)))


def length(reading: Reading, text: str) -> tuple[Understanding, Rows]:
    """Rows of a reading that looks up the length of Otter."""
    rows = Rows("sql", 1, Table(("length",), ((9,),)), words=reading.words, reading=0, probability=0.7)
    return Understanding(text, readings=(reading,), named=(NAMED,)), rows


@pytest.mark.parametrize(
    ("text", "unused", "refused"),
    [
        ("when is the Otter really lying", ("lying",), True),
        ("what length has the Otter lying there", ("lying",), False),
        ("how long is the Otter", (), False),
    ],
)
def test_rows_of_which_only_the_name_is_in_the_question_leave_no_word_out(
    text: str, unused: tuple[str, ...], refused: bool
) -> None:
    understanding, rows = length(Reading(LENGTH, 1.0, 1.0, "the length of Otter", unused=unused, own=True), text)
    assert is_refused(understanding, rows) == refused


@pytest.mark.parametrize(("text", "refused"), [("when was the Otter made", False), ("who made the Otter", True)])
def test_a_date_uses_the_word_that_asks_for_it(text: str, refused: bool) -> None:
    understanding, rows = length(Reading(LENGTH, 1.0, 1.0, "the launch of Otter", unused=("made",), own=True), text)
    assert is_refused(understanding, replace(rows, table=Table(("launch",), (("1999-05-02",),)))) == refused


def test_a_word_that_is_left_out_may_mean_the_opposite() -> None:
    reading = Reading(LENGTH, 1.0, 1.0, "when Otter opens", unused=("shut",), own=True)
    understanding, rows = length(reading, "at what hour does the Otter shut")
    assert gives_opposite(understanding, rows)
    assert select_answer_rows(understanding, [rows]) is None
    assert not gives_opposite(*length(replace(reading, unused=("shop",)), "at what hour does the Otter shop"))


@pytest.mark.parametrize(("likeness", "unused", "is_chosen"), [
    (0.02, ("lying",), False), (0.4, ("lying",), True), (None, ("lying",), True), (0.02, (), True),
])  # fmt: skip
def test_a_property_that_is_unlike_the_question_does_not_answer_if_words_are_left_out(
    likeness: float | None, unused: tuple[str, ...], is_chosen: bool
) -> None:
    reading = Reading(LENGTH, 1.0, 1.0, "the length of Otter", unused=unused, own=True, likeness=likeness)
    understanding, rows = length(reading, "what length has the Otter lying there")
    assert (select_answer_rows(understanding, [rows]) is not None) == is_chosen


def test_near_facts_stand_beside_unsure_rows_after_one_doubt() -> None:
    reading = Reading(LENGTH, 1.0, 1.0, "the length of Otter", unused=("lying",), own=True)
    understanding, rows = length(reading, "what length has the Otter lying there")
    near = [fact(f"Otter has {n} masts.", 0.1 * n) for n in (1, 2, 3, 4, 5)]
    given = replace(fact("Otter is 9 m long.", 0.9), triples=(("otter", "length", "9"),))
    lead, *facts = facts_beside(understanding, [rows, *near, given], rows, is_offering=False)
    doubt = "I left out “lying”; if you meant something else, the graph says of Otter:"
    assert lead == (doubt, ())
    assert [indexes for _, indexes in facts] == [(5,), (4,), (3,)]
    assert facts_beside(understanding, [rows, near[0]], rows, is_offering=False) == ()
    offered = facts_beside(understanding, [rows, *near], rows, is_offering=True)
    assert offered[0][0] == "The graph also says of Otter:"


def test_things_whose_text_has_all_words_answer() -> None:
    sure, unsure = fact("Otter sank in a storm.", 1.0, chance=0.9), fact("Otter sank.", 1.0, chance=0.6)
    assert draft_matches([fact("Otter sails.", 0.5)]) is None
    for sentence, status in ((sure, "answered"), (unsure, "clarify")):
        draft = draft_matches([sentence])
        assert draft is not None
        assert (draft.status, draft.values, draft.confidence) == (status, ("Otter",), sentence.nearness.chance)  # type: ignore[union-attr]


def test_values_of_the_nearest_property_are_listed_and_the_property_is_offered() -> None:
    def deep(name: str, value: str) -> EvidenceSentence:
        triples = ((name, "depth", value),)
        return EvidenceSentence("lexical", 1, f"The depth of {name} is {value}.", name, triples=triples,
                                nearness=Nearness(0.5, name))  # fmt: skip

    values = [deep("Otter", "3 m"), deep("Heron", "2 m"), deep("Wren", "1 m"), deep("Swift", "4 m")]
    depths = Reading(BOATS, 0.0, 0.0, "the depths of the boats", near=True)
    understanding = Understanding("which boat is shallow?", readings=(*boats(("shallow",))[0].readings, depths))
    draft = draft_nearest(understanding, values, SCHEMA)
    assert draft is not None
    assert [indexes for _, indexes in draft.sentences] == [(), (0,), (1,), (2,)]
    assert (draft.status, draft.values, draft.options, draft.things) == ("partial", (), (depths,), ())


def test_near_texts_without_a_named_thing_stand_beside_rows_that_leave_words_out() -> None:
    understanding, rows = boats(("sank",))
    near = [fact("Otter sank.", 0.6), fact("Otter sails.", 0.3)]
    lead, *facts = facts_beside(understanding, [rows, *near], rows, is_offering=True)
    assert lead == ("The graph also says:", ())
    assert facts == [("Otter sank.", (1,))]
    complete, rows = boats(())
    assert facts_beside(complete, [rows, *near], rows, is_offering=True) == ()
