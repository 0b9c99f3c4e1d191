"""Rules for ordinals that are values: "ranked 3rd", "came second", "on the 4th floor" + ParseState -> further States."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from nacre.language.base import language
from nacre.language.thesaurus import english_data
from nacre.language.tokens import Token, fold
from nacre.understanding.linking.graph.schema_graph import SchemaGraph
from nacre.understanding.linking.schema.adjectives import measured_properties
from nacre.understanding.parsing.state import ParseContext, ParseState, add_schema_node, last_target_as_condition
from nacre.understanding.question.types import Condition, Question, Ref, token_mask

_DIGITS = re.compile(r"(\d{1,4})(?:st|nd|rd|th)")
MOST_PROPERTIES, MOST_KINDS = 2, 3


class OrdinalMention(NamedTuple):
    """An ordinal of the question from its verb on ("came"), where it has one."""

    start: int
    end: int
    value: float
    verb: bool


def find_ordinals(question: Question) -> dict[int, OrdinalMention]:
    """The ordinals that may be values, by where they start: in digits, or in words after a verb of placing."""
    words, known = question.tokens, language().words
    taken = {i for n in question.numbers for i in range(n.start, n.end)}
    found = []
    for i, token in enumerate(words):
        value = _value(token)
        before = i - 1 if i > 1 and words[i - 1].norm in known["before_ordinal"] else i
        verb = before > 0 and words[before - 1].norm in known["placing_verbs"]
        # "was second in the race", and not "was the second oldest"
        alone = i + 1 == len(words) or i + 1 in question.stopwords
        verb |= alone and before == i > 1 and words[i - 1].norm in known["being"]
        if value is None or i in taken or not (verb or token.norm[0].isdigit()):
            continue
        found.append(OrdinalMention(before - 1 if verb else i, i + 1, value, verb))
        if verb:
            # the verb may name the property itself: "ranked"
            found.append(OrdinalMention(i, i + 1, value, False))
    found += [OrdinalMention(i, i + 1, 1.0, True) for i, token in enumerate(words) if token.norm in known["winning"]]
    return {place.start: place for place in found}


def ordinal_conditions(
    state: ParseState, found: OrdinalMention, context: ParseContext
) -> Iterator[tuple[int, ParseState]]:
    """All ways to take an ordinal as a value, each with where it ends."""
    words, known = context.question.tokens, language().words
    graph, prop = context.graph, state.pending_property
    if not found.verb and prop is not None and prop.predicate:
        for new in _with(state, prop, found, found.end, "place of property", context):
            yield (
                found.end,
                new._replace(**({"mode": "C", **last_target_as_condition(state)} if state.pending_is_target else {})),
            )
    after = words[found.end] if found.end < len(words) else None
    named = after is not None and after.norm in known["placing"]
    ranks = tuple(sorted(known["placing"])) if found.verb or named else ()
    owners = dict.fromkeys(([state.owner] if state.owner else []) + list(state.nodes[:2]))
    for owner in owners or (_placing(graph, ranks) if ranks else ()):
        for ref, _, _ in measured_properties(graph, owner.node, ranks)[:MOST_PROPERTIES] if ranks else ():
            for new in _with(state, ref, found, found.end + named, "place in order", context):
                yield found.end + named, add_schema_node(new, ref, context)
        for predicate in graph.literals[owner.node] if after is not None else ():
            if after is not None and graph.words[predicate][-1:] == (after.lemma,):
                ref = Ref(owner.node, predicate)
                for new in _with(state, ref, found, found.end + 1, "place before property", context):
                    yield found.end + 1, new


def _with(
    state: ParseState, ref: Ref, found: OrdinalMention, end: int, rule: str, context: ParseContext
) -> Iterator[ParseState]:
    """The state with the condition that a property has the place, as it is held."""
    mask = token_mask(found.start, end)
    new = state._replace(covered=state.covered | mask, last="number", score=state.score + 0.5)
    for value in _held(context.graph, ref.predicate, found, context.question.tokens[found.end - 1]):
        condition = Condition(ref, "=", (value,), state.negated)
        yield new.apply_rule(
            rule, 0.4, conditions=(*state.conditions, condition), comparison=None, negated=False, join="and"
        )


def _placing(graph: SchemaGraph, ranks: tuple[str, ...]) -> list[Ref]:
    """The kinds of things that have a place in an order, where none was named before it."""
    words = set(ranks)
    found = [n.index for n in graph.nodes if any(words & set(graph.words[p]) for p in graph.literals[n.index])]
    return [Ref(index) for index in found[:MOST_KINDS]]


def _held(graph: SchemaGraph, predicate: str, found: OrdinalMention, token: Token) -> Iterator[str | float]:
    """A place as a property may hold it: as it is written, and as a number between its least and its greatest."""
    about = graph.about(predicate)
    yield from [value for value in about.values if fold(value) == token.norm][:1]
    least, most = about.minimum, about.maximum
    if about.datatype == "integer" and least is not None and most is not None and least <= found.value <= most:
        yield found.value


def _value(token: Token) -> float | None:
    ordinals = english_data()["ordinals"]
    digits = _DIGITS.fullmatch(token.norm)
    return float(digits[1]) if digits else float(ordinals[token.norm]) if token.norm in ordinals else None
