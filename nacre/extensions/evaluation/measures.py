"""Measures beside the score: records of answers, or questions with gold answers -> figures.

In order: configurations compared (lines, as text, CSV and a chart); how often the queries of a model are right by
their outcome (Counts); questions with gold queries in SPARQL, by the score of the TEXT2SPARQL challenge: the F1 of the
set of values that a query selects; and a model without Nacre: the question and a summary of the schema -> one query,
its cells as the answer."""

import asyncio
import csv
import io
import math
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple
from xml.sax.saxutils import escape

import yaml
from langchain_core.messages import HumanMessage, SystemMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver

from agents.agents import configured_agents
from agents.model_calls import CHARACTERS_PER_TOKEN, ModelFailed, structured_reply
from agents.model_priors import OUTCOMES, Counts, Priors, measured_size, model_limits, query_model_name, save_counts
from graph.builder import Composition
from graph.context import parse_context
from graph.state import Input
from nacre.config.models import chat_model
from nacre.config.settings import Settings
from nacre.errors import ConfigError
from nacre.extension import service
from nacre.extensions.evaluation.questions import (
    AskQuestion,
    GoldQuestion,
    ask_questions,
    question_kind,
    read_question_lines,
)
from nacre.extensions.evaluation.score import is_right, quantile, ranking_scores
from nacre.extensions.model_agents.query_prompt import relevant_tables, whole_schema
from nacre.extensions.model_agents.write_queries import SqlReply
from nacre.language.tokens import ENGLISH
from nacre.records.answer import Answer, QuestionLine, failed_record
from nacre.records.evidence import BranchResult, Cell, Rows
from nacre.records.json_form import from_json
from nacre.records.threads import run_in_thread
from nacre.records.turn import Understanding
from nacre.stores.catalog import Library
from nacre.stores.sqlite.schema_sql import schema_sql
from nacre.understanding.ranking.rank import load_weights
from nacre.wording.answer import verbalise_rows

# the branches of each configuration; a graph may lack some of them
CONFIGURATIONS: Mapping[str, tuple[str, ...]] = {
    "sql": ("sql",),
    "passages": ("vector", "lexical"),
    "sparql": ("sparql",),
    "all": ("sql", "vector", "lexical", "sparql"),
}

ALL_KINDS = "all"

_COLOURS = ("#4269d0", "#efb118", "#ff725c", "#6cc5b0", "#3ca951", "#a463f2")

_BAR, _LEFT, _WIDTH = 14, 150, 420


class ConfigurationLine(NamedTuple):
    """The results of one configuration for one kind of question.

    `exact` to `five` are in 0..1: the share of exact answers, then F1, precision of the first value, reciprocal rank
    and hits among the first five as means over the questions whose answer is a list of items. `answered` is the share
    of that status, and `answered_right` the share of right answers among them. `median` and `slow` (95th percentile)
    are seconds. Model calls, queries and tokens are means per question.
    """

    configuration: str
    kind: str
    asked: int
    exact: float
    f1: float
    first: float
    reciprocal: float
    five: float
    answered: float
    answered_right: float
    median: float
    slow: float
    calls: float
    queries: float
    read: float
    written: float


def configuration_lines(
    configuration: str, questions: Sequence[GoldQuestion], answers: Mapping[Any, Answer]
) -> list[ConfigurationLine]:
    """A line for each kind of question, then one for all; a question without a record is wrong."""
    kinds = Counter(question_kind(gold) for gold in questions)
    groups = [(name, [gold for gold in questions if question_kind(gold) == name]) for name in sorted(kinds)]
    return [_line(configuration, name, group, answers) for name, group in [*groups, (ALL_KINDS, list(questions))]]


def _line(
    configuration: str, name: str, questions: Sequence[GoldQuestion], answers: Mapping[Any, Answer]
) -> ConfigurationLine:
    pairs = [(gold, answers[gold["id"]]) for gold in questions if gold["id"] in answers]
    records = [record for _, record in pairs]
    right = {gold["id"] for gold, record in pairs if is_right(gold, record)}
    scores = [score for gold, record in pairs if (score := ranking_scores(gold, record))]
    answered = [gold["id"] for gold, record in pairs if record["status"] == "answered"]
    seconds = [record["seconds"] for record in records]
    return ConfigurationLine(
        configuration,
        name,
        len(questions),
        len(right) / max(1, len(questions)),
        _mean([score.f1 for score in scores]),
        _mean([score.first for score in scores]),
        _mean([score.reciprocal for score in scores]),
        _mean([score.five for score in scores]),
        len(answered) / max(1, len(questions)),
        _mean([float(each in right) for each in answered]),
        quantile(seconds, 0.5),
        quantile(seconds, 0.95),
        _mean([record["llm_calls"] for record in records]),
        _mean([len(record["queries"]) for record in records]),
        _mean([record["input_tokens"] for record in records]),
        _mean([record["output_tokens"] for record in records]),
    )


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def comparison_text(lines: Sequence[ConfigurationLine]) -> str:
    """The lines as a table for a terminal."""
    head = (
        f"{'configuration':<14}{'kind':<14}{'asked':>6}{'exact':>8}{'F1':>7}{'P@1':>7}{'MRR':>7}{'Hit@5':>7}"
        f"{'answered':>10}{'right':>8}{'p50 s':>8}{'p95 s':>8}{'calls':>7}{'queries':>9}{'tokens':>8}"
    )
    rows = [head]
    for each in lines:
        tokens = each.read + each.written
        rows.append(
            f"{each.configuration:<14}{each.kind:<14}{each.asked:>6}{each.exact:>8.1%}{each.f1:>7.3f}{each.first:>7.3f}"
            f"{each.reciprocal:>7.3f}{each.five:>7.3f}{each.answered:>10.1%}{each.answered_right:>8.1%}"
            f"{each.median:>8.3f}{each.slow:>8.3f}{each.calls:>7.2f}{each.queries:>9.2f}{tokens:>8.0f}"
        )
    return "\n".join(rows) + "\n"


def comparison_csv(lines: Sequence[ConfigurationLine]) -> str:
    """The lines as CSV with the fields of `ConfigurationLine` as columns."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(ConfigurationLine._fields)
    writer.writerows([round(v, 4) if isinstance(v, float) else v for v in each] for each in lines)
    return out.getvalue()


def comparison_chart(lines: Sequence[ConfigurationLine]) -> str:
    """Exact answers by kind of question as an SVG: one bar per configuration, with its seconds."""
    names = list(dict.fromkeys(each.configuration for each in lines))
    kinds = list(dict.fromkeys(each.kind for each in lines))
    parts, top = [], 30
    for name in kinds:
        parts.append(f'<text x="{_LEFT - 8}" y="{top + _BAR - 3}" text-anchor="end">{escape(name)}</text>')
        for each in (line for line in lines if line.kind == name):
            width, colour = round(each.exact * _WIDTH, 1), _COLOURS[names.index(each.configuration) % len(_COLOURS)]
            label = f"{each.configuration} {each.exact:.1%} of {each.asked}, {each.median:.2f} s"
            parts.append(f'<rect x="{_LEFT}" y="{top}" width="{width}" height="{_BAR - 3}" fill="{colour}"/>')
            parts.append(f'<text x="{_LEFT + width + 6}" y="{top + _BAR - 5}" font-size="10">{escape(label)}</text>')
            top += _BAR
        top += _BAR // 2
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_LEFT + _WIDTH + 200}" height="{top + 10}" '
        'font-family="sans-serif" font-size="12">\n<rect width="100%" height="100%" fill="white"/>\n'
        f'<text x="{_LEFT}" y="18">Exact answers by kind of question, and the median of seconds</text>\n'
        + "\n".join(parts)
        + "\n</svg>\n"
    )


CONTEXT = {"mind": "model", "branches": ["sql"], "strategy": "parallel"}

OWNER = "local"


class QueryOutcome(NamedTuple):
    """The outcome of the model's queries for a question ("" without a query), and whether their rows are right."""

    id: str
    outcome: str
    right: bool
    seconds: float
    tokens: int = 0


async def query_outcomes(
    questions: Sequence[GoldQuestion], composition: Composition, graph: str | None
) -> AsyncIterator[QueryOutcome]:
    """Ask the model of `composition` each question; the turns of a conversation are asked in their order. Questions
    without gold `answers` ask for prose, with which no row can be compared; they are left out."""
    golds = [gold for gold in questions if "answers" in gold]
    app = composition.build(InMemorySaver())
    outcomes: dict[str, str] = {}

    async def ask(question: QuestionLine, thread: str) -> Answer:
        turn_input = Input(question=question.question)
        if name := question.graph or graph:
            turn_input["graph"] = name
        config = RunnableConfig(configurable={"thread_id": f"{OWNER}:{thread}"})
        state = await app.ainvoke(turn_input, config, context=parse_context(CONTEXT), output_keys=["answer", "found"])
        # the first result with an outcome is the model's; later ones are those of the rules
        results = [from_json(BranchResult, each) for each in state["found"]]
        result = next((each for each in results if each.outcome), None)
        outcomes[question.id] = result.outcome if result else ""
        record: Answer = state["answer"]
        return {**record, "status": "answered", "values": _values(result) if result else []}

    by_id = {gold["id"]: gold for gold in golds}
    async for record in ask_questions([_question(gold) for gold in golds], ask):
        question_id = record["id"]
        right = is_right(by_id[question_id], record)
        tokens = record["input_tokens"] + record["output_tokens"]
        yield QueryOutcome(str(question_id), outcomes.get(question_id, ""), right, record["seconds"], tokens)


def count_outcomes(judged: Sequence[QueryOutcome]) -> Counts:
    """(right, asked) by outcome; questions without a query are not counted."""
    asked = Counter(each.outcome for each in judged if each.outcome)
    right = Counter(each.outcome for each in judged if each.outcome and each.right)
    return {outcome: (right[outcome], asked[outcome]) for outcome in OUTCOMES if asked[outcome]}


def priors_report(priors: Priors, judged: Sequence[QueryOutcome]) -> str:
    """The counts by outcome, and what follows from them: which rows are answers, and when the rules answer first."""
    lines = [f"{'the rows of its query':<24}{'asked':>7}{'right':>7}{'chance':>8}  given as"]
    for outcome in OUTCOMES:
        right, asked = priors.counts.get(outcome, (0, 0))
        chance = priors.after(outcome)
        given_as = "an answer" if chance >= load_weights().threshold else "what may be wrong"
        lines.append(f"{_OUTCOME_LABELS[outcome]:<24}{asked:>7}{right:>7}{chance:>8.0%}  {given_as}")
    none = sum(not each.outcome for each in judged)
    lines += [
        "",
        f"From a chance of {load_weights().threshold:.0%} on, rows are an answer.",
        f"A reading of the rules answers without a call where it is right at least {priors.before:.0%} of the time.",
    ]
    if none:
        lines.append(f"{none} of {len(judged)} questions got no query and are not counted.")
    return "\n".join(lines) + "\n"


_OUTCOME_LABELS = {
    "agreed": "as a reading's",
    "alone": "no reading has any",
    "disputed": "other than a reading's",
    "doubted": "doubted",
    "empty": "none",
}


def _values(result: BranchResult) -> list[str | int | float | bool]:
    """The cells of the model's own rows, which come first; none if they are empty."""
    own = result.evidence[0] if result.evidence else None
    if result.outcome == "empty" or not isinstance(own, Rows):
        return []
    return list(verbalise_rows(own.table).values)


def _question(gold: GoldQuestion) -> QuestionLine:
    conversation = gold.get("conversation")
    thread = None if conversation is None else str(conversation)
    return QuestionLine(gold["id"], gold["question"], thread, gold.get("turn"), gold.get("graph"))


Values = frozenset[Cell]


class TranslationQuestion(NamedTuple):
    """One question in one language, and its gold query."""

    id: str
    question: str
    language: str
    gold: str


class Translation(NamedTuple):
    """The query written for a question, what it and the gold query select, and why there is none."""

    question: TranslationQuestion
    query: str
    values: Values
    gold: Values
    error: str = ""

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall of the values; 1 if both queries select nothing."""
        if self.error or not self.query:
            return 0.0
        both = len(self.values & self.gold)
        return 2 * both / (len(self.values) + len(self.gold)) if self.values or self.gold else 1.0


def read_translation_questions(path: Path) -> list[TranslationQuestion]:
    """The questions of a file: JSONL with `question`, `query` and perhaps `language`, or the YAML of the challenge,
    with a text for each language in `question` and the gold query in `query`, `sparql`. Raises ConfigError."""
    found = list(_read(path, _challenge_lines if path.suffix in (".yaml", ".yml") else read_question_lines))
    if not found:
        raise ConfigError(f"{path} has no question with a gold 'query' in SPARQL.")
    return found


def _read(path: Path, lines: Callable[[Path], Iterator[tuple[str, dict[str, Any]]]]) -> Iterator[TranslationQuestion]:
    for place, data in lines(path):
        gold = data.get("query")
        gold = gold.get("sparql") if isinstance(gold, dict) else gold
        if not isinstance(gold, str):
            raise ConfigError(f"{place} has no gold 'query' in SPARQL.")
        texts = data["question"]
        named = texts if isinstance(texts, dict) else {str(data.get("language") or ENGLISH): texts}
        for language, text in named.items():
            yield TranslationQuestion(str(data["id"]), str(text), str(language), gold)


def _challenge_lines(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ConfigError(f"{path} can't be read as YAML: {' '.join(str(error).split())}") from None
    listed = data.get("questions") if isinstance(data, dict) else data
    for number, each in enumerate(listed if isinstance(listed, list) else [], 1):
        if not isinstance(each, dict) or not each.get("question"):
            raise ConfigError(f"{path}, question {number} has no 'question'.")
        yield f"{path}, question {number}", {"id": number, **each}


def translation_report(done: Sequence[Translation]) -> str:
    """A line for each language, then one for all."""
    lines = [f"{'language':<12}{'asked':>7}{'query':>7}{'exact':>7}{'F1':>8}"]
    languages = list(dict.fromkeys(each.question.language for each in done))
    groups = [(name, [each for each in done if each.question.language == name]) for name in languages]
    for name, group in [*groups, ("together", list(done))]:
        written, exact = sum(bool(each.query) for each in group), sum(each.f1 == 1 for each in group)
        mean = sum(each.f1 for each in group) / max(1, len(group))
        lines.append(f"{name:<12}{len(group):>7}{written:>7}{exact:>7}{mean:>8.1%}")
    return "\n".join([*lines, ""])


# tokens of the schema that it is shown (given)
SCHEMA_TOKENS = 6000

PROMPT_HEAD = (
    "You write one SQLite SELECT that answers a question about these tables. Select exactly what is asked for; "
    "for a yes-or-no question the word 'yes' or 'no'.\n\n"
)


def ask_model_alone(settings: Settings, library: Library, graph: str | None) -> AskQuestion:
    """A function that asks the model each question in one call, with the earlier turns of its conversation. Raises
    ConfigError without a model."""
    model, limits = chat_model(settings, "sql"), model_limits(settings)
    if model is None:
        raise ConfigError("No model is set. Set NACRE_MODEL: local, or such as openai:gpt-4o-mini.")

    turns: dict[str, list[str]] = {}

    async def ask(question: QuestionLine, thread: str) -> Answer:
        record, started = failed_record(question, thread, ""), time.perf_counter()
        earlier = turns.setdefault(thread, [])
        with library.open(library.resolve(question.graph or graph)) as opened:
            describe = partial(schema_sql, opened.tables)
            schema = whole_schema(opened.schema, SCHEMA_TOKENS, describe)
            if schema is None:
                understanding = Understanding(question.question)
                schema = relevant_tables(understanding, opened.schema, opened.lexicon, SCHEMA_TOKENS, describe)
            shown = schema[: SCHEMA_TOKENS * CHARACTERS_PER_TOKEN]
            messages = [
                SystemMessage(PROMPT_HEAD + shown),
                HumanMessage("\n".join([*earlier, f"Question: {question.question}"])),
            ]
            try:
                reply, usage = await structured_reply(model, messages, SqlReply, limits=limits)
            except ModelFailed as error:
                return {**record, "reason": error.why}
            result: BranchResult = service("foreign_queries", "run_sql", "--alone")(reply.sql, opened.tables, round=1)
        table = next((each.table for each in result.rows), None)
        answer = verbalise_rows(table) if table is not None and table.rows else None
        earlier += [f"Question: {question.question}", f"Answer: {answer.text if answer else 'no rows'}"]
        return {
            **record,
            "status": "answered" if answer else "not_in_graph",
            "answer": answer.text if answer else "",
            "values": list(answer.values) if answer else [],
            "seconds": round(time.perf_counter() - started, 4),
            "llm_calls": usage.calls,
            "input_tokens": usage.input,
            "cached_tokens": usage.cached,
            "output_tokens": usage.output,
        }

    return ask


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
