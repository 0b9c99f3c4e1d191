"""`nacre complete`: triples extracted from texts -> proposals for the schema, which --apply adds."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nacre.serving.terminal import options
from nacre.serving.terminal.open_library import configured_embedder, open_library
from nacre.serving.terminal.turn_display import print_line

if TYPE_CHECKING:
    from ingestion.complete import SchemaCompletion
    from nacre.records.proposal import Proposal

MAX_EXAMPLES = 3


def complete(
    graph: options.GraphOption = None,
    apply: Annotated[bool, typer.Option("--apply", help="Add the proposals to the shown schema.")] = False,
    condense: Annotated[bool, typer.Option("--condense", help="Only merge near-duplicate relations.")] = False,
    remove: Annotated[bool, typer.Option("--remove", help="Undo earlier additions and merges.")] = False,
    annotations: Annotated[
        Path | None,
        typer.Option("--annotations", metavar="FILE", help="The annotations file of the graph's ingest."),
    ] = None,
) -> None:
    """Propose classes and attributes that occur in the texts of a graph but not in its schema.

    With --apply they can be shown and queried like those of the graph. Stored data stays; --remove removes them.
    """
    from ingestion import complete as completion_stage
    from ingestion.extract import publish_triples
    from nacre.config.settings import Settings
    from nacre.errors import ConfigError
    from nacre.serving.terminal.progress import show_progress
    from nacre.stores.base_graph import open_base_graph

    if apply + condense + remove > 1:
        raise ConfigError("Give one of --apply, --condense and --remove.")
    settings = Settings()
    embedder = configured_embedder(settings)
    if embedder is None:
        raise ConfigError("Completion compares meanings. Install the bundled embedder: pip install 'nacre[bundled]'")
    with (
        open_library(settings) as library,
        library.open(library.resolve(graph)) as shown_graph,
        open_base_graph(shown_graph, settings.data) as opened,
    ):
        home = settings.data / opened.name
        if remove:
            if opened.extracted is None:
                raise ConfigError(completion_stage.NONE_EXTRACTED.format(opened.name))
            publish_triples(home, opened.version, opened.extracted.all())
            print_line(f"'{opened.name}' is shown as it was ingested, its triples from texts as they were extracted.")
            return
        completion = completion_stage.complete_schema(opened, embedder)
        _print_completion(completion)
        if condense:
            completion_stage.publish_condensed(home, opened, completion.condensed)
            print_line(
                f"{len(completion.condensed)} relations now read as another one. To undo: nacre complete --remove"
            )
        elif apply:
            with show_progress() as on_stage:
                _, added = completion_stage.publish_completion(home, opened, completion, annotations, on_stage)
            print_line(
                f"Added {added:,} statements to what is shown of '{opened.name}'. To undo: nacre complete --remove"
            )
        else:
            print_line(f"Nothing was written. To add them: nacre complete --apply --graph {opened.name}")


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
