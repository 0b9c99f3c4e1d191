"""The agents of a turn by models: those by rules, models and limits -> one agent for each step."""

from dataclasses import replace

from langchain_core.language_models import BaseChatModel

from agents.agents import Agents, Models
from agents.model_calls import Limits, StructuredOutput, read_prompts
from agents.model_priors import Priors
from agents.query_writer import Lead
from nacre.extensions.model_agents import fuser, query_writer, rewriter, tool_selector


def build_team(rules: Agents, models: Models, limits: Limits, priors: Priors, lead: Lead) -> Agents:
    """The agents by model that wrap those by rules. `priors` are those of the model that writes queries."""
    read_prompts()

    def own(role: BaseChatModel) -> Limits:
        # servers of different models take different ways of asking
        return limits if role is models.query else replace(limits, output=StructuredOutput(limits.output.setting))

    small, large = priors.size == "small", priors.size == "large"
    return Agents(
        rewriter.by_model(models.rewriter, rules.rewriter, own(models.rewriter), small=small, joined=large),
        tool_selector.by_model(models.selector, rules.tool_selector, own(models.selector)),
        query_writer.by_model(models.query, rules.query_writer, limits, priors, lead),
        fuser.by_model(models.fuser, rules.fuser, own(models.fuser), small=small),
    )
