"""Names of tables, columns and predicates: labels and IRIs -> short, unique SQL identifiers; readable labels.
Without a label, the words of the IRI are split if they are joined: "emissioncombined" -> "emission combined"."""

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache
from hashlib import blake2b
from typing import NamedTuple

from ingestion.vocabulary import local_name, member_name
from nacre.language.data import word_list, word_map
from nacre.language.thesaurus import vocabulary
from nacre.language.tokens import is_known, lemma, unquoted
from nacre.language.word_forms import amount_name, is_participle

_KEYWORDS = """
    abort action add after all alter always analyze and as asc attach autoincrement before begin between by cascade case
    cast check collate column commit conflict constraint create cross current current_date current_time
    current_timestamp database default deferrable deferred delete desc detach distinct do drop each else end escape
    except exclude exclusive exists explain fail filter first following for foreign from full generated glob group
    groups having if ignore immediate in index indexed initially inner insert instead intersect into is isnull join
    key last left like limit match materialized natural no not nothing notnull null nulls of offset on or order others
    outer over partition plan pragma preceding primary query raise range recursive references regexp reindex release
    rename replace restrict returning right rollback row rows savepoint select set table temp temporary then ties to
    transaction trigger true false unbounded union unique update using vacuum values view virtual when where window with
    without
"""

SQL_KEYWORDS = frozenset(_KEYWORDS.split())

_TAKEN_BY_SQLITE = frozenset({"id", "rowid", "oid", "_rowid_", "entity", "iri"})

_LONGEST = 60

_SPELT = {"ä": "ae", "ö": "oe", "ü": "ue", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue", "ß": "ss"}

# "aB", "ABCd", and "A2Cd" after the digit
_HUMP = re.compile(r"(?<=[^\W\d_A-Z])(?=[A-Z])|(?:(?<=[A-Z])|(?<=[A-Z]\d))(?=[A-Z][a-zß-öø-ÿ]{2})")

_SEPARATORS = re.compile(r"[\s_\-+.:/\\]+")

_NUMBER = re.compile(r"(?<=[a-z]{3})(?=\d)|(?<=\d)(?=[a-zA-Z]{3})")

_SPACES = re.compile(" +")

_NO_WORD = re.compile(r"\W+")

_LINES = re.compile("__+")

# different days in eight digits that make a column one of days whatever its name (given)
MANY_DAYS = 50


@lru_cache(maxsize=1024)
def readable_name(text: str) -> str:
    """A readable name: escapes decoded, camel case and separators replaced by spaces.

    >>> readable_name("HTTPVersion_used"), readable_name("New%20roof-box"), readable_name("sprint062mph")
    ('HTTP Version used', 'New roof box', 'sprint 062 mph')
    >>> readable_name("CO2Level"), readable_name("totalCO2Level")
    ('CO2 Level', 'total CO2 Level')
    """
    if text.isascii() and text.isalpha():
        # most names have letters only, without separators and numbers
        return text if text.islower() else _HUMP.sub(" ", text)
    text = _HUMP.sub(" ", _SEPARATORS.sub(" ", unquoted(text)))
    if " " not in text:
        text = _NUMBER.sub(" ", text)
    return _SPACES.sub(" ", text).strip()


def lowercase_name(text: str) -> str:
    """A readable name in lower case, except for abbreviations.

    >>> lowercase_name("OrderItem"), lowercase_name("HTTPVersion"), lowercase_name("birthPlace")
    ('order item', 'HTTP version', 'birth place')
    """
    return " ".join(w if any(c.isupper() for c in w[1:]) else w.lower() for w in readable_name(text).split())


def label_from_iri(iri: str) -> str:
    """The decoded local name of an IRI, with separators replaced by spaces; letters keep their case.

    >>> label_from_iri("http://example.org/a/New%20York_City")
    'New York City'
    """
    return " ".join(unquoted(local_name(iri)).replace("_", " ").split()) or iri


@lru_cache(maxsize=1024)
def column_name(name: str) -> str:
    """The SQL identifier of a label or a local name; letters of other scripts stay.

    >>> column_name("birthPlace"), column_name("Größe (m²)"), column_name("order"), column_name("id")
    ('birth_place', 'groesse_m2', 'order_', 'id_value')
    """
    text = readable_name(name)
    if not text.isascii():
        for letter, plain in _SPELT.items():
            text = text.replace(letter, plain)
        text = "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))
        text = unicodedata.normalize("NFC", text)
    plain = text.lower().replace(" ", "_")
    text = plain if plain.isascii() and plain.isidentifier() else _NO_WORD.sub("_", text.lower())
    text = _LINES.sub("_", text).strip("_")
    if len(text.encode()) > _LONGEST:
        text = text.encode()[:_LONGEST].decode(errors="ignore").rstrip("_")
    if not text:
        return "x_" + blake2b(name.encode(errors="replace"), digest_size=3).hexdigest()
    if text[0].isdigit() or text.startswith("sqlite"):
        text = "n_" + text
    if text in _TAKEN_BY_SQLITE:
        return text + "_value"
    return text + "_" if text in SQL_KEYWORDS else text


def namespace_word(iri: str) -> str:
    """The distinctive word of a namespace.

    >>> namespace_word("http://xmlns.com/foaf/0.1/name"), namespace_word("https://schema.org/name")
    ('foaf', 'schema')
    """
    head = iri[: len(iri.rstrip("/#")) - len(local_name(iri))]
    authority, _, path = head.partition("://")[2].partition("/")
    plain = [part for part in re.split(r"[/#:]", path) if len(part) > 1 and not re.search(r"\d", part)]
    useful = [part for part in plain if part.lower() not in word_list("ingestion", "namespace_words")]
    if useful:
        return column_name(useful[-1]).strip("_")
    host = [part for part in authority.split(":")[0].split(".") if part != "www"]
    return column_name(host[-2] if len(host) > 1 else (host or ["other"])[0]).strip("_")


class SqlIdentifiers:
    """The identifiers in use; SQLite ignores the case of names."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = {name.lower() for name in taken}

    def free(self, *names: str) -> bool:
        """Whether none of the names is in use."""
        return not any(name.lower() in self._taken for name in names)

    def claim(self, candidates: Iterable[str], suffixes: Iterable[str] = ("",)) -> str:
        """Claim the first candidate that is free with every suffix, else the last one with a number."""
        suffixes = tuple(suffixes)
        last = ""
        for last in candidates:
            if self._take(last, suffixes):
                return last
        number = 2
        while not self._take(f"{last.rstrip('_')}_{number}", suffixes):
            number += 1
        return f"{last.rstrip('_')}_{number}"

    def _take(self, name: str, suffixes: tuple[str, ...]) -> bool:
        names = {(name.rstrip("_") + suffix if suffix else name).lower() for suffix in suffixes}
        if names & self._taken:
            return False
        self._taken |= names
        return True


# minimum length of an abbreviation, and of one that is an English word itself
SHORTEST, SHORTEST_WORD = 2, 3


class ReadableLabel(NamedTuple):
    """A readable label and alternative labels, the written form first."""

    label: str
    others: tuple[str, ...] = ()


class PredicateRole(NamedTuple):
    """The role of a property: labels of its classes, of those it leads to (none: literals), whether it is boolean."""

    owners: tuple[str, ...] = ()
    ends: tuple[str, ...] = ()
    is_flag: bool = False


def readable_labels(
    iris: Collection[str], roles: Mapping[str, PredicateRole] | None = None
) -> Mapping[str, ReadableLabel]:
    """The labels of predicates by their IRIs; `roles` are the known roles. The label leaves out the table, and that a
    column is a key or a flag, which databases put into its name.

    >>> readable_labels(["http://e/birthYr"])["http://e/birthYr"]
    ReadableLabel(label='birth year', others=('birth yr',))
    >>> city = "http://e/usr_city"
    >>> readable_labels([city], {city: PredicateRole(("user",))})[city].label
    'city'
    >>> department = "http://e/dep_id"
    >>> readable_labels([department], {department: PredicateRole(("worker",), ("department",))})[department]
    ReadableLabel(label='department', others=('dep id', 'department id'))
    >>> manager = "http://e/mgrRef"
    >>> readable_labels([manager], {manager: PredicateRole(("shop",), ("worker",))})[manager].label
    'manager'
    """
    known = roles or {}
    names = {iri: member_name(iri) for iri in iris}
    # databases write names in capitals: "CUST_NAME"
    plain = {
        iri: lowercase_name(name.lower() if "_" in name and name.isupper() else name) for iri, name in names.items()
    }
    kinds = {kind for role in known.values() for kind in (*role.owners, *role.ends)}
    words = {word for said in (*plain.values(), *kinds) for word in said.split()}
    written = {iri: split_joined_words(said, words) for iri, said in plain.items()}
    role = {iri: known.get(iri, PredicateRole()) for iri in written}
    own = {iri: (*each.owners, *each.ends) for iri, each in role.items()}
    whole = {iri: expand_abbreviations(said, own[iri], kinds) for iri, said in written.items()}
    short = {iri: _without_column_words(iri, said, role[iri]) for iri, said in whole.items()}
    label = _unique_forms([short, whole, written], known)
    others = {iri: dict.fromkeys(form for form in (written[iri], whole[iri]) if form != label[iri]) for iri in iris}
    return {iri: ReadableLabel(label[iri], tuple(others[iri])) for iri in iris}


def expand_abbreviations(label: str, own: Collection[str] = (), others: Collection[str] = ()) -> str:
    """A name with its abbreviations expanded: common ones of data, and those of class names (the property's `own` and
    the `others`).

    >>> expand_abbreviations("birth yr"), expand_abbreviations("dep size", ["department"])
    ('birth year', 'department size')
    >>> expand_abbreviations("art price", ["article"])
    'article price'
    >>> expand_abbreviations("phone no"), expand_abbreviations("pay monthly"), expand_abbreviations("num rooms")
    ('phone number', 'monthly pay', 'number of rooms')
    """
    known = word_map("wording", "abbreviations")
    first, *rest = label.split() or [label]
    found = [known.get(first.lower().rstrip(".")) or _expand_class_word(first, own, others, leads=bool(rest))]
    found += [known.get(w.lower().rstrip(".")) or _expand_class_word(w, own, others, leads=False) for w in rest]
    if rest and found[-1].lower() == "no":
        found[-1] = "number"
    # as in "salary monthly" or "date return"
    if rest and (found[-1].lower() in word_list("wording", "periodic") or _is_dated(label, found)):
        # "since" already says that it is a date
        found = found[-1:] if found[-1].lower() in word_list("wording", "prepositions") else [found[-1], *found[:-1]]
    return amount_name(" ".join(found))


def _is_dated(label: str, words: list[str]) -> bool:
    """Whether a word for a date precedes its noun ("dt return"), but not a verb ("dt hired")."""
    last = words[-1].lower()
    done = is_participle(last) or last in word_list("wording", "intransitive")
    after = lemma(last) == last and last.isalpha() and not done
    return len(words) == 2 and label.split()[0].lower() == "dt" and after


def _expand_class_word(word: str, own: Collection[str], others: Collection[str], *, leads: bool) -> str:
    """A class's first word that a word abbreviates; an English word only expands if it leads, to an own class."""
    if not own and not others:
        return word
    low = word.lower()
    english = is_known(low, lang="en")
    if len(low) < SHORTEST or not low.isalpha() or (english and not (leads and len(low) >= SHORTEST_WORD)):
        return word
    firsts = [kind.split()[0].lower() for kind in (own if english else [*own, *sorted(others)]) if kind]
    return word if low in firsts else next((first for first in firsts if _abbreviates(low, first)), word)


def _abbreviates(short: str, word: str) -> bool:
    """Whether letters abbreviate a word: its beginning, or its consonants in order.

    >>> _abbreviates("dep", "department"), _abbreviates("dpt", "department"), _abbreviates("cut", "customer")
    (True, True, False)
    """
    if word.startswith(short):
        return True
    letters = iter(word[1:])
    consonants = short[0] == word[:1] and len(short) > SHORTEST and not set(short[1:]) & set("aeiou")
    return consonants and all(letter in letters for letter in short[1:])


def _without_column_words(iri: str, whole: str, role: PredicateRole) -> str:
    name = local_name(iri)
    # the "genre" of "genre_is"
    words = _without_end(whole.split(), word_list("wording", "copulas"))
    own = role.owners[0].split() if "_" in name and len(role.owners) == 1 else []
    if role.ends:
        if len(words) > 1 and words[0].lower() in word_list("wording", "leading"):
            words = words[1:]
        before, words = words, _without_end(words, word_list("wording", "keys") | word_list("wording", "pointers"))
        if " ".join(words) in role.owners and " ".join(words) not in role.ends:
            # the "feature code" of a feature leads to no feature
            words = before
        for kind in role.ends if "_" in name and words != before else ():
            # a "manager employee" is an employee
            words = words[: -len(kind.split())] if _begins(words[::-1], kind.split()[::-1]) else words
    elif role.is_flag:
        words = _without_end(words, word_list("wording", "flags"))
    elif name.lower().endswith("_cd") and words[:-1] != own:
        words = _without_end(words, word_list("wording", "keys"))
    # "number" alone would be a count, and "of" would have no meaning
    if _begins(words, own) and words[len(own)].lower() not in word_list("wording", "keys") | word_list(
        "wording", "prepositions"
    ):
        words = words[len(own) :]
    return " ".join(words)


def _begins(words: list[str], name: list[str]) -> bool:
    """Whether words begin with a name and continue."""
    return 0 < len(name) < len(words) and [w.lower() for w in words[: len(name)]] == [w.lower() for w in name]


def _without_end(words: list[str], ends: Collection[str]) -> list[str]:
    return words[:-1] if len(words) > 1 and words[-1].lower() in ends else words


def _unique_forms(forms: list[dict[str, str]], roles: Mapping[str, PredicateRole]) -> dict[str, str]:
    """For each property the first form that is unique among the properties of its classes, else the last form."""
    found: dict[str, str] = {}
    for form in forms:
        often = Counter((said, owner) for iri, said in form.items() for owner in _owners(iri, roles))
        for iri, said in form.items():
            if iri not in found and all(often[said, owner] == 1 for owner in _owners(iri, roles)):
                found[iri] = said
    return {**forms[-1], **found}


def _owners(iri: str, roles: Mapping[str, PredicateRole]) -> tuple[str, ...]:
    role = roles.get(iri)
    return role.owners if role is not None and role.owners else ("",)


# lengths of a word that is split, and minimum lengths of its parts and of parts that are frequent in data
SHORTEST_JOINED, LONGEST_JOINED, PART, KNOWN_PART = 8, 60, 4, 3

MAX_PARTS = 4


def split_joined_words(words: str, others: Collection[str]) -> str:
    """The name with its joined words split into the fewest English words, of which one is frequent in data; an
    abbreviation is split after another one of the graph, and a word for a key after another word of it. `others` are
    the words of all names of the graph.

    >>> [split_joined_words(name, {"WLTP"}) for name in ("fuelcapacity", "WLTPCO2 emission", "top speed")]
    ['fuel capacity', 'WLTP CO2 emission', 'top speed']
    >>> split_joined_words("roomno", {"room"})
    'room no'
    """
    return " ".join(part for word in words.split() for part in _parts(word, others))


def _parts(word: str, others: Collection[str]) -> tuple[str, ...]:
    if word.isupper():
        first = max(
            (o for o in others if o.isupper() and 3 <= len(o) <= len(word) - 2 and word.startswith(o)), default=""
        )
        return (first, word[len(first) :]) if first else (word,)
    keys = (key for key in word_list("ingestion", "key_words") if word.endswith(key) and not _is_word(word))
    if key := next((key for key in keys if word.removesuffix(key) in others), ""):
        return word.removesuffix(key), key
    has_length = SHORTEST_JOINED <= len(word) <= LONGEST_JOINED
    if not has_length or not word.isascii() or not word.islower() or _is_word(word):
        return (word,)
    ways = [way for way in _splits(word, MAX_PARTS) if any(lemma(part) in vocabulary() for part in way)]
    return min(ways, key=len, default=(word,))


@lru_cache(maxsize=4096)
def _splits(word: str, most: int) -> tuple[tuple[str, ...], ...]:
    """All ways to split letters into known words."""
    whole = ((word,),) if _is_part(word) else ()
    if most == 1:
        return whole
    cuts = range(KNOWN_PART, len(word) - KNOWN_PART + 1)
    return (
        *whole,
        *((word[:at], *rest) for at in cuts if _is_part(word[:at]) for rest in _splits(word[at:], most - 1)),
    )


def _is_part(word: str) -> bool:
    return lemma(word) in vocabulary() if len(word) < PART else _is_word(word)


def _is_word(word: str) -> bool:
    return word in vocabulary() or is_known(word, lang="en")


def is_called_date(name: str) -> bool:
    """Whether a name is that of a date.

    >>> is_called_date("order_date"), is_called_date("changedOn"), is_called_date("orders")
    (True, True, False)
    """
    return not set(lowercase_name(name).lower().split()).isdisjoint(word_list("ingestion", "date_words"))
