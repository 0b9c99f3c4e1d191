"""`nacre layer`: check, draft, apply, show and remove the semantic layers of a graph."""

import json
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nacre.errors import ConfigError
from nacre.extension import service
from nacre.serving.cli import options
from nacre.serving.cli.options import (
    configured_embedder,
    graph_version,
    is_attached,
    open_library,
    publish_layer_change,
)
from nacre.serving.cli.turn_display import adapt_commands, print_line, teach_command

if TYPE_CHECKING:
    from ingestion.layer.apply import LayerReport
    from ingestion.layer.layer_file import LayerFiles
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
    from ingestion.layer.apply import check_layers
    from ingestion.layer.layer_file import load_layer_files, read_layer_files
    from ingestion.report import version_facts
    from nacre.stores import versions
    from nacre.stores.addresses import configured_limits

    settings, name, folder = graph_version(graph)
    given = load_layer_files(files, packs=read_layer_files(folder).packs)
    if (folder / versions.DATABASE).is_file():
        raise ConfigError(f"Graph {name!r} is in a database. Run: nacre layer apply FILE --graph {name}")
    if is_attached(folder):
        check = service("endpoints", "check_layers", "The graph")
        return _print_report(check(name, given, data=settings.data, limits=configured_limits(settings)))
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
) -> None:
    """Draft a layer with the configured model; without one, write a template.

    Entries that give nothing are sent back once and then left out. If the file exists, what stands in it stays, and
    new entries are added. Ctrl-C keeps what is there.
    """
    settings, name, folder = graph_version(graph)
    if is_attached(folder):
        raise ConfigError(f"Graph {name!r} is attached: its triples are not here, and a draft is written from them.")
    service("drafting", "draft")(settings, folder, out or Path(f"{name}.layer.yaml"), questions, tokens)


@layer_app.command()
def apply(files: FilesArgument, graph: options.GraphOption = None) -> None:
    """Apply layers to a graph, beside those that are applied. A file of the same name is replaced.

    The source files of the graph are not needed. Of an attached graph the schema is read again. The graph answers as
    before until the new version is complete.
    """
    from ingestion.layer.layer_file import load_layer_files

    given = load_layer_files(files)
    settings, name, _ = graph_version(graph)
    publish_layer_change(settings, name, lambda present: present.replaced(given.files))


@layer_app.command()
def teach(
    word: Annotated[str, typer.Argument(metavar="WORD", help="A word, or a few, of a question that named nothing.")],
    meaning: Annotated[
        str | None,
        typer.Option("--as", metavar="NAME", help="What it means: a name, an IRI, a number, or words for it."),
    ] = None,
    question: Annotated[
        str, typer.Option("--question", metavar="TEXT", help="Show what this question gives with the word.")
    ] = "",
    graph: options.GraphOption = None,
) -> int:
    """Teach a word: make it another name of a class, property, value or thing. Without --as, propose the likeliest.

    It may also stand for words that the graph understands: --as "total charge". The word is added to the layer
    people.yaml of the graph. One that means something already is refused.
    """
    from nacre.serving.cli.ask import ask

    name = graph_version(graph)[1]
    was_taught = teach_word(word, meaning or "", question, name, teach_command(word, "NUMBER", question, name))
    return ask(question, name) if was_taught and question else 0


def teach_word(word: str, meaning: str, question: str, graph: str, again: str) -> bool:
    """Teach a word, or without a meaning print the likeliest ones, and `again`, the command that takes one; whether it
    was taught. Raises ConfigError for a word that can't be taught."""
    from ingestion.layer.apply import Named, with_further_name
    from nacre.extensions.layer_patterns.teaching import find_meanings, taught_meaning

    settings, name, _ = graph_version(graph)
    with open_library(settings, configured_embedder(settings)) as library, library.open(name) as opened:
        found = find_meanings(word, question, opened) if not meaning or meaning.isdecimal() else ()
        if not meaning:
            print_line(f"“{word}” names nothing in '{name}'. It may mean:")
            for n, each in enumerate(found, 1):
                of = f" of {each.of}" if each.of else ""
                print_line(f"  {n}. {each.kind}{of} “{each.name}”: {each.answer or 'gives nothing'}")
            print_line(adapt_commands(f"Run: {again}"))
            return False
        place = int(meaning) if meaning.isdecimal() else 0
        chosen = found[place - 1] if 0 < place <= len(found) else taught_meaning(word, meaning, opened, "", question)
        named = Named(chosen.kind, chosen.iri, chosen.value)
    when = datetime.now(UTC).strftime("%Y-%m-%d %H:%M")

    def change(present: "LayerFiles") -> "LayerFiles":
        return present.replaced((with_further_name(present, named, word, who="command line", when=when),))

    publish_layer_change(settings, name, change)
    return True


@layer_app.command()
def remove(
    file: Annotated[str | None, typer.Argument(metavar="[FILE]", help="Name of one layer; all by default.")] = None,
    graph: options.GraphOption = None,
) -> None:
    """Remove one layer of a graph, or all."""
    settings, name, _ = graph_version(graph)
    publish_layer_change(
        settings, name, lambda present: present.without(Path(file).name) if file else replace(present, files=())
    )


@layer_app.command()
def show(graph: options.GraphOption = None) -> None:
    """Print the layers of a graph, and the packs that apply to it."""
    from ingestion.layer.layer_file import read_layer_files
    from ingestion.layer.resolve import packs_for

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
    sys.stdout.write(json.dumps(service("drafting", "schema")(), indent=2) + "\n")


def _schema(folder: Path) -> "Schema":

    from nacre.records.json_form import from_json
    from nacre.records.schema import Schema
    from nacre.stores import versions
    from nacre.stores.sqlite.tables import Tables

    if is_attached(folder):
        return from_json(Schema, json.loads((folder / versions.SCHEMA).read_text(encoding="utf-8")))
    with closing(Tables(folder / versions.TABLES)) as tables:
        return tables.schema


def _print_report(report: "LayerReport") -> int:
    for line in report_lines(report):
        print_line(line)
    return 0 if report.is_applicable else 2


def report_lines(report: "LayerReport") -> Iterator[str]:
    """The report as text: a line for each entry, then the problems."""
    for entry in report.entries:
        if entry.count is None:
            continue
        shown = f": {', '.join(entry.examples)}" if entry.examples else ""
        yield f"{entry.count:>9,}  {entry.key}{shown}"
    naming = sum(entry.count is None for entry in report.entries)
    yield f"{len(report.entries)} entries, {naming} of them only names. {len(report.problems)} problems."
    for problem in report.problems:
        yield f"{'error' if problem.is_error else 'warning'}: {problem}"
