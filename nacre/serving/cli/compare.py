"""`nacre compare`: a file of questions -> the results of each configuration of branches as a table, CSV and a chart."""

import asyncio
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nacre.serving.terminal import options
from nacre.serving.terminal.turn_display import print_line

if TYPE_CHECKING:
    from nacre.stores.catalog import Graph


def compare(
    questions: Annotated[Path, typer.Argument(metavar="QUESTIONS.jsonl")],
    graph: options.GraphOption = None,
    configurations: Annotated[
        str,
        typer.Option("--configurations", metavar="sql,passages,...", help="Any of sql, passages, sparql and all."),
    ] = "sql,passages,sparql,all",
    out: Annotated[Path, typer.Option("--out", metavar="FOLDER", help="Folder for records, CSV and chart.")] = Path(
        "comparison"
    ),
    mind: options.MindOption = None,
    limit: Annotated[int | None, typer.Option("--limit", min=1, metavar="N", help="Ask only the first N.")] = None,
) -> None:
    """Compare configurations of branches on a file of questions.

    Reports accuracy by kind of question, seconds, calls and tokens. Gold answers are read after the last answer.
    """
    from graph.app import compose
    from nacre.config.settings import Settings
    from nacre.evaluation.ask_questions import read_questions
    from nacre.evaluation.comparing.configurations import (
        comparison_chart,
        comparison_csv,
        comparison_text,
        configuration_lines,
    )
    from nacre.evaluation.questions import read_gold_questions
    from nacre.evaluation.score import read_answers
    from nacre.serving.cli.eval import ask_all

    settings = Settings()
    lines_to_ask = read_questions(questions)[:limit]
    library = compose(settings).library
    with ExitStack() as stack:
        stack.callback(library.close)
        names = sorted({library.resolve(question.graph or graph) for question in lines_to_ask})
        graphs = [stack.enter_context(library.open(name)) for name in names]
        branches = {each: _available_branches(each, graphs) for each in dict.fromkeys(configurations.split(","))}
    out.mkdir(parents=True, exist_ok=True)
    for configuration, branch_names in branches.items():
        print_line(f"{configuration}: {', '.join(branch_names)}")
        context = options.turn_context(settings, mind, ",".join(branch_names))
        with (out / f"{configuration}.jsonl").open("w", encoding="utf-8", errors="replace") as file:
            asyncio.run(ask_all(lines_to_ask, graph, context, file))
    gold = read_gold_questions(questions)[:limit]
    results = [
        line for each in branches for line in configuration_lines(each, gold, read_answers(out / f"{each}.jsonl"))
    ]
    (out / "comparison.csv").write_text(comparison_csv(results), encoding="utf-8")
    (out / "comparison.svg").write_text(comparison_chart(results), encoding="utf-8")
    print_line(comparison_text(results) + f"Records, comparison.csv and comparison.svg are in {out}.")


def _available_branches(configuration: str, graphs: "Sequence[Graph]") -> tuple[str, ...]:
    """The branches of a configuration that at least one graph has; raises ConfigError if there are none."""
    from graph.branches import BRANCHES
    from nacre.errors import ConfigError
    from nacre.evaluation.comparing.configurations import CONFIGURATIONS

    if configuration not in CONFIGURATIONS:
        raise ConfigError(f"No configuration named {configuration!r}. Use: {', '.join(CONFIGURATIONS)}.")
    lacks = {branch: [BRANCHES[branch].problem(graph) for graph in graphs] for branch in CONFIGURATIONS[configuration]}
    available = tuple(branch for branch, reasons in lacks.items() if not all(reasons))
    if not available:
        [(branch, [why, *_]), *_] = lacks.items()
        raise ConfigError(f"Configuration {configuration!r} can't be used with {graphs[0].name!r}: {branch}: {why}")
    return available
