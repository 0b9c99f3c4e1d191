"""Check the claims of a sentence against the evidence it cites: sentence + Evidence -> unsupported claims.

Numbers are checked last: those that the evidence neither has nor gives.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import combinations, pairwise, takewhile

from nacre.checking.evidence_index import MAX_CELL, EvidenceIndex, MatchedSpan, SentenceMatch, blank_periods
from nacre.language.data import pattern, word_list, word_map
from nacre.language.quantities import Amount, canonical_unit, find_amounts, is_same_amount
from nacre.language.thesaurus import english_data, function_words
from nacre.language.tokens import ENGLISH, detect_language, fold, is_known, tokenize
from nacre.records.evidence import Evidence

# words -> the stretches of them that name something of the graph, each as (first, after the last)
FindGraphNames = Callable[[Sequence[str]], list[tuple[int, int]]]

# the claim of a sentence that joins names and numbers of different rows
MIXED_ROWS = "what belongs to what"

_DATE = re.compile(r"(?<![\w-])\d{4}-\d{2}-\d{2}(?![\w-])")

# between two cells of a row that a sentence lists
_CELL_BREAK = re.compile(r"[:,;] | \(")

# between the digits of a number
_SEPARATOR = re.compile(r"(?<=[0-9])[.,](?=[0-9])")

_SPACE_IN_NUMBER = re.compile(r"(?<=[0-9]) (?=[0-9]{3}(?![0-9]))")  # "20 000"

_SENTENCE_END = re.compile(r"[.!?]['\"”’)]*\s+$")

# words that are joined by hyphens
_COMPOUND = re.compile(r"(?<!\w)[^\W\d_]++(?:-[^\W\d_]++)++")

# characters of a sentence that is compared, for a list of 30 long cells (given)
MAX_SENTENCE = 20_000
# letters in each part of a compound word
MIN_COMPOUND_LETTERS = 4


def no_graph_names(words: Sequence[str]) -> list[tuple[int, int]]:
    """For evidence of no graph: no word is a name."""
    return []


def unsupported_claims(
    sentence: str,
    evidence: Sequence[Evidence] | EvidenceIndex,
    known: FindGraphNames = no_graph_names,
    language: str = ENGLISH,
    said: Collection[str] = (),
) -> list[str]:
    """The numbers, dates, names and yes or no of a sentence (without its [n]) that its evidence does not support.

    A number may be rounded, formatted, converted to another unit, count the rows, or follow from other numbers by
    simple arithmetic. A name is a word that is capitalised, has digits, is no English word, or is `known` in the graph.
    Names and numbers of different rows must not be joined. The sentence may be in another `language`, in which the
    question `said` some words that English evidence has not: "Devon" for the Devonian. There 3,5 and 3.5 may be the
    same, and a space may part the digits of a number.
    """
    index = evidence if isinstance(evidence, EvidenceIndex) else EvidenceIndex(evidence)
    sentence = _SPACE_IN_NUMBER.sub("\u202f", sentence) if language != ENGLISH else sentence
    sentence = index.shorten(sentence)
    if len(sentence) > MAX_SENTENCE:
        return [sentence[:MAX_CELL]]
    missing = _unsupported_claims(sentence, index, known, language, said)
    swapped = (
        _SEPARATOR.sub(lambda found: "." if found[0] == "," else ",", sentence) if language != ENGLISH else sentence
    )
    is_supported = missing and swapped != sentence and not _unsupported_claims(swapped, index, known, language, said)
    return [] if is_supported else missing


def _unsupported_claims(
    sentence: str, index: EvidenceIndex, known: FindGraphNames, language: str, said: Collection[str]
) -> list[str]:
    match = SentenceMatch(sentence, index, language)
    numbers, matched = unsupported_numbers(match)
    missing = [
        *_unsupported_truth(match),
        *miscalculated_words(match),
        *_uncomputed_number(match),
        *_unread_numbers(match),
        *_unsupported_dates(match),
        *numbers,
        *(name for name in _unsupported_names(match, known) if any(t.norm not in said for t in tokenize(name))),
    ]
    of_named_rows = [each for each in matched if not any(row in index.unnamed_rows for row, _ in each.places)]
    is_aligned = not match.labels or _is_aligned([*match.labels, *of_named_rows], index)
    if not missing and not (is_aligned and all(_is_of_named_column(each, match) for each in matched)):
        missing.append(MIXED_ROWS)
    if not missing and not _is_related(match):
        missing.append(match.text.strip())
    return missing


def is_bare_answer(sentence: str, evidence: EvidenceIndex) -> bool:
    """Whether the sentence is a yes or no, or has only names of the evidence: it does not say what it answers."""
    if SentenceMatch(sentence, evidence).yes_no:
        return True
    return all(
        word.norm in function_words() or word.norm[0].isdigit() or word.norm in evidence.name_words
        for word in tokenize(sentence)
    )


def _unsupported_truth(match: SentenceMatch) -> list[str]:
    """The yes, no or denial that the evidence contradicts."""
    truth = match.evidence.truth
    if truth is None:
        return []
    if match.yes_no and (match.yes_no.casefold() == "yes") != truth:
        return [match.yes_no]
    # the question may contain a denial: "animals that are not seals"
    may_deny = match.evidence.is_empty or not match.denial or match.denial.casefold() in match.evidence.words
    if truth and not may_deny:
        return [match.denial]
    if not truth and not match.yes_no and not match.is_negative and match.evidence.is_empty:
        return [match.text.strip()]
    return []


def _uncomputed_number(match: SentenceMatch) -> list[str]:
    """The word for a computed number if the evidence only has a number of one thing: "the average is 5"."""
    found = pattern("checking", "computed_number").search(match.text)
    if found is None or match.evidence.table_count or found[1].casefold() in match.evidence.words:
        return []
    return [found[1]]


def _unsupported_dates(match: SentenceMatch) -> list[str]:
    """The dates that no date of the evidence lies in, and impossible dates."""
    spans = [
        (period.start, period.end)
        for period in match.periods
        if not (match.evidence.covers_period(period) or _is_copied(match, period.start, period.end))
    ]
    known_starts = {period.start for period in match.periods}
    spans += [found.span() for found in _DATE.finditer(match.text) if found.start() not in known_starts]
    return [match.text[start:end] for start, end in spans]


def _is_copied(match: SentenceMatch, start: int, end: int) -> bool:
    """Whether a stretch of the text stands in the evidence, word by word."""
    inside = [i for i, word in enumerate(match.words) if start <= word.start < end]
    return bool(inside) and match.evidence.contains_words(match.norms[inside[0] : inside[-1] + 1])


def _unsupported_names(match: SentenceMatch, known: FindGraphNames) -> list[str]:
    """The names that no text of the evidence has as one."""
    foreign = _foreign_language(match)
    missing = [match.words[i].text for i in range(len(match.words)) if _is_unknown_name(match, i, foreign)]
    checked = [(amount.start, amount.end) for amount in match.amounts]
    checked += [(period.start, period.end) for period in match.periods]
    for first, after in known(match.norms):
        begin, end = match.words[first].start, match.words[after - 1].end
        if any(a <= begin and end <= b for a, b in checked):
            # "325 kW" is checked as a number, "September" as part of a date
            continue
        parts = _name_parts(match, first, after)
        # "Bell, Ann" is Ann Bell as well
        turned = ([part[k:] + part[:k] for k in range(len(part))] for part in parts if not "".join(part).isdigit())
        is_supported = all(any(map(match.evidence.contains_words, each)) for each in turned)
        if not is_supported and not _is_paraphrased(match, first, after):
            missing.append(match.text[begin:end])
    return missing


def _name_parts(match: SentenceMatch, first: int, after: int) -> Iterator[list[str]]:
    """The words of a name, split at punctuation: "Ann: Bell" are two cells of a row, and not Ann Bell."""
    begin = first
    for i in range(first + 1, after + 1):
        if i == after or _CELL_BREAK.search(match.text[match.words[i - 1].end : match.words[i].start]):
            yield match.norms[begin:i]
            begin = i


def _is_unknown_name(match: SentenceMatch, i: int, foreign: str) -> bool:
    word, before = match.words[i], match.text[: match.words[i].start]
    if match.run_lengths[i] or word.norm[0].isdigit() or word.norm in function_words() or match.knows_word(word):
        return False
    if _is_known_otherwise(match, i, foreign):
        return False
    # the words of a date, and the option of a command
    if any(period.start <= word.start < period.end for period in match.periods) or before.endswith("--"):
        return False
    if any(map(str.isdigit, word.norm)):
        return True
    if word.text == "UTC" and any(map(str.isdigit, match.text)):
        # the zone of a time
        return False
    if word.text[0].isupper():
        if foreign and _is_foreign_word(word.text, foreign):
            # other languages may capitalise common nouns
            return False
        # the first word of a sentence is always capitalised
        is_first = not before.strip() or _SENTENCE_END.search(before)
        return not is_first or not is_known(word.text.lower(), lang="en")
    return len(word.norm) > 3 and not foreign and not is_known(word.text, lang="en")


def _is_known_otherwise(match: SentenceMatch, i: int, foreign: str) -> bool:
    """Whether the evidence or language has a word without its article, in a compound, or inflected otherwise."""
    word, known = match.words[i], match.evidence.words
    article = pattern("checking", "elided_article").match(word.text)
    if article is not None:
        rest = word.text[article.end() :]
        return {token.norm for token in tokenize(rest)} <= known | function_words() or bool(
            foreign and any(_is_foreign_word(each, foreign) for each in (rest, rest.lower()))
        )
    if foreign and _is_foreign_word(word.text.lower(), foreign) and not word.text[0].isupper():
        return True
    for compound in _COMPOUND.finditer(match.text):
        if compound.start() <= word.start < compound.end():
            parts = compound[0].split("-")
            pairs = ("-".join(parts[:2]), "".join(parts[:2]).lower())
            language = foreign or ENGLISH
            return pairs[1] in known or is_known(pairs[0], lang=language)
    return bool(foreign) and _is_cognate(word.norm, match.evidence.name_stems)


def _is_cognate(word: str, stems: Collection[str]) -> bool:
    """Whether a word of another language is the stem of an English name, or has an ending of its language behind it.

    >>> [_is_cognate(word, {"devon"}) for word in ("devon", "devonien", "juliana")]
    [True, True, False]
    """
    word = fold(word)
    endings = ("", *word_list("checking", "foreign_endings"))
    return any(word.removesuffix(each) in stems for each in endings if word.endswith(each))


def _foreign_language(match: SentenceMatch) -> str:
    """The language of a sentence that is mostly not in English; "" of an English one."""
    free = [word for i, word in enumerate(match.words) if not match.run_lengths[i] and word.text.isalpha()]
    english = sum(is_known(word.text.lower(), lang="en") for word in free)
    if match.language != ENGLISH and (english < len(free) or not free):
        # the answer was to be in that language, and not all of it is English
        return match.language
    if 2 * english >= len(free):
        return ""
    language = detect_language(match.text, fewest=1)
    return "" if language == ENGLISH else language


def _is_foreign_word(word: str, language: str) -> bool:
    """Whether a language has a word, or a compound of two of its words ("Ladeleistung")."""
    if is_known(word, lang=language):
        return True
    cuts = range(MIN_COMPOUND_LETTERS, len(word) - MIN_COMPOUND_LETTERS + 1)
    return any(
        is_known(word[cut:].capitalize(), lang=language)
        and any(
            is_known(form, lang=language)
            for form in (word[:cut], word[:cut].removesuffix("s"), f"{word[:cut]}n", f"{word[:cut]}en")
        )
        for cut in cuts
    )


def _is_paraphrased(match: SentenceMatch, first: int, after: int) -> bool:
    """Whether a name is part of a longer one of the evidence, or a word for what the evidence says."""
    if all(match.run_lengths[i] > after - first for i in range(first, after)):
        return True
    words = match.words[first:after]
    # "the music festival" for "music festivals"
    return all(map(match.knows_word, words)) and (len(words) == 1 or all(word.text.islower() for word in words))


def _is_aligned(matched: Sequence[MatchedSpan], evidence: EvidenceIndex) -> bool:
    """Whether names and numbers of different columns can be read as pairs of one row, in either direction."""
    spans = sorted(matched, key=lambda span: span.start)
    if evidence.rows < 2 or len(spans) < 2:
        return True
    return any(
        _pairs_by_row(order, column) for order in (spans, spans[::-1]) for column in {c for _, c in order[0].places}
    )


def _pairs_by_row(spans: Sequence[MatchedSpan], column: int) -> bool:
    """Whether each span of another column shares a row with the spans of this column right before it."""
    rows: set[int] = set()
    is_listing = False
    for span in spans:
        own = {row for row, c in span.places if c == column}
        if own:
            rows = rows | own if is_listing else own
            is_listing = True
            continue
        is_listing = False
        if rows and not rows & {row for row, _ in span.places}:
            return False
    return True


def _is_of_named_column(number: MatchedSpan, match: SentenceMatch) -> bool:
    """Whether a number belongs to the column that is joined to it ("a crew of 7"), if one is."""
    words = [word.norm for word in match.words if word.end <= number.start]
    measures, labels = match.evidence.measures, match.evidence.labels
    named = _skip_joined(words) and _ends_with(words, measures)
    if name := "" if named else _ends_with(words, labels):
        del words[-len(name.split()) :]
        named = _skip_joined(words) and _ends_with(words, measures)
    columns = measures[named] if named else []
    return not columns or any(row in rows and column == own for rows, own in columns for row, column in number.places)


def _skip_joined(words: list[str]) -> bool:
    """Remove the function words at the end that join a name and its value; whether there were any."""
    count = len(words)
    while words and words[-1] in function_words() and words[-1] not in word_list("checking", "joining"):
        words.pop()
    return len(words) < count


def _ends_with(words: Sequence[str], names: Iterable[str]) -> str:
    """The longest of some names that the words end with; "" if none."""
    text = f" {' '.join(words)}"
    return max((name for name in names if name and text.endswith(f" {name}")), key=len, default="")


def _is_related(match: SentenceMatch) -> bool:
    """Whether the evidence has half of the sentence's words, or a third if the sentence has numbers."""
    if 2 * sum(length > 2 for length in match.run_lengths) >= len(match.run_lengths):
        # most of it is copied
        return True
    if _foreign_language(match):
        # its words cannot be those of the evidence, but its names must be, or its numbers if that has no names
        stems = match.evidence.name_stems
        is_number = not stems and any(map(str.isdigit, match.text))
        return is_number or any(match.run_lengths) or any(_is_cognate(word.norm, stems) for word in match.words)
    content = match.content[1:] if match.yes_no else match.content
    # numbers, units, dates and computed numbers are checked elsewhere
    figure = pattern("checking", "figure")
    words = [i for i in content if not (figure.fullmatch(match.norms[i]) or canonical_unit(match.norms[i]))]
    words = [i for i in words if not any(p.start <= match.words[i].start < p.end for p in match.periods)]
    known = sum(match.run_lengths[i] > 0 or match.knows_word(match.words[i]) for i in words)
    return (3 if any(map(str.isdigit, match.text)) else 2) * known >= len(words)


# how far a number after "about" may be off
ROUGH_SHARE = 0.05
# characters before a number that are read with it (given)
MAX_BEFORE = 100
# numbers that differences, sums and ratios are computed from
MAX_OPERANDS = 8


def unsupported_numbers(match: SentenceMatch) -> tuple[list[str], list[MatchedSpan]]:
    """The numbers without a source, as written, and the places of numbers that cells or sentences have."""
    amounts = find_amounts(blank_periods(match.text, match.periods)) if match.periods else match.amounts
    amounts = [*amounts, *_number_words(match)]
    negative = pattern("checking", "negative")
    amounts = [a._replace(value=-a.value) if negative.search(_before(a, match)) else a for a in amounts]
    missing, supported, matched = list[Amount](), list[Amount](), list[MatchedSpan]()
    for amount in amounts:
        own = match.evidence.matching_numbers(amount)
        is_beyond = pattern("checking", "beyond").search(_before(amount, match))
        if len(amounts) == 1 and not match.evidence.has_condition(amount) and is_beyond:
            # "less than 7" of what is 7
            own = [each for each in own if each.value != amount.value]
        if own and not any(label.start <= amount.start < label.end for label in match.labels):
            matched.append(MatchedSpan(amount.start, amount.end, frozenset(each.place for each in own)))
        reasons = (_is_in_heading, _is_count, _is_condition, _is_rough)
        if own or match.copies_amount(amount) or any(applies(amount, match) for applies in reasons):
            supported.append(amount)
        else:
            missing.append(amount)
    operands = _operands(supported, [*match.labels, *matched], match.evidence) if missing else []
    unexplained = [amount for amount in missing if not _is_computed(amount, operands, match)]
    return [match.text[amount.start : amount.end].strip() for amount in unexplained], matched


def _before(amount: Amount, match: SentenceMatch) -> str:
    """The last words before a number."""
    return match.text[max(0, amount.start - MAX_BEFORE) : amount.start]


def miscalculated_words(match: SentenceMatch) -> list[str]:
    """The word of a comparison or difference that its own numbers contradict: "5 against 3, lower"."""
    amounts = match.amounts
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
    magnitudes, found = word_list("checking", "magnitudes"), list[Amount]()
    for i, word in enumerate(match.words):
        if word.norm in words and not match.run_lengths[i]:
            value, last = float(values[word.norm]), word
            for last in takewhile(lambda each: each.norm in magnitudes, match.words[i + 1 :]):
                value *= english_data()["multipliers"][last.norm]
            found.append(Amount(value, "", 0.0, word.start, last.end))
    return found


def _unread_numbers(match: SentenceMatch) -> list[str]:
    """The words in digits that are read as no number, such as raised ones."""
    return [
        word.text
        for i, word in enumerate(match.words)
        if not match.run_lengths[i]
        and all(c.isnumeric() or c in ".," for c in word.text)
        and not all(c.isdecimal() or c in ".," for c in word.text)
    ]


def _is_in_heading(amount: Amount, match: SentenceMatch) -> bool:
    """Whether it is an end of a span that the evidence names with other words between: "0 to 62" for "0 62 mph"."""
    words = [word for word in match.words if word.norm not in function_words()]
    return any(
        one.start <= amount.start < other.end and match.evidence.contains_words((one.norm, other.norm))
        for one, other in pairwise(words)
        if one.norm.isdecimal() and other.norm.isdecimal()
    )


def _is_count(amount: Amount, match: SentenceMatch) -> bool:
    """Whether it counts rows, things behind an aggregate, or named things: "Rex (2 of them)"."""
    text, counts = match.text, match.evidence.counts
    if text[amount.start - 2 : amount.start] == " (" and text.startswith(" of them)", amount.end):
        named = next((label for label in match.labels if label.end == amount.start - 2), None)
        if named is not None:
            return amount.value == len({row for row, _ in named.places})
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
    """Whether it stands in a condition of the query ("above 5 m"), in English."""
    is_bound = bool(pattern("checking", "bound").search(_before(amount, match)) or _foreign_language(match))
    return is_bound and match.evidence.has_condition(amount)


def _is_rough(amount: Amount, match: SentenceMatch) -> bool:
    """Whether it stands after "about" and is near a number of the evidence."""
    if not pattern("checking", "approximation").search(_before(amount, match)):
        return False
    slack = max(amount.slack, abs(amount.value) * ROUGH_SHARE)
    return bool(match.evidence.matching_numbers(amount._replace(slack=slack)))


def _operands(
    supported: Sequence[Amount], known: Sequence[MatchedSpan], evidence: EvidenceIndex
) -> list[tuple[float, str]]:
    """The numbers of the sentence and of its rows, with their units."""
    # numbers over a whole group have no name that the sentence could say
    rows = {row for span in known for row, _ in span.places} | evidence.unnamed_rows
    in_rows = [(own.value, own.unit) for own in evidence.numbers if own.place[0] in rows]
    return list(dict.fromkeys([*((a.value, a.unit) for a in supported), *in_rows]))[:MAX_OPERANDS]


def _is_computed(amount: Amount, operands: Sequence[tuple[float, str]], match: SentenceMatch) -> bool:
    """Whether it is the difference, sum, mean, ratio or percentage of such numbers, or of a column."""
    evidence = match.evidence
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
