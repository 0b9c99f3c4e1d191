"""Words that are English, and name nothing here unless they are slips: Question + Links -> further Links ("bots")."""

from collections.abc import Sequence

from nacre.language.spelling import SpellingCorrector
from nacre.understanding.linking.index import LinkingIndex, link_mentions
from nacre.understanding.question.types import Link, Question

# words of a question that may be slips
MAX_MISSPELT_WORDS = 4


def link_misspellings(
    question: Question, links: Sequence[Link], known: LinkingIndex, spelling: SpellingCorrector
) -> list[Link]:
    """What words that nothing accounts for would name if a letter were wrong.

    They stay words that are not accounted for (`covered`), so that nobody is told for sure what they may have meant.
    """
    named = 0
    for each in links:
        named |= each.covered
    for cue in question.cues:
        named |= ((1 << (cue.end - cue.start)) - 1) << cue.start
    found: list[Link] = []
    open_ = [i for i in range(len(question.tokens)) if not (named >> i & 1 or i in question.stopwords)]
    if len(open_) > MAX_MISSPELT_WORDS:
        # a question of which so much is not known is not one slip away from being understood
        return []
    for i in open_:
        token = question.tokens[i]
        meant = spelling.almost(token)
        if meant is None:
            continue
        right = token._replace(norm=meant.norm, lemma=meant.lemma)
        again = question._replace(tokens=(*question.tokens[:i], right, *question.tokens[i + 1 :]))
        found += [
            x._replace(covered=x.covered & ~(1 << i), exact=False, match="slip")
            for x in link_mentions(again, known)
            if x.covered >> i & 1
        ]
    return found
