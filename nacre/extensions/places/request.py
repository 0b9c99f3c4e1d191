"""What a question asks about distances: its text -> DistanceRequest, or None."""

from collections import Counter
from typing import Literal, NamedTuple

from nacre.language.data import language
from nacre.language.quantities import convert_unit
from nacre.language.thesaurus import function_words
from nacre.language.tokens import Token, tokenize
from nacre.records.schema import Class, Schema
from nacre.understanding.question.analyse import analyse_question
from nacre.understanding.question.records import Number, Question

NEAREST, FARTHEST = frozenset(("nearest", "closest")), frozenset(("farthest", "furthest"))

# words between a distance and the place that it is measured from
_FROM = frozenset(("of", "from", "to", "around"))

_BOUNDS = frozenset(("<", "<="))

# words of such questions that name nothing
_FILLER = frozenset(("far", "distance", "away", "radius", "located", "situated", "lie", "near", "apart"))


class DistanceRequest(NamedTuple):
    """What is asked: the `most` things nearest to a place, all within `limit` km of it, or how far two are apart. The
    place is named after character `after`; `used` are the tokens that say so, and `tokens` all that stand before."""

    kind: Literal["nearest", "farthest", "within", "between"]
    after: int
    used: frozenset[int]
    tokens: tuple[Token, ...]
    most: int = 1
    limit: float = 0.0

    @property
    def asks_number(self) -> bool:
        """Whether things are counted."""
        return [token.norm for token in self.tokens[:2]] == ["how", "many"]

    @property
    def asks_truth(self) -> bool:
        """Whether the answer is yes or no."""
        return bool(self.tokens) and self.tokens[0].norm in language().words["asking_yes_no"]


def distance_request(text: str) -> DistanceRequest | None:
    """What a question asks about distances.

    >>> distance_request("Which two mills are nearest to Elm Lock?")[:2], distance_request("Which mill is nearest?")
    (('nearest', 30), None)
    >>> distance_request("mills within 2 miles of Elm Lock").limit, distance_request("walks of 2 miles")
    (3.218688, None)
    """
    question = analyse_question(text)
    tokens = question.tokens
    words = [token.norm for token in tokens]
    if {"far", "distance"} & set(words) and {"from", "between", "to"} & set(words) and not question.numbers:
        at = min(words.index(each) for each in ("far", "distance") if each in words)
        return DistanceRequest("between", tokens[at].end, frozenset({at}), tuple(tokens[:at]))
    for number in question.numbers:
        limit = convert_unit(number.value, number.unit, "km") if number.unit else None
        if limit is not None and _is_bound(number, words) and words[number.end : number.end + 1]:
            first = next((i for i in range(number.end, len(words)) if words[i] in _FROM), len(words))
            if first - number.end <= 1 and first < len(words):
                used = frozenset(range(number.start, first + 1))
                return DistanceRequest("within", tokens[first].end, used, tuple(tokens[:first]), limit=limit)
    start = next((i for i, word in enumerate(words) if word in NEAREST | FARTHEST), len(words))
    to = next((i for i in range(start + 1, len(words)) if words[i] in ("to", "from")), None)
    if to is None:
        return None
    counts = {int(each.value) for each in question.numbers if not each.unit and each.end <= to and each.value >= 1}
    used = frozenset(
        {start, to, *(i for each in question.numbers if each.end <= to for i in range(each.start, each.end))}
    )
    kind: Literal["nearest", "farthest"] = "nearest" if words[start] in NEAREST else "farthest"
    return DistanceRequest(kind, tokens[to].end, used, tuple(tokens[:to]), min(counts, default=1))


def _is_bound(number: Number, words: list[str]) -> bool:
    """Whether a distance is an upper limit: "within 5 km", "in a radius of 5 km"."""
    return number.op in _BOUNDS or "radius" in words[max(0, number.start - 3) : number.start + 1]


def named_class(request: DistanceRequest, schema: Schema) -> tuple[Class | None, list[tuple[int, int]]]:
    """The class of which things are asked for, by the longest of its names or else by the last word of one, if no other
    class has it, and its place in the text."""
    tokens = request.tokens
    lemmas = [token.lemma for token in tokens]
    named = [
        (tuple(token.lemma for token in tokenize(label)), each)
        for each in schema.shown_classes
        for label in (each.label, *each.alt_labels)
    ]
    heads = Counter(head for head, _ in {(name[-1:], each.iri) for name, each in named})
    named += [(name[-1:], each) for name, each in named if heads[name[-1:]] == 1]
    found = [
        (len(name), start, each)
        for name, each in named
        for start in range(len(lemmas) - len(name) + 1)
        if name and tuple(lemmas[start : start + len(name)]) == name
    ]
    if not found:
        return None, []
    size, start, kind = max(found, key=lambda each: each[:2])
    return kind, [(tokens[start].start, tokens[start + size - 1].end)]


def unused_words(text: str, request: DistanceRequest, spans: list[tuple[int, int]]) -> list[Token]:
    """The words of a question that neither say what is asked nor name a thing or a class, whose places in the text are
    `spans`."""
    question: Question = analyse_question(text)
    return [
        token
        for i, token in enumerate(question.tokens)
        if i not in request.used
        and token.norm not in function_words() | _FILLER
        and not any(start <= token.start < end for start, end in spans)
    ]
