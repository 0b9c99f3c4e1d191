"""Forms of English words: noun -> plural, article, possessive, list; verb -> completed, active, gerund."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import NamedTuple

from nacre.language.data import phrase_list, phrase_map, word_list, word_map
from nacre.language.thesaurus import unit_words
from nacre.language.tokens import is_known, lemma

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
    """The singular of a noun phrase."""
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


@lru_cache(maxsize=8192)
def is_plural(noun: str) -> bool:
    """Whether a noun phrase is a plural by its form."""
    return singular(noun) != noun or _split_head(noun)[0].rpartition(" ")[2].lower() in word_list(
        "wording", "plural_only"
    )


def is_participle(word: str) -> bool:
    """Whether a word is a past participle by its form."""
    return word in word_list("wording", "participles") or (word.endswith("ed") and lemma(word) != word)


def possessive_phrase(noun: str, owner: str, *, person: bool = False) -> str:
    """A noun and its owner, joined by "of"; after a participle by "for", or by "by" if the owner is a person.

    >>> possessive_phrase("price", "Emma"), possessive_phrase("amount paid", "sale 12")
    ('price of Emma', 'amount paid for sale 12')
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
    """
    head = noun.split(" of ")[0].rpartition(" ")[2]
    return f"in {value}" if head in word_list("wording", "seated") and not any(c.isdigit() for c in value) else value


def with_indefinite_article(noun: str) -> str:
    """A noun phrase with "a" or "an", or with the article that it has."""
    if noun.startswith(("a ", "an ", "the ")):
        return noun
    if noun.startswith("other "):
        return f"an{noun}"
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
    """A number with its noun."""
    return f"{number:,} {noun if number == 1 else plural(noun)}"


def join_names(names: Sequence[str], word: str = "and") -> str:
    """Names as a list in a sentence; names of countries get their article.

    The separator is ";" if a name contains a comma. The last name has a comma before it if a name contains "and".

    >>> join_names(["A", "B", "C"]), join_names(["A, the first", "B", "C"]), join_names(["1,200", "31", "9"])
    ('A, B and C', 'A, the first; B; and C', '1,200; 31; and 9')
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
    """The words of a name if each of them alone is a name of the same thing."""
    alike = any(set(words) <= set(kind.split()) for kind in word_map("wording", "alternatives").values())
    return tuple(words) if alike and len(words) > 1 else ()


def head_noun(noun: str) -> str:
    """A noun phrase without the prepositional phrase after it."""
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
        # "athletics"
        return word if low.endswith("ics") else f"{word}es"
    return f"{word[:-1]}ies" if low.endswith("y") and low[-2:-1] not in _VOWELS else f"{word}s"


def _split_head(noun: str) -> tuple[str, str]:
    """The part of a noun phrase that its plural changes; the rest: a preposition, bracket or participle onwards."""
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


def count_phrase(noun: str, *, counts: bool) -> str:
    """The name of a computed value of a property: "number of passengers" if the property counts things.

    >>> count_phrase("passengers", counts=True), count_phrase("sales", counts=True), count_phrase("price", counts=True)
    ('number of passengers', 'sales', 'price')
    """
    return f"number of {noun}" if counts and is_count_noun(noun) else noun


def is_count_noun(noun: str) -> bool:
    """Whether whole numbers of a property with this name count things."""
    word = head_noun(noun).rpartition(" ")[2].lower()
    return (
        is_plural(noun)
        and word not in word_list("wording", "plural_only")
        and not noun.startswith(("number of", "numbers of"))
    )


def amount_name(name: str) -> str:
    """The name of a column that counts or measures something, as English has it; other names stay.

    >>> amount_name("number rooms"), amount_name("no of guest"), amount_name("amount payment")
    ('number of rooms', 'number of guests', 'payment amount')
    """
    first, _, rest = name.partition(" ")
    last = rest.rpartition(" ")[2].lower()
    if rest and first.lower() in word_list("wording", "number_first") and (rest.startswith("of ") or is_plural(rest)):
        return f"number of {plural(rest.removeprefix('of '))}"
    before = name.rpartition(" ")[0]
    if rest and last in word_list("wording", "number_last") and before.lower() not in word_list("wording", "no_things"):
        return name if is_participle(before) else f"number of {plural(before)}"
    follows_noun = (
        is_participle(rest) or rest.lower() in word_list("wording", "after_noun") or rest.lower() in unit_words()
    )
    if rest and " " not in rest and first.lower() in word_list("wording", "amount_first") and not follows_noun:
        return f"{rest} {first}"
    if last in word_list("wording", "multiples"):
        return f"{before}{'' if before.endswith(' in') else ' in'} {last}s"
    return f"{name}s" if rest and f" in {last}" in f" {rest}" and last in word_list("wording", "coins") else name


def extreme_adjective(measure: str, *, high: bool) -> str:
    """The superlative for the high or the low end of a measure.

    >>> extreme_adjective("duration", high=True), extreme_adjective("luggage volume of a car", high=False)
    ('longest', 'smallest')
    """
    words = measure.casefold().split()
    head = next((i for i, word in enumerate(words) if word in word_list("wording", "prepositions")), len(words))
    for ends, nouns in word_map("wording", "extremes").items():
        if words[:head] and words[head - 1] in nouns.split():
            return str(ends.split()[0 if high else 1])
    return "highest" if high else "lowest"


def is_link_verb(word: str) -> bool:
    """Whether a word is a verb in the third person that can label a link alone. Plural nouns are not."""
    return word in word_list("wording", "verbs")


def is_completed_action(words: str) -> bool:
    """Whether words are about a past event ("built by"), and not about a lasting state ("owned by", "part of").

    >>> [is_completed_action(words) for words in ("built by", "owned by", "first flown", "part of")]
    [True, False, True, False]
    """
    first = next((w for w in words.split() if w not in word_list("wording", "adverbs")), "")
    return is_participle(first) and first not in word_list("wording", "enduring")


def strip_preposition(words: str) -> str:
    """A participle without the preposition after it."""
    done, _, last = words.rpartition(" ")
    return done if done and last in word_list("wording", "prepositions") else words


@dataclass(frozen=True)
class Verb:
    """The forms of a verb after one thing and after several; `base` after a form of `do` denies it, "" of "be"."""

    one: str
    many: str
    base: str = ""
    do: tuple[str, str] = ("does", "do")


def active_verb(words: str) -> Verb | None:
    """The active of a participle with "by"; None for other words.

    >>> active_verb("caused by").one, active_verb("owned by").one, active_verb("part of")
    ('caused', 'owns', None)
    """
    participle, _, by = words.rpartition(" ")
    if by != "by" or not (is_participle(participle) or (participle.endswith("ed") and " " not in participle)):
        return None
    base = _base_of_participle(participle)
    if is_completed_action(words):
        return past_tense(word_map("wording", "pasts").get(participle, participle), base)
    return Verb(third_person(base), base, base)


def agent_noun(words: str) -> str:
    """The noun for who does something ("directed by" -> "director"); "" if English has none."""
    active = active_verb(words)
    if active is None or " " in active.base:
        return ""
    stem = active.base.removesuffix("e")
    return next((n for n in (f"{stem}or", f"{stem}er") if is_known(n, lang="en")), "")


def gerund(base: str) -> str:
    """The "-ing" form of a verb."""
    return f"{base[:-1] if base.endswith('e') and not base.endswith('ee') else base}ing"


def third_person(base: str) -> str:
    """The form of a verb after "it"."""
    if base.endswith(("s", "x", "z", "ch", "sh", "o")):
        return f"{base}es"
    return f"{base[:-1]}ies" if base.endswith("y") and base[-2:-1] not in "aeiou" else f"{base}s"


def base_form(verb: str) -> str:
    """The base form of a verb in the third person."""
    if verb == "has":
        return "have"
    if verb.endswith("ies") and len(verb) > len("lies"):
        return f"{verb[:-3]}y"
    return verb[:-2] if verb.endswith(phrase_list("wording", "es_endings")) else verb[:-1]


def _base_of_participle(participle: str) -> str:
    base = lemma(participle)
    if base != participle or not participle.endswith("ed"):
        return base
    return participle[:-2] if is_known(participle[:-2], lang="en") else participle[:-1]


BE, WAS, HAVE = Verb("is", "are"), Verb("was", "were"), Verb("has", "have", "have")
HAVE_BEEN = Verb("has been", "have been")

# what a list is to its items, if it has more of them
INCLUDE = Verb("includes", "include", "include")


def past_tense(form: str, base: str) -> Verb:
    """A verb in the past tense."""
    return Verb(form, form, base, ("did", "did"))


@dataclass(frozen=True)
class VerbPhrase:
    """What is said of a subject."""

    verb: Verb
    rest: str = ""  # what follows the verb
    rest_of_many: str = ""  # after several things, if it differs
    denied: bool = False
    lack: str = ""  # what follows "no" in a denial

    def words(self, many: bool = False) -> str:
        """The phrase after one thing, or after several."""
        form = self.verb.many if many else self.verb.one
        rest = (many and self.rest_of_many) or self.rest
        if self.denied and self.lack:
            rest = f"no {self.lack}"
        elif self.denied:
            form = f"{self.verb.do[many]} not {self.verb.base}" if self.verb.base else f"{form} not"
        return f"{form} {rest}".rstrip()

    @property
    def denial(self) -> "VerbPhrase":
        """The opposite."""
        return replace(self, denied=not self.denied)


class Pronoun(NamedTuple):
    """A pronoun as subject and as possessive, and whether its verb is plural."""

    it: str
    whose: str
    many: bool = False

    @property
    def be(self) -> str:
        return "are" if self.many else "is"

    @property
    def have(self) -> str:
        return "have" if self.many else "has"


IT, THEY = Pronoun("it", "its"), Pronoun("they", "their", many=True)


def gender(label: str, value: object) -> str:
    """The gender that a value states; "" if the property is no gender or the value is unknown."""
    forms = phrase_map("wording", "gendered").get(str(value).casefold())
    return forms[0] if forms and label.split()[-1] in word_list("wording", "genders") else ""


def pronoun(*, person: bool, male_or_female: str = "") -> Pronoun:
    """The pronoun for a thing, or for a person whose gender may be known."""
    if not person:
        return IT
    forms = phrase_map("wording", "gendered").get(male_or_female)
    return Pronoun(forms[1], forms[2]) if forms else THEY
