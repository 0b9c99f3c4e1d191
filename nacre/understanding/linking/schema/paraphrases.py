"""Names that are said by an expression or by a verb: Question + Links so far -> further Links, no decision."""

from collections.abc import Iterator, Sequence

from nacre.language.base import language
from nacre.language.forms.nouns import wording_entry
from nacre.understanding.linking.schema.expressions import CONCEPT_RANK_COST, find_expressions
from nacre.understanding.linking.schema.schema_linker import MIN_TERM_SCORE, SchemaLinker
from nacre.understanding.linking.schema.schema_terms import STEM_SCORE, SYNONYM_SCORE, term_link
from nacre.understanding.question.types import Link, Question

# letters of a verb of which a noun may be made for who does it
MIN_VERB_LETTERS = 3


def link_paraphrases(question: Question, found: Sequence[Link], terms: SchemaLinker) -> list[Link]:
    """The classes and properties that words ask for which name nothing themselves."""
    expressed = list(_expressed(question, found, terms))
    return [*expressed, *_done(question, [*found, *expressed], terms)]


def _expressed(question: Question, found: Sequence[Link], terms: SchemaLinker) -> Iterator[Link]:
    """What expressions ask for whose own words name nothing here: "who is in charge of", "how much per hour"."""
    taken = 0
    for link in found:
        if link.exact or link.match.endswith("partial"):
            taken |= link.covered
    for start, end, concepts in find_expressions(question, taken):
        covered = (1 << end) - (1 << start)
        for place, concept in enumerate(concepts):
            for index, at in terms.by_word.get(concept, ()):
                term = terms.terms[index]
                score = term.weights[at] * (SYNONYM_SCORE - CONCEPT_RANK_COST * place) / sum(term.weights)
                if score >= MIN_TERM_SCORE:
                    yield term_link(start, end, term, score, covered, False, "like")


def _done(question: Question, found: Sequence[Link], terms: SchemaLinker) -> Iterator[Link]:
    """What verbs that name nothing else ask for by the noun for who does it: "who keeps the bears", the "keeper"."""
    if not question.tokens or question.tokens[0].norm not in language().words["asking_who"]:
        return
    named = 0
    for link in found:
        named |= link.covered
    for i, token in enumerate(question.tokens):
        if named >> i & 1 or i in question.stopwords or len(token.lemma) < MIN_VERB_LETTERS:
            continue
        for ending in sorted(wording_entry("agents")):
            for index, _ in terms.by_word.get(token.lemma.removesuffix("e") + ending, ()):
                term = terms.terms[index]
                if term.kind != "class" and len(term.words) == 1:
                    yield term_link(i, i + 1, term, STEM_SCORE, 1 << i, False, "like")
