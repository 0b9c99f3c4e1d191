"""What a text names of one graph: tokens -> name candidates, best first; text -> Question, analysed with these names in
mind."""

from collections.abc import Sequence
from functools import lru_cache

from nacre.language.courtesy import reason_end, strip_courtesy
from nacre.language.spelling import SpellingCorrector
from nacre.language.tokens import Token, tokenize
from nacre.records.schema import Schema
from nacre.stores.compute_once import compute_once
from nacre.stores.sqlite.lexicon import Lexicon
from nacre.understanding.linking.index import LinkingIndex, build_linking_index
from nacre.understanding.linking.link_mentions import link_mentions
from nacre.understanding.linking.names.entities import CACHED_TEXTS
from nacre.understanding.linking.names.name_candidate import NameCandidate
from nacre.understanding.linking.schema.wide_words import names_union
from nacre.understanding.question.analyse import analyse_question, question_of_tokens
from nacre.understanding.question.types import Link, Question

# With more unlinked words than this, one correction does not make the question understood.
MAX_MISSPELT_WORDS = 4


class Linker:
    """The linking index of one lexicon, its spelling corrector, and a cache of linked texts.

    `stopwords` are the function words and the words that too many names contain to name anything.
    """

    def __init__(self, lexicon: Lexicon) -> None:
        self.lexicon = lexicon
        self.schema: Schema = lexicon.schema
        self.index = build_linking_index(lexicon)
        self.entities = self.index.value_linker.entities
        self.stopwords = self.entities.stopwords
        self.spelling = SpellingCorrector(lexicon)
        self._cached_link = lru_cache(CACHED_TEXTS)(self._link)

    def link(self, words: Sequence[Token]) -> tuple[NameCandidate, ...]:
        """The candidates of all spans, best first."""
        return self._cached_link(tuple(words))

    def _link(self, words: tuple[Token, ...]) -> tuple[NameCandidate, ...]:
        links = link_mentions(question_of_tokens(words), self.index)
        found = [self._candidate(link) for link in links if link.kind != "entity"]
        found += self.entities.candidates(words)
        return tuple(
            sorted(
                found,
                key=lambda c: (-c.score, c.start, -c.end, c.kind, c.label, c.predicate, c.value, c.classes, c.keys),
            )
        )

    def _candidate(self, link: Link) -> NameCandidate:
        ref = link.refs[0]
        node = self.index.graph.nodes[ref.node]
        predicate = ref.predicate or ref.via
        label, kind = link.label or node.label, link.kind
        if link.kind == "property":
            about = self.index.graph.about(predicate)
            label, kind = about.label, "flag" if about.datatype == "boolean" else "predicate"  # type: ignore[assignment]
        return NameCandidate(
            kind,  # type: ignore[arg-type]
            link.start,
            link.end,
            link.score,
            label,
            link.exact,
            node.relations,
            node.classes,
            node.without,
            link.keys,
            predicate,
            str(link.value),
            covered=frozenset(i for i in range(link.end) if link.covered >> i & 1),
        )


@compute_once(8)
def linker_of(lexicon: Lexicon) -> Linker:
    """The linker of a lexicon, built once."""
    return Linker(lexicon)


def prepare_question(text: str, linker: Linker) -> Question:
    """The analysed question. Character offsets stay those of the text.

    A leading reason ("I am planning a trip, ...") is blanked out if it names nothing of the graph. A function word
    carries meaning if a name of the graph contains it: "found" where a property is called "found at".
    """
    text = strip_courtesy(text)
    end = reason_end(text)
    if end and not linker.link(tokenize(text[:end])):
        text = " " * end + text[end:]
    question = analyse_question(linker.spelling.correct(text))
    schema_linker, words = linker.index.schema_linker, question.tokens
    return question._replace(
        stopwords=frozenset(
            i
            for i in question.stopwords
            if words[i].norm == words[i].lemma or words[i].lemma not in schema_linker.meaningful_lemmas
            if words[i].norm not in schema_linker.denying_words
            if not names_union(question, i, linker.index.graph)
        )
    )


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
