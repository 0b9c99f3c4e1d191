"""Data as people have it: doubled columns, named graphs, two spellings, lists, claims, places -> right answers."""

from pathlib import Path
from typing import Any

import pytest

from tests.support.ask_graph import ask_graph

SHELLS = "id,Name,Weight,Phone,Phone\nA1,Limpet,900 g,1-2,3-4\nA2,Whelk,1100 g,5-6,\nA3,Cone,2000 g,,\n"
ANSWERS: dict[str, tuple[str, str, dict[str, set[Any]]]] = {
    "a property that is compared and asked for": (
        "shells.csv",
        SHELLS,
        {"Which weight is between 800 and 1200?": {900, 1100}, "Which shell weighs less than 1 kg?": {"Limpet"}},
    ),
    "columns of one name": (
        "shells.csv",
        SHELLS,
        {
            "What are the phone numbers of Limpet?": {"1-2", "3-4"},
            "What is the phone of Whelk?": {"5-6"},
            "What is the second phone of Limpet?": {"3-4"},
        },
    ),
}


@pytest.mark.parametrize("case", ANSWERS)
async def test_data_as_people_have_it_gives_right_answers(case: str, tmp_path: Path) -> None:
    file, text, expected = ANSWERS[case]
    ask = ask_graph(text, tmp_path, file)
    for question, values in expected.items():
        answer = await ask(question)
        assert set(answer["values"]) == values, (question, answer["answer"])
