"""Count what was right: a file of questions with gold answers + a file of answer records -> a small table.

    python -m evaluation.score QUESTIONS.jsonl PREDICTIONS.jsonl

Of a question it reads `type`, `answers` (or one of `alt_answers`) with `tolerance`, the names that must and must not
be said (`must_include`, `must_not_include`), and for prose `nuggets`, `min_nuggets`, `forbidden`.
"""

import json
import statistics
import sys
import unicodedata
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from records.answer import Answer, Value

Gold = dict[str, Any]


class Line(NamedTuple):
    """One line of the table."""

    type: str
    asked: int
    answered: int
    right: int
    seconds: float


def table(questions: Sequence[Gold], records: Sequence[Answer]) -> list[Line]:
    """A line for each type of question, and one for all; a question without a record is wrong."""
    by_id = {record["id"]: record for record in records}
    types = sorted({str(question.get("type", "all")) for question in questions})
    groups = [(kind, [q for q in questions if str(q.get("type", "all")) == kind]) for kind in types]
    return [_line(kind, group, by_id) for kind, group in [*groups, ("together", list(questions))]]


def is_right(question: Gold, record: Answer) -> bool:
    """Whether a record answers its question.

    >>> is_right({"answers": [4]}, {"values": [4], "answer": "There are 4."})
    True
    >>> is_right({"must_include": [["Ann", "Anna"]]}, {"values": [], "answer": "It was Bob."})
    False
    """
    if record.get("status") == "failed":
        return False
    said = _plain(record["answer"])
    golds = [gold for gold in [question.get("answers"), *(question.get("alt_answers") or [])] if gold]
    if golds and not any(_same(gold, record["values"], question.get("tolerance") or 0) for gold in golds):
        return False
    if not all(any(_plain(name) in said for name in names) for names in question.get("must_include") or []):
        return False
    if any(_plain(name) in said for name in question.get("must_not_include") or []):
        return False
    nuggets = sum(any(_plain(word) in said for word in words) for words in question.get("nuggets") or [])
    if nuggets < (question.get("min_nuggets") or 0):
        return False
    return not any(_plain(word) in said for word in question.get("forbidden") or [])


def _line(kind: str, questions: Sequence[Gold], by_id: dict[str, Answer]) -> Line:
    pairs = [(question, by_id[question["id"]]) for question in questions if question["id"] in by_id]
    answered = sum(record["status"] == "answered" for _, record in pairs)
    seconds = statistics.median(record["seconds"] for _, record in pairs) if pairs else 0.0
    return Line(kind, len(questions), answered, sum(is_right(*pair) for pair in pairs), seconds)


def _same(gold: Sequence[Value], values: Sequence[Value], tolerance: float) -> bool:
    left = list(values)
    for wanted in gold:
        found = next((value for value in left if _equal(wanted, value, tolerance)), None)
        if found is None:
            return False
        left.remove(found)
    return not any(isinstance(value, int | float) for value in left)


def _equal(wanted: Value, value: Value, tolerance: float) -> bool:
    if isinstance(value, bool):
        return wanted is value or wanted == ("yes" if value else "no")
    if isinstance(wanted, int | float) and isinstance(value, int | float):
        return abs(wanted - value) <= max(tolerance * abs(wanted), 0.005 * abs(wanted) if wanted % 1 else 0)
    return _plain(str(wanted)) == _plain(str(value))


def _plain(text: str) -> str:
    decomposed = unicodedata.normalize("NFKD", text)
    return " ".join("".join(c for c in decomposed if not unicodedata.combining(c)).casefold().split())


def _read(path: str) -> list[Any]:
    return [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines() if line.strip()]


def main(questions: str, predictions: str) -> None:
    """Print the table."""
    sys.stdout.write(f"{'type':<12}{'asked':>7}{'answered':>10}{'right':>7}{'median s':>10}\n")
    for line in table(_read(questions), _read(predictions)):
        sys.stdout.write(f"{line.type:<12}{line.asked:>7}{line.answered:>10}{line.right:>7}{line.seconds:>10.3f}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
