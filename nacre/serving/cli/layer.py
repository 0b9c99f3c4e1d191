"""`nacre layer`: check, draft, apply, show and remove the semantic layers of a graph.

Drafting: settings + version -> a file, with the progress and the cost.
"""

import asyncio
import json
import sys
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nacre.errors import ConfigError
from nacre.extension import service
from nacre.serving.cli import options
from nacre.serving.cli.open_library import (
    configured_embedder,
    graph_version,
    is_attached,
    open_library,
    publish_layer_change,
)
from nacre.serving.cli.turn_display import adapt_commands, print_line, teach_command

if TYPE_CHECKING:
    from ingestion.layer.apply import LayerReport
    from ingestion.layer.drafting import LayerDraft, LayerDrafter
    from ingestion.layer.layer_file import LayerFiles
    from nacre.config.settings import Settings
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
) -> int:
    """Draft a layer with the configured model; without one, write a template.

    Entries that give nothing are sent back once and then left out. If the file exists, what stands in it stays, and
    new entries are added. Ctrl-C keeps what is there.
    """

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
    from ingestion.layer.layer_file import load_layer_files

    given = load_layer_files(files)
    settings, name, _ = graph_version(graph)
    publish_layer_change(settings, name, lambda present: present.replaced(given.files))


@layer_app.command()
def teach(
    word: Annotated[str, typer.Argument(metavar="WORD", help="A word, or a few, of a question that named nothing.")],
    meaning: Annotated[
        str | None,
        typer.Option("--as", metavar="NAME", help="The class or property: its name, IRI, or number in the proposals."),
    ] = None,
    question: Annotated[
        str, typer.Option("--question", metavar="TEXT", help="Show what this question gives with the word.")
    ] = "",
    graph: options.GraphOption = None,
) -> int:
    """Teach a word: make it another name of a class or property. Without --as, propose the likeliest.

    The word is added to the layer people.yaml of the graph. One that means something already is refused.
    """
    from ingestion.layer.edit import with_further_name
    from nacre.access.teaching import find_meanings, named_term, require_teachable
    from nacre.serving.cli.ask import ask

    settings, name, _ = graph_version(graph)
    with open_library(settings, configured_embedder(settings)) as library, library.open(name) as opened:
        require_teachable(word, opened)
        found = find_meanings(word, question, opened) if meaning is None or meaning.isdecimal() else ()
        if meaning is None:
            print_line(f"“{word}” names nothing in '{name}'. It may mean:")
            for n, each in enumerate(found, 1):
                print_line(f"  {n}. {each.kind} “{each.name}”: {each.answer or 'gives nothing'}")
            print_line(adapt_commands(f"Run: {teach_command(word, 'NUMBER', question, name)}"))
            return 0
        place = int(meaning) if meaning.isdecimal() else 0
        kind, iri = named_term(found[place - 1].iri if 0 < place <= len(found) else meaning, opened.schema)
    when = datetime.now(UTC).strftime("%Y-%m-%d %H:%M")

    def change(present: "LayerFiles") -> "LayerFiles":
        return present.replaced((with_further_name(present, kind, iri, word, who="command line", when=when),))

    publish_layer_change(settings, name, change)
    return ask(question, name) if question else 0


@layer_app.command()
def remove(
    file: Annotated[str | None, typer.Argument(metavar="[FILE]", help="Name of one layer; all by default.")] = None,
    graph: options.GraphOption = None,
) -> None:
    """Remove one layer of a graph, or all."""
    settings, name, _ = graph_version(graph)
    publish_layer_change(
        settings,
        name,
        lambda present: present.without(Path(file).name) if file else replace(present, files=()),
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
    from ingestion.layer.edit import layer_json_schema

    sys.stdout.write(json.dumps(layer_json_schema(), indent=2) + "\n")


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
    from ingestion.layer.apply import report_lines

    for line in report_lines(report):
        print_line(line)
    return 0 if report.is_applicable else 2


# a draft is longer than a query
DRAFT_TOKENS, DRAFT_SECONDS = 16_000, 600.0

MAX_QUESTIONS = 100

MAX_LISTED = 20


def write_draft(settings: "Settings", folder: Path, out: Path, questions: Path | None, tokens: int) -> int:
    """Draft and write; the exit code. A file that exists is added to."""
    from agents.model_calls import ModelFailed
    from ingestion.layer.drafting import describe_graph, draft_layer, plan_calls
    from ingestion.layer.edit import add_to_text
    from ingestion.report import version_facts

    asked = _questions(questions) if questions is not None else []
    drafter = _drafter(settings)
    if drafter is None:
        return _write_template(folder, out)
    facts = version_facts(folder)
    text = describe_graph(facts)
    calls, rest = plan_calls(text, tokens)
    characters = sum(map(len, calls))
    print_line(
        f"About {2 * len(calls)} calls, at most {characters // 2:,} tokens read"
        + (f"; {rest:,} classes are left out (--tokens shows more)." if rest else ".")
    )
    before = out.read_text(encoding="utf-8") if out.exists() else ""

    def keep(draft: "LayerDraft", progress: str) -> None:
        sys.stderr.write(f"{progress}\n")
        out.write_text(add_to_text(before, draft.sections), encoding="utf-8")

    try:
        draft = asyncio.run(draft_layer(facts, text, drafter, tokens=tokens, questions=asked, on_draft=keep))
    except ModelFailed as failed:
        raise ConfigError(f"The model failed: {failed.why}. What was drafted before is in {out}.") from None
    _print_result(draft, out)
    return 0


def _print_result(draft: "LayerDraft", out: Path) -> None:
    for failed in draft.failed[:MAX_LISTED]:
        print_line(f"left out: {failed.text[:100]}: {failed.reason}")
    usage = draft.usage
    cost = f", {usage.price:.3f} US dollars" if usage.price else ""
    count = sum(len(entries) for name, entries in draft.sections.items() if name != "prefixes")
    print_line(
        f"{out}: {count} entries, {len(draft.failed)} left out; {usage.calls} calls, {usage.input:,} tokens read,"
        f" {usage.output:,} written{cost}. Next: nacre layer check {out}, then nacre layer apply {out}"
    )


def _drafter(settings: "Settings") -> "LayerDrafter | None":
    from agents.model_priors import model_limits
    from ingestion.layer.drafting import LayerDrafter
    from nacre.config.models import chat_model

    longer = settings.model_copy(
        update={
            "model_tokens": max(settings.model_tokens, DRAFT_TOKENS),
            "model_seconds": max(settings.model_seconds, DRAFT_SECONDS),
        }
    )
    try:
        model = chat_model(longer, "sql")
    except (ValueError, ImportError) as error:
        raise ConfigError(str(error)) from error
    return None if model is None else LayerDrafter(model, model_limits(longer))


def _write_template(folder: Path, out: Path) -> int:
    """What the rules know, commented out, for a person to fill in."""
    from ingestion.layer.edit import suggest_annotations
    from nacre.stores import versions
    from nacre.stores.sqlite.tables import Tables

    if out.exists():
        raise ConfigError(f"{out} exists, and only a model can add to it. Set NACRE_MODEL, or give another --out.")
    with closing(Tables(folder / versions.TABLES)) as tables:
        out.write_text(suggest_annotations(tables.schema), encoding="utf-8")
    print_line(f"No model is configured (NACRE_MODEL), so {out} is a template: all names, commented out.")
    return 0


def _questions(path: Path) -> list[str]:
    """The questions of a file: lines, or JSON Lines with a field `question`."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: can't be read ({error}).") from None
    found = []
    for line in filter(str.strip, lines):
        try:
            data = json.loads(line)
        except ValueError:
            data = line.strip()
        found.append(str(data.get("question", "")) if isinstance(data, dict) else str(data))
    return [question for question in found if question][:MAX_QUESTIONS]
