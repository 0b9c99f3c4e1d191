"""Word groups and how they are chosen: SelectWording + terms -> "the county with the most farms"."""

from dataclasses import replace

from nacre.language.base import language
from nacre.language.format_values import format_value
from nacre.language.forms.nouns import plural, singular, with_indefinite_article
from nacre.plans.inspect_select import variable_of
from nacre.records.plan import Aggregate, Attribute, Itself, PlanTerm
from nacre.wording.clauses.comparison_words import comparison_words, count_condition_phrase
from nacre.wording.labels.predicate_labels import predicate_label
from nacre.wording.phrases.noun_phrase import SelectWording
from nacre.wording.phrases.property_names import property_phrase


def group_noun(wording: SelectWording, term: Attribute) -> str:
    """What things are grouped by: "genre"; a name with the noun of its things, "customer name"."""
    counted = {variable_of(a) for a in wording.select.answers if isinstance(a, Aggregate)}
    name = singular(wording.own_name(term))
    bare = term.variable not in counted and name in language().words["naming"] | language().words["generic"]
    return f"{wording.noun(term.variable)} {name}" if bare else name


def ranked_group_phrase(wording: SelectWording, terms: tuple[PlanTerm, ...]) -> str:
    """A value ranked by how many things have it, or by a number of these things; "" for other selects.

    "the county with the most farms", "the county with the highest average rent of the farms"
    """
    select, order = wording.select, wording.select.order
    if len(terms) != 1 or select.by != terms or order is None or select.limit is None or len(wording.variables) > 1:
        return ""
    by = order.by
    if not isinstance(by, Aggregate) or by.of.variable != variable_of(terms[0]):
        return ""
    several = select.limit > 1 or wording.tied
    things = replace(wording, select=replace(select, order=None, limit=None, by=()), tied=False)
    named = things.things(by.of.variable, True, frozenset(), 0).removeprefix("the ")
    most = "most" if order.descending else "fewest"
    if isinstance(by.of, Attribute):
        most = f"{'highest' if order.descending else 'lowest'} {things.computed(by, short=True)}"
        named = f"of the {named}"
    limit = f"{select.limit} " if select.limit > 1 else ""
    label = predicate_label(terms[0].predicate, wording.schema) if isinstance(terms[0], Attribute) else None
    value = label.full if label is not None and label.kind == "noun" else property_phrase(wording, terms[0], many=False)
    return f"the {limit}{plural(value) if several else singular(value)} with the {most} {named}"


def filtered_group_phrase(wording: SelectWording, terms: tuple[PlanTerm, ...], many: bool) -> str:
    """A value filtered by how many things have it, or by a number of these things; "" for other selects.

    "the counties with at least 2 farms", "the counties whose farms have an average rent above 80"
    """
    select = wording.select
    if len(terms) != 1 or select.by != terms or select.order is not None or len(wording.variables) > 1:
        return ""
    having = [f for f in select.filters if isinstance(f.left, Aggregate)]
    left = having[0].left if having else None
    if len(having) != 1 or not isinstance(left, Aggregate) or not isinstance(having[0].right, int | float):
        return ""
    own = variable_of(left) == variable_of(terms[0])
    if not own or (isinstance(left.of, Itself) != (left.function == "count")) or having[0].negated:
        return ""
    rest = tuple(f for f in select.filters if f is not having[0])
    things = replace(wording, select=replace(select, filters=rest, by=()), tied=False)
    several = having[0].right != 1 or isinstance(left.of, Attribute)
    named = things.things(variable_of(terms[0]), several, frozenset(), 0).removeprefix("the ")
    value = property_phrase(wording, terms[0], many)
    if isinstance(left.of, Attribute):
        bound = f"{comparison_words(having[0].op) or 'of'} {format_value(having[0].right)}"
        return f"the {value} whose {named} have {with_indefinite_article(things.computed(left, short=True))} {bound}"
    return (
        f"the {value} {count_condition_phrase(having[0], named, format_value(having[0].right) if several else 'one')}"
    )
