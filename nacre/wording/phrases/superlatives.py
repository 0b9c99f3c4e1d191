"""Put the order of a select into words: Order + SelectStructure -> "oldest", "with the second highest price"."""

from nacre.language.base import language, phrase_list, phrase_map
from nacre.language.forms.measure_nouns import extreme_adjective
from nacre.language.forms.nouns import is_participle, is_plural, with_indefinite_article
from nacre.language.forms.verbs import strip_preposition
from nacre.plans.inspect_select import counted_path, ordered_variable, variable_of
from nacre.records.plan import Aggregate, Attribute, Itself, Order, Select
from nacre.wording.labels.predicate_labels import predicate_label
from nacre.wording.labels.shorten_label import label_remainder
from nacre.wording.labels.value_kinds import is_temporal, nominal_label
from nacre.wording.labels.years import may_give_years
from nacre.wording.phrases.select_structure import SelectStructure


def attribute_measure(structure: SelectStructure, by: Attribute) -> str:
    """A property that things are ordered by, with its owner if that is another thing: "price of a car"."""
    name, noun = nominal_label(by.predicate, structure.schema), structure.noun(by.variable)
    own = label_remainder(name, noun) or name
    return own if by.variable == ordered_variable(structure.select) else f"{own} of {with_indefinite_article(noun)}"


def superlative_adjective(structure: SelectStructure, order: Order) -> str:
    """The adjective for what comes first in an order: "oldest" by age; "" if English has none."""
    if not isinstance(order.by, Attribute):
        return ""
    ends = phrase_map("wording", "superlatives").get(attribute_measure(structure, order.by))
    return "" if ends is None else ends[not order.descending]


def ordinal(select: Select) -> str:
    """The place in the order that a select begins with: "second ", "" for the first place."""
    place = select.offset + 1
    ordinals = phrase_list("wording", "ordinals")
    if place == 1:
        return ""
    return f"{ordinals[place - 2]} " if place - 2 < len(ordinals) else f"{place}th "


def order_clause(structure: SelectStructure, order: Order, measure: str, *, is_one: bool) -> str:
    """What places things in an order by a `measure`: "with the most concerts", "with the second highest price".

    `is_one`: the clause follows the noun of one thing.
    """
    place, by = ordinal(structure.select), order.by
    if isinstance(by, Itself):
        return f"{place}{'last' if order.descending else 'first'} by name"
    most = "most" if order.descending else "fewest"
    if isinstance(by, Aggregate) and by.function == "count":
        verb = _verb_between_same_class(structure, variable_of(by), is_one=is_one)
        return f"{verb or 'with'} the {place}{most} {measure.removeprefix('number of ')}"
    if isinstance(by, Attribute) and (event := _event_clause(structure, order, by, place, is_one=is_one)):
        return event
    end = _order_end(structure, order)
    if measure.startswith("number of ") and end in ("highest", "lowest"):
        return f"with the {place}{most} {measure.removeprefix('number of ')}"
    if measure.startswith("total number of "):
        total = "most" if end == "highest" else "fewest"
        return f"with the {place}{total} {measure.removeprefix('total number of ')} in total"
    for lead, (farthest, nearest) in phrase_map("wording", "places").items():
        if measure.startswith(f"{lead} "):
            return f"{place}{farthest if order.descending else nearest} {measure.removeprefix(f'{lead} ')}"
    if not place and measure.split()[0].casefold() in language().words.get(end, ()):
        return f"with the {measure}"
    if isinstance(by, Attribute) and end in ("highest", "lowest"):
        end = extreme_adjective(measure, high=order.descending)
    return f"with the {place}{end} {measure}"


def _order_end(structure: SelectStructure, order: Order) -> str:
    """The word for the end of a measure that an order begins with: "highest", "latest", "most"."""
    if isinstance(order.by, Attribute):
        if is_temporal(order.by.predicate, structure.schema):
            return "latest" if order.descending else "earliest"
        predicate = structure.schema.predicate_of[order.by.predicate]
        if predicate.datatype == "integer" and is_plural(attribute_measure(structure, order.by)):
            return "most" if order.descending else "fewest"
    return "highest" if order.descending else "lowest"


def _event_clause(structure: SelectStructure, order: Order, by: Attribute, place: str, *, is_one: bool) -> str:
    """What happened first or last to things, or to what they have: "founded first", "whose queen was born first"; ""
    for other properties."""
    label, end = predicate_label(by.predicate, structure.schema), "last" if order.descending else "first"
    owned, _, verb = label.one.rpartition(" ")
    is_dated = is_temporal(by.predicate, structure.schema) or may_give_years(
        structure.schema.predicate_of[by.predicate]
    )
    if label.kind == "noun" and owned and is_participle(verb) and is_dated:
        return f"whose {owned} was {verb} {place}{end}"
    is_event = is_temporal(by.predicate, structure.schema) and label.kind in ("state", "past", "verb")
    if not is_event or by.variable != ordered_variable(structure.select):
        return ""
    verb = strip_preposition(label.one if is_one or label.kind != "verb" else label.many)
    that = "" if label.kind == "state" else "that "
    return f"{that}{verb} {place}{end}"


def _verb_between_same_class(structure: SelectStructure, counted: str, *, is_one: bool) -> str:
    """What things do to the things of their class that are counted: "that interact with"; "" for other classes."""
    ordered = ordered_variable(structure.select)
    path = [structure.select.edges[i] for i in counted_path(structure.select, counted)]
    if len(path) != 1 or path[0].subject != ordered or structure.noun(counted) != structure.noun(ordered):
        return ""
    label = predicate_label(path[0].predicate, structure.schema)
    return f"that {label.one if is_one else label.many}" if label.kind == "verb" else ""
