"""Complete short turns with the words of earlier ones: "and in France?", "in which years?", "who came?" -> Rewrite."""

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from nacre.language.data import WORDS, pattern, word_map
from nacre.language.thesaurus import function_words, gradable_adjective
from nacre.language.tokens import Token, tokenize
from nacre.language.word_forms import is_plural
from nacre.plans.selects import asked_select, is_from_earlier_turn
from nacre.records.plan import OF_NUMBERS, PERIODS, Aggregate, Attribute, Select, aggregated_value
from nacre.records.turn import EarlierTurn, Rewrite, Scope
from nacre.understanding.dialogue.focus import (
    MIN_HINT_SCORE,
    focus,
    has_only_persons,
    person_tables,
    property_owners,
    requested_nodes,
)
from nacre.understanding.dialogue.references import FollowUpTurn, format_labels, mentioned_things, strip_opener
from nacre.understanding.linking.link_mentions import Linker
from nacre.understanding.linking.name_candidates import NameCandidate
from nacre.understanding.question.analyse import analyse_question

# Opens the description of the plan behind a follow-up in its standalone question. It is for people.
SCOPE_OPENING = " (about "

MIN_SUBSTITUTE_SCORE = 0.75  # Minimum score of a value or class that is substituted.

# Words of a turn that may leave most of a question out; turns in which a thing is substituted; at most.
MAX_SHORT_TOKENS, MAX_SUBSTITUTED_TURNS = 4, 3

YEAR = re.compile("(?:1[0-9]|20)[0-9]{2}")  # A year as people write it.

_TIME = "time"  # The kind of a time in `_Part`.


class _Part(NamedTuple):
    """A span of characters that names a time, a class or a value of a property."""

    start: int
    end: int
    kind: str


def is_elliptic(turn: FollowUpTurn) -> bool:
    """Whether a turn names a thing and asks nothing about it: "and X?", "in X?"."""
    words = turn.words
    covered = {i for c in turn.things for i in c.covered}
    has_other_words = any(i not in covered and t.norm not in function_words() for i, t in enumerate(words))
    has_verb = bool(words) and words[0].norm in WORDS["asking_yes_no"]
    is_what_about = pattern("dialogue", "about").match(turn.question)
    has_question_word = not is_what_about and any(t.norm in WORDS["question_words"] for t in words)
    return not has_other_words and not has_verb and not has_question_word


def is_standalone(turn: EarlierTurn) -> bool:
    """Whether the words of a turn say everything it asks, without an earlier plan or its things."""
    select = asked_select(turn.plan.body) if turn.plan else None
    depends = select is not None and any(is_from_earlier_turn(v) for v in select.variables)
    return not depends and SCOPE_OPENING not in turn.standalone


def substitute_thing(turn: FollowUpTurn) -> Rewrite | None:
    """The last question with its thing replaced by the one of the turn, in a recent turn with a thing of the same
    class. A completely named thing of another class replaces the first thing of the last turn."""
    new, linker = turn.things, turn.linker
    exact = [c for c in new if c.exact]
    turns = [before for before in turn.earlier[-MAX_SUBSTITUTED_TURNS:] if is_standalone(before)]
    for before in reversed(turns):
        for old in mentioned_things(linker, tokenize(before.standalone)):
            for other in exact or new:
                if other.relations & old.relations and other.keys != old.keys:
                    return _replace_thing(before, old, other)
    old_things = mentioned_things(linker, tokenize(turns[-1].standalone)) if turns else []
    return _replace_thing(turns[-1], old_things[0], exact[0]) if exact and old_things else None


def _replace_thing(turn: EarlierTurn, old: NameCandidate, new: NameCandidate) -> Rewrite:
    words = tokenize(turn.standalone)
    before, after = turn.standalone[: words[old.start].start], turn.standalone[words[old.end - 1].end :]
    return Rewrite(before + new.label + after, True, Scope(None, new.keys, (new.label,)))


def substitute_value(turn: FollowUpTurn, *, instead: bool = False) -> Rewrite | None:
    """ "And in 2022?", "and the red ones?": the last question with its time, value or class replaced, or this added.
    With `instead` nothing is added, and a class may replace a value, or a value a class."""
    phrase, words, last, linker = turn.question, turn.words, turn.last, turn.linker
    new = _new_part(phrase, words, linker)
    if new is None or any(t.norm in WORDS["asking_yes_no"] for t in words[:1]) or not is_standalone(last):
        return None
    part, candidates = new
    old = [found.span() for found in pattern("dialogue", "time").finditer(last.standalone)]
    if part.kind != _TIME:
        old = _spans(last.standalone, linker, lambda c: _kind(c) == part.kind)
    if not old and instead:
        # "books" for "novels": a class and its values
        kinds = {("value", "class"), ("class", "value")}
        old = _spans(
            last.standalone,
            linker,
            lambda c: any((c.kind, each.kind) in kinds and c.relations & each.relations for each in candidates),
        )
    if old:
        start, end = max(old, key=lambda span: span[1] - span[0])
        put, year = phrase[part.start : part.end], YEAR.search(last.standalone, start, end)
        # "and in May?" after "in June 2024" is May 2024
        put = f"{put} {year[0]}" if part.kind == _TIME and year and not YEAR.search(put) else put
        return Rewrite(last.standalone[:start] + put + last.standalone[end:], True)
    if part.kind == "class" or instead:
        return None
    return Rewrite(f"{last.standalone.rstrip('? .')} {phrase.strip()}", True)


def _new_part(phrase: str, words: Sequence[Token], linker: Linker) -> tuple[_Part, list[NameCandidate]] | None:
    """The only time, value or class of a phrase without other content words, or the only value after a preposition."""
    parts = [_Part(m.start(), m.end(), _TIME) for m in pattern("dialogue", "time").finditer(phrase)]
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
    if words and words[0].norm in WORDS["asking_after"]:
        # "from trade customers" has the value and the class of those that have it
        parts = [part for part in parts if part.kind != "class"] or parts
    return (parts[0], candidates) if len(parts) == 1 and not has_other_words else None


def _kind(candidate: NameCandidate) -> str:
    return f"value {candidate.predicate}" if candidate.kind == "value" else candidate.kind


def _spans(text: str, linker: Linker, fits: Callable[[NameCandidate], bool]) -> list[tuple[int, int]]:
    """The spans of characters of a text with what may be replaced."""
    words = tokenize(text)
    linked = (c for c in linker.link(words) if c.score >= MIN_SUBSTITUTE_SCORE and fits(c))
    return [(words[c.start].start, words[c.end - 1].end) for c in linked]


MAX_FRAGMENT_TOKENS = 4  # Words of a fragment, at most.


def is_fragment(words: Sequence[Token]) -> bool:
    """Whether a question is only a question word, perhaps after a preposition: "and where?", "since when?"."""
    words = without_conjunction(words)
    if len(words) == 1:
        return words[0].norm in WORDS["question_words"] - WORDS["choosing"]
    has_size = 2 <= len(words) <= MAX_FRAGMENT_TOKENS
    return has_size and words[0].norm in WORDS["asking_after"] and words[1].norm in WORDS["question_words"]


def complete_fragment(question: str, last: EarlierTurn) -> Rewrite | None:
    """ "In which years?" after "Has Ann ever won?": in which years has Ann ever won?"""
    before = tokenize(last.standalone)
    first = next((i for i, t in enumerate(before[:2]) if t.norm in WORDS["asking_yes_no"]), None)
    if first is None or (first and before[0].norm not in WORDS["question_words"]) or not is_standalone(last):
        return None
    confidence = 1.0 if last.confidence is None else last.confidence
    start = before[first].start
    rest = last.standalone[start : start + 1].lower() + last.standalone[start + 1 :]
    # "since when?" after "who has the trombone?" may not be about the trombone
    sure = before[0].norm not in WORDS["asking_who"]
    return Rewrite(f"{strip_opener(question).rstrip(' ?')} {rest}", True, Scope(None, (), (), "", confidence), sure)


def add_object(turn: FollowUpTurn) -> Rewrite | None:
    """ "Who came?" after a concert, or after who organised it: who came of the concert."""
    one = focus(turn.earlier[-1:], False, turn.linker, without=person_tables(turn.linker))
    if turn.things or not pattern("dialogue", "verb_alone").search(" ".join(t.norm for t in turn.words)):
        return None
    if len(one.keys) != 1 or has_only_persons(one, turn.linker):
        return None
    return _append(turn.question, f"of {one.labels[0]}", one)


def add_group(turn: FollowUpTurn) -> Rewrite | None:
    """ "How many for each?": for each value of the property asked for before ("how many styles are there?"). "How many
    are there for each?": for each of the things that were listed before."""
    words, body = turn.words, turn.last_body
    if turn.things or len(words) < 2 or words[-1].norm not in WORDS["grouping"]:
        return None
    value = aggregated_value(body.answers[-1]) if isinstance(body, Select) else None
    if isinstance(value, Attribute):
        return _append(turn.question, turn.linker.index.graph.about(value.predicate).label)
    many = focus(turn.earlier[-1:], True, turn.linker) if words[-2].norm in WORDS["locating"] else Scope()
    return _append(turn.question, _of_them(many), many) if len(many.keys) > 1 else None


def add_number_group(turn: FollowUpTurn) -> Rewrite | None:
    """ "And per breed?" after a number, or numbers for other groups: the numbers for each breed."""
    lead = pattern("dialogue", "by_group").match(turn.question)
    standalone = turn.last.standalone if _gives_number(turn) else ""
    if lead is None or not standalone:
        return None
    words = turn.words[len(tokenize(lead[0])) :]
    linked = [c for c in turn.linker.link(words) if c.kind in ("class", "predicate") and c.score >= MIN_HINT_SCORE]
    named = {i for c in linked for i in c.covered} | {i for i, t in enumerate(words) if t.norm in PERIODS}
    if not named or any(i not in named and t.norm not in turn.linker.stopwords for i, t in enumerate(words)):
        return None
    before, kinds = tokenize(standalone), frozenset[str]().union(*(c.relations for c in linked if c.kind == "class"))
    # in place of another group, or of one thing of the class: "per breed" after "for lurchers"
    groups = [c.start for c in analyse_question(standalone).cues if c.kind == "group"]
    groups += [
        c.start - 1 for c in mentioned_things(turn.linker, before) if c.relations & kinds and c.end == len(before)
    ]
    name, known = turn.question[lead.end() :].rstrip(" ?."), word_map("dialogue", "standalone")
    if not groups or not lead["also"] or (lead["grouped"] and not turn.last.display):
        standalone = standalone[: before[min(groups)].start] if groups else standalone
        return Rewrite(f"{standalone.rstrip('? .')} {known['per']} {name}?", True) if standalone else None
    # "stack them by breed" splits the numbers of each group, as "grouped by breed" does those of a chart
    standalone, joint = standalone.rstrip("? ."), f" {known['and']} "
    if f" {name} " not in f"{standalone} ":
        is_split = isinstance(turn.last_body, Select) and len(turn.last_body.by) + len(turn.last_body.group) > 1
        standalone = f"{standalone.rpartition(joint)[0] if is_split else standalone}{joint}{name}"
    return Rewrite(standalone, True, display="chart")


def add_number_thing(turn: FollowUpTurn) -> Rewrite | None:
    """ "And for lurchers?" after a number of no named thing: the number of what belongs to them."""
    is_of_thing = turn.lead and len(turn.things) == 1 and turn.things[0].start and is_elliptic(turn)
    if not is_of_thing or not _gives_number(turn):
        return None
    phrase = turn.question[len(turn.lead) :].rstrip(" ?.")
    thing = Scope(None, turn.things[0].keys, (turn.things[0].label,))
    return Rewrite(f"{turn.last.standalone.rstrip('? .')} {phrase}?", True, thing)


def _gives_number(turn: FollowUpTurn) -> bool:
    """Whether the last answer is a number, or one for each group, and its words say everything that was asked."""
    body = turn.last_body
    is_number = isinstance(body, Select) and isinstance(body.answers[-1], Aggregate) and body.limit is None
    return is_number and is_standalone(turn.last)


def add_owner(turn: FollowUpTurn) -> Rewrite | None:
    """ "And the top speed?": of the things of the conversation. None if more than a property is asked for."""
    words, question, earlier, linker = turn.words, turn.question, turn.earlier, turn.linker
    if turn.things or any(t.norm in WORDS["grouping"] for t in words):
        return None
    is_bare = is_bare_property(words, linker)
    # "which are on floor 1" after a list of rooms
    is_open = is_open_choice(words) and not any(c.kind == "class" and c.exact for c in linker.link(words))
    if not (is_bare or is_open):
        return None
    is_best = is_choice_of_best(words)
    is_choice = not is_best and is_open_choice(words)
    cues = analyse_question(" ".join(t.norm for t in words)).cues
    counts_most = words[0].norm in WORDS["question_words"] and any(c.kind == "most" for c in cues)
    if (counts_most or has_superlative(words)) and not (is_best or is_choice):
        # "who has the highest price?" and "which town has the most members?" ask about all.
        return None
    is_sum = bool(sum_words(words))
    if is_sum or is_best or is_choice or pattern("dialogue", "opener").match(question):
        if not is_sum:
            many = focus(earlier, True, linker, requested_nodes(words, -1, linker))
        else:
            # The turn before may have said the same sum: "above the average age", then "what is the average age?".
            content = " ".join(t.norm for t in words if t.norm not in function_words())
            said = f" {' '.join(t.norm for t in tokenize(turn.last.standalone))} "
            many = Scope() if f" {content} " in said else property_owners(turn.last, words, linker)
        if len(many.keys) > 1:
            return _choose_among(turn, many) if is_choice else _append(question, _of_them(many), many)
    one = focus(earlier, many=False, linker=linker)
    return _append(question, f"of {one.labels[0]}", one) if len(one.keys) == 1 and not is_sum and is_bare else None


def add_linked_thing(turn: FollowUpTurn) -> Rewrite | None:
    """ "And the owner?", "who is the owner?": of the one thing that the last turn was about, if things of the class are
    linked to it. Several ("and the repairs?") only after "and", and not after a number of things."""
    words, linker, body = turn.words, turn.linker, turn.last_body
    classes = [c for c in linker.link(words) if c.kind == "class" and c.exact and c.end == len(words)]
    kind = max(classes, key=lambda c: c.end - c.start, default=None)
    if kind is None or turn.things or not _is_definite(words[: kind.start]):
        return None
    one = focus(turn.earlier[-1:], False, linker)
    if len(one.keys) != 1:
        return None
    counts = isinstance(body, Select) and any(isinstance(x, Aggregate) and x.function == "count" for x in body.answers)
    if is_plural(words[-1].norm) and (counts or not turn.lead):
        return None
    graph, thing = linker.index.graph, linker.lexicon.thing(one.keys[0])
    own = {n.index for n in graph.nodes if thing is not None and thing.relation in n.relations}
    asked = {n.index for n in graph.nodes if n.relations <= kind.relations}
    is_linked = any(step.target in asked for node in own for step in graph.steps[node])
    if not is_linked or own & asked:
        return None
    return _append(turn.question[len(turn.lead) :], f"of {one.labels[0]}", one)


def _is_definite(before: Sequence[Token]) -> bool:
    """Whether the words before a class ask for "the" things alone, or are none: "and who is the", ""."""
    allowed = function_words() | WORDS["question_words"]
    is_definite = not before or before[-1].norm == word_map("dialogue", "standalone")["the"]
    return is_definite and all(token.norm in allowed for token in before)


def keep_question(turn: FollowUpTurn) -> Rewrite:
    """The question as it was typed. It is not clear if it is a fragment, unless it asks for the best of all, nor if it
    only restricts: "and from Hay?"."""
    words = without_conjunction(turn.words)
    asks = not (WORDS["question_words"] | WORDS["asking_yes_no"]).isdisjoint(t.norm for t in words)
    only_restricts = words and turn.lead and not asks and words[0].norm in WORDS["asking_after"]
    is_best_of_all = (
        not turn.things
        and is_bare_property(turn.words, turn.linker)
        and has_superlative(turn.words)
        and not (is_choice_of_best(turn.words) or is_open_choice(turn.words))
    )
    return Rewrite(turn.typed, sure=not only_restricts and (is_best_of_all or not is_fragment(turn.words)))


def _choose_among(turn: FollowUpTurn, many: Scope) -> Rewrite:
    """ "Which had the fewest visitors" with "of them" after the question word."""
    first = turn.words[0]
    which = first if first.norm in WORDS["choosing_one"] else turn.words[1]
    question = f"{which.text} {_of_them(many)}{turn.question[which.end :]}"
    return Rewrite(strip_opener(question), True, many)


def _of_them(many: Scope) -> str:
    return f"{word_map('dialogue', 'standalone')['of_them']} ({format_labels(many.labels)})"


def _append(question: str, words: str, scope: Scope | None = None) -> Rewrite:
    return Rewrite(f"{strip_opener(question).rstrip('?')} {words}?", True, scope)


MIN_EXPLAINING_SCORE = 0.4  # Minimum score of a name that explains words of a question.


def is_bare_property(words: Sequence[Token], linker: Linker) -> bool:
    """Whether a question asks for a property and names nothing that has it: "which is the cheapest?"."""
    candidates = [c for c in linker.link(words) if c.score >= MIN_EXPLAINING_SCORE]
    kinds = {c.kind for c in candidates}
    explained = {i for c in candidates for i in c.covered} | sum_words(words)
    has_other_words = any(
        i not in explained and t.norm not in linker.stopwords and gradable_adjective(t) is None
        for i, t in enumerate(words)
    )
    if has_other_words or ("class" in kinds and not is_choice_of_best(words)):
        return False
    is_open = words[0].norm in WORDS["question_words"] and WORDS["pronouns"].isdisjoint(t.norm for t in words)
    if any(t.norm[:1].isdigit() for t in words) or (is_open and any(c.kind == "value" and c.exact for c in candidates)):
        # A date, a number or a value already says which things are meant.
        return False
    return bool(kinds & {"predicate", "flag"}) or any(gradable_adjective(t) for t in words)


def is_choice_of_best(words: Sequence[Token]) -> bool:
    """Whether a question chooses the best of things mentioned before: "which is the cheapest"."""
    words = without_conjunction(words)
    adjectives = [gradable_adjective(t) for t in words]
    has_degree = has_superlative(words) or any(each is not None and each.degree != "positive" for each in adjectives)
    has_others = {t.norm for t, each in zip(words, adjectives, strict=True) if each is None} - function_words()
    return has_degree and words[0].norm in WORDS["choosing"] | WORDS["article"] and has_others <= WORDS["most"]


def is_open_choice(words: Sequence[Token]) -> bool:
    """Whether a question chooses without naming a class: "which had the fewest visitors"."""
    words = without_conjunction(words)
    return len(words) > 1 and words[0].norm in WORDS["choosing_one"] and words[1].norm in function_words()


def has_superlative(words: Sequence[Token]) -> bool:
    """Whether words contain the highest degree of an adjective: "cheapest", "most expensive"."""
    most = WORDS["most"]
    return any(
        adjective is not None and (adjective.degree == "superlative" or (i > 0 and words[i - 1].norm in most))
        for i, adjective in enumerate(map(gradable_adjective, words))
    )


def sum_words(words: Sequence[Token]) -> frozenset[int]:
    """The positions of words that ask for an average or a total."""
    cues = analyse_question(" ".join(t.norm for t in words)).cues
    return frozenset(i for c in cues if c.kind in OF_NUMBERS for i in range(c.start, c.end))


def without_conjunction(words: Sequence[Token]) -> Sequence[Token]:
    """The words without a leading "and"."""
    return words[1:] if words and words[0].norm in WORDS["leading"] else words
