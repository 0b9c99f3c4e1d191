"""Which words of a question a reading leaves unused: Candidate + Question -> token positions."""

from nacre.plans.inspect_select import predicates_of
from nacre.records.plan import Ask
from nacre.understanding.parsing.candidate import Candidate
from nacre.understanding.question.types import Question


def unused_tokens(candidate: Candidate, question: Question) -> list[int]:
    """Return the positions of the content words that no part of a reading accounts for."""
    covered = candidate.derivation.covered & ~_unchecked_mask(candidate)
    return [i for i in range(len(question.tokens)) if i not in question.stopwords and not covered >> i & 1]


def _unchecked_mask(candidate: Candidate) -> int:
    """Return the token mask of the properties and links that a yes/no reading names but does not test.

    "Is he blocked" does not only ask whether he exists.
    """
    if not isinstance(candidate.body, Ask):
        return 0
    tested = predicates_of(candidate.body.select)
    unchecked = checked = 0
    for link in candidate.derivation.links:
        named = {name for ref in link.refs for name in (ref.predicate, ref.via) if name}
        if link.kind == "property" and named and not named & tested:
            unchecked |= link.covered
        else:
            checked |= link.covered
    return unchecked & ~checked
