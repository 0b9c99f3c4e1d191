"""Compare configurations: gold questions + the records of each configuration -> lines, as text, CSV and a chart."""

import csv
import io
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from xml.sax.saxutils import escape

from nacre.evaluation.questions import GoldQuestion, question_kind
from nacre.evaluation.score import is_right, quantile, ranking_scores
from nacre.records.answer import Answer

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
