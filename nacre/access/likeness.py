"""How well labels and kinds of values fit a question: by its words, by the meaning of labels, and by the kind of value
that it asks for ("when": a date). A likeness is 0 to 1."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

from nacre.language import thesaurus
from nacre.language.data import WORDS
from nacre.language.tokens import lemma, name_tokens, tokenize
from nacre.plans.run import Engine, tables_engine
from nacre.records.schema import Predicate, Schema
from nacre.stores.vectors import label_vectors
from nacre.understanding.linking.link_mentions import find_expressions
from nacre.understanding.question.analyse import analyse_question, question_of_tokens
from tools.sparql import endpoint_engine

if TYPE_CHECKING:
    from nacre.stores.catalog import Graph
    from nacre.stores.sqlite.lexicon import Lexicon


# the part of words in the likeness; the rest is the meaning of the label
WORDS_SHARE = 0.4

# the likeness that a fact of the requested kind has more, and one of another kind less (measured as before)
KIND_GAIN = 0.15

# roles of predicates that tell something of a thing
TELLING_ROLES = ("fact", "text", "identifier")


def likenesses(question: str, labels: Sequence[str], by_words: Sequence[float], lexicon: Lexicon) -> list[float]:
    """The likeness of facts by words and, with an embedder, by the meaning of the labels of their properties."""
    if lexicon.embedder is None or not any(labels):
        return list(by_words)
    (asked,) = lexicon.embedder.embed([question])
    return [
        WORDS_SHARE * words + (1 - WORDS_SHARE) * (float(vector @ asked) if label else words)
        for label, words, vector in zip(labels, by_words, label_vectors(lexicon.embedder, labels), strict=True)
    ]


def engine_of(graph: Graph) -> Engine:
    """What describes things of a graph without passages: its endpoint, or its tables."""
    if (remote := graph.remote) is not None:
        return endpoint_engine(remote.source, remote.endpoint, graph.schema, remote.labels)
    return tables_engine(graph.tables)


# letters that forms of one word share: "allergies", "allergic" (given)
STEM = 6

# the forms of one word of a question, and their stems
WordForms = frozenset[str]


def asked_forms(text: str) -> tuple[WordForms, ...]:
    """The forms of the words of a question, with what its adjectives measure. An everyday expression is one word, with
    what it asks for.

    >>> [word in forms for word, forms in zip(("keeper", "weight"), asked_forms("who looks after the heavy one"))]
    [True, True]
    """
    tokens, empty = tokenize(text), thesaurus.function_words()
    expressions = list(find_expressions(question_of_tokens(tokens), 0))
    inside = {i for start, end, _ in expressions for i in range(start, end)}
    found = [frozenset().union(*map(thesaurus.synonyms, concepts)) for _, _, concepts in expressions]
    for i, token in enumerate(tokens):
        if i not in inside and not {token.norm, token.lemma} & empty:
            measured = (concept.removeprefix("-") for concept in thesaurus.adjective_concepts(token.lemma))
            found.append(thesaurus.synonyms(token.lemma).union((token.norm,), measured))
    return tuple(dict.fromkeys(map(_with_stems, found)))


# the same sentences of a graph are near to many questions
@lru_cache(2048)
def text_forms(text: str) -> WordForms:
    """The words of a text, and their dictionary forms and stems."""
    return thesaurus.dictionary_forms(text).union(_stem(word) for word in name_tokens(text) if len(word) >= STEM)


def has_word(forms: WordForms, text: WordForms) -> bool:
    """Whether a text has one of the forms of a word, or another word of the same stem."""
    return not forms.isdisjoint(text)


def word_likenesses(words: Sequence[WordForms], texts: Sequence[WordForms]) -> list[float]:
    """The weighted share of the words that each text has.

    >>> word_likenesses(asked_forms("red boats"), [text_forms("The boat is red."), text_forms("A tree.")])
    [1.0, 0.0]
    """
    has = [[has_word(forms, text) for forms in words] for text in texts]
    counts = [sum(row[i] for row in has) for i in range(len(words))]
    weights = [math.log(1 + (len(texts) + 1) / (1 + count)) for count in counts]
    whole = sum(weights)
    return [sum(w for w, found in zip(weights, row, strict=True) if found) / whole if whole else 0.0 for row in has]


def _with_stems(forms: WordForms) -> WordForms:
    return forms.union(_stem(word) for word in forms if len(word) >= STEM)


def _stem(word: str) -> str:
    return f"{word[:STEM]}*"


AnswerKind = Literal["", "date", "number", "person", "place"]

_DATES = frozenset(("date", "datetime", "time", "year", "duration"))


@lru_cache(maxsize=256)
def requested_kind(question: str) -> AnswerKind:
    """The kind of answer that the question word asks for; "" if it may be any.

    >>> [requested_kind(f"{lead} the mill run") for lead in ("when did", "how far does", "and who lets", "what makes")]
    ['date', 'number', 'person', '']
    """
    asked = analyse_question(question)
    tokens = [*asked.tokens]
    at = next((i for i, token in enumerate(tokens) if token.norm in WORDS["question_words"] | WORDS["who"]), None)
    if at is None:
        return ""
    opening = next((cue.value for cue in asked.cues if cue.start == at and cue.kind == "open" and cue.value), "")
    if opening:
        return "date" if opening == "when" else "place"
    if tokens[at].norm in WORDS["who"]:
        return "person"
    after = tokens[at + 1] if at + 1 < len(tokens) else None
    if tokens[at].norm not in WORDS["degree"] or after is None:
        return ""
    return "number" if after.norm in WORDS["how_much"] or thesaurus.gradable_adjective(after) else ""


def gives_kind(predicate: Predicate, is_inverse: bool, value: str, asked: AnswerKind, schema: Schema) -> bool:
    """Whether a property with such a value, or the things that it leads from, are of the requested kind."""
    label = predicate.label.casefold()
    words = [lemma(word) for word in name_tokens(label)]
    is_date = predicate.datatype in _DATES
    if asked == "date":
        return not is_inverse and (is_date or any(thesaurus.is_noun_of_kind("dates", word) for word in words))
    if asked == "number":
        is_measure = WORDS["not_measured"].isdisjoint(words)
        return not is_inverse and not is_date and is_measure and (predicate.minimum is not None or value[:1].isdigit())
    if asked == "person":
        far = predicate.domains if is_inverse else predicate.ranges
        ends = [schema.class_of[iri].label for iri in far if iri in schema.class_of]
        nouns = [*ends, *([] if is_inverse else [label])]
        is_agent = any(thesaurus.is_noun_of_kind(kind, noun) for kind in ("persons", "bodies") for noun in nouns)
        return is_agent or (not is_inverse and words[-1:] == ["by"])
    if is_inverse or is_date or predicate.minimum is not None:
        return False
    is_at = words[-1:] and words[-1] in WORDS["standing_at"]
    return bool(is_at) or any(thesaurus.is_noun_of_kind("places", word) for word in words)


def is_of_kind(predicate: Predicate, kind: AnswerKind, schema: Schema) -> bool:
    """Whether the values of a property are of the requested kind, if one is requested."""
    sample = next(iter((*predicate.values, *predicate.samples)), "")
    return bool(kind) and gives_kind(predicate, False, sample, kind, schema)
