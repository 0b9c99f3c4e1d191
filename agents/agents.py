"""The agents of a turn: settings, or a model -> one agent for each step. Only this file chooses the reasoner."""

from dataclasses import dataclass

from langchain_core.language_models import BaseChatModel

from agents import fuser, query_writer, rewriter, tool_selector
from agents.model_calls import Limits
from agents.model_priors import Priors, model_limits, model_priors, query_priors
from agents.query_writer import Lead
from nacre.config.models import Role, chat_model
from nacre.config.settings import Settings
from nacre.extension import service


@dataclass(frozen=True)
class Agents:
    """One agent for each step. `understand` is always done by rules."""

    rewriter: rewriter.Rewriter
    tool_selector: tool_selector.Selector
    query_writer: query_writer.QueryWriter
    fuser: fuser.Fuser


@dataclass(frozen=True)
class Models:
    """The model of each step; a small one may rewrite, a large one write queries."""

    rewriter: BaseChatModel
    query: BaseChatModel
    fuser: BaseChatModel
    selector: BaseChatModel


def configured_agents(settings: Settings) -> dict[str, Agents]:
    """The agents by reasoner: "rules", and "model" if configured; raises ConfigError for an unusable model."""
    rules = build_agents(None)
    roles: tuple[Role, ...] = ("rewriter", "sql", "fuser", "selector")
    models = [model for role in roles if (model := chat_model(settings, role)) is not None]
    if len(models) < len(roles):
        return {"rules": rules}
    by_model = build_agents(Models(*models), model_limits(settings), priors=query_priors(settings), lead=settings.lead)
    return {"rules": rules, "model": by_model}


def build_agents(
    model: BaseChatModel | Models | None,
    limits: Limits | None = None,
    *,
    priors: Priors | None = None,
    lead: Lead = "auto",
) -> Agents:
    """The agents by rules, or those by model that wrap them. `priors` are those of the model that writes queries."""
    rules = Agents(rewriter.by_rules, tool_selector.by_rules, query_writer.by_rules, fuser.by_rules)
    if model is None:
        return rules
    team: Agents = service("model_agents", "team", "NACRE_MODEL")(
        rules,
        model if isinstance(model, Models) else Models(model, model, model, model),
        limits or Limits(),
        priors or model_priors("unknown"),
        lead,
    )
    return team
