"""Leave out what was given before: "which other films did she direct?", "who else?" -> Rewrite and Candidates."""

from collections.abc import Sequence
from dataclasses import replace

from nacre.language.base import language
from nacre.language.thesaurus import function_words
from nacre.language.tokens import tokenize
from nacre.records.plan import Aggregate, Filter, Itself, Select, Variable
from nacre.records.turn import EarlierTurn, Rewrite, Scope
from nacre.understanding.parsing.state import Candidate

# Turns whose things are left out, and things of them, at most.
MAX_TURNS_EXCLUDED, MAX_THINGS_EXCLUDED = 2, 100


def strip_other(question: str) -> str | None:
    """The question without the word that leaves out what was given. None if it has none.

    >>> strip_other("Which other films did she direct?"), strip_other("who else plays in it")
    ('Which films did she direct?', 'who plays in it')
    >>> strip_other("the other one"), strip_other("films other than Home")
    (None, None)
    """
    words, known = tokenize(question), language().words
    for i, token in enumerate(words):
        before = words[i - 1].norm if i else ""
        after = words[i + 1].norm if i + 1 < len(words) else ""
        is_else = token.norm == "else" and before in known["question_words"]
        has_noun = after and after not in function_words() | known["stand_in"] | known["than"]
        may_follow = before in known["question_words"] | known["indefinite"]
        if is_else or (token.norm in known["other"] and has_noun and may_follow):
            return question[: token.start] + question[token.end :].lstrip()
    return None


def rewrite_without_given(rewrite: Rewrite, earlier: Sequence[EarlierTurn]) -> Rewrite:
    """The rewrite with the things that the last turns gave or named, which are to be left out."""
    given = dict.fromkeys(key for turn in earlier[-MAX_TURNS_EXCLUDED:] for key in (*turn.keys, *_named_keys(turn)))
    scope = replace(rewrite.scope or Scope(), besides=tuple(given)[:MAX_THINGS_EXCLUDED])
    return replace(rewrite, depends=True, scope=scope)


def exclude_given(candidate: Candidate, keys: tuple[str, ...]) -> Candidate:
    """The candidate without these things, if it answers with things that it does not name."""
    body = candidate.body
    if not isinstance(body, Select) or isinstance(body.answers[0], Aggregate):
        return candidate
    own = next(v for v in body.variables if v.name == body.answers[0].variable)
    if own.keys:
        return candidate
    given = Variable(f"{own.name}_given", own.classes, own.without, keys, f"({len(keys)} of before)")
    excluded = Filter(Itself(own.name), "in", Select((Itself(given.name),), (given,)), True)
    return candidate._replace(body=replace(body, filters=(*body.filters, excluded)))


def _named_keys(turn: EarlierTurn) -> tuple[str, ...]:
    body = turn.plan.body if turn.plan else None
    return tuple(k for v in body.variables for k in v.keys) if isinstance(body, Select) else ()
