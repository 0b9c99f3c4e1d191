"""German and French: words of a question or label -> English words; name + parts -> sentence of an answer.

The data is in `de/` and `fr/`. The rules for English then read the questions.
"""

import calendar
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import NamedTuple

from rapidfuzz.distance import OSA

from nacre.language.data import load_language_texts
from nacre.language.tokens import ENGLISH, dictionary_form, fold, is_known, tokenize

# Letters of the parts of a compound, at least; letters of a word with a typo, and of one with two (given).
MIN_PART_LETTERS, MIN_HEAD_LETTERS = 3, 4

MIN_TYPO_LETTERS, MIN_TWO_TYPO_LETTERS = 5, 9

# A gloss that begins so belongs at the front of the question.
FRONT_MARK = "^"

# German and French spell umlauts in two letters if the keyboard lacks them.
_TWO_LETTERS = (("ae", "ä"), ("oe", "ö"), ("ue", "ü"))


class Gloss(NamedTuple):
    """The English for the words from `start` to `end`."""

    start: int
    end: int
    english: str


def gloss_words(words: Sequence[str], code: str, kept: Collection[str] = ()) -> list[Gloss]:
    """The glosses of consecutive words, in order; words without one are left out, and compounds whose stem is `kept`.

    >>> [g.english for g in gloss_words("Wie hoch ist die höchste Brücke".split(), "de")]
    ['how', 'high', 'is', 'the', 'highest', 'bridge']
    """
    known = glosses(code)
    folded = [fold(word) for word in words]
    found, at = [], 0
    while at < len(words):
        gloss = _expression(folded, at, known) or _degree(folded, at, known) or _word(words, folded, at, known, kept)
        if gloss is not None:
            found.append(gloss)
        at = gloss.end if gloss is not None else at + 1
    return found


def gloss_label(label: str, code: str) -> str:
    """A label in English, as far as the dictionary has its words."""
    return " ".join(fill_glosses([token.text for token in tokenize(label)], code))


def fill_glosses(words: Sequence[str], code: str) -> Iterator[str]:
    """The words with their glosses in place; no verb is moved."""
    at = 0
    for gloss in (*gloss_words(words, code), Gloss(len(words), len(words), "")):
        yield from words[at : gloss.start]
        yield from gloss.english.removeprefix(FRONT_MARK).split()
        at = gloss.end


def is_in_language(label: str, code: str) -> bool:
    """Whether a label has a word of the dictionary of a language, and a word that English lacks."""
    return not is_english(label) and bool(gloss_words([token.text for token in tokenize(label)], code))


def nearest_word(word: str, code: str, others: Iterable[str] = ()) -> str | None:
    """The English for a misspelt word of the dictionary; None if it is nearer to none or to one of `others`."""
    known, word = glosses(code), fold(word)
    edits = 0 if len(word) < MIN_TYPO_LETTERS else 2 if len(word) >= MIN_TWO_TYPO_LETTERS else 1
    if not edits or not word.isalpha():
        return None
    near = [(OSA.distance(word, each, score_cutoff=edits), each) for each in known.exact if each[0] == word[0]]
    distance, best = min(near, default=(edits + 1, ""))
    if distance > edits or any(OSA.distance(word, fold(each), score_cutoff=edits) <= distance for each in others):
        return None
    return known.exact[best]


def verb_forms(word: str, code: str) -> Iterator[str]:
    """Other forms of an irregular verb, and nouns of it and of a regular participle, without accents.

    >>> list(verb_forms("vertritt", "de"))[:3], list(verb_forms("geheizt", "de")), list(verb_forms("chauffée", "fr"))
    (['vertreten', 'vertritt', 'vertrat'], ['heizung', 'heizer', 'heizant'], ['chauffage', 'chauffement'])
    """
    known, word = glosses(code), fold(word)
    for prefix in known.verb_prefixes:
        if word.startswith(prefix):
            yield from (prefix + form for form in known.verbs.get(word.removeprefix(prefix), ()))
    regular, base = known.participle.fullmatch(word), verb_base(word, code)
    stems = [regular.groupdict("")] if regular else []
    stems += [{"prefix": "", "stem": base}] if base else []
    # most participles without a prefix give the same nouns both ways
    yield from dict.fromkeys(noun.format(**parts) for parts in stems for noun in known.participle_nouns)


def verb_base(word: str, code: str) -> str:
    """The infinitive without its ending, without accents; "" for what is no verb.

    >>> verb_base("mitgewirkt", "de"), verb_base("Mühle", "de")
    ('mitwirk', '')
    """
    infinitive = fold(dictionary_form(word, lang=code)) if word.islower() else ""
    return next((infinitive.removesuffix(e) for e in glosses(code).infinitive_endings if infinitive.endswith(e)), "")


def join_separated(text: str, code: str, labels: Collection[str] = ()) -> str:
    """The text with the words together that a question has apart: a verb and its prefix, "was" and "für". Words for an
    event become the one of the `labels` of its date, unless they are a label.

    >>> join_separated("Wann fängt der Kurs an?", "de"), join_separated("Was hat die Orgel für Pfeifen?", "de")
    ('Wann anfangen der Kurs?', 'welche Pfeifen hat die Orgel?')
    """
    known = glosses(code)
    for pattern, joined, nouns in known.apart:
        asked = re.search(pattern, text)
        if asked is None or (nouns and any(stem(label, code) == stem(asked[0], code) for label in labels)):
            continue
        own = ([label for label in labels if fold(label).startswith(noun)] for noun in nouns)
        found = next(filter(None, own), [])
        if found or not nouns:
            # "Eintrittsdatum", and not its part "eintritts"
            text = re.sub(pattern, joined.replace("{label}", max(found, key=len, default="")), text)
    tokens = tokenize(text)
    if not tokens or tokens[-1].norm not in known.word_lists["separable"]:
        return text
    last = tokens[-1]
    for token in tokens[:-1]:
        verb = last.text + dictionary_form(token.text, lang=code)
        if verb_base(token.text, code) and is_known(verb, lang=code):
            return f"{text[: token.start]}{verb}{text[token.end : last.start].rstrip()}{text[last.end :]}"
    return text


def uninflected(word: str, code: str) -> Iterator[str]:
    """The forms of an adjective without an ending, likeliest first, without accents.

    >>> list(uninflected("hohe", "de")), list(uninflected("dringende", "de"))
    (['hoch', 'hoh'], ['dringen', 'dringend'])
    """
    known, base, word = glosses(code), fold(dictionary_form(word, lang=code)), fold(word)
    for stem_of in (word.removesuffix(ending) for ending in known.endings if word.endswith(ending)):
        yield from dict.fromkeys((base, stem_of))


def front_verb(english: Sequence[str], code: str) -> list[str]:
    """The words in the order of an English question: a marked verb comes first, after the question word if any.

    >>> front_verb(["the", "mill", "^is", "old"], "fr"), front_verb(["^", "the", "mill", "is", "old"], "fr")
    (['is', 'the', 'mill', 'old'], ['is', 'the', 'mill', 'old'])
    """
    marked = next((i for i, word in enumerate(english) if word.startswith(FRONT_MARK)), None)
    if marked is None:
        return list(english)
    known = glosses(code)
    verb, rest = english[marked].removeprefix(FRONT_MARK), [*english[:marked], *english[marked + 1 :]]
    if not verb:
        at = next((i for i, word in enumerate(rest) if word in known.word_lists["fronted"] and i >= marked), None)
        verb = rest.pop(at) if at is not None else ""
    lead = int(bool(rest) and rest[0] in known.word_lists["question_leads"])
    return [word for word in (*rest[:lead], verb, *rest[lead:]) if word]


# the words that are read in a way of their own
WORD_LISTS = tuple(
    "more less articles superlative_leads elided fronted question_leads telling separable computed periods".split()
)


@dataclass(frozen=True)
class Glosses:
    """The dictionary of one language. Words are keys as they are written and without accents."""

    code: str
    expressions: Mapping[tuple[str, ...], str]
    longest_expression: int  # in words
    words: Mapping[str, str]
    function_words: frozenset[str]  # the English of `words`
    after_noun: Mapping[str, str]
    class_senses: Mapping[str, str]  # of English words that classes and properties have, what it is as a class
    closing: Mapping[str, str]
    exact: Mapping[str, str]
    stems: Mapping[str, str]  # of the words of `exact`
    degrees: Mapping[str, str]  # the forms of adjectives in English
    adjectives: Mapping[str, tuple[str, str, str]]  # positive, comparative, superlative in English
    endings: tuple[str, ...]
    opposites: Mapping[str, tuple[str, str, str]]
    word_lists: Mapping[str, frozenset[str]]  # by what the words are for
    joints: tuple[str, ...]
    linked_endings: tuple[str, ...]
    first_parts: Mapping[str, str]
    verbs: Mapping[str, tuple[str, ...]]
    verb_prefixes: tuple[str, ...]
    # patterns of questions, how the words are put together, and nouns with one of which a label must begin, if any
    apart: tuple[tuple[str, str, tuple[str, ...]], ...]
    grouped: str  # the pattern of what is asked for and what it is grouped by
    how_high: str  # the pattern of a question for an amount
    per_group: Mapping[str, str]  # the words for these: how an amount, or things, become one number
    participle: re.Pattern[str]
    participle_nouns: tuple[str, ...]
    infinitive_endings: tuple[str, ...]
    asked_endings: Mapping[str, tuple[str, ...]]  # of labels, by the question word in English
    months: tuple[str, ...]


def _expression(folded: Sequence[str], at: int, known: Glosses) -> Gloss | None:
    for size in range(min(known.longest_expression, len(folded) - at), 0, -1):
        english = known.expressions.get(tuple(folded[at : at + size]))
        if english is not None:
            return Gloss(at, at + size, english)
    return None


def _degree(folded: Sequence[str], at: int, known: Glosses) -> Gloss | None:
    """A comparative or superlative of several words: "plus haut", "le moins cher", "am höchsten"."""
    is_lead = folded[at] in known.word_lists["superlative_leads"]
    degree = known.degrees.get(folded[at + 1], "") if is_lead and at + 1 < len(folded) else ""
    if degree.endswith("est") or degree.startswith("most "):
        return Gloss(at, at + 2, f"the {degree}")
    first = at + (folded[at] in known.word_lists["articles"])
    if first + 1 >= len(folded) or folded[first] not in known.word_lists["more"] | known.word_lists["less"]:
        return None
    forms = known.adjectives.get(folded[first + 1])
    if forms is None:
        return None
    is_superlative = first > at
    english = forms[1 + is_superlative]
    if folded[first] in known.word_lists["less"]:
        opposite = known.opposites.get(forms[0])
        english = opposite[1 + is_superlative] if opposite else f"{'least' if is_superlative else 'less'} {forms[0]}"
    return Gloss(at, first + 2, f"{'the ' if is_superlative else ''}{english}")


def _word(words: Sequence[str], folded: Sequence[str], at: int, known: Glosses, kept: Collection[str]) -> Gloss | None:
    word = folded[at]
    degrees = known.word_lists["more"] | known.word_lists["less"]
    is_compared = not degrees.isdisjoint(folded[max(0, at - 3) : at])
    if is_compared and known.words.get(word) == "what":
        # "plus haut que"
        return Gloss(at, at + 1, "than")
    tables = [known.words, known.degrees, known.exact]
    if at and words[at - 1][:1].isupper() and (at > 1 or dictionary_form(words[0], lang=known.code)[:1].isupper()):
        tables.insert(0, known.after_noun)
    if at and words[at][:1].isupper():
        # a German noun: "Alter" is an age and no old one
        tables = [known.exact, known.words, known.degrees]
    forms = [words[at].lower(), word, *(word.replace(two, one) for two, one in _TWO_LETTERS if two in word)]
    english = next((table[form] for form in forms for table in tables if form in table), None)
    if english is None:
        stems = (stem(form, known.code) for form in forms if len(form) >= MIN_PART_LETTERS)
        english = next((known.stems[each] for each in stems if known.stems.get(each)), None)
    if english is None and stem(words[at], known.code) not in kept:
        english = _compound(word, known, kept)
    return None if english is None else Gloss(at, at + 1, english)


def _compound(word: str, known: Glosses, kept: Collection[str]) -> str | None:
    """The parts of a compound whose head is in the dictionary: "Fahrpreis" is a price."""
    for start in range(MIN_PART_LETTERS, len(word) - MIN_HEAD_LETTERS + 1) if len(known.joints) > 1 else ():
        end = word[start:]
        forms = (end, *(end.removesuffix(ending) for ending in known.joints if end.endswith(ending)))
        head, first = next((known.exact[form] for form in forms if form in known.exact), ""), word[:start]
        parts = (first.removesuffix(joint) for joint in known.joints)
        gloss = known.first_parts.get(first) or next((known.exact[part] for part in parts if part in known.exact), "")
        if not head and gloss in known.word_lists["computed"] and stem(end, known.code) in kept:
            # "Durchschnittsertrag" of a label "Ertrag"
            head = end
        if not head or len(end) < MIN_HEAD_LETTERS:
            continue
        # "restaurierungs" is no word
        whole = first[:-1] if first.endswith(known.linked_endings) else first
        return f"{gloss or whole} {head}"
    return None


# The languages with glosses, and the names of their stemmers (Snowball, in tantivy).
GLOSSED_LANGUAGES: Mapping[str, str] = MappingProxyType({"de": "german", "fr": "french"})

# In others, rows are stated after the words of a model.
STATED_LANGUAGES = frozenset({"es", "it", "nl", "pt"})


@cache
def glosses(code: str) -> Glosses:
    """The dictionary of a language, read once."""
    data = load_language_texts(f"{code}/glosses.yaml")
    adjectives, degrees = _adjectives(data["adjectives"], data["adjective_endings"].split())
    degrees |= {form: english for forms, english in data.get("degrees", {}).items() for form in forms.split()}

    verbs = data.get("verbs", "").split(",")
    expressions = {tuple(map(fold, phrase.split())): english for phrase, english in data["expressions"].items()}
    return Glosses(
        code=code,
        expressions=expressions,
        longest_expression=max(map(len, expressions)),
        words=_with_folded(data["words"]),
        function_words=frozenset(word for english in data["words"].values() for word in english.split()),
        after_noun=data.get("after_noun", {}),
        class_senses=data.get("class_senses", {}),
        closing=data.get("closing", {}),
        exact=_with_folded(data["stems"]),
        stems={stem(word, code): english for word, english in reversed(list(data["stems"].items()))},
        degrees=_with_folded(degrees),
        adjectives=adjectives,
        endings=tuple(data["adjective_endings"].split()),
        opposites={word: _degrees(forms) for word, forms in data.get("opposites", {}).items()},
        word_lists={name: frozenset(data.get(name, "").split()) for name in WORD_LISTS},
        joints=("", *data.get("joints", "").split()),
        first_parts=data.get("first_parts", {}),
        linked_endings=tuple(f"{ending}s" for ending in data.get("linked_endings", "").split()),
        verbs={fold(form): tuple(map(fold, verb.split())) for verb in verbs for form in verb.split()},
        apart=tuple((pattern, joined, tuple(nouns)) for pattern, joined, *nouns in data.get("apart", ())),
        grouped=data.get("grouped", ""),
        how_high=data.get("how_high", ""),
        per_group=data.get("per_group", {}),
        participle=re.compile(data["participle"]),
        participle_nouns=tuple(data["participle_nouns"].split()),
        infinitive_endings=tuple(data["infinitive_endings"].split()),
        asked_endings={asked: tuple(endings.split()) for asked, endings in data["asked_endings"].items()},
        verb_prefixes=("", *map(fold, data.get("verb_prefixes", "").split())),
        months=tuple(map(fold, data["months"].split())),
    )


def stem(word: str, code: str) -> str:
    """The stem of a word, without accents."""
    return _stemmer(code)(word.casefold())


def is_english(label: str) -> bool:
    """Whether English has all words of a label."""
    return all(is_english_word(token.text) for token in tokenize(label))


def is_english_word(word: str) -> bool:
    """Whether English has a word. Numbers and codes are words of any language."""
    return not word.isalpha() or bool(is_known(word, lang=ENGLISH))


def word_for(english: str, code: str) -> str:
    """The noun of the dictionary for an English label; "" if it has none."""
    return _words_by_gloss(code).get(english.lower(), "")


def _adjectives(
    data: Mapping[str, str], endings: Sequence[str]
) -> tuple[dict[str, tuple[str, str, str]], dict[str, str]]:
    """The English degrees by positive form, and the English of each form."""
    positive: dict[str, tuple[str, str, str]] = {}
    degrees: dict[str, str] = {}
    for forms, english in data.items():
        of_english = _degrees(english)
        # "billiger" compares, although it is also a form of "billig"
        for stems, degree in reversed(list(zip(forms.split("|"), of_english, strict=False))):
            for each in stems.split():
                for ending in ("", *endings):
                    degrees.setdefault(each + ending, degree)
                    if degree == of_english[0]:
                        positive.setdefault(fold(each + ending), of_english)
    return positive, degrees


def _with_folded(data: Mapping[str, str]) -> dict[str, str]:
    """The entries by their words, and by these without accents, unless that is another word: "où" is no "ou"."""
    return {fold(word): english for word, english in reversed(list(data.items()))} | dict(data)


def _degrees(forms: str) -> tuple[str, str, str]:
    """The positive, comparative and superlative of an English adjective: "recent more-recent most-recent"."""
    positive, comparative, superlative = (form.replace("-", " ") for form in forms.split())
    return positive, comparative, superlative


@cache
def _stemmer(code: str) -> Callable[[str], str]:
    import tantivy

    analyzer = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.raw())
    stemming = analyzer.filter(tantivy.Filter.stemmer(GLOSSED_LANGUAGES[code])).build()

    @cache
    def stem_of(word: str) -> str:
        return fold("".join(stemming.analyze(word)))

    return stem_of


@cache
def _words_by_gloss(code: str) -> Mapping[str, str]:
    data = load_language_texts(f"{code}/glosses.yaml")
    words = {english: word for word, english in reversed(list(data["stems"].items()))}
    return {english: word.capitalize() for english, word in words.items()} if "capitals" in data else words


_GROUPED_NUMBER = re.compile(r"(?<![\d.,])\d{1,3}(?:[. \u00a0\u202f]\d{3})+(?![\d.])")
_DECIMAL_COMMA = re.compile(r"(?<![\d.,])(\d+),(\d+)(?![\d,])")
_NUMERIC_DATE = re.compile(r"(?<!\d)(\d{1,2})[./](\d{1,2})[./](\d{4})(?!\d)")


def normalize_numbers(text: str, code: str) -> str:
    """Numbers and dates as English writes them."""
    text = _NUMERIC_DATE.sub(lambda m: f"{m[3]}-{int(m[2]):02}-{int(m[1]):02}" if int(m[2]) <= 12 else m[0], text)
    text = _GROUPED_NUMBER.sub(lambda m: re.sub(r"\D", "", m[0]), text)
    text = _DECIMAL_COMMA.sub(r"\1.\2", text)
    months = {name: calendar.month_name[1 + i] for i, name in enumerate(glosses(code).months)}
    return _month_pattern(code).sub(lambda m: f"{m[1] or ''} {months[fold(m[2])]}".lstrip(), text)


@cache
def _month_pattern(code: str) -> re.Pattern[str]:
    data = load_language_texts(f"{code}/glosses.yaml")
    names = "|".join(data["months"].split())
    # the first of two may be without a year: "zwischen März und Juni 2026"
    after = rf"\s+(?:\w+\s+)?(?:\d|(?:{names})\b)|\W*$"
    before = "|".join(rf"(?<=\b{lead} )" for lead in data["month_leads"].split())
    dated = rf"(\d{{1,2}})(?:\.|er)?\s+(?={names})"
    return re.compile(rf"\b(?:{dated}|{before}|(?=\w+(?:{after})))({names})\b", re.IGNORECASE)


_DAY_OR_MONTH = rf"(?:\d\d? )?(?:{'|'.join(calendar.month_name[1:])})\b"
_DATE = rf"(?:\d{{4}}(?:-\d\d-\d\d)?|{_DAY_OR_MONTH}(?: \d{{4}})?)"
_ARTICLE_OF_DATE = re.compile(rf"\bthe (?={_DAY_OR_MONTH}|\d{{4}}-)")
_TIME_RANGE = re.compile(rf"\b(?:of|from) ({_DATE}) (?:until|to) ({_DATE})\b")
_SPAN = rf"({_DATE})( and| to| until|)( {_DATE}|)"
_TIME_BEFORE_VERB = re.compile(rf"\b(since|in|between|after|before|until|from|on) {_SPAN} ([^\W\d]+)$")


def verb_before_time(english: str) -> str:
    """The words with a verb at the end before the time that it comes after in German, and with ranges of times.

    >>> verb_before_time("which pupils are since the 1 June 2026 registered")
    'which pupils are registered since 1 June 2026'
    """
    english = _TIME_RANGE.sub(r"between \1 and \2", _ARTICLE_OF_DATE.sub("", english))
    return _TIME_BEFORE_VERB.sub(r"\5 \1 \2\3\4", english)


def fill_template(code: str, name: str, **parts: str | int) -> str:
    """A sentence of a language with its parts."""
    return str(load_language_texts(f"{code}/answers.yaml")[name]).format(**{"only": "", **parts})


def translated_plural(noun: str, code: str) -> str:
    """The plural of a noun of one word: itself if it is one, formed by its ending, or found in the dictionary; else "".

    >>> [translated_plural(noun, "de") for noun in ("Bestand", "Orte", "Bergwirt", "Fluss", "Museum", "Theater")]
    ['Bestände', 'Orte', 'Bergwirte', 'Flüsse', 'Museen', '']
    """
    if not noun.isalpha():
        return ""
    texts = load_language_texts(f"{code}/answers.yaml")
    endings = {"": ""} if _is_plural(noun, code) else texts.get("plurals", {})
    ending = next((each for each in endings if noun.lower().endswith(each)), None)
    several = _known_plural(noun, code) if ending is None else noun[: len(noun) - len(ending)] + endings[ending]
    return several[:1].upper() + several[1:] if texts.get("capital_nouns") else several


def _known_plural(noun: str, code: str) -> str:
    """The form of a noun or of the last part of a compound that the dictionary has with an ending of plurals, or "".
    The mark "¨" before an ending changes the last vowel."""
    part, texts = known_part(noun, code), load_language_texts(f"{code}/answers.yaml")
    low, vowels = part.lower(), texts.get("umlauts", {})
    changed = re.sub(r"(au|a|o|u)(?=[^aou]*$)", lambda found: vowels.get(found[0], found[0]), low)
    for ending in texts.get("plural_endings", "").split() if part else ():
        form: str = ((changed if ending.startswith("¨") else low) + ending.removeprefix("¨")).capitalize()
        if form != part and is_known(form, lang=code) and _base_form(form, code) == part:
            return noun[: len(noun) - len(part)] + (form if len(part) == len(noun) else form.lower())
    return ""


def known_part(noun: str, code: str) -> str:
    """The noun, or the longest last part of a compound, that the dictionary of a language knows; "" without one."""
    parts = (noun[i:].capitalize() for i in range(max(1, len(noun) - MIN_HEAD_LETTERS + 1)))
    return next((part for part in parts if is_known(part, lang=code)), "")


def _is_plural(noun: str, code: str) -> bool:
    """Whether a noun is a plural; of languages that write nouns with capitals, which tells them from verbs."""
    known = known_part(noun, code)
    base = _base_form(known, code) if known else ""
    return base[:1].isupper() and base != known


def _base_form(word: str, code: str) -> str:
    """The lemma of a word; "Fluß", as it was spelt earlier, only if the word has this letter."""
    base: str = dictionary_form(word, lang=code)
    return base if "ß" in word else base.replace("ß", "ss")


def is_form(label: str, name: str, code: str) -> bool:
    """Whether a label that begins with no noun has a form that templates name: "participle", "state", "verb"."""
    texts, first = load_language_texts(f"{code}/answers.yaml"), label.partition(" ")[0]
    is_noun = "capital_nouns" in texts and first[:1].isupper() and dictionary_form(first, lang=code) == first
    return not is_noun and bool(re.fullmatch(texts[name], label.casefold()))


def join_translated(names: list[str], code: str) -> str:
    """Names as a list in a language."""
    joined = f" {fill_template(code, 'and')} "
    return joined.join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
