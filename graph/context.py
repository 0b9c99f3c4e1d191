"""The options of one turn: a mapping from a client, or Studio's form -> Context. Unknown keys are refused.
Then resources of a process, and which agents a turn uses: Resources + Context -> Agents."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, create_model

from agents.agents import Agents
from graph.branches import all_branches
from nacre.access.open_graph import VersionLeases
from nacre.config.settings import Settings
from nacre.errors import ConfigError
from nacre.stores.catalog import Library
from tools.sandbox import Sandbox

# key in the configuration of a run of whose verified questions it may use; only `graph.stream` sets it
OWNER = "owner"


def _checked_branch(branch: str) -> str:
    if branch not in all_branches():
        raise ValueError(f"there is no branch {branch!r}; there are {', '.join(all_branches())}")
    return branch


BranchName = Annotated[
    str,
    AfterValidator(_checked_branch),
    Field(json_schema_extra=lambda schema: schema.update(enum=list(all_branches()))),
]


class Context(BaseModel):
    """Options for one turn. Options that are left out come from the settings."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    graph: str | None = Field(None, description="The graph to ask; optional if there is only one.")
    mind: Literal["rules", "model"] | None = Field(None, description="model needs NACRE_MODEL and is then the default.")
    branches: list[BranchName] | None = Field(
        None, description="Branches to ask; by default all but sparql and triples."
    )
    max_rounds: int | None = Field(None, ge=1, le=10, description="The maximum number of retrieval rounds.")
    top_k: int | None = Field(None, ge=1, le=50, description="How many passages a branch retrieves.")
    strategy: Literal["parallel", "stepwise", "waterfall"] | None = Field(
        None,
        description="parallel asks all branches first; stepwise lets a model choose each step; waterfall goes from"
        " queries to triples to texts and stops when the answer is sure.",
    )


def context_with_graphs(names: Callable[[], list[str]]) -> type[Context]:
    """The same options; a form offers the graphs that exist when it is drawn."""

    def offer(schema: dict[str, Any]) -> None:
        schema["anyOf"] = [{"type": "string", "enum": names()}, {"type": "null"}] if names() else schema["anyOf"]

    described = Context.model_fields["graph"].description
    return create_model(
        "Context", __base__=Context, graph=(str | None, Field(None, description=described, json_schema_extra=offer))
    )


def parse_context(options: Mapping[str, Any] | Context | None) -> Context:
    """The context; raises ConfigError that names the key, the value and what is allowed."""
    if isinstance(options, Context):
        return options
    try:
        return Context.model_validate(dict(options or {}))
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(str(part) for part in first["loc"])
        if first["type"] == "extra_forbidden":
            known = ", ".join(Context.model_fields)
            raise ConfigError(f"There is no option {name!r}. Use: {known}.") from None
        raise ConfigError(f"The option {name} can't be {first['input']!r}: {first['msg']}.") from None


@dataclass(frozen=True)
class Resources:
    """Made by a composition root. `agents` has "rules", and "model" if one is configured."""

    library: Library
    agents: Mapping[str, Agents]
    settings: Settings
    leases: VersionLeases = field(default_factory=VersionLeases)
    sandbox: Sandbox = field(default_factory=Sandbox)


def agents_for(resources: Resources, context: Context | None) -> Agents:
    """The agents of the reasoner that the context asks for; raises ConfigError if there are none."""
    reasoner = reasoner_for(resources, context)
    if reasoner not in resources.agents:
        raise ConfigError("The mind 'model' needs a chat model. Set NACRE_MODEL: local, or such as openai:gpt-4o-mini.")
    return resources.agents[reasoner]


def reasoner_for(resources: Resources, context: Context | None) -> str:
    """ "rules" or "model": what the context asks for, else the model if one is configured."""
    return (context and context.mind) or ("model" if "model" in resources.agents else "rules")
