"""Ask the last question of something else: "and in France?", "what about the red ones?" + earlier turns -> Rewrite."""

import re
from collections.abc import Sequence
from dataclasses import replace

from nacre.language.base import language
from nacre.language.dates import Period, find_periods, year_bounds
from nacre.language.thesaurus import function_words
from nacre.language.tokens import Token, tokenize
from nacre.plans.merge import is_from_earlier_turn
from nacre.records.plan import Ask, Itself, Plan, Select
from nacre.records.turn import EarlierTurn, Rewrite, Scope
from nacre.understanding.dialogue.references.pronouns import mentioned_classes
from nacre.understanding.dialogue.revisions.plan_edits import count_plan, list_plan
from nacre.understanding.dialogue.revisions.plan_substitution import (
    exclude_thing,
    inline_earlier_plans,
    replace_period,
    replace_thing,
    replace_value,
)
from nacre.understanding.linking.linker import Linker
from nacre.understanding.linking.names.name_candidate import NameCandidate
from nacre.understanding.question.analyse import analyse_question
from nacre.wording.phrases.plan import verbalise_plan

# begins what a follow-up is about, for people, in its standalone question
SCOPE_OPENING = " (about "
# a year as people say one
YEAR = re.compile("(?:1[0-9]|20)[0-9]{2}")
# how well a value or kind is named where it stands for another one
MIN_SUBSTITUTE_SCORE = 0.75


def mentioned_things(linker: Linker, words: Sequence[Token]) -> list[NameCandidate]:
    """What the question itself names: things by name, or a part of a name that says enough and is no kind or property.

    A bare number is a number, though a thing may be called so.
    """
    links = linker.link(words)
    other = {i for c in links if c.kind != "entity" and c.exact for i in range(c.start, c.end)}
    return [
        c
        for c in links
        if c.kind == "entity"
        and (c.exact or (c.score >= 0.6 and not other.issuperset(range(c.start, c.end))))
        and not all(t.norm.isdigit() for t in words[c.start : c.end])
    ]


def is_short(words: Sequence[Token]) -> bool:
    """Whether a turn has so few words that it may leave most of a question out."""
    return len(words) <= 4


def is_elliptic(question: str, words: Sequence[Token], named: Sequence[NameCandidate]) -> bool:
    """Does the turn name a thing and ask nothing of it ("and X?", "in X?")?"""
    covered = {i for c in named for i in c.covered}
    rest = [t for i, t in enumerate(words) if i not in covered and t.norm not in function_words()]
    verb = bool(words) and words[0].norm in language().words["asking_yes_no"]
    about = language().dialogue["about"].match(question)
    asks = not about and any(t.norm in language().words["question_words"] for t in words)
    return not rest and not verb and not asks


def substitute_thing(phrase: str, earlier: tuple[EarlierTurn, ...], linker: Linker) -> Rewrite | None:
    """The last question with its thing replaced by one of the same kind."""
    new = mentioned_things(linker, tokenize(phrase))
    in_full = [c for c in new if c.exact]
    new = in_full or new
    earlier = tuple(turn for turn in earlier[-3:] if is_standalone(turn))
    for turn in reversed(earlier):
        old_words = tokenize(turn.standalone)
        old = mentioned_things(linker, old_words)
        for candidate in old:
            for other in new:
                if other.relations & candidate.relations and other.keys != candidate.keys:
                    start, end = old_words[candidate.start].start, old_words[candidate.end - 1].end
                    text = turn.standalone[:start] + other.label + turn.standalone[end:]
                    return Rewrite(text, True, Scope(None, other.keys, (other.label,)))
    last = tokenize(earlier[-1].standalone) if earlier else ()
    old = mentioned_things(linker, last)
    if not in_full or not old:
        return None
    # a thing of another kind, but named in full: the same is asked of it
    start, end = last[old[0].start].start, last[old[0].end - 1].end
    text = earlier[-1].standalone[:start] + in_full[0].label + earlier[-1].standalone[end:]
    return Rewrite(text, True, Scope(None, in_full[0].keys, (in_full[0].label,)))


def substitute_value(
    phrase: str, earlier: tuple[EarlierTurn, ...], linker: Linker, *, instead: bool = False
) -> Rewrite | None:
    """ "And in 2022?", "and the red ones?": the last question with its time, value or kind replaced, or this added.

    With `instead` nothing is added: a kind may stand in the place of a value, and a value in that of a kind."""
    words, time = tokenize(phrase), language().dialogue["time"]
    said = [(m.start(), m.end(), "time") for m in time.finditer(phrase)]
    new: list[NameCandidate] = []
    for c in linker.link(words):
        inside = any(a < words[c.end - 1].end and words[c.start].start < b for a, b, _ in said)
        if not inside and (c.kind == "value" or (c.kind == "class" and c.exact)) and c.score >= MIN_SUBSTITUTE_SCORE:
            kind = f"value {c.predicate}" if c.kind == "value" else "class"
            said.append((words[c.start].start, words[c.end - 1].end, kind))
            new.append(c)
    covered = {i for i, t in enumerate(words) if any(a <= t.start and t.end <= b for a, b, _ in said)}
    rest = [t for i, t in enumerate(words) if i not in covered and t.norm not in linker.stopwords]
    if len(said) != 1 or rest or any(t.norm in language().words["asking_yes_no"] for t in words[:1]):
        return None
    if not is_standalone(earlier[-1]):
        return None
    start, end, kind = said[0]
    last = earlier[-1].standalone
    old_words = tokenize(last)
    if kind == "time":
        old = [(m.start(), m.end()) for m in time.finditer(last)]
    else:
        old = [
            (old_words[c.start].start, old_words[c.end - 1].end)
            for c in linker.link(old_words)
            if c.score >= MIN_SUBSTITUTE_SCORE and (f"value {c.predicate}" if c.kind == "value" else c.kind) == kind
        ]
    if not old and instead:
        old = [(old_words[c.start].start, old_words[c.end - 1].end) for c in linker.link(old_words) if _stands(c, new)]
    if old:
        a, b = max(old, key=lambda o: o[1] - o[0])
        return Rewrite(last[:a] + phrase[start:end] + last[b:], True)
    return Rewrite(f"{last.rstrip('? .')} {phrase.strip()}", True) if kind != "class" and not instead else None


def _stands(old: NameCandidate, new: Sequence[NameCandidate]) -> bool:
    """Whether a kind is said where a value of its things may stand ("books" for "novels"), or the other way round."""
    kinds = {"value": "class", "class": "value"}
    return old.score >= MIN_SUBSTITUTE_SCORE and any(
        kinds.get(old.kind) == c.kind and old.relations & c.relations for c in new
    )


def is_standalone(turn: EarlierTurn) -> bool:
    """Whether the words of a turn say all that it asks: nothing of them stands for an earlier plan or its things."""
    body = turn.plan.body if turn.plan else None
    body = body.select if isinstance(body, Ask) else body
    stands = isinstance(body, Select) and any(is_from_earlier_turn(v) for v in body.variables)
    return not stands and SCOPE_OPENING not in turn.standalone


def substitute_in_plan(
    phrase: str, earlier: tuple[EarlierTurn, ...], linker: Linker, *, always: bool = False
) -> Rewrite | None:
    """The last plan with another thing or value in it, `always` or where that plan stands on what earlier turns gave.

    Words could not say it: "who collected them?" names neither the accessions nor the room that they are in.
    """
    last = earlier[-1]
    body = last.plan.body if last.plan else None
    if not isinstance(body, Select) or not (always or (last.keys and not is_standalone(last))):
        return None
    words = tokenize(phrase)
    if any(t.norm in language().words["question_words"] | language().words["filler"] for t in words):
        # "list all vases" begins a topic of its own
        return None
    things = mentioned_things(linker, words)
    values = [c for c in linker.link(words) if c.kind == "value" and c.score >= MIN_SUBSTITUTE_SCORE]
    dated = [
        *find_periods(phrase),
        *(Period(*year_bounds(int(t.norm)), t.start, t.end) for t in words if YEAR.fullmatch(t.norm)),
    ]
    covered = {i for c in (*things, *values) for i in c.covered}
    covered |= {i for i, t in enumerate(words) if any(p.start <= t.start and t.end <= p.end for p in dated)}
    if any(i not in covered and t.norm not in linker.stopwords for i, t in enumerate(words)):
        return None
    for plan in dict.fromkeys((body, inline_earlier_plans(body, earlier[:-1]))):
        made = [replace_thing(plan, c, linker.lexicon) for c in sorted(things, key=lambda c: not c.exact)]
        made += [replace_value(plan, c) for c in values]
        made += [replace_period(plan, p.first, p.after) for p in dated]
        other = next((m for m in made if m is not None), None)
        if other is not None:
            return _same(other, last, linker)
    return None


def narrow_class(words: Sequence[Token], earlier: tuple[EarlierTurn, ...], linker: Linker) -> Rewrite | None:
    """ "How many of those are novels?" after a list of books or their number: those of a narrower kind."""
    last, known = earlier[-1], language().words
    body = last.plan.body if last.plan else None
    kinds = mentioned_classes(words, linker)
    pointing = [i for i, t in enumerate(words) if t.norm in known["pronoun_many"]]
    if len(kinds) != 1 or len(pointing) != 1 or not isinstance(body, Select) or body.limit is not None:
        return None
    start, end = kinds[0].start, kinds[0].end
    between = [t.norm for t in words[pointing[0] + 1 : start]]
    rest = [t.norm for i, t in enumerate(words) if not start <= i < end and t.norm not in linker.stopwords]
    shown = list_plan(body)
    if not between or not set(between) <= known["being"] | known["article"] or rest or shown is None:
        return None
    if len(shown.answers) > 1 or not isinstance(shown.answers[0], Itself):
        return None
    own = next(v for v in shown.variables if v.name == shown.answers[0].variable)
    wider = [n for n in linker.index.graph.nodes if n.classes == own.classes and n.without == own.without]
    if not any(kinds[0].relations < n.relations for n in wider):
        return None
    narrower = replace(own, classes=kinds[0].classes, without=kinds[0].without)
    made = replace(shown, variables=tuple(narrower if v is own else v for v in shown.variables))
    asks_number = any(c.kind == "count" for c in analyse_question(" ".join(t.norm for t in words)).cues)
    plan = count_plan(made) if asks_number else made
    return None if plan is None else _same(inline_earlier_plans(plan, earlier[:-1]), last, linker)


def exclude_mentioned(phrase: str, earlier: tuple[EarlierTurn, ...], linker: Linker) -> Rewrite | None:
    """The last plan without the thing that is named, and nothing else is said of it."""
    last = earlier[-1]
    body = last.plan.body if last.plan else None
    words = tokenize(phrase)
    things = mentioned_things(linker, words)
    if not isinstance(body, Select) or not things or not is_elliptic(phrase, words, things):
        return None
    plan = inline_earlier_plans(body, earlier[:-1])
    made = (exclude_thing(plan, c, linker.index.graph) for c in sorted(things, key=lambda c: not c.exact))
    other = next((m for m in made if m is not None), None)
    return None if other is None else _same(other, last, linker)


def _same(plan: Select, last: EarlierTurn, linker: Linker) -> Rewrite:
    """The question that asks for a plan made of the last one."""
    sure = 1.0 if last.confidence is None else last.confidence
    said = verbalise_plan(Plan(plan), linker.lexicon.schema)
    return Rewrite(said[:1].upper() + said[1:], True, Scope(Plan(plan), how="same", confidence=sure))
