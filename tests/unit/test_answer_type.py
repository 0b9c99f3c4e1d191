"""Sentences of the graph have the kind of thing that was asked for, or do not answer."""

import pytest

from agents.answering.select_answer import has_wanted_number
from nacre.records.evidence import EvidenceSentence


@pytest.mark.parametrize(
    ("question", "text", "title", "told"),
    [
        ("Regatta 2019, when was that?", "Regatta 2019 is an event. It includes Ann Lee.", "Regatta 2019", False),
        ("Regatta 2019, when was that?", "Regatta 2019 began on 4 May 2019.", "Regatta 2019", True),
        ("how many berths are free at Pier 7?", "The owner of Pier 7 is the port.", "Pier 7", False),
        ("how much does the crane cost?", "The name of 5017 is crane.", "5017", False),
        ("how much does the crane cost?", "The price of crane is 40.", "crane", True),
        ("who owns the crane?", "The owner of crane is Ann Lee.", "crane", True),
        ("how is the crane driven?", "The drive of crane is electric.", "crane", True),
    ],
)
def test_a_number_is_told_where_one_is_asked_for(question: str, text: str, title: str, told: bool) -> None:
    sentence = EvidenceSentence("lexical", 1, title=title, text=text)
    assert has_wanted_number(question, [sentence]) == told
