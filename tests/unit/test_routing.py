from dataclasses import replace

import pytest

from agents.answering.draft import needs_more_sentences
from agents.turn_view import TurnView, first_turn
from graph.nodes import branches_to_retry
from graph.state import add_usage, concatenate, merge_attribution
from nacre.records.evidence import BranchResult, Evidence, EvidenceSentence, QueryError, Rows, Table
from nacre.records.plan import Edge, Itself, Plan, Select, Variable
from nacre.records.turn import Reading, Understanding

READING = Reading(Plan(Select((), ())), 1.0, 1.0, "what the pilaf contains", probability=1.0)
ONE = Understanding("What does the pilaf contain?", readings=(READING,))
THREE = replace(ONE, readings=tuple(replace(READING, score=score) for score in (3.0, 2.0, 1.0)))
ROWS = Rows("sql", 1, reading=0, table=Table(("dish",), (("onion",),)))
EMPTY = replace(ROWS, table=Table(("dish",), ()))
ZERO = replace(ROWS, table=Table(("count",), ((0,),)))
TEXT = EvidenceSentence("lexical", 1, text="The pilaf does contain rice.", title="pilaf")
BROKEN = QueryError("unavailable", "the disk is gone")
BOTH = ("sql", "lexical")


def view(understanding: Understanding, so_far: list[BranchResult], enabled: tuple[str, ...] = BOTH) -> TurnView:
    return replace(first_turn(understanding.standalone, understanding), found=tuple(so_far), enabled=enabled)


def found(branch: str, *evidence: Evidence, error: QueryError | None = None) -> BranchResult:
    return BranchResult(branch, evidence, error=error)


@pytest.mark.parametrize(
    ("understanding", "so_far", "by_model", "expected"),
    [
        (ONE, [found("sql", ROWS), found("lexical")], False, ()),
        # all readings that are worth it were run together
        (THREE, [found("sql", EMPTY), found("lexical", TEXT)], False, ()),
        (THREE, [found("sql", EMPTY), found("lexical")], False, ("lexical",)),
        (THREE, [found("sql", error=BROKEN), found("lexical")], False, BOTH),
        (ONE, [found("sql", EMPTY), found("lexical", TEXT)], False, ()),
        (ONE, [found("sql", EMPTY), found("lexical", TEXT)], True, ()),
        (replace(ONE, readings=()), [found("lexical"), found("lexical")], True, ("sql",)),
        (ONE, [found("sql", error=BROKEN), found("lexical", TEXT)], False, ("sql",)),
        (ONE, [found("sql", ZERO), found("lexical")], False, ()),
        (replace(THREE, unknown=(("pilau", "pilaf"),)), [found("sql", ZERO), found("lexical", TEXT)], False, ()),
        (replace(ONE, expected="prose"), [found("sql"), found("lexical", TEXT)], False, ()),
        (replace(ONE, readings=()), [found("sql"), found("lexical")], False, ("lexical",)),
        (replace(ONE, readings=()), [found("sql"), found("lexical"), found("lexical")], False, ()),
    ],
)
def test_only_a_branch_that_lacks_and_has_something_new_is_wanted(
    understanding: Understanding, so_far: list[BranchResult], by_model: bool, expected: tuple[str, ...]
) -> None:
    assert branches_to_retry(view(understanding, so_far), by_model=by_model) == expected


@pytest.mark.parametrize(
    ("unused", "so_far", "expected"),
    [
        ((), [found("sql", ROWS)], False),
        # the words and the nearest facts say more of what rows leave out
        (("well done",), [found("sql", ROWS)], False),
        ((), [found("sql")], True),
    ],
)
def test_rows_need_no_sentences_like_the_question(
    unused: tuple[str, ...], so_far: list[BranchResult], expected: bool
) -> None:
    variables = (Variable("dish", keys=("ex:pilaf",)), Variable("part"))
    plan = Plan(Select((Itself("part"),), variables, (Edge("dish", "ex:contains", "part"),)))
    understanding = replace(ONE, readings=(replace(READING, plan=plan, unused=unused),))
    assert needs_more_sentences(view(understanding, so_far)) == expected


def test_a_stepwise_selector_is_offered_all_that_is_new() -> None:
    broken, done = [found("sql", error=BROKEN)], [found("sql", ROWS)]
    assert branches_to_retry(replace(view(ONE, broken), strategy="stepwise"), by_model=True) == BOTH
    assert branches_to_retry(replace(view(ONE, done), strategy="stepwise"), by_model=True) == ("lexical",)


def test_a_branch_that_is_not_enabled_is_never_wanted() -> None:
    assert branches_to_retry(view(THREE, [found("sql", error=BROKEN)], ("sql",)), by_model=False) == ("sql",)


def test_what_branches_bring_back_comes_together() -> None:
    assert concatenate([{"branch": "sql"}], [{"branch": "lexical"}]) == [{"branch": "sql"}, {"branch": "lexical"}]
    assert add_usage({"calls": 1}, {"calls": 2}) == {"calls": 3}


def test_a_step_that_fell_back_once_keeps_saying_so() -> None:
    assert merge_attribution({"sql": "rules after model: timeout"}, {"sql": "model"}) == {
        "sql": "rules after model: timeout"
    }
    assert merge_attribution({"sql": "rules"}, {"sql": "model"}) == {"sql": "model"}
