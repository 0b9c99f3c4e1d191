"""`nacre calibrate`: questions with gold answers -> the probability of this model's queries in later answers."""

import asyncio
import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nacre.serving.terminal import options

if TYPE_CHECKING:
    from nacre.config.settings import Settings
    from nacre.evaluation.learning.model_priors import QueryOutcome
    from nacre.evaluation.questions import GoldQuestion


def calibrate(
    questions: Annotated[Path | None, typer.Argument(metavar="[QUESTIONS]")] = None,
    graph: options.GraphOption = None,
    limit: Annotated[int | None, typer.Option("--limit", min=1, metavar="N", help="Ask only the first N.")] = None,
    verified: Annotated[bool, typer.Option("--verified", help="Calibrate the rules with verified questions.")] = False,
    undo: Annotated[bool, typer.Option("--undo", help="Undo that, until --verified.")] = False,
) -> None:
    """Measure how often the model's queries are right and store the result.

    QUESTIONS has one JSON object per line, with a question and its answers. The counts replace earlier ones of this
    model. With --verified, thirty or more verified questions of the graph calibrate the probabilities of the rules,
    from then on again with each ingest and with new ones.
    """
    if verified or undo:
        _calibrate_rules(graph, undo=undo)
        return
    from agents.models.model_settings import query_model_size
    from agents.models.priors import model_priors, save_counts
    from nacre.config.settings import Settings
    from nacre.errors import ConfigError
    from nacre.evaluation.learning.model_priors import count_outcomes, priors_report
    from nacre.evaluation.questions import read_gold_questions

    if questions is None:
        raise ConfigError("Give a file of questions, or --verified.")
    settings = Settings()
    model = settings.model_sql or settings.model
    if not settings.model or not model:
        raise ConfigError("No model is set. Set NACRE_MODEL=openai:NAME or ollama:NAME.")
    gold_lines = [gold for gold in read_gold_questions(questions) if "answers" in gold][:limit]
    if not gold_lines:
        raise ConfigError(f"{questions} has no question with 'answers'. Write one JSON object per line with both.")
    answered = asyncio.run(_query_outcomes(gold_lines, settings, graph))
    counts = count_outcomes(answered)
    if not counts:
        raise ConfigError(f"{model} wrote no query for any of {len(answered)} questions. Run: nacre doctor")
    save_counts(settings.data, model, counts)
    report = priors_report(model_priors(query_model_size(settings), counts), answered)
    sys.stdout.write(f"{model}, {len(answered)} questions\n\n{report}")


def _calibrate_rules(graph: str | None, *, undo: bool) -> None:
    """Calibrate the rules with the verified questions of a graph, or undo that."""
    from nacre.access.verified.calibrate import calibrate_graph, undo_calibration
    from nacre.config.settings import Settings
    from nacre.errors import ConfigError
    from nacre.serving.terminal.open_library import open_library
    from tools.guards.sandbox import Sandbox

    settings = Settings()
    with open_library(settings) as library, closing(Sandbox()) as sandbox:
        name = library.resolve(graph)
        if undo:
            undo_calibration(name, library.verified)
            sys.stdout.write("Undone. To calibrate again: nacre calibrate --verified\n")
            return
        with library.open(name) as opened:
            if opened.stored is None:
                raise ConfigError(f"{name} is attached to a SPARQL endpoint, whose probabilities can't be calibrated.")
            found = asyncio.run(calibrate_graph(opened, library.verified, settings, sandbox))
        sys.stdout.write(f"{found.words}\n")


async def _query_outcomes(
    questions: "list[GoldQuestion]", settings: "Settings", graph: str | None
) -> "list[QueryOutcome]":
    from graph.app import compose
    from nacre.evaluation.learning.model_priors import query_outcomes

    composition = compose(settings.model_copy(update={"lead": "model"}))
    done: list[QueryOutcome] = []
    try:
        # check the names of graphs before the first question
        for name in {gold.get("graph") or graph for gold in questions}:
            composition.library.resolve(name)
        async for each in query_outcomes(questions, composition, graph):
            done.append(each)
            outcome = f"{each.outcome or 'no query'} {'right' if each.right else 'wrong'} {each.seconds:.1f} s"
            sys.stderr.write(f"{len(done)}/{len(questions)} {each.id} {outcome}\n")
    finally:
        composition.library.close()
    return done
