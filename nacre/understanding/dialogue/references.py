"""Resolve references to earlier turns: question + earlier turns -> Rewrite with the things named, or None."""

import re
from collections.abc import Collection, Sequence
from itertools import pairwise
from typing import NamedTuple

from nacre.language.data import WORDS, pattern, word_map
from nacre.language.thesaurus import english_data, function_words, gradable_adjective
from nacre.language.tokens import Token, name_tokens, split_name, tokenize
from nacre.language.word_forms import is_plural, plural
from nacre.plans.selects import variable_of
from nacre.records.plan import Attribute, Body, Select, aggregated_value
from nacre.records.turn import EarlierTurn, Rewrite, Scope
from nacre.understanding.dialogue.focus import (
    agent_tables,
    focus,
    focus_of_kind,
    has_only_persons,
    has_only_places,
    is_nameless,
    may_be_one,
    may_have,
    named_things_of,
    person_focus,
    person_tables,
    place_focus,
    requested_nodes,
    subject_focus,
)
from nacre.understanding.linking.link_mentions import Linker
from nacre.understanding.linking.name_candidates import NameCandidate
from nacre.wording.nouns import class_noun

MIN_PART_SCORE = 0.6  # Minimum score of a part of a name that names a thing.


class FollowUpTurn(NamedTuple):
    """A question, as `typed` and without courtesy and slips, the `things` that it names, and the turns before it."""

    question: str
    typed: str
    words: tuple[Token, ...]
    things: tuple[NameCandidate, ...]
    earlier: tuple[EarlierTurn, ...]
    linker: Linker

    @classmethod
    def read(cls, question: str, typed: str, earlier: tuple[EarlierTurn, ...], linker: Linker) -> "FollowUpTurn":
        words = tuple(tokenize(question))
        return cls(question, typed, words, tuple(mentioned_things(linker, words)), earlier, linker)

    def asking(self, question: str) -> "FollowUpTurn":
        """The turn with another question."""
        return self.read(question, self.typed, self.earlier, self.linker)

    @property
    def last(self) -> EarlierTurn:
        return self.earlier[-1]

    @property
    def last_body(self) -> Body | None:
        return self.last.plan.body if self.last.plan else None

    @property
    def lead(self) -> str:
        """The opening that only connects the question to the turn before: "what about ", "and "."""
        openings = (pattern("dialogue", name).match(self.question) for name in ("about", "opener"))
        return next((opening[0] for opening in openings if opening), "")


def find_pronoun(
    words: Sequence[Token], things: Sequence[NameCandidate], demonstratives: Collection[int] = ()
) -> int | None:
    """The first pronoun that refers to an earlier turn. A pronoun after a thing of this turn refers to that.
    `demonstratives` are the places of "that" before a class (`demonstrative_positions`)."""
    first_thing = min((c.start for c in things), default=len(words))
    for i, token in enumerate(words):
        if _is_place_reference(words, i) or _is_number_reference(words, i):
            return i
        if token.norm in WORDS["stand_in"] and i == 1 and words[0].norm in WORDS["choosing"]:
            # "which one has the most?"
            return i
        if token.norm not in WORDS["pronoun_one"] | WORDS["pronoun_many"]:
            continue
        if i > first_thing and not (token.norm in WORDS["pronoun_first"] and i < 2):
            return None
        if not _is_relative(words, i, demonstratives) and not _is_expletive(words, i):
            return i
    return None


def mentioned_classes(words: Sequence[Token], linker: Linker) -> list[NameCandidate]:
    """The classes that words name completely."""
    return [c for c in linker.link(words) if c.kind == "class" and c.exact]


def mentioned_things(linker: Linker, words: Sequence[Token]) -> list[NameCandidate]:
    """The things that a question names, by their name or a part of it that says enough. A bare number is not a name,
    "how long" names no long-eared bat, and "boats" no boat that is called "Boat"."""
    links, degree = linker.link(words), WORDS["degree"]
    labels = {i for c in links if c.kind != "entity" and c.exact for i in range(c.start, c.end)}
    classes = {(c.start, c.end) for c in links if c.kind == "class" and c.exact and words[c.start].text[0].islower()}
    return [
        c
        for c in links
        if c.kind == "entity"
        and (c.start, c.end) not in classes
        and (c.exact or (c.score >= MIN_PART_SCORE and not labels.issuperset(range(c.start, c.end))))
        and not all(t.norm.isdigit() for t in words[c.start : c.end])
        and not (c.start == 1 and c.end == 2 and words[0].norm in degree and not c.exact)
    ]


def demonstrative_positions(words: Sequence[Token], linker: Linker) -> frozenset[int]:
    """Where "that" stands before a class and after none: "who runs that branch", not "authors that book a room". In
    "members that work in Sales" the graph names the verb: a property longer than the class begins at the same word."""
    linked = linker.link(words)
    classes = [c for c in linked if c.kind == "class" and c.exact]
    verbs = [(c.start, c.end) for c in linked if c.kind == "predicate" and c.exact]
    ends = {c.end for c in classes}
    return frozenset(
        c.start - 1
        for c in classes
        if c.start and words[c.start - 1].norm in WORDS["demonstrative"] and c.start - 1 not in ends
        if not any(start == c.start and end > c.end for start, end in verbs)
    )


def has_dangling_pronoun(words: Sequence[Token], linker: Linker) -> bool:
    """Whether a question has a pronoun without anything before it that the pronoun may stand for. In "which department
    is he in" and "which boats do they own" what is asked for is something else."""
    pronouns = WORDS["pronoun_one"] | WORDS["pronoun_many"]
    places = [i for i, t in enumerate(words) if t.norm in pronouns and not _is_expletive(words, i)]
    if not places:
        return False
    # The "it" of the song "Beat it" is part of a name.
    names = [c for c in linker.link(words) if c.kind == "entity" and c.end - c.start > 1]
    at = next((i for i in places if not any(c.start <= i < c.end for c in names)), None)
    if at is None or words[at].norm not in WORDS["pronoun_person"] | WORDS["pronoun_first"]:
        return False
    is_subject = words[at - 1].norm in WORDS["inverting"] | WORDS["being"] | WORDS["owning_verbs"]
    requested = at - 1 if is_subject and words[0].norm in WORDS["question_words"] else -1
    named = (*mentioned_things(linker, words), *mentioned_classes(words, linker))
    return not any(c.end <= at and (c.kind == "entity" or c.end != requested) for c in named)


def has_antecedent_in_turn(words: Sequence[Token], at: int, linker: Linker) -> bool:
    """Whether a possessive stands for what the turn asks for before it: "the oldest singer and his age"."""
    # In "which colour is its roof" the colour has no roof.
    is_requested = words[0].norm in WORDS["question_words"] and words[at - 1].norm in WORDS["being"]
    classes = mentioned_classes(words, linker)
    has_class_before = any(c.end <= at and not (is_requested and c.start == 1 and c.end == at - 1) for c in classes)
    # "which teams do its players play for"
    is_inverted = words[at - 1].norm in WORDS["inverting"]
    is_possessive = words[at].norm in WORDS["possessive"] and at + 1 < len(words)
    return is_possessive and has_class_before and not is_inverted


def _is_place_reference(words: Sequence[Token], at: int) -> bool:
    """Whether "there" refers to a place: at the end, or before words that only say how much or when."""
    if not at or words[at].norm not in WORDS["there"]:
        return False
    neighbours = {words[at - 1].norm, words[at + 1].norm if at + 1 < len(words) else ""}
    allowed = WORDS["summed_up"] | WORDS["time"] | function_words()
    return not neighbours & (WORDS["being"] | WORDS["been"]) and all(t.norm in allowed for t in words[at + 1 :])


def _is_number_reference(words: Sequence[Token], at: int) -> bool:
    """Whether a number refers to earlier things: "which of the two"."""
    before = words[at - 1].norm if at else ""
    is_number = words[at].norm in WORDS["pronoun_number"] and before in WORDS["before_number"]
    # "how many rooms do both have", not "do both Ann and Ben"
    is_both = words[at].norm in WORDS["pronoun_both"] and before in WORDS["inverting"] | WORDS["being"]
    is_both = is_both and WORDS["joining"].isdisjoint(t.norm for t in words[at:])
    return is_both or (is_number and "of" in [t.norm for t in words[:at]][-2:])


def _is_relative(words: Sequence[Token], at: int, demonstratives: Collection[int]) -> bool:
    """Whether "that" begins a relative clause: "cities that lie in ...", "anything that floats"."""
    following = words[at + 1] if at + 1 < len(words) else None
    has_clause = following is not None and following.norm not in WORDS["stand_in"]
    is_that = words[at].norm == "that" and at and at not in demonstratives
    before = words[at - 1].norm
    follows_noun = before not in function_words() or before in WORDS["indefinite_pronouns"]
    return bool(is_that and has_clause and follows_noun)


def _is_expletive(words: Sequence[Token], at: int) -> bool:
    """Whether a pronoun stands for nothing: "did it take", or an abbreviation in capitals."""
    token = words[at]
    is_impersonal = at + 1 < len(words) and words[at + 1].norm in WORDS["impersonal"]
    return (token.norm == "it" and is_impersonal) or (len(token.text) > 1 and token.text.isupper())


def resolve_pronoun(turn: FollowUpTurn, at: int) -> Rewrite:
    """The question with the things that its pronoun stands for. Unchanged, and not `sure`, if there are none."""
    (question, _, words, _, _, linker) = turn
    token = words[at]
    if token.norm in WORDS["there"]:
        return _resolve_place(turn, at)
    if things := _all_of_best(turn, at):
        return Rewrite(strip_opener(question[: token.start] + things + question[token.end :]), True)
    is_many = _is_plural(turn, at)
    meant = _antecedent(turn, at, is_many)
    if token.norm in WORDS["stand_in"] and len(meant.keys) < 2:
        # "which one is the longest river" after lakes were mentioned.
        return Rewrite(question)
    if not meant.keys:
        return Rewrite(question, sure=False)
    if len(meant.keys) == 1 and not meant.cut:
        label = meant.labels[0]
        if token.norm in WORDS["possessive" if at + 1 < len(words) else "possessive_alone"]:
            label += "'s"
        thing = linker.lexicon.thing(meant.keys[0])
        is_other = thing is not None and thing.relation not in _class_tables(words, at, linker)
        if is_other and at in demonstrative_positions(words, linker):
            # "That town" after a brewery is its town.
            label = f"{word_map('dialogue', 'standalone')['the']} {words[at + 1].text} of {label}"
        return replace_reference(question, token.start, _reference_end(words, at, linker), label, meant.keys[0], meant)
    note = "" if is_nameless(meant) else f" ({format_labels(meant.labels)})"
    is_number = token.norm in WORDS["pronoun_number"] and bool(_class_tables(words, at, linker))
    end = words[at + 1].end if is_number else token.end
    text = strip_opener(question[: token.end] + note + question[end:])
    # It is not clear which one is meant if the pronoun is singular.
    return Rewrite(text, True, meant, is_many)


def _all_of_best(turn: FollowUpTurn, at: int) -> str:
    """ "How many hours do they work altogether?" after the one who works most: all that it was chosen from; else ""."""
    body = turn.last_body
    is_they = turn.words[at].norm in WORDS["pronoun_they"] - WORDS["possessive"]
    is_total = is_they and any(t.norm in WORDS["summed_up"] for t in turn.words[at + 1 :])
    if not is_total or not isinstance(body, Select) or body.limit != 1 or len(turn.last.keys) != 1:
        return ""
    own = next(v for v in body.variables if v.name == variable_of(body.answers[0]))
    noun = plural(class_noun(own, turn.linker.lexicon.schema))
    return f"{word_map('dialogue', 'standalone')['the']} {noun}"


def _resolve_place(turn: FollowUpTurn, at: int) -> Rewrite:
    """The question with the place that "there" stands for."""
    question, words, last = turn.question, turn.words, turn.last
    meant = place_focus(turn.earlier, turn.linker)
    start, end = words[at].start, words[at].end
    has_preposition = at and words[at - 1].norm in WORDS["place_before"]
    preposition = "" if has_preposition else "in "
    if _stated_value(turn) is not None and not has_only_places(meant, turn.linker):
        # the text of the last answer: "its base is Mill House"
        scope = None if last.confidence is None else Scope(confidence=last.confidence)
        return Rewrite(strip_opener(f"{question[:start]}{preposition}{last.labels[0]}{question[end:]}"), True, scope)
    if not meant.keys:
        return Rewrite(question, sure=False)
    if len(meant.keys) > 1:
        those = f"{word_map('dialogue', 'standalone')['those']} ({format_labels(meant.labels)})"
        return Rewrite(strip_opener(f"{question[:start]}{preposition}{those}{question[end:]}"), True, meant)
    return replace_reference(question, start, end, f"{preposition}{meant.labels[0]}", meant.keys[0], meant)


def _is_plural(turn: FollowUpTurn, at: int) -> bool:
    """Whether a pronoun stands for several things. "They" may stand for one if the last turn was about one."""
    words, norm = turn.words, turn.words[at].norm
    if norm in WORDS["pronoun_they"] and (not at or words[at - 1].norm not in WORDS["among"]):
        return not may_be_one(turn.earlier, turn.linker)
    if norm in WORDS["pronoun_many"] | WORDS["pronoun_number"] | WORDS["stand_in"]:
        return True
    # "how many pages is that in total"
    has_total = any(t.norm in WORDS["summed_up"] for t in words[at + 1 :])
    return norm in WORDS["pronoun_first"] | WORDS["demonstrative"] and has_total


def _antecedent(turn: FollowUpTurn, at: int, is_many: bool) -> Scope:
    words, earlier, linker = turn.words, turn.earlier, turn.linker
    norm = words[at].norm
    if norm in WORDS["pronoun_person"] | WORDS["possessive_person"]:
        person, subject = person_focus(earlier, linker), subject_focus(earlier[-1], linker)
        # "he" stays the dog whose breed was asked for, where no persons are
        is_same = len(subject.keys) == 1 and not has_only_persons(person, linker)
        is_asked_again = is_same and norm in (t.norm for t in tokenize(earlier[-1].question))
        return subject if is_asked_again else person
    if norm in WORDS["pronoun_number"] and (counted := _counted_things(turn, at)):
        return counted
    has_class = norm in WORDS["pronoun_many"] | WORDS["stand_in"] or at in demonstrative_positions(words, linker)
    tables = _class_tables(words, at, linker) if has_class and norm not in WORDS["possessive"] else frozenset()
    of_class = focus_of_kind(earlier, tables, linker, single=not is_many) or focus_of_kind(earlier, tables, linker)
    if of_class is not None:
        return of_class
    if norm in WORDS["stand_in"] and tables:
        return Scope()
    # "Their beers" are not those of a beer, and "it" is no person.
    owned = _class_tables(words, at, linker) if norm in WORDS["possessive"] else frozenset[str]()
    if norm not in WORDS["possessive"] and not any(t.norm in WORDS["than"] for t in words):
        # the tables of the things that are named, and not compared: "how many of them did Ann paint?"
        owned = owned.union(*(c.relations for c in mentioned_things(linker, words)))
    persons = person_tables(linker) if norm in WORDS["pronoun_thing"] else frozenset()
    requested = requested_nodes(words, at, linker)
    is_kept = not is_many and norm in (t.norm for t in tokenize(earlier[-1].question))
    may_be_body = is_many and norm in WORDS["pronoun_subject"] and bool(requested)
    subject = subject_focus(earlier[-1], linker) if is_kept or may_be_body else Scope()
    is_same = len(subject.keys) == 1 and (is_kept or has_only_places(subject, linker))
    if is_same and (not requested or may_have(subject, words, at, linker)):
        # A pronoun keeps the antecedent of the turn before, unless it asks for what this does not have. "They" may be
        # the organisation of which somebody was asked.
        return subject
    found = focus(earlier, is_many, linker, requested, owned | persons)
    if norm in WORDS["pronoun_they"] and not requested and len(found.keys) == 1:
        # one thing is no "they": those who have to do with it
        found = focus_of_kind(earlier, agent_tables(linker), linker, single=True) or found
    return found if found.keys else focus(earlier, is_many, linker, requested, persons)


def _counted_things(turn: FollowUpTurn, at: int) -> Scope | None:
    """ "The two kilns": as many things of one table as one turn gave, or as the last turns gave or named one by one."""
    lexicon, number = turn.linker.lexicon, int(english_data()["numbers"].get(turn.words[at].norm, 2))
    tables, found = _class_tables(turn.words, at, turn.linker), dict[str, str]()
    for before in reversed(turn.earlier):
        for keys in (before.keys, *named_things_of(before.plan)):
            things = {key: thing for key in keys[: number + 1] if (thing := lexicon.thing(key))}
            if len(things) not in (1, number) or any(
                t.relation not in (tables or {t.relation}) for t in things.values()
            ):
                continue
            tables = tables or frozenset(thing.relation for thing in things.values())
            found = (found if len(things) == 1 else {}) | {key: thing.label for key, thing in things.items()}
            if len(found) == number:
                return Scope(None, tuple(found), tuple(found.values()))
    return None


def _class_tables(words: Sequence[Token], at: int, linker: Linker) -> frozenset[str]:
    """The tables of the class that is named for the earlier things: "these museums", "which one is the best song", but
    not in "which one has more songs"."""
    after = {token.norm for token in words[at + 1 : at + 2]}
    may_follow = words[at].norm in WORDS["stand_in"] and after.isdisjoint(WORDS["owning_verbs"])
    classes = mentioned_classes(words, linker)
    return frozenset[str]().union(*(c.relations for c in classes if c.start == at + 1 or (may_follow and c.start > at)))


def _reference_end(words: Sequence[Token], at: int, linker: Linker) -> int:
    """The end of a reference. The noun after a demonstrative belongs to it, as in "that car" and "this one", but not in
    "what did that cost" and "is that heavier"."""
    if words[at].norm not in WORDS["demonstrative"] or at + 1 == len(words):
        return words[at].end
    following = words[at + 1]
    if following.norm in WORDS["stand_in"] or any(c.start == at + 1 for c in mentioned_classes(words, linker)):
        return following.end
    after_verb = at and words[at - 1].norm in WORDS["inverting"] | WORDS["being"]
    is_property = after_verb and any(c.kind == "predicate" and c.start == at + 1 for c in linker.link(words))
    is_noun = following.norm not in function_words() and gradable_adjective(following) is None
    return following.end if is_noun and not is_property else words[at].end


MAX_TURNS_BACK = 3  # Turns in which a thing of a class is looked for.


def resolve_value(turn: FollowUpTurn) -> Rewrite | None:
    """ "This winery" after the winery of a wine was given, which is a text: the text. "That day" is a day or date."""
    last, value = turn.last, _stated_value(turn)
    if value is None:
        return None
    label, day = split_name(turn.linker.index.graph.about(value.predicate).label).split(), WORDS["day"]
    is_day = turn.linker.index.graph.is_date(value.predicate) or not day.isdisjoint(label[-1:])
    for before, noun in pairwise(turn.words):
        is_meant = noun.norm in label or (is_day and noun.norm in day)
        if before.norm in WORDS["demonstrative"] and is_meant:
            scope = None if last.confidence is None else Scope(confidence=last.confidence)
            return Rewrite(turn.question[: before.start] + last.labels[0] + turn.question[noun.end :], True, scope)
    return None


def _stated_value(turn: FollowUpTurn) -> Attribute | None:
    """The property of which the last turn gave one text, its label."""
    body, graph = turn.last_body, turn.linker.index.graph
    value = aggregated_value(body.answers[-1]) if isinstance(body, Select) else None
    is_text = isinstance(value, Attribute) and not graph.is_numeric(value.predicate)
    return value if is_text and isinstance(value, Attribute) and len(turn.last.labels) == 1 else None


def resolve_class(turn: FollowUpTurn) -> Rewrite | None:
    """ "In the department" at the end of a question, after one department was mentioned."""
    words, linker = turn.words, turn.linker
    for kind in mentioned_classes(words, linker):
        at = kind.start - 1
        is_definite = at >= 1 and words[at].norm == "the" and words[at - 1].norm in WORDS["locating"]
        is_last = all(t.norm in function_words() for t in words[kind.end :])
        if not is_definite or not is_last or is_plural(words[kind.end - 1].norm):
            continue
        one = focus_of_kind(turn.earlier[-MAX_TURNS_BACK:], kind.relations, linker, single=True)
        if one is not None and len(one.keys) == 1:
            start, end = words[at].start, words[kind.end - 1].end
            return replace_reference(turn.question, start, end, one.labels[0], one.keys[0], one)
    return None


def ordinal_reference(turn: FollowUpTurn) -> tuple[tuple[int, int], Scope] | None:
    """The span of an ordinal with its article, and the thing that it means in the last list. None if there is none.
    "The others" are the things of the list that were not mentioned since, if the last turn was about one of them."""
    words, earlier, ordinals = turn.words, turn.earlier, english_data()["ordinals"]
    listing = next((turn for turn in reversed(earlier) if len(turn.keys) == len(turn.labels) > 1), None)
    for i, token in enumerate(words):
        if listing is None or not i or words[i - 1].norm not in WORDS["article"]:
            continue
        if token.norm in WORDS["the_others"]:
            end, number = _others_end(words, i, listing, turn.linker)
            is_elliptic = all(t.norm in function_words() for t in (*words[: i - 1], *words[end:]))
            others = _others(earlier, listing, number, is_elliptic) if end else None
            return None if others is None else ((i - 1, end), others)
        following = words[i + 1].norm if i + 1 < len(words) else ""
        has_no_noun = not following or following in WORDS["stand_in"] or following in function_words()
        size = len(listing.keys)
        place = ordinals.get(token.norm) or (size if token.norm in WORDS["last"] else 0)
        named = [n for n, label in enumerate(listing.labels, 1) if token.norm in name_tokens(label)]
        if following in WORDS["stand_in"] and len(named) == 1:
            # "the red one" of those called "red house" and "green house"
            place = place or named[0]
        if has_no_noun and 0 < place <= size:
            return (i - 1, i + 2 if following in WORDS["stand_in"] else i + 1), _things_at(listing, (place - 1,))
    return None


def _things_at(turn: EarlierTurn, places: Sequence[int]) -> Scope:
    """Some of the things that a turn gave, as certain as that turn."""
    confidence = 1.0 if turn.confidence is None else turn.confidence
    keys, labels = (tuple(each[place] for place in places) for each in (turn.keys, turn.labels))
    return Scope(None, keys, labels, confidence=confidence)


def _others_end(words: Sequence[Token], at: int, listing: EarlierTurn, linker: Linker) -> tuple[int, int]:
    """Where "other", "other two" or "other rooms" ends, 0 if another noun follows; and how many, 0 if any number."""
    numbers = english_data()["numbers"]
    plural, end = is_plural(words[at].norm), at + 1
    number = int(numbers.get(words[end].norm, 0)) if end < len(words) else 0
    end += bool(number)
    if end < len(words):
        tables = {thing.relation for key in listing.keys if (thing := linker.lexicon.thing(key))}
        is_class = any(c.start == end and tables <= c.relations for c in mentioned_classes(words, linker))
        if is_class or words[end].norm in WORDS["stand_in"]:
            plural, end = plural or is_plural(words[end].norm), end + 1
        elif words[end].norm not in function_words():
            return 0, 0
    return end, number or (0 if plural else 1)


def _others(earlier: Sequence[EarlierTurn], listing: EarlierTurn, number: int, is_elliptic: bool) -> Scope | None:
    """The things of a list that were not mentioned since; the second of two if neither was. None if their number is
    another. "And the others?" alone asks the last question, which has to be about one of the list."""
    since = earlier[[turn is listing for turn in earlier].index(True) + 1 :]
    named = {key for turn in since for keys in (turn.keys, *named_things_of(turn.plan)) for key in keys}
    rest = [place for place, key in enumerate(listing.keys) if key not in named]
    if len(listing.keys) == 2 and len(rest) != 1:
        rest = [1]
    last = set(named_things_of(since[-1].plan)) if since else set()
    is_of_one = any(len(keys) == 1 and keys[0] in listing.keys for keys in last)
    if not rest or (number and len(rest) != number) or (is_elliptic and not (number == 1 or is_of_one)):
        return None
    return _things_at(listing, rest)


_COMPARATIVE, _SUPERLATIVE = "er", "est"  # Endings of regular degrees.


def superlative_reference(question: str) -> str | None:
    """The question with a superlative of "them", in place of one with "one", unless words after it say which. None if
    there is none.

    >>> superlative_reference("Which aircraft is used on the cheaper one?")
    'Which aircraft is used on the cheapest of them?'
    """
    words = tokenize(question)
    if any(t.norm in WORDS["than"] for t in words):
        return None
    for i, token in enumerate(words):
        if token.norm not in WORDS["stand_in"] or i < 2:
            continue
        after = words[i + 1].norm if i + 1 < len(words) else ""
        has_two_words = words[i - 2].norm in WORDS["most"] | WORDS["more"] | WORDS["fewer"]
        start = i - 2 if has_two_words else i - 1
        degree = _superlative([t.norm for t in words[start:i]])
        is_definite = start and words[start - 1].norm in WORDS["article"]
        # In "the largest one time purchase" another noun follows; in "is the larger one red" the subject is complete.
        is_subject = start > 1 and words[start - 2].norm in WORDS["asking_yes_no"]
        has_noun = after and after not in function_words() and not is_subject
        if degree is None or not is_definite or has_noun or after in WORDS["restricting"]:
            continue
        of_them = "" if after in WORDS["among"] else f" {word_map('dialogue', 'standalone')['of_them']}"
        return f"{question[: words[start].start]}{degree}{of_them}{question[token.end :]}"
    return None


def _superlative(degree: Sequence[str]) -> str | None:
    """The highest degree of one or two words. None for words without degrees.

    >>> _superlative(["cheaper"]), _superlative(["more", "recent"]), _superlative(["more"]), _superlative(["red"])
    ('cheapest', 'most recent', 'most', None)
    """
    most, highest = WORDS["most"], english_data()["highest"]
    if len(degree) == 2:
        lead = highest.get(degree[0], degree[0])
        is_gradable = gradable_adjective(tokenize(degree[1])[0]) is not None
        return f"{lead} {degree[1]}" if lead in most and is_gradable else None
    word = degree[0]
    if word in highest:
        return str(highest[word])
    adjective = gradable_adjective(tokenize(word)[0])
    if adjective is None or adjective.degree == "positive":
        return None
    return word if adjective.degree == "superlative" else word.removesuffix(_COMPARATIVE) + _SUPERLATIVE


MAX_LISTED_LABELS = 4  # Labels that are listed before "and 2 more".

# The description of the things or the plan in a standalone question.
_SCOPE_NOTE = re.compile(r" \((?:of|about) [^()]*\)")


def replace_reference(question: str, start: int, end: int, label: str, key: str, scope: Scope | None = None) -> Rewrite:
    """The question with the label of a thing between two positions."""
    text = question[:start] + label + question[end:]
    return Rewrite(strip_opener(text), True, scope or Scope(None, (key,), (label.removesuffix("'s"),)))


def strip_opener(question: str) -> str:
    """The question without the words that only connect it to the turn before: "and its price?" -> "Its price?"."""
    text = pattern("dialogue", "opener").sub("", question).strip()
    mark = "?" if question.rstrip().endswith("?") else ""
    return (text[:1].upper() + text[1:]).rstrip("?").rstrip() + mark


def adds_words(question: str, standalone: str) -> bool:
    """Whether a standalone question has words that the question has not."""
    return not {t.norm for t in tokenize(standalone)} <= {t.norm for t in tokenize(question)}


def strip_scope(question: str, scope: Scope | None) -> str:
    """The question without the description of its things or its plan."""
    if scope is None:
        return question
    return _SCOPE_NOTE.sub("", question.replace(f" ({format_labels(scope.labels)})", ""))


def format_labels(labels: Sequence[str]) -> str:
    """The first labels, and how many more there are."""
    listed = ", ".join(labels[:MAX_LISTED_LABELS])
    more = len(labels) - MAX_LISTED_LABELS
    return f"{listed} and {more} more" if more > 0 else listed
