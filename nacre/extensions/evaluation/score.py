"""Score answers: a file of questions with gold answers + a file of answer records -> a table (RankingScores: in order).
`python -m nacre.extensions.evaluation.score QUESTIONS PREDICTIONS.jsonl` prints a line for each kind of question:
number, exact answers, right statuses, F1, seconds of a turn (median and 95th percentile); then the answers with
confidence (status `answered`) and how many of them are right."""

import json
import re
import sys
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from nacre.extensions.evaluation.questions import GoldQuestion, is_answerable, question_kind, read_gold_questions
from nacre.language.quantities import convert_unit, find_quantities
from nacre.records.answer import Answer, Value

AnswersById = Mapping[Any, Answer]


class ScoreLine(NamedTuple):
    """The scores of one kind of question; `median` and `slow` are seconds of a turn."""

    kind: str
    asked: int
    right: int
    f1: float
    status: int
    median: float
    slow: float


def score_lines(questions: Sequence[GoldQuestion], answers: AnswersById) -> list[ScoreLine]:
    """A line for each kind of question, then one for all; a question without a record is wrong."""
    kinds = sorted({question_kind(question) for question in questions})
    groups = [(name, [q for q in questions if question_kind(q) == name]) for name in kinds]
    return [_score_line(name, group, answers) for name, group in [*groups, ("together", list(questions))]]


def right_ids(questions: Sequence[GoldQuestion], answers: AnswersById) -> set[Any]:
    """The ids of the questions that were answered right."""
    return {q["id"] for q in questions if q["id"] in answers and is_right(q, answers[q["id"]])}


def count_refused(questions: Sequence[GoldQuestion], answers: AnswersById) -> tuple[int, int]:
    """The number of questions with a gold answer, and how many of them were refused or failed."""
    statuses = [answers[q["id"]]["status"] for q in questions if is_answerable(q) and q["id"] in answers]
    return len(statuses), sum(status in ("not_in_graph", "failed") for status in statuses)


def read_answers(path: Path) -> dict[Any, Answer]:
    """The records of a file of predictions by id."""
    lines = path.read_text(encoding="utf-8").split("\n")
    return {record["id"]: record for record in (json.loads(line) for line in lines if line.strip())}


def quantile(values: Sequence[float], share: float) -> float:
    """The smallest value that is not below a share of the values; 0 if there are none.

    >>> quantile([4.0, 1.0, 2.0, 3.0], 0.5), quantile([4.0, 1.0, 2.0, 3.0], 0.95)
    (2.0, 4.0)
    """
    ranked = sorted(values)
    return ranked[max(0, -int(-share * len(ranked) // 1) - 1)] if ranked else 0.0


def _score_line(name: str, questions: Sequence[GoldQuestion], answers: AnswersById) -> ScoreLine:
    pairs = [(question, answers[question["id"]]) for question in questions if question["id"] in answers]
    seconds = [record["seconds"] for _, record in pairs]
    return ScoreLine(
        name,
        len(questions),
        sum(is_right(*pair) for pair in pairs),
        sum(f1_score(*pair) for pair in pairs) / max(1, len(questions)),
        sum(status_is_right(*pair) for pair in pairs),
        quantile(seconds, 0.5),
        quantile(seconds, 0.95),
    )


def f1_score(question: GoldQuestion, record: Answer) -> float:
    """The F1 of an answer, 0..1; prose is right or wrong."""
    if is_right(question, record):
        return 1.0
    scores = ranking_scores(question, record)
    return scores.f1 if scores else 0.0


def score_report(questions: Sequence[GoldQuestion], answers: AnswersById, *, kinds: bool = True) -> str:
    """The table as text and the counts of statuses; without `kinds` only the last line of the table."""
    lines = [f"{'kind':<14}{'asked':>7}{'exact':>7}{'':>7}{'F1':>7}{'status':>8}{'p50 s':>9}{'p95 s':>9}"]
    for each in score_lines(questions, answers)[0 if kinds else -1 :]:
        share = f"{each.right / each.asked:.1%}" if each.asked else ""
        counts = f"{each.kind:<14}{each.asked:>7}{each.right:>7}{share:>7}{each.f1:>7.1%}{each.status:>8}"
        lines.append(f"{counts}{each.median:>9.3f}{each.slow:>9.3f}")
    statuses = Counter(answers[q["id"]]["status"] if q["id"] in answers else "no record" for q in questions)
    right: Counter[str] = Counter(answers[id_]["status"] for id_ in right_ids(questions, answers))
    answerable, refused = count_refused(questions, answers)
    answered = statuses["answered"]
    lines.append(
        f"said with confidence: {answered} of {len(questions)}"
        + (f", of these right: {right['answered']} ({right['answered'] / answered:.1%})" if answered else "")
    )
    lines.append(", ".join(f"{name} {times} ({right[name]} of them right)" for name, times in statuses.most_common()))
    return "\n".join([*lines, f"refused though there is an answer: {refused} of {answerable}", ""])


def main(questions: str, predictions: str) -> None:
    """Print the report."""
    sys.stdout.write(score_report(read_gold_questions(Path(questions)), read_answers(Path(predictions))))


_CITATION = re.compile(r"\[\d+(?:\s*[,;]\s*\d+)*\]")

_CLOCK = re.compile(r"(?<![\d:])(\d{1,2}):([0-5]\d)(?![\d:])(?:\s*h\b)?")


def is_right(gold: GoldQuestion, record: Answer) -> bool:
    """Whether a record answers its question: by its values exactly, or in prose if the gold answer is prose."""
    if record["status"] == "failed":
        return False
    if "must_include" in gold or "nuggets" in gold:
        return _is_right_prose(gold, record)
    golds = [gold.get("answers") or [], *(gold.get("alt_answers") or [])]
    return any(_is_exact(answers, gold, record["values"]) for answers in golds)


def has_gold_values(gold: GoldQuestion, values: Sequence[Value | None]) -> bool:
    """Whether an answer with these values is right."""
    record: Any = {"status": "answered", "values": values, "answer": ""}
    return is_right(gold, record)


def status_is_right(gold: GoldQuestion, record: Answer) -> bool:
    """Whether the status agrees with the file on whether there is an answer."""
    return record["status"] in ("answered", "clarify") if is_answerable(gold) else is_refusal(record)


def is_refusal(record: Answer) -> bool:
    """Whether an answer states that the graph has none: by its status, or because it cites only empty results."""
    rows = {query["i"]: query["rows"] for query in record["queries"]}
    empty = bool(record["citations"]) and all(
        citation["query"] is not None and rows[citation["query"]] == 0 for citation in record["citations"]
    )
    return not record["values"] and (record["status"] == "not_in_graph" or empty)


def gold_items(
    answers: Sequence[Value], others: Sequence[Value | list[Value]]
) -> tuple[list[list[Value]], list[Value]]:
    """The gold items with their alternative names, and the alternative names that fit no item."""
    items: list[list[Value]] = [[answer] for answer in answers]
    unassigned: list[Value] = []
    for other in (name for names in others for name in (names if isinstance(names, list) else [names])):
        fits = [item for item in items if f" {normalise_words(str(other))} " in f" {normalise_words(str(item[0]))} "]
        if fits or len(items) == 1:
            min(fits or items, key=lambda item: len(str(item[0]))).append(other)
        else:
            unassigned.append(other)
    return items, unassigned


def same_value(gold: Value, value: Value, tolerance: float) -> bool:
    """Whether a value equals a gold item: names by their words, numbers within a relative tolerance."""
    if isinstance(value, bool) or isinstance(gold, bool):
        return _truth(gold) is _truth(value) is not None
    if isinstance(gold, int | float):
        return isinstance(value, int | float) and _near(gold, value, tolerance)
    # an empty cell of a table
    return value is None if gold is None else normalise_words(gold) == normalise_words(str(value))


def normalise_words(text: str) -> str:
    """The words of a text without case, accents, punctuation (except in numbers) and a leading article.

    >>> normalise_words("The  Café-Bar, No. 5.5")
    'cafe bar no 5.5'
    """
    decomposed = unicodedata.normalize("NFKD", text)
    bare = "".join(c for c in decomposed if not unicodedata.combining(c)).casefold()
    words = " ".join(re.findall(r"\d+(?:[.,]\d+)+|[^\W_]+", bare))
    return words.removeprefix("the ")


def _is_exact(answers: Sequence[Value], gold: GoldQuestion, values: Sequence[Value]) -> bool:
    """Whether every value is a gold item, and every gold item is among the values, under any of its names."""
    tolerance = gold.get("tolerance") or 0.0
    items, unassigned = gold_items(answers, gold.get("answers_alt") or [])
    matched_items, matched_names = set(), set()
    for value in values:
        own = {i for i, names in enumerate(items) if any(same_value(name, value, tolerance) for name in names)}
        other = {i for i, name in enumerate(unassigned) if same_value(name, value, tolerance)} if not own else set()
        if not own and not other:
            return False
        matched_items |= own
        matched_names |= other
    if gold.get("match") == "any":
        return bool(matched_items or matched_names)
    return len(matched_items) + len(matched_names) >= len(items)


def _truth(value: Value) -> bool | None:
    return value if isinstance(value, bool) else {"yes": True, "no": False}.get(str(value))


def _near(gold: float, value: float, tolerance: float) -> bool:
    # a gold number with decimals may be rounded to two in the answer
    slack = 0.0051 if gold % 1 and abs(gold) >= 1 else 1e-9
    return abs(gold - value) <= max(tolerance * abs(gold), slack)


def _is_right_prose(gold: GoldQuestion, record: Answer) -> bool:
    prose = normalise_words(_CITATION.sub(" ", record["answer"]))
    answers, names = [gold.get("answers") or [], *(gold.get("alt_answers") or [])], gold.get("must_include") or []
    names_excluded = any(_find_name(prose, name) for name in gold.get("must_not_include") or [])
    if not is_answerable(gold):
        return is_refusal(record) and not names_excluded
    return (
        any(_states_values(values, gold, record) for values in answers if values or not any(answers))
        and _count_named(prose, names) == len(names)
        and _names_right_one_first(prose, gold)
        and not names_excluded
        and not any(_find_name(prose, name) for name in gold.get("forbidden") or [])
        and _count_named(prose, gold.get("nuggets") or []) >= (gold.get("min_nuggets") or 0)
    )


def _states_values(gold_values: Sequence[Value], gold: GoldQuestion, record: Answer) -> bool:
    """Whether all gold numbers are in the prose, and all other gold values among the values of the record."""
    tolerance, unit = gold.get("tolerance") or 0.0, gold.get("unit") or ""
    numbers = list(_numbers(record["answer"], unit))
    for value in gold_values:
        if isinstance(value, int | float) and not isinstance(value, bool):
            if not any(_near(value, number, tolerance) for number in numbers):
                return False
        elif not any(same_value(value, own, tolerance) for own in record["values"]):
            return False
    return True


def _numbers(answer: str, unit: str) -> Iterator[float]:
    """The numbers of a prose answer converted to a unit; "3:36 h" is a duration."""
    text = _CITATION.sub(" ", answer)
    for match in _CLOCK.finditer(text):
        yield convert_unit(int(match[1]) + int(match[2]) / 60, "h", unit) or 0.0
    unit = {"euro": "currency", "gbp": "currency", "kw": "kW", "kwh": "kWh"}.get(unit, unit)
    for quantity in find_quantities(text):
        number = convert_unit(quantity.value, quantity.unit, unit)
        if number is not None:
            yield number


def _count_named(prose: str, groups: Sequence[Sequence[str]]) -> int:
    """How many groups of names occur, each in its own place: "Ann Lee" does not also name Ann; long names go first."""
    occurrences = [
        sorted({place for name in names for place in _find_name(prose, name)}, key=lambda place: place[0] - place[1])
        for names in groups
    ]
    taken: list[tuple[int, int]] = []
    for places in sorted(occurrences, key=lambda places: -max((end - start for start, end in places), default=0)):
        free = next((p for p in places if all(p[1] <= start or end <= p[0] for start, end in taken)), None)
        if free is not None:
            taken.append(free)
    return len(taken)


def _names_right_one_first(prose: str, gold: GoldQuestion) -> bool:
    competitors = gold.get("competitors") or []
    right = [name for names in gold.get("must_include") or [] for name in names]
    places = [(start, -end, name in right) for name in (*competitors, *right) for start, end in _find_name(prose, name)]
    return not competitors or not places or min(places)[2]


def _find_name(prose: str, name: str) -> list[tuple[int, int]]:
    return [m.span() for m in re.finditer(rf"(?<!\S){re.escape(normalise_words(name))}(?:e?s)?(?!\S)", prose)]


TOP_VALUES = 5


class RankingScores(NamedTuple):
    """Scores in 0..1: F1 over the sets of items, whether the first value is right, the reciprocal rank, and whether one
    of the first five values is right."""

    f1: float
    first: float
    reciprocal: float
    five: float


def ranking_scores(gold: GoldQuestion, record: Answer) -> RankingScores | None:
    """The best scores over all gold answers; None if no gold answer has items that can be listed.

    >>> gold = {"id": 1, "question": "?", "answers": ["Ann", "Bo"]}
    >>> ranking_scores(gold, {"status": "answered", "values": ["Cy", "Ann"]})
    RankingScores(f1=0.5, first=0.0, reciprocal=0.5, five=1.0)
    """
    names: list[Sequence[Sequence[Value]]] = [
        gold_items(answers, gold.get("answers_alt") or [])[0]
        for answers in (gold.get("answers") or [], *(gold.get("alt_answers") or []))
        if answers
    ]
    if not names and gold.get("must_include") and not gold.get("nuggets"):
        names = [gold["must_include"]]
    scores = [_scores(items, record["values"], gold.get("tolerance") or 0.0) for items in names]
    return max(scores) if scores else None


def _scores(items: Sequence[Sequence[Value]], values: Sequence[Value], tolerance: float) -> RankingScores:
    hits = [
        {i for i, each in enumerate(items) if any(same_value(n, value, tolerance) for n in each)} for value in values
    ]
    right = [rank for rank, hit in enumerate(hits, 1) if hit]
    precision = len(right) / len(values) if values else 0.0
    recall = len(set().union(*hits)) / len(items)
    f1 = 2 * precision * recall / (precision + recall) if precision and recall else 0.0
    best = min(right, default=0)
    return RankingScores(f1, float(best == 1), 1 / best if best else 0.0, float(0 < best <= TOP_VALUES))


if __name__ == "__main__":
    main(*sys.argv[1:])
