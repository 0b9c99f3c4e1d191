"""Two questions in one: "which rooms have a view, and what do they cost?": Question -> Candidates with both columns."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from nacre.language.base import language
from nacre.language.forms.nouns import plural
from nacre.language.thesaurus import function_words
from nacre.language.tokens import Token
from nacre.plans.merge import merge_selects
from nacre.records.plan import Aggregate, Attribute, Itself, Select, Variable, aggregated_value
from nacre.records.schema import Schema
from nacre.understanding.parsing.candidate import Candidate
from nacre.understanding.question.types import Question
from nacre.wording.labels.class_nouns import class_noun

# the rule that puts two questions together
SECOND = "second question"
# words that the first of them has at least, and readings of either that are looked at
FEWEST, MOST = 4, 5

# reads a text, each word of it used, the likeliest first
WholeReader = Callable[[str], list[Candidate]]


def read_two_questions(question: Question, whole: WholeReader, schema: Schema) -> Iterator[Candidate]:
    """The readings of a question with the columns of a second one, which says "they" of what the first gives."""
    text, words, split = question.text, question.tokens, _split(question)
    if split is not None:
        at, clause = split
        for first in whole(text[: words[at].start].rstrip(" ,"))[:MOST]:
            thing = _asked(first.body)
            if thing is not None:
                noun = thing.label if thing.keys else f"the {plural(class_noun(thing, schema))}"
                yield from _both(first, whole(_named(text, clause, noun))[:MOST], question)
    elif _asks_twice(words):
        # "where and when was she born"
        seconds = whole(text[words[2].start :])[:MOST]
        for first in whole(text[: words[1].start] + text[words[3].start :])[:MOST]:
            yield from _both(first, seconds, question)


def _both(first: Candidate, seconds: Sequence[Candidate], question: Question) -> Iterator[Candidate]:
    """A reading with the columns of each other one that has some of the same things."""
    for second in seconds if isinstance(first.body, Select) else ():
        assert isinstance(first.body, Select)
        body = _beside(first.body, second.body)
        if body is not None:
            d, every = first.derivation, (1 << len(question.tokens)) - 1
            d = d._replace(covered=every, prior=d.prior + second.derivation.prior, trace=(*d.trace, SECOND))
            yield first._replace(derivation=d, body=body, join_cost=first.join_cost + second.join_cost)


def _asks_twice(words: Sequence[Token]) -> bool:
    """Whether a question begins with two question words: "where and when"."""
    known = language().words
    asks = len(words) > FEWEST and all(words[i].norm in known["question_words"] for i in (0, 2))
    return asks and words[1].norm in known["joining"] and words[0].norm != words[2].norm


def _split(question: Question) -> tuple[int, Sequence[Token]] | None:
    """Where a last clause begins that asks something of what is said before, and its words."""
    words, known = question.tokens, language().words
    for at in range(len(words) - 2, FEWEST - 1, -1):
        if words[at].norm not in known["joining"]:
            continue
        clause = words[at + 1 :]
        lead = 1 if clause[0].norm in known["asking_after"] and len(clause) > 1 else 0
        asks = clause[lead].norm in known["question_words"]
        if asks and any(t.norm in known["second_pronoun"] for t in clause[lead + 1 :]):
            return at, clause
    return None


def _named(text: str, clause: Sequence[Token], noun: str) -> str:
    """A clause with what it is about in the place of its pronoun."""
    known = language().words
    i = next(i for i, t in enumerate(clause) if i and t.norm in known["second_pronoun"])
    before, after = text[clause[0].start : clause[i].start], text[clause[i].end :].strip(" ?.")
    if clause[i].norm not in known["possessive"]:
        return f"{before}{noun} {after}"
    # "who is their manager": the manager of the teams
    end = next((j for j in range(i + 1, len(clause)) if clause[j].norm in function_words()), len(clause))
    owned, rest = text[clause[i + 1].start : clause[end - 1].end] if end > i + 1 else "", clause[end:]
    tail = text[rest[0].start :].strip(" ?.") if rest else ""
    return f"{before}the {owned} of {noun} {tail}".strip()


def _asked(body: object) -> Variable | None:
    """The things that a select gives, or gives a property of."""
    if not isinstance(body, Select) or body.group or body.by:
        return None
    owners = {a.variable for a in body.answers if not isinstance(a, Aggregate)}
    if len(owners) != 1 or any(isinstance(a, Aggregate) for a in body.answers):
        return None
    return next(v for v in body.variables if v.name in owners)


def _beside(first: Select, second: object) -> Select | None:
    """The first select with what the second one asks of its things."""
    if not isinstance(second, Select) or second.group or second.by or second.order:
        return None
    if any(each not in first.filters for each in second.filters):
        return None
    both = merge_selects(first, second)
    if both is None:
        return None
    base, added = both
    shown = {aggregated_value(a).variable for a in base.answers}
    new = tuple(
        a
        for a in added.answers
        if a not in base.answers and (isinstance(a, Attribute) or (isinstance(a, Itself) and a.variable not in shown))
    )
    return replace(base, answers=(*base.answers, *new), paired=True) if new else None
