"""Options that several commands share: what is typed -> a context for the turn."""

from typing import TYPE_CHECKING, Annotated

import typer

from nacre.errors import ConfigError

if TYPE_CHECKING:
    from graph.context import Context
    from nacre.config.settings import Settings


def _graphs(incomplete: str) -> list[str]:
    """The names of graphs that begin so, for the shell's completion."""
    from nacre.config.settings import Settings
    from nacre.serving.terminal.open_library import open_library

    with open_library(Settings()) as library:
        return [name for name in library.names() if name.startswith(incomplete)]


GraphOption = Annotated[
    str | None,
    typer.Option(
        "--graph", metavar="NAME", help="Which graph; not needed where there is only one.", autocompletion=_graphs
    ),
]
MindOption = Annotated[
    str | None, typer.Option("--mind", metavar="rules|model", help="Who answers; model where NACRE_MODEL is set.")
]
BranchesOption = Annotated[
    str | None,
    typer.Option(
        "--branches",
        metavar="sql,vector,...",
        help="Which ways of retrieval to use; all but sparql and triples by default.",
    ),
]


def turn_context(settings: "Settings", mind: str | None, branches: str | None) -> "Context":
    """What the options ask of a turn; raises ConfigError for a mind or branch that can't be had."""
    from graph.context import parse_context

    named = None if branches is None else [name.strip() for name in branches.split(",") if name.strip()]
    return parse_context({"mind": check_mind(settings, mind), "branches": named})


def check_mind(settings: "Settings", mind: str | None) -> str | None:
    """The reasoner that is asked for, None where none is; raises ConfigError for a model that is not set."""
    if mind == "model" and not settings.model:
        raise ConfigError(
            "No model is set. Run: nacre model get, then set NACRE_MODEL=local (or openai:NAME, ollama:NAME); "
            "or give --mind rules."
        )
    return mind or None
