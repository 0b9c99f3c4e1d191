"""Collect what the parser learns from: graphs + questions with gold answers -> ParserSamples.

In order: samples, readings of follow-ups judged, words that a reading ignores, the values of one plan, and questions
turned into keywords. Then the options that an answer names, and values compared with the gold values in any order.

A reading is right if the values of its rows are the gold answer. Some questions are also asked in keywords, and some
look-ups as if their fact was not in the graph.

The context of a turn is the plan with the gold answer of the turn before: of its readings, else of the readings of
its `standalone` wording if the line has one. The conversation ends if neither has such a plan."""

import json
import pickle
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise, product
from pathlib import Path
from random import Random
from typing import Any, Literal

from agents.answering.select_answer import is_refused
from nacre.errors import NacreError
from nacre.extensions.evaluation.score import normalise_words
from nacre.language.thesaurus import function_words
from nacre.language.tokens import Token, fold, name_tokens, tokenize
from nacre.plans.run import build_table
from nacre.plans.to_sql import to_sql
from nacre.records.evidence import Cell, Rows, Table
from nacre.records.plan import Body, Combine, Plan, Select
from nacre.records.threads import start_deadline
from nacre.records.turn import EarlierTurn, Rewrite, Scope, Understanding
from nacre.stores.catalog import Graph, Library
from nacre.stores.sqlite.tables import Tables
from nacre.understanding.dialogue.follow_up import changed_plans
from nacre.understanding.dialogue.rewrite import rewrite_question
from nacre.understanding.linking.link_mentions import Linker, prepare_question
from nacre.understanding.mentions import named_things
from nacre.understanding.parse_question import parse_question
from nacre.understanding.parsing.constraints import filter_by_answer_type
from nacre.understanding.parsing.state import Candidate, unused_tokens
from nacre.understanding.question.records import Link, Question
from nacre.understanding.ranking.features import reading_features
from nacre.understanding.ranking.probabilities import known_log_odds, make_reading, table_outcome, unlinked_tokens
from nacre.understanding.ranking.rank import RankedReading, belief_shares, load_weights, weighted_sum
from nacre.understanding.ranking.unused_cues import ignored_words
from nacre.understanding.understand import answering_candidates, question_text, scoped_links
from nacre.wording.plan_phrases import verbalise_plan
from nacre.wording.profile import run_plan

FILES = ("questions.jsonl", "questions_dev.jsonl", "conversations.jsonl")

# questions that are also asked in keywords (given)
KEYWORD_SHARE = 0.25

# cues that keywords lose nothing by dropping (given)
PLAIN_CUES = frozenset(("open", "of", "having"))

# likeliest readings by the weights so far that are screened, beside those that are right (given)
MAX_SCREENED = 15

# how a question was changed
KEYWORDS, REMOVED = "keywords", "removed"

Refusal = Literal["never", "unlikely", "always"]


@dataclass(frozen=True)
class Screening:
    """The words that a reading ignores, and whether its rows are refused: never, always, or if they are unlikely.

    `unused` counts the spans that the reading leaves out, `lost` those of them that it covers and ignores. `penalty` is
    what its log-odds lose because of what it ignores.
    """

    unused: int
    lost: int
    penalty: float
    refusal: Refusal


@dataclass
class ParserSample:
    """A question with its readings: features, right or wrong, values, unused words, and the reading in words.

    `own` questions were written together with the rules, so they are learned from and not measured. `screened` are the
    likely readings, by position. `variant` says how the question was changed.
    """

    graph: str
    id: str
    question: str
    features: list[dict[str, float]]
    right: list[bool]
    values: list[tuple[Cell, ...] | None]
    unused: list[int]
    words: list[str]
    screened: dict[int, Screening]
    seconds: float = 0.0
    own: bool = False
    variant: str = ""


def read_or_collect(
    data: Path, gold: Sequence[Path], own: Sequence[Path], size: int | None, seed: int, cache: Path | None
) -> list[ParserSample]:
    """The samples in `cache`, else those of `size` conversations drawn by the seed, or of all; they are cached."""
    if cache is not None and cache.exists():
        with cache.open("rb") as file:
            samples: list[ParserSample] = pickle.load(file)
            return samples
    library = Library(data, None)
    conversations = _conversations(library, gold, own)
    drawn = sorted(conversations)
    Random(seed).shuffle(drawn)
    # the open graph with its linker and the values of plans that were run
    opened: dict[str, tuple[Graph, Linker, dict[Any, tuple[Cell, ...] | None]]] = {}
    samples = []
    for key in sorted(drawn[:size]):
        name = key[0]
        if name not in opened:
            opened.clear()
            graph = library.open(name)
            opened[name] = graph, Linker(graph.lexicon), {}
        samples += _judge(conversations[key], *opened[name])
    if cache is not None:
        cache.write_bytes(pickle.dumps(samples))
    return samples


def _conversations(
    library: Library, gold: Sequence[Path], own: Sequence[Path]
) -> dict[tuple[str, ...], list[dict[str, Any]]]:
    """The lines with gold answers by graph and conversation; a single question is a conversation of its own."""
    conversations: dict[tuple[str, ...], list[dict[str, Any]]] = defaultdict(list)
    for name in library.names():
        for folder, file in product((*gold, *own), FILES):
            path = folder / name / file
            for text in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
                line = json.loads(text) | {"graph": name, "own": folder in own}
                if "answers" in line:
                    conversation = str(line.get("conversation") or "")
                    conversations[name, conversation, "" if conversation else str(line["id"])].append(line)
    return conversations


def _judge(
    lines: Sequence[Mapping[str, Any]], graph: Graph, linker: Linker, ran: dict[Any, tuple[Cell, ...] | None]
) -> list[ParserSample]:
    """The samples of one question, once per line, or of the turns of a conversation."""
    if not lines[0].get("conversation"):
        asked = {"": lines[0], KEYWORDS: _in_keywords(lines[0], linker)}
        samples = [
            replace(collect_sample(line, graph, linker, ran), variant=variant)
            for variant, line in asked.items()
            if line is not None
        ]
        by_own = {own: [replace(sample, own=own) for sample in samples] for own in {line["own"] for line in lines}}
        return [sample for line in lines for sample in by_own[line["own"]]]
    times = Counter(line["id"] for line in lines)
    once = {line["id"]: line for line in sorted(lines, key=lambda line: line["turn"])}
    return [
        sample
        for turn in judge_turns(list(once.values()), graph, linker, ran)
        # plans made of the turn before are not ranked
        if not turn.changed
        for sample in [sample_of_turn(turn, graph, linker)] * times[turn.line["id"]]
    ]


def _in_keywords(line: Mapping[str, Any], linker: Linker) -> Mapping[str, Any] | None:
    """Some questions as keywords: a share of those that lose nothing but function words by it."""
    draw, text = Random(f"{line['graph']} {line['id']}"), line["question"]
    if draw.random() >= KEYWORD_SHARE or {cue.kind for cue in prepare_question(text, linker).cues} - PLAIN_CUES:
        return None
    keywords = shuffled_keywords(text, draw)
    return None if keywords is None else {**line, "id": f"{line['id']}~{KEYWORDS}", "question": keywords}


def collect_sample(
    question: Mapping[str, Any], graph: Graph, linker: Linker, ran: dict[Any, tuple[Cell, ...] | None]
) -> ParserSample:
    """One question with all its readings, run and judged."""
    return sample_of_turn(next(iter(judge_turns([question], graph, linker, ran))), graph, linker)


@dataclass(frozen=True)
class JudgedTurn:
    """A turn with its candidates, the plans that it makes of the turn before, and the result of running each."""

    line: Mapping[str, Any]
    question: Question
    links: list[Link]
    candidates: list[Candidate]
    values: list[tuple[Cell, ...] | None]
    changed: list[Body]
    right: list[bool]
    changed_right: list[bool]
    seconds: float


def sample_of_turn(turn: JudgedTurn, graph: Graph, linker: Linker) -> ParserSample:
    """A judged turn as a sample."""
    best = max((c.derivation.prior for c in turn.candidates), default=0.0)
    features = [reading_features(c, turn.question, linker.index.graph, best) for c in turn.candidates]
    unused = [tuple(unused_tokens(c, turn.question)) for c in turn.candidates]
    words = [verbalise_plan(Plan(c.body), graph.schema) for c in turn.candidates]
    scores = [weighted_sum(f, load_weights().features) for f in features]
    order = belief_shares(scores)[0] if scores else []
    first = [i for place, i in enumerate(order) if place < MAX_SCREENED or turn.right[i]]
    ranked = [RankedReading(turn.candidates[i], features[i], 0.0, unused[i]) for i in first]
    screened = screen_readings(turn, ranked, first, graph, linker)
    line = turn.line
    name, text = str(line["id"]), turn.question.text
    counts = list(map(len, unused))
    return ParserSample(
        line["graph"], name, text, features, turn.right, turn.values, counts, words, screened, turn.seconds
    )


def without_answer(sample: ParserSample) -> ParserSample | None:
    """A look-up as if the facts that answer it were not in the graph: all right readings give nothing. None for other
    questions."""
    looks_up = any(y and f.get("own property") for y, f in zip(sample.right, sample.features, strict=True))
    if not looks_up or sample.variant:
        return None
    values = [() if right else each for right, each in zip(sample.right, sample.values, strict=True)]
    return replace(sample, values=values, right=[each == () for each in values], variant=REMOVED)


# things and labels of a turn that the next turn may refer to
MAX_REMEMBERED = 100

MAX_PARSE_SECONDS = 2.0


def judge_turns(
    lines: Sequence[Mapping[str, Any]], graph: Graph, linker: Linker, ran: dict[Any, tuple[Cell, ...] | None]
) -> Iterator[JudgedTurn]:
    """The turns of one conversation in their order; `ran` caches the values of plans."""
    earlier: list[EarlierTurn] = []
    for line in lines:
        rewrite = rewrite_question(line["question"], tuple(earlier), graph.schema, graph.lexicon)
        turn = _judge_turn(line, rewrite, graph, linker, ran)
        yield turn
        body = _right_plan(turn)
        if body is None and line.get("standalone"):
            body = _right_plan(_judge_turn(line, Rewrite(line["standalone"]), graph, linker, ran))
        if body is None:
            return
        table, _, _ = run_plan(Plan(body), graph.tables, round=1)
        cell_keys = [] if table is None else [key for row in table.keys for key in row]
        keys = tuple(dict.fromkeys(cell_keys))[:MAX_REMEMBERED]
        values = table_outcome(table).values or ()
        labels = tuple(value for value in values if isinstance(value, str))[:MAX_REMEMBERED]
        earlier.append(EarlierTurn(line["question"], rewrite.standalone, "", Plan(body), keys, labels, confidence=1.0))


def _judge_turn(
    line: Mapping[str, Any], rewrite: Rewrite, graph: Graph, linker: Linker, ran: dict[Any, tuple[Cell, ...] | None]
) -> JudgedTurn:
    started = time.monotonic()
    question = prepare_question(question_text(rewrite), linker)
    links = scoped_links(question, rewrite.scope, linker)
    parsed = parse_question(question, links, linker, start_deadline(MAX_PARSE_SECONDS))
    match = filter_by_answer_type(parsed, question, linker.index.graph)
    candidates = answering_candidates(match, question, rewrite.scope, linker)
    changed = _changed_plans(question, links, candidates, rewrite.scope, linker)
    seconds = time.monotonic() - started
    bodies: list[Body] = [*(c.body for c in candidates), *changed]
    for body in bodies:
        if body not in ran:
            ran[body] = plan_values(body, graph.tables)
    values = [ran[body] for body in bodies]
    right = [v is not None and same_values(line["answers"], v) for v in values]
    count = len(candidates)
    return JudgedTurn(line, question, links, candidates, values[:count], changed, right[:count], right[count:], seconds)


def _changed_plans(
    question: Question, links: Sequence[Link], candidates: Sequence[Candidate], scope: Scope | None, linker: Linker
) -> list[Body]:
    if scope is None or not scope.how:
        return []
    return changed_plans(question, links, [c.body for c in candidates], scope, linker.index.graph)


def _right_plan(turn: JudgedTurn) -> Body | None:
    """The first plan with the gold answer."""
    bodies = [*turn.changed, *(c.body for c in turn.candidates)]
    right = [*turn.changed_right, *turn.right]
    return next((body for body, good in zip(bodies, right, strict=True) if good), None)


def screen_readings(
    turn: JudgedTurn, ranked: Sequence[RankedReading], positions: Sequence[int], graph: Graph, linker: Linker
) -> dict[int, Screening]:
    """The screening of some candidates of a turn, given with their positions among all."""
    unlinked = unlinked_tokens(turn.links, turn.question)
    named = named_things(turn.links, turn.question, turn.question.text, linker)
    index = linker.index.graph
    found: dict[int, Screening] = {}
    for each, position in zip(ranked, positions, strict=True):
        ignored = ignored_words(each.candidate, turn.question, index)
        reading = make_reading(each, 0, turn.question, ignored, unlinked, index, graph.schema)
        understanding = Understanding(turn.question.text, readings=(reading,), named=named)
        penalty = reading.odds - known_log_odds(each, 0)
        found[position] = Screening(
            len(reading.unused), len(reading.lost), round(penalty, 2), _refusal(understanding, turn.values[position])
        )
    return found


def _refusal(understanding: Understanding, values: Sequence[Cell] | None) -> Refusal:
    """When the rows of the only reading of an understanding are refused."""
    table = Table(("value",), tuple((value,) for value in values or ()))
    sure, unsure = (Rows("sql", 1, table, reading=0, probability=chance) for chance in (1.0, 0.0))
    if is_refused(understanding, sure):
        return "always"
    return "unlikely" if is_refused(understanding, unsure) else "never"


MAX_SECONDS = 1.0
MAX_ROWS = 1000


def plan_values(body: Body, tables: Tables) -> tuple[Cell, ...] | None:
    """All distinct cells row by row, or one boolean for a yes/no question; None if the plan fails."""
    table: Table | None
    try:
        if isinstance(body, Select | Combine):
            # only the rows are needed, not their provenance
            statement = to_sql(body, tables.schema)
            result = tables.run(statement.text, statement.params, limit=MAX_ROWS, seconds=MAX_SECONDS)
            table = build_table(statement, result.rows, result.truncated)
        else:
            table, _, _ = run_plan(Plan(body), tables, round=1)
    except NacreError:
        return None
    return table_outcome(table).values


def shuffled_keywords(question: str, draw: Random) -> str | None:
    """The content words of a question in any order. None if there is only one phrase.

    >>> shuffled_keywords("What is the length of the Red River?", Random(1))
    'Red River length'
    """
    tokens = tokenize(question)
    phrases: list[list[Token]] = []
    for before, token in pairwise([None, *tokens]):
        if token is None or {token.norm, token.lemma} & function_words():
            continue
        # words of a name stay together
        if phrases and phrases[-1][-1] is before and before.text[:1].isupper() and token.text[:1].isupper():
            phrases[-1].append(token)
        else:
            phrases.append([token])
    words = [question[phrase[0].start : phrase[-1].end] for phrase in phrases]
    draw.shuffle(words)
    return " ".join(words) if len(words) > 1 else None


Value = str | int | float | bool


def chosen_options(options: Sequence[str], values: Sequence[Value], answer: str) -> list[str]:
    """The options that an answer names: among its values, else in its words; of overlapping names the longest.

    >>> chosen_options(["Elm", "Elm Hall", "Oak"], [], "It is in Elm Hall.")
    ['Elm Hall']
    """
    folded = {fold(f"{value:g}" if isinstance(value, float) else str(value)) for value in values}
    among_values = [option for option in options if fold(option) in folded]
    if among_values or values:
        return among_values
    words = f" {' '.join(name_tokens(answer))} "
    named: list[str] = []
    for option in sorted(options, key=len, reverse=True):
        name = f" {' '.join(name_tokens(option))} "
        if name in words:
            named.append(option)
            words = words.replace(name, " | ")
    return [option for option in options if option in named]


# lists whose lengths differ by more than this factor and number are never equal
_MAX_FACTOR, _MAX_EXTRA = 3, 5


def same_values(gold: Sequence[Cell], values: Sequence[Cell]) -> bool:
    """Whether every value is a gold item, and every gold item is among the values."""
    if not gold:
        return not values
    max_values, max_gold = _MAX_FACTOR * len(gold) + _MAX_EXTRA, _MAX_FACTOR * len(values) + _MAX_EXTRA
    if len(values) > max_values or len(gold) > max_gold:
        return False
    texts = {_normal_form(str(g)): i for i, g in enumerate(gold) if not _is_number(g)}
    numbers = [(float(g), i) for i, g in enumerate(gold) if _is_number(g)]  # type: ignore[arg-type]
    exact = dict(numbers)
    matched: set[int] = set()
    for value in values:
        item = texts.get(_normal_form(str(value)))
        number = _number(value)
        if number is not None:
            near = exact.get(number)
            if near is None:
                near = next((i for n, i in numbers if _is_near(n, number)), None)
            if near is not None:
                matched.update(i for n, i in numbers if n == number or i == near)
                item = near if item is None else item
        if item is None:
            return False
        matched.add(item)
    matched_texts = {_normal_form(str(gold[i])) for i in matched}
    return all(i in matched or _normal_form(str(g)) in matched_texts for i, g in enumerate(gold))


def _is_number(value: Cell) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _number(value: Cell) -> float | None:
    if _is_number(value):
        return float(value)  # type: ignore[arg-type]
    try:
        return float(str(value).strip().replace(",", ""))
    except ValueError:
        return None


def _is_near(gold: float, value: float) -> bool:
    slack = 0.0051 if gold % 1 and abs(gold) >= 1 else 1e-9
    return abs(gold - value) <= slack


_normal_form = lru_cache(maxsize=200_000)(normalise_words)
