"""How often a model's own queries are right, by what running them gave: questions with gold answers -> Counts."""

from collections import Counter
from collections.abc import AsyncIterator, Sequence
from typing import NamedTuple

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver

from agents.models.priors import OUTCOMES, Counts, Priors
from graph.app import Composition
from graph.context import parse_context
from graph.state import Input, Json
from nacre.evaluation.ask_questions import QuestionLine, ask_questions
from nacre.evaluation.questions import GoldQuestion
from nacre.evaluation.verdict import is_right
from nacre.records.answer import Answer
from nacre.records.evidence import BranchResult, Rows
from nacre.records.json_form import from_json
from nacre.understanding.ranking.weights import load_weights
from nacre.wording.answers.answer import verbalise_rows

CONTEXT = {"mind": "model", "branches": ["sql"], "strategy": "parallel"}
OWNER = "local"


class QueryOutcome(NamedTuple):
    """One question: what running the model's queries gave, "" where it wrote none, and whether its rows are right."""

    id: str
    outcome: str
    right: bool
    seconds: float


async def query_outcomes(
    questions: Sequence[GoldQuestion], composition: Composition, graph: str | None
) -> AsyncIterator[QueryOutcome]:
    """Ask each question of the model that `composition` was made with, whoever leads there; those of a conversation in
    their order. A question without a gold `answers` asks for prose, which no row can be compared with: it is left out.
    """
    golds = [gold for gold in questions if "answers" in gold]
    app = composition.build(InMemorySaver())
    wrote: dict[str, str] = {}

    async def ask(question: QuestionLine, thread: str) -> Answer:
        asked = Input(question=question.question)
        if name := question.graph or graph:
            asked["graph"] = name
        config = RunnableConfig(configurable={"thread_id": f"{OWNER}:{thread}"})
        state = await app.ainvoke(asked, config, context=parse_context(CONTEXT), output_keys=["answer", "found"])
        found = _found(state["found"])
        wrote[question.id] = found.outcome if found else ""
        record: Answer = state["answer"]
        return {**record, "status": "answered", "values": _values(found) if found else []}

    by_id = {gold["id"]: gold for gold in golds}
    async for record in ask_questions([_question(gold) for gold in golds], ask):
        id = record["id"]
        yield QueryOutcome(str(id), wrote.get(id, ""), is_right(by_id[id], record), record["seconds"])


def count_outcomes(asked: Sequence[QueryOutcome]) -> Counts:
    """(right, asked) by outcome; a question for which no query was written says nothing of queries."""
    times = Counter(each.outcome for each in asked if each.outcome)
    right = Counter(each.outcome for each in asked if each.outcome and each.right)
    return {outcome: (right[outcome], times[outcome]) for outcome in OUTCOMES if times[outcome]}


def priors_report(chances: Priors, asked: Sequence[QueryOutcome]) -> str:
    """What was counted, and what follows from it: who leads, and which rows are given as an answer."""
    lines = [f"{'the rows of its query':<24}{'asked':>7}{'right':>7}{'chance':>8}  given as"]
    for outcome in OUTCOMES:
        right, times = chances.counts.get(outcome, (0, 0))
        chance = chances.after(outcome)
        given = "an answer" if chance >= load_weights().threshold else "what may be wrong"
        lines.append(f"{_WORDS[outcome]:<24}{times:>7}{right:>7}{chance:>8.0%}  {given}")
    none = sum(not each.outcome for each in asked)
    lines += [
        "",
        f"From a chance of {load_weights().threshold:.0%} on, rows are an answer.",
        f"A reading of the rules answers without a call where it is right at least {chances.before:.0%} of the time.",
    ]
    if none:
        lines.append(f"{none} of {len(asked)} questions got no query and are not counted.")
    return "\n".join(lines) + "\n"


_WORDS = {
    "agreed": "as a reading's",
    "alone": "no reading has any",
    "disputed": "other than a reading's",
    "doubted": "doubted",
    "empty": "none",
}


def _found(parts: Sequence[Json]) -> BranchResult | None:
    """What the first visit of the branch brought: later ones are the rules'."""
    found = [from_json(BranchResult, part) for part in parts]
    return next((part for part in found if part.outcome), None)


def _values(found: BranchResult) -> list[str | int | float | bool]:
    """The cells of the model's own rows, which come first; none where they are empty."""
    own = found.evidence[0] if found.evidence else None
    if found.outcome == "empty" or not isinstance(own, Rows):
        return []
    return list(verbalise_rows(own.table).values)


def _question(gold: GoldQuestion) -> QuestionLine:
    talk = gold.get("conversation")
    return QuestionLine(
        gold["id"], gold["question"], None if talk is None else str(talk), gold.get("turn"), gold.get("graph")
    )
