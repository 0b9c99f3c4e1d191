"""The properties that an adjective measures: concepts + node -> Refs, nearest first ("old" -> the date of birth).

A graph may store "porosity 12 %" as a measurement whose quantity is porosity and whose value is 12, and a price as a
thing with an amount and a currency. A question for the porosity or the price of something asks for the number.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from nacre.language.data import WORDS, phrase_list
from nacre.language.quantities import convert_unit, is_currency
from nacre.language.thesaurus import adjective_concepts, is_person, synonyms
from nacre.language.tokens import lemma
from nacre.language.word_forms import is_plural
from nacre.understanding.linking.schema_graph import SchemaGraph
from nacre.understanding.question.records import Link, Ref
from nacre.wording.labels import may_give_years

# The cost of each rank in the adjective's list, of a synonym, of a property of a neighbour, and of a further word.
PLACE_COST, SYNONYM_COST, NEIGHBOUR_COST, EXTRA_WORD_COST = 0.08, 0.2, 0.4, 0.07

MAX_OWN_COST = 0.4  # What a property of the node itself costs, at most, and one of a neighbour, at least.
_UNREACHED = 9.0  # The cost of a node that is not reached yet.
MAX_MEASURES = 4
MIN_AFFIX_LETTERS = 4  # Letters of a concept that may be the beginning or end of another word, at least.


class _Measure(NamedTuple):
    """A property that measures a concept. `full_cost` orders equal costs."""

    cost: float
    full_cost: float
    ref: Ref
    is_reversed: bool


@lru_cache(maxsize=8192)
def measured_properties(
    graph: SchemaGraph, node: int, concepts: tuple[str, ...]
) -> tuple[tuple[Ref, bool, float], ...]:
    """Numbers and dates of a node, or of nodes one step away, that measure a concept: (property, reversed, cost).

    A concept with a leading "-" is reversed: who is old was born early.
    """
    if concepts[:1] == ("age",) and is_person(graph.nodes[node].label):
        # The date someone joined does not tell their age.
        concepts = tuple(concept for concept in concepts if concept.lstrip("-") in AGES_OF_PERSONS)
    found = [*_own_and_neighbour_measures(graph, node, concepts), *_linked_amounts(graph, node, concepts)]
    if not any(measure.ref.node == node for measure in found):
        found += _only_date(graph, node, concepts)
    return tuple((m.ref, m.is_reversed, m.cost) for m in sorted(found)[:MAX_MEASURES])


def amounts(graph: SchemaGraph, node: int, *, over_time: bool = False) -> list[str]:
    """The amounts of money that things of a class have and that may be added up: no prices per litre. `over_time`: also
    those in units of money or time, and what a name counts ("guests")."""
    numbers = [each for each in measured_numbers(graph, node) if not is_intensive(graph, each)]
    measures = measured_properties(graph, node, phrase_list("parsing", "amount_concepts"))
    found = [ref.predicate for ref, _, _ in measures if ref.node == node and ref.predicate in numbers]
    for about in map(graph.about, numbers if over_time else ()):
        unit = about.unit or ""
        if is_currency(unit) or convert_unit(1.0, unit, "s") is not None or is_plural(about.label):
            found.append(about.iri)
    return found


# the concepts of "old" that tell how old persons are, and not when they joined
AGES_OF_PERSONS = frozenset(("age", "birth", "born"))

DISTANCE = "distance"  # what "nearest" and "far" measure


def measured_numbers(graph: SchemaGraph, node: int) -> list[str]:
    """The numbers of things of a class that may be added up."""
    return [predicate for predicate in graph.literals[node] if is_measured_number(graph, predicate)]


def is_measured_number(graph: SchemaGraph, predicate: str) -> bool:
    """Whether the values of a property may be added up."""
    is_amount = graph.is_numeric(predicate) and not graph.is_date(predicate)
    return is_amount and graph.about(predicate).role != "identifier" and predicate not in graph.boolean_predicates


def is_intensive(graph: SchemaGraph, predicate: str) -> bool:
    """Whether a property is intensive, so that its values are not added up: "height", "price per litre"."""
    words = set(graph.words[predicate])
    return bool(words & WORDS["intensive"]) and not words & WORDS["counting"]


def unnamed_measures(graph: SchemaGraph, node: int, concepts: Sequence[str] = ()) -> list[Ref]:
    """The numbers of a node that an adjective may measure although it names none of them, at most `MAX_MEASURES`. None
    measures how near a thing is to another one."""
    if DISTANCE in concepts:
        return []
    numbers = [graph.about(predicate) for predicate in graph.literals[node] if graph.is_numeric(predicate)]
    kept = [about.iri for about in numbers if about.role != "identifier" and not may_give_years(about)]
    return [Ref(node, predicate) for predicate in kept[:MAX_MEASURES]]


def is_reversed_measure(graph: SchemaGraph, predicate: str, concepts: tuple[str, ...]) -> bool:
    """Whether a property measures a concept in reverse: who is old was born early."""
    best = _best_name(graph, predicate, concepts)
    return best is not None and best[1]


def _own_and_neighbour_measures(graph: SchemaGraph, node: int, concepts: tuple[str, ...]) -> Iterator[_Measure]:
    is_money = not set(phrase_list("parsing", "price_concepts")).isdisjoint(concepts)
    for near, distance in _distances(graph, node).items():
        for predicate in graph.literals[near]:
            if not (graph.is_numeric(predicate) or graph.is_date(predicate)):
                continue
            if graph.about(predicate).role == "identifier" or (is_money and graph.is_date(predicate)):
                # An identifying number measures nothing, and what was "paid on" a day is not expensive by that day.
                continue
            best = _best_name(graph, predicate, concepts)
            if best is not None:
                # Properties of the things themselves come before those of their neighbours.
                full_cost = best[0] + distance
                cost = min(full_cost, MAX_OWN_COST) if near == node else max(full_cost, MAX_OWN_COST)
                yield _Measure(cost, full_cost, Ref(near, predicate), best[1])


def _distances(graph: SchemaGraph, node: int) -> dict[int, float]:
    """The cost of the node itself and of each node one step away. A step backwards costs more."""
    found = {node: 0.0}
    for step in graph.steps[node]:
        cost = NEIGHBOUR_COST * step.cost + (0.0 if step.forward else NEIGHBOUR_COST)
        found[step.target] = min(found.get(step.target, _UNREACHED), cost)
    return found


def _linked_amounts(graph: SchemaGraph, node: int, concepts: tuple[str, ...]) -> Iterator[_Measure]:
    """The number behind a link that measures a concept, if the link leads to nothing more: the amount of a price."""
    for step in graph.steps[node]:
        amount = amount_property(step.target, graph) if step.forward else ""
        best = _best_name(graph, step.predicate, concepts) if amount else None
        if best is not None:
            yield _Measure(best[0], best[0], Ref(step.target, amount, via=step.predicate), best[1])


def _only_date(graph: SchemaGraph, node: int, concepts: tuple[str, ...]) -> list[_Measure]:
    """The single date of a node, whatever its name: a thing is as old as the only date known of it."""
    place = next((i for i, c in enumerate(concepts) if c.lstrip("-") == "date"), None)
    dates = [p for p in graph.literals[node] if graph.is_date(p)]
    if place is None or len(dates) != 1:
        return []
    cost = min(PLACE_COST * place + SYNONYM_COST, MAX_OWN_COST)
    return [_Measure(cost, cost, Ref(node, dates[0]), concepts[place].startswith("-"))]


def _best_name(graph: SchemaGraph, predicate: str, concepts: tuple[str, ...]) -> tuple[float, bool] | None:
    """The cost of the concept that a property measures best, and whether it is reversed; or None.

    A property that people ask for with an adjective of these concepts ("heavy") costs nothing. Dates reverse the
    concepts that can be reversed.
    """
    best = _best_concept(graph.words[predicate], concepts)
    if any(len(phrase) == 1 and adjective_concepts(phrase[0]) == concepts for phrase in graph.phrases[predicate]):
        is_reversed = graph.is_date(predicate) and any(concept.startswith("-") for concept in concepts)
        return 0.0, best[1] if best is not None else is_reversed
    return best


# Properties with the same name belong to many classes.
@lru_cache(maxsize=8192)
def _best_concept(words: tuple[str, ...], concepts: tuple[str, ...]) -> tuple[float, bool] | None:
    """The cost of the concept that the words of a name express best, and whether it is reversed; or None."""
    best: tuple[float, bool] | None = None
    for place, (concept, is_reversed) in enumerate(_concept_words(concepts)):
        costs = [_word_cost(word, words) for word in concept]
        if all(c is not None for c in costs):
            extra = EXTRA_WORD_COST * (len(words) - len(concept))
            cost = PLACE_COST * place + sum(c or 0.0 for c in costs) + extra
            best = min(best or (cost, is_reversed), (cost, is_reversed))
    return best


@lru_cache(maxsize=1024)
def _concept_words(concepts: tuple[str, ...]) -> tuple[tuple[tuple[str, ...], bool], ...]:
    """The lemmas of each concept, and whether it is reversed."""
    return tuple((tuple(map(lemma, c.lstrip("-").split())), c.startswith("-")) for c in concepts)


def _word_cost(word: str, words: tuple[str, ...]) -> float | None:
    """What it costs to take one of the words for a word of a concept. None if none fits."""
    if word in words:
        return 0.0
    same = synonyms(word)
    may_be_affix = len(word) >= MIN_AFFIX_LETTERS
    if any(w in same or (may_be_affix and (w.startswith(word) or w.endswith(word))) for w in words):
        return SYNONYM_COST
    return None


QUANTITY, AMOUNT = "quantity", "amount"  # How such links were found: `Link.match`.


def link_quantity_nodes(links: Sequence[Link], graph: SchemaGraph) -> Iterator[Link]:
    """Links to the numbers of mentioned quantities and amounts.

    For a thing or value that is a kind of quantity, `refs` are the number, and what holds the kind. For things that
    are only a number with a unit, the one ref is the number.
    """
    # "which measurements are of porosity" asks for the measurements.
    mentioned = {x.refs[0].node for x in links if x.kind == "class" and x.exact}
    for link in links:
        ref = link.refs[0]
        if link.kind == "entity":
            # the numbers of measurements that link to the thing as their quantity
            own = graph.nodes[ref.node].words
            quantities = (s for s in graph.steps[ref.node] if not s.forward)
            measured = (s for s in quantities if _names_quantity((*graph.words[s.predicate], *own)))
            numbers = ((number, step.predicate) for step in measured for number in _value_refs(step.target, graph))
            found = [(number, Ref(ref.node, via=via)) for number, via in numbers if number.node not in mentioned]
        elif link.kind == "value" and ref.predicate and _names_quantity(graph.words[ref.predicate]):
            found = [(number, ref) for number in _value_refs(ref.node, graph) if number.node not in mentioned]
        else:
            amount = amount_property(ref.node, graph) if not ref.predicate else ""
            if amount:
                yield link._replace(kind="property", refs=(Ref(ref.node, amount, via=ref.via),), match=AMOUNT)
            continue
        for number, holder in found:
            yield link._replace(kind="property", refs=(number, holder), match=QUANTITY)


@lru_cache(maxsize=4096)
def amount_property(node: int, graph: SchemaGraph) -> str:
    """The only number of things without names, beside at most one value such as a unit; "" for other things."""
    literals = graph.literals[node]
    numbers = [p for p in literals if graph.is_numeric(p) and not graph.is_date(p)]
    others = [p for p in literals if p not in numbers]
    is_amount = len(numbers) == 1 and len(others) <= 1
    # a row with a date, such as an order, is more than its amount
    is_amount = is_amount and all(graph.about(p).values and not graph.is_date(p) for p in others)
    return numbers[0] if is_amount and not graph.nodes[node].named else ""


def _value_refs(node: int, graph: SchemaGraph) -> list[Ref]:
    """The number of a measurement: the only one, or the one called a value."""
    numbers = [p for p in graph.literals[node] if graph.is_numeric(p) and not graph.is_date(p)]
    numbers = [p for p in numbers if graph.about(p).role != "identifier"]
    values = [p for p in numbers if WORDS["kept_value"] & set(graph.words[p])]
    single = values if len(values) == 1 else numbers
    return [Ref(node, single[0])] if len(single) == 1 else []


def _names_quantity(words: Sequence[str]) -> bool:
    return not WORDS["kept_quantity"].isdisjoint(words)
