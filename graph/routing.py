"""Which node comes next: routers over the state, and which branches a further round should ask.

A router is a pure function of the state that returns names of nodes. Routers are coroutines because LangGraph runs
plain functions in a thread.
"""

from collections.abc import Callable, Sequence
from typing import Literal

from agents.answering.from_texts import best_text_answer
from agents.answering.selection.rows import row_probability
from agents.answering.selection.select_answer import is_enough, select_answer_rows
from agents.tool_selector import LAYERS
from agents.turn_view import TurnView
from graph.branches import BRANCHES
from graph.state import State
from nacre.records.evidence import Evidence
from nacre.understanding.ranking.weights import load_weights

# the words that rows leave out -> whether texts may answer with them
MayTextsAnswer = Callable[[Sequence[str]], bool]

# rows that are likelier right than wrong stay the answer whatever sentences say, if they leave no word out (given)
SETTLED = 0.5
TRIPLES = LAYERS[1][0]


async def has_started(state: State) -> Literal["understand", "__end__"]:
    """The turn goes on, or ends because the chat was asked which graph it means."""
    return "understand" if "version" in state else "__end__"


async def select_branches(state: State) -> list[str]:
    """The branches of this round, in parallel; the fuser if there is none."""
    return state["route"] or ["fuser"]


async def should_continue(state: State) -> Literal["tool_selector", "fuser"]:
    """A further round if `check` wants one."""
    return "tool_selector" if state["wanted"] else "fuser"


def branches_to_retry(view: TurnView, *, by_model: bool) -> tuple[str, ...]:
    """The enabled branches that lack evidence or failed and would try something new; none if the evidence is enough.

    Passages are searched again only if there are none at all: more of the same does not answer better. If a model
    decides step by step, it is offered everything new and decides itself what is enough.
    """
    stepwise = by_model and view.strategy == "stepwise"
    if view.understanding.orientation or (
        not stepwise and (is_enough(view.understanding, view.evidence) or _has_sure_text(view))
    ):
        return ()
    return tuple(
        branch
        for branch in view.enabled
        if BRANCHES[branch].has_more(view.understanding, view.of(branch), by_model)
        and (stepwise or _lacks_evidence(branch, view.evidence))
    )


def lower_layers(view: TurnView, may_texts_answer: MayTextsAnswer) -> tuple[str, ...]:
    """The branches that a waterfall asks next (PolyRAG, section 4); none if they would not change the answer.

    Triples may be better than rows that are not likely enough to be the answer. Sentences replace rows only for words
    that the rows leave out, if texts may answer with those.
    """
    unvisited = tuple(name for name in view.enabled if name not in view.visited)
    if not unvisited:
        return ()
    triples_next = TRIPLES in unvisited
    bar = load_weights().threshold if triples_next else SETTLED
    left_out = _left_out_words(view, bar)
    if left_out is None:
        return unvisited
    return unvisited if left_out and (triples_next or may_texts_answer(left_out)) else ()


def _has_sure_text(view: TurnView) -> bool:
    answer = best_text_answer(view.standalone, view.evidence)
    return answer is not None and answer.is_sure


def _lacks_evidence(branch: str, evidence: Sequence[Evidence]) -> bool:
    return branch == "sql" or not any(each.branch == branch for each in evidence)


def _left_out_words(view: TurnView, bar: float) -> list[str] | None:
    """The words that the answer so far leaves out; None if no answer reaches the probability `bar`."""
    understanding = view.understanding
    unknown = [word for word, _ in understanding.unknown]
    if understanding.expected == "prose":
        return unknown if any(each.round and each.branch in LAYERS[0] for each in view.evidence) else None
    selected = select_answer_rows(understanding, view.evidence)
    if selected is None or row_probability(understanding, selected[1]) < bar:
        return None
    reading = selected[1].reading
    return unknown + list(understanding.readings[reading].unused if reading is not None else ())
