"""Add what a turn leaves out to it: "who came?", "and the price?" + earlier turns -> Rewrite with the things named."""

from nacre.language.base import language, word_map
from nacre.language.thesaurus import function_words
from nacre.language.tokens import tokenize
from nacre.records.turn import Rewrite, Scope
from nacre.understanding.dialogue.follow_up_turn import FollowUpTurn
from nacre.understanding.dialogue.question_shape import (
    counts_most,
    has_superlative,
    is_bare_property,
    is_choice_of_best,
    is_open_choice,
    is_verb_alone,
    sum_words,
)
from nacre.understanding.dialogue.references.focus import (
    focus,
    has_only_persons,
    property_owners,
    requested_nodes,
)
from nacre.understanding.dialogue.references.standalone_text import (
    format_labels,
    strip_opener,
)
from nacre.understanding.dialogue.revisions.fragments import grouped_property, grouped_things, is_fragment


def add_object(turn: FollowUpTurn) -> Rewrite | None:
    """ "Who came?" after a concert: who came of the concert."""
    one = focus(turn.earlier[-1:], many=False, linker=turn.linker)
    if turn.things or not is_verb_alone(turn.words) or len(one.keys) != 1 or has_only_persons(one, turn.linker):
        return None
    return _append(turn.question, f"of {one.labels[0]}", one)


def add_group(turn: FollowUpTurn) -> Rewrite | None:
    """ "How many for each?": for each value of the property that was asked for before."""
    noun = "" if turn.things else grouped_property(turn.words, turn.earlier, turn.linker)
    return _append(turn.question, noun) if noun else None


def add_group_things(turn: FollowUpTurn) -> Rewrite | None:
    """ "How many are there for each?": for each of the things that were listed before."""
    many = None if turn.things else grouped_things(turn.words, turn.earlier, turn.linker)
    return _append(turn.question, _of_them(many), many) if many is not None else None


def add_owner(turn: FollowUpTurn) -> Rewrite | None:
    """ "And the top speed?", "which is the cheapest?": of the things that the conversation is about. None if the
    question does not ask for a property alone."""
    words, question, earlier, linker = turn.words, turn.question, turn.earlier, turn.linker
    known = language().words
    if turn.things or any(t.norm in known["grouping"] for t in words) or not is_bare_property(words, linker):
        return None
    is_best = is_choice_of_best(words)
    is_choice = not is_best and is_open_choice(words)
    if (has_superlative(words) or counts_most(words)) and not (is_best or is_choice):
        # "who has the highest price?" and "which town has the most members?" ask about all.
        return None
    is_sum = bool(sum_words(words))
    if is_sum or is_best or is_choice or language().dialogue["opener"].match(question):
        many = _several_owners(turn, is_sum)
        if len(many.keys) > 1:
            return _choose_among(turn, many) if is_choice else _append(question, _of_them(many), many)
    one = focus(earlier, many=False, linker=linker)
    return _append(question, f"of {one.labels[0]}", one) if len(one.keys) == 1 and not is_sum else None


def keep_question(turn: FollowUpTurn) -> Rewrite:
    """The question as it was typed. It is not clear if it is a fragment, unless it asks for the best of all."""
    is_best_of_all = (
        not turn.things
        and is_bare_property(turn.words, turn.linker)
        and has_superlative(turn.words)
        and not (is_choice_of_best(turn.words) or is_open_choice(turn.words))
    )
    return Rewrite(turn.typed, sure=is_best_of_all or not is_fragment(turn.words))


def _several_owners(turn: FollowUpTurn, is_sum: bool) -> Scope:
    """The several things of which a property is asked. Empty if the turn before said the same sum in its words."""
    if is_sum:
        if _repeats_words(turn):
            return Scope()
        return property_owners(turn.last, turn.words, turn.linker)
    return focus(turn.earlier, True, turn.linker, requested_nodes(turn.words, -1, turn.linker))


def _choose_among(turn: FollowUpTurn, many: Scope) -> Rewrite:
    """ "Which had the fewest visitors" with "of them" after the question word."""
    first = turn.words[0]
    which = first if first.norm in language().words["choosing_one"] else turn.words[1]
    question = f"{which.text} {_of_them(many)}{turn.question[which.end :]}"
    return Rewrite(strip_opener(question), True, many)


def _repeats_words(turn: FollowUpTurn) -> bool:
    """Whether a turn asks for what the last one mentioned in the same words: "above the average age", then "what is the
    average age?"."""
    content = " ".join(t.norm for t in turn.words if t.norm not in function_words())
    return f" {content} " in f" {' '.join(t.norm for t in tokenize(turn.last.standalone))} "


def _of_them(many: Scope) -> str:
    return f"{word_map('dialogue', 'standalone')['of_them']} ({format_labels(many.labels)})"


def _append(question: str, words: str, scope: Scope | None = None) -> Rewrite:
    return Rewrite(f"{strip_opener(question).rstrip('?')} {words}?", True, scope)
