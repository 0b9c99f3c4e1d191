"""Replace a pronoun by what it stands for: question + earlier turns -> Rewrite with the things named."""

from collections.abc import Sequence

from nacre.language.base import language, word_map
from nacre.language.thesaurus import function_words, gradable_adjective
from nacre.language.tokens import Token, tokenize
from nacre.records.turn import EarlierTurn, Rewrite, Scope
from nacre.understanding.dialogue.references.focus import (
    focus,
    focus_of_kind,
    is_nameless,
    may_be_one,
    may_have,
    person_focus,
    person_tables,
    place_focus,
    requested_nodes,
    subject_focus,
)
from nacre.understanding.dialogue.references.pronouns import (
    demonstrative_positions,
    mentioned_classes,
    mentioned_things,
)
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
    is_many = _is_plural(words, at, earlier, linker)
    meant = _antecedent(words, at, is_many, earlier, linker)
    if token.norm in known["stand_in"] and len(meant.keys) < 2:
        # "which one is the longest river" after lakes were mentioned.
        return Rewrite(question)
    if not meant.keys:
        return Rewrite(question, sure=False)
    if len(meant.keys) == 1:
        is_possessive = token.norm in known["possessive"] and at + 1 < len(words)
        label = meant.labels[0] + ("'s" if is_possessive else "")
        if at in demonstrative_positions(words, linker) and not _is_of_class(meant, words, at, linker):
            # "That town" after a brewery is its town.
            label = f"{word_map('dialogue', 'standalone')['the']} {words[at + 1].text} of {label}"
        return replace_reference(question, token.start, _reference_end(words, at, linker), label, meant.keys[0], meant)
    note = "" if is_nameless(meant) else f" ({format_labels(meant.labels)})"
    text = strip_opener(question[: token.end] + note + question[token.end :])
    # It is not clear which one is meant if the pronoun is singular.
    return Rewrite(text, True, meant, is_many)


def _resolve_place(
    question: str, words: Sequence[Token], at: int, earlier: tuple[EarlierTurn, ...], linker: Linker
) -> Rewrite:
    """The question with the place that "there" stands for."""
    meant = place_focus(earlier, linker)
    if not meant.keys:
        return Rewrite(question, sure=False)
    start, end = words[at].start, words[at].end
    has_preposition = at and words[at - 1].norm in language().words["place_before"]
    preposition = "" if has_preposition else "in "
    if len(meant.keys) > 1:
        those = f"{word_map('dialogue', 'standalone')['those']} ({format_labels(meant.labels)})"
        return Rewrite(strip_opener(f"{question[:start]}{preposition}{those}{question[end:]}"), True, meant)
    return replace_reference(question, start, end, f"{preposition}{meant.labels[0]}", meant.keys[0], meant)


def _is_plural(words: Sequence[Token], at: int, earlier: tuple[EarlierTurn, ...], linker: Linker) -> bool:
    """Whether a pronoun stands for several things. "They" may stand for one if the last turn was about one."""
    known, norm = language().words, words[at].norm
    if norm in known["pronoun_they"] and (not at or words[at - 1].norm not in known["among"]):
        return not may_be_one(earlier, linker)
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
    has_class = norm in known["pronoun_many"] | known["stand_in"] or at in demonstrative_positions(words, linker)
    tables = _class_tables(words, at, linker) if has_class and norm not in known["possessive"] else frozenset()
    of_class = focus_of_kind(earlier, tables, linker, single=not is_many) or focus_of_kind(earlier, tables, linker)
    if of_class is not None:
        return of_class
    if norm in known["stand_in"] and tables:
        return Scope()
    # "Their beers" are not those of a beer, and "it" is no person.
    owned = _class_tables(words, at, linker) if norm in known["possessive"] else _tables_beside(words, linker)
    persons = person_tables(linker) if norm in known["pronoun_thing"] else frozenset()
    requested = requested_nodes(words, at, linker)
    if not is_many and norm in (t.norm for t in tokenize(earlier[-1].question)):
        # A pronoun keeps the antecedent of the turn before, unless it asks for what this does not have.
        subject = subject_focus(earlier[-1], linker)
        if len(subject.keys) == 1 and (not requested or may_have(subject, words, at, linker)):
            return subject
    found = focus(earlier, is_many, linker, requested, owned | persons)
    return found if found.keys else focus(earlier, is_many, linker, requested, persons)


def _is_of_class(meant: Scope, words: Sequence[Token], at: int, linker: Linker) -> bool:
    """Whether a thing is of the class that stands after a pronoun."""
    thing = linker.lexicon.thing(meant.keys[0])
    return thing is None or thing.relation in _class_tables(words, at, linker)


def _tables_beside(words: Sequence[Token], linker: Linker) -> frozenset[str]:
    """The tables of the things that a question names, of which none is compared: "how many of them did Ann paint?"."""
    if any(t.norm in language().words["than"] for t in words):
        return frozenset()
    return frozenset[str]().union(*(c.relations for c in mentioned_things(linker, words)))


def _class_tables(words: Sequence[Token], at: int, linker: Linker) -> frozenset[str]:
    """The tables of the class that is named for the earlier things: "these museums", "which one is the best song"."""
    may_follow = words[at].norm in language().words["stand_in"]
    classes = mentioned_classes(words, linker)
    return frozenset[str]().union(*(c.relations for c in classes if c.start == at + 1 or (may_follow and c.start > at)))


def _reference_end(words: Sequence[Token], at: int, linker: Linker) -> int:
    """The end of a reference. The noun after a demonstrative belongs to it, as in "that car" and "this one", but not in
    "what did that cost" and "is that heavier"."""
    if words[at].norm not in language().words["demonstrative"] or at + 1 == len(words):
        return words[at].end
    known, following = language().words, words[at + 1]
    if following.norm in known["stand_in"] or any(c.start == at + 1 for c in mentioned_classes(words, linker)):
        return following.end
    after_verb = at and words[at - 1].norm in known["inverting"] | known["being"]
    is_property = after_verb and any(c.kind == "predicate" and c.start == at + 1 for c in linker.link(words))
    is_noun = following.norm not in function_words() and gradable_adjective(following) is None
    return following.end if is_noun and not is_property else words[at].end
