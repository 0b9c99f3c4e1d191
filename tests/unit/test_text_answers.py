"""Answers in sentences: what a question wants, which spans may be it, which is chosen."""

import pytest

from evaluation.learn_text_answers import read_text_examples
from nacre.extensions.texts.answer import rank_answers, text_weights
from nacre.extensions.texts.spans import Span, expected_answer, find_answer_spans
from nacre.language.tokens import tokenize
from nacre.records.answer import Value
from nacre.records.evidence import EvidenceSentence


def told(*texts: str, title: str = "Notes") -> list[EvidenceSentence]:
    """Sentences of one document, one after the other."""
    found, at = [], 0
    for text in texts:
        found.append(EvidenceSentence("lexical", 1, text, title, document="notes.md", start=at, end=at + len(text)))
        at += len(text) + 1
    return found


def found(question: str, text: str) -> list[Span]:
    return find_answer_spans(text, expected_answer(question), tuple(tokenize(text)))


@pytest.mark.parametrize(
    ("question", "kind", "units"),
    [
        ("Who built the mill?", "person", None),
        ("When was the mill built?", "date", None),
        ("At what time does the mill open?", "time", None),
        ("Where is the mill?", "place", None),
        ("Why was the mill closed?", "reason", None),
        ("How many wheels does the mill have?", "count", ("",)),
        ("How deep is the pond?", "amount", ("m",)),
        ("How much does the flour cost?", "amount", ("currency",)),
        ("What does the flour cost?", "amount", ("currency",)),
        ("What is the length of the axle?", "name", ("m",)),
        ("Is the mill open?", "yes_no", None),
        ("What is the miller called?", "name", None),
        ("Could you tell me who built the mill?", "person", None),
    ],
)
def test_what_is_wanted(question: str, kind: str, units: tuple[str, ...] | None) -> None:
    want = expected_answer(question)
    assert (want.kind, want.units) == (kind, units)


@pytest.mark.parametrize(
    ("question", "text", "value", "unit"),
    [
        ("When was it built?", "It was built on 14 March 1998.", "1998-03-14", ""),
        ("When was it built?", "It was built in March 1998.", "1998-03", ""),
        ("When was it built?", "It was built in 1998.", 1998, ""),
        ("When does it open?", "It opens at 9:30.", "9:30", ""),
        ("When does it open?", "It opens at 9 a.m. on Mondays.", "9 a.m.", ""),
        ("How deep is it?", "It is 4.2 m deep.", 4.2, "m"),
        ("How long does it take?", "It takes three hours.", 3, "h"),
        ("How much is a ticket?", "A ticket costs 7.50 euros.", 7.5, "EUR"),
        ("How many apples fit?", "It takes 300 kg of apples.", 300, "kg"),
        ("Who wrote it?", "It was written by Ada van der Berg in 1902.", "Ada van der Berg", ""),
        ("Where is it kept?", "It is kept in the cellar of the hall for now.", "the cellar of the hall", ""),
        ("Why was it shut?", "It was shut because of a flood.", "a flood", ""),
        ("What is the song called?", "The song is called “Low Tide”.", "Low Tide", ""),
        ("What colour is the door?", "The door is painted dark red.", "dark red", ""),
        ("Which version is it?", "It runs version 3.2 now.", 3.2, ""),
    ],
)
def test_a_span_is_data(question: str, text: str, value: Value, unit: str) -> None:
    assert (value, unit) in [(span.value, span.unit) for span in found(question, text)]


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("How deep is the pond?", "The pond covers 12 square metres."),
        ("How deep is the pond?", "The pond cost 300 euros."),
        ("How many ducks are there?", "The ducks weigh 3 kg."),
        ("When was the mill built?", "The mill opens at 9:30."),
    ],
)
def test_what_is_of_another_kind_is_no_answer(question: str, text: str) -> None:
    assert found(question, text) == []


@pytest.mark.parametrize(
    ("question", "sentences", "value"),
    [
        (
            "Who carved the altar of Saint Ann?",
            ["The altar of Saint Jude was carved by Bo Lind.", "The altar of Saint Ann was carved by Per Dahl."],
            "Per Dahl",
        ),
        (
            "What colour is the roof of the barn?",
            ["The roof of the barn is dark green, and that of the stable is grey."],
            "dark green",
        ),
        ("Are dogs allowed in the garden?", ["Dogs are not allowed in the garden."], False),
        ("Are dogs allowed in the garden?", ["Dogs are allowed in the garden, and cats are not."], True),
        ("Is fishing forbidden in the pond?", ["Fishing in the pond is forbidden."], True),
        ("Is fishing allowed in the pond?", ["Fishing in the pond is forbidden."], False),
    ],
)
def test_the_likeliest_span_answers(question: str, sentences: list[str], value: Value) -> None:
    best = rank_answers(question, told(*sentences))[0]
    assert best.value == value
    assert best.probability > 0.3


def test_what_no_sentence_says_has_no_likely_answer() -> None:
    sentences = told("The mill was built in 1902.", "Its pond is 3 m deep.", "It belongs to the town of Elm.")
    for question in ("Who painted the bridge of Oldham?", "How many horses did the baker own?"):
        assert all(each.probability < text_weights().threshold for each in rank_answers(question, sentences))


def test_probabilities_of_all_answers_are_one_at_most() -> None:
    sentences = told("The mill has 3 wheels and 12 stones.", "The old mill had 2 wheels.")
    assert sum(each.probability for each in rank_answers("How many wheels does the mill have?", sentences)) <= 1.0


def test_the_weights_are_those_of_the_features() -> None:
    named = {name for each in read_text_examples() for features in each.features for name in features}
    assert set(text_weights().features) <= named


def test_an_endless_sentence_is_read() -> None:
    text = "The mill of " + "Old Anna and " * 2_000 + "was sold."
    assert rank_answers("Who sold the mill?", told(text)) is not None
