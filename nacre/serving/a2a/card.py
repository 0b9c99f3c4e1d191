"""The agent card: address + caller -> how to reach the agent, and one skill per graph that the caller may read."""

from importlib.metadata import version

from a2a.types.a2a_pb2 import (
    AgentCapabilities,
    AgentCard,
    AgentInterface,
    AgentSkill,
    HTTPAuthSecurityScheme,
    SecurityRequirement,
    SecurityScheme,
    StringList,
)
from a2a.utils.constants import PROTOCOL_VERSION_0_3, PROTOCOL_VERSION_1_0, TransportProtocol

from nacre.errors import ConfigError
from nacre.serving.keys import LOCAL_CALLER, Caller
from nacre.serving.turn_service import TurnService
from nacre.stores.catalog import Library

TEXT, DATA = "text/plain", "application/json"
SCHEME = "key"
# classes that describe a graph, the largest first (given)
MAX_CLASSES = 8
TAGS = ("knowledge graph", "question answering", "citations")
DESCRIPTION = (
    "Answers questions in plain language about knowledge graphs, with citations, the values as data and a probability. "
    "Name the graph in the metadata of the message, as graph; it may be omitted if there is only one."
)
PUBLIC_SKILL = AgentSkill(
    id="ask",
    name="Answer questions about knowledge graphs",
    description="Fetch this card with your key, or the extended card, to see the graphs that you may ask.",
    tags=TAGS,
)


def agent_card(address: str, service: TurnService, caller: Caller | None) -> AgentCard:
    """The card for a caller; without a caller it names no graph. `address` is that of the route /a2a.

    It opens each graph, so it must not run on the event loop.
    """
    card = AgentCard(
        name="Nacre",
        description=DESCRIPTION,
        version=version("nacre"),
        supported_interfaces=[
            AgentInterface(url=address, protocol_binding=TransportProtocol.JSONRPC, protocol_version=each)
            for each in (PROTOCOL_VERSION_1_0, PROTOCOL_VERSION_0_3)
        ],
        capabilities=AgentCapabilities(streaming=True, push_notifications=False, extended_agent_card=True),
        default_input_modes=[TEXT],
        default_output_modes=[TEXT, DATA],
        skills=[PUBLIC_SKILL] if caller is None else _skills(service, caller),
    )
    if caller is None or caller.owner != LOCAL_CALLER.owner:
        bearer = HTTPAuthSecurityScheme(scheme="bearer", description="A key created by nacre keys add.")
        card.security_schemes[SCHEME].CopyFrom(SecurityScheme(http_auth_security_scheme=bearer))
        card.security_requirements.append(SecurityRequirement(schemes={SCHEME: StringList()}))
    return card


def _skills(service: TurnService, caller: Caller) -> list[AgentSkill]:
    return [
        AgentSkill(id=name, name=f"Questions about {name}", description=_description(service.library, name), tags=TAGS)
        for name in service.graph_names(caller)
    ]


def _description(library: Library, name: str) -> str:
    """What a graph holds, by its largest classes."""
    try:
        with library.open(name) as graph:
            classes = sorted(graph.schema.shown_classes, key=lambda each: -each.count)[:MAX_CLASSES]
    except (ConfigError, OSError):
        return "This graph can't be opened now."
    held = ", ".join(f"{each.label} ({each.count:,})" for each in classes) or "no classes"
    return f"The graph {name!r} holds {held}."
