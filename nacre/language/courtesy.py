"""Blank the polite parts of a question: question -> the same text with spaces in place of greetings and requests."""

import re
from functools import cache
from itertools import pairwise
from typing import Literal

from nacre.language.base import language, pattern, word_list
from nacre.language.thesaurus import function_words
from nacre.language.tokens import tokenize

_PAUSE = re.compile(r"(?<![,.:;!?])[,.:;!?]++(?=\s|$)|\s[-–—]++(?=\s)")


def strip_courtesy(question: str) -> str:
    """The question with greetings, thanks and requests blanked; all other characters keep their places.

    >>> strip_courtesy("Hi there, could you tell me who wrote Emma? Thanks!").split()
    ['who', 'wrote', 'Emma?']
    """
    text = _strip_clauses(question)
    request = _pattern("request").match(text)
    text = " " * request.end() + text[request.end() :] if request else text
    return _strip_graph_phrase(text)


def reason_end(question: str) -> int:
    """Where the question begins after a reason for asking it; 0 without a reason.

    >>> text = "We are moving a piano, so which doors are wide enough?"
    >>> text[reason_end(text):]
    'which doors are wide enough?'
    """
    reason = _pattern("reason").match(question)
    return reason.end() if reason is not None else 0


def unserved_request(question: str) -> Literal["", "action", "opinion"]:
    """What a turn wants that no graph gives: a deed, or an opinion; "" for a question.

    >>> [unserved_request(text) for text in ("Book me a seat", "Which seat do you prefer?", "Book titles by Ann")]
    ['action', 'opinion', '']
    """
    if _pattern("action").search(question):
        return "action"
    return "opinion" if _pattern("opinion").search(question) else ""


def _strip_clauses(question: str) -> str:
    """The question without polite clauses at its beginning and at its end."""
    text = question
    pauses = [m.end() for m in _PAUSE.finditer(text)]
    for end in pauses:
        if not _is_polite(text[:end]) or not text[end:].strip():
            break
        text = " " * end + text[end:]
    for end in reversed(pauses):
        tail = text[end:]
        if not tail.strip():
            continue
        if not _is_polite(tail) or _asks(tail) or not text[:end].strip():
            break
        text = text[:end] + " " * len(tail)
    return text


def _strip_graph_phrase(question: str) -> str:
    """The question without a final "in this graph", unless nothing else is asked."""
    folded = question.casefold()
    place = language().patterns["place"].search(folded)
    if place is None or len(folded) != len(question):
        return question
    empty = function_words() | language().words["filler"] | language().words["whole"]
    if all(t.norm in empty or t.lemma in empty for t in tokenize(question[: place.start()])):
        return question
    return question[: place.start()] + " " * (place.end() - place.start()) + question[place.end() :]


def _asks(clause: str) -> bool:
    """Whether a clause asks "how much" or "which"."""
    norms, words = [t.norm for t in tokenize(clause)], language().words
    how_much = any(a in words["degree"] and b in words["how_much"] for a, b in pairwise(norms))
    return how_much or norms[0] in words["choosing_one"]


def _is_polite(clause: str) -> bool:
    """Whether a clause has a polite word, and besides such words only function words."""
    polite, light = word_list("courtesy", "words"), function_words()
    norms = [t.norm for t in tokenize(clause)]
    if language().words["grouping"] & set(norms):
        # "For each team, how many ..."
        return False
    return all(w in polite or w in light for w in norms) and any(w in polite for w in norms)


@cache
def _pattern(name: str) -> re.Pattern[str]:
    return pattern("courtesy", name, question_start=pattern("courtesy", "question_start").pattern)
