"""`nacre calibrate`: questions with answers of one's own -> how sure Nacre is of this model's queries from now on."""

import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nacre.serving.terminal import options

if TYPE_CHECKING:
    from nacre.config.settings import Settings
    from nacre.evaluation.learning.model_priors import QueryOutcome
    from nacre.evaluation.questions import GoldQuestion


def calibrate(
    questions: Annotated[Path, typer.Argument(metavar="QUESTIONS")],
    graph: options.GraphOption = None,
    limit: Annotated[int | None, typer.Option("--limit", min=1, metavar="N", help="Ask only the first N.")] = None,
) -> None:
    """Measure how often the model's queries are right, and use that.

    QUESTIONS are lines of JSON with a question and its answers. What is counted replaces what was counted before for
    this model.
    """
    from agents.models.model_settings import query_model_size
    from agents.models.priors import model_priors, save_counts
    from nacre.config.settings import Settings
    from nacre.errors import ConfigError
    from nacre.evaluation.learning.model_priors import count_outcomes, priors_report
    from nacre.evaluation.questions import read_gold_questions

    settings = Settings()
    model = settings.model_sql or settings.model
    if not settings.model or not model:
        raise ConfigError("No model is set. Set NACRE_MODEL=openai:NAME or ollama:NAME.")
    wanted = [gold for gold in read_gold_questions(questions) if "answers" in gold][:limit]
    if not wanted:
        raise ConfigError(f"{questions} holds no question with 'answers'. Write one JSON object a line with both.")
    asked = asyncio.run(_asked(wanted, settings, graph))
    counts = count_outcomes(asked)
    if not counts:
        raise ConfigError(f"{model} wrote no query for any of {len(asked)} questions. Run: nacre doctor")
    save_counts(settings.data, model, counts)
    sys.stdout.write(
        f"{model}, {len(asked)} questions\n\n{priors_report(model_priors(query_model_size(settings), counts), asked)}"
    )


async def _asked(questions: "list[GoldQuestion]", settings: "Settings", graph: str | None) -> "list[QueryOutcome]":
    from graph.app import compose
    from nacre.evaluation.learning.model_priors import query_outcomes

    composition = compose(settings.model_copy(update={"lead": "model"}))
    done: list[QueryOutcome] = []
    try:
        # a wrong name is bad input and found before the first question
        for name in {gold.get("graph") or graph for gold in questions}:
            composition.library.resolve(name)
        async for each in query_outcomes(questions, composition, graph):
            done.append(each)
            told = f"{each.outcome or 'no query'} {'right' if each.right else 'wrong'} {each.seconds:.1f} s"
            sys.stderr.write(f"{len(done)}/{len(questions)} {each.id} {told}\n")
    finally:
        composition.library.close()
    return done
