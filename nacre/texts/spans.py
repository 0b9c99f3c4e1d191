"""Which stretches of a sentence may be an answer: sentence + ExpectedAnswer -> Spans."""

import re
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache

from nacre.language.base import language
from nacre.language.thesaurus import function_words
from nacre.language.tokens import Token, tokenize
from nacre.texts.expected_answer import ExpectedAnswer, is_same_word
from nacre.texts.value_spans import Span, date_spans, labelled_number_spans, number_spans, parse_number_span, time_spans

# a phrase is an answer up to so many words (given)
MAX_PHRASE_WORDS = 12
MAX_SPANS = 24
_QUOTED = re.compile(r"[“\"‘«]([^“”\"‘’«»]{1,80})[”\"’»]")


@lru_cache(4096)
def clause_starts(text: str) -> tuple[int, ...]:
    """Where the parts of a sentence begin: clauses, and what a colon introduces.

    >>> text = "A is red; B, which is old, is blue."
    >>> [text[a:b] for a, b in zip(clause_starts(text), (*clause_starts(text)[1:], None))]
    ['A is red', '; B', ', which is old, is blue.']
    """
    return (0, *(match.start() for match in _parts().finditer(text) if match.start()))


def find_answer_spans(text: str, want: ExpectedAnswer, said: tuple[Token, ...]) -> list[Span]:
    """What may be the answer in a sentence, whose words are `said`; nothing that the question says itself."""
    found: list[Span] = []
    if want.kind in ("date", "time"):
        found += [] if want.kind == "time" else date_spans(text)
        # what happened once has a date, what happens again and again a time of the day as well
        found += [] if want.past and want.kind == "date" else time_spans(text)
    elif want.kind in ("count", "amount"):
        found += number_spans(text, want)
    elif want.kind == "person":
        found += _names(text, said)
    elif want.kind == "place":
        found += _after(text, "place", want)
        found += _names(text, said)
    elif want.kind == "reason":
        found += _after(text, "reason", want)
    elif want.kind == "name":
        if want.units is not None:
            found += number_spans(text, want)
        found += [
            *_quoted(text),
            *labelled_number_spans(text, want, said),
            *_of_kind(text, want, said),
            *_names(text, said),
        ]
        found += [*_after(text, "name", want), *_of_noun(text, want, said)]
    elif want.kind == "thing":
        found += [*number_spans(text, want), *date_spans(text), *_names(text, said), *_after(text, "name", want)]
    kept: dict[tuple[int, int], Span] = {}
    timed = [] if want.kind in ("date", "time", "count", "amount") else [*date_spans(text), *time_spans(text)]
    quotes = [(match.start(1), match.end(1)) for match in _QUOTED.finditer(text)]
    for span in (parse_number_span(_undated(each, text, timed), text) for each in found):
        within = any(a <= span.start < b and span.how != "quoted" for a, b in quotes)
        if span.end > span.start and not within and not _is_said(text[span.start : span.end], want):
            kept.setdefault((span.start, span.end), span)
    return list(kept.values())[:MAX_SPANS]


def is_affirmative(text: str) -> bool:
    """Whether a part of a sentence affirms what it says.

    >>> is_affirmative("Dogs may come along"), is_affirmative("on all others they can't")
    (True, False)
    """
    denials = sum(word in _denials() for word in re.findall(r"[\w']+", text.casefold().replace("’", "'")))
    return denials % 2 == 0


@cache
def _denials() -> frozenset[str]:
    phrases = language().phrases
    return frozenset(f"{phrases['negating']} {phrases['denying']}".split())


def _undated(span: Span, text: str, dates: Iterable[Span]) -> Span:
    """A phrase without the date at its end, and nothing where it begins with one."""
    if not isinstance(span.value, str):
        return span
    end = min((each.start for each in dates if each.start < span.end and span.start < each.end), default=span.end)
    if end == span.end:
        return span
    words = text[span.start : max(span.start, end)].rstrip(" ,").split()
    while words and words[-1].casefold() in language().phrases["before"]["date"]:
        words.pop()
    said = " ".join(words)
    return span._replace(end=span.start + len(said), value=said)


def _is_said(text: str, want: ExpectedAnswer) -> bool:
    """Whether the question itself has all words of a span."""
    words = [token for token in tokenize(text) if token.norm not in function_words()]
    return all(token.norm in want.asked or token.lemma in want.asked for token in words)


def _names(text: str, said: tuple[Token, ...]) -> Iterator[Span]:
    """Runs of words that begin with a capital letter, with small ones within ("of the"); the first word of a sentence
    only where it is no common word."""
    inside = frozenset(language().phrases["inside"].split())
    i = 0
    while i < len(said):
        if not _is_capital(said, i):
            i += 1
            continue
        last = i
        j = i + 1
        while j < len(said) and text[said[j - 1].end : said[j].start] in (" ", "-", ". ", "'", "’s ", "'s "):
            if said[j].text[0].isupper() or (said[j].text[0].isdigit() and j == last + 1):
                last = j
            elif said[j].text not in inside or j - last > 2:
                break
            j += 1
        yield Span(said[i].start, said[last].end, "name", text[said[i].start : said[last].end])
        i = last + 1


def _is_capital(said: tuple[Token, ...], i: int) -> bool:
    if not said[i].text[0].isupper():
        return False
    return i > 0 or (said[0].norm not in function_words() and len(said) > 1 and said[1].text[0].isupper())


def _quoted(text: str) -> Iterator[Span]:
    for match in _QUOTED.finditer(text):
        yield Span(match.start(1), match.end(1), "quoted", match[1].strip(" .,"))


def _without_noun(phrase: str, want: ExpectedAnswer) -> str:
    """A name without what it is the name of: "the pilot Ann Lee", where a pilot is asked for."""
    words = tokenize(phrase)
    rest = words[1:] if words and words[0].norm in language().words["article"] | {"the"} else words
    return phrase[rest[1].start :] if len(rest) > 1 and rest[0].lemma in want.noun else phrase


def _after(text: str, kind: str, want: ExpectedAnswer) -> Iterator[Span]:
    """The phrases after the words that stand before such an answer."""
    for match in _before(kind).finditer(text):
        start = match.end()
        if text[start : start + 1] in '“"‘':
            continue
        end = _phrase_end(text, start, kind)
        phrase = _without_noun(text[start:end].strip(), want)
        start = text.find(phrase, start)
        only = tokenize(phrase)
        if kind == "name" and len(only) == 1 and only[0].text.islower() and not _is_noun(only[0]):
            # "are allowed" names nothing
            continue
        if phrase and len(phrase.split()) <= MAX_PHRASE_WORDS:
            yield Span(start, start + len(phrase), f"{kind} {match[1].casefold()}", phrase)


def _of_kind(text: str, want: ExpectedAnswer, said: tuple[Token, ...]) -> Iterator[Span]:
    """The words for what is of the kind that is asked for, with one that shades them: "dark red"."""
    known = frozenset(
        " ".join(words for kind, words in language().phrases["kinds"].items() if kind in want.noun).split()
    )
    for i, token in enumerate(said):
        if token.norm in known:
            first = i
            while (
                first > 0 and text[said[first - 1].end : said[first].start] == " " and _shades(said[first - 1], token)
            ):
                first -= 1
                if token.text.islower():
                    break
            yield Span(said[first].start, token.end, "kind", text[said[first].start : token.end])


def _shades(token: Token, named: Token) -> bool:
    """Whether a word before the name of a colour belongs to it: "dark red", "Deep Ocean Blue"."""
    if token.norm in function_words() or token.text[0].isupper() != named.text[0].isupper():
        return False
    return _is_noun(token) or token.text[0].isupper()


def _is_noun(token: Token) -> bool:
    """Whether a word has the form of a noun or adjective, not that of a verb ("painted")."""
    return not token.norm.endswith(("ed", "ing")) and token.norm == token.lemma


def _of_noun(text: str, want: ExpectedAnswer, said: tuple[Token, ...]) -> Iterator[Span]:
    """What stands right before the noun that is asked for ("a saffron funnel"), or in "noun: value" right after it."""
    for i, token in enumerate(said):
        if token.lemma not in want.noun:
            continue
        if text[token.end : token.end + 2] == ": ":
            end = _phrase_end(text, token.end + 2, "row")
            yield Span(token.end + 2, end, "noun:", text[token.end + 2 : end].strip())
        j = i
        while j > 0 and said[j - 1].norm not in function_words() and text[said[j - 1].end : said[j].start] == " ":
            j -= 1
        while j < i and said[j].lemma in want.noun:
            j += 1
        if i - MAX_PHRASE_WORDS < j < i:
            yield Span(said[j].start, said[i - 1].end, "before noun", text[said[j].start : said[i - 1].end])


@cache
def _before(kind: str) -> re.Pattern[str]:
    words = sorted(language().phrases["before"][kind], key=len, reverse=True)
    return re.compile(rf"\b({'|'.join(map(re.escape, words))})\s+", re.IGNORECASE)


@cache
def _ends(kind: str) -> re.Pattern[str]:
    found = language().phrases["ends"]
    if kind == "reason":
        found = [each for each in found if not each.startswith(" ")]
    if kind == "row":
        found = [";"]
    patterns = [re.escape(each) if each != "." else r"\.(?!\d|\w)" for each in found]
    return re.compile("|".join(patterns))


def _phrase_end(text: str, start: int, kind: str) -> int:
    end = _ends(kind).search(text, start)
    return end.start() if end else len(text.rstrip(" ."))


@cache
def _parts() -> re.Pattern[str]:
    words = [
        rf"\s{re.escape(each)}\s" if each[0].isalpha() else re.escape(each) for each in language().phrases["parts"]
    ]
    return re.compile("|".join(f"{word}(?=\\s|\\w)" if word[-1] != "s" else word for word in words), re.IGNORECASE)


def match_question_words(said: tuple[Token, ...], want: ExpectedAnswer) -> dict[int, list[int]]:
    """For each word of the question, by its place among `words`, where the sentence says it."""
    found: dict[int, list[int]] = {}
    for i, word in enumerate(want.words):
        places = [j for j, token in enumerate(said) if is_same_word(word, token)]
        if places:
            found[i] = places
    return found
