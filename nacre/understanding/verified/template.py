"""A verified question as a template: VerifiedQuestion -> Template, with the places of its names and numbers."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from pydantic import ValidationError

from nacre.language.tokens import Token, name_tokens
from nacre.records.json_form import from_json
from nacre.records.plan import Plan, Variable
from nacre.records.schema import Schema
from nacre.records.verified_question import VerifiedQuestion
from nacre.understanding.question.analyse import analyse_question
from nacre.understanding.question.types import Cue, Question
from nacre.understanding.question.types import Number as QuestionNumber
from nacre.understanding.verified.slots import Number, PlanConstants, plan_constants, plan_elements

# templates that are kept (given; about 5 KB each)
CACHED_TEMPLATES = 2048
# what a number of a question may give to a plan
NumberField = Literal["value", "date_start", "date_end", "until"]
NUMBER_FIELDS: tuple[NumberField, ...] = ("value", "date_start", "date_end", "until")


@dataclass(frozen=True)
class NameSlot:
    """The tokens from `start` to `end` name the thing of a variable, or the text of (predicate, text)."""

    start: int
    end: int
    thing: Variable | None = None
    text: tuple[str, str] = ("", "")


@dataclass(frozen=True)
class NumberSlot:
    """A number or date of the question, and the constants of the plan that come from its fields."""

    number: QuestionNumber
    constants: tuple[tuple[NumberField, Number], ...]
    limits: tuple[int, ...] = ()


@dataclass(frozen=True)
class Template:
    """A verified question, analysed without the graph. `words` are its content words outside the slots."""

    question: Question
    plan: Plan
    elements: frozenset[str]
    names: tuple[NameSlot, ...]
    numbers: tuple[NumberSlot, ...]
    words: tuple[Token, ...]

    @property
    def cues(self) -> tuple[Cue, ...]:
        return self.question.cues


def template_of(verified: VerifiedQuestion, schema: Schema) -> Template | None:
    """The template of a verified question that has a plan; None if it has none, or one of another version, or with
    classes and properties that this schema lacks."""
    template = _template(verified.standalone, json.dumps(verified.plan)) if verified.plan is not None else None
    known = template is not None and all(e in schema.class_of or e in schema.predicate_of for e in template.elements)
    return template if known else None


@lru_cache(CACHED_TEMPLATES)
def _template(text: str, plan_json: str) -> Template | None:
    try:
        plan = from_json(Plan, json.loads(plan_json))
    except ValidationError:
        return None
    question = analyse_question(text)
    constants = plan_constants(plan.body)
    names = tuple(_name_slots(question.tokens, constants))
    numbers = tuple(_number_slot(each, constants) for each in question.numbers if not _is_inside(each, names))
    taken = {i for slot in names for i in range(slot.start, slot.end)}
    taken |= {i for slot in numbers for i in range(slot.number.start, slot.number.end)}
    words = tuple(t for i, t in enumerate(question.tokens) if i not in taken and i not in question.stopwords)
    return Template(question, plan, plan_elements(plan.body), names, numbers, words)


def _name_slots(tokens: Sequence[Token], constants: PlanConstants) -> list[NameSlot]:
    """The names that the words contain, each constant once; those of more words first, so that none is a part."""
    named: list[tuple[tuple[str, ...], Variable | None, tuple[str, str]]] = []
    named += [(name_tokens(each.label), each, ("", "")) for each in constants.things]
    named += [(name_tokens(each[1]), None, each) for each in constants.texts]
    found: list[NameSlot] = []
    for name, thing, text in sorted(named, key=lambda each: -len(each[0])):
        start, end = _place(tokens, name, found)
        if end:
            found.append(NameSlot(start, end, thing, text))
    return sorted(found, key=lambda slot: slot.start)


def _place(tokens: Sequence[Token], name: Sequence[str], taken: Sequence[NameSlot]) -> tuple[int, int]:
    """The longest run of free words that are words of the name; (0, 0) if none is."""
    free = {i for i in range(len(tokens)) if not any(slot.start <= i < slot.end for slot in taken)}
    best = (0, 0)
    for start in sorted(free):
        end = start
        while end in free and (tokens[end].norm in name or tokens[end].lemma in name):
            end += 1
        if end - start > best[1] - best[0]:
            best = (start, end)
    return best


def _number_slot(number: QuestionNumber, constants: PlanConstants) -> NumberSlot:
    given = [(name, getattr(number, name)) for name in NUMBER_FIELDS]
    used = tuple((name, value) for name, value in given if value not in (None, "") and value in constants.numbers)
    limits = tuple(n for n in constants.limits if n == number.value) if not used else ()
    return NumberSlot(number, used, limits)


def _is_inside(number: QuestionNumber, names: Sequence[NameSlot]) -> bool:
    return any(slot.start <= number.start < slot.end for slot in names)
