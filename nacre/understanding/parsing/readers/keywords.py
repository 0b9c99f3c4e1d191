"""Read keywords without function words: Candidate -> Candidate that asks whether they hold ("Cellar Stage heated")."""

from dataclasses import replace

from nacre.plans.inspect_select import filtered_variable
from nacre.records.plan import Ask, Itself, Select
from nacre.understanding.parsing.state import Candidate, ParseContext
from nacre.understanding.question.types import Question

# The rule in the trace of what only keywords ask.
KEYWORD_RULE = "keyword"


def is_keywords(question: Question) -> bool:
    """Whether a question has content words alone, and so no word that says what is asked of what."""
    return len(question.tokens) > 1 and not question.stopwords and not question.cues


def as_condition(candidate: Candidate, context: ParseContext) -> Candidate:
    """Return the reading of keywords as a yes/no question if it gives one named thing under further conditions."""
    if not is_keywords(context.question) or not isinstance(candidate.body, Select) or not _tests_thing(candidate.body):
        return candidate
    asked = Ask(replace(candidate.body, order=None))
    return candidate._replace(body=asked, derivation=candidate.derivation.apply_rule(KEYWORD_RULE))


def _tests_thing(body: Select) -> bool:
    """Whether a plan gives one named thing under further conditions."""
    if len(body.answers) != 1 or not isinstance(body.answers[0], Itself):
        return False
    named = next((v for v in body.variables if v.name == body.answers[0].variable), None)
    if named is None or len(named.keys) != 1 or body.group or body.limit:
        return False
    return _is_condition(body, named.name)


def _is_condition(body: Select, thing: str) -> bool:
    """Whether the rest of a plan is a condition that can be true or false of the thing.

    A condition names a value or another thing; whether the thing has any value at all is rarely asked."""
    compared = {filtered_variable(f) for f in body.filters if f.op != "known"}
    others = [v for v in body.variables if v.name != thing]
    return bool(compared or others) and all(v.keys or v.name in compared for v in others)
