import asyncio
from collections.abc import Collection
from dataclasses import replace

import pytest

from agents import sql_writer
from agents.answering.trust import answering_table, is_sure
from agents.models.limits import Limits
from agents.result import Result
from agents.sql_writer import SqlTask, unfit
from records.evidence import Evidence, Found, Query, QueryError, Table
from records.plan import Plan, Select
from records.schema import Class, Column, Group, Predicate, Relation, Schema
from records.turn import Earlier, Mention, Reading, Understanding
from tests.scripted_model import ScriptedModel

LIMITS = Limits(seconds=2, retries=2)
SCHEMA = Schema((), (), (), (), {}, 0, 0)
PLAN = Plan(Select((), ()))
DOUBTED = Understanding("What is in pilaf?", readings=(Reading(PLAN, 1.0, 0.5, "what pilaf contains"),))
SURE = Understanding("What is in pilaf?", readings=(Reading(PLAN, 1.0, 1.0, "what pilaf contains"),))
BETTER = Understanding("What does pilaf contain?", readings=(Reading(PLAN, 1.0, 0.9, "what pilaf contains"),))
RAN = Query("sql", 1, "SELECT label FROM dish", words="what pilaf contains", rows=1)
ROWS = Evidence(
    "sql", 1, "table", text="dish: onion", reading=0, query=RAN, table=Table(("dish",), (("onion",),)), words="pilaf"
)
EMPTY = replace(ROWS, text="", table=Table(("dish",), ()))
OTHER = replace(ROWS, text="dish: rice", table=Table(("dish",), (("rice",),)))
NOTHING = Found("sql", (EMPTY,), (replace(RAN, rows=0),))
GOOD = Found("sql", (replace(OTHER, reading=None),), (replace(RAN, by="model"),), by="model")
WRONG = Found("sql", (), (RAN,), QueryError("unknown_name", "There is no table 'meal'."), by="model")
BLANK = Found("sql", (replace(EMPTY, reading=None),), (RAN,), by="model")
SAME = {"question": "What is in pilaf?"}
SQL = {"sql": "SELECT label FROM dish"}


def sql_task(
    understanding: Understanding, first: Found, *written: Found, other: Found = NOTHING, after: Understanding = BETTER
) -> SqlTask:
    queue = list(written)

    async def run_reading(index: int) -> Found:
        return first

    async def run_other(reading: Reading) -> Found:
        return other

    async def run_written(text: str) -> Found:
        return queue.pop(0)

    async def understand(question: str) -> Understanding:
        return replace(after, standalone=question)

    def describe(relations: Collection[str] | None) -> str:
        return "CREATE TABLE dish (\n  id INTEGER\n);"

    return SqlTask(
        understanding.standalone,
        understanding,
        SCHEMA,
        (),
        run_reading,
        run_written,
        run_other,
        understand,
        describe,
        lambda thing: "dish",
    )


async def wrote(scripted: ScriptedModel, task: SqlTask) -> Result[Found]:
    return await sql_writer.by_model(scripted, sql_writer.by_rules, LIMITS)(task)


async def test_a_sure_reading_costs_no_call(scripted: ScriptedModel) -> None:
    assert (await wrote(scripted, sql_task(SURE, Found("sql", (ROWS,), (RAN,))))).by == "rules"


async def test_prose_that_has_evidence_costs_no_call(scripted: ScriptedModel) -> None:
    told = Found("sql", (Evidence("sql", 1, "sentence", text="Pilaf is a dish."),))
    assert (await wrote(scripted, sql_task(replace(DOUBTED, expected="prose"), told))).by == "rules"


async def test_a_model_is_asked_once_a_turn(scripted: ScriptedModel) -> None:
    task = replace(sql_task(DOUBTED, NOTHING), earlier=(NOTHING,))
    assert (await wrote(scripted, task)).by == "rules"


async def test_a_question_in_other_words_is_read_by_the_rules(scripted: ScriptedModel) -> None:
    scripted.replies = [{"question": "What does pilaf contain?"}]
    task = sql_task(DOUBTED, NOTHING, other=Found("sql", (OTHER,), (RAN,)))
    result = await wrote(scripted, task)
    (chosen,) = [each for each in result.value.evidence if each.read is not None]
    assert chosen.table == OTHER.table
    assert (result.by, [query.by for query in result.value.queries]) == ("model", ["rules", "model"])
    assert answering_table(DOUBTED, result.value.evidence) == result.value.evidence.index(chosen)


@pytest.mark.parametrize(
    ("before", "after", "rows"),
    [
        # another kind of answer, another name, a reading that says no more, one that is too weak, no rows
        (DOUBTED, replace(BETTER, expected="number"), OTHER),
        (DOUBTED, replace(BETTER, mentions=(Mention("dal", 0, 3, "entity", "dal", "dal", 1.0),)), OTHER),
        (replace(DOUBTED, mentions=(Mention("pilau", 0, 5, "entity", "pilau", "pilau", 1.0),)), BETTER, OTHER),
        (DOUBTED, replace(BETTER, readings=(Reading(PLAN, 1.0, 0.55, ""),)), OTHER),
        (DOUBTED, replace(BETTER, readings=()), OTHER),
        (replace(DOUBTED, unknown=(("stew", ""),)), replace(BETTER, readings=(Reading(PLAN, 1, 0.8, ""),)), OTHER),
        (DOUBTED, BETTER, EMPTY),
    ],
)
async def test_other_words_that_ask_something_else_are_not_taken(
    scripted: ScriptedModel, before: Understanding, after: Understanding, rows: Evidence
) -> None:
    scripted.replies = [{"question": "What does rice contain?"}, SQL]
    result = await wrote(scripted, sql_task(before, NOTHING, GOOD, other=Found("sql", (rows,)), after=after))
    assert all(each.read is None for each in result.value.evidence)
    assert len(scripted.asked) == 2


@pytest.mark.parametrize("found", [NOTHING, Found("sql", (ROWS,), (RAN,)), WRONG])
async def test_a_model_writes_where_the_rules_are_in_doubt(scripted: ScriptedModel, found: Found) -> None:
    scripted.replies = [SAME, SQL]
    result = await wrote(scripted, sql_task(replace(DOUBTED, readings=(READ_POORLY,)), found, GOOD))
    assert result.by == "model"
    assert result.value.evidence == (*found.evidence, *GOOD.evidence)
    assert result.value.error is None


READ_POORLY = replace(DOUBTED.readings[0], covered=0.3)


async def test_rows_that_both_minds_find_are_confirmed(scripted: ScriptedModel) -> None:
    scripted.replies = [SAME, SQL]
    same = replace(GOOD, evidence=(replace(ROWS, reading=None),))
    result = await wrote(scripted, sql_task(DOUBTED, Found("sql", (ROWS,), (RAN,)), same))
    assert result.value.evidence == (replace(ROWS, confirmed=True),)
    assert not is_sure(DOUBTED, ROWS)
    assert is_sure(DOUBTED, result.value.evidence[0])


@pytest.mark.parametrize(
    ("bad", "why"),
    [(WRONG, "There is no table 'meal'."), (BLANK, "It ran and gave no rows")],
)
async def test_a_query_that_gives_nothing_goes_back_with_the_reason(
    scripted: ScriptedModel, bad: Found, why: str
) -> None:
    scripted.replies = [SAME, {"sql": "SELECT * FROM meal"}, SQL]
    result = await wrote(scripted, sql_task(DOUBTED, NOTHING, bad, GOOD))
    assert why in str(scripted.asked[2][-1].content)
    assert result.value.queries == (*NOTHING.queries, *bad.queries, *GOOD.queries)
    assert result.value.evidence == (EMPTY, *GOOD.evidence)


async def test_three_failing_queries_are_enough(scripted: ScriptedModel) -> None:
    scripted.replies = [SAME, *[{"sql": f"SELECT {n} FROM meal"} for n in range(3)]]
    found = Found("sql", (), (), QueryError("empty", "nothing"))
    result = await wrote(scripted, sql_task(DOUBTED, found, WRONG, WRONG, WRONG))
    assert result.by == "rules after model: There is no table 'meal'."
    assert result.value.error == WRONG.error
    assert len(result.value.queries) == 3


async def test_the_same_query_is_not_tried_twice(scripted: ScriptedModel) -> None:
    scripted.replies = [SAME, SQL, SQL]
    result = await wrote(scripted, sql_task(DOUBTED, NOTHING, WRONG))
    assert result.by == "rules after model: it gave the same query again"
    assert result.value.queries == (*NOTHING.queries, *WRONG.queries)


def test_rows_of_another_kind_are_no_answer() -> None:
    number = replace(DOUBTED, expected="number")
    assert "a number" in str(unfit(number, GOOD))
    assert unfit(number, Found("sql", (replace(GOOD.evidence[0], table=Table(("n",), ((3,),))),))) is None


async def test_the_head_never_changes_and_the_question_comes_last(scripted: ScriptedModel) -> None:
    mention = Mention("pilaf", 11, 16, "entity", "http://ex/pilaf", "Pilaf's", 1.0)
    before = Earlier("What simmers?", "What simmers?", "Pilaf [1].")
    for question in ("What is in pilaf?", "And in dal?"):
        scripted.replies = [{"question": question}, SQL]
        asked = replace(DOUBTED, standalone=question, mentions=(mention,))
        await wrote(scripted, replace(sql_task(asked, NOTHING, GOOD), conversation=(before,)))
    (head, turn), (head_again, _) = scripted.asked[1], scripted.asked[3]
    assert head.content == head_again.content
    assert "CREATE TABLE dish (\n  id INTEGER\n);" in str(head.content)
    shown = str(turn.content)
    places = [
        shown.index(x) for x in ("What simmers?", "'pilaf' = entity.label 'Pilaf''s'", "what pilaf contains: no rows")
    ]
    assert places == sorted(places)
    assert shown.endswith("Question: What is in pilaf?")


async def test_of_a_large_schema_only_what_matters_is_shown(scripted: ScriptedModel) -> None:
    groups = tuple(Group(f"t{n}", f"t{n}", (f"c{n}",), 1) for n in range(200))
    relations = tuple(Relation(f"t{n}", "table", "id", (Column(f"p{n}", value="v"),) * 20) for n in range(200))
    classes = tuple(Class(f"c{n}", "dish" if n == 150 else "other", 1, f"t{n}") for n in range(200))
    known = tuple(
        Predicate(f"p{n}", "contains" if n == 7 else "else", 1, 1, 1, True, False, True, {}, {}) for n in range(200)
    )
    large = Schema(classes, groups, known, relations, {}, 0, 0)
    mention = Mention("dish", 0, 4, "class", "c150", "dish", 1.0)
    asked = replace(DOUBTED, standalone="Which dish contains rice?", mentions=(mention,))

    def describe(shown: Collection[str] | None) -> str:
        assert shown is not None, "never all of a large schema"
        return "".join(f"CREATE TABLE {name} ({'x' * 1000});\n" for name in shown)

    scripted.replies = [{"question": "Which dish contains rice?"}, SQL]
    await wrote(scripted, replace(sql_task(asked, NOTHING, GOOD), schema=large, describe=describe))
    head, turn = scripted.asked[1]
    assert "CREATE TABLE" not in str(head.content)
    shown = str(turn.content)
    assert shown.index("CREATE TABLE t150") < shown.index("CREATE TABLE t7 ")
    assert len(shown) < LIMITS.schema_tokens * 4 + 1000


async def test_readings_are_tried_in_turn_and_then_there_is_nothing_left() -> None:
    tried: list[int] = []

    async def run_reading(index: int) -> Found:
        tried.append(index)
        return NOTHING

    two = replace(DOUBTED, readings=DOUBTED.readings * 2)
    earlier: tuple[Found, ...] = ()
    for _ in range(3):
        task = replace(sql_task(two, WRONG), run_reading=run_reading, earlier=earlier)
        earlier = (*earlier, (await sql_writer.by_rules(task)).value)
    assert tried == [0, 1]
    assert earlier[-1].error is not None


def test_the_writers_share_one_contract() -> None:
    for agent in (sql_writer.by_rules, sql_writer.by_model(ScriptedModel(), sql_writer.by_rules, LIMITS)):

        async def run(agent: sql_writer.SqlWriter = agent) -> Result[Found]:
            return await agent(sql_task(SURE, Found("sql", (ROWS,), (RAN,))))

        assert asyncio.run(run()).value.evidence == (ROWS,)
