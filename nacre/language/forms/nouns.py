"""Forms of noun phrases in English: plural, singular, article, possessive, lists."""

import re
from collections.abc import Sequence
from functools import cache, lru_cache

from nacre.language.base import phrase_list, word_list, word_map
from nacre.language.tokens import lemma

_VOWELS = "aeiou"
# letters whose names begin with a vowel
_VOWEL_NAMES = "AEFHILMNORSX"
_MAX_ACRONYM = 4
_NUMBER = re.compile(r"[\d,.]+")


@lru_cache(maxsize=8192)
def plural(noun: str) -> str:
    """The plural of a noun phrase; a plural stays as it is.

    >>> plural("car variant"), plural("country"), plural("branch of a bank"), plural("Grapes"), plural("vehicle sent")
    ('car variants', 'countries', 'branches of a bank', 'Grapes', 'vehicles sent')
    >>> plural("active from date"), plural("state/county")
    ('active from dates', 'states/counties')
    >>> plural("author or editor"), plural("good or bad mark")
    ('authors or editors', 'good or bad marks')
    """
    one, between, other = noun.partition(" or ")
    if between and " " not in one + other:
        return f"{_plural_word(one)}{between}{_plural_word(other)}"
    head, rest = _split_head(noun)
    before, space, word = head.rpartition(" ")
    return f"{before}{space}{_plural_word(word)}{rest}"


@cache
def _singulars() -> dict[str, str]:
    return {several: one for one, several in word_map("wording", "plurals").items()}


@lru_cache(maxsize=8192)
def singular(noun: str) -> str:
    """The singular of a noun phrase.

    >>> singular("grapes"), singular("project outcomes"), singular("series"), singular("class"), singular("people")
    ('grape', 'project outcome', 'series', 'class', 'person')
    """
    head, rest = _split_head(noun)
    before, space, word = head.rpartition(" ")
    if "/" in word:
        return f"{before}{space}{'/'.join(map(singular, word.split('/')))}{rest}"
    low = word.lower()
    irregular = _singulars().get(low, "")
    one = irregular or (low if low in word_list("wording", "unchanged") else lemma(low))
    if one == low or not low.isalpha() or _plural_word(one) != low:
        return noun
    return f"{before}{space}{word[0]}{one[1:]}{rest}"


def is_plural(noun: str) -> bool:
    """Whether a noun phrase is a plural by its form.

    >>> is_plural("grapes"), is_plural("status"), is_plural("series"), is_plural("sales in millions")
    (True, False, False, True)
    """
    return singular(noun) != noun or _split_head(noun)[0].rpartition(" ")[2].lower() in word_list(
        "wording", "plural_only"
    )


def is_participle(word: str) -> bool:
    """Whether a word is a past participle by its form.

    >>> is_participle("founded"), is_participle("built"), is_participle("speed"), is_participle("red")
    (True, True, False, False)
    """
    return word in word_list("wording", "participles") or (word.endswith("ed") and lemma(word) != word)


def possessive_phrase(noun: str, owner: str, *, person: bool = False) -> str:
    """A noun and its owner, joined by "of"; after a participle by "for", or by "by" if the owner is a person.

    >>> possessive_phrase("price", "Emma"), possessive_phrase("amount paid", "sale 12")
    ('price of Emma', 'amount paid for sale 12')
    >>> possessive_phrase("course held", "Ann", person=True)
    'course held by Ann'
    """
    before, _, last = noun.rpartition(" ")
    is_date = before.rpartition(" ")[2] in word_list("wording", "dated")
    if not before or not is_participle(last) or is_date:
        return f"{noun} of {owner}"
    return f"{noun} {'by' if person or noun.startswith('number ') else 'for'} {owner}"


def place_phrase(noun: str, value: str) -> str:
    """A value after "is": with "in" if the property is a seat such as a headquarters, and the value no address.

    >>> place_phrase("headquarters", "France"), place_phrase("headquarters", "12 Mill Lane")
    ('in France', '12 Mill Lane')
    >>> place_phrase("owner", "France")
    'France'
    """
    head = noun.split(" of ")[0].rpartition(" ")[2]
    return f"in {value}" if head in word_list("wording", "seated") and not any(c.isdigit() for c in value) else value


def with_indefinite_article(noun: str) -> str:
    """A noun phrase with "a" or "an".

    >>> [with_indefinite_article(noun) for noun in ("hour", "EU grant", "university", "X5", "island")]
    ['an hour', 'an EU grant', 'a university', 'an X5', 'an island']
    """
    first = noun.split()[0] if noun.split() else noun
    low = first.lower()
    if low.startswith(tuple(word_list("wording", "vowel_sound"))):
        vowel = True
    elif (first.isupper() and len(first) <= _MAX_ACRONYM) or any(map(str.isdigit, first)):
        vowel = first[:1] in _VOWEL_NAMES or first.startswith(("8", "11", "18"))
    elif low.startswith(tuple(word_list("wording", "consonant_sound"))):
        vowel = False
    else:
        vowel = low[:1] in _VOWELS
    return f"{'an' if vowel else 'a'} {noun}"


def number_with_noun(number: int, noun: str) -> str:
    """A number with its noun.

    >>> number_with_noun(1, "city"), number_with_noun(1200, "city")
    ('1 city', '1,200 cities')
    """
    return f"{number:,} {noun if number == 1 else plural(noun)}"


def join_names(names: Sequence[str], word: str = "and") -> str:
    """Names as a list in a sentence; names of countries get their article.

    The separator is ";" if a name contains a comma. The last name has a comma before it if a name contains "and".

    >>> join_names(["A", "B", "C"]), join_names(["A, the first", "B", "C"]), join_names(["1,200", "31", "9"])
    ('A, B and C', 'A, the first; B; and C', '1,200; 31; and 9')
    >>> join_names(["salt and pepper", "oil"]), join_names(["Oslo, Norway", "Rome, Italy"])
    ('salt and pepper, and oil', 'Oslo, Norway, and Rome, Italy')
    >>> join_names(["United States"])
    'the United States'
    """
    names = [f"the {name}" if name in _names_with_article() else name for name in names]
    if len(names) < 2:
        return "".join(names)
    numbers = len(names) > 2 and all(_NUMBER.fullmatch(name) for name in names)
    has_commas = any("," in name if numbers else ", " in name for name in names)
    if has_commas and len(names) > 2:
        return f"{'; '.join(names[:-1])}; {word} {names[-1]}"
    last = f", {word} " if has_commas or any(f" {word} " in name for name in names) else f" {word} "
    return f"{', '.join(names[:-1])}{last}{names[-1]}"


@cache
def _names_with_article() -> frozenset[str]:
    """The names of countries and unions that take "the"."""
    return frozenset(name.strip() for name in word_map("wording", "with_article")["names"].split(","))


def interchangeable_words(words: Sequence[str]) -> tuple[str, ...]:
    """The words of a name if each of them alone is a name of the same thing.

    >>> interchangeable_words(("state", "province", "county")), interchangeable_words(("city", "code"))
    (('state', 'province', 'county'), ())
    """
    alike = any(set(words) <= set(kind.split()) for kind in word_map("wording", "alternatives").values())
    return tuple(words) if alike and len(words) > 1 else ()


def head_noun(noun: str) -> str:
    """A noun phrase without the prepositional phrase after it.

    >>> head_noun("product for hire"), head_noun("member of staff"), head_noun("car")
    ('product', 'member', 'car')
    """
    return _split_head(noun)[0]


def _plural_word(word: str) -> str:
    if "/" in word:
        return "/".join(map(_plural_word, word.split("/")))
    low = word.lower()
    known = word_map("wording", "plurals")
    if low in word_list("wording", "unchanged") or low in word_list("wording", "plural_only") or low in known.values():
        return word
    if low in known:
        return word[0] + known[low][1:]
    if not low.isalpha():
        return word if low.endswith("s") else f"{word}s"
    if low.endswith("s") and lemma(low) != low and not low.endswith(("ss", "us", "is")):
        return word
    if word.isupper() and len(word) <= _MAX_ACRONYM:
        return f"{word}s"
    if lemma(low) != low and not low.endswith("ing"):
        # a verb form, as in "total spent"
        return word
    if low.endswith(("s", "x", "z", "ch", "sh")):
        return f"{word}es"
    if low.endswith("y") and low[-2:-1] not in _VOWELS:
        return f"{word[:-1]}ies"
    return f"{word}s"


def _split_head(noun: str) -> tuple[str, str]:
    """The part of a noun phrase that its plural changes, and the rest.

    The rest begins with a preposition, a bracket or a participle ("vehicle sent").
    """
    ends = [at for mark in (*_noun_prepositions(), " (") if (at := noun.find(mark)) > 0]
    last = noun.rpartition(" ")[2].lower()
    if ends and last in word_list("wording", "ending") and " of " not in noun and not noun.endswith(")"):
        return noun, ""
    end = min(ends, default=len(noun))
    before, space, last = noun[:end].rpartition(" ")
    is_verb = is_participle(last) and last.lower() not in word_list("wording", "participle_nouns")
    if space and (is_verb or last.lower() in word_list("wording", "after_noun")):
        end = len(before)
    return noun[:end], noun[end:]


@cache
def _noun_prepositions() -> tuple[str, ...]:
    return tuple(f" {word} " for word in phrase_list("wording", "noun_prepositions"))
