"""`nacre extract`: texts -> triples, printed; with --apply stored as a layer of the graph."""

import asyncio
import sys
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from nacre.serving.terminal import options
from nacre.serving.terminal.layer_versions import publish_layer_change
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
        typer.Argument(metavar="[TEXT...]", help="Files, folders or globs; by default the texts of the graph."),
    ] = None,
    graph: options.GraphOption = None,
    mind: options.MindOption = None,
    apply: Annotated[bool, typer.Option("--apply", help="Store the triples, replacing earlier ones.")] = False,
    remove: Annotated[bool, typer.Option("--remove", help="Remove the stored triples.")] = False,
    everything: Annotated[bool, typer.Option("--all", help="Show all triples instead of the first 20.")] = False,
) -> None:
    """Extract triples from texts.

    With --apply they are stored as a layer, each with its sentence, for NACRE_STRATEGY=waterfall and --branches
    triples. The triples of the graph do not change.
    """
    from ingestion.complete import remove_completion
    from ingestion.extract import publish_triples, remove_layers
    from nacre.config.settings import Settings
    from nacre.errors import ConfigError

    if remove and (apply or texts):
        raise ConfigError("--remove can't be combined with texts or --apply.")
    settings = Settings()
    with open_library(settings) as library:
        name = library.resolve(graph)
        home, change = settings.data / name, partial(publish_layer_change, settings, name)
        if remove:
            remove_completion(home, change)
            removed = remove_layers(home)
            print_line(
                f"Removed the extracted triples of '{name}'." if removed else f"'{name}' has no extracted triples."
            )
            return
        with library.open(name) as opened:
            extraction = asyncio.run(_extract(opened, settings, mind, texts or []))
            _print_triples(extraction, everything=everything)
            if apply:
                publish_triples(home, opened.version, extraction.triples)
                # it has statements of the earlier triples
                remove_completion(home, change)
    if apply:
        print_line(f"Stored with '{name}'. NACRE_STRATEGY=waterfall uses them; nacre extract --remove removes them.")
    else:
        print_line(f"Nothing was written. To store them: nacre extract --apply --graph {name}")


async def _extract(graph: "Graph", settings: "Settings", mind: str | None, texts: list[str]) -> "TextExtraction":
    from graph.app import compose
    from ingestion.extract import extract_triples
    from nacre.serving.terminal.options import turn_context

    chosen = turn_context(settings, mind, None).mind
    teams = compose(settings).agents
    team = teams[chosen or ("model" if "model" in teams else "rules")]
    return await extract_triples(graph, team.extractor, texts, _print_document)


def _print_document(document: str) -> None:
    sys.stderr.write(f"{document}\n")


def _print_triples(extraction: "TextExtraction", *, everything: bool) -> None:
    sure = sorted(extraction.triples, key=lambda each: -each.confidence)
    selected = sure if everything else sure[:MAX_SHOWN]
    for each in selected:
        subject = _format_end(each.subject, each.subject_key)
        print_line(f"{each.confidence:.2f}  {subject} | {each.relation} | {_format_object(each)}")
        print_line(f"      {each.claim.document} {each.claim.start}-{each.claim.end}: {each.claim.text}")
    if len(sure) > len(selected):
        print_line(f"and {len(sure) - len(selected):,} more (--all)")
    print_line(
        f"{len(extraction.triples):,} triples from {extraction.sentences:,} sentences of"
        f" {extraction.documents:,} documents, by {extraction.by};"
        f" {len(extraction.known):,} that the graph has already are omitted"
    )


def _format_end(text: str, key: str) -> str:
    return text if key else f"“{text}”"


def _format_object(each: "ExtractedTriple") -> str:
    return _format_end(each.object, each.object_key) if each.kind == "thing" else f"{each.object} ({each.kind})"
