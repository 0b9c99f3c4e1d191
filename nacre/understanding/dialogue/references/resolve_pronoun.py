"""Replace a pronoun by what it stands for: question + earlier turns -> Rewrite with the things named."""

from collections.abc import Sequence

from nacre.language.base import language, word_map
from nacre.language.thesaurus import function_words
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
from nacre.understanding.dialogue.references.pronouns import demonstrative_positions, mentioned_classes
from nacre.understanding.dialogue.references.standalone_text import format_labels, replace_reference, strip_opener
from nacre.understanding.linking.linker import Linker


def resolve_pronoun(
    question: str, words: Sequence[Token], at: int, earlier: tuple[EarlierTurn, ...], linker: Linker
) -> Rewrite:
    """The question with the things that its pronoun stands for. Unchanged, and not `sure`, if there are none."""
    known = language().words
    token = words[at]
    if token.norm in known["there"]:
        return _resolve_place(question, words, at, earlier, linker)
    is_many = _is_plural(words, at, earlier)
    meant = _antecedent(words, at, is_many, earlier, linker)
    if token.norm in known["stand_in"] and len(meant.keys) < 2:
        # "which one is the longest river" after lakes were mentioned.
        return Rewrite(question)
    if not meant.keys:
        return Rewrite(question, sure=False)
    if len(meant.keys) == 1:
        is_possessive = token.norm in known["possessive"] and at + 1 < len(words)
        label = meant.labels[0] + ("'s" if is_possessive else "")
        return replace_reference(question, token.start, _reference_end(words, at), label, meant.keys[0], meant)
    note = "" if is_nameless(meant) else f" ({format_labels(meant.labels)})"
    text = strip_opener(question[: token.end] + note + question[token.end :])
    # It is not clear which one is meant if the pronoun is singular.
    return Rewrite(text, True, meant, is_many)


def _resolve_place(
    question: str, words: Sequence[Token], at: int, earlier: tuple[EarlierTurn, ...], linker: Linker
) -> Rewrite:
    """The question with the place that "there" stands for."""
    tables, last = place_tables(linker), earlier[-1:]
    meant = focus_of_kind(last, tables, linker, single=True) or focus_of_kind(last, tables, linker)
    meant = meant or focus(earlier, False, linker)
    if not meant.keys:
        return Rewrite(question, sure=False)
    start, end = words[at].start, words[at].end
    has_preposition = at and words[at - 1].norm in language().words["place_before"]
    preposition = "" if has_preposition else "in "
    if len(meant.keys) > 1:
        those = f"{word_map('dialogue', 'standalone')['those']} ({format_labels(meant.labels)})"
        return Rewrite(strip_opener(f"{question[:start]}{preposition}{those}{question[end:]}"), True, meant)
    return replace_reference(question, start, end, f"{preposition}{meant.labels[0]}", meant.keys[0], meant)


def _is_plural(words: Sequence[Token], at: int, earlier: tuple[EarlierTurn, ...]) -> bool:
    """Whether a pronoun stands for several things. "They" may stand for one if the last turn named one."""
    known, norm = language().words, words[at].norm
    if norm in known["pronoun_they"] and (not at or words[at - 1].norm not in known["among"]):
        return not has_one_answer(earlier)
    if norm in known["pronoun_many"] | known["pronoun_number"] | known["stand_in"]:
        return True
    # "how many pages is that in total"
    has_total = any(t.norm in known["summed_up"] for t in words[at + 1 :])
    return norm in known["pronoun_first"] | known["demonstrative"] and has_total


def _antecedent(
    words: Sequence[Token], at: int, is_many: bool, earlier: tuple[EarlierTurn, ...], linker: Linker
) -> Scope:
    """The things that a pronoun stands for, which may be none."""
    known, norm = language().words, words[at].norm
    if norm in known["pronoun_person"] | known["possessive_person"]:
        return person_focus(earlier, linker)
    one = focus(earlier[-1:], False, linker)
    if norm in known["pronoun_they"] and not is_many and one.keys and has_only_persons(one, linker):
        return one
    has_class = norm in known["pronoun_many"] | known["stand_in"] or at in demonstrative_positions(words, linker)
    tables = _class_tables(words, at, linker) if has_class else frozenset()
    of_class = focus_of_kind(earlier, tables, linker, single=not is_many) or focus_of_kind(earlier, tables, linker)
    if of_class is not None:
        return of_class
    if norm in known["stand_in"] and tables:
        return Scope()
    return focus(earlier, is_many, linker, requested_nodes(words, at, linker))


def _class_tables(words: Sequence[Token], at: int, linker: Linker) -> frozenset[str]:
    """The tables of the class that is named for the earlier things: "these museums", "which one is the best song"."""
    may_follow = words[at].norm in language().words["stand_in"]
    classes = mentioned_classes(words, linker)
    return frozenset[str]().union(*(c.relations for c in classes if c.start == at + 1 or (may_follow and c.start > at)))


def _reference_end(words: Sequence[Token], at: int) -> int:
    """The end of a reference. The noun after a demonstrative belongs to it: "that car", "this one"."""
    if words[at].norm in language().words["demonstrative"] and at + 1 < len(words):
        following = words[at + 1]
        if following.norm not in function_words() or following.norm in language().words["stand_in"]:
            return following.end
    return words[at].end
