"""`nacre extract`: texts -> triples beside a graph, shown; with --apply kept as a layer of their own."""

import asyncio
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from nacre.serving.terminal import options
from nacre.serving.terminal.open_library import open_library
from nacre.serving.terminal.turn_display import print_line

if TYPE_CHECKING:
    from ingestion.extract import TextExtraction
    from nacre.config.settings import Settings
    from nacre.records.extracted import ExtractedTriple
    from nacre.stores.catalog import Graph

MAX_SHOWN = 20


def extract(
    texts: Annotated[
        list[str] | None,
        typer.Argument(metavar="[TEXT...]", help="Files, folders, globs; by default the texts of the graph."),
    ] = None,
    graph: options.GraphOption = None,
    mind: options.MindOption = None,
    apply: Annotated[bool, typer.Option("--apply", help="Keep the triples, in the place of earlier ones.")] = False,
    remove: Annotated[bool, typer.Option("--remove", help="Remove the triples that were kept.")] = False,
    everything: Annotated[bool, typer.Option("--all", help="Show every triple, not the first 20.")] = False,
) -> None:
    """Show the triples that texts state beside a graph.

    With --apply they become a layer of their own, each with its sentence, that NACRE_STRATEGY=waterfall and --branches
    triples ask. The triples of the graph stay as they are.
    """
    from ingestion.extract import publish_triples, remove_layers
    from nacre.config.settings import Settings
    from nacre.errors import ConfigError
    from nacre.stores.base_graph import open_base_graph

    if remove and (apply or texts):
        raise ConfigError("--remove takes no texts and no --apply.")
    settings = Settings()
    with open_library(settings) as library:
        name = library.resolve(graph)
        home = settings.data / name
        if remove:
            there = remove_layers(home)
            print_line(
                f"Removed what was extracted beside '{name}'." if there else f"Nothing is extracted beside '{name}'."
            )
            return
        with library.open(name) as present, open_base_graph(present, settings.data) as opened:
            found = asyncio.run(_extract(opened, settings, mind, texts or []))
            _show(found, everything=everything)
            if apply:
                publish_triples(home, opened.version, found.triples)
    if apply:
        print_line(
            f"Kept beside '{name}'. They answer with NACRE_STRATEGY=waterfall; nacre extract --remove takes them away."
        )
    else:
        print_line(f"Nothing was written. To keep them: nacre extract --apply --graph {name}")


async def _extract(graph: "Graph", settings: "Settings", mind: str | None, texts: list[str]) -> "TextExtraction":
    from graph.app import compose
    from ingestion.extract import extract_triples as extracted
    from nacre.serving.terminal.options import turn_context

    chosen = turn_context(settings, mind, None).mind
    teams = compose(settings).agents
    team = teams[chosen or ("model" if "model" in teams else "rules")]
    return await extracted(graph, team.extractor, texts, _read)


def _read(document: str) -> None:
    sys.stderr.write(f"{document}\n")


def _show(found: "TextExtraction", *, everything: bool) -> None:
    sure = sorted(found.triples, key=lambda each: -each.confidence)
    shown = sure if everything else sure[:MAX_SHOWN]
    for each in shown:
        print_line(f"{each.confidence:.2f}  {_end(each.subject, each.subject_key)} | {each.relation} | {_object(each)}")
        print_line(f"      {each.claim.document} {each.claim.start}-{each.claim.end}: {each.claim.text}")
    if len(sure) > len(shown):
        print_line(f"and {len(sure) - len(shown):,} more (--all)")
    print_line(
        f"{len(found.triples):,} triples from {found.sentences:,} sentences of {found.documents:,} documents, by"
        f" {found.by}; {len(found.known):,} that the graph holds are left out"
    )


def _end(text: str, key: str) -> str:
    return text if key else f"“{text}”"


def _object(each: "ExtractedTriple") -> str:
    return _end(each.object, each.object_key) if each.kind == "thing" else f"{each.object} ({each.kind})"
