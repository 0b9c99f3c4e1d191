"""`nacre layer`: check, apply, show and remove the semantic layers of a graph."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nacre.serving.terminal import options
from nacre.serving.terminal.layer_versions import graph_version, is_attached, publish_layer_change
from nacre.serving.terminal.turn_display import print_line

if TYPE_CHECKING:
    from ingestion.layer.check import LayerReport
    from nacre.records.schema import Schema

layer_app = typer.Typer(
    help="Say what people call the things of a graph, and what stands behind several nodes.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

FilesArgument = Annotated[list[Path], typer.Argument(metavar="FILE...", help="Layers, the first one first.")]


@layer_app.command()
def check(files: FilesArgument, graph: options.GraphOption = None) -> int:
    """Report what each entry of a layer gives in a graph, and what is wrong with it.

    Nothing is written. Exit code 2 only for what can't be applied.
    """
    from ingestion.attach.attach import check_attached_layers
    from ingestion.layer.check import check_layers
    from ingestion.layer.stored import load_layer_files, read_layer_files
    from ingestion.stored_facts import version_facts
    from nacre.errors import ConfigError
    from nacre.stores import versions
    from nacre.stores.sparql.endpoint_limits import configured_limits

    settings, name, folder = graph_version(graph)
    given = load_layer_files(files, packs=read_layer_files(folder).packs)
    if (folder / versions.DATABASE).is_file():
        raise ConfigError(f"Graph {name!r} is in a database. Run: nacre layer apply FILE --graph {name}")
    if is_attached(folder):
        report = check_attached_layers(name, given, data=settings.data, limits=configured_limits(settings))
        return _print_report(report)
    return _print_report(check_layers(version_facts(folder), given))


@layer_app.command()
def draft(
    graph: options.GraphOption = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Where to write; NAME.layer.yaml by default.")
    ] = None,
    questions: Annotated[
        Path | None,
        typer.Option("--questions", metavar="FILE", help="Questions that were not answered, one a line or JSON Lines."),
    ] = None,
    tokens: Annotated[int, typer.Option("--tokens", min=1000, help="How many tokens of the graph are shown.")] = 30_000,
) -> int:
    """Draft a layer with the configured model; without one, write a template.

    Entries that give nothing are sent back once and then left out. If the file exists, what stands in it stays, and
    new entries are added. Ctrl-C keeps what is there.
    """
    from nacre.errors import ConfigError
    from nacre.serving.terminal.draft_layer import write_draft

    settings, name, folder = graph_version(graph)
    if is_attached(folder):
        raise ConfigError(f"Graph {name!r} is attached: its triples are not here, and a draft is written from them.")
    return write_draft(settings, folder, out or Path(f"{name}.layer.yaml"), questions, tokens)


@layer_app.command()
def apply(files: FilesArgument, graph: options.GraphOption = None) -> None:
    """Apply layers to a graph, beside those that are applied. A file of the same name is replaced.

    The source files of the graph are not needed. Of an attached graph the schema is read again. The graph answers as
    before until the new version is complete.
    """
    from ingestion.layer.stored import load_layer_files

    given = load_layer_files(files)
    settings, name, _ = graph_version(graph)
    publish_layer_change(settings, name, lambda present: present.replaced(given.files))


@layer_app.command()
def remove(
    file: Annotated[str | None, typer.Argument(metavar="[FILE]", help="Name of one layer; all by default.")] = None,
    graph: options.GraphOption = None,
) -> None:
    """Remove one layer of a graph, or all."""
    from ingestion.layer.stored import LayerFiles

    settings, name, _ = graph_version(graph)
    publish_layer_change(
        settings,
        name,
        lambda present: present.without(Path(file).name) if file else LayerFiles(packs=present.packs),
    )


@layer_app.command()
def show(graph: options.GraphOption = None) -> None:
    """Print the layers of a graph, and the packs that apply to it."""
    from ingestion.layer.packs import packs_for
    from ingestion.layer.stored import read_layer_files

    _, _, folder = graph_version(graph)
    stored, schema = read_layer_files(folder), _schema(folder)
    packs = packs_for([c.iri for c in schema.classes] + [p.iri for p in schema.predicates]) if stored.packs else []
    print_line(f"# packs: {', '.join(Path(pack.source).stem for pack in packs) or 'none'}")
    for each in stored.files:
        print_line(f"# {each.name}")
        sys.stdout.write(each.text.rstrip("\n") + "\n")


@layer_app.command()
def schema() -> None:
    """Print the JSON Schema of layer files, for editors that complete them."""
    from ingestion.layer.format.json_schema import layer_json_schema

    sys.stdout.write(json.dumps(layer_json_schema(), indent=2) + "\n")


def _schema(folder: Path) -> "Schema":
    from contextlib import closing

    from nacre.records.json_form import from_json
    from nacre.records.schema import Schema
    from nacre.stores import versions
    from nacre.stores.sqlite.tables import Tables

    if is_attached(folder):
        return from_json(Schema, json.loads((folder / versions.SCHEMA).read_text(encoding="utf-8")))
    with closing(Tables(folder / versions.TABLES)) as tables:
        return tables.schema


def _print_report(report: "LayerReport") -> int:
    from ingestion.layer.check import report_lines

    for line in report_lines(report):
        print_line(line)
    return 0 if report.is_applicable else 2
