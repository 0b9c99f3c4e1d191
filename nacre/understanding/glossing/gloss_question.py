"""A German or French question in English words: text + Lexicon -> text that the rules for English read.

Names of things and values stay as they are written; words without a gloss become the word of a label with their stem.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from nacre.language.tokens import Token, fold, tokenize
from nacre.language.translation.dictionary import glosses, stem
from nacre.language.translation.glosses import FRONT_MARK, front_verb, gloss_label, gloss_words, nearest_word
from nacre.language.translation.numbers import normalize_numbers
from nacre.stores.compute_once import compute_once
from nacre.stores.sqlite.lexicon import Lexicon
from nacre.understanding.glossing.glossed_lexicon import glossed_lexicon
from nacre.understanding.glossing.question_language import schema_labels
from nacre.understanding.linking.linker import linker_of
from nacre.understanding.question.analyse import MAX_TOKENS, question_of_tokens

_APOSTROPHE = re.compile(r"\b(\w+)['’](?=\w)")
# Minimum score of a partial name of several words; one of one word is no reason to keep a word that the dictionary has
# (given).
MIN_NAME_SCORE = 0.6


def gloss_question(text: str, lexicon: Lexicon, code: str) -> str:
    """The question in English words, cut to the tokens that are read."""
    text = _split_elided(normalize_numbers(text, code), lexicon, code)
    tokens = tokenize(text)[:MAX_TOKENS]
    names = _name_positions(tokens, lexicon, code)
    pieces = list(_pieces(text, tokens, names, lexicon, code))
    mark = "?" if text.rstrip().endswith("?") else ""
    return " ".join(front_verb(pieces, code)).replace(" ,", ",") + mark


def _split_elided(text: str, lexicon: Lexicon, code: str) -> str:
    """The text with elided words apart, except in names: "d'Alpage"."""
    elided = glosses(code).elided

    def split(match: re.Match[str]) -> str:
        if fold(match[1]) not in elided:
            return match[0]
        after = re.match(r"\w+", text[match.end() :])
        whole = fold(f"{match[1]}'{after[0] if after else ''}")
        return match[0] if lexicon.word(whole) is not None else f"{match[1]} "

    return _APOSTROPHE.sub(split, text)


def _name_positions(tokens: Sequence[Token], lexicon: Lexicon, code: str) -> frozenset[int]:
    """The positions of words in names of things and values. A function word alone is no name."""
    known = glosses(code)
    found: set[int] = set()
    for link in linker_of(lexicon).index.value_linker.links(question_of_tokens(tokens)):
        inside = range(link.start, link.end)
        content = [i for i in inside if tokens[i].norm not in known.words]
        is_unknown = bool(content) and all(not gloss_words([tokens[i].text], code) for i in content)
        # "Combien" is no misspelt "Combe"
        is_whole = link.exact and bool(content) and (is_unknown or link.match != "nearly whole")
        is_long = len(content) > 1 and link.score >= MIN_NAME_SCORE
        if is_whole or is_long or is_unknown:
            found.update(inside if is_whole or is_long else content)
    return frozenset(found)


def _pieces(text: str, tokens: Sequence[Token], names: frozenset[int], lexicon: Lexicon, code: str) -> Iterator[str]:
    """The words in English and the names as written, with the commas between them."""
    words = [text[t.start : t.end] for t in tokens]
    at = 0
    while at < len(tokens):
        end = at + 1
        while end < len(tokens) and (end in names) == (at in names):
            end += 1
        if at in names:
            yield text[tokens[at].start : tokens[end - 1].end]
        else:
            yield from _translated(text, tokens, words, (at, end), lexicon, code)
        if end < len(tokens) and "," in text[tokens[end - 1].end : tokens[end].start]:
            yield ","
        at = end


def _translated(
    text: str, tokens: Sequence[Token], words: Sequence[str], span: tuple[int, int], lexicon: Lexicon, code: str
) -> Iterator[str]:
    start, end = span
    of_start = {start + g.start: g for g in gloss_words(words[start:end], code)}
    at = start
    while at < end:
        gloss = of_start.get(at)
        if at > start and "," in text[tokens[at - 1].end : tokens[at].start]:
            yield ","
        if gloss is None:
            yield _graph_word(tokens[at], words[at], lexicon, code)
            at += 1
            continue
        yield from [gloss.english] if gloss.english.startswith(FRONT_MARK) else gloss.english.split()
        at = start + gloss.end


def _graph_word(token: Token, word: str, lexicon: Lexicon, code: str) -> str:
    """The word of a label with the same stem, else the gloss of the word with its spelling corrected."""
    by_stem = words_by_stem(lexicon.of_schema, code)
    own = by_stem.get(stem(word, code)) or by_stem.get(stem(token.norm, code))
    if own is not None or lexicon.word(token.norm) is not None:
        return own or word
    return nearest_word(word, code, by_stem.values()) or word


@compute_once(16)
def words_by_stem(lexicon: Lexicon, code: str) -> Mapping[str, str]:
    """The words of labels of classes and properties in a glossed lexicon, by their stem."""
    glossed = (gloss_label(label, code) for label in schema_labels(glossed_lexicon(lexicon, code).schema))
    found: dict[str, str] = {}
    for token in (token for label in glossed for token in tokenize(label)):
        for form in (token.text, token.norm):
            found.setdefault(stem(form, code), token.text)
    return found
