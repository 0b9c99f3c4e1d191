"""The agents of a turn: a model or none -> one agent a step. The only place that asks which reasoner there is."""

from dataclasses import dataclass, replace

from langchain_core.language_models import BaseChatModel

from agents import extractor, fuser, query_writer, rewriter, tool_selector
from agents.models.limits import Limits
from agents.models.priors import Priors, model_priors
from agents.models.structured_output import StructuredOutput
from agents.prompt import read_prompts
from agents.query_writer import Lead


@dataclass(frozen=True)
class Agents:
    """One agent a step. `understand` has no second reasoner: it is rules in either."""

    rewriter: rewriter.Rewriter
    tool_selector: tool_selector.Selector
    query_writer: query_writer.QueryWriter
    fuser: fuser.Fuser
    extractor: extractor.Extractor


@dataclass(frozen=True)
class Models:
    """The model of each step; a small one may rewrite, a large one write queries."""

    rewriter: BaseChatModel
    query: BaseChatModel
    fuser: BaseChatModel
    selector: BaseChatModel


def build_agents(
    model: BaseChatModel | Models | None,
    limits: Limits | None = None,
    *,
    chances: Priors | None = None,
    lead: Lead = "auto",
) -> Agents:
    """The team by rules, or the team by model that wraps it. `chances` are those of the model that writes queries."""
    rules = Agents(rewriter.by_rules, tool_selector.by_rules, query_writer.by_rules, fuser.by_rules, extractor.by_rules)
    if model is None:
        return rules
    limits, chances = limits or Limits(), chances or model_priors("unknown")
    models = model if isinstance(model, Models) else Models(model, model, model, model)
    read_prompts()

    def own(role: BaseChatModel) -> Limits:
        # servers of different models take different ways of asking
        return limits if role is models.query else replace(limits, manner=StructuredOutput(limits.manner.setting))

    return Agents(
        rewriter.by_model(models.rewriter, rules.rewriter, own(models.rewriter), small=chances.size == "small"),
        tool_selector.by_model(models.selector, rules.tool_selector, own(models.selector)),
        query_writer.by_model(models.query, rules.query_writer, limits, chances, lead),
        fuser.by_model(models.fuser, rules.fuser, own(models.fuser), small=chances.size == "small"),
        extractor.by_model(models.query, rules.extractor, limits),
    )
