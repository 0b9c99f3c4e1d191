"""The parts of a sentence that may be the answer: sentence + ExpectedAnswer -> Spans."""

import re
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache

from nacre.language.base import language, phrase_list, phrase_map, word_list
from nacre.language.thesaurus import function_words
from nacre.language.tokens import Token, tokenize
from nacre.texts.expected_answer import ExpectedAnswer, is_negated, is_same_word
from nacre.texts.value_spans import (
    Span,
    date_spans,
    labelled_number_spans,
    number_spans,
    parse_number_span,
    time_spans,
)

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
            yield from _quoted(text)
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
    """Sequences of capitalised words, with small words within ("of the").

    The first word of a sentence begins a name only if it is no function word and the next word is capitalised.
    """
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


def _quoted(text: str) -> Iterator[Span]:
    for match in _QUOTED.finditer(text):
        yield Span(match.start(1), match.end(1), "quoted", match[1].strip(" .,"))


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
    rest = words[1:] if words and words[0].norm in language().words["article"] else words
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
