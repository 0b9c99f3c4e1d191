"""The agents of a turn by models: those by rules, models, limits -> one agent for each step, and a round's branches."""

from dataclasses import replace

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import HumanMessage, SystemMessage
from pydantic import BaseModel, Field

from agents.agents import Agents, Models
from agents.model_calls import Limits, ModelFailed, StructuredOutput, prompt, read_prompts, structured_reply
from agents.model_priors import Priors
from agents.query_writer import Lead
from agents.tool_selector import Choice, Selector
from agents.turn_view import Result, TurnView
from nacre.extensions.model_agents import fuser, query_writer, rewriter
from nacre.language.sanitize import quote_line
from nacre.records.evidence import BranchResult, EvidenceSentence


def build_team(rules: Agents, models: Models, limits: Limits, priors: Priors, lead: Lead) -> Agents:
    """The agents by model that wrap those by rules. `priors` are those of the model that writes queries."""
    read_prompts()

    def own(role: BaseChatModel) -> Limits:
        # servers of different models take different ways of asking
        return limits if role is models.query else replace(limits, output=StructuredOutput(limits.output.setting))

    small, large = priors.size == "small", priors.size == "large"
    return Agents(
        rewriter.by_model(models.rewriter, rules.rewriter, own(models.rewriter), small=small, joined=large),
        by_model(models.selector, rules.tool_selector, own(models.selector)),
        query_writer.by_model(models.query, rules.query_writer, limits, priors, lead),
        fuser.by_model(models.fuser, rules.fuser, own(models.fuser), small=small),
    )


LONGEST_ATTEMPT = 200

MOST_ATTEMPTS = 8

SENTENCES_SHOWN = 3


class RetrievalStep(BaseModel):
    """Where to look next, and for what."""

    place: str = Field(max_length=40)
    search: str = Field(max_length=300)
    enough: bool


def by_model(model: BaseChatModel, rules: Selector, limits: Limits) -> Selector:
    """The rules' choice; the model's if it is unclear whether the evidence is enough, or for every step if so
    configured."""

    async def tool_selector(view: TurnView) -> Result[Choice]:
        choice = await rules(view)
        stepwise = view.strategy == "stepwise"
        if view.strategy == "waterfall":
            return choice
        if not stepwise and (view.round == 1 or not view.evidence or len(view.wanted) < 2):
            return choice
        places = view.wanted or view.enabled

        async def refuse(step: RetrievalStep) -> str | None:
            known = step.enough or step.place in places
            return None if known else f"There is no place {step.place!r}. There are: {', '.join(places)}."

        try:
            step, usage = await structured_reply(
                model,
                _messages(view, places),
                RetrievalStep,
                limits=limits.until(view.deadline, view.version),
                refuse=refuse,
            )
        except ModelFailed as failed:
            return Result(choice.value, f"rules after model: {failed.why}", failed.usage)
        if step.enough and view.round > 1:
            return Result(Choice(()), "model", usage)
        # a model that finds the evidence enough in the first round names no branch
        branches = (step.place,) if step.place in places else choice.value.branches
        return Result(Choice(branches, " ".join(step.search.split())), "model", usage)

    return tool_selector


def _messages(view: TurnView, places: tuple[str, ...]) -> list[SystemMessage | HumanMessage]:
    lines = [line for part in view.found for line in _branch_lines(part)]
    turn = prompt(
        "tool_selector_turn",
        places=", ".join(places),
        found="\n".join(quote_line(line)[:LONGEST_ATTEMPT] for line in lines[-MOST_ATTEMPTS:]) or "nothing yet",
        question=quote_line(view.standalone),
    )
    return [SystemMessage(prompt("tool_selector")), HumanMessage(turn)]


def _branch_lines(part: BranchResult) -> list[str]:
    """What a branch tried and what came of it, a line each, with errors and empty results."""
    lines = [
        f"{part.branch}: {query.words or query.text}: {query.error.message if query.error else f'{query.rows} rows'}"
        for query in part.queries
    ]
    sentences = [f"{part.branch}: {each.text}" for each in part.evidence if isinstance(each, EvidenceSentence)][
        :SENTENCES_SHOWN
    ]
    failed = [f"{part.branch}: {part.error.message}"] if part.error and not lines else []
    return [*lines, *sentences, *failed]
