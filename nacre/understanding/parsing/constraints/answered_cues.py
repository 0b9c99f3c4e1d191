"""Readings that answer to a cue of the question: Candidates + Question -> those that do, if there are any."""

from collections.abc import Callable, Sequence

from nacre.language.base import language, word_map
from nacre.language.forms.nouns import is_plural
from nacre.language.tokens import Token
from nacre.understanding.parsing.candidate import Candidate
from nacre.understanding.parsing.state import ParseContext
from nacre.understanding.question.types import Derivation, Question, Ref


def expect_rule(
    asks: Callable[[Question], bool], rule: str
) -> Callable[[list[Candidate], ParseContext], list[Candidate]]:
    """Return a constraint that keeps the readings made by a rule, if the question asks for what the rule answers."""

    def keep(candidates: list[Candidate], context: ParseContext) -> list[Candidate]:
        if not asks(context.question):
            return candidates
        return [each for each in candidates if rule in each.derivation.trace]

    return keep


def asks_capacity(question: Question) -> bool:
    """Whether "how many" begins a measure: "how many people can the room hold" counts nobody."""
    counts = [cue for cue in question.cues if cue.kind == "count"]
    degrees = [cue for cue in question.cues if cue.kind == "degree"]
    return any(degree.start == count.start and count.end < degree.end for degree in degrees for count in counts)


def asks_measure(question: Question) -> bool:
    """Whether the measure of a superlative is asked for as well."""
    return question.wants_measure


def prefer_whole_sums(candidates: list[Candidate], context: ParseContext) -> list[Candidate]:
    """Return the readings without those that list a total of each thing, where others give the total of all.

    "The total amount of all orders" is one number, even if each order has a "total amount".
    """
    tokens, of_all_words = context.question.tokens, language().words["altogether"]
    if not any(cue.kind == "any" and tokens[cue.start].norm in of_all_words for cue in context.question.cues):
        return candidates
    sums = {target.ref for each in candidates for target in each.derivation.targets if target.function == "sum"}
    return [each for each in candidates if not any(_lists_totals(each.derivation, ref, tokens) for ref in sums)]


def _lists_totals(derivation: Derivation, ref: Ref, tokens: Sequence[Token]) -> bool:
    """Whether a property that is called a total is listed for each thing."""
    total_words = word_map("wording", "computed")["total"].split()
    named = [
        link
        for link in derivation.links
        if link.kind == "property" and link.refs[0] == ref and tokens[link.start].norm in total_words
    ]
    is_listed = any(target.ref == ref and not target.function for target in derivation.targets)
    return is_listed and any(not is_plural(tokens[link.end - 1].norm) for link in named)
