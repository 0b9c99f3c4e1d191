"""Statements of one sentence, by patterns over its words: text + what was spoken of before -> Statements."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import simplemma

from nacre.extraction.grammar import Word, may_be_participle, phrase_text, tag_words, word_classes
from nacre.extraction.phrases import (
    find_verb,
    is_negated,
    list_items,
    object_phrases,
    split_apposition,
    strip_leading_marks,
)
from nacre.language.quantities.amounts import find_amounts
from nacre.records.extracted import ExtractedStatement, ObjectKind

# a sentence with more words is looked at no further (given)
MAX_SENTENCE_WORDS = 80
MAX_STATEMENTS = 24
MAX_TERM_LETTERS = 80

_DATE = re.compile(r"(?:\d{1,2}(?:st|nd|rd|th)? )?(?:[A-Z][a-z]{2,8} )?(?:\d{1,2}, )?[12]\d{3}|\d{4}-\d{2}-\d{2}")


@dataclass(frozen=True)
class ClauseSubject:
    """What a clause is about; `how` says what a pronoun or a definite noun made of the pattern."""

    text: str
    how: str = ""
    attribute: str = ""


def extract_statements(text: str, topic: str = "", called: Collection[str] = ()) -> list[ExtractedStatement]:
    """What a sentence states; pronouns stand for `topic`, and so do nouns that it is `called` by; other definite nouns
    are of it. Without a topic they give nothing.

    >>> [s[:3] for s in extract_statements("Ada Lovelace is a writer and lives in London.")]
    [('Ada Lovelace', 'is a', 'writer'), ('Ada Lovelace', 'lives in', 'London')]
    """
    found = tag_words(text)
    if len(found) > MAX_SENTENCE_WORDS:
        return []
    keyed = _keyed(text, found, topic)
    if keyed:
        return keyed
    clause = _Clause(text, topic, called)
    clause.read(found)
    kept = [s for s in clause.said if s.subject and s.object and s.relation and s.subject != s.object]
    return list(dict.fromkeys(s for s in kept if len(s.object) <= MAX_TERM_LETTERS))[:MAX_STATEMENTS]


def _keyed(text: str, found: Sequence[Word], topic: str) -> list[ExtractedStatement]:
    """ "Office: B 12" says it of what the passage is about."""
    marks = [i for i, word in enumerate(found[:5]) if word.text == ":"]
    if not marks or not topic or not 0 < marks[0] < len(found) - 1:
        return []
    key, value = phrase_text(text, found[: marks[0]]).lower(), found[marks[0] + 1 :]
    if any(w.kind in ("be", "have", "modal") for w in found):
        return []
    return [_statement(topic, key, phrase_text(text, part), "keyed") for part in list_items(value)]


class _Clause:
    """The statements of one sentence in the making."""

    def __init__(self, text: str, topic: str, called: Collection[str]) -> None:
        self.text = text
        self.topic = topic
        self.called = called
        self.said: list[ExtractedStatement] = []

    def read(self, part: Sequence[Word]) -> None:
        """A clause with its own subject."""
        part = strip_leading_marks(part)
        if part and part[0].kind == "prepositions":
            comma = next((i for i, w in enumerate(part[:9]) if w.text == ","), 0)
            front, part = (part[:comma], part[comma + 1 :]) if comma else (part, ())
        else:
            front = ()
        verb = find_verb(part)
        if verb is None:
            return
        subject = self._subject(part[:verb])
        if subject is not None:
            self.predicate(subject, part[verb:], front)

    def _subject(self, part: Sequence[Word]) -> ClauseSubject | None:
        first, *beside = split_apposition(part)
        first = [w for w in first if w.kind != "adverbs"]
        if not first:
            return None
        subject = self._named(first)
        if subject is None:
            return None
        for aside in beside:
            if aside[0].kind == "relative":
                self.predicate(subject, aside[1:], ())
            elif not subject.attribute and aside[0].kind in ("determiners", "word") and find_verb(aside) is None:
                self._copula(subject, aside, "apposition")
        return subject

    def _named(self, part: Sequence[Word]) -> ClauseSubject | None:
        text = self.text
        if part[0].kind in ("persons", "things") and len(part) == 1:
            return ClauseSubject(self.topic, "+pronoun") if self.topic else None
        if part[0].kind == "owning":
            return (
                ClauseSubject(self.topic, "+pronoun", phrase_text(text, part[1:]))
                if self.topic and len(part) > 1
                else None
            )
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
            return ClauseSubject(self.topic, "+definite", "" if noun in self.called else noun) if self.topic else None
        # at the start of a sentence a capital letter makes no name of a word
        bare = len(part) == 1 and not part[0].start and simplemma.is_known(part[0].norm, lang="en")
        return ClauseSubject(phrase_text(text, part), "+bare" if bare else "" if capital else "+noun")

    def predicate(self, subject: ClauseSubject, part: Sequence[Word], front: Sequence[Word]) -> None:
        """What a verb and its objects say of a subject, and what follows them; nothing where that is denied."""
        if is_negated(part):
            return
        i = 0
        while i < len(part) and part[i].kind in ("modal", "adverbs"):
            i += 1
        if i >= len(part):
            return
        head = part[i]
        rest = list(part[i + 1 :])
        while rest and rest[0].kind == "adverbs":
            rest = rest[1:]
        if head.kind in ("be", "have"):
            while rest and rest[0].kind in ("be", "adverbs"):
                rest = rest[1:]
        if head.kind in ("be", "have") and rest and may_be_participle(rest[0]):
            self._verb_phrase(subject, rest[0].norm, rest[1:], front)
        elif head.kind == "be":
            self._copula(subject, rest, "copula")
        elif head.kind == "have":
            self._having(subject, rest)
        else:
            self._verb_phrase(subject, head.norm, rest, front)

    def _copula(self, subject: ClauseSubject, part: Sequence[Word], pattern: str) -> None:
        if not part:
            return
        if subject.attribute:
            end, after = object_phrases(part)
            self._add(subject, subject.attribute, end, "attribute")
            self._follow(replace_attribute(subject), "", after)
            return
        if part[0].kind == "number":
            self._measured(subject, part)
            return
        if part[0].kind == "prepositions":
            end, after = object_phrases(part[1:])
            self._add(subject, f"is {part[0].norm}", end, "place")
            self._follow(subject, "is", after)
            return
        end, after = object_phrases(part, joined=False)
        if not end:
            return
        noun = phrase_text(self.text, end[0])
        plain = end[0][0].kind == "determiners" or end[0][0].kind in ("word", "verb")
        joined = bool(after) and after[0].kind == "prepositions" and plain
        if end[0][0].norm in word_classes()["indefinite"] or (pattern == "apposition" and not joined):
            self._add(subject, "is a", end, pattern)
        elif not joined:
            relation = "is" if pattern == "copula" else "is a"
            self._add(subject, relation, end, pattern if end[0][0].kind in ("capital", "determiners") else "adjective")
        self._follow(subject, noun if joined else "is", after, "role" if joined else "phrase")

    def _measured(self, subject: ClauseSubject, part: Sequence[Word]) -> None:
        """ "is 110 mm high", "is 31" """
        value = next(iter(find_amounts(self.text[part[0].start : part[-1].end])), None)
        end, _ = object_phrases(part)
        if value is not None and end and len(end[0]) > 1:
            stop = part[0].start + value.end
            adjective = [w for w in end[0] if w.start >= stop]
            said = " ".join(self.text[part[0].start : stop].split())
            if adjective and value.unit:
                self.said.append(_statement(subject.text, adjective[-1].norm, said, f"measure{subject.how}", "number"))
                return
        self._add(subject, "is", end, "measure")

    def _having(self, subject: ClauseSubject, part: Sequence[Word]) -> None:
        end, after = object_phrases(part, joined=False)
        if not end:
            return
        if after and after[0].norm == "of" and len(after) > 1:
            value, beyond = object_phrases(after[1:])
            self._add(subject, phrase_text(self.text, end[0]).lower(), value, "measure")
            self._follow(subject, "has", beyond)
            return
        if len(end) == 1 and end[0][0].kind == "number" and len(end[0]) > 1:
            relation = phrase_text(self.text, end[0][1:]).lower()
            number = phrase_text(self.text, end[0][:1])
            self.said.append(_statement(subject.text, relation, number, f"count{subject.how}", "number"))
        else:
            self._add(subject, "has", end, "having")
        self._follow(subject, self._with_noun("has", end), after)

    def _verb_phrase(self, subject: ClauseSubject, verb: str, part: Sequence[Word], front: Sequence[Word]) -> None:
        said = f"{subject.attribute} {verb}".strip()
        if front and front[0].norm in word_classes()["temporal"]:
            self._add(subject, f"{said} {front[0].norm}", [front[1:]], "phrase")
        while part and part[0].kind == "adverbs":
            part = part[1:]
        if part and part[0].kind == "prepositions":
            self._follow(subject, said, part, "verb")
            return
        end, after = object_phrases(part)
        self._add(subject, said, end, "verb")
        self._follow(subject, self._with_noun(said, end), after)

    def _with_noun(self, said: str, end: Sequence[Sequence[Word]]) -> str:
        """The verb with its plain object, as a relation of what follows: "holds degree" of "from Kestrel University".

        The V W* P of ReVerb (Fader, Soderland and Etzioni 2011); an object with a name or number stands for itself.
        """
        plain = len(end) == 1 and all(word.kind not in ("capital", "number", "prepositions") for word in end[0])
        return f"{said} {phrase_text(self.text, end[0])}" if plain else said

    def _follow(self, subject: ClauseSubject, said: str, part: Sequence[Word], pattern: str = "phrase") -> None:
        """Phrases with prepositions, then further verbs of the subject, then further clauses."""
        while part and part[0].kind == "prepositions" and len(part) > 1:
            end, after = object_phrases(part[1:])
            if end and said:
                self._add(subject, f"{said} {part[0].norm}", end, pattern)
            part, pattern = after, "phrase"
        part = strip_leading_marks(part)
        if not part:
            return
        start = 0
        while start < len(part) and part[start].kind in ("modal", "adverbs"):
            start += 1
        if start < len(part) and part[start].kind in ("be", "have", "verb"):
            self.predicate(ClauseSubject(subject.text, subject.how), part[start:], ())
        elif part[0].kind != "relative":
            self.read(part)

    def _add(self, subject: ClauseSubject, relation: str, ends: Sequence[Sequence[Word]], pattern: str) -> None:
        for part in ends:
            said = phrase_text(self.text, part)
            self.said.append(_statement(subject.text, relation, said, f"{pattern}{subject.how}"))


def replace_attribute(subject: ClauseSubject) -> ClauseSubject:
    """The subject itself, once its attribute was told."""
    return ClauseSubject(subject.text, subject.how)


def _statement(
    subject: str, relation: str, said: str, pattern: str, kind: ObjectKind | None = None
) -> ExtractedStatement:
    return ExtractedStatement(subject, relation, said.strip(" .,"), kind or object_kind(said), pattern)


def object_kind(said: str) -> ObjectKind:
    """What an object is, by its form.

    >>> object_kind("5 km"), object_kind("3 May 2011"), object_kind("Basel"), object_kind("deep")
    ('number', 'date', 'thing', 'text')
    """
    if _DATE.fullmatch(said):
        return "date"
    found = find_amounts(said)
    if len(found) == 1 and found[0].start <= 1 and (found[0].end == len(said) or not any(c.isupper() for c in said)):
        return "number"
    return "thing" if any(c.isupper() for c in said) else "text"
