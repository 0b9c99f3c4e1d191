"""Options that several commands share: what is typed -> a context for the turn."""

from typing import TYPE_CHECKING, Annotated

import typer

from nacre.records.errors import ConfigError

if TYPE_CHECKING:
    from graph.context import Context
    from nacre.config.settings import Settings

Graph = Annotated[
    str | None, typer.Option("--graph", metavar="NAME", help="Which graph; not needed where there is only one.")
]
Mind = Annotated[
    str | None, typer.Option("--mind", metavar="rules|model", help="Who answers; model where NACRE_MODEL is set.")
]
Branches = Annotated[
    str | None,
    typer.Option(
        "--branches",
        metavar="sql,vector,...",
        help="Which ways of retrieval to use; all but sparql and triples by default.",
    ),
]


def context(settings: "Settings", mind: str | None, branches: str | None) -> "Context":
    """What the options ask of a turn; raises ConfigError for a mind or branch that can't be had."""
    from graph.context import context_of

    if mind == "model" and not settings.model:
        raise ConfigError(
            "No model is set. Run: nacre model get, then set NACRE_MODEL=local (or openai:NAME, ollama:NAME); "
            "or give --mind rules."
        )
    named = None if branches is None else [name.strip() for name in branches.split(",") if name.strip()]
    return context_of({"mind": mind, "branches": named})
