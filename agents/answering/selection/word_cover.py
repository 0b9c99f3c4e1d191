"""Whether sentences have the words of a question: question + sentences -> bool."""

from collections.abc import Sequence

from nacre.language.rank_sentences import word_coverage as share
from nacre.language.thesaurus import function_words
from nacre.language.tokens import tokenize
from nacre.records.evidence import EvidenceSentence

# the share of the question's words that sentences must contain to answer it (given)
ENOUGH_WORDS = 0.6


def content_words(text: str) -> frozenset[str]:
    """The lemmas of the words that have meaning.

    >>> sorted(content_words("Which of the rivers are long?"))
    ['long', 'river']
    """
    empty = function_words()
    return frozenset(token.lemma for token in tokenize(text) if not {token.norm, token.lemma} & empty)


def is_covered_by(question: str, sentences: Sequence[EvidenceSentence]) -> bool:
    """Whether the sentences about one of the things contain most words of the question."""
    by_title = {each.title: [e for e in sentences if e.title == each.title] for each in sentences}
    return any(_contains_most_words(question, group) for group in by_title.values())


def _contains_most_words(question: str, sentences: Sequence[EvidenceSentence]) -> bool:
    """Whether the sentences contain most words of the question, and most of those that their titles lack."""
    named = frozenset[str]().union(*(content_words(each.title) for each in sentences))
    further = " ".join(sorted(content_words(question) - named))
    if share(question, sentences) < ENOUGH_WORDS:
        return False
    return not further or share(further, sentences) >= ENOUGH_WORDS
