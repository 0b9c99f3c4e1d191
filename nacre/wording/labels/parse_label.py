"""Find the kind of a label by its form: words of a predicate's label -> PredicateLabel."""

from functools import cache

import simplemma

from nacre.language.base import language, phrase_list, word_list, word_map
from nacre.language.forms.nouns import is_participle, plural, with_indefinite_article
from nacre.language.forms.verbs import base_form, is_link_verb
from nacre.language.thesaurus import is_person
from nacre.language.tokens import lemma
from nacre.wording.labels.label import LabelKind, PredicateLabel


def parse_label(text: str) -> PredicateLabel:
    """The kind of a label by its form.

    >>> parse_label("borders").many, parse_label("is part of").one, parse_label("variant of").kind
    ('border', 'part of', 'role')
    >>> parse_label("has price").one, parse_label("serves cuisine").one
    ('price', 'cuisine')
    >>> parse_label("born").kind, parse_label("first flown").kind, parse_label("amount paid").kind
    ('state', 'state', 'noun')
    """
    words, prepositions = text.split(), word_list("wording", "prepositions")
    first, last = words[0], words[-1]
    if first in ("has", "have") and len(words) > 1 and last not in prepositions:
        rest = " ".join(words[1:])
        if words[1] == "been":
            return PredicateLabel("flag", " ".join(words[2:]), " ".join(words[2:]))
        return PredicateLabel("noun", rest, plural(rest), True)
    if first in phrase_list("wording", "be_forms") and len(words) > 1:
        return _parse_state(first, words[1:])
    if len(words) > 1 and last in prepositions:
        return _parse_with_preposition(text, words)
    if first in word_list("wording", "intransitive") and len(words) == 1:
        return PredicateLabel("past", text, lemma(first))
    if first in prepositions or (is_participle(last) and word_list("wording", "adverbs").issuperset(words[:-1])):
        return PredicateLabel("state", text, text)
    if len(words) == 1 and is_link_verb(first):
        return PredicateLabel("verb", text, base_form(first))
    if is_link_verb(first) and words[1] in prepositions:
        return PredicateLabel("verb", text, " ".join([base_form(first), *words[1:]]))
    if is_link_verb(first) and not is_participle(last):
        # "speaks language": what is spoken
        rest = " ".join(words[1:])
        return PredicateLabel("noun", rest, plural(rest))
    return PredicateLabel("noun", text, plural(text))


def event_verb(label: str) -> str:
    """The verb of a label that says only when something was done; "" for other labels.

    >>> [event_verb(label) for label in ("built year", "date joined", "date paid", "date due", "sale date")]
    ['built', 'joined', 'paid', '', '']
    """
    first, _, last = label.partition(" ")
    for verb, time in ((first, last), (last, first)):
        if time in language().words["time"] and (is_participle(verb) or verb in word_list("wording", "intransitive")):
            return verb
    return ""


def event_clause(label: str) -> str:
    """What somebody did to something, if a label says when: "joined staff" for "date joined staff"; "" for others.

    >>> event_clause("date became customer"), event_clause("date left staff"), event_clause("date of birth")
    ('became a customer', 'left staff', '')
    """
    first, _, rest = label.partition(" ")
    verb, _, what = rest.partition(" ")
    if first not in language().words["time"] or verb not in _past_tenses():
        return ""
    if not what or what in word_list("wording", "prepositions"):
        return ""
    is_one = is_person(what) and what.split()[-1] not in word_list("wording", "collective")
    return f"{verb} {with_indefinite_article(what) if is_one else what}"


def move_time_last(label: str) -> str:
    """The label of a time with the word for the time at its end.

    >>> move_time_last("date incident start"), move_time_last("year join")
    ('incident start date', 'join year')
    >>> move_time_last("date of birth"), move_time_last("date left")
    ('date of birth', 'date left')
    """
    first, *rest = label.split()
    if not rest or first not in language().words["time"]:
        return label
    verbs = _past_tenses() | word_map("wording", "pasts").keys() | word_list("wording", "prepositions")
    has_verb = any(word in verbs or is_participle(word) for word in rest)
    return label if has_verb else " ".join([*rest, first])


def _parse_state(verb: str, words: list[str]) -> PredicateLabel:
    """A label that began with a form of "be", by the words after it."""
    rest = " ".join(words)
    if _is_role(words):
        role = " ".join(words[:-1])
        return PredicateLabel("role", role, plural(role))
    kind: LabelKind = "state" if words[-1] in word_list("wording", "prepositions") else "flag"
    return PredicateLabel(kind, rest, rest, was=verb in ("was", "were"))


def _parse_with_preposition(text: str, words: list[str]) -> PredicateLabel:
    """A label of several words that ends with a preposition."""
    first, last = words[0], words[-1]
    if _is_role(words):
        role = " ".join(words[:-1])
        return PredicateLabel("role", role, plural(role))
    if is_link_verb(first) or (first.endswith("s") and base_form(first) == lemma(first) and last != "of"):
        return PredicateLabel("verb", text, " ".join([base_form(first), *words[1:]]))
    if first in word_list("wording", "intransitive") and last != "by":
        return PredicateLabel("past", text, " ".join([lemma(first), *words[1:]]))
    is_phrasal = " ".join(words[1:]) in word_list("wording", "particles")
    if is_phrasal and not is_participle(first) and lemma(first) == first:
        # when somebody checks in
        return PredicateLabel("noun", f"{first}-{last}", f"{first}-{last}s")
    return PredicateLabel("state", text, text)


def _is_role(words: list[str]) -> bool:
    """Whether words say what a thing is to another: "variant of", but not "composed of" or "part of"."""
    if words[-1] != "of" or len(words) < 2 or words[-2] in word_list("wording", "without_article"):
        return False
    return simplemma.is_known(words[-2], lang="en") and (lemma(words[-2]) == words[-2] or words[-2].endswith("er"))


@cache
def _past_tenses() -> frozenset[str]:
    """Verbs in the past tense whose form alone does not make them participles."""
    return frozenset((*word_list("wording", "intransitive"), *word_map("wording", "pasts").values()))
