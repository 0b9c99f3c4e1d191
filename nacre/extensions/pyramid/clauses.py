"""Extract statements from one sentence by patterns over its words: sentence + topic -> ExtractedStatements.

Then: the verb, the objects and the appositions of a clause, and words with their classes.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

from nacre.language.data import pattern, word_list
from nacre.language.quantities import find_amounts
from nacre.language.thesaurus import function_words
from nacre.language.tokens import fold, is_known, lemma
from nacre.records.evidence import ObjectKind


class ExtractedStatement(NamedTuple):
    """A statement in the words of its sentence. `pattern` is the extraction pattern, `kind` the type of its object."""

    subject: str
    relation: str
    object: str
    kind: ObjectKind
    pattern: str


# longer sentences, and longer subjects and objects, give no statements (given)
MAX_SENTENCE_WORDS = 80

MAX_STATEMENTS = 24
MAX_TERM_LETTERS = 80
_MAX_KEY_WORDS, _MAX_FRONT_WORDS = 5, 9


@dataclass(frozen=True)
class ClauseSubject:
    """The subject of a clause, possibly one `attribute` of it. `suffix` marks the patterns of statements whose subject
    is a pronoun, a definite noun or a common noun."""

    text: str
    suffix: str = ""
    attribute: str = ""


def extract_statements(text: str, topic: str = "", topic_nouns: Collection[str] = ()) -> list[ExtractedStatement]:
    """The statements of a sentence.

    Pronouns refer to the `topic`, as do the `topic_nouns`. Other definite nouns are attributes of the
    topic. Without a topic such subjects give no statements.

    >>> [s[:3] for s in extract_statements("Ada Lovelace is a writer and lives in London.")]
    [('Ada Lovelace', 'is a', 'writer'), ('Ada Lovelace', 'lives in', 'London')]
    """
    words = tag_words(text)
    if len(words) > MAX_SENTENCE_WORDS:
        return []
    keyed = _keyed_statements(text, words, topic)
    if keyed:
        return keyed
    builder = _StatementBuilder(text, topic, topic_nouns)
    builder.add_clause(words)
    complete = [s for s in builder.statements if s.subject and s.object and s.relation and s.subject != s.object]
    return list(dict.fromkeys(s for s in complete if len(s.object) <= MAX_TERM_LETTERS))[:MAX_STATEMENTS]


def object_kind(text: str) -> ObjectKind:
    """The kind of an object by its form."""
    if pattern("extraction", "date").fullmatch(text):
        return "date"
    amounts = find_amounts(text)
    has_capital = any(c.isupper() for c in text)
    if len(amounts) == 1 and amounts[0].start <= 1 and (amounts[0].end == len(text) or not has_capital):
        return "number"
    return "thing" if has_capital else "text"


class Word(NamedTuple):
    """A word or punctuation mark with its place, its folded form and its class. The class is a key of
    `language/en/extraction.yaml`, or "capital", "number", "verb" (a possible inflected verb), "mark" or "word"."""

    text: str
    start: int
    end: int
    norm: str
    kind: str


def _keyed_statements(text: str, words: Sequence[Word], topic: str) -> list[ExtractedStatement]:
    """Statements about the topic from a line such as "Office: B 12"."""
    marks = [i for i, word in enumerate(words[:_MAX_KEY_WORDS]) if word.text == ":"]
    if not marks or not topic or not 0 < marks[0] < len(words) - 1:
        return []
    key, value = phrase_text(text, words[: marks[0]]).lower(), words[marks[0] + 1 :]
    if any(w.kind in ("be", "have", "modal") for w in words):
        return []
    return [_statement(topic, key, phrase_text(text, part), "keyed") for part in object_phrases(value)[0]]


class _StatementBuilder:
    """Collects the statements of one sentence."""

    def __init__(self, text: str, topic: str, topic_nouns: Collection[str]) -> None:
        self.text = text
        self.topic = topic
        self.topic_nouns = topic_nouns
        self.statements: list[ExtractedStatement] = []

    def add_clause(self, part: Sequence[Word]) -> None:
        """Add the statements of a clause with its own subject."""
        part = without_leading(part, *JOINTS)
        if part and part[0].kind == "prepositions":
            comma = next((i for i, w in enumerate(part[:_MAX_FRONT_WORDS]) if w.text == ","), 0)
            front, part = (part[:comma], part[comma + 1 :]) if comma else (part, ())
        else:
            front = ()
        verb = find_verb(part)
        if verb is None:
            return
        subject = self._subject(part[:verb])
        if subject is not None:
            self.add_predicate(subject, part[verb:], front)

    def _subject(self, part: Sequence[Word]) -> ClauseSubject | None:
        first, *appositions = split_apposition(part)
        first = [w for w in first if w.kind != "adverbs"]
        if not first:
            return None
        subject = self._subject_of(first)
        if subject is None:
            return None
        for apposition in appositions:
            if apposition[0].kind == "relative":
                self.add_predicate(subject, apposition[1:], ())
            elif (
                not subject.attribute
                and apposition[0].kind in ("determiners", "word")
                and find_verb(apposition) is None
            ):
                self._add_copula(subject, apposition, "apposition")
        return subject

    def _subject_of(self, part: Sequence[Word]) -> ClauseSubject | None:
        text = self.text
        if part[0].kind in ("persons", "things") and len(part) == 1:
            return ClauseSubject(self.topic, "+pronoun") if self.topic else None
        if part[0].kind == "owning":
            own = phrase_text(text, part[1:])
            return ClauseSubject(self.topic, "+pronoun", own) if self.topic and len(part) > 1 else None
        for i, word in enumerate(part[:-1]):
            if word.norm.replace("’", "'").endswith(("'s", "s'")):
                owner = phrase_text(text, part[: i + 1])
                return ClauseSubject(re.sub(r"['’]s?$", "", owner), "", phrase_text(text, part[i + 1 :]))
        of = next((i for i, w in enumerate(part) if w.norm == "of"), 0)
        plain = part[0].kind == "determiners" and not any(w.kind == "capital" for w in part[:of])
        if 0 < of < len(part) - 1 and plain:
            return ClauseSubject(phrase_text(text, part[of + 1 :]), "", phrase_text(text, part[:of]).lower())
        capital = any(w.kind in ("capital", "number") for w in part)
        if part[0].norm in ("the", "this") and not any(w.kind in ("capital", "number") for w in part[1:]):
            noun = phrase_text(text, part).lower()
            attribute = "" if noun in self.topic_nouns else noun
            return ClauseSubject(self.topic, "+definite", attribute) if self.topic else None
        # the first word of a sentence is no name only because of its capital letter
        bare = len(part) == 1 and not part[0].start and is_known(part[0].norm, lang="en")
        return ClauseSubject(phrase_text(text, part), "+bare" if bare else "" if capital else "+noun")

    def add_predicate(self, subject: ClauseSubject, part: Sequence[Word], front: Sequence[Word]) -> None:
        """Add the statements of a verb and of all that follows it; a negated verb adds none."""
        if is_negated(part):
            return
        part = without_leading(part, "modal", "adverbs")
        if not part:
            return
        head, rest = part[0], without_leading(part[1:], "adverbs")
        if head.kind in ("be", "have"):
            rest = without_leading(rest, "be", "adverbs")
        if head.kind in ("be", "have") and rest and may_be_participle(rest[0]):
            self._add_verb_phrase(subject, rest[0].norm, rest[1:], front)
        elif head.kind == "be":
            self._add_copula(subject, rest, "copula")
        elif head.kind == "have":
            self._add_possession(subject, rest)
        else:
            self._add_verb_phrase(subject, head.norm, rest, front)

    def _add_copula(self, subject: ClauseSubject, part: Sequence[Word], pattern: str) -> None:
        if not part:
            return
        if subject.attribute:
            objects, after = object_phrases(part)
            self._add_statements(subject, subject.attribute, objects, "attribute")
            self._add_rest(_without_attribute(subject), "", after)
            return
        if part[0].kind == "number":
            self._add_measure(subject, part)
            return
        if part[0].kind == "prepositions":
            objects, after = object_phrases(part[1:])
            self._add_statements(subject, f"is {part[0].norm}", objects, "place")
            self._add_rest(subject, "is", after)
            return
        objects, after = object_phrases(part, joined=False)
        if not objects:
            return
        noun = phrase_text(self.text, objects[0])
        plain = objects[0][0].kind == "determiners" or objects[0][0].kind in ("word", "verb")
        joined = bool(after) and after[0].kind == "prepositions" and plain
        if is_in_class(objects[0][0].norm, "indefinite") or (pattern == "apposition" and not joined):
            self._add_statements(subject, "is a", objects, pattern)
        elif not joined:
            relation = "is" if pattern == "copula" else "is a"
            self._add_statements(
                subject, relation, objects, pattern if objects[0][0].kind in ("capital", "determiners") else "adjective"
            )
        self._add_rest(subject, noun if joined else "is", after, "role" if joined else "phrase")

    def _add_measure(self, subject: ClauseSubject, part: Sequence[Word]) -> None:
        """Add a measure: "is 110 mm high", "is 31"."""
        value = next(iter(find_amounts(self.text[part[0].start : part[-1].end])), None)
        objects, _ = object_phrases(part)
        if value is not None and objects and len(objects[0]) > 1:
            stop = part[0].start + value.end
            adjective = [w for w in objects[0] if w.start >= stop]
            quantity = " ".join(self.text[part[0].start : stop].split())
            if adjective and value.unit:
                self.statements.append(
                    _statement(subject.text, adjective[-1].norm, quantity, f"measure{subject.suffix}", "number")
                )
                return
        self._add_statements(subject, "is", objects, "measure")

    def _add_possession(self, subject: ClauseSubject, part: Sequence[Word]) -> None:
        objects, after = object_phrases(part, joined=False)
        if not objects:
            return
        if after and after[0].norm == "of" and len(after) > 1:
            value, beyond = object_phrases(after[1:])
            self._add_statements(subject, phrase_text(self.text, objects[0]).lower(), value, "measure")
            self._add_rest(subject, "has", beyond)
            return
        if len(objects) == 1 and objects[0][0].kind == "number" and len(objects[0]) > 1:
            relation = phrase_text(self.text, objects[0][1:]).lower()
            number = phrase_text(self.text, objects[0][:1])
            self.statements.append(_statement(subject.text, relation, number, f"count{subject.suffix}", "number"))
        else:
            self._add_statements(subject, "has", objects, "having")
        self._add_rest(subject, self._with_noun("has", objects), after)

    def _add_verb_phrase(self, subject: ClauseSubject, verb: str, part: Sequence[Word], front: Sequence[Word]) -> None:
        relation = f"{subject.attribute} {verb}".strip()
        if front and is_in_class(front[0].norm, "temporal"):
            self._add_statements(subject, f"{relation} {front[0].norm}", [front[1:]], "phrase")
        part = without_leading(part, "adverbs")
        if part and part[0].kind == "prepositions":
            self._add_rest(subject, relation, part, "verb")
            return
        objects, after = object_phrases(part)
        self._add_statements(subject, relation, objects, "verb")
        self._add_rest(subject, self._with_noun(relation, objects), after)

    def _with_noun(self, relation: str, objects: Sequence[Sequence[Word]]) -> str:
        """The verb with its common noun as a relation: "holds degree" before "from Kestrel University". The pattern V
        W* P of ReVerb (Fader, Soderland and Etzioni 2011); a name or number stays an object."""
        plain = len(objects) == 1 and all(word.kind not in ("capital", "number", "prepositions") for word in objects[0])
        return f"{relation} {phrase_text(self.text, objects[0])}" if plain else relation

    def _add_rest(self, subject: ClauseSubject, relation: str, part: Sequence[Word], pattern: str = "phrase") -> None:
        """Add prepositional phrases, then further verbs of the subject, then further clauses."""
        while part and part[0].kind == "prepositions" and len(part) > 1:
            objects, after = object_phrases(part[1:])
            if objects and relation:
                self._add_statements(subject, f"{relation} {part[0].norm}", objects, pattern)
            part, pattern = after, "phrase"
        part = without_leading(part, *JOINTS)
        verb = without_leading(part, "modal", "adverbs")
        if verb and verb[0].kind in ("be", "have", "verb"):
            self.add_predicate(_without_attribute(subject), verb, ())
        elif part and part[0].kind != "relative":
            self.add_clause(part)

    def _add_statements(
        self, subject: ClauseSubject, relation: str, objects: Sequence[Sequence[Word]], pattern: str
    ) -> None:
        for part in objects:
            text = phrase_text(self.text, part)
            self.statements.append(_statement(subject.text, relation, text, f"{pattern}{subject.suffix}"))


def _without_attribute(subject: ClauseSubject) -> ClauseSubject:
    return ClauseSubject(subject.text, subject.suffix)


def _statement(
    subject: str, relation: str, text: str, pattern: str, kind: ObjectKind | None = None
) -> ExtractedStatement:
    return ExtractedStatement(subject, relation, text.strip(" .,"), kind or object_kind(text), pattern)


def find_verb(part: Sequence[Word]) -> int | None:
    """The index of the verb of a clause: the first auxiliary, or the first inflected word after a noun phrase."""
    inside = 0
    for i, word in enumerate(part):
        if word.kind == "relative" and i:
            inside = 1
        elif word.text == "," and inside:
            inside = 0
        if inside or not i:
            continue
        if word.kind in ("be", "have", "modal"):
            return i
        before = part[i - 1]
        if word.kind == "verb" and before.kind not in ("determiners", "prepositions", "owning", "and", "mark"):
            after = part[i + 1] if i + 1 < len(part) else None
            if after is None or after.kind not in ("be", "have", "modal", "verb"):
                return i
        elif word.kind == "verb" and before.text == "," and i > 1 and any(w.text == "," for w in part[: i - 1]):
            return i
    return None


def split_apposition(part: Sequence[Word]) -> list[list[Word]]:
    """The subject, and its appositions between commas or in brackets."""
    groups = groupby(part, key=lambda word: word.kind == "mark")
    return [list(words) for is_mark, words in groups if not is_mark]


def is_negated(part: Sequence[Word]) -> bool:
    """Whether the verb or its object is negated."""
    stop = next((i for i, word in enumerate(part) if word.kind == "mark" or word.kind == "but"), len(part))
    return any(is_in_class(word.norm, "denying") or word.norm.endswith("n't") for word in part[:stop])


def object_phrases(part: Sequence[Word], *, joined: bool = True) -> tuple[list[Sequence[Word]], Sequence[Word]]:
    """The noun phrases of a list at the start, and the words after them; `joined` phrases go on after "of"."""
    phrases: list[Sequence[Word]] = []
    at = 0
    while at < len(part):
        start = at
        while at < len(part) and not _ends_phrase(part, at, start, joined):
            at += 1
        if at == start:
            break
        phrases.append(part[start:at])
        following = at
        while following < len(part) and (part[following].text == "," or part[following].kind == "and"):
            following += 1
        if following == at or following >= len(part) or not _continues_list(part, following):
            break
        at = following
    return phrases, part[at:]


# punctuation marks and conjunctions
JOINTS = ("mark", "and", "but")


def without_leading(part: Sequence[Word], *kinds: str) -> Sequence[Word]:
    """The words without those of some classes at the start."""
    return part[next((i for i, word in enumerate(part) if word.kind not in kinds), len(part)) :]


def _ends_phrase(part: Sequence[Word], at: int, start: int, joined: bool) -> bool:
    word = part[at]
    if at > start and is_in_class(word.norm, "relative"):
        return True
    if word.kind in ("mark", "relative", "but", "be", "have", "modal", "and") or (
        word.kind == "adverbs" and at > start
    ):
        return True
    if word.kind == "prepositions":
        # a name may go on after "of": "University of Basel", "Head of Studies"
        capital = at > start and part[at - 1].kind == "capital" and at + 1 < len(part)
        following = part[at + 1 : at + 3]
        named = any(w.kind == "capital" for w in following[:1]) or (
            len(following) == 2 and following[0].norm == "the" and following[1].kind == "capital"
        )
        return not (is_in_class(word.norm, "joining") and at > start and (joined or (capital and named)))
    return False


def _continues_list(part: Sequence[Word], at: int) -> bool:
    """Whether a list goes on at a place, and no new clause begins there."""
    if part[at].kind in ("verb", "be", "have", "modal", "relative", "prepositions", "persons", "but", "adverbs"):
        return False
    ahead = part[at:]
    stop = next((i for i, w in enumerate(ahead) if w.text in (";", "(") or w.kind in ("but",)), len(ahead))
    return find_verb(ahead[:stop]) is None


_WORD = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_](?:[\w&/-]*[^\W_])?(?:['’](?:s\b)?)?|[,;:()–—]|[€$£%°]")
_INITIAL = re.compile(r"[A-Z]\.")
CLAUSE_MARKS = frozenset(",;:()–—")

# classes of function words in the order in which they are tried
_FUNCTION_CLASSES = (
    "be",
    "have",
    "modal",
    "owning",
    "determiners",
    "persons",
    "things",
    "prepositions",
    "and",
    "but",
    "relative",
)


def is_in_class(word: str, name: str) -> bool:
    """Whether a folded word is in a class of the language data."""
    return word in word_list("extraction", name)


def tag_words(text: str) -> list[Word]:
    """The words and marks of a sentence in order, without hedges such as "up to" before numbers.

    >>> [w.kind for w in tag_words("Ada Lovelace wrote the notes.")]
    ['capital', 'capital', 'verb', 'determiners', 'verb']
    """
    words: list[Word] = []
    for match in _WORD.finditer(text):
        written = match[0]
        end = match.end()
        if _INITIAL.match(text, match.start()) and end - match.start() == 1:
            end += 1
            written = text[match.start() : end]
        norm = fold(written).rstrip(".")
        words.append(Word(written, match.start(), end, norm, _class_of(written, norm, first=not words)))
    return [word for i, word in enumerate(words) if not _is_hedge(words, i)]


def may_be_inflected(norm: str) -> bool:
    """Whether a word may be a finite verb or a participle, by its form.

    >>> may_be_inflected("taught"), may_be_inflected("teaches"), may_be_inflected("lecture")
    (True, True, False)
    """
    if len(norm) < 3 or not norm.isalpha() or norm in function_words() or is_in_class(norm, "nouns"):
        return False
    return lemma(norm) != norm or norm.endswith("ed")


def may_be_participle(word: Word) -> bool:
    """Whether a word may be a participle after a form of "be" or "have"."""
    return word.kind == "verb" and not (word.norm.endswith("s") and not word.norm.endswith("ss"))


def phrase_text(text: str, part: Sequence[Word]) -> str:
    """The text from the first to the last of some words, without determiners at the start."""
    while part and part[0].kind in ("determiners", "owning") and len(part) > 1:
        part = part[1:]
    return " ".join(text[part[0].start : part[-1].end].split()) if part else ""


def _class_of(written: str, norm: str, *, first: bool) -> str:
    if written in CLAUSE_MARKS:
        return "mark"
    if written[0].isdigit():
        return "number"
    if len(written.rstrip(".")) == 1 and written[0].isupper() and not (first and norm == "a"):
        return "capital"
    if not (written[0].isupper() and not first and is_in_class(norm, "months")):
        for name in _FUNCTION_CLASSES:
            if is_in_class(norm, name):
                return name
    if is_in_class(norm, "adverbs") or (written[0].islower() and norm.endswith("ly")):
        return "adverbs"
    if written[0].isupper() or any(c.isdigit() for c in written):
        return "capital"
    return "verb" if may_be_inflected(norm) else "word"


def _is_hedge(words: Sequence[Word], i: int) -> bool:
    """Whether a word belongs to "up to", "more than" or a similar pair before a number."""
    for first in (i - 1, i):
        pair = words[max(0, first) : first + 2]
        is_pair = len(pair) == 2 and first >= 0 and all(is_in_class(word.norm, "about_number") for word in pair)
        if is_pair and pair[0].norm not in ("to", "than"):
            after = words[first + 2 : first + 3]
            return bool(after) and after[0].kind == "number"
    return False
