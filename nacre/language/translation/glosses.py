"""Gloss German and French in English: words of a question or label -> English words, by the dictionary of a language.

The rules for English then read the questions. Words that the dictionary lacks are left to the caller.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from rapidfuzz.distance import OSA

from nacre.language.tokens import fold, tokenize
from nacre.language.translation.dictionary import Glosses, glosses, is_english, stem

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


def gloss_words(words: Sequence[str], code: str) -> list[Gloss]:
    """The glosses of consecutive words, in order; words without one are left out.

    >>> [g.english for g in gloss_words("Wie hoch ist die höchste Brücke".split(), "de")]
    ['how', 'high', 'is', 'the', 'highest', 'bridge']
    >>> [g.english for g in gloss_words("le prix le moins cher".split(), "fr")]
    ['the', 'price', 'the cheapest']
    """
    known = glosses(code)
    folded = [fold(word) for word in words]
    found, at = [], 0
    while at < len(words):
        gloss = _expression(folded, at, known) or _degree(folded, at, known) or _word(words, folded, at, known)
        if gloss is not None:
            found.append(gloss)
        at = gloss.end if gloss is not None else at + 1
    return found


def gloss_label(label: str, code: str) -> str:
    """A label in English, as far as the dictionary has its words.

    >>> gloss_label("Anzahl der Pfeifen", "de"), gloss_label("prix au kilo", "fr")
    ('number of Pfeifen', 'price per kilo')
    """
    return " ".join(fill_glosses([token.text for token in tokenize(label)], code))


def fill_glosses(words: Sequence[str], code: str) -> Iterator[str]:
    """The words with their glosses in place; no verb is moved."""
    at = 0
    for gloss in (*gloss_words(words, code), Gloss(len(words), len(words), "")):
        yield from words[at : gloss.start]
        yield from gloss.english.removeprefix(FRONT_MARK).split()
        at = gloss.end


def is_in_language(label: str, code: str) -> bool:
    """Whether a label has a word of the dictionary of a language, and a word that English lacks.

    >>> is_in_language("Höhe", "de"), is_in_language("height", "de"), is_in_language("in", "de")
    (True, False, False)
    """
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
        at = next((i for i, word in enumerate(rest) if word in known.fronted and i >= marked), None)
        verb = rest.pop(at) if at is not None else ""
    lead = int(bool(rest) and rest[0] in known.question_leads)
    return [word for word in (*rest[:lead], verb, *rest[lead:]) if word]


def _expression(folded: Sequence[str], at: int, known: Glosses) -> Gloss | None:
    for size in range(min(known.longest_expression, len(folded) - at), 0, -1):
        english = known.expressions.get(tuple(folded[at : at + size]))
        if english is not None:
            return Gloss(at, at + size, english)
    return None


def _degree(folded: Sequence[str], at: int, known: Glosses) -> Gloss | None:
    """A comparative or superlative of several words: "plus haut", "le moins cher", "am höchsten"."""
    is_lead = folded[at] in known.superlative_leads
    if is_lead and at + 1 < len(folded) and known.degrees.get(folded[at + 1], "").endswith("est"):
        return Gloss(at, at + 2, f"the {known.degrees[folded[at + 1]]}")
    first = at + (folded[at] in known.articles)
    if first + 1 >= len(folded) or folded[first] not in known.more | known.less:
        return None
    forms = known.adjectives.get(folded[first + 1])
    if forms is None:
        return None
    is_superlative = first > at
    english = forms[1 + is_superlative]
    if folded[first] in known.less:
        opposite = known.opposites.get(forms[0])
        english = opposite[1 + is_superlative] if opposite else f"{'least' if is_superlative else 'less'} {forms[0]}"
    return Gloss(at, first + 2, f"{'the ' if is_superlative else ''}{english}")


def _word(words: Sequence[str], folded: Sequence[str], at: int, known: Glosses) -> Gloss | None:
    word = folded[at]
    is_compared = any(each in known.more | known.less for each in folded[max(0, at - 3) : at])
    if is_compared and known.words.get(word) == "what":
        # "plus haut que"
        return Gloss(at, at + 1, "than")
    tables = [known.words, known.degrees, known.exact]
    if at > 1 and words[at - 1][:1].isupper():
        tables.insert(0, known.after_noun)
    if at and words[at][:1].isupper():
        # a German noun: "Alter" is an age and no old one
        tables = [known.exact, known.words, known.degrees]
    forms = [words[at].lower(), word, *(word.replace(two, one) for two, one in _TWO_LETTERS if two in word)]
    english = next((table[form] for form in forms for table in tables if form in table), None)
    if english is None:
        english = next((found for form in forms if (found := _by_stem(form, known))), None)
    if english is None:
        english = _compound(word, known)
    return None if english is None else Gloss(at, at + 1, english)


def _by_stem(word: str, known: Glosses) -> str | None:
    return known.stems.get(stem(word, known.code)) if len(word) >= MIN_PART_LETTERS else None


def _compound(word: str, known: Glosses) -> str | None:
    """The parts of a compound whose head is in the dictionary: "Fahrpreis" is a price."""
    for start in range(MIN_PART_LETTERS, len(word) - MIN_HEAD_LETTERS + 1) if len(known.joints) > 1 else ():
        end = word[start:]
        forms = (end, *(end.removesuffix(ending) for ending in known.joints if end.endswith(ending)))
        head = next((known.exact[form] for form in forms if form in known.exact), None)
        if head is None or len(end) < MIN_HEAD_LETTERS:
            continue
        first = word[:start]
        parts = (first.removesuffix(joint) for joint in known.joints)
        # "restaurierungs" is no word
        whole = first[:-1] if first.endswith(known.linked_endings) else first
        return f"{next((known.exact[part] for part in parts if part in known.exact), whole)} {head}"
    return None
