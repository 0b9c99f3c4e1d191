"""Ask the last plan about something else, if words cannot say it: phrase + earlier turns -> Rewrite with a plan."""

import re
from collections.abc import Sequence
from dataclasses import replace

from nacre.language.base import language
from nacre.language.dates import Period, find_periods, year_bounds
from nacre.language.tokens import Token, tokenize
from nacre.records.plan import Itself, Plan, Select
from nacre.records.turn import EarlierTurn, Rewrite, Scope
from nacre.understanding.dialogue.references.pronouns import (
    mentioned_classes,
    mentioned_things,
)
from nacre.understanding.dialogue.revisions.ellipsis import (
    MIN_SUBSTITUTE_SCORE,
    is_elliptic,
    is_standalone,
)
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

# A year as people write it.
YEAR = re.compile("(?:1[0-9]|20)[0-9]{2}")


def substitute_in_plan(
    phrase: str, earlier: tuple[EarlierTurn, ...], linker: Linker, *, always: bool = False
) -> Rewrite | None:
    """The last plan with another thing, value or period in it, if it depends on earlier turns (or `always`).

    Words cannot express it then: "who collected them?" mentions neither the accessions nor the room that they are in.
    """
    last = earlier[-1]
    body = last.plan.body if last.plan else None
    if not isinstance(body, Select) or not (always or (last.keys and not is_standalone(last))):
        return None
    words = tokenize(phrase)
    if any(t.norm in language().words["question_words"] | language().words["filler"] for t in words):
        # "list all vases" begins a new topic.
        return None
    things = mentioned_things(linker, words)
    values = [c for c in linker.link(words) if c.kind == "value" and c.score >= MIN_SUBSTITUTE_SCORE]
    periods = _find_periods(phrase, words)
    if _has_other_words(words, (*things, *values), periods, linker):
        return None
    for plan in dict.fromkeys((body, inline_earlier_plans(body, earlier[:-1]))):
        changed = [
            *(replace_thing(plan, c, linker.lexicon) for c in _exact_first(things)),
            *(replace_value(plan, c) for c in values),
            *(replace_period(plan, p.first, p.after) for p in periods),
        ]
        first = next((other for other in changed if other is not None), None)
        if first is not None:
            return _ask_plan(first, last, linker)
    return None


def narrow_class(words: Sequence[Token], earlier: tuple[EarlierTurn, ...], linker: Linker) -> Rewrite | None:
    """ "How many of those are novels?" after a list of books or their number: the last plan, of the narrower class."""
    last = earlier[-1]
    body = last.plan.body if last.plan else None
    classes = mentioned_classes(words, linker)
    if len(classes) != 1 or not isinstance(body, Select) or body.limit is not None:
        return None
    narrow, listed = classes[0], list_plan(body)
    if listed is None or not _says_those_are(words, narrow, linker):
        return None
    if len(listed.answers) > 1 or not isinstance(listed.answers[0], Itself):
        return None
    own = next(v for v in listed.variables if v.name == listed.answers[0].variable)
    wider = [n for n in linker.index.graph.nodes if n.classes == own.classes and n.without == own.without]
    if not any(narrow.relations < n.relations for n in wider):
        return None
    narrowed = replace(own, classes=narrow.classes, without=narrow.without)
    plan = replace(listed, variables=tuple(narrowed if v is own else v for v in listed.variables))
    cues = analyse_question(" ".join(t.norm for t in words)).cues
    requested = count_plan(plan) if any(c.kind == "count" for c in cues) else plan
    return None if requested is None else _ask_plan(inline_earlier_plans(requested, earlier[:-1]), last, linker)


def exclude_mentioned(phrase: str, earlier: tuple[EarlierTurn, ...], linker: Linker) -> Rewrite | None:
    """The last plan without the thing that the phrase names. None if the phrase says more."""
    last = earlier[-1]
    body = last.plan.body if last.plan else None
    words = tokenize(phrase)
    things = mentioned_things(linker, words)
    if not isinstance(body, Select) or not things or not is_elliptic(phrase, words, things):
        return None
    plan = inline_earlier_plans(body, earlier[:-1])
    changed = (exclude_thing(plan, c, linker.index.graph) for c in _exact_first(things))
    first = next((other for other in changed if other is not None), None)
    return None if first is None else _ask_plan(first, last, linker)


def _find_periods(phrase: str, words: Sequence[Token]) -> list[Period]:
    years = (Period(*year_bounds(int(t.norm)), t.start, t.end) for t in words if YEAR.fullmatch(t.norm))
    return [*find_periods(phrase), *years]


def _has_other_words(
    words: Sequence[Token], candidates: Sequence[NameCandidate], periods: Sequence[Period], linker: Linker
) -> bool:
    """Whether content words are left besides names, values and periods."""
    covered = {i for c in candidates for i in c.covered}
    covered |= {i for i, t in enumerate(words) if any(p.start <= t.start and t.end <= p.end for p in periods)}
    return any(i not in covered and t.norm not in linker.stopwords for i, t in enumerate(words))


def _says_those_are(words: Sequence[Token], narrow: NameCandidate, linker: Linker) -> bool:
    """Whether the only content of a question is that earlier things are of a class: "those are novels"."""
    known = language().words
    pronouns = [i for i, t in enumerate(words) if t.norm in known["pronoun_many"]]
    if len(pronouns) != 1:
        return False
    between = {t.norm for t in words[pronouns[0] + 1 : narrow.start]}
    has_other_words = any(
        not narrow.start <= i < narrow.end and t.norm not in linker.stopwords for i, t in enumerate(words)
    )
    return bool(between) and between <= known["being"] | known["article"] and not has_other_words


def _exact_first(things: Sequence[NameCandidate]) -> list[NameCandidate]:
    return sorted(things, key=lambda c: not c.exact)


def _ask_plan(plan: Select, last: EarlierTurn, linker: Linker) -> Rewrite:
    """The question that asks for a plan made of the last one, in words."""
    confidence = 1.0 if last.confidence is None else last.confidence
    words = verbalise_plan(Plan(plan), linker.lexicon.schema)
    return Rewrite(words[:1].upper() + words[1:], True, Scope(Plan(plan), how="same", confidence=confidence))
