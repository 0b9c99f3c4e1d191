"""Complete short turns with the words of earlier ones: "and in France?", "in which years?", "who came?" -> Rewrite.

In order: the last question about something else, one thing more about the turn before, what a turn leaves out; then
what kind of question a few words form, and FollowUpTurn, the turn as these rules look at it.
"""

from collections.abc import Sequence
from typing import NamedTuple

from nacre.language.data import language, word_map
from nacre.language.thesaurus import function_words, gradable_adjective
from nacre.language.tokens import Token, tokenize
from nacre.plans.selects import asked_select, is_from_earlier_turn
from nacre.records.plan import OF_NUMBERS, Attribute, Select, aggregated_value
from nacre.records.turn import EarlierTurn, Rewrite, Scope
from nacre.understanding.dialogue.focus import focus, has_only_persons, property_owners, requested_nodes
from nacre.understanding.dialogue.references import format_labels, mentioned_things, strip_opener
from nacre.understanding.linking.link_mentions import Linker
from nacre.understanding.linking.name_candidates import NameCandidate
from nacre.understanding.question.analyse import analyse_question

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
    With `instead` nothing is added, and a class may replace a value, or a value a class."""
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


# Words of a fragment, at most.
MAX_FRAGMENT_TOKENS = 4


def is_fragment(words: Sequence[Token]) -> bool:
    """Whether a question is a question word alone or after a preposition, and so needs the turn before: "and where?",
    "in which episodes?", "since when?"."""
    known = language().words
    words = without_conjunction(words)
    if len(words) == 1:
        return words[0].norm in known["question_words"] - known["choosing"]
    has_size = 2 <= len(words) <= MAX_FRAGMENT_TOKENS
    return has_size and words[0].norm in known["asking_after"] and words[1].norm in known["question_words"]


def complete_fragment(question: str, last: EarlierTurn) -> Rewrite | None:
    """ "In which years?" after "Has Ann ever won?": in which years has Ann ever won? "And where?" after "When was Ann
    born?": where was Ann born?"""
    before, known = tokenize(last.standalone), language().words
    first = next((i for i, t in enumerate(before[:2]) if t.norm in known["asking_yes_no"]), None)
    if first is None or (first and before[0].norm not in known["question_words"]) or not is_standalone(last):
        return None
    confidence = 1.0 if last.confidence is None else last.confidence
    start = before[first].start
    rest = last.standalone[start : start + 1].lower() + last.standalone[start + 1 :]
    return Rewrite(f"{strip_opener(question).rstrip(' ?')} {rest}", True, Scope(None, (), (), "", confidence))


def grouped_property(words: Sequence[Token], earlier: tuple[EarlierTurn, ...], linker: Linker) -> str:
    """The label of the property that the last turn asked for, if a turn ends with "for each": "list the number of rooms
    for each" after "how many different styles are there?". Empty if there is none."""
    body = earlier[-1].plan.body if earlier[-1].plan else None
    if len(words) < 2 or words[-1].norm not in language().words["grouping"] or not isinstance(body, Select):
        return ""
    value = aggregated_value(body.answers[-1])
    return linker.index.graph.about(value.predicate).label if isinstance(value, Attribute) else ""


def grouped_things(words: Sequence[Token], earlier: tuple[EarlierTurn, ...], linker: Linker) -> Scope | None:
    """The things that were listed before, if a turn ends with "for each". None if there are not several."""
    known = language().words
    if len(words) < 2 or words[-1].norm not in known["grouping"] or words[-2].norm not in known["locating"]:
        return None
    many = focus(earlier[-1:], True, linker)
    return many if len(many.keys) > 1 else None


class FollowUpTurn(NamedTuple):
    """A question with what it names itself and the turns before it, of which there is at least one.

    `question` is without courtesy and in correct spelling, `typed` as the user typed it. `things` are the things that
    the question names.
    """

    question: str
    typed: str
    words: tuple[Token, ...]
    things: tuple[NameCandidate, ...]
    earlier: tuple[EarlierTurn, ...]
    linker: Linker

    @property
    def last(self) -> EarlierTurn:
        return self.earlier[-1]

    @property
    def lead(self) -> str:
        """The opening that only connects the question to the turn before: "what about ", "and "."""
        patterns = language().dialogue
        opening = patterns["about"].match(self.question) or patterns["opener"].match(self.question)
        return opening[0] if opening else ""

    @property
    def phrase(self) -> str:
        """The question without its lead."""
        return self.question[len(self.lead) :]


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


# Minimum score of a name that explains words of a question.
MIN_EXPLAINING_SCORE = 0.4


def is_bare_property(words: Sequence[Token], linker: Linker) -> bool:
    """Whether a question asks for a property and names nothing that has it: "and top speed?", "which is the
    cheapest?"."""
    candidates = [c for c in linker.link(words) if c.score >= MIN_EXPLAINING_SCORE]
    kinds = {c.kind for c in candidates}
    explained = {i for c in candidates for i in c.covered} | sum_words(words)
    has_other_words = any(
        i not in explained and t.norm not in linker.stopwords and gradable_adjective(t) is None
        for i, t in enumerate(words)
    )
    if has_other_words or ("class" in kinds and not is_choice_of_best(words)):
        return False
    known = language().words
    is_open = words[0].norm in known["question_words"] and known["pronouns"].isdisjoint(t.norm for t in words)
    if any(t.norm[:1].isdigit() for t in words) or (is_open and any(c.kind == "value" and c.exact for c in candidates)):
        # A date, a number or a value already says which things are meant.
        return False
    return bool(kinds & {"predicate", "flag"}) or any(gradable_adjective(t) for t in words)


def is_choice_of_best(words: Sequence[Token]) -> bool:
    """Whether a question chooses the best of things mentioned before: "which is the cheapest"."""
    known = language().words
    words = without_conjunction(words)
    has_degree = has_superlative(words) or any(
        (adjective := gradable_adjective(t)) is not None and adjective.degree != "positive" for t in words
    )
    allowed = function_words() | known["most"]
    return (
        has_degree
        and words[0].norm in known["choosing"] | known["article"]
        and not any(t.norm not in allowed and gradable_adjective(t) is None for t in words)
    )


def is_open_choice(words: Sequence[Token]) -> bool:
    """Whether a question chooses without naming a class, and so among things mentioned before: "which had the fewest
    visitors"."""
    words = without_conjunction(words)
    return len(words) > 1 and words[0].norm in language().words["choosing_one"] and words[1].norm in function_words()


def is_verb_alone(words: Sequence[Token]) -> bool:
    """Whether a question is "who" and a verb, whose object was mentioned before: "who came?"."""
    words = without_conjunction(words)
    return len(words) == 2 and words[0].norm == "who" and words[1].norm not in function_words()


def has_superlative(words: Sequence[Token]) -> bool:
    """Whether words contain the highest degree of an adjective: "cheapest", "most expensive"."""
    most = language().words["most"]
    return any(
        adjective is not None and (adjective.degree == "superlative" or (i > 0 and words[i - 1].norm in most))
        for i, adjective in enumerate(map(gradable_adjective, words))
    )


def counts_most(words: Sequence[Token]) -> bool:
    """Whether a question compares numbers of things: "which town has the most members"."""
    cues = analyse_question(" ".join(t.norm for t in words)).cues
    return words[0].norm in language().words["question_words"] and any(c.kind == "most" for c in cues)


def sum_words(words: Sequence[Token]) -> frozenset[int]:
    """The positions of words that ask for an average or a total."""
    cues = analyse_question(" ".join(t.norm for t in words)).cues
    return frozenset(i for c in cues if c.kind in OF_NUMBERS for i in range(c.start, c.end))


def without_conjunction(words: Sequence[Token]) -> Sequence[Token]:
    """The words without a leading "and"."""
    return words[1:] if words and words[0].norm in language().words["leading"] else words
