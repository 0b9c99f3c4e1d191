"""What "they" or "the second one" stands for: a question + earlier turns -> Rewrite with the things named."""

import re
from collections.abc import Collection, Sequence

from nacre.language.base import language, word_map
from nacre.language.thesaurus import english_data, function_words
from nacre.language.tokens import Token
from nacre.records.turn import EarlierTurn, Rewrite, Scope
from nacre.understanding.dialogue.references.focus import (
    focus,
    focus_of_kind,
    has_one_answer,
    has_only_persons,
    is_nameless,
    person_focus,
    place_tables,
    requested_nodes,
)
from nacre.understanding.linking.linker import Linker
from nacre.understanding.linking.names.name_candidate import NameCandidate

_SAID_OF_SCOPE = re.compile(r" \((?:of|about) [^()]*\)")


def ordinal_reference(words: Sequence[Token], earlier: Sequence[EarlierTurn]) -> tuple[tuple[int, int], Scope] | None:
    """Where "the second one" of the last list that was given stands, and what it is; "the last", "the other" of two."""
    ordinals, known = english_data()["ordinals"], language().words
    listing = next((turn for turn in reversed(earlier) if len(turn.keys) == len(turn.labels) > 1), None)
    for i, token in enumerate(words):
        following = words[i + 1].norm if i + 1 < len(words) else ""
        alone = not following or following in known["stand_in"] or following in function_words()
        if not i or words[i - 1].norm not in known["article"] or not alone:
            continue
        end = i + 2 if following in known["stand_in"] else i + 1
        if token.norm in known["other"]:
            other = _other(earlier)
            return None if other is None else ((i - 1, end), other)
        many = len(listing.keys) if listing is not None else 0
        n = ordinals.get(token.norm) or (many if token.norm in known["last"] else 0)
        if listing is not None and 0 < n <= many:
            return (i - 1, end), _one_of(listing, n - 1)
    return None


def _one_of(turn: EarlierTurn, place: int) -> Scope:
    """One of the things that a turn gave, which is as sure as that turn."""
    sure = 1.0 if turn.confidence is None else turn.confidence
    return Scope(None, (turn.keys[place],), (turn.labels[place],), confidence=sure)


def _other(earlier: Sequence[EarlierTurn]) -> Scope | None:
    """The one of two things that was not spoken of since; the second where none was."""
    for at in range(len(earlier) - 1, -1, -1):
        keys, labels = earlier[at].keys, earlier[at].labels
        if len(keys) == 2 == len(labels):
            since = {key for turn in earlier[at + 1 :] for key in turn.keys}
            place = 0 if keys[1] in since and keys[0] not in since else 1
            return _one_of(earlier[at], place)
    return None


def find_pronoun(words: Sequence[Token], named: Sequence[NameCandidate], shown: Collection[int] = ()) -> int | None:
    """The first pronoun that points back to an earlier turn; one after a thing of this turn points to that.

    `shown`: where "that" stands before a kind, see `demonstrative_positions`.
    """
    known = language().words
    first_name = min((c.start for c in named), default=len(words))
    for i, token in enumerate(words):
        before = words[i - 1].norm if i else ""
        after = words[i + 1].norm if i + 1 < len(words) else ""
        is_place = token.norm in known["there"] and i and not {before, after} & (known["being"] | known["been"])
        if is_place and all(t.norm in known["summed_up"] | known["time"] | function_words() for t in words[i + 1 :]):
            # at the end, or before words that only say how much or when
            return i
        if (
            token.norm in known["pronoun_number"]
            and before in known["before_number"]
            and "of" in [t.norm for t in words[:i]][-2:]
        ):
            # "which of the two"
            return i
        if token.norm in known["stand_in"] and i == 1 and words[0].norm in known["choosing"]:
            # "which one has the most?"
            return i
        if token.norm not in known["pronoun_one"] | known["pronoun_many"]:
            continue
        if i > first_name and not (token.norm in known["pronoun_first"] and i < 2):
            return None
        following = words[i + 1] if i + 1 < len(words) else None
        alone = following is not None and following.norm not in known["stand_in"]
        if token.norm == "that" and alone and i and i not in shown and words[i - 1].norm not in function_words():
            # "cities that lie in ...": a relative clause, and no "that one"
            continue
        if _stands_for_nothing(words, i):
            continue
        return i
    return None


def _stands_for_nothing(words: Sequence[Token], at: int) -> bool:
    """Whether a pronoun is none: "did it take", and what is written in capitals."""
    token = words[at]
    impersonal = at + 1 < len(words) and words[at + 1].norm in language().words["impersonal"]
    return (token.norm == "it" and impersonal) or (len(token.text) > 1 and token.text.isupper())


def mentioned_classes(words: Sequence[Token], linker: Linker) -> list[NameCandidate]:
    """The kinds of things that words name in full."""
    return [c for c in linker.link(words) if c.kind == "class" and c.exact]


def demonstrative_positions(words: Sequence[Token], linker: Linker) -> frozenset[int]:
    """Where "that" stands before a kind, and after none: "who runs that branch", not "authors that book a room"."""
    kinds = mentioned_classes(words, linker)
    ends = {c.end for c in kinds}
    return frozenset(
        c.start - 1
        for c in kinds
        if c.start and words[c.start - 1].norm in language().words["demonstrative"] and c.start - 1 not in ends
    )


def has_dangling_pronoun(words: Sequence[Token], linker: Linker) -> bool:
    """Whether a first question has a pronoun, and nothing before it that it may stand for.

    In "which department is he in" the department is asked for; he is somebody else.
    """
    known = language().words
    pronouns = known["pronoun_one"] | known["pronoun_many"]
    linked = linker.link(words)
    # "it" of the song "Beat it" stands for nothing
    named = {i for c in linked if c.kind == "entity" and c.end - c.start > 1 for i in range(c.start, c.end)}
    at = next(
        (i for i, t in enumerate(words) if t.norm in pronouns and i not in named and not _stands_for_nothing(words, i)),
        None,
    )
    if at is None or not any(t.norm in known["pronoun_person"] | known["pronoun_first"] for t in words[at : at + 1]):
        return False
    asked = 1 if words[0].norm in known["question_words"] and words[at].norm in known["pronoun_person"] else -1
    return not any(
        c.end <= at and c.start != asked and (c.kind == "entity" or (c.kind == "class" and c.exact)) for c in linked
    )


def has_antecedent_in_turn(words: Sequence[Token], at: int, linker: Linker) -> bool:
    """ "The oldest singer and his age": a possessive stands for what the turn asks for, where that is before it."""
    known = language().words
    kinds = mentioned_classes(words, linker)
    # "which colour is its roof": the colour has no roof
    asked = words[0].norm in known["question_words"] and words[at - 1].norm in known["being"]
    own = any(c.end <= at and not (asked and c.start == 1 and c.end == at - 1) for c in kinds)
    # "which teams do its players play for"
    other = words[at - 1].norm in known["inverting"]
    return words[at].norm in known["possessive"] and own and not other


def resolve_pronoun(
    question: str, words: Sequence[Token], at: int, earlier: tuple[EarlierTurn, ...], linker: Linker
) -> Rewrite:
    """The question with what its pronoun stands for; as it was and not `sure` where that is nothing."""
    token = words[at]
    known = language().words
    many = token.norm in known["pronoun_many"] | known["pronoun_number"] | known["stand_in"]
    # "how many pages is that in total": of all of them
    many |= token.norm in known["pronoun_first"] | known["demonstrative"] and any(
        t.norm in known["summed_up"] for t in words[at + 1 :]
    )
    if token.norm in known["pronoun_they"] and (not at or words[at - 1].norm not in known["among"]):
        many = not has_one_answer(earlier)
    by_kind = token.norm in known["pronoun_many"] | known["stand_in"] or at in demonstrative_positions(words, linker)
    kinds = _kinds(words, at, linker) if by_kind else frozenset()
    meant = focus_of_kind(earlier, kinds, linker, single=not many) or focus_of_kind(earlier, kinds, linker)
    one = focus(earlier[-1:], False, linker)
    if token.norm in known["pronoun_they"] and not many and one.keys and has_only_persons(one, linker):
        meant = one
    if token.norm in known["pronoun_person"] | known["possessive_person"]:
        meant = person_focus(earlier, linker)
        if not meant.keys:
            return Rewrite(question, sure=False)
    if token.norm in known["there"]:
        where = place_tables(linker)
        meant = focus_of_kind(earlier[-1:], where, linker, single=True) or focus_of_kind(earlier[-1:], where, linker)
    if token.norm in known["stand_in"] and kinds and meant is None:
        # "which one is the longest river" after a talk of lakes
        return Rewrite(question)
    meant = meant or focus(
        earlier, many, linker, () if token.norm in known["there"] else requested_nodes(words, at, linker)
    )
    if token.norm in known["stand_in"] and len(meant.keys) < 2:
        return Rewrite(question)
    if not meant.keys:
        return Rewrite(question, sure=False)
    start, end = token.start, token.end
    if token.norm in known["there"]:
        placed = at and words[at - 1].norm in known["place_before"]
        if len(meant.keys) > 1:
            those = f"{'' if placed else 'in '}{word_map('dialogue', 'standalone')['those']} ({format_labels(meant.labels)})"
            return Rewrite(strip_opener(question[:start] + those + question[end:]), True, meant)
        place = meant.labels[0] if placed else f"in {meant.labels[0]}"
        return replace_reference(question, start, end, place, meant.keys[0], meant)
    if token.norm in known["demonstrative"] and at + 1 < len(words):
        following = words[at + 1]
        if following.norm not in function_words() or following.norm in known["stand_in"]:
            # "that car", "this one": the noun goes too
            end = following.end
    # one thing was meant, and there are several
    sure = many or len(meant.keys) == 1
    if len(meant.keys) == 1:
        label = meant.labels[0] + ("'s" if token.norm in known["possessive"] and at + 1 < len(words) else "")
        return replace_reference(question, start, end, label, meant.keys[0], meant)
    shown = "" if is_nameless(meant) else f" ({format_labels(meant.labels)})"
    return Rewrite(strip_opener(question[: token.end] + shown + question[token.end :]), True, meant, sure)


def _kinds(words: Sequence[Token], at: int, linker: Linker) -> frozenset[str]:
    """The tables of the kind that is named of the things before: "these museums", "which one is the best song"."""
    after = words[at].norm in language().words["stand_in"]
    classes = mentioned_classes(words, linker)
    return frozenset[str]().union(*(c.relations for c in classes if c.start == at + 1 or (after and c.start > at)))


def replace_reference(question: str, start: int, end: int, label: str, key: str, scope: Scope | None = None) -> Rewrite:
    """The question with a thing's name between two places of it."""
    text = question[:start] + label + question[end:]
    plain = label.removesuffix("'s")
    return Rewrite(strip_opener(text), True, scope or Scope(None, (key,), (plain,)))


def strip_opener(question: str) -> str:
    """Without the words that only tie it to the turn before: "and its price?" -> "its price?"."""
    text = language().dialogue["opener"].sub("", question).strip()
    return (text[:1].upper() + text[1:]).rstrip("?").rstrip() + ("?" if question.rstrip().endswith("?") else "")


def strip_scope(question: str, scope: Scope | None) -> str:
    """The question without what it says for people of the things or the plan that it is about.

    >>> strip_scope("How old are they (Ann (1), Bo)?", Scope(None, ("a", "b"), ("Ann (1)", "Bo")))
    'How old are they?'
    """
    if scope is None:
        return question
    return _SAID_OF_SCOPE.sub("", question.replace(f" ({format_labels(scope.labels)})", ""))


def format_labels(labels: Sequence[str]) -> str:
    """The first names, and how many more there are.

    >>> format_labels(["a", "b", "c", "d", "e"])
    'a, b, c, d and 1 more'
    """
    shown = ", ".join(labels[:4])
    return shown + (f" and {len(labels) - 4} more" if len(labels) > 4 else "")
