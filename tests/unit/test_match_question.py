"""Names in answers have the article that the question gives them, and no other."""

import pytest

from nacre.records.turn import Mention
from nacre.wording.answers.match_question import match_question_spelling


@pytest.mark.parametrize(
    ("question", "typed", "label", "text", "wanted"),
    [
        (
            "Was the Moon Jar fired?",
            "Moon Jar",
            "Moon Jar",
            "No, Moon Jar was not fired.",
            "No, the Moon Jar was not fired.",
        ),
        (
            "Who made the Moon Jar?",
            "Moon Jar",
            "Moon Jar",
            "Moon Jar was made by Bo.",
            "The Moon Jar was made by Bo.",
        ),
        (
            "Who made Moon Jar?",
            "Moon Jar",
            "Moon Jar",
            "Moon Jar was made by Bo.",
            "Moon Jar was made by Bo.",
        ),
        (
            "Who heads the North office?",
            "North",
            "North",
            "The head of North is Kim.",
            "The head of North is Kim.",
        ),
        (
            "Is the cornflower rare?",
            "cornflower",
            "Cornflower",
            "Yes, Cornflower is rare.",
            "Yes, Cornflower is rare.",
        ),
        (
            "Is the cornflower threatened?",
            "cornflower",
            "Cornflower",
            "No, Cornflower is not.",
            "No, the cornflower is not.",
        ),
        (
            "who has the moon jar",
            "moon jar",
            "Moon Jar",
            "Bo has Moon Jar.",
            "Bo has the Moon Jar.",
        ),
        (
            "How long is the Fox?",
            "Fox",
            "Fox (ship)",
            "The length of the ship Fox is 5 m.",
            "The length of the ship Fox is 5 m.",
        ),
        (
            "Which cars has the Fox?",
            "Fox",
            "Fox",
            "2 cars: Fox Sport and Fox Tour.",
            "2 cars: Fox Sport and Fox Tour.",
        ),
        (
            "Compare the Moon Jar with this.",
            "Moon Jar",
            "Moon Jar",
            "It and Moon Jar differ in price.",
            "It and the Moon Jar differ in price.",
        ),
        (
            "Has the Fox a plug-in hybrid?",
            "plug-in hybrid",
            "plug-in-hybrid",
            "Yes, plug-in-hybrid is a fuel of the Fox.",
            "Yes, plug-in hybrid is a fuel of the Fox.",
        ),
        (
            "Who plays in The Dragon?",
            "The Dragon",
            "The Dragon",
            "Bo plays in The Dragon.",
            "Bo plays in The Dragon.",
        ),
    ],
)
def test_names_keep_their_article(question: str, typed: str, label: str, text: str, wanted: str) -> None:
    start = question.index(typed)
    mention = Mention(typed, start, start + len(typed), "entity", "http://e.org/it", label, 1.0)
    assert match_question_spelling(text, question, [mention]) == wanted


def test_rows_below_a_sentence_stay_as_they_are() -> None:
    mention = Mention("Fox", 12, 15, "entity", "http://e.org/fox", "Fox", 1.0)
    assert (
        match_question_spelling("Fox is old:\n\n| Fox |", "Is this the Fox?", [mention]) == "The Fox is old:\n\n| Fox |"
    )


def test_words_have_the_hyphen_and_the_article_that_the_question_gives_them() -> None:
    question = "How many call-outs were there?"
    assert (
        match_question_spelling("The call outs:\n\n| Call outs |\n| - |\n| call outs |", question, []).count(
            "call-outs"
        )
        == 1
    )
    asked = "Which is nearest to the county seat?"
    named = Mention("to the county seat", 17, 35, "predicate", "http://e.org/far", "distance to county seat", 1.0)
    wanted = "The shortest distance to the county seat is 3 km."
    assert match_question_spelling("The shortest distance to county seat is 3 km.", asked, [named]) == wanted
