"""The parts of a sentence that may be the answer: sentence + ExpectedAnswer -> Spans.

In order: spans of words, dates, times and numbers, and the kind of answer that a question expects of a text.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from functools import cache, lru_cache
from itertools import pairwise
from typing import Literal, NamedTuple, cast

from nacre.language.data import WORDS, pattern, phrase_list, phrase_map, word_list
from nacre.language.quantities import Amount, convert_unit, find_amounts, is_currency
from nacre.language.small_talk import strip_courtesy
from nacre.language.thesaurus import english_data, function_words, gradable_adjective, synonyms
from nacre.language.tokens import Token, fold, tokenize
from nacre.language.values import find_periods
from nacre.records.answer import Value

# words of a phrase that may be an answer, at most (given)
MAX_PHRASE_WORDS = 12

MAX_SPANS = 24

# words of a name after its last capitalised word, at most
_MAX_SMALL_WORDS = 2

_QUOTED = re.compile(r"[“\"‘«]([^“”\"‘’«»]{1,80})[”\"’»]")

# what may stand between two words of a name
_NAME_JOINTS = (" ", "-", ". ", "'", "’s ", "'s ")


@lru_cache(4096)
def clause_starts(text: str) -> tuple[int, ...]:
    """Where the clauses of a sentence begin in characters; a colon also begins one.

    >>> text = "A is red; B, which is old, is blue."
    >>> [text[a:b] for a, b in zip(clause_starts(text), (*clause_starts(text)[1:], None))]
    ['A is red', '; B', ', which is old, is blue.']
    """
    return (0, *(match.start() for match in _clause_pattern().finditer(text) if match.start()))


class Span(NamedTuple):
    """A part of a sentence in characters, the rule that proposed it, and its value with its unit."""

    start: int
    end: int
    how: str
    value: Value
    unit: str = ""


AnswerKind = Literal[
    "reason", "time", "date", "count", "amount", "degree", "person", "place", "name", "yes_no", "thing", "described"
]


class QuestionWord(NamedTuple):
    """A content word of a question: its forms and synonyms, its stem, and whether it is a name."""

    forms: frozenset[str]
    stem: str
    name: bool


class ExpectedAnswer(NamedTuple):
    """What the answer to a question looks like.

    `units` are those that it may have (None: any). `noun` are the lemmas of the noun that it is or counts. `words` are
    the content words of the question besides that noun, and `forms` all its words, to which an answer adds some. The
    flags tell whether the question is negated, in the past tense, or asks for a superlative.
    """

    kind: AnswerKind
    units: tuple[str, ...] | None
    noun: frozenset[str]
    words: tuple[QuestionWord, ...]
    forms: frozenset[str]
    negated: bool = False
    past: bool = False
    superlative: bool = False


def find_answer_spans(text: str, want: ExpectedAnswer, tokens: tuple[Token, ...]) -> list[Span]:
    """The spans of a sentence that may be the expected answer, without those that only repeat the question."""
    dates = [] if want.kind in ("date", "time", "count", "amount") else [*date_spans(text), *time_spans(text)]
    quotes = [(match.start(1), match.end(1)) for match in _QUOTED.finditer(text)]
    by_place: dict[tuple[int, int], Span] = {}
    for proposed in _propose(text, want, tokens):
        span = parse_number_span(_strip_date(proposed, text, dates), text)
        is_quoted = any(a <= span.start < b and span.how != "quoted" for a, b in quotes)
        if span.end > span.start and not is_quoted and not _is_in_question(text[span.start : span.end], want):
            by_place.setdefault((span.start, span.end), span)
    return list(by_place.values())[:MAX_SPANS]


def is_affirmative(text: str) -> bool:
    """Whether a clause affirms what it states.

    >>> is_affirmative("Dogs may come along"), is_affirmative("on all others they can't")
    (True, False)
    """
    return not is_negated(text.casefold().replace("’", "'"))


def match_question_words(tokens: tuple[Token, ...], want: ExpectedAnswer) -> dict[int, list[int]]:
    """The places of the question's words in a sentence, by their index among the words of the expected answer."""
    matches = {
        i: [j for j, token in enumerate(tokens) if is_same_word(word, token)] for i, word in enumerate(want.words)
    }
    return {i: places for i, places in matches.items() if places}


def _propose(text: str, want: ExpectedAnswer, tokens: tuple[Token, ...]) -> Iterator[Span]:
    """The spans of the expected kind, by the rule that finds them."""
    match want.kind:
        case "date":
            yield from date_spans(text)
            # a past event has a date; a repeated one may also have a time of day
            if not want.past:
                yield from time_spans(text)
        case "time":
            yield from time_spans(text)
        case "count" | "amount":
            yield from number_spans(text, want)
        case "person":
            yield from _names(text, tokens)
        case "place":
            yield from _phrases_after(text, "place", want)
            yield from _names(text, tokens)
        case "reason":
            yield from _phrases_after(text, "reason", want)
        case "name":
            if want.units is not None:
                yield from number_spans(text, want)
            for quote in _QUOTED.finditer(text):
                yield Span(quote.start(1), quote.end(1), "quoted", quote[1].strip(" .,"))
            yield from labelled_number_spans(text, want, tokens)
            yield from _listed_words(text, want, tokens)
            yield from _names(text, tokens)
            yield from _phrases_after(text, "name", want)
            yield from _phrases_beside_noun(text, want, tokens)
        case "thing":
            yield from number_spans(text, want)
            yield from date_spans(text)
            yield from _names(text, tokens)
            yield from _phrases_after(text, "name", want)


def _strip_date(span: Span, text: str, dates: Iterable[Span]) -> Span:
    """A phrase without the date at its end; an empty span if it begins with the date."""
    if not isinstance(span.value, str):
        return span
    end = min((each.start for each in dates if each.start < span.end and span.start < each.end), default=span.end)
    if end == span.end:
        return span
    words = text[span.start : max(span.start, end)].rstrip(" ,").split()
    while words and words[-1].casefold() in phrase_map("texts", "before")["date"]:
        words.pop()
    phrase = " ".join(words)
    return span._replace(end=span.start + len(phrase), value=phrase)


def _is_in_question(text: str, want: ExpectedAnswer) -> bool:
    """Whether the question has all content words of a span."""
    words = [token for token in tokenize(text) if token.norm not in function_words()]
    return all(token.norm in want.forms or token.lemma in want.forms for token in words)


def _names(text: str, tokens: tuple[Token, ...]) -> Iterator[Span]:
    """Sequences of capitalised words, with small words within ("of the"). The first word of a sentence begins a name
    only if it is no function word and the next word is capitalised."""
    small_words = word_list("texts", "inside_names")
    i = 0
    while i < len(tokens):
        if not _begins_name(tokens, i):
            i += 1
            continue
        last = i
        j = i + 1
        while j < len(tokens) and text[tokens[j - 1].end : tokens[j].start] in _NAME_JOINTS:
            if tokens[j].text[0].isupper() or (tokens[j].text[0].isdigit() and j == last + 1):
                last = j
            elif tokens[j].text not in small_words or j - last > _MAX_SMALL_WORDS:
                break
            j += 1
        yield Span(tokens[i].start, tokens[last].end, "name", text[tokens[i].start : tokens[last].end])
        i = last + 1


def _begins_name(tokens: tuple[Token, ...], i: int) -> bool:
    if not tokens[i].text[0].isupper():
        return False
    return i > 0 or (tokens[0].norm not in function_words() and len(tokens) > 1 and tokens[1].text[0].isupper())


def _phrases_after(text: str, kind: str, want: ExpectedAnswer) -> Iterator[Span]:
    """The phrases after words that introduce an answer of a kind: "in Oslo", "called Emma"."""
    for match in _introduction(kind).finditer(text):
        start = match.end()
        if text[start : start + 1] in '“"‘':
            continue
        end = _phrase_end(text, start, kind)
        phrase = _strip_noun(text[start:end].strip(), want)
        start = text.find(phrase, start)
        words = tokenize(phrase)
        if kind == "name" and len(words) == 1 and words[0].text.islower() and not _has_noun_form(words[0]):
            # a verb form such as "are allowed" is no name
            continue
        if phrase and len(phrase.split()) <= MAX_PHRASE_WORDS:
            yield Span(start, start + len(phrase), f"{kind} {match[1].casefold()}", phrase)


def _strip_noun(phrase: str, want: ExpectedAnswer) -> str:
    """A name without the expected noun before it: "Ann Lee" of "the pilot Ann Lee"."""
    words = tokenize(phrase)
    rest = words[1:] if words and words[0].norm in WORDS["article"] else words
    return phrase[rest[1].start :] if len(rest) > 1 and rest[0].lemma in want.noun else phrase


def _listed_words(text: str, want: ExpectedAnswer, tokens: tuple[Token, ...]) -> Iterator[Span]:
    """Words of the closed list that the expected noun names, with the word that modifies them: "dark red"."""
    lists = phrase_map("texts", "closed_lists").items()
    known = frozenset(word for noun, words in lists if noun in want.noun for word in words)
    for i, token in enumerate(tokens):
        if token.norm in known:
            first = i
            while (
                first > 0
                and text[tokens[first - 1].end : tokens[first].start] == " "
                and _modifies(tokens[first - 1], token)
            ):
                first -= 1
                if token.text.islower():
                    break
            yield Span(tokens[first].start, token.end, "kind", text[tokens[first].start : token.end])


def _modifies(token: Token, colour: Token) -> bool:
    """Whether a word before the name of a colour belongs to it: "dark red", "Deep Ocean Blue"."""
    if token.norm in function_words() or token.text[0].isupper() != colour.text[0].isupper():
        return False
    return _has_noun_form(token) or token.text[0].isupper()


def _has_noun_form(token: Token) -> bool:
    """Whether a word has the form of a noun or adjective, not of a verb ("painted")."""
    return not token.norm.endswith(("ed", "ing")) and token.norm == token.lemma


def _phrases_beside_noun(text: str, want: ExpectedAnswer, tokens: tuple[Token, ...]) -> Iterator[Span]:
    """The words right before the expected noun ("a saffron funnel"), and the value after it in "noun: value"."""
    for i, token in enumerate(tokens):
        if token.lemma not in want.noun:
            continue
        if text[token.end : token.end + 2] == ": ":
            end = _phrase_end(text, token.end + 2, "row")
            yield Span(token.end + 2, end, "noun:", text[token.end + 2 : end].strip())
        j = i
        while j > 0 and tokens[j - 1].norm not in function_words() and text[tokens[j - 1].end : tokens[j].start] == " ":
            j -= 1
        while j < i and tokens[j].lemma in want.noun:
            j += 1
        if i - MAX_PHRASE_WORDS < j < i:
            phrase = text[tokens[j].start : tokens[i - 1].end]
            yield Span(tokens[j].start, tokens[i - 1].end, "before noun", phrase)


@cache
def _introduction(kind: str) -> re.Pattern[str]:
    words = sorted(phrase_map("texts", "before")[kind], key=len, reverse=True)
    return re.compile(rf"\b({'|'.join(map(re.escape, words))})\s+", re.IGNORECASE)


@cache
def _phrase_end_pattern(kind: str) -> re.Pattern[str]:
    """The end of a phrase of a kind; a reason goes on over conjunctions, the value of a row ends only at ";"."""
    ends = phrase_list("texts", "phrase_ends")
    if kind == "reason":
        ends = tuple(end for end in ends if not end.startswith(" "))
    if kind == "row":
        ends = (";",)
    return re.compile("|".join(re.escape(end) if end != "." else r"\.(?!\d|\w)" for end in ends))


def _phrase_end(text: str, start: int, kind: str) -> int:
    end = _phrase_end_pattern(kind).search(text, start)
    return end.start() if end else len(text.rstrip(" ."))


@cache
def _clause_pattern() -> re.Pattern[str]:
    words = [
        rf"\s{re.escape(each)}\s" if each[0].isalpha() else re.escape(each)
        for each in phrase_list("texts", "clause_starts")
    ]
    return re.compile("|".join(f"{word}(?=\\s|\\w)" if word[-1] != "s" else word for word in words), re.IGNORECASE)


_YEAR = re.compile(r"(?<![\w.,:])(1[0-9]\d\d|20\d\d)(?![\w:]|,\d|\.\d)")
_MAX_DAYS_OF_MONTH = 31

# characters after a number in which "of" and a noun may follow
_MAX_OF_PHRASE = 40


def date_spans(text: str) -> Iterator[Span]:
    """Days and months as ISO dates, years as numbers."""
    periods = find_periods(text)
    for period in periods:
        yield Span(period.start, period.end, "date", _iso_date(period.first, period.after))
    for match in _YEAR.finditer(text):
        if not any(period.start <= match.start() < period.end for period in periods):
            yield Span(match.start(), match.end(), "year", int(match[1]))


def time_spans(text: str) -> Iterator[Span]:
    """Times of day as they are written."""
    for match in (*pattern("texts", "clock_time").finditer(text), *pattern("texts", "hour").finditer(text)):
        yield Span(match.start(), match.end(), "time", " ".join(match[0].split()))


def number_spans(text: str, want: ExpectedAnswer) -> Iterator[Span]:
    """Numbers in digits or words that may be the expected answer, with their units."""
    clock_times = pattern("texts", "clock_time").finditer(text)
    dates = [(p.start, p.end) for p in find_periods(text)] + [match.span() for match in clock_times]
    for amount in [*find_amounts(text), *_amounts_in_words(text)]:
        if any(start <= amount.start < end for start, end in dates):
            continue
        how = _fit(amount, want) or _count_of_noun(text, amount, want)
        if how:
            yield Span(amount.start, amount.end, how, _number(amount.value), amount.unit)


def labelled_number_spans(text: str, want: ExpectedAnswer, tokens: tuple[Token, ...]) -> Iterator[Span]:
    """Numbers right after the noun of the expected answer: "version 3.2"."""
    for token, following in pairwise(tokens):
        if token.lemma in want.noun and following.norm[0].isdigit() and text[token.end : following.start] == " ":
            for amount in find_amounts(following.text):
                yield Span(following.start, following.end, "numbered", _number(amount.value))


def parse_number_span(span: Span, text: str) -> Span:
    """A span whose phrase is a number with its unit has that number as its value; others stay."""
    if not isinstance(span.value, str) or not span.value[:1].isdigit() or span.how in ("date", "time", "quoted"):
        return span
    phrase = text[span.start : span.end]
    amounts = find_amounts(phrase)
    if len(amounts) != 1 or (amounts[0].start, amounts[0].end) != (0, len(phrase)):
        return span
    return span._replace(value=_number(amounts[0].value), unit=amounts[0].unit)


def _iso_date(first: str, after: str) -> str:
    """The ISO date of a day or a month, or the decade.

    >>> _iso_date("1998-03-14", "1998-03-15"), _iso_date("2016-11-01", "2016-12-01")
    ('1998-03-14', '2016-11')
    """
    days = (date.fromisoformat(after) - date.fromisoformat(first)).days
    return first if days == 1 else first[:7] if days <= _MAX_DAYS_OF_MONTH else f"{first[:3]}0s"


@cache
def _number_words() -> re.Pattern[str]:
    words = sorted((w for w in english_data()["numbers"] if w not in ("once", "twice")), key=len, reverse=True)
    return re.compile(rf"\b(?:{'|'.join(words)})\b(?:\s+(?P<unit>[^\W\d_]+))?", re.IGNORECASE)


def _amounts_in_words(text: str) -> Iterator[Amount]:
    """Numbers in words with their units."""
    for match in _number_words().finditer(text):
        word, following = match[0].split()[0].casefold(), match["unit"] or ""
        amounts = find_amounts(f"{english_data()['numbers'][word]} {following}")
        if amounts:
            end = match.end() if amounts[0].unit else match.start() + len(word)
            yield amounts[0]._replace(start=match.start(), end=end, after=following)


def _fit(amount: Amount, want: ExpectedAnswer) -> str:
    """How an amount fits the expected answer: "fitting" unit, another "measured" one, a bare "number", or "" not."""
    is_money = is_currency(amount.unit)
    if fold(amount.after) in word_list("texts", "power_words"):
        return "measured" if want.units is None else ""
    if want.kind == "count":
        return "" if is_money or amount.unit else "number"
    if want.units is None:
        return "measured" if amount.unit else "number"
    if not amount.unit:
        return "number"
    if is_money:
        return "fitting" if "currency" in want.units else ""
    fits = any(unit and unit != "currency" and convert_unit(1.0, amount.unit, unit) is not None for unit in want.units)
    return "fitting" if fits else "measured" if "" in want.units else ""


def _count_of_noun(text: str, amount: Amount, want: ExpectedAnswer) -> str:
    """ "number" for a measure of the counted noun: "300 kg of apples"; else ""."""
    after = tokenize(text[amount.end : amount.end + _MAX_OF_PHRASE])[:2]
    is_of_noun = want.kind == "count" and len(after) == 2 and after[0].norm == "of" and after[1].lemma in want.noun
    return "number" if is_of_noun else ""


def _number(value: float) -> Value:
    return int(value) if value.is_integer() else round(value, 9)


# common first letters of two words that may be forms of one word (given)
STEM_LETTERS = 5


@lru_cache(256)
def expected_answer(question: str) -> ExpectedAnswer:
    """The expected answer of a question, by its words.

    >>> answer = expected_answer("How many seats does the hall have?")
    >>> answer.kind, sorted(answer.noun), [word.stem for word in answer.words]
    ('count', ['seat'], ['seat', 'hall'])
    """
    text = strip_courtesy(question).strip()
    kind = next((kind for kind, expression in _answer_kinds() if expression.search(fold(text))), "thing")
    tokens = tokenize(text)
    opening = pattern("texts", "question_word").search(text) if kind != "yes_no" else None
    units, noun, spent = _units_and_noun(kind, tokens, opening.start() if opening else 0)
    if kind == "degree":
        kind = "amount"
    light = function_words() | WORDS["filler"] | WORDS["calling"]
    words = tuple(
        _question_word(token, first=i == 0)
        for i, token in enumerate(tokens)
        if token.norm not in light and i not in spent
    )
    forms = frozenset(form for token in tokens for form in (token.norm, token.lemma))
    past = any(token.norm in word_list("texts", "past_auxiliaries") for token in tokens)
    superlative = has_superlative_word(tokens)
    return ExpectedAnswer(cast(AnswerKind, kind), units, noun, words, forms, is_negated(fold(text)), past, superlative)


def expect_described_thing(clause: str) -> ExpectedAnswer:
    """The expected answer of a clause about a thing ("that has a library"): the thing."""
    return expected_answer(clause)._replace(kind="described", noun=frozenset(), units=None, negated=False)


def is_negated(text: str) -> bool:
    """Whether a folded text has an odd number of negations.

    >>> is_negated("dogs may come along"), is_negated("on all others they can't")
    (False, True)
    """
    negations = word_list("texts", "negating") | word_list("texts", "denying")
    return sum(word in negations for word in re.findall(r"[\w']+", text)) % 2 == 1


def has_superlative_word(tokens: Iterable[Token]) -> bool:
    """Whether one of the words is a superlative, or a word such as "most".

    >>> has_superlative_word(tokenize("the longest river")), has_superlative_word(tokenize("a long river"))
    (True, False)
    """
    known = word_list("texts", "superlative_words")
    return any(
        token.norm in known or ((own := gradable_adjective(token)) and own.degree == "superlative") for token in tokens
    )


def is_same_word(word: QuestionWord, token: Token) -> bool:
    """Whether a word of a text is a word of the question, by its form, a synonym or its stem."""
    if token.norm in word.forms or token.lemma in word.forms:
        return True
    if word.name or len(word.stem) < STEM_LETTERS or len(token.lemma) < STEM_LETTERS:
        return False
    common = 0
    for one, other in zip(word.stem, token.lemma, strict=False):
        if one != other:
            break
        common += 1
    return common >= STEM_LETTERS and common * 3 >= 2 * max(len(word.stem), len(token.lemma)) - 2


@cache
def _answer_kinds() -> tuple[tuple[str, re.Pattern[str]], ...]:
    kinds = phrase_map("texts", "answer_kinds").items()
    return tuple((kind, re.compile("|".join(expressions))) for kind, expressions in kinds)


def _question_word(token: Token, *, first: bool) -> QuestionWord:
    is_name = any(map(str.isdigit, token.text)) or (token.text[0].isupper() and not first)
    forms = frozenset((token.norm, token.lemma)) if is_name else synonyms(token.lemma) | {token.norm}
    return QuestionWord(forms, token.lemma, is_name)


def _units_and_noun(
    kind: str, tokens: list[Token], opening: int
) -> tuple[tuple[str, ...] | None, frozenset[str], set[int]]:
    """The units of the answer, the lemmas of its noun, and the words that only tell the kind of answer. `opening` is
    the place of the question word in characters."""
    at = next((i for i, token in enumerate(tokens) if token.start >= opening), 0)
    following = tokens[at + 1] if at + 1 < len(tokens) else None
    costing = word_list("texts", "costing")
    if kind in ("degree", "amount") and any(token.norm in costing for token in tokens):
        return ("currency",), frozenset(), {i for i, token in enumerate(tokens) if token.norm in costing}
    if following is None:
        return None, frozenset(), set()
    if kind == "degree":
        degree = gradable_adjective(following)
        concepts = degree.concepts if degree else ()
        return _units(concepts), frozenset((following.lemma, *concepts)), {at + 1}
    if kind in ("count", "amount") and tokens[at].norm == "how":
        return (("",) if kind == "count" else None), _lemmas(_noun_phrase(tokens, at + 2)), set()
    if kind == "name":
        lemmas = _lemmas(_noun_phrase(tokens, at + 1) or _attribute(tokens, at + 1))
        return _units(lemmas), lemmas, set()
    if kind == "person":
        return None, _lemmas(_attribute(tokens, at + 1)), set()
    if kind in ("date", "time", "place") and following.start and tokens[at].norm in ("what", "which"):
        return None, frozenset(), {at + 1}
    return None, frozenset(), set()


def _noun_phrase(tokens: Sequence[Token], start: int) -> Sequence[Token]:
    """The words from a place up to the next function word."""
    end = next((i for i in range(start, len(tokens)) if tokens[i].norm in function_words()), len(tokens))
    return tokens[start:end]


def _attribute(tokens: Sequence[Token], start: int) -> Sequence[Token]:
    """The noun phrase after a form of "to be" and an article: "is the price of"."""
    skipped = WORDS["being"] | WORDS["article"]
    at = start
    while at < len(tokens) and tokens[at].norm in skipped:
        at += 1
    return _noun_phrase(tokens, at) if at > start else []


def _lemmas(phrase: Sequence[Token]) -> frozenset[str]:
    return frozenset(token.lemma for token in phrase[:3])


def _units(concepts: Iterable[str]) -> tuple[str, ...] | None:
    """The units of measures; None if the concepts are no measures."""
    names = {concept.strip("-") for concept in concepts}
    units = [unit for unit, measures in phrase_map("texts", "measures_of_unit").items() if names & set(measures)]
    return tuple(units) or None
