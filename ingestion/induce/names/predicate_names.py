"""Labels of predicates without one: the words of their IRIs, readable for people."""

from collections import Counter
from collections.abc import Collection, Mapping
from typing import NamedTuple

import simplemma

from ingestion.induce.names.column_names import lowercase_name
from ingestion.induce.names.split_joined_words import split_joined_words
from ingestion.vocabulary import local_name
from nacre.language.base import word_list, word_map
from nacre.language.forms.measure_nouns import amount_name
from nacre.language.forms.nouns import is_participle
from nacre.language.tokens import lemma

# minimum length of an abbreviation, and of one that is an English word itself
SHORTEST, SHORTEST_WORD = 2, 3


class ReadableLabel(NamedTuple):
    """A readable label and alternative labels, the written form first."""

    label: str
    others: tuple[str, ...] = ()


class PredicateRole(NamedTuple):
    """The role of a property in its graph: labels of the classes that have it and that it leads to (none if it only has
    literals), and whether it is boolean."""

    owners: tuple[str, ...] = ()
    ends: tuple[str, ...] = ()
    is_flag: bool = False


def readable_labels(
    iris: Collection[str], roles: Mapping[str, PredicateRole] | None = None
) -> Mapping[str, ReadableLabel]:
    """The labels of predicates by their IRIs; `roles` are the known roles.

    Databases put the table, and whether a column is a key or a flag, into its name. The label leaves that out.

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
    plain = {iri: lowercase_name(_lowercase_capitals(local_name(iri))) for iri in iris}
    words = {word for said in plain.values() for word in said.split()}
    written = {iri: split_joined_words(said, words) for iri, said in plain.items()}
    kinds = {kind for role in known.values() for kind in (*role.owners, *role.ends)}
    whole = {iri: _full(said, known.get(iri, PredicateRole()), kinds) for iri, said in written.items()}
    short = {iri: _without_column_words(iri, said, known.get(iri, PredicateRole())) for iri, said in whole.items()}
    label = _unique_forms([short, whole, written], known)
    return {iri: ReadableLabel(label[iri], _others(label[iri], written[iri], whole[iri])) for iri in iris}


def _lowercase_capitals(name: str) -> str:
    """The name, in lower case if a database wrote it in capitals: "CUST_NAME"."""
    return name.lower() if "_" in name and name.isupper() else name


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
    found = [known.get(first.lower()) or _expand_class_word(first, own, others, leads=bool(rest))]
    found += [known.get(word.lower()) or _expand_class_word(word, own, others, leads=False) for word in rest]
    if rest and found[-1].lower() == "no":
        found[-1] = "number"
    # as in "salary monthly" or "date return"
    if rest and (found[-1].lower() in word_list("wording", "periodic") or _is_dated(label, found)):
        # "since" already says that it is a date
        found = found[-1:] if found[-1].lower() in word_list("wording", "prepositions") else [found[-1], *found[:-1]]
    return amount_name(" ".join(found))


def _is_dated(label: str, words: list[str]) -> bool:
    """Whether a word for a date precedes the noun it belongs to, as in "dt return", but not a verb, as in "dt
    hired"."""
    last = words[-1].lower()
    done = is_participle(last) or last in word_list("wording", "intransitive")
    after = lemma(last) == last and last.isalpha() and not done
    return len(words) == 2 and label.split()[0].lower() == "dt" and after


def _full(said: str, role: PredicateRole, kinds: Collection[str]) -> str:
    return expand_abbreviations(said, (*role.owners, *role.ends), kinds)


def _expand_class_word(word: str, own: Collection[str], others: Collection[str], *, leads: bool) -> str:
    """The first word of a class name that a word abbreviates. An English word stays, unless it is the first word of the
    name and abbreviates one of the property's own classes."""
    if not own and not others:
        return word
    low = word.lower()
    english = simplemma.is_known(low, lang="en")
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
    """A name without the words for the kind of its column and for its table."""
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


def _others(label: str, *forms: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(form for form in forms if form != label))
