"""Check the numbers of a sentence: SentenceMatch -> those that its evidence neither holds nor gives."""

import re
from collections.abc import Sequence
from itertools import combinations

from nacre.checking.evidence_index import blank_periods
from nacre.checking.sentence_match import MatchedSpan, SentenceMatch
from nacre.language.quantities.amounts import Amount, find_amounts, is_same_amount
from nacre.language.thesaurus import english_data, function_words
from nacre.language.tokens import fold

_ABOUT = re.compile(
    r"(?:\b(?:about|around|roughly|approximately|approx\.?|nearly|almost|some|circa|ca\.)|~)\s*\S?$", re.I
)
_BOUND = re.compile(
    r"\b(?:above|below|over|under|than|least|most|exceed\w*|between|and|from|since|after|before|until|to|exactly|in|is"
    r"|with|for|of)[\s€$£¥]*$",
    re.I,
)
_LESS = re.compile(r"\b(?:differ\w*|more|less|fewer|higher|lower|\w+er than|apart|between|later|earlier)\b", re.I)
_TOTAL = re.compile(r"\b(?:total\w*|sum|together|combined|altogether)\b", re.I)
_MEAN = re.compile(r"\b(?:average|mean)\b", re.I)
_COUNTED = re.compile(r"\s*:|\s+(?!(?:and|or|to|against|than)\b)[^\W\d]")
# "3: A, B and C", but not "30 in all, the first: A, B and C"
_LIST = re.compile(r"\s*:(?!.*\b(?:more|first|others?|such as|including|e\.g)\b)", re.I | re.S)
_NUMBER_WORDS = frozenset("two three four five six seven eight nine ten eleven twelve twenty".split())
_DIFFERENCE = re.compile(r"\bdifference\b", re.I)
_HIGHER = {"higher": 1, "lower": -1, "equal": 0}
_ROUGH = 0.05
_OPERANDS = 8


def unsupported_numbers(sentence: SentenceMatch) -> tuple[list[str], list[MatchedSpan]]:
    """The numbers without a source, as written; and the places of those that cells or sentences hold."""
    said = [*find_amounts(blank_periods(sentence.text, sentence.dated)), *_number_words(sentence)]
    missing, sound, placed = list[Amount](), list[Amount](), list[MatchedSpan]()
    for amount in said:
        own = sentence.held.number(amount)
        if own and not any(label.start <= amount.start < label.end for label in sentence.labels):
            placed.append(MatchedSpan(amount.start, amount.end, frozenset(each.place for each in own)))
        if (
            own
            or sentence.has(amount)
            or _counts(amount, sentence)
            or _asked(amount, sentence)
            or _rough(amount, sentence)
        ):
            sound.append(amount)
        else:
            missing.append(amount)
    known = [*sentence.labels, *placed]
    left = [a for a in missing if not _computed(a, sound, known, sentence)]
    return [sentence.text[a.start : a.end].strip() for a in left], placed


def miscalculated_words(sentence: SentenceMatch) -> list[str]:
    """The word of a comparison or difference that its own numbers belie: "5 against 3, lower"."""
    said = find_amounts(sentence.text)
    if len({amount.unit for amount in said}) != 1:
        return []
    difference = _DIFFERENCE.search(sentence.text)
    if difference and len(said) == 3:
        small, middle, large = sorted(abs(amount.value) for amount in said)
        # what is rounded to whole numbers was most likely whole
        slack = sum(amount.slack for amount in said if amount.slack < 0.5)
        return [] if abs(large - middle - small) <= slack else [difference[0]]
    word = next((word for word in sentence.norms if word in _HIGHER), None)
    if word is None or len(said) != 2:
        return []
    first, second = said[0].value, said[1].value
    return [] if (first > second) - (first < second) == _HIGHER[word] else [word]


def _number_words(sentence: SentenceMatch) -> list[Amount]:
    values = english_data()["numbers"]
    return [
        Amount(float(values[word.norm]), "", 0.0, word.start, word.end)
        for i, word in enumerate(sentence.words)
        if word.norm in _NUMBER_WORDS and not sentence.runs[i]
    ]


def _counts(amount: Amount, sentence: SentenceMatch) -> bool:
    """Whether it counts rows, things behind an aggregate, or the names that are listed and the rest of them."""
    text, counts = sentence.text, sentence.held.counts
    if amount.unit or not _COUNTED.match(text, amount.end) or _in_name(amount, sentence):
        return False
    listed = float(max(len({said.places for said in sentence.labels}), len({day[:2] for day in sentence.dated})))
    if not text[: amount.start].strip() and _LIST.match(text, amount.end):
        return amount.value == listed
    rest = {total - listed for total in counts if total > listed > 1}
    return amount.value in counts | rest or (listed > 1 and amount.value == listed)


def _in_name(amount: Amount, sentence: SentenceMatch) -> bool:
    """Whether a capitalised word, or a part of the same word, goes right before ("Platform 9", "2017/9")."""
    before = re.search(r"(\w+)\s?$|\S$", sentence.text[: amount.start])
    if before is None or not before[1]:
        return before is not None and before[0] not in "(–—"
    return before[1][0].isupper() and before.start() > 0 and before[1].casefold() not in function_words()


def _asked(amount: Amount, sentence: SentenceMatch) -> bool:
    """Whether it stands in a condition ("above 5 m"), and the query had that condition."""
    return bool(_BOUND.search(sentence.text[: amount.start])) and sentence.held.condition(amount)


def _rough(amount: Amount, sentence: SentenceMatch) -> bool:
    if not _ABOUT.search(sentence.text[: amount.start]):
        return False
    return bool(sentence.held.number(amount._replace(slack=max(amount.slack, abs(amount.value) * _ROUGH))))


def _computed(amount: Amount, sound: Sequence[Amount], known: Sequence[MatchedSpan], sentence: SentenceMatch) -> bool:
    """Whether it is the difference, sum, quotient, mean or percentage of numbers that are said or meant."""
    text, held = sentence.text, sentence.held
    rows = {row for said in known for row, _ in said.places}
    meant = [(own.value, own.unit) for own in held.numbers if own.place[0] in rows]
    operands = list(dict.fromkeys([*((a.value, a.unit) for a in sound), *meant]))[:_OPERANDS]
    results: list[tuple[re.Pattern[str] | None, float, str]] = [
        (word, result, unit)
        for column, unit in held.columns
        for word, result in ((_TOTAL, sum(column)), (_MEAN, sum(column) / len(column)))
    ]
    for (a, unit), (b, other) in combinations(operands, 2):
        if fold(unit) == fold(other):
            results += [(_LESS, abs(a - b), unit), (_TOTAL, a + b, unit), (_MEAN, (a + b) / 2, unit)]
            results += [(None, ratio, amount.unit) for ratio in _ratios(amount, a, b)]
    return any(
        (word is None or word.search(text)) and is_same_amount(amount, result, unit, held.words)
        for word, result, unit in results
    )


def _ratios(amount: Amount, a: float, b: float) -> list[float]:
    if not a or not b:
        return []
    if amount.unit == "percent":
        return [100 * part for part in (a / b, b / a, abs(a - b) / a, abs(a - b) / b)]
    return [a / b, b / a] if amount.after == "times" else []
