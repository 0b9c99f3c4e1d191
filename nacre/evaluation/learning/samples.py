"""Collect what the parser learns from: graphs + questions with gold answers -> ParserSamples.

A reading is right if the values of its rows are the gold answer. Some questions are also asked in keywords, and some
look-ups as if their fact was not in the graph.
"""

import json
import pickle
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

from nacre.evaluation.learning.follow_ups import JudgedTurn, judge_turns
from nacre.evaluation.learning.screening import Screening, screen_readings
from nacre.evaluation.synthetic.keywords import shuffled_keywords
from nacre.records.evidence import Cell
from nacre.records.plan import Plan
from nacre.stores.catalog import Graph, Library
from nacre.understanding.linking.linker import Linker, prepare_question
from nacre.understanding.parsing.coverage import unused_tokens
from nacre.understanding.ranking.features import reading_features
from nacre.understanding.ranking.rank import RankedReading, belief_shares, weighted_sum
from nacre.understanding.ranking.weights import load_weights
from nacre.wording.phrases.plan import verbalise_plan

FILES = ("questions.jsonl", "questions_dev.jsonl", "conversations.jsonl")
# questions that are also asked in keywords (given)
KEYWORD_SHARE = 0.25
# cues that keywords lose nothing by dropping (given)
PLAIN_CUES = frozenset(("open", "of", "having"))
# likeliest readings by the weights so far that are screened, beside those that are right (given)
MAX_SCREENED = 15
# how a question was changed
KEYWORDS, REMOVED = "keywords", "removed"


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
