"""Extract statements from one sentence by patterns over its words: sentence + topic -> ExtractedStatements."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import simplemma

from nacre.extraction.grammar import Word, is_in_class, may_be_participle, phrase_text, tag_words
from nacre.extraction.phrases import (
    find_verb,
    is_negated,
    list_items,
    object_phrases,
    split_apposition,
    strip_leading_marks,
)
from nacre.language.base import pattern
from nacre.language.quantities.amounts import find_amounts
from nacre.records.extracted import ExtractedStatement, ObjectKind

# longer sentences, and longer subjects and objects, give no statements (given)
MAX_SENTENCE_WORDS = 80
MAX_STATEMENTS = 24
MAX_TERM_LETTERS = 80

_MAX_KEY_WORDS, _MAX_FRONT_WORDS = 5, 9


@dataclass(frozen=True)
class ClauseSubject:
    """The subject of a clause, possibly one `attribute` of it.

    `suffix` marks the patterns of statements whose subject is a pronoun, a definite noun or a common noun.
    """

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
    """The kind of an object by its form.

    >>> object_kind("5 km"), object_kind("3 May 2011"), object_kind("Basel"), object_kind("deep")
    ('number', 'date', 'thing', 'text')
    """
    if pattern("extraction", "date").fullmatch(text):
        return "date"
    amounts = find_amounts(text)
    has_capital = any(c.isupper() for c in text)
    if len(amounts) == 1 and amounts[0].start <= 1 and (amounts[0].end == len(text) or not has_capital):
        return "number"
    return "thing" if has_capital else "text"


def _keyed_statements(text: str, words: Sequence[Word], topic: str) -> list[ExtractedStatement]:
    """Statements about the topic from a line such as "Office: B 12"."""
    marks = [i for i, word in enumerate(words[:_MAX_KEY_WORDS]) if word.text == ":"]
    if not marks or not topic or not 0 < marks[0] < len(words) - 1:
        return []
    key, value = phrase_text(text, words[: marks[0]]).lower(), words[marks[0] + 1 :]
    if any(w.kind in ("be", "have", "modal") for w in words):
        return []
    return [_statement(topic, key, phrase_text(text, part), "keyed") for part in list_items(value)]


class _StatementBuilder:
    """Collects the statements of one sentence."""

    def __init__(self, text: str, topic: str, topic_nouns: Collection[str]) -> None:
        self.text = text
        self.topic = topic
        self.topic_nouns = topic_nouns
        self.statements: list[ExtractedStatement] = []

    def add_clause(self, part: Sequence[Word]) -> None:
        """Add the statements of a clause with its own subject."""
        part = strip_leading_marks(part)
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
            attribute = "" if noun in self.topic_nouns else noun
            return ClauseSubject(self.topic, "+definite", attribute) if self.topic else None
        # the first word of a sentence is no name only because of its capital letter
        bare = len(part) == 1 and not part[0].start and simplemma.is_known(part[0].norm, lang="en")
        return ClauseSubject(phrase_text(text, part), "+bare" if bare else "" if capital else "+noun")

    def add_predicate(self, subject: ClauseSubject, part: Sequence[Word], front: Sequence[Word]) -> None:
        """Add the statements of a verb and of all that follows it; a negated verb adds none."""
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
        while part and part[0].kind == "adverbs":
            part = part[1:]
        if part and part[0].kind == "prepositions":
            self._add_rest(subject, relation, part, "verb")
            return
        objects, after = object_phrases(part)
        self._add_statements(subject, relation, objects, "verb")
        self._add_rest(subject, self._with_noun(relation, objects), after)

    def _with_noun(self, relation: str, objects: Sequence[Sequence[Word]]) -> str:
        """The verb with its common noun as a relation: "holds degree" before "from Kestrel University".

        The pattern V W* P of ReVerb (Fader, Soderland and Etzioni 2011); a name or number stays an object.
        """
        plain = len(objects) == 1 and all(word.kind not in ("capital", "number", "prepositions") for word in objects[0])
        return f"{relation} {phrase_text(self.text, objects[0])}" if plain else relation

    def _add_rest(self, subject: ClauseSubject, relation: str, part: Sequence[Word], pattern: str = "phrase") -> None:
        """Add prepositional phrases, then further verbs of the subject, then further clauses."""
        while part and part[0].kind == "prepositions" and len(part) > 1:
            objects, after = object_phrases(part[1:])
            if objects and relation:
                self._add_statements(subject, f"{relation} {part[0].norm}", objects, pattern)
            part, pattern = after, "phrase"
        part = strip_leading_marks(part)
        if not part:
            return
        start = 0
        while start < len(part) and part[start].kind in ("modal", "adverbs"):
            start += 1
        if start < len(part) and part[start].kind in ("be", "have", "verb"):
            self.add_predicate(_without_attribute(subject), part[start:], ())
        elif part[0].kind != "relative":
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
