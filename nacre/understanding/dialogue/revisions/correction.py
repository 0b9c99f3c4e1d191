"""Correct the last question: "no, I meant Y" + earlier turns -> the last question with Y in it."""

import re
from collections.abc import Sequence

from nacre.language.base import language, word_map
from nacre.language.thesaurus import gradable_adjective
from nacre.language.tokens import Token, tokenize
from nacre.records.turn import EarlierTurn, Rewrite
from nacre.understanding.dialogue.references.pronouns import mentioned_things
from nacre.understanding.dialogue.revisions.change_plan import bound_earlier_things, change_earlier_plan
from nacre.understanding.dialogue.revisions.ellipsis import (
    is_elliptic,
    is_standalone,
    substitute_thing,
    substitute_value,
)
from nacre.understanding.dialogue.revisions.follow_up import change_kind
from nacre.understanding.dialogue.revisions.plan_revisions import (
    substitute_in_plan,
)
from nacre.understanding.linking.linker import Linker

# A longer turn that begins with "no" or "sorry" is a question of its own (given).
MAX_CORRECTION_TOKENS = 8
_NUMBER = re.compile(r"[0-9][0-9.,]*")


def parse_correction(question: str) -> tuple[str, bool] | None:
    """The corrected phrase, and whether the turn is certainly a correction. None if it is not one.

    >>> parse_correction("no, I meant Lisbon"), parse_correction("no, not Porto but Lisbon")
    (('Lisbon', True), ('Lisbon', True))
    >>> parse_correction("no departments"), parse_correction("Who works in Lisbon?")
    (('departments', False), None)
    """
    if len(tokenize(question)) > MAX_CORRECTION_TOKENS:
        return None
    patterns = language().dialogue
    lead, end = patterns["correction"].match(question), patterns["correction_after"].search(question)
    if lead is None and end is None:
        return None
    phrase = question[lead.end() if lead else 0 : end.start() if end else len(question)].strip()
    contrast = patterns["contrast"].match(phrase)
    if contrast is not None:
        phrase = contrast["new"] or contrast["named"]
    if not phrase:
        return None
    return phrase, end is not None or bool(lead and lead["clear"])


def correct_last_question(phrase: str, earlier: tuple[EarlierTurn, ...], linker: Linker) -> Rewrite | None:
    """The last question about another thing, value or class, or for another property or bound. None if the phrase is a
    question of its own."""
    words = tokenize(phrase)
    if any(t.norm in language().words["question_words"] for t in words):
        return None
    substituted = _substitute(phrase, words, earlier, linker)
    if substituted is not None:
        return substituted
    if language().dialogue["bounding"].match(phrase.casefold()):
        return bound_earlier_things(phrase, earlier, linker)
    if not _is_fully_linked(words, linker) and not any(gradable_adjective(t) for t in words):
        return _substitute_unknown(phrase, earlier[-1], linker)
    how = change_kind(f"{word_map('dialogue', 'standalone')['and']} {phrase}", earlier[-1])
    changed = change_earlier_plan(phrase, earlier, linker, how) if how else None
    if changed is None and not mentioned_things(linker, words):
        return change_earlier_plan(phrase, earlier, linker, "correct")
    return changed


def _substitute(
    phrase: str, words: Sequence[Token], earlier: tuple[EarlierTurn, ...], linker: Linker
) -> Rewrite | None:
    """The last question with the thing, value, class, time or number of the phrase in place of one of its kind."""
    if not words:
        return None
    last, things = earlier[-1], mentioned_things(linker, words)
    found = substitute_in_plan(phrase, earlier, linker)
    if found is None and things and is_elliptic(phrase, words, things):
        found = substitute_thing(phrase, earlier, linker)
    return (
        found
        or substitute_value(phrase, earlier, linker, instead=True)
        or _substitute_number(phrase, last)
        or _replace_unknown(phrase, words, last, linker)
        or substitute_in_plan(phrase, earlier, linker, always=True)
    )


def _substitute_number(phrase: str, last: EarlierTurn) -> Rewrite | None:
    """The last question with its only number replaced by the phrase, if that is a number."""
    numbers = list(_NUMBER.finditer(last.standalone))
    if not _NUMBER.fullmatch(phrase) or len(numbers) != 1 or not is_standalone(last):
        return None
    start, end = numbers[0].span()
    return Rewrite(last.standalone[:start] + phrase + last.standalone[end:], True)


def _replace_unknown(phrase: str, words: Sequence[Token], last: EarlierTurn, linker: Linker) -> Rewrite | None:
    """The last question with its unknown name replaced by a phrase that is known."""
    old = tokenize(last.standalone)
    linked = {i for c in linker.link(old) for i in c.covered}
    unknown = [i for i, t in enumerate(old) if i not in linked and t.norm not in linker.stopwords and _is_name(t)]
    is_one_name = unknown and unknown[-1] - unknown[0] + 1 == len(unknown)
    if not is_one_name or not _is_fully_linked(words, linker) or not is_standalone(last):
        return None
    return _replace_words(last, old, unknown[0], unknown[-1] + 1, phrase)


def _substitute_unknown(phrase: str, last: EarlierTurn, linker: Linker) -> Rewrite | None:
    """The last question with its only name or value replaced by an unknown phrase, so that the answer can say that the
    phrase is not known."""
    words = tokenize(last.standalone)
    links = linker.link(words)
    labels = {(c.start, c.end) for c in links if c.kind in ("class", "predicate") and c.exact}
    values = [c for c in links if c.kind == "value" and c.exact]
    names = {(c.start, c.end) for c in (*mentioned_things(linker, words), *values)} - labels
    longest = [s for s in names if not any(a <= s[0] and s[1] <= b and (a, b) != s for a, b in names)]
    if len(longest) != 1 or not is_standalone(last):
        return None
    return _replace_words(last, words, *longest[0], phrase)


def _is_fully_linked(words: Sequence[Token], linker: Linker) -> bool:
    """Whether each content word names something of the graph."""
    linked = {i for c in linker.link(words) for i in c.covered}
    return all(i in linked or t.norm in linker.stopwords for i, t in enumerate(words))


def _is_name(token: Token) -> bool:
    return token.start > 0 and token.text[:1].isupper()


def _replace_words(last: EarlierTurn, words: Sequence[Token], start: int, end: int, phrase: str) -> Rewrite:
    """The last question with a span of words replaced. An article or preposition before it is not repeated."""
    new = tokenize(phrase)
    while start and new and words[start - 1].norm == new[0].norm:
        phrase = phrase[new[0].end :].strip()
        new = tokenize(phrase)
    text = last.standalone
    return Rewrite(text[: words[start].start] + phrase + text[words[end - 1].end :], True)
