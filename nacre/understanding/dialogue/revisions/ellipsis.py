"""Ask the last question about something else, in its words: "and in France?", "what about the red ones?" -> Rewrite."""

from collections.abc import Sequence
from typing import NamedTuple

from nacre.language.base import language
from nacre.language.thesaurus import function_words
from nacre.language.tokens import Token, tokenize
from nacre.plans.inspect_select import asked_select
from nacre.plans.merge import is_from_earlier_turn
from nacre.records.turn import EarlierTurn, Rewrite, Scope
from nacre.understanding.dialogue.references.pronouns import mentioned_things
from nacre.understanding.linking.linker import Linker
from nacre.understanding.linking.names.name_candidate import NameCandidate

# Opens the description of the plan behind a follow-up in its standalone question. It is for people.
SCOPE_OPENING = " (about "
# Minimum score of a value or class that is substituted.
MIN_SUBSTITUTE_SCORE = 0.75
# Words of a turn that may leave most of a question out; turns in which a thing is substituted; at most.
MAX_SHORT_TOKENS, MAX_SUBSTITUTED_TURNS = 4, 3
# The kind of a time in `_Part`.
_TIME = "time"


class _Part(NamedTuple):
    """A span of characters that names a time, a class or a value of a property."""

    start: int
    end: int
    kind: str


def is_short(words: Sequence[Token]) -> bool:
    """Whether a turn is so short that it may leave most of a question out."""
    return len(words) <= MAX_SHORT_TOKENS


def is_elliptic(question: str, words: Sequence[Token], things: Sequence[NameCandidate]) -> bool:
    """Whether a turn names a thing and asks nothing about it: "and X?", "in X?"."""
    known = language().words
    covered = {i for c in things for i in c.covered}
    has_other_words = any(i not in covered and t.norm not in function_words() for i, t in enumerate(words))
    has_verb = bool(words) and words[0].norm in known["asking_yes_no"]
    is_what_about = language().dialogue["about"].match(question)
    has_question_word = not is_what_about and any(t.norm in known["question_words"] for t in words)
    return not has_other_words and not has_verb and not has_question_word


def is_standalone(turn: EarlierTurn) -> bool:
    """Whether the words of a turn say everything it asks, without an earlier plan or its things."""
    select = asked_select(turn.plan.body) if turn.plan else None
    depends = select is not None and any(is_from_earlier_turn(v) for v in select.variables)
    return not depends and SCOPE_OPENING not in turn.standalone


def substitute_thing(phrase: str, earlier: tuple[EarlierTurn, ...], linker: Linker) -> Rewrite | None:
    """The last question with its thing replaced by the one of the phrase, in a recent turn with a thing of the same
    class. A completely named thing of another class replaces the first thing of the last turn."""
    new = mentioned_things(linker, tokenize(phrase))
    exact = [c for c in new if c.exact]
    turns = [turn for turn in earlier[-MAX_SUBSTITUTED_TURNS:] if is_standalone(turn)]
    for turn in reversed(turns):
        for old in mentioned_things(linker, tokenize(turn.standalone)):
            for other in exact or new:
                if other.relations & old.relations and other.keys != old.keys:
                    return _replace_thing(turn, old, other)
    old_things = mentioned_things(linker, tokenize(turns[-1].standalone)) if turns else []
    return _replace_thing(turns[-1], old_things[0], exact[0]) if exact and old_things else None


def _replace_thing(turn: EarlierTurn, old: NameCandidate, new: NameCandidate) -> Rewrite:
    words = tokenize(turn.standalone)
    before, after = turn.standalone[: words[old.start].start], turn.standalone[words[old.end - 1].end :]
    return Rewrite(before + new.label + after, True, Scope(None, new.keys, (new.label,)))


def substitute_value(
    phrase: str, earlier: tuple[EarlierTurn, ...], linker: Linker, *, instead: bool = False
) -> Rewrite | None:
    """ "And in 2022?", "and the red ones?": the last question with its time, value or class replaced, or this added.

    With `instead` nothing is added, and a class may replace a value, or a value a class.
    """
    words, last = tokenize(phrase), earlier[-1]
    new = _new_part(phrase, words, linker)
    if new is None or any(t.norm in language().words["asking_yes_no"] for t in words[:1]) or not is_standalone(last):
        return None
    part, candidates = new
    old = _parts_of_kind(last.standalone, part.kind, linker)
    if not old and instead:
        old = _replaceable_parts(last.standalone, candidates, linker)
    if old:
        start, end = max(old, key=lambda span: span[1] - span[0])
        return Rewrite(last.standalone[:start] + phrase[part.start : part.end] + last.standalone[end:], True)
    if part.kind == "class" or instead:
        return None
    return Rewrite(f"{last.standalone.rstrip('? .')} {phrase.strip()}", True)


def _new_part(phrase: str, words: Sequence[Token], linker: Linker) -> tuple[_Part, list[NameCandidate]] | None:
    """The only time, value or class of a phrase without other content words."""
    parts = [_Part(m.start(), m.end(), _TIME) for m in language().dialogue["time"].finditer(phrase)]
    candidates = []
    for c in linker.link(words):
        start, end = words[c.start].start, words[c.end - 1].end
        overlaps = any(part.start < end and start < part.end for part in parts)
        is_part = (c.kind == "value" or (c.kind == "class" and c.exact)) and c.score >= MIN_SUBSTITUTE_SCORE
        if is_part and not overlaps:
            parts.append(_Part(start, end, _kind(c)))
            candidates.append(c)
    covered = {i for i, t in enumerate(words) if any(p.start <= t.start and t.end <= p.end for p in parts)}
    has_other_words = any(i not in covered and t.norm not in linker.stopwords for i, t in enumerate(words))
    return (parts[0], candidates) if len(parts) == 1 and not has_other_words else None


def _kind(candidate: NameCandidate) -> str:
    return f"value {candidate.predicate}" if candidate.kind == "value" else candidate.kind


def _parts_of_kind(text: str, kind: str, linker: Linker) -> list[tuple[int, int]]:
    """The spans of characters of a text with a time, a class, or a value of the same property."""
    if kind == _TIME:
        return [(m.start(), m.end()) for m in language().dialogue["time"].finditer(text)]
    words = tokenize(text)
    return [
        (words[c.start].start, words[c.end - 1].end)
        for c in linker.link(words)
        if c.score >= MIN_SUBSTITUTE_SCORE and _kind(c) == kind
    ]


def _replaceable_parts(text: str, new: Sequence[NameCandidate], linker: Linker) -> list[tuple[int, int]]:
    """The spans of classes that a new value may replace, and of values that a new class may ("books" for "novels")."""
    words = tokenize(text)
    other = {"value": "class", "class": "value"}
    return [
        (words[old.start].start, words[old.end - 1].end)
        for old in linker.link(words)
        if old.score >= MIN_SUBSTITUTE_SCORE
        and any(other.get(old.kind) == c.kind and old.relations & c.relations for c in new)
    ]
