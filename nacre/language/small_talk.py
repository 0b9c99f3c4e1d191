"""Questions that ask nothing of the data, and courtesies: text -> the nearest intent; text without courtesies."""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise
from math import log
from typing import Any, Literal, NamedTuple

from rapidfuzz import process
from rapidfuzz.distance import OSA

from nacre.language.data import WORDS, codes_with, load_language_data, pattern, word_list
from nacre.language.thesaurus import function_words
from nacre.language.tokens import Token, fold, is_known, language_function_words, tokenize

# Letters of a word that is compared with misspelt ones, and those of a word that may have two slips (given).
_MIN_LETTERS, _LONG = 4, 8

# Words that name the graph, with their determiner (given).
_MAX_NAME = 4

# Weight of a word that adds nothing to such questions, as a share of the rarest word's (given).
_LIGHT = 0.04

# Texts whose nearest paraphrases are kept (given): the rewriter and the parser compare the same parts of a turn.
_MAX_KEPT = 256


class OrientationMatch(NamedTuple):
    """The nearest paraphrase's intent and likeness (0..1), the words it lacks, and those that name the graph."""

    intent: str
    likeness: float
    rest: tuple[Token, ...]
    graph: tuple[Token, ...] = ()


@dataclass(frozen=True)
class _Vocabulary:
    """How the words of a language are compared."""

    code: str
    name: str  # the word for the graph
    same: Mapping[str, str]  # one word for all of the same meaning
    phrases: Mapping[str, tuple[tuple[tuple[str, ...], str], ...]]  # by their first word
    determiners: frozenset[str]  # with a noun of `graph`, they name the graph
    graph: frozenset[str]
    light: frozenset[str]  # words that add nothing
    contractions: Mapping[str, tuple[str, ...]]
    keys: frozenset[str]  # a paraphrase with one of these needs it
    owned: frozenset[str]  # after one of these another word may precede a noun of `core`
    core: frozenset[str]
    elided: frozenset[str]  # separate words: "l'idée"


@dataclass(frozen=True)
class _Paraphrases:
    """The paraphrases of a language: intent, words and their weight; the weights of words, and where each occurs."""

    vocabulary: _Vocabulary
    sets: tuple[tuple[str, frozenset[str], float], ...]
    weights: Mapping[str, float]
    places: Mapping[str, tuple[int, ...]]
    unseen: float


def nearest_intent(text: str) -> OrientationMatch | None:
    """The most similar paraphrase of a short text; None if it shares no word with any."""
    return _nearest_of_languages(tuple(tokenize(text)))[1]


def orientation_language(text: str) -> str:
    """The language of the paraphrase that a text is most like; English if others are not nearer."""
    return _nearest_of_languages(tuple(tokenize(text)))[0]


def threshold(*, is_loose: bool) -> float:
    """The minimum likeness; higher for a text that names nothing of the graph (`is_loose`) and other intents."""
    return float(_data("en")["loose_threshold" if is_loose else "threshold"])


def lead(intent: str) -> str:
    """What the answer to an intent says first, or ""."""
    return str(_data("en")["leads"].get(intent, ""))


def intents(kind: str) -> frozenset[str]:
    """The intents of a kind: "about_graph", "small_talk", "no_answer"."""
    return frozenset(_data("en")[kind].split())


def refers_back(text: str) -> bool:
    """Whether a text has a word that refers to earlier turns."""
    words, tokens = _data(orientation_language(text))["referring"].split(), tokenize(text)
    # "sie" refers back, and "Sie" is the person that is asked
    return not {token.text if at else token.text.lower() for at, token in enumerate(tokens)}.isdisjoint(words)


def asks_for_data(text: str, code: str = "en") -> bool:
    """Whether a text has a word that asks for something in a language: "which", "list"."""
    return any(token.norm in _asking_words(code) for token in tokenize(text))


def is_light(word: str) -> bool:
    """Whether a word adds nothing to these questions."""
    return word in _vocabulary("en").light or word in _question_words()


@cache
def _asking_words(code: str) -> frozenset[str]:
    data = _data(code)
    return frozenset(fold(f"{data['asking']} {data['same'][data['request']]} {data['request']}").split())


@cache
def _question_words() -> frozenset[str]:
    data = _data("en")
    return frozenset((*data["asking"].split(), *data["keys"].split(), *data["referring"].split()))


@lru_cache(_MAX_KEPT)
def _nearest_of_languages(tokens: tuple[Token, ...]) -> tuple[str, OrientationMatch | None]:
    best: tuple[str, OrientationMatch | None] = ("en", _nearest(tokens, _paraphrases("en")))
    said = {token.norm for token in tokens}
    function_words = {code: len(words & said) for code, words in language_function_words().items()}
    for code in (each for each in codes_with("orientation") if each != "en"):
        if function_words["en"] > function_words.get(code, 0):
            continue
        match = _nearest(tokens, _paraphrases(code))
        if match is not None and (best[1] is None or match.likeness > best[1].likeness):
            best = code, match
    return best


def _nearest(tokens: Sequence[Token], known: _Paraphrases) -> OrientationMatch | None:
    words = list(_compared_words(tokens, known.vocabulary, known.weights))
    own = {word for word, _ in words}
    total = sum(known.weights.get(word, known.unseen) for word in own)
    share = float(_data("en")["keyless_share"])
    shares: dict[int, float] = {}
    for word in sorted(own & known.places.keys()):
        weight = known.weights[word]
        for place in known.places[word]:
            shares[place] = shares.get(place, 0.0) + weight
    best, found = 0.0, None
    for place, shared in sorted(shares.items()):
        intent, paraphrase, weight = known.sets[place]
        likeness = shared / (total if total > weight else weight)
        if likeness > best and not own.issuperset(paraphrase & known.vocabulary.keys):
            likeness *= share
        if likeness > best:
            best, found = likeness, (intent, paraphrase)
    if found is None:
        return None
    expected = found[1] | known.vocabulary.light
    rest = (t for word, span in words if word not in expected for t in span)
    graph = (
        t
        for word, span in words
        if word == known.vocabulary.name and span[-1].norm in known.vocabulary.core
        for t in span
    )
    return OrientationMatch(found[0], best, tuple(rest), tuple(graph))


def _compared_words(
    tokens: Sequence[Token], vocabulary: _Vocabulary, known: Collection[str] = ()
) -> Iterator[tuple[str, tuple[Token, ...]]]:
    """The words as they are compared, with their tokens: synonyms as one, slips corrected by `known` words."""
    written = [(norm, token) for token in tokens for norm in _parts(token.norm, vocabulary)]
    norms = [_corrected(norm, vocabulary) if known else norm for norm, _ in written]
    place = 0
    while place < len(norms):
        word, length = _phrase_at(norms, place, vocabulary)
        span = tuple(dict.fromkeys(token for _, token in written[place : place + length]))
        yield word or vocabulary.same.get(norms[place], norms[place]), span
        place += length


def _parts(norm: str, vocabulary: _Vocabulary) -> tuple[str, ...]:
    """The words that a token stands for: "don't" -> do, not."""
    head, mark, tail = norm.partition("'")
    if mark and head in vocabulary.elided:
        return head, tail
    return vocabulary.contractions.get(norm, (norm,))


def _phrase_at(norms: Sequence[str], place: int, vocabulary: _Vocabulary) -> tuple[str, int]:
    """The word for the expression that begins here, and its length; "" and 1 for none."""
    for phrase, word in vocabulary.phrases.get(norms[place], ()):
        if tuple(norms[place : place + len(phrase)]) == phrase:
            return word, len(phrase)
    end = place + 1
    if norms[place] in vocabulary.owned and norms[place + 2 : place + 3] and norms[place + 2] in vocabulary.core:
        # "this museum graph"
        end = place + 2
    if norms[place] in vocabulary.determiners:
        # "this data set", "your knowledge graph"
        while end < min(len(norms), place + _MAX_NAME) and norms[end] in vocabulary.graph:
            end += 1
    return (vocabulary.name, end - place) if end > place + 1 else ("", 1)


def _corrected(word: str, vocabulary: _Vocabulary) -> str:
    """A misspelt word as the paraphrases spell it; other words, and words of English, as they are."""
    if len(word) < _MIN_LETTERS or not word.isalpha() or is_known(word, lang="en"):
        return word
    slips = 2 if len(word) >= _LONG else 1
    near = process.extractOne(word, _spellings(vocabulary.code), scorer=OSA.distance, score_cutoff=slips)
    if near is None:
        return word
    # the dictionary of a language is loaded when a word is first looked up, which takes longer than a whole turn
    is_spelt = any(word in _spellings(code) for code in codes_with("orientation"))
    return word if is_spelt or is_known(word, lang=vocabulary.code) else near[0]


@cache
def _paraphrases(code: str) -> _Paraphrases:
    vocabulary = _vocabulary(code)
    sets = [
        (intent, frozenset(word for word, _ in _compared_words(tokenize(text), vocabulary)))
        for intent, texts in _data(code)["intents"].items()
        for text in map(str, texts)
    ]
    counts = Counter(word for _, words in sets for word in words)
    unseen = log(1 + len(sets))
    weights = {word: log(1 + len(sets) / n) for word, n in counts.items()}
    weights |= dict.fromkeys(vocabulary.light, _LIGHT * unseen)
    places: dict[str, list[int]] = {}
    for place, (_, words) in enumerate(sets):
        for word in words:
            places.setdefault(word, []).append(place)
    weighed = tuple((intent, words, sum(weights[word] for word in words)) for intent, words in sets)
    return _Paraphrases(vocabulary, weighed, weights, {word: tuple(at) for word, at in places.items()}, unseen)


@cache
def _vocabulary(code: str) -> _Vocabulary:
    data = _data(code)
    phrases: dict[str, list[tuple[tuple[str, ...], str]]] = {}
    for word, texts in data["phrases"].items():
        for text in texts.split("|"):
            phrase = tuple(token.norm for token in tokenize(text))
            phrases.setdefault(phrase[0], []).append((phrase, fold(word)))
    same = {other: fold(word) for word, others in data["same"].items() for other in fold(others).split()}
    longest_first = {first: tuple(sorted(each, key=lambda p: -len(p[0]))) for first, each in phrases.items()}
    names = ("determiners", "here", "light", "keys", "owned", "core", "elided")
    determiners, graph, light, keys, owned, core, elided = (frozenset(fold(data[name]).split()) for name in names)
    contractions = {word: tuple(text.split()) for word, text in data["contractions"].items()}
    parts = (same, longest_first, determiners, graph, light, contractions, keys, owned, core, elided)
    return _Vocabulary(code, data["name"], *parts)


@cache
def _spellings(code: str) -> Mapping[str, str]:
    """All words of the paraphrases and their synonyms, as they are written, the most frequent first, by themselves."""
    data, vocabulary = _data(code), _vocabulary(code)
    texts = (str(text) for texts in data["intents"].values() for text in texts)
    counts = Counter(t.norm for text in texts for t in tokenize(text))
    counts.update(sorted(vocabulary.same.keys() | vocabulary.graph | vocabulary.light))
    return {word: word for word in sorted(counts, key=lambda word: (-counts[word], word))}


@cache
def _data(code: str) -> Mapping[str, Any]:
    return load_language_data(f"{code}/orientation.yaml")


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
    """Where the question begins after a reason for asking it; 0 without a reason."""
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
    place = pattern("patterns", "place").search(folded)
    if place is None or len(folded) != len(question):
        return question
    empty = function_words() | WORDS["filler"] | WORDS["whole"]
    if all(t.norm in empty or t.lemma in empty for t in tokenize(question[: place.start()])):
        return question
    return question[: place.start()] + " " * (place.end() - place.start()) + question[place.end() :]


def _asks(clause: str) -> bool:
    """Whether a clause asks "how much" or "which"."""
    norms = [t.norm for t in tokenize(clause)]
    how_much = any(a in WORDS["degree"] and b in WORDS["how_much"] for a, b in pairwise(norms))
    return how_much or norms[0] in WORDS["choosing_one"]


def _is_polite(clause: str) -> bool:
    """Whether a clause has a polite word, and besides such words only function words."""
    polite, light = word_list("courtesy", "words"), function_words()
    norms = [t.norm for t in tokenize(clause)]
    if WORDS["grouping"] & set(norms):
        # "For each team, how many ..."
        return False
    return all(w in polite or w in light for w in norms) and any(w in polite for w in norms)


@cache
def _pattern(name: str) -> re.Pattern[str]:
    return pattern("courtesy", name, question_start=pattern("courtesy", "question_start").pattern)
