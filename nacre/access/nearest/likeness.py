"""How near sentences are to a question, by words and by meaning: question + sentences -> 0..1 each."""

import math
from collections.abc import Sequence

from nacre.config.embedder import MAX_TEXTS_OF_QUESTION
from nacre.language.rank_sentences import dictionary_forms
from nacre.language.thesaurus import adjective_concepts, function_words, synonyms
from nacre.language.tokens import name_tokens, tokenize
from nacre.stores.search.vectors import Embedder
from nacre.understanding.linking.schema.expressions import find_expressions
from nacre.understanding.question.analyse import question_of_tokens

# letters that forms of one word share: "allergies", "allergic" (given)
STEM = 6
# the part of words in the likeness if sentences are also compared by meaning (given)
WORDS_SHARE = 0.5

# the forms of one word of a question
WordForms = frozenset[str]


def question_forms(text: str) -> tuple[WordForms, ...]:
    """The forms and synonyms of each word of a text that has a meaning, each once."""
    empty = function_words()
    tokens = [token for token in tokenize(text) if not {token.norm, token.lemma} & empty]
    return tuple(dict.fromkeys(synonyms(token.lemma) | {token.norm} for token in tokens))


def asked_forms(text: str) -> tuple[WordForms, ...]:
    """The forms of the words of a question, with what its adjectives measure. An everyday expression is one word, with
    what it asks for.

    >>> [word in forms for word, forms in zip(("keeper", "weight"), asked_forms("who looks after the heavy one"))]
    [True, True]
    """
    tokens, empty = tokenize(text), function_words()
    expressions = list(find_expressions(question_of_tokens(tokens), 0))
    inside = {i for start, end, _ in expressions for i in range(start, end)}
    found = [frozenset().union(*map(synonyms, concepts)) for _, _, concepts in expressions]
    for i, token in enumerate(tokens):
        if i not in inside and not {token.norm, token.lemma} & empty:
            measured = (concept.removeprefix("-") for concept in adjective_concepts(token.lemma))
            found.append(synonyms(token.lemma).union((token.norm,), measured))
    return tuple(dict.fromkeys(found))


def text_forms(text: str) -> WordForms:
    """The words of a text, and their dictionary forms and stems."""
    return dictionary_forms(text).union(_stem(word) for word in name_tokens(text) if len(word) >= STEM)


def has_word(forms: WordForms, text: WordForms) -> bool:
    """Whether a text has one of the forms of a word, or another word of the same stem."""
    return not forms.isdisjoint(text) or any(_stem(word) in text for word in forms if len(word) >= STEM)


def likenesses(question: str, sentences: Sequence[str], embedder: Embedder | None) -> list[float]:
    """The likeness of each sentence. Words that few sentences have weigh most."""
    by_words = word_likenesses(question_forms(question), [text_forms(each) for each in sentences])
    if embedder is None or not sentences:
        return by_words
    by_meaning = meaning_likenesses(question, sentences, embedder)
    return [
        WORDS_SHARE * words + (1 - WORDS_SHARE) * max(0.0, meaning)
        for words, meaning in zip(by_words, by_meaning, strict=True)
    ]


def meaning_likenesses(question: str, texts: Sequence[str], embedder: Embedder) -> list[float]:
    """The cosine similarity of each text with a question."""
    (asked,) = embedder.embed([question])
    starts = range(0, len(texts), MAX_TEXTS_OF_QUESTION)
    vectors = [v for at in starts for v in embedder.embed(texts[at : at + MAX_TEXTS_OF_QUESTION])]
    return [float(vector @ asked) for vector in vectors]


def word_likenesses(words: Sequence[WordForms], texts: Sequence[WordForms]) -> list[float]:
    """The weighted share of the words that each text has.

    >>> word_likenesses(question_forms("red boats"), [text_forms("The boat is red."), text_forms("A tree.")])
    [1.0, 0.0]
    """
    has = [[has_word(forms, text) for forms in words] for text in texts]
    counts = [sum(row[i] for row in has) for i in range(len(words))]
    weights = [math.log(1 + (len(texts) + 1) / (1 + count)) for count in counts]
    whole = sum(weights)
    return [sum(w for w, found in zip(weights, row, strict=True) if found) / whole if whole else 0.0 for row in has]


def _stem(word: str) -> str:
    return f"{word[:STEM]}*"
