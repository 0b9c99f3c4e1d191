"""Count how often the queries of a model are right by their outcome: questions with gold answers -> Counts."""

from collections import Counter
from collections.abc import AsyncIterator, Sequence
from typing import NamedTuple

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver

from agents.model_priors import OUTCOMES, Counts, Priors
from graph.app import Composition
from graph.context import parse_context
from graph.state import Input
from nacre.evaluation.questions import GoldQuestion, QuestionLine, ask_questions
from nacre.evaluation.score import is_right
from nacre.records.answer import Answer
from nacre.records.evidence import BranchResult, Rows
from nacre.records.json_form import from_json
from nacre.understanding.ranking.rank import load_weights
from nacre.wording.answer import verbalise_rows

CONTEXT = {"mind": "model", "branches": ["sql"], "strategy": "parallel"}

OWNER = "local"


class QueryOutcome(NamedTuple):
    """The outcome of the model's queries for a question ("" without a query), and whether their rows are right."""

    id: str
    outcome: str
    right: bool
    seconds: float
    tokens: int = 0


async def query_outcomes(
    questions: Sequence[GoldQuestion], composition: Composition, graph: str | None
) -> AsyncIterator[QueryOutcome]:
    """Ask the model of `composition` each question; the turns of a conversation are asked in their order. Questions
    without gold `answers` ask for prose, with which no row can be compared; they are left out."""
    golds = [gold for gold in questions if "answers" in gold]
    app = composition.build(InMemorySaver())
    outcomes: dict[str, str] = {}

    async def ask(question: QuestionLine, thread: str) -> Answer:
        turn_input = Input(question=question.question)
        if name := question.graph or graph:
            turn_input["graph"] = name
        config = RunnableConfig(configurable={"thread_id": f"{OWNER}:{thread}"})
        state = await app.ainvoke(turn_input, config, context=parse_context(CONTEXT), output_keys=["answer", "found"])
        # the first result with an outcome is the model's; later ones are those of the rules
        results = [from_json(BranchResult, each) for each in state["found"]]
        result = next((each for each in results if each.outcome), None)
        outcomes[question.id] = result.outcome if result else ""
        record: Answer = state["answer"]
        return {**record, "status": "answered", "values": _values(result) if result else []}

    by_id = {gold["id"]: gold for gold in golds}
    async for record in ask_questions([_question(gold) for gold in golds], ask):
        question_id = record["id"]
        right = is_right(by_id[question_id], record)
        tokens = record["input_tokens"] + record["output_tokens"]
        yield QueryOutcome(str(question_id), outcomes.get(question_id, ""), right, record["seconds"], tokens)


def count_outcomes(judged: Sequence[QueryOutcome]) -> Counts:
    """(right, asked) by outcome; questions without a query are not counted."""
    asked = Counter(each.outcome for each in judged if each.outcome)
    right = Counter(each.outcome for each in judged if each.outcome and each.right)
    return {outcome: (right[outcome], asked[outcome]) for outcome in OUTCOMES if asked[outcome]}


def priors_report(priors: Priors, judged: Sequence[QueryOutcome]) -> str:
    """The counts by outcome, and what follows from them: which rows are answers, and when the rules answer first."""
    lines = [f"{'the rows of its query':<24}{'asked':>7}{'right':>7}{'chance':>8}  given as"]
    for outcome in OUTCOMES:
        right, asked = priors.counts.get(outcome, (0, 0))
        chance = priors.after(outcome)
        given_as = "an answer" if chance >= load_weights().threshold else "what may be wrong"
        lines.append(f"{_OUTCOME_LABELS[outcome]:<24}{asked:>7}{right:>7}{chance:>8.0%}  {given_as}")
    none = sum(not each.outcome for each in judged)
    lines += [
        "",
        f"From a chance of {load_weights().threshold:.0%} on, rows are an answer.",
        f"A reading of the rules answers without a call where it is right at least {priors.before:.0%} of the time.",
    ]
    if none:
        lines.append(f"{none} of {len(judged)} questions got no query and are not counted.")
    return "\n".join(lines) + "\n"


_OUTCOME_LABELS = {
    "agreed": "as a reading's",
    "alone": "no reading has any",
    "disputed": "other than a reading's",
    "doubted": "doubted",
    "empty": "none",
}


def _values(result: BranchResult) -> list[str | int | float | bool]:
    """The cells of the model's own rows, which come first; none if they are empty."""
    own = result.evidence[0] if result.evidence else None
    if result.outcome == "empty" or not isinstance(own, Rows):
        return []
    return list(verbalise_rows(own.table).values)


def _question(gold: GoldQuestion) -> QuestionLine:
    conversation = gold.get("conversation")
    thread = None if conversation is None else str(conversation)
    return QuestionLine(gold["id"], gold["question"], thread, gold.get("turn"), gold.get("graph"))
