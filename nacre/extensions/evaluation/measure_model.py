"""Measure a model with questions made of a graph's own data: Composition + graph -> outcomes and their counts.

The model is shown no readings, since they are right for these questions.
"""

import asyncio
import math
from collections.abc import Callable, Sequence
from dataclasses import replace

from agents.agents import configured_agents
from agents.model_priors import Counts, measured_size, query_model_name, save_counts
from graph.app import Composition
from nacre.errors import ConfigError
from nacre.evaluation.questions import GoldQuestion
from nacre.extension import service
from nacre.extensions.evaluation.measures import QueryOutcome, query_outcomes
from nacre.records.threads import run_in_thread
from nacre.stores.catalog import Library

# questions that are made of a graph's own data, and how long they are looked for (given)
OWN_QUESTIONS, OWN_SECONDS = 30, 60.0

# limits of a measurement that nobody asked for (given)
BACKGROUND_SECONDS, BACKGROUND_TOKENS = 120.0, 100_000


def own_questions(library: Library, graph: str | None) -> list[GoldQuestion]:
    """Questions with known answers, made of the data of a graph; raises ConfigError for one that is attached."""
    with library.open(library.resolve(graph)) as opened:
        if opened.stored is None:
            raise ConfigError(f"{opened.name} is attached. Give a file of questions.")
        known = service("suggestions", "known_questions")(opened, OWN_QUESTIONS, OWN_SECONDS)
    return [{"id": n, "question": text, "answers": values} for n, (text, values) in enumerate(known, 1)]


async def measure_model(
    composition: Composition,
    questions: Sequence[GoldQuestion],
    graph: str | None,
    *,
    seconds: float = math.inf,
    tokens: float = math.inf,
    report: Callable[[QueryOutcome], None] = lambda _: None,
) -> list[QueryOutcome]:
    """Ask the model of `composition` the questions until so many `seconds` or `tokens` are used up."""
    settings = composition.settings
    alone = settings.model_copy(update={"lead": "alone", "model_size": measured_size(settings)})
    agents = await run_in_thread(configured_agents, alone)
    resources = replace(composition.resources, agents=agents, settings=alone)
    measured = replace(composition, settings=alone, agents=agents, resources=resources)
    done: list[QueryOutcome] = []
    try:
        async with asyncio.timeout(seconds if seconds < math.inf else None):
            async for each in query_outcomes(questions, measured, graph):
                done.append(each)
                report(each)
                if sum(outcome.tokens for outcome in done) >= tokens:
                    break
    except TimeoutError:
        # what was asked counts
        pass
    return done


def own_counts(judged: Sequence[QueryOutcome]) -> Counts:
    """The counts of questions made of the data: without readings beside them, all rows are the model's alone. A
    question without a query is not answered."""
    return {"alone": (sum(each.right for each in judged), len(judged))}


async def measure_in_background(composition: Composition, graph: str) -> None:
    """Measure the model within the limits and store the counts; nothing if the graph gives no questions or the model
    wrote no query."""
    questions = await run_in_thread(own_questions, composition.library, graph)
    judged = await measure_model(composition, questions, graph, seconds=BACKGROUND_SECONDS, tokens=BACKGROUND_TOKENS)
    if any(each.outcome for each in judged):
        settings = composition.settings
        await run_in_thread(save_counts, settings.data, query_model_name(settings), own_counts(judged))
