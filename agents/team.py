"""The minds of a turn: a model or none -> one agent a step. The only place that asks which mind there is."""

from dataclasses import dataclass

from langchain_core.language_models import BaseChatModel

from agents import fuser, rewriter, sql_writer, tool_selector
from agents.models.limits import Limits
from agents.prompt import warm


@dataclass(frozen=True)
class Team:
    """One agent a step. `understand` has no second mind: it is rules in either."""

    rewriter: rewriter.Rewriter
    tool_selector: tool_selector.Selector
    sql_writer: sql_writer.SqlWriter
    fuser: fuser.Fuser


@dataclass(frozen=True)
class Models:
    """The model of each step; a small one may rewrite, a large one write queries."""

    rewriter: BaseChatModel
    sql: BaseChatModel
    fuser: BaseChatModel
    selector: BaseChatModel


def build_agents(
    model: BaseChatModel | Models | None, limits: Limits | None = None, *, words_everything: bool = True
) -> Team:
    """The team by rules, or the team by model that wraps it.

    Where the model does not word everything, the rules say all that they can say themselves.
    """
    rules = Team(rewriter.by_rules, tool_selector.by_rules, sql_writer.by_rules, fuser.by_rules)
    if model is None:
        return rules
    limits = limits or Limits()
    models = model if isinstance(model, Models) else Models(model, model, model, model)
    warm()
    return Team(
        rewriter.by_model(models.rewriter, rules.rewriter, limits),
        tool_selector.by_model(models.selector, rules.tool_selector, limits),
        sql_writer.by_model(models.sql, rules.sql_writer, limits),
        fuser.by_model(models.fuser, rules.fuser, limits, words_everything=words_everything),
    )
