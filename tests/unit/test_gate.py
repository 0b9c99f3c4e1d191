import itertools
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from agents.answering.grounding_gate import GroundingGate, ShownEvidence
from nacre.records.evidence import EvidenceSentence, Rows, Table

EVIDENCE = (
    EvidenceSentence("lexical", 1, text="The pilaf cooks for 25 min.", title="pilaf"),
    EvidenceSentence("lexical", 1, text="The dal cooks for 35 min.", title="dal"),
    EvidenceSentence("lexical", 1, text="The porridge contains rice.", title="rice porridge"),
)
SHOWN = ShownEvidence([0, 1, 2])

pieces = st.sampled_from(
    ["The pilaf cooks", " for 25 min", " [1]", "[2]", "[1, 9] ", ". ", ".\n", "! ", "[", "]", "A", "1", " ", "\n"]
)
texts = st.one_of(st.text(max_size=200), st.lists(pieces, max_size=40).map("".join))


def opened() -> tuple[GroundingGate, list[str]]:
    tokens: list[str] = []
    return GroundingGate(EVIDENCE, tokens.append), tokens


def said(*chunks: str) -> GroundingGate:
    gate, tokens = opened()
    for chunk in chunks:
        gate.feed(chunk, SHOWN)
    gate.finish(SHOWN)
    assert "".join(tokens) == gate.answer
    return gate


@given(texts, st.lists(st.integers(0, 200), max_size=10))
def test_tokens_join_to_the_answer_however_the_text_is_cut(text: str, cuts: list[int]) -> None:
    places = sorted({min(cut, len(text)) for cut in cuts} | {0, len(text)})
    whole, parts = said(text), said(*(text[a:b] for a, b in itertools.pairwise(places)))
    assert parts.answer == whole.answer
    assert parts.cited == whole.cited
    assert parts.unsupported == whole.unsupported


@given(st.lists(st.tuples(texts, st.sets(st.integers(0, 2)).map(tuple)), max_size=6))
def test_tokens_join_to_the_answer_of_the_rules(sentences: list[tuple[str, tuple[int, ...]]]) -> None:
    gate, tokens = opened()
    for text, evidence in sentences:
        gate.say(text, evidence)
    assert "".join(tokens) == gate.answer


@given(texts)
def test_nothing_invisible_is_released(text: str) -> None:
    answer = said(text).answer
    assert not set(answer) & set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\x00\x07\x1b")


def test_citations_are_numbered_in_the_order_they_appear() -> None:
    gate = said("The dal cooks for 35 min [2]. The pilaf cooks for 25 min [1]. The dal is slower [2].")
    assert gate.answer == "The dal cooks for 35 min [1]. The pilaf cooks for 25 min [2]. The dal is slower [1]."
    assert gate.cited == [1, 0]


def test_a_citation_after_the_full_stop_belongs_to_its_sentence() -> None:
    assert said("The dal cooks for 35 min. [2] The pilaf cooks for 25 min. [1]").answer == (
        "The dal cooks for 35 min [1]. The pilaf cooks for 25 min [2]."
    )


def test_lines_of_a_list_stay_lines() -> None:
    gate = said("- The pilaf cooks for 25 min [1]\n- The dal cooks for 35 min [2]\n")
    assert gate.answer == "- The pilaf cooks for 25 min [1]\n- The dal cooks for 35 min [2]"


def test_abbreviations_and_decimals_end_no_sentence() -> None:
    gate = said("The pilaf cooks for approx. 25 min, i.e. not long [1]. The dal too [2].")
    assert gate.cited == [0, 1]
    gate = said("The pilaf (approx. Pilaf) cooks for 25 min [1].")
    assert "approx. Pilaf" in gate.answer


def test_a_full_stop_in_a_name_ends_no_sentence() -> None:
    released: list[str] = []
    led = Rows("sql", 1, table=Table(("body that Ann led",), (("Ohio. Department of Parks (1944-1969)",),)))
    gate = GroundingGate([led], released.append)
    gate.feed("The body that Ann led is Ohio. Department of Parks (1944-1969) [1]. Other", ShownEvidence([0]))
    gate.finish(ShownEvidence([0]))
    assert gate.answer.startswith("The body that Ann led is Ohio. Department of Parks (1944-1969) [1].")
    assert not gate.refused or gate.refused[0].text == "Other"


def test_a_number_that_is_no_evidence_is_dropped() -> None:
    gate = said("The pilaf cooks for 25 min [1] [7].")
    assert gate.answer == "The pilaf cooks for 25 min [1]."


def test_a_missing_citation_is_found() -> None:
    gate = said("The pilaf cooks for 25 min.")
    assert gate.answer == "The pilaf cooks for 25 min [1]."
    assert gate.unsupported == 1


def test_a_sentence_without_evidence_is_dropped() -> None:
    gate = said("Here is what I could find out for you. The dal cooks for 35 min [2].")
    assert gate.answer == "The dal cooks for 35 min [1]."
    assert gate.unsupported == 1


def test_a_sentence_without_evidence_gives_way_to_the_rules() -> None:
    gate, _ = opened()
    fallbacks = [("The porridge contains rice.", (2,)), ("The dal cooks for 35 min.", (1,))]
    gate.feed("Bananas are blue. Apples are made of glass.", replace(SHOWN, fallbacks=fallbacks))
    gate.finish(replace(SHOWN, fallbacks=fallbacks))
    assert gate.answer == "The porridge contains rice [1]. The dal cooks for 35 min [2]."


def test_the_same_sentence_is_said_once() -> None:
    assert said(*["The dal cooks for 35 min [2]. "] * 50).answer == "The dal cooks for 35 min [1]."


def test_what_broke_off_is_forgotten() -> None:
    gate, tokens = opened()
    gate.feed("The dal cooks for 35 min [2]. The pilaf coo", SHOWN)
    gate.discard()
    gate.say("The pilaf cooks for 25 min.", (0,))
    assert gate.answer == "The dal cooks for 35 min [1]. The pilaf cooks for 25 min [2]." == "".join(tokens)


def test_brackets_of_the_graph_are_no_citations() -> None:
    recipe = EvidenceSentence("lexical", 1, text="The recipe [3] cooks for 25 min.")
    gate = GroundingGate([recipe], lambda token: None)
    gate.say(recipe.text, (0,))
    assert gate.answer == "The recipe (3) cooks for 25 min [1]."


def test_a_false_number_or_name_is_not_released() -> None:
    gate = said("The pilaf cooks for 26 min [1]. The dal cooks for 35 min [2]. It came from Zanzibar [1].")
    assert gate.answer == "The dal cooks for 35 min [1]."
    assert gate.unsupported == 2


def test_a_wrong_citation_is_put_right() -> None:
    gate = said("The dal cooks for 35 min [1].")
    assert (gate.cited, gate.unsupported) == ([1], 1)


def test_the_rules_too_say_only_what_the_rows_hold() -> None:
    rows = Table(("dish",), (("dal",), ("pilaf",)))
    gate = GroundingGate([Rows("sql", 1, text="dish: dal; dish: pilaf", table=rows)], lambda token: None)
    gate.say("Goulash and 99 others.", (0,))
    assert gate.answer == "dal and pilaf [1]."


def test_a_value_that_ends_a_sentence_gives_no_second_full_stop() -> None:
    rows = Table(("club", "told"), (("Acme Ltd.", "An old club."),))
    gate = GroundingGate([Rows("sql", 1, text="club: Acme Ltd.; told: An old club.", table=rows)], lambda token: None)
    gate.say("The told of Acme is An old club..", (0,))
    gate.say("The club is Acme Ltd..", (0,))
    gate.say("The club is Acme!.", (0,))
    assert gate.answer == "The told of Acme is An old club [1]. The club is Acme Ltd. [1]. The club is Acme! [1]."


def test_a_first_sentence_that_nothing_replaces_is_reported_as_lost() -> None:
    gate = said("The pilaf cooks for 99 min [1]. The dal cooks for 35 min [2].")
    assert (gate.answer, gate.is_lead_lost) == ("The dal cooks for 35 min [1].", True)
    assert not said("The dal cooks for 35 min [2]. The pilaf cooks for 99 min [1].").is_lead_lost


def test_that_the_evidence_lacks_something_needs_no_citation_and_claims_nothing_else() -> None:
    gate = said("The evidence does not say who invented the pilaf. It does not say that the Korma cooks for 25 min.")
    assert gate.answer == "The evidence does not say who invented the pilaf."
    assert said("The evidence says nothing about the 40 Kormas.").answer == ""


def test_a_refused_sentence_says_what_is_wrong_with_it() -> None:
    gate, _ = opened()
    shown = replace(SHOWN, may_retry=True)
    gate.feed("The dal cooks for 35 min [2]. The dal cooks for 36 min [2]. ", shown)
    gate.feed("It was a mild year with much rain. The weather of the year was rather mild [1].", shown)
    gate.finish(shown)
    assert [each.why for each in gate.refused] == [
        "the evidence that it names does not have: 36 min",
        "it names no evidence that it rests on, such as [1]",
        "the evidence that it names does not have most of its words, or says the opposite",
    ]


def test_words_of_a_question_in_another_language_are_no_names_of_the_graph() -> None:
    year = Rows("sql", 1, text="year: 1782", table=Table(("year",), ((1782,),)), words="the year of the oldest bell")
    shown = ShownEvidence([0])
    for words, text in (((), ""), (("campana",), "La campana è del 1782 [1].")):
        gate = GroundingGate([year], lambda token: None, lambda norms: [(1, 2)], "it", words)
        gate.feed("La campana è del 1782 [1].", shown)
        gate.finish(shown)
        assert gate.answer == text
