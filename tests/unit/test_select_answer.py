"""Rows that only give back what the question says are no answer."""

import pytest

from agents.answering.select_answer import select_answer_rows
from nacre.records.evidence import Query, Rows, Table
from nacre.records.plan import Ask, Attribute, Filter, Itself, Plan, Select, Variable
from nacre.records.turn import Reading, Understanding

E = "http://example.org/"
BOB = Variable("p", keys=(f"{E}bob",), label="Bob")
NAME = Plan(Select((Attribute("p", f"{E}name"),), (BOB,)))
KNOWN = Plan(Ask(Select((Itself("p"),), (BOB,), filters=(Filter(Attribute("p", f"{E}name"), "known"),))))


def answered(question: str, plan: Plan, table: Table, unused: tuple[str, ...] = ()) -> bool:
    reading = Reading(plan, 1.0, 1.0, "read", probability=0.95, unused=unused)
    rows = Rows("sql", 1, reading=0, query=Query("sql", 1, "SELECT 1"), table=table)
    return select_answer_rows(Understanding(question, readings=(reading,)), (rows,)) is not None


@pytest.mark.parametrize(
    ("question", "column", "cell", "expected"),
    [
        ("who are friends with Bob? Give their names", "name", "Bob", False),
        ("who are friends with Bob? Give their names", "person name", "Bob", False),
        ("what is the full name of Bob?", "name", "Bob Stone", True),
        ("what is the code of Bob?", "code", "Bob", True),
        ("what is the name of B-17?", "name", "Bob", True),
    ],
)
def test_a_name_that_is_given_back_is_no_answer(question: str, column: str, cell: str, expected: bool) -> None:
    assert answered(question, NAME, Table((column,), ((cell,),))) is expected


@pytest.mark.parametrize(
    ("question", "expected"), [("is the name of Bob Bob?", False), ("does Bob have a name?", True)]
)
def test_that_something_is_known_is_not_what_it_is(question: str, expected: bool) -> None:
    assert answered(question, KNOWN, Table(("yes",), ((True,),))) is expected
