"""What kind of question a few words form: tokens -> bool ("which is the cheapest?", "who came?")."""

from collections.abc import Sequence

from nacre.language.base import language
from nacre.language.thesaurus import function_words, gradable_adjective
from nacre.language.tokens import Token
from nacre.understanding.linking.linker import Linker
from nacre.understanding.question.analyse import analyse_question

# Minimum score of a name that explains words of a question.
MIN_EXPLAINING_SCORE = 0.4


def is_bare_property(words: Sequence[Token], linker: Linker) -> bool:
    """Whether a question asks for a property and names nothing that has it: "and top speed?", "which is the
    cheapest?"."""
    candidates = [c for c in linker.link(words) if c.score >= MIN_EXPLAINING_SCORE]
    kinds = {c.kind for c in candidates}
    explained = {i for c in candidates for i in c.covered} | sum_words(words)
    has_other_words = any(
        i not in explained and t.norm not in linker.stopwords and gradable_adjective(t) is None
        for i, t in enumerate(words)
    )
    if has_other_words or ("class" in kinds and not is_choice_of_best(words)):
        return False
    known = language().words
    is_open = words[0].norm in known["question_words"] and known["pronouns"].isdisjoint(t.norm for t in words)
    if any(t.norm[:1].isdigit() for t in words) or (is_open and any(c.kind == "value" and c.exact for c in candidates)):
        # A date, a number or a value already says which things are meant.
        return False
    return bool(kinds & {"predicate", "flag"}) or any(gradable_adjective(t) for t in words)


def is_choice_of_best(words: Sequence[Token]) -> bool:
    """Whether a question chooses the best of things mentioned before: "which is the cheapest"."""
    known = language().words
    words = without_conjunction(words)
    has_degree = has_superlative(words) or any(
        (adjective := gradable_adjective(t)) is not None and adjective.degree != "positive" for t in words
    )
    allowed = function_words() | known["most"]
    return (
        has_degree
        and words[0].norm in known["choosing"] | known["article"]
        and not any(t.norm not in allowed and gradable_adjective(t) is None for t in words)
    )


def is_open_choice(words: Sequence[Token]) -> bool:
    """Whether a question chooses without naming a class, and so among things mentioned before: "which had the fewest
    visitors"."""
    words = without_conjunction(words)
    return len(words) > 1 and words[0].norm in language().words["choosing_one"] and words[1].norm in function_words()


def is_verb_alone(words: Sequence[Token]) -> bool:
    """Whether a question is "who" and a verb, whose object was mentioned before: "who came?"."""
    words = without_conjunction(words)
    return len(words) == 2 and words[0].norm == "who" and words[1].norm not in function_words()


def has_superlative(words: Sequence[Token]) -> bool:
    """Whether words contain the highest degree of an adjective: "cheapest", "most expensive"."""
    most = language().words["most"]
    return any(
        adjective is not None and (adjective.degree == "superlative" or (i > 0 and words[i - 1].norm in most))
        for i, adjective in enumerate(map(gradable_adjective, words))
    )


def counts_most(words: Sequence[Token]) -> bool:
    """Whether a question compares numbers of things: "which town has the most members"."""
    cues = analyse_question(" ".join(t.norm for t in words)).cues
    return words[0].norm in language().words["question_words"] and any(c.kind == "most" for c in cues)


def sum_words(words: Sequence[Token]) -> frozenset[int]:
    """The positions of words that ask for an average or a total."""
    cues = analyse_question(" ".join(t.norm for t in words)).cues
    return frozenset(i for c in cues if c.kind in ("avg", "sum") for i in range(c.start, c.end))


def without_conjunction(words: Sequence[Token]) -> Sequence[Token]:
    """The words without a leading "and"."""
    return words[1:] if words and words[0].norm in language().words["leading"] else words
