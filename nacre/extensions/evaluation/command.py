"""`nacre eval`: a file of questions -> a file of answer records, or of queries in SPARQL, written one by one.

`nacre compare`: the results of each configuration of branches as a table, CSV and a chart. `nacre calibrate`: questions
with gold answers -> the probability of this model's queries in later answers.
"""

import asyncio
import json
import sys
from collections.abc import Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from nacre.errors import ConfigError, ToolError
from nacre.extension import service
from nacre.serving.cli import options
from nacre.serving.cli.options import open_library
from nacre.serving.cli.turn_display import print_line

if TYPE_CHECKING:
    from graph.context import Context
    from nacre.config.settings import Settings
    from nacre.extensions.evaluation.measures import QueryOutcome
    from nacre.extensions.evaluation.questions import GoldQuestion
    from nacre.records.answer import Answer, QuestionLine
    from nacre.stores.catalog import Graph


def evaluate(
    questions: Annotated[Path, typer.Argument(metavar="QUESTIONS.jsonl")],
    out: Annotated[Path, typer.Option("--out", metavar="PREDICTIONS.jsonl", help="File for the answer records.")],
    graph: options.GraphOption = None,
    reasoner: options.ReasonerOption = None,
    branches: options.BranchesOption = None,
    limit: options.LimitOption = None,
    score: Annotated[
        bool, typer.Option("--score", help="Then compare with the gold answers: exact match, F1, confidence.")
    ] = False,
    text2sparql: Annotated[
        bool, typer.Option("--text2sparql", help="Write each question as SPARQL; compare with the file's gold queries.")
    ] = False,
) -> None:
    """Ask a file of questions and write their answer records.

    Questions are asked one at a time, in the order of the file. Conversations share a thread; failed questions are
    written too. Gold answers are read only with --score, after the last answer is written.
    """
    if text2sparql:
        _evaluate_translations(questions, out, graph, reasoner, limit)
        return
    from nacre.config.settings import Settings
    from nacre.extensions.evaluation.questions import read_questions

    if out.exists() and questions.exists() and out.samefile(questions):
        raise ConfigError(f"--out {out} is the file of questions. Choose another name.")
    lines = read_questions(questions)[:limit]
    settings = Settings()
    context = options.turn_context(settings, reasoner, branches)
    out.parent.mkdir(parents=True, exist_ok=True)
    with out.open("w", encoding="utf-8", errors="replace") as file:
        asyncio.run(ask_all(lines, graph, context, file))
    if score:
        sys.stdout.write(_score_report(questions, out))


def _evaluate_translations(
    questions: Path, out: Path, graph: str | None, reasoner: str | None, limit: int | None
) -> None:
    """Write each question as SPARQL, run it and the gold query over the data as it was read, and report the F1."""
    from graph.builder import compose
    from graph.context import agents_for, parse_context
    from nacre.config.settings import Settings
    from nacre.extensions.evaluation.measures import Translation, read_translation_questions, translation_report
    from nacre.records.evidence import Cell
    from nacre.records.threads import run_in_thread

    write, select_values = (service("text2sparql", name, "--text2sparql") for name in ("write", "values"))
    asked, settings = read_translation_questions(questions)[:limit], Settings()
    composition = compose(settings)
    resources = composition.resources
    agents = agents_for(resources, parse_context({"mind": options.check_reasoner(settings, reasoner)}))

    async def translate(file: TextIO) -> list[Translation]:
        done = []
        with composition.library.open(composition.library.resolve(graph)) as opened:
            for each in asked:
                query, error, found, gold = "", "", frozenset[Cell](), frozenset[Cell]()
                try:
                    gold = await run_in_thread(select_values, each.gold, opened, settings, resources.sandbox)
                    query = await write(each.question, opened, settings, resources.sandbox, agents)
                    found = await run_in_thread(select_values, query, opened, settings, resources.sandbox)
                except ToolError as failed:
                    error = str(failed)
                done.append(Translation(each, query, found, gold, error))
                record = {**each._asdict(), "query": query, "f1": round(done[-1].f1, 4), "error": error}
                file.write(json.dumps(record, ensure_ascii=False) + "\n")
                sys.stderr.write(f"{len(done)}/{len(asked)} {each.id} {each.language} F1 {done[-1].f1:.2f}\n")
        return done

    out.parent.mkdir(parents=True, exist_ok=True)
    try:
        with out.open("w", encoding="utf-8", errors="replace") as file:
            sys.stdout.write(translation_report(asyncio.run(translate(file))))
    finally:
        resources.sandbox.close()
        composition.library.close()


def _score_report(questions: Path, predictions: Path) -> str:
    """The score of the records; questions without gold answers or beyond --limit are omitted."""
    from nacre.extensions.evaluation.questions import has_gold_answer, read_gold_questions
    from nacre.extensions.evaluation.score import read_answers, score_report

    answers = read_answers(predictions)
    golds = [gold for gold in read_gold_questions(questions) if has_gold_answer(gold) and gold["id"] in answers]
    if not golds:
        return f'No line of {questions} has gold answers. Write for example {{"question": "...", "answers": [12]}}.\n'
    return score_report(golds, answers)


async def ask_all(questions: "list[QuestionLine]", graph: str | None, context: "Context", out: TextIO) -> None:
    """Ask the questions one at a time and write each record as a line when it is available."""
    from nacre.config.settings import Settings
    from nacre.extensions.evaluation.questions import ask_questions
    from nacre.records.threads import relax_collection, run_in_thread
    from nacre.serving.turn_service import open_turn_service

    async with open_turn_service(Settings(), lasting=False) as service:
        relax_collection()
        library = service.library
        # check the names of graphs before the first question
        for name in {question.graph or graph for question in questions}:
            library.resolve(name)
        await run_in_thread(library.warm)

        async def ask(question: "QuestionLine", thread: str) -> "Answer":
            return await service.answer(question.question, question.graph or graph, thread, context)

        written = 0
        async for record in ask_questions(questions, ask):
            out.write(json.dumps(record, ensure_ascii=False) + "\n")
            out.flush()
            written += 1
            sys.stderr.write(
                f"{written}/{len(questions)} {record['id']} {record['status']} {record['seconds']:.3f} s\n"
            )


def compare(
    questions: Annotated[Path, typer.Argument(metavar="QUESTIONS.jsonl")],
    graph: options.GraphOption = None,
    configurations: Annotated[
        str, typer.Option("--configurations", metavar="sql,passages,...", help="Any of sql, passages, sparql and all.")
    ] = "sql,passages,sparql,all",
    out: Annotated[Path, typer.Option("--out", metavar="FOLDER", help="Folder for records, CSV and chart.")] = Path(
        "comparison"
    ),
    reasoner: options.ReasonerOption = None,
    limit: options.LimitOption = None,
    alone: Annotated[
        bool, typer.Option("--alone", help="Also ask the model once, with a summary of the schema and nothing else.")
    ] = False,
) -> None:
    """Compare configurations of branches on a file of questions.

    Reports accuracy by kind of question, seconds, calls and tokens. Gold answers are read after the last answer.
    """
    from graph.builder import compose
    from nacre.config.settings import Settings
    from nacre.extensions.evaluation.measures import (
        comparison_chart,
        comparison_csv,
        comparison_text,
        configuration_lines,
    )
    from nacre.extensions.evaluation.questions import read_gold_questions, read_questions
    from nacre.extensions.evaluation.score import read_answers

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
        context = options.turn_context(settings, reasoner, ",".join(branch_names))
        with (out / f"{configuration}.jsonl").open("w", encoding="utf-8", errors="replace") as file:
            asyncio.run(ask_all(lines_to_ask, graph, context, file))
    if alone:
        print_line("alone: the model without Nacre")
        asyncio.run(_ask_alone(lines_to_ask, graph, out / "alone.jsonl"))
    gold = read_gold_questions(questions)[:limit]
    results = [
        line
        for each in (*branches, *(["alone"] if alone else []))
        for line in configuration_lines(each, gold, read_answers(out / f"{each}.jsonl"))
    ]
    (out / "comparison.csv").write_text(comparison_csv(results), encoding="utf-8")
    (out / "comparison.svg").write_text(comparison_chart(results), encoding="utf-8")
    print_line(comparison_text(results) + f"Records, comparison.csv and comparison.svg are in {out}.")


async def _ask_alone(questions: "list[QuestionLine]", graph: str | None, out: Path) -> None:
    """Ask the model without Nacre and write its records."""
    from graph.builder import compose
    from nacre.config.settings import Settings
    from nacre.extensions.evaluation.measures import ask_model_alone
    from nacre.extensions.evaluation.questions import ask_questions

    settings = Settings()
    with closing(compose(settings).library) as library, out.open("w", encoding="utf-8", errors="replace") as file:
        async for record in ask_questions(questions, ask_model_alone(settings, library, graph)):
            file.write(json.dumps(record, ensure_ascii=False) + "\n")


def _available_branches(configuration: str, graphs: "Sequence[Graph]") -> tuple[str, ...]:
    """The branches of a configuration that at least one graph has; raises ConfigError if there are none."""
    from graph.branches import all_branches
    from nacre.extensions.evaluation.measures import CONFIGURATIONS

    if configuration not in CONFIGURATIONS:
        raise ConfigError(f"No configuration named {configuration!r}. Use: {', '.join(CONFIGURATIONS)}.")
    lacks = {
        branch: [all_branches()[branch].problem(graph) for graph in graphs] for branch in CONFIGURATIONS[configuration]
    }
    available = tuple(branch for branch, reasons in lacks.items() if not all(reasons))
    if not available:
        [(branch, [why, *_]), *_] = lacks.items()
        raise ConfigError(f"Configuration {configuration!r} can't be used with {graphs[0].name!r}: {branch}: {why}")
    return available


def calibrate(
    questions: Annotated[Path | None, typer.Argument(metavar="[QUESTIONS]")] = None,
    graph: options.GraphOption = None,
    limit: options.LimitOption = None,
    verified: Annotated[bool, typer.Option("--verified", help="Calibrate the rules with verified questions.")] = False,
    undo: Annotated[bool, typer.Option("--undo", help="Undo that, until --verified.")] = False,
) -> None:
    """Measure how often the model's queries are right and store the result.

    QUESTIONS has one JSON object per line, with a question and its answers. Without it, up to thirty questions are made
    of the graph's own data. The counts replace earlier ones of this model. With --verified, thirty or more verified
    questions of the graph calibrate the probabilities of the rules, from then on again with each ingest and with new
    ones.
    """
    if verified or undo:
        _calibrate_rules(graph, undo=undo)
        return
    from agents.model_priors import LEAST_MEASURED, model_priors, query_model_name, query_model_size, save_counts
    from nacre.config.settings import Settings
    from nacre.extensions.evaluation.measures import count_outcomes, own_counts, priors_report
    from nacre.extensions.evaluation.questions import read_gold_questions

    settings = Settings()
    if not settings.model:
        raise ConfigError("No model is set. Set NACRE_MODEL=openai:NAME or ollama:NAME.")
    model = query_model_name(settings)
    gold_lines = None
    if questions is not None:
        gold_lines = [gold for gold in read_gold_questions(questions) if "answers" in gold][:limit]
    answered = asyncio.run(_query_outcomes(gold_lines, settings, graph, limit)) if gold_lines != [] else []
    if not answered:
        source = questions or "The graph"
        raise ConfigError(f"{source} has no question with 'answers'. Write one JSON object per line with both.")
    if not count_outcomes(answered):
        raise ConfigError(f"{model} wrote no query for any of {len(answered)} questions. Run: nacre doctor")
    counts = own_counts(answered) if questions is None else count_outcomes(answered)
    save_counts(settings.data, model, counts)
    priors = model_priors(query_model_size(settings), counts)
    right = sum(each.right for each in answered)
    lead = "" if priors.before >= LEAST_MEASURED else " The rules lead."
    sys.stdout.write(f"{model} answers {right} of {len(answered)}.{lead}\n\n{priors_report(priors, answered)}")


def _calibrate_rules(graph: str | None, *, undo: bool) -> None:
    """Calibrate the rules with the verified questions of a graph, or undo that."""
    from nacre.config.settings import Settings
    from tools.sandbox import Sandbox

    settings = Settings()
    with open_library(settings) as library, closing(Sandbox()) as sandbox:
        name = library.resolve(graph)
        if undo:
            service("verified", "undo_calibration")(name, library.verified)
            sys.stdout.write("Undone. To calibrate again: nacre calibrate --verified\n")
            return
        with library.open(name) as opened:
            if opened.stored is None:
                raise ConfigError(f"{name} is attached to a SPARQL endpoint, whose probabilities can't be calibrated.")
            found = asyncio.run(service("verified", "calibrate")(opened, library.verified, settings, sandbox))
        sys.stdout.write(f"{found.words}\n")


async def _query_outcomes(
    questions: "list[GoldQuestion] | None", settings: "Settings", graph: str | None, limit: int | None
) -> "list[QueryOutcome]":
    """The outcomes of the questions, or of questions made of the graph, each reported in a line."""
    from agents.model_priors import measured_size
    from graph.builder import compose
    from nacre.extensions.evaluation.measures import measure_model, own_questions, query_outcomes

    done: list[QueryOutcome] = []
    asked = questions or []

    def report(each: "QueryOutcome") -> None:
        done.append(each)
        outcome = f"{each.outcome or 'no query'} {'right' if each.right else 'wrong'} {each.seconds:.1f} s"
        sys.stderr.write(f"{len(done)}/{len(asked)} {each.id} {outcome}\n")

    composition = compose(settings.model_copy(update={"lead": "model", "model_size": measured_size(settings)}))
    try:
        # check the names of graphs before the first question
        for name in {gold.get("graph") or graph for gold in asked} or {graph}:
            composition.library.resolve(name)
        if questions is None:
            asked = own_questions(composition.library, graph)[:limit]
            await measure_model(composition, asked, graph, report=report)
        else:
            async for each in query_outcomes(asked, composition, graph):
                report(each)
    finally:
        composition.library.close()
    return done
