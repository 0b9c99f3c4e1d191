"""Readings are ranked by learned weights, and probabilities follow what running them gave."""

import time
from dataclasses import replace

from agents.answering.select_answer import calibrate_rows
from nacre.records.evidence import BranchResult, Doubt, Rows, Table
from nacre.records.plan import Itself, Plan, Select, Variable
from nacre.records.threads import start_deadline
from nacre.records.turn import Reading, Understanding
from nacre.understanding.ranking.probabilities import (
    ReadingOutcome,
    belief_features,
    choose_reading,
    outcome_features,
    table_outcome,
)
from nacre.understanding.ranking.rank import Weights, belief_shares, load_weights, spread_features


def _reading(share: float, odds: float = 0.0) -> Reading:
    plan = Plan(Select((Itself("thing"),), (Variable("thing"),)))
    return Reading(plan, share, 1.0, "things", odds=odds)


LEARNED = Weights({}, {}, {"ran empty": -2.0, "belief": 0.1}, {"ran agreeing": 1.0}, 0.8, 0.9, 0.0, 1.0, 0.4, 0.8)


def test_beliefs_are_ordered_and_sum_to_one() -> None:
    order, shares = belief_shares([0.0, 2.0, 1.0])
    assert order == [1, 2, 0]
    assert abs(sum(shares) - 1) < 1e-9
    assert spread_features([0.5, 0.5])["spread margin"] == 0.0


def test_an_empty_result_makes_way_for_the_next_reading() -> None:
    understanding = Understanding("?", readings=(_reading(0.6), _reading(0.4)))
    index, _ = choose_reading(understanding, [ReadingOutcome(()), ReadingOutcome(("a",))], LEARNED)
    assert index == 1


def test_agreement_raises_the_probability() -> None:
    understanding = Understanding("?", readings=(_reading(0.4), _reading(0.3), _reading(0.3)))
    _, alone = choose_reading(
        understanding, [ReadingOutcome(("a",)), ReadingOutcome(("b",)), ReadingOutcome(("c",))], LEARNED
    )
    _, together = choose_reading(
        understanding, [ReadingOutcome(("a",)), ReadingOutcome(("a",)), ReadingOutcome(("c",))], LEARNED
    )
    assert together > alone


def test_what_running_gave() -> None:
    found = outcome_features(1, [0.7, 0.2], [ReadingOutcome(()), ReadingOutcome((0,))])
    assert found["ran nil"] == found["ran one"] == found["ran first gave nothing"] == 1.0
    assert outcome_features(0, [1.0], [ReadingOutcome(None)])["ran failed"] == 1.0


def test_a_no_is_no_zero() -> None:
    no, zero = (table_outcome(Table((name,), ((0,),))) for name in ("yes", "count"))
    assert no.values == (False,)
    assert outcome_features(0, [1.0], [no])["ran nil"] == 0.0
    assert outcome_features(0, [1.0], [no])["ran no"] == 1.0
    assert outcome_features(0, [1.0], [zero])["ran nil"] == 1.0


def test_other_rows_are_rivals() -> None:
    ran = [ReadingOutcome(("a",)), ReadingOutcome(("b",)), ReadingOutcome(())]
    apart = outcome_features(0, [0.5, 0.3, 0.2], ran)
    alone = outcome_features(0, [0.5, 0.3, 0.2], [ran[0], ran[0], ran[2]])
    assert apart["ran rival"] > alone["ran rival"]
    assert (apart["ran no rival"], alone["ran no rival"]) == (0.0, 1.0)


def test_unused_words_are_seen() -> None:
    assert belief_features(0.5, 2, 0)["belief something unused"] == 1.0
    assert belief_features(0.5, 0, 1)["belief something unused"] == 0.0


def test_the_learned_file_says_what_it_should() -> None:
    learned = load_weights()
    assert 0.5 < learned.threshold < 1
    assert learned.features
    assert learned.after["ran empty"] < 0
    assert learned.before["unused"] < 0 or learned.before["belief unused"] < 0 or learned.before["unused share"] < 0


def test_what_had_no_time_for_all_readings_is_not_sure() -> None:
    rows = Rows("sql", 1, Table(("name",), (("a",),)), reading=0)
    found = BranchResult("sql", (rows,))
    understanding = Understanding("?", readings=(_reading(1.0, odds=9.0),))
    [whole], [cut] = calibrate_rows(understanding, [found]), calibrate_rows(replace(understanding, cut=True), [found])
    assert whole.rows[0].probability is not None
    assert cut.rows[0].probability is not None
    assert whole.rows[0].probability > load_weights().threshold > cut.rows[0].probability


def test_a_reading_that_passes_the_proof_is_sure_by_the_weights_for_what_is_said() -> None:
    found = BranchResult("sql", (Rows("sql", 1, Table(("name",), (("a",),)), reading=0),))
    unlikely = replace(_reading(1.0, odds=-9.0), said=9.0)
    doubted = replace(unlikely, doubts=(Doubt("shape", "who"),))
    [sure], [unsure] = (calibrate_rows(Understanding("?", readings=(each,)), [found]) for each in (unlikely, doubted))
    assert (sure.rows[0].probability or 0) >= load_weights().said_from
    assert (unsure.rows[0].probability or 0) < load_weights().threshold


def test_waiting_for_a_processor_takes_nothing_from_a_deadline() -> None:
    deadline = start_deadline(0.2)
    time.sleep(0.25)
    assert not deadline.is_over()
    # but it ends on the clock, whatever the machine does
    short = start_deadline(0.01)
    time.sleep(0.05)
    assert short.is_over()
