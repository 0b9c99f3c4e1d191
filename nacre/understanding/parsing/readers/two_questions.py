"""Read two questions in one: Question -> Candidates with the columns of both ("..., and what do they cost")."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from nacre.language.base import language
from nacre.language.forms.nouns import plural
from nacre.language.thesaurus import function_words
from nacre.language.tokens import Token
from nacre.plans.merge import merge_selects
from nacre.records.plan import Aggregate, Attribute, Itself, Select, Variable, aggregated_value
from nacre.records.schema import Schema
from nacre.understanding.parsing.state import Candidate
from nacre.understanding.question.types import Question, token_mask
from nacre.wording.labels.class_nouns import class_noun

# the rule that puts two questions together
SECOND_QUESTION_RULE = "second question"
# how many words the first question has at least, and how many readings of either are tried
MIN_WORDS, MAX_READINGS = 4, 5

# reads a text and uses every word of it, the likeliest reading first
WholeReader = Callable[[str], list[Candidate]]


def read_two_questions(question: Question, read_whole: WholeReader, schema: Schema) -> Iterator[Candidate]:
    """Yield the readings of a question with the columns of a second one, in which a pronoun stands for its things."""
    text, words, second = question.text, question.tokens, _second_question(question)
    if second is not None:
        at, clause = second
        for first in read_whole(text[: words[at].start].rstrip(" ,"))[:MAX_READINGS]:
            thing = _asked_thing(first.body)
            if thing is not None:
                noun = thing.label if thing.keys else f"the {plural(class_noun(thing, schema))}"
                yield from _joined(first, read_whole(_with_noun(text, clause, noun))[:MAX_READINGS], question)
    elif _begins_twice(words):
        # "where and when was she born"
        seconds = read_whole(text[words[2].start :])[:MAX_READINGS]
        for first in read_whole(text[: words[1].start] + text[words[3].start :])[:MAX_READINGS]:
            yield from _joined(first, seconds, question)


def _second_question(question: Question) -> tuple[int, Sequence[Token]] | None:
    """The last clause that asks something of what is said before: where it is joined, and its words."""
    words, known = question.tokens, language().words
    for at in range(len(words) - 2, MIN_WORDS - 1, -1):
        if words[at].norm not in known["joining"]:
            continue
        clause = words[at + 1 :]
        lead = 1 if clause[0].norm in known["asking_after"] and len(clause) > 1 else 0
        is_question = clause[lead].norm in known["question_words"]
        if is_question and any(token.norm in known["second_pronoun"] for token in clause[lead + 1 :]):
            return at, clause
    return None


def _begins_twice(words: Sequence[Token]) -> bool:
    """Whether a question begins with two question words: "where and when"."""
    known = language().words
    has_two = len(words) > MIN_WORDS and all(words[i].norm in known["question_words"] for i in (0, 2))
    return has_two and words[1].norm in known["joining"] and words[0].norm != words[2].norm


def _asked_thing(body: object) -> Variable | None:
    """The things that a select gives, or gives a property of."""
    if not isinstance(body, Select) or body.group or body.by:
        return None
    owners = {answer.variable for answer in body.answers if not isinstance(answer, Aggregate)}
    if len(owners) != 1 or any(isinstance(answer, Aggregate) for answer in body.answers):
        return None
    return next(variable for variable in body.variables if variable.name in owners)


def _with_noun(text: str, clause: Sequence[Token], noun: str) -> str:
    """A clause with a noun in the place of its pronoun."""
    known = language().words
    at = next(i for i, token in enumerate(clause) if i and token.norm in known["second_pronoun"])
    before, after = text[clause[0].start : clause[at].start], text[clause[at].end :].strip(" ?.")
    if clause[at].norm not in known["possessive"]:
        return f"{before}{noun} {after}"
    # "who is their manager": the manager of the teams
    words = enumerate(clause[at + 1 :], at + 1)
    end = next((i for i, token in words if token.norm in function_words()), len(clause))
    owned = text[clause[at + 1].start : clause[end - 1].end] if end > at + 1 else ""
    rest = text[clause[end].start :].strip(" ?.") if end < len(clause) else ""
    return f"{before}the {owned} of {noun} {rest}".strip()


def _joined(first: Candidate, seconds: Sequence[Candidate], question: Question) -> Iterator[Candidate]:
    """A reading with the columns of each second reading about some of the same things."""
    for second in seconds if isinstance(first.body, Select) else ():
        assert isinstance(first.body, Select)
        body = _with_columns(first.body, second.body)
        if body is not None:
            derivation = first.derivation.apply_rule(
                SECOND_QUESTION_RULE, second.derivation.prior, covered=token_mask(0, len(question.tokens))
            )
            join_cost = first.join_cost + second.join_cost
            yield first._replace(derivation=derivation, body=body, join_cost=join_cost)


def _with_columns(first: Select, second: object) -> Select | None:
    """The first select with what the second one asks of its things."""
    if not isinstance(second, Select) or second.group or second.by or second.order:
        return None
    if any(each not in first.filters for each in second.filters):
        return None
    both = merge_selects(first, second)
    if both is None:
        return None
    base, added = both
    shown = {aggregated_value(answer).variable for answer in base.answers}
    columns = tuple(
        answer
        for answer in added.answers
        if answer not in base.answers
        and (isinstance(answer, Attribute) or (isinstance(answer, Itself) and answer.variable not in shown))
    )
    return replace(base, answers=(*base.answers, *columns), paired=True) if columns else None
