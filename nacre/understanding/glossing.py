"""German and French questions in English words: text + Lexicon -> text and Lexicon that the rules for English read.

Names of things and values stay as they are written; words without a gloss become the word of a label with their
stem. Labels get the glosses that the words of a question get, so that both meet in English.
"""

import copy
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice

from nacre.language.data import WORDS
from nacre.language.thesaurus import function_words
from nacre.language.tokens import ENGLISH, Token, detect_language, fold, is_known, language_function_words, tokenize
from nacre.language.translation import (
    FRONT_MARK,
    GLOSSED_LANGUAGES,
    Gloss,
    fill_glosses,
    front_verb,
    gloss_label,
    gloss_words,
    glosses,
    is_english_word,
    join_separated,
    nearest_word,
    normalize_numbers,
    stem,
    uninflected,
    verb_base,
    verb_before_time,
    verb_forms,
)
from nacre.records.schema import Schema
from nacre.records.threads import compute_once
from nacre.stores.sqlite.lexicon import Lexicon, LexiconEntry
from nacre.understanding.linking.link_mentions import linker_of
from nacre.understanding.question.analyse import MAX_TOKENS, question_of_tokens

_HYPHENATED = re.compile(r"[\w-]+")
_APOSTROPHE = re.compile(r"\b(\w+)['’](?=\w)")

# Minimum score of a partial name of several words; one of one word is no reason to keep a word that the dictionary has
# (given).
MIN_NAME_SCORE = 0.6

# Letters of a verb's noun that begins a word of a label, and of both parts of a compound of one, at least (given).
MIN_FIRST_LETTERS, MIN_COMPOUND_LETTERS = 5, 4


def gloss_question(text: str, lexicon: Lexicon, code: str) -> str:
    """The question in English words, cut to the tokens that are read."""
    labels = words_by_stem(lexicon.of_schema, code)
    text = _joined_group(join_separated(text, code, labels.values()), lexicon, code)
    text = _split_elided(normalize_numbers(text, code), lexicon, code)
    tokens = tokenize(text)[:MAX_TOKENS]
    names = _name_positions(tokens, lexicon, code)
    pieces = list(_pieces(text, tokens, names, lexicon, code))
    mark = "?" if text.rstrip().endswith("?") else ""
    return verb_before_time(" ".join(front_verb(pieces, code)).replace(" ,", ",")) + mark


def _joined_group(text: str, lexicon: Lexicon, code: str) -> str:
    """The text with "pro" before what it groups by, and with how what is asked for becomes one number: "gesamte
    Kilometer pro Monat" for "Kilometer nach Monaten". How high an amount is asks what it is, and
    how high things are not how many."""
    known, numbers = glosses(code), _numbers_by_stem(lexicon.of_schema, code)
    asked = re.match(known.how_high, text)
    if known.how_high and asked is not None and numbers.get(stem(asked["asked"], code), "count") != "count":
        text = f"{known.per_group['how']} {text[asked.end('how') :].lstrip()}"
    found = re.fullmatch(known.grouped, text)
    if found is None:
        return text
    labels = words_by_stem(lexicon.of_schema, code)
    by = [word for word in found["by"].split() if word[:1].isupper()]
    if not all(stem(word, code) in labels or word.lower() in known.word_lists["periods"] for word in by):
        return text
    kind = numbers.get(stem(found["asked"], code), "none")
    if asked is not None and kind == "count":
        return text
    number = known.per_group[kind].format(found["asked"])
    return f"{found['lead']}{number}{found['rest']} {known.per_group['by']} {found['by']}{found['end']}"


@compute_once(16)
def _numbers_by_stem(lexicon: Lexicon, code: str) -> Mapping[str, str]:
    """How the words of labels become one number of a group, by their stem: things are counted, amounts summed, and
    others, such as ages, are neither."""
    schema, intensive = glossed_lexicon(lexicon, code).schema, WORDS["intensive"]
    found = {stem(t.text, code): "count" for c in lexicon.schema.shown_classes for t in tokenize(c.label)}
    for p, glossed in zip(lexicon.schema.predicates, schema.predicates, strict=True):
        if p.role != "fact" or p.hidden or p.datatype not in ("integer", "real"):
            continue
        number = "sum" if intensive.isdisjoint(glossed.label.split()) else "none"
        words = (t.text for t in tokenize(p.label))
        found |= {stem(w, code): number for w in words if glosses(code).exact.get(w.lower()) != "number"}
    return found


def _split_elided(text: str, lexicon: Lexicon, code: str) -> str:
    """The text with elided words apart, except in names: "d'Alpage"."""
    elided = glosses(code).word_lists["elided"]

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
    expressions = [range(g.start, g.end) for g in gloss_words([t.text for t in tokens], code) if g.end - g.start > 1]
    # the adjective of "wie hoch" is no value of the graph, whatever its name
    hows = [known.words.get(token.norm) == "how" for token in tokens]
    degrees = {i for i, token in enumerate(tokens) if i and hows[i - 1] and token.norm in known.adjectives}
    by_stem, asks_when = words_by_stem(lexicon.of_schema, code), any(known.words.get(t.norm) == "when" for t in tokens)
    for link in linker_of(lexicon).index.value_linker.links(question_of_tokens(tokens)):
        inside = range(link.start, link.end)
        content = [i for i in inside if tokens[i].norm not in known.words and i not in degrees]
        is_unknown = bool(content) and all(not gloss_words([tokens[i].text], code) for i in content)
        if link.match == "part" and any(_label_of_head(tokens[i].text, lexicon, code) for i in content):
            continue
        if (
            asks_when
            and len(inside) == 1
            and any(stem(form, code) in by_stem for form in verb_forms(tokens[link.start].text, code))
        ):
            # "wann wurde es abgeholt" asks for "Abholung", and not for the status "abgeholt"
            continue
        if not link.exact and any(link.start in each and link.end - 1 in each for each in expressions):
            # "weißt" of "was weißt du über" is no misspelt "Weiß"
            continue
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
    known = words_by_stem(lexicon.of_schema, code)
    of_start = {start + g.start: g for g in gloss_words(words[start:end], code, known)}
    at = start
    while at < end:
        gloss = of_start.get(at)
        if at > start and "," in text[tokens[at - 1].end : tokens[at].start]:
            yield ","
        if at + 1 == len(tokens) and tokens[at].norm in glosses(code).closing:
            gloss = Gloss(0, end - start, glosses(code).closing[tokens[at].norm])
        value = _value_before_noun(tokens, at, lexicon, code) or _value_in_compound(words[at], lexicon, code)
        if gloss is None or value:
            yield value or _graph_word(tokens, at, words[at], lexicon, code)
            at += 1
            continue
        yield from [gloss.english] if gloss.english.startswith(FRONT_MARK) else gloss.english.split()
        at = start + gloss.end


def _value_before_noun(tokens: Sequence[Token], at: int, lexicon: Lexicon, code: str) -> str:
    """The value that an adjective inflects: "hoch" in "mit hoher Dringlichkeit"; "" for others."""
    is_adjective = tokens[at].text.islower() and tokens[at].norm not in glosses(code).words
    if at + 1 == len(tokens) or not tokens[at + 1].text[0].isupper() or not is_adjective:
        return ""
    noun, schema = stem(tokens[at + 1].text, code), lexicon.of_schema.schema
    for form in uninflected(tokens[at].text, code):
        for entry in lexicon.exact([form]):
            label = schema.predicate_of[entry.predicate].label if entry.kind == "value" else ""
            if any(stem(token.text, code) == noun for token in tokenize(label)):
                return entry.target
    return ""


def _value_in_compound(word: str, lexicon: Lexicon, code: str) -> str:
    """The value that a compound begins with, and its other part in English: "Holz bridge" of "Holzbrücken"."""
    if not word[0].isupper() or stem(word, code) in words_by_stem(lexicon.of_schema, code) or not glosses(code).joints:
        return ""
    values, low = _short_values(lexicon.of_schema), word.casefold()
    for end in range(len(low) - MIN_COMPOUND_LETTERS, MIN_COMPOUND_LETTERS - 1, -1):
        rest = word[end:].capitalize()
        if low[:end] in values and is_known(rest, lang=code):
            return " ".join((values[low[:end]], *(gloss.english for gloss in gloss_words([rest], code))))
    return ""


@compute_once(8)
def _short_values(lexicon: Lexicon) -> Mapping[str, str]:
    """The values of one word."""
    values = (each for each in lexicon.schema_entries if each.kind == "value" and len(each.tokens) == 1)
    return {each.target.casefold(): each.target for each in values}


def _graph_word(tokens: Sequence[Token], at: int, word: str, lexicon: Lexicon, code: str) -> str:
    """The word of a label with the same stem, else the gloss of the word with its spelling corrected."""
    by_stem, known, token = words_by_stem(lexicon.of_schema, code), glosses(code), tokens[at]
    own = by_stem.get(stem(word, code)) or by_stem.get(stem(token.norm, code))
    own = own or _label_of_head(word, lexicon, code)
    base = verb_base(word, code) if own is None else ""
    own = own or (_answering(base, tokens, by_stem, code) or by_stem.get(stem(base, code)) if base else None)
    for form in verb_forms(word, code) if own is None else ():
        # "vertritt" for "vertreten durch", "eingetreten" for "Eintrittsdatum"
        longer = (word for key, word in by_stem.items() if key.startswith(form) and len(form) >= MIN_FIRST_LETTERS)
        own = own or max(longer, key=len, default=None) or by_stem.get(stem(form, code))
    if own is not None or lexicon.word(token.norm) is not None:
        return own or word
    if values := [form for form in uninflected(word, code) if lexicon.exact([form])]:
        # "bei Föhnen"
        return values[0]
    forms = (base + ending for ending in (*known.infinitive_endings, ""))
    english = next((known.exact[form] for form in forms if form in known.exact), None)
    # a word of the language is no typo
    return english or (not is_known(word, lang=code) and nearest_word(word, code, by_stem.values())) or word


def _answering(base: str, tokens: Sequence[Token], by_stem: Mapping[str, str], code: str) -> str | None:
    """The label's word that begins with a verb and ends as the question asks: "probt" for "Probentag" after "wann"."""
    known = glosses(code)
    asked = (known.asked_endings.get(known.words.get(token.norm, ""), ()) for token in tokens)
    endings = (*chain.from_iterable(asked), *(token.norm for token in tokens if token.text[0].isupper()))
    found = (by_stem[key] for key in by_stem if key.startswith(base) and len(base) >= MIN_COMPOUND_LETTERS)
    return next((word for word in found if word.lower().endswith(endings)), None)


def _label_of_head(word: str, lexicon: Lexicon, code: str) -> str | None:
    """The only word of a label that a word is the head of: "Auftrag" of "Reparaturauftrag"."""
    by_stem, head, known = words_by_stem(lexicon.of_schema, code), stem(word, code), glosses(code)
    if len(head) < MIN_COMPOUND_LETTERS or not word[0].isupper() or head in by_stem or len(known.joints) < 2:
        return None
    firsts = {by_stem[key]: key.removesuffix(head) for key in by_stem if key.endswith(head)}
    found = [
        w for w, first in firsts.items() if len(first) >= MIN_COMPOUND_LETTERS and first not in known.verb_prefixes
    ]
    return found[0] if len(found) == 1 else None


@compute_once(16)
def words_by_stem(lexicon: Lexicon, code: str) -> Mapping[str, str]:
    """The words of labels of classes and properties, in a glossed lexicon and as they are written, by their stem."""
    glossed = (gloss_label(label, code) for label in schema_labels(glossed_lexicon(lexicon, code).schema))
    found: dict[str, str] = {}
    for token in (token for label in (*glossed, *schema_labels(lexicon.schema)) for token in tokenize(label)):
        for form in (token.text, token.norm):
            found.setdefault(stem(form, code), token.text)
    return found


@compute_once(8)
def glossed_lexicon(lexicon: Lexicon, code: str) -> Lexicon:
    """The lexicon with glossed names besides its own. It shares the files of the lexicon."""
    glossed = copy.copy(lexicon)
    if lexicon.of_schema is not lexicon:
        glossed.__dict__["_of_schema"] = glossed_lexicon(lexicon.of_schema, code)
        glossed.schema = glossed.of_schema.schema
        glossed.schema_entries = glossed.of_schema.schema_entries
        return glossed
    is_main, _ = label_languages(lexicon).get(code, (False, frozenset()))
    glossed.schema = _glossed_schema(lexicon.schema, code) if is_main else lexicon.schema
    glossed.schema_entries = tuple(sorted({*lexicon.schema_entries, *_glossed_entries(lexicon, code)}))
    return glossed


def _glossed_schema(schema: Schema, code: str) -> Schema:
    return replace(
        schema,
        classes=tuple(replace(c, label=gloss_label(c.label, code)) for c in schema.classes),
        groups=tuple(replace(g, label=gloss_label(g.label, code)) for g in schema.groups),
        predicates=tuple(replace(p, label=gloss_label(p.label, code)) for p in schema.predicates),
    )


def _glossed_entries(lexicon: Lexicon, code: str) -> Iterator[LexiconEntry]:
    """The glosses of the names of classes and properties, with umlauts if their labels have some."""
    labels = {c.iri: (c.label, *c.alt_labels) for c in lexicon.schema.classes}
    labels |= {p.iri: (p.label, *p.alt_labels) for p in lexicon.schema.predicates}
    of_properties = {word for p in lexicon.schema.shown_predicates for word in gloss_label(p.label, code).split()}
    senses = {word: sense for word, sense in glosses(code).class_senses.items() if word in of_properties}
    for entry in lexicon.schema_entries:
        if entry.kind == "value":
            continue
        texts = (tuple(token.text for token in tokenize(label)) for label in labels.get(entry.target, ()))
        written = next((words for words in texts if _norms(words) == entry.tokens), entry.tokens)
        tokens = tuple(word.casefold() for word in fill_glosses(written, code))
        if entry.kind == "class" and len(tokens) == 1:
            tokens = (senses.get(tokens[0], tokens[0]),)
        # "am" is a name, and "on the" is none
        if tokens != entry.tokens and not function_words().issuperset(tokens):
            yield entry._replace(tokens=_norms(tokens))


def _norms(words: Sequence[str]) -> tuple[str, ...]:
    return tuple(token.norm for token in tokenize(" ".join(words)))


MAX_LABELS = 2000  # Labels that are compared with the dictionaries, at most (given).
# The share of a graph's labels that no English reader knows, from which on the graph is in another language (given).
FOREIGN_SHARE = 0.5
MAX_TELLING_WORDS = 4  # Words of a greeting or request that one word of it tells the language of, at most (given).


def question_language(text: str, lexicon: Lexicon) -> str:
    """The language of the function words of a question, else of the labels it repeats, else of the graph."""
    detected = detect_language(text)
    if detected != ENGLISH:
        return detected
    # the "A" of "A-1020" is no word
    codes = (found for found in _HYPHENATED.finditer(text) if any(map(str.isdigit, found[0])))
    in_codes = {at for code in codes for at in range(*code.span())}
    words = [token.text.casefold() for token in tokenize(text) if token.start not in in_codes]
    function_words = language_function_words()
    english = len(function_words[ENGLISH].intersection(words))
    if not english and len(words) <= MAX_TELLING_WORDS:
        telling = (c for c in GLOSSED_LANGUAGES if not glosses(c).word_lists["telling"].isdisjoint(words))
        if (code := next(telling, "")) != "":
            return code
    likely = []
    for code, (is_main, stems) in label_languages(lexicon.of_schema).items():
        own = len(function_words[code].intersection(words))
        repeats = any(stem(w, code) in stems and not is_known(w, lang=ENGLISH) for w in words)
        if own > english or (own == english and (is_main or repeats)):
            likely.append((own, repeats, code))
    return max(likely, key=lambda each: each[:2])[2] if likely else ENGLISH


@compute_once(8)
def label_languages(lexicon: Lexicon) -> dict[str, tuple[bool, frozenset[str]]]:
    """The languages of labels, each with whether most labels are in it, and with the stems of their words."""
    texts = ([token.text.casefold() for token in tokenize(label)] for label in schema_labels(lexicon.schema))
    labels = list(islice(filter(None, texts), MAX_LABELS))
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
    # of their first names: words that are taught to them do not change the language
    names = [*(c.label for c in lexicon.schema.shown_classes), *(p.label for p in lexicon.schema.shown_predicates)]
    first = [words for name in names[:MAX_LABELS] if (words := [t.text.casefold() for t in tokenize(name)])]
    foreign = [words for words in first if not all(map(is_english_word, words))]
    share = sum(bool(gloss_words(words, best)) for words in foreign) if best in found else 0
    if share * 2 > len(foreign) >= FOREIGN_SHARE * len(first):
        found[best] = (True, found[best][1])
    return dict(sorted(found.items(), key=lambda item: -counts[item[0]]))


def main_language(lexicon: Lexicon) -> str:
    """The language of most labels; "" for English."""
    return next((code for code, (is_main, _) in label_languages(lexicon.of_schema).items() if is_main), "")


def _foreign_stems(labels: Iterable[Sequence[str]], code: str) -> frozenset[str]:
    return frozenset(stem(word, code) for words in labels for word in words if not is_english_word(word))


def schema_labels(schema: Schema) -> Iterator[str]:
    """The labels and further names of the classes and properties that are shown."""
    for c in schema.shown_classes:
        yield from (c.label, *c.alt_labels)
    for p in schema.shown_predicates:
        yield from (p.label, *p.alt_labels)
