"""Words of labels and misspelt words: "releasedate" -> "release date", question -> corrected question."""

import json
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache

from rapidfuzz import process
from rapidfuzz.distance import OSA

from nacre.language.data import WORDS, cues, load_language_data, pattern, phrase_list, word_list, word_map
from nacre.language.thesaurus import english_data, function_words, superlative_spellings, unit_words, vocabulary
from nacre.language.tokens import Token, fold, is_known, language_names, lemma, split_name, tokenize
from nacre.language.translation import GLOSSED_LANGUAGES, glosses, is_english_word
from nacre.language.word_forms import amount_name, is_participle
from nacre.records.plan import Constant
from nacre.records.schema import Predicate
from nacre.stores.sqlite.lexicon import Lexicon

_ACRONYM = re.compile(r"(?<![A-Za-z0-9])[A-Z][A-Z0-9]{0,7}(?=[A-Z][a-z]|(?![A-Za-z0-9]))")

# letters of a compound, and of its parts at least
_MIN_COMPOUND, _MAX_COMPOUND = 8, 60

_MIN_PART, _MIN_LAST_PART = 4, 3
_MAX_ACRONYM = 4


# the wording of a plan needs the same few labels again and again
@lru_cache(maxsize=8192)
def label_words(label: str, labels: frozenset[str]) -> str:
    """A label in words: camel case and compounds are split, abbreviations written out, acronyms kept."""
    acronyms = {word.lower(): word for word in _ACRONYM.findall(label)}
    whole = " ".join(acronyms) if label.isupper() else ""
    short = word_map("wording", "abbreviations")
    parts = [short.get(part, part) for word in _written_words(label) for part in split_compound(word, labels)]
    # "min" may be minutes elsewhere
    parts[:1] = [word_map("wording", "leading_abbreviations").get(p, p) for p in parts[:1] if parts[1:]] or parts[:1]
    acronyms |= {part: part.upper() for part in parts if _is_acronym(part)}
    # names of languages are capitalised
    acronyms |= {part: part.capitalize() for part in parts if part.capitalize() in language_names().values()}
    words = " ".join(part if whole else acronyms.get(part, part) for part in parts)
    return amount_name(words) or label.strip() or "value"


def _written_words(label: str) -> list[str]:
    """The words of a label; a hyphen stays where the dictionary has the word with it.

    >>> _written_words("E-mail of birth-place"), _written_words("check-in_date")
    (['e-mail', 'of', 'birth', 'place'], ['check-in', 'date'])
    """
    found: list[str] = []
    for word in label.replace("_", " ").split():
        is_whole = "-" in word and is_known(word, lang="en")
        found += [word.lower()] if is_whole else split_name(word).split()
    return found


def _is_acronym(word: str) -> bool:
    """Whether a word in small letters is an acronym because it has no vowel: "gdp"."""
    bare = word.isalpha() and word == word.lower() and not set(word) & set("aeiouy") and 1 < len(word) <= _MAX_ACRONYM
    return bare and word not in unit_words() and not is_known(word, lang="en")


@lru_cache(maxsize=65536)
def split_compound(word: str, labels: frozenset[str]) -> tuple[str, ...]:
    """The words of a compound, if English or the other labels of the schema know them; else the word itself.

    >>> split_compound("releasedate", frozenset()), split_compound("population", frozenset())
    (('release', 'date'), ('population',))
    """
    if len(word) > _MAX_COMPOUND or (
        len(word) < _MIN_COMPOUND and not (len(word) > _MIN_PART and any(map(str.isdigit, word)))
    ):
        return (word,)
    if is_known(word, lang="en") or (word.endswith("s") and is_known(word[:-1], lang="en")):
        return (word,)
    short = word_map("wording", "abbreviations")
    places = sorted(range(2, len(word) - 1), key=lambda i: abs(2 * i - len(word)))
    for at in places:
        parts = word[:at], word[at:]
        if _is_part(parts[0], labels) and _is_part(parts[1], labels, is_last=True):
            if any(is_known(word.capitalize(), lang=code) for code in _languages_of(labels)):
                # "hersteller" is no "hers teller"
                return (word,)
            return tuple(short.get(part, part) for part in parts)
    for at in places:
        rest = split_compound(word[at:], labels) if _is_part(word[:at], labels) else ()
        if len(rest) > 1:
            return (short.get(word[:at], word[:at]), *rest)
    return (word,)


def _is_part(part: str, labels: frozenset[str], *, is_last: bool = False) -> bool:
    if part in _label_vocabulary(labels) or part in word_map("wording", "abbreviations"):
        return True
    if is_last and part.removesuffix("s") in word_list("wording", "particles"):
        # "callouts" are no outs
        return False
    return len(part) >= (_MIN_LAST_PART if is_last else _MIN_PART) and is_known(part, lang="en")


@lru_cache(maxsize=64)
def _languages_of(labels: frozenset[str]) -> tuple[str, ...]:
    """The languages other than English that a word of the labels is surely of. Their dictionaries take long to load."""
    words = [fold(word) for word in _label_vocabulary(labels) if len(word) >= _MIN_PART and not is_english_word(word)]
    return tuple(code for code in GLOSSED_LANGUAGES if not glosses(code).exact.keys().isdisjoint(words))


@lru_cache(maxsize=64)
def _label_vocabulary(labels: frozenset[str]) -> frozenset[str]:
    return frozenset(word for label in labels for word in split_name(label).split() if len(word) > 1)


# A UUID, or so many hexadecimal digits with letters among them, as in hashes.
_CODE = re.compile(r"[0-9a-f]{8}(?:-?[0-9a-f]{4}){3}-?[0-9a-f]{12}|(?=.*\d)(?=.*[a-f])[0-9a-f]{16,}", re.IGNORECASE)

# Letters of JSON that is read, at most, and how deep its names may lie (given).
MAX_JSON_LETTERS, MAX_DEPTH = 20_000, 3


def readable_label(label: str) -> str:
    """The label itself, the name in a label that is JSON, or "" if it has none.

    >>> readable_label("Blue Van"), readable_label('{"id": "d8c6", "name": "Blue Van"}'), readable_label('{"id": 3}')
    ('Blue Van', 'Blue Van', '')
    """
    text = label.strip()
    if text[:1] in ("{", "[") and text[-1:] in ("}", "]") and len(text) <= MAX_JSON_LETTERS:
        try:
            return _name_in(json.loads(text), MAX_DEPTH)
        except (ValueError, RecursionError):
            return label
    return "" if _CODE.fullmatch(text) else label


def _name_in(data: object, depth: int) -> str:
    """The name that JSON gives, by its key, in the order of the keys for names; texts in languages in their order."""
    if isinstance(data, str):
        return readable_label(data) if data[:1] not in ("{", "[") else ""
    if not depth:
        return ""
    if isinstance(data, list):
        return next(filter(None, (_name_in(each, depth - 1) for each in data[:1])), "")
    if not isinstance(data, dict):
        return ""
    by_key = {str(key).casefold(): value for key, value in data.items()}
    keys = (key for key in phrase_list("ingestion", "json_name_keys") if key in by_key)
    return next(filter(None, (_name_in(by_key[key], depth - 1) for key in keys)), "")


def has_boolean_values(values: Collection[str], name: str) -> bool:
    """Whether these are all the values of a yes/no property of this name.

    Numbers mean yes or no only if the name says so; so does a single value other than "true" and "false".
    """
    folded = {value.casefold() for value in values}
    yes, no = WORDS["holding"], WORDS["lacking"]
    if not folded or not folded <= yes | no:
        return False
    words = split_name(name).split()
    has_flag_name = any(word in word_list("wording", "flags") for word in words) or strip_yes_no_suffix(name) != name
    if has_flag_name or folded <= {"true", "false"} or (words[1:] and words[0] in ("is", "has")):
        return True
    if folded <= {"0", "1"} and words and all(map(is_participle, words)):
        return True
    return bool(folded & yes and folded & no) and not any(value.isdigit() for value in folded)


def is_boolean_predicate(predicate: Predicate) -> bool:
    """Whether a property is a boolean, or has values that mean yes and no."""
    if predicate.datatype == "boolean":
        return True
    return not predicate.has_links and any(has_boolean_values(predicate.values, name) for name in _names(predicate))


def has_boolean_name(predicate: Predicate) -> bool:
    """Whether one of a property's names marks it as a yes/no property."""
    names = _names(predicate)
    return any(strip_yes_no_suffix(n) != n or set(split_name(n).split()) & word_list("wording", "flags") for n in names)


def strip_yes_no_suffix(name: str) -> str:
    """A name without the "yes or no" at its end."""
    return pattern("patterns", "yes_no_suffix").sub("", name)


def _names(predicate: Predicate) -> tuple[str, ...]:
    return (predicate.label, *predicate.alt_labels)


def true_value(predicate: Predicate) -> Constant | None:
    """The value that means yes; None if the property has other values, or no such value."""
    return True if predicate.datatype == "boolean" else _value(predicate, "holding")


def false_value(predicate: Predicate) -> Constant | None:
    """The value that means no, of a property that is no boolean; None for other properties."""
    return None if predicate.datatype == "boolean" else _value(predicate, "lacking")


def none_value(predicate: Predicate) -> str | None:
    """The value that means "none" among other values: "No" among kinds of wireless links."""
    if predicate.has_links or is_boolean_predicate(predicate):
        return None
    return next((v for v in predicate.values if v.casefold() in WORDS["none_among_values"]), None)


def alternative_values(predicate: Predicate) -> tuple[str, ...]:
    """The two values in the name of a property ("new or used", "good or bad customer"), else none."""
    words = predicate.label.casefold().split()
    either = next((i for i, word in enumerate(words[:-1]) if i and word in WORDS["either"]), 0)
    if not either or predicate.has_links:
        return ()
    named = {words[either - 1], words[either + 1]}
    values = tuple(v for v in predicate.values if v.casefold() in named)
    return values if len(values) == len(named) else ()


def _value(predicate: Predicate, which: str) -> Constant | None:
    if not {v.casefold() for v in predicate.values} <= WORDS["holding"] | WORDS["lacking"]:
        return None
    value = next((v for v in predicate.values if v.casefold() in WORDS[which]), None)
    return float(value) if value is not None and value.isdigit() else value


def parse_boolean(value: object, predicate: Predicate) -> bool | None:
    """The value of a yes/no property as a boolean; None for other properties and values."""
    if isinstance(value, bool):
        return value
    if not is_boolean_predicate(predicate):
        return None
    text = f"{value:g}" if isinstance(value, float) else str(value)
    return True if text.casefold() in WORDS["holding"] else False if text.casefold() in WORDS["lacking"] else None


# letters of a word in which one edit is corrected, and of one in which two are
MIN_LETTERS, MIN_LETTERS_OF_TWO_EDITS = 4, 9

# endings of a plural and of its singular
_PLURAL_ENDINGS = (("ies", "y"), ("es", ""), ("s", ""))


class SpellingCorrector:
    """Corrects questions about one graph: to the words of its names first, then to words of English."""

    def __init__(self, lexicon: Lexicon) -> None:
        self._lexicon = lexicon

    def correct(self, question: str) -> str:
        """The question with misspelt words corrected one by one; words of English and of the graph stay."""
        text = question
        for token in reversed(tokenize(question)):
            correction = self._correction(token)
            if correction is not None:
                text = text[: token.start] + correction + text[token.end :]
        return text

    def _correction(self, token: Token) -> str | None:
        word = token.norm
        if word in english_data()["contracted"]:
            return str(english_data()["contracted"][word])
        if len(word) < MIN_LETTERS or not word.isalpha() or self._is_in_graph(word) or self._is_in_graph(token.lemma):
            return None
        if word in function_words() or is_known(word, lang="en") or word in _english() or word in country_forms():
            return None
        edits = 2 if len(word) >= MIN_LETTERS_OF_TWO_EDITS else 1
        # a capitalised word that the graph does not know is a name, and no word of English
        is_name = token.start > 0 and token.text[0].isupper()
        small = _nearest(word, _function_and_cue_words(), 1) if not is_name and len(word) > MIN_LETTERS else None
        own = _nearest(word, self._graph_words_near(word), edits)
        if small is not None and small[0] == word[0]:
            # function words win over the words of any graph
            return small
        if own is not None or is_name:
            return own
        found = _nearest(word, _english_by_letter().get(word[0], ()), edits)
        # "nite" is no nine: a number is said in few letters, and changes what is asked
        return None if found in english_data()["numbers"] and len(word) <= MIN_LETTERS else found

    def graph_word_near(self, token: Token) -> Token | None:
        """The only word of the graph one edit away from a word of English; None if there are none or several."""
        word = token.norm
        known = function_words() | country_forms().keys()
        if len(word) < MIN_LETTERS or not word.isalpha() or word in known or {word, token.lemma} & _english():
            return None
        near = [
            form
            for form in self._graph_words_near(word)
            if any(OSA.distance(known, form, score_cutoff=1) <= 1 for known in (word, token.lemma))
        ]
        return tokenize(near[0])[0] if len({lemma(form) for form in near}) == 1 else None

    def _is_in_graph(self, word: str) -> bool:
        known = self._lexicon.word(word)
        return known is not None and known.names > 0

    def _graph_words_near(self, word: str) -> Sequence[str]:
        """The words of names that are near a word and share its first letter, and their plurals."""
        singular = [word[: -len(ending)] + back for ending, back in _PLURAL_ENDINGS if word.endswith(ending)]
        near = {other for form in (word, *singular) for other in self._lexicon.near(form) if other.isalpha()}
        return _by_first_letter(_with_plurals(near)).get(word[0], ())


def _nearest(word: str, among: Sequence[str], edits: int) -> str | None:
    best = process.extractOne(word, among, scorer=OSA.distance, score_cutoff=edits)
    return None if best is None else str(best[0])


@cache
def country_forms() -> Mapping[str, Sequence[str]]:
    """The names of countries and what is of them, by each of these and the code, in lower case: "Italian", "Italy"."""
    names = load_language_data("resources/codes.yaml")["country"]["names"]
    forms = {
        code: (*load_language_data("resources/countries.yaml").get(code, ()), name) for code, name in names.items()
    }
    return {form.casefold(): each for code, each in forms.items() for form in (code, *each)}


@cache
def _function_and_cue_words() -> Sequence[str]:
    """Function words, and the words of cues such as "altogether"."""
    said = {word for forms in cues().values() for expression, _, _ in forms for word in expression}
    return sorted(function_words() | {word for word in said if word.isalpha()})


@cache
def _english_by_letter() -> dict[str, list[str]]:
    return _by_first_letter(_with_plurals(_english()))


@cache
def _english() -> frozenset[str]:
    data = english_data()
    small: frozenset[str] = WORDS["filler"] | word_list("wording", "participles")
    units = {w for w in (*data["units"], *data["currencies"], *data["numbers"]) if w.isalpha()}
    superlatives = {w for w in superlative_spellings() if is_known(w, lang="en")}
    return vocabulary().union(units, superlatives, data["measures"], function_words(), small)


def _with_plurals(words: Iterable[str]) -> Iterator[str]:
    for word in words:
        yield word
        yield word[:-1] + "ies" if word.endswith("y") else word + ("es" if word.endswith(("s", "x", "ch")) else "s")


def _by_first_letter(words: Iterable[str]) -> dict[str, list[str]]:
    by_letter: dict[str, list[str]] = defaultdict(list)
    for word in sorted(set(words)):
        if len(word) >= MIN_LETTERS:
            by_letter[word[0]].append(word)
    return by_letter
