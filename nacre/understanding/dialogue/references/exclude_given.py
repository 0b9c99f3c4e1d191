"""Things besides those that were given: "which other films did she direct?", "who else?" -> Rewrite and plans."""

from collections.abc import Sequence
from dataclasses import replace

from nacre.language.base import language
from nacre.language.thesaurus import function_words
from nacre.language.tokens import tokenize
from nacre.records.plan import Aggregate, Filter, Itself, Select, Variable
from nacre.records.turn import EarlierTurn, Rewrite, Scope
from nacre.understanding.parsing.candidate import Candidate

# turns whose things are left out, and things of them at most
MAX_TURNS_EXCLUDED, MAX_THINGS_EXCLUDED = 2, 100


def strip_other(question: str) -> str | None:
    """The question without the word that leaves out what was given; None where it has none.

    >>> strip_other("Which other films did she direct?"), strip_other("who else plays in it")
    ('Which films did she direct?', 'who plays in it')
    >>> strip_other("the other one"), strip_other("films other than Home")
    (None, None)
    """
    words, known = tokenize(question), language().words
    for i, token in enumerate(words):
        before = words[i - 1].norm if i else ""
        after = words[i + 1].norm if i + 1 < len(words) else ""
        else_ = token.norm == "else" and before in known["question_words"]
        noun = after and after not in function_words() | known["stand_in"] | known["than"]
        other = token.norm in known["other"] and noun and before in known["question_words"] | known["indefinite"]
        if else_ or other:
            return question[: token.start] + question[token.end :].lstrip()
    return None


def rewrite_without_given(made: Rewrite, earlier: Sequence[EarlierTurn]) -> Rewrite:
    """The question about things that were not given or named in the last turns."""
    given = dict.fromkeys(key for turn in earlier[-MAX_TURNS_EXCLUDED:] for key in (*turn.keys, *_named(turn)))
    return replace(made, depends=True, scope=replace(made.scope or Scope(), besides=tuple(given)[:MAX_THINGS_EXCLUDED]))


def _named(turn: EarlierTurn) -> tuple[str, ...]:
    body = turn.plan.body if turn.plan else None
    return tuple(k for v in body.variables for k in v.keys) if isinstance(body, Select) else ()


def exclude_given(candidate: Candidate, keys: tuple[str, ...]) -> Candidate:
    """A reading that gives things, without those that were given."""
    body = candidate.body
    if not isinstance(body, Select) or isinstance(body.answers[0], Aggregate):
        return candidate
    own = next(v for v in body.variables if v.name == body.answers[0].variable)
    if own.keys:
        return candidate
    given = Variable(f"{own.name}_given", own.classes, own.without, keys, f"({len(keys)} of before)")
    none = Filter(Itself(own.name), "in", Select((Itself(given.name),), (given,)), True)
    return candidate._replace(body=replace(body, filters=(*body.filters, none)))
