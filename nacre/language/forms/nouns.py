"""Nouns in English as answers need them: plural, article, possessive, lists."""

import re
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Any

from nacre.language.thesaurus import load_language_data, unit_words
from nacre.language.tokens import lemma

_OF = (" of ", " in ", " for ", " from ", " with ", " by ", " at ", " on ", " to ", " per ", " as ")
_VOWELS = "aeiou"
_SPELLED_WITH_A_VOWEL = "AEFHILMNORSX"
_ACRONYM = 4
_NUMBER = re.compile(r"[\d,.]+")


@cache
def _wording() -> dict[str, Any]:
    return {
        name: frozenset(each.split()) if isinstance(each, str) else each
        for name, each in load_language_data("en/wording.yaml").items()
    }


def wording_entry(name: str) -> Any:
    """One entry of the resource: a set of words, or the forms by the word."""
    return _wording()[name]


@lru_cache(maxsize=8192)
def plural(noun: str) -> str:
    """The plural of a noun phrase; one that is plural already stays.

    >>> plural("car variant"), plural("country"), plural("branch of a bank"), plural("Grapes"), plural("vehicle sent")
    ('car variants', 'countries', 'branches of a bank', 'Grapes', 'vehicles sent')
    >>> plural("active from date"), plural("state/county")
    ('active from dates', 'states/counties')
    >>> plural("author or editor"), plural("good or bad mark")
    ('authors or editors', 'good or bad marks')
    """
    one, between, other = noun.partition(" or ")
    if between and " " not in one + other:
        return f"{_plural(one)}{between}{_plural(other)}"
    head, rest = _headed(noun)
    before, space, word = head.rpartition(" ")
    return f"{before}{space}{_plural(word)}{rest}"


@cache
def _singulars() -> dict[str, str]:
    return {several: one for one, several in wording_entry("plurals").items()}


@lru_cache(maxsize=8192)
def singular(noun: str) -> str:
    """The singular of a noun phrase.

    >>> singular("grapes"), singular("project outcomes"), singular("series"), singular("class"), singular("people")
    ('grape', 'project outcome', 'series', 'class', 'person')
    """
    head, rest = _headed(noun)
    before, space, word = head.rpartition(" ")
    if "/" in word:
        return f"{before}{space}{'/'.join(map(singular, word.split('/')))}{rest}"
    low = word.lower()
    irregular = _singulars().get(low, "")
    one = irregular or (low if low in wording_entry("unchanged") else lemma(low))
    if one == low or not low.isalpha() or _plural(one) != low:
        return noun
    return f"{before}{space}{word[0]}{one[1:]}{rest}"


def is_plural(noun: str) -> bool:
    """Whether a noun phrase is a plural by its form.

    >>> is_plural("grapes"), is_plural("status"), is_plural("series"), is_plural("sales in millions")
    (True, False, False, True)
    """
    return singular(noun) != noun or _headed(noun)[0].rpartition(" ")[2].lower() in wording_entry("plural_only")


def is_participle(word: str) -> bool:
    """Whether a word is a past participle by its form.

    >>> is_participle("founded"), is_participle("built"), is_participle("speed"), is_participle("red")
    (True, True, False, False)
    """
    return word in wording_entry("participles") or (word.endswith("ed") and lemma(word) != word)


def possessive_phrase(noun: str, owner: str, *, person: bool = False) -> str:
    """What is whose: a noun with a participle is no noun "of" its owner.

    >>> possessive_phrase("price", "Emma"), possessive_phrase("amount paid", "sale 12"), possessive_phrase("course held", "Ann", person=True)
    ('price of Emma', 'amount paid for sale 12', 'course held by Ann')
    """
    before, _, last = noun.rpartition(" ")
    when = before.rpartition(" ")[2] in ("date", "dates", "year", "years")
    if not before or not is_participle(last) or when:
        return f"{noun} of {owner}"
    return f"{noun} {'by' if person or noun.startswith('number ') else 'for'} {owner}"


def count_phrase(noun: str, *, counts: bool) -> str:
    """What is computed of a property that counts things: "number of passengers"; any other stays.

    >>> count_phrase("passengers", counts=True), count_phrase("sales", counts=True), count_phrase("price", counts=True)
    ('number of passengers', 'sales', 'price')
    """
    return f"number of {noun}" if counts and is_count_noun(noun) else noun


def place_phrase(noun: str, said: str) -> str:
    """What follows "is" after a property: of what has its place somewhere, "in" and the place.

    >>> place_phrase("headquarters", "France"), place_phrase("headquarters", "12 Mill Lane"), place_phrase("owner", "France")
    ('in France', '12 Mill Lane', 'France')
    """
    head = noun.split(" of ")[0].rpartition(" ")[2]
    return f"in {said}" if head in wording_entry("seated") and not any(c.isdigit() for c in said) else said


def is_count_noun(noun: str) -> bool:
    """Whether a whole number of this noun says how many things there are.

    >>> is_count_noun("passengers"), is_count_noun("people injured"), is_count_noun("sales"), is_count_noun("price")
    (True, True, False, False)
    """
    head, _ = _headed(noun)
    word = head.rpartition(" ")[2].lower()
    return (
        is_plural(noun)
        and word not in wording_entry("plural_only")
        and not noun.startswith(("number of", "numbers of"))
    )


def amount_name(name: str) -> str:
    """The name of a column that begins with "number" or "amount", or ends in what its numbers are of, as it is said.

    >>> amount_name("number rooms"), amount_name("no of guest"), amount_name("amount payment"), amount_name("amount paid")
    ('number of rooms', 'number of guests', 'payment amount', 'amount paid')
    >>> amount_name("amount due"), amount_name("amount eur"), amount_name("quantity words"), plural("amount outstanding")
    ('amount due', 'amount eur', 'number of words', 'amounts outstanding')
    >>> amount_name("budget million"), amount_name("price in dollar"), amount_name("number"), amount_name("room number")
    ('budget in millions', 'price in dollars', 'number', 'room number')
    >>> amount_name("bedroom count"), amount_name("count"), amount_name("head count")
    ('number of bedrooms', 'count', 'head count')
    >>> amount_name("booked count")
    'booked count'
    """
    first, _, rest = name.partition(" ")
    last = rest.rpartition(" ")[2].lower()
    if rest and first.lower() in wording_entry("number_first") and (rest.startswith("of ") or is_plural(rest)):
        return f"number of {plural(rest.removeprefix('of '))}"
    counted = name.rpartition(" ")[0]
    if rest and last in wording_entry("number_last") and counted.lower() not in wording_entry("no_things"):
        return name if is_participle(counted) else f"number of {plural(counted)}"
    after = is_participle(rest) or rest.lower() in wording_entry("after_noun") or rest.lower() in unit_words()
    if rest and " " not in rest and first.lower() in wording_entry("amount_first") and not after:
        return f"{rest} {first}"
    if last in wording_entry("multiples"):
        before = name.rpartition(" ")[0]
        return f"{before}{'' if before.endswith(' in') else ' in'} {last}s"
    return f"{name}s" if rest and f" in {last}" in f" {rest}" and last in wording_entry("coins") else name


def with_indefinite_article(noun: str) -> str:
    """The noun with "a" or "an".

    >>> with_indefinite_article("hour"), with_indefinite_article("EU grant"), with_indefinite_article("university"), with_indefinite_article("X5"), with_indefinite_article("island")
    ('an hour', 'an EU grant', 'a university', 'an X5', 'an island')
    """
    first = noun.split()[0] if noun.split() else noun
    low = first.lower()
    if low.startswith(tuple(wording_entry("vowel_sound"))):
        vowel = True
    elif (first.isupper() and len(first) <= _ACRONYM) or any(map(str.isdigit, first)):
        vowel = first[:1] in _SPELLED_WITH_A_VOWEL or first.startswith(("8", "11", "18"))
    elif low.startswith(tuple(wording_entry("consonant_sound"))):
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
    """Names as a list; with semicolons where a name has commas of its own, or numbers have them, and one more comma
    where a name has an "and" of its own. Countries have their article.

    >>> join_names(["A", "B", "C"]), join_names(["A, the first", "B", "C"]), join_names(["1,200", "31", "9"])
    ('A, B and C', 'A, the first; B; and C', '1,200; 31; and 9')
    >>> join_names(["salt and pepper", "oil"]), join_names(["Oslo, Norway", "Rome, Italy"]), join_names(["United States"])
    ('salt and pepper, and oil', 'Oslo, Norway, and Rome, Italy', 'the United States')
    """
    names = [f"the {name}" if name in _with_article() else name for name in names]
    if len(names) < 2:
        return "".join(names)
    numbers = len(names) > 2 and all(_NUMBER.fullmatch(name) for name in names)
    apart = any("," in name if numbers else ", " in name for name in names)
    if apart and len(names) > 2:
        return f"{'; '.join(names[:-1])}; {word} {names[-1]}"
    last = f", {word} " if apart or any(f" {word} " in name for name in names) else f" {word} "
    return f"{', '.join(names[:-1])}{last}{names[-1]}"


@cache
def _with_article() -> frozenset[str]:
    """The names of countries and unions that stand with an article."""
    return frozenset(name.strip() for name in wording_entry("with_article")["names"].split(","))


def interchangeable_words(words: Sequence[str]) -> tuple[str, ...]:
    """The words of a name that are names of the same by themselves.

    >>> interchangeable_words(("state", "province", "county")), interchangeable_words(("city", "code"))
    (('state', 'province', 'county'), ())
    """
    alike = any(set(words) <= set(kind.split()) for kind in wording_entry("alternatives").values())
    return tuple(words) if alike and len(words) > 1 else ()


def _plural(word: str) -> str:
    if "/" in word:
        return "/".join(map(_plural, word.split("/")))
    low = word.lower()
    known: dict[str, str] = wording_entry("plurals")
    if low in wording_entry("unchanged") or low in wording_entry("plural_only") or low in known.values():
        return word
    if low in known:
        return word[0] + known[low][1:]
    if not low.isalpha():
        return word if low.endswith("s") else f"{word}s"
    if low.endswith("s") and lemma(low) != low and not low.endswith(("ss", "us", "is")):
        return word
    if word.isupper() and len(word) <= _ACRONYM:
        return f"{word}s"
    if lemma(low) != low and not low.endswith("ing"):
        # a form of a verb, as in "total spent"
        return word
    if low.endswith(("s", "x", "z", "ch", "sh")):
        return f"{word}es"
    if low.endswith("y") and low[-2:-1] not in _VOWELS:
        return f"{word[:-1]}ies"
    return f"{word}s"


def head_noun(noun: str) -> str:
    """A noun without what follows it with a preposition.

    >>> head_noun("product for hire"), head_noun("member of staff"), head_noun("car")
    ('product', 'member', 'car')
    """
    return _headed(noun)[0]


def _headed(noun: str) -> tuple[str, str]:
    """The part of a noun phrase that its plural changes, and the rest: what follows a preposition or a bracket, and a
    participle before it ("vehicle sent").
    """
    ends = [at for mark in (*_OF, " (") if (at := noun.find(mark)) > 0]
    last = noun.rpartition(" ")[2].lower()
    if ends and last in wording_entry("ending") and " of " not in noun and not noun.endswith(")"):
        return noun, ""
    end = min(ends, default=len(noun))
    before, space, last = noun[:end].rpartition(" ")
    done = is_participle(last) and last.lower() not in wording_entry("participle_nouns")
    if space and (done or last.lower() in wording_entry("after_noun")):
        end = len(before)
    return noun[:end], noun[end:]


def extreme_adjective(measure: str, *, high: bool) -> str:
    """What the high or low end of a measure is called.

    >>> extreme_adjective("duration", high=True), extreme_adjective("luggage volume of a car", high=False), extreme_adjective("price", high=True)
    ('longest', 'smallest', 'highest')
    """
    words = measure.casefold().split()
    head = next((i for i, word in enumerate(words) if word in wording_entry("prepositions")), len(words))
    for ends, nouns in wording_entry("extremes").items():
        if words[:head] and words[head - 1] in nouns.split():
            return str(ends.split()[0 if high else 1])
    return "highest" if high else "lowest"
