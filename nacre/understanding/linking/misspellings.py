"""Link words that may be misspelt although they are English: Question + Links -> further Links ("bots" for "boats")."""

from collections.abc import Sequence

from nacre.language.spelling import SpellingCorrector
from nacre.understanding.linking.index import LinkingIndex
from nacre.understanding.linking.link_mentions import link_mentions
from nacre.understanding.question.types import Link, Question

# With more unlinked words than this, one correction does not make the question understood.
MAX_MISSPELT_WORDS = 4


def link_misspellings(
    question: Question, links: Sequence[Link], index: LinkingIndex, spelling: SpellingCorrector
) -> list[Link]:
    """What unlinked words would name with a letter corrected.

    These links do not cover the misspelt word, so it stays among the words that are reported as unused.
    """
    linked = 0
    for link in links:
        linked |= link.covered
    for cue in question.cues:
        linked |= ((1 << (cue.end - cue.start)) - 1) << cue.start
    unlinked = [i for i in range(len(question.tokens)) if not (linked >> i & 1 or i in question.stopwords)]
    if len(unlinked) > MAX_MISSPELT_WORDS:
        return []
    found: list[Link] = []
    for i in unlinked:
        token = question.tokens[i]
        meant = spelling.graph_word_near(token)
        if meant is None:
            continue
        right = token._replace(norm=meant.norm, lemma=meant.lemma)
        corrected = question._replace(tokens=(*question.tokens[:i], right, *question.tokens[i + 1 :]))
        found += [
            x._replace(covered=x.covered & ~(1 << i), exact=False, match="slip")
            for x in link_mentions(corrected, index)
            if x.covered >> i & 1
        ]
    return found
