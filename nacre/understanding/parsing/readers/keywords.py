"""Read keywords without function words: Candidates -> those that say more than the words ("Cellar Stage heated")."""

from collections.abc import Sequence
from dataclasses import replace

from nacre.plans.inspect_select import filtered_variable
from nacre.records.plan import Ask, Attribute, Itself, Select
from nacre.understanding.parsing.candidate import Candidate
from nacre.understanding.question.types import Question

# The rule in the trace of what only keywords ask.
KEYWORD_RULE = "keyword"


def is_keywords(question: Question) -> bool:
    """Whether a question has content words alone, and so no word that says what is asked of what."""
    return len(question.tokens) > 1 and not question.stopwords and not question.cues


def read_keywords(candidates: Sequence[Candidate], question: Question) -> list[Candidate]:
    """The readings of keywords that give something new, of other questions all.

    A thing with a condition asks whether it holds. What the words name already is no answer, unless nothing else is.
    """
    if not is_keywords(question):
        return list(candidates)
    read = [_as_condition(each) for each in candidates]
    return [each for each in read if not _repeats_condition(each)] or read


def _as_condition(candidate: Candidate) -> Candidate:
    """The reading as a yes/no question if it gives one named thing under further conditions."""
    body = candidate.body
    if not isinstance(body, Select) or len(body.answers) != 1 or not isinstance(body.answers[0], Itself):
        return candidate
    named = next((v for v in body.variables if v.name == body.answers[0].variable), None)
    if named is None or len(named.keys) != 1 or body.group or body.limit or not _is_condition(body, named.name):
        return candidate
    asked = Ask(replace(body, order=None))
    return candidate._replace(body=asked, derivation=candidate.derivation.apply_rule(KEYWORD_RULE))


def _is_condition(body: Select, thing: str) -> bool:
    """Whether the rest of a plan is a condition that can be true or false of the thing.

    A condition names a value or another thing; whether the thing has any value at all is rarely asked."""
    compared = {filtered_variable(f) for f in body.filters if f.op != "known"}
    others = [v for v in body.variables if v.name != thing]
    return bool(compared or others) and all(v.keys or v.name in compared for v in others)


def _repeats_condition(candidate: Candidate) -> bool:
    """Whether a reading gives nothing but what its conditions say: a thing or a value that the words name."""
    body = candidate.body
    if not isinstance(body, Select) or body.group or body.by:
        return False
    named = {v.name for v in body.variables if len(v.keys) == 1}
    equal = {f.left for f in body.filters if f.op == "=" and not f.negated and isinstance(f.left, Attribute)}
    return all(
        a in equal if isinstance(a, Attribute) else isinstance(a, Itself) and a.variable in named for a in body.answers
    )
