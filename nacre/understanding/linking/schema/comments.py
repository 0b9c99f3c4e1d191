"""Link words that only the comment of a class or property contains: Question + Links -> further Links."""

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence

from nacre.language.base import language
from nacre.language.thesaurus import function_words
from nacre.language.tokens import lemma, tokenize
from nacre.understanding.linking.graph.schema_graph import SchemaGraph
from nacre.understanding.linking.schema.schema_terms import SchemaTerm, term_link
from nacre.understanding.question.types import RANKING_CUES, Link, Question, token_mask

# The score of a word that only a comment contains (given), and its letters at least.
COMMENT_SCORE, MIN_COMMENT_WORD_LETTERS = 0.45, 4
# The first sentence defines a term. What follows are hints for people who enter data.
_SENTENCE_END = re.compile(r"[.;](?=\s|$)")


def terms_by_comment_word(
    graph: SchemaGraph, terms: Sequence[SchemaTerm], name_words: Collection[str]
) -> Mapping[str, tuple[SchemaTerm, ...]]:
    """The terms by each lemma of their comments that no name (`name_words`) and no other comment contains."""
    ignored = function_words() | language().words["filler"] | language().words["generic"] | set(name_words)
    schema = graph.schema
    comments = [*((c.iri, c.comment) for c in schema.classes), *((p.iri, p.comment) for p in schema.predicates)]
    iris_of_word: dict[str, dict[str, None]] = defaultdict(dict)
    for iri, comment in comments:
        for word in {lemma(t.norm) for t in tokenize(_SENTENCE_END.split(comment)[0])} - ignored:
            if len(word) >= MIN_COMMENT_WORD_LETTERS and word.isalpha():
                iris_of_word[word][iri] = None
    # One name of each class or property is enough.
    terms_of_iri: dict[str, dict[tuple[str, tuple[int, ...]], SchemaTerm]] = defaultdict(dict)
    for term in terms:
        iri = term.predicate or next(iter(graph.nodes[term.nodes[0]].classes), "")
        terms_of_iri[iri].setdefault((term.kind, term.nodes), term)
    unique = {word: next(iter(iris)) for word, iris in iris_of_word.items() if len(iris) == 1}
    return {word: tuple(terms_of_iri[iri].values()) for word, iri in unique.items()}


def link_comment_words(
    question: Question, links: Sequence[Link], comment_terms: Mapping[str, tuple[SchemaTerm, ...]]
) -> Iterator[Link]:
    """What unlinked words name by a comment: "before it fades", of the time "until the tone has faded".

    A word that ranks names nothing so: "the smallest" where a comment says "small".
    """
    linked = 0
    for cue in question.cues:
        if cue.kind in RANKING_CUES:
            linked |= token_mask(cue.start, cue.end)
    for link in links:
        linked |= link.covered
    for i, token in enumerate(question.tokens):
        if not linked >> i & 1 and i not in question.stopwords:
            for term in comment_terms.get(token.lemma, ()):
                yield term_link(i, i + 1, term, COMMENT_SCORE, 1 << i, False, "like")
