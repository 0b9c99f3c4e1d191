"""Check the numbers of a sentence: SentenceMatch -> numbers that its evidence neither has nor gives."""

import re
from collections.abc import Sequence
from itertools import combinations

from nacre.checking.evidence_index import blank_periods
from nacre.checking.sentence_match import MatchedSpan, SentenceMatch
from nacre.language.base import pattern, word_list, word_map
from nacre.language.quantities.amounts import Amount, find_amounts, is_same_amount
from nacre.language.thesaurus import english_data, function_words
from nacre.language.tokens import fold

# how far a number after "about" may be off
ROUGH_SHARE = 0.05
# numbers that differences, sums and ratios are computed from
MAX_OPERANDS = 8


def unsupported_numbers(match: SentenceMatch) -> tuple[list[str], list[MatchedSpan]]:
    """The numbers without a source, as written, and the places of numbers that cells or sentences have."""
    amounts = [*find_amounts(blank_periods(match.text, match.periods)), *_number_words(match)]
    missing, supported, matched = list[Amount](), list[Amount](), list[MatchedSpan]()
    for amount in amounts:
        own = match.evidence.matching_numbers(amount)
        if own and not any(label.start <= amount.start < label.end for label in match.labels):
            matched.append(MatchedSpan(amount.start, amount.end, frozenset(each.place for each in own)))
        if own or match.copies_amount(amount) or _is_derived(amount, match):
            supported.append(amount)
        else:
            missing.append(amount)
    known = [*match.labels, *matched]
    unexplained = [amount for amount in missing if not _is_computed(amount, supported, known, match)]
    return [match.text[amount.start : amount.end].strip() for amount in unexplained], matched


def miscalculated_words(match: SentenceMatch) -> list[str]:
    """The word of a comparison or difference that its own numbers contradict: "5 against 3, lower"."""
    amounts = find_amounts(match.text)
    if len({amount.unit for amount in amounts}) != 1:
        return []
    difference = pattern("checking", "stated_difference").search(match.text)
    if difference and len(amounts) == 3:
        small, middle, large = sorted(abs(amount.value) for amount in amounts)
        # a number that is rounded to whole numbers was most likely whole
        slack = sum(amount.slack for amount in amounts if amount.slack < 0.5)
        return [] if abs(large - middle - small) <= slack else [difference[0]]
    signs = word_map("checking", "comparison_signs")
    word = next((word for word in match.norms if word in signs), None)
    if word is None or len(amounts) != 2:
        return []
    first, second = amounts[0].value, amounts[1].value
    return [] if (first > second) - (first < second) == int(signs[word]) else [word]


def _number_words(match: SentenceMatch) -> list[Amount]:
    values, words = english_data()["numbers"], word_list("checking", "number_words")
    return [
        Amount(float(values[word.norm]), "", 0.0, word.start, word.end)
        for i, word in enumerate(match.words)
        if word.norm in words and not match.run_lengths[i]
    ]


def _is_derived(amount: Amount, match: SentenceMatch) -> bool:
    """Whether a number counts rows, states a condition of the query, or is rough."""
    return _is_count(amount, match) or _is_condition(amount, match) or _is_rough(amount, match)


def _is_count(amount: Amount, match: SentenceMatch) -> bool:
    """Whether it counts rows, things behind an aggregate, or the listed names and the rest of them."""
    text, counts = match.text, match.evidence.counts
    if amount.unit or not pattern("checking", "counted").match(text, amount.end) or _is_in_name(amount, match):
        return False
    names = len({label.places for label in match.labels})
    listed = float(max(names, len({period[:2] for period in match.periods})))
    if not text[: amount.start].strip() and pattern("checking", "full_list").match(text, amount.end):
        return amount.value == listed
    rest = {total - listed for total in counts if total > listed > 1}
    return amount.value in counts | rest or (listed > 1 and amount.value == listed)


def _is_in_name(amount: Amount, match: SentenceMatch) -> bool:
    """Whether a capitalised word, or a part of the same word, goes right before ("Platform 9", "2017/9")."""
    before = re.search(r"(?<!\w)(\w++)\s?$|\S$", match.text[: amount.start])
    if before is None or not before[1]:
        return before is not None and before[0] not in "(–—"
    return before[1][0].isupper() and before.start() > 0 and before[1].casefold() not in function_words()


def _is_condition(amount: Amount, match: SentenceMatch) -> bool:
    """Whether it stands in a condition ("above 5 m") that the query has."""
    is_bound = bool(pattern("checking", "bound").search(match.text[: amount.start]))
    return is_bound and match.evidence.has_condition(amount)


def _is_rough(amount: Amount, match: SentenceMatch) -> bool:
    """Whether it stands after "about" and is near a number of the evidence."""
    if not pattern("checking", "approximation").search(match.text[: amount.start]):
        return False
    slack = max(amount.slack, abs(amount.value) * ROUGH_SHARE)
    return bool(match.evidence.matching_numbers(amount._replace(slack=slack)))


def _is_computed(
    amount: Amount, supported: Sequence[Amount], known: Sequence[MatchedSpan], match: SentenceMatch
) -> bool:
    """Whether it is the difference, sum, mean, ratio or percentage of numbers in the sentence or in its rows."""
    evidence = match.evidence
    # numbers over a whole group have no name that the sentence could say
    rows = {row for span in known for row, _ in span.places} | evidence.unnamed_rows
    in_rows = [(own.value, own.unit) for own in evidence.numbers if own.place[0] in rows]
    operands = list(dict.fromkeys([*((a.value, a.unit) for a in supported), *in_rows]))[:MAX_OPERANDS]
    # the words that a result needs in the sentence ("" for none), the result, its unit
    results: list[tuple[str, float, str]] = [
        (words, result, unit)
        for column, unit in evidence.columns
        for words, result in (("total", sum(column)), ("mean", sum(column) / len(column)))
    ]
    for (a, unit), (b, other) in combinations(operands, 2):
        if fold(unit) == fold(other):
            results += [("difference", abs(a - b), unit), ("total", a + b, unit), ("mean", (a + b) / 2, unit)]
            results += [("", ratio, amount.unit) for ratio in _ratios(amount, a, b)]
    return any(
        (not words or pattern("checking", words).search(match.text))
        and is_same_amount(amount, result, unit, evidence.words)
        for words, result, unit in results
    )


def _ratios(amount: Amount, a: float, b: float) -> list[float]:
    if not a or not b:
        return []
    if amount.unit == "percent":
        return [100 * part for part in (a / b, b / a, abs(a - b) / a, abs(a - b) / b)]
    return [a / b, b / a] if amount.after == "times" else []
