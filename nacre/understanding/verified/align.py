"""Align a question with a verified one: Template + Question + Links -> Alignment, with the plan for its names."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from nacre.language.tokens import Token
from nacre.records.plan import Plan
from nacre.understanding.linking.graph.schema_graph import SchemaGraph
from nacre.understanding.question.types import Link, Question
from nacre.understanding.question.types import Number as QuestionNumber
from nacre.understanding.verified.slots import Substitution, substitute
from nacre.understanding.verified.template import NameSlot, NumberSlot, Template

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


def align_question(
    template: Template, question: Question, links: Sequence[Link], graph: SchemaGraph
) -> Alignment | None:
    """The plan of the verified question with the names and numbers of this one. None if it names things of other
    classes, or if it has more or fewer numbers."""
    taken: set[int] = set()
    things: dict[tuple[str, ...], tuple[tuple[str, ...], str]] = {}
    texts: dict[tuple[str, str], str] = {}
    changed = 0
    same = {id(slot): place for slot in template.names if (place := _same_name(slot, template, question))}
    for place in same.values():
        taken.update(place)
    for slot in template.names:
        if id(slot) in same:
            continue
        link = next(_fillers(slot, links, graph, taken), None)
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


def _same_name(slot: NameSlot, template: Template, question: Question) -> range | None:
    """The tokens of the question that are those of a slot."""
    name = [token.norm for token in template.question.tokens[slot.start : slot.end]]
    words = [token.norm for token in question.tokens]
    starts = (i for i in range(len(words) - len(name) + 1) if words[i : i + len(name)] == name)
    start = next(starts, None)
    return None if start is None else range(start, start + len(name))


def _fillers(slot: NameSlot, links: Sequence[Link], graph: SchemaGraph, taken: set[int]) -> Iterator[Link]:
    """The links to other things of the class of a slot, or other texts of its predicate, the surest first."""
    wanted = "entity" if slot.thing is not None else "value"
    fitting = (
        link
        for link in links
        if link.kind == wanted and link.score >= MIN_NAME_SCORE and taken.isdisjoint(range(link.start, link.end))
    )
    for link in sorted(fitting, key=lambda link: (-link.score, link.start - link.end)):
        if slot.thing is None:
            fits = any(ref.predicate == slot.text[0] for ref in link.refs)
        else:
            classes = {iri for ref in link.refs for iri in graph.nodes[ref.node].classes}
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
