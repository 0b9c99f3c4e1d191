"""Options that several commands share: option values -> the context of a turn."""

from typing import TYPE_CHECKING, Annotated

import typer

from nacre.errors import ConfigError
from nacre.serving.cli.open_library import open_library

if TYPE_CHECKING:
    from graph.context import Context
    from nacre.config.settings import Settings


def _complete_graph(incomplete: str) -> list[str]:
    """The names of graphs with this prefix, for shell completion."""
    with open_library() as library:
        return [name for name in library.names() if name.startswith(incomplete)]


GraphOption = Annotated[
    str | None,
    typer.Option(
        "--graph",
        metavar="NAME",
        help="The graph; may be omitted if there is only one.",
        autocompletion=_complete_graph,
    ),
]

ReasonerOption = Annotated[
    str | None,
    typer.Option("--reasoner", "--mind", metavar="rules|model", help="Who answers (model if NACRE_MODEL is set)."),
]

BranchesOption = Annotated[
    str | None,
    typer.Option(
        "--branches",
        metavar="sql,vector,...",
        help="The branches of retrieval; by default all except sparql and triples.",
    ),
]

LimitOption = Annotated[int | None, typer.Option("--limit", min=1, metavar="N", help="Ask only the first N.")]


def split_names(*values: str) -> list[str]:
    """The names in an option, which may be repeated: each value has some, separated by commas."""
    return [name.strip() for value in values for name in value.split(",") if name.strip()]


def turn_context(settings: "Settings", reasoner: str | None, branches: str | None) -> "Context":
    """The context of a turn; raises ConfigError for a reasoner or branch that is not available."""
    from graph.context import parse_context

    names = None if branches is None else split_names(branches)
    return parse_context({"mind": check_reasoner(settings, reasoner), "branches": names})


def check_reasoner(settings: "Settings", reasoner: str | None) -> str | None:
    """The requested reasoner, None if none is requested; raises ConfigError if a model is requested but not set."""
    if reasoner == "model" and not settings.model:
        raise ConfigError(
            "No model is set. Run: nacre model get, then set NACRE_MODEL=local (or openai:NAME, ollama:NAME); "
            "or pass --reasoner rules."
        )
    return reasoner or None
