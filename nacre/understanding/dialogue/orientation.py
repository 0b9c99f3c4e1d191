"""Whether a turn asks nothing of the data, and what it wants instead: text + Linker -> intent, or "" for a question."""

import re
from collections.abc import Sequence

import simplemma

from nacre.language.base import language
from nacre.language.courtesy import strip_courtesy
from nacre.language.orientation import (
    asks_for_data,
    intents,
    is_light,
    nearest_intent,
    orientation_language,
    refers_back,
    threshold,
)
from nacre.language.thesaurus import function_words
from nacre.language.tokens import Token, tokenize
from nacre.understanding.linking.linker import Linker

# Minimum score of a name of the graph that makes a question one about the data (given).
NAME_SCORE = 0.9
# Sentences and clauses of a turn that are looked at (given); a question of 4,000 characters has fewer.
MAX_PARTS = 120
# The words of a clause that is compared; no paraphrase has more than a third of them (given).
MAX_PART_WORDS = 40

_SENTENCE_END = re.compile(r"(?<![.?!;:\n])[.?!;:\n]++(?=\s|$)|\n")
_CLAUSE_END = re.compile(r"(?<![.?!;:,\n])[.?!;:,\n]++(?=\s|$)|\n|\s(?:[-–—]{1,3}|and)\s")


def orientation_intent(text: str, linker: Linker, *, is_follow_up: bool = False) -> str:
    """The intent of a turn that asks nothing of the data: "contents", "thanks" and others of the paraphrases, or
    "nonsense"; "" for a question about the data.

    The turn as a whole, each of its sentences, or each of its clauses must be like a paraphrase; other sentences of the
    turn may only remark on something that the graph does not have. After other turns, words may refer to these.
    """
    sentences, clauses = (
        list(dict.fromkeys(part for part in map(str.strip, pattern.split(text)) if tokenize(part)))
        for pattern in (_SENTENCE_END, _CLAUSE_END)
    )
    for parts in ([text], [strip_courtesy(text)], sentences, clauses):
        if len(parts) <= MAX_PARTS and (intent := _intent_of_parts(parts, linker, is_follow_up=is_follow_up)):
            return intent
    return "nonsense" if _is_nonsense(tokenize(text), linker) else ""


def _intent_of_parts(parts: Sequence[str], linker: Linker, *, is_follow_up: bool) -> str:
    """The most informative intent of the parts of a turn."""
    found = [_intent(part, linker, is_follow_up=is_follow_up) for part in parts]
    code = next((orientation_language(part) for part, intent in zip(parts, found, strict=True) if intent), "en")
    for part, intent in zip(parts, found, strict=True):
        if not intent and (asks_for_data(part, code) or _names(tokenize(part)[:MAX_PART_WORDS], linker)):
            return ""
    asking = [intent for intent in found if intent and intent not in intents("small_talk")]
    if not asking and "" in found:
        return ""
    return next(iter([*asking, *reversed(found)]), "")


def _intent(text: str, linker: Linker, *, is_follow_up: bool) -> str:
    """The intent of a sentence or clause; "" if it is not like any, or names something of the graph."""
    tokens = tokenize(text)
    if not tokens or len(tokens) > MAX_PART_WORDS:
        return ""
    match = nearest_intent(text)
    if match is None or match.likeness < threshold(is_loose=True):
        return ""
    about_graph = match.intent in intents("about_graph")
    if match.intent == "counts" and match.rest:
        # of what it counts
        return ""
    if is_follow_up and (match.intent == "counts" or (about_graph and refers_back(text))):
        return ""
    is_sure = match.likeness >= threshold(is_loose=False)
    if not is_sure and (refers_back(text) or (about_graph and match.rest)):
        return ""
    named = [(kind, token) for kind, token in _names(tokens, linker) if token not in match.graph]
    rest = {token.start for token in match.rest}
    small_talk = is_sure and match.intent in intents("small_talk")
    if any((kind == "class" and not small_talk) or token.start in rest for kind, token in named):
        return ""
    return "" if named and (not is_sure or match.intent in intents("no_answer")) else match.intent


def _names(tokens: Sequence[Token], linker: Linker) -> list[tuple[str, Token]]:
    """The words that name something of the graph, with its kind; function words and "thing" name nothing here."""
    empty = function_words() | language().words["whole"]
    return [
        (found.kind, tokens[i])
        for found in linker.link(tokens)
        if found.exact and found.score >= NAME_SCORE
        for i in range(found.start, found.end)
        if not is_light(tokens[i].norm) and empty.isdisjoint((tokens[i].norm, tokens[i].lemma))
    ]


def _is_nonsense(tokens: Sequence[Token], linker: Linker) -> bool:
    """Whether no word of a text is one of English or of the graph, nor nearly one; a text without words is.

    A word with a capital may be a name that the graph does not have.
    """
    words = tokens[:MAX_PART_WORDS]
    if any((token.text[0].isupper() and not token.text.isupper()) or token.norm[0].isdigit() for token in words):
        return False
    if any(is_light(t.norm) or simplemma.is_known(t.norm, lang="en") for t in words):
        return False
    return len(tokens) == len(words) and not linker.link(words) and not _may_be_misspelt(words, linker)


def _may_be_misspelt(words: Sequence[Token], linker: Linker) -> bool:
    """Whether the spelling corrector knows a better word."""
    text = " ".join(token.norm for token in words)
    return linker.spelling.correct(text) != text
