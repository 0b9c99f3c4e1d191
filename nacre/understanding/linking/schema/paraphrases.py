"""Link expressions and verbs that name nothing themselves: Question + Links so far -> further Links, no decision."""

from collections.abc import Iterator, Sequence

from nacre.language.base import language, word_list
from nacre.understanding.linking.schema.expressions import CONCEPT_RANK_COST, find_expressions
from nacre.understanding.linking.schema.schema_linker import MIN_TERM_SCORE, SchemaLinker
from nacre.understanding.linking.schema.schema_terms import STEM_SCORE, SYNONYM_SCORE, term_link
from nacre.understanding.question.types import Link, Question

# Letters of a verb that gets an agent noun, at least.
MIN_VERB_LETTERS = 3


def link_paraphrases(question: Question, links: Sequence[Link], schema_linker: SchemaLinker) -> list[Link]:
    """The classes and properties that paraphrases ask for."""
    by_expression = list(_link_expressions(question, links, schema_linker))
    return [*by_expression, *_link_agent_nouns(question, [*links, *by_expression], schema_linker)]


def _link_expressions(question: Question, links: Sequence[Link], schema_linker: SchemaLinker) -> Iterator[Link]:
    """What expressions ask for whose own words name nothing: "who is in charge of", "how much per hour"."""
    linked = 0
    for link in links:
        if link.exact or link.match.endswith("partial"):
            linked |= link.covered
    for start, end, concepts in find_expressions(question, linked):
        covered = (1 << end) - (1 << start)
        for rank, concept in enumerate(concepts):
            for index, at in schema_linker.terms_of_word.get(concept, ()):
                term = schema_linker.terms[index]
                score = term.weights[at] * (SYNONYM_SCORE - CONCEPT_RANK_COST * rank) / sum(term.weights)
                if score >= MIN_TERM_SCORE and not schema_linker.is_union(term):
                    yield term_link(start, end, term, score, covered, False, "like")


def _link_agent_nouns(question: Question, links: Sequence[Link], schema_linker: SchemaLinker) -> Iterator[Link]:
    """What unlinked verbs ask for by their agent noun: "who keeps the bears", the "keeper"."""
    if not question.tokens or question.tokens[0].norm not in language().words["asking_who"]:
        return
    linked = 0
    for link in links:
        linked |= link.covered
    for i, token in enumerate(question.tokens):
        if linked >> i & 1 or i in question.stopwords or len(token.lemma) < MIN_VERB_LETTERS:
            continue
        for ending in sorted(word_list("wording", "agents")):
            for index, _ in schema_linker.terms_of_word.get(token.lemma.removesuffix("e") + ending, ()):
                term = schema_linker.terms[index]
                if term.kind != "class" and len(term.words) == 1:
                    yield term_link(i, i + 1, term, STEM_SCORE, 1 << i, False, "like")
