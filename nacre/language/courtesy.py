"""Blank what only makes a question polite: question -> the same text with spaces where it asks nothing."""

import re
from itertools import pairwise

from nacre.language.base import language
from nacre.language.thesaurus import english_data, function_words
from nacre.language.tokens import tokenize

_PAUSE = re.compile(r"[,.:;!?]+(?=\s|$)|\s[-–—]+(?=\s)")
_ASKING = (
    r"(?:what|whats|which|who|whom|whose|where|when|how|is|are|was|were|do|does|did|has|have|can|if|whether"
    r"|(?:in|of|for|on|at|by|to|from) (?:which|what|whom))"
)
_GREETING = re.compile(
    r"^\s*(?:hi|hello|hey|hiya|greetings|good (?:morning|afternoon|evening|day)|thanks?|cheers|help)\b", re.I
)
# "could you tell me how ...", "i would like to know which ...": the question begins after it
_REQUEST = re.compile(
    r"^\s*(?:(?:please|so|and|well|ok|okay)\s+)?"
    r"(?:(?:could|can|would|will)\s+you\s+(?:please\s+|kindly\s+|possibly\s+)?(?:mind\s+)?|"
    r"(?:i\s*(?:'d|\swould)?\s+(?:\w+\s+)?(?:like|love|want|need|wish)\s+(?:you\s+)?to\s+)|"
    r"(?:i\s*(?:'m|\sam|\swas)?\s+(?:just\s+|only\s+)?)|(?:do|did|would)\s+you\s+(?:happen\s+to\s+|by chance\s+)?|"
    r"(?:i\s*'d\s+be\s+\w+\s+to\s+)|(?:any(?:one|body)?\s+)|(?:please\s+)|(?:help me\s+))?"
    r"(?:tell(?:ing)?\s+me|know|find\s+out|hear|learn|see|say|wonder(?:ing)?|curious|asking|idea|explain\s+to\s+me)\s+"
    r"(?:please\s+|about\s+)?(?:if\s+|whether\s+)?(?=" + _ASKING + r"\b)",
    re.IGNORECASE,
)
# why somebody asks: "for our accountant I need ...", "we are planning a trip, so which ..."; the question comes after
_REASON = re.compile(
    r"^\s*(?:for\s+\w+\s+[^,.;:?!]{1,60}?,?\s+(?:i|we)(?:\s*'d|\s+would|\s*'m|\s*'re|\s+am|\s+are)?\s+"
    r"(?:need|want|like|looking\s+for|require)\s+(?:to\s+(?:see|have|get|know)\s+)?"
    r"|(?:i|we|my|our)\b[^?!]{3,160}?[,;.]\s*(?:so|and|therefore|hence|now)?,?\s+(?=" + _ASKING + r"\b))",
    re.IGNORECASE,
)


def strip_courtesy(question: str) -> str:
    """The question with greetings, thanks and requests blanked; places in it stay what they were.

    >>> strip_courtesy("Hi there, could you tell me who wrote Emma? Thanks!").split()
    ['who', 'wrote', 'Emma?']
    """
    text = question
    pauses = [m.end() for m in _PAUSE.finditer(text)]
    for end in pauses:
        # clause by clause from the front, as long as they say nothing
        if not _empty(text[:end]) or not text[end:].strip():
            break
        text = " " * end + text[end:]
    for end in reversed(pauses):
        tail = text[end:]
        if not tail.strip():
            continue
        if not _empty(tail) or _asks(tail) or not text[:end].strip():
            break
        text = text[:end] + " " * len(tail)
    asked = _REQUEST.match(text)
    text = " " * asked.end() + text[asked.end() :] if asked else text
    return _without_place(text)


def reason_end(question: str) -> int:
    """Where the question begins that somebody first says the reason of; 0 where none is said.

    >>> text = "We are moving a piano, so which doors are wide enough?"
    >>> text[reason_end(text):]
    'which doors are wide enough?'
    """
    said = _REASON.match(question)
    return said.end() if said is not None else 0


def _without_place(question: str) -> str:
    """The question without a last "in this graph", where more than that is asked."""
    folded = question.casefold()
    place = language().patterns["place"].search(folded)
    if place is None or len(folded) != len(question):
        return question
    empty = function_words() | language().words["filler"] | language().words["whole"]
    if all(t.norm in empty or t.lemma in empty for t in tokenize(question[: place.start()])):
        return question
    return question[: place.start()] + " " * (place.end() - place.start()) + question[place.end() :]


def is_greeting(question: str) -> bool:
    """Does somebody only say hello, thanks, bye, or that all is well?

    >>> is_greeting("Hello there!"), is_greeting("ok, thank you"), is_greeting("hi, who wrote Emma?")
    (True, True, False)
    """
    return _remark(question) or (bool(_GREETING.match(question)) and _empty(question))


def _remark(question: str) -> bool:
    words, said = language().words, {t.norm for t in tokenize(question)}
    telling = words["thanking"] | words["farewell"] | words["agreeing"]
    return bool(said & telling) and said <= telling | words["around_courtesy"]


def _asks(clause: str) -> bool:
    """Does a clause ask for an amount, or which: "and how much was it?", "which one?"?"""
    words, known = [t.norm for t in tokenize(clause)], language().words
    how_much = any(a in known["degree"] and b in known["how_much"] for a, b in pairwise(words))
    return how_much or words[0] in known["choosing_one"]


def _empty(clause: str) -> bool:
    """Is there nothing in a clause but courtesy, and at least one word of it?"""
    polite, light = frozenset(english_data()["courtesy"].split()), function_words()
    words = [t.norm for t in tokenize(clause)]
    if language().words["grouping"] & set(words):
        # "For each team, how many ..."
        return False
    return all(w in polite or w in light for w in words) and any(w in polite for w in words)
