"""Rules for ordinals as values: ParseState + OrdinalMention -> ParseStates ("ranked 3rd", "on the 4th floor")."""

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
# how many properties with places are tried, and of how many classes
MAX_PROPERTIES, MAX_CLASSES = 2, 3


class OrdinalMention(NamedTuple):
    """An ordinal of the question, from its verb on ("came") if it has one."""

    start: int
    end: int
    value: float
    has_verb: bool


def find_ordinals(question: Question) -> dict[int, OrdinalMention]:
    """Return the ordinals that may be values, by their start: in digits, or in words after a verb ("came second")."""
    words, known = question.tokens, language().words
    numbers = {i for number in question.numbers for i in range(number.start, number.end)}
    found = []
    for i, token in enumerate(words):
        value = _value(token)
        start = i - 1 if i > 1 and words[i - 1].norm in known["before_ordinal"] else i
        has_verb = start > 0 and words[start - 1].norm in known["placing_verbs"]
        # "was second in the race", and not "was the second oldest"
        is_alone = i + 1 == len(words) or i + 1 in question.stopwords
        has_verb |= is_alone and start == i > 1 and words[i - 1].norm in known["being"]
        if value is None or i in numbers or not (has_verb or token.norm[0].isdigit()):
            continue
        found.append(OrdinalMention(start - 1 if has_verb else i, i + 1, value, has_verb))
        if has_verb:
            # the verb may name the property itself: "ranked"
            found.append(OrdinalMention(i, i + 1, value, False))
    winners = (i for i, token in enumerate(words) if token.norm in known["winning"])
    found += [OrdinalMention(i, i + 1, 1.0, True) for i in winners]
    return {ordinal.start: ordinal for ordinal in found}


def ordinal_conditions(
    state: ParseState, ordinal: OrdinalMention, context: ParseContext
) -> Iterator[tuple[int, ParseState]]:
    """Yield all ways to take an ordinal as a value, each with the token at which it ends."""
    words, graph, ref = context.question.tokens, context.graph, state.pending_values
    if not ordinal.has_verb and ref is not None:
        for new in _with_place(state, ref, ordinal, ordinal.end, "place of property", context):
            changes = {"mode": "C", **last_target_as_condition(state)} if state.pending_is_target else {}
            yield ordinal.end, new._replace(**changes)
    after = words[ordinal.end] if ordinal.end < len(words) else None
    place_words = language().words["placing"]
    has_noun = after is not None and after.norm in place_words
    concepts = tuple(sorted(place_words)) if ordinal.has_verb or has_noun else ()
    owners = dict.fromkeys(([state.owner] if state.owner else []) + list(state.nodes[:2]))
    for owner in owners or (_ranked_classes(graph, concepts) if concepts else ()):
        measures = measured_properties(graph, owner.node, concepts)[:MAX_PROPERTIES] if concepts else []
        for measure, _, _ in measures:
            end = ordinal.end + has_noun
            for new in _with_place(state, measure, ordinal, end, "place in order", context):
                yield end, add_schema_node(new, measure, context)
        for predicate in graph.literals[owner.node] if after is not None else ():
            if after is not None and graph.words[predicate][-1:] == (after.lemma,):
                own = Ref(owner.node, predicate)
                for new in _with_place(state, own, ordinal, ordinal.end + 1, "place before property", context):
                    yield ordinal.end + 1, new


def _with_place(
    state: ParseState, ref: Ref, ordinal: OrdinalMention, end: int, rule: str, context: ParseContext
) -> Iterator[ParseState]:
    """The readings with the condition that a property has the place, in the form of its values."""
    covered = state.covered | token_mask(ordinal.start, end)
    new = state._replace(covered=covered, last="number", score=state.score + 0.5)
    token = context.question.tokens[ordinal.end - 1]
    for value in _stored_values(context.graph, ref.predicate, ordinal, token):
        conditions = (*state.conditions, Condition(ref, "=", (value,), state.negated))
        yield new.apply_rule(rule, 0.4, conditions=conditions, comparison=None, negated=False, join="and")


def _ranked_classes(graph: SchemaGraph, concepts: tuple[str, ...]) -> list[Ref]:
    """The classes of things with a place in an order, if no class was named before."""
    words = set(concepts)
    nodes = (node.index for node in graph.base_nodes)
    found = [i for i in nodes if any(words & set(graph.words[each]) for each in graph.literals[i])]
    return [Ref(index) for index in found[:MAX_CLASSES]]


def _stored_values(graph: SchemaGraph, predicate: str, ordinal: OrdinalMention, token: Token) -> Iterator[str | float]:
    """A place as a property may hold it: as it is written, and as a number within its range."""
    about = graph.about(predicate)
    yield from [value for value in about.values if fold(value) == token.norm][:1]
    lowest, highest = about.minimum, about.maximum
    is_ranged = about.datatype == "integer" and lowest is not None and highest is not None
    if is_ranged and lowest is not None and highest is not None and lowest <= ordinal.value <= highest:
        yield ordinal.value


def _value(token: Token) -> float | None:
    ordinals, digits = english_data()["ordinals"], _DIGITS.fullmatch(token.norm)
    if digits:
        return float(digits[1])
    return float(ordinals[token.norm]) if token.norm in ordinals else None
