"""Whether a fact is of the kind that a question asks for: "when" wants a date, "who" a person -> 1, 0 or -1."""

from functools import lru_cache
from typing import Literal

from nacre.language.base import language
from nacre.language.thesaurus import gradable_adjective, is_noun_of_kind
from nacre.language.tokens import lemma, name_tokens
from nacre.records.evidence import EvidenceSentence
from nacre.records.schema import Predicate, Schema
from nacre.understanding.question.analyse import analyse_question

AnswerKind = Literal["", "date", "number", "person", "place"]
_DATES = frozenset(("date", "datetime", "time", "year", "duration"))


@lru_cache(maxsize=256)
def requested_kind(question: str) -> AnswerKind:
    """The kind of answer that the question word asks for; "" if it may be any.

    >>> [requested_kind(f"{lead} the mill run") for lead in ("when did", "how far does", "and who lets", "what makes")]
    ['date', 'number', 'person', '']
    """
    words = language().words
    asked = analyse_question(question)
    tokens = [*asked.tokens]
    at = next((i for i, token in enumerate(tokens) if token.norm in words["question_words"] | words["who"]), None)
    if at is None:
        return ""
    opening = next((cue.value for cue in asked.cues if cue.start == at and cue.kind == "open" and cue.value), "")
    if opening:
        return "date" if opening == "when" else "place"
    if tokens[at].norm in words["who"]:
        return "person"
    after = tokens[at + 1] if at + 1 < len(tokens) else None
    if tokens[at].norm not in words["degree"] or after is None:
        return ""
    return "number" if after.norm in words["how_much"] or gradable_adjective(after) else ""


def kind_fit(sentence: EvidenceSentence, thing: str, asked: AnswerKind, schema: Schema) -> int:
    """1 if the fact about a thing gives the requested kind, -1 if it gives another, 0 if any may be asked for."""
    if not asked or not sentence.triples:
        return 0
    subject, iri, value = sentence.triples[0]
    predicate = schema.predicate_of.get(iri)
    if predicate is None:
        return 0
    return 1 if gives_kind(predicate, subject != thing, value, asked, schema) else -1


def gives_kind(predicate: Predicate, is_inverse: bool, value: str, asked: AnswerKind, schema: Schema) -> bool:
    """Whether a property with such a value, or the things that it leads from, are of the requested kind."""
    label = predicate.label.casefold()
    words = [lemma(word) for word in name_tokens(label)]
    is_date = predicate.datatype in _DATES
    if asked == "date":
        return not is_inverse and (is_date or any(is_noun_of_kind("dates", word) for word in words))
    if asked == "number":
        return not is_inverse and not is_date and (predicate.minimum is not None or value[:1].isdigit())
    if asked == "person":
        ends = [schema.class_of[iri].label for iri in _far_classes(predicate, is_inverse) if iri in schema.class_of]
        nouns = [*ends, *([] if is_inverse else [label])]
        is_agent = any(is_noun_of_kind(kind, noun) for kind in ("persons", "bodies") for noun in nouns)
        return is_agent or (not is_inverse and words[-1:] == ["by"])
    if is_inverse or is_date or predicate.minimum is not None:
        return False
    is_at = words[-1:] and words[-1] in language().words["standing_at"]
    return bool(is_at) or any(is_noun_of_kind("places", word) for word in words)


def _far_classes(predicate: Predicate, is_inverse: bool) -> list[str]:
    return list(predicate.domains if is_inverse else predicate.ranges)
