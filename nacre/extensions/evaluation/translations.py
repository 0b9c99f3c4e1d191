"""Questions with gold queries in SPARQL: a file -> TranslationQuestions; their results -> a report.

The score is that of the TEXT2SPARQL challenge: the F1 of the set of values that a query selects.
"""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from nacre.errors import ConfigError
from nacre.evaluation.questions import read_question_lines
from nacre.language.tokens import ENGLISH
from nacre.records.evidence import Cell

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
