""" "Another", "other" and "else": what the turns before gave is left out; a question that leaves out nothing is asked
back."""

import pytest

from tests.support.ask_graph import Ask, ask_graph

GRAPH = """
@prefix : <http://e.org/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:Bell a rdfs:Class ; rdfs:label "bell" . :Keeper a rdfs:Class ; rdfs:label "keeper" .
:Tower a rdfs:Class ; rdfs:label "tower" .
:keeper rdfs:label "keeper" . :tower rdfs:label "tower" . :worksAt rdfs:label "works at" . :weight rdfs:label "weight" .
:store rdfs:label "store" .
:b1 a :Bell ; :store "Barn Loft" ; rdfs:label "Old Tom" ; :keeper :r1 ; :tower :t1 ; :weight 18 .
:b2 a :Bell ; :store "Barn Loft" ; rdfs:label "Grace" ; :keeper :r1 ; :tower :t2 ; :weight 21 .
:b3 a :Bell ; rdfs:label "Rose" ; :keeper :r2 ; :tower :t2 ; :weight 15 .
:r1 a :Keeper ; rdfs:label "Wendy Marsh" ; :worksAt :t1 . :r2 a :Keeper ; rdfs:label "Olu Banks" ; :worksAt :t1 .
:r3 a :Keeper ; rdfs:label "Petra Lowe" ; :worksAt :t2 .
:t1 a :Tower ; rdfs:label "Kirk Tower" . :t2 a :Tower ; rdfs:label "Mill Tower" .
"""


@pytest.fixture(scope="module")
def bells(tmp_path_factory: pytest.TempPathFactory) -> Ask:
    return ask_graph(GRAPH, tmp_path_factory.mktemp("bells"))


@pytest.mark.parametrize(
    ("turns", "values"),
    [
        (["Who is the keeper of Old Tom?", "Does Wendy Marsh have another bell?"], [True]),
        (["Who is the keeper of Rose?", "Does Olu Banks have another bell?"], [False]),
        (["Who is the keeper of Rose?", "Does he have any other bells?"], [False]),
        (["Which bells are in Mill Tower?", "Are there other bells?"], [True]),
        (["Which bells are in Mill Tower?", "How many other bells are there?"], [1]),
        (["What is the store of Grace?", "Which bells are stored there?"], ["Grace", "Old Tom"]),
        (["Who works at Mill Tower?", "Does anyone else work there?"], [False]),
        (["Does Wendy Marsh work at Kirk Tower?", "Does anyone else work there?"], [True]),
    ],
)
async def test_what_was_given_is_left_out(turns: list[str], values: list[object], bells: Ask) -> None:
    assert (await bells(*turns))["values"] == values


async def test_other_things_are_told_in_words(bells: Ask) -> None:
    answer = await bells("Which bells are in Mill Tower?", "Are there other bells?")
    assert answer["answer"] == "Yes, there are other bells [1]."


@pytest.mark.parametrize(
    "question",
    ["Does Olu Banks have another bell?", "Which other bells does Wendy Marsh have?", "Is there another tower?"],
)
async def test_a_word_for_others_that_leaves_out_nothing_is_never_sure(question: str, bells: Ask) -> None:
    assert (await bells(question))["status"] != "answered"


async def test_nothing_else_is_an_answer(bells: Ask) -> None:
    answer = await bells("Who works at Mill Tower?", "Who else works there?")
    assert [answer["status"], answer["values"]] == ["answered", []]
    assert answer["answer"].startswith("Nothing in this graph matches: other keepers who work at Mill Tower")
