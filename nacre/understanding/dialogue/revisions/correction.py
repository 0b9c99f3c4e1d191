"""A turn that takes back what was said: "no, I meant Y" + the turns before it -> the last question with Y in it."""

import re
from collections.abc import Sequence

from nacre.language.base import language
from nacre.language.tokens import Token, tokenize
from nacre.records.turn import EarlierTurn, Rewrite
from nacre.understanding.dialogue.revisions.ellipsis import (
    is_elliptic,
    is_standalone,
    mentioned_things,
    substitute_in_plan,
    substitute_thing,
    substitute_value,
)
from nacre.understanding.linking.linker import Linker

# a longer turn that begins with "no" or "sorry" is a question of its own (given)
MAX_CORRECTION_TOKENS = 8
_NUMBER = re.compile(r"[0-9][0-9.,]*")


def parse_correction(question: str) -> tuple[str, bool] | None:
    """What is to be put in the place of what was said, and whether the turn can be nothing but a correction; None where
    it is none.

    >>> parse_correction("no, I meant Lisbon"), parse_correction("Lisbon, sorry"), parse_correction("no, not Porto but Lisbon")
    (('Lisbon', True), ('Lisbon', True), ('Lisbon', True))
    >>> parse_correction("no departments"), parse_correction("Who works in Lisbon?")
    (('departments', False), None)
    """
    if len(tokenize(question)) > MAX_CORRECTION_TOKENS:
        return None
    said = language().dialogue
    lead, end = said["correction"].match(question), said["correction_after"].search(question)
    if lead is None and end is None:
        return None
    phrase = question[lead.end() if lead else 0 : end.start() if end else len(question)].strip()
    beside = said["contrast"].match(phrase)
    if beside is not None:
        phrase = beside["new"] or beside["named"]
    if not phrase:
        return None
    return phrase, end is not None or bool(lead and lead["clear"])


def apply_correction(phrase: str, earlier: tuple[EarlierTurn, ...], linker: Linker) -> Rewrite | None:
    """The last question of the thing, value, kind, time or number that the phrase names in the place of one of its
    kind; None where the phrase is a question of its own, or names nothing that could stand there."""
    words = tokenize(phrase)
    things = mentioned_things(linker, words)
    if not words or any(t.norm in language().words["question_words"] for t in words):
        return None
    found = substitute_in_plan(phrase, earlier, linker)
    if found is None and things and is_elliptic(phrase, words, things):
        found = substitute_thing(phrase, earlier, linker)
    found = found or substitute_value(phrase, earlier, linker, instead=True) or _numbered(phrase, earlier[-1])
    return (
        found
        or _for_unknown(phrase, words, earlier[-1], linker)
        or substitute_in_plan(phrase, earlier, linker, always=True)
    )


def is_fully_linked(words: Sequence[Token], linker: Linker) -> bool:
    """Whether each word that says something names something of the graph."""
    covered = {i for c in linker.link(words) for i in c.covered}
    return all(i in covered or t.norm in linker.stopwords for i, t in enumerate(words))


def substitute_unknown(phrase: str, last: EarlierTurn, linker: Linker) -> Rewrite | None:
    """The last question with a phrase that names nothing here in the place of the one name or value that it has, so
    that what is not known is said of it."""
    words = tokenize(last.standalone)
    links = linker.link(words)
    kinds = {(c.start, c.end) for c in links if c.kind in ("class", "predicate") and c.exact}
    old = {
        (c.start, c.end)
        for c in (*mentioned_things(linker, words), *(c for c in links if c.kind == "value" and c.exact))
    } - kinds
    old = {at for at in old if not any(a <= at[0] and at[1] <= b and (a, b) != at for a, b in old)}
    if len(old) != 1 or not is_standalone(last):
        return None
    return _replaced(last, words, *old.pop(), phrase)


def _numbered(phrase: str, last: EarlierTurn) -> Rewrite | None:
    """The last question with its one number replaced by the phrase, which is one."""
    numbers = list(_NUMBER.finditer(last.standalone))
    if not _NUMBER.fullmatch(phrase) or len(numbers) != 1 or not is_standalone(last):
        return None
    start, end = numbers[0].span()
    return Rewrite(last.standalone[:start] + phrase + last.standalone[end:], True)


def _for_unknown(phrase: str, words: Sequence[Token], last: EarlierTurn, linker: Linker) -> Rewrite | None:
    """The last question with what named nothing in it replaced by a phrase that does."""
    old = tokenize(last.standalone)
    covered = {i for c in linker.link(old) for i in c.covered}
    unknown = [i for i, t in enumerate(old) if i not in covered and t.norm not in linker.stopwords and _is_name(t)]
    alone = unknown and unknown[-1] - unknown[0] + 1 == len(unknown)
    if not alone or not is_fully_linked(words, linker) or not is_standalone(last):
        return None
    return _replaced(last, old, unknown[0], unknown[-1] + 1, phrase)


def _is_name(token: Token) -> bool:
    return token.start > 0 and token.text[:1].isupper()


def _replaced(last: EarlierTurn, words: Sequence[Token], start: int, end: int, phrase: str) -> Rewrite:
    """The last question with some of its words replaced; an article or preposition before them is not said twice."""
    new = tokenize(phrase)
    while start and new and words[start - 1].norm == new[0].norm:
        phrase, new = phrase[new[0].end :].strip(), tokenize(phrase[new[0].end :].strip())
    text = last.standalone
    return Rewrite(text[: words[start].start] + phrase + text[words[end - 1].end :], True)
