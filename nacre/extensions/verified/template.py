"""A verified question as a template: VerifiedQuestion -> Template; Template + Question + Links -> Alignment.

In order: the template with the places of its names and numbers, the alignment with the plan for the names of a
question, and the names, numbers and dates of a plan with others in their place.
"""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import lru_cache
from typing import Any, Literal, TypeVar, cast

from pydantic import ValidationError

from nacre.language.tokens import Token, name_tokens
from nacre.plans.selects import plan_elements, plan_parts
from nacre.records.json_form import from_json
from nacre.records.plan import Attribute, Body, Filter, Itself, Plan, Select, Variable
from nacre.records.schema import Schema
from nacre.records.turn import Reading, VerifiedQuestion
from nacre.understanding.linking.schema_graph import SchemaGraph
from nacre.understanding.question.analyse import analyse_question
from nacre.understanding.question.records import Cue, Link, Question
from nacre.understanding.question.records import Number as QuestionNumber

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


Number = int | float | str


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
    taken = {i for slot in names for i in range(slot.start, slot.end)}
    numbers = tuple(_number_slot(each, constants) for each in question.numbers if each.start not in taken)
    taken |= {i for slot in numbers for i in range(slot.number.start, slot.number.end)}
    words = tuple(t for i, t in enumerate(question.tokens) if i not in taken and i not in question.stopwords)
    return Template(question, plan, plan_elements(plan.body), names, numbers, words)


@dataclass(frozen=True)
class PlanConstants:
    """What a plan says of single things and values: variables with keys, texts with their predicates, numbers and dates
    of conditions, and the numbers of rows it is limited to."""

    things: tuple[Variable, ...] = ()
    texts: tuple[tuple[str, str], ...] = ()
    numbers: tuple[Number, ...] = ()
    limits: tuple[int, ...] = ()


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


# minimum score of a link that names what a slot may be filled with (given)
MIN_NAME_SCORE = 0.5


@dataclass(frozen=True)
class Alignment:
    """The verified question with the names of another one.

    `plan` is its plan for them; `taken` are the positions of the tokens of the question that fill its slots. `changed`
    counts slots with another name or number, `odd` numbers that are compared differently.
    """

    template: Template
    plan: Plan
    taken: frozenset[int]
    changed: int = 0
    odd: int = 0


@dataclass(frozen=True)
class LinkedQuestion:
    """A question with what its words may name in a graph, and the readings of the rules, the likeliest first."""

    question: Question
    links: Sequence[Link]
    graph: SchemaGraph
    readings: Sequence[Reading] = ()


def align_question(template: Template, linked: LinkedQuestion) -> Alignment | None:
    """The plan of the verified question with the names and numbers of this one. None if it names things of other
    classes, or if it has more or fewer numbers."""
    question, taken = linked.question, set[int]()
    things: dict[tuple[str, ...], tuple[tuple[str, ...], str]] = {}
    texts: dict[tuple[str, str], str] = {}
    changed = 0
    same = {id(slot): place for slot in template.names if (place := _same_name(slot, template, question))}
    for place in same.values():
        taken.update(place)
    for slot in template.names:
        if id(slot) in same:
            continue
        link = next(_fillers(slot, linked, taken), None)
        if link is None:
            return None
        taken.update(range(link.start, link.end))
        changed += 1
        if slot.thing is not None:
            things[slot.thing.keys] = (link.keys, link.label)
        else:
            texts[slot.text] = str(link.value)
    numbers = [each for each in question.numbers if each.start not in taken]
    if len(numbers) != len(template.numbers):
        return None
    filled = [_number_values(slot, each) for slot, each in zip(template.numbers, numbers, strict=True)]
    if any(each is None for each in filled):
        return None
    for number in numbers:
        taken.update(range(number.start, number.end))
    pairs = list(zip(template.numbers, numbers, strict=True))
    changed += sum(slot.number.value != number.value for slot, number in pairs)
    limits = {limit: int(number.value) for slot, number in pairs for limit in slot.limits}
    values = {old: new for each in filled if each for old, new in each.items()}
    body = template.plan.body
    if changed:
        body = substitute(body, Substitution(things, texts, values, limits))
    odd = sum(slot.number.op != number.op for slot, number in pairs)
    return Alignment(template, replace(template.plan, body=body), frozenset(taken), changed, odd)


def has_same_words(alignment: Alignment, question: Question) -> bool:
    """Whether a question has the words of the verified one, in their order and in any form, apart from names."""
    template = alignment.template
    slots = [*((slot.start, slot.end) for slot in template.names)]
    slots += ((slot.number.start, slot.number.end) for slot in template.numbers)
    taken = frozenset(i for start, end in slots for i in range(start, end))
    return not alignment.odd and _lemmas(question, alignment.taken) == _lemmas(template.question, taken)


def _lemmas(question: Question, taken: frozenset[int]) -> list[str]:
    return [token.lemma for i, token in enumerate(question.tokens) if i not in taken]


def _same_name(slot: NameSlot, template: Template, question: Question) -> range | None:
    """The tokens of the question that are those of a slot."""
    name = [token.norm for token in template.question.tokens[slot.start : slot.end]]
    words = [token.norm for token in question.tokens]
    starts = (i for i in range(len(words) - len(name) + 1) if words[i : i + len(name)] == name)
    start = next(starts, None)
    return None if start is None else range(start, start + len(name))


def _fillers(slot: NameSlot, linked: LinkedQuestion, taken: set[int]) -> Iterator[Link]:
    """The links to other things of the class of a slot, or other texts of its predicate, the surest first."""
    wanted = "entity" if slot.thing is not None else "value"
    fitting = (
        link
        for link in linked.links
        if link.kind == wanted and link.score >= MIN_NAME_SCORE and taken.isdisjoint(range(link.start, link.end))
    )
    for link in sorted(fitting, key=lambda link: (-link.score, link.start - link.end)):
        if slot.thing is None:
            fits = any(ref.predicate == slot.text[0] for ref in link.refs)
        else:
            classes = {iri for ref in link.refs for iri in linked.graph.nodes[ref.node].classes}
            fits = bool(link.keys) and bool(classes & set(slot.thing.classes))
        if fits:
            yield link


def _number_values(slot: NumberSlot, number: QuestionNumber) -> Mapping[Any, Any] | None:
    """The values that take the place of the constants of a slot. None if the number lacks one of them."""
    if not slot.constants and not slot.limits:
        # the plan does not have the number, so only the same one fits
        return {} if number.value == slot.number.value else None
    values = {constant: getattr(number, name) for name, constant in slot.constants}
    return None if any(value in (None, "") for value in values.values()) else values


def content_words(question: Question, taken: frozenset[int]) -> list[tuple[int, Token]]:
    """The content words of a question that fill no slot, with their positions."""
    return [(i, t) for i, t in enumerate(question.tokens) if i not in taken and i not in question.stopwords]


T = TypeVar("T")


@dataclass(frozen=True)
class Substitution:
    """Other names and numbers: keys -> keys and label, (predicate, text) -> text, number or date -> the same."""

    things: Mapping[tuple[str, ...], tuple[tuple[str, ...], str]] = field(default_factory=dict)
    texts: Mapping[tuple[str, str], str] = field(default_factory=dict)
    numbers: Mapping[Number, Number] = field(default_factory=dict)
    limits: Mapping[int, int] = field(default_factory=dict)


def plan_constants(body: Body) -> PlanConstants:
    """The constants of a plan, each once, in their order in the plan."""
    parts = list(plan_parts(body))
    filters = [(each, constant) for each in parts if isinstance(each, Filter) for constant in _constants(each)]
    texts = [(_predicate(each), c) for each, c in filters if isinstance(c, str)]
    numbers = [c for _, c in filters if not isinstance(c, bool)]
    return PlanConstants(
        tuple(dict.fromkeys(each for each in parts if isinstance(each, Variable) and each.keys)),
        tuple(dict.fromkeys(texts)),
        tuple(dict.fromkeys(numbers)),
        tuple(dict.fromkeys(each.limit for each in parts if isinstance(each, Select) and each.limit is not None)),
    )


def asked_elements(body: Body, naming: Collection[str]) -> frozenset[str]:
    """The IRIs of what a plan shows, computes and compares: the classes of its things, and properties. What only joins
    them is left out, and names stand for their things; `naming` are the properties with names."""
    parts = list(plan_parts(body))
    attributes = [each for each in parts if isinstance(each, Attribute)]
    shown = {each.variable for each in parts if isinstance(each, Itself)}
    shown |= {each.variable for each in attributes if each.predicate in naming}
    classes = {iri for each in parts if isinstance(each, Variable) and each.name in shown for iri in each.classes}
    return frozenset(classes | {each.predicate for each in attributes} - frozenset(naming))


def substitute(body: T, others: Substitution) -> T:
    """The plan with other constants."""
    if isinstance(body, Variable) and body.keys in others.things:
        keys, label = others.things[body.keys]
        return replace(body, keys=keys, label=label)
    if isinstance(body, tuple):
        return tuple(substitute(each, others) for each in body)  # type: ignore[return-value]
    if not is_dataclass(body) or isinstance(body, type):
        return body
    changed: dict[str, Any] = {}
    for each in fields(body):
        value = getattr(body, each.name)
        other = substitute(value, others) if is_dataclass(value) or isinstance(value, tuple) else value
        if other != value:
            changed[each.name] = other
    if isinstance(body, Filter) and (constants := _constants(body)):
        right = tuple(_other(each, _predicate(body), others) for each in constants)
        changed["right"] = right if isinstance(body.right, tuple) else right[0]
    if isinstance(body, Select) and body.limit is not None and body.limit in others.limits:
        changed["limit"] = others.limits[body.limit]
    return replace(cast(Any, body), **changed) if changed else body


def _other(constant: Any, predicate: str, others: Substitution) -> Any:
    if isinstance(constant, bool):
        return constant
    if isinstance(constant, str) and (predicate, constant) in others.texts:
        return others.texts[predicate, constant]
    return others.numbers.get(constant, constant)


def _constants(condition: Filter) -> tuple[Any, ...]:
    right = condition.right
    if isinstance(right, tuple):
        return right
    return () if right is None or is_dataclass(right) else (right,)


def _predicate(condition: Filter) -> str:
    left = condition.left if isinstance(condition.left, Attribute | Itself) else condition.left.of
    return left.predicate if isinstance(left, Attribute) else ""
