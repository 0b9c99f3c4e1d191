"""`nacre extract`: texts -> triples; `nacre complete`: these -> proposals for the schema. --apply stores them."""

import asyncio
import sys
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from nacre.errors import ConfigError
from nacre.serving.cli import options
from nacre.serving.cli.options import configured_embedder, open_library, publish_layer_change
from nacre.serving.cli.turn_display import print_line

if TYPE_CHECKING:
    from nacre.config.settings import Settings
    from nacre.extensions.pyramid.complete_schema import Proposal, SchemaCompletion
    from nacre.extensions.pyramid.extract_triples import TextExtraction
    from nacre.stores.catalog import Graph

MAX_SHOWN = 20


def extract(
    texts: Annotated[
        list[str] | None,
        typer.Argument(metavar="[TEXT...]", help="Files, folders or globs; by default the texts of the graph."),
    ] = None,
    graph: options.GraphOption = None,
    reasoner: options.ReasonerOption = None,
    apply: Annotated[bool, typer.Option("--apply", help="Store the triples, replacing earlier ones.")] = False,
    remove: Annotated[bool, typer.Option("--remove", help="Remove the stored triples.")] = False,
    everything: Annotated[bool, typer.Option("--all", help="Show all triples instead of the first 20.")] = False,
) -> None:
    """Extract triples from texts. With --apply they are stored as a layer, each with its sentence, for
    NACRE_STRATEGY=waterfall and --branches triples. The triples of the graph do not change."""
    from nacre.config.settings import Settings
    from nacre.extensions.pyramid.complete_schema import remove_completion
    from nacre.extensions.pyramid.extract_triples import publish_triples, remove_layers

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
            extraction = asyncio.run(_extract(opened, settings, reasoner, texts or []))
            _print_triples(extraction, everything=everything)
            if apply:
                publish_triples(home, opened.version, extraction.triples)
                # it has statements of the earlier triples
                remove_completion(home, change)
    if apply:
        print_line(f"Stored with '{name}'. NACRE_STRATEGY=waterfall uses them; nacre extract --remove removes them.")
    else:
        print_line(f"Nothing was written. To store them: nacre extract --apply --graph {name}")


async def _extract(graph: "Graph", settings: "Settings", reasoner: str | None, texts: list[str]) -> "TextExtraction":
    from agents.model_priors import model_limits
    from nacre.config.models import chat_model
    from nacre.extensions.pyramid.extract_triples import by_model, by_rules, extract_triples

    model = None if options.turn_context(settings, reasoner, None).mind == "rules" else chat_model(settings, "sql")
    extractor = by_rules if model is None else by_model(model, by_rules, model_limits(settings))
    return await extract_triples(graph, extractor, texts, _print_document)


def _print_document(document: str) -> None:
    sys.stderr.write(f"{document}\n")


def _print_triples(extraction: "TextExtraction", *, everything: bool) -> None:
    sure = sorted(extraction.triples, key=lambda each: -each.confidence)
    selected = sure if everything else sure[:MAX_SHOWN]
    for each in selected:
        subject = _format_end(each.subject, each.subject_key)
        value = _format_end(each.object, each.object_key) if each.kind == "thing" else f"{each.object} ({each.kind})"
        print_line(f"{each.confidence:.2f}  {subject} | {each.relation} | {value}")
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


MAX_EXAMPLES = 3


def complete(
    graph: options.GraphOption = None,
    apply: Annotated[bool, typer.Option("--apply", help="Apply the proposals as a layer of the graph.")] = False,
    condense: Annotated[bool, typer.Option("--condense", help="Only merge near-duplicate relations.")] = False,
    remove: Annotated[bool, typer.Option("--remove", help="Undo earlier additions and merges.")] = False,
) -> None:
    """Propose classes and attributes that occur in the texts of a graph but not in its schema.

    With --apply they are a layer of the graph, which nacre layer show prints, and can be queried like those of the
    graph. Its triples stay; --remove removes the layer and the merges.
    """
    from nacre.config.settings import Settings
    from nacre.extensions.pyramid import complete_schema as completion_stage

    if apply + condense + remove > 1:
        raise ConfigError("Give one of --apply, --condense and --remove.")
    settings = Settings()
    embedder = configured_embedder(settings)
    if embedder is None and not remove:
        raise ConfigError("Completion compares meanings. Install the bundled embedder: pip install 'nacre[bundled]'")
    with open_library(settings) as library, library.open(library.resolve(graph)) as opened:
        name = opened.name
        home, change = settings.data / name, partial(publish_layer_change, settings, name)
        if remove:
            completion_stage.publish_condensed(home, opened, {})
            completion_stage.remove_completion(home, change)
            print_line(f"'{name}' is without the layer of its texts, whose triples are as they were extracted.")
            return
        assert embedder is not None
        completion = completion_stage.complete_schema(opened, embedder)
        _print_completion(completion)
        if condense:
            completion_stage.publish_condensed(home, opened, completion.condensed)
            print_line(
                f"{len(completion.condensed)} relations now read as another one. To undo: nacre complete --remove"
            )
        elif apply:
            added = completion_stage.apply_completion(home, opened, completion, change)
            print_line(f"{added.statements:,} statements are in the layer {added.file.name} (nacre layer show).")
            if added.left_out:
                print_line(f"{added.left_out:,} statements are left out: about blank nodes, or more than a layer has.")
            print_line("To undo: nacre complete --remove")
        else:
            print_line(f"Nothing was written. To apply them: nacre complete --apply --graph {name}")


def _print_completion(completion: "SchemaCompletion") -> None:
    for each in completion.proposals:
        print_line(_proposal_line(each))
        for instance in each.instances[:MAX_EXAMPLES]:
            print_line(f"      {instance.subject} | {instance.relation} | {instance.object}")
    for relation, into in sorted(completion.condensed.items(), key=lambda pair: (pair[1], pair[0])):
        print_line(f"“{relation}” reads as “{into}”")
    attributes = sum(each.kind == "attribute" and not each.key for each in completion.proposals)
    classes = sum(each.kind == "class" for each in completion.proposals)
    print_line(
        f"{classes} classes and {attributes} attributes proposed, {len(completion.condensed)} relations condensed, from"
        f" {completion.triples:,} triples"
    )


def _proposal_line(each: "Proposal") -> str:
    if each.kind == "class":
        return f"class “{each.label}”: {each.support} things"
    if each.key:
        return f"facts of {each.domain} “{each.label}”, which the schema has: {each.support} things"
    names = f" ({', '.join(each.relations[1:])})" if len(each.relations) > 1 else ""
    return f"attribute of {each.domain} “{each.label}”{names}: {each.support} things, priority {each.priority:g}"
