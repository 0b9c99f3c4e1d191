"""What the nodes of a process work with, and which agents a turn uses: Resources + Context -> Agents."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from agents.agents import Agents
from graph.context import Context
from nacre.access.version_leases import VersionLeases
from nacre.config.settings import Settings
from nacre.errors import ConfigError
from nacre.stores.catalog import Library
from tools.guards.sandbox import Sandbox


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
