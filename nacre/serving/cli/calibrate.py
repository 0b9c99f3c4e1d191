"""`nacre calibrate`: questions with answers of one's own -> how sure Nacre is of this model's queries from now on."""

import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nacre.serving.terminal import options

if TYPE_CHECKING:
    from nacre.config.settings import Settings
    from nacre.evaluation.learning.calibrate import Asked
    from nacre.evaluation.questions import Gold


def calibrate(
    questions: Annotated[Path, typer.Argument(metavar="QUESTIONS")],
    graph: options.Graph = None,
    limit: Annotated[int | None, typer.Option("--limit", min=1, metavar="N", help="Ask only the first N.")] = None,
) -> None:
    """Measure how often the model's queries are right, and use that.

    QUESTIONS are lines of JSON with a question and its answers. What is counted replaces what was counted before for
    this model.
    """
    from agents.models.priors import keep, priors
    from graph.app import size
    from nacre.config.settings import Settings
    from nacre.errors import ConfigError
    from nacre.evaluation.learning.calibrate import count, report
    from nacre.evaluation.questions import read

    settings = Settings()
    model = settings.model_sql or settings.model
    if not settings.model or not model:
        raise ConfigError("No model is set. Set NACRE_MODEL=openai:NAME or ollama:NAME.")
    wanted = [gold for gold in read(questions) if "answers" in gold][:limit]
    if not wanted:
        raise ConfigError(f"{questions} holds no question with 'answers'. Write one JSON object a line with both.")
    asked = asyncio.run(_asked(wanted, settings, graph))
    counts = count(asked)
    if not counts:
        raise ConfigError(f"{model} wrote no query for any of {len(asked)} questions. Run: nacre doctor")
    keep(settings.data, model, counts)
    sys.stdout.write(f"{model}, {len(asked)} questions\n\n{report(priors(size(settings), counts), asked)}")


async def _asked(questions: "list[Gold]", settings: "Settings", graph: str | None) -> "list[Asked]":
    from graph.app import compose
    from nacre.evaluation.learning.calibrate import outcomes

    composition = compose(settings.model_copy(update={"lead": "model"}))
    done: list[Asked] = []
    try:
        # a wrong name is bad input and found before the first question
        for name in {gold.get("graph") or graph for gold in questions}:
            composition.library.resolve(name)
        async for each in outcomes(questions, composition, graph):
            done.append(each)
            told = f"{each.outcome or 'no query'} {'right' if each.right else 'wrong'} {each.seconds:.1f} s"
            sys.stderr.write(f"{len(done)}/{len(questions)} {each.id} {told}\n")
    finally:
        composition.library.close()
    return done
