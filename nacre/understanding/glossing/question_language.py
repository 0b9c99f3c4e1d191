"""The language of a question about one graph: text + Lexicon -> a code such as "de"."""

from collections.abc import Iterable, Iterator, Sequence

import simplemma

from nacre.language.detect_language import ENGLISH, detect_language, language_function_words
from nacre.language.tokens import tokenize
from nacre.language.translation.dictionary import GLOSSED_LANGUAGES, glosses, is_english_word, stem
from nacre.language.translation.glosses import gloss_words
from nacre.records.schema import Schema
from nacre.stores.compute_once import compute_once
from nacre.stores.sqlite.lexicon import Lexicon

# Labels that are compared with the dictionaries, at most (given).
MAX_LABELS = 2000
# The share of a graph's labels that no English reader knows, from which on the graph is in another language (given).
FOREIGN_SHARE = 0.5
# Words of a greeting or request that one word of it tells the language of, at most (given).
MAX_TELLING_WORDS = 4


def question_language(text: str, lexicon: Lexicon) -> str:
    """The language of a question: that of its function words, else that of the labels that it repeats.

    Keywords without function words are in the language of a graph that is not in English.
    """
    detected = detect_language(text)
    if detected != ENGLISH:
        return detected
    words = [token.text.casefold() for token in tokenize(text)]
    function_words = language_function_words()
    english = len(function_words[ENGLISH].intersection(words))
    if not english and len(words) <= MAX_TELLING_WORDS:
        telling = (c for c in GLOSSED_LANGUAGES if not glosses(c).telling.isdisjoint(words))
        if (code := next(telling, "")) != "":
            return code
    for code, (is_main, stems) in label_languages(lexicon.of_schema).items():
        own = len(function_words[code].intersection(words))
        repeats = any(stem(w, code) in stems and not simplemma.is_known(w, lang=ENGLISH) for w in words)
        if own > english or (own == english and (is_main or repeats)):
            return code
    return ENGLISH


@compute_once(8)
def label_languages(lexicon: Lexicon) -> dict[str, tuple[bool, frozenset[str]]]:
    """The glossed languages that labels of classes and properties are in: whether most labels are, and the stems of
    their words."""
    labels = list(_label_words(lexicon))[:MAX_LABELS]
    foreign = [words for words in labels if not all(map(is_english_word, words))]
    found: dict[str, tuple[bool, frozenset[str]]] = {}
    counts = {}
    for code in GLOSSED_LANGUAGES if foreign else ():
        own = [words for words in foreign if gloss_words(words, code)]
        counts[code] = len(own)
        if own:
            found[code] = (False, _foreign_stems(own, code))
    best = max(counts, key=lambda code: counts[code], default="")
    if best in found:
        # labels that no dictionary has are in the language of the others
        rest = [words for words in foreign if not any(gloss_words(words, code) for code in GLOSSED_LANGUAGES)]
        found[best] = (False, found[best][1] | _foreign_stems(rest, best))
    if best in found and len(foreign) >= FOREIGN_SHARE * len(labels) and counts[best] * 2 > len(foreign):
        found[best] = (True, found[best][1])
    return dict(sorted(found.items(), key=lambda item: -counts[item[0]]))


def _foreign_stems(labels: Iterable[Sequence[str]], code: str) -> frozenset[str]:
    return frozenset(stem(word, code) for words in labels for word in words if not is_english_word(word))


def _label_words(lexicon: Lexicon) -> Iterator[tuple[str, ...]]:
    for label in schema_labels(lexicon.schema):
        if words := tuple(token.text.casefold() for token in tokenize(label)):
            yield words


def schema_labels(schema: Schema) -> Iterator[str]:
    """The labels and further names of the classes and properties that are shown."""
    for c in schema.shown_classes:
        yield from (c.label, *c.alt_labels)
    for p in schema.shown_predicates:
        yield from (p.label, *p.alt_labels)
