"""Find pronouns that refer to earlier turns: tokens -> position."""

from collections.abc import Collection, Sequence

from nacre.language.base import language
from nacre.language.thesaurus import function_words
from nacre.language.tokens import Token
from nacre.understanding.linking.linker import Linker
from nacre.understanding.linking.names.name_candidate import NameCandidate

# Minimum score of a part of a name that names a thing.
MIN_PART_SCORE = 0.6


def find_pronoun(
    words: Sequence[Token], things: Sequence[NameCandidate], demonstratives: Collection[int] = ()
) -> int | None:
    """The first pronoun that refers to an earlier turn. A pronoun after a thing of this turn refers to that.

    `demonstratives` are the places of "that" before a class (`demonstrative_positions`).
    """
    known = language().words
    first_thing = min((c.start for c in things), default=len(words))
    for i, token in enumerate(words):
        if _is_place_reference(words, i) or _is_number_reference(words, i):
            return i
        if token.norm in known["stand_in"] and i == 1 and words[0].norm in known["choosing"]:
            # "which one has the most?"
            return i
        if token.norm not in known["pronoun_one"] | known["pronoun_many"]:
            continue
        if i > first_thing and not (token.norm in known["pronoun_first"] and i < 2):
            return None
        if not _is_relative(words, i, demonstratives) and not _is_expletive(words, i):
            return i
    return None


def mentioned_classes(words: Sequence[Token], linker: Linker) -> list[NameCandidate]:
    """The classes that words name completely."""
    return [c for c in linker.link(words) if c.kind == "class" and c.exact]


def mentioned_things(linker: Linker, words: Sequence[Token]) -> list[NameCandidate]:
    """The things that a question names, by their name or a part of it that says enough. A bare number is not a name."""
    links = linker.link(words)
    labels = {i for c in links if c.kind != "entity" and c.exact for i in range(c.start, c.end)}
    return [
        c
        for c in links
        if c.kind == "entity"
        and (c.exact or (c.score >= MIN_PART_SCORE and not labels.issuperset(range(c.start, c.end))))
        and not all(t.norm.isdigit() for t in words[c.start : c.end])
    ]


def demonstrative_positions(words: Sequence[Token], linker: Linker) -> frozenset[int]:
    """Where "that" stands before a class and after none: "who runs that branch", not "authors that book a room".

    In "members that work in Sales" the graph names the verb: a property longer than the class begins at the same word.
    """
    linked = linker.link(words)
    classes = [c for c in linked if c.kind == "class" and c.exact]
    verbs = [(c.start, c.end) for c in linked if c.kind == "predicate" and c.exact]
    ends = {c.end for c in classes}
    return frozenset(
        c.start - 1
        for c in classes
        if c.start and words[c.start - 1].norm in language().words["demonstrative"] and c.start - 1 not in ends
        if not any(start == c.start and end > c.end for start, end in verbs)
    )


def has_dangling_pronoun(words: Sequence[Token], linker: Linker) -> bool:
    """Whether a first question has a pronoun without anything before it that the pronoun may stand for.

    In "which department is he in" the department is what is asked for, and he is someone else.
    """
    known = language().words
    linked = linker.link(words)
    # The "it" of the song "Beat it" is part of a name.
    in_names = {i for c in linked if c.kind == "entity" and c.end - c.start > 1 for i in range(c.start, c.end)}
    pronouns = known["pronoun_one"] | known["pronoun_many"]
    places = (
        i for i, t in enumerate(words) if t.norm in pronouns and i not in in_names and not _is_expletive(words, i)
    )
    at = next(places, None)
    if at is None or words[at].norm not in known["pronoun_person"] | known["pronoun_first"]:
        return False
    requested = 1 if words[0].norm in known["question_words"] and words[at].norm in known["pronoun_person"] else -1
    return not any(
        c.end <= at and c.start != requested and (c.kind == "entity" or (c.kind == "class" and c.exact)) for c in linked
    )


def has_antecedent_in_turn(words: Sequence[Token], at: int, linker: Linker) -> bool:
    """Whether a possessive stands for what the turn asks for before it: "the oldest singer and his age"."""
    known = language().words
    # In "which colour is its roof" the colour has no roof.
    is_requested = words[0].norm in known["question_words"] and words[at - 1].norm in known["being"]
    classes = mentioned_classes(words, linker)
    has_class_before = any(c.end <= at and not (is_requested and c.start == 1 and c.end == at - 1) for c in classes)
    # "which teams do its players play for"
    is_inverted = words[at - 1].norm in known["inverting"]
    is_possessive = words[at].norm in known["possessive"] and at + 1 < len(words)
    return is_possessive and has_class_before and not is_inverted


def _is_place_reference(words: Sequence[Token], at: int) -> bool:
    """Whether "there" refers to a place: at the end, or before words that only say how much or when."""
    known = language().words
    if not at or words[at].norm not in known["there"]:
        return False
    neighbours = {words[at - 1].norm, words[at + 1].norm if at + 1 < len(words) else ""}
    allowed = known["summed_up"] | known["time"] | function_words()
    return not neighbours & (known["being"] | known["been"]) and all(t.norm in allowed for t in words[at + 1 :])


def _is_number_reference(words: Sequence[Token], at: int) -> bool:
    """Whether a number refers to earlier things: "which of the two"."""
    known = language().words
    before = words[at - 1].norm if at else ""
    is_number = words[at].norm in known["pronoun_number"] and before in known["before_number"]
    return is_number and "of" in [t.norm for t in words[:at]][-2:]


def _is_relative(words: Sequence[Token], at: int, demonstratives: Collection[int]) -> bool:
    """Whether "that" begins a relative clause: "cities that lie in ...", "anything that floats"."""
    following = words[at + 1] if at + 1 < len(words) else None
    has_clause = following is not None and following.norm not in language().words["stand_in"]
    is_that = words[at].norm == "that" and at and at not in demonstratives
    before = words[at - 1].norm
    follows_noun = before not in function_words() or before in language().words["indefinite_pronouns"]
    return bool(is_that and has_clause and follows_noun)


def _is_expletive(words: Sequence[Token], at: int) -> bool:
    """Whether a pronoun stands for nothing: "did it take", or an abbreviation in capitals."""
    token = words[at]
    is_impersonal = at + 1 < len(words) and words[at + 1].norm in language().words["impersonal"]
    return (token.norm == "it" and is_impersonal) or (len(token.text) > 1 and token.text.isupper())
