"""`nacre examples`: questions of a graph that people confirmed, with what answers them."""

import asyncio
import json
import sqlite3
import sys
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from nacre.errors import ConfigError
from nacre.serving.cli import options
from nacre.serving.cli.options import open_library
from nacre.serving.cli.turn_display import adapt_commands, print_line, teach_command

if TYPE_CHECKING:
    from nacre.config.settings import Settings
    from nacre.extensions.verified.entries import VerifiedQuestionService
    from nacre.records.turn import VerifiedQuestion
    from nacre.serving.turn_service import TurnService

T = TypeVar("T")

examples_app = typer.Typer(
    help="Questions that people confirmed: they are answered the same way again.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

IdArgument = Annotated[str, typer.Argument(metavar="ID", help="Id of the question, as listed.")]

ByOption = Annotated[
    str | None, typer.Option("--by", metavar="NAME", help="Whose entry, if several people confirmed the question.")
]

SECONDS = 600.0


@examples_app.command()
def add(
    question: Annotated[str, typer.Argument(metavar="QUESTION")],
    graph: options.GraphOption = None,
    sql: Annotated[str | None, typer.Option("--sql", metavar="QUERY", help="The SQL that answers it.")] = None,
    sparql: Annotated[str | None, typer.Option("--sparql", metavar="QUERY", help="The SPARQL that answers it.")] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask whether the answer is right.")] = False,
) -> int:
    """Confirm a question: with a query of your own, or with the answer that the graph gives now."""
    from nacre.records.turn import VerifiedQuery
    from nacre.serving.keys import LOCAL_CALLER

    if sql and sparql:
        raise ConfigError("Give one query: --sql or --sparql.")

    async def confirm(service: "TurnService", verified: "VerifiedQuestionService") -> int:
        text = sql or sparql
        if text:
            query = VerifiedQuery(tool="sql" if sql else "sparql", text=text)
            entry, given = await verified.confirm_query(LOCAL_CALLER, graph, question, query)
            print_line(f"It gives: {', '.join(map(str, given.values[:10]))}")
            _print_entry(entry)
            return 0
        record = await service.answer(question, graph)
        print_line(record["answer"])
        if not yes and not typer.confirm("Is this right?", err=True):
            print_line("Nothing was stored. To give the right query: --sql or --sparql.")
            return 1
        _print_entry(await verified.confirm_answer(LOCAL_CALLER, record))
        return 0

    return _with_service(confirm)


@examples_app.command("import")
def import_file(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="JSON lines: question with query, plan or answers.")],
    graph: options.GraphOption = None,
) -> int:
    """Confirm the questions of a file. Lines that can't be confirmed are listed with the reason."""
    from nacre.extensions.evaluation.questions import read_question_lines
    from nacre.serving.keys import LOCAL_CALLER

    async def read(_: "TurnService", verified: "VerifiedQuestionService") -> int:
        added, refused = 0, 0
        lines = list(read_question_lines(file))
        async for line in verified.import_lines(LOCAL_CALLER, graph, lines, trusts_plans=True):
            added += line.entry is not None
            if line.entry is None:
                refused += 1
                print_line(f"left out  {line.place}: {line.question} ({line.problem})")
        print_line(f"{added} of {added + refused} questions are verified now.")
        return 0 if added or not refused else 2

    return _with_service(read)


@examples_app.command()
def export(
    file: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", help="Where to write; by default the output.")
    ] = None,
    graph: options.GraphOption = None,
) -> None:
    """Write all verified questions of a graph as JSON lines."""
    from nacre.extensions.verified.entries import export_lines

    lines = [json.dumps(line, ensure_ascii=False) for line in export_lines(_stored(graph))]
    text = "".join(f"{line}\n" for line in lines)
    if file is None:
        sys.stdout.write(text)
    else:
        file.write_text(text, encoding="utf-8")
        print_line(f"{file} has {len(lines)} verified questions.")


@examples_app.command("list")
def list_entries(
    graph: options.GraphOption = None,
    search: Annotated[str, typer.Option("--search", metavar="WORDS", help="Only questions that contain this.")] = "",
    waiting: Annotated[bool, typer.Option("--waiting", help="Only those that wait for approval.")] = False,
) -> None:
    """List the verified questions of a graph, the latest first, also those that are not used."""
    found = _stored(graph, search=search, waiting=waiting)
    for entry in found:
        _print_entry(entry)
    if not found:
        print_line("There are none. Confirm one: nacre examples add QUESTION")


@examples_app.command()
def check(graph: options.GraphOption = None) -> int:
    """Run all again. Those that fail, give nothing, or give values of another kind are not used any more.

    Those that were set aside and hold again are used again. Exit code 1 if some are not used.
    """
    from nacre.extensions.verified.entries import calibrate_if_due
    from nacre.serving.keys import LOCAL_CALLER

    async def run(service: "TurnService", verified: "VerifiedQuestionService") -> int:
        report = await verified.check(LOCAL_CALLER, graph, SECONDS)
        name = service.resolve_graph(graph, LOCAL_CALLER)
        await calibrate_if_due(service, name)
        for entry in (*report.changed, *report.aside):
            _print_entry(entry)
        left = f", {report.left} were not reached in {SECONDS:g} s" if report.left else ""
        print_line(
            f"{report.checked} checked: {len(report.aside)} are not used, "
            f"{len(report.changed)} have new values and stay in use{left}."
        )
        if (calibration := service.library.verified.calibration(name)) is not None:
            print_line(calibration.words)
        return 1 if report.aside else 0

    return _with_service(run)


@examples_app.command()
def approve(
    id: IdArgument,
    graph: options.GraphOption = None,
    by: ByOption = None,
    withdraw: Annotated[bool, typer.Option("--withdraw", help="Take the approval back.")] = False,
) -> None:
    """Let everyone who may read the graph use a question that somebody confirmed."""
    from nacre.serving.keys import LOCAL_CALLER

    async def run(_: "TurnService", verified: "VerifiedQuestionService") -> None:
        _print_entry(await verified.approve(LOCAL_CALLER, graph, id, by, approved=not withdraw))

    _with_service(run)


@examples_app.command()
def remove(
    id: Annotated[str | None, typer.Argument(metavar="[ID]", help="Id of the question, as listed.")] = None,
    graph: options.GraphOption = None,
    by: ByOption = None,
    every: Annotated[bool, typer.Option("--all", help="All of the graph, or with --by all of a person.")] = False,
) -> None:
    """Delete a verified question, all of a person, or all of a graph."""
    from nacre.serving.keys import LOCAL_CALLER

    if (id is None) is not every:
        raise ConfigError("Give the id of one question, or --all.")
    if id is None:
        with open_library() as library:
            gone = library.verified.remove_all(library.resolve(graph), by)
        print_line(f"{gone} verified questions were deleted.")
        return

    async def run(_: "TurnService", verified: "VerifiedQuestionService") -> None:
        await verified.remove(LOCAL_CALLER, graph, id, by)
        print_line("Deleted.")

    _with_service(run)


@examples_app.command()
def proposals(graph: options.GraphOption = None) -> int:
    """List what people say for classes and properties in confirmed questions, and the graph does not know.

    Nothing is added by itself: nacre layer teach adds a word.
    """
    from nacre.extensions.verified.entries import graph_proposals

    with open_library() as library, library.open(library.resolve(graph)) as opened:
        name, found = opened.name, graph_proposals(opened)
    for each in found:
        count = f"{len(each.questions)} question{'' if len(each.questions) == 1 else 's'}"
        teach = teach_command(each.phrase, each.label, "", name)
        print_line(adapt_commands(f"“{each.phrase}” for {each.label}: {count}. Run: {teach}"))
    if not found:
        print_line("There are none: all words of the verified questions are known, or say too little.")
    return 0


def _with_service(run: "Callable[[TurnService, VerifiedQuestionService], Awaitable[T]]") -> T:
    """The result of `run` with an open turn service and its verified questions."""
    from nacre.config.settings import Settings
    from nacre.extensions.verified.entries import VerifiedQuestionService
    from nacre.serving.turn_service import open_turn_service

    async def opened() -> T:
        async with open_turn_service(Settings(), lasting=False, warm=False) as service:
            return await run(service, VerifiedQuestionService(service))

    return asyncio.run(opened())


def _stored(graph: str | None, *, search: str = "", waiting: bool = False) -> "list[VerifiedQuestion]":
    """All entries of a graph."""
    found: list[VerifiedQuestion] = []
    with open_library() as library:
        name = library.resolve(graph)
        while page := library.verified.listed(name, search=search, waiting=waiting, skip=len(found)):
            found += page
    return found


def _print_entry(entry: "VerifiedQuestion") -> None:
    state = entry.state if entry.state != "in use" else "approved" if entry.approved else "waiting"
    note = f" ({entry.note})" if entry.note else ""
    print_line(f"{entry.id}  {state:<12}  {entry.question}  by {entry.by}, {entry.at[:10]}{note}")


def recheck_verified_questions(settings: "Settings", name: str) -> None:
    """Run those of an earlier version again, within CHECK_SECONDS, and print which are not used any more."""
    with open_library(settings) as library:
        try:
            if not library.verified.count(name):
                return
            from nacre.extensions.verified.checks import calibrate_graph, check_all, is_due
            from tools.sandbox import Sandbox

            with closing(Sandbox()) as sandbox, library.open(name) as graph:
                report = asyncio.run(check_all(graph, library.verified, settings, sandbox))
                aside = library.verified.count(name, states=("failed", "empty", "changed kind", "replaced"))
                if is_due(graph, library.verified):
                    found = asyncio.run(calibrate_graph(graph, library.verified, settings, sandbox))
                    print_line(found.words)
        except sqlite3.Error as error:
            # the graph is published and answers without them
            print_line(f"warning: the verified questions were not checked ({error})")
            return
    if report.checked:
        print_line(f"{report.checked} verified questions were checked; {len(report.changed)} have new values.")
    if report.left:
        print_line(f"{report.left} verified questions were not checked in time.")
    if aside or report.left:
        left_out = f"{aside} verified questions are not used until you look at them. " if aside else ""
        print_line(adapt_commands(f"{left_out}Run: nacre examples check --graph {name}"))
