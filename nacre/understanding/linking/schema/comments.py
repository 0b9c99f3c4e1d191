"""Classes and properties by what their comments say of them: words that name nothing else -> Links, no decision."""

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence

from nacre.language.base import language
from nacre.language.thesaurus import function_words
from nacre.language.tokens import lemma, tokenize
from nacre.understanding.linking.graph.schema_graph import SchemaGraph
from nacre.understanding.linking.schema.schema_terms import SchemaTerm, term_link
from nacre.understanding.question.types import Link, Question

# what a word is worth that only the comment of a class or property holds (given)
COMMENT_SCORE = 0.45
# letters of such a word
MIN_COMMENT_WORD_LETTERS = 4
# the first sentence defines; what follows are hints for whoever fills in data
_SENTENCE = re.compile(r"[.;](?=\s|$)")


def terms_by_comment_word(
    graph: SchemaGraph, terms: Sequence[SchemaTerm], said: Collection[str]
) -> Mapping[str, tuple[SchemaTerm, ...]]:
    """The terms by each lemma of their comments that no name holds and no other comment does; `said` are the words of
    names."""
    small = function_words() | language().words["filler"] | language().words["generic"] | set(said)
    schema = graph.schema
    comments = [*((c.iri, c.comment) for c in schema.classes), *((p.iri, p.comment) for p in schema.predicates)]
    tells: dict[str, dict[str, None]] = defaultdict(dict)
    for iri, comment in comments:
        for word in {lemma(t.norm) for t in tokenize(_SENTENCE.split(comment)[0])} - small:
            if len(word) >= MIN_COMMENT_WORD_LETTERS and word.isalpha():
                tells[word][iri] = None
    # a name of each is enough
    named: dict[str, dict[tuple[str, tuple[int, ...]], SchemaTerm]] = defaultdict(dict)
    for term in terms:
        iri = term.predicate or next(iter(graph.nodes[term.nodes[0]].classes), "")
        named[iri].setdefault((term.kind, term.nodes), term)
    alone = {word: next(iter(iris)) for word, iris in tells.items() if len(iris) == 1}
    return {word: tuple(named[iri].values()) for word, iri in alone.items()}


def link_comment_words(
    question: Question, found: Sequence[Link], known: Mapping[str, tuple[SchemaTerm, ...]]
) -> Iterator[Link]:
    """What words that name nothing are told of: "before it fades", of the time "until the tone has faded"."""
    named = 0
    for link in found:
        named |= link.covered
    for i, token in enumerate(question.tokens):
        if not named >> i & 1 and i not in question.stopwords:
            for term in known.get(token.lemma, ()):
                yield term_link(i, i + 1, term, COMMENT_SCORE, 1 << i, False, "like")
