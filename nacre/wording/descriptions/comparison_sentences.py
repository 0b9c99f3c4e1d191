"""Word a comparison: its Table -> what differs and what is the same."""

from nacre.language.base import word_list
from nacre.language.forms.nouns import is_plural, join_names, singular, with_indefinite_article
from nacre.language.tokens import fold
from nacre.records.evidence import Table
from nacre.wording.answers.sentence import capitalise_first

# properties that a sentence names
MAX_NAMED_PROPERTIES = 5


def single_property_sentence(table: Table) -> str:
    """A comparison of one row as a sentence; "" for more rows, and for yes or no.

    >>> single_property_sentence(Table(("property", "Ann", "Bo"), (("price (shoes)", "5", "6"),)))
    'The price of the shoes of Ann is 5, and that of Bo is 6.'
    >>> single_property_sentence(Table(("property", "Ann", "Bo"), (("details", "x", "x"),)))
    'Ann and Bo have the same details: x.'
    >>> single_property_sentence(Table(("property", "Ann", "Bo"), (("price (net)", "5", "6"),)))
    'The price (net) of Ann is 5, and that of Bo is 6.'
    >>> single_property_sentence(Table(("property", "Ann", "Bo"), (("number of cars", "1", "0"),)))
    'Ann has 1 car, and Bo has 0.'
    >>> single_property_sentence(Table(("property", "Ann", "Bo"), (("number of cars", "2", "2"),)))
    'Ann and Bo have 2 cars each.'
    """
    (label, first, second), *others = table.rows
    if others or first in ("yes", "no"):
        return ""
    noun, _, kind = str(label).removesuffix(")").partition(" (")
    if not is_plural(kind):
        # a bracket of the property's own name
        noun, kind = str(label), ""
    left, right = table.columns[1:]
    counted_kind = noun.removeprefix("number of ")
    if counted_kind != noun and first == second:
        return f"{capitalise_first(left)} and {right} have {_number_with_noun(first, counted_kind)} each."
    if counted_kind != noun:
        own, other = _number_with_noun(first, counted_kind), _number_with_noun(second)
        return f"{capitalise_first(left)} has {own}, and {right} has {other}."
    if first == second:
        return f"{capitalise_first(left)} and {right} have the same {noun}: {first}."
    whose, be, that = f"the {kind} of {left}" if kind else left, "is", "that"
    if is_plural(noun):
        be, that = "are", "those"
    return f"The {noun} of {whose} {be} {first}, and {that} of {right} {be} {second}."


def summarise_difference(table: Table, names: str = "") -> str:
    """What differs and what is the same, as a clause; `names` are the words for both sides.

    >>> summarise_difference(Table(("property", "A", "B"), (("price", "5", "6"), ("size", "2", "2"))))
    'A and B differ in price; they have the same size'
    >>> summarise_difference(Table(("property", "A", "B"), (("food safe", "yes", "yes"), ("has siren", "no", "no"))))
    'both are food safe; neither has a siren'
    >>> summarise_difference(Table(("property", "A", "B"), (("price", "5", "6"), ("fired in", "K", "L"))))
    'A and B differ in price, among other things'
    """
    names = names or join_names(table.columns[1:])
    other = [str(row[0]) for row in table.rows if row[1] != row[2] and "–" not in row]
    same = [str(row[0]) for row in table.rows if row[1] == row[2]]
    flags = [str(row[0]) for row in table.rows if row[1] == row[2] and fold(str(row[1])) in ("yes", "no")]
    same = [label for label in same if label not in flags]
    parts = []
    if other:
        differ = _named_properties([label.removeprefix("has ") for label in other])
        parts.append(f"{names} differ in {differ}" if differ else f"{names} differ")
    if same and (shared := join_names(_noun_labels(same)[0])):
        parts.append(f"{'they' if other else names} have the same {shared}")
    true = {str(row[0]) for row in table.rows if fold(str(row[1])) == "yes"}
    parts += [_truth_of_both(label, yes=label in true) for label in flags[:MAX_NAMED_PROPERTIES]]
    return "; ".join(parts) or f"{names} have no property in common"


def _number_with_noun(number: object, kind: str = "") -> str:
    return f"{number} {singular(kind) if number == '1' else kind}".rstrip()


def _truth_of_both(label: str, *, yes: bool) -> str:
    noun = label.removeprefix("has ")
    if noun == label:
        return f"{'both are' if yes else 'neither is'} {label}"
    mass = noun.split()[-1] in word_list("wording", "mass") or is_plural(noun)
    return f"{'both have' if yes else 'neither has'} {noun if mass else with_indefinite_article(noun)}"


def _named_properties(labels: list[str]) -> str:
    """The first of the labels that are nouns; "" without any: things differ in price, and not in "fired in"."""
    shown, rest = _noun_labels(labels)
    if len(shown) < MAX_NAMED_PROPERTIES:
        # "price (rooms)" is that of their rooms
        parts = [label.removesuffix(")").partition(" (") for label in labels if label.endswith(")")]
        theirs = [(kind, name) for name, _, kind in parts if is_plural(kind)][: MAX_NAMED_PROPERTIES - len(shown)]
        kinds = {kind: [name for other, name in theirs if other == kind] for kind, _ in theirs}
        own = [f"the {join_names(names)} of their {kind}" for kind, names in kinds.items()]
        words, rest = ", and in ".join([*([join_names(shown)] if shown else []), *own]), rest - len(theirs)
    else:
        words = join_names(shown)
    return f"{words}{', among other things' if words and rest else ''}"


def _noun_labels(labels: list[str]) -> tuple[list[str], int]:
    """The first of the labels that are nouns, and how many other labels there are."""
    nouns = [
        each
        for each in labels
        if each.split()[-1] not in word_list("wording", "prepositions")
        and not each.endswith(")")
        and not each.startswith("is ")
    ]
    shown = nouns if len(nouns) <= MAX_NAMED_PROPERTIES + 1 else nouns[:MAX_NAMED_PROPERTIES]
    return shown, len(labels) - len(shown)
